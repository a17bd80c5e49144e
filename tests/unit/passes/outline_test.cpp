// The outliners: numbered scenarios of passes.md.
#include "support/catch.h"
#include "unit/passes/golden.h"

namespace pldc {
const Program* run_OutlineHierarchyScopes(PassEnv&, const Program*);
const Program* run_OutlineIncoreScopes(PassEnv&, const Program*);
const Program* run_OutlineClusterScopes(PassEnv&, const Program*);
}  // namespace pldc

using Catch::Matchers::Contains;

namespace {

const std::string kT = "pl.Tensor[[64, 64], pl.FP32]";

// A function in SSA form with this body; `T` stands for the tensor type, `AT` for a kernel scope.
std::string function(std::string_view name, std::string body, std::string_view decorator = "@pl.function") {
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (std::size_t at = body.find(from); at != std::string::npos; at = body.find(from, at + to.size()))
      body.replace(at, from.size(), to);
  };
  replace(": T", ": " + kT);
  replace("AT", "pl.at(level=pl.Level.CORE_GROUP");
  std::string out = "    " + std::string(decorator) + "\n    def " + std::string(name) +
                    "(self, x__ssa_v0: " + kT + ", o__ssa_v0: pl.Out[" + kT +
                    "], n__ssa_v0: pl.Scalar[pl.INDEX]) -> " + kT + ":\n        ";
  for (const char c : body) out += c == '\n' ? std::string("\n        ") : std::string(1, c);
  return out + "\n";
}

const std::string kKern =
    "    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)\n"
    "    def kern(x: " +
    kT + ", o: pl.Out[" + kT + "]) -> " + kT +
    ":\n"
    "        t: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [64, 64], [64, 64], "
    "target_memory=pl.Mem.Vec)\n"
    "        r: " +
    kT +
    " = pl.tile.store(t, [0, 0], o)\n"
    "        return r\n";

// The text after the pass with the tensor type written T, or the errors.
std::string outlined(std::string_view functions, pldc::PassFunction pass = pldc::run_OutlineIncoreScopes) {
  const golden::Result result = golden::run(golden::program(functions), {pass});
  if (!result.ok) return result.errors;
  std::string text = result.text;
  for (std::size_t at = text.find(kT); at != std::string::npos; at = text.find(kT, at))
    text.replace(at, kT.size(), "T");
  return text;
}

}  // namespace

TEST_CASE("T158 outline: names of kernels") {
  const std::string text = outlined(
      function("first",
               "with AT, name_hint=\"stage\"):\n    a: T = pl.tensor.adds(x__ssa_v0, 1.0)\n"
               "with AT, name_hint=\"stage\"):\n    b: T = pl.tensor.muls(a, 2.0)\n"
               "with AT):\n    c: T = pl.tensor.exp(b)\nreturn c") +
      function("second", "with AT, name_hint=\"stage\"):\n    d: T = pl.tensor.exp(x__ssa_v0)\nreturn d"));
  for (const char* name : {"def stage(", "def stage_0(", "def first_incore_2(", "def second_stage("})
    CHECK_THAT(text, Contains(name));
  CHECK_THAT(text,
             Contains("c: T = self.first_incore_2(b)") && Contains("d: T = self.second_stage(x__ssa_v0)"));
  // A name that a variable has is taken as well.
  CHECK_THAT(
      outlined(function("main", "with AT, name_hint=\"a\"):\n    a: T = pl.tensor.exp(x__ssa_v0)\nreturn a")),
      Contains("a: T = self.a_0(x__ssa_v0)"));
}

TEST_CASE("T159 outline: stores to outside tensors") {
  const std::string text = outlined(
      function("main",
               "with AT):\n    t: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x__ssa_v0, [0, 0], "
               "[64, 64], [64, 64], "
               "target_memory=pl.Mem.Vec)\n    pl.tile.store(t, [0, 0], o__ssa_v0)\nreturn o__ssa_v0"));
  CHECK_THAT(text, Contains("def main_incore_0(x__ssa_v0: T, o__ssa_v0: pl.Out[T]) -> T:"));
  CHECK_THAT(text, Contains("o__store: T = pl.tile.store(t, [0, 0], o__ssa_v0)\n        return o__ssa_v0\n"));
  CHECK_THAT(text,
             Contains("o__ssa_v1: T = self.main_incore_0(x__ssa_v0, o__ssa_v0)\n        return o__ssa_v1"));
}

TEST_CASE("T159 outline: what a loop of the parent carries is no output parameter") {
  const std::string text = outlined(
      function("main",
               "for i__idx_v0, (o__iter_v1,) in pl.range(4, init_values=(o__ssa_v0,)):\n    with AT):\n"
               "        o__ssa_v3: T = pl.tensor.assemble(o__iter_v1, x__ssa_v0, [0, 0])\n"
               "    o__rv_v2: T = pl.yield_(o__ssa_v3)\nreturn o__rv_v2"));
  CHECK_THAT(text, Contains("def main_incore_0(o__iter_v1: T, x__ssa_v0: T) -> T:") &&
                       Contains("return o__iter_v1\n"));
}

