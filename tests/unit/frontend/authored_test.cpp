// What a person writes, form by form, and the printed text it means (format.md 2.11, 4.2.1 and the input-only forms;
// decisions D3, D4).
#include "ir/same.h"
#include "unit/frontend/text_fixture.h"

using namespace texttest;

namespace {

constexpr const char* kTensors =
    "x: pl.Tensor[[16, 64], pl.FP32], xi: pl.Tensor[[16, 64], pl.INT32], xh: pl.Tensor[[16, 64], pl.FP16], "
    "n: pl.Scalar[pl.INDEX], "
    "i: pl.Scalar[pl.INT32], f: pl.Scalar[pl.FP32], arr: pl.Array[8, pl.INT32], p: pl.Scalar[pl.BOOL]";
constexpr const char* kTiles =
    "x: pl.Tensor[[16, 64], pl.FP32], t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec], th: pl.Tile[[16, 64], "
    "pl.FP16, pl.Mem.Vec], "
    "ti: pl.Tile[[16, 64], pl.INT32, pl.Mem.Vec], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[16, 64], "
    "pl.FP32]]";

// A person's text: no header line, constants before the class.
std::string authored(const std::string& head, const std::string& statements, const std::string& params,
                     const std::string& before = "", const std::string& after = "") {
  return "import pypto.language as pl\nimport pypto.language.distributed as pld\n" + before +
         "\n@pl.program\nclass P:\n" +
         indented(function(head + "(self, " + params + ")", statements), "    ") +
         (after.empty() ? "" : "\n" + indented(after, "    ")) + "\n";
}

std::string body(const std::string& text) {
  const Read r(text);
  INFO(text << "\n" << r.errors);
  REQUIRE(r.good());
  const std::string printed = r.printed(Dialect::Dump);
  // What is printed reads back to the same text.
  const Read again(printed);
  INFO(printed << "\n" << again.errors);
  REQUIRE(again.good());
  CHECK(again.printed(Dialect::Dump) == printed);
  const std::string lines = body_of(printed);
  std::string out;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string line = lines.substr(begin, end - begin);
    if (line.compare(0, 5, "    @") == 0) break;
    out += (out.empty() ? "" : "\n") + (line.size() > 8 ? line.substr(8) : "");
    begin = end + 1;
  }
  return out;
}

void in_host(const std::string& written, const std::string& printed) {
  INFO(written);
  CHECK(body(authored("@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\ndef main", written,
                      "x: pl.Tensor[[16, 64], pl.FP32]")) == printed);
}

void becomes(const std::string& written, const std::string& printed, const std::string& before = "") {
  INFO(written);
  CHECK(body(authored("@pl.function\ndef main", written, kTensors, before)) == printed);
}

void tiles(const std::string& written, const std::string& printed) {
  INFO(written);
  CHECK(body(authored("@pl.function(type=pl.FunctionType.InCore)\ndef main", written, kTiles)) == printed);
}

const std::string T = "pl.Tensor[[16, 64], pl.FP32]";
const std::string V = "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]";

}  // namespace

TEST_CASE("a short name means the op on what its first operand is") {
  becomes("a = pl.add(x, x)", "a: " + T + " = pl.tensor.add(x, x)");
  becomes("a = pl.exp(x)", "a: " + T + " = pl.tensor.exp(x)");
  tiles("a = pl.exp(t)", "a: " + V + " = pl.tile.exp(t)");
  tiles("a = pl.exp(x)", "a: " + T + " = pl.tensor.exp(x)");
  tiles("a = pl.read(x, [0, 0])", "a: pl.Scalar[pl.FP32] = pl.tensor.read(x, [0, 0])");
  tiles("a = pl.read(t, [0, 0])", "a: pl.Scalar[pl.FP32] = pl.tile.read(t, [0, 0])");
  tiles("a = pl.load(x, [0, 0], [16, 64])",
        "a: " + V + " = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)");
  tiles("a = pl.store(t, [0, 0], y)", "a: " + T + " = pl.tile.store(t, [0, 0], y)");
  tiles("a = pl.move(t, target_memory=pl.MemorySpace.Mat)",
        "a: pl.Tile[[16, 64], pl.FP32, pl.Mem.Mat] = pl.tile.move(t, target_memory=pl.Mem.Mat)");
}

