// Values of keywords: written forms to stored ones (format.md 4.2, 5.3).
#include "ir/authoring.h"
#include "ir/check_rules.h"
#include "ir/describe.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

bool same_word(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

std::string_view kind_text(const KeywordRange& range) {
  switch (range.kind) {
    case AttrKind::Int:
      return range.names.empty() ? "an integer" : "one of its names";
    case AttrKind::Bool:
      return "True or False";
    case AttrKind::String:
      return "a string";
    case AttrKind::Float:
      return "a number";
    case AttrKind::DType:
      return "a dtype, such as pl.FP32";
    case AttrKind::MemSpace:
      return "a memory space, such as pl.Mem.Vec";
    case AttrKind::TensorLayout:
      return "a tensor layout, such as pl.TensorLayout.ND";
    case AttrKind::TileLayout:
      return "a tile layout, such as pl.TileLayout.row_major";
    case AttrKind::PadValue:
      return "a pad value, such as pl.PadValue.zero";
    case AttrKind::ArgDirection:
    case AttrKind::ArgDirectionList:
    case AttrKind::IntList:
    case AttrKind::VarList:
    case AttrKind::Var:
    case AttrKind::Expr:
    case AttrKind::IntPairList:
    case AttrKind::VarPairList:
      break;
  }
  return "a constant";
}

std::string found_text(const AuthoringArg& arg) {
  if (arg.none) return "None";
  if (arg.expr != nullptr) {
    if (const auto value = const_int(arg.expr)) return fmt::format("{}", *value);
    if (arg.expr->kind == ExprKind::ConstFloat || arg.expr->kind == ExprKind::ConstBool)
      return describe(arg.expr);
    return describe(arg.expr->type);
  }
  switch (arg.value.kind) {
    case AttrKind::String:
      return arg.enum_type.empty() ? fmt::format("'{}'", arg.value.text)
                                   : fmt::format("{}.{}", arg.enum_type, arg.value.text);
    case AttrKind::DType:
      return std::string(name_of(static_cast<DType>(arg.value.integer)));
    case AttrKind::MemSpace:
      return fmt::format("Mem.{}", name_of(static_cast<MemSpace>(arg.value.integer)));
    case AttrKind::Int:
      return fmt::format("{}", arg.value.integer);
    case AttrKind::Bool:
      return arg.value.integer != 0 ? "True" : "False";
    case AttrKind::Float:
      return fmt::format("{}", arg.value.real);
    case AttrKind::TensorLayout:
    case AttrKind::TileLayout:
    case AttrKind::PadValue:
    case AttrKind::ArgDirection:
    case AttrKind::ArgDirectionList:
    case AttrKind::IntList:
    case AttrKind::VarList:
    case AttrKind::Var:
    case AttrKind::Expr:
    case AttrKind::IntPairList:
    case AttrKind::VarPairList:
      break;
  }
  return "another value";
}

std::optional<std::int64_t> integer_of(const AuthoringArg& arg) {
  if (arg.expr != nullptr) return const_int(arg.expr);
  return arg.value.kind == AttrKind::Int ? std::optional(arg.value.integer) : std::nullopt;
}

std::optional<bool> bool_of(const AuthoringArg& arg) {
  if (const auto* b = dyn<ConstBool>(arg.expr)) return b->value;
  if (arg.expr == nullptr && arg.value.kind == AttrKind::Bool) return arg.value.as_bool();
  return std::nullopt;
}

std::optional<double> number_of(const AuthoringArg& arg) {
  if (const auto* f = dyn<ConstFloat>(arg.expr)) return f->value;
  if (arg.expr == nullptr && arg.value.kind == AttrKind::Float) return arg.value.real;
  if (const auto i = integer_of(arg)) return static_cast<double>(*i);
  return std::nullopt;
}

// How core types are stored: other words for the barrier over all cores than for events.
std::string_view stored_core(OpId op, std::string_view word) {
  const bool all = op == OpId::system_syncall;
  if (same_word(word, "AIC") || same_word(word, "aic_only")) return all ? "aic_only" : "aic";
  if (same_word(word, "AIV") || same_word(word, "aiv_only")) return all ? "aiv_only" : "aiv";
  return same_word(word, "MIX") ? "mix" : std::string_view{};
}

AttrValue numbered(AttrKind kind, std::int64_t number) {
  AttrValue value = AttrValue::of_int(number);
  value.kind = kind;
  return value;
}

}  // namespace

AttrValue keyword_default(const Keyword& keyword) {
  const KeywordRange range = keyword_range(keyword.kind);
  if (range.kind == AttrKind::String) return AttrValue::of_string(keyword.def.text);
  if (range.kind == AttrKind::Float) return AttrValue::of_float(static_cast<double>(keyword.def.integer));
  return numbered(range.kind, keyword.def.integer);
}

