// The small structural verifiers: where jumps, yields, scopes, arrays and pipeline loops may stand.
#include "ir/walk.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

void check_jumps(Body body, bool in_loop, DiagSink& diags) {
  for (const Stmt* s : body) {
    if (!in_loop && (s->kind == StmtKind::Break || s->kind == StmtKind::Continue)) {
      diags.report<diag::jump_outside_loop>(s->span, s->kind == StmtKind::Break ? "break" : "continue")
          .help("move it into the body of a for or while, or remove it");
    }
    const bool loop = s->kind == StmtKind::For || s->kind == StmtKind::While;
    for_each_body(s, [&](Body inner) { check_jumps(inner, in_loop || loop, diags); });
  }
}

void check_yields(Body body, DiagSink& diags) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i]->kind == StmtKind::Yield && i + 1 < body.size()) {
      diags.report<diag::yield_in_middle>(body[i]->span)
          .note(body[i + 1]->span, "this statement comes after it")
          .help("move the pl.yield_ to the end of the body");
    }
    for_each_body(body[i], [&](Body inner) { check_yields(inner, diags); });
  }
}

void check_incore(Body body, const ScopeStmt* outer, DiagSink& diags) {
  for (const Stmt* s : body) {
    const ScopeStmt* incore = dyn_scope(s, ScopeKind::InCore);
    if (incore != nullptr && outer != nullptr) {
      diags.report<diag::nested_incore>(s->span)
          .note(outer->span, "the enclosing InCore scope")
          .help("move its statements into the enclosing scope, or after it");
    }
    const ScopeStmt* inner_outer = incore != nullptr && outer == nullptr ? incore : outer;
    for_each_body(s, [&](Body inner) { check_incore(inner, inner_outer, diags); });
  }
}

bool holds_array(const Type* type) {
  if (type->kind == TypeKind::Array) return true;
  const auto* tuple = dyn<TupleType>(type);
  if (tuple == nullptr) return false;
  for (const Type* element : tuple->elements) {
    if (holds_array(element)) return true;
  }
  return false;
}

// Scopes of some kinds that earlier passes turn into functions.
template <class Wanted>
void check_scopes_left(const Function* f, Wanted&& wanted, std::string_view what, std::string_view pass,
                       DiagSink& diags) {
  walk_stmts(f->body, [&](const Stmt* s) {
    const auto* scope = dyn<ScopeStmt>(s);
    if (scope == nullptr || !wanted(scope->scope)) return;
    diags.report<diag::scope_left>(s->span, f->name.text(), what, pass).help("run {} first", pass);
  });
}

}  // namespace

void verify_BreakContinueValid(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) check_jumps(f->body, false, diags);
}

void verify_NoRedundantBlocks(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) check_yields(f->body, diags);
}

// Nested sequences cannot be represented; what is left of the property is that a yield ends its list.
void verify_NormalizedStmtStructure(const Program* program, DiagSink& diags) {
  verify_NoRedundantBlocks(program, diags);
}

void verify_NoNestedInCore(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) check_incore(f->body, nullptr, diags);
}

void verify_PipelineLoopValid(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    walk_stmts(f->body, [&](const Stmt* s) {
      const auto* loop = dyn<ForStmt>(s);
      if (loop == nullptr || loop->for_kind != ForKind::Pipeline) return;
      const AttrValue* stages = find_attr(loop->attrs, "pipeline_stages");
      if (stages != nullptr && stages->kind == AttrKind::Int && stages->integer >= 1) return;
      const bool number = stages != nullptr && stages->kind == AttrKind::Int;
      diags
          .report<diag::pipeline_without_stages>(
              s->span, number ? fmt::format("stage={}", stages->integer) : std::string("no stage count"))
          .help("write stage=N with N at least 1, or use pl.range");
    });
  }
}

void verify_ArrayNotEscaped(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    for (const Param& param : f->params) {
      if (!holds_array(param.var->type)) continue;
      diags
          .report<diag::array_escapes>(param.type_span.valid() ? param.type_span : f->name_span,
                                       fmt::format("parameter '{}'", param.var->name.text()), f->name.text())
          .help("pass a tensor instead");
    }
    for (const Type* t : f->return_types) {
      if (!holds_array(t)) continue;
      diags.report<diag::array_escapes>(f->name_span, "a result", f->name.text())
          .help("return a tensor instead");
    }
  }
}

void verify_HierarchyOutlined(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    if (f->func_type != FuncType::Opaque) continue;
    check_scopes_left(
        f, [](ScopeKind kind) { return kind == ScopeKind::Hierarchy; }, "a level", "OutlineHierarchyScopes",
        diags);
  }
}

void verify_SplitIncoreOrch(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    if (f->func_type != FuncType::Opaque) continue;
    check_scopes_left(
        f, [](ScopeKind kind) { return kind == ScopeKind::InCore; }, "an InCore", "OutlineIncoreScopes",
        diags);
  }
}

void verify_ClusterOutlined(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    check_scopes_left(
        f, [](ScopeKind kind) { return kind == ScopeKind::Cluster || kind == ScopeKind::Spmd; },
        "a cluster or spmd", "OutlineClusterScopes", diags);
  }
}

}  // namespace pldc
