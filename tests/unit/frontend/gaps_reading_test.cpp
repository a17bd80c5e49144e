// The round-trip gaps of the reference implementation, by their numbers in format.md section 8: G25 to G47, which
// concern what printed text is read as. Each case is what the section recommends instead.
#include "ir/same.h"
#include "unit/frontend/text_fixture.h"

using namespace texttest;

namespace {

constexpr const char* kTensor = "x: pl.Tensor[[16, 64], pl.FP32]";

// Without the header line of printed text.
std::string authored(const std::string& statements, const std::string& params = kScalarParams) {
  const std::string text = in_main(statements, params);
  return text.substr(text.find('\n') + 1);
}

const Type* assigned_type(const Read& r, std::size_t index = 0) {
  return statement<AssignStmt>(r, index)->var->type;
}

}  // namespace

TEST_CASE("G25 a name with __FREE_VAR is a variable without a definition") {
  const std::string text = in_main("v: pl.Scalar[pl.INDEX] = m__FREE_VAR + m__FREE_VAR\nreturn v");
  text_unchanged(text);
  const Read r(text);
  const auto* sum = dyn<Binary>(statement<AssignStmt>(r)->value);
  REQUIRE(sum != nullptr);
  CHECK(sum->lhs == sum->rhs);
  CHECK(dyn<Var>(sum->lhs)->name.text() == "m");
}

TEST_CASE("G26 constant dims are INDEX whatever made them") {
  const Read r(in_main("return", "x: pl.Tensor[[16, 64], pl.FP32]"));
  REQUIRE(r.good());
  const auto* type = dyn<TensorType>(r.module.program->functions[0]->params[0].var->type);
  REQUIRE(type != nullptr);
  for (const Expr* dim : type->shape) CHECK(dyn<ConstInt>(dim)->dtype == DType::INDEX);
  // A dim of another dtype prints bare, so its text is stable.
  Context c;
  const Var* x =
      c.var(c.name("x"),
            c.tensor(TypeKind::Tensor, DType::FP32,
                     c.list<const Expr*>({c.const_int(16, DType::INT64), c.const_int(4, DType::INT32)})));
  CHECK(print_type(x->type) == "pl.Tensor[[16, 4], pl.FP32]");
}

TEST_CASE("G27 a rounding mode outside of 0 to 6 is refused") {
  for (const char* mode : {"7", "-1", "'nearest'"}) {
    INFO(mode);
    CHECK(has(errors_of("y: pl.Tensor[[16, 64], pl.FP16] = pl.tensor.cast(x, target_type=pl.FP16, mode=" +
                            std::string(mode) + ")",
                        kTensor),
              "PLD0407"));
  }
  const Read r(
      in_main("y: pl.Tensor[[16, 64], pl.FP16] = pl.tensor.cast(x, target_type=pl.FP16, mode=3)", kTensor));
  INFO(r.errors);
  REQUIRE(r.good());
  CHECK(has(r.printed(), "mode='floor'"));
}

TEST_CASE("G28 names are identifiers and no keywords of Python") {
  for (const char* name : {"class", "lambda", "None", "global", "async", "True", "not"}) {
    INFO(name);
    CHECK(!Read(in_main(std::string(name) + ": pl.Scalar[pl.INDEX] = n")).good());
    CHECK(!Read(in_main("return", std::string(name) + ": pl.Scalar[pl.INDEX]")).good());
    CHECK(!Read(program("@pl.function\ndef " + std::string(name) + "(self):\n    return")).good());
    CHECK(!Read("@pl.program\nclass " + std::string(name) +
                ":\n    @pl.function\n    def f(self):\n        return")
               .good());
    CHECK(!Read(in_main("for " + std::string(name) + " in pl.range(4):\n    pass")).good());
  }
  // Words that are keywords in some places only are names.
  unchanged("match: pl.Scalar[pl.INDEX] = n\ntype: pl.Scalar[pl.INDEX] = match");
}

TEST_CASE("G29 an AUTO scope may stand anywhere") {
  unchanged("with pl.scope():\n    v: pl.Scalar[pl.INDEX] = n");
  unchanged(
      "with pl.scope(mode=pl.ScopeMode.MANUAL):\n    with pl.scope():\n        v: pl.Scalar[pl.INDEX] = n");
  text_unchanged(
      program("@pl.function(auto_scope=False)\ndef main(self, n: pl.Scalar[pl.INDEX]):\n    with "
              "pl.scope():\n        return n"));
}

