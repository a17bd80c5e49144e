// ReturnParamsExplicit: a kernel returns the parameter itself where the value is that parameter's memory, so
// that its return statement tells which argument each result is.
#include <algorithm>

#include "passes/trace.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

bool body_is_elsewhere(const Function* f) {
  return find_attr(f->attrs, "external_source") != nullptr || f->requires_runtime_binding;
}

}  // namespace

bool check_returns(const Function* f, DiagSink& diags) {
  if (body_is_elsewhere(f) || f->return_types.empty() || first_return(f->body) != nullptr) return true;
  // A worker in Python.
  if (!f->body.empty() && f->body.front()->kind == StmtKind::Inline) return true;
  diags.report<diag::return_missing>(f->name_span, f->name.text()).help("end the body with a return");
  return false;
}

void verify_ReturnParamsExplicit(const Program* program, DiagSink& diags) {
  ParamTracer tracer(program);
  for (const Function* f : program->functions) {
    if ((!f->is_kernel() && !f->is_wrapper()) || body_is_elsewhere(f)) continue;
    const ReturnStmt* first = first_return(f->body);
    if (first == nullptr) {
      check_returns(f, diags);
      continue;
    }
    for (std::size_t i = 0; i < first->values.size(); ++i) {
      const Expr* value = first->values[i];
      if (dyn<TensorType>(value->type) == nullptr) continue;
      const int param = tracer.param_of(f, value);
      if (param == ParamTracer::kNone) continue;
      const Var* var = f->params[static_cast<std::size_t>(param)].var;
      if (value == var) continue;
      diags.report<diag::return_not_param>(first->span, i, f->name.text(), var->name.text())
          .help("return '{}', or run NormalizeReturnOrder", var->name.text());
    }
  }
}

}  // namespace pldc
