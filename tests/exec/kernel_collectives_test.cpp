// Collectives in kernels, and sine and cosine: what programs compute after LowerCompositeOps, compared with plain loops
// over all ranks. T96, T137, T139, T140, T86 (signals are zero at the end).
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "cli/cli.h"
#include "support/catch.h"
#include "support/npy.h"
#include "support/temp_dir.h"

namespace {

constexpr std::string_view kHead =
    "import pypto.language as pl\nimport pypto.language.distributed as pld\n\n"
    "RANKS = pl.dynamic(\"RANKS\")\nROUNDS = pl.dynamic(\"ROUNDS\")\n\n@pl.program\nclass P:\n";

struct Window {
  std::string name, shape, dtype;
  std::string host_shape;  // as a host function writes it
  std::string elements;    // their number
};
struct Operand {
  std::string name, type;  // of one rank
  std::string host_type;   // of all ranks
  bool out;
};

std::string indented(std::string_view text, int columns) {
  std::string out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    out += std::string(static_cast<std::size_t>(columns), ' ');
    out += text.substr(begin, end + 1 - begin);
    begin = end + 1;
  }
  return out;
}

// A program of one kernel that runs on every rank.
std::string program(const std::vector<Operand>& operands, const std::vector<Window>& windows,
                    std::string_view body) {
  std::string params, host_params, args, dispatched, views, allocations;
  for (const Operand& o : operands) {
    const auto typed = [&](const std::string& type) {
      return o.out ? fmt::format(", {}: pl.Out[{}]", o.name, type) : fmt::format(", {}: {}", o.name, type);
    };
    params += typed(o.type);
    host_params += typed(o.host_type);
    args += (args.empty() ? "" : ", ") + o.name;
    dispatched += (dispatched.empty() ? "" : ", ") + o.name + "[rank]";
  }
  for (const Window& w : windows) {
    params += fmt::format(", {}: pl.InOut[pld.DistributedTensor[{}, pl.{}]]", w.name, w.shape, w.dtype);
    args += ", " + w.name;
    dispatched += ", " + w.name;
    allocations += fmt::format("        {}_buf = pld.alloc_window_buffer({} * pl.{}.get_byte())\n", w.name,
                               w.elements, w.dtype);
    views += fmt::format("            {0} = pld.window({0}_buf, {1}, dtype=pl.{2})\n", w.name, w.host_shape,
                         w.dtype);
  }
  return std::string(kHead) + "    @pl.function(type=pl.FunctionType.InCore)\n    def kernel(self" + params +
         "):\n" + indented(body, 8) +
         "\n    @pl.function(type=pl.FunctionType.Orchestration)\n    def chip(self" + params +
         "):\n        self.kernel(" + args +
         ")\n\n    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n    def main(self" +
         host_params + "):\n" + allocations + "        for rank in pl.range(pld.world_size()):\n" + views +
         "            self.chip(" + dispatched + ", device=rank)\n";
}

Window fixed(std::string name, std::string shape, std::string elements, std::string dtype = "FP32") {
  return {std::move(name), shape, std::move(dtype), shape, std::move(elements)};
}
// [RANKS, columns]
Window by_rank(std::string name, int columns, std::string dtype = "FP32") {
  return {std::move(name), fmt::format("[RANKS, {}]", columns), std::move(dtype),
          fmt::format("[pld.world_size(), {}]", columns), fmt::format("pld.world_size() * {}", columns)};
}

// Adds the squares of all cells of a signal to `left`.
std::string count_cells(std::string_view signal, std::string_view rows, std::string_view columns) {
  return fmt::format(
      "for i in pl.range({1}):\n    for j in pl.range({2}):\n"
      "        cell = pl.tensor.read({0}, [i, j])\n        left = left + cell * cell\n",
      signal, rows, columns);
}

void run(const TempDir& dir, const std::string& text, int ranks, const std::vector<std::string>& more) {
  const std::string path = dir.write("p.pld", text);
  std::vector<std::string> args = {"run", path, "--ranks=" + std::to_string(ranks), "--check=signals",
                                   "--build-dir=" + dir.path("build")};
  args.insert(args.end(), more.begin(), more.end());
  const Outcome outcome = run_pldc(args, build_variables());
  INFO(text << "\n" << outcome.err);
  REQUIRE(outcome.code == 0);
}