TEST_CASE("T160 outline: task ids, dependencies, no_dep_args") {
  const std::string text =
      outlined(function("main",
                        "with pl.scope(mode=pl.ScopeMode.MANUAL):\n"
                        "    with AT) as tid__ssa_v0:\n        a: T = pl.tensor.adds(x__ssa_v0, 1.0)\n"
                        "    with AT, deps=[tid__ssa_v0], no_dep_args=[x__ssa_v0]):\n        b: T = "
                        "pl.tensor.add(a, x__ssa_v0)\n"
                        "return b"));
  CHECK_THAT(
      text,
      Contains("ret__tmp_v0: pl.Tuple[T, pl.Scalar[pl.TASK_ID]] = pl.submit(self.main_incore_0, x__ssa_v0)\n"
               "            a: T = ret__tmp_v0[0]\n"
               "            tid__ssa_v0: pl.Scalar[pl.TASK_ID] = ret__tmp_v0[1]\n"));
  CHECK_THAT(text, Contains("pl.submit(self.main_incore_1, a, x__ssa_v0, deps=[tid__ssa_v0], "
                            "attrs={\"arg_direction_overrides\": [1]})") &&
                       Contains("tid__ssa_v1: pl.Scalar[pl.TASK_ID] = ret__tmp_v0_1[1]"));
  CHECK_THAT(text, !Contains("task_invalid"));
}

TEST_CASE("T161 outline: clusters and spmd scopes") {
  const std::string text = outlined(
      kKern + function("main",
                       "with pl.cluster():\n    a: T = self.kern(x__ssa_v0, o__ssa_v0)\n"
                       "with pl.spmd(8):\n    b: T = self.kern(x__ssa_v0, a)\n"
                       "with pl.spmd(n__ssa_v0 * 2, sync_start=True):\n    c: T = self.kern(x__ssa_v0, b)\n"
                       "with pl.cluster():\n    with pl.spmd(n__ssa_v0, sync_start=True):\n"
                       "        d: T = self.kern(x__ssa_v0, c)\nreturn d"),
      pldc::run_OutlineClusterScopes);
  CHECK_THAT(
      text,
      Contains("a: T = self.main_cluster_0(x__ssa_v0, o__ssa_v0)\n") &&
          Contains("b: T = self.main_spmd_0(x__ssa_v0, a, attrs={\"core_num\": 8})\n") &&
          Contains("c: T = self.main_spmd_1(x__ssa_v0, b, attrs={\"core_num\": n__ssa_v0 * 2, "
                   "\"sync_start\": True})\n") &&
          Contains("d: T = self.main_cluster_1(n__ssa_v0, x__ssa_v0, c, attrs={\"core_num\": n__ssa_v0, "
                   "\"sync_start\": True})\n"));
  CHECK_THAT(text, Contains("pl.func_attr({\"spmd_unwrapped\": True})"));
  CHECK_THAT(text, Contains("def main_cluster_0(x__ssa_v0: T, o__ssa_v0: pl.Out[T]) -> T:\n"
                            "        a: T = self.kern(x__ssa_v0, o__ssa_v0)\n        return o__ssa_v0\n"));
  CHECK_THAT(text, Contains("    @pl.function\n    def main("));
  CHECK_THAT(
      outlined(
          kKern + function("main",
                           "with pl.cluster():\n    k: pl.Scalar[pl.INDEX] = n__ssa_v0 * 2\n"
                           "    with pl.spmd(k):\n        d: T = self.kern(x__ssa_v0, o__ssa_v0)\nreturn d"),
          pldc::run_OutlineClusterScopes),
      Contains("pl.spmd() block count references 'k', which is defined inside the enclosing pl.cluster()"));
}

TEST_CASE("T162 outline: levels") {
  const std::string body =
      "with pl.at(level=pl.Level.HOST, role=pl.Role.Orchestrator):\n"
      "    with pl.at(level=pl.Level.CHIP, role=pl.Role.Orchestrator):\n        a: T = "
      "pl.tensor.adds(x__ssa_v0, 1.0)\n"
      "with pl.at(level=pl.Level.GLOBAL, name_hint=\"named\"):\n    b: T = pl.tensor.exp(a)\n"
      "with pl.at(level=pl.Level.POD):\n    c: T = pl.tensor.assemble(o__ssa_v0, b, [0, 0])\nreturn c";
  const std::string text = outlined(function("main", body), pldc::run_OutlineHierarchyScopes);
  CHECK_THAT(text, Contains("def main_host_orch_0(self, x__ssa_v0: T)") &&
                       Contains("def main_host_orch_0_chip_orch_0(self, x__ssa_v0: T)") &&
                       Contains("def named(") && Contains("c: T = self.main_cluster0_2(o__ssa_v0, b)") &&
                       Contains("def main_cluster0_2(self, o__ssa_v0: pl.Out[T], b: T) -> T:"));
  CHECK_THAT(text, Contains("a: T = self.main_host_orch_0_chip_orch_0(x__ssa_v0)\n        return a\n"));
  const std::string orchestration =
      "@pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)";
  CHECK_THAT(outlined(function("main", body, orchestration), pldc::run_OutlineHierarchyScopes),
             Contains("with pl.at(level=pl.Level.HOST, role=pl.Role.Orchestrator):"));
}

