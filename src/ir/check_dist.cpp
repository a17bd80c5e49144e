// Creation errors of the distributed ops: windows, signals and transfers (passes.md 4.1 to 4.3).
#include "ir/check_dist.h"

#include <limits>

#include "support/diag/op.h"

namespace pldc {

bool DistributedChecker::rank_of_tuple(std::string_view operand, std::string_view of, std::size_t rank) {
  const Expr* e = arg(operand);
  const auto* type = e != nullptr ? dyn<TupleType>(e->type) : nullptr;
  if (type == nullptr || type->elements.size() == rank) return true;
  diags_.report<diag::op_tuple_rank>(place(operand), operand, name(), of, rank, type->elements.size())
      .help("one element for each dimension: the {} rank of '{}' is {}", operand, of, rank);
  return false;
}

bool DistributedChecker::not_negative(std::string_view operand) {
  const auto elements = tuple(operand);
  if (!elements) return true;
  for (std::size_t i = 0; i < elements->size(); ++i) {
    const auto value = const_int((*elements)[i]);
    if (!value || *value >= 0) continue;
    diags_.report<diag::op_negative>(place(operand), i, operand, name(), *value);
    return false;
  }
  return true;
}

bool DistributedChecker::atomic_dtype(DType dtype) {
  if (integer("atomic", 0) != static_cast<std::int64_t>(AtomicType::Add)) return true;
  for (const DType d : {DType::FP32, DType::BF16, DType::FP16, DType::INT32, DType::INT16, DType::INT8}) {
    if (d == dtype) return true;
  }
  diags_.report<diag::op_atomic_dtype>(call_->span, name(), "FP32, BF16, FP16, INT32, INT16 and INT8",
                                       name_of(dtype));
  return false;
}

bool DistributedChecker::window() {
  const AttrValue* dtype = find_attr(call_->kwargs, "dtype");
  return dtype != nullptr;
}

bool DistributedChecker::alloc() {
  const AttrValue* name = find_attr(call_->kwargs, "name");
  if (name != nullptr && name->text.empty()) {
    diags_.report<diag::alloc_nameless>(call_->span);
    return false;
  }
  return true;
}

// notify and wait
bool DistributedChecker::signal_op() {
  const std::string_view target = call_->op == OpId::pld_system_notify ? "target" : "signal";
  const TensorType* t = tensor(target);
  return t == nullptr || rank_of_tuple("offsets", target, t->shape.size());
}

bool DistributedChecker::defer_wait() {
  const TensorType* t = tensor("signal");
  if (t == nullptr) return true;
  if (t->dtype != DType::INT32) {
    return signal_error(fmt::format("must be INT32, found {}", name_of(t->dtype)));
  }
  if (t->shape.empty()) return signal_error("must have at least one dimension, found rank 0");
  if (!rank_of_tuple("offsets", "signal", t->shape.size())) return false;
  const auto value = const_int(arg("expected"));
  if (value && (*value < 0 || *value > std::numeric_limits<std::int32_t>::max())) {
    return value_error("expected", "in [0, INT32_MAX]", fmt::format("{}", *value));
  }
  if (integer("cmp", 1) != static_cast<std::int64_t>(WaitCmp::Ge)) {
    diags_.report<diag::op_value>(call_->span, "cmp", name(), "Ge (it only supports WaitCmp.Ge)", "Eq");
    return false;
  }
  return true;
}

bool DistributedChecker::remote_load() {
  const TensorType* t = tensor("target");
  if (t == nullptr) return true;
  const std::size_t rank = t->shape.size();
  if (t->view != nullptr &&
      (t->view->layout == TensorLayout::MX_A_ZZ || t->view->layout == TensorLayout::MX_B_NN)) {
    return value_error("target", "in an ordinary layout",
                       std::string(name_of(t->view->layout)) + ", an MX layout");
  }
  if (rank == 0) return value_error("target", "of rank 1 or more", "rank 0");
  if (!rank_of_tuple("offsets", "target", rank) || !rank_of_tuple("shape", "target", rank)) return false;
  if (!rank_of_tuple("valid_shape", "target", rank)) return false;
  const bool padded = integer("allow_physical_tail_padding", 0) != 0;
  const auto valid = tuple("valid_shape");
  if (padded) {
    std::string found;
    if (t->dtype != DType::FP16) found = name_of(t->dtype);
    if (rank != 2) found = fmt::format("rank {}", rank);
    if (arg("valid_shape") == nullptr) found = "no valid shape";
    if (!found.empty()) {
      diags_.report<diag::op_remote_padding>(call_->span, "an FP16 matrix and an explicit valid shape",
                                             found);
      return false;
    }
  }
  if (!not_negative("offsets") || !not_negative("valid_shape")) return false;
  const auto offsets = tuple("offsets");
  const auto shape = tuple("shape");
  if (!offsets || !shape) return true;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto window = const_int((*shape)[i]);
    auto reach = window;
    if (valid) {
      reach = const_int((*valid)[i]);
      if (window && reach && *reach > *window) {
        diags_.report<diag::op_valid_exceeds>(place("valid_shape"), name(), *reach, i, *window);
        return false;
      }
    }
    const auto offset = const_int((*offsets)[i]);
    const auto extent = const_int(t->shape[i]);
    if (!reach || !offset || !extent) continue;
    const std::int64_t end = *extent + (padded && i == 1 ? 15 : 0);
    if (*offset + *reach <= end) continue;
    diags_.report<diag::op_reads_past>(place("offsets"), name(), i, *offset, *reach, *extent);
    return false;
  }
  return true;
}

