// The round-trip gaps of the reference implementation, by their numbers in format.md section 8: G1 to G24, which
// concern values, types, attributes and scopes. Each case is what the section recommends instead.
#include <cmath>

#include "ir/same.h"
#include "support/check.h"
#include "unit/frontend/text_fixture.h"

using namespace texttest;

namespace {

constexpr const char* kThree =
    "a: pl.Scalar[pl.INDEX], b: pl.Scalar[pl.INDEX], c: pl.Scalar[pl.INDEX], p: pl.Scalar[pl.BOOL]";
constexpr const char* kTensor = "x: pl.Tensor[[16, 64], pl.FP32]";
constexpr const char* kT = "pl.Tensor[[16, 64], pl.FP32]";

// A program of one function `main(self, n)` with this body, made without any text.
struct Built {
  Context context;
  const Var* n;
  Built() : n(context.var(context.name("n"), context.scalar(DType::INDEX))) {}
  Module module(const std::vector<const Stmt*>& body, std::vector<const Var*> params = {}) {
    if (params.empty()) params = {n};
    std::vector<Param> list;
    for (const Var* v : params) list.push_back({v, ParamDirection::In, {}});
    Function f{};
    f.name = context.name("main");
    f.params = context.list(list);
    f.body = context.list(body);
    Program p{};
    p.name = context.name("P");
    p.functions = context.list({context.make(f)});
    Module m;
    m.program = context.make(p);
    return m;
  }
  std::string print(const std::vector<const Stmt*>& body, std::vector<const Var*> params = {}) {
    return pldc::print(module(body, std::move(params)), PrintOptions{});
  }
  const Var* var(const char* name, const Type* type) { return context.var(context.name(name), type); }
};

}  // namespace

TEST_CASE("G1 power, the bit operators and xor are read; xor has a spelling of each dialect") {
  for (const char* text : {"a ** b", "a & b", "a | b", "a ^ b", "a ** b & c ^ a | b"}) {
    unchanged("v: pl.Scalar[pl.INDEX] = " + std::string(text), kThree);
  }
  const std::string dump = in_main("v: pl.Scalar[pl.BOOL] = pl._dump.logical_xor(p, a < b)", kThree);
  const std::string legacy = in_main("v: pl.Scalar[pl.BOOL] = p xor a < b", kThree);
  const Read a(dump);
  const Read b(legacy);
  INFO(a.errors << b.errors);
  REQUIRE(a.good());
  REQUIRE(b.good());
  const auto* xor_node = dyn<Binary>(statement<AssignStmt>(b)->value);
  REQUIRE(xor_node != nullptr);
  CHECK(xor_node->op == BinaryOp::Xor);
  CHECK(same(a.module.program, b.module.program));
  CHECK(a.printed(Dialect::Legacy) == legacy);
  CHECK(b.printed(Dialect::Dump) == dump);
  CHECK(b.printed() == legacy);
}

TEST_CASE("G2 abs is a node of its own") {
  const Read r(in_main("v: pl.Scalar[pl.INDEX] = abs(a - b)", kThree));
  const auto* abs_node = dyn<Unary>(statement<AssignStmt>(r)->value);
  REQUIRE(abs_node != nullptr);
  CHECK(abs_node->op == UnaryOp::Abs);
  unchanged("v: pl.Scalar[pl.INDEX] = abs(a - b)", kThree);
}

TEST_CASE("G3 tensor.add of a constant prints as tensor.adds, which is stable") {
  Built b;
  const Type* type =
      b.context.tensor(TypeKind::Tensor, DType::FP32, b.context.list<const Expr*>({b.context.const_int(4)}));
  const Var* x = b.var("x", type);
  const Call* add = b.context.call(
      OpId::tensor_add, b.context.list<const Expr*>({x, b.context.const_float(2.0)}), {}, {}, type);
  const std::string text = b.print({b.context.assign(b.var("y", type), add)}, {x});
  CHECK(has(text, "y: pl.Tensor[[4], pl.FP32] = pl.tensor.adds(x, 2.0)"));
  const Read r(text);
  const auto* call = dyn<Call>(statement<AssignStmt>(r)->value);
  REQUIRE(call != nullptr);
  CHECK(call->op == OpId::tensor_adds);
  CHECK(r.printed() == text);
}

