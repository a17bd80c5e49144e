#include <cstdlib>
#include <map>

#include "codegen/codegen.h"
#include "frontend/text.h"
#include "support/catch.h"
#include "support/diag/codegen.h"
#include "support/file.h"

using namespace pldc;

namespace {

std::string source_root() {
  const char* root = std::getenv("PLDC_SOURCE_ROOT");
  return root != nullptr ? root : ".";
}

struct Generated {
  explicit Generated(const std::string& text, const std::string& name = "p.pld",
                     const std::string& entry = {}) {
    SourceManager sources;
    const SourceFile* file = sources.add(name, text);
    Context ir;
    const Module module = parse(*file, ir, diags);
    BuildOptions options;
    options.stem = path_stem(name);
    options.source = name;
    options.entry = entry;
    std::vector<OutputFile> out;
    good = module.program != nullptr && generate(ir, module, sources, options, diags, out);
    for (const OutputFile& f : out) {
      order.push_back(f.path);
      files[f.path] = f.text;
    }
    rendered = render(diags.all(), sources, {});
  }
  const std::string& operator[](const std::string& path) {
    INFO(rendered);
    REQUIRE(files.count(path) == 1);
    return files[path];
  }
  bool has(const DiagInfo& kind) const {
    for (const Diagnostic& d : diags.all()) {
      if (d.kind == &kind)
        return d.span.valid() || &kind == &diag::codegen_unknown_entry || &kind == &diag::codegen_no_entry;
    }
    return false;
  }
  DiagSink diags;
  bool good = false;
  std::vector<std::string> order;
  std::map<std::string, std::string> files;
  std::string rendered;
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string read(const std::string& path) {
  std::string text, error;
  if (!read_file(path, text, error)) FAIL(path << " " << error);
  return text;
}

std::string example(const std::string& name, const std::string& path) {
  return read(source_root() + "/tests/data/runtime_example/" + name + "/" + path);
}

// A program of chip `chip(x, y)` over one kernel, and a host function with the given body (indented by 8) over windows and
// tensors of 64 floats a rank.
std::string with_host(
    const std::string& body,
    const std::string& params = "xs: pl.Tensor[[NR, 64], pl.FP32], ys: pl.Out[pl.Tensor[[NR, 64], pl.FP32]]",
    const std::string& result = "pl.Tensor[[NR, 64], pl.FP32]") {
  return "import pypto.language as pl\nimport pypto.language.distributed as pld\n\nNR = "
         "pl.dynamic(\"NR\")\n\n"
         "@pl.program\nclass P:\n"
         "    @pl.function(type=pl.FunctionType.InCore)\n"
         "    def k(self, x: pl.Tensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]) -> "
         "pl.Tensor[[1, 64], pl.FP32]:\n"
         "        return pl.store(pl.load(x, [0, 0], [1, 64]), [0, 0], y)\n\n"
         "    @pl.function(type=pl.FunctionType.Orchestration)\n"
         "    def chip(self, x: pl.Tensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]) -> "
         "pl.Tensor[[1, 64], pl.FP32]:\n"
         "        return self.k(x, y)\n\n"
         "    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
         "    def host(self, " +
         params + ") -> " + result + ":\n" + body;
}

// A program of one kernel `k(x, y)` and an orchestration with the given body.
std::string with_chip(
    const std::string& body,
    const std::string& params = "x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]",
    const std::string& result = "pl.Tensor[[64, 64], pl.FP32]") {
  return "import pypto.language as pl\n\n@pl.program\nclass P:\n"
         "    @pl.function(type=pl.FunctionType.InCore)\n"
         "    def k(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> "
         "pl.Tensor[[64, 64], pl.FP32]:\n"
         "        return pl.store(pl.load(x, [0, 0], [64, 64]), [0, 0], y)\n\n"
         "    @pl.function(type=pl.FunctionType.Orchestration)\n"
         "    def main(self, " +
         params + ") -> " + result + ":\n" + body;
}

}  // namespace

TEST_CASE("the tree of a program", "[codegen][generate]") {
  const std::string name = "host_allreduce_explicit";
  Generated g(example(name, name + ".pld"), name + ".pld");
  INFO(g.rendered);
  REQUIRE(g.good);
  CHECK(g.order == std::vector<std::string>{"manifest.json", "host/host_orch.cpp", "host/main.cpp",
                                            "host/host_allreduce_explicit.h", "chips/put_in.cpp",
                                            "chips/builtin_tensor_allreduce__sum__fp32.cpp",
                                            "chips/take_out.cpp", "kernels/put_in/stage_in.cpp",
                                            "kernels/builtin_tensor_allreduce__sum__fp32/allreduce.cpp",
                                            "kernels/take_out/stage_out.cpp", "Makefile"});
  // The contract's example, written by hand.
  CHECK(g["chips/put_in.cpp"] == example(name, "chips/put_in.cpp"));
  CHECK(g["chips/take_out.cpp"] == example(name, "chips/take_out.cpp"));
  CHECK(g["host/main.cpp"] == example(name, "host/main.cpp"));
  CHECK(g["host/host_allreduce_explicit.h"] == example(name, "host/host_allreduce_explicit.h"));
  const std::string& host = g["host/host_orch.cpp"];
  for (const std::string_view part :
       {"const int64_t world_size = h.world_size();", "h.domain(\"comm_d0\", h.all(), {",
        "{\"win_buf\", 1536, pld::SlotUse::data}", "{\"sig_buf\", world_size * 4, pld::SlotUse::signal}",
        "for (int64_t r = 0; r < world_size; ++r) {", "// put_in(xs[r], win, win_ctx), device=r",
        "a.in(xs.box({1, 1, 384}, {r, 0, 0}).drop({0}));",
        "a.inout(comm_d0.view(r, \"win_buf\", {1, 384}, pld::f32));", "a.u64(comm_d0.ctx(r));",
        "h.submit(r, \"put_in\", a, {38, 13});",
        "// builtin.tensor.allreduce(win, sig, op=Sum, core_num=1), device=r",
        "a.inout(comm_d0.view(r, \"sig_buf\", {world_size, 1}, pld::i32));", "a.scalar(comm_d0.size());",
        "a.scalar(int64_t{1});", "{\"xs\", pld::Dir::in, pld::f32, false, kHostXs, {32, 20}},",
        "constexpr pld::DimInfo kHostXs[] = {{-1, \"NR\", true}, {1}, {384}};", ".max_device = -1",
        ".place = {32, 5}"}) {
    INFO(part);
    CHECK(contains(host, part));
  }
  CHECK_FALSE(contains(host, "h.sync"));
}

TEST_CASE("hand-written meshes get the chip of the example", "[codegen][generate]") {
  Generated g(example("mesh_by_hand", "mesh_by_hand.pld"), "mesh_by_hand.pld");
  INFO(g.rendered);
  REQUIRE(g.good);
  CHECK(g["chips/per_rank.cpp"] == example("mesh_by_hand", "chips/per_rank.cpp"));
}

TEST_CASE("the same program gives the same bytes, wherever it lies", "[codegen][generate]") {
  const std::string text = example("mesh_by_hand", "mesh_by_hand.pld");
  Generated a(text, "/home/me/mesh_by_hand.pld");
  Generated b(text, "/srv/build/mesh_by_hand.pld");
  REQUIRE(a.good);
  CHECK(a.files == b.files);
  for (const auto& [path, content] : a.files) CHECK_FALSE(contains(content, "/home"));
}

TEST_CASE("no text of the program gets into C++ unescaped", "[codegen][generate]") {
  const std::string text =
      "import pypto.language as pl\n\nM = pl.dynamic(\"M); abort(); //\")\n\n@pl.program\nclass P:\n"
      "    @pl.function(type=pl.FunctionType.InCore)\n"
      "    def int(self, t: pl.Tensor[[M, 64], pl.FP32], h: pl.Out[pl.Tensor[[M, 64], pl.FP32]], args: "
      "pl.Scalar[pl.FP32]) "
      "-> pl.Tensor[[M, 64], pl.FP32]:\n"
      "        double = pl.load(t, [0, 0], [1, 64])\n"
      "        return pl.store(pl.mul(double, args), [0, 0], h)\n\n"
      "    @pl.function(type=pl.FunctionType.Orchestration)\n"
      "    def main(self, a: pl.Tensor[[M, 64], pl.FP32], NULL: pl.Out[pl.Tensor[[M, 64], pl.FP32]], "
      "p0: pl.Scalar[pl.FP32]) -> pl.Tensor[[M, 64], pl.FP32]:\n"
      "        return self.int(a, NULL, p0 * 2.0)\n";
  Generated g(text, "std \"; .pld");
  INFO(g.rendered);
  REQUIRE(g.good);
  for (const auto& [path, content] : g.files) {
    INFO(path);
    CHECK_FALSE(contains(path, "\""));
    if (path == "manifest.json") continue;
    for (std::size_t at = content.find("abort();"); at != std::string::npos;
         at = content.find("abort();", at + 1)) {
      // Only inside a string literal or comment.
      const std::string line = content.substr(content.rfind('\n', at) + 1, at - content.rfind('\n', at) - 1);
      CHECK((contains(line, "\"M); ") || contains(line, "//")));
    }
  }
  CHECK(contains(g["chips/main.cpp"], "const ChipTensor& NULL_ = a.tensor(1).ref();"));
  CHECK(contains(g["chips/main.cpp"], "CoreTaskArgs p0_1;"));
  CHECK(contains(g["host/host_orch.cpp"], "pld::Params& t"));
}

TEST_CASE("dispatches wait for host memory that another device writes, and only then",
          "[codegen][generate]") {
  const std::string each =
      "        for r in pl.range(pld.world_size()):\n            self.chip(xs[r:r + 1], ys[r:r + 1], "
      "device=r)\n";
  SECTION("each device has a row of its own") {
    Generated g(with_host(each + each + "        return ys\n"));
    INFO(g.rendered);
    REQUIRE(g.good);
    CHECK_FALSE(contains(g["host/host_orch.cpp"], "h.sync"));
  }
  SECTION("a device reads what another one wrote") {
    Generated g(with_host(each + "        self.chip(ys[1:2], ys[0:1], device=0)\n        return ys\n"));
    INFO(g.rendered);
    REQUIRE(g.good);
    const std::string& host = g["host/host_orch.cpp"];
    REQUIRE(contains(host, "h.sync"));
    CHECK(host.find("h.sync") > host.find("for (int64_t"));
  }
  SECTION("two devices with different constants") {
    Generated g(with_host(
        "        self.chip(xs[0:1], ys[0:1], device=0)\n        self.chip(xs[1:2], ys[1:2], device=1)\n"
        "        self.chip(ys[1:2], ys[2:3], device=2)\n        return ys\n"));
    INFO(g.rendered);
    REQUIRE(g.good);
    const std::string& host = g["host/host_orch.cpp"];
    CHECK(host.find("h.sync") > host.find("h.submit(1,"));
    CHECK(host.find("h.sync") < host.find("h.submit(2,"));
    CHECK(contains(host, ".max_device = 2"));
  }
  SECTION("the same device is served in order") {
    Generated g(with_host(
        "        self.chip(xs[0:1], ys[0:1], device=0)\n        self.chip(ys[0:1], ys[1:2], device=0)\n"
        "        return ys\n"));
    INFO(g.rendered);
    REQUIRE(g.good);
    CHECK_FALSE(contains(g["host/host_orch.cpp"], "h.sync"));
  }
  SECTION("reading an element waits") {
    Generated g(with_host(each + "        v = pl.tensor.read(ys, [0, 0])\n        if v > 0.0:\n"
                                 "            self.chip(xs[0:1], ys[0:1], device=0)\n        return ys\n"));
    INFO(g.rendered);
    REQUIRE(g.good);
    const std::string& host = g["host/host_orch.cpp"];
    CHECK(host.find("h.sync();") < host.find("ys.at<float>({0, 0})"));
  }
}

TEST_CASE("host functions make, view and assemble tensors", "[codegen][generate]") {
  Generated g(
      with_host("        tmp = pl.create_tensor([2, 64], dtype=pl.FP32)\n"
                "        for i in pl.range(2):\n"
                "            self.chip(xs[i:i + 1], tmp[i:i + 1], device=i)\n"
                "        part = pl.tensor.slice(tmp, [1, 64], [0, 0])\n"
                "        ys = pl.tensor.assemble(ys, part, [1, 0])\n        return ys\n"));
  INFO(g.rendered);
  REQUIRE(g.good);
  const std::string& host = g["host/host_orch.cpp"];
  CHECK(contains(host, "const pld::Tensor tmp = h.tensor({2, 64}, pld::f32);"));
  CHECK(contains(host, "h.sync();\n  ys.box({1, 64}, {1, 0}).assign(tmp.box({1, 64}, {0, 0}));"));
  CHECK(contains(host, ".max_device = 1"));
}

TEST_CASE("orchestrations have loops, branches and carried tensors", "[codegen][generate]") {
  Generated g(
      with_chip("        cur = x\n        nxt = pl.create_tensor([64, 64], dtype=pl.FP32)\n"
                "        for i in pl.range(3):\n"
                "            nxt = self.k(cur, nxt)\n"
                "            old = cur\n            cur = nxt\n            nxt = old\n"
                "        return self.k(cur, y)\n"));
  INFO(g.rendered);
  REQUIRE(g.good);
  const std::string& chip = g["chips/main.cpp"];
  CHECK(contains(chip, "ChipTensor cur = x;"));
  CHECK(contains(chip, "for (int64_t i = 0; i < 3; ++i) {"));
  // The two change places through a temporary.
  CHECK(contains(chip, "const ChipTensor next_"));
}

TEST_CASE("scalars of orchestrations are computed or handed on", "[codegen][generate]") {
  Generated g(
      "import pypto.language as pl\n\n@pl.program\nclass P:\n"
      "    @pl.function(type=pl.FunctionType.InCore)\n"
      "    def k(self, x: pl.Tensor[[64, 64], pl.FP32], i: pl.Scalar[pl.INDEX], f: pl.Scalar[pl.FP32], "
      "y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:\n"
      "        return pl.store(pl.mul(pl.load(x, [i, 0], [1, 64]), f), [0, 0], y)\n\n"
      "    @pl.function(type=pl.FunctionType.Orchestration)\n"
      "    def main(self, x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], f: pl.Scalar[pl.FP32], "
      "y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:\n"
      "        while n > 3:\n            y = self.k(x, n // 2, f, y)\n            n = n - 1\n        return "
      "y\n");
  INFO(g.rendered);
  REQUIRE(g.good);
  const std::string& chip = g["chips/main.cpp"];
  CHECK(contains(chip, "const uint64_t f = a.scalar(1);"));
  CHECK(contains(chip, "p0.add_scalar(f);"));
  CHECK(contains(chip, "const int64_t n = pld_from_u64<int64_t>(a.scalar(0));"));
  CHECK(contains(chip, "p0.add_scalar(pld_to_u64<int64_t>(pld_floordiv<int64_t>("));
  CHECK(contains(chip, "while ("));
}

TEST_CASE("which function a program starts in", "[codegen][generate]") {
  const std::string chip = with_chip("        return self.k(x, y)\n");
  SECTION("the orchestration that nobody calls") {
    Generated g(chip);
    REQUIRE(g.good);
    CHECK(contains(g["host/host_orch.cpp"], ".single_rank = true"));
    CHECK(contains(g["host/host_orch.cpp"], "h.submit(0, \"main\", a, "));
  }
  SECTION("a kernel by name, in a chip of its own name") {
    Generated g(chip, "p.pld", "k");
    INFO(g.rendered);
    REQUIRE(g.good);
    CHECK(g.files.count("kernels/k/k.cpp") == 1);
    CHECK(contains(g["chips/k.cpp"], "rt_submit_aiv_task(0, p0);"));
  }
  SECTION("an unknown name") {
    Generated g(chip, "p.pld", "hots");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_unknown_entry));
    CHECK(contains(g.rendered, "k, main"));
  }
  SECTION("two orchestrations") {
    Generated g(
        chip +
        "\n    @pl.function(type=pl.FunctionType.Orchestration)\n"
        "    def other(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> "
        "pl.Tensor[[64, 64], pl.FP32]:\n        return self.k(x, y)\n");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_several_entries));
  }
  SECTION("nothing at all") {
    Generated g(
        "import pypto.language as pl\n\n@pl.program\nclass P:\n"
        "    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)\n    def w(x: pl.Tensor[[4], "
        "pl.FP32]):\n"
        "        print(1)\n");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_no_entry));
  }
}