TEST_CASE("names that need no operand, and aliases") {
  becomes("a = pl.create_tensor([16, 64], dtype=pl.FP32)",
          "a: " + T + " = pl.tensor.create([16, 64], dtype=pl.FP32, layout=pl.TensorLayout.ND)");
  becomes("a = pl.full([16, 64], dtype=pl.FP32, value=0)",
          "a: " + T + " = pl.tensor.full([16, 64], dtype=pl.FP32, value=0)");
  becomes("b = pl.get_block_idx()", "b: pl.Scalar[pl.INDEX] = pl.tensor.get_block_idx()");
  tiles("a = pl.create_tile([16, 64], dtype=pl.FP32)",
        "a: " + V + " = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)");
  becomes("a = pl.tensor.arange(0, [1, 64])",
          "a: pl.Tensor[[1, 64], pl.INT32] = pl.tensor.ci(pl.const(0, pl.INT32), [1, 64], dtype=pl.INT32, "
          "descending=False)");
  becomes("a = pl.mrgsort(x, block_len=64)",
          "a: " + T + " = pl.tensor.mrgsort_format1(x, pl.const(64, pl.INT32))");
  becomes("a = pl.gather(x, mask_pattern=2)",
          "a: pl.Tensor[[16, 32], pl.FP32] = pl.tensor.gather_mask(x, mask_pattern=2)");
  tiles("pl.tpush_to_aic(t, split=1)", "pl.tile.tpush_to_aic(t, split=1)");
  tiles("b = pl.reserve_buffer(name='buf', size=4096)",
        "b: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='buf', size=4096, base=-1)");
  tiles("b = pl.reserve_buffer(name='buf', size=4096, base=pl.AUTO)",
        "b: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='buf', size=4096, base=-1)");
}

TEST_CASE("operands and keywords in the order of the wrappers, by position or by name") {
  becomes("a = pl.gather(x, 1, xi)", "a: " + T + " = pl.tensor.gather(x, xi, dim=1)");
  becomes("a = pl.gather(x, dim=1, index=xi)", "a: " + T + " = pl.tensor.gather(x, xi, dim=1)");
  becomes("a = pl.scatter(x, 1, xi, x)", "a: " + T + " = pl.tensor.scatter(x, xi, x, dim=1)");
  becomes("a = pl.cast(x, pl.FP16)",
          "a: pl.Tensor[[16, 64], pl.FP16] = pl.tensor.cast(x, target_type=pl.FP16, mode='round')");
  becomes("a = pl.cast(x, pl.FP16, mode=\"rint\")",
          "a: pl.Tensor[[16, 64], pl.FP16] = pl.tensor.cast(x, target_type=pl.FP16, mode='rint')");
  becomes("a = pl.cast(x, mode=\"floor\", target_type=pl.FP16)",
          "a: pl.Tensor[[16, 64], pl.FP16] = pl.tensor.cast(x, target_type=pl.FP16, mode='floor')");
  becomes("a = pl.array.create(8, pl.INT32)",
          "a: pl.Array[8, pl.INT32] = pl.array.create(8, dtype=pl.INT32)");
  tiles("a = pl.load(x, offsets=[0, 0], shapes=[16, 64])",
        "a: " + V + " = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)");
  becomes("a = pl.matmul(xh, xh, b_trans=True, out_dtype=pl.FP32)",
          "a: pl.Tensor[[16, 16], pl.FP32] = pl.tensor.matmul(xh, xh, a_trans=False, b_trans=True, "
          "c_matrix_nz=False, out_dtype=pl.FP32)");
}

TEST_CASE("enum members and names stand for the numbers that are stored") {
  becomes("a, b = pl.gather_compare(xi, 3, cmp_mode=\"gt\", out_cols=8)",
          "_tuple_tmp: pl.Tuple[pl.Tensor[[16, 8], pl.INT32], pl.Tensor[[1, 16], pl.INT32]] = "
          "pl.tensor.gather_compare(xi, "
          "pl.const(3, pl.INT32), cmp_mode=4, offset=0, out_cols=8)\n"
          "a: pl.Tensor[[16, 8], pl.INT32] = _tuple_tmp[0]\nb: pl.Tensor[[1, 16], pl.INT32] = _tuple_tmp[1]");
  tiles("a = pl.store(t, [0, 0], y, atomic=pl.AtomicType.Add)",
        "a: " + T + " = pl.tile.store(t, [0, 0], y, atomic=pl.AtomicType.Add)");
  tiles("a = pl.cmps(t, 0.5, cmp_type=2)",
        "a: pl.Tile[[16, 32], pl.UINT8, pl.Mem.Vec, pl.TileView(valid_shape=[16, 8])] = pl.tile.cmps(t, 0.5, "
        "cmp_type=2)");
}

