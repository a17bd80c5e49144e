// What must hold for every call: operands, keywords, and the errors of distributed ops (passes.md 6.7).
#include "unit/ir/op_fixture.h"

using namespace optest;

namespace {

Kwargs op_kw(Ops& ops, std::int64_t value) { return {ops.kw("op", value)}; }

}  // namespace

TEST_CASE("operand counts and kinds name the op, the operand and what was found") {
  Ops ops;
  const Var* t = ops.tile(DType::FP32, {16, 64});
  REQUIRE_FINE(ops, ops.check(OpId::tile_add, {t, t}));
  REQUIRE_REPORT(ops, ops.check(OpId::tile_add, {t, t, t}), "tile.add takes exactly 2 operands, found 3");
  REQUIRE_REPORT(ops, ops.check(OpId::tile_add, {t}), "missing: 'rhs' (a Tile)");
  REQUIRE_REPORT(ops, ops.check(OpId::tile_load, {}), "takes 3 to 4 operands, found 0");
  REQUIRE_REPORT(ops, ops.check(OpId::tile_add, {t, ops.real(1)}),
                 "operand 'rhs' of tile.add must be a Tile, found an FP32 scalar");
  REQUIRE_REPORT(ops, ops.check(OpId::system_cacheinvalid, {ops.tensor(DType::FP32, {4})}),
                 "0 or 3 operands");
  const Var* unknown = ops.var("u", ops.ctx.unknown());
  REQUIRE_FINE(ops, ops.check(OpId::tile_add, {t, unknown}));
  // Printed text may hold tiles where tensors belong (G44).
  const Call* odd = ops.raw(OpId::tensor_neg, {t});
  REQUIRE(check_call(ops.diags, odd, CallSource::Printed));
  REQUIRE_REPORT(ops, check_call(ops.diags, odd), "must be a Tensor");
}

TEST_CASE("keywords: unknown, missing, of the wrong kind, twice") {
  Ops ops;
  const Var* t = ops.tile(DType::FP32, {16, 64});
  const Attr target = ops.kw("target_type", AttrValue::of_dtype(DType::FP16));
  REQUIRE_FINE(ops, ops.check(OpId::tile_cast, {t}, {target, ops.kw("mode", 2)}));
  REQUIRE_REPORT(ops, ops.check(OpId::tile_add, {t, t}, {ops.kw("axis", 1)}),
                 "tile.add has no keyword 'axis'");
  REQUIRE_REPORT(ops, ops.check(OpId::tile_cast, {t}, {target, ops.kw("mod", 2)}), "did you mean 'mode='");
  REQUIRE_REPORT(ops, ops.check(OpId::tile_cast, {t}, {ops.kw("mode", 2)}),
                 "needs the keyword 'target_type'");
  REQUIRE_REPORT(ops, ops.check(OpId::tile_cast, {t}, {ops.kw("target_type", 3), ops.kw("mode", 2)}),
                 "must be a dtype, found an integer");
  REQUIRE_REPORT(ops, ops.check(OpId::tile_cast, {t}, {target, ops.kw("mode", 9)}),
                 "'9' is no value for the keyword 'mode'");
  REQUIRE_REPORT(ops, ops.check(OpId::tile_cast, {t}, {target, target}), "gets 'target_type' twice");
  // Phases of the older dialect are names.
  const Var* a = ops.tile(DType::FP16, {1, 64}, MemSpace::Left);
  const Var* b = ops.tile(DType::FP16, {64, 32}, MemSpace::Right);
  REQUIRE_FINE(
      ops, ops.check(OpId::tile_gemv, {a, b}, {ops.kw("acc_phase", AttrValue::of_string("unspecified"))}));
}

