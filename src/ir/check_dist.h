// The checker of distributed ops; internal to src/ir.
#pragma once

#include <optional>
#include <string>

#include "ir/check_rules.h"
#include "ir/describe.h"
#include "ir/operand_span.h"
#include "support/diag/op.h"

namespace pldc {

// Nothing where either is not constant.
inline std::optional<bool> extents_differ(const Expr* a, const Expr* b) {
  const auto x = const_int(a);
  const auto y = const_int(b);
  return x && y ? std::optional(*x != *y) : std::nullopt;
}

// One call; each member function checks one op or family and returns false after a report.
class DistributedChecker {
 public:
  using Dims = List<const Expr*>;

  DistributedChecker(DiagSink& diags, const Call* call) : diags_(diags), call_(call) {}

  bool check();
  bool builtin_signal();
  bool host_types();

 private:
  std::string_view name() const { return op_info(call_->op).name; }
  const Expr* arg(std::string_view operand) const { return argument(call_, operand); }
  const TensorType* tensor(std::string_view operand) const {
    const Expr* e = arg(operand);
    return e != nullptr ? dyn<TensorType>(e->type) : nullptr;
  }
  // The elements of a tuple operand; nothing if it is absent or not written out.
  std::optional<Dims> tuple(std::string_view operand) const {
    const auto* made = dyn<MakeTuple>(arg(operand));
    return made != nullptr ? std::optional(made->elements) : std::nullopt;
  }
  Span place(std::string_view operand) const { return operand_span(call_, arg(operand)); }
  std::int64_t integer(std::string_view key, std::int64_t fallback) const {
    const AttrValue* value = find_attr(call_->kwargs, key);
    return value != nullptr ? value->integer : fallback;
  }
  bool value_error(std::string_view operand, std::string_view wanted, const std::string& found) {
    diags_.report<diag::op_value>(place(operand), operand, name(), wanted, found);
    return false;
  }
  bool collective_error(std::string_view operand, const std::string& what) {
    diags_.report<diag::op_collective>(place(operand), name(), what);
    return false;
  }
  bool signal_error(const std::string& what) {
    diags_.report<diag::op_signal>(place("signal"), name(), what);
    return false;
  }

  bool rank_of_tuple(std::string_view operand, std::string_view of, std::size_t rank);
  bool not_negative(std::string_view operand);
  bool atomic_dtype(DType dtype);
  bool int32_signal(std::size_t least_rank, std::size_t most_rank);
  bool column_signal();
  bool square(const TensorType* data, std::string_view operand, std::string_view of);
  bool fp32_only(std::string_view operand);
  bool sum_only();
  bool same_rows(const TensorType* input, const TensorType* target);

  bool window();
  bool alloc();
  bool signal_op();
  bool defer_wait();
  bool remote_load();
  bool remote_store();
  bool transfer(bool put);
  bool chunks(Dims transfer);
  bool staged(bool put);
  bool stage_fits(const TensorType* dst, Dims transfer);
  bool allreduce();
  bool broadcast();
  bool reduce_scatter();
  bool gather_like(bool gather);
  bool all_to_all_v();
  bool builtin();

  DiagSink& diags_;
  const Call* call_;
};

}  // namespace pldc
