// LowerCompositeOps: the reference's texts, and scenarios T70 to T96, T167.
#include <fmt/format.h>

#include <regex>

#include "support/catch.h"
#include "unit/passes/dist_program.h"

using namespace dist;
using Catch::Matchers::Contains;

namespace pldc {
const Program* run_LowerCompositeOps(PassEnv&, const Program*);
const Program* run_MaterializeDistTensorCtx(PassEnv&, const Program*);
}  // namespace pldc

namespace {

constexpr pldc::PassFunction kLower = pldc::run_LowerCompositeOps;

std::string program_of(std::string_view params, std::string_view body, std::string_view globals = "") {
  std::string text = program("@pl.function(type=pl.FunctionType.InCore)\ndef kern(self, " +
                             std::string(params) + "):\n" + indented(body, 4));
  return text.insert(text.find("@pl.program"), globals);
}

// The kernel's text after the pass, or the errors.
std::string lowered(std::string_view params, std::string_view body, std::string_view globals = "",
                    pldc::Dialect dialect = pldc::Dialect::Legacy) {
  const golden::Result result =
      golden::run(program_of(params, body, globals),
                  {pldc::run_ConvertToSSA, pldc::run_FlattenCallExpr, kLower}, {}, dialect);
  return result.ok ? result.text.substr(result.text.find("def kern(")) : result.errors;
}

std::string window(std::string_view name, std::string_view shape, std::string_view dtype = "FP32",
                   std::string_view view = "") {
  return fmt::format("{}: pl.InOut[pld.DistributedTensor[{}, pl.{}{}]]", name, shape, dtype, view);
}
std::string with_signal(const std::string& target, std::string_view shape = "[4, 1]") {
  return target + ", " + window("sig", shape, "INT32");
}
std::string on(std::string_view shape, std::string_view call, std::string_view dtype = "FP32",
               std::string_view signal = "[4, 1]") {
  return lowered(with_signal(window("w", shape, dtype), signal), call);
}
std::string valid_part(std::string_view valid) {
  return fmt::format(", pl.TensorView(valid_shape={}, layout=pl.TensorLayout.ND)", valid);
}

// All matches of the pattern's first group.
std::vector<std::string> all(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> out;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
    out.push_back((*it)[1]);
  return out;
}
// The values of waits that are constants, in order.
std::vector<std::string> static_waits(const std::string& text) {
  return all(text, R"(pld\.system\.wait\([^\n]*pl\.const\((\d+), pl\.INT32\), cmp=1\))");
}
using Waits = std::vector<std::string>;

constexpr std::string_view kAllreduce = "w = pld.tensor.allreduce(w, sig)\n";
constexpr std::string_view kRing = "w = pld.tensor.allreduce(w, sig, mode=\"ring\")\n";
constexpr std::string_view kBarrier = "sig = pld.tensor.barrier(sig)\n";

// The kernels that call one collective each, by name.
std::string one(std::string_view name, int times = 1, std::string_view loop = "") {
  std::string params, call;
  if (name == "allgather" || name == "all_to_all") {
    params = fmt::format("x: pl.Tensor[[{}, 64], pl.FP32], ", name == "allgather" ? 1 : 4);
    call = fmt::format("w = pld.tensor.{}(x, w, sig)\n", name);
  } else if (name == "all_to_all_v") {
    params = "x: pl.Tensor[[8, 64], pl.FP32], sc: pl.Tensor[[4, 1], pl.INT32], " +
             window("rc", "[4, 1]", "INT32") + ", ";
    call = "w = pld.tensor.all_to_all_v(x, w, sig, sc, rc)\n";
  } else if (name == "barrier") {
    call = kBarrier;
  } else if (name == "broadcast") {
    call = "w = pld.tensor.broadcast(w, sig, root=2)\n";
  } else if (name == "ring") {
    call = kRing;
  } else {
    call = fmt::format("w = pld.tensor.{}(w, sig)\n", name);
  }
  const std::string shape = name == "all_to_all_v" ? "[8, 64]" : "[4, 64]";
  std::string body;
  for (int i = 0; i < times; ++i) body += call;
  if (!loop.empty()) body = std::string(loop) + indented(body, 4);
  return lowered(params + with_signal(window("w", shape), name == "ring" ? "[6, 4]" : "[4, 1]"), body);
}

}  // namespace

