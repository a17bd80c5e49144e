// FlattenCallExpr and NormalizeStmtStructure: numbered scenarios and all programs of the reference corpus.
#include "support/catch.h"
#include "unit/passes/golden.h"

namespace pldc {
const Program* run_FlattenCallExpr(PassEnv&, const Program*);
const Program* run_NormalizeStmtStructure(PassEnv&, const Program*);
void verify_NoNestedCalls(const Program*, DiagSink&);
}  // namespace pldc

using namespace golden;
using Catch::Matchers::Contains;

namespace {

constexpr std::string_view kHeader =
    "    @pl.function\n"
    "    def main(self, x: pl.Tensor[[M, N], pl.FP32], c: pl.Scalar[pl.BOOL]) -> pl.Scalar[pl.INDEX]:\n";

// The body of `main(self, x, c)` after the pass, or the errors.
std::string flat(std::string_view body) {
  std::string text =
      "# pypto.program: P\nimport pypto.language as pl\n\nM = pl.dynamic(\"M\")\nN = pl.dynamic(\"N\")\n\n"
      "@pl.program\nclass P:\n";
  text += kHeader;
  text += body;
  const Result result = run(text, {pldc::run_FlattenCallExpr});
  if (!result.ok) return result.errors;
  const Result verified = golden::verify(result.text, pldc::verify_NoNestedCalls);
  if (!verified.ok) return verified.errors + result.text;
  return result.text.substr(result.text.find(":\n", result.text.find("def main")) + 2);
}

}  // namespace

TEST_CASE("T148 flatten: the operands of a binary node are taken out after both are flat inside") {
  CHECK(flat("        v: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 0) + pl.tensor.dim(x, 1) * 2\n"
             "        return v\n") ==
        "        t__tmp_v0: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 1)\n"
        "        t__tmp_v1: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 0)\n"
        "        v: pl.Scalar[pl.INDEX] = t__tmp_v1 + t__tmp_v0 * 2\n"
        "        return v");
  CHECK(flat("        for i in pl.range(pl.tensor.dim(x, 0), pl.tensor.dim(x, 1) * 2):\n"
             "            v: pl.Scalar[pl.INDEX] = i\n"
             "        return pl.tensor.dim(x, 0)\n") ==
        "        t__tmp_v0: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 1)\n"
        "        t__tmp_v1: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 0)\n"
        "        for i in pl.range(t__tmp_v1, t__tmp_v0 * 2):\n"
        "            v: pl.Scalar[pl.INDEX] = i\n"
        "        t__tmp_v2: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 0)\n"
        "        return t__tmp_v2");
}

TEST_CASE("T148 flatten: comparisons under not and and") {
  CHECK(flat("        if not (pl.tensor.dim(x, 0) > 3 and pl.tensor.dim(x, 1) > -pl.tensor.dim(x, 0)):\n"
             "            pass\n"
             "        return pl.tensor.dim(x, 0)\n") ==
        "        t__tmp_v0: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 0)\n"
        "        t__tmp_v1: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 0)\n"
        "        t__tmp_v2: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 1)\n"
        "        if not (t__tmp_v0 > 3 and t__tmp_v2 > -t__tmp_v1):\n"
        "            pass\n"
        "        t__tmp_v3: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 0)\n"
        "        return t__tmp_v3");
}

TEST_CASE("T148 flatten: a target type that computes with a call reads it on its own") {
  CHECK(flat("        y: pl.Tensor[[pl.tensor.dim(x, 0), pl.tensor.dim(x, 1) + 1], pl.FP32] = "
             "pl.tensor.create([pl.tensor.dim(x, 0), pl.tensor.dim(x, 1) + 1], dtype=pl.FP32, "
             "layout=pl.TensorLayout.ND)\n"
             "        return pl.tensor.dim(y, 0)\n") ==
        "        t__tmp_v0: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 1)\n"
        "        t__tmp_v1: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 1)\n"
        "        y: pl.Tensor[[pl.tensor.dim(x, pl.const(0, pl.INDEX)), t__tmp_v0 + pl.const(1, pl.INDEX)], "
        "pl.FP32] = "
        "pl.tensor.create([pl.tensor.dim(x, 0), t__tmp_v1 + 1], dtype=pl.FP32, layout=pl.TensorLayout.ND)\n"
        "        t__tmp_v2: pl.Scalar[pl.INDEX] = pl.tensor.dim(y, 0)\n"
        "        return t__tmp_v2");
}