TEST_CASE("T122, T123: windows and the number of devices") {
  Ops ops;
  const Var* buf = ops.var("buf", ops.ctx.simple(TypeKind::Ptr));
  const Kwargs fp32{ops.kw("dtype", AttrValue::of_dtype(DType::FP32))};
  REQUIRE_FINE(ops, ops.check(OpId::pld_tensor_window, {buf, ops.tuple({16})}, fp32));
  REQUIRE_REPORT(ops,
                 ops.check(OpId::pld_tensor_window, {ops.tensor(DType::FP32, {16}), ops.tuple({16})}, fp32),
                 "a Ptr");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_tensor_window, {buf, ops.index(16)}, fp32),
                 "operand 'shape' of pld.tensor.window must be a tuple");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_tensor_window, {buf, ops.tuple({16})}),
                 "needs the keyword 'dtype'");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_system_world_size, {ops.index(1)}), "no positional operands");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_system_world_size, {}, {ops.kw("n", 1)}), "no kwargs");
  REQUIRE_REPORT(ops,
                 ops.check(OpId::pld_tensor_alloc_window_buffer, {ops.index(64)},
                           {ops.kw("name", AttrValue::of_string(""))}),
                 "requires a non-empty name");
}

TEST_CASE("T124: contexts") {
  Ops ops;
  const Var* w = ops.window(DType::FP32, {16});
  REQUIRE_REPORT(ops, ops.check(OpId::pld_system_get_comm_ctx, {ops.tensor(DType::FP32, {16})}),
                 "a DistributedTensor");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_system_get_comm_ctx, {w}, {ops.kw("id", 1)}),
                 "has no keyword 'id'");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_system_get_comm_ctx, {w, w}), "exactly 1");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_system_rank, {w}), "a CommCtx");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_system_nranks, {ops.index(0)}), "a CommCtx");
}

TEST_CASE("T125, T126: signals") {
  Ops ops;
  const Var* sig = ops.window(DType::INT32, {4, 1});
  const Expr* at = ops.tuple({0, 0});
  REQUIRE_FINE(ops, ops.check(OpId::pld_system_notify, {sig, ops.i32(1), at, ops.i32(1)}, op_kw(ops, 0)));
  REQUIRE_REPORT(ops,
                 ops.check(OpId::pld_system_notify,
                           {ops.tensor(DType::INT32, {4, 1}), ops.i32(1), at, ops.i32(1)}, op_kw(ops, 0)),
                 "DistributedTensor");
  REQUIRE_REPORT(
      ops, ops.check(OpId::pld_system_notify, {sig, ops.i32(1), ops.tuple({0}), ops.i32(1)}, op_kw(ops, 0)),
      "offsets rank");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_system_notify, {sig, ops.i32(1), at, ops.i32(1)}, op_kw(ops, 2)),
                 "AtomicAdd, Set");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_system_notify, {sig, ops.i32(1), at, ops.i32(1)}), "keyword 'op'");
  const Kwargs ge{ops.kw("cmp", 1)};
  REQUIRE_REPORT(ops, ops.check(OpId::pld_system_wait, {sig, ops.tuple({0}), ops.i32(1)}, ge),
                 "offsets rank");
  REQUIRE_REPORT(ops,
                 ops.check(OpId::pld_system_wait, {ops.tensor(DType::INT32, {4, 1}), at, ops.i32(1)}, ge),
                 "DistributedTensor");

  const auto defer = [&](const Expr* signal, const Expr* offsets, const Expr* expected, std::int64_t cmp) {
    return ops.check(OpId::pld_system_defer_wait, {signal, offsets, expected}, {ops.kw("cmp", cmp)});
  };
  REQUIRE_FINE(ops, defer(sig, at, ops.i32(1), 1));
  REQUIRE_REPORT(ops, defer(sig, at, ops.i32(1), 0), "only supports WaitCmp.Ge");
  REQUIRE_REPORT(ops, defer(sig, ops.tuple_of({ops.real(0), ops.index(0)}), ops.i32(1), 1),
                 "integer scalars");
  REQUIRE_REPORT(ops, defer(sig, at, ops.real(1), 1), "an integer scalar");
  REQUIRE_REPORT(ops, defer(ops.window(DType::INT32, {}), ops.tuple({}), ops.i32(1), 1),
                 "at least one dimension");
  REQUIRE_REPORT(ops, defer(ops.window(DType::FP32, {4, 1}), at, ops.i32(1), 1), "must be INT32");
  REQUIRE_REPORT(ops, defer(sig, at, ops.i32(-1), 1), "[0, INT32_MAX]");
  REQUIRE_REPORT(ops, defer(sig, at, ops.index(std::int64_t{1} << 31), 1), "[0, INT32_MAX]");
}