TEST_CASE("LowerCompositeOps: the reference's texts") {
  if (golden::corpus().empty()) return;
  int compared = 0;
  const std::string report = golden::compare_all("LowerCompositeOps", kLower, compared);
  INFO(compared << " programs compared\n" << report);
  CHECK(report.empty());
  CHECK(golden::changed("LowerCompositeOps") >= 9);
}

TEST_CASE("T70 T71 a kernel gives its all-reduce a signal, and no cores") {
  for (const char* form : {"v = pld.tensor.allreduce(w)\n", "pld.tensor.allreduce(w)\n"}) {
    CHECK_THAT(
        on("[1, 64]", form),
        Contains("PLD0520 pld.tensor.allreduce requires an explicit signal outside host orchestrator") &&
            Contains("take a signal window as a parameter"));
  }
  CHECK_THAT(on("[1, 64]", "w = pld.tensor.allreduce(w, sig, core_num=4)\n"),
             Contains("PLD0521 pld.tensor.allreduce core_num = 4 is supported only in a HOST orchestrator"));
  CHECK_THAT(on("[1, 64]", "w = pld.tensor.allreduce(w, sig, mode=\"tree\")\n"),
             Contains("PLD0583 pld.tensor.allreduce mode must be \"ring\" or \"mesh\", found \"tree\""));
}

TEST_CASE("T72 host functions keep their collectives") {
  const std::string text = host(std::string(data_everywhere()) +
                                "sbuf = pld.alloc_window_buffer([4], dtype=pl.INT32)\n"
                                "sig = pld.window(sbuf, [4], dtype=pl.INT32)\n"
                                "abuf = pld.alloc_window_buffer([4, 64], dtype=pl.FP32)\n"
                                "a = pld.window(abuf, [4, 64], dtype=pl.FP32)\n"
                                "bbuf = pld.alloc_window_buffer([4, 64], dtype=pl.FP32)\n"
                                "b = pld.window(bbuf, [4, 64], dtype=pl.FP32)\n"
                                "cbuf = pld.alloc_window_buffer([4, 1], dtype=pl.INT32)\n"
                                "c = pld.window(cbuf, [4, 1], dtype=pl.INT32)\n"
                                "rbuf = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)\n"
                                "row = pld.window(rbuf, [1, 64], dtype=pl.FP32)\n"
                                "vbuf = pld.alloc_window_buffer([4, 1], dtype=pl.INT32)\n"
                                "v = pld.window(vbuf, [4, 1], dtype=pl.INT32)\n"
                                "pld.tensor.allreduce(data, sig)\n"
                                "pld.tensor.barrier(sig)\n"
                                "pld.tensor.broadcast(data, sig, root=0)\n"
                                "pld.tensor.reduce_scatter(a, sig)\n"
                                "pld.tensor.allgather(row, a, sig)\n"
                                "pld.tensor.all_to_all(b, a, sig)\n"
                                "pld.tensor.all_to_all_v(b, a, c, v, c)\nreturn 0\n");
  const golden::Result before = golden::run(text, {});
  const golden::Result after = golden::run(text, {kLower});
  INFO(after.errors);
  CHECK(after.ok);
  CHECK(after.text == before.text);
}