TEST_CASE("G4 a chained comparison groups to the left") {
  const Read r(in_main("v: pl.Scalar[pl.BOOL] = a < b < c", kThree));
  const auto* outer = dyn<Binary>(statement<AssignStmt>(r)->value);
  REQUIRE(outer != nullptr);
  CHECK(dyn<Binary>(outer->lhs) != nullptr);
  CHECK(dyn<Var>(outer->rhs) != nullptr);
  unchanged("v: pl.Scalar[pl.BOOL] = a < b < c == p", kThree);
}

TEST_CASE("G5 a yield at the top of a function prints as a return") {
  Built b;
  const std::string text =
      b.print({b.context.yield(b.context.list<const Expr*>({b.n, b.context.const_int(1)}))});
  CHECK(has(text, "\n        return n, 1"));
  const Read r(text);
  CHECK(statement<ReturnStmt>(r)->values.size() == 2);
  CHECK(r.printed() == text);
}

TEST_CASE("G6 a minus before a literal belongs to the constant") {
  for (const char* text : {"-5", "-5 ** a", "a - -5", "--5", "-(-5)"}) {
    const Read r(in_main("v: pl.Scalar[pl.INDEX] = " + std::string(text), kThree));
    INFO(text << r.errors);
    REQUIRE(r.good());
    const Read again(r.printed());
    REQUIRE(again.good());
    CHECK(again.printed() == r.printed());
  }
  const Read r(in_main("v: pl.Scalar[pl.INDEX] = -5"));
  CHECK(const_int(statement<AssignStmt>(r)->value) == -5);
  // The negation of a power keeps its parentheses, or it would read as the power of a negative constant.
  for (const char* text : {"-(5 ** a)", "-5 ** a", "-(-5 ** a)", "-a ** 2"})
    text_unchanged(in_main("v: pl.Scalar[pl.INDEX] = " + std::string(text), kThree));
  text_unchanged(in_main("v: pl.Scalar[pl.FP32] = -(2.5 ** f)", "f: pl.Scalar[pl.FP32]"));
  // Made by a pass, the negation of a constant reads as the constant: the text is the same.
  Built b;
  const std::string text = b.print({b.context.assign(b.var("v", b.context.scalar(DType::INDEX)),
                                                     b.context.unary(UnaryOp::Neg, b.context.const_int(5)))});
  CHECK(has(text, "= -5"));
  text_unchanged(text);
}

TEST_CASE("G7 inf and nan are read wherever a number stands") {
  for (const char* text : {"inf", "-inf", "nan", "-nan"}) {
    const Read r(in_main("v: pl.Scalar[pl.FP32] = " + std::string(text)));
    INFO(text << r.errors);
    REQUIRE(r.good());
    CHECK(r.printed(Dialect::Legacy) == in_main("v: pl.Scalar[pl.FP32] = " + std::string(text)));
  }
  unchanged(
      "y: pl.Tensor[[4], pl.FP32] = pl.tensor.create([4], dtype=pl.FP32, layout=pl.TensorLayout.ND, "
      "init_value=inf)");
  unchanged(
      "y: pl.Tensor[[4], pl.FP32] = pl.tensor.create([4], dtype=pl.FP32, layout=pl.TensorLayout.ND, "
      "init_value=-inf)");
  unchanged("for i in pl.range(4, attrs={\"limit\": inf}):\n    pass");
  unchanged("pl.system.bar_all(attrs={\"limit\": nan})");
}

