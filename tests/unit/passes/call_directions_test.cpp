// FuseCreateAssembleToSlice, DeriveCallDirections and ExpandManualPhaseFence: numbered scenarios and all programs of the
// corpus.
#include "support/catch.h"
#include "unit/passes/orchestration.h"

namespace pldc {
void verify_CallDirectionsResolved(const Program*, DiagSink&);
}  // namespace pldc

using namespace orchestration;
using Catch::Matchers::Contains;

namespace {

std::string directions(std::string_view body, std::string_view params = kParams) {
  const std::string text = main_with(body, params);
  const golden::Result result = golden::run(text, {pldc::run_DeriveCallDirections});
  INFO(result.errors);
  CHECK(golden::verify(result.text, pldc::verify_CallDirectionsResolved).errors == "");
  CHECK(idempotent(text, pldc::run_DeriveCallDirections));
  return main_after(text, pldc::run_DeriveCallDirections);
}

std::string adir(std::string_view list) { return "attrs={\"arg_directions\": [" + std::string(list) + "]"; }
const std::string kInput = "pl.adir.input";
const std::string kPutNew = adir("pl.adir.input, pl.adir.scalar, pl.adir.output_existing");
const std::string kPutAgain = adir("pl.adir.input, pl.adir.scalar, pl.adir.inout");
const std::string kMod = adir("pl.adir.input, pl.adir.inout");

void check_corpus(std::string_view name, pldc::PassFunction pass) {
  int compared = 0;
  const std::string report = golden::compare_all(name, pass, compared);
  INFO(name << ": " << compared << " programs compared\n" << report);
  CHECK(report.empty());
  CHECK(compared >= static_cast<int>(golden::programs().size()) / 2);
}

}  // namespace

TEST_CASE("goldens of FuseCreateAssembleToSlice, DeriveCallDirections and ExpandManualPhaseFence") {
  check_corpus("FuseCreateAssembleToSlice", pldc::run_FuseCreateAssembleToSlice);
  check_corpus("DeriveCallDirections", pldc::run_DeriveCallDirections);
  check_corpus("ExpandManualPhaseFence", pldc::run_ExpandManualPhaseFence);
}

TEST_CASE("T114 directions on a straight line") {
  const std::string text = directions(
      "a: T = self.put(x, n, o)\n"
      "b: T = self.mod(x, a)\n"
      "c: T = self.put(x, 16, b)\n"
      "self.get(x)\n"
      "t: T = pl.tensor.create([64, 64], dtype=pl.FP32, layout=pl.TensorLayout.ND)\n"
      "t1: T = self.put(c, 0, t)\n"
      "return t1");
  CHECK_THAT(text, Contains("self.put(x, n, o, " + kPutNew) && Contains("self.mod(x, a, " + kMod) &&
                       Contains("self.put(x, 16, b, " + kPutAgain) &&
                       Contains("self.get(x, " + adir(kInput)) && Contains("self.put(c, 0, t, " + kPutNew));
}

