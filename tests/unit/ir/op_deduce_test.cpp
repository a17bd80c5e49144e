// Result types made by hand; the reference dumps are compared in unit/frontend/op_types_test.cpp.
#include "unit/ir/op_fixture.h"

using namespace optest;

namespace {

Kwargs dtype_kw(Ops& ops, std::string_view key, DType dtype) {
  return {ops.kw(key, AttrValue::of_dtype(dtype))};
}

}  // namespace

TEST_CASE("dtypes are promoted: a float wins, then the wider, then the signed, then the left") {
  REQUIRE(promote(DType::FP16, DType::FP32) == DType::FP32);
  REQUIRE(promote(DType::INT64, DType::FP16) == DType::FP16);
  REQUIRE(promote(DType::INT8, DType::INT32) == DType::INT32);
  REQUIRE(promote(DType::UINT32, DType::INT32) == DType::INT32);
  REQUIRE(promote(DType::INT32, DType::UINT32) == DType::INT32);
  REQUIRE(promote(DType::FP16, DType::BF16) == DType::FP16);
  REQUIRE(promote(DType::BF16, DType::FP16) == DType::BF16);
  REQUIRE(promote(DType::BOOL, DType::INT8) == DType::INT8);
  REQUIRE(promote(DType::INT32, DType::INDEX) == DType::INDEX);
}

TEST_CASE("dims are folded and gathered") {
  Ops ops;
  const Var* n = ops.scalar("n", DType::INDEX);
  Context& ctx = ops.ctx;
  REQUIRE(describe(dim_add(ctx, ops.index(3), ops.index(4))) == "7");
  REQUIRE(dim_add(ctx, n, ops.index(0)) == n);
  REQUIRE(describe(dim_add(ctx, dim_add(ctx, n, ops.index(3)), ops.index(4))) == "n + 7");
  REQUIRE(describe(dim_sub(ctx, ops.index(16), dim_add(ctx, n, ops.index(1)))) == "15 - n");
  REQUIRE(describe(dim_sub(ctx, dim_add(ctx, n, ops.index(5)), n)) == "5");
  REQUIRE(describe(dim_mul(ctx, n, ops.index(2))) == "n * 2");
  REQUIRE(dim_mul(ctx, n, ops.index(1)) == n);
  REQUIRE(describe(dim_mul(ctx, n, ops.index(0))) == "0");
}

TEST_CASE("element-wise tiles broadcast, promote, and keep the first operand's valid part") {
  Ops ops;
  const Var* n = ops.scalar("n", DType::INDEX);
  const Var* a = ops.tile(DType::FP16, {16, 64}, MemSpace::Vec, {n, ops.index(64)});
  const Var* b = ops.tile(DType::FP32, {16, 64});
  REQUIRE(ops.described(OpId::tile_add, {a, b}) == "a Tile FP32 [16, 64] with valid part [n, 64]");
  REQUIRE(ops.described(OpId::tile_add, {b, a}) == "a Tile FP32 [16, 64]");
  REQUIRE(ops.described(OpId::tile_add, {b, ops.tile(DType::FP32, {1, 64})}) == "a Tile FP32 [16, 64]");
  REQUIRE(ops.described(OpId::tile_exp, {a}) == "a Tile FP16 [16, 64] with valid part [n, 64]");
  REQUIRE(ops.described(OpId::tile_adds, {a, ops.real(1)}) == "a Tile FP16 [16, 64] with valid part [n, 64]");
  REQUIRE(ops.described(OpId::tile_expands, {a, ops.real(1)}) ==
          "a Tile FP32 [16, 64] with valid part [n, 64]");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_add, {b, ops.tile(DType::FP32, {16, 32})}),
                 "compatible shapes, found [16, 64] and [16, 32]");
  // A block layout comes along with the operand, its fractal does not.
  const Var* acc = ops.tile(DType::FP32, {32, 32}, MemSpace::Acc);
  const auto* neg = dyn<TileType>(ops.type(OpId::tile_neg, {acc}));
  REQUIRE(neg->space == MemSpace::Vec);
  REQUIRE(effective_view(neg).blayout == TileLayout::ColMajor);
  REQUIRE(effective_view(neg).fractal == 512);
}