TEST_CASE("T127: remote loads") {
  Ops ops;
  const Var* w = ops.window(DType::FP32, {16, 64});
  const Var* n = ops.scalar("n", DType::INDEX);
  const auto load = [&](const Expr* target, const Expr* offsets, const Expr* shape,
                        const Expr* valid = nullptr, const Expr* peer = nullptr) {
    Args args{target, peer != nullptr ? peer : ops.i32(1), offsets, shape};
    if (valid != nullptr) args.push_back(valid);
    return ops.check(OpId::pld_tile_remote_load, args);
  };
  const Expr* zero = ops.tuple({0, 0});
  const Expr* whole = ops.tuple({16, 64});
  REQUIRE_FINE(ops, load(w, zero, whole));
  REQUIRE_REPORT(ops, load(ops.tensor(DType::FP32, {16, 64}), zero, whole), "a DistributedTensor");
  REQUIRE_REPORT(ops, load(w, zero, whole, nullptr, zero),
                 "operand 'peer' of pld.tile.remote_load must be a scalar");
  REQUIRE_REPORT(ops, load(w, ops.tuple({0}), whole), "rank of 'offsets'");
  REQUIRE_REPORT(ops, load(w, zero, ops.tuple({64})), "rank of 'shape'");
  REQUIRE_REPORT(ops, load(w, zero, whole, ops.tuple({64})), "rank of 'valid_shape'");
  REQUIRE_REPORT(ops, load(w, ops.index(0), whole), "a tuple of scalars");
  REQUIRE_REPORT(ops, load(w, ops.tuple({0, 1}), whole),
                 "reads past the end of dimension 1: offset 1 plus extent 64 exceeds 64");
  REQUIRE_FINE(ops, load(w, ops.tuple({0, 1}), whole, ops.tuple({16, 63})));
  REQUIRE_FINE(ops, load(w, ops.tuple_of({n, ops.index(0)}), whole));
  REQUIRE_REPORT(ops, load(w, ops.tuple({0, -1}), whole), "provably negative");
  REQUIRE_REPORT(ops, load(w, zero, whole, ops.tuple({-1, 64})), "provably negative");
  REQUIRE_REPORT(ops, load(w, zero, whole, ops.tuple({17, 64})), "provably exceeds");
  REQUIRE_REPORT(ops, load(w, zero, whole, ops.tuple_of({ops.real(1), ops.index(64)})), "integer scalar");
  TensorView view;
  view.layout = TensorLayout::MX_B_NN;
  REQUIRE_REPORT(ops, load(ops.viewed(DType::FP32, {16, 64}, view, TypeKind::DistributedTensor), zero, whole),
                 "MX layout");
  REQUIRE_REPORT(ops, load(ops.window(DType::FP32, {}), ops.tuple({}), ops.tuple({})), "rank 1 or more");

  const Kwargs padded{ops.kw("allow_physical_tail_padding", AttrValue::of_bool(true))};
  const Var* h = ops.window(DType::FP16, {16, 60});
  REQUIRE_FINE(ops, ops.check(OpId::pld_tile_remote_load, {h, ops.i32(1), zero, whole, whole}, padded));
  REQUIRE_REPORT(ops, ops.check(OpId::pld_tile_remote_load, {h, ops.i32(1), zero, whole}, padded),
                 "no valid shape");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_tile_remote_load, {w, ops.i32(1), zero, whole, whole}, padded),
                 "found FP32");
}

