#include "codegen/normalize.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "codegen/lanes/lanes.h"
#include "codegen/operation_kernels.h"
#include "codegen/results.h"
#include "codegen/tuple_elements.h"
#include "ir/auto_name.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/function_call.h"
#include "passes/lineage.h"
#include "passes/pass.h"
#include "support/check.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

// Whether a pass has to run: the place that needs it, or an invalid span.
using RunWhere = Span (*)(const Program*);

// For a need that no single place stands for.
constexpr Span kSomewhere{1, 1};

bool holds(Property property, const Program* program) {
  DiagSink scratch;
  return verify(property, program, scratch);
}

// Whether the type's strides are constants and not those of a tensor that is packed.
bool lies_in_larger(const Type* type) {
  const auto* tensor = dyn<TensorType>(type);
  if (tensor == nullptr || tensor->view == nullptr || tensor->view->layout != TensorLayout::ND) return false;
  std::int64_t packed = 1;
  for (std::size_t i = tensor->view->stride.size(); i-- > 0;) {
    const auto stride = const_int(tensor->view->stride[i]);
    const auto extent = i < tensor->shape.size() ? const_int(tensor->shape[i]) : std::nullopt;
    if (!stride || !extent) return false;
    if (*stride > packed && *extent > 1) return true;
    packed *= *extent;
  }
  return false;
}

template <Property P>
Span without(const Program* program) {
  return holds(P, program) ? Span{} : kSomewhere;
}

template <class F>
void for_each_call(const Function* function, F&& f) {
  walk_stmts(function->body, [&](const Stmt* stmt) {
    for_each_expr(stmt, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        if (const auto* call = dyn<Call>(e)) f(call);
      });
    });
  });
}

// The verifier of NoNestedCalls lets calls be returned and yielded; FlattenCallExpr does not.
Span nested_calls(const Program* program) {
  Span place = without<Property::NoNestedCalls>(program);
  for (const Function* f : program->functions) {
    walk_stmts(f->body, [&](const Stmt* stmt) {
      const bool gives = stmt->kind == StmtKind::Return || stmt->kind == StmtKind::Yield;
      if (!gives) return;
      for_each_expr(stmt, [&](const Expr* e) {
        if (e->kind == ExprKind::Call || e->kind == ExprKind::Submit) place = kSomewhere;
      });
    });
  }
  return place;
}

Span place_of(const Call* call) { return call->span.valid() ? call->span : kSomewhere; }

Span implicit_signals(const Program* program) {
  Span place;
  for (const Function* f : program->functions) {
    if (!f->is_host_orchestrator()) continue;
    for_each_call(f, [&](const Call* call) {
      if (call->op == OpId::pld_tensor_allreduce && call->args.size() < 2) place = place_of(call);
    });
  }
  return place;
}

Span host_collectives(const Program* program) {
  Span place;
  for (const Function* f : program->functions) {
    if (!f->is_host_orchestrator()) continue;
    for_each_call(f, [&](const Call* call) {
      if (as_collective(call) != nullptr) place = place_of(call);
    });
  }
  return place;
}

Span device_collectives(const Program* program) {
  Span place;
  for (const Function* f : program->functions) {
    if (f->is_host_orchestrator()) continue;
    for_each_call(f, [&](const Call* call) {
      if (as_collective(call) != nullptr) place = place_of(call);
    });
  }
  return place;
}

// Computing on tensors and making them; what kernels can do with tensors themselves (reads, extents, views, transfers) stays.
Span tensor_ops_in_kernels(const Program* program) {
  Span place;
  for (const Function* f : program->functions) {
    if (!f->is_kernel()) continue;
    for_each_call(f, [&](const Call* call) {
      const bool makes = call->op == OpId::tensor_create || call->op == OpId::tensor_full ||
                         call->op == OpId::tensor_assemble;
      if (!call->is_op() || (!makes && op_info(call->op).emit.emit != Emit::None)) return;
      if (!place.valid() && op_category(op_info(call->op).name) == "tensor") place = place_of(call);
    });
  }
  return place;
}

// A function has a context for each of its distributed tensors, at the end of its parameters, or none at all.
Span missing_contexts(const Program* program) {
  for (const Function* f : program->functions) {
    const auto distributed = std::count_if(f->params.begin(), f->params.end(),
                                           [](const Param& p) { return is_distributed(p.var->type); });
    const auto contexts = std::count_if(f->params.begin(), f->params.end(), [](const Param& p) {
      return p.var->type->kind == TypeKind::CommCtx;
    });
    if (contexts < distributed) return f->name_span.valid() ? f->name_span : kSomewhere;
  }
  return without<Property::DistTensorCtxMaterialized>(program);
}

