// What passes.md 4.4 does not allow: other dtypes, operations, sizes and rank counts of collectives are refused before
// anything is built, with the place of the call.
#include <fmt/format.h>

#include "cli/cli.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace {

struct Case {
  bool host;
  std::string dtype, shape;  // of the data
  std::string signal;        // its shape
  std::string call;
  std::vector<std::string> says;
};

// The call stands in line 7 (a kernel's) or 24 (a host's).
std::string text_of(const Case& c) {
  const std::string params = fmt::format(
      "x: pl.Tensor[{1}, pl.{0}], w: pl.InOut[pld.DistributedTensor[{1}, pl.{0}]], v: "
      "pl.InOut[pld.DistributedTensor[{1}, pl.{0}]], sig: pl.InOut[pld.DistributedTensor[{2}, pl.INT32]]",
      c.dtype, c.shape, c.signal);
  const auto views = [&](const std::string& indent) {
    return fmt::format(
        "{0}w = pld.window(ws, {2}, dtype=pl.{1})\n{0}v = pld.window(vs, {2}, dtype=pl.{1})\n{0}sig = "
        "pld.window(sigs, {3}, dtype=pl.INT32)",
        indent, c.dtype, c.shape, c.signal);
  };
  return fmt::format(R"(import pypto.language as pl
import pypto.language.distributed as pld
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, {0}):
        {1}
    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(self, {0}):
        self.kernel(x, w, v, sig)
    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, x: pl.Tensor[{2}, pl.{3}]):
        ws = pld.alloc_window_buffer({2}, dtype=pl.{3})
        vs = pld.alloc_window_buffer({2}, dtype=pl.{3})
        sigs = pld.alloc_window_buffer({4}, dtype=pl.INT32)
        for r in pl.range(pld.world_size()):
{5}
            self.chip(x, w, v, sig, device=r)
{6}
        {7}
)",
                     params, c.host ? "pass" : c.call, c.shape, c.dtype, c.signal,
                     views(std::string(12, ' ')), views(std::string(8, ' ')), c.host ? c.call : "return");
}

}  // namespace

TEST_CASE("exec: collectives of sizes, dtypes, operations and rank counts that are not allowed are refused") {
  const std::string mesh = "w = pld.tensor.allreduce(w, sig)";
  const std::string ring = "w = pld.tensor.allreduce(w, sig, mode=\"ring\")";
  const std::string broadcast = "w = pld.tensor.broadcast(w, sig, root=0)";
  const std::string scatter = "w = pld.tensor.reduce_scatter(w, sig)";
  const std::string all_to_all = "w = pld.tensor.all_to_all(x, w, sig)";
  const Case cases[] = {
      {true, "INT32", "[3, 8]", "[3]", mesh, {"FP16 or FP32, found INT32"}},
      {false, "BF16", "[3, 8]", "[3, 1]", mesh, {"FP16 or FP32, found BF16"}},
      {true, "FP16", "[3, 8]", "[5, 3]", ring, {"must be FP32, found FP16"}},
      {true,
       "FP32",
       "[3, 8]",
       "[5, 3]",
       "w = pld.tensor.allreduce(w, sig, op=pld.ReduceOp.Max, mode=\"ring\")",
       {"must be Sum, found Max"}},
      {true, "FP32", "[3, 8]", "[33, 17]", ring, {"at most 16 ranks, found 17"}},
      {true, "FP32", "[3, 8]", "[4, 3]", ring, {"= 5 rows for 3 ranks, found 4"}},
      {false, "FP32", "[3, 8]", "[5, 3]", ring, {"= 5 must equal 2*(NR-1) = 4"}},
      {false,
       "FP32",
       "[3, 8]",
       "[3, 1]",
       "w = pld.tensor.allreduce(w, sig, mode=\"tree\")",
       {"found \"tree\""}},
      {true, "FP16", "[3, 8]", "[3]", broadcast, {"must be FP32, found FP16"}},
      {false, "FP32", "[3, 16385]", "[3, 1]", broadcast, {"196608 bytes of the vector buffer"}},
      {false, "FP32", "[3, 8]", "[3, 1]", "w = pld.tensor.broadcast(w, sig, root=-1)", {"at least 0"}},
      {true, "FP16", "[3, 8]", "[3]", scatter, {"must be FP32, found FP16"}},
      {false,
       "FP32",
       "[3, 8]",
       "[3, 1]",
       "w = pld.tensor.reduce_scatter(w, sig, op=pld.ReduceOp.Prod)",
       {"must be Sum, found Prod"}},
      {false, "BOOL", "[3, 32]", "[3, 1]", scatter, {"found BOOL"}},
      {false, "FP32", "[3, 16392]", "[3, 1]", scatter, {"3 tile(s)", "196608 bytes of the vector buffer"}},
      {false, "FP32", "[3, 49153]", "[3, 1]", all_to_all, {"196608 bytes of the vector buffer"}},
      {false, "FP32", "[3, 8]", "[4, 1]", all_to_all, {"4", "3"}},
      {true, "FP16", "[3, 8]", "[3]", "w = pld.tensor.all_to_all(v, w, sig)", {"must be FP32, found FP16"}},
  };
  const TempDir dir;
  for (const Case& c : cases) {
    const std::string text = text_of(c);
    const std::string file = dir.write("p.pld", text);
    const Outcome outcome =
        run_pldc({"build", "--emit-only", "-o", dir.path("out"), file}, build_variables());
    INFO(text << "\n" << outcome.err);
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, Catch::Matchers::Contains(c.host ? "p.pld:24:" : "p.pld:7:"));
    for (const std::string& part : c.says) CHECK_THAT(outcome.err, Catch::Matchers::Contains(part));
  }
}