struct Reduction {
  const char* name;
  std::function<float(float, float)> apply;
};
const Reduction kReductions[] = {{"Sum", [](float a, float b) { return a + b; }},
                                 {"Max", [](float a, float b) { return std::max(a, b); }},
                                 {"Min", [](float a, float b) { return std::min(a, b); }},
                                 {"Prod", [](float a, float b) { return a * b; }}};
constexpr int kSizes[] = {1, 17, 256, 8193};
constexpr int kAll = 1 + 17 + 256 + 8193;

// An all-reduce of each size, each with another reduction, called twice on one signal.
std::string all_reduces(bool ring, bool half, int first_reduction) {
  std::string body = "left = pl.const(0, pl.INT32)\nranks = pld.nranks(pld.get_comm_ctx(w1))\n";
  std::vector<Window> windows;
  int offset = 0;
  for (int i = 0; i < 4; ++i) {
    const int n = kSizes[i];
    const std::string w = fmt::format("w{}", n);
    windows.push_back(fixed(w, fmt::format("[1, {}]", n), std::to_string(n), half ? "FP16" : "FP32"));
    const std::string load = fmt::format("pl.load(x, [0, {}], [1, {}])", offset, n);
    const std::string back = fmt::format("pl.load({}, [0, 0], [1, {}])", w, n);
    body += fmt::format("{} = pl.store({}, [0, 0], {})\n", w,
                        half ? "pl.tile.cast(" + load + ", target_type=pl.FP16)" : load, w);
    body += fmt::format(
        "for again in pl.range(2):\n    {0} = pld.tensor.allreduce({0}, sig, op=pld.ReduceOp.{1}, "
        "mode=\"{2}\")\n",
        w, kReductions[(first_reduction + i) % 4].name, ring ? "ring" : "mesh");
    body += fmt::format("y = pl.store({}, [0, {}], y)\n",
                        half ? "pl.tile.cast(" + back + ", target_type=pl.FP32)" : back, offset);
    offset += n;
  }
  if (ring) {
    windows.push_back({"sig", "[ROUNDS, RANKS]", "INT32", "[2 * (pld.world_size() - 1), pld.world_size()]",
                       "2 * (pld.world_size() - 1) * pld.world_size()"});
    body += count_cells("sig", "2 * (ranks - 1)", "ranks");
  } else {
    windows.push_back(by_rank("sig", 1, "INT32"));
    body += count_cells("sig", "ranks", "1");
  }
  body += "pl.tensor.write(z, [0, 0], left)\n";
  const std::string row = fmt::format("1, {}", kAll);
  return program(
      {{"x", "pl.Tensor[[" + row + "], pl.FP32]", "pl.Tensor[[RANKS, " + row + "], pl.FP32]", false},
       {"y", "pl.Tensor[[" + row + "], pl.FP32]", "pl.Tensor[[RANKS, " + row + "], pl.FP32]", true},
       {"z", "pl.Tensor[[1, 8], pl.INT32]", "pl.Tensor[[RANKS, 1, 8], pl.INT32]", true}},
      windows, body);
}

}  // namespace

