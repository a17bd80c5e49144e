#include "generated.h"

using namespace codegentest;

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

TEST_CASE("elements of a result of several stand wherever a value does", "[codegen][generate]") {
  const std::string pair =
      "        with pl.manual_scope():\n            r = pl.submit(self.k, x, y)\n"
      "            s = pl.submit(self.k, r[0], y, deps=[r[1]])\n        return s[0]\n";
  Generated g(with_chip(pair));
  INFO(g.rendered);
  REQUIRE(g.good);
  CHECK(contains(g["chips/main.cpp"], "set_dependencies"));
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