TEST_CASE("T114 directions in loops: sequential ones repeat, parallel ones do not") {
  for (const std::string loop : {"pl.range(4, ", "pl.pipeline(4, stage=2, "}) {
    INFO(loop);
    CHECK_THAT(
        directions("for i, (c,) in " + loop +
                   "init_values=(o,)):\n    d: T = self.put(x, i, c)\n    e: T = pl.yield_(d)\nreturn e"),
        Contains("self.put(x, i, c, " + kPutAgain));
  }
  CHECK_THAT(
      directions(
          "k: pl.Scalar[pl.INDEX] = 0\n"
          "for (c,) in pl.while_(init_values=(o,)):\n    pl.cond(k < n)\n    d: T = self.put(x, 0, c)\n"
          "    e: T = pl.yield_(d)\nreturn e"),
      Contains("self.put(x, 0, c, " + kPutAgain));
  const std::string parallel =
      "for i, (c,) in pl.parallel(4, init_values=(o,)):\n    d: T = self.put(x, i, c)\n    e: T = "
      "pl.yield_(d)\n";
  CHECK_THAT(directions(parallel + "return e"), Contains("self.put(x, i, c, " + kPutNew));
  // What an earlier statement wrote, a loop body included, is written.
  CHECK_THAT(directions(parallel + "f: T = self.put(x, 0, e)\nreturn f"),
             Contains("self.put(x, 0, e, " + kPutAgain));
  CHECK_THAT(directions("f: T = self.put(x, 0, o)\n"
                        "for i, (c,) in pl.parallel(4, init_values=(f,)):\n    d: T = self.put(x, i, c)\n"
                        "    e: T = pl.yield_(d)\nreturn e"),
             Contains("self.put(x, i, c, " + kPutAgain));
  CHECK_THAT(
      directions(
          "for p in pl.range(2):\n    for i in pl.parallel(4):\n        d: T = self.put(x, i, o)\nreturn o"),
      Contains("self.put(x, i, o, " + kPutAgain));
}

TEST_CASE("T114 directions in branches: each is the first, after them none is") {
  const std::string text = directions(
      "if n > 3:\n    a: T = self.put(x, 0, o)\n    p: T = pl.yield_(a)\n"
      "else:\n    b: T = self.put(x, 16, o)\n    p: T = pl.yield_(b)\n"
      "c: T = self.put(x, 32, p)\nreturn c");
  CHECK_THAT(text, Contains("self.put(x, 0, o, " + kPutNew) && Contains("self.put(x, 16, o, " + kPutNew) &&
                       Contains("self.put(x, 32, p, " + kPutAgain));
  // Branches that give different buffers: the result may be either.
  CHECK_THAT(directions("t: T = pl.tensor.create([64, 64], dtype=pl.FP32, layout=pl.TensorLayout.ND)\n"
                        "if n > 3:\n    p: T = pl.yield_(o)\nelse:\n    p: T = pl.yield_(t)\n"
                        "q: T = p\nc: T = self.put(x, 32, q)\nreturn c"),
             Contains("self.put(x, 32, q, " + kPutAgain));
  // Only one branch writes: after the if it may be written.
  CHECK_THAT(directions("if n > 3:\n    a: T = self.put(x, 0, o)\nc: T = self.put(x, 32, o)\nreturn c"),
             Contains("self.put(x, 32, o, " + kPutAgain));
}

TEST_CASE("T114 directions: own InOut parameters, slices, overrides, written ones") {
  const std::string inout = "n: pl.Scalar[pl.INDEX], x: " + kTensor + ", o: pl.InOut[" + kTensor + "]";
  CHECK_THAT(directions("a: T = self.put(x, n, o)\nreturn a", inout),
             Contains("self.put(x, n, o, " + kPutAgain));
  const std::string slices = directions(
      "s: T = pl.tensor.slice(o, [64, 64], [0, 0])\na: T = self.put(x, n, s)\n"
      "t: T = pl.tensor.slice(o, [64, 64], [0, 0])\nb: T = self.put(x, n, t)\nreturn o");
  CHECK_THAT(slices, Contains("self.put(x, n, s, " + kPutNew) && Contains("self.put(x, n, t, " + kPutNew));
  CHECK_THAT(directions("a: T = self.put(x, n, o, attrs={\"arg_direction_overrides\": [0, 1, 2]})\nreturn a"),
             Contains("attrs={\"arg_directions\": [pl.adir.no_dep, pl.adir.scalar, pl.adir.no_dep], "
                      "\"arg_direction_overrides\": [0, 1, 2]}"));
  const std::string given = "[pl.adir.input, pl.adir.scalar, pl.adir.output]";
  const std::string kept = directions("a: T = self.put(x, n, o, attrs={\"arg_directions\": " + given +
                                      "})\nb: T = self.put(x, n, a)\nreturn b");
  CHECK_THAT(kept, Contains("self.put(x, n, o, attrs={\"arg_directions\": " + given + "})") &&
                       Contains("self.put(x, n, a, " + kPutAgain));
}

