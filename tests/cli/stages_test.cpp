// pldc run --after and --start-after, on a program that every pass on orchestrations changes: the values stay.
#include "cli/cli.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace {

// Rows are doubled block by block through a buffer that is copied; then eight submits, in two phases with an array of
// task ids between them, add one to the first block, of which the kernel sees V rows.
constexpr const char* kStages = R"(# pypto.program: Stages
import pypto.language as pl

V = pl.dynamic("V")

@pl.program
class Stages:
    @pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)
    def twice(x: pl.Tensor[[64, 64], pl.FP32, pl.TensorView(valid_shape=[V, 64], stride=[], layout=pl.TensorLayout.ND)], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        t: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[pl.min(V, pl.const(64, pl.INDEX)), 64])] = pl.tile.load(x, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        u: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[pl.min(V, pl.const(64, pl.INDEX)), 64])] = pl.tile.add(t, t)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(u, [0, 0], o)
        return o
    @pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)
    def step(o: pl.InOut[pl.Tensor[[256, 64], pl.FP32]]) -> pl.Tensor[[256, 64], pl.FP32]:
        t: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(o, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        u: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(t, 1.0)
        r: pl.Tensor[[256, 64], pl.FP32] = pl.tile.store(u, [0, 0], o)
        return o
    @pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)
    def main(self, x: pl.Tensor[[256, 64], pl.FP32], o: pl.Out[pl.Tensor[[256, 64], pl.FP32]]) -> pl.Tensor[[256, 64], pl.FP32]:
        for i, (c,) in pl.range(0, 256, 64, init_values=(o,)):
            s: pl.Tensor[[64, 64], pl.FP32] = pl.tensor.slice(x, [64, 64], [i, 0])
            b: pl.Tensor[[64, 64], pl.FP32] = pl.tensor.create([64, 64], dtype=pl.FP32, layout=pl.TensorLayout.ND)
            u: pl.Tensor[[64, 64], pl.FP32] = self.twice(s, b)
            d: pl.Tensor[[256, 64], pl.FP32] = pl.tensor.assemble(c, u, [i, 0])
            e: pl.Tensor[[256, 64], pl.FP32] = pl.yield_(d)
        with pl.scope(mode=pl.ScopeMode.MANUAL):
            ids: pl.Array[4, pl.TASK_ID] = pl.array.create(4, dtype=pl.TASK_ID)
            for p, (f, more) in pl.parallel(4, init_values=(e, ids)):
                v: pl.Tuple[pl.Tensor[[256, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = pl.submit(self.step, f)
                g: pl.Tensor[[256, 64], pl.FP32] = v[0]
                id: pl.Scalar[pl.TASK_ID] = v[1]
                most: pl.Array[4, pl.TASK_ID] = pl.array.update_element(more, p, id)
                h, all = pl.yield_(g, most)
            for q, (k,) in pl.parallel(4, init_values=(h,)):
                w: pl.Tuple[pl.Tensor[[256, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = pl.submit(self.step, k, deps=[all])
                l: pl.Tensor[[256, 64], pl.FP32] = w[0]
                m: pl.Tensor[[256, 64], pl.FP32] = pl.yield_(l)
        return m
)";

}  // namespace

TEST_CASE("run: the passes on orchestrations keep the values, in the pipeline and on the text of a stage") {
  const TempDir dir;
  const std::string file = dir.write("stages.pld", kStages);
  const auto run = [](std::vector<std::string> args) {
    args.insert(args.begin(), "run");
    args.insert(args.end(), {"--random=3", "--out=o=-"});
    return run_pldc(args, build_variables());
  };
  const Outcome before = run({file, "--after=NormalizeReturnOrder"});
  CAPTURE(before.err);
  REQUIRE(before.code == 0);
  REQUIRE(!before.out.empty());

  std::string text = run_pldc({"--dump-after=NormalizeReturnOrder", file}).out;
  for (const std::string pass :
       {"FuseCreateAssembleToSlice", "DeriveCallDirections", "ExpandManualPhaseFence",
        "MaterializeRuntimeScopes", "ClassifyIterArgCarry", "MaterializeValidShapeSymbols"}) {
    const std::string after = run_pldc({"--dump-after=" + pass, file}).out;
    CAPTURE(pass);
    CHECK(after != text);  // the pass has something to do
    text = after;
    const Outcome stage = run({file, "--after=" + pass});
    CAPTURE(stage.err);
    CHECK(stage.code == 0);
    CHECK(stage.out == before.out);
  }
  const std::string dump =
      dir.write("dump.pld", run_pldc({"--dump-after=FuseCreateAssembleToSlice", file}).out);
  const Outcome rest = run({dump, "--start-after=FuseCreateAssembleToSlice"});
  CAPTURE(rest.err);
  CHECK(rest.code == 0);
  CHECK(rest.out == before.out);
}