TEST_CASE("G8 domains, window references and logical names are in the dump text") {
  text_unchanged(
      "# pypto.program: P\nimport pypto.language as pl\nimport pypto.language.distributed as pld\n\n"
      "@pl.program\nclass P:\n    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
      "    def host(self):\n"
      "        with pl._dump.comm_domain(name=\"comm_d0\", devices=[0, 1], slots=[pl._dump.window_buffer("
      "\"halo__ssa_v0_window\", base=\"halo__ssa_v0\", size=64, load_from_host=True, store_to_host=False)], "
      "attrs={\"k\": -1}):\n"
      "            halo__ssa_v0: pl.Ptr = pl._dump.alloc_window_buffer(64, name='halo')\n"
      "            v: pld.DistributedTensor[[16], pl.FP32, pl._dump.window_ref(\"halo__ssa_v0_window\")] = "
      "pl._dump.call(\"pld.tensor.window\", [halo__ssa_v0, [16]], pld.DistributedTensor[[16], pl.FP32, "
      "pl._dump.window_ref(\"halo__ssa_v0_window\")], kwargs={\"dtype\": pl.FP32})\n"
      "            return 0");
}

TEST_CASE("G9 empty bodies: pass in dump, nothing in legacy, fillers with their empty line") {
  const std::string dump =
      in_main("with pl.scope(mode=pl.ScopeMode.MANUAL):\n    pass\nwith pl.cluster():\n    pass\nreturn n");
  text_unchanged(dump);
  const Read r(dump);
  const std::string legacy = r.printed(Dialect::Legacy);
  CHECK(has(legacy,
            "with pl.scope(mode=pl.ScopeMode.MANUAL):\n\n        with pl.cluster():\n\n        return n"));
  const Read back(legacy);
  INFO(back.errors);
  REQUIRE(back.good());
  CHECK(same(r.module.program, back.module.program));
  CHECK(back.printed(Dialect::Legacy) == legacy);
  // The fillers of regions whose only statement is the binding that the header shows.
  text_unchanged(
      in_main("for b in pl.spmd(4):\n    pass\n\nfor v in pl.split_aiv(2, mode=pl.SplitMode.NONE):\n    "
              "pass\n\nreturn n"));
  // A program without functions ends with its class line.
  text_unchanged("# pypto.program: P\nimport pypto.language as pl\n\n@pl.program\nclass P:\n");
}

TEST_CASE("G10 the value of tile.full keeps its dtype, that of tensor.full is bare") {
  text_unchanged(
      in_kernel("t: pl.Tile[[16, 16], pl.FP16, pl.Mem.Vec] = pl.tile.full([16, 16], dtype=pl.FP16, "
                "value=pl.const(1.0, pl.FP32))\n"
                "u: pl.Tile[[16, 16], pl.FP16, pl.Mem.Vec] = pl.tile.full([16, 16], dtype=pl.FP16, "
                "value=pl.const(0, pl.INDEX))",
                kTensor));
  unchanged("y: pl.Tensor[[4], pl.FP16] = pl.tensor.full([4], dtype=pl.FP16, value=1.5)");
  unchanged("y: pl.Tensor[[4], pl.FP16] = pl.tensor.full([4], dtype=pl.FP16, value=0)");
}

TEST_CASE("G11 what a scope's text does not show is rebuilt with its defaults") {
  const Read r(in_main(
      "with pl.spmd(4, name_hint=\"h_spmd\") as tid:\n    b: pl.Scalar[pl.INDEX] = pl.tile.get_block_idx()"));
  INFO(r.errors);
  REQUIRE(r.good());
  const auto* spmd = dyn_scope(statement<ScopeStmt>(r, 1), ScopeKind::Spmd);
  REQUIRE(spmd != nullptr);
  const auto* carrier = dyn_scope(spmd->body[0], ScopeKind::InCore);
  REQUIRE(carrier != nullptr);
  CHECK(carrier->attrs.empty());
  CHECK(!carrier->split.has_value());
  CHECK(r.printed() == in_main("with pl.spmd(4, name_hint=\"h_spmd\") as tid:\n    b: pl.Scalar[pl.INDEX] = "
                               "pl.tile.get_block_idx()"));
}