TEST_CASE("T114 directions of submits: launch and dependencies stay, outputs may be left out") {
  const std::string text = directions(
      "with pl.scope(mode=pl.ScopeMode.MANUAL):\n"
      "    u: pl.Tuple[pl.Tensor[[64, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = pl.submit(self.put, x, n, o)\n"
      "    t: pl.Scalar[pl.TASK_ID] = u[1]\n"
      "    a: T = u[0]\n"
      "    v: pl.Tuple[pl.Tensor[[64, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = pl.submit(self.put, a, n, "
      "deps=[t], "
      "allow_early_resolve=True)\n"
      "    w: pl.Tuple[pl.Tensor[[64, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = pl.submit(self.put, x, n, a)\n"
      "return a");
  CHECK_THAT(text, Contains("pl.submit(self.put, x, n, o, " + kPutNew) &&
                       Contains("pl.submit(self.put, a, n, deps=[t], allow_early_resolve=True, " +
                                adir("pl.adir.input, pl.adir.scalar")) &&
                       Contains("pl.submit(self.put, x, n, a, " + kPutAgain));
}

TEST_CASE("T114 T115 wrappers declare what their callees do, through other wrappers, upwards only") {
  const auto group = [&](const std::string& name, const std::string& direction, const std::string& body) {
    const std::string type = direction.empty() ? kTensor : direction + "[" + kTensor + "]";
    return "    @pl.function(type=pl.FunctionType.Group, level=pl.Level.CORE_GROUP, "
           "role=pl.Role.SubWorker)\n    def " +
           name + "(x: " + kTensor + ", o: " + type + ") -> " + kTensor + ":\n" + block(with_types(body));
  };
  const std::string text = golden::program(
      kernels() + group("a_outer", "", "r: T = self.inner(x, o)\nreturn o") +
      group("inner", "", "r: T = self.mod(x, o)\nreturn o") +
      group("only_out", "", "r: T = self.put(x, 0, o)\nreturn o") +
      group("strong", "pl.InOut", "r: T = self.put(x, 0, o)\nreturn o") +
      function(
          kOrchestration, kParams,
          with_types(
              "a: T = self.a_outer(x, o)\nb: T = self.only_out(x, a)\nc: T = self.strong(x, b)\nreturn c")));
  CHECK_THAT(golden::verify(text, pldc::verify_CallDirectionsResolved).errors,
             Contains("stale param_directions_"));
  const golden::Result result = golden::run(text, {pldc::run_DeriveCallDirections});
  CHECK(result.errors == "");
  CHECK(golden::verify(result.text, pldc::verify_CallDirectionsResolved).errors == "");
  for (const std::string name : {"a_outer", "inner", "strong"})
    CHECK_THAT(result.text, Contains("def " + name + "(x: " + kTensor + ", o: pl.InOut["));
  CHECK_THAT(result.text, Contains("def only_out(x: " + kTensor + ", o: pl.Out[") &&
                              Contains("self.a_outer(x, o, " + kMod) &&
                              Contains("self.only_out(x, a, " + kMod) &&
                              Contains("self.strong(x, b, " + kMod));
}

