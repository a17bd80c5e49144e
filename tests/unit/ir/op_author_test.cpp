// Completion of calls as people write them (format.md 2.11, 4.2.1; passes.md 4.1, 4.5).
#include "unit/ir/op_fixture.h"

using namespace optest;

namespace {

const Expr* scalar_result(Ops& ops, std::string_view name, std::vector<AuthoringArg> args) {
  return author_expr(ops.ctx, ops.diags, ops.written(name, std::move(args)));
}

std::string constant(const Expr* e) {
  if (const auto* i = dyn<ConstInt>(e)) return fmt::format("{} {}", i->value, name_of(i->dtype));
  if (const auto* f = dyn<ConstFloat>(e)) return fmt::format("{} {}", f->value, name_of(f->dtype));
  return "no constant";
}

}  // namespace

TEST_CASE("a load gets its valid shape and its memory") {
  Ops ops;
  const Var* x = ops.tensor(DType::FP32, {16, 64});
  const Call* load = ops.author("load", {x, ops.tuple({0, 0}), ops.tuple({16, 64})});
  REQUIRE(load != nullptr);
  REQUIRE(load->op == OpId::tile_load);
  REQUIRE(load->args.size() == 4);
  REQUIRE(load->args[3] == load->args[2]);
  REQUIRE(keywords_of(load) == "target_memory");
  REQUIRE(describe(load->type) == "a Tile FP32 [16, 64]");
  const Call* mat = ops.author("load", {x, ops.tuple({0, 0}), ops.tuple({16, 64})},
                               {Ops::by_name("clamp", AttrValue::of_bool(true)),
                                Ops::by_name("target_memory", AttrValue::of_mem(MemSpace::Mat))});
  REQUIRE(keywords_of(mat) == "target_memory clamp");
  // A keyword that equals a default which is not stored is not stored either.
  const Call* same = ops.author("load", {x, ops.tuple({0, 0}), ops.tuple({16, 64})},
                                {Ops::by_name("clamp", AttrValue::of_bool(false))});
  REQUIRE(keywords_of(same) == "target_memory");
}

TEST_CASE("keywords may be given by position, in any order, and as names") {
  Ops ops;
  const Var* t = ops.tile(DType::FP32, {16, 64});
  const Call* cast =
      ops.author("cast", {t, Ops::value(AttrValue::of_dtype(DType::FP16)), Ops::value(Ops::word("rint"))});
  REQUIRE(keywords_of(cast) == "target_type mode");
  REQUIRE(keyword(cast, "mode") == 1);
  const Call* swapped = ops.author("cast", {t},
                                   {Ops::by_name("mode", Ops::word("floor")),
                                    Ops::by_name("target_type", AttrValue::of_dtype(DType::FP16))});
  REQUIRE(keywords_of(swapped) == "target_type mode");
  REQUIRE(keyword(ops.author("tile.cmps", {t, ops.real(0), Ops::value(Ops::word("gt"))}), "cmp_type") == 4);
  const Call* arr = ops.author("array.create", {ops.index(8), Ops::value(AttrValue::of_dtype(DType::INT32))});
  REQUIRE(describe(arr->type) == "an Array of 8 INT32");
  const Var* w = ops.window(DType::FP32, {16, 64});
  const Var* sig = ops.window(DType::INT32, {4, 1});
  const Call* reduce =
      ops.author("pld.tensor.allreduce", {w, sig}, {Ops::by_name("op", Ops::word("Max"), "ReduceOp")});
  REQUIRE(keyword(reduce, "op") == 1);
  REQUIRE(keywords_of(reduce) == "op mode core_num");
  REQUIRE(keyword(ops.author("pld.tensor.broadcast", {w, sig, ops.index(2)}), "root") == 2);
  const Call* buffer =
      ops.author("reserve_buffer", {},
                 {Ops::by_name("size", AuthoringArg(ops.index(4096))), Ops::by_name("name", Ops::word("b"))});
  REQUIRE(keywords_of(buffer) == "name size base");
  REQUIRE(keyword(buffer, "base") == -1);
  // None is the same as not given.
  AuthoringArg none;
  none.none = true;
  REQUIRE(ops.author("exp", {t}, {}) != nullptr);
  REQUIRE(ops.author("rsqrt", {t, none})->args.size() == 1);
}

