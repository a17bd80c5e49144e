// ReturnParamsExplicit: a kernel returns the parameter itself where the value is that parameter's memory, so
// that its return statement tells which argument each result is.
#include <algorithm>

#include "passes/trace.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

void verify_ReturnParamsExplicit(const Program* program, DiagSink& diags) {
  ParamTracer tracer(program);
  for (const Function* f : program->functions) {
    if (!f->is_kernel() && !f->is_wrapper()) continue;
    // The body of an external kernel is elsewhere.
    if (find_attr(f->attrs, "external_source") != nullptr || f->requires_runtime_binding) continue;
    const bool tensors = std::any_of(f->return_types.begin(), f->return_types.end(),
                                     [](const Type* t) { return dyn<TensorType>(t) != nullptr; });
    const ReturnStmt* first = first_return(f->body);
    if (tensors && first == nullptr) {
      diags.report<diag::return_missing>(f->name_span, f->name.text()).help("end the body with a return");
      continue;
    }
    if (first == nullptr) continue;
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