TEST_CASE("element-wise tensors keep a valid part only where both operands agree") {
  Ops ops;
  const Var* n = ops.scalar("n", DType::INDEX);
  TensorView view;
  view.valid_shape = ops.ctx.list(Args{n, ops.index(64)});
  const Var* v = ops.viewed(DType::FP32, {16, 64}, view);
  const Var* x = ops.tensor(DType::FP32, {16, 64});
  REQUIRE(ops.described(OpId::tensor_add, {v, v}) == "a Tensor FP32 [16, 64] with valid part [n, 64]");
  REQUIRE(ops.described(OpId::tensor_add, {v, x}) == "a Tensor FP32 [16, 64]");
  REQUIRE(ops.described(OpId::tensor_neg, {v}) == "a Tensor FP32 [16, 64] with valid part [n, 64]");
  REQUIRE(ops.described(OpId::tensor_adds, {v, ops.real(1)}) ==
          "a Tensor FP32 [16, 64] with valid part [n, 64]");
  REQUIRE(ops.described(OpId::tensor_cmp, {v, v}, {ops.kw("cmp_type", 0)}) == "a Tensor FP32 [16, 64]");
  // The result of arithmetic on a window is an ordinary tensor, all of it valid.
  const Var* w = ops.viewed(DType::FP32, {16, 64}, view, TypeKind::DistributedTensor);
  REQUIRE(ops.described(OpId::tensor_neg, {w}) == "a Tensor FP32 [16, 64]");
  REQUIRE(ops.described(OpId::tensor_add, {ops.tensor(DType::FP32, {4, 1, 8}),
                                           ops.tensor(DType::FP16, {16, 8})}) == "a Tensor FP32 [4, 16, 8]");
  REQUIRE(ops.described(OpId::tensor_exp, {ops.tensor(DType::INT32, {4})}) == "a Tensor FP32 [4]");
  REQUIRE_REPORT(
      ops, ops.type(OpId::tensor_and, {ops.tensor(DType::INT32, {4, 1}), ops.tensor(DType::INT32, {4, 4})}),
      "same shape");
}

TEST_CASE("dtype rules of single ops") {
  Ops ops;
  const Var* h = ops.tile(DType::FP16, {16, 64});
  const Var* f = ops.tile(DType::FP32, {16, 64});
  const Var* i = ops.tile(DType::INT32, {16, 64});
  REQUIRE_REPORT(ops, ops.type(OpId::tile_sin, {h}), "FP32-only");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_log, {i}), "FP16 or FP32, found INT32");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_not, {i}), "INT16 or UINT16");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_div, {f, h}), "same dtype, found FP32 and FP16");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_div, {f, ops.tile(DType::FP32, {1, 64})}), "same physical shape");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_and, {f, f}), "an integer dtype, found FP32");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_shls, {i, ops.i32(-1)}), "non-negative shift count");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_subs, {ops.tile(DType::UINT8, {16, 64}), ops.real(1)}),
                 "INT8, INT16");
  REQUIRE_REPORT(
      ops, ops.type(OpId::tile_cast, {f}, {dtype_kw(ops, "target_type", DType::FP32)[0], ops.kw("mode", 2)}),
      "target dtype equals input dtype");
  REQUIRE_REPORT(ops,
                 ops.type(OpId::tile_fillpad, {f}, {ops.kw("pad_value", AttrValue::of_pad(PadValue::Null))}),
                 "zero, max or min, not null");
  REQUIRE_REPORT(
      ops, ops.type(OpId::tile_row_min, {ops.tile(DType::INT8, {16, 64}), ops.tile(DType::INT8, {16, 64})}),
      "INT16, INT32, FP16 or FP32");
}

TEST_CASE("a comparison gives bits in bytes") {
  Ops ops;
  const Var* a = ops.tile(DType::FP32, {16, 300}, MemSpace::Vec, {ops.index(16), ops.index(100)});
  REQUIRE(ops.described(OpId::tile_cmps, {a, ops.real(0)}, {ops.kw("cmp_type", 4)}) ==
          "a Tile UINT8 [16, 64] with valid part [16, 13]");
}