bool DistributedChecker::remote_store() {
  const bool from_tile = call_->op == OpId::pld_tile_remote_store;
  const Expr* source = call_->args[0];
  const TensorType* target = tensor("target");
  if (target == nullptr || is_unknown(source->type)) return true;
  if (!from_tile && is_distributed(source->type)) {
    diags_.report<diag::op_level>(place("src"), name(), "a plain Tensor", describe(source->type))
        .help("use pld.tensor.put to copy from one window to another");
    return false;
  }
  const std::string_view src = op_info(call_->op).operands[0].name;
  const auto* tile = dyn<TileType>(source->type);
  const auto* plain = dyn<TensorType>(source->type);
  if (tile == nullptr && plain == nullptr) return true;
  const DType dtype = tile != nullptr ? tile->dtype : plain->dtype;
  const Dims shape = tile != nullptr ? tile->shape : plain->shape;
  const Dims extent = from_tile ? valid_shape_of(tile) : shape;
  if (dtype != target->dtype) {
    diags_.report<diag::op_dtypes_differ>(place(src), src, "target", name(), name_of(dtype),
                                          name_of(target->dtype));
    return false;
  }
  if (!atomic_dtype(target->dtype)) return false;
  const std::size_t rank = target->shape.size();
  if (!rank_of_tuple("offsets", "target", rank)) return false;
  if (shape.size() < 2 || rank < 2) {
    const bool of_source = shape.size() < 2;
    diags_.report<diag::op_rank>(place(of_source ? src : "target"), of_source ? src : "target", name(),
                                 "at least 2", of_source ? shape.size() : rank);
    return false;
  }
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) {
    if (const_int(shape[i]) == 1) continue;
    diags_.report<diag::op_leading_dim>(place(src), name(), i, describe(shape[i]));
    return false;
  }
  if (!not_negative("offsets")) return false;
  const auto offsets = tuple("offsets");
  if (!offsets) return true;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto offset = const_int((*offsets)[i]);
    const auto limit = const_int(target->shape[i]);
    const auto pushed =
        i + 2 < rank ? std::optional<std::int64_t>(1) : const_int(extent[extent.size() - (rank - i)]);
    if (!offset || !limit || !pushed || *offset + *pushed <= *limit) continue;
    diags_.report<diag::op_push_exceeds>(place("offsets"), name(), i, *offset, *pushed, *limit);
    return false;
  }
  return true;
}

bool DistributedChecker::chunks(Dims transfer) {
  const std::int64_t rows = integer("chunk_rows", 0);
  const std::int64_t columns = integer("chunk_cols", 0);
  for (const std::string_view key : {"chunk_rows", "chunk_cols"}) {
    if (integer(key, 0) >= 0) continue;
    diags_.report<diag::op_value>(call_->span, key, name(), "at least 0", integer(key, 0));
    return false;
  }
  const auto need = [&](std::string_view key, std::string_view why) {
    diags_.report<diag::op_chunk>(call_->span, name(), key, why);
    return false;
  };
  for (std::size_t i = 0; i < transfer.size(); ++i) {
    if (const_int(transfer[i])) continue;
    const bool last = i + 1 == transfer.size();
    if (last && columns == 0) return need("chunk_cols", "the last extent of the transfer is not constant");
    if (!last && rows == 0) return need("chunk_rows", "a leading extent of the transfer is not constant");
  }
  if (integer("pipeline", 0) != 0 && (rows == 0 || columns == 0)) {
    return need(rows == 0 ? "chunk_rows" : "chunk_cols", "a pipelined transfer needs both chunk sizes");
  }
  return true;
}