TEST_CASE("a tensor that the entry makes and returns becomes an output", "[codegen][generate]") {
  const std::string make = "t = pl.create_tensor([64, 64], dtype=pl.FP32)\n";
  SECTION("copied where the function ends") {
    Generated g(with_chip("        " + make + "        return self.k(x, t)\n"));
    REQUIRE(g.good);
    CHECK(contains(g["host/host_orch.cpp"], R"({"ret0", pld::Dir::out, pld::f32, false, )"));
    CHECK(contains(g["chips/main.cpp"], "pld_assemble(ret0, t, {0, 0});"));
  }
  SECTION("copied before the scope ends that it lives in") {
    Generated g(with_chip("        with pl.scope():\n            " + make +
                          "            r = self.k(x, t)\n        return r\n"));
    REQUIRE(g.good);
    const std::string chip = g["chips/main.cpp"];
    CHECK(chip.find("pld_assemble(ret0, t, {0, 0});\n  }") != std::string::npos);
  }
}

TEST_CASE("a scope ends where nobody uses its tensors any more", "[codegen][generate]") {
  const std::string in_scope =
      "        with pl.scope():\n            t = pl.create_tensor([64, 64], dtype=pl.FP32)\n"
      "            r = self.k(x, t)\n";
  Generated behind(with_chip(in_scope + "        return self.k(r, y)\n"));
  REQUIRE(behind.good);
  CHECK(contains(behind["chips/main.cpp"], "// No scope: a tensor made here is used behind it."));
  Generated inside(with_chip(in_scope + "            y = self.k(r, y)\n        return y\n"));
  REQUIRE(inside.good);
  CHECK_FALSE(contains(inside["chips/main.cpp"], "// No scope"));
}

