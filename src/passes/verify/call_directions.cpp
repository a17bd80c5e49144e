// CallDirectionsResolved: every call and submit of a function says for each argument how it is used, and says
// nothing that the callee's signature contradicts; wrappers declare what they pass on.
#include <algorithm>
#include <unordered_map>

#include "ir/walk.h"
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
    walk_stmts(f->body, [&](const Stmt* stmt) {
      for_each_expr(stmt,
                    [&](const Expr* root) { walk_expr(root, [&](const Expr* e) { visit(e, stmt->span); }); });
    });
  }

  // Whether a wrapper's declared directions are at least those of the callees that it hands its parameters
  // to.
  void wrapper(const Function* f) {
    if (!f->is_wrapper()) return;
    for (const Param& param : f->params) {
      const ParamDirection effective = effective_of(f, param);
      if (effective == param.direction) continue;
      diags_
          .report<diag::wrapper_direction_stale>(param.var->span.valid() ? param.var->span : f->name_span,
                                                 f->name.text(), param.var->name.text(),
                                                 name_of(param.direction), name_of(effective))
          .help("DeriveCallDirections writes the directions of wrappers");
    }
  }

 private:
  struct CallView {
    Name callee;
    List<const Expr*> args;
    Attrs attrs;
    bool is_submit;
  };
  static bool view(const Expr* e, CallView& out) {
    if (const auto* call = dyn<Call>(e); call != nullptr && !call->is_op()) {
      out = {call->function, call->args, call->attrs, false};
      return true;
    }
    if (const auto* submit = dyn<Submit>(e)) {
      out = {submit->function, submit->args, submit->attrs, true};
      return true;
    }
    return false;
  }

  // The parameter that an argument is for. A submit may leave out outputs, which the runtime allocates;
  // contexts, which are the last parameters, then directly follow the arguments passed.
  static const Param* param_of(const Function* callee, const CallView& call, std::size_t index) {
    const std::size_t count = call.args.size();
    const std::size_t params = callee->params.size();
    if (call.is_submit && count < params) {
      std::size_t contexts = 0;
      while (contexts < count && call.args[count - 1 - contexts]->type->kind == TypeKind::CommCtx) ++contexts;
      if (index >= count - contexts) return &callee->params[params - (count - index)];
    }
    return index < params ? &callee->params[index] : nullptr;
  }

  void visit(const Expr* e, Span stmt) {
    CallView call;
    if (!view(e, call) || call.args.empty()) return;
    const Span place = e->span.valid() ? e->span : stmt;
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
      const Param* param = tensor && callee != functions_.end() ? param_of(callee->second, call, i) : nullptr;
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

  static int strength(ParamDirection d) {
    switch (d) {
      case ParamDirection::In:
        return 0;
      case ParamDirection::Out:
        return 1;
      case ParamDirection::InOut:
        return 2;
    }
    return 0;
  }

  // Declared directions of the callees are enough: each wrapper among them is checked itself.
  ParamDirection effective_of(const Function* f, const Param& param) const {
    ParamDirection result = param.direction;
    walk_stmts(f->body, [&](const Stmt* stmt) {
      for_each_expr(stmt, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          CallView call;
          if (!view(e, call)) return;
          const auto callee = functions_.find(call.callee);
          if (callee == functions_.end()) return;
          for (std::size_t i = 0; i < call.args.size(); ++i) {
            const Param* inner = call.args[i] == param.var ? param_of(callee->second, call, i) : nullptr;
            if (inner != nullptr && strength(inner->direction) > strength(result)) result = inner->direction;
          }
        });
      });
    });
    return result;
  }

  DiagSink& diags_;
  std::unordered_map<Name, const Function*> functions_;
  const Function* function_ = nullptr;
};

}  // namespace

void verify_CallDirectionsResolved(const Program* program, DiagSink& diags) {
  Check check(program, diags);
  for (const Function* f : program->functions) {
    check.function(f);
    check.wrapper(f);
  }
}

}  // namespace pldc