// put and get, with and without staging tiles: the window side, the local side and the region.
bool DistributedChecker::transfer(bool put) {
  const TensorType* dst = tensor("dst");
  const TensorType* src = tensor("src");
  if (dst == nullptr || src == nullptr) return true;
  if (dst->dtype != src->dtype) {
    diags_
        .report<diag::op_dtypes_differ>(place("src"), "dst", "src", name(), name_of(dst->dtype),
                                        name_of(src->dtype))
        .help("both sides of a transfer have the same element type");
    return false;
  }
  const std::size_t rank = dst->shape.size();
  if (rank == 0 || src->shape.size() != rank) {
    diags_.report<diag::op_rank>(place("src"), "src", name(),
                                 rank == 0 ? "at least 1" : fmt::format("{}, as dst has", rank),
                                 src->shape.size());
    return false;
  }
  for (const std::string_view side : {"dst", "src"}) {
    const Dims shape = tensor(side)->shape;
    for (std::size_t i = 0; i < rank; ++i) {
      const auto extent = const_int(shape[i]);
      if (!extent || *extent > 0) continue;
      diags_.report<diag::op_extent>(place(side), i, side, name(), "positive", *extent);
      return false;
    }
  }
  if (put && find_attr(call_->kwargs, "atomic") == nullptr) {
    // The front end stores it always; a put made by a pass must say it too.
    diags_.report<diag::op_keyword_missing>(call_->span, name(), "atomic")
        .help("add atomic=pl.AtomicType.None_");
    return false;
  }
  if (put && !atomic_dtype(dst->dtype)) return false;
  const Expr* region = arg("shape");
  if (region == nullptr) {
    for (std::size_t i = 0; i < rank; ++i) {
      if (extents_differ(dst->shape[i], src->shape[i]) != true) continue;
      diags_.report<diag::op_transfer_shape>(place("src"), name(), describe(dst->shape),
                                             describe(src->shape));
      return false;
    }
    return true;
  }
  for (const std::string_view operand : {"dst_offsets", "src_offsets", "shape"}) {
    if (!rank_of_tuple(operand, "dst", rank)) return false;
  }
  const auto extents = tuple("shape");
  if (!extents) return true;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto extent = const_int((*extents)[i]);
    if (!extent || *extent > 0) continue;
    diags_.report<diag::op_extent>(place("shape"), i, "shape", name(), "positive", *extent);
    return false;
  }
  if (!not_negative("dst_offsets") || !not_negative("src_offsets")) return false;
  for (const std::string_view side : {"dst", "src"}) {
    const auto offsets = tuple(side == "dst" ? "dst_offsets" : "src_offsets");
    if (!offsets) continue;
    for (std::size_t i = 0; i < rank; ++i) {
      const auto offset = const_int((*offsets)[i]);
      const auto extent = const_int((*extents)[i]);
      const auto limit = const_int(tensor(side)->shape[i]);
      if (!offset || !extent || !limit || *offset + *extent <= *limit) continue;
      diags_.report<diag::op_subregion>(place("shape"), name(), side, i, side, *offset, *extent, *limit);
      return false;
    }
  }
  return true;
}

bool DistributedChecker::stage_fits(const TensorType* dst, Dims transfer) {
  const auto fail = [&](std::string_view operand, const std::string& what) {
    diags_.report<diag::op_stage>(place(operand), name(), what);
    return false;
  };
  const TileType* first = nullptr;
  for (const std::string_view operand : {"stage", "stage2"}) {
    const Expr* e = arg(operand);
    const auto* stage = e != nullptr ? dyn<TileType>(e->type) : nullptr;
    if (stage == nullptr) continue;
    if (stage->shape.size() != 2) {
      return fail(operand, fmt::format("'{}' must have rank 2, found rank {}", operand, stage->shape.size()));
    }
    if (stage->dtype != dst->dtype) {
      return fail(operand, fmt::format("'{}' must have the dtype of dst, {}, found {}", operand,
                                       name_of(dst->dtype), name_of(stage->dtype)));
    }
    for (const Expr* extent : stage->shape) {
      const auto n = const_int(extent);
      if (!n || *n <= 0) {
        return fail(operand, fmt::format("'{}' must have constant positive extents, found {}", operand,
                                         describe(stage->shape)));
      }
    }
    if (first != nullptr) {
      if (extents_differ(first->shape[0], stage->shape[0]) == true ||
          extents_differ(first->shape[1], stage->shape[1]) == true) {
        return fail(operand, fmt::format("both staging tiles must have one shape, found {} and {}",
                                         describe(first->shape), describe(stage->shape)));
      }
      continue;
    }
    first = stage;
    std::int64_t rows = 1;
    bool known = true;
    for (std::size_t i = 0; i + 1 < transfer.size(); ++i) {
      const auto n = const_int(transfer[i]);
      known = known && n;
      rows *= n.value_or(1);
    }
    const auto columns = const_int(transfer.back());
    if ((known && *const_int(stage->shape[0]) > rows) ||
        (columns && *const_int(stage->shape[1]) > *columns)) {
      return fail(operand, fmt::format("'{}' is larger than the transfer: {} for {}", operand,
                                       describe(stage->shape), describe(transfer)));
    }
  }
  return true;
}

