// Dispatches of several devices that meet in host memory: ranks as threads wait for each other, ranks as processes cannot.
#include "generated.h"

using namespace codegentest;

namespace {

constexpr std::string_view kEach =
    "        for r in pl.range(pld.world_size()):\n"
    "            self.chip(xs[r:r + 1], ys[r:r + 1], device=r)\n";
constexpr std::string_view kFirst = "        self.chip(xs[0:1], ys[0:1], device=0)\n";
// Functions that host() calls; written before it.
constexpr std::string_view kHelpers =
    "    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
    "    def row(self, a: pl.Tensor[[1, 64], pl.FP32], b: pl.Out[pl.Tensor[[1, 64], pl.FP32]], d: "
    "pl.Scalar[pl.INDEX]):\n"
    "        self.chip(a, b, device=d)\n\n"
    "    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
    "    def rows(self, a: pl.Tensor[[1, 64], pl.FP32], b: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):\n"
    "        for r in pl.range(pld.world_size()):\n"
    "            self.chip(a, b, device=r)\n\n";

// Orchestrations that update their output, and that write it first.
constexpr std::string_view kUpdates =
    "    @pl.function(type=pl.FunctionType.InCore)\n"
    "    def add(self, x: pl.Tensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):\n"
    "        y = pl.store(pl.add(pl.load(x, [0, 0], [1, 64]), pl.load(y, [0, 0], [1, 64])), [0, 0], y)\n\n"
    "    @pl.function(type=pl.FunctionType.Orchestration)\n"
    "    def more(self, x: pl.Tensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):\n"
    "        self.add(x, y)\n\n"
    "    @pl.function(type=pl.FunctionType.Orchestration)\n"
    "    def twice(self, x: pl.Tensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):\n"
    "        self.k(x, y)\n        self.add(x, y)\n\n";

struct Case {
  const char* title;
  std::string body;
  int syncs;                 // in the host function for threads
  std::string refused = {};  // for processes: the message; empty: it is built
};

int count_of(const std::string& text, std::string_view part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

const Case& any_case() {
  static const Case kCases[] = {
      {"each device has a row of its own", std::string(kEach) + std::string(kEach), 0},
      {"a device reads what another one wrote",
       std::string(kEach) + "        self.chip(ys[1:2], ys[0:1], device=0)\n", 1,
       "this dispatch to device 0 reads 'ys', which a dispatch to device r writes"},
      {"two devices with different constants",
       std::string(kFirst) + "        self.chip(xs[1:2], ys[1:2], device=1)\n" +
           "        self.chip(ys[1:2], ys[2:3], device=2)\n",
       1, "this dispatch to device 2 reads 'ys', which a dispatch to device 1 writes"},
      {"the same device is served in order",
       std::string(kFirst) + "        self.chip(ys[0:1], ys[1:2], device=0)\n", 0},
      {"a device writes what another one has read",
       std::string(kFirst) + "        self.chip(xs[1:2], xs[0:1], device=1)\n", 1},
      {"waiting for something else before makes no copy",
       std::string(kFirst) + "        v = pl.tensor.read(ys, [0, 0])\n        if v > 0.0:\n"
                             "            self.chip(ys[0:1], ys[1:2], device=1)\n",
       1, "this dispatch to device 1 reads 'ys', which a dispatch to device 0 writes"},
      {"a wait in a branch that may not be taken",
       std::string(kFirst) + "        if pld.world_size() > 3:\n"
                             "            self.chip(ys[0:1], ys[1:2], device=1)\n"
                             "        self.chip(ys[0:1], ys[2:3], device=2)\n",
       2, "reads 'ys'"},
      {"a wait in a loop that may not run",
       std::string(kFirst) + "        for i in pl.range(1, pld.world_size()):\n"
                             "            self.chip(ys[0:1], ys[i:i + 1], device=i)\n"
                             "        self.chip(ys[0:1], xs[0:1], device=3)\n",
       2, "reads 'ys'"},
      {"an earlier iteration of the same loop",
       "        for r in pl.range(1, pld.world_size()):\n"
       "            self.chip(ys[r - 1:r], ys[r:r + 1], device=r)\n",
       1, "device r reads 'ys', which a dispatch to device r writes in another iteration"},
      {"another call with another device",
       "        self.row(xs[0:1], ys[0:1], 0)\n        self.row(ys[0:1], ys[1:2], 1)\n", 1,
       "device d reads 'ys'"},
      {"another call with loops over devices",
       "        self.rows(xs[0:1], ys[0:1])\n        self.rows(ys[0:1], ys[1:2])\n", 1,
       "device r reads 'ys', which a dispatch to device r writes"},
      {"memory that is made anew",
       "        for i in pl.range(2):\n            tmp = pl.create_tensor([1, 64], dtype=pl.FP32)\n"
       "            self.chip(xs[i:i + 1], tmp, device=i)\n"
       "            self.chip(tmp, ys[i:i + 1], device=i)\n",
       0},
      {"an output whose old values are used",
       std::string(kFirst) + "        self.more(xs[1:2], ys[0:1], device=1)\n", 1, "device 1 reads 'ys'"},
      {"an output that is written before it is read",
       std::string(kFirst) + "        self.twice(xs[1:2], ys[0:1], device=1)\n", 0},
      // The runtime says which one it was.
      {"one of several tensors",
       std::string(kFirst) + "        if pld.world_size() > 3:\n            t = ys\n        else:\n"
                             "            t = xs\n        self.chip(t[0:1], ys[1:2], device=1)\n",
       1},
  };
  const std::size_t i = GENERATE(range(std::size_t{0}, std::size(kCases)));
  return kCases[i];
}

}  // namespace

TEST_CASE("what one device reads of another one's results in host memory", "[codegen][host]") {
  const Case& c = any_case();
  INFO(c.title);
  std::string text =
      with_host(c.body + "        return ys\n",
                "xs: pl.InOut[pl.Tensor[[NR, 64], pl.FP32]], ys: pl.InOut[pl.Tensor[[NR, 64], pl.FP32]]");
  constexpr std::string_view kHost = "    @pl.function(level=pl.Level.HOST";
  if (c.body.find("self.row") != std::string::npos) text.insert(text.rfind(kHost), kHelpers);
  if (c.body.find("self.more") != std::string::npos || c.body.find("self.twice") != std::string::npos)
    text.insert(text.rfind(kHost), kUpdates);
  const std::string entry = "host";
  Generated threads(text, "p.pld", entry);
  INFO(threads.rendered);
  REQUIRE(threads.good);
  INFO(threads["host/host_orch.cpp"]);
  CHECK(count_of(threads["host/host_orch.cpp"], "h.sync();") == c.syncs);

  Generated processes(text, "p.pld", entry, Target::Mpi);
  INFO(processes.rendered);
  CHECK(processes.good == c.refused.empty());
  CHECK(processes.has(diag::codegen_host_dependence) == !c.refused.empty());
  CHECK(contains(processes.rendered, c.refused));
}