TEST_CASE("a constant beside a tensor or tile takes its dtype; a scalar picks the scalar op") {
  becomes("a = pl.add(x, 2)", "a: " + T + " = pl.tensor.adds(x, 2.0)");
  becomes("a = pl.mul(xi, 2)",
          "a: pl.Tensor[[16, 64], pl.INT32] = pl.tensor.muls(xi, pl.const(2, pl.INT32))");
  becomes("a = pl.sub(xh, 2)",
          "a: pl.Tensor[[16, 64], pl.FP16] = pl.tensor.subs(xh, pl.const(2.0, pl.FP16))");
  becomes("a = pl.maximum(x, 2.0)", "a: " + T + " = pl.tensor.maximum(x, 2.0)");
  becomes("a = pl.mul(x, f)", "a: " + T + " = pl.tensor.muls(x, f)");
  tiles("a = pl.add(t, 2)", "a: " + V + " = pl.tile.adds(t, 2.0)");
  tiles("a = pl.mul(ti, 2)",
        "a: pl.Tile[[16, 64], pl.INT32, pl.Mem.Vec] = pl.tile.muls(ti, pl.const(2, pl.INT32))");
  tiles("a = pl.tile.adds(th, 2.0)", "a: pl.Tile[[16, 64], pl.FP16, pl.Mem.Vec] = pl.tile.adds(th, 2.0)");
}

TEST_CASE("scalars: operators under their op names, promotion, folding, bytes") {
  becomes("a = pl.add(n, 1)", "a: pl.Scalar[pl.INDEX] = n + 1");
  becomes("a = i + 1", "a: pl.Scalar[pl.INDEX] = pl.cast(i, pl.INDEX) + 1");
  becomes("a = 2 * 3 + n", "a: pl.Scalar[pl.INDEX] = 6 + n");
  becomes("a = f * 2.0", "a: pl.Scalar[pl.FP32] = f * 2.0");
  becomes("a = pl.FP32.get_byte() * n", "a: pl.Scalar[pl.INDEX] = 4 * n");
  becomes("b = n\na: pl.Scalar[pl.INT32] = 3",
          "b: pl.Scalar[pl.INDEX] = n\na: pl.Scalar[pl.INT32] = pl.const(3, pl.INT32)");
  becomes("a = (n, f)", "a: pl.Tuple[pl.Scalar[pl.INDEX], pl.Scalar[pl.FP32]] = [n, f]");
  becomes("a = n, f", "a: pl.Tuple[pl.Scalar[pl.INDEX], pl.Scalar[pl.FP32]] = [n, f]");
  becomes("a = p and not p or n < 3", "a: pl.Scalar[pl.BOOL] = p and not p or n < 3");
}

TEST_CASE("module constants are replaced by their values") {
  becomes(
      "a = pl.create_tensor([P * CAP, C], dtype=D)",
      "a: pl.Tensor[[8, 32], pl.BF16] = pl.tensor.create([8, 32], dtype=pl.BF16, layout=pl.TensorLayout.ND)",
      "P = 4\nCAP = P // 2\nC = 32\nD = pl.BF16\n");
  becomes("a = n * P + -P", "a: pl.Scalar[pl.INDEX] = n * 4 + -4", "P = 4\n");
  becomes("a = pl.create_tensor(SHAPE, dtype=pl.FP32)",
          "a: " + T + " = pl.tensor.create([16, 64], dtype=pl.FP32, layout=pl.TensorLayout.ND)",
          "SHAPE = [16, 64]\n");
}