TEST_CASE("operands may be given by name") {
  Ops ops;
  const Var* w = ops.window(DType::FP32, {16, 64});
  const Call* load = ops.author("pld.tile.remote_load", {w},
                                {Ops::by_name("shape", AuthoringArg(ops.tuple({16, 64}))),
                                 Ops::by_name("peer", AuthoringArg(ops.index(1))),
                                 Ops::by_name("offsets", AuthoringArg(ops.tuple({0, 0})))});
  REQUIRE(load != nullptr);
  REQUIRE(constant(load->args[1]) == "1 INT32");
  REQUIRE(argument(load, "shape") == load->args[3]);
  // A number by position stays an index.
  const Var* sig = ops.window(DType::INT32, {4});
  const Call* wait = ops.author("pld.system.wait", {sig, ops.tuple({0}), ops.index(1)},
                                {Ops::by_name("cmp", Ops::word("Ge"), "WaitCmp")});
  REQUIRE(constant(wait->args[2]) == "1 INDEX");
  REQUIRE(keyword(wait, "cmp") == 1);
  REQUIRE_REPORT(ops, ops.author("pld.tile.remote_load", {w}, {}), "needs the operand 'peer'");
  REQUIRE_REPORT(ops, ops.author("exp", {w, w}), "takes at most 1 operands");
  REQUIRE_REPORT(ops, ops.author("exp", {w}, {Ops::by_name("input", AuthoringArg(w))}), "gets 'input' twice");
  REQUIRE_REPORT(ops,
                 ops.author("pld.tile.remote_load", {w}, {Ops::by_name("pear", AuthoringArg(ops.index(1)))}),
                 "did you mean 'peer='");
  REQUIRE_REPORT(
      ops,
      ops.author("tile.exp", {ops.tile(DType::FP32, {16, 64})}, {Ops::by_name("axis", AttrValue::of_int(1))}),
      "has no keyword 'axis'");
}

TEST_CASE("wrappers with another order") {
  Ops ops;
  const Var* x = ops.tensor(DType::FP32, {16, 64});
  const Var* ix = ops.tensor(DType::INT32, {16, 8});
  const Var* src = ops.tensor(DType::FP32, {16, 8});
  const Call* gather = ops.author("gather", {x, ops.index(1), ix});
  REQUIRE(gather->op == OpId::tensor_gather);
  REQUIRE(gather->args.size() == 2);
  REQUIRE(keyword(gather, "dim") == 1);
  const Call* named =
      ops.author("tensor.gather", {x},
                 {Ops::by_name("dim", AuthoringArg(ops.index(-1))), Ops::by_name("index", AuthoringArg(ix))});
  REQUIRE(keyword(named, "dim") == -1);
  const Call* scatter = ops.author("scatter", {x, ops.index(-1), ix, src});
  REQUIRE(scatter->args.size() == 3);
  REQUIRE(keyword(ops.author("tensor.scatter", {x, ix, src}), "dim") == -1);
  const Var* q = ops.tensor(DType::FP32, {16, 32});
  const Call* spread = ops.author(
      "scatter", {q},
      {Ops::by_name("mask_pattern", AuthoringArg(ops.index(1))), Ops::by_name("dst", AuthoringArg(x))});
  REQUIRE(spread->op == OpId::tensor_scatter_mask);
  REQUIRE(spread->args[1] == x);
  const Var* t = ops.tile(DType::FP32, {16, 64});
  const Var* half = ops.tile(DType::FP32, {16, 32});
  const Call* tiles = ops.author(
      "scatter", {half},
      {Ops::by_name("mask_pattern", AuthoringArg(ops.index(1))), Ops::by_name("dst", AuthoringArg(t))});
  REQUIRE(tiles->op == OpId::tile_scatter_mask);
  REQUIRE(tiles->args[0] == t);
  const Var* run = ops.tile(DType::FP32, {1, 128});
  const Var* out = ops.tile(DType::FP32, {1, 256});
  const Call* merged = ops.author("mrgsort", {run, run}, {Ops::by_name("tmp", AuthoringArg(out))});
  REQUIRE(merged->op == OpId::tile_mrgsort_format2);
  REQUIRE(merged->args.size() == 3);
  REQUIRE(describe(merged->type) == "a Tile FP32 [1, 256]");
  const Call* slice = ops.author("tensor.slice", {x, ops.tuple({1, 64}), ops.tuple({0, 0})},
                                 {Ops::by_name("drop_dims", AuthoringArg(ops.tuple({0})))});
  REQUIRE(slice->args.size() == 5);
  REQUIRE(dyn<MakeTuple>(slice->args[3])->elements.empty());
  const Call* full =
      ops.author("full", {ops.tuple({16, 64}), Ops::value(AttrValue::of_dtype(DType::FP16)), ops.real(1.5)});
  REQUIRE(describe(full->type) == "a Tensor FP16 [16, 64]");
}

