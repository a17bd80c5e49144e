// Verifiers of call directions, runtime scopes, carries, assignments and atomic adds: T115 and passes.md
// section 3.
#include "passes/verify/verifiers.h"
#include "support/catch.h"
#include "unit/passes/dist_program.h"

using namespace dist;
using Catch::Matchers::Contains;

namespace {

std::string check(std::string_view functions, golden::Verifier verifier) {
  return golden::verify(program(functions), verifier).errors;
}

// A kernel with one parameter of each direction, and an orchestration that calls it with these directions.
std::string directions(std::string_view list, std::string_view args = "x, y, o, n") {
  return check(R"(@pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
def kern(a: pl.Tensor[[64], pl.FP32], b: pl.InOut[pl.Tensor[[64], pl.FP32]], c: pl.Out[pl.Tensor[[64], pl.FP32]], n: pl.Scalar[pl.INDEX]):
    pass

@pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)
def main(self, x: pl.Tensor[[64], pl.FP32], y: pl.InOut[pl.Tensor[[64], pl.FP32]], o: pl.Out[pl.Tensor[[64], pl.FP32]], n: pl.Scalar[pl.INDEX]):
    self.kern()" + std::string(args) +
                   (list.empty() ? std::string()
                                 : ", attrs={\"arg_directions\": [" + std::string(list) + "]}") +
                   ")\n",
               pldc::verify_CallDirectionsResolved);
}

}  // namespace

TEST_CASE("T115 directions of calls") {
  CHECK(directions("pl.adir.input, pl.adir.inout, pl.adir.output_existing, pl.adir.scalar").empty());
  CHECK(directions("pl.adir.no_dep, pl.adir.output_existing, pl.adir.inout, pl.adir.scalar").empty());
  CHECK(directions("pl.adir.input, pl.adir.no_dep, pl.adir.output, pl.adir.scalar").empty());
  CHECK_THAT(directions(""), Contains("does not say how its arguments are used"));
  CHECK_THAT(directions("pl.adir.input"),
             Contains("has 1 arg_directions for 4 arguments") && Contains("PLD0681"));
  CHECK_THAT(directions("pl.adir.output, pl.adir.inout, pl.adir.output_existing, pl.adir.scalar"),
             Contains("parameter 'a' is declared In") && Contains("input or no_dep"));
  CHECK_THAT(directions("pl.adir.input, pl.adir.inout, pl.adir.input, pl.adir.scalar"),
             Contains("parameter 'c' is declared Out") && Contains("PLD0683"));
  CHECK_THAT(directions("pl.adir.input, pl.adir.input, pl.adir.inout, pl.adir.scalar"),
             Contains("parameter 'b' is declared InOut"));
  CHECK_THAT(directions("pl.adir.scalar, pl.adir.inout, pl.adir.inout, pl.adir.scalar"),
             Contains("is a tensor and has direction scalar"));
  CHECK_THAT(directions("pl.adir.input, pl.adir.inout, pl.adir.inout, pl.adir.input"),
             Contains("is no tensor and has direction input") && Contains("PLD0682"));
}

TEST_CASE("T115 directions of wrappers") {
  const auto wrapper = [](std::string_view direction) {
    return check(R"(@pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
def kern(b: pl.InOut[pl.Tensor[[64], pl.FP32]]):
    pass

@pl.function(type=pl.FunctionType.Group, level=pl.Level.CORE_GROUP, role=pl.Role.SubWorker)
def group(b: )" + std::string(direction) +
                     "):\n    self.kern(b, attrs={\"arg_directions\": [pl.adir.inout]})\n",
                 pldc::verify_CallDirectionsResolved);
  };
  CHECK(wrapper("pl.InOut[pl.Tensor[[64], pl.FP32]]").empty());
  CHECK_THAT(wrapper("pl.Tensor[[64], pl.FP32]"),
             Contains("stale param_directions_") && Contains("'b' is declared In") && Contains("PLD0684"));
  CHECK_THAT(wrapper("pl.Out[pl.Tensor[[64], pl.FP32]]"), Contains("stale param_directions_"));
}