TEST_CASE("reductions leave a column or a row") {
  Ops ops;
  const Var* n = ops.scalar("n", DType::INDEX);
  const Var* a = ops.tile(DType::FP16, {16, 64}, MemSpace::Vec, {n, ops.index(64)});
  const Var* tmp = ops.tile(DType::FP16, {16, 64});
  REQUIRE(ops.described(OpId::tile_row_sum, {a, tmp}) == "a Tile FP16 [16, 1] with valid part [n, 1]");
  REQUIRE(ops.described(OpId::tile_col_sum, {a}) == "a Tile FP16 [1, 64]");
  REQUIRE(ops.described(OpId::tile_row_argmax, {a, tmp}) == "a Tile INT32 [16, 1] with valid part [n, 1]");
  const auto* row = dyn<TileType>(ops.type(OpId::tile_row_max, {ops.tile(DType::FP16, {1, 64}), tmp}));
  REQUIRE(effective_view(row).blayout == TileLayout::ColMajor);
  REQUIRE_REPORT(ops, ops.type(OpId::tile_row_sum, {a, ops.tile(DType::FP16, {8, 64})}), "undersized");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_row_argmax, {a, ops.tile(DType::FP16, {32, 64})}), "exactly match");
  const Var* none = ops.tile(DType::FP16, {16, 64}, MemSpace::Vec, {ops.index(0), ops.index(64)});
  REQUIRE_REPORT(ops, ops.type(OpId::tile_row_sum, {none, tmp}), "input valid extent on axis 0 is 0");
  // A second vector lane that has nothing at all to do is legal.
  const Var* idle = ops.tile(DType::FP16, {16, 64}, MemSpace::Vec, {ops.index(0), ops.index(0)});
  REQUIRE_FINE(ops, ops.type(OpId::tile_row_sum, {idle, tmp}));

  const Var* x = ops.tensor(DType::FP32, {2, 16, 64});
  REQUIRE(ops.described(OpId::tensor_row_sum, {x}) == "a Tensor FP32 [2, 16, 1]");
  REQUIRE(ops.described(OpId::tensor_col_max, {x}) == "a Tensor FP32 [2, 1, 64]");
  REQUIRE(ops.described(OpId::tensor_row_argmin, {x}) == "a Tensor INT32 [2, 16, 1]");
  const Attr drop = ops.kw("keep_dim", AttrValue::of_bool(false));
  REQUIRE(ops.described(OpId::tensor_row_sum, {x}, {drop}) == "a Tensor FP32 [2, 16]");
  REQUIRE(ops.described(OpId::tensor_row_sum, {x}, {ops.kw("axis", 0), drop}) == "a Tensor FP32 [16, 64]");
  REQUIRE(ops.described(OpId::tensor_row_sum, {ops.tensor(DType::FP32, {8})}, {drop}) == "an FP32 scalar");
  REQUIRE_REPORT(ops, ops.type(OpId::tensor_row_sum, {x}, {ops.kw("axis", 3)}), "from -3 to 2, found 3");
}

TEST_CASE("a load reads a window of a tensor") {
  Ops ops;
  const Var* x = ops.tensor(DType::FP32, {16, 64});
  const Var* n = ops.scalar("n", DType::INDEX);
  const auto load = [&](const Expr* source, const Args& offset, const Dims& shape, const Args& valid,
                        const Kwargs& kwargs = {}) {
    return ops.described(OpId::tile_load,
                         {source, ops.tuple_of(offset), ops.tuple(shape), ops.tuple_of(valid)}, kwargs);
  };
  const Expr* zero = ops.index(0);
  const Expr* cols = ops.index(64);
  REQUIRE(load(x, {zero, zero}, {16, 64}, {ops.index(16), cols}) == "a Tile FP32 [16, 64]");
  REQUIRE(load(x, {n, zero}, {8, 64}, {n, cols}) == "a Tile FP32 [8, 64] with valid part [n, 64]");
  const Kwargs clamp{ops.kw("clamp", AttrValue::of_bool(true))};
  const Expr* next = dim_add(ops.ctx, n, ops.index(1));
  REQUIRE(load(x, {next, zero}, {8, 64}, {ops.index(8), cols}, clamp) ==
          "a Tile FP32 [8, 64] with valid part [min(max(15 - n, 0), 8), 64]");
  // A source that holds less data limits the result.
  TensorView view;
  view.valid_shape = ops.ctx.list(Args{n, cols});
  const Var* v = ops.viewed(DType::FP32, {16, 64}, view);
  REQUIRE(load(v, {zero, zero}, {16, 64}, {ops.index(16), cols}) ==
          "a Tile FP32 [16, 64] with valid part [min(n, 16), 64]");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_load, {x, ops.tuple({8, 0}), ops.tuple({16, 64})}),
                 "reads past the end of dimension 0: offset 8 plus extent 16 exceeds 16");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_load, {x, ops.tuple({-1, 0}), ops.tuple({16, 64})}),
                 "provably negative");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_load, {x, ops.tuple({0}), ops.tuple({16, 64})}),
                 "rank of 'offsets' of tile.load must equal the rank of 'tensor': 2 expected, 1 found");
  REQUIRE_REPORT(ops,
                 ops.type(OpId::tile_load, {x, ops.tuple({0, 0}), ops.tuple({16, 64}), ops.tuple({17, 64})}),
                 "provably exceeds");
  view = {};
  view.layout = TensorLayout::MX_A_ZZ;
  const Var* scale = ops.viewed(DType::FP8E8M0, {16, 2}, view);
  REQUIRE_REPORT(ops, ops.type(OpId::tile_load, {scale, ops.tuple({0, 0}), ops.tuple({16, 2})}),
                 "must be in Mat");
}

