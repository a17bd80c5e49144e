// Collectives in kernels repeated on one window (passes.md 4.4): broadcast, allgather and the two all-to-alls have one
// barrier, so what a rank does to its window after one of them meets what others still do there. --check=races says so,
// and says nothing where a barrier stands between, or where the collective has barriers enough of its own.
#include <fmt/format.h>

#include <algorithm>

#include "cli/cli.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace {

const std::string kBarrier = "bar = pld.tensor.barrier(bar)\n";
const std::string kStore = "w = pl.store(pl.load(x, [0, 0], [3, 64]), [0, 0], w)\n";
const std::string kRead = "y = pl.store(pl.load(w, [0, 0], [3, 64]), [0, 0], y)\n";
const std::string kBroadcast = "w = pld.tensor.broadcast(w, sig, root=1)\n";
const std::string kGather = "w = pld.tensor.allgather(x[0:1, :], w, sig)\n";
const std::string kAllToAll = "w = pld.tensor.all_to_all(x, w, sig)\n";
const std::string kAllToAllV = "w = pld.tensor.all_to_all_v(x, w, sig, n, got)\n";
const std::string kMesh = "w = pld.tensor.allreduce(w, sig)\n";
const std::string kRing = "w = pld.tensor.allreduce(w, ring, mode=\"ring\")\n";
const std::string kScatter = "w = pld.tensor.reduce_scatter(w, sig)\n";

struct Case {
  std::string name, body;
};
const std::vector<Case> kClean = {
    {"broadcast", kStore + kBroadcast + kRead + kBarrier + kStore + kBroadcast + kBroadcast},
    {"allgather", kGather + kRead + kBarrier + kGather},
    {"all_to_all", kAllToAll + kRead + kBarrier + kAllToAll},
    {"all_to_all_v", kAllToAllV + kRead + kBarrier + kAllToAllV},
    {"mesh", kStore + kMesh + kRead + kMesh + kStore + kMesh},
    {"ring", kStore + kRing + kRead + kRing + kStore + kRing},
    {"reduce_scatter", kStore + kScatter + kRead + kStore + kScatter}};
const std::vector<Case> kRacy = {{"broadcast", kStore + kBroadcast + kRead + kStore},
                                 {"allgather", kGather + kRead + kGather},
                                 {"all_to_all", kAllToAll + kRead + kAllToAll},
                                 {"all_to_all_v", kAllToAllV + kRead + kAllToAllV}};

constexpr std::string_view kKernel = R"(
    @pl.function(type=pl.FunctionType.InCore)
    def kernel_{0}(self, {1}):
{2}
    @pl.function(type=pl.FunctionType.Orchestration)
    def chip_{0}(self, {1}):
        self.kernel_{0}(x, n, y, w, sig, got, bar, ring)
)";
constexpr std::string_view kParams =
    "x: pl.Tensor[[3, 64], pl.FP32], n: pl.Tensor[[3, 1], pl.INT32], y: pl.Out[pl.Tensor[[3, 64], pl.FP32]], "
    "w: pl.InOut[pld.DistributedTensor[[3, 64], pl.FP32]], sig: pl.InOut[pld.DistributedTensor[[3, 1], "
    "pl.INT32]], "
    "got: pl.InOut[pld.DistributedTensor[[3, 1], pl.INT32]], bar: pl.InOut[pld.DistributedTensor[[3, 1], "
    "pl.INT32]], "
    "ring: pl.InOut[pld.DistributedTensor[[4, 3], pl.INT32]]";
constexpr std::string_view kHost = R"(
    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def {}(self, xs: pl.Tensor[[3, 3, 64], pl.FP32], ns: pl.Tensor[[3, 3, 1], pl.INT32], ys: pl.Out[pl.Tensor[[3, 3, 64], pl.FP32]]):
)";
constexpr std::string_view kDispatch = R"(        w_{0} = pld.alloc_window_buffer(768)
        sig_{0} = pld.alloc_window_buffer(12)
        got_{0} = pld.alloc_window_buffer(12)
        bar_{0} = pld.alloc_window_buffer(12)
        ring_{0} = pld.alloc_window_buffer(48)
        for r in pl.range(pld.world_size()):
            w = pld.window(w_{0}, [3, 64], dtype=pl.FP32)
            sig = pld.window(sig_{0}, [3, 1], dtype=pl.INT32)
            got = pld.window(got_{0}, [3, 1], dtype=pl.INT32)
            bar = pld.window(bar_{0}, [3, 1], dtype=pl.INT32)
            ring = pld.window(ring_{0}, [4, 3], dtype=pl.INT32)
            self.chip_{0}(xs[r], ns[r], ys[r], w, sig, got, bar, ring, device=r)
)";

// One host function for each list, with a kernel and windows of its own for each case.
std::string text_of(const std::vector<std::pair<std::string, std::vector<Case>>>& hosts) {
  std::string kernels =
      "import pypto.language as pl\nimport pypto.language.distributed as pld\n\n\n@pl.program\nclass P:\n";
  std::string dispatches;
  for (const auto& [host, cases] : hosts) {
    dispatches += fmt::format(kHost, host);
    for (const Case& c : cases) {
      const std::string name = c.name + "_" + host;
      std::string lines;
      for (std::size_t at = 0; at < c.body.size(); at = c.body.find('\n', at) + 1) {
        lines += "        " + c.body.substr(at, c.body.find('\n', at) + 1 - at);
      }
      kernels += fmt::format(kKernel, name, kParams, lines);
      dispatches += fmt::format(kDispatch, name);
    }
  }
  return kernels + dispatches;
}

// "r.pld:LINE" of the n-th line of the kernel's body.
std::string line_of(const std::string& text, const std::string& kernel, long n) {
  const std::size_t at = text.find("def kernel_" + kernel + "(");
  REQUIRE(at != std::string::npos);
  const long def = 1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
  return "r.pld:" + std::to_string(def + 1 + n) + " ";
}

}  // namespace

TEST_CASE("exec: collectives repeated on one window race where they have a single barrier, and only there") {
  const TempDir dir;
  const std::string text = text_of({{"clean", kClean}, {"racy", kRacy}});
  const std::string file = dir.write("r.pld", text);
  const auto run = [&](const std::string& entry, const std::string& seed) {
    return run_pldc({"run", file, "--entry=" + entry, "--random", "--ranks=3", "--build-dir=" + dir.path("b"),
                     "--schedule=seeded", "--seed=" + seed, "--check=races,signals,bounds"},
                    build_variables());
  };
  for (const std::string seed : {"0", "7"}) {
    const Outcome clean = run("clean", seed);
    INFO(clean.err);
    CHECK(clean.code == 0);
    CHECK(clean.err.empty());
  }
  const Outcome racy = run("racy", "0");
  INFO(racy.err);
  CHECK(racy.code == 4);
  for (const Case& c : kRacy) {
    INFO(c.name);
    const std::string name = c.name + "_racy";
    CHECK_THAT(racy.err, Catch::Matchers::Contains("comm_d0.w_" + name + " in the window of rank "));
    // The last statement writes what another rank reads: its result, or what the root has for it.
    const long lines = std::count(c.body.begin(), c.body.end(), '\n');
    CHECK_THAT(racy.err, Catch::Matchers::Contains(line_of(text, name, lines - 1)));
    CHECK_THAT(racy.err, Catch::Matchers::Contains(line_of(text, name, 1)));
  }
}