TEST_CASE("subscripts of tensors and arrays") {
  becomes("a = x[n]", "a: pl.Tensor[[64], pl.FP32] = pl.tensor.slice(x, [1, 64], [n, 0], [], [0])");
  becomes("a = x[n, 0:32]", "a: pl.Tensor[[32], pl.FP32] = pl.tensor.slice(x, [1, 32], [n, 0], [], [0])");
  becomes("a = x[0:8, 0:32]", "a: pl.Tensor[[8, 32], pl.FP32] = pl.tensor.slice(x, [8, 32], [0, 0])");
  becomes("a = arr[n]", "a: pl.Scalar[pl.INT32] = pl.array.get_element(arr, n)");
  becomes("arr[n] = 3",
          "arr: pl.Array[8, pl.INT32] = pl.array.update_element(arr, n, pl.const(3, pl.INT32))");
  becomes("x[0:16, 0:64] = x", "x: " + T + " = pl.tensor.assemble(x, x, [0, 0])");
  tiles("t[0:8, 0:64] = pl.slice(t, [8, 64], [8, 0])",
        "t: " + V + " = pl.tile.assemble(t, pl.tile.slice(t, [8, 64], [8, 0]), [0, 0])");
  CHECK(has(Read(authored("@pl.function\ndef main", "x[0, 0] = f", kTensors)).errors, "pl.write"));
}

TEST_CASE("unpacking, branches and loops without carries") {
  becomes("a, b = (n, f)",
          "_tuple_tmp: pl.Tuple[pl.Scalar[pl.INDEX], pl.Scalar[pl.FP32]] = [n, f]\na: pl.Scalar[pl.INDEX] = "
          "_tuple_tmp[0]\n"
          "b: pl.Scalar[pl.FP32] = _tuple_tmp[1]");
  becomes("if n < 1:\n    a = n\nelif n < 2:\n    a = n + 1\nelse:\n    a = n + 2",
          "if n < 1:\n    a: pl.Scalar[pl.INDEX] = n\nelse:\n    if n < 2:\n        a: pl.Scalar[pl.INDEX] = "
          "n + 1\n    else:\n"
          "        a: pl.Scalar[pl.INDEX] = n + 2");
  becomes("for k in pl.range(4):\n    x = pl.exp(x)",
          "for k in pl.range(4):\n    x: " + T + " = pl.tensor.exp(x)");
  becomes("while n < 3: n = n + 1", "while n < 3:\n    n: pl.Scalar[pl.INDEX] = n + 1");
}