TEST_CASE("T128: remote stores") {
  Ops ops;
  const Var* w = ops.window(DType::FP32, {16, 64});
  const Var* t = ops.tile(DType::FP32, {8, 64});
  const Expr* zero = ops.tuple({0, 0});
  const auto push = [&](const Expr* src, const Expr* target, const Expr* offsets, Kwargs kwargs = {}) {
    return ops.check(OpId::pld_tile_remote_store, {src, target, ops.i32(1), offsets}, kwargs);
  };
  const auto push_tensor = [&](const Expr* src, const Expr* target, const Expr* offsets) {
    return ops.check(OpId::pld_tensor_remote_store, {src, target, ops.i32(1), offsets});
  };
  REQUIRE_FINE(ops, push(t, w, zero));
  REQUIRE_FINE(ops, push(t, w, ops.tuple_of({ops.scalar("n", DType::INDEX), ops.index(0)})));
  REQUIRE_FINE(ops, push(ops.tile(DType::FP32, {1, 8, 64}), w, zero));
  REQUIRE_REPORT(ops, push(ops.tile(DType::FP32, {2, 8, 64}), w, zero),
                 "src leading dimension 0 must be 1, found 2");
  REQUIRE_REPORT(ops, push(t, w, ops.tuple({9, 0})),
                 "push exceeds the peer's target region in dimension 0: offset 9 plus extent 8 exceeds 16");
  // Only the part that holds data is pushed.
  REQUIRE_FINE(ops, push(ops.tile(DType::FP32, {8, 64}, MemSpace::Vec, {ops.index(7), ops.index(64)}), w,
                         ops.tuple({9, 0})));
  REQUIRE_REPORT(ops, push(t, ops.window(DType::FP32, {4, 16, 64}), ops.tuple({4, 0, 0})),
                 "in dimension 0: offset 4 plus extent 1 exceeds 4");
  REQUIRE_REPORT(ops, push(ops.tile(DType::FP32, {64}), w, zero), "must have rank at least 2, found rank 1");
  REQUIRE_REPORT(ops, push(t, ops.window(DType::FP32, {64}), ops.tuple({0})),
                 "'target' of pld.tile.remote_store must have rank at least 2");
  REQUIRE_REPORT(ops, push(ops.tile(DType::FP16, {64}), w, zero), "same dtype, found FP16 and FP32");
  REQUIRE_REPORT(ops, push(t, w, ops.tuple({0})), "offsets rank");
  REQUIRE_REPORT(
      ops,
      push(ops.tile(DType::UINT8, {8, 64}), ops.window(DType::UINT8, {16, 64}), zero, {ops.kw("atomic", 1)}),
      "FP32, BF16, FP16, INT32, INT16 and INT8");
  REQUIRE_REPORT(ops, push(t, w, zero, {ops.kw("atomic", 2)}), "None_, Add");
  REQUIRE_REPORT(ops, push(ops.tensor(DType::FP32, {8, 64}), w, zero), "pld.tensor.remote_store");
  REQUIRE_FINE(ops, push_tensor(ops.tensor(DType::FP32, {8, 64}), w, zero));
  REQUIRE_REPORT(ops, push_tensor(t, w, zero), "pld.tile.remote_store");
  REQUIRE_REPORT(ops, push_tensor(w, w, zero), "pld.tensor.put");
}

