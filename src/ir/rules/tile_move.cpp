// Movement and views of tiles (ops.md 1.8, 1.10).
#include <algorithm>

#include "ir/rules/rule.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

bool is_mx(const TensorType* tensor) {
  if (tensor->view == nullptr) return false;
  return tensor->view->layout == TensorLayout::MX_A_ZZ || tensor->view->layout == TensorLayout::MX_B_NN;
}

// The layout of a loaded tile: that of its memory, except for transposed and scaled sources and for vectors.
TileView load_view(const TensorType* source, Dims shape, MemSpace space) {
  TileView view = implicit_tile_view(shape, space);
  const TensorLayout layout = source->view != nullptr ? source->view->layout : TensorLayout::ND;
  if (layout == TensorLayout::MX_A_ZZ) {
    view.blayout = TileLayout::RowMajor;
    view.slayout = TileLayout::RowMajor;
    view.fractal = 32;
  } else if (layout == TensorLayout::MX_B_NN) {
    view.blayout = TileLayout::ColMajor;
    view.slayout = TileLayout::ColMajor;
    view.fractal = 32;
  } else if (space == MemSpace::Mat) {
    if (layout == TensorLayout::DN) {
      view.blayout = TileLayout::RowMajor;
      view.slayout = TileLayout::ColMajor;
    } else if (shape.size() == 2 && is_const(shape[0], 1)) {
      // A single row is no matrix of blocks.
      view.blayout = TileLayout::RowMajor;
      view.slayout = TileLayout::NoneBox;
    }
  } else if (shape.size() > 2 && is_const(shape.back(), 1) && !is_const(shape[shape.size() - 2], 1) &&
             source->view == nullptr) {
    view.blayout = TileLayout::ColMajor;
  }
  return view;
}

constexpr std::initializer_list<DType> kAtomicDTypes = {DType::FP32,  DType::BF16,  DType::FP16,
                                                        DType::INT32, DType::INT16, DType::INT8};

}  // namespace

bool atomic_ok(const RuleCall& call, DType dtype) {
  if (call.integer("atomic", 0) == 0) return true;
  if (std::find(kAtomicDTypes.begin(), kAtomicDTypes.end(), dtype) != kAtomicDTypes.end()) return true;
  call.diags.report<diag::op_atomic_dtype>(call.span, call.name(), "FP32, BF16, FP16, INT32, INT16 and INT8",
                                           name_of(dtype));
  return false;
}

const Type* rule_TileLoad(const RuleCall& call) {
  const TensorType* source = call.tensor(0);
  const auto offsets = call.tuple(1);
  const auto shape = call.tuple(2);
  if (!offsets || !shape) return nullptr;
  const MemSpace space = call.space("target_memory").value_or(MemSpace::Vec);
  if (!call.rank_at_least(0, source->shape.size(), 1)) return nullptr;
  if (!call.tuple_rank(1, offsets->size(), source->shape.size(), 0)) return nullptr;
  if (!call.tuple_rank(2, shape->size(), source->shape.size(), 0)) return nullptr;
  if (!call.positive(2, *shape, false)) return nullptr;
  if (is_mx(source) && space != MemSpace::Mat) {
    call.diags
        .report<diag::op_memory>(call.span, call.name(), "the target of a source in an MX layout", "Mat",
                                 name_of(space))
        .help("pass target_memory=pl.Mem.Mat");
    return nullptr;
  }
  WindowRead read{
      source->shape, valid_shape_of(source), *offsets, *shape, {}, call.flag("clamp"), false, 1, 3};
  if (call.count() > 3) {
    const auto valid = call.tuple(3);
    if (!valid || !call.tuple_rank(3, valid->size(), source->shape.size(), 0)) return nullptr;
    read.requested = *valid;
  }
  const auto valid = read_window(call, read);
  if (!valid) return nullptr;
  TileView view = load_view(source, *shape, space);
  view.valid_shape = *valid;
  return call.ctx.tile(source->dtype, *shape, nullptr, space, &view);
}