TEST_CASE("operations of an orchestration become kernels", "[codegen][generate]") {
  SECTION("one each, if somebody asks for the result") {
    Generated g(
        with_chip("        z = pl.tensor.add(x, x)\n        unused = pl.tensor.exp(x)\n"
                  "        return self.k(z, y)\n"));
    REQUIRE(g.good);
    CHECK(contains(g["kernels/main/main_incore_0.cpp"], "TADD("));
    CHECK(g.files.count("kernels/main/main_incore_1.cpp") == 0);
  }
  SECTION("of several results") {
    Generated g(
        with_chip("        i, c = pl.tensor.gather_compare(q, pl.const(3, pl.INT32), cmp_mode=\"eq\", "
                  "out_cols=8)\n        p = pl.tensor.assemble(p, i, [0, 0])\n        return p\n",
                  "q: pl.Tensor[[16, 64], pl.INT32], p: pl.Out[pl.Tensor[[16, 8], pl.INT32]]",
                  "pl.Tensor[[16, 8], pl.INT32]"));
    REQUIRE(g.good);
    CHECK(contains(g["kernels/main/main_incore_0.cpp"], "TGATHER"));
  }
  SECTION("what changes memory, whoever asks") {
    Generated g(with_chip(
        "        w = pl.tensor.assemble(y, x, [0, 0], atomic=pl.AtomicType.Add)\n        return y\n"));
    REQUIRE(g.good);
    CHECK(contains(g["kernels/main/main_incore_0.cpp"], "AtomicType::AtomicAdd"));
  }
}

