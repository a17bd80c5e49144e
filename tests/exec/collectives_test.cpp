// Host collectives and a mesh written by hand: the values on every rank, for every number of ranks that fits.
#include <algorithm>
#include <functional>

#include "exec/programs.h"
#include "support/catch.h"
#include "support/corpus.h"
#include "support/temp_dir.h"

using namespace exectest;

namespace {

// An all-reduce by Sum over all ranks from `xs` to `ys`, also when repeated. Sums of eighths are exact in any order.
void check_sum(const std::string& program, std::int64_t width,
               const std::vector<std::string>& repeat_options) {
  for (const int ranks : {1, 2, 3, 4, 8}) {
    const Array xs = eighths({ranks, 1, width}, static_cast<std::uint32_t>(ranks));
    const Array wanted = reduced(xs, first(ranks), std::plus<>());
    for (const std::vector<std::string>& options : {std::vector<std::string>{}, repeat_options}) {
      const Run done = run(source_of(program), ranks, {{"xs", xs}}, {"ys"}, options);
      CAPTURE(program, ranks, options, done.outcome.err);
      REQUIRE(done.outcome.code == 0);
      CHECK(done.outputs.at("ys").shape == wanted.shape);
      CHECK(done.outputs.at("ys").values == wanted.values);
    }
  }
}

}  // namespace

TEST_CASE("exec: host all-reduce with an explicit signal") {
  // --check=signals: the collective leaves its signals at zero.
  check_sum("host_allreduce_explicit", 384, {"--repeat=50", "--check=signals"});
}

TEST_CASE("exec: a mesh all-reduce written by hand") {
  check_sum("mesh_by_hand", 256, {"--repeat=50"});  // its barrier leaves ones, as it is written
}

TEST_CASE("exec: host all-reduces with implicit signals, Max and Prod on FP16") {
  for (const int ranks : {1, 2, 3, 4, 8}) {
    const Array xs = powers({ranks, 1, 1000}, static_cast<std::uint32_t>(ranks), true);
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{}, std::vector<std::string>{"--repeat=50", "--check=signals"}}) {
      const Run done = run(source_of("host_allreduce_implicit"), ranks, {{"xs", xs}}, {"ys", "zs"}, options);
      CAPTURE(ranks, options, done.outcome.err);
      REQUIRE(done.outcome.code == 0);
      CHECK(done.outputs.at("ys").half);
      CHECK(done.outputs.at("ys").values ==
            reduced(xs, first(ranks), [](float a, float b) { return std::max(a, b); }).values);
      CHECK(done.outputs.at("zs").values == reduced(xs, first(ranks), std::multiplies<>()).values);
    }
  }
}

TEST_CASE("exec: an all-reduce over several cores of each rank") {
  for (const int ranks : {1, 2, 3, 4}) {
    const Array xs = eighths({4, 1, 2048}, static_cast<std::uint32_t>(ranks));
    const Run done = run(source_of("host_allreduce_multicore"), ranks, {{"xs", xs}}, {"ys"});
    CAPTURE(ranks, done.outcome.err);
    REQUIRE(done.outcome.code == 0);
    // Ranks that are not there write nothing: their outputs stay zero.
    Array wanted = reduced(xs, first(ranks), std::plus<>());
    std::fill(wanted.values.begin() + ranks * xs.per_rank(), wanted.values.end(), 0.0F);
    CHECK(done.outputs.at("ys").values == wanted.values);
  }
}

TEST_CASE("exec: an all-reduce between devices 1 and 3 of four") {
  const Array xs = eighths({4, 1, 128}, 7);
  const Run done = run(source_of("host_subset_pair"), 4, {{"xs", xs}}, {"ys"});
  CAPTURE(done.outcome.err);
  REQUIRE(done.outcome.code == 0);
  Array wanted = reduced(xs, {1, 3}, std::plus<>());
  for (const int rank : {0, 2}) {
    std::fill_n(wanted.values.begin() + rank * xs.per_rank(), xs.per_rank(), 0.0F);
  }
  CHECK(done.outputs.at("ys").values == wanted.values);
}

TEST_CASE("exec: T141 one core or four give the same sums") {
  const TempDir dir;
  std::string text = corpus::read(source_of("host_allreduce_multicore"));
  const std::size_t at = text.find("core_num=4");
  REQUIRE(at != std::string::npos);
  text.replace(at, 10, "core_num=1");
  const Array xs = eighths({4, 1, 2048}, 141);
  const Run four = run(source_of("host_allreduce_multicore"), 4, {{"xs", xs}}, {"ys"});
  const Run one = run(dir.write("one_core.pld", text), 4, {{"xs", xs}}, {"ys"});
  CAPTURE(four.outcome.err, one.outcome.err);
  REQUIRE(four.outcome.code == 0);
  REQUIRE(one.outcome.code == 0);
  CHECK(four.outputs.at("ys").values == one.outputs.at("ys").values);
}

namespace {

// What is left in the only cell of each rank's signal after `body`, which has `sig`, `me` and `peer`.
Run cells_after(const TempDir& dir, const std::string& body) {
  const std::string text = R"(import pypto.language as pl
import pypto.language.distributed as pld

@pl.program
class Cells:
    @pl.function(type=pl.FunctionType.InCore)
    def talk(self, z: pl.Out[pl.Tensor[[1, 8], pl.INT32]], sig: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]]):
        me = pld.rank(pld.get_comm_ctx(sig))
        peer = (me + 1) % 2
)" + body + R"(        cell = pl.tensor.read(sig, [0, 0])
        pl.tensor.write(z, [0, 0], cell)

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(self, z: pl.Out[pl.Tensor[[1, 8], pl.INT32]], sig: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]]):
        self.talk(z, sig)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, zs: pl.Out[pl.Tensor[[2, 1, 8], pl.INT32]]):
        buf = pld.alloc_window_buffer(4)
        for r in pl.range(pld.world_size()):
            sig = pld.window(buf, [1, 1], dtype=pl.INT32)
            self.chip(zs[r], sig, device=r)
)";
  return run(dir.write("cells.pld", text), 2, {}, {"zs"}, {"--repeat=3"});
}

}  // namespace

TEST_CASE("exec: T135 each of two ranks adds its tag to the other's cell; windows are reset between runs") {
  const TempDir dir;
  const Run done =
      cells_after(dir,
                  "        pld.system.notify(sig, peer=peer, offsets=[0, 0], value=me + 1, "
                  "op=pld.NotifyOp.AtomicAdd)\n"
                  "        pld.system.wait(sig, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)\n");
  CAPTURE(done.outcome.err);
  REQUIRE(done.outcome.code == 0);
  CHECK(done.outputs.at("zs").values[0] == 2);
  CHECK(done.outputs.at("zs").values[8] == 1);
}

TEST_CASE("exec: T136 credits that are taken back leave every cell at 0") {
  const TempDir dir;
  const Run done =
      cells_after(dir,
                  "        for i in pl.range(4):\n"
                  "            pld.system.notify(sig, peer=peer, offsets=[0, 0], value=1, "
                  "op=pld.NotifyOp.AtomicAdd)\n"
                  "        pld.system.wait(sig, offsets=[0, 0], expected=4, cmp=pld.WaitCmp.Ge)\n"
                  "        pld.system.notify(sig, peer=me, offsets=[0, 0], value=-4, "
                  "op=pld.NotifyOp.AtomicAdd)\n");
  CAPTURE(done.outcome.err);
  REQUIRE(done.outcome.code == 0);
  CHECK(done.outputs.at("zs").values[0] == 0);
  CHECK(done.outputs.at("zs").values[8] == 0);
}