namespace {

// Producers fill an array of `producers` task ids; `consumers` stand behind it.
std::string fenced(const std::string& consumers, int producers = 4,
                   std::string_view decorator = kOrchestration) {
  const std::string n = std::to_string(producers);
  const std::string body =
      "with pl.scope(mode=pl.ScopeMode.MANUAL):\n"
      "    tids: pl.Array[" +
      n + ", pl.TASK_ID] = pl.array.create(" + n +
      ", dtype=pl.TASK_ID)\n"
      "    u0: pl.Tuple[pl.Tensor[[64, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = pl.submit(self.mod, x, o)\n"
      "    t0: pl.Scalar[pl.TASK_ID] = u0[1]\n" +
      block(consumers, 4) + "return o";
  return golden::program(kernels() + function(decorator, kParams, body));
}
std::string submit(const std::string& name, const std::string& deps) {
  return name +
         ": pl.Tuple[pl.Tensor[[64, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = pl.submit(self.mod, x, o, "
         "deps=[" +
         deps + "])\n";
}
std::string after_fence(const std::string& text) {
  CHECK(idempotent(text, pldc::run_ExpandManualPhaseFence));
  return main_after(text, pldc::run_ExpandManualPhaseFence);
}
const std::string kFence =
    "phase_fence_barrier_0_tid: pl.Scalar[pl.TASK_ID] = pl.system.task_dummy(deps=[tids])\n";

}  // namespace

TEST_CASE("T116 T165 phase fence: four by four and three by three, not two by two") {
  const std::string loop = "for i in pl.parallel(4):\n    " + submit("u", "tids");
  CHECK_THAT(after_fence(fenced(loop)),
             Contains("            " + kFence + "            for i in pl.parallel(4):\n") &&
                 Contains("deps=[phase_fence_barrier_0_tid]") && !Contains(", deps=[tids])"));
  const std::string range = "for i in pl.range(3):\n    " + submit("u", "tids");
  CHECK_THAT(after_fence(fenced(range, 3)), Contains(kFence));
  CHECK_THAT(after_fence(fenced("for i in pl.parallel(2):\n    " + submit("u", "tids"), 2)),
             !Contains("phase_fence") && Contains("deps=[tids]"));
  // 2 producers and 3 consumers: 6 edges or 5.
  CHECK_THAT(after_fence(fenced("for i in pl.parallel(3):\n    " + submit("u", "tids"), 2)),
             Contains(kFence));
  // Two submits in the body count twice.
  CHECK_THAT(after_fence(fenced(
                 "for i in pl.parallel(2):\n    " + submit("u", "tids") + "    " + submit("v", "tids"), 2)),
             Contains(kFence));
  // A loop that may run any number of times, but in order, counts once; counting down is counting.
  CHECK_THAT(after_fence(fenced("for i in pl.range(n):\n    " + submit("u", "tids"))),
             !Contains("phase_fence"));
  CHECK_THAT(after_fence(fenced("for i in pl.parallel(4, 0, -1):\n    " + submit("u", "tids"))),
             Contains(kFence));
}

TEST_CASE("T116 T165 phase fence: before the outermost sequential loop whose inner trip counts are known") {
  const std::string nested =
      "for p in pl.range(2):\n    for i in pl.parallel(2):\n        " + submit("u", "tids");
  const std::string text = after_fence(fenced(nested));
  CHECK_THAT(text, Contains("            " + kFence + "            for p in pl.range(2):\n") &&
                       !Contains("barrier_1"));
  // Inside a parallel loop each iteration has its own fence.
  const std::string inside = after_fence(
      fenced("for p in pl.parallel(2):\n    for i in pl.range(4):\n        " + submit("u", "tids")));
  CHECK_THAT(inside, Contains("                " + kFence + "                for i in pl.range(4):\n"));
  // What stands in a loop of unknown length is not counted outside, and keeps its array.
  const std::string both = after_fence(fenced("for p in pl.range(4):\n    " + submit("u", "tids") +
                                              "    for i in pl.range(n):\n        " + submit("v", "tids")));
  CHECK_THAT(both,
             Contains(kFence) && Contains("deps=[tids]") && Contains("deps=[phase_fence_barrier_0_tid]"));
  // Two arrays, two fences.
  const std::string two =
      after_fence(fenced("more: pl.Array[4, pl.TASK_ID] = pl.array.create(4, dtype=pl.TASK_ID)\n"
                         "for i in pl.parallel(4):\n    " +
                         submit("u", "tids") + "    " + submit("v", "more")));
  CHECK_THAT(two, Contains(kFence) &&
                      Contains("phase_fence_barrier_1_tid: pl.Scalar[pl.TASK_ID] = "
                               "pl.system.task_dummy(deps=[more])") &&
                      Contains("deps=[phase_fence_barrier_1_tid]"));
}