TEST_CASE("G11 a carrier whose name does not follow from its scope's is written out") {
  for (const char* const hint : {"", ", name_hint=\"a\"", ", name_hint=\"a_spmd\""}) {
    const std::string text = std::string("with pl.spmd(4") + hint +
                             "):\n    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"mixed\"):\n"
                             "        b: pl.Scalar[pl.INDEX] = pl.tile.get_block_idx()";
    unchanged(text);
  }
}

TEST_CASE("G12 comments of the binding that a header shows are not printed") {
  Built b;
  const auto comments = b.context.list<std::string_view>({"why"});
  const Type* index = b.context.scalar(DType::INDEX);
  ScopeStmt region{};
  region.kind = StmtKind::Scope;
  region.scope = ScopeKind::SplitAiv;
  region.split = SplitMode::NONE;
  const Call* lane = b.context.call(OpId::tile_get_subblock_idx, {}, {}, {}, index);
  region.body = b.context.list<const Stmt*>({b.context.assign(b.var("v", index), lane, {}, comments),
                                             b.context.assign(b.var("w", index), b.n, {}, comments)});
  const std::string text = b.print({b.context.make(region)});
  CHECK(has(text, "for v in pl.split_aiv(2, mode=pl.SplitMode.NONE):\n            # why\n            w: "));
  text_unchanged(text);
}

TEST_CASE("G13 comments after the last statement of a block are dropped, with a warning") {
  const Read r(in_main("if n < 3:\n    v: pl.Scalar[pl.INDEX] = n\n    # gone\nreturn n\n# gone too"));
  REQUIRE(r.good());
  CHECK(has(r.errors, "PLD0244"));
  CHECK(r.printed() == in_main("if n < 3:\n    v: pl.Scalar[pl.INDEX] = n\nreturn n"));
}

TEST_CASE("G14 parameters have any type") {
  for (const char* type :
       {"pl.Ptr", "pl._dump.Unknown", "pl.MemRefType", "pl._dump.WindowBuffer", "pld.CommCtx",
        "pl.PrefetchAsyncContext", "pl.AsyncEvent", "pl.AsyncSession", "pl.Array[4, pl.INT32]",
        "pl.Tuple[()]", "pl.Tuple[pl.Tuple[pl.Ptr, pl.Scalar[pl.BOOL]], pl.Tensor[[], pl.FP32]]"}) {
    const Read r(in_main("return", "p: " + std::string(type)));
    INFO(type << "\n" << r.errors);
    REQUIRE(r.good());
    CHECK(has(r.printed(Dialect::Dump), "p: " + std::string(type) + ")"));
  }
  for (const char* type : {"pl.UnknownType", "pld.WindowBufferType", "pld.CommCtxType"}) {
    text_unchanged(in_main("return", "p: " + std::string(type)));
  }
}