bool DistributedChecker::staged(bool put) {
  if (!transfer(put)) return false;
  const TensorType* dst = tensor("dst");
  if (dst == nullptr || dst->shape.empty()) return true;
  const auto region = tuple("shape");
  return stage_fits(dst, region ? *region : dst->shape);
}

bool DistributedChecker::check() {
  const std::string_view op = name();
  if (op.rfind("builtin.", 0) == 0) return builtin();
  if (op.rfind("pld.", 0) != 0) return true;
  if (call_->op == OpId::pld_tensor_alloc_window_buffer) return alloc();
  if (call_->op == OpId::pld_tensor_window) return window();
  if (call_->op == OpId::pld_system_notify || call_->op == OpId::pld_system_wait) return signal_op();
  if (call_->op == OpId::pld_system_defer_wait) return defer_wait();
  if (call_->op == OpId::pld_tile_remote_load) return remote_load();
  if (call_->op == OpId::pld_tile_remote_store || call_->op == OpId::pld_tensor_remote_store)
    return remote_store();
  if (call_->op == OpId::pld_tensor_put || call_->op == OpId::pld_tensor_get) {
    if (!transfer(call_->op == OpId::pld_tensor_put)) return false;
    const auto region = tuple("shape");
    const TensorType* dst = tensor("dst");
    return dst == nullptr || chunks(region ? *region : dst->shape);
  }
  if (call_->op == OpId::pld_tile_put || call_->op == OpId::pld_tile_get) {
    return staged(call_->op == OpId::pld_tile_put);
  }
  if (call_->op == OpId::pld_tensor_allreduce) return allreduce();
  if (call_->op == OpId::pld_tensor_broadcast) return broadcast();
  if (call_->op == OpId::pld_tensor_barrier) return int32_signal(0, std::numeric_limits<std::size_t>::max());
  if (call_->op == OpId::pld_tensor_reduce_scatter) return reduce_scatter();
  if (call_->op == OpId::pld_tensor_allgather) return gather_like(true);
  if (call_->op == OpId::pld_tensor_all_to_all) return gather_like(false);
  if (call_->op == OpId::pld_tensor_all_to_all_v) return all_to_all_v();
  return true;
}

bool check_distributed_op(DiagSink& diags, const Call* call) {
  return DistributedChecker(diags, call).check();
}

bool check_builtin_signal(DiagSink& diags, const Call* call) {
  if (!call->is_op() || op_info(call->op).name.substr(0, 8) != "builtin.") return true;
  return DistributedChecker(diags, call).builtin_signal();
}

bool check_host_collective(DiagSink& diags, const Call* call) {
  return DistributedChecker(diags, call).host_types();
}

bool check_source_level(DiagSink& diags, const Call* call, std::size_t argument) {
  if (argument != 0) return true;
  const Expr* source = call->args[0];
  const Span span = source->span.valid() ? source->span : call->span;
  if (call->op == OpId::pld_tile_remote_store && dyn<TensorType>(source->type) != nullptr) {
    diags.report<diag::op_level>(span, "pld.tile.remote_store", "a Tile", describe(source->type))
        .help("use {} for this source",
              is_distributed(source->type) ? "pld.tensor.put" : "pld.tensor.remote_store");
    return false;
  }
  if (call->op == OpId::pld_tensor_remote_store && dyn<TileType>(source->type) != nullptr) {
    diags.report<diag::op_level>(span, "pld.tensor.remote_store", "a Tensor", describe(source->type))
        .help("use pld.tile.remote_store for a tile");
    return false;
  }
  return true;
}

}  // namespace pldc