bool read_keyword(DiagSink& diags, OpId op, const Keyword& keyword, const AuthoringArg& arg, AttrValue& out) {
  const KeywordRange range = keyword_range(keyword.kind);
  const std::string_view name = op_info(op).name;
  const auto wrong_kind = [&] {
    auto report =
        diags.report<diag::op_keyword_kind>(arg.span, keyword.name, name, kind_text(range), found_text(arg));
    if (!range.names.empty()) report.help("allowed: {}", range.allowed());
    return false;
  };
  const auto wrong_value = [&](std::string_view text) {
    auto report = diags.report<diag::op_keyword_value>(arg.span, text, keyword.name, name, range.allowed());
    const std::string_view guess = closest(text, {range.names.begin(), range.names.end()});
    if (!guess.empty()) report.help("did you mean '{}'?", guess);
    return false;
  };
  if (arg.none) return wrong_kind();
  // A member of some enum: of the right one?
  if (!arg.enum_type.empty() && !range.enum_type.empty() && arg.enum_type != range.enum_type &&
      !(range.enum_type == "Mem" && arg.enum_type == "MemorySpace")) {
    return wrong_kind();
  }
  const bool is_word = arg.expr == nullptr && arg.value.kind == AttrKind::String;
  switch (range.kind) {
    case AttrKind::Int: {
      if (is_word && !range.names.empty()) {
        for (std::size_t i = 0; i < range.names.size(); ++i) {
          // AtomicType.None_ carries an underscore because None is a word of Python.
          if (!same_word(range.names[i], arg.value.text) &&
              !(arg.value.text == "None" && range.names[i] == "None_")) {
            continue;
          }
          out = AttrValue::of_int(range.number(i));
          return true;
        }
        return wrong_value(arg.value.text);
      }
      if (keyword.kind == KwKind::Saturation) {
        if (const auto flag = bool_of(arg)) {
          out = AttrValue::of_int(*flag ? 1 : 0);
          return true;
        }
      }
      const auto value = integer_of(arg);
      if (!value || is_word) return wrong_kind();
      if (!range.names.empty() && range.name_of(*value).empty())
        return wrong_value(fmt::format("{}", *value));
      out = AttrValue::of_int(*value);
      return true;
    }
    case AttrKind::Bool: {
      const auto value = bool_of(arg);
      if (!value) return wrong_kind();
      out = AttrValue::of_bool(*value);
      return true;
    }
    case AttrKind::Float: {
      const auto value = number_of(arg);
      if (!value) return wrong_kind();
      out = AttrValue::of_float(*value);
      return true;
    }
    case AttrKind::String: {
      if (!is_word) return wrong_kind();
      if (keyword.kind == KwKind::CoreType) {
        const std::string_view word = stored_core(op, arg.value.text);
        if (word.empty()) return wrong_value(arg.value.text);
        out = AttrValue::of_string(word);
        return true;
      }
      if (range.names.empty()) {
        if (!arg.enum_type.empty()) return wrong_kind();
        out = arg.value;
        return true;
      }
      for (const std::string_view word : range.names) {
        if (!same_word(word, arg.value.text)) continue;
        out = AttrValue::of_string(word);
        return true;
      }
      return wrong_value(arg.value.text);
    }
    case AttrKind::DType:
    case AttrKind::MemSpace:
    case AttrKind::TensorLayout:
    case AttrKind::TileLayout:
    case AttrKind::PadValue: {
      if (arg.expr == nullptr && arg.value.kind == range.kind) {
        out = arg.value;
        return true;
      }
      if (is_word && (!arg.enum_type.empty() || range.kind != AttrKind::DType)) {
        for (std::size_t i = 0; i < range.names.size(); ++i) {
          if (range.names[i] != arg.value.text) continue;
          out = numbered(range.kind, static_cast<std::int64_t>(i));
          return true;
        }
        if (!range.names.empty()) return wrong_value(arg.value.text);
      }
      // 0 is the one number that is a pad value.
      if (range.kind == AttrKind::PadValue && number_of(arg) == 0.0) {
        out = AttrValue::of_pad(PadValue::Zero);
        return true;
      }
      return wrong_kind();
    }
    case AttrKind::ArgDirection:
    case AttrKind::ArgDirectionList:
    case AttrKind::IntList:
    case AttrKind::VarList:
    case AttrKind::Var:
    case AttrKind::Expr:
    case AttrKind::IntPairList:
    case AttrKind::VarPairList:
      break;
  }
  return wrong_kind();
}

}  // namespace pldc
