// Reading members of enums that are printed by name; for the reader's own files.
#pragma once

#include "frontend/reader.h"
#include "support/diag/type.h"

namespace pldc {

template <std::size_t N>
std::string join_names(const std::string_view (&names)[N]) {
  std::string list;
  for (std::size_t i = 0; i < N; ++i) {
    if (i != 0) list += ", ";
    list += names[i];
  }
  return list;
}

// The dtype that other array languages call so ("float32"); empty if there is none.
inline std::string_view dtype_elsewhere(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"float16", "FP16"},  {"half", "FP16"}, {"float32", "FP32"}, {"float", "FP32"},
      {"bfloat16", "BF16"}, {"int", "INT32"}, {"float64", "FP64"}, {"double", "FP64"}};
  for (const auto& [other, dtype] : kNames) {
    if (other == name && parse_enum<DType>(dtype)) return dtype;
  }
  return {};
}

template <std::size_t N>
void Reader::unknown_member(Span where, std::string_view member, std::string_view type,
                            const std::string_view (&names)[N]) {
  auto d = diags_.report<diag::unknown_enum_member>(where, member, type, join_names(names));
  std::string_view guess = closest(member, std::vector<std::string_view>(std::begin(names), std::end(names)));
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(names)>,
                               std::remove_cvref_t<decltype(EnumNames<DType>::names)>>) {
    if (const std::string_view dtype = dtype_elsewhere(member); !dtype.empty()) guess = dtype;
  }
  if (!guess.empty()) d.help("did you mean '{}'?", guess);
}

template <class E>
bool Reader::enum_from_text(std::string_view type, std::string_view member, Span where, E& out) {
  std::optional<E> found;
  if constexpr (std::is_same_v<E, Level>) {
    found = parse_level(member);
  } else {
    found = parse_enum<E>(member);
  }
  if (found) {
    out = *found;
    return true;
  }
  unknown_member(where, member, type, EnumNames<E>::names);
  return false;
}

// "pl.<type>.<member>"; for tensor layouts and pad values the bare "pl.<member>" too.
template <class E>
bool Reader::read_enum_member(std::string_view type, E& out) {
  Path path;
  if (!at(Tok::Name)) {
    unexpected("'" + style_.prefix + "." + std::string(type) + ".<member>'");
    return false;
  }
  if (!read_path(path)) return false;
  std::string_view rest = path.rest;
  const std::size_t dot = rest.find('.');
  const bool has_type = dot != std::string_view::npos;
  if (path.head != style_.prefix || (has_type && rest.substr(0, dot) != type)) {
    diags_
        .report<diag::wrong_enum>(path.span, file_.text().substr(path.begin, prev_end_ - path.begin),
                                  style_.prefix + "." + std::string(type))
        .help("members are {}", join_names(EnumNames<E>::names));
    return false;
  }
  if (has_type) rest.remove_prefix(dot + 1);
  return enum_from_text(type, rest, path.span, out);
}

}  // namespace pldc