TEST_CASE("what has no form is reported with its place", "[codegen][generate]") {
  SECTION("a tile in an orchestration") {
    Generated g(
        with_chip("        t = pl.load(x, [0, 0], [64, 64])\n        return pl.store(t, [0, 0], y)\n"));
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_op));
  }
  SECTION("returning what only the function knows the size of") {
    Generated g(
        with_chip("        n = pl.cast(pl.read(x, [0, 0]), pl.INDEX)\n"
                  "        t = pl.create_tensor([n, 64], dtype=pl.FP32)\n        y = self.k(x, y)\n        "
                  "return t\n"));
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_returns_other));
  }
  SECTION("an orchestration that calls itself") {
    Generated g(with_chip("        y = self.main(x, y)\n        return self.k(x, y)\n"), "p.pld", "main");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_recursion));
  }
  SECTION("a kernel with windows alone") {
    Generated g(
        "import pypto.language as pl\nimport pypto.language.distributed as pld\n\n@pl.program\nclass P:\n"
        "    @pl.function(type=pl.FunctionType.InCore)\n"
        "    def k(self, x: pl.Tensor[[1, 64], pl.FP32], w: pl.InOut[pld.DistributedTensor[[1, 64], "
        "pl.FP32]]) -> "
        "pld.DistributedTensor[[1, 64], pl.FP32]:\n"
        "        return pl.store(pl.load(x, [0, 0], [1, 64]), [0, 0], w)\n");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_kernel_alone));
  }
  SECTION("a step of zero") {
    Generated g(
        with_chip("        for i in pl.range(0, 8, 0):\n            y = self.k(x, y)\n        return y\n"));
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_step_zero));
  }
  SECTION("an atomic assemble") {
    Generated g(
        "import pypto.language as pl\n\n@pl.program\nclass P:\n"
        "    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
        "    def host(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n"
        "        y = pl.tensor.assemble(y, x, [0, 0], atomic=pl.AtomicType.Add)\n");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_atomic_assemble));
  }
  SECTION("a tensor with too many axes") {
    Generated g(
        with_chip("        t = pl.create_tensor([1, 1, 1, 1, 64, 64], dtype=pl.FP32)\n"
                  "        r = pl.tensor.reshape(t, [64, 64])\n        return self.k(r, y)\n"));
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_rank));
  }
  SECTION("a dtype that no tensor of the runtime has") {
    Generated g(with_chip("        return self.k(x, y)\n",
                          "x: pl.Tensor[[64, 64], pl.FP32], q: pl.Tensor[[64, 64], pl.INT4], "
                          "y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]"));
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_dtype));
  }
  SECTION("a symbol that no extent gives") {
    Generated g(
        "import pypto.language as pl\n\nM = pl.dynamic(\"M\")\n\n@pl.program\nclass P:\n"
        "    @pl.function(type=pl.FunctionType.InCore)\n"
        "    def k(self, x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], "
        "y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:\n"
        "        return pl.store(pl.load(x, [n, 0], [1, 64]), [0, 0], y)\n\n"
        "    @pl.function(type=pl.FunctionType.Orchestration)\n"
        "    def main(self, x: pl.Tensor[[64, 64], pl.FP32], z: pl.Tensor[[M * 2, 64], pl.FP32], "
        "y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:\n"
        "        return self.k(x, M + 1, y)\n");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_no_value));
  }
  SECTION("a kernel called in a kernel scope") {
    Generated g(with_chip(
        "        with pl.at(level=pl.Level.CORE_GROUP):\n            y = self.k(x, y)\n        return y\n"));
    CAPTURE(g.rendered);
    CHECK(g.has(diag::kernel_call));  // a kernel inside of a kernel
  }
  SECTION("an orchestration that calls a host function") {
    Generated g(
        with_host("        self.chip(xs[0:1], ys[0:1], device=0)\n        return ys\n") +
            "\n    @pl.function(type=pl.FunctionType.Orchestration)\n"
            "    def other(self, xs: pl.Tensor[[NR, 64], pl.FP32], ys: pl.Out[pl.Tensor[[NR, 64], pl.FP32]]) "
            "-> "
            "pl.Tensor[[NR, 64], pl.FP32]:\n        ys = self.host(xs, ys)\n        return ys\n\n"
            "    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
            "    def second(self, xs: pl.Tensor[[NR, 64], pl.FP32], ys: pl.Out[pl.Tensor[[NR, 64], "
            "pl.FP32]]) -> "
            "pl.Tensor[[NR, 64], pl.FP32]:\n        self.other(xs, ys, device=0)\n        return ys\n",
        "p.pld", "second");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_callee));
  }
  SECTION("a kernel without a body") {
    Generated g(
        "import pypto.language as pl\n\n@pl.program\nclass P:\n"
        "    @pl.function(type=pl.FunctionType.InCore)\n"
        "    def k(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> "
        "pl.Tensor[[64, 64], pl.FP32]:\n        ...\n");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_external));
  }
  SECTION("too many arguments for a kernel") {
    std::string params, args;
    for (int i = 0; i < 17; ++i) {
      params += "s" + std::to_string(i) + ": pl.Scalar[pl.INDEX], ";
      args += "s" + std::to_string(i) + ", ";
    }
    Generated g(
        "import pypto.language as pl\n\n@pl.program\nclass P:\n"
        "    @pl.function(type=pl.FunctionType.InCore)\n    def k(self, " +
        params +
        "x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> "
        "pl.Tensor[[64, 64], pl.FP32]:\n"
        "        return pl.store(pl.load(x, [0, 0], [64, 64]), [0, 0], y)\n");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_kernel_limits));
  }
  SECTION("a tile parameter") {
    Generated g(
        "import pypto.language as pl\n\n@pl.program\nclass P:\n"
        "    @pl.function(type=pl.FunctionType.InCore)\n"
        "    def k(self, t: pl.Tile[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> "
        "pl.Tensor[[64, 64], pl.FP32]:\n        return pl.store(t, [0, 0], y)\n");
    CHECK_FALSE(g.good);
    CHECK((g.has(diag::codegen_tile_param) || g.has(diag::codegen_argument)));
  }
  SECTION("a tile whose extents vary") {
    Generated g(
        "import pypto.language as pl\n\n@pl.program\nclass P:\n"
        "    @pl.function(type=pl.FunctionType.InCore)\n"
        "    def k(x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], "
        "y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:\n"
        "        t: pl.Tile[[n, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [n, 64], [n, 64], "
        "target_memory=pl.Mem.Vec)\n"
        "        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(t, [0, 0], y)\n        return y\n");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_tile_extent));
  }
}

