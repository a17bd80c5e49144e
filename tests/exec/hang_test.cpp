// Programs that cannot end: what they say, and how soon.
#include <chrono>

#include "exec/programs.h"
#include "support/catch.h"
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