const Type* rule_TileStore(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  const TensorType* target = call.tensor(2);
  const auto offsets = call.tuple(1);
  if (!offsets || !call.tuple_rank(1, offsets->size(), target->shape.size(), 2)) return nullptr;
  // The accumulator converts on its way out.
  if (tile->space != MemSpace::Acc && tile->dtype != target->dtype &&
      !call.same_dtype(0, 2, tile->dtype, target->dtype)) {
    return nullptr;
  }
  if (!atomic_ok(call, target->dtype)) return nullptr;
  Dims valid = valid_shape_of(target);
  if (call.count() == 3 && tile->shape.size() == target->shape.size()) {
    const RegionWrite write{target->shape, valid, *offsets, valid_shape_of(tile), valid_shape_of(tile), 1};
    const auto after = write_region(call, write);
    if (!after) return nullptr;
    valid = *after;
  }
  TensorView view;
  if (target->view != nullptr) view = *target->view;
  view.valid_shape = valid;
  return make_viewed(call, target->kind, target->dtype, target->shape, view, target->window);
}

const Type* rule_TileMove(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  const MemSpace space = call.space("target_memory").value_or(MemSpace::Vec);
  TileView view = implicit_tile_view(tile->shape, space);
  // Into vector memory the layout comes along; the other memories have their own.
  if (space == MemSpace::Vec) {
    view.blayout = effective_view(tile).blayout;
    view.slayout = effective_view(tile).slayout;
  }
  if (const AttrValue* b = call.keyword("blayout")) view.blayout = static_cast<TileLayout>(b->integer);
  if (const AttrValue* s = call.keyword("slayout")) view.slayout = static_cast<TileLayout>(s->integer);
  view.valid_shape = valid_shape_of(tile);
  view.pad = effective_view(tile).pad;
  const bool scale = space == MemSpace::LeftScale || space == MemSpace::RightScale;
  const DType dtype = scale && tile->dtype == DType::UINT8 ? DType::FP8E8M0 : tile->dtype;
  return call.ctx.tile(dtype, tile->shape, nullptr, space, &view);
}

bool drop_dims(const RuleCall& call, std::size_t operand, std::vector<const Expr*>& shape,
               std::vector<const Expr*>& valid) {
  const auto dropped = call.tuple(operand);
  if (!dropped) return false;
  const auto report = [&](const std::string& what) {
    call.diags.report<diag::op_drop_dims>(call.place(operand), call.name(), what);
    return false;
  };
  std::vector<bool> drop(shape.size(), false);
  std::size_t count = 0;
  for (const Expr* e : *dropped) {
    const auto axis = const_int(e);
    if (!axis) return report("must be constants, found " + describe(e));
    if (*axis < 0 || *axis >= static_cast<std::int64_t>(shape.size())) {
      return report(
          fmt::format("names dimension {}, which is out of range: the slice has {}", *axis, shape.size()));
    }
    const auto i = static_cast<std::size_t>(*axis);
    if (drop[i]) return report(fmt::format("repeats dimension {}", i));
    if (!is_const(shape[i], 1)) {
      return report(fmt::format("must select a static unit dimension; dimension {} has extent {}", i,
                                describe(shape[i])));
    }
    if (!is_const(valid[i], 1)) {
      return report(fmt::format("cannot drop dimension {}: its valid extent is {}", i, describe(valid[i])));
    }
    drop[i] = true;
    ++count;
  }
  if (count == shape.size() && count > 0) return report("cannot erase every dimension");
  std::vector<const Expr*> kept_shape;
  std::vector<const Expr*> kept_valid;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (drop[i]) continue;
    kept_shape.push_back(shape[i]);
    kept_valid.push_back(valid[i]);
  }
  shape = kept_shape;
  valid = kept_valid;
  return true;
}