TEST_CASE("windows that are not known are reported", "[codegen][generate]") {
  const std::string chip =
      "import pypto.language as pl\nimport pypto.language.distributed as pld\n\n@pl.program\nclass P:\n"
      "    @pl.function(type=pl.FunctionType.InCore)\n"
      "    def k(self, x: pl.Tensor[[1, 64], pl.FP32], w: pl.InOut[pld.DistributedTensor[[1, 64], pl.FP32]]) "
      "-> "
      "pld.DistributedTensor[[1, 64], pl.FP32]:\n"
      "        return pl.store(pl.load(x, [0, 0], [1, 64]), [0, 0], w)\n\n"
      "    @pl.function(type=pl.FunctionType.Orchestration)\n"
      "    def chip(self, x: pl.Tensor[[1, 64], pl.FP32], w: pl.InOut[pld.DistributedTensor[[1, 64], "
      "pl.FP32]]) -> "
      "pld.DistributedTensor[[1, 64], pl.FP32]:\n        return self.k(x, w)\n\n"
      "    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
      "    def host(self, x: pl.Tensor[[1, 64], pl.FP32], n: pl.Tensor[[4], pl.INT32]) -> pl.Tensor[[1, 64], "
      "pl.FP32]:\n";
  SECTION("one of two") {
    Generated g(chip +
                "        a_buf = pld.alloc_window_buffer(256)\n        b_buf = pld.alloc_window_buffer(256)\n"
                "        a = pld.window(a_buf, [1, 64], dtype=pl.FP32)\n        b = pld.window(b_buf, [1, "
                "64], dtype=pl.FP32)\n"
                "        self.chip(x, a, device=0)\n        self.chip(x, b, device=0)\n"
                "        v = pl.tensor.read(n, [0])\n        w = a\n        if v > 0:\n            w = b\n"
                "        self.chip(x, w, device=0)\n        return x\n");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_window));
  }
  SECTION("a size that is read from a tensor") {
    Generated g(chip +
                "        v = pl.tensor.read(n, [0])\n        buf = pld.alloc_window_buffer(pl.cast(v, "
                "pl.INDEX) * 4)\n"
                "        w = pld.window(buf, [1, 64], dtype=pl.FP32)\n        self.chip(x, w, device=0)\n    "
                "    return x\n");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_slot_size));
  }
}