TEST_CASE("T129, T130: put and get") {
  Ops ops;
  const Var* w = ops.window(DType::FP32, {16, 64});
  const Var* x = ops.tensor(DType::FP32, {16, 64});
  const Var* n = ops.scalar("n", DType::INDEX);
  const Kwargs none{ops.kw("atomic", 0)};
  const auto put = [&](const Expr* dst, const Expr* src, Kwargs kwargs) {
    return ops.check(OpId::pld_tensor_put, {dst, ops.i32(1), src}, kwargs);
  };
  const auto region = [&](const Dims& to, const Dims& from, const Dims& shape) {
    return ops.check(OpId::pld_tensor_put,
                     {w, ops.i32(1), x, ops.tuple(to), ops.tuple(from), ops.tuple(shape)}, none);
  };
  const auto with = [&](Kwargs more) {
    more.insert(more.begin(), none[0]);
    return more;
  };
  REQUIRE_FINE(ops, put(w, x, none));
  REQUIRE_FINE(ops, put(w, w, none));
  REQUIRE_REPORT(ops, put(x, x, none), "a DistributedTensor");
  REQUIRE_REPORT(ops, put(w, x, {}), "needs the keyword 'atomic'");
  REQUIRE_REPORT(ops, put(w, ops.tensor(DType::FP16, {16, 64}), none), "element type");
  REQUIRE_REPORT(ops, put(w, ops.tensor(DType::FP32, {16, 32}), none), "same static shape");
  REQUIRE_REPORT(ops, put(w, ops.tensor(DType::FP32, {64}), none), "2, as dst has");
  REQUIRE_REPORT(ops, put(ops.window(DType::FP32, {0, 64}), ops.tensor(DType::FP32, {0, 64}), none),
                 "positive, found 0");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_tensor_put, {w, x, x}, none),
                 "operand 'peer' of pld.tensor.put must be a scalar");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_tensor_put, {w, ops.i32(1), x, ops.tuple({0, 0})}, none), "3 or 6");
  REQUIRE_FINE(ops, region({8, 0}, {0, 0}, {8, 64}));
  REQUIRE_REPORT(ops, region({-1, 0}, {0, 0}, {8, 64}),
                 "element 0 of 'dst_offsets' of pld.tensor.put is provably negative");
  REQUIRE_REPORT(ops, region({9, 0}, {0, 0}, {8, 64}), "dst subregion dimension 0 exceeds dst shape");
  REQUIRE_REPORT(ops, region({0, 0}, {0, 32}, {8, 64}), "src subregion dimension 1 exceeds src shape");
  REQUIRE_REPORT(ops, region({0, 0}, {0, 0}, {0, 64}), "positive, found 0");
  REQUIRE_REPORT(ops, region({0}, {0, 0}, {8, 64}), "rank of 'dst_offsets'");
  REQUIRE_REPORT(ops, put(w, x, with({ops.kw("chunk_rows", -1)})), "at least 0, found -1");
  REQUIRE_REPORT(ops,
                 put(w, x, with({ops.kw("chunk_rows", 4), ops.kw("pipeline", AttrValue::of_bool(true))})),
                 "chunk_cols > 0");
  REQUIRE_REPORT(ops, put(w, x, with({ops.kw("pipeline", AttrValue::of_bool(true))})), "both chunk sizes");
  REQUIRE_FINE(ops, put(w, x,
                        with({ops.kw("chunk_rows", 4), ops.kw("chunk_cols", 64),
                              ops.kw("pipeline", AttrValue::of_bool(true))})));
  const auto moving = [&](const Args& shape, Kwargs kwargs) {
    const Type* type = ops.ctx.tensor(TypeKind::DistributedTensor, DType::FP32, ops.ctx.list(shape));
    return put(ops.var("w", type), ops.var("s", type), with(kwargs));
  };
  REQUIRE_REPORT(ops, moving({n, ops.index(64)}, {}), "chunk_rows > 0");
  REQUIRE_FINE(ops, moving({n, ops.index(64)}, {ops.kw("chunk_rows", 4)}));
  REQUIRE_REPORT(ops, moving({ops.index(16), n}, {}), "chunk_cols > 0");
  REQUIRE_FINE(ops, moving({ops.index(16), n}, {ops.kw("chunk_cols", 64)}));
  const Var* bf = ops.window(DType::BF16, {16, 64});
  REQUIRE_FINE(ops, put(bf, bf, {ops.kw("atomic", 1)}));
  const Var* u8 = ops.window(DType::UINT8, {16, 64});
  REQUIRE_REPORT(ops, put(u8, u8, {ops.kw("atomic", 1)}), "found UINT8");

  const auto get = [&](const Expr* dst, const Expr* src, Kwargs kwargs = {}) {
    return ops.check(OpId::pld_tensor_get, {dst, ops.i32(1), src}, kwargs);
  };
  REQUIRE_FINE(ops, get(x, w));
  REQUIRE_FINE(ops, get(w, w));
  REQUIRE_REPORT(ops, get(x, x), "a DistributedTensor");
  REQUIRE_REPORT(ops, get(x, w, {ops.kw("atomic", 0)}), "has no keyword 'atomic'");
  REQUIRE_REPORT(ops, get(ops.tensor(DType::FP32, {16, 0}), ops.window(DType::FP32, {16, 0})), "positive");
  REQUIRE_REPORT(ops, get(x, ops.window(DType::FP32, {8, 64})), "same static shape");
}