TEST_CASE("T149 flatten: temporaries stand before the comment, and numbers start anew in each function") {
  const std::string text = program(
      "    @pl.function\n"
      "    def f(self, x: pl.Tensor[[16], pl.FP32]) -> pl.Tensor[[16], pl.FP32]:\n"
      "        # two calls\n"
      "        return pl.tensor.exp(pl.tensor.exp(x))\n"
      "    @pl.function\n"
      "    def g(self, x: pl.Tensor[[16], pl.FP32]) -> pl.Tensor[[16], pl.FP32]:\n"
      "        return pl.tensor.exp(pl.tensor.exp(x))\n");
  const Result result = run(text, {pldc::run_FlattenCallExpr});
  CHECK(result.errors.empty());
  const std::string body =
      "        t__tmp_v0: pl.Tensor[[16], pl.FP32] = pl.tensor.exp(x)\n"
      "        t__tmp_v1: pl.Tensor[[16], pl.FP32] = pl.tensor.exp(t__tmp_v0)\n";
  CHECK_THAT(result.text, Contains(body + "        # two calls\n        return t__tmp_v1\n") &&
                              Contains(body + "        return t__tmp_v1"));
}

TEST_CASE("T150 flatten: the calls of a while condition are read once, before the loop") {
  CHECK(flat("        s: pl.Scalar[pl.INDEX] = 0\n"
             "        while s < pl.tensor.dim(x, 1):\n"
             "            s: pl.Scalar[pl.INDEX] = s + 1\n"
             "        return s\n") ==
        "        s: pl.Scalar[pl.INDEX] = 0\n"
        "        t__tmp_v0: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 1)\n"
        "        while s < t__tmp_v0:\n"
        "            s: pl.Scalar[pl.INDEX] = s + 1\n"
        "        return s");
}

TEST_CASE("T120 flatten: a call in a yield stays in the body, nothing leaves a with") {
  CHECK(flat("        with pl.at(level=pl.Level.CORE_GROUP):\n"
             "            for i, (a,) in pl.range(4, init_values=(x,)):\n"
             "                b: pl.Tensor[[M, N], pl.FP32] = pl.yield_(pl.tensor.exp(pl.tensor.exp(a)))\n"
             "            e: pl.Tensor[[M, N], pl.FP32] = pl.tensor.exp(pl.tensor.exp(b))\n"
             "        return pl.tensor.dim(e, 0)\n") ==
        "        with pl.at(level=pl.Level.CORE_GROUP):\n"
        "            for i, (a,) in pl.range(4, init_values=(x,)):\n"
        "                t__tmp_v0: pl.Tensor[[M, N], pl.FP32] = pl.tensor.exp(a)\n"
        "                t__tmp_v1: pl.Tensor[[M, N], pl.FP32] = pl.tensor.exp(t__tmp_v0)\n"
        "                b: pl.Tensor[[M, N], pl.FP32] = pl.yield_(t__tmp_v1)\n"
        "            t__tmp_v2: pl.Tensor[[M, N], pl.FP32] = pl.tensor.exp(b)\n"
        "            e: pl.Tensor[[M, N], pl.FP32] = pl.tensor.exp(t__tmp_v2)\n"
        "        t__tmp_v3: pl.Scalar[pl.INDEX] = pl.tensor.dim(e, 0)\n"
        "        return t__tmp_v3");
}

TEST_CASE("T120 flatten: world_size() as a loop bound becomes a temporary before the loop") {
  if (corpus().empty()) return;
  const Result result =
      run(text_of("pass_flatten_host_world_size", "05_Simplify.pld"), {pldc::run_FlattenCallExpr});
  CHECK_THAT(result.text, Contains("        t__tmp_v0: pl.Scalar[pl.INT64] = pld.system.world_size()\n"
                                   "        for r__idx_v0 in pl.range(t__tmp_v0):\n"));
}

TEST_CASE("flatten: every program of the corpus gives the reference's text") {
  if (corpus().empty()) return;
  int compared = 0;
  CHECK(compare_all("FlattenCallExpr", pldc::run_FlattenCallExpr, compared) == "");
  CHECK(compared > 0);
}

TEST_CASE("normalize structure: no program of the corpus changes") {
  if (corpus().empty()) return;
  int compared = 0;
  CHECK(compare_all("NormalizeStmtStructure", pldc::run_NormalizeStmtStructure, compared) == "");
  CHECK(compared > 0);
}