TEST_CASE("a yield in a manual scope names results that its loop's carries do not tell") {
  unchanged(
      "for i, (s,) in pl.range(4, init_values=(n,)):\n    with pl.scope(mode=pl.ScopeMode.MANUAL):\n"
      "        t: pl.Scalar[pl.INDEX] = s + 1\n        r: pl.Scalar[pl.INDEX] = pl.yield_(t)\nreturn r");
  unchanged(
      "for i, (s__iter_v1,) in pl.range(4, init_values=(n,)):\n    with pl.scope(mode=pl.ScopeMode.MANUAL):\n"
      "        t: pl.Scalar[pl.INDEX] = s__iter_v1 + 1\n        pl.yield_(t)\nreturn s__rv_v2");
  unchanged(
      "if n < 1:\n    with pl.scope(mode=pl.ScopeMode.MANUAL):\n        r: pl.Scalar[pl.INDEX] = "
      "pl.yield_(n)\n"
      "else:\n    r: pl.Scalar[pl.INDEX] = pl.yield_(n)\nreturn r");
}

TEST_CASE("G30 fragments are for display: they name what they name") {
  Context c;
  const Var* n = c.var(c.name("n"), c.scalar(DType::INDEX));
  CHECK(print_expr(c.binary(BinaryOp::Add, n, c.const_int(1))) == "n + 1");
  CHECK(print_type(c.tensor(TypeKind::Tensor, DType::FP32, c.list<const Expr*>({n}))) ==
        "pl.Tensor[[n], pl.FP32]");
}

TEST_CASE("G31 labels of windows are numbered by their first mention, one for each allocation") {
  const auto host = [](const std::string& name, const std::string& label, const std::string& logical) {
    return "@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\ndef " + name +
           "(self):\n    with pl._dump.comm_domain(name=\"comm_d0\", devices=[], "
           "slots=[pl._dump.window_buffer(\"" +
           label +
           "\", base=\"b\", size=64, load_from_host=False, store_to_host=False)]):\n        b: pl.Ptr = "
           "pl._dump.alloc_window_buffer(64, name='" +
           logical + "')\n        return";
  };
  const std::string text = program(host("h1", "b_window", "b") + "\n" + host("h2", "b_window_1", "c") + "\n" +
                                   host("h3", "b_window_2", "d"));
  text_unchanged(text);
  // Other labels are as good on input: they are not kept.
  const Read r(
      program(host("h1", "first", "b") + "\n" + host("h2", "second", "c") + "\n" + host("h3", "third", "d")));
  INFO(r.errors);
  REQUIRE(r.good());
  CHECK(r.printed() == text);
}

TEST_CASE("G32 typed trees of constants stay trees; a person's bare ones fold as in the reference") {
  unchanged("v: pl.Scalar[pl.INDEX] = pl.const(2, pl.INDEX) * pl.const(3, pl.INDEX)");
  unchanged("v: pl.Scalar[pl.BOOL] = pl.const(1, pl.INDEX) < pl.const(2, pl.INDEX)");
  unchanged("v: pl.Tensor[[n * pl.const(2, pl.INDEX) + pl.const(0, pl.INDEX)], pl.FP32] = x",
            "n: pl.Scalar[pl.INDEX], x: pl.Tensor[[n], pl.FP32]");
  const Read r(authored("v = 2 * 3 + n"));
  REQUIRE(r.good());
  CHECK(has(r.printed(), "v: pl.Scalar[pl.INDEX] = 6 + n"));
}

TEST_CASE("G33 the size of a slot and that of its allocation are two expressions, both kept") {
  text_unchanged(program(
      "@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\ndef host(self):\n"
      "    with pl._dump.comm_domain(name=\"comm_d0\", devices=[], "
      "slots=[pl._dump.window_buffer(\"b_window\", base=\"b\", "
      "size=w * pl.const(64, pl.INT64), load_from_host=False, store_to_host=False)]):\n"
      "        w: pl.Scalar[pl.INT64] = pl.const(2, pl.INT64)\n"
      "        b: pl.Ptr = pl._dump.alloc_window_buffer(pl.const(128, pl.INT64), name='b')\n        return"));
}

TEST_CASE("G34 mixed widths gain no cast from reading") {
  const std::string params = "i: pl.Scalar[pl.INT32], n: pl.Scalar[pl.INDEX], h: pl.Scalar[pl.INT16]";
  for (const char* text : {"i + 1", "n * i", "pl.min(i, n)", "i << h", "i < n", "-h", "i // n % h"}) {
    unchanged("v: pl.Scalar[pl.INDEX] = " + std::string(text), params);
  }
  const Read r(in_main("v: pl.Scalar[pl.INDEX] = i + 1", params));
  REQUIRE(r.good());
  CHECK(scalar_dtype(statement<AssignStmt>(r)->value->type) == DType::INDEX);
  // A person's text gets it.
  const Read author(authored("v = i + 1", params));
  REQUIRE(author.good());
  CHECK(has(author.printed(), "= pl.cast(i, pl.INDEX) + 1"));
}

