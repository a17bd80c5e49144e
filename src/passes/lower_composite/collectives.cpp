// The table of composite ops, and what several collectives demand.
#include "passes/lower_composite/collectives.h"

#include "frontend/text.h"
#include "passes/lineage.h"
#include "passes/lower_composite/flat_tiles.h"
#include "passes/lower_composite/ranks.h"
#include "support/diag/pass.h"

namespace pldc::composite {

namespace {

// Of one vector core.
constexpr std::int64_t kVectorBufferBytes = 196608;

struct Row {
  OpId op;
  Expander expander;
};
constexpr Row kComposites[] = {
    {OpId::pld_tensor_allreduce, expand_allreduce},
    {OpId::pld_tensor_barrier, expand_barrier},
    {OpId::pld_tensor_broadcast, expand_broadcast},
    {OpId::pld_tensor_allgather, expand_allgather},
    {OpId::pld_tensor_reduce_scatter, expand_reduce_scatter},
    {OpId::pld_tensor_all_to_all, expand_all_to_all},
    {OpId::pld_tensor_all_to_all_v, expand_all_to_all_v},
    {OpId::tile_sin, expand_sin},
    {OpId::tile_cos, expand_cos},
};

}  // namespace

Expander expander_of(OpId op) {
  for (const Row& row : kComposites) {
    if (row.op == op) return row.expander;
  }
  return nullptr;
}

bool fits_vector_buffer(Expansion& out, std::size_t operand, List<const Expr*> rows, const Expr* columns,
                        std::int64_t copies) {
  const std::string_view name = collective_info(out.call->op)->name;
  const TensorType* type = out.tensor(operand);
  const Expr* row_count = product_of(out, rows);
  if (row_count == nullptr) return false;
  const auto r = const_int(row_count);
  const auto c = const_int(columns);
  if (!r || !c) {
    out.error<diag::kernel_collective_dynamic>(operand, name, print_type(type));
    return false;
  }
  std::int64_t bytes = 0;
  const bool overflow =
      __builtin_mul_overflow(*r, *c, &bytes) ||
      __builtin_mul_overflow(bytes, copies * static_cast<std::int64_t>(byte_width(type->dtype)), &bytes);
  if (!overflow && bytes <= kVectorBufferBytes) return true;
  out.error<diag::kernel_collective_large>(operand, name, copies, *r, *c, name_of(type->dtype),
                                           kVectorBufferBytes)
      .help("exchange the data in several smaller pieces, or call the collective in a host function");
  return false;
}

const Var* make_stage(Expansion& out, std::string_view qualifier, std::size_t operand, List<const Expr*> rows,
                      const Expr* columns) {
  return out.bind(qualifier, OpId::tile_create, {out.tuple({product_of(out, rows), columns})},
                  {{"dtype", AttrValue::of_dtype(out.tensor(operand)->dtype)},
                   {"target_memory", AttrValue::of_mem(MemSpace::Vec)}});
}

const Expr* push_rows(Expansion& out, const PushNames& names, const RowFor& row) {
  if (!check_mesh_signal(out, 2)) return nullptr;
  const Expr* target = out.operand(1);
  const Expr* size = out.tensor(1)->shape[1];
  if (!fits_vector_buffer(out, 1, {}, size, 1)) return nullptr;
  Ranks ranks(out, target);
  const Var* stage = make_stage(out, names.stage, 1, {}, size);
  ranks.each(names.receiver, [&](const Var* receiver) {
    out.bind(names.result, OpId::pld_tile_put,
             {target, receiver, out.operand(0), stage, out.tuple({ranks.own, out.index(0)}),
              out.tuple({row(receiver), out.index(0)}), out.tuple({out.index(1), size})},
             {{"atomic", AttrValue::of_int(static_cast<std::int64_t>(AtomicType::None))}});
  });
  Barriers barriers(out, ranks, out.operand(2));
  barriers.meet();
  barriers.reset();
  return target;
}

bool check_plain_tensor(Expansion& out, std::size_t operand, std::string_view role, std::string_view shape) {
  const TensorType* type = out.tensor(operand);
  if (type->kind == TypeKind::Tensor) return true;
  out.error<diag::kernel_collective_plain>(operand, collective_info(out.call->op)->name, role, shape,
                                           print_type(type))
      .help("push from a plain tensor: peers write into the windows at the same time");
  return false;
}

}  // namespace pldc::composite
