// A simulator that explains: five planted errors, orders that matter, a trace.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "exec/programs.h"
#include "support/catch.h"
#include "support/corpus.h"
#include "support/temp_dir.h"

using namespace exectest;

namespace {

// Every rank stores two rows in the window of its right neighbour, notifies after each, waits and reads. NAME is the
// suffix of its functions; the lines between the marks are what the errors change.
constexpr const char* kShift = R"(
    @pl.function(type=pl.FunctionType.InCore)
    def shift_NAME(self, x: pl.Tensor[[2, 64], pl.FP32], y: pl.Out[pl.Tensor[[2, 64], pl.FP32]], win: pl.InOut[pld.DistributedTensor[[2, 64], pl.FP32]], sig: pl.InOut[pld.DistributedTensor[[4, 1], pl.INT32]]) -> pl.Tensor[[2, 64], pl.FP32]:
        ctx = pld.get_comm_ctx(win)
        right = (pld.rank(ctx) + 1) % pld.nranks(ctx)
        a = pl.load(x, [0, 0], [1, 64])
        b = pl.load(x, [1, 0], [1, 64])
        pld.tile.remote_store(a, win, peer=right, offsets=[0, 0])
        pld.system.notify(sig, peer=right, offsets=[1, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        pld.tile.remote_store(b, win, peer=right, offsets=[1, 0])
        pld.system.notify(sig, peer=right, offsets=[1, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        pld.system.wait(sig, offsets=[1, 0], expected=1, cmp=pld.WaitCmp.Ge)
        c = pl.load(win, [0, 0], [1, 64])
        y = pl.store(c, [0, 0], y)
        pld.system.wait(sig, offsets=[1, 0], expected=2, cmp=pld.WaitCmp.Ge)
        d = pl.load(win, [1, 0], [1, 64])
        return pl.store(d, [1, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip_NAME(self, x: pl.Tensor[[2, 64], pl.FP32], y: pl.Out[pl.Tensor[[2, 64], pl.FP32]], win: pl.InOut[pld.DistributedTensor[[2, 64], pl.FP32]], sig: pl.InOut[pld.DistributedTensor[[4, 1], pl.INT32]]) -> pl.Tensor[[2, 64], pl.FP32]:
        return self.shift_NAME(x, y, win, sig)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def NAME(self, xs: pl.Tensor[[3, 2, 64], pl.FP32], ys: pl.Out[pl.Tensor[[3, 2, 64], pl.FP32]]) -> pl.Tensor[[3, 2, 64], pl.FP32]:
        data_NAME = pld.alloc_window_buffer(512)
        cells_NAME = pld.alloc_window_buffer(16)
        for r in pl.range(pld.world_size()):
            win = pld.window(data_NAME, [2, 64], dtype=pl.FP32)
            sig = pld.window(cells_NAME, [4, 1], dtype=pl.INT32)
            self.chip_NAME(xs[r], ys[r], win, sig, device=r)
        return ys
)";

std::string replaced(std::string text, const std::string& from, const std::string& to, bool all = false) {
  std::size_t at = text.rfind(from);
  REQUIRE(at != std::string::npos);
  for (; at != std::string::npos; at = all ? text.find(from, at + to.size()) : std::string::npos)
    text.replace(at, from.size(), to);
  return text;
}

// The program with every error under a host function of its own.
std::string errors_text() {
  std::string all =
      "import pypto.language as pl\nimport pypto.language.distributed as pld\n\n@pl.program\nclass Errors:";
  const std::string store = "        pld.tile.remote_store(b, win, peer=right, offsets=[1, 0])\n";
  const std::string notify =
      "        pld.system.notify(sig, peer=right, offsets=[1, 0], value=1, op=pld.NotifyOp.AtomicAdd)\n";
  const auto add = [&](const std::string& name, const std::string& text) {
    std::string named = text;
    for (std::size_t at = named.find("NAME"); at != std::string::npos; at = named.find("NAME", at))
      named.replace(at, 4, name);
    all += named;
  };
  add("right", kShift);
  add("missing", replaced(kShift, store + notify, store));
  add("equal", replaced(kShift, "expected=1, cmp=pld.WaitCmp.Ge", "expected=1, cmp=pld.WaitCmp.Eq"));
  add("late", replaced(kShift, store + notify, notify + store));
  add("writers",
      replaced(kShift, store, store + "        pld.tile.remote_store(b, win, peer=0, offsets=[1, 0])\n"));
  add("cell", replaced(kShift, "offsets=[1, 0], expected=2", "offsets=[2, 0], expected=2"));
  // Row 2 of two is where the signals lie.
  add("outside",
      replaced(kShift, "d = pl.load(win, [1, 0], [1, 64])", "d = pl.load(win, [right + 1, 0], [1, 4])"));
  add("some",
      replaced(kShift, "        d = pl.load",
               "        if right != 0:\n            sig = pld.tensor.barrier(sig)\n        d = pl.load"));
  return all;
}

// The line of the text, from 1, at which the n-th (from 0) `part` behind `from` stands.
std::string line_of(const std::string& text, const std::string& from, const std::string& part, int n = 0) {
  std::size_t at = text.find(from);
  for (int i = 0; i <= n; ++i) at = text.find(part, at + 1);
  REQUIRE(at != std::string::npos);
  return "e.pld:" + std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

void check_parts(const std::string& err, const std::vector<std::string>& parts) {
  CAPTURE(err);
  for (const std::string& part : parts) {
    CAPTURE(part);
    CHECK(err.find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("exec: five planted errors are found and explained") {
  const TempDir dir;
  const std::string text = errors_text();
  const std::string file = dir.write("e.pld", text);
  const auto run_entry = [&](const std::string& entry, std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"run",
                                     file,
                                     "--entry=" + entry,
                                     "--random",
                                     "--build-dir=" + dir.path("b"),
                                     "--schedule=seeded",
                                     "--check=races,bounds"};
    args.insert(args.end(), more.begin(), more.end());
    return run_pldc(args, build_variables());
  };
  const Outcome right = run_entry("right", {"--schedules=20"});
  CAPTURE(right.err);
  REQUIRE(right.code == 0);
  CHECK(right.err.empty());

  const Outcome missing = run_entry("missing");
  CHECK(missing.code == 4);
  check_parts(missing.err,
              {"error: deadlock: no rank can move", line_of(text, "shift_missing", "system.wait", 1),
               "comm_d0.cells_missing[1]  1    >= 2", "to see this order again: pldc run", "--entry=missing",
               "--schedule=seeded --seed=0"});
  // The same without a seed.
  const Outcome threads = run_pldc(
      {"run", file, "--entry=missing", "--random", "--build-dir=" + dir.path("b")}, build_variables());
  CHECK(threads.code == 4);
  check_parts(threads.err, {"error: deadlock: no rank can move", "comm_d0.cells_missing[1]  1    >= 2"});

  const Outcome equal = run_entry("equal", {"--schedules=20"});
  CHECK(equal.code == 4);
  check_parts(equal.err, {"error: deadlock: no rank can move", line_of(text, "shift_equal", "system.wait"),
                          "== 1", "has missed it: the signal went on to 2; wait for >= 1 (WaitCmp.Ge)"});

  const Outcome late = run_entry("late");
  CHECK(late.code == 4);
  check_parts(
      late.err,
      {"error: race: bytes 256..511 of comm_d0.data_late in the window of rank 0",
       "shift_late  " + line_of(text, "shift_late", "remote_store", 1) + "  writes  256..511",
       "shift_late  " + line_of(text, "shift_late", "pl.load(win", 1) + "  reads   256..511",
       "missing: a signal that rank 2 notifies after " + line_of(text, "shift_late", "remote_store", 1) +
           " and rank 0 waits for before " + line_of(text, "shift_late", "pl.load(win", 1)});

  const Outcome writers = run_entry("writers");
  CHECK(writers.code == 4);
  check_parts(writers.err, {"error: race: bytes 256..511 of comm_d0.data_writers in the window of rank 0",
                            line_of(text, "shift_writers", "remote_store", 2) + "  writes  256..511"});

  const Outcome cell = run_entry("cell");
  CHECK(cell.code == 4);
  check_parts(cell.err,
              {"error: deadlock: no rank can move", line_of(text, "shift_cell", "system.wait", 1),
               "rank 0 waits for comm_d0.cells_cell[2], which nobody has notified; notified are [1] = 2"});

  const Outcome outside = run_entry("outside");
  CHECK(outside.code == 4);
  check_parts(outside.err,
              {line_of(text, "shift_outside", "d = pl.load"), " reads 16 bytes in memory outside of every ",
               " bytes behind comm_d0.data_outside (rank "});

  const Outcome some = run_entry("some");
  CHECK(some.code == 4);
  check_parts(some.err, {"error: deadlock: no rank can move", line_of(text, "shift_some", "tensor.barrier"),
                         "finished"});

  // A program that has a race: results differ between orders, and the message says where and how to see it again.
  const Outcome differs = run_pldc({"run", file, "--entry=late", "--random", "--build-dir=" + dir.path("b"),
                                    "--schedule=seeded", "--schedules=50", "--seed=3"},
                                   build_variables());
  CHECK(differs.code == 4);
  check_parts(differs.err, {"error: ys depends on the order of the ranks: ", " elements differ; first at [",
                            "with seed 3, ", "the other order: pldc run", "--schedule=seeded --seed=3",
                            "to see this order again: "});
}

TEST_CASE("exec: check --ranks finds the planted errors of signals without running anything") {
  const TempDir dir;
  const std::string text = errors_text();
  const std::string file = dir.write("e.pld", text);
  const Outcome found = run_pldc({"check", "--ranks=3", file});
  CHECK(found.code == 1);
  const auto says = [&](const std::string& line, const std::string& message) {
    CAPTURE(found.err, line, message);
    // The place is the statement's: FILE:LINE:COLUMN: error: MESSAGE
    const std::size_t at = found.err.find(line + ":");
    CHECK((at != std::string::npos &&
           found.err.substr(at, found.err.find('\n', at) - at).find(message) != std::string::npos));
  };
  says(line_of(text, "shift_missing", "system.wait", 1), "all notifies together bring this cell to 1");
  says(line_of(text, "shift_equal", "system.wait"), "but may find 2 there");
  says(line_of(text, "shift_cell", "system.wait", 1), "but no rank notifies this cell");
  // What only data shows is left to --check=races, and what is right is right.
  for (const std::string name : {"right", "late", "writers"}) {
    CAPTURE(name, found.err);
    for (int n = 0; n < 2; ++n)
      CHECK(found.err.find(line_of(text, "shift_" + name, "system.wait", n) + ":") == std::string::npos);
  }
}

TEST_CASE("exec: a trace has a track for every rank, and its spans nest") {
  const TempDir dir;
  const std::string trace = dir.path("t.json");
  for (const std::string schedule : {"threads", "seeded"}) {
    const Outcome done = run_pldc({"run", source_of("mesh_by_hand"), "--ranks=3", "--random",
                                   "--schedule=" + schedule, "--trace=" + trace},
                                  build_variables());
    CAPTURE(done.err);
    REQUIRE(done.code == 0);
    const auto json = nlohmann::json::parse(corpus::read(trace));
    std::map<int, std::string> names;
    struct Span {
      double begin, end;
      std::string category;
    };
    std::map<int, std::vector<Span>> spans;
    std::map<std::string, int> received;
    std::map<std::string, int> categories;
    for (const auto& event : json.at("traceEvents")) {
      const std::string kind = event.at("ph");
      if (kind == "M" && event.at("name") == "thread_name")
        names[event.at("tid")] = event.at("args").at("name");
      if (kind == "C") received[event.at("name")] = event.at("args").at("received");
      if (kind != "X") continue;
      const double begin = event.at("ts");
      CHECK(event.at("dur") >= 0.0);
      spans[event.at("tid")].push_back({begin, begin + event.at("dur").get<double>(), event.at("cat")});
      ++categories[event.at("cat")];
    }
    for (const std::string rank : {"rank 0", "rank 1", "rank 2"}) {
      CHECK(std::count_if(names.begin(), names.end(), [&](const auto& n) { return n.second == rank; }) == 1);
      CHECK(received["bytes of " + rank] == 2 * 1024);  // one row of 256 floats from each of the others
    }
    CHECK(categories["dispatch"] == 3);
    CHECK(categories["kernel"] == 3);
    CHECK(categories["wait"] == 6);
    CHECK(categories["signal"] == 6);
    CHECK(categories["transfer"] == 6);
    constexpr double kRounding = 0.002;
    for (auto& [track, list] : spans) {
      CHECK(names.count(track) == 1);
      std::stable_sort(list.begin(), list.end(), [](const Span& a, const Span& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
      });
      std::vector<Span> open;
      for (const Span& s : list) {
        while (!open.empty() && open.back().end <= s.begin + kRounding) open.pop_back();
        if (!open.empty()) CHECK(s.end <= open.back().end + kRounding);
        if (s.category == "kernel") {
          REQUIRE(!open.empty());
          CHECK(open.back().category == "dispatch");
        }
        open.push_back(s);
      }
    }
  }
}

TEST_CASE(
    "exec: collectives with one barrier race when they are repeated on their windows without another one") {
  const TempDir dir;
  for (const bool between : {false, true}) {
    const std::string file = dir.write("twice.pld", std::string(R"(import pypto.language as pl
import pypto.language.distributed as pld

@pl.program
class Twice:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[3, 64], pl.FP32]], all: pl.InOut[pld.DistributedTensor[[3, 64], pl.FP32]], sig: pl.InOut[pld.DistributedTensor[[3, 1], pl.INT32]]) -> pl.Tensor[[3, 64], pl.FP32]:
        all = pld.tensor.allgather(x, all, sig)
        first = pl.load(all, [0, 0], [3, 64])
        y = pl.store(first, [0, 0], y)
)") + (between ? "        sig = pld.tensor.barrier(sig)\n" : "") +
                                                        R"(        all = pld.tensor.allgather(x, all, sig)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(self, x: pl.Tensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[3, 64], pl.FP32]], all: pl.InOut[pld.DistributedTensor[[3, 64], pl.FP32]], sig: pl.InOut[pld.DistributedTensor[[3, 1], pl.INT32]]) -> pl.Tensor[[3, 64], pl.FP32]:
        return self.kernel(x, y, all, sig)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self, xs: pl.Tensor[[3, 1, 64], pl.FP32], ys: pl.Out[pl.Tensor[[3, 3, 64], pl.FP32]]) -> pl.Tensor[[3, 3, 64], pl.FP32]:
        data = pld.alloc_window_buffer(768)
        cells = pld.alloc_window_buffer(12)
        for r in pl.range(pld.world_size()):
            all = pld.window(data, [3, 64], dtype=pl.FP32)
            sig = pld.window(cells, [3, 1], dtype=pl.INT32)
            self.chip(xs[r], ys[r], all, sig, device=r)
        return ys
)");
    const Outcome done =
        run_pldc({"run", file, "--random", "--schedule=seeded", "--schedules=10", "--check=races,signals"},
                 build_variables());
    CAPTURE(between, done.err);
    CHECK(done.code == (between ? 0 : 4));
    CHECK((done.err.find("error: race: ") != std::string::npos) == !between);
  }
}
