// Programs that cannot end: what they say, and how soon.
#include <chrono>

#include "exec/programs.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/temp_dir.h"

using namespace exectest;

TEST_CASE("exec: a wait for a signal that nobody sends ends at once with a table of who waits for what") {
  const TempDir dir;
  const std::string program = dir.write("dead.pld", R"(import pypto.language as pl
import pypto.language.distributed as pld

@pl.program
class Dead:
    @pl.function(type=pl.FunctionType.InCore)
    def stuck(self, sig: pl.InOut[pld.DistributedTensor[[4, 1], pl.INT32]]):
        pld.system.wait(sig, offsets=[2, 0], expected=1, cmp=pld.WaitCmp.Ge)

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(self, sig: pl.InOut[pld.DistributedTensor[[4, 1], pl.INT32]]):
        self.stuck(sig)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self):
        buf = pld.alloc_window_buffer(16)
        for r in pl.range(pld.world_size()):
            sig = pld.window(buf, [4, 1], dtype=pl.INT32)
            self.chip(sig, device=r)
)");
  // Built before the clock starts.
  const std::string binary = dir.path("b/bin/dead");
  REQUIRE(run_pldc({"build", program, "-o", dir.path("b")}, build_variables()).code == 0);
  const auto start = std::chrono::steady_clock::now();
  const Run done = run(program, 2, {}, {}, {"--build-dir=" + dir.path("b")});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CAPTURE(done.outcome.err);
  CHECK(done.outcome.code == 4);
  CHECK(took.count() < 2);
  for (const char* part : {"deadlock", "rank", "kernel", "source", "signal", "has", "wants", "stuck",
                           "dead.pld:8", "buf[2]", ">= 1"}) {
    CAPTURE(part);
    CHECK(done.outcome.err.find(part) != std::string::npos);
  }
}

TEST_CASE("exec: what fails before or between kernels ends with a line and a rank, without threads too") {
  const TempDir dir;
  const std::string program = dir.write("many.pld", R"(import pypto.language as pl
import pypto.language.distributed as pld

R = pl.dynamic("R")

@pl.program
class Many:
    @pl.function(type=pl.FunctionType.InCore)
    def one(self, x: pl.Tensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]) -> pl.Tensor[[1, 64], pl.FP32]:
        return pl.store(pl.load(x, [0, 0], [1, 64]), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(self, x: pl.Tensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]) -> pl.Tensor[[1, 64], pl.FP32]:
        with pl.spmd(40, sync_start=True):
            y = self.one(x, y)
        return y

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self, xs: pl.Tensor[[R, 1, 64], pl.FP32], ys: pl.Out[pl.Tensor[[R, 1, 64], pl.FP32]], at: pl.Scalar[pl.INDEX], d: pl.Scalar[pl.INDEX]) -> pl.Tensor[[R, 1, 64], pl.FP32]:
        for r in pl.range(pld.world_size()):
            self.chip(xs[r + at], ys[r], device=r)
        for r in pl.range(pld.world_size() // d):
            self.chip(xs[r], ys[r], device=r + at)
        return ys
)");
  REQUIRE(run_pldc({"build", program, "-o", dir.path("b")}, build_variables()).code == 0);
  // Address space is what threads need and a root user cannot exceed either.
  const auto run_within = [&](const std::string& kilobytes, const std::string& options) {
    pldc::ProcessSpec spec;
    spec.args = {"sh", "-c", "ulimit -v " + kilobytes + "; exec " + dir.path("b/bin/many") + " " + options};
    spec.capture = true;
    const pldc::ProcessResult result = pldc::run_process(spec);
    CAPTURE(options, result.err);
    CHECK(result.exit_code == 1);
    CHECK(result.err.find('\n') == result.err.size() - 1);
    return result.err;
  };
  using Catch::Contains;
  CHECK_THAT(
      run_within("unlimited", "--ranks 2 --random --scalar at=1 --scalar d=1"),
      Contains("many.pld:21: ") && Contains("reach past the end of axis 0 (host function host, rank 1)"));
  CHECK_THAT(run_within("unlimited", "--ranks 2 --random --scalar at=0 --scalar d=0"),
             Contains("many.pld:22: integer division by zero (host function host)"));
  CHECK_THAT(run_within("200000", "--ranks 64 --random --scalar at=0 --scalar d=1"),
             Contains("64 ranks cannot be started"));
  CHECK_THAT(run_within("200000", "--ranks 2 --random --scalar at=0 --scalar d=1"),
             Contains("many.pld:15: a launch that runs on 40 cores at once needs as many threads") &&
                 Contains("(chip orchestration chip, rank "));
}
