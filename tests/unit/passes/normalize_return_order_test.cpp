// NormalizeReturnOrder and the tracing of values to parameters: numbered scenarios and all programs of the
// corpus.
#include "support/catch.h"
#include "unit/passes/golden.h"

namespace pldc {
const Program* run_NormalizeReturnOrder(PassEnv&, const Program*);
void verify_ReturnParamsExplicit(const Program*, DiagSink&);
}  // namespace pldc

using namespace golden;
using Catch::Matchers::Contains;

namespace {

const std::string kTensor = "pl.Tensor[[16, 64], pl.FP32]";
const std::string kTile = "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]";

std::string kernel(const std::string& params, const std::string& returns, const std::string& body) {
  return "    @pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)\n"
         "    def kern(" +
         params + ") -> " + returns + ":\n" + "        t: " + kTile +
         " = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)\n" + body;
}

std::string store(const std::string& result, const std::string& target) {
  return "        " + result + ": " + kTensor + " = pl.tile.store(t, [0, 0], " + target + ")\n";
}

std::string three_results(const std::string& launch, const std::string& temporary) {
  return program(
      kernel("x: " + kTensor + ", a: pl.InOut[" + kTensor + "], b: pl.Out[" + kTensor + "], c: pl.Out[" +
                 kTensor + "]",
             "tuple[" + kTensor + ", " + kTensor + ", " + kTensor + "]",
             store("c1", "c") + store("a1", "a") + store("b1", "b") + "        return c1, a1, b1\n") +
      "    @pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)\n"
      "    def main(self, x: " +
      kTensor + ", a: pl.InOut[" + kTensor + "], b: pl.Out[" + kTensor + "], c: pl.Out[" + kTensor +
      "]) -> " + kTensor + ":\n" + "        v: " + temporary + " = " + launch + "\n" +
      "        r0: " + kTensor + " = v[0]\n        r1: " + kTensor + " = v[1]\n        r2: " + kTensor +
      " = v[2]\n" + "        return r0\n");
}

}  // namespace

TEST_CASE("T118 T164 return order: three outputs, one of them InOut, and the caller's reads") {
  const Result result = run(
      three_results("self.kern(x, a, b, c)", "pl.Tuple[" + kTensor + ", " + kTensor + ", " + kTensor + "]"),
      {pldc::run_NormalizeReturnOrder});
  CHECK(result.errors == "");
  CHECK_THAT(result.text, Contains("        return a, b, c\n"));
  CHECK_THAT(result.text, Contains("r0: " + kTensor + " = v[2]\n") &&
                              Contains("r1: " + kTensor + " = v[0]\n") &&
                              Contains("r2: " + kTensor + " = v[1]\n"));
  CHECK(golden::verify(result.text, pldc::verify_ReturnParamsExplicit).errors == "");
}

TEST_CASE("T118 T164 return order: results of a submit") {
  const std::string text =
      three_results("pl.submit(self.kern, x, a, b, c)",
                    "pl.Tuple[" + kTensor + ", " + kTensor + ", " + kTensor + ", pl.Scalar[pl.TASK_ID]]");
  const Result result = run(text, {pldc::run_NormalizeReturnOrder});
  CHECK(result.errors == "");
  CHECK_THAT(result.text, Contains("= v[2]\n") && Contains("r1: " + kTensor + " = v[0]\n"));
}

TEST_CASE("T118 return order: what is in order already stays") {
  const std::string text =
      program(kernel("x: " + kTensor + ", p: pl.Out[" + kTensor + "], q: pl.Out[" + kTensor + "]",
                     "tuple[" + kTensor + ", " + kTensor + "]",
                     store("p1", "p") + store("q1", "q") + "        return p, q\n"));
  const Result result = run(text, {pldc::run_NormalizeReturnOrder});
  CHECK(result.errors == "");
  CHECK(result.text + "\n" == text);
}

TEST_CASE("T118 return order: values that are no parameters keep their places") {
  const std::string text = program(kernel(
      "x: " + kTensor + ", p: pl.Out[" + kTensor + "], q: pl.Out[" + kTensor + "]",
      "tuple[" + kTensor + ", " + kTensor + ", " + kTensor + "]",
      "        n: " + kTensor + " = pl.tensor.create([16, 64], dtype=pl.FP32, layout=pl.TensorLayout.ND)\n" +
          store("q1", "q") + store("p1", "p") + "        return q1, n, p1\n"));
  const Result result = run(text, {pldc::run_NormalizeReturnOrder});
  CHECK(result.errors == "");
  CHECK_THAT(result.text, Contains("        return p, n, q\n") || Contains("        return p, n, q"));
}

