// spmd      = "with" "pl.spmd(" options ")" [ "as" NAME ] ":" body | "for" NAME "in" "pl.spmd(" options "):" body
// split_aiv = "for" NAME "in" "pl.split_aiv(" 2 "," "mode=" m "):" body

#include "frontend/reader.h"
#include "frontend/reader_enum.h"
#include "frontend/writer.h"
#include "support/diag/parse.h"

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

// The pair of hints is a fixed point: "h" names the carrier, "h_spmd" the scope around it (format.md 2.7.5).
std::string_view hint_of_carrier(std::string_view scope_hint) {
  return ends_with(scope_hint, kSpmdSuffix) ? scope_hint.substr(0, scope_hint.size() - kSpmdSuffix.size())
                                            : scope_hint;
}

const AssignStmt* leading_call(Body body, OpId op) {
  if (body.empty()) return nullptr;
  const auto* assign = dyn<AssignStmt>(body[0]);
  return assign != nullptr && op_call(assign->value, op) != nullptr ? assign : nullptr;
}

}  // namespace

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
    c.name_hint = hint_of_carrier(o.name_hint);
    if (authoring_ && !o.name_hint.empty() && c.name_hint == o.name_hint)
      n.name_hint = ctx_.text(std::string(o.name_hint) + std::string(kSpmdSuffix));
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

void Writer::spmd(const ScopeStmt& s, std::string_view yield_names) {
  const bool dump = options_.dialect == Dialect::Dump;
  const ScopeStmt* carrier = s.body.size() == 1 ? dyn_scope(s.body[0], ScopeKind::InCore) : nullptr;
  bool plain_carrier = true;  // nothing is lost if the carrier's header is not printed
  if (carrier != nullptr && dump) {
    plain_carrier = hint_of_carrier(s.name_hint) == carrier->name_hint;
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
    const bool own_policies = cache_policies(s.attrs);  // both are written to the output
    const bool policies = cache_policies(carrier->attrs) || own_policies;
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
    const bool own_policies = cache_policies(s.attrs);  // both are written to the output
    const bool policies = cache_policies(carrier->attrs) || own_policies;
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
