#include "passes/lower_composite/ranks.h"

#include <fmt/format.h>

#include "frontend/text.h"
#include "passes/lineage.h"
#include "support/diag/pass.h"

namespace pldc::composite {

Ranks::Ranks(Expansion& out, const Expr* tensor) : out_(out) {
  context = out.bind("ctx", OpId::pld_system_get_comm_ctx, {tensor});
  const Var* ranks = out.bind("nranks", OpId::pld_system_nranks, {context});
  count = out.bind("nranks_idx", out.cast(ranks, DType::INDEX));
  own = out.bind("my_rank", OpId::pld_system_rank, {context});
}

void Ranks::each(std::string_view qualifier, const Expansion::LoopBody& body) {
  out_.loop(qualifier, out_.index(0), count, out_.index(1), body);
}

void Ranks::each_peer(std::string_view qualifier, const Expansion::LoopBody& body) {
  each(qualifier, [&](const Var* rank) { out_.when(is_peer(rank), [&] { body(rank); }); });
}

const Var* Ranks::combine(OpId reduce, const Expr* initial,
                          const std::function<const Expr*(const Var* peer)>& receive) {
  return out_.carry_loop({"peer", "peer_acc", "peer_final"}, count, initial,
                         [&](const Var* peer, const Var* sum) -> const Expr* {
                           return out_.choose(
                               "if_res", is_peer(peer),
                               [&]() -> const Expr* {
                                 return out_.bind("acc_next", reduce, {sum, receive(peer)});
                               },
                               [&]() -> const Expr* { return sum; });
                         });
}

const Expr* Barriers::cell(const Expr* row, const Expr* rank) {
  return row != nullptr ? out_.tuple({row, rank}) : out_.tuple({rank, out_.index(0)});
}

void Barriers::notify(std::string_view qualifier, const Expr* rank, const Expr* cell, const Expr* value) {
  out_.bind(qualifier, OpId::pld_system_notify, {signal_, rank, cell, value},
            {{"op", AttrValue::of_int(static_cast<std::int64_t>(NotifyOp::AtomicAdd))}});
}

void Barriers::meet() {
  ++met_;
  meet(met_ == 1 ? std::string() : std::to_string(met_), out_.int32(met_));
}

void Barriers::meet(std::string_view suffix, const Expr* expected, const Expr* row) {
  // All peers hear of this rank before it waits for any of them.
  ranks_.each_peer(fmt::format("peer{}", suffix), [&](const Var* peer) {
    notify(fmt::format("notify{}_ret", suffix), peer, cell(row, ranks_.own), out_.int32(1));
  });
  ranks_.each_peer(fmt::format("src{}", suffix), [&](const Var* source) {
    out_.bind(fmt::format("wait{}_ret", suffix), OpId::pld_system_wait,
              {signal_, cell(row, source), expected},
              {{"cmp", AttrValue::of_int(static_cast<std::int64_t>(WaitCmp::Ge))}});
  });
}

void Barriers::take_back(const Expr* row, const Expr* total) {
  const auto constant = const_int(total);
  ranks_.each_peer("reset_src", [&](const Var* source) {
    const Expr* value =
        constant ? out_.int32(-*constant) : out_.ir().unary(UnaryOp::Neg, total, out_.call->span);
    notify("epilogue_reset_ret", ranks_.own, cell(row, source), value);
  });
}

void Barriers::reset(const Expr* total) { take_back(nullptr, total); }

void Barriers::reset_rows(const Expr* rows, const Expr* total) {
  out_.loop("reset_row", out_.index(0), rows, out_.index(1), [&](const Var* row) { take_back(row, total); });
}

bool check_mesh_signal(Expansion& out, std::size_t operand) {
  const TensorType* type = out.tensor(operand);
  const std::string_view name = collective_info(out.call->op)->name;
  if (type->shape.size() != 2) {
    out.error<diag::kernel_signal_rank>(operand, name, print_type(type))
        .help("give the signal one row for each rank and one column, [NR, 1]");
    return false;
  }
  const auto columns = const_int(type->shape[1]);
  if (columns && *columns != 1) {
    out.error<diag::kernel_signal_columns>(operand, name, *columns)
        .help("use a signal of the shape [NR, 1] here, and one of its own for the ring");
    return false;
  }
  return true;
}

}  // namespace pldc::composite