TEST_CASE("D19 outline: a tensor that a loop computes anew is not the parameter it starts from") {
  const std::string text = outlined(function("main",
                                             "with AT):\n    for i, (a,) in pl.range(4, "
                                             "init_values=(x__ssa_v0,)):\n        b: T = pl.tensor.exp(a)\n"
                                             "        c: T = pl.yield_(b)\nreturn c"));
  CHECK_THAT(text, Contains("c: T = pl.yield_(b)\n        return c\n") &&
                       Contains("c: T = self.main_incore_0(x__ssa_v0)"));
}

TEST_CASE("outline: a read of a dynamic dim becomes the symbol") {
  const std::string text =
      "import pypto.language as pl\n\nM = pl.dynamic(\"M\")\n\n@pl.program\nclass P:\n    @pl.function\n"
      "    def main(self, x: pl.Tensor[[M, 64], pl.FP32]) -> pl.Tensor[[M, 64], pl.FP32]:\n"
      "        m: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 0)\n"
      "        with pl.at(level=pl.Level.CORE_GROUP):\n"
      "            t: pl.Tensor[[m, 64], pl.FP32] = pl.tensor.create([m, 64], dtype=pl.FP32, "
      "layout=pl.TensorLayout.ND)\n        return t\n";
  const golden::Result result = golden::run(text, {pldc::run_OutlineIncoreScopes});
  INFO(result.errors);
  CHECK_THAT(result.text, Contains("pl.tensor.create([M, 64]") && !Contains("tensor.dim"));
}

TEST_CASE("outline: a scalar that is an extent of a captured tensor is captured before it") {
  const std::string text =
      "import pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function\n"
      "    def main(self, n: pl.Scalar[pl.INDEX], x: pl.Tensor[[n, 64], pl.FP32]) -> pl.Tensor[[n, 64], "
      "pl.FP32]:\n"
      "        with pl.at(level=pl.Level.CORE_GROUP):\n"
      "            t: pl.Tensor[[n, 64], pl.FP32] = pl.tensor.exp(x)\n        return t\n";
  const golden::Result result = golden::run(text, {pldc::run_OutlineIncoreScopes});
  INFO(result.errors);
  CHECK_THAT(result.text,
             Contains("def main_incore_0(n: pl.Scalar[pl.INDEX], x: pl.Tensor[[n, 64], pl.FP32])") &&
                 Contains("self.main_incore_0(n, x)"));
}

TEST_CASE("outline: a scope at the end of a function without return gives all that it makes") {
  const std::string text =
      outlined("    @pl.function\n    def main(self, x: " + kT +
               "):\n        with pl.at(level=pl.Level.CORE_GROUP):\n            a: " + kT +
               " = pl.tensor.adds(x, 1.0)\n            b: " + kT + " = pl.tensor.exp(a)\n");
  CHECK_THAT(text,
             Contains("return a, b\n") && Contains("ret__tmp_v0: pl.Tuple[T, T] = self.main_incore_0(x)"));
}

TEST_CASE("outline: names and functions stay linear in a long function") {
  std::string body;
  std::string last = "x__ssa_v0";
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "a" + std::to_string(i);
    body += "with AT):\n    " + name + ": T = pl.tensor.adds(" + last + ", 1.0)\n";
    last = name;
  }
  const std::string text = outlined(function("main", body + "return " + last));
  CHECK_THAT(text, Contains("a1999: T = self.main_incore_1999(a1998)\n        return a1999"));
}

TEST_CASE("outline: a scope takes elements of a tuple, not the tuple") {
  const std::string text =
      outlined(function("main", "r__ssa_v0: pl.Tuple[" + kT + ", " + kT +
                                    "] = [x__ssa_v0, o__ssa_v0]\n"
                                    "with AT):\n    a: T = pl.tensor.sub(r__ssa_v0[1], r__ssa_v0[0])\n"
                                    "    b: T = pl.tensor.add(a, r__ssa_v0[1])\nreturn b"));
  CHECK_THAT(text, Contains("r__tmp_v0: T = r__ssa_v0[1]\n        r__tmp_v1: T = r__ssa_v0[0]\n"));
  CHECK_THAT(text, Contains("self.main_incore_0(r__tmp_v0, r__tmp_v1)"));
}