TEST_CASE("constants take the dtype of the elements beside them") {
  Ops ops;
  const auto second = [&](const Expr* first, std::string_view name, const Expr* value) {
    const Call* call = ops.author(name, {first, value});
    return call != nullptr ? constant(call->args[1]) : ops.messages();
  };
  REQUIRE(second(ops.tile(DType::INT32, {16, 64}), "add", ops.index(2)) == "2 INT32");
  REQUIRE(second(ops.tile(DType::FP16, {16, 64}), "add", ops.index(2)) == "2 FP16");
  REQUIRE(second(ops.tile(DType::FP16, {16, 64}), "add", ops.real(2)) == "2 FP32");
  REQUIRE(second(ops.tensor(DType::FP32, {16, 64}), "maximum", ops.index(0)) == "0 FP32");
  REQUIRE(second(ops.tensor(DType::UINT32, {16, 64}), "tensor.ands", ops.index(255)) == "255 UINT32");
  REQUIRE(second(ops.tensor(DType::BOOL, {16, 64}), "tensor.adds", ops.index(1)) == "1 FP32");
  REQUIRE(second(ops.tile(DType::FP16, {16, 64}), "tile.lrelu", ops.index(1)) == "1 FP32");
  REQUIRE(second(ops.tile(DType::FP32, {1, 256}), "mrgsort", ops.index(64)) == "64 INT32");
  REQUIRE(constant(ops.author("tile.ci", {ops.index(0), ops.tuple({1, 64})},
                              {Ops::by_name("dtype", AttrValue::of_dtype(DType::INT16))})
                       ->args[0]) == "0 INT16");
  REQUIRE(constant(ops.author("tile.tri", {ops.index(0), ops.tuple({16, 64})})->args[0]) == "0 INT32");
  const Call* sels =
      ops.author("tile.sels", {ops.tile(DType::UINT8, {16, 32}), ops.tile(DType::UINT16, {16, 64}),
                               ops.tile(DType::UINT8, {1, 64}), ops.index(3)});
  REQUIRE(constant(sels->args[3]) == "3 INT16");
  const Call* pipe = ops.author("aic_initialize_pipe", {},
                                {Ops::by_name("dir_mask", AuthoringArg(ops.index(1))),
                                 Ops::by_name("slot_size", AuthoringArg(ops.index(512)))});
  REQUIRE(pipe->args.size() == 2);
  REQUIRE(constant(pipe->args[1]) == "0 INT32");
  REQUIRE_REPORT(ops, ops.author("add", {ops.tile(DType::INT32, {16, 64}), ops.scalar("n", DType::INDEX)}),
                 "is an INDEX value and the elements are INT32");
  const Var* arr = ops.var("arr", ops.ctx.array(DType::INT32, 8));
  REQUIRE(constant(ops.author("array.update_element", {arr, ops.index(0), ops.index(5)})->args[2]) ==
          "5 INT32");
}