TEST_CASE("T73 a mesh all-reduce: seven loops, six branches, and the ops it consists of") {
  const std::string text = on("[1, 1024]", kAllreduce);
  INFO(text);
  CHECK(count(text, "for ") == 7);
  CHECK(count(text, " if ") == 6);
  CHECK(count(text, "pld.tensor.") == 0);
  for (const char* op : {"get_comm_ctx", "nranks", "rank(", "notify", "wait", "tile.load", "remote_load",
                         "fillpad_inplace", "tile.add", "set_validshape", "tile.store", "tensor.view"}) {
    INFO(op);
    CHECK(count(text, op) > 0);
  }
}

TEST_CASE("T74 the target is seen as one row") {
  CHECK_THAT(on("[2, 3, 4]", kAllreduce), Contains("pl.tensor.view(w__ssa_v0, [1, 24])"));
}

TEST_CASE("T75 tiles of a mesh all-reduce") {
  for (const int n : {1, 3, 17, 4096, 4097, 65537}) {
    const int step = n < 4096 ? (n + 7) / 8 * 8 : 4096;
    const std::string text = on(fmt::format("[1, {}]", n), kAllreduce);
    INFO(text);
    CHECK_THAT(text, Contains(fmt::format("for w__col_tmp_v9 in pl.range(0, {}, {}):", n, step)));
    const std::string box =
        fmt::format("[0, w__col_tmp_v9], [1, {0}], [1, pl.min({0}, {1} - w__col_tmp_v9)]", step, n);
    CHECK_THAT(text, Contains("pl.tile.load(w__target_2d_tmp_v4, " + box + ", target_memory=pl.Mem.Vec)"));
    CHECK_THAT(text, Contains("pld.tile.remote_load(w__target_2d_tmp_v4, w__peer_tmp_v12, " + box + ")"));
  }
}

TEST_CASE("T76 the four reductions, in both modes") {
  const std::pair<const char*, const char*> ops[] = {
      {"Sum", "tile.add("}, {"Max", "tile.maximum("}, {"Min", "tile.minimum("}, {"Prod", "tile.mul("}};
  for (const auto& [name, op] : ops) {
    for (const std::string mode : {"mesh", "ring"}) {
      const std::string text =
          on("[1, 64]",
             fmt::format("w = pld.tensor.allreduce(w, sig, op=pld.ReduceOp.{}, mode=\"{}\")\n", name, mode),
             "FP32", mode == "ring" ? "[6, 4]" : "[4, 1]");
      INFO(text);
      for (const auto& other : ops) CHECK(count(text, other.second) == (other.second == op ? 1 : 0));
    }
  }
}

TEST_CASE("T77 T79 a target that is valid in part goes in one tile") {
  const std::string fixed =
      lowered(with_signal(window("w", "[2, 3, 4]", "FP32", valid_part("[1, 3, 2]"))), kAllreduce);
  INFO(fixed);
  CHECK_THAT(fixed, Contains("pl.tensor.view(w__ssa_v0, [6, 4], [3, 2])") &&
                        Contains("pl.tile.load(w__target_2d_tmp_v4, [0, 0], [3, 2], [3, 2], ") &&
                        Contains("w__peer_tmp_v10, [0, 0], [3, 2], [3, 2])") && !Contains("fillpad"));
  CHECK(static_waits(fixed) == Waits{"1", "2"});
  CHECK_THAT(fixed, Contains("[w__reset_src_tmp_v21, 0], pl.const(-2, pl.INT32), op=0)"));
  const std::string symbolic =
      lowered("m: pl.Scalar[pl.INDEX], " + with_signal(window("w", "[64, 64]", "FP32", valid_part("[1, m]"))),
              kAllreduce);
  CHECK_THAT(symbolic, Contains("pl.tensor.view(w__ssa_v0, [64, 64], [1, m__ssa_v0])") &&
                           Contains("[0, 0], [64, 64], [1, m__ssa_v0], "));
}