// A kernel that writes into a part of a larger tensor, called with a buffer of the part's size that is copied there
// afterwards: OptimizeOrchTensors leaves it so for FuseCreateAssembleToSlice. As it stands it would write past the buffer.
Span parts_of_larger_tensors(const Program* program) {
  std::unordered_map<Name, const Function*> writers;
  for (const Function* f : program->functions) {
    const bool writes = std::any_of(f->params.begin(), f->params.end(),
                                    [](const Param& param) { return lies_in_larger(param.var->type); });
    if (writes) writers.emplace(f->name, f);
  }
  if (writers.empty()) return {};
  for (const Function* f : program->functions) {
    std::unordered_set<const Expr*> created;
    Span place;
    walk_stmts(f->body, [&](const Stmt* stmt) {
      const auto* assign = dyn<AssignStmt>(stmt);
      if (assign != nullptr && op_call(assign->value, OpId::tensor_create) != nullptr)
        created.insert(assign->var);
    });
    if (created.empty()) continue;
    for_each_function_call(f->body, [&](const FunctionCall& call, const Expr* e, const Stmt*) {
      const auto callee = writers.find(call.callee);
      for (std::size_t i = 0; callee != writers.end() && i < call.args.size(); ++i) {
        const Param* param = param_for(callee->second, call, i);
        if (param == nullptr || !created.contains(call.args[i]) || !lies_in_larger(param->var->type))
          continue;
        place = e->span.valid() ? e->span : kSomewhere;
      }
    });
    if (place.valid()) return place;
  }
  return {};
}

// As the default pipeline sees it (pipeline.cpp).
RunWhere pipeline_need(std::string_view name) {
  for (const PipelineEntry& entry : default_pipeline()) {
    if (entry.name == name) return entry.needed_by;
  }
  return nullptr;
}

// A name with "__" in it, as generated parameters have, cannot be versioned; ConvertToSSA refuses it. Here names are free.
class PlainNames : public Rewriter {
 public:
  using Rewriter::Rewriter;

  const Var* define(const Var* v) override {
    const AutoName parts = parse_auto_name(v->name.text());
    if (is_versionable_base(parts.base)) return Rewriter::define(v);
    const Var*& renamed = renamed_[v];  // the variable may be assigned several times
    if (renamed == nullptr) {
      std::string name;
      for (const char c : v->name.text()) {
        if (c != '_' || (!name.empty() && name.back() != '_')) name += c;
      }
      renamed = ctx().var(ctx().name(name.empty() ? "v" : name), type(v->type), v->span, v->is_iter_arg);
    }
    substitute(v, renamed);
    return renamed;
  }

 private:
  std::unordered_map<const Var*, const Var*> renamed_;
};

struct Step {
  std::string_view pass;
  RunWhere needed;  // null: what the pipeline says
};

// In the order of the pipeline.
constexpr Step kSteps[] = {
    {"InlineFunctions", nullptr},
    {"UnrollLoops", nullptr},
    {"CtrlFlowTransform", nullptr},
    {"ConvertToSSA", without<Property::SSAForm>},
    {"FlattenCallExpr", nested_calls},
    {"OutlineHierarchyScopes", nullptr},
    {"OutlineIncoreScopes", nullptr},
    {"OutlineClusterScopes", nullptr},
    {"ConvertTensorToTileOps", tensor_ops_in_kernels},
    {"LowerCompositeOps", device_collectives},
    {"NormalizeReturnOrder", without<Property::ReturnParamsExplicit>},
    {"FuseCreateAssembleToSlice", parts_of_larger_tensors},
    {"SynthesizeAllReduceSignals", implicit_signals},
    {"MaterializeCommDomainScopes", without<Property::CommDomainScopesMaterialized>},
    {"LowerHostTensorCollectives", host_collectives},
    {"MaterializeDistTensorCtx", missing_contexts},
    {"MaterializeValidShapeSymbols", nullptr},
};

}  // namespace

const Program* normalize_for_codegen(Context& context, const Program* program, DiagSink& diags) {
  const PassOptionValues options;
  for (const Step& step : kSteps) {
    if (step.pass == "OutlineHierarchyScopes") program = name_tuple_elements(context, program);
    if (step.pass == "OutlineIncoreScopes" && operation_in_orchestration(program).valid())
      program = put_operations_into_scopes(context, program);
    const RunWhere needed = step.needed != nullptr ? step.needed : pipeline_need(step.pass);
    const Span place = needed != nullptr ? needed(program) : Span{};
    if (!place.valid()) continue;
    const PassInfo* pass = find_pass(step.pass);
    PLDC_CHECK(pass != nullptr, "code generation runs a pass that does not exist");
    if (step.pass == "ConvertToSSA") program = PlainNames(context).program(program);
    PassEnv env{context, diags, options};
    const std::uint32_t errors = diags.error_count();
    const Program* result = pass->run(env, program);
    if (result == nullptr || diags.error_count() != errors) return nullptr;
    program = result;
  }
  if (const Span place = parts_of_larger_tensors(program); place.valid()) {
    diags.report<diag::codegen_part_of_larger>(place).help(
        "pass a slice of the larger tensor, or take the strides off the kernel's parameter");
    return nullptr;
  }
  PassEnv env{context, diags, options};
  program = both_lanes(env, program);
  return program != nullptr ? results_to_parameters(context, program) : nullptr;
}

}  // namespace pldc
