// The static match of check --ranks: what it must say, and above all what it must not.
#include "passes/match/match.h"

#include <fmt/format.h>

#include "frontend/text.h"
#include "support/catch.h"

using namespace pldc;

namespace {

constexpr std::string_view kProgram = R"(import pypto.language as pl
import pypto.language.distributed as pld

NR = pl.dynamic("NR")

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[1, 8], pl.INT32], sig: pl.InOut[pld.DistributedTensor[[NR, 4], pl.INT32]],
          bar: pl.InOut[pld.DistributedTensor[[NR, 1], pl.INT32]]):
        ctx = pld.get_comm_ctx(sig)
        me = pld.rank(ctx)
        n = pld.nranks(ctx)
        after = (me + 1) % n
        before = (me + n - 1) % n
{}
    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(self, x: pl.Tensor[[1, 8], pl.INT32], sig: pl.InOut[pld.DistributedTensor[[NR, 4], pl.INT32]],
             bar: pl.InOut[pld.DistributedTensor[[NR, 1], pl.INT32]]):
        {}

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self, xs: pl.Tensor[[NR, 1, 8], pl.INT32]):
        sigs = pld.alloc_window_buffer(pld.world_size() * 16)
        bars = pld.alloc_window_buffer(pld.world_size() * 4)
        for r in pl.range(pld.world_size()):
            sig = pld.window(sigs, [pld.world_size(), 4], dtype=pl.INT32)
            bar = pld.window(bars, [pld.world_size(), 1], dtype=pl.INT32)
            self.chip(xs[r], sig, bar, device=r)
)";

std::string notify(std::string_view peer, std::string_view cell, std::string_view value = "1",
                   std::string_view op = "AtomicAdd") {
  return fmt::format("pld.system.notify(sig, peer={}, offsets={}, value={}, op=pld.NotifyOp.{})\n", peer,
                     cell, value, op);
}
std::string wait(std::string_view cell, std::string_view value = "1", std::string_view cmp = "Ge") {
  return fmt::format("pld.system.wait(sig, offsets={}, expected={}, cmp=pld.WaitCmp.{})\n", cell, value, cmp);
}

// The ids of what is said about a kernel body, sorted by place, as one string.
std::string said(std::string_view body, std::uint32_t ranks,
                 std::string_view launch = "self.k(x, sig, bar)") {
  std::string lines;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = body.find('\n', at);
    lines += "        " + std::string(body.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  SourceManager sources;
  Context context;
  DiagSink diags;
  const std::string text = fmt::format(kProgram, lines, launch);
  const Module module = parse(*sources.add("match.pld", text), context, diags);
  CAPTURE(text, render(diags.all(), sources, {}));
  REQUIRE(!diags.has_errors());
  MatchOptions options;
  options.ranks = ranks;
  CHECK(match_ranks(context, module.program, options, diags));
  std::string ids;
  for (const Diagnostic& d : diags.take()) ids += (ids.empty() ? "" : " ") + std::string(d.kind->id);
  return ids;
}

}  // namespace

TEST_CASE("match: programs that end are not complained about, whatever the number of ranks") {
  const std::string ring = notify("after", "[me, 0]") + wait("[before, 0]");
  const std::string credits = "for i in pl.range(4):\n    " + notify("after", "[0, 0]") +
                              wait("[0, 0]", "4") + notify("me", "[0, 0]", "-4");
  const std::string set = notify("after", "[0, 1]", "7", "Set") + wait("[0, 1]", "7", "Eq");
  const std::string rounds =
      "for step in pl.range(3):\n    " + notify("after", "[0, 0]") + "    " + wait("[0, 0]", "step + 1");
  const std::string token =
      "if me != 0:\n    " + wait("[0, 0]") + notify("after", "[0, 0]") + "if me == 0:\n    " + wait("[0, 0]");
  for (std::uint32_t ranks = 1; ranks <= 8; ++ranks) {
    CAPTURE(ranks);
    CHECK(said(ring, ranks).empty());
    CHECK(said(credits, ranks).empty());
    CHECK(said(set, ranks).empty());
    CHECK(said(rounds, ranks).empty());
    if (ranks > 1) CHECK(said(token, ranks).empty());
    CHECK(said("bar = pld.tensor.barrier(bar)\nbar = pld.tensor.barrier(bar)\n", ranks).empty());
    CHECK(said("for i in pl.range(4):\n    if i == 2:\n        break\n" + ring, ranks).empty());
    CHECK(said(ring, ranks, "for i in pl.range(1):\n            self.k(x, sig, bar)").empty());
  }
}

TEST_CASE("match: what cannot end is found") {
  CHECK(said(wait("[0, 0]"), 2) == "match_no_notify");
  CHECK(said(notify("after", "[0, 0]") + wait("[0, 0]", "2"), 2) == "match_unreachable");
  CHECK(said(wait("[0, 0]") + notify("after", "[0, 0]"), 3) == "match_deadlock");
  // Only the order of the ranks decides whether the value is seen.
  CHECK(said(notify("after", "[0, 0]") + wait("[0, 0]", "1", "Eq") + notify("after", "[0, 0]") +
                 wait("[0, 0]", "2"),
             3) == "match_missed");
  CHECK(said(notify("after", "[0, 0]") + notify("after", "[0, 1]") + wait("[0, 1]"), 2) == "match_no_wait");
  CHECK(said("if me == 0:\n    bar = pld.tensor.barrier(bar)\n", 2) == "match_partial");
  CHECK(said(notify("me + 1", "[0, 0]") + wait("[0, 0]"), 2) == "match_peer");
  CHECK(said(notify("after", "[0, 4]") + wait("[0, 0]"), 2) == "match_cell");
  CHECK(said("if me == 0:\n    bar = pld.tensor.broadcast(bar, sig, root=0)\nif me != 0:\n    "
             "bar = pld.tensor.broadcast(bar, sig, root=1)\n",
             2) == "match_order");
  // A ring that nobody starts.
  CHECK(said(wait("[0, 0]") + notify("after", "[0, 0]"), 1) == "match_deadlock");
}

TEST_CASE("match: what depends on data is left out, and what does not is still matched") {
  const std::string data = "v = pl.tensor.read(x, [0, 0])\n";
  CHECK(said(data + "if v > 0:\n    " + notify("after", "[0, 0]") + wait("[0, 0]"), 2) == "match_data");
  CHECK(said(data + "for i in pl.range(v):\n    " + notify("after", "[0, 0]") + wait("[0, 0]", "5"), 2) ==
        "match_data");
  CHECK(said(data + notify("v", "[0, 0]") + wait("[0, 0]", "5"), 2) == "match_data");
  CHECK(said(data + notify("after", "[0, 0]", "v") + wait("[0, 0]", "5"), 2) == "match_data");
  CHECK(said(data + notify("after", "[0, 0]") + wait("[0, 0]", "v"), 2) == "match_data");
  // The window of the barrier is another one.
  CHECK(said(data + "if v > 0:\n    " + notify("after", "[0, 0]") +
                 "if me == 0:\n    bar = pld.tensor.barrier(bar)\n",
             2) == "match_data match_partial");
  // A value that is read is no announcement that must be awaited.
  CHECK(
      said(notify("after", "[0, 0]") + "v = pl.tensor.read(sig, [0, 0])\npl.tensor.write(x, [0, 0], v)\n", 2)
          .empty());
}