TEST_CASE("T78 T80 targets that have no such view") {
  const auto with = [](std::string_view shape, std::string_view view) {
    return lowered(with_signal(window("w", shape, "FP32", view)), kAllreduce);
  };
  CHECK_THAT(with("[2, 65537]", valid_part("[1, 65537]")),
             Contains("PLD0525") && Contains("must fit within one 16384-byte mesh chunk"));
  CHECK_THAT(with("[4, 4, 8]", valid_part("[2, 2, 8]")),
             Contains("PLD0524") && Contains("cannot be represented by a single 2D view"));
  CHECK_THAT(with("[4, 8]", ", pl.TensorView(stride=[16, 1], layout=pl.TensorLayout.ND)"),
             Contains("PLD0523") && Contains("requires a packed source"));
  CHECK_THAT(with("[4, 8]", ", pl.TensorView(stride=[8, 1], layout=pl.TensorLayout.ND)"),
             Contains("pl.tensor.view(w__ssa_v0, [1, 32])"));
  CHECK_THAT(with("[4, 8]", ", pl.TensorView(stride=[1, 4], layout=pl.TensorLayout.DN)"),
             Contains("PLD0522 pld.tensor.allreduce only supports ND layout, the target has DN"));
  CHECK_THAT(with("[4294967296, 4294967296]", ""), Contains("PLD0534") && Contains("64-bit number"));
}

TEST_CASE("T81 a size that is known at run time only") {
  const std::string text =
      lowered(with_signal(window("w", "[1, N]")), std::string(kAllreduce) + std::string(kBarrier),
              "N = pl.dynamic(\"N\")\n");
  INFO(text);
  CHECK_THAT(text, Contains("for w__col_tmp_v9 in pl.range(0, N, 4096):"));
  CHECK_THAT(
      text,
      Contains("w__allreduce_reset_total_tmp_v26: pl.Scalar[pl.INT32] = pl.cast(1 + (N + (pl.const(4096, "
               "pl.INDEX) - pl.const(1, pl.INDEX))) // 4096, pl.INT32)"));
  CHECK_THAT(text, Contains("-w__allreduce_reset_total_tmp_v26, op=0)"));
  CHECK(static_waits(text) == Waits{"1", "1"});
}

TEST_CASE("T82 T83 T84 every call counts from 1 again") {
  CHECK(static_waits(on("[1, 64]", std::string(kAllreduce) + std::string(kBarrier))) == Waits{"1", "1"});
  for (const char* name : {"barrier", "broadcast", "allgather", "all_to_all", "all_to_all_v"}) {
    INFO(name);
    CHECK(static_waits(one(name, 2)) == Waits{"1", "1"});
  }
  CHECK(static_waits(one("reduce_scatter", 2)) == Waits{"1", "2", "1", "2"});
  CHECK(static_waits(one("ring", 2)).empty());
  const std::string three = one("barrier", 3);
  CHECK(static_waits(three) == Waits{"1", "1", "1"});
  CHECK(in_order(three, {"sig__ssa_v1: ", "= sig__ssa_v0\n", "get_comm_ctx(sig__ssa_v1)",
                         "sig__ssa_v2: ", "= sig__ssa_v1\n", "get_comm_ctx(sig__ssa_v2)", "sig__ssa_v3: "}));
  if (const pldc::PassInfo* unroll = pldc::find_pass("UnrollLoops")) {
    const golden::Result unrolled =
        golden::run(program_of(with_signal(window("w", "[1, 64]")),
                               "for i in pl.unroll(3):\n    pld.tensor.barrier(sig)\n"),
                    {unroll->run, pldc::run_ConvertToSSA, pldc::run_FlattenCallExpr, kLower});
    INFO(unrolled.errors);
    CHECK(static_waits(unrolled.text) == Waits{"1", "1", "1"});
  }
  CHECK(static_waits(one("barrier", 1, "for i in pl.range(5):\n")) == Waits{"1"});
}

