// InsertCommFence: the reference's texts, and scenarios T109, T110, T169, T173.
#include "support/catch.h"
#include "unit/passes/dist_program.h"

using namespace dist;
using Catch::Matchers::Contains;

namespace pldc {
const Program* run_InsertCommFence(PassEnv&, const Program*);
}

namespace {

constexpr pldc::PassFunction kFence = pldc::run_InsertCommFence;

constexpr std::string_view kParams =
    "x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]], "
    "w: pl.InOut[pld.DistributedTensor[[16, 64], pl.FP32]], sig: pl.InOut[pld.DistributedTensor[[4, 1], "
    "pl.INT32]]";

std::string program_of(std::string_view body, std::string_view type = "InCore") {
  return program(
      "@pl.function(type=pl.FunctionType.InCore)\ndef helper(self, w: "
      "pl.InOut[pld.DistributedTensor[[16, 64], pl.FP32]]) -> pld.DistributedTensor[[16, 64], pl.FP32]:\n"
      "    return w\n\n@pl.function(type=pl.FunctionType." +
      std::string(type) + ")\ndef kern(self, " + std::string(kParams) + "):\n" +
      (type == "InCore" ? "    t: pl.Tile[[16, 64], pl.FP32] = pl.tile.load(x, [0, 0], [16, 64])\n" : "") +
      indented(body, 4));
}
// The statements of the kernel after the load.
std::string marked(std::string_view body, int times = 1) {
  const golden::Result result =
      golden::run(program_of(body), std::vector<pldc::PassFunction>(static_cast<std::size_t>(times), kFence));
  if (!result.ok) return result.errors;
  const std::size_t load = result.text.find("pl.tile.load(x");
  return result.text.substr(result.text.find('\n', load) + 1);
}

constexpr std::string_view kStore = "pl.tile.store(t, [0, 0], w)\n";
const std::string kPair = "        pl.system.cacheinvalid(w, [16, 64], [0, 0])\n        pl.system.fence()\n";

}  // namespace

TEST_CASE("InsertCommFence: the reference's texts") {
  if (golden::corpus().empty()) return;
  int compared = 0;
  const std::string report = golden::compare_all("InsertCommFence", kFence, compared);
  INFO(compared << " programs compared\n" << report);
  CHECK(report.empty());
  CHECK(golden::changed("InsertCommFence") >= 4);
}

TEST_CASE("T109 T169 a store into a window, and into a plain tensor") {
  CHECK(marked("pl.tile.store(t, [0, 0], w)\npld.system.notify(sig, 1, [0, 0], pl.const(1, pl.INT32), "
               "op=pld.NotifyOp.AtomicAdd)\n") ==
        "        pl.tile.store(t, [0, 0], w)\n" + kPair +
            "        pld.system.notify(sig, 1, [0, 0], pl.const(1, pl.INT32), op=0)");
  CHECK(marked("pl.tile.store(t, [0, 0], y)\n") == "        pl.tile.store(t, [0, 0], y)");
  CHECK_THAT(marked("pl.tensor.write(w, [0, 0], 1.0)\npl.tensor.write(y, [0, 0], 1.0)\n"),
             Catch::Matchers::EndsWith(kPair + "        pl.tensor.write(y, [0, 0], 1.0)"));
}