TEST_CASE("T131: staging tiles") {
  Ops ops;
  const Var* w = ops.window(DType::FP32, {16, 64});
  const Var* x = ops.tensor(DType::FP32, {16, 64});
  const auto put = [&](const Args& stages) {
    Args args{w, ops.i32(1), x};
    args.insert(args.end(), stages.begin(), stages.end());
    return ops.check(OpId::pld_tile_put, args, {ops.kw("atomic", 0)});
  };
  const Var* s = ops.tile(DType::FP32, {8, 64});
  REQUIRE_FINE(ops, put({s}));
  REQUIRE_FINE(ops, put({s, s}));
  REQUIRE_FINE(ops, put({s, ops.tuple({0, 0}), ops.tuple({0, 0}), ops.tuple({8, 64})}));
  REQUIRE_REPORT(ops, put({ops.tile(DType::FP32, {1, 8, 64})}), "rank 2, found rank 3");
  REQUIRE_REPORT(ops, put({ops.tile(DType::FP16, {8, 64})}), "the dtype of dst, FP32, found FP16");
  REQUIRE_REPORT(ops, put({ops.tile(DType::FP32, {32, 64})}), "larger than the transfer");
  REQUIRE_REPORT(ops, put({s, ops.tuple({0, 0}), ops.tuple({0, 0}), ops.tuple({4, 64})}),
                 "larger than the transfer");
  REQUIRE_REPORT(ops, put({s, ops.tile(DType::FP32, {4, 64})}), "both staging tiles must have one shape");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_tile_get, {x, ops.i32(1), w, s}, {ops.kw("atomic", 0)}),
                 "no keyword");
  REQUIRE_FINE(ops, ops.check(OpId::pld_tile_get, {x, ops.i32(1), w, s}));
}

TEST_CASE("T132: allreduce and the other collectives of a window") {
  Ops ops;
  const Var* w = ops.window(DType::FP32, {16, 64});
  const Var* sig = ops.window(DType::INT32, {4, 1});
  const Kwargs plain{ops.kw("op", 0), ops.kw("mode", AttrValue::of_string("mesh")), ops.kw("core_num", 1)};
  const auto reduce = [&](const Args& args, Kwargs kwargs) {
    return ops.check(OpId::pld_tensor_allreduce, args, kwargs);
  };
  REQUIRE_FINE(ops, reduce({w, sig}, plain));
  REQUIRE_FINE(ops, reduce({w}, plain));
  REQUIRE_FINE(ops, reduce({w, ops.window(DType::INT32, {4, 1, 1})}, plain));
  REQUIRE_REPORT(ops, reduce({ops.tensor(DType::FP32, {16, 64}), sig}, plain), "a DistributedTensor");
  REQUIRE_REPORT(ops, reduce({w, ops.window(DType::FP32, {4, 1})}, plain), "must be INT32");
  REQUIRE_REPORT(ops, reduce({ops.window(DType::INT8, {16, 64}), sig}, plain),
                 "target dtype must be FP16 or FP32, found INT8");
  REQUIRE_REPORT(ops, reduce({w, sig}, {ops.kw("op", 7)}), "Sum, Max, Min, Prod");
  REQUIRE_REPORT(ops, reduce({w, sig}, {ops.kw("core_num", 0)}), "positive integer");
  REQUIRE_REPORT(ops, reduce({w, sig}, {ops.kw("core_num", AttrValue::of_bool(true))}),
                 "must be an integer, found True or False");
  REQUIRE_REPORT(ops, reduce({w}, {ops.kw("mode", AttrValue::of_string("ring"))}),
                 "'mesh' where no signal is given");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_tensor_barrier, {ops.window(DType::FP32, {4})}), "must be INT32");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_tensor_broadcast, {w, sig}, {ops.kw("root", -1)}),
                 "at least 0, found -1");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_tensor_broadcast, {w, sig}), "keyword 'root'");
  REQUIRE_REPORT(ops, ops.check(OpId::pld_tensor_reduce_scatter, {w, sig}, {ops.kw("op", 1)}),
                 "must be Sum, found Max");
  REQUIRE_REPORT(
      ops,
      ops.check(OpId::pld_tensor_reduce_scatter, {ops.window(DType::FP32, {64}), sig}, {ops.kw("op", 0)}),
      "rank 2");
}