TEST_CASE("runtime scopes") {
  const auto orchestration = [](std::string_view decorator) {
    return check(
        "@pl.function(" + std::string(decorator) + ")\ndef f(self, n: pl.Scalar[pl.INDEX]):\n    return n\n",
        pldc::verify_RuntimeScopesMaterialized);
  };
  CHECK_THAT(orchestration("type=pl.FunctionType.Orchestration"),
             Contains("'f' has no explicit runtime scopes"));
  CHECK(orchestration("type=pl.FunctionType.Orchestration, auto_scope=False").empty());
  CHECK(orchestration("level=pl.Level.HOST, role=pl.Role.Orchestrator").empty());
}

TEST_CASE("carries") {
  const auto loop = [](std::string_view attrs) {
    return check(
        "@pl.function(type=pl.FunctionType.Orchestration)\ndef f(self, x: pl.Tensor[[64], pl.FP32]):\n"
        "    for i, (a,) in pl.range(3, init_values=(x,)" +
            std::string(attrs) + "):\n        b = pl.yield_(a)\n    return b\n",
        pldc::verify_IterArgCarryClassified);
  };
  CHECK_THAT(loop(""), Contains("does not say how its carry 'a' is kept"));
  CHECK(loop(", attrs={\"iter_arg_rebind_0\": False}").empty());
  CHECK(loop(", attrs={\"iter_arg_rebind_0\": True, \"iter_arg_array_size_0\": 4}").empty());
  CHECK_THAT(loop(", attrs={\"iter_arg_rebind_0\": False, \"iter_arg_array_size_0\": 4}"),
             Contains("cannot have iter_arg_array_size_0"));
}

TEST_CASE("both sides of an assignment") {
  const auto symmetry = [](std::string_view body) {
    return check("@pl.function\ndef f(self, x: pl.Tensor[[64], pl.FP32], n: pl.Scalar[pl.INDEX]):\n" +
                     indented(body, 4),
                 pldc::verify_AssignTypeSymmetry);
  };
  CHECK(symmetry("y: pl.Tensor[[64], pl.FP32] = x\nm: pl.Scalar[pl.INDEX] = n + 1\nreturn y\n").empty());
  CHECK_THAT(symmetry("y: pl.Tensor[[32], pl.FP32] = x\nreturn y\n"), Contains("'y' has type"));
  CHECK_THAT(symmetry("y: pl.Tensor[[64], pl.FP16] = x\nreturn y\n"), Contains("'y' has type"));
}

TEST_CASE("atomic adds of BF16") {
  const std::string text =
      "@pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)\n"
      "def k(x: pl.Tensor[[16, 16], pl.BF16], o: pl.InOut[pl.Tensor[[16, 16], pl.BF16]]) -> pl.Tensor[[16, "
      "16], pl.BF16]:\n"
      "    t = pl.load(x, [0, 0], [16, 16])\n"
      "    r = pl.store(t, [0, 0], o, atomic=pl.AtomicType.Add)\n"
      "    return r\n";
  CHECK_THAT(check(text, pldc::find_bf16_atomic_adds), Contains("adds BF16 values atomically"));
  CHECK(check(text, pldc::verify_AtomicAddDtypeValid).empty());
}

TEST_CASE("verifiers of stages 46 and 47 accept the reference's texts and refuse those before") {
  if (golden::corpus().empty()) return;
  int checked = 0;
  for (const golden::Case& c : golden::cases("ClassifyIterArgCarry")) {
    if (c.error || checked >= 40) continue;
    ++checked;
    INFO(c.program);
    CHECK(golden::verify(c.before, pldc::verify_RuntimeScopesMaterialized).errors.empty());
    CHECK(golden::verify(c.after, pldc::verify_IterArgCarryClassified).errors.empty());
    CHECK(golden::verify(c.after, pldc::verify_CallDirectionsResolved).errors.empty());
  }
}