TEST_CASE("T85 a collective in a loop is written once") {
  for (const char* name :
       {"allreduce", "barrier", "broadcast", "reduce_scatter", "allgather", "all_to_all", "all_to_all_v"}) {
    for (const char* loop : {"for i in pl.range(5):\n", "while w_count < 5:\n"}) {
      std::string text = one(name, 1, loop);
      if (std::string(loop).front() == 'w') {
        // A while needs a condition over something that changes.
        text = one(name, 1, "i = 0\nwhile i < 5:\n    i = i + 1\n");
      }
      INFO(name << "\n" << text);
      const bool twice = std::string(name) == "reduce_scatter";
      CHECK(static_waits(text) == (twice ? Waits{"1", "2"} : Waits{"1"}));
      CHECK(count(text, "get_comm_ctx") == 1);
    }
  }
}

TEST_CASE("T86 signals are added to, waits are for at least, and the last notify takes back") {
  for (const char* name : {"allreduce", "ring", "barrier", "broadcast", "reduce_scatter", "allgather",
                           "all_to_all", "all_to_all_v"}) {
    const std::string text = one(name);
    INFO(name << "\n" << text);
    const auto notifies = all(text, R"(pld\.system\.notify\(sig__ssa_v0, ([^\n]*)\)\n)");
    REQUIRE(notifies.size() >= 2);
    for (const std::string& n : notifies) CHECK_THAT(n, Catch::Matchers::EndsWith(", op=0"));
    CHECK_THAT(notifies.back(), Contains("0], -w__") || Contains("], -w__") || Contains("], pl.const(-"));
    for (const std::string& w : all(text, R"(pld\.system\.wait\(([^\n]*)\)\n)")) {
      CHECK_THAT(w, Catch::Matchers::EndsWith(", cmp=1"));
    }
  }
}

TEST_CASE("T87 signals of the wrong shape") {
  const std::string ring = on("[1, 64]", std::string(kRing) + std::string(kBarrier), "FP32", "[6, 4]");
  CHECK_THAT(ring, Contains("PLD0527 pld.tensor.barrier signal shape[1] must be 1, found 4") &&
                       Contains("a ring-shaped signal cannot be shared"));
  CHECK_THAT(lowered("x: pl.Tensor[[1, 64], pl.FP32], " + with_signal(window("w", "[4, 64]"), "[4]"),
                     "w = pld.tensor.allgather(x, w, sig)\n"),
             Contains("PLD0526 pld.tensor.allgather signal must be 2D [NR, 1] in a kernel, found "));
  for (const char* call : {"w = pld.tensor.allreduce(w, sig)\n", "w = pld.tensor.broadcast(w, sig, root=0)\n",
                           "w = pld.tensor.reduce_scatter(w, sig)\n"}) {
    CHECK_THAT(on("[4, 64]", call, "FP32", "[4]"), Contains("PLD0526"));
    CHECK_THAT(on("[4, 64]", call, "FP32", "[4, 2]"), Contains("PLD0527"));
    // Rows are not checked, and a width that is not known passes.
    CHECK_THAT(on("[4, 64]", call, "FP32", "[1, 1]"), Contains("pld.system.wait"));
  }
}

TEST_CASE("T88 T89 tiles of a ring all-reduce") {
  for (const int ranks : {2, 4}) {
    for (const int size : {1, 17, 33, 8193, 65537}) {
      for (const std::string dtype : {"FP32", "FP16"}) {
        const bool half = dtype == "FP16";
        const int longest =
            half ? std::min(size, (size + ranks - 1) / ranks + 15) : (size + ranks - 1) / ranks;
        const int most = half ? 8192 : 4096;
        const int unit = half ? 16 : 8;
        const int step = longest < most ? (longest + unit - 1) / unit * unit : most;
        const std::string text =
            on(fmt::format("[1, {}]", size), kRing, dtype, fmt::format("[{}, {}]", 2 * (ranks - 1), ranks));
        INFO(text);
        CHECK(count(text, fmt::format("_col_tmp_v{} in pl.range(0, {}, {}):", 14, longest, step)) == 1);
        CHECK(count(text, fmt::format(" in pl.range(0, {}, {}):", longest, step)) == 2);
        CHECK(count(text, "for ") == 14);
        CHECK(count(text, half ? "pld.tile._remote_load_with_physical_tail_padding("
                               : "pld.tile.remote_load(") == 2);
        CHECK(count(text, "remote_load") == 2);
        const int bytes = step * (half ? 2 : 4);
        CHECK(bytes <= 16384);
        CHECK(bytes % 32 == 0);
        // target, peer, offsets, shape, valid shape
        for (const std::string& load : all(text, R"(remote_load\w*\(([^\n]*)\)\n)")) {
          CHECK(std::regex_match(
              load, std::regex(R"(w__target_2d_tmp_v5, \w+, \[0, [^\]]*\], \[1, \d+\], \[1, [^\]]*\])")));
        }
      }
    }
  }
}