TEST_CASE("wrong values of keywords name what is allowed") {
  Ops ops;
  const Var* t = ops.tile(DType::FP32, {16, 64});
  const auto cast = [&](std::vector<AuthoringKeyword> keywords) {
    keywords.push_back(Ops::by_name("target_type", AttrValue::of_dtype(DType::FP16)));
    return ops.author("cast", {t}, keywords);
  };
  REQUIRE_REPORT(ops, cast({Ops::by_name("mode", Ops::word("ruond"))}), "did you mean 'round'");
  REQUIRE_REPORT(ops, cast({Ops::by_name("mode", Ops::word("nearest"))}),
                 "none, rint, round, floor, ceil, trunc, odd");
  REQUIRE_REPORT(ops, cast({Ops::by_name("mode", AuthoringArg(ops.index(7)))}), "'7' is no value");
  REQUIRE_REPORT(ops, ops.author("tile.cast", {t}), "needs the keyword 'target_type'");
  REQUIRE_REPORT(
      ops,
      ops.author("create_tile", {ops.tuple({16, 64})}, {Ops::by_name("dtype", AuthoringArg(ops.index(3)))}),
      "must be a dtype, such as pl.FP32, found 3");
  const Var* sig = ops.window(DType::INT32, {4});
  REQUIRE_REPORT(ops,
                 ops.author("pld.system.notify", {sig, ops.index(0), ops.tuple({0}), ops.index(1)},
                            {Ops::by_name("op", Ops::word("Sum"), "ReduceOp")}),
                 "found ReduceOp.Sum");
  REQUIRE_REPORT(ops, ops.author("pld.system.notify", {sig, ops.index(0), ops.tuple({0}), ops.index(1)}),
                 "one of AtomicAdd, Set");
  REQUIRE_REPORT(ops, ops.author("add", {t, Ops::value(AttrValue::of_dtype(DType::FP32))}), "a dtype");
  REQUIRE_REPORT(ops, ops.author("tile.add", {t, ops.tensor(DType::FP32, {16, 64})}),
                 "operand 'rhs' of tile.add must be a Tile");
}

TEST_CASE("names of cores and barriers are stored in the op's own words") {
  Ops ops;
  const auto core = [&](std::string_view op, std::vector<AuthoringKeyword> keywords, AttrValue value,
                        std::string_view type) {
    keywords.push_back(Ops::by_name("core_type", value, type));
    return std::string(find_attr(ops.author(op, {}, keywords)->kwargs, "core_type")->text);
  };
  const std::vector<AuthoringKeyword> event{Ops::by_name("pipe", Ops::word("V"), "PipeType"),
                                            Ops::by_name("event_id", AuthoringArg(ops.index(1)))};
  REQUIRE(core("system.syncall", {}, Ops::word("AIV"), "KernelType") == "aiv_only");
  REQUIRE(core("system.syncall", {}, Ops::word("aic_only"), "") == "aic_only");
  REQUIRE(core("system.sync_set", event, Ops::word("AIC"), "KernelType") == "aic");
  REQUIRE(std::string(find_attr(ops.author("system.syncall", {})->kwargs, "core_type")->text) == "mix");
}

