// pld.tensor.allreduce: what both modes demand (passes.md 2.14).
#include "frontend/text.h"
#include "ir/rules.h"
#include "passes/lower_composite/collectives.h"
#include "support/diag/pass.h"

namespace pldc::composite {

namespace {

// Nothing between the rows: the whole target is then one row.
bool is_packed(Expansion& out, const TensorType* type) {
  if (type->view == nullptr || type->view->stride.empty()) return true;
  const Expr* next = out.index(1);
  for (std::size_t i = type->shape.size(); i > 0; --i) {
    if (!same_dim(type->view->stride[i - 1], next)) return false;
    next = dim_mul(out.ir(), type->shape[i - 1], next);
  }
  return true;
}

}  // namespace

OpId reduce_op(const Expansion& out) {
  switch (static_cast<ReduceOp>(out.keyword("op", 0))) {
    case ReduceOp::Sum:
      return OpId::tile_add;
    case ReduceOp::Max:
      return OpId::tile_maximum;
    case ReduceOp::Min:
      return OpId::tile_minimum;
    case ReduceOp::Prod:
      return OpId::tile_mul;
  }
  return OpId::tile_add;
}

const Expr* expand_allreduce(Expansion& out) {
  DiagSink& diags = out.env.diags;
  if (out.call->args.size() != 2) {
    diags.report<diag::kernel_allreduce_signal>(out.call->span)
        .help("take a signal window as a parameter and pass it as second operand");
    return nullptr;
  }
  const TensorType* target = out.tensor(0);
  if (target->view != nullptr && target->view->layout != TensorLayout::ND) {
    out.error<diag::kernel_allreduce_layout>(0, name_of(target->view->layout));
    return nullptr;
  }
  if (!is_packed(out, target)) {
    out.error<diag::kernel_allreduce_strided>(0, print_type(target))
        .help("reduce the whole window, or copy the part into a window of its own first");
    return nullptr;
  }
  if (const std::int64_t cores = out.keyword("core_num", 1); cores != 1) {
    diags.report<diag::kernel_allreduce_core_num>(out.call->span, cores)
        .help("leave core_num out, or call the collective in a host function");
    return nullptr;
  }
  const AttrValue* mode = find_attr(out.call->kwargs, "mode");
  if (mode == nullptr || mode->text == "mesh") return expand_mesh_allreduce(out);
  if (mode->text == "ring") return expand_ring_allreduce(out);
  diags.report<diag::allreduce_mode>(out.call->span, mode->text);
  return nullptr;
}

}  // namespace pldc::composite