TEST_CASE("T90 targets of a ring") {
  CHECK_THAT(on("[2, 3, 17]", kRing, "FP32", "[6, 4]"), Contains("pl.tensor.view(w__ssa_v0, [1, 102])"));
  const auto with = [](std::string_view shape, std::string_view view) {
    return lowered(with_signal(window("w", shape, "FP32", view), "[6, 4]"), kRing);
  };
  CHECK_THAT(with("[2, 3, 4]", valid_part("[1, 3, 4]")),
             Contains("pl.tensor.view(w__ssa_v0, [1, 24], [1, 12])") && Contains("* 12 // 4"));
  CHECK_THAT(with("[2, 3, 4]", valid_part("[1, 3, 2]")),
             Contains("PLD0530") && Contains("contiguous row-major prefix"));
  CHECK_THAT(with("[4, 8]", ", pl.TensorView(stride=[16, 1], layout=pl.TensorLayout.ND)"),
             Contains("PLD0523"));
  CHECK_THAT(with("[4, 8]", ", pl.TensorView(stride=[1, 4], layout=pl.TensorLayout.DN)"),
             Contains("PLD0522"));
}

TEST_CASE("T91 signals of a ring") {
  CHECK_THAT(
      on("[1, 64]", kRing, "FP32", "[9, 4]"),
      Contains("PLD0529 pld.tensor.allreduce mode=\"ring\" signal shape[0] = 9 must equal 2*(NR-1) = 6"));
  CHECK_THAT(on("[1, 64]", kRing, "FP32", "[6]"),
             Contains("PLD0528") && Contains("must be 2D [2*(NR-1), NR]"));
  CHECK_THAT(on("[1, 64]", kRing, "FP32", "[6, 4, 1]"), Contains("PLD0528"));
  CHECK_THAT(on("[1, 64]", kRing, "FP32", "[128, 65]"), Contains("PLD0528") && Contains("1 to 64 ranks"));
  CHECK_THAT(lowered(with_signal(window("w", "[1, 64]"), "[ROUNDS, RANKS]"), kRing,
                     "ROUNDS = pl.dynamic(\"ROUNDS\")\nRANKS = pl.dynamic(\"RANKS\")\n", pldc::Dialect::Dump),
             Contains("* 64 // RANKS") && Contains("in pl.range(ROUNDS):") &&
                 Contains("pl.range(0, (64 + (RANKS - 1)) // RANKS, 4096):"));
}

TEST_CASE("T92 the ring takes back from all rows") {
  const std::string text = one("ring");
  CHECK(in_order(
      text,
      {"for w__reset_row_tmp_v62 in pl.range(6):", "for w__reset_src_tmp_v63 in pl.range(w__nranks_idx",
       "pld.system.notify(sig__ssa_v0, w__my_rank_tmp_v3, [w__reset_row_tmp_v62, w__reset_src_tmp_v63], "
       "-w__ring_reset_total_tmp_v61, op=0)"}));
}