TEST_CASE("a store gives back its target, and tells what holds data afterwards") {
  Ops ops;
  const Var* t = ops.tile(DType::FP32, {8, 64});
  const Var* w = ops.window(DType::FP32, {16, 64});
  REQUIRE(ops.described(OpId::tile_store, {t, ops.tuple({0, 0}), w}) == "a DistributedTensor FP32 [16, 64]");
  TensorView view;
  view.valid_shape = ops.dims({8, 64});
  const Var* part = ops.viewed(DType::FP32, {16, 64}, view);
  REQUIRE(ops.described(OpId::tile_store, {t, ops.tuple({8, 0}), part}) == "a Tensor FP32 [16, 64]");
  REQUIRE(ops.described(OpId::tile_store, {t, ops.tuple({0, 0}), part}) ==
          "a Tensor FP32 [16, 64] with valid part [8, 64]");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_store, {ops.tile(DType::FP32, {4, 64}), ops.tuple({12, 0}), part}),
                 "leaves a gap in dimension 0");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_store, {ops.tile(DType::FP32, {4, 32}), ops.tuple({8, 0}), part}),
                 "L-shape");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_store, {t, ops.tuple({9, 0}), w}),
                 "writes past the end of dimension 0");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_store, {t, ops.tuple({0, 0}), ops.tensor(DType::FP16, {16, 64})}),
                 "same dtype");
  // The accumulator converts on its way.
  REQUIRE_FINE(ops, ops.type(OpId::tile_store, {ops.tile(DType::FP32, {8, 64}, MemSpace::Acc),
                                                ops.tuple({0, 0}), ops.tensor(DType::FP16, {16, 64})}));
  REQUIRE_REPORT(
      ops,
      ops.type(OpId::tile_store,
               {ops.tile(DType::UINT8, {8, 64}), ops.tuple({0, 0}), ops.tensor(DType::UINT8, {16, 64})},
               {ops.kw("atomic", 1)}),
      "FP32, BF16, FP16, INT32, INT16 and INT8, found UINT8");
}

TEST_CASE("slices drop unit dimensions") {
  Ops ops;
  const Var* n = ops.scalar("n", DType::INDEX);
  const Var* x = ops.tensor(DType::FP32, {4, 16, 64});
  const auto slice = [&](const Dims& shape, const Args& offset, const Dims& dropped) {
    return ops.type(OpId::tensor_slice,
                    {x, ops.tuple(shape), ops.tuple_of(offset), ops.tuple({}), ops.tuple(dropped)});
  };
  const Expr* zero = ops.index(0);
  REQUIRE(describe(slice({1, 16, 64}, {n, zero, zero}, {0})) == "a Tensor FP32 [16, 64]");
  REQUIRE(describe(slice({1, 1, 64}, {n, zero, zero}, {0, 1})) == "a Tensor FP32 [64]");
  REQUIRE_REPORT(ops, slice({2, 16, 64}, {zero, zero, zero}, {0}), "must select a static unit dimension");
  REQUIRE_REPORT(ops, slice({1, 16, 64}, {zero, zero, zero}, {0, 0}), "repeats dimension 0");
  REQUIRE_REPORT(ops, slice({1, 16, 64}, {zero, zero, zero}, {3}), "out of range");
  REQUIRE_REPORT(ops, slice({1, 1, 1}, {zero, zero, zero}, {0, 1, 2}), "cannot erase every dimension");
  REQUIRE_REPORT(
      ops,
      ops.type(OpId::tensor_slice, {x, ops.tuple({1, 16, 64}), ops.tuple({0, 0, 0}),
                                    ops.tuple_of({n, ops.index(16), ops.index(64)}), ops.tuple({0})}),
      "cannot drop dimension 0: its valid extent is n");
  REQUIRE_REPORT(ops, ops.type(OpId::tensor_slice, {x, ops.tuple({4, 16, 64}), ops.tuple({1, 0, 0})}),
                 "reads past the end");
  // A tile keeps at least two dimensions, and the whole window must lie inside it.
  const Var* t = ops.tile(DType::FP32, {16, 64});
  REQUIRE(ops.described(OpId::tile_slice, {t, ops.tuple({1, 64}), ops.tuple({0, 0}), ops.tuple({}),
                                           ops.tuple({0})}) == "a Tile FP32 [1, 64]");
  REQUIRE_REPORT(ops,
                 ops.type(OpId::tile_slice, {t, ops.tuple({16, 64}), ops.tuple({8, 0}), ops.tuple({8, 64})}),
                 "reads past the end of dimension 0");
}

