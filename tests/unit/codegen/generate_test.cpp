#include "generated.h"

using namespace codegentest;

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

TEST_CASE("clang is told of blocks that nest deeper than it takes by itself", "[codegen][generate]") {
  const auto makefile = [](int links) {
    std::string text =
        "import pypto.language as pl\n\n@pl.program\nclass P:\n    "
        "@pl.function(type=pl.FunctionType.InCore)\n"
        "    def k(n: pl.Scalar[pl.INDEX], x: pl.Tensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], "
        "pl.FP32]]):\n"
        "        t = pl.load(x, [0, 0], [1, 64])\n        if n == 0:\n            t = pl.add(t, 1.0)\n";
    for (int i = 1; i <= links; ++i)
      text += "        elif n == " + std::to_string(i) + ":\n            t = pl.mul(t, 2.0)\n";
    text +=
        "        return pl.store(t, [0, 0], y)\n\n    @pl.function(type=pl.FunctionType.Orchestration)\n"
        "    def main(n: pl.Scalar[pl.INDEX], x: pl.Tensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], "
        "pl.FP32]]):\n"
        "        return self.k(n, x, y)\n";
    Generated g(text, "t.pld");
    INFO(g.rendered);
    REQUIRE(g.good);
    return g["Makefile"];
  };
  CHECK(contains(makefile(500), "-fbracket-depth="));
  CHECK_FALSE(contains(makefile(20), "bracket"));
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
    CHECK(g.has(diag::codegen_argument));
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