TEST_CASE("T137 all-reduces of all sizes, reductions, dtypes and modes, twice on one signal", "[exec]") {
  int first_reduction = 0;
  for (const bool ring : {false, true}) {
    for (const bool half : {false, true}) {
      const TempDir dir;
      const std::string text = all_reduces(ring, half, first_reduction);
      for (const int ranks : {1, 2, 3, 4, 8}) {
        const auto p = static_cast<std::size_t>(ranks);
        Npy<float> x({p, 1, kAll});
        // Small whole numbers, so that sums and products are exact in FP16 too.
        std::uint32_t seed = 1;
        for (float& v : x.values) {
          seed = seed * 1664525 + 1013904223;
          v = static_cast<float>((seed >> 16) % 3) - 1.0F;
        }
        x.write(dir.path("x.npy"));
        run(dir, text, ranks,
            {"--in=x=" + dir.path("x.npy"), "--out=y=" + dir.path("y.npy"), "--out=z=" + dir.path("z.npy"),
             "--repeat=2"});
        Npy<float> y({p, 1, kAll});
        y.read(dir.path("y.npy"));
        Npy<std::int32_t> z({p, 1, 8});
        z.read(dir.path("z.npy"));
        std::size_t wrong = 0;
        std::size_t column = 0;
        for (int i = 0; i < 4; ++i) {
          const auto& reduce = kReductions[(first_reduction + i) % 4].apply;
          for (int k = 0; k < kSizes[i]; ++k, ++column) {
            float once = x.values[column];
            for (std::size_t r = 1; r < p; ++r) once = reduce(once, x.values[r * kAll + column]);
            float twice = once;
            for (std::size_t r = 1; r < p; ++r) twice = reduce(twice, once);
            for (std::size_t r = 0; r < p; ++r) wrong += y.values[r * kAll + column] != twice ? 1 : 0;
          }
        }
        CAPTURE(ring, half, ranks);
        CHECK(wrong == 0);
        for (std::size_t r = 0; r < p; ++r) CHECK(z.values[r * 8] == 0);
      }
      ++first_reduction;
    }
  }
}

TEST_CASE("T137 all-reduces of targets that are valid in part leave the rest alone", "[exec]") {
  // The first elements: of the mesh a corner, of the ring a prefix.
  const std::string body =
      "left = pl.const(0, pl.INT32)\nranks = pld.nranks(pld.get_comm_ctx(m))\n"
      "m = pl.store(pl.load(x, [0, 0], [6, 4]), [0, 0], m)\n"
      "r = pl.store(pl.load(x, [0, 0], [6, 4]), [0, 0], r)\n"
      "pld.tensor.allreduce(pl.tensor.view(m, [6, 4], [3, 2]), sig, op=pld.ReduceOp.Max)\n"
      "pld.tensor.allreduce(pl.tensor.view(r, [2, 3, 4], [1, 3, 4]), ring, mode=\"ring\")\n"
      "y = pl.store(pl.load(m, [0, 0], [6, 4]), [0, 0], y)\n"
      "y = pl.store(pl.load(r, [0, 0], [6, 4]), [6, 0], y)\n" +
      count_cells("sig", "ranks", "1") + count_cells("ring", "2 * (ranks - 1)", "ranks") +
      "pl.tensor.write(z, [0, 0], left)\n";
  const TempDir dir;
  const std::string text =
      program({{"x", "pl.Tensor[[6, 4], pl.FP32]", "pl.Tensor[[RANKS, 6, 4], pl.FP32]", false},
               {"y", "pl.Tensor[[12, 4], pl.FP32]", "pl.Tensor[[RANKS, 12, 4], pl.FP32]", true},
               {"z", "pl.Tensor[[1, 8], pl.INT32]", "pl.Tensor[[RANKS, 1, 8], pl.INT32]", true}},
              {fixed("m", "[6, 4]", "24"),
               fixed("r", "[6, 4]", "24"),
               by_rank("sig", 1, "INT32"),
               {"ring", "[ROUNDS, RANKS]", "INT32", "[2 * (pld.world_size() - 1), pld.world_size()]",
                "2 * (pld.world_size() - 1) * pld.world_size()"}},
              body);
  for (const int ranks : {1, 2, 3, 4, 8}) {
    const auto p = static_cast<std::size_t>(ranks);
    Npy<float> x({p, 6, 4});
    for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] = static_cast<float>((i * 7) % 11);
    x.write(dir.path("x.npy"));
    run(dir, text, ranks,
        {"--in=x=" + dir.path("x.npy"), "--out=y=" + dir.path("y.npy"), "--out=z=" + dir.path("z.npy")});
    Npy<float> y({p, 12, 4});
    y.read(dir.path("y.npy"));
    Npy<std::int32_t> z({p, 1, 8});
    z.read(dir.path("z.npy"));
    for (std::size_t me = 0; me < p; ++me) {
      CAPTURE(ranks, me);
      CHECK(z.values[me * 8] == 0);
      for (std::size_t i = 0; i < 24; ++i) {
        float most = x.values[i], sum = 0;
        for (std::size_t r = 0; r < p; ++r) {
          most = std::max(most, x.values[r * 24 + i]);
          sum += x.values[r * 24 + i];
        }
        const float own = x.values[me * 24 + i];
        CAPTURE(i);
        CHECK(y.values[me * 48 + i] == (i / 4 < 3 && i % 4 < 2 ? most : own));
        CHECK(y.values[me * 48 + 24 + i] == (i < 12 ? sum : own));
      }
    }
  }
}