TEST_CASE("windows stay windows through views") {
  Ops ops;
  const Var* base = ops.var("buf", ops.ctx.simple(TypeKind::Ptr));
  const Var* w = ops.var("w", ops.ctx.tensor(TypeKind::DistributedTensor, DType::FP32, ops.dims({4, 64}),
                                             nullptr, nullptr, base));
  for (const Type* type : {ops.type(OpId::tensor_slice, {w, ops.tuple({1, 64}), ops.tuple({0, 0})}),
                           ops.type(OpId::tensor_view, {w, ops.tuple({1, 256})}),
                           ops.type(OpId::tensor_reshape, {w, ops.tuple({256})}),
                           ops.type(OpId::tensor_transpose, {w, ops.index(0), ops.index(1)}),
                           ops.type(OpId::tensor_set_validshape, {w, ops.index(2), ops.index(64)})}) {
    REQUIRE(is_distributed(type));
    REQUIRE(static_cast<const TensorType*>(type)->window == base);
  }
  // Creating a view of a buffer does not bind it: MaterializeCommDomainScopes does.
  const Type* view =
      ops.type(OpId::pld_tensor_window, {base, ops.tuple({4, 64})}, dtype_kw(ops, "dtype", DType::FP32));
  REQUIRE(is_distributed(view));
  REQUIRE(static_cast<const TensorType*>(view)->window == nullptr);
}

TEST_CASE("views of tensors have strides") {
  Ops ops;
  const Var* x = ops.tensor(DType::FP32, {16, 64});
  const auto strides = [&](const Type* type) {
    const auto* t = dyn<TensorType>(type);
    return describe(t->shape) + " " + describe(t->view->stride) + " " + std::string(name_of(t->view->layout));
  };
  REQUIRE(strides(ops.type(OpId::tensor_transpose, {x, ops.index(0), ops.index(1)})) ==
          "[64, 16] [1, 64] DN");
  REQUIRE(strides(ops.type(OpId::tensor_transpose, {ops.tensor(DType::FP32, {2, 3, 4}), ops.index(0),
                                                    ops.index(1)})) == "[3, 2, 4] [4, 12, 1] ND");
  REQUIRE(strides(ops.type(OpId::tensor_view, {x, ops.tuple({32, 32})})) == "[32, 32] [32, 1] ND");
  REQUIRE(
      strides(ops.type(OpId::tensor_view, {x}, {ops.kw("layout", AttrValue::of_layout(TensorLayout::DN))})) ==
      "[64, 16] [1, 64] DN");
  REQUIRE_REPORT(ops, ops.type(OpId::tensor_view, {x}), "at least one of shape and layout");
  REQUIRE_REPORT(ops, ops.type(OpId::tensor_view, {x, ops.tuple({32, 33})}),
                 "cannot reshape [16, 64] of size 1024");
  REQUIRE_REPORT(ops, ops.type(OpId::tensor_transpose, {x, ops.index(0), ops.index(2)}), "from -2 to 1");
  REQUIRE_REPORT(ops, ops.type(OpId::tensor_transpose, {x, ops.index(1), ops.index(-1)}), "another axis");
  REQUIRE_REPORT(ops, ops.type(OpId::tensor_dim, {x, ops.index(2)}), "from -2 to 1, found 2");
}

TEST_CASE("reshapes carry the valid part where it stays a rectangle") {
  Ops ops;
  const Var* n = ops.scalar("n", DType::INDEX);
  const auto reshape = [&](const Dims& from, const Args& valid, const Dims& to) {
    return ops.described(OpId::tile_reshape,
                         {ops.tile(DType::FP32, from, MemSpace::Vec, valid), ops.tuple(to)});
  };
  REQUIRE(reshape({16, 64}, {}, {1024}) == "a Tile FP32 [1024]");
  REQUIRE(reshape({16, 64}, {n, ops.index(64)}, {1, 16, 64}) ==
          "a Tile FP32 [1, 16, 64] with valid part [1, n, 64]");
  REQUIRE(reshape({1, 16, 64}, {ops.index(1), n, ops.index(64)}, {16, 64}) ==
          "a Tile FP32 [16, 64] with valid part [n, 64]");
  REQUIRE(reshape({2, 16, 32}, {n, ops.index(16), ops.index(32)}, {32, 32}) ==
          "a Tile FP32 [32, 32] with valid part [n * 16, 32]");
  REQUIRE(reshape({16, 64}, {ops.index(4), ops.index(64)}, {32, 32}) ==
          "a Tile FP32 [32, 32] with valid part [8, 32]");
  REQUIRE(reshape({16, 64}, {ops.index(0), ops.index(64)}, {32, 32}) ==
          "a Tile FP32 [32, 32] with valid part [0, 0]");
  REQUIRE_THAT(reshape({16, 64}, {ops.index(16), ops.index(5)}, {32, 32}),
               Catch::Matchers::Contains("only part of it"));
}