TEST_CASE("T116 phase fence: arrays that change, other dependencies and other functions stay direct") {
  const auto direct = [](const std::string& text) {
    CHECK_THAT(after_fence(text), !Contains("phase_fence"));
  };
  const std::string submit_one = "        " + submit("u", "tids");
  direct(fenced("for i in pl.parallel(4):\n    " + submit("u", "tids, t0")));
  direct(fenced("for i in pl.parallel(4):\n    " + submit("u", "t0")));
  direct(fenced("for i in pl.parallel(n):\n    " + submit("u", "tids")));
  direct(fenced("for i in pl.parallel(4, 4):\n    " + submit("u", "tids")));
  direct(fenced("for i in pl.range(4, 4):\n    " + submit("u", "tids")));
  // A carry, an array made in the body, one that the body changes, by its own or by a carry's name.
  direct(fenced("for i, (c,) in pl.parallel(4, init_values=(tids,)):\n    " + submit("u", "c") +
                "    r: pl.Array[4, pl.TASK_ID] = pl.yield_(c)\n"));
  direct(
      fenced("for i in pl.parallel(4):\n    c: pl.Array[4, pl.TASK_ID] = pl.array.create(4, "
             "dtype=pl.TASK_ID)\n    " +
             submit("u", "c")));
  direct(fenced("for i in pl.parallel(4):\n    " + submit("u", "tids") +
                "    c: pl.Array[4, pl.TASK_ID] = pl.array.update_element(tids, i, t0)\n"));
  direct(fenced("for i, (c,) in pl.range(4, init_values=(tids,)):\n    " + submit("u", "tids") +
                "    d: pl.Array[4, pl.TASK_ID] = pl.array.update_element(c, i, t0)\n"
                "    r: pl.Array[4, pl.TASK_ID] = pl.yield_(d)\n"));
  const std::string loop = "for i in pl.parallel(4):\n    " + submit("u", "tids");
  direct(fenced(loop, 4, ""));
  std::string automatic = fenced(loop);
  const std::size_t mode = automatic.find("mode=pl.ScopeMode.MANUAL");
  direct(automatic.replace(mode, std::string_view("mode=pl.ScopeMode.MANUAL").size(), ""));
}

namespace {

std::string fused(const std::string& text) {
  CHECK(idempotent(text, pldc::run_FuseCreateAssembleToSlice));
  return main_after(text, pldc::run_FuseCreateAssembleToSlice);
}
const std::string kWide = "pl.Tensor[[256, 64], pl.FP32]";
std::string wide(std::string_view body) {
  return main_with(body, "n: pl.Scalar[pl.INDEX], x: " + kTensor + ", o: pl.Out[" + kWide + "]");
}
const std::string kCreate = "t: T = pl.tensor.create([64, 64], dtype=pl.FP32, layout=pl.TensorLayout.ND)\n";

}  // namespace

