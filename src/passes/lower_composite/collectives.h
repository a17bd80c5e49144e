// What each composite op stands for. A function writes the statements and returns the value of the call, or null
// after it reported why the call cannot be expanded.
#pragma once

#include "passes/lower_composite/expansion.h"

namespace pldc::composite {

using Expander = const Expr* (*)(Expansion&);
// Null if the op is no composite.
Expander expander_of(OpId op);

const Expr* expand_allreduce(Expansion& out);
const Expr* expand_mesh_allreduce(Expansion& out);
const Expr* expand_ring_allreduce(Expansion& out);
const Expr* expand_barrier(Expansion& out);
const Expr* expand_broadcast(Expansion& out);
const Expr* expand_allgather(Expansion& out);
const Expr* expand_reduce_scatter(Expansion& out);
const Expr* expand_all_to_all(Expansion& out);
const Expr* expand_all_to_all_v(Expansion& out);
const Expr* expand_sin(Expansion& out);
const Expr* expand_cos(Expansion& out);

// The tile op that combines two values of an all-reduce.
OpId reduce_op(const Expansion& out);

// The tile through which a transfer of whole rows goes. Null after a report: its extents must be constant, and
// `copies` such tiles must fit into the vector buffer together.
const Var* make_stage(Expansion& out, std::string_view qualifier, std::size_t operand, List<const Expr*> rows,
                      const Expr* columns);
bool fits_vector_buffer(Expansion& out, std::size_t operand, List<const Expr*> rows, const Expr* columns,
                        std::int64_t copies);
// The collectives in which every rank pushes a row of the input, operand 0, into the row of the sender in every rank's
// target, operand 1, its own included; operand 2 is the signal.
struct PushNames {
  std::string_view stage, receiver, result;
};
using RowFor = std::function<const Expr*(const Var* receiver)>;
const Expr* push_rows(Expansion& out, const PushNames& names, const RowFor& row);
// Checks that the operand is no window: what kernels push to their peers lies in plain tensors.
bool check_plain_tensor(Expansion& out, std::size_t operand, std::string_view role, std::string_view shape);

}  // namespace pldc::composite