TEST_CASE("an allocation by shape") {
  Ops ops;
  const AuthoringKeyword fp32 = Ops::by_name("dtype", AttrValue::of_dtype(DType::FP32));
  const Var* n = ops.scalar("n", DType::INDEX);
  const auto size = [&](const Expr* shape) {
    return ops.author("pld.alloc_window_buffer", {shape}, {fp32})->args[0];
  };
  REQUIRE(constant(size(ops.tuple({256}))) == "1024 INT64");
  REQUIRE(constant(size(ops.tuple({2, 3, 4}))) == "96 INT64");
  const Expr* product = size(ops.tuple_of({n, ops.index(8)}));
  REQUIRE(describe(product) == "n * 8 * 4");
  REQUIRE(scalar_dtype(product->type) == DType::INT64);
  REQUIRE(constant(dyn<Binary>(product)->rhs) == "4 INT64");
  const Call* bytes = ops.author("pld.alloc_window_buffer", {ops.index(1024)});
  REQUIRE(constant(bytes->args[0]) == "1024 INDEX");
  REQUIRE(bytes->type->kind == TypeKind::Ptr);
  const Call* named = name_allocation(ops.ctx, bytes, "buf");
  REQUIRE(find_attr(named->kwargs, "name")->text == "buf");

  REQUIRE_REPORT(ops, ops.author("pld.alloc_window_buffer", {ops.tuple({256})}), "requires dtype=");
  REQUIRE_REPORT(ops, ops.author("pld.alloc_window_buffer", {ops.index(1024)}, {fp32}), "takes no dtype");
  REQUIRE_REPORT(ops, ops.author("pld.alloc_window_buffer", {ops.tuple({})}, {fp32}),
                 "shape must be non-empty");
  REQUIRE_REPORT(ops, ops.author("pld.alloc_window_buffer", {ops.tuple({4, 0})}, {fp32}),
                 "all dimensions must be positive");
  REQUIRE_REPORT(
      ops, ops.author("pld.alloc_window_buffer", {ops.index(64)}, {Ops::by_name("name", Ops::word("b"))}),
      "takes no name=");
  REQUIRE_REPORT(ops, ops.author("pld.alloc_window_buffer", {}), "needs the operand 'size'");
}

TEST_CASE("builtin collectives cannot be called by hand") {
  Ops ops;
  const Var* sig = ops.window(DType::INT32, {4});
  REQUIRE_REPORT(ops, ops.author("builtin.tensor.barrier", {sig}), "internal-only");
}

