// with  = "with" "pl." form "(" options ")" [ "as" NAME ] ":" body
// form  = "at" | "cluster" | "graph" | "spmd" | "scope" | "manual_scope" | "_dump.comm_domain"
// for   = "for" NAME "in" "pl.spmd(" ... "):" body | "for" NAME "in" "pl.split_aiv(" 2 "," "mode=" m "):"
// body
#include <algorithm>

#include "frontend/reader.h"
#include "frontend/reader_enum.h"
#include "frontend/writer.h"
#include "support/diag/parse.h"
#include "support/diag/type.h"

namespace pldc {

namespace {

constexpr std::string_view kSpmdSuffix = "_spmd";

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

bool calls_get_block_idx(Body body) {
  bool found = false;
  walk_stmts(body, [&](const Stmt* s) {
    for_each_expr(s, [&](const Expr* root) {
      walk_expr(root,
                [&](const Expr* e) { found = found || op_call(e, OpId::tile_get_block_idx) != nullptr; });
    });
  });
  return found;
}

const AssignStmt* leading_call(Body body, OpId op) {
  if (body.empty()) return nullptr;
  const auto* assign = dyn<AssignStmt>(body[0]);
  return assign != nullptr && op_call(assign->value, op) != nullptr ? assign : nullptr;
}

}  // namespace

bool Reader::read_var_list(std::vector<const Var*>& vars) {
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
      const Expr* e = read_expr();
      if (e == nullptr) return false;
      const auto* var = dyn<Var>(e);
      if (var == nullptr) {
        diags_.report<diag::list_of_names>(e->span).help("assign the value to a name first");
        return false;
      }
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
  if (key == "name_hint") return read_string(o.name_hint, "for name_hint");
  if (key == "deps") {
    o.has_deps = true;
    return read_var_list(o.deps);
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
      span(key_token), key, callee,
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
      if (!read_string(o.name_hint, "naming the graph")) return false;
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

const Stmt* Reader::make_scope(const ScopeStmt& scope) { return ctx_.make(scope); }

bool Reader::read_with(Block& block, const Token& first) {
  take();  // with
  Path path;
  if (!at(Tok::Name) || !read_path(path)) {
    if (!at(Tok::Name)) unexpected("a scope, such as 'pl.at(...)'");
    return false;
  }
  if (path.head == style_.prefix && path.rest == "_dump.comm_domain") return read_comm_domain(block, first);
  if (path.head == style_.prefix && path.rest == "spmd") return read_spmd(block, first, nullptr, path);
  const std::string_view form = path.rest;
  const bool known =
      path.head == style_.prefix && (form == "at" || form == "cluster" || form == "graph" ||
                                     form == "scope" || form == "manual_scope" || form == "auto_scope");
  if (!known) {
    diags_.report<diag::unknown_scope>(path.span, file_.text().substr(path.begin, prev_end_ - path.begin))
        .help("scopes are {0}.at, {0}.cluster, {0}.spmd, {0}.scope, {0}.graph", style_.prefix);
    return false;
  }
  ScopeOptions o;
  if (!read_scope_call(o, form)) return false;
  flush_hoisted(block);
  if (!read_task_id(o, block)) return false;
  if (!expect(Tok::Colon, "after the scope's header")) return false;
  if (at(Tok::Newline)) take();
  ScopeStmt n{};
  n.kind = StmtKind::Scope;
  n.comments = take_header_comments();
  n.name_hint = o.name_hint;
  if (form == "at") {
    if (!o.level) {
      diags_.report<diag::scope_level>(path.span).help("write pl.at(level=pl.Level.CORE_GROUP)");
      return false;
    }
    // The tensors marked for dumping so far are dumped by every later scope.
    for (const Var* v : dump_tags_) {
      if (std::find(o.dumps.begin(), o.dumps.end(), v) == o.dumps.end()) o.dumps.push_back(v);
    }
    if (*o.level == Level::CORE_GROUP) {
      n.scope = ScopeKind::InCore;
      n.split = o.split;
    } else {
      n.scope = ScopeKind::Hierarchy;
      n.level = o.level;
      n.role = o.role;
    }
  } else if (form == "cluster") {
    n.scope = ScopeKind::Cluster;
  } else if (form == "graph") {
    n.scope = ScopeKind::Graph;
    saw_dump_ = true;
  } else {
    n.scope = ScopeKind::Runtime;
    n.manual = o.manual || form == "manual_scope";
    if (!o.name_hint.empty()) saw_dump_ = true;
  }
  Block body;
  const bool in_core = in_core_;
  if (n.scope == ScopeKind::InCore) in_core_ = true;
  if (!read_scope_body(o, body)) return false;
  in_core_ = in_core;
  n.attrs = scope_attrs(o, n.scope == ScopeKind::InCore);
  n.body = ctx_.list(body.stmts);
  n.span = span_from(first.begin);
  propagate_yield(block, body);
  block.stmts.push_back(make_scope(n));
  return true;
}

// The body, after the cache policies that stand in front of it.
bool Reader::read_scope_body(ScopeOptions& o, Block& body) {
  scope_policies_.push_back(&o.cache_policies);
  const bool good = read_block(body, "with", IfEmpty::Accept);
  scope_policies_.pop_back();
  return good;
}

bool Reader::read_spmd(Block& block, const Token& first, const Token* loop_name, const Path& path) {
  ScopeOptions o;
  if (!read_scope_call(o, "spmd")) return false;
  flush_hoisted(block);
  if (o.core_num == nullptr) {
    diags_.report<diag::spmd_count>(path.span).help("write pl.spmd(8)");
    return false;
  }
  if (loop_name == nullptr && !read_task_id(o, block)) return false;
  if (!expect(Tok::Colon, "after the scope's header")) return false;
  if (at(Tok::Newline)) take();
  const Comments comments = take_header_comments();
  Block body;
  if (loop_name != nullptr) {
    const Type* index = ctx_.scalar(DType::INDEX);
    const Var* block_index = ctx_.var(ctx_.name(text(*loop_name)), index, span(*loop_name));
    bind(block_index->name, block_index);
    const Call* call = ctx_.call(OpId::tile_get_block_idx, {}, {}, {}, index, span(*loop_name));
    body.stmts.push_back(ctx_.assign(block_index, call, span(*loop_name)));
  }
  const bool in_core = in_core_;
  in_core_ = true;
  if (!read_scope_body(o, body)) return false;
  in_core_ = in_core;
  ScopeStmt n{};
  n.kind = StmtKind::Scope;
  n.scope = ScopeKind::Spmd;
  n.comments = comments;
  n.core_num = o.core_num;
  n.sync_start = o.sync_start;
  n.span = span_from(first.begin);
  n.name_hint = o.name_hint;
  n.attrs = scope_attrs(o, false);
  const Body list = ctx_.list(body.stmts);
  const bool explicit_carrier = list.size() == 1 && dyn_scope(list[0], ScopeKind::InCore) != nullptr;
  const bool carrier =
      !explicit_carrier && (loop_name != nullptr || o.has_optimizations || calls_get_block_idx(list));
  if (carrier) {
    ScopeStmt c{};
    c.kind = StmtKind::Scope;
    c.scope = ScopeKind::InCore;
    c.span = n.span;
    c.split = o.split;
    c.body = list;
    if (o.slot_num) c.attrs = ctx_.list({Attr{ctx_.name("slot_num"), AttrValue::of_int(*o.slot_num)}});
    // The pair of hints is a fixed point: "h" names the carrier, "h_spmd" the scope around it
    // (format.md 2.7.5).
    if (!o.name_hint.empty()) {
      if (ends_with(o.name_hint, kSpmdSuffix)) {
        c.name_hint = o.name_hint.substr(0, o.name_hint.size() - kSpmdSuffix.size());
      } else {
        c.name_hint = o.name_hint;
        if (authoring_) n.name_hint = ctx_.text(std::string(o.name_hint) + std::string(kSpmdSuffix));
      }
    }
    n.body = ctx_.list({make_scope(c)});
  } else {
    n.body = list;
  }
  propagate_yield(block, body);
  block.stmts.push_back(make_scope(n));
  return true;
}

bool Reader::read_split_aiv(Block& block, const Token& first, const Token& name, const Path& path) {
  if (!expect(Tok::LParen, "after 'pl.split_aiv'")) return false;
  std::int64_t count = 0;
  std::optional<SplitMode> mode;
  const Token count_token = tok_;
  if (!read_int(count, "counting the vector cores")) return false;
  while (accept(Tok::Comma) && !at(Tok::RParen)) {
    if (!expect_word("mode", "in 'pl.split_aiv'") || !expect(Tok::Assign, "after 'mode'")) return false;
    SplitMode m{};
    if (!read_enum_member("SplitMode", m)) return false;
    mode = m;
  }
  if (!expect(Tok::RParen, "after the region's arguments") ||
      !expect(Tok::Colon, "after the region's header"))
    return false;
  if (count != 2 || !mode) {
    diags_.report<diag::split_aiv_form>(count != 2 ? span(count_token) : path.span)
        .help("write pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN)");
    return false;
  }
  if (at(Tok::Newline)) take();
  ScopeStmt n{};
  n.kind = StmtKind::Scope;
  n.scope = ScopeKind::SplitAiv;
  n.comments = take_header_comments();
  n.split = mode;
  const Type* index = ctx_.scalar(DType::INDEX);
  const Var* lane = ctx_.var(ctx_.name(text(name)), index, span(name));
  bind(lane->name, lane);
  Block body;
  body.stmts.push_back(
      ctx_.assign(lane, ctx_.call(OpId::tile_get_subblock_idx, {}, {}, {}, index, span(name)), span(name)));
  const auto region = split_region_;
  split_region_ = mode;
  const bool in_core = in_core_;
  in_core_ = true;
  ScopeOptions o;
  if (!read_scope_body(o, body)) return false;
  in_core_ = in_core;
  split_region_ = region;
  n.body = ctx_.list(body.stmts);
  n.span = span_from(first.begin);
  propagate_yield(block, body);
  const Stmt* scope = make_scope(n);
  if (authoring_ && !in_core_ && draft_ != nullptr && !draft_->f.is_kernel()) {
    ScopeStmt c{};
    c.kind = StmtKind::Scope;
    c.scope = ScopeKind::InCore;
    c.span = n.span;
    c.body = ctx_.list({scope});
    scope = make_scope(c);
  }
  block.stmts.push_back(scope);
  return true;
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

// The body of a scope: nothing for an empty one in legacy, `pass` in dump (format.md 2.7.4).
void Writer::scope_body(Body list, Attrs attrs, std::string_view yield_names, bool pass_if_empty) {
  ++indent_;
  const bool policies = cache_policies(attrs);
  if (!list.empty()) {
    statements(list, yield_names);
  } else if (pass_if_empty || (options_.dialect == Dialect::Dump && !policies)) {
    pad();
    out_ += "pass";
  }
  --indent_;
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

void Writer::scope(const ScopeStmt& s, std::string_view yield_names, bool pass_if_empty) {
  const bool dump = options_.dialect == Dialect::Dump;
  const bool top = top_level_;
  top_level_ = false;
  comments(s.comments);
  if (s.scope == ScopeKind::CommDomain) {
    comm_domain(s, yield_names, top);
    return;
  }
  if (s.scope == ScopeKind::Spmd) {
    spmd(s, yield_names);
    return;
  }
  if (s.scope == ScopeKind::SplitAiv) {
    split_aiv(s, yield_names);
    return;
  }
  pad();
  out_ += "with ";
  prefix();
  bool passes_yield = false;
  switch (s.scope) {
    case ScopeKind::InCore:
    case ScopeKind::Hierarchy: {
      out_ += "at(level=";
      enum_member("Level",
                  name_of(s.scope == ScopeKind::InCore ? Level::CORE_GROUP : s.level.value_or(Level::HOST)));
      if (s.role) {
        out_ += ", role=";
        enum_member("Role", name_of(*s.role));
      }
      if (s.scope == ScopeKind::InCore) scope_optimizations(s);
      name_hint(s.name_hint);
      bool comma = true;
      scope_vars(s.attrs, "manual_dep_edges", "deps", comma);
      scope_vars(s.attrs, "arg_direction_overrides_vars", "no_dep_args", comma);
      scope_vars(s.attrs, "dump_vars", "dumps", comma);
      early_and_predicate(s.attrs, dump);
      if (const AttrValue* w = find_attr(s.attrs, "windowize"); w != nullptr && w->as_bool())
        out_ += ", windowize=True";
      out_ += ')';
      task_id(s.attrs);
      break;
    }
    case ScopeKind::Cluster: {
      out_ += "cluster(";
      bool comma = false;
      if (!s.name_hint.empty()) {
        out_ += "name_hint=\"";
        out_ += s.name_hint;
        out_ += '"';
        comma = true;
      }
      if (dump) scope_vars(s.attrs, "dump_vars", "dumps", comma);
      out_ += ')';
      break;
    }
    case ScopeKind::Graph: {
      out_ += "graph(\"";
      out_ += s.name_hint;
      out_ += '"';
      bool comma = true;
      scope_vars(s.attrs, "dump_vars", "dumps", comma);
      out_ += ')';
      break;
    }
    case ScopeKind::Runtime: {
      out_ += "scope(";
      if (s.manual) {
        out_ += "mode=";
        enum_member("ScopeMode", "MANUAL");
      }
      if (dump && !s.name_hint.empty()) {
        out_ += s.manual ? ", name_hint=\"" : "name_hint=\"";
        escaped_hint(s.name_hint);
        out_ += '"';
      }
      out_ += ')';
      passes_yield = !s.manual;
      break;
    }
    case ScopeKind::Spmd:
    case ScopeKind::SplitAiv:
    case ScopeKind::CommDomain:
      break;
  }
  out_ += ":\n";
  scope_body(s.body, s.attrs, passes_yield ? yield_names : std::string_view{}, pass_if_empty);
}

void Writer::spmd(const ScopeStmt& s, std::string_view yield_names) {
  const bool dump = options_.dialect == Dialect::Dump;
  const ScopeStmt* carrier = s.body.size() == 1 ? dyn_scope(s.body[0], ScopeKind::InCore) : nullptr;
  bool plain_carrier = true;  // nothing is lost if the carrier's header is not printed
  if (carrier != nullptr && dump) {
    for (const Attr& attr : carrier->attrs) {
      const std::string_view key = attr.key.text();
      plain_carrier = plain_carrier && (key == "slot_num" || key.substr(0, 12) == "cache_policy");
    }
  }
  const bool has_task = find_attr(s.attrs, "task_id_var") != nullptr;
  const bool inline_carrier = carrier != nullptr && plain_carrier &&
                              (carrier->split || find_attr(carrier->attrs, "slot_num") != nullptr ||
                               calls_get_block_idx(carrier->body));
  const AssignStmt* index =
      carrier != nullptr && plain_carrier ? leading_call(carrier->body, OpId::tile_get_block_idx) : nullptr;
  const bool as_loop = !has_task && index != nullptr;
  pad();
  if (as_loop) {
    out_ += "for ";
    out_ += name(index->var);
    out_ += " in ";
  } else {
    out_ += "with ";
  }
  prefix();
  out_ += "spmd(";
  expr(s.core_num);
  if (s.sync_start) out_ += ", sync_start=True";
  name_hint(s.name_hint);
  if (carrier != nullptr && (as_loop || (has_task && (inline_carrier || !dump))))
    scope_optimizations(*carrier);
  bool comma = true;
  scope_vars(s.attrs, "manual_dep_edges", "deps", comma);
  if (dump) scope_vars(s.attrs, "dump_vars", "dumps", comma);
  early_and_predicate(s.attrs, true);
  out_ += ')';
  task_id(s.attrs);
  out_ += ":\n";
  if (as_loop) {
    ++indent_;
    const bool policies = cache_policies(s.attrs) | cache_policies(carrier->attrs);
    const Body rest = carrier->body.subspan(1);
    if (!rest.empty()) {
      statements(rest, {});
    } else if (!policies) {
      pad();
      out_ += "pass\n";
    }
    --indent_;
  } else if (has_task && inline_carrier) {
    ++indent_;
    const bool policies = cache_policies(s.attrs) | cache_policies(carrier->attrs);
    if (!carrier->body.empty()) {
      statements(carrier->body, {});
    } else if (dump && !policies) {
      pad();
      out_ += "pass";
    }
    --indent_;
  } else {
    scope_body(s.body, s.attrs, yield_names, false);
  }
}

void Writer::split_aiv(const ScopeStmt& s, std::string_view yield_names) {
  const AssignStmt* lane = leading_call(s.body, OpId::tile_get_subblock_idx);
  pad();
  out_ += "for ";
  if (lane != nullptr) {
    out_ += name(lane->var);
  } else {
    out_ += "aiv_id";
  }
  out_ += " in ";
  prefix();
  out_ += "split_aiv(2, mode=";
  enum_member("SplitMode", name_of(s.split.value_or(SplitMode::NONE)));
  out_ += "):\n";
  ++indent_;
  const bool outer = in_split_region_;
  in_split_region_ = true;
  const Body rest = lane != nullptr ? s.body.subspan(1) : s.body;
  if (!rest.empty()) {
    statements(rest, yield_names);
  } else {
    pad();
    out_ += "pass\n";
  }
  in_split_region_ = outer;
  --indent_;
}

}  // namespace pldc
