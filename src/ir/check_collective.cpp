// Creation errors of the collectives, of users and builtin (passes.md 4.4).
#include <limits>

#include "ir/check_dist.h"
#include "ir/check_op.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

constexpr std::size_t kAnyRank = std::numeric_limits<std::size_t>::max();

}  // namespace

bool DistributedChecker::int32_signal(std::size_t least_rank, std::size_t most_rank) {
  const TensorType* t = tensor("signal");
  if (t == nullptr) return true;
  if (t->dtype != DType::INT32)
    return signal_error(fmt::format("must be INT32, found {}", name_of(t->dtype)));
  const std::size_t rank = t->shape.size();
  if (rank >= least_rank && rank <= most_rank) return true;
  return signal_error(
      least_rank == most_rank
          ? fmt::format("must have rank {}, found rank {}", least_rank, rank)
          : fmt::format("must have rank {} or {}, found rank {}", least_rank, most_rank, rank));
}

// [NR] or [NR, 1]
bool DistributedChecker::column_signal() {
  if (!int32_signal(1, 2)) return false;
  const TensorType* t = tensor("signal");
  if (t == nullptr || t->shape.size() < 2 || const_int(t->shape[1]) == 1) return true;
  return signal_error(fmt::format("must have one cell a rank, [ranks, 1], found {}", describe(t->shape)));
}

bool DistributedChecker::square(const TensorType* data, std::string_view operand, std::string_view of) {
  const TensorType* t = tensor(operand);
  if (t == nullptr || data == nullptr || t->shape.empty() || data->shape.empty()) return true;
  if (extents_differ(t->shape[0], data->shape[0]) != true) return true;
  return collective_error(operand, fmt::format("'{}' and '{}' must agree in dimension 0, found {} and {}",
                                               operand, of, describe(t->shape[0]), describe(data->shape[0])));
}

bool DistributedChecker::same_rows(const TensorType* input, const TensorType* target) {
  if (input->dtype != target->dtype) {
    diags_.report<diag::op_dtypes_differ>(place("target"), "input", "target", name(), name_of(input->dtype),
                                          name_of(target->dtype));
    return false;
  }
  if (extents_differ(input->shape[1], target->shape[1]) == true) {
    return collective_error("target", fmt::format("target SIZE must equal input SIZE, found {} and {}",
                                                  describe(target->shape[1]), describe(input->shape[1])));
  }
  return true;
}

bool DistributedChecker::allreduce() {
  const TensorType* t = tensor("target");
  if (t != nullptr && t->dtype != DType::FP16 && t->dtype != DType::FP32) {
    return collective_error("target",
                            fmt::format("target dtype must be FP16 or FP32, found {}", name_of(t->dtype)));
  }
  if (!int32_signal(0, kAnyRank)) return false;
  const std::int64_t cores = integer("core_num", 1);
  if (cores <= 0) {
    diags_.report<diag::op_value>(call_->span, "core_num", name(), "a positive integer", cores);
    return false;
  }
  const AttrValue* mode = find_attr(call_->kwargs, "mode");
  if (arg("signal") == nullptr && mode != nullptr && mode->text != "mesh") {
    diags_
        .report<diag::op_value>(call_->span, "mode", name(), "'mesh' where no signal is given",
                                "'" + std::string(mode->text) + "'")
        .help("pass a signal: mode='ring' has [2 * (ranks - 1) + 1, ranks] cells");
    return false;
  }
  return true;
}

bool DistributedChecker::broadcast() {
  if (!int32_signal(0, kAnyRank)) return false;
  const std::int64_t root = integer("root", 0);
  if (root >= 0) return true;
  diags_.report<diag::op_value>(call_->span, "root", name(), "at least 0", root);
  return false;
}