TEST_CASE("T134: allgather and all_to_all") {
  Ops ops;
  const Var* w = ops.window(DType::FP32, {4, 8});
  const Var* sig = ops.window(DType::INT32, {4, 1});
  const Var* row = ops.tensor(DType::FP32, {1, 8});
  const auto gather = [&](const Expr* in, const Expr* out, const Expr* s) {
    return ops.check(OpId::pld_tensor_allgather, {in, out, s});
  };
  REQUIRE_FINE(ops, gather(row, w, sig));
  REQUIRE_FINE(ops, gather(row, w, ops.window(DType::INT32, {4})));
  REQUIRE_REPORT(ops, gather(w, w, sig), "different buffers");
  REQUIRE_REPORT(ops, gather(ops.tensor(DType::FP32, {2, 8}), w, sig), "[1, SIZE], found [2, 8]");
  REQUIRE_REPORT(ops, gather(ops.tensor(DType::FP32, {1, 4}), w, sig), "target SIZE must equal input SIZE");
  REQUIRE_REPORT(ops, gather(ops.tensor(DType::FP16, {1, 8}), w, sig), "same dtype");
  REQUIRE_REPORT(ops, gather(row, ops.window(DType::FP32, {32}), sig), "rank 2");
  REQUIRE_REPORT(ops, gather(row, w, ops.window(DType::INT32, {3, 1})),
                 "agree in dimension 0, found 3 and 4");
  REQUIRE_REPORT(ops, gather(row, w, ops.window(DType::INT32, {4, 2})), "[ranks, 1]");
  const auto exchange = [&](const Expr* in, const Expr* out, const Expr* s) {
    return ops.check(OpId::pld_tensor_all_to_all, {in, out, s});
  };
  REQUIRE_FINE(ops, exchange(ops.tensor(DType::FP32, {4, 8}), w, sig));
  REQUIRE_REPORT(ops, exchange(w, w, sig), "different buffers");
  REQUIRE_REPORT(ops, exchange(ops.tensor(DType::FP32, {2, 8}), w, sig), "agree in dimension 0");
}

TEST_CASE("T133: all_to_all_v") {
  Ops ops;
  const auto dist = [&](const Dims& shape, DType dtype = DType::INT32) { return ops.window(dtype, shape); };
  const auto exchange = [&](const Args& args) { return ops.check(OpId::pld_tensor_all_to_all_v, args); };
  const Var* in = ops.tensor(DType::FP32, {8, 32});
  const Var* out = dist({8, 32}, DType::FP32);
  const Var* two = dist({2, 1});
  REQUIRE_FINE(ops, exchange({in, out, two, two, two}));
  REQUIRE_FINE(ops, exchange({dist({8, 32}, DType::FP32), out, two, ops.tensor(DType::INT32, {2}), two}));
  REQUIRE_FINE(ops, exchange({in, out, two, two, two, ops.index(4)}));
  REQUIRE_REPORT(ops, exchange({in, out, two, two}), "5 to 6 operands, found 4");
  REQUIRE_REPORT(ops, exchange({in, out, dist({2}), two, two}), "signal must have rank 2");
  REQUIRE_REPORT(ops, exchange({in, out, two, two, dist({2, 2})}),
                 "'recv_counts' must be [ranks, 1], found [2, 2]");
  REQUIRE_REPORT(ops, exchange({in, out, two, two, dist({2})}), "'recv_counts' must be [ranks, 1]");
  REQUIRE_REPORT(ops, exchange({in, out, two, ops.tensor(DType::INT64, {2, 1}), two}),
                 "'send_counts' must be INT32");
  REQUIRE_REPORT(ops, exchange({in, out, two, dist({4, 1}), two}), "one count a rank, 2, found 4");
  REQUIRE_REPORT(ops, exchange({in, out, two, dist({2, 1, 1}), two}), "'send_counts' must be [ranks, 1]");
  REQUIRE_REPORT(ops, exchange({in, out, dist({3, 1}), dist({3, 1}), dist({3, 1})}),
                 "must divide target dim 0");
}

