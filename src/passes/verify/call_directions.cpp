// CallDirectionsResolved: every call and submit of a function says for each argument how it is used, and says
// nothing that the callee's signature contradicts; wrappers declare what they pass on.
#include "passes/function_call.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

bool is_tensor(const Expr* e) { return dyn<TensorType>(e->type) != nullptr; }

class Check {
 public:
  Check(const Program* program, DiagSink& diags) : diags_(diags) {
    for (const Function* f : program->functions) functions_.emplace(f->name, f);
  }

  void function(const Function* f) {
    function_ = f;
    for_each_function_call(f->body, [&](const FunctionCall& call, const Expr* e, const Stmt* stmt) {
      if (!call.args.empty()) visit(call, e->span.valid() ? e->span : stmt->span);
    });
  }

  // Whether a wrapper's declared directions are at least those of the callees that it hands its parameters
  // to.
  void wrapper(const Function* f, const std::vector<ParamDirection>& effective) {
    for (std::size_t i = 0; i < f->params.size(); ++i) {
      const Param& param = f->params[i];
      if (effective[i] == param.direction) continue;
      diags_
          .report<diag::wrapper_direction_stale>(param.var->span.valid() ? param.var->span : f->name_span,
                                                 f->name.text(), param.var->name.text(),
                                                 name_of(param.direction), name_of(effective[i]))
          .help("DeriveCallDirections writes the directions of wrappers");
    }
  }

 private:
  void visit(const FunctionCall& call, Span place) {
    const AttrValue* attr = find_attr(call.attrs, "arg_directions");
    if (attr == nullptr || attr->kind != AttrKind::ArgDirectionList || attr->directions.empty()) {
      diags_.report<diag::directions_missing>(place, call.callee.text(), function_->name.text())
          .help("DeriveCallDirections finds them");
      return;
    }
    if (attr->directions.size() != call.args.size()) {
      diags_.report<diag::directions_count>(place, call.callee.text(), attr->directions.size(),
                                            call.args.size());
      return;
    }
    const auto callee = functions_.find(call.callee);
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const ArgDirection direction = attr->directions[i];
      const bool tensor = is_tensor(call.args[i]);
      if (tensor == (direction == ArgDirection::Scalar)) {
        diags_.report<diag::direction_kind>(place, i, call.callee.text(), tensor ? "a tensor" : "no tensor",
                                            name_of(direction), tensor ? "anything but scalar" : "scalar");
        continue;
      }
      const Param* param =
          tensor && callee != functions_.end() ? param_for(callee->second, call, i) : nullptr;
      if (param == nullptr || allowed(param->direction, direction)) continue;
      diags_
          .report<diag::direction_contradicts>(place, i, call.callee.text(), name_of(direction),
                                               param->var->name.text(), name_of(param->direction),
                                               allowed_text(param->direction))
          .note(param->type_span, "the parameter");
    }
  }

  static bool allowed(ParamDirection declared, ArgDirection direction) {
    switch (declared) {
      case ParamDirection::In:
        return direction == ArgDirection::Input || direction == ArgDirection::NoDep;
      case ParamDirection::InOut:
        return direction == ArgDirection::InOut || direction == ArgDirection::OutputExisting ||
               direction == ArgDirection::NoDep;
      case ParamDirection::Out:
        return direction != ArgDirection::Input && direction != ArgDirection::Scalar;
    }
    return false;
  }
  static std::string_view allowed_text(ParamDirection declared) {
    switch (declared) {
      case ParamDirection::In:
        return "input or no_dep";
      case ParamDirection::InOut:
        return "inout, output_existing or no_dep";
      case ParamDirection::Out:
        return "output, output_existing, inout or no_dep";
    }
    return {};
  }

  DiagSink& diags_;
  std::unordered_map<Name, const Function*> functions_;
  const Function* function_ = nullptr;
};

}  // namespace

void verify_CallDirectionsResolved(const Program* program, DiagSink& diags) {
  Check check(program, diags);
  const auto effective = wrapper_directions(program);
  for (const Function* f : program->functions) {
    check.function(f);
    if (const auto found = effective.find(f); found != effective.end()) check.wrapper(f, found->second);
  }
}

}  // namespace pldc