bool DistributedChecker::reduce_scatter() {
  const TensorType* t = tensor("target");
  if (t != nullptr && t->shape.size() != 2) {
    diags_.report<diag::op_rank>(place("target"), "target", name(), 2, t->shape.size());
    return false;
  }
  if (t != nullptr && t->dtype == DType::BOOL) {
    return collective_error("target", "target dtype must be a number's, found BOOL");
  }
  if (!int32_signal(0, kAnyRank)) return false;
  const std::int64_t op = integer("op", 0);
  if (op == 0) return true;
  diags_.report<diag::op_value>(call_->span, "op", name(), "Sum", name_of(static_cast<ReduceOp>(op)));
  return false;
}

bool DistributedChecker::gather_like(bool gather) {
  const TensorType* input = tensor("input");
  const TensorType* target = tensor("target");
  if (input == nullptr || target == nullptr) return true;
  if (arg("input") == arg("target")) {
    diags_.report<diag::op_same_buffer>(place("target"), name());
    return false;
  }
  for (const std::string_view operand : {"input", "target"}) {
    const std::size_t rank = tensor(operand)->shape.size();
    if (rank == 2) continue;
    diags_.report<diag::op_rank>(place(operand), operand, name(), 2, rank);
    return false;
  }
  if (gather && const_int(input->shape[0]) != 1) {
    return collective_error("input",
                            fmt::format("input must be [1, SIZE], found {}", describe(input->shape)));
  }
  if (!same_rows(input, target) || !column_signal()) return false;
  if (!gather && !square(target, "input", "target")) return false;
  return square(target, "signal", "target");
}

bool DistributedChecker::all_to_all_v() {
  const TensorType* input = tensor("input");
  const TensorType* target = tensor("target");
  const TensorType* signal = tensor("signal");
  if (input == nullptr || target == nullptr || signal == nullptr) return true;
  for (const std::string_view operand : {"input", "target"}) {
    const std::size_t rank = tensor(operand)->shape.size();
    if (rank == 2) continue;
    diags_.report<diag::op_rank>(place(operand), operand, name(), 2, rank);
    return false;
  }
  if (!same_rows(input, target) || !int32_signal(2, 2)) return false;
  if (const_int(signal->shape[1]) != 1) {
    return signal_error(fmt::format("must be [ranks, 1], found {}", describe(signal->shape)));
  }
  const auto ranks = const_int(signal->shape[0]);
  if (!ranks || *ranks <= 0) {
    return signal_error(
        fmt::format("needs a constant number of ranks, found {}", describe(signal->shape[0])));
  }
  const auto rows = const_int(target->shape[0]);
  if (!rows) {
    return collective_error("target", fmt::format("target needs a constant number of rows, found {}",
                                                  describe(target->shape[0])));
  }
  if (*rows % *ranks != 0) {
    return collective_error(
        "target", fmt::format("the {} ranks must divide target dim 0, found {} rows", *ranks, *rows));
  }
  for (const std::string_view operand : {"send_counts", "recv_counts"}) {
    const TensorType* counts = tensor(operand);
    if (counts == nullptr) continue;
    if (counts->dtype != DType::INT32) {
      return collective_error(operand,
                              fmt::format("'{}' must be INT32, found {}", operand, name_of(counts->dtype)));
    }
    const std::size_t rank = counts->shape.size();
    const bool row = operand == "send_counts" && rank == 1;
    if (!row && (rank != 2 || const_int(counts->shape[1]) != 1)) {
      return collective_error(
          operand, fmt::format("'{}' must be [ranks, 1], found {}", operand, describe(counts->shape)));
    }
    if (const_int(counts->shape[0]) != *ranks) {
      return collective_error(operand, fmt::format("'{}' needs one count a rank, {}, found {}", operand,
                                                   *ranks, describe(counts->shape[0])));
    }
  }
  return true;
}

bool DistributedChecker::fp32_only(std::string_view operand) {
  const TensorType* t = tensor(operand);
  if (t == nullptr || t->dtype == DType::FP32) return true;
  return collective_error(
      operand, fmt::format("'{}' of a host collective must be FP32, found {}", operand, name_of(t->dtype)));
}