const Type* rule_TileSlice(const RuleCall& call) {
  const TileType* source = call.tile(0);
  const auto shape = call.tuple(1);
  const auto offsets = call.tuple(2);
  if (!shape || !offsets) return nullptr;
  if (!call.tuple_rank(1, shape->size(), source->shape.size(), 0)) return nullptr;
  if (!call.tuple_rank(2, offsets->size(), source->shape.size(), 0)) return nullptr;
  if (!call.positive(1, *shape, true)) return nullptr;
  WindowRead read{source->shape, valid_shape_of(source), *offsets, *shape, {}, false, true, 2, 3};
  if (call.count() > 3) {
    const auto valid = call.tuple(3);
    if (!valid) return nullptr;
    if (!valid->empty() && !call.tuple_rank(3, valid->size(), source->shape.size(), 0)) return nullptr;
    read.requested = *valid;
  }
  const auto region = read_window(call, read);
  if (!region) return nullptr;
  std::vector<const Expr*> kept(shape->begin(), shape->end());
  std::vector<const Expr*> valid(region->begin(), region->end());
  if (call.count() > 4 && !drop_dims(call, 4, kept, valid)) return nullptr;
  while (kept.size() < 2 && shape->size() >= 2) {
    kept.insert(kept.begin(), dim_const(call.ctx, 1));
    valid.insert(valid.begin(), dim_const(call.ctx, 1));
  }
  const Dims result = call.ctx.list(kept);
  const TileView from = effective_view(source);
  TileView view = implicit_tile_view(result, source->space);
  const TileView from_implicit = implicit_tile_view(source->shape, source->space);
  // A layout that is not the usual one of the memory belongs to the bytes that are looked at.
  if (from.blayout != from_implicit.blayout || from.slayout != from_implicit.slayout) {
    view.blayout = from.blayout;
    view.slayout = from.slayout;
    view.fractal = from.fractal;
  }
  view.valid_shape = call.ctx.list(valid);
  if (const AttrValue* pad = call.keyword("pad_value")) view.pad = static_cast<PadValue>(pad->integer);
  return call.ctx.tile(source->dtype, result, nullptr, source->space, &view);
}

const Type* rule_TileExtract(const RuleCall& call) {
  const TileType* source = call.tile(0);
  const auto shape = call.tuple(3);
  if (!shape || !call.rank_is(0, source->shape.size(), 2)) return nullptr;
  if (!call.tuple_rank(3, shape->size(), 2, 0) || !call.positive(3, *shape, true)) return nullptr;
  const MemSpace space = call.space("target_memory").value_or(MemSpace::Vec);
  const Dims offset = call.args.subspan(1, 2);
  const WindowRead read{source->shape, valid_shape_of(source), offset, *shape, {}, false, true, 1, 0};
  const auto valid = read_window(call, read);
  if (!valid) return nullptr;
  TileView view = implicit_tile_view(*shape, space);
  if (space == MemSpace::Left) view.blayout = TileLayout::RowMajor;
  view.valid_shape = *valid;
  return call.ctx.tile(source->dtype, *shape, nullptr, space, &view);
}

const Type* rule_TileAssemble(const RuleCall& call) {
  const TileType* target = call.tile(0);
  const TileType* source = call.tile(1);
  const auto offset = call.tuple(2);
  if (!offset || !call.tuple_rank(2, offset->size(), target->shape.size(), 0)) return nullptr;
  if (!call.rank_is(1, source->shape.size(), target->shape.size())) return nullptr;
  const bool narrows =
      source->dtype == DType::FP32 && (target->dtype == DType::FP16 || target->dtype == DType::BF16);
  if (!narrows && !call.same_dtype(0, 1, target->dtype, source->dtype)) return nullptr;
  const RegionWrite write{target->shape, valid_shape_of(target), *offset, source->shape, source->shape, 2};
  const auto valid = write_region(call, write);
  if (!valid) return nullptr;
  TileView view = effective_view(target);
  view.valid_shape = *valid;
  return call.ctx.tile(target->dtype, target->shape, nullptr, target->space, &view);
}

