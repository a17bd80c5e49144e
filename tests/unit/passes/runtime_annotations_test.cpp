// MaterializeRuntimeScopes, ClassifyIterArgCarry and MaterializeValidShapeSymbols: numbered scenarios and all programs of
// the corpus.
#include "support/catch.h"
#include "unit/passes/orchestration.h"

namespace pldc {
void verify_RuntimeScopesMaterialized(const Program*, DiagSink&);
void verify_IterArgCarryClassified(const Program*, DiagSink&);
void verify_CallDirectionsResolved(const Program*, DiagSink&);
}  // namespace pldc

using namespace orchestration;
using Catch::Matchers::Contains;

namespace {

const std::string kCreate = "t: T = pl.tensor.create([64, 64], dtype=pl.FP32, layout=pl.TensorLayout.ND)\n";
const std::string kTuple = "pl.Tuple[pl.Tensor[[64, 64], pl.FP32], pl.Scalar[pl.TASK_ID]]";

std::string scoped(std::string_view body) {
  const std::string text = main_with(body);
  CHECK(idempotent(text, pldc::run_MaterializeRuntimeScopes));
  CHECK_THAT(golden::verify(text, pldc::verify_RuntimeScopesMaterialized).errors, Contains("'main'"));
  const golden::Result result = golden::run(text, {pldc::run_MaterializeRuntimeScopes});
  CHECK(golden::verify(result.text, pldc::verify_RuntimeScopesMaterialized).errors == "");
  CHECK_THAT(result.text, Contains("role=pl.Role.Orchestrator, auto_scope=False)\n    def main("));
  return main_after(text, pldc::run_MaterializeRuntimeScopes);
}

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("goldens of MaterializeRuntimeScopes, ClassifyIterArgCarry and MaterializeValidShapeSymbols") {
  const std::pair<std::string_view, pldc::PassFunction> passes[] = {
      {"MaterializeRuntimeScopes", pldc::run_MaterializeRuntimeScopes},
      {"ClassifyIterArgCarry", pldc::run_ClassifyIterArgCarry},
      {"MaterializeValidShapeSymbols", pldc::run_MaterializeValidShapeSymbols}};
  for (const auto& [name, pass] : passes) {
    int compared = 0;
    const std::string report = golden::compare_all(name, pass, compared);
    INFO(name << ": " << compared << " programs compared\n" << report);
    CHECK(report.empty());
    CHECK(compared >= static_cast<int>(golden::programs().size()) / 2);
  }
}

TEST_CASE("T111 T169 runtime scopes: bodies of functions, for loops and branches") {
  const std::string loop = scoped(
      "for i, (c,) in pl.range(4, init_values=(o,)):\n    d: T = self.put(x, i, c)\n    e: T = "
      "pl.yield_(d)\nreturn e");
  CHECK_THAT(loop,
             Contains("        with pl.scope():\n            for i, (c,) in pl.range(4, init_values=(o,)):\n"
                      "                with pl.scope():\n                    d: ") &&
                 Contains("                    e: " + kTensor + " = pl.yield_(d)\n            return e"));
  const std::string branches = scoped(
      "if n > 3:\n    a: T = self.put(x, 0, o)\n    p: T = pl.yield_(a)\nelse:\n    p: T = "
      "pl.yield_(o)\nreturn p");
  CHECK_THAT(branches, Contains("            if n > 3:\n                with pl.scope():\n") &&
                           Contains("            else:\n                with pl.scope():\n"
                                    "                    p: " +
                                    kTensor + " = pl.yield_(o)\n            return p"));
  const std::string then_only = scoped("if n > 3:\n    self.get(x)\nself.get(x)");
  CHECK(count(then_only, "with pl.scope():") == 2);
  CHECK_THAT(then_only, !Contains("else:"));
}

TEST_CASE("T111 runtime scopes: not around while bodies, not inside manual scopes, not twice") {
  const std::string loop = scoped(
      "for (c,) in pl.while_(init_values=(o,)):\n    pl.cond(n > 3)\n"
      "    for i in pl.range(2):\n        self.get(x)\n    e: T = pl.yield_(c)\nreturn e");
  CHECK(count(loop, "with pl.scope():") == 2);
  CHECK_THAT(loop, Contains("for i in pl.range(2):\n                    with pl.scope():\n"));
  const std::string manual = scoped(
      "for i in pl.range(4):\n    with pl.scope(mode=pl.ScopeMode.MANUAL):\n"
      "        for k in pl.range(2):\n            self.get(x)\n        if n > 3:\n            "
      "self.get(x)\nself.get(x)");
  CHECK(count(manual, "with pl.scope():") == 2);
  CHECK_THAT(manual, Contains("for i in pl.range(4):\n                with pl.scope():\n"
                              "                    with pl.scope(mode=pl.ScopeMode.MANUAL):\n"));
}

TEST_CASE("T111 runtime scopes: other functions and those that opted out stay as they are") {
  const auto same = [](const std::string& text) {
    const golden::Result before = golden::run(text, {});
    CHECK(before.errors == "");
    CHECK(golden::run(text, {pldc::run_MaterializeRuntimeScopes}).text == before.text);
  };
  same(golden::program(kernels()));
  const std::string body = "for i in pl.range(4):\n    self.get(x)\nself.get(x)";
  same(golden::program(kernels() +
                       function("(level=pl.Level.HOST, role=pl.Role.Orchestrator)", kParams, body)));
  same(golden::program(kernels() +
                       function("(type=pl.FunctionType.Orchestration, auto_scope=False)", kParams, body)));
}

namespace {

std::string classified(std::string_view body, std::string_view decorator = kOrchestration) {
  const std::string text = golden::program(kernels() + function(decorator, kParams, with_types(body)));
  CHECK(idempotent(text, pldc::run_ClassifyIterArgCarry));
  const golden::Result result =
      golden::run(text, {pldc::run_DeriveCallDirections, pldc::run_ClassifyIterArgCarry});
  if (!result.ok) return result.errors;
  CHECK(golden::verify(result.text, pldc::verify_IterArgCarryClassified).errors == "");
  return result.text.substr(result.text.find("def main("));
}
// A loop that carries a task id, in a manual scope or not.
std::string task_loop(const std::string& loop, const std::string& scope) {
  return "u0: " + kTuple + " = pl.submit(self.mod, x, o)\nt0: pl.Scalar[pl.TASK_ID] = u0[1]\nwith pl.scope(" +
         scope + "):\n    for i, (t,) in " + loop + ", init_values=(t0,)):\n        u: " + kTuple +
         " = pl.submit(self.mod, x, o, deps=[t])\n        t1: pl.Scalar[pl.TASK_ID] = u[1]\n"
         "        t2: pl.Scalar[pl.TASK_ID] = pl.yield_(t1)\nreturn o";
}
const std::string kManual = "mode=pl.ScopeMode.MANUAL";

}  // namespace

TEST_CASE(
    "T112 T169 carries: kept through InOut calls, assembles and inner loops, rebound by new buffers and "
    "swaps") {
  CHECK_THAT(classified("for i, (c,) in pl.range(4, init_values=(o,)):\n    d: T = self.mod(x, c)\n"
                        "    e: T = pl.yield_(d)\nreturn e"),
             Contains("init_values=(o,), attrs={\"iter_arg_rebind_0\": False}):"));
  CHECK_THAT(classified("for i, (c,) in pl.range(4, init_values=(o,)):\n    " + kCreate +
                        "    d: T = self.put(x, i, t)\n    e: T = pl.yield_(d)\nreturn e"),
             Contains("attrs={\"iter_arg_rebind_0\": True}):"));
  CHECK_THAT(classified("for i, (c,) in pl.range(4, init_values=(o,)):\n"
                        "    d: T = pl.tensor.assemble(c, x, [0, 0])\n    e: T = pl.yield_(d)\nreturn e"),
             Contains("attrs={\"iter_arg_rebind_0\": False}):"));
  CHECK_THAT(classified("for i, (a, b) in pl.range(4, init_values=(x, o)):\n    c: T = self.mod(x, a)\n"
                        "    d, e = pl.yield_(b, c)\nreturn e"),
             Contains("attrs={\"iter_arg_rebind_0\": True, \"iter_arg_rebind_1\": True}):"));
  const std::string nested = classified(
      "for i, (c,) in pl.range(4, init_values=(o,)):\n"
      "    for k, (d,) in pl.range(2, init_values=(c,)):\n        e: T = self.mod(x, d)\n        f: T = "
      "pl.yield_(e)\n"
      "    g: T = pl.yield_(f)\nreturn g");
  CHECK(count(nested, "attrs={\"iter_arg_rebind_0\": False}):") == 2);
  // The value from before the loop is not the carry; a result of a submit is.
  CHECK_THAT(classified("for i, (c,) in pl.range(4, init_values=(o,)):\n    e: T = pl.yield_(o)\nreturn e"),
             Contains("attrs={\"iter_arg_rebind_0\": True}):"));
  CHECK_THAT(classified("for i, (c,) in pl.range(4, init_values=(o,)):\n    u: " + kTuple +
                        " = pl.submit(self.mod, x, c)\n    d: T = u[0]\n    e: T = pl.yield_(d)\nreturn e"),
             Contains("attrs={\"iter_arg_rebind_0\": False}):"));
  // Loops without carries and other functions get nothing.
  CHECK_THAT(classified("for i in pl.range(4):\n    self.get(x)\nreturn o"), !Contains("iter_arg"));
  CHECK_THAT(
      classified("for i, (c,) in pl.range(4, init_values=(o,)):\n    e: T = pl.yield_(c)\nreturn e", ""),
      !Contains("iter_arg"));
}

TEST_CASE("T112 carries of task ids: size of the array, only in manual scopes") {
  const std::string four = "attrs={\"iter_arg_rebind_0\": True, \"iter_arg_array_size_0\": 4}):";
  CHECK_THAT(classified(task_loop("pl.parallel(4", kManual)), Contains(four));
  CHECK_THAT(classified(task_loop("pl.parallel(4, 0, -1", kManual)), Contains(four));
  CHECK_THAT(classified(task_loop("pl.parallel(4", "")), Contains("attrs={\"iter_arg_rebind_0\": True}):"));
  CHECK_THAT(classified(task_loop("pl.range(4", kManual)), Contains("attrs={\"iter_arg_rebind_0\": True}):"));
  for (const std::string loop : {"pl.parallel(n", "pl.parallel(4, 4"}) {
    INFO(loop);
    CHECK_THAT(classified(task_loop(loop, kManual)),
               Contains("PLD0694") && Contains("statically-known trip count") && Contains("'t'"));
  }
  const std::string nested = classified(
      "u0: " + kTuple + " = pl.submit(self.mod, x, o)\nt0: pl.Scalar[pl.TASK_ID] = u0[1]\nwith pl.scope(" +
      kManual +
      "):\n    for p, (s,) in pl.range(3, init_values=(t0,)):\n        for i, (t,) in pl.parallel(4, "
      "init_values=(s,)):\n            u: " +
      kTuple +
      " = pl.submit(self.mod, x, o, deps=[t])\n"
      "            t1: pl.Scalar[pl.TASK_ID] = u[1]\n            t2: pl.Scalar[pl.TASK_ID] = pl.yield_(t1)\n"
      "        t3: pl.Scalar[pl.TASK_ID] = pl.yield_(t2)\nreturn o");
  CHECK(count(nested, four) == 2);
}

namespace {

std::string valid(std::string_view extents) {
  return "pl.Tensor[[64, 64], pl.FP32, pl.TensorView(valid_shape=[" + std::string(extents) +
         "], stride=[], layout=pl.TensorLayout.ND)]";
}
// kern(params) and main(params), which calls it by `call`. V, U and W are symbols.
std::string symbols(const std::string& kernel_params, const std::string& main_params,
                    const std::string& call) {
  std::string text = golden::program(
      "    @pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)\n    def "
      "kern(" +
      kernel_params + ") -> " + kTensor + ":\n        return o\n" +
      function(kOrchestration, main_params, call));
  return text.insert(text.find("\n@pl.program"),
                     "\nV = pl.dynamic(\"V\")\nU = pl.dynamic(\"U\")\nW = pl.dynamic(\"W\")\n");
}
std::string with_symbols(const std::string& text) {
  CHECK(idempotent(text, pldc::run_MaterializeValidShapeSymbols));
  const golden::Result result = golden::run(text, {pldc::run_MaterializeValidShapeSymbols});
  return result.ok ? result.text : result.errors;
}
const std::string kOut = ", o: pl.Out[" + kTensor + "]";

}  // namespace

TEST_CASE("T113 T169 valid_shape symbols become leading parameters, calls pass the extents") {
  const std::string two = with_symbols(
      symbols("x: " + valid("V, U") + ", y: " + valid("V, 64") + kOut,
              "n: pl.Scalar[pl.INDEX], a: " + valid("n, 32") + ", b: " + valid("n, 64") + kOut,
              "r: " + kTensor +
                  " = self.kern(a, b, o, attrs={\"arg_directions\": [pl.adir.input, pl.adir.no_dep, "
                  "pl.adir.output_existing], \"arg_direction_overrides\": [1]})"));
  CHECK_THAT(
      two,
      Contains("def kern(V: pl.Scalar[pl.INDEX], U: pl.Scalar[pl.INDEX], x: ") &&
          Contains("self.kern(n, 32, a, b, o, attrs={\"arg_directions\": [pl.adir.scalar, pl.adir.scalar, "
                   "pl.adir.input, pl.adir.no_dep, pl.adir.output_existing], "
                   "\"arg_direction_overrides\": [3]})"));
  // A tensor that is valid as a whole gives its shape, one with a symbol of its own that symbol.
  CHECK_THAT(with_symbols(symbols("x: " + valid("V, U") + kOut, "a: " + kTensor + kOut,
                                  "r: " + kTensor + " = self.kern(a, o)")),
             Contains("self.kern(64, 64, a, o)"));
  CHECK_THAT(with_symbols(symbols("x: " + valid("V, 64") + kOut, "a: " + valid("W, 64") + kOut,
                                  "r: " + kTensor + " = self.kern(a, o)")),
             Contains("self.kern(W, a, o)") && Contains("def main(self, a: "));
  CHECK_THAT(with_symbols(symbols("x: " + valid("V, 64") + kOut, "a: " + kTensor + kOut,
                                  "u: " + kTuple + " = pl.submit(self.kern, a, o)")),
             Contains("pl.submit(self.kern, 64, a, o)"));
}

TEST_CASE("T113 valid_shape symbols that a shape or a parameter binds stay") {
  const auto same = [](const std::string& text) { CHECK(with_symbols(text) == golden::run(text, {}).text); };
  same(symbols("x: " + valid("V, 64") + ", y: pl.Tensor[[V, 64], pl.FP32]" + kOut,
               "a: " + kTensor + ", b: " + kTensor + kOut, "r: " + kTensor + " = self.kern(a, b, o)"));
  same(symbols("m: pl.Scalar[pl.INDEX], x: " + valid("m, 64") + kOut, "a: " + kTensor + kOut,
               "r: " + kTensor + " = self.kern(8, a, o)"));
  same(
      symbols("x: " + kTensor + kOut, "a: " + valid("W, 64") + kOut, "r: " + kTensor + " = self.kern(a, o)"));
}

TEST_CASE("T113 valid_shape symbols: what cannot be passed is refused") {
  CHECK_THAT(with_symbols(symbols("x: " + valid("V * 2, 64") + kOut, "a: " + kTensor + kOut,
                                  "r: " + kTensor + " = self.kern(a, o)")),
             Contains("PLD0691") && Contains("parameter 'x' of kernel 'kern'") &&
                 Contains("'V' only inside `V * 2`"));
  // Where it stands alone elsewhere it is known.
  CHECK_THAT(with_symbols(symbols("x: " + valid("V * 2, 64") + ", y: " + valid("V, 64") + kOut,
                                  "a: " + kTensor + kOut, "r: " + kTensor + " = self.kern(a, a, o)")),
             !Contains("PLD"));
  CHECK_THAT(with_symbols(symbols("x: " + kTensor + ", o: pl.Out[" + valid("V, 64") + "]", "a: " + kTensor,
                                  "u: " + kTuple + " = pl.submit(self.kern, a)")),
             Contains("PLD0693") && Contains("passes no argument for 'o'") && Contains("'V'"));
  const std::string differing = with_symbols(symbols(
      "x: " + valid("V, 64") + ", y: " + valid("V, 64") + kOut,
      "a: " + valid("32, 64") + ", b: " + valid("48, 64") + kOut, "r: " + kTensor + " = self.kern(a, b, o)"));
  CHECK_THAT(differing,
             Contains("PLD0692") && Contains("gives the symbol 'V' different extents: `32` and `48`"));
}