TEST_CASE("T164 return order: a loop result that is the parameter's memory becomes the parameter") {
  const std::string loop =
      "        for i, (w,) in pl.range(4, init_values=(o,)):\n"
      "            u: " +
      kTensor +
      " = pl.tile.store(t, [0, 0], w)\n"
      "            r: " +
      kTensor +
      " = pl.yield_(u)\n"
      "        return r\n";
  const Result result = run(program(kernel("x: " + kTensor + ", o: pl.Out[" + kTensor + "]", kTensor, loop)),
                            {pldc::run_NormalizeReturnOrder});
  CHECK(result.errors == "");
  CHECK_THAT(result.text, Contains("        return o"));
}

TEST_CASE("return order: a loop that computes its carry anew does not return the initial value") {
  // The reference traces the result to x, whatever the body does.
  const std::string loop =
      "        for i, (w,) in pl.range(4, init_values=(x,)):\n"
      "            u: " +
      kTensor +
      " = pl.tensor.adds(w, 1.0)\n"
      "            r: " +
      kTensor +
      " = pl.yield_(u)\n"
      "        return r\n";
  const Result result = run(program(kernel("x: " + kTensor + ", o: pl.Out[" + kTensor + "]", kTensor, loop)),
                            {pldc::run_NormalizeReturnOrder});
  CHECK(result.errors == "");
  CHECK_THAT(result.text, Contains("        return r"));
}

TEST_CASE("return order: carries that a loop swaps are nobody's memory") {
  const std::string loop =
      "        for i, (v, w) in pl.range(4, init_values=(o, q)):\n"
      "            r, s = pl.yield_(w, v)\n"
      "        return r\n";
  const Result result =
      run(program(kernel("x: " + kTensor + ", o: pl.Out[" + kTensor + "], q: pl.Out[" + kTensor + "]",
                         kTensor, loop)),
          {pldc::run_NormalizeReturnOrder});
  CHECK(result.errors == "");
  CHECK_THAT(result.text, Contains("        return r"));
}

TEST_CASE("return order: every program of the corpus gives the reference's text") {
  if (corpus().empty()) return;
  int compared = 0;
  CHECK(compare_all("NormalizeReturnOrder", pldc::run_NormalizeReturnOrder, compared) == "");
  CHECK(compared > 0);
}

TEST_CASE("return order: a wrapper that hands on a tuple returns the parameters themselves") {
  const std::string params = "x: " + kTensor + ", p: pl.Out[" + kTensor + "], q: pl.Out[" + kTensor + "]";
  const std::string results = "tuple[" + kTensor + ", " + kTensor + "]";
  const Result result = run(
      program(
          kernel(params, results, store("p1", "p") + store("q1", "q") + "        return p1, q1\n") +
          "    @pl.function(type=pl.FunctionType.Group, level=pl.Level.CORE_GROUP, role=pl.Role.SubWorker)\n"
          "    def group(" +
          params + ") -> " + results + ":\n" + "        r: pl.Tuple[" + kTensor + ", " + kTensor +
          "] = self.kern(x, p, q)\n        return r\n"),
      {pldc::run_NormalizeReturnOrder});
  CHECK(result.errors == "");
  const auto group = result.text.find("def group");
  REQUIRE(group != std::string::npos);
  CHECK_THAT(result.text.substr(group), Contains("        return p, q"));
}

TEST_CASE("return order: only the first of several returns is made explicit") {
  const std::string body = "        if True:\n            " + store("a", "o").substr(8) +
                           "            return a\n" + store("b", "o") + "        return b\n";
  const Result result = run(program(kernel("x: " + kTensor + ", o: pl.Out[" + kTensor + "]", kTensor, body)),
                            {pldc::run_NormalizeReturnOrder});
  CHECK(result.errors == "");
  CHECK_THAT(result.text, Contains("            return o\n") && Contains("        return b"));
}
