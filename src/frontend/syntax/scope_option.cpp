// Options of a scope and what they are stored as: name_hint, deps, predicate, optimizations, cache policies, ...
// (format.md 2.7).
#include <algorithm>

#include "frontend/reader.h"
#include "frontend/reader_enum.h"
#include "frontend/writer.h"
#include "support/diag/parse.h"
#include "support/diag/type.h"

namespace pldc {

bool Reader::read_var_list(std::vector<const Var*>& vars, bool dependencies) {
  const bool list = at(Tok::LBracket);
  if (!list && !at(Tok::LParen)) {
    unexpected("'[' before a list of names");
    return false;
  }
  take();
  const Tok close = list ? Tok::RBracket : Tok::RParen;
  while (!at(close)) {
    if (at_word("None")) {
      take();  // no dependency
    } else {
      const Token first = tok_;
      const Expr* e = read_expr();
      if (e == nullptr) return false;
      const auto* var = dyn<Var>(e);
      if (var == nullptr) {
        diags_.report<diag::list_of_names>(e->span).help("assign the value to a name first");
        return false;
      }
      if (dependencies) check_dependency(var, span_from(first.begin));
      vars.push_back(var);
    }
    if (!accept(Tok::Comma)) break;
  }
  return expect(close, "after the list of names");
}

// [ "pl.split(" mode ")" ] [ "," ] [ "pl.cross_core_slot(slot_num=" n ")" ]
bool Reader::read_optimizations(ScopeOptions& o) {
  if (!expect(Tok::LBracket, "after 'optimizations='")) return false;
  o.has_optimizations = true;
  while (!at(Tok::RBracket)) {
    Path path;
    if (!at(Tok::Name) || !read_path(path)) {
      if (!at(Tok::Name)) unexpected("'pl.split(...)' or 'pl.cross_core_slot(...)'");
      return false;
    }
    if (path.rest == "split" || path.rest == "cross_core_slot") {
      if (!expect(Tok::LParen, "after the optimization")) return false;
      while (!at(Tok::RParen)) {
        std::string_view key;
        if (at(Tok::Name) && peek2().kind == Tok::Assign) {
          key = text(take());
          take();
        }
        if (key == "slot_num") {
          std::int64_t n = 0;
          if (!read_int(n, "for slot_num")) return false;
          o.slot_num = n;
        } else if (path.rest == "split" && (key.empty() || key == "mode")) {
          SplitMode mode{};
          if (!read_enum_member("SplitMode", mode)) return false;
          o.split = mode;
        } else {
          unexpected("the optimization's argument");
          return false;
        }
        if (!accept(Tok::Comma)) break;
      }
      if (!expect(Tok::RParen, "after the optimization")) return false;
    } else {
      diags_.report<diag::unknown_form_option>(path.span, path.rest, "optimizations",
                                               "pl.split, pl.cross_core_slot");
      return false;
    }
    if (!accept(Tok::Comma)) break;
  }
  return expect(Tok::RBracket, "after the optimizations");
}

bool Reader::read_scope_option(ScopeOptions& o, std::string_view callee) {
  const Token key_token = tok_;
  const std::string_view key = text(key_token);
  take();
  take();  // '='
  if (key == "level") {
    Level level{};
    if (!read_enum_member("Level", level)) return false;
    o.level = level;
    return true;
  }
  if (key == "role") {
    Role role{};
    if (!read_enum_member("Role", role)) return false;
    o.role = role;
    return true;
  }
  if (key == "name_hint") {
    // The name of a runtime scope is printed with escapes, the others as they are.
    return callee == "scope" ? read_string(o.name_hint, "for name_hint")
                             : read_plain_string(o.name_hint, "for name_hint");
  }
  if (key == "deps") {
    o.has_deps = true;
    return read_var_list(o.deps, true);
  }
  if (key == "no_dep_args") return read_var_list(o.no_dep);
  if (key == "dumps") return read_var_list(o.dumps);
  if (key == "allow_early_resolve") return read_bool(o.allow_early_resolve, "for allow_early_resolve");
  if (key == "windowize") return read_bool(o.windowize, "for windowize");
  if (key == "sync_start") return read_bool(o.sync_start, "for sync_start");
  if (key == "predicate") {
    in_predicate_ = true;
    o.predicate = read_expr();
    in_predicate_ = false;
    return o.predicate != nullptr;
  }
  if (key == "optimizations") return read_optimizations(o);
  if (key == "core_num") {
    o.core_num = read_expr();
    return o.core_num != nullptr;
  }
  if (key == "mode") {
    Path path;
    if (!at(Tok::Name) || !read_path(path)) return false;
    if (path.rest == "ScopeMode.MANUAL") {
      o.manual = true;
    } else if (path.rest != "ScopeMode.AUTO") {
      diags_.report<diag::unknown_enum_member>(path.span, path.rest, "ScopeMode", "AUTO, MANUAL");
      return false;
    }
    return true;
  }
  diags_.report<diag::unknown_form_option>(
      span(key_token), key, fmt::format("{}.{}", style_.prefix, callee),
      "level, role, name_hint, deps, no_dep_args, dumps, allow_early_resolve, "
      "predicate, windowize, optimizations, sync_start, core_num, mode");
  return false;
}

// The bracketed arguments of a scope form.
bool Reader::read_scope_call(ScopeOptions& o, std::string_view callee) {
  if (!expect(Tok::LParen, "after the scope's form")) return false;
  int position = 0;
  while (!at(Tok::RParen)) {
    if (at(Tok::Name) && peek2().kind == Tok::Assign) {
      if (!read_scope_option(o, callee)) return false;
    } else if (callee == "at" && position == 0) {
      Level level{};
      if (!read_enum_member("Level", level)) return false;
      o.level = level;
    } else if (callee == "at" && position == 1) {
      Role role{};
      if (!read_enum_member("Role", role)) return false;
      o.role = role;
    } else if (callee == "spmd" && position == 0) {
      o.core_num = read_expr();
      if (o.core_num == nullptr) return false;
    } else if (callee == "graph" && position == 0) {
      if (!read_plain_string(o.name_hint, "naming the graph")) return false;
    } else {
      unexpected("a keyword argument");
      return false;
    }
    ++position;
    if (!accept(Tok::Comma)) break;
  }
  return expect(Tok::RParen, "after the scope's arguments");
}

bool Reader::read_task_id(ScopeOptions& o, Block& block) {
  if (!accept_word("as")) return true;
  if (!at(Tok::Name)) {
    unexpected("a name for the task id");
    return false;
  }
  const Token token = take();
  const Type* task = ctx_.scalar(DType::TASK_ID);
  o.task_id = assign_target(ctx_.name(text(token)), span(token), task);
  const Call* placeholder = ctx_.call(OpId::system_task_invalid, {}, {}, {}, task, span(token));
  block.stmts.push_back(ctx_.assign(o.task_id, placeholder, span(token)));
  return true;
}

// In the fixed order of format.md 2.7.2.
List<Attr> Reader::scope_attrs(const ScopeOptions& o, bool with_slot_num) {
  std::vector<Attr> attrs;
  const auto vars = [&](std::string_view key, const std::vector<const Var*>& list) {
    if (!list.empty()) attrs.push_back({ctx_.name(key), AttrValue::of_vars(ctx_.list(list))});
  };
  vars("manual_dep_edges", o.deps);
  vars("arg_direction_overrides_vars", o.no_dep);
  vars("dump_vars", o.dumps);
  if (o.task_id != nullptr) attrs.push_back({ctx_.name("task_id_var"), AttrValue::of_var(o.task_id)});
  if (o.allow_early_resolve) attrs.push_back({ctx_.name("allow_early_resolve"), AttrValue::of_bool(true)});
  if (o.predicate != nullptr) attrs.push_back({ctx_.name("predicate"), AttrValue::of_expr(o.predicate)});
  if (with_slot_num && o.slot_num) attrs.push_back({ctx_.name("slot_num"), AttrValue::of_int(*o.slot_num)});
  if (o.windowize) attrs.push_back({ctx_.name("windowize"), AttrValue::of_bool(true)});
  if (!o.cache_policies.empty()) {
    // The specification lists no policies, so their names are kept: the pairs count into the list of names.
    std::vector<VarIntPair> pairs;
    std::string names;
    for (const CachePolicy& p : o.cache_policies) {
      pairs.push_back({p.tensor, static_cast<std::int64_t>(pairs.size())});
      if (!names.empty()) names += ',';
      names += p.policy;
    }
    AttrValue value;
    value.kind = AttrKind::VarPairList;
    value.var_pairs = ctx_.list(pairs);
    attrs.push_back({ctx_.name("cache_policy_vars"), value});
    attrs.push_back({ctx_.name("cache_policy_names"), AttrValue::of_string(ctx_.text(names))});
  }
  return ctx_.list(attrs);
}

// --- printing
// --------------------------------------------------------------------------------------------------

void Writer::scope_vars(Attrs attrs, std::string_view key, std::string_view keyword, bool& comma) {
  const AttrValue* value = find_attr(attrs, key);
  if (value == nullptr || value->kind != AttrKind::VarList || value->vars.empty()) return;
  if (comma) out_ += ", ";
  comma = true;
  out_ += keyword;
  out_ += "=[";
  for (std::size_t i = 0; i < value->vars.size(); ++i) {
    if (i != 0) out_ += ", ";
    out_ += name(value->vars[i]);
  }
  out_ += ']';
}

void Writer::scope_optimizations(const ScopeStmt& c) {
  const AttrValue* slots = find_attr(c.attrs, "slot_num");
  if (!c.split && slots == nullptr) return;
  out_ += ", optimizations=[";
  if (c.split) {
    prefix();
    out_ += "split(";
    enum_member("SplitMode", name_of(*c.split));
    out_ += ')';
  }
  if (slots != nullptr) {
    if (c.split) out_ += ", ";
    prefix();
    out_ += "cross_core_slot(slot_num=";
    attr_value(*slots);
    out_ += ')';
  }
  out_ += ']';
}

void Writer::name_hint(std::string_view hint) {
  if (hint.empty()) return;
  out_ += ", name_hint=\"";
  out_ += hint;
  out_ += '"';
}

void Writer::early_and_predicate(Attrs attrs, bool predicate) {
  if (const AttrValue* early = find_attr(attrs, "allow_early_resolve");
      early != nullptr && early->as_bool()) {
    out_ += ", allow_early_resolve=True";
  }
  if (const AttrValue* p = find_attr(attrs, "predicate"); p != nullptr && predicate) {
    out_ += ", predicate=(";
    expr(p->expr);
    out_ += ')';
  }
}

void Writer::task_id(Attrs attrs) {
  if (const AttrValue* task = find_attr(attrs, "task_id_var")) {
    out_ += " as ";
    out_ += name(task->var());
  }
}

bool Writer::cache_policies(Attrs attrs) {
  const AttrValue* value = find_attr(attrs, "cache_policy_vars");
  const AttrValue* names = find_attr(attrs, "cache_policy_names");
  if (value == nullptr || names == nullptr || options_.dialect != Dialect::Dump) return false;
  std::string_view rest = names->text;
  for (const VarIntPair& pair : value->var_pairs) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    pad();
    prefix();
    out_ += "set_cache_policy(";
    out_ += name(pair.var);
    out_ += ", ";
    enum_member("CachePolicy", rest.substr(0, comma));
    out_ += ")\n";
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return true;
}

}  // namespace pldc