TEST_CASE("T110 what other accesses get") {
  const auto fence_only = "        pl.system.fence()";
  const std::string put = marked(
      "stage: pl.Tile[[16, 64], pl.FP32] = pl.tile.create([16, 64], dtype=pl.FP32)\n"
      "pld.tile.put(w, 1, x, stage, atomic=pl.AtomicType.None_)\n");
  CHECK_THAT(put, Catch::Matchers::EndsWith(fence_only) && !Contains("cacheinvalid"));
  const std::string remote = marked("pld.tile.remote_store(t, w, 1, [0, 0])\n");
  CHECK_THAT(remote, Catch::Matchers::EndsWith(fence_only) && !Contains("cacheinvalid"));
  CHECK_THAT(marked("pld.tensor.put(w, 1, x, atomic=pl.AtomicType.None_)\n"),
             Catch::Matchers::EndsWith(fence_only) && !Contains("cacheinvalid"));
  CHECK_THAT(marked("pld.system.wait(sig, [0, 0], 1, cmp=pld.WaitCmp.Ge)\n"),
             Catch::Matchers::EndsWith("cmp=1)\n        pl.system.cacheinvalid()"));
  CHECK(count(marked("pld.system.notify(sig, 1, [0, 0], 1, op=pld.NotifyOp.Set)\n"
                     "r: pl.Tile[[16, 64], pl.FP32] = pld.tile.remote_load(w, 1, [0, 0], [16, 64])\n"),
              "pl.system.") == 0);
  // Each store has its own pair.
  const std::string two = marked(std::string(kStore) + std::string(kStore));
  CHECK(two == "        pl.tile.store(t, [0, 0], w)\n" + kPair + "        pl.tile.store(t, [0, 0], w)\n" +
                   kPair.substr(0, kPair.size() - 1));
}

TEST_CASE("T110 markers stand in the body of the access") {
  const std::string branch = marked(
      "if pl.const(1, pl.INDEX) < pl.const(2, pl.INDEX):\n    pl.tile.store(t, [0, 0], w)\npl.tile.store(t, "
      "[0, 0], y)\n");
  CHECK(branch ==
        "        if pl.const(1, pl.INDEX) < pl.const(2, pl.INDEX):\n            pl.tile.store(t, [0, 0], "
        "w)\n            pl.system.cacheinvalid(w, "
        "[16, 64], [0, "
        "0])\n            pl.system.fence()\n        pl.tile.store(t, [0, 0], y)");
  const std::string loop = marked("for i in pl.range(4):\n    pl.tile.store(t, [0, 0], w)\n");
  CHECK(in_order(loop, {"for i in pl.range(4):\n            pl.tile.store(t, [0, 0], w)\n            "
                        "pl.system.cacheinvalid(w, [16, 64], [0, 0])\n            pl.system.fence()"}));
}

TEST_CASE("T110 orchestrations stay as they are, and a second run changes nothing") {
  const std::string chip = program_of("v = self.helper(w)\n", "Orchestration");
  CHECK(golden::run(chip, {kFence}).text == golden::run(chip, {}).text);
  const std::string body = std::string(kStore) +
                           "pld.system.wait(sig, [0, 0], 1, cmp=pld.WaitCmp.Ge)\n"
                           "pld.tile.remote_store(t, w, 1, [0, 0])\nv = self.helper(w)\n"
                           "for i in pl.range(4):\n    pl.tile.store(t, [0, 0], w)\n";
  CHECK(marked(body) == marked(body, 2));
  // Markers that were written by hand count as well, but only all of them.
  CHECK(marked(std::string(kStore) + "pl.system.cacheinvalid(w, [16, 64], [0, 0])\npl.system.fence()\n") ==
        marked(kStore));
  CHECK(count(marked(std::string(kStore) + "pl.system.fence()\n"), "pl.system.fence()") == 2);
  CHECK(count(marked(std::string(kStore) + "pl.system.cacheinvalid(w, [8, 64], [0, 0])\npl.system.fence()\n"),
              "cacheinvalid") == 2);
}

TEST_CASE("T173 calls of kernels, and get into a plain tensor") {
  CHECK_THAT(marked("v = self.helper(w)\n"),
             Catch::Matchers::EndsWith(
                 "self.helper(w)\n        pl.system.cacheinvalid()\n        pl.system.fence()"));
  const std::string stage = "stage: pl.Tile[[16, 64], pl.FP32] = pl.tile.create([16, 64], dtype=pl.FP32)\n";
  CHECK_THAT(marked(stage + "pld.tile.get(w, 1, w, stage)\n"),
             Catch::Matchers::EndsWith(kPair.substr(0, kPair.size() - 1)));
  CHECK(count(marked(stage + "pld.tile.get(y, 1, w, stage)\n"), "pl.system.") == 0);
}