TEST_CASE("groups start their parts together", "[codegen][generate]") {
  const auto group = [](const std::string& body) {
    const auto kernel = [](const std::string& name, const std::string& type) {
      return "    @pl.function(type=pl.FunctionType." + type + ")\n    def " + name +
             "(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> "
             "pl.Tensor[[64, 64], pl.FP32]:\n"
             "        t = pl.load(x, [0, 0], [64, 64])\n        return pl.store(t, [0, 0], y)\n\n";
    };
    return "import pypto.language as pl\n\n@pl.program\nclass P:\n" + kernel("cube", "AIC") +
           kernel("vec", "AIV") + kernel("vec2", "AIV") + kernel("vec3", "AIV") +
           "    @pl.function(type=pl.FunctionType.Group)\n    def pair(self, x: pl.Tensor[[64, 64], "
           "pl.FP32], "
           "y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], z: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> "
           "pl.Tensor[[64, 64], pl.FP32]:\n" +
           body +
           "\n    @pl.function(type=pl.FunctionType.Orchestration)\n    def main(self, x: pl.Tensor[[64, "
           "64], pl.FP32], "
           "y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], z: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> "
           "pl.Tensor[[64, 64], pl.FP32]:\n        return self.pair(x, y, z)\n";
  };
  SECTION("of different arguments the ABI is that of all parts") {
    Generated g(group("        z = self.cube(x, z)\n        y = self.vec(x, y)\n        return y\n"), "p.pld",
                "main");
    INFO(g.rendered);
    REQUIRE(g.good);
    const std::string& chip = g["chips/main.cpp"];
    CHECK(contains(chip, "p0.add_input(x);\n    p0.add_output(z);\n    p0.add_output(y);"));
    CHECK(contains(chip, "rt_submit_task(MixedKernels{0, 1, kInvalidKernel}, p0);"));
    CHECK(contains(g["kernels/main/cube.cpp"], "pld_arg<float>(args, 1)"));
    CHECK(contains(g["kernels/main/vec.cpp"], "pld_arg<float>(args, 2)"));
  }
  SECTION("three vector kernels do not fit") {
    Generated g(group("        z = self.cube(x, z)\n        y = self.vec(x, y)\n        y = self.vec2(x, y)\n"
                      "        y = self.vec3(x, y)\n        return y\n"),
                "p.pld", "main");
    CHECK_FALSE(g.good);
    CHECK(g.has(diag::codegen_group_parts));
  }
}