TEST_CASE("the collectives that make their own signal") {
  Ops ops;
  const Var* w = ops.window(DType::FP32, {4, 8});
  const Var* mine = ops.tensor(DType::FP32, {1, 8});
  int counter = 0;
  const auto wrap = [&](std::string_view name, std::vector<AuthoringArg> args,
                        std::vector<AuthoringKeyword> keywords = {}) {
    const AuthoringCall call = ops.written(name, std::move(args), std::move(keywords));
    REQUIRE(is_ergonomic_wrapper(call));
    return author_wrapper(ops.ctx, ops.diags, call, counter);
  };
  const auto signal_shape = [](const AuthoredWrapper& made) {
    return describe(static_cast<const TensorType*>(argument(made.call, "signal")->type)->shape);
  };
  const auto mesh = wrap("pld.all_reduce", {w}, {Ops::by_name("op", Ops::word("Max"), "ReduceOp")});
  REQUIRE(mesh.call->op == OpId::pld_tensor_allreduce);
  REQUIRE(mesh.hoisted.empty());
  REQUIRE(mesh.call->args.size() == 1);
  REQUIRE(keyword(mesh.call, "op") == 1);
  REQUIRE(counter == 0);

  const auto ring =
      wrap("pld.all_reduce", {w},
           {Ops::by_name("mode", Ops::word("ring")), Ops::by_name("nranks", AuthoringArg(ops.index(4)))});
  REQUIRE(signal_shape(ring) == "[7, 4]");
  REQUIRE(ring.hoisted.size() == 1);
  const auto* alloc = dyn<AssignStmt>(ring.hoisted[0]);
  REQUIRE(alloc->var->name.text() == "__auto_all_reduce_0");
  REQUIRE(constant(dyn<Call>(alloc->value)->args[0]) == "112 INT64");
  REQUIRE(find_attr(dyn<Call>(alloc->value)->kwargs, "name")->text == "__auto_all_reduce_0");
  REQUIRE(op_call(argument(ring.call, "signal"), OpId::pld_tensor_window)->args[0] == alloc->var);

  const auto gathered = wrap("pld.all_gather", {mine, w});
  REQUIRE(gathered.call->op == OpId::pld_tensor_allgather);
  REQUIRE(signal_shape(gathered) == "[pld.system.world_size(...), 1]");
  REQUIRE(dyn<AssignStmt>(gathered.hoisted[0])->var->name.text() == "__auto_all_gather_1");
  REQUIRE(describe(dyn<Call>(dyn<AssignStmt>(gathered.hoisted[0])->value)->args[0]) ==
          "pld.system.world_size(...) * 1 * 4");
  REQUIRE(signal_shape(wrap("pld.reduce_scatter", {w})) == "[pld.system.world_size(...)]");
  REQUIRE(signal_shape(wrap("pld.broadcast", {w}, {Ops::by_name("root", AuthoringArg(ops.index(1)))})) ==
          "[pld.system.world_size(...)]");
  const Var* u = ops.window(DType::FP32, {4, 8}, "u");
  REQUIRE(signal_shape(wrap("pld.all_to_all", {u, w})) == "[pld.system.world_size(...), 1]");
  const Var* counts = ops.window(DType::INT32, {2, 1});
  const auto exchange =
      wrap("pld.all_to_all_v", {u, w, counts, counts}, {Ops::by_name("nranks", AuthoringArg(ops.index(2)))});
  REQUIRE(signal_shape(exchange) == "[2, 1]");
  REQUIRE(counter == 6);
  REQUIRE(ops.messages().empty());

  REQUIRE_REPORT(ops, wrap("pld.all_reduce", {w}, {Ops::by_name("mode", Ops::word("auto"))}).call,
                 "'mesh' or 'ring', found 'auto'");
  REQUIRE_REPORT(ops, wrap("pld.all_reduce", {w}, {Ops::by_name("nranks", AuthoringArg(ops.index(4)))}).call,
                 "takes no nranks");
  REQUIRE_REPORT(ops, wrap("pld.all_reduce", {w}, {Ops::by_name("mode", Ops::word("ring"))}).call,
                 "needs nranks=");
  REQUIRE_REPORT(ops,
                 wrap("pld.all_reduce", {w},
                      {Ops::by_name("mode", Ops::word("ring")),
                       Ops::by_name("nranks", AuthoringArg(ops.ctx.const_bool(true)))})
                     .call,
                 "positive integer");
  REQUIRE_REPORT(
      ops,
      wrap("pld.all_reduce", {ops.window(DType::FP16, {4, 8})},
           {Ops::by_name("mode", Ops::word("ring")), Ops::by_name("nranks", AuthoringArg(ops.index(4)))})
          .call,
      "needs Sum and FP32, found Sum and FP16");
  REQUIRE_REPORT(ops, wrap("pld.all_to_all_v", {u, w, counts, counts}).call, "needs the operand 'nranks'");
  REQUIRE_REPORT(ops,
                 wrap("pld.reduce_scatter", {w}, {Ops::by_name("op", Ops::word("Max"), "ReduceOp")}).call,
                 "must be Sum");
  // With a signal, the same names are the ops themselves.
  const Var* sig = ops.window(DType::INT32, {4});
  REQUIRE_FALSE(is_ergonomic_wrapper(ops.written("pld.broadcast", {w, sig})));
  REQUIRE_FALSE(is_ergonomic_wrapper(ops.written("pld.barrier", {sig})));
  REQUIRE_FALSE(is_ergonomic_wrapper(ops.written("pld.tensor.broadcast", {w})));
}