TEST_CASE(
    "a long chain of elif is read, and what it is printed as is read again; a longer one is one error") {
  const auto chain = [](int links) {
    std::string body = "if n == 0:\n    a = n\n";
    for (int i = 1; i <= links; ++i)
      body += "elif n == " + std::to_string(i) + ":\n    a = n + " + std::to_string(i) + "\n";
    return body + "else:\n    a = n + 1";
  };
  const Read r(in_main(chain(500)));
  INFO(r.errors);
  REQUIRE(r.good());
  const std::string printed = r.printed();
  CHECK(printed.find("elif ") != std::string::npos);
  const Read again(printed);
  INFO(again.errors);
  REQUIRE(again.good());
  CHECK(again.printed() == printed);
  CHECK(differences(r.module.program, again.module.program, 1).empty());
  const Read longer(in_main(chain(10'000)));
  CHECK(!longer.good());
  CHECK(longer.diags.error_count() == 1);
  CHECK(longer.errors.find("branches are nested deeper than 500 levels") != std::string::npos);
  // Some of the links in a block of another chain: the sum counts.
  const auto nested = [&](int outer, int inner) {
    std::string text = chain(outer);
    text.resize(text.rfind("    a = n + 1"));
    std::string lines = "    " + chain(inner);
    for (std::size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; at += 5)
      lines.insert(at + 1, "    ");
    return Read(in_main(text + lines));
  };
  CHECK(nested(249, 250).good());
  const Read both = nested(250, 250);
  CHECK(!both.good());
  CHECK(both.errors.find("branches are nested deeper than 500 levels") != std::string::npos);
  // What any reader of Python takes has no elif.
  CHECK(Read(in_main(chain(50))).printed().find("elif ") == std::string::npos);
}

TEST_CASE("a chain of elif that yields, as passes leave it") {
  const auto chain = [](int links) {
    std::string before, after;
    for (int i = 0; i <= links; ++i) {
      const std::string pad(static_cast<std::size_t>(i) * 4, ' ');
      const std::string number = std::to_string(i);
      const std::string result = "    r" + number + ": pl.Scalar[pl.INDEX] = pl.yield_(";
      before += pad + "if n == " + number + ":\n" + pad + result + "n)\n" + pad + "else:\n";
      after.insert(0, pad + result + (i == links ? "n" : "r" + std::to_string(i + 1)) + ")\n");
      if (i != links) before += pad + "    m" + number + ": pl.Scalar[pl.INDEX] = n + 1\n";
    }
    after.pop_back();
    return before + after;
  };
  const Read r(in_main(chain(500)));
  INFO(r.errors);
  REQUIRE(r.good());
  const std::string printed = r.printed();
  const Read again(printed);
  INFO(again.errors);
  REQUIRE(again.good());
  CHECK(again.printed() == printed);
  for (const int links : {501, 2000}) {
    const Read longer(in_main(chain(links)));
    CHECK(!longer.good());
    CHECK(longer.errors.find("branches are nested deeper than 500 levels") != std::string::npos);
  }
}

TEST_CASE("statements that make nothing: their comments move on") {
  becomes("# why\npl.static_print(\"x\", n, n + 1)\na = n", "# why\na: pl.Scalar[pl.INDEX] = n");
  becomes("\"\"\"What it does,\nand how.\"\"\"\na = n",
          "# What it does,\n#         and how.\na: pl.Scalar[pl.INDEX] = n");
  becomes("pl.static_assert(n > 0, \"positive\")\na = n", "a: pl.Scalar[pl.INDEX] = n");
  becomes("pl.dump_tag(x)\nwith pl.at(level=pl.Level.CORE_GROUP):\n    a = pl.exp(x)",
          "with pl.at(level=pl.Level.CORE_GROUP, dumps=[x]):\n    a: " + T + " = pl.tensor.exp(x)");
}

TEST_CASE("scopes as people write them") {
  becomes("with pl.manual_scope():\n    a = n",
          "with pl.scope(mode=pl.ScopeMode.MANUAL):\n    a: pl.Scalar[pl.INDEX] = n");
  becomes("with pl.scope(mode=pl.ScopeMode.AUTO):\n    a = n",
          "with pl.scope():\n    a: pl.Scalar[pl.INDEX] = n");
  becomes("with pl.at(pl.Level.CORE_GROUP):\n    a = n",
          "with pl.at(level=pl.Level.CORE_GROUP):\n    a: pl.Scalar[pl.INDEX] = n");
  becomes("with pl.at(pl.Level.CLOS1, pl.Role.Orchestrator):\n    a = n",
          "with pl.at(level=pl.Level.CLUSTER_1, role=pl.Role.Orchestrator):\n    a: pl.Scalar[pl.INDEX] = n");
  becomes(
      "with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN, slot_num=2)]):\n  "
      "  a = n",
      "with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN), "
      "pl.cross_core_slot(slot_num=2)]):\n"
      "    a: pl.Scalar[pl.INDEX] = n");
  for (const char* alias :
       {"L2CACHE CHIP_DIE", "PROCESSOR CHIP", "UMA CHIP", "NODE HOST", "POD CLUSTER_0", "CLOS2 CLUSTER_2"}) {
    const std::string both(alias);
    const std::string name = both.substr(0, both.find(' '));
    const std::string level = both.substr(both.find(' ') + 1);
    becomes("with pl.at(level=pl.Level." + name + "):\n    a = n",
            "with pl.at(level=pl.Level." + level + "):\n    a: pl.Scalar[pl.INDEX] = n");
  }
}

TEST_CASE("launches: unpacked results, no_dep, None for a task") {
  const std::string kernel =
      "@pl.function(type=pl.FunctionType.InCore)\ndef k(x: pl.Tensor[[16, 64], pl.FP32]) -> "
      "tuple[pl.Tensor[[16, 64], pl.FP32], "
      "pl.Tensor[[16, 64], pl.FP32]]:\n    return x, x";
  const auto launch = [&](const std::string& written) {
    return body(authored("@pl.function\ndef main", written, kTensors, "", kernel));
  };
  CHECK(launch("(a, b), tid = pl.submit(self.k, x)") ==
        "_submit_tmp: pl.Tuple[" + T + ", " + T + ", pl.Scalar[pl.TASK_ID]] = pl.submit(self.k, x)\na: " + T +
            " = _submit_tmp[0]\nb: " + T + " = _submit_tmp[1]\ntid: pl.Scalar[pl.TASK_ID] = _submit_tmp[2]");
  CHECK(has(launch("r = self.k(pl.no_dep(x))"), "= self.k(x, attrs={\"arg_direction_overrides\": [0]})"));
  CHECK(launch("tid = None").find("tid: pl.Scalar[pl.TASK_ID] = pl.system.task_invalid()") == 0);
  CHECK(has(launch("t0 = None\n(a, b), tid = pl.submit(self.k, x, deps=[t0, None])"),
            "pl.submit(self.k, x, deps=[t0])"));
}

TEST_CASE("functions: self, levels, roles and attributes as people write them") {
  const Read r(
      "import pypto.language as pl\n\n@pl.program\nclass P:\n    \"\"\"A program.\"\"\"\n\n"
      "    @pl.function(type=pl.FunctionType.AIV, attrs={\"split\": pl.SplitMode.UP_DOWN})\n    def k(self, "
      "x: pl.Tensor[[4], pl.FP32]):\n"
      "        \"\"\"A kernel.\"\"\"\n        pl.func_attr({\"windowize\": True})\n        return\n");
  INFO(r.errors);
  REQUIRE(r.good());
  CHECK(has(r.printed(),
            "    @pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)\n"
            "    def k(x: pl.Tensor[[4], pl.FP32]):\n        pl.func_attr({\"split\": pl.SplitMode.UP_DOWN, "
            "\"windowize\": True})\n"));
}

TEST_CASE("windows: sizes as shapes, operands by name") {
  in_host("b = pld.alloc_window_buffer([1, 32], dtype=pl.FP32)",
          "b: pl.Ptr = pl._dump.alloc_window_buffer(pl.const(128, pl.INT64), name='b')");
  in_host("b = pld.alloc_window_buffer(64)\nw = pld.window(b, [16], dtype=pl.FP32)",
          "b: pl.Ptr = pl._dump.alloc_window_buffer(64, name='b')\n"
          "w: pld.DistributedTensor[[16], pl.FP32] = pld.tensor.window(b, [16], dtype=pl.FP32)");
  in_host("p = pld.world_size()\nb = pld.alloc_window_buffer([p, 4], dtype=pl.INT32)",
          "p: pl.Scalar[pl.INT64] = pld.system.world_size()\n"
          "b: pl.Ptr = pl._dump.alloc_window_buffer(p * pl.const(4, pl.INT64) * pl.const(4, pl.INT64), "
          "name='b')");
}

TEST_CASE("the seven collectives under their short names make their signals in front") {
  const std::string w =
      "b = pld.alloc_window_buffer([2, 256], dtype=pl.FP32)\nw = pld.window(b, [2, 256], dtype=pl.FP32)\n"
      "b2 = pld.alloc_window_buffer([2, 256], dtype=pl.FP32)\nw2 = pld.window(b2, [2, 256], dtype=pl.FP32)\n"
      "c = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)\nrc = pld.window(c, [2, 1], dtype=pl.INT32)\n";
  const auto wrapped = [&](const std::string& written) {
    return body(authored(
        "@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\ndef main", w + written,
        "x: pl.Tensor[[2, 256], pl.FP32], row: pl.Tensor[[1, 256], pl.FP32], s: pl.Tensor[[2], pl.INT32]"));
  };
  const auto ends = [](const std::string& text, const std::string& end) {
    INFO(text);
    CHECK(text.size() > end.size());
    CHECK(has(text, end));
  };
  ends(wrapped("w = pld.all_reduce(w, op=pld.ReduceOp.Sum)"), "= pld.tensor.allreduce(w");
  ends(wrapped("w2 = pld.all_gather(row, w2)"), "= pld.tensor.allgather(row, w2");
  ends(wrapped("w = pld.reduce_scatter(w, op=pld.ReduceOp.Sum)"), "= pld.tensor.reduce_scatter(w");
  ends(wrapped("w = pld.broadcast(w, root=0)"), "= pld.tensor.broadcast(w");
  ends(wrapped("w2 = pld.all_to_all(x, w2)"), "= pld.tensor.all_to_all(x, w2");
  ends(wrapped("w2 = pld.all_to_all_v(x, w2, s, rc, nranks=2)"), "= pld.tensor.all_to_all_v(x, w2");
  ends(wrapped("pld.barrier(rc)"), "pld.tensor.barrier(rc)");
}
