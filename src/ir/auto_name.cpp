#include "ir/auto_name.h"

#include "ir/walk.h"

namespace pldc {

namespace {

constexpr std::string_view kDelimiter = "__";
// Of buffers that the ergonomic wrappers make, and of signals that SynthesizeAllReduceSignals makes.
constexpr std::string_view kMadePrefixes[] = {"__auto_", "__allreduce_signal_"};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool all_digits(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (!is_digit(c)) return false;
  }
  return true;
}

// The number of a `v<digits>` token. Longer numbers than any pass makes are no versions.
std::optional<std::uint32_t> version_of(std::string_view token) {
  if (token.size() < 2 || token.size() > 10 || token[0] != 'v' || !all_digits(token.substr(1)))
    return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : token.substr(1)) value = value * 10 + static_cast<std::uint32_t>(c - '0');
  return value;
}

// Splits off the text after the last '_' (or everything).
std::string_view last_token(std::string_view text) {
  const auto at = text.rfind('_');
  return at == std::string_view::npos ? text : text.substr(at + 1);
}
std::string_view without_last_token(std::string_view text) {
  const auto at = text.rfind('_');
  return at == std::string_view::npos ? std::string_view{} : text.substr(0, at);
}

std::optional<NameRole> role_of(std::string_view token) {
  const auto role = parse_enum<NameRole>(token);
  return role != NameRole::None ? role : std::nullopt;
}

// Where the delimiter stands. Of a longer run of underscores it is the last two: `s_` gives `s___ssa_v0`. Starting at 1
// keeps a base non-empty: `_` gives `___ssa_v0`, which parses to `_` again, and the leading delimiter of a wrapper's
// buffer stays with its base.
std::size_t find_delimiter(std::string_view name) {
  auto cut = name.find(kDelimiter, 1);
  while (cut != std::string_view::npos && name.substr(cut + 1).starts_with(kDelimiter)) ++cut;
  return cut;
}

}  // namespace

AutoName parse_auto_name(std::string_view name) {
  const auto cut = find_delimiter(name);
  if (cut == std::string_view::npos) return {name, {}, NameRole::None, std::nullopt};
  std::string_view rest = name.substr(cut + kDelimiter.size());
  // The printer tells equal names apart by `_1`, `_2`, ...; read back from text, the suffix is no part of the
  // name.
  if (const auto before = last_token(without_last_token(rest));
      all_digits(last_token(rest)) && (version_of(before) || role_of(before)))
    rest = without_last_token(rest);

  AutoName parts{name.substr(0, cut), {}, NameRole::None, version_of(last_token(rest))};
  if (parts.version) rest = without_last_token(rest);
  if (const auto role = role_of(last_token(rest))) {
    parts.role = *role;
    rest = without_last_token(rest);
  }
  if (!parts.version && parts.role == NameRole::None) return {name, {}, NameRole::None, std::nullopt};
  parts.qualifier = rest;
  return parts;
}

bool is_versionable_base(std::string_view base) {
  for (const std::string_view prefix : kMadePrefixes) {
    if (!base.starts_with(prefix)) continue;
    if (all_digits(last_token(base))) base.remove_prefix(kDelimiter.size());
    break;
  }
  return base.find(kDelimiter) == std::string_view::npos;
}

std::string build_auto_name(std::string_view base, std::string_view qualifier, NameRole role,
                            std::optional<std::uint32_t> version) {
  std::string out(base);
  std::string suffix(qualifier);
  const auto token = [&](std::string_view text) {
    if (!suffix.empty()) suffix += '_';
    suffix += text;
  };
  if (role != NameRole::None) token(name_of(role));
  if (version) token("v" + std::to_string(*version));
  if (!suffix.empty()) out.append(kDelimiter).append(suffix);
  return out;
}

std::string rename_auto_name(std::string_view name, NameRole role, std::uint32_t version) {
  const AutoName parts = parse_auto_name(name);
  return build_auto_name(parts.base, parts.qualifier, role, version);
}

std::string_view auto_name_stem(std::string_view name) {
  const auto cut = find_delimiter(name);
  return cut == std::string_view::npos ? name : name.substr(0, cut);
}

NamePool::NamePool(const Function* function) {
  for (const Param& param : function->params) add(param.var->name.text());
  walk_stmts(function->body,
             [&](const Stmt* stmt) { for_each_def(stmt, [&](const Var* var) { add(var->name.text()); }); });
}

std::string NamePool::fresh_like(std::string_view like) {
  const AutoName parts = parse_auto_name(like);
  const NameRole role = parts.role == NameRole::None ? NameRole::Ssa : parts.role;
  std::uint32_t version = parts.version ? *parts.version + 1 : 0;
  // Versions that were found in use are not tried again.
  const std::string key = build_auto_name(parts.base, parts.qualifier, role, std::nullopt);
  const auto [known, fresh] = tried_.try_emplace(key, Tried{version, version});
  Tried& tried = known->second;
  if (!fresh && version >= tried.first && version < tried.end) version = tried.end;
  if (version != tried.end) tried = {version, version};
  for (;; ++version) {
    std::string name = build_auto_name(parts.base, parts.qualifier, role, version);
    tried.end = version + 1;
    if (used_.insert(name).second) return name;
  }
}

}  // namespace pldc