TEST_CASE("G15 ops without a wrapper are read by the table") {
  const std::string d = "pld.DistributedTensor[[4], pl.FP32]";
  for (const std::string& text :
       {std::string("v: pl.Scalar[pl.BOOL] = pl.system.task_is_valid(t)"),
        std::string("y: pl.Tensor[[16, 64], pl.FP32] = pl.tensor.aiv_shard(x, split=1)"),
        std::string("y: pl.Tensor[[16, 64], pl.FP32] = pl.tensor.aic_gather(x, split=2)"),
        "w2: " + d +
            " = pl.builtin.tensor.allreduce(w, s, op=0, dtype=pl.FP32, core_num=1, attrs={\"device\": n})",
        "w2: " + d + " = pl.builtin.tensor.allreduce_ring(w, s, op=0, dtype=pl.FP32)",
        "w2: " + d + " = pl.builtin.tensor.broadcast(w, s, root=0, dtype=pl.FP32)",
        "w2: " + d + " = pl.builtin.tensor.reduce_scatter(w, s, op=0, dtype=pl.FP32)",
        "w2: " + d + " = pl.builtin.tensor.allgather(w, w, s, dtype=pl.FP32)",
        "w2: " + d + " = pl.builtin.tensor.all_to_all(w, w, s, dtype=pl.FP32)",
        "w2: " + d + " = pl.builtin.tensor.all_to_all_v(w, w, s, s, s, dtype=pl.FP32)",
        std::string("pl.builtin.tensor.barrier(s)"),
        std::string("f: pl.UnknownType = pl.dist.future_get(x)"),
        std::string("f: pl.UnknownType = pl.dist.make_tensor(x, n)"),
        std::string("pl.dist.submit_orchestrator(x)"),
        std::string("pl.dist.submit_worker(x)"),
        std::string("pl.dist.tree_reduce(x, x)"),
        std::string("y: pl.Tensor[[16, 64], pl.FP32] = pl.test.op(x, x, int_attr=1, string_attr='s', "
                    "bool_attr=True)"),
        std::string("y: pl.Tensor[[16, 64], pl.FP32] = pl.test.tensor_op_no_conv(x)"),
        std::string("y: pl.Tensor[[16, 64], pl.FP32] = pl.test.deduce_raises_type(x)"),
        std::string("y: pl.Tensor[[16, 64], pl.FP32] = pl.test.deduce_raises_internal(x)")}) {
    unchanged(text, "x: pl.Tensor[[16, 64], pl.FP32], n: pl.Scalar[pl.INDEX], t: pl.Scalar[pl.TASK_ID], w: " +
                        d + ", s: pld.DistributedTensor[[4], pl.INT32]");
  }
}

TEST_CASE("G16 a composite dim names its variable by the hint") {
  Built b;
  const Type* index = b.context.scalar(DType::INDEX);
  const Var* other = b.var("n", index);  // prints as n_1, and plainly as n inside a composite dim
  const Expr* twice = b.context.binary(BinaryOp::Mul, other, b.context.const_int(2));
  const Type* type = b.context.tensor(TypeKind::Tensor, DType::FP32,
                                      b.context.list({twice, static_cast<const Expr*>(other)}));
  const Var* y = b.var("y", type);
  const std::string text = b.print({b.context.assign(other, b.n), b.context.assign(y, b.var("z", type))});
  CHECK(has(text, "y: pl.Tensor[[n * pl.const(2, pl.INDEX), n_1], pl.FP32] = z__FREE_VAR"));
  text_unchanged(text);
}

TEST_CASE("G17 an unrolled loop with carried values is never printed and never read") {
  Built b;
  const Type* index = b.context.scalar(DType::INDEX);
  const Var* carry = b.context.var(b.context.name("a"), index, {}, true);
  ForStmt loop{};
  loop.kind = StmtKind::For;
  loop.for_kind = ForKind::Unroll;
  loop.loop_var = b.var("i", index);
  loop.start = b.context.const_int(0);
  loop.stop = b.context.const_int(4);
  loop.step = b.context.const_int(1);
  loop.iter_args = b.context.list({IterArg{carry, b.n}});
  loop.return_vars = b.context.list({b.var("a_out", index)});
  loop.body = b.context.list<const Stmt*>({b.context.yield(b.context.list<const Expr*>({carry}))});
  CHECK_THROWS_AS(b.print({b.context.make(loop)}), InternalError);
  CHECK(has(
      errors_of(
          "for i, (a,) in pl.unroll(4, init_values=(n,)):\n    a_out: pl.Scalar[pl.INDEX] = pl.yield_(a)"),
      "PLD0235"));
}

TEST_CASE("G18 types of carries and of several results come from the initial values and yields") {
  const Read r(in_main(
      "for i, (acc, cnt) in pl.range(4, init_values=(x, 0)):\n    acc_out, cnt_out = pl.yield_(acc, cnt)\n"
      "if cnt_out < 3:\n    u, v = pl.yield_(acc_out, cnt_out)\nelse:\n    u, v = pl.yield_(x, 1)",
      kTensor));
  INFO(r.errors);
  const auto* loop = statement<ForStmt>(r);
  CHECK(print_type(loop->iter_args[0].var->type) == kT);
  CHECK(print_type(loop->return_vars[0]->type) == kT);
  CHECK(print_type(loop->return_vars[1]->type) == "pl.Scalar[pl.INDEX]");
  const auto* branch = statement<IfStmt>(r, 1);
  CHECK(print_type(branch->return_vars[0]->type) == kT);
  CHECK(print_type(branch->return_vars[1]->type) == "pl.Scalar[pl.INDEX]");
}