TEST_CASE("signals limit the number of ranks", "[codegen][generate]") {
  Generated g(
      with_host(
          "        buf = pld.alloc_window_buffer(256)\n        sig_buf = pld.alloc_window_buffer(16)\n"
          "        w = pld.window(buf, [1, 64], dtype=pl.FP32)\n        sig = pld.window(sig_buf, [4, 1], "
          "dtype=pl.INT32)\n"
          "        for r in pl.range(pld.world_size()):\n            self.put(xs[r:r + 1], w, device=r)\n"
          "        pld.tensor.allreduce(w, sig, op=pld.ReduceOp.Sum)\n        return ys\n") +
      "\n    @pl.function(type=pl.FunctionType.Orchestration)\n"
      "    def put(self, x: pl.Tensor[[1, 64], pl.FP32], w: pl.InOut[pld.DistributedTensor[[1, 64], "
      "pl.FP32]]) -> "
      "pld.DistributedTensor[[1, 64], pl.FP32]:\n        return self.stage(x, w)\n\n"
      "    @pl.function(type=pl.FunctionType.InCore)\n"
      "    def stage(self, x: pl.Tensor[[1, 64], pl.FP32], w: pl.InOut[pld.DistributedTensor[[1, 64], "
      "pl.FP32]]) -> "
      "pld.DistributedTensor[[1, 64], pl.FP32]:\n"
      "        return pl.store(pl.load(x, [0, 0], [1, 64]), [0, 0], w)\n");
  INFO(g.rendered);
  REQUIRE(g.good);
  CHECK(contains(g["host/host_orch.cpp"], "{\"pld.tensor.allreduce\", 4, false, {"));
  CHECK(contains(g["manifest.json"], "\"ranks\": 4"));
}