TEST_CASE("G35 printed calls keep their operands, constants and names as written") {
  for (const char* text :
       {"t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [16, 64])",
        "t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [16, 64], [16, 64], "
        "target_memory=pl.Mem.Vec)\n"
        "u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(t, 2)\n"
        "v: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(t, pl.const(2.0, pl.FP16))\n"
        "w: pl.Tile[[16, 64], pl.FP16, pl.Mem.Vec] = pl.tile.cast(t, target_type=pl.FP16)"}) {
    text_unchanged(in_kernel(text, kTensor));
  }
}

TEST_CASE("G36 a body variable and a symbol of one name: the symbol in types, the variable elsewhere") {
  const std::string text =
      "# pypto.program: P\nimport pypto.language as pl\n\nN = pl.dynamic(\"N\")\n\n@pl.program\nclass P:\n   "
      " @pl.function\n"
      "    def main(self, x: pl.Tensor[[N], pl.FP32]):\n        N: pl.Scalar[pl.INDEX] = 3\n"
      "        y: pl.Tensor[[N], pl.FP32] = x\n        m: pl.Scalar[pl.INDEX] = N + 1";
  text_unchanged(text);
  const Read r(text);
  const Var* symbol = dyn<Var>(dyn<TensorType>(assigned_type(r, 1))->shape[0]);
  const Var* variable = statement<AssignStmt>(r, 0)->var;
  REQUIRE(symbol != nullptr);
  CHECK(symbol != variable);
  CHECK(symbol == dyn<TensorType>(r.module.program->functions[0]->params[0].var->type)->shape[0]);
  CHECK(dyn<Binary>(statement<AssignStmt>(r, 2)->value)->lhs == variable);
}

TEST_CASE("G37 an empty else is kept") {
  unchanged("if n < 3:\n    v: pl.Scalar[pl.INDEX] = n\nelse:\n    pass\nreturn n");
}

TEST_CASE("G38 negative numbers are attributes of loops too") {
  unchanged(
      "for i in pl.range(8, attrs={\"z\": -1, \"f\": -3.0, \"b\": False, \"s\": \"q\\\"x\"}):\n    pass");
}

TEST_CASE("G39 the annotation of a single loop yield is the type of the result") {
  const std::string text = in_main(
      "for i, (acc,) in pl.range(4, init_values=(x,)):\n    y: pl.Tensor[[16, 64], pl.FP32, "
      "pl.MemRef(\"mem_1\", pl.const(0, pl.INT64), 4096)] = "
      "pl.yield_(acc)\nreturn y",
      "x: pl.Tensor[[16, 64], pl.FP32, pl.MemRef(\"mem_0\", pl.const(0, pl.INT64), 4096)]");
  text_unchanged(text);
  const Read r(text);
  const auto* loop = statement<ForStmt>(r);
  CHECK(dyn<TensorType>(loop->return_vars[0]->type)->memref->base->name.text() == "mem_1");
  CHECK(dyn<TensorType>(loop->iter_args[0].var->type)->memref->base->name.text() == "mem_0");
  text_unchanged(
      in_main("for (a,) in pl.while_(init_values=(n,)):\n    pl.cond(a < 3)\n    a_out: pl.Scalar[pl.INT64] "
              "= pl.yield_(a + 1)"));
}

TEST_CASE("G40 the offset of a MemRef keeps its dtype") {
  for (const char* offset : {"0", "pl.const(0, pl.INT64)", "pl.const(64, pl.INT32)", "n * 64 * 4"}) {
    unchanged("y: pl.Tensor[[16, 64], pl.FP32, pl.MemRef(\"m\", " + std::string(offset) + ", 4096)] = x",
              "x: pl.Tensor[[16, 64], pl.FP32], n: pl.Scalar[pl.INDEX]");
  }
}

