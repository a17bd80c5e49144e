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
A = pl.dynamic("A")
B = pl.dynamic("B")

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

    @pl.function(type=pl.FunctionType.Orchestration)
    def sized(self, x: pl.Tensor[[1, 64], pl.FP32], w: pl.InOut[pld.DistributedTensor[[A, B], pl.FP32]], n: pl.Scalar[pl.INDEX]):
        t = pl.create_tensor([n * n - n + 1, 1, 64], dtype=pl.FP32)
        self.one(x, t[0])

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def sizes(self, xs: pl.Tensor[[R, 1, 64], pl.FP32], k: pl.Scalar[pl.INDEX], m: pl.Scalar[pl.INDEX], n: pl.Scalar[pl.INDEX]):
        small = pld.alloc_window_buffer(64)
        count = pld.world_size() * k
        buf = pld.alloc_window_buffer(count * 4)
        for r in pl.range(pld.world_size()):
            t = pl.create_tensor([m * m, 1, 64], dtype=pl.FP32)
            self.sized(xs[r], pld.window(small, [1, 1], dtype=pl.FP32), 1, device=r)
            self.sized(t[0], pld.window(buf, [m, k], dtype=pl.FP32), n, device=r)

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
      run_within("unlimited", "--entry=host --ranks 2 --random --scalar at=1 --scalar d=1"),
      Contains("many.pld:38: ") && Contains("reach past the end of axis 0 (host function host, rank 1)"));
  CHECK_THAT(run_within("unlimited", "--entry=host --ranks 2 --random --scalar at=0 --scalar d=0"),
             Contains("many.pld:39: integer division by zero (host function host)"));
  const auto run_sizes = [&](const std::string& k, const std::string& m, const std::string& n) {
    return run_within("unlimited", "--entry=sizes --ranks 2 --random --scalar k=" + k + " --scalar m=" + m +
                                       " --scalar n=" + n);
  };
  CHECK_THAT(
      run_sizes("2305843009213693952", "1", "1"),
      Contains("many.pld:29: the size 4611686018427387904 * 4 overflows, its limit is 9223372036854775807 "
               "(host function sizes)"));
  CHECK_THAT(run_sizes("-2", "1", "1"),
             Contains("many.pld:29: buffer buf of domain comm_d0 has -16 bytes; a size is 0 or more"));
  CHECK_THAT(run_sizes("8", "4294967296", "1"),
             Contains("many.pld:31: the size 4294967296 * 4294967296 overflows"));
  CHECK_THAT(
      run_sizes("8", "1073741824", "1"),
      Contains("many.pld:31: the size of host tensor [1152921504606846976, 1, 64] is more than the limit of "
               "1152921504606846976 bytes"));
  CHECK_THAT(run_sizes("8", "-1", "1"), Contains("many.pld:33: extent 0 of buf [-1, 8] is negative") &&
                                            Contains("(host function sizes, rank 0)"));
  CHECK_THAT(run_sizes("1", "1", "4294967296"), Contains("many.pld:22: the size ") &&
                                                    Contains(" overflows, its limit is ") &&
                                                    Contains("(chip orchestration sized, rank "));
  CHECK_THAT(run_sizes("1", "1", "65537"),
             Contains("many.pld:22: an extent or offset is 4295032833; it must be from 0 to 4294967295"));
  CHECK_THAT(run_within("200000", "--entry=host --ranks 64 --random --scalar at=0 --scalar d=1"),
             Contains("64 ranks cannot be started"));
  CHECK_THAT(run_within("200000", "--entry=host --ranks 2 --random --scalar at=0 --scalar d=1"),
             Contains("many.pld:17: a launch that runs on 40 cores at once needs as many threads") &&
                 Contains("(chip orchestration chip, rank "));
}