TEST_CASE("builtin collectives") {
  Ops ops;
  const Var* w = ops.window(DType::FP32, {4, 8});
  const Attr fp32 = ops.kw("dtype", AttrValue::of_dtype(DType::FP32));
  const Var* sig = ops.window(DType::INT32, {4});
  const Kwargs sum{ops.kw("op", 0), fp32, ops.kw("core_num", 1)};
  REQUIRE_FINE(ops, ops.check(OpId::builtin_tensor_allreduce, {w, sig}, sum));
  REQUIRE_REPORT(ops, ops.check(OpId::builtin_tensor_allreduce, {w, sig}, {ops.kw("op", 0), fp32}),
                 "keyword 'core_num'");
  REQUIRE_REPORT(ops, ops.check(OpId::builtin_tensor_allreduce, {ops.window(DType::FP16, {4, 8}), sig}, sum),
                 "does not match");
  REQUIRE_REPORT(ops, ops.check(OpId::builtin_tensor_allreduce_ring, {w, sig}, {ops.kw("op", 1), fp32}),
                 "must be Sum");
  REQUIRE_REPORT(ops,
                 ops.check(OpId::builtin_tensor_broadcast, {ops.window(DType::INT32, {4, 8}), sig},
                           {ops.kw("root", 0), ops.kw("dtype", AttrValue::of_dtype(DType::INT32))}),
                 "must be FP32");
  const auto signal = [&](OpId op, const Args& args, Kwargs kwargs) {
    return check_builtin_signal(ops.diags, ops.raw(op, args, kwargs));
  };
  REQUIRE_FINE(ops, signal(OpId::builtin_tensor_allreduce, {w, sig}, sum));
  REQUIRE_REPORT(ops, signal(OpId::builtin_tensor_allreduce, {w, sig}, {ops.kw("core_num", 2)}),
                 "one core only");
  REQUIRE_REPORT(
      ops,
      signal(OpId::builtin_tensor_allreduce, {w, ops.window(DType::INT32, {4, 2})}, {ops.kw("core_num", 4)}),
      "2 columns");
  REQUIRE_REPORT(ops, signal(OpId::builtin_tensor_allreduce_ring, {w, ops.window(DType::INT32, {6, 4})}, {}),
                 "= 7 rows for 4 ranks, found 6");
  REQUIRE_FINE(ops, signal(OpId::builtin_tensor_allreduce_ring, {w, ops.window(DType::INT32, {7, 4})}, {}));
  REQUIRE_REPORT(ops,
                 signal(OpId::builtin_tensor_allreduce_ring, {w, ops.window(DType::INT32, {33, 17})}, {}),
                 "at most 16 ranks");
  REQUIRE_REPORT(ops, signal(OpId::builtin_tensor_barrier, {ops.window(DType::INT32, {4, 1})}, {}), "rank 1");
}

TEST_CASE("T121: where host-only ops may stand, and names of window buffers") {
  Ops ops;
  Context& ctx = ops.ctx;
  const auto alloc = [&](std::string_view name, Span span = {1, 2}) {
    const Call* call = ctx.call(OpId::pld_tensor_alloc_window_buffer, ctx.list(Args{ops.index(64)}), {}, {},
                                ctx.simple(TypeKind::Ptr), span);
    return ctx.assign(ops.var(name, ctx.simple(TypeKind::Ptr)), name_allocation(ctx, call, name));
  };
  const auto program = [&](std::optional<Level> level, std::vector<const Stmt*> body) {
    Function f{};
    f.name = ctx.name("f");
    f.level = level;
    f.body = ctx.list(body);
    Program p{};
    p.functions = ctx.list(std::vector<const Function*>{ctx.make(f)});
    return ctx.make(p);
  };
  const auto check = [&](std::optional<Level> level, std::vector<const Stmt*> body) {
    return check_host_ops(ops.diags, program(level, std::move(body)));
  };
  REQUIRE_FINE(ops, check(Level::HOST, {alloc("a"), alloc("b")}));
  REQUIRE_REPORT(ops, check(Level::CHIP, {alloc("a")}), "only allowed in a function of level HOST");
  REQUIRE_REPORT(ops, check(Level::HOST, {alloc("a"), alloc("a", {3, 4})}), "'a' is already declared");
  ScopeStmt scope{};
  scope.kind = StmtKind::Scope;
  scope.scope = ScopeKind::InCore;
  scope.body = ctx.list(std::vector<const Stmt*>{alloc("a")});
  REQUIRE_REPORT(ops, check(Level::HOST, {ctx.make(scope)}), "an InCore scope");
  const Call* size = ctx.call(OpId::pld_system_world_size, {}, {}, {}, ctx.scalar(DType::INT64));
  REQUIRE_REPORT(ops, check(Level::CHIP_DIE, {ctx.eval(size)}), "pld.system.world_size is only allowed");
}