TEST_CASE("G19 strings that their spelling cannot hold are refused") {
  for (const char* text :
       {"with pl.cluster(name_hint=\"a\\\"b\"):\n    return",
        "with pl.cluster(name_hint=\"a\\nb\"):\n    return",
        "b: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='it\\'s', size=4096, base=-1)",
        "with pl.spmd(4, name_hint=\"a\\\\b\"):\n    self.main(n)"}) {
    INFO(text);
    CHECK(has(errors_of(text), "PLD0278"));
  }
  unchanged("with pl.scope(name_hint=\"a\\\"b\\x0a\\\\\"):\n    return");
  unchanged("pl.system.bar_all(attrs={\"k\\\"ey\": \"va\\\\lue\"})");
}

TEST_CASE("G20 a float attribute is a double and keeps all its digits") {
  unchanged(
      "pl.system.bar_all(attrs={\"k\": 0.10000000000000001, \"j\": 1e+100, \"i\": "
      "-4.9406564584124654e-324})");
}

TEST_CASE("G21 an expression attribute that is a constant prints typed, a number stays a number") {
  unchanged(
      "pl.system.bar_all(attrs={\"a\": -1, \"b\": pl.const(-1, pl.INDEX), \"c\": pl.const(2, pl.INT32), "
      "\"d\": n + 1})");
  const Read r(in_main("pl.system.bar_all(attrs={\"a\": -1, \"b\": pl.const(-1, pl.INDEX)})"));
  const auto* call = dyn<Call>(statement<EvalStmt>(r)->value);
  REQUIRE(call != nullptr);
  CHECK(find_attr(call->attrs, "a")->kind == AttrKind::Int);
  CHECK(find_attr(call->attrs, "b")->kind == AttrKind::Expr);
}

TEST_CASE("G22 the extent of an array is a positive literal") {
  for (const char* extent : {"n", "0", "-4", "n + 1"}) {
    INFO(extent);
    const Read r(
        in_main("return", "n: pl.Scalar[pl.INDEX], a: pl.Array[" + std::string(extent) + ", pl.INT32]"));
    CHECK(!r.good());
    CHECK(has(r.errors, "PLD0307"));
  }
}

TEST_CASE("G23 MemRefs do not count for equality, so the text is compared") {
  const std::string one =
      in_main("y: pl.Tensor[[16, 64], pl.FP32, pl.MemRef(\"a\", pl.const(0, pl.INT64), 4096)] = x", kTensor);
  const std::string two =
      in_main("y: pl.Tensor[[16, 64], pl.FP32, pl.MemRef(\"b\", pl.const(64, pl.INT64), 4096)] = x", kTensor);
  const Read a(one);
  const Read b(two);
  REQUIRE(a.good());
  REQUIRE(b.good());
  CHECK(same(a.module.program, b.module.program));
  CHECK(structural_hash(a.module.program) == structural_hash(b.module.program));
  CHECK(a.printed() == one);
  CHECK(b.printed() == two);
}

TEST_CASE("G24 attributes and keywords keep their stored order") {
  unchanged(
      "pl.system.bar_all(attrs={\"z\": 1, \"arg_directions\": [pl.adir.input], \"a\": 2, \"m\": \"s\"})");
  unchanged("y: pl.Tensor[[4], pl.FP32] = pl.tensor.create([4], layout=pl.TensorLayout.ND, dtype=pl.FP32)");
  unchanged(
      "self.main(n, attrs={\"dump_vars\": [n], \"arg_directions\": [pl.adir.scalar], \"z\": 1, \"a\": 2})");
}