TEST_CASE("T93 broadcast fetches, allgather pushes") {
  const std::string broadcast = on("[2, 4, 8]", "w = pld.tensor.broadcast(w, sig, root=3)\n");
  CHECK_THAT(
      broadcast,
      Contains("pl.tile.create([8, 8], dtype=pl.FP32, target_memory=pl.Mem.Vec)") &&
          Contains("pld.tile.get(w__ssa_v0, pl.const(3, pl.INT32), w__ssa_v0, w__bcast_stage_tmp_v8)"));
  CHECK(count(broadcast, "pld.tile.get(") == 1);
  CHECK(in_order(one("allgather"), {"for w__peer_tmp_v5 in",
                                    "pld.tile.put(w__ssa_v0, w__peer_tmp_v5, x__ssa_v0, w__ag_stage_tmp_v4, "
                                    "[w__my_rank_tmp_v3, 0], [0, 0], "
                                    "[1, 64], atomic=pl.AtomicType.None_)"}));
  const std::string windows = window("x", "[4, 64]") + ", " + with_signal(window("w", "[4, 64]"));
  CHECK_THAT(
      lowered(window("x", "[1, 64]") + ", " + with_signal(window("w", "[4, 64]")),
              "w = pld.tensor.allgather(x, w, sig)\n"),
      Contains(
          "PLD0533 pld.tensor.allgather local_data must be a plain Tensor [1, SIZE] on the InCore path"));
  CHECK_THAT(lowered(windows, "w = pld.tensor.all_to_all(x, w, sig)\n"),
             Contains("PLD0533 pld.tensor.all_to_all input must be a plain Tensor"));
}

TEST_CASE("T94 all_to_all_v tells each receiver how many rows are good") {
  const std::string text = one("all_to_all_v");
  INFO(text);
  CHECK(in_order(
      text,
      {"pl.tensor.read(sc__ssa_v0, [w__dest_tmp_v5, 0])", "pl.min(pl.cast(w__aav_count_tmp_v6, pl.INDEX), 2)",
       "pld.system.notify(rc__ssa_v0, w__dest_tmp_v5, [w__my_rank_tmp_v3, 0], w__aav_count_i32_tmp_v8, op=1)",
       "[pl.cast(w__my_rank_tmp_v3, pl.INDEX) * 2, 0], [w__dest_tmp_v5 * 2, 0], [2, 64], atomic="}));
  CHECK(count(text, "op=1") == 1);
  CHECK(all(text, R"(in pl\.range\(([^\n]*)\):)") == std::vector<std::string>(4, "w__nranks_idx_tmp_v2"));
}

TEST_CASE("T95 the pass has nothing to do after itself, nor in programs without composites") {
  const std::string text = program_of(with_signal(window("w", "[1, 64]")), kAllreduce);
  const std::vector<pldc::PassFunction> once = {pldc::run_ConvertToSSA, pldc::run_FlattenCallExpr, kLower};
  std::vector<pldc::PassFunction> twice = once;
  twice.push_back(kLower);
  CHECK(golden::run(text, once).text == golden::run(text, twice).text);
  // The very same program comes back.
  pldc::SourceManager sources;
  pldc::Context context;
  pldc::DiagSink diags;
  const pldc::Module module = pldc::parse(*sources.add("t", golden::run(text, once).text), context, diags);
  REQUIRE(module.program != nullptr);
  const pldc::PassOptionValues options;
  pldc::PassEnv env{context, diags, options};
  CHECK(kLower(env, module.program) == module.program);
}