TEST_CASE("T139 T140 the other collectives in kernels", "[exec]") {
  constexpr std::size_t kColumns = 24;
  constexpr std::size_t kMost = 2;      // rows of a block of all_to_all_v
  constexpr std::size_t kAnyRanks = 8;  // its shapes are constants
  const std::string body =
      "left = pl.const(0, pl.INT32)\nranks = pl.cast(pld.nranks(pld.get_comm_ctx(rs)), pl.INDEX)\n"
      // reduce_scatter and broadcast start from the own rows; a barrier parts two uses of a window.
      "for i in pl.range(ranks):\n    rs = pl.store(pl.load(x, [i, 0], [1, 24]), [i, 0], rs)\n"
      "rs = pld.tensor.reduce_scatter(rs, sig)\n"
      "bc = pl.store(pl.load(v, [0, 0], [2, 24]), [0, 0], bc)\n"
      "bc = pld.tensor.broadcast(bc, sig, root=1)\n"
      "sig = pld.tensor.barrier(sig)\n"
      "g = pld.tensor.allgather(row, g, sig)\n"
      "for again in pl.range(2):\n    sig = pld.tensor.barrier(sig)\n    a = pld.tensor.all_to_all(x, a, "
      "sig)\n"
      "v2 = pld.tensor.all_to_all_v(v, av, sig8, counts, rc)\n"
      "for i in pl.range(ranks):\n"
      "    y = pl.store(pl.load(rs, [i, 0], [1, 24]), [i, 0], y)\n"
      "    y = pl.store(pl.load(g, [i, 0], [1, 24]), [8 + i, 0], y)\n"
      "    y = pl.store(pl.load(a, [i, 0], [1, 24]), [16 + i, 0], y)\n"
      "    pl.tensor.write(z, [0, 1 + i], pl.tensor.read(rc, [i, 0]))\n"
      "y = pl.store(pl.load(bc, [0, 0], [2, 24]), [24, 0], y)\n"
      "y = pl.store(pl.load(v2, [0, 0], [16, 24]), [26, 0], y)\n" +
      count_cells("sig", "ranks", "1") + count_cells("sig8", "ranks", "1") +
      "pl.tensor.write(z, [0, 0], left)\n";
  const std::string text =
      program({{"x", "pl.Tensor[[RANKS, 24], pl.FP32]", "pl.Tensor[[RANKS, RANKS, 24], pl.FP32]", false},
               {"row", "pl.Tensor[[1, 24], pl.FP32]", "pl.Tensor[[RANKS, 1, 24], pl.FP32]", false},
               {"v", "pl.Tensor[[16, 24], pl.FP32]", "pl.Tensor[[RANKS, 16, 24], pl.FP32]", false},
               {"counts", "pl.Tensor[[8, 1], pl.INT32]", "pl.Tensor[[RANKS, 8, 1], pl.INT32]", false},
               {"y", "pl.Tensor[[42, 24], pl.FP32]", "pl.Tensor[[RANKS, 42, 24], pl.FP32]", true},
               {"z", "pl.Tensor[[1, 16], pl.INT32]", "pl.Tensor[[RANKS, 1, 16], pl.INT32]", true}},
              {by_rank("rs", 24), fixed("bc", "[2, 24]", "48"), by_rank("g", 24), by_rank("a", 24),
               fixed("av", "[16, 24]", "384"), by_rank("sig", 1, "INT32"),
               fixed("sig8", "[8, 1]", "8", "INT32"), fixed("rc", "[8, 1]", "8", "INT32")},
              body);
  const TempDir dir;
  for (const int ranks : {2, 3, 4, 8}) {
    const auto p = static_cast<std::size_t>(ranks);
    Npy<float> x({p, p, kColumns}), row({p, 1, kColumns}), v({p, 16, kColumns});
    Npy<std::int32_t> counts({p, kAnyRanks, 1});
    float next = 1;
    for (Npy<float>* t : {&x, &row, &v}) {
      for (float& value : t->values) value = next += 1;
    }
    for (std::size_t i = 0; i < counts.values.size(); ++i)
      counts.values[i] = static_cast<std::int32_t>(i * 3 % 5);
    std::vector<std::string> args = {"--out=y=" + dir.path("y.npy"), "--out=z=" + dir.path("z.npy"),
                                     "--repeat=2"};
    const std::pair<const char*, Npy<float>*> inputs[] = {{"x", &x}, {"row", &row}, {"v", &v}};
    for (const auto& [name, value] : inputs) {
      value->write(dir.path(std::string(name) + ".npy"));
      args.push_back(fmt::format("--in={}={}", name, dir.path(std::string(name) + ".npy")));
    }
    counts.write(dir.path("counts.npy"));
    args.push_back("--in=counts=" + dir.path("counts.npy"));
    run(dir, text, ranks, args);
    Npy<float> y({p, 42, kColumns});
    y.read(dir.path("y.npy"));
    Npy<std::int32_t> z({p, 1, 16});
    z.read(dir.path("z.npy"));
    for (std::size_t me = 0; me < p; ++me) {
      CAPTURE(ranks, me);
      const auto found = [&](std::size_t r, std::size_t c) { return y.values[(me * 42 + r) * kColumns + c]; };
      const auto at = [&](const Npy<float>& t, std::size_t rank, std::size_t r, std::size_t c) {
        return t.values[(rank * t.shape[1] + r) * kColumns + c];
      };
      CHECK(z.values[me * 16] == 0);
      std::size_t wrong = 0;
      for (std::size_t c = 0; c < kColumns; ++c) {
        for (std::size_t i = 0; i < p; ++i) {
          float sum = 0;
          for (std::size_t r = 0; r < p; ++r) sum += at(x, r, i, c);
          wrong += found(i, c) != (i == me ? sum : at(x, me, i, c)) ? 1 : 0;
          wrong += found(8 + i, c) != at(row, i, 0, c) ? 1 : 0;
          wrong += found(16 + i, c) != at(x, i, me, c) ? 1 : 0;
          const std::int32_t sent = std::min<std::int32_t>(counts.values[i * kAnyRanks + me], kMost);
          wrong += z.values[me * 16 + 1 + i] != sent ? 1 : 0;
          for (std::size_t r = 0; r < static_cast<std::size_t>(sent); ++r) {
            wrong += found(26 + i * kMost + r, c) != at(v, i, me * kMost + r, c) ? 1 : 0;
          }
        }
        for (std::size_t r = 0; r < 2; ++r) wrong += found(24 + r, c) != at(v, 1, r, c) ? 1 : 0;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("T138 after the first half of a ring each rank has its own segment complete", "[exec]") {
  const char* root = std::getenv("PLDC_SOURCE_ROOT");
  const std::string sample = std::string(root != nullptr ? root : ".") + "/samples/reveal/builtin_ring.pld";
  std::string text = run_pldc({"--dump-after=LowerCompositeOps", sample}).out;
  // Without the rounds in which the segments go around.
  const auto line_of = [&](std::string_view part) {
    const std::size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    return text.rfind('\n', at) + 1;
  };
  const std::size_t begin = line_of("for part__ag_step_tmp");
  text.erase(begin, line_of("part__ring_reset_total_tmp") - begin);
  constexpr std::size_t kRanks = 4, kColumns = 1000;
  Npy<float> x({kRanks, 1, kColumns}), y({kRanks, 1, kColumns});
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] = static_cast<float>(i * 13 % 101);
  const TempDir dir;
  x.write(dir.path("x.npy"));
  const Outcome outcome = run_pldc(
      {"run", "--passes=NONE", dir.write("half.pld", text), "--ranks=4", "--build-dir=" + dir.path("build"),
       "--in=xs=" + dir.path("x.npy"), "--out=ys=" + dir.path("y.npy")},
      build_variables());
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  y.read(dir.path("y.npy"));
  for (std::size_t r = 0; r < kRanks; ++r) {
    std::size_t complete = 0, others = 0;
    for (std::size_t c = 0; c < kColumns; ++c) {
      float sum = 0;
      for (std::size_t k = 0; k < kRanks; ++k) sum += x.values[k * kColumns + c];
      const bool in_segment = c >= r * 250 && c < (r + 1) * 250;
      (in_segment ? complete : others) += y.values[r * kColumns + c] == sum ? 1 : 0;
    }
    CAPTURE(r);
    CHECK(complete == 250);
    CHECK(others < 100);
  }
}

TEST_CASE("signals of collectives in kernels limit the number of ranks", "[exec]") {
  const auto with = [](const std::string& mode, const std::string& signal, int cells) {
    return program(
        {{"x", "pl.Tensor[[1, 64], pl.FP32]", "pl.Tensor[[RANKS, 1, 64], pl.FP32]", false}},
        {fixed("w", "[1, 64]", "64"), fixed("sig", signal, std::to_string(cells), "INT32")},
        "w = pl.store(pl.load(x, [0, 0], [1, 64]), [0, 0], w)\nw = pld.tensor.allreduce(w, sig, mode=\"" +
            mode + "\")\n");
  };
  struct Case {
    const char* mode;
    const char* signal;
    int cells, good, bad;
    const char* message;
  };
  const Case cases[] = {{"mesh", "[3, 1]", 3, 2, 4, "pld.tensor.allreduce"},
                        {"ring", "[4, 3]", 12, 3, 2, "pld.tensor.allreduce mode=\"ring\""}};
  for (const Case& c : cases) {
    const TempDir dir;
    const std::string text = with(c.mode, c.signal, c.cells);
    run(dir, text, c.good, {"--random"});
    const Outcome outcome = run_pldc({"run", dir.path("p.pld"), "--random",
                                      "--build-dir=" + dir.path("build"), "--ranks=" + std::to_string(c.bad)},
                                     build_variables());
    CAPTURE(c.mode, outcome.err);
    CHECK(outcome.code != 0);
    CHECK_THAT(outcome.err, Catch::Matchers::Contains(c.message) && Catch::Matchers::Contains("3") &&
                                Catch::Matchers::Contains(std::to_string(c.bad)));
  }
}

TEST_CASE("T96 sine and cosine, written out and called", "[exec]") {
  const std::string text =
      std::string(kHead) +
      "    @pl.function(type=pl.FunctionType.InCore)\n"
      "    def kernel(self, x: pl.Tensor[[64, 64], pl.FP32], s: pl.Out[pl.Tensor[[64, 64], pl.FP32]], "
      "c: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n"
      "        t = pl.load(x, [0, 0], [64, 64])\n"
      "        pl.store(pl.tile.sin(t), [0, 0], s)\n        pl.store(pl.tile.cos(t), [0, 0], c)\n\n"
      "    @pl.function(type=pl.FunctionType.Orchestration)\n"
      "    def main(self, x: pl.Tensor[[64, 64], pl.FP32], s: pl.Out[pl.Tensor[[64, 64], pl.FP32]], "
      "c: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n        self.kernel(x, s, c)\n";
  const double bound = 2 * 3.14159265358979 * 1024;
  Npy<float> x({64, 64});
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    x.values[i] = static_cast<float>(bound * (2 * static_cast<double>(i) / 4095 - 1));
  }
  // Where the sign and the reduction change.
  for (std::size_t i = 0; i < 64; ++i)
    x.values[i] = static_cast<float>((static_cast<double>(i) - 32) * 0.78539816);
  const TempDir dir;
  x.write(dir.path("x.npy"));
  for (const char* passes : {"*", "NONE"}) {
    run(dir, text, 1,
        {"--in=x=" + dir.path("x.npy"), "--out=s=" + dir.path("s.npy"), "--out=c=" + dir.path("c.npy"),
         fmt::format("--passes={}", passes)});
    Npy<float> s({64, 64}), c({64, 64});
    s.read(dir.path("s.npy"));
    c.read(dir.path("c.npy"));
    double most = 0;
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      const auto exact = static_cast<double>(x.values[i]);
      most = std::max(most, std::abs(static_cast<double>(s.values[i]) - std::sin(exact)));
      most = std::max(most, std::abs(static_cast<double>(c.values[i]) - std::cos(exact)));
    }
    CAPTURE(passes);
    CHECK(most <= 1e-5);
  }
}