TEST_CASE("T163 fuse: the buffer becomes a slice, the copy and the carry disappear") {
  const std::string text =
      fused(wide("for i, (c,) in pl.parallel(0, 256, 64, init_values=(o,)):\n    " + kCreate +
                 "    u: T = self.put(x, i, t)\n"
                 "    d: " +
                 kWide +
                 " = pl.tensor.assemble(c, u, [i, 0])\n"
                 "    e: " +
                 kWide + " = pl.yield_(d)\nreturn e"));
  CHECK_THAT(text, Contains("        for i in pl.parallel(0, 256, 64):\n            t: " + kTensor +
                            " = pl.tensor.slice(o, [64, 64], [i, 0])\n            u: " + kTensor +
                            " = self.put(x, i, t)\n        return o"));
  // One of two carries goes; an if inside has yields of its own.
  const std::string two =
      fused(wide("for i, (k, c) in pl.range(0, 256, 64, init_values=(n, o)):\n    " + kCreate +
                 "    u: T = self.put(x, i, t)\n"
                 "    d: " +
                 kWide +
                 " = pl.tensor.assemble(c, u, [i, 0])\n"
                 "    if k > 3:\n        m: pl.Scalar[pl.INDEX] = pl.yield_(k)\n"
                 "    else:\n        m: pl.Scalar[pl.INDEX] = pl.yield_(n)\n"
                 "    k2, e = pl.yield_(m, d)\nreturn e"));
  CHECK_THAT(two, Contains("for i, (k,) in pl.range(0, 256, 64, init_values=(n,)):") &&
                      Contains("m: pl.Scalar[pl.INDEX] = pl.yield_(k)") && Contains("= pl.yield_(m)\n") &&
                      Contains("return o"));
}

TEST_CASE("T163 fuse: extents of one for the axes in front") {
  const std::string text = fused(
      main_with("for i in pl.range(4):\n    " + kCreate +
                    "    u: T = self.put(x, i, t)\n"
                    "    d: pl.Tensor[[4, 64, 64], pl.FP32] = pl.tensor.assemble(o, u, [i, 0, 0])\nreturn o",
                "n: pl.Scalar[pl.INDEX], x: " + kTensor + ", o: pl.Out[pl.Tensor[[4, 64, 64], pl.FP32]]"));
  CHECK_THAT(text,
             Contains("t: pl.Tensor[[1, 64, 64], pl.FP32] = pl.tensor.slice(o, [1, 64, 64], [i, 0, 0])\n") &&
                 Contains("self.put(x, i, t)") && !Contains("assemble"));
}

TEST_CASE("T163 fuse: two copies, atomic ones, filled buffers and late places are left alone") {
  const auto same = [](const std::string& text) {
    const std::string after = fused(text);
    CHECK_THAT(after, Contains("pl.tensor.create(") && Contains("pl.tensor.assemble(") &&
                          !Contains("pl.tensor.slice("));
  };
  const std::string copy = "d: " + kWide + " = pl.tensor.assemble(o, u, [0, 0])\n";
  same(wide(kCreate + "u: T = self.put(x, 0, t)\n" + copy + "e: " + kWide +
            " = pl.tensor.assemble(d, u, [64, 0])\nreturn e"));
  same(wide(kCreate + "u: T = self.put(x, 0, t)\nd: " + kWide +
            " = pl.tensor.assemble(o, u, [0, 0], atomic=pl.AtomicType.Add)\nreturn d"));
  same(
      wide("t: T = pl.tensor.create([64, 64], dtype=pl.FP32, layout=pl.TensorLayout.ND, init_value=1.0)\n"
           "u: T = self.put(x, 0, t)\n" +
           copy + "return d"));
  // The offset and the target are known only after the buffer is made.
  same(wide(kCreate + "u: T = self.put(x, 0, t)\nk: pl.Scalar[pl.INDEX] = n + 1\nd: " + kWide +
            " = pl.tensor.assemble(o, u, [k, 0])\nreturn d"));
  same(main_with(
      kCreate + "u: T = self.put(x, 0, t)\n" +
      "w: T = pl.tensor.create([64, 64], dtype=pl.FP32, layout=pl.TensorLayout.ND, init_value=0.0)\n" +
      "d: T = pl.tensor.assemble(w, u, [0, 0])\ne: T = self.put(d, 0, o)\nreturn e"));
  // Only functions of type Orchestration.
  same(golden::program(kernels() +
                       function("", "n: pl.Scalar[pl.INDEX], x: " + kTensor + ", o: pl.Out[" + kWide + "]",
                                with_types(kCreate + "u: T = self.put(x, 0, t)\n" + copy + "return d"))));
}