TEST_CASE("G41 calls that the reference's wrappers refuse") {
  const std::string params =
      "x: pl.Tensor[[16, 64], pl.FP32], ix: pl.Tensor[[16, 64], pl.INT32], n: pl.Scalar[pl.INDEX], w: "
      "pld.DistributedTensor[[16, 64], pl.FP16]";
  for (const char* text : {"y: pl.Tensor[[16, 64], pl.FP32] = pl.tensor.gather(x, ix, dim=1)",
                           "y: pl.Tensor[[16, 64], pl.FP32] = pl.tensor.scatter(x, ix, x, dim=1)",
                           "y: pl.Tensor[[64, 16], pl.FP32] = pl.tensor.transpose(x, 0, 1, [n, 16])",
                           "y: pl.Tensor[[64, 16], pl.FP32] = pl.tensor.reshape(x, [64, 16], [n, 16])",
                           "y: pl.Tensor[[16, 1], pl.FP32] = pl.tensor.row_sum(x, axis=-1, keep_dim=True)",
                           "y: pl.Tensor[[64], pl.FP32] = pl.tensor.col_max(x, axis=0, keep_dim=False)",
                           "y: pl.Tensor[[16, 64], pl.FP32] = pl.tensor.matmul_acc(x, x, x, n == 0, "
                           "a_trans=False, b_trans=False)",
                           "t: pl.Tile[[16, 64], pl.FP16] = pld.tile.remote_load(w, n, [0, 0], [16, 64], "
                           "allow_physical_tail_padding=False)"}) {
    const Read r(in_main(text, params));
    INFO(text << "\n" << r.errors);
    REQUIRE(r.good());
    CHECK(r.printed(Dialect::Legacy) == in_main(text, params));
  }
}

TEST_CASE("G42 a store with five operands") {
  text_unchanged(in_kernel(
      "y: pl.Tensor[[1, 16, 64], pl.FP32] = pl.tile.store(t, [0, 0, 0], o, [1, 16, 64], [1, 16, 64])",
      "t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec], o: pl.Out[pl.Tensor[[1, 16, 64], pl.FP32]]"));
}

TEST_CASE("G43 a launch may stand alone") {
  const std::string kernel =
      "@pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)\ndef k(x: "
      "pl.Tensor[[4], pl.FP32]):\n    return\n";
  text_unchanged(
      program(kernel + "@pl.function\ndef main(self, x: pl.Tensor[[4], pl.FP32]):\n    pl.submit(self.k, x)\n"
                       "    pl.spmd_submit(self.k, x, core_num=4, sync_start=True)"));
}

TEST_CASE("G44 a written result type is taken even where the op's rule would refuse the operands") {
  const std::string tile = "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[0, 0])]";
  text_unchanged(
      in_kernel("r: pl.Tile[[16, 1], pl.FP32, pl.Mem.Vec] = pl.tile.row_sum(t, t)\n"
                "e: pl.AsyncEvent = pl.prefetch.async_prefetch(t, c)",
                "t: " + tile + ", c: pl.PrefetchAsyncContext"));
}

TEST_CASE("G45 the import of pld is not needed") {
  const Read r(
      in_main("n: pl.Scalar[pl.INT64] = pld.system.world_size()", "x: pld.DistributedTensor[[4], pl.FP32]"));
  INFO(r.errors);
  REQUIRE(r.good());
  CHECK(r.module.style.dialect == Dialect::Legacy);
  CHECK(has(r.printed(Dialect::Dump), "import pypto.language.distributed as pld\n"));
  CHECK(!has(r.printed(Dialect::Legacy), "import pypto.language.distributed"));
}

TEST_CASE("G46 what the reference restricts to host functions is read anywhere") {
  unchanged("self.main(n, device=n)");
  unchanged("self.main(n, device=2)");
  unchanged("w: pl.Scalar[pl.INT64] = pld.system.world_size()");
  text_unchanged(
      program("@pl.function(external_source=\"no/such/file.cpp\")\ndef ext(self, p: pl.Ptr):\n    ...\n"
              "@pl.function\ndef main(self, p: pl.Ptr, n: pl.Scalar[pl.INDEX]):\n"
              "    with pl.spmd(4, predicate=(n < 3 and n > 0)):\n        self.ext(p)"));
}

TEST_CASE("G47 types of a signature may name its scalar parameters, later ones too") {
  const std::string text = program(
      "@pl.function\ndef main(self, a: pl.Tensor[[n, 16], pl.FP32], n: pl.Scalar[pl.INDEX], b: pl.Tensor[[n "
      "* pl.const(2, pl.INDEX)], pl.FP32]) -> "
      "pl.Tensor[[n], pl.FP32]:\n    return b");
  text_unchanged(text);
  const Read r(text);
  const auto& params = r.module.program->functions[0]->params;
  CHECK(dyn<TensorType>(params[0].var->type)->shape[0] == params[1].var);
}