TEST_CASE("matrix products land in the accumulator") {
  Ops ops;
  const Var* n = ops.scalar("n", DType::INDEX);
  const Var* a = ops.tile(DType::FP16, {16, 64}, MemSpace::Left);
  const Var* b = ops.tile(DType::FP16, {64, 32}, MemSpace::Right);
  const auto* c = dyn<TileType>(ops.type(OpId::tile_matmul, {a, b}));
  REQUIRE(describe(c) == "a Tile FP32 [16, 32]");
  REQUIRE(c->space == MemSpace::Acc);
  REQUIRE(c->view == nullptr);
  const Var* i8 = ops.tile(DType::INT8, {16, 64}, MemSpace::Left);
  const Var* i8b = ops.tile(DType::INT8, {64, 32}, MemSpace::Right);
  REQUIRE(ops.described(OpId::tile_matmul, {i8, i8b}) == "a Tile INT32 [16, 32]");
  const Var* part = ops.tile(DType::FP16, {16, 64}, MemSpace::Left, {n, ops.index(64)});
  const auto* p = dyn<TileType>(ops.type(OpId::tile_matmul, {part, b}));
  REQUIRE(describe(p) == "a Tile FP32 [16, 32] with valid part [n, 32]");
  REQUIRE(p->view->compact == CompactMode::Normal);
  REQUIRE_REPORT(ops, ops.type(OpId::tile_matmul, {a, a}),
                 "inner extents differ, 64 columns of 'lhs' and 16 rows");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_matmul, {a, i8b}), "same dtype");
  const Var* acc = ops.tile(DType::FP32, {16, 32}, MemSpace::Acc);
  REQUIRE(ops.described(OpId::tile_matmul_acc, {acc, a, b}) == "a Tile FP32 [16, 32]");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_matmul_acc, {ops.tile(DType::FP32, {16, 16}, MemSpace::Acc), a, b}),
                 "[16, 16] and [16, 32]");
  REQUIRE_REPORT(ops,
                 ops.type(OpId::tile_matmul_bias, {a, b, ops.tile(DType::FP16, {1, 32}, MemSpace::Bias)}),
                 "must be FP32");
  const Var* row = ops.tile(DType::FP16, {1, 64}, MemSpace::Left);
  REQUIRE(ops.described(OpId::tile_gemv, {row, b}, {ops.kw("acc_phase", 0)}) ==
          "a Tile FP32 [16, 32] with valid part [1, 32]");
  REQUIRE(ops.described(OpId::tile_batch_matmul, {ops.tile(DType::FP16, {2, 1, 16, 64}, MemSpace::Left),
                                                  ops.tile(DType::FP16, {3, 64, 32}, MemSpace::Right)}) ==
          "a Tile FP32 [2, 3, 16, 32]");

  const Kwargs plain{ops.kw("a_trans", AttrValue::of_bool(false)),
                     ops.kw("b_trans", AttrValue::of_bool(true))};
  REQUIRE(ops.described(OpId::tensor_matmul,
                        {ops.tensor(DType::FP16, {16, 64}), ops.tensor(DType::FP16, {32, 64})},
                        plain) == "a Tensor FP16 [16, 32]");
  REQUIRE(ops.described(OpId::tensor_matmul, {ops.tensor(DType::FP32, {64}),
                                              ops.tensor(DType::FP32, {64})}) == "a Tensor FP32 []");
  REQUIRE(ops.described(OpId::tensor_matmul,
                        {ops.tensor(DType::FP32, {5, 1, 16, 64}), ops.tensor(DType::FP32, {3, 64, 8})}) ==
          "a Tensor FP32 [5, 3, 16, 8]");
}

TEST_CASE("a remote load gives what the source has, at run time exactly") {
  Ops ops;
  const Var* n = ops.scalar("n", DType::INDEX);
  const Var* w = ops.window(DType::FP32, {16, 64});
  const auto* plain = dyn<TileType>(
      ops.type(OpId::pld_tile_remote_load, {w, ops.i32(1), ops.tuple({0, 0}), ops.tuple({16, 64})}));
  REQUIRE(describe(plain) == "a Tile FP32 [16, 64]");
  REQUIRE_FALSE(plain->space.has_value());
  REQUIRE(ops.described(OpId::pld_tile_remote_load, {w, ops.i32(1), ops.tuple({0, 0}), ops.tuple({16, 64}),
                                                     ops.tuple_of({n, ops.index(64)})}) ==
          "a Tile FP32 [16, 64] with valid part [min(n, 16), 64]");
  TensorView view;
  view.valid_shape = ops.dims({10, 64});
  const Var* part = ops.viewed(DType::FP32, {16, 64}, view, TypeKind::DistributedTensor);
  REQUIRE(
      ops.described(OpId::pld_tile_remote_load, {part, ops.i32(1), ops.tuple({4, 0}), ops.tuple({8, 64})}) ==
      "a Tile FP32 [8, 64] with valid part [6, 64]");
  // A single column is column-major, unless the window's view says otherwise.
  const Var* column = ops.window(DType::FP32, {4, 8, 1});
  const Args cut{column, ops.i32(1), ops.tuple({0, 0, 0}), ops.tuple({4, 8, 1})};
  REQUIRE(effective_view(dyn<TileType>(ops.type(OpId::pld_tile_remote_load, cut))).blayout ==
          TileLayout::ColMajor);
  TensorView nd;
  nd.stride = ops.dims({8, 1, 1});
  const Var* packed = ops.viewed(DType::FP32, {4, 8, 1}, nd, TypeKind::DistributedTensor);
  const Args same{packed, ops.i32(1), ops.tuple({0, 0, 0}), ops.tuple({4, 8, 1})};
  REQUIRE(effective_view(dyn<TileType>(ops.type(OpId::pld_tile_remote_load, same))).blayout ==
          TileLayout::RowMajor);
}