bool same_size(const RuleCall& call, Dims from, Dims to) {
  const auto a = const_product(from);
  const auto b = const_product(to);
  if (!a || !b || *a == *b) return true;
  call.diags.report<diag::op_reshape_size>(call.span, call.name(), describe(from), *a, describe(to), *b);
  return false;
}

const Type* rule_TileReshape(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  const auto shape = call.tuple(1);
  if (!shape || !call.positive(1, *shape, false) || !same_size(call, tile->shape, *shape)) return nullptr;
  const auto valid = reshape_valid(call, tile->shape, valid_shape_of(tile), *shape);
  if (!valid) return nullptr;
  TileView view = implicit_tile_view(*shape, tile->space);
  view.valid_shape = *valid;
  return call.ctx.tile(tile->dtype, *shape, nullptr, tile->space, &view);
}

bool swapped_axes(const RuleCall& call, std::size_t rank, std::size_t& a, std::size_t& b) {
  if (!call.rank_at_least(0, rank, 2)) return false;
  std::size_t axes[2] = {0, 0};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto axis = const_int(call.args[i + 1]);
    const auto n = static_cast<std::int64_t>(rank);
    if (!axis || *axis < -n || *axis >= n) {
      call.diags.report<diag::op_value>(call.place(i + 1), call.operand(i + 1), call.name(),
                                        fmt::format("a constant axis from {} to {}", -n, n - 1),
                                        describe(call.args[i + 1]));
      return false;
    }
    axes[i] = static_cast<std::size_t>(*axis < 0 ? *axis + n : *axis);
  }
  if (axes[0] == axes[1]) {
    call.diags.report<diag::op_value>(call.place(2), call.operand(2), call.name(), "another axis than axis1",
                                      axes[1]);
    return false;
  }
  a = axes[0];
  b = axes[1];
  return true;
}

const Type* rule_TileTranspose(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  std::size_t a = 0;
  std::size_t b = 0;
  if (!swapped_axes(call, tile->shape.size(), a, b)) return nullptr;
  std::vector<const Expr*> shape(tile->shape.begin(), tile->shape.end());
  std::swap(shape[a], shape[b]);
  return make_tile(call, tile->dtype, call.ctx.list(shape), MemSpace::Vec);
}

const Type* rule_TileTransposeView(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  const std::size_t rank = tile->shape.size();
  if (!call.rank_at_least(0, rank, 2)) return nullptr;
  const Dims of = valid_shape_of(tile);
  std::vector<const Expr*> shape(tile->shape.begin(), tile->shape.end());
  std::vector<const Expr*> valid(of.begin(), of.end());
  std::swap(shape[rank - 1], shape[rank - 2]);
  std::swap(valid[rank - 1], valid[rank - 2]);
  const auto flip = [](TileLayout l) {
    switch (l) {
      case TileLayout::NoneBox:
        return TileLayout::NoneBox;
      case TileLayout::RowMajor:
        return TileLayout::ColMajor;
      case TileLayout::ColMajor:
        return TileLayout::RowMajor;
    }
    return l;
  };
  TileView view = effective_view(tile);
  view.blayout = flip(view.blayout);
  view.slayout = flip(view.slayout);
  view.valid_shape = call.ctx.list(valid);
  return call.ctx.tile(tile->dtype, call.ctx.list(shape), nullptr, tile->space, &view);
}