// What the kernels behind the host collectives can compute on; for the collective and for the builtin it becomes.
bool DistributedChecker::host_types() {
  const OpId op = call_->op;
  if (op == OpId::pld_tensor_broadcast || op == OpId::builtin_tensor_broadcast) return fp32_only("target");
  const bool ring =
      op == OpId::builtin_tensor_allreduce_ring || (op == OpId::pld_tensor_allreduce && is_ring(call_));
  if (ring || op == OpId::pld_tensor_reduce_scatter || op == OpId::builtin_tensor_reduce_scatter)
    return fp32_only(op_info(op).operands[0].name) && sum_only();
  for (const OpId exchange :
       {OpId::pld_tensor_allgather, OpId::pld_tensor_all_to_all, OpId::pld_tensor_all_to_all_v,
        OpId::builtin_tensor_allgather, OpId::builtin_tensor_all_to_all, OpId::builtin_tensor_all_to_all_v}) {
    if (op == exchange) return fp32_only("input") && fp32_only("target");
  }
  return true;
}

bool DistributedChecker::sum_only() {
  const std::int64_t reduce = integer("op", 0);
  if (reduce == 0) return true;
  diags_.report<diag::op_value>(call_->span, "op", name(), "Sum", name_of(static_cast<ReduceOp>(reduce)));
  return false;
}

bool DistributedChecker::builtin() {
  const OpId op = call_->op;
  const std::string_view data = op_info(op).operands[0].name;
  const TensorType* t = tensor(data);
  if (!int32_signal(1, 2)) return false;
  if (const AttrValue* dtype = find_attr(call_->kwargs, "dtype"); dtype != nullptr && t != nullptr) {
    if (static_cast<DType>(dtype->integer) != t->dtype) {
      return collective_error(
          data, fmt::format("dtype={} does not match '{}', which is {}",
                            name_of(static_cast<DType>(dtype->integer)), data, name_of(t->dtype)));
    }
  }
  if (op == OpId::builtin_tensor_allreduce) {
    if (t == nullptr || t->dtype == DType::FP16 || t->dtype == DType::FP32) return true;
    return collective_error(data,
                            fmt::format("'{}' must be FP16 or FP32, found {}", data, name_of(t->dtype)));
  }
  return host_types();
}

bool DistributedChecker::builtin_signal() {
  const OpId op = call_->op;
  const TensorType* signal = tensor("signal");
  if (signal == nullptr) return true;
  if (op == OpId::builtin_tensor_allreduce) {
    const std::int64_t cores = integer("core_num", 1);
    if (signal->shape.size() == 1 && cores != 1) {
      return signal_error(fmt::format("of rank 1 serves one core only, found core_num={}", cores));
    }
    const auto columns = signal->shape.size() == 2 ? const_int(signal->shape[1]) : std::nullopt;
    if (columns && *columns < cores) {
      return signal_error(fmt::format("needs a cell a core: {} columns for core_num={}", *columns, cores));
    }
    return true;
  }
  if (op == OpId::builtin_tensor_allreduce_ring) {
    if (!int32_signal(2, 2)) return false;
    const auto columns = const_int(signal->shape[1]);
    if (!columns) return true;
    if (*columns > 16) return signal_error(fmt::format("allows at most 16 ranks, found {}", *columns));
    const auto rows = const_int(signal->shape[0]);
    if (!rows || *rows == 2 * (*columns - 1) + 1) return true;
    return signal_error(fmt::format("must have 2 * (ranks - 1) + 1 = {} rows for {} ranks, found {}",
                                    2 * (*columns - 1) + 1, *columns, *rows));
  }
  if (op == OpId::builtin_tensor_all_to_all_v) return int32_signal(2, 2);
  if (op == OpId::builtin_tensor_allgather || op == OpId::builtin_tensor_all_to_all) return column_signal();
  return int32_signal(1, 1);
}

}  // namespace pldc