TEST_CASE("subscripts") {
  Ops ops;
  const Var* x = ops.tensor(DType::FP32, {4, 16, 64});
  const Var* i = ops.scalar("i", DType::INDEX);
  const auto at = [](const Expr* e) { return AuthoringIndex{e, nullptr, false, {}}; };
  const auto range = [](const Expr* a, const Expr* b) { return AuthoringIndex{a, b, true, {}}; };
  const auto sub = [&](const Expr* base, const std::vector<AuthoringIndex>& indices) {
    return author_subscript(ops.ctx, ops.diags, base, indices, {});
  };
  const auto* row = dyn<Call>(sub(x, {at(i)}));
  REQUIRE(row->op == OpId::tensor_slice);
  REQUIRE(describe(row->args[1]) == "[1, 16, 64]");
  REQUIRE(describe(row->args[2]) == "[i, 0, 0]");
  REQUIRE(describe(row->args[4]) == "[0]");
  REQUIRE(describe(row->type) == "a Tensor FP32 [16, 64]");
  const auto* part =
      dyn<Call>(sub(x, {at(i), range(ops.index(4), ops.index(8)), range(nullptr, ops.index(32))}));
  REQUIRE(describe(part->args[1]) == "[1, 4, 32]");
  REQUIRE(describe(part->args[2]) == "[i, 4, 0]");
  const auto* plain = dyn<Call>(sub(x, {range(ops.index(1), nullptr)}));
  REQUIRE(plain->args.size() == 3);
  REQUIRE(describe(plain->args[1]) == "[3, 16, 64]");
  REQUIRE(dyn<Call>(sub(x, {at(i), at(i), at(i)}))->op == OpId::tensor_read);
  const Var* arr = ops.var("arr", ops.ctx.array(DType::INT32, 8));
  REQUIRE(dyn<Call>(sub(arr, {at(i)}))->op == OpId::array_get_element);
  const Expr* stored = author_store_subscript(ops.ctx, ops.diags, arr, {at(i)}, ops.index(3), {});
  REQUIRE(constant(dyn<Call>(stored)->args[2]) == "3 INT32");
  REQUIRE_REPORT(ops, sub(x, {at(i), at(i), at(i), at(i)}), "4 indices for a value of rank 3");
  REQUIRE_REPORT(ops, sub(x, {range(ops.index(4), ops.index(4))}), "empty");
  REQUIRE_REPORT(ops, sub(arr, {range(nullptr, nullptr)}), "one index");
  REQUIRE_REPORT(ops, sub(i, {at(i)}), "no elements to index");
}

TEST_CASE("operators on scalars widen the narrower operand") {
  Ops ops;
  const Var* v = ops.scalar("v", DType::INT32);
  const Var* n = ops.scalar("n", DType::INDEX);
  const Var* wide = ops.scalar("w", DType::INT64);
  const Var* f = ops.scalar("f", DType::FP32);
  const auto make = [&](BinaryOp op, const Expr* a, const Expr* b) {
    return dyn<Binary>(author_binary(ops.ctx, ops.diags, op, a, b, {}));
  };
  const Binary* sum = make(BinaryOp::Add, v, ops.index(1));
  REQUIRE(scalar_dtype(sum->type) == DType::INDEX);
  REQUIRE(sum->lhs->kind == ExprKind::Cast);
  REQUIRE(sum->rhs->kind == ExprKind::ConstInt);
  REQUIRE(make(BinaryOp::Add, n, wide)->rhs == wide);
  REQUIRE(scalar_dtype(make(BinaryOp::Lt, v, n)->type) == DType::BOOL);
  REQUIRE(make(BinaryOp::Mul, f, ops.real(2)) != nullptr);
  REQUIRE_REPORT(ops, make(BinaryOp::Mul, f, ops.index(2)), "2.0");
  REQUIRE_REPORT(ops, make(BinaryOp::BitAnd, f, f), "integers");
  REQUIRE_REPORT(ops, make(BinaryOp::Eq, ops.ctx.const_bool(true), v), "and, or, not");
  REQUIRE_REPORT(ops, make(BinaryOp::Add, ops.tile(DType::FP32, {16, 64}), v), "pl.add");
  REQUIRE(scalar_result(ops, "add", {v, v})->kind == ExprKind::Binary);
  REQUIRE(dyn<Binary>(scalar_result(ops, "maximum", {n, ops.index(0)}))->op == BinaryOp::Max);
  REQUIRE(scalar_result(ops, "neg", {v})->kind == ExprKind::Unary);
}