bool valid_extents(const RuleCall& call, Dims shape, Dims& valid) {
  if (!call.rank_is(0, shape.size(), 2)) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const Expr* extent = call.args[i + 1];
    const auto dtype = scalar_dtype(extent->type);
    if (dtype && !is_int(*dtype)) return call.integer_dtype(i + 1, *dtype);
    if (provably_negative(extent)) {
      call.diags.report<diag::op_negative>(call.place(i + 1), 0, call.operand(i + 1), call.name(),
                                           describe(extent));
      return false;
    }
    if (provably_lt(shape[i], extent) == true) {
      call.diags.report<diag::op_valid_exceeds>(call.place(i + 1), call.name(), describe(extent), i,
                                                describe(shape[i]));
      return false;
    }
  }
  valid = call.args.subspan(1, 2);
  return true;
}

const Type* rule_TileSetValid(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  TileView view = effective_view(tile);
  if (!valid_extents(call, tile->shape, view.valid_shape)) return nullptr;
  return call.ctx.tile(tile->dtype, tile->shape, nullptr, tile->space, &view);
}

bool pad_value_ok(const RuleCall& call, PadValue& pad) {
  pad = static_cast<PadValue>(call.integer("pad_value", static_cast<std::int64_t>(PadValue::Zero)));
  if (pad != PadValue::Null) return true;
  call.diags.report<diag::op_value>(call.span, "pad_value", call.name(), "zero, max or min, not null",
                                    "null");
  return false;
}

const Type* rule_TileFillpad(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  TileView view = effective_view(tile);
  if (!pad_value_ok(call, view.pad)) return nullptr;
  view.valid_shape = {};
  const MemSpace space = tile->space.value_or(MemSpace::Vec);
  return call.ctx.tile(tile->dtype, tile->shape, tile->memref, space, &view);
}

bool grows(const RuleCall& call, Dims from, Dims to) {
  if (!call.tuple_rank(1, to.size(), from.size(), 0) || !call.positive(1, to, true)) return false;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (provably_lt(to[i], from[i]) != true) continue;
    call.diags.report<diag::op_extent>(call.place(1), i, call.operand(1), call.name(),
                                       fmt::format("not smaller than {}", describe(from[i])),
                                       describe(to[i]));
    return false;
  }
  return true;
}

const Type* rule_TileFillpadExpand(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  const auto shape = call.tuple(1);
  if (!shape || !grows(call, tile->shape, *shape)) return nullptr;
  TileView view = implicit_tile_view(*shape, MemSpace::Vec);
  if (!pad_value_ok(call, view.pad)) return nullptr;
  return call.ctx.tile(tile->dtype, *shape, nullptr, MemSpace::Vec, &view);
}

const Type* rule_TileConcat(const RuleCall& call) {
  const TileType* a = call.tile(0);
  const TileType* b = call.tile(1);
  if (!call.rank_is(0, a->shape.size(), 2) || !call.rank_is(1, b->shape.size(), 2)) return nullptr;
  if (!call.same_dtype(0, 1, a->dtype, b->dtype)) return nullptr;
  if (const_int(a->shape[0]) && const_int(b->shape[0]) && !same_dim(a->shape[0], b->shape[0])) {
    call.diags.report<diag::op_shapes>(call.span, call.name(), describe(a->shape), describe(b->shape));
    return nullptr;
  }
  return make_tile(call, a->dtype, call.ctx.list({a->shape[0], dim_add(call.ctx, a->shape[1], b->shape[1])}),
                   MemSpace::Vec);
}

bool indices_ok(const RuleCall& call, Dims shape) {
  const auto indices = call.tuple(1);
  if (!indices || !call.tuple_rank(1, indices->size(), shape.size(), 0)) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Expr* index = (*indices)[i];
    const auto at = const_int(index);
    const auto extent = const_int(shape[i]);
    if (!at || (*at >= 0 && (!extent || *at < *extent))) continue;
    call.diags.report<diag::op_value>(
        index->span.valid() ? index->span : call.place(1), call.operand(1), call.name(),
        extent ? fmt::format("at least 0 and less than {} on axis {}", *extent, i)
               : fmt::format("at least 0 on axis {}", i),
        *at);
    return false;
  }
  return true;
}