TEST_CASE("T96 sine and cosine, also in a return") {
  const std::string params = "x: pl.Tensor[[16, 64], pl.FP32]";
  const std::string load = "t: pl.Tile[[16, 64], pl.FP32] = pl.tile.load(x, [0, 0], [16, 64])\n";
  for (const std::string op : {"sin", "cos"}) {
    const std::string text = lowered(params, load + "return pl.tile." + op + "(t)\n");
    INFO(text);
    for (const std::string& used : all(text, R"( = pl\.tile\.(\w+)\()")) {
      CHECK_THAT("load muls adds add sub mul cast ", Contains(used + " "));
    }
    CHECK(count(text, "pl.tile.cast(") == 4);
    // Without FlattenCallExpr the value of a return has no name.
    const golden::Result returned =
        golden::run(program_of(params, load + "return pl.tile." + op + "(t)\n"), {kLower});
    CHECK_THAT(returned.text,
               Contains("ret0__pi_inv_x_tmp_v0: ") &&
                   Contains(fmt::format("ret0__result_tmp_v{}: ", op == "sin" ? 30 : 33)) &&
                   Contains(fmt::format("return ret0__result_tmp_v{}", op == "sin" ? 30 : 33)));
  }
  CHECK_THAT(
      lowered("x: pl.Tensor[[16, 64], pl.FP16]",
              "t: pl.Tile[[16, 64], pl.FP16] = pl.tile.load(x, [0, 0], [16, 64])\ns = pl.tile.sin(t)\n"),
      Contains("FP32"));
}

TEST_CASE("T167 names: one counter for a function, the base from what is assigned") {
  const std::string text = on("[1, 64]",
                              "pld.tensor.barrier(sig)\nw = pld.tensor.broadcast(w, sig, root=1)\n"
                              "other = pld.tensor.barrier(sig)\nreturn pld.tensor.barrier(other)\n");
  INFO(text);
  CHECK(in_order(text, {"eval__ctx_tmp_v0: ", "eval__epilogue_reset_ret_tmp_v9: ", "w__ctx_tmp_v10: ",
                        "w__bcast_stage_tmp_v18", "w__epilogue_reset_ret_tmp_v21: ", "w__ssa_v1: ",
                        "= w__ssa_v0\n", "other__ctx_tmp_v22: ", "other__ssa_v0: ", "= sig__ssa_v0\n",
                        "t__ctx_tmp_v32: ", "t__tmp_v0: ", "= other__ssa_v0\n", "return t__tmp_v0"}));
}

TEST_CASE("LowerCompositeOps: what does not fit the vector buffer, and extents that are not known") {
  CHECK_THAT(on("[1024, 1024]", "w = pld.tensor.broadcast(w, sig, root=0)\n"),
             Contains("PLD0532 pld.tensor.broadcast needs 1 tile(s) of 1024 x 1024 FP32") &&
                 Contains("196608 bytes"));
  CHECK_THAT(on("[4, 16384]", "w = pld.tensor.reduce_scatter(w, sig)\n"), Contains("get_comm_ctx"));
  CHECK_THAT(on("[4, 16385]", "w = pld.tensor.reduce_scatter(w, sig)\n"),
             Contains("PLD0532") && Contains("3 tile(s)"));
  CHECK_THAT(lowered(with_signal(window("w", "[4, N]")), "w = pld.tensor.broadcast(w, sig, root=0)\n",
                     "N = pl.dynamic(\"N\")\n"),
             Contains("PLD0531 pld.tensor.broadcast needs constant extents in a kernel"));
}

TEST_CASE("LowerCompositeOps: a collective inside another expression is refused") {
  const golden::Result nested = golden::run(
      program_of(with_signal(window("w", "[1, 64]")),
                 "t: pl.Tile[[4, 1], pl.INT32] = pl.tile.load(pld.tensor.barrier(sig), [0, 0], [4, 1])\n"),
      {kLower});
  CHECK_THAT(nested.errors, Contains("PLD0535 pld.tensor.barrier must be a direct assignment"));
}

TEST_CASE("LowerCompositeOps: comments stay with what stands for the statement") {
  const std::string text =
      on("[1, 64]", "# wait for all\npld.tensor.barrier(sig)\n# and again\nsig = pld.tensor.barrier(sig)\n");
  CHECK(in_order(text, {"# wait for all\n", "eval__ctx_tmp_v0", "# and again\n", "sig__ctx_tmp_v10"}));
}