TEST_CASE("results of collectives are their windows") {
  Ops ops;
  const Var* base = ops.var("buf", ops.ctx.simple(TypeKind::Ptr));
  const Var* w = ops.var("w", ops.ctx.tensor(TypeKind::DistributedTensor, DType::FP32, ops.dims({4, 8}),
                                             nullptr, nullptr, base));
  const Var* sig = ops.window(DType::INT32, {4, 1});
  REQUIRE(ops.type(OpId::pld_tensor_allreduce, {w, sig}) == w->type);
  REQUIRE(ops.type(OpId::pld_tensor_barrier, {sig}) == sig->type);
  REQUIRE(ops.type(OpId::pld_tensor_broadcast, {w, sig}, {ops.kw("root", 0)}) == w->type);
  REQUIRE(ops.type(OpId::pld_tensor_allgather, {ops.tensor(DType::FP32, {1, 8}), w, sig}) == w->type);
  REQUIRE(ops.type(OpId::pld_tensor_reduce_scatter, {w, sig}, {ops.kw("op", 0)}) == w->type);
  REQUIRE(ops.described(OpId::pld_system_rank, {ops.context()}) == "an INT32 scalar");
  REQUIRE(ops.described(OpId::pld_system_world_size, {}) == "an INT64 scalar");
  REQUIRE(ops.described(OpId::pld_system_get_comm_ctx, {w}) == "a CommCtx");
}

TEST_CASE("an operand of unknown type makes the result unknown") {
  Ops ops;
  const Var* u = ops.var("u", ops.ctx.unknown());
  REQUIRE(is_unknown(ops.type(OpId::tile_add, {u, ops.tile(DType::FP32, {16, 64})})));
  REQUIRE(is_unknown(ops.type(OpId::pld_tensor_barrier, {u})));
}

TEST_CASE("arrays, creation and gathers") {
  Ops ops;
  REQUIRE(ops.described(OpId::array_create, {ops.index(8)}, dtype_kw(ops, "dtype", DType::TASK_ID)) ==
          "an Array of 8 TASK_ID");
  REQUIRE_REPORT(ops, ops.type(OpId::array_create, {ops.index(0)}, dtype_kw(ops, "dtype", DType::INT32)),
                 "positive constant");
  REQUIRE_REPORT(ops, ops.type(OpId::array_create, {ops.index(8)}, dtype_kw(ops, "dtype", DType::FP32)),
                 "integer dtype");
  const Var* arr = ops.var("arr", ops.ctx.array(DType::INT32, 8));
  REQUIRE(ops.described(OpId::array_get_element, {arr, ops.index(7)}) == "an INT32 scalar");
  REQUIRE_REPORT(ops, ops.type(OpId::array_get_element, {arr, ops.index(8)}), "less than 8");
  REQUIRE_REPORT(ops, ops.type(OpId::array_update_element, {arr, ops.index(0), ops.real(1)}),
                 "must be INT32");
  REQUIRE_REPORT(ops,
                 ops.type(OpId::tile_full, {ops.tuple({16, 64}), ops.scalar("f", DType::FP32)},
                          dtype_kw(ops, "dtype", DType::FP32)),
                 "integer or float constant");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_create, {ops.tuple({0, 64})}, dtype_kw(ops, "dtype", DType::FP32)),
                 "positive");
  const Var* t = ops.tile(DType::FP32, {16, 64});
  REQUIRE(ops.described(OpId::tile_gather_mask, {t}, {ops.kw("mask_pattern", 4)}) == "a Tile FP32 [16, 16]");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_gather_mask, {t}, {ops.kw("mask_pattern", 8)}), "from 1 to 7");
  REQUIRE(ops.described(OpId::tile_reinterpret_view, {t}, dtype_kw(ops, "dtype", DType::INT16)) ==
          "a Tile INT16 [16, 128]");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_reinterpret_view, {t}, dtype_kw(ops, "dtype", DType::FP32)),
                 "another dtype");
  REQUIRE(ops.described(OpId::tile_sort32, {ops.tile(DType::FP32, {8, 32}),
                                            ops.tile(DType::UINT32, {8, 32})}) == "a Tile FP32 [8, 64]");
  REQUIRE(ops.described(OpId::tensor_aiv_shard, {ops.tensor(DType::FP32, {16, 64})}, {ops.kw("split", 2)}) ==
          "a Tensor FP32 [16, 32]");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_aiv_shard, {ops.tile(DType::FP32, {15, 64})}, {ops.kw("split", 1)}),
                 "even, found 15");
  REQUIRE_REPORT(ops, ops.type(OpId::test_deduce_raises_type, {t}), "never has a type");
}