bool element_ok(const RuleCall& call, DType dtype) {
  const auto value = scalar_dtype(call.type(2));
  if (!value || *value == dtype) return true;
  call.diags.report<diag::op_dtype>(call.place(2), call.operand(2), call.name(), name_of(dtype),
                                    name_of(*value));
  return false;
}

const Type* rule_TileRead(const RuleCall& call) {
  if (!indices_ok(call, call.tile(0)->shape)) return nullptr;
  return call.ctx.scalar(call.tile(0)->dtype);
}

const Type* rule_TileWrite(const RuleCall& call) {
  if (!indices_ok(call, call.tile(0)->shape) || !element_ok(call, call.tile(0)->dtype)) return nullptr;
  return rule_SameAs0(call);
}

bool reinterpreted_shape(const RuleCall& call, DType from, DType to, Dims shape, std::optional<Dims> wanted,
                         Dims& result, std::size_t contiguous) {
  const auto known = [](DType d) {
    return bit_width(d) >= 8 && d != DType::BOOL && d != DType::INDEX && d != DType::TASK_ID &&
           (is_int(d) || d == DType::FP16 || d == DType::BF16 || d == DType::FP32);
  };
  if (!known(from) || !known(to) || from == to) {
    call.diags.report<diag::op_value>(
        call.span, "dtype", call.name(),
        "another dtype than the input's, of 8 to 64 bits (integers, FP16, BF16, FP32)",
        fmt::format("{} for {}", name_of(to), name_of(from)));
    return false;
  }
  const std::int64_t in = byte_width(from);
  const std::int64_t out = byte_width(to);
  if (wanted) {
    const auto a = const_product(shape);
    const auto b = const_product(*wanted);
    if (a && b && *a * in != *b * out) {
      call.diags
          .report<diag::op_reshape_size>(call.span, call.name(), describe(shape), *a * in, describe(*wanted),
                                         *b * out)
          .help("the sizes are in bytes: a view of other elements covers the same bytes");
      return false;
    }
    result = *wanted;
    return true;
  }
  std::vector<const Expr*> dims(shape.begin(), shape.end());
  if (dims.empty() || in == out) {
    result = shape;
    return true;
  }
  const std::size_t axis = dims.size() - 1 - contiguous;
  const Expr*& along = dims[axis];
  if (in > out) {
    along = dim_mul(call.ctx, along, dim_const(call.ctx, in / out));
  } else if (const auto extent = const_int(along)) {
    if (*extent * in % out != 0) {
      call.diags.report<diag::op_extent>(call.place(0), axis, call.operand(0), call.name(),
                                         fmt::format("a multiple of {}", out / in), *extent);
      return false;
    }
    along = dim_const(call.ctx, *extent * in / out);
  } else {
    along = call.ctx.binary(BinaryOp::FloorDiv, along, dim_const(call.ctx, out / in));
  }
  result = call.ctx.list(dims);
  return true;
}

const Type* rule_TileReinterpret(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  const DType dtype = call.dtype("dtype").value_or(tile->dtype);
  std::optional<Dims> wanted;
  if (call.count() > 1) {
    wanted = call.tuple(1);
    if (!wanted) return nullptr;
  }
  Dims shape;
  if (!reinterpreted_shape(call, tile->dtype, dtype, tile->shape, wanted, shape)) return nullptr;
  TileView view = implicit_tile_view(shape, tile->space);
  if (!wanted && !same_dims(tile->shape, valid_shape_of(tile))) {
    if (!reinterpreted_shape(call, tile->dtype, dtype, valid_shape_of(tile), {}, view.valid_shape))
      return nullptr;
  }
  return call.ctx.tile(dtype, shape, nullptr, tile->space, &view);
}

const Type* rule_TileScaleAddr(const RuleCall& call) { return rule_SameAs0(call); }

}  // namespace pldc
