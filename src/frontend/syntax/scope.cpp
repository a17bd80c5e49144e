// with  = "with" "pl." form "(" options ")" [ "as" NAME ] ":" body
// form  = "at" | "cluster" | "graph" | "spmd" | "scope" | "manual_scope" | "_dump.comm_domain"
#include "frontend/reader.h"
#include "frontend/writer.h"
#include "support/diag/parse.h"

namespace pldc {

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
  body.of_else = block.of_else && block.free_scope;
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

// --- printing
// --------------------------------------------------------------------------------------------------

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
      // Names that the reader cannot find again are printed inside a manual scope too.
      passes_yield = !s.manual || !names_follow_;
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

}  // namespace pldc