TEST_CASE("ops between cores and into memory check their operands") {
  Ops ops;
  const Attr pipe = ops.kw("pipe", 4);
  const Var* n = ops.scalar("n", DType::INDEX);
  REQUIRE_FINE(ops, ops.type(OpId::system_sync_set, {}, {pipe, ops.kw("event_id", 13)}));
  REQUIRE_FINE(ops, ops.type(OpId::system_sync_wait, {n}, {pipe}));
  REQUIRE_REPORT(ops, ops.type(OpId::system_sync_set, {}, {pipe}), "exactly once");
  REQUIRE_REPORT(ops, ops.type(OpId::system_sync_set, {n}, {pipe, ops.kw("event_id", 1)}), "found both");
  REQUIRE_REPORT(ops, ops.type(OpId::system_sync_set, {}, {pipe, ops.kw("event_id", 14)}), "[0, 13]");
  REQUIRE_REPORT(ops, ops.type(OpId::system_sync_set, {n}, {pipe, ops.kw("ffts_mode", 3)}), "[0, 2]");
  const Attr soft = ops.kw("mode", AttrValue::of_string("soft"));
  REQUIRE_REPORT(ops, ops.type(OpId::system_syncall, {}, {soft}), "gm_workspace");
  REQUIRE_REPORT(ops, ops.type(OpId::system_syncall, {ops.tensor(DType::INT32, {64})}), "'soft'");
  REQUIRE_REPORT(ops, ops.type(OpId::system_syncall, {ops.tensor(DType::INT32, {8})}, {soft}), "at least 16");
  REQUIRE_REPORT(ops, ops.type(OpId::system_set_ffts, {ops.tensor(DType::INT64, {64})}), "at least 256");
  const Var* t = ops.tile(DType::FP32, {16, 64});
  REQUIRE_FINE(ops, ops.type(OpId::tile_tpush_to_aiv, {t}, {ops.kw("split", 3), ops.kw("lane_stride", 8)}));
  REQUIRE_REPORT(ops, ops.type(OpId::tile_tpush_to_aic, {t}, {ops.kw("split", 3)}), "vector core only");
  REQUIRE_REPORT(ops, ops.type(OpId::tile_tpush_to_aiv, {t}, {ops.kw("split", 1), ops.kw("lane_stride", 9)}),
                 "[1, 8]");
  const Var* half = ops.tile(DType::FP32, {16, 32});
  REQUIRE_FINE(ops, ops.type(OpId::tile_scatter_mask, {t, half}, {ops.kw("mask_pattern", 1)}));
  REQUIRE_REPORT(ops, ops.type(OpId::tile_scatter_mask, {t, half}, {ops.kw("mask_pattern", 3)}),
                 "32 columns times the stride 4");
  const Var* acc = ops.tensor(DType::FP32, {32, 64}, "acc");
  const Var* x = ops.tensor(DType::FP32, {16, 64});
  const auto rows = [&](const Dims& to, const Dims& from) {
    return ops.type(OpId::tensor_gather_row, {acc, x, ops.tuple(to), ops.tuple(from), ops.tuple({8, 64})},
                    {ops.kw("transpose", AttrValue::of_bool(false))});
  };
  REQUIRE_FINE(ops, rows({24, 0}, {8, 0}));
  REQUIRE_REPORT(ops, rows({25, 0}, {8, 0}), "writes past the end of dimension 0");
  REQUIRE_REPORT(ops, rows({0, 0}, {9, 0}), "reads past the end of dimension 0");
  REQUIRE_REPORT(
      ops,
      ops.type(OpId::tile_mscatter, {t, ops.tile(DType::INT32, {16, 32}), ops.tensor(DType::FP32, {64})}),
      "compatible shapes");
}
