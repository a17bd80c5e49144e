// LowerHostTensorCollectives: scenarios T54 to T69, decisions D9, D10, D11.
#include "support/catch.h"
#include "unit/passes/dist_program.h"

using namespace dist;
using Catch::Matchers::Contains;

namespace {

std::string both(std::string_view first, std::string_view second) {
  return std::string(first) + std::string(second);
}

std::string lowered(std::string_view body, const pldc::PassOptionValues& options = {}) {
  return after(host(body), {kDomains, kCollectives}, options);
}

std::string signal(std::string_view shape) {
  return "sbuf = pld.alloc_window_buffer(" + std::string(shape) +
         ", dtype=pl.INT32)\nsig = pld.window(sbuf, " + std::string(shape) + ", dtype=pl.INT32)\n";
}

// A host function on windows a to e of the given shapes and dtypes, all dispatched to devices 0 and 1, then
// `rest`.
std::string windows(const std::vector<std::pair<std::string, std::string>>& shapes, std::string_view rest,
                    std::string_view params = "") {
  std::string chip = "@pl.function(type=pl.FunctionType.Orchestration)\ndef touch(self";
  std::string body;
  std::string args;
  char name = 'a';
  for (const auto& [shape, dtype] : shapes) {
    const std::string n(1, name++);
    chip += ", " + n + ": pl.InOut[pld.DistributedTensor[" + shape + ", pl." + dtype + "]]";
    body += "buf_" + n + " = pld.alloc_window_buffer(" + shape + ", dtype=pl." + dtype + ")\n" + n +
            " = pld.window(buf_" + n + ", " + shape + ", dtype=pl." + dtype + ")\n";
    args += n + ", ";
  }
  chip +=
      ") -> pld.DistributedTensor[" + shapes[0].first + ", pl." + shapes[0].second + "]:\n    return a\n\n";
  body += "for r in pl.range(2):\n    self.touch(" + args + "device=r)\n";
  body += rest;
  body += "return 0\n";
  return program(chip + "@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\ndef host(self" +
                 (params.empty() ? std::string() : ", " + std::string(params)) + "):\n" + indented(body, 4));
}
std::string lower_windows(const std::vector<std::pair<std::string, std::string>>& shapes,
                          std::string_view rest, std::string_view params = "") {
  return after(windows(shapes, rest, params), {kDomains, kCollectives});
}

}  // namespace

TEST_CASE("T54 all devices: a loop over the world with one builtin call") {
  const std::string text =
      lowered(both(signal("[4]"), both(data_everywhere(), "pld.tensor.allreduce(data, sig)\nreturn 0\n")));
  INFO(text);
  CHECK(count(text, "for ") == 2);
  CHECK_THAT(
      text,
      Contains(
          "for r_1 in pl.range(pl.const(0, pl.INT64), pld.system.world_size(), pl.const(1, pl.INT64)):\n"));
  CHECK_THAT(
      text,
      Contains(
          "pl._dump.call(\"builtin.tensor.allreduce\", [data, sig], pld.DistributedTensor[[256], pl.FP32, "
          "pl._dump.window_ref(\"buf_window\")], kwargs={\"op\": 0, \"dtype\": pl.FP32, \"core_num\": 1}, "
          "attrs={\"op\": 0, \"dtype\": pl.FP32, \"core_num\": 1, \"device\": r_1, \"arg_directions\": "
          "[pl.adir.inout, pl.adir.inout]})\n"));
  CHECK(count(text, "pld.tensor.allreduce") == 0);
}

TEST_CASE("T55 known devices: one call each, no loop") {
  const std::string text =
      lowered(both(signal("[4]"), both(data_on_two(), "pld.tensor.allreduce(data, sig)\nreturn 0\n")));
  INFO(text);
  CHECK(count(text, "for ") == 1);
  CHECK(in_order(text, {"\"device\": pl.const(0, pl.INT64)", "\"device\": pl.const(1, pl.INT64)"}));
  CHECK(count(text, "\"builtin.tensor.allreduce\"") == 2);
}

TEST_CASE("T56 T57 results become other names of the data window") {
  const std::string text =
      after(host(both(signal("[4]"), both(data_everywhere(),
                                          "data = pld.tensor.allreduce(data, sig)\n"
                                          "data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.Max)\n"
                                          "self.chip(data, device=0)\nreturn 0\n"))),
            {pldc::run_ConvertToSSA, kDomains, kCollectives});
  INFO(text);
  const std::string type =
      ": pld.DistributedTensor[[256], pl.FP32, pl._dump.window_ref(\"buf__ssa_v0_window\")] = ";
  CHECK(in_order(text, {"\"builtin.tensor.allreduce\", [data__ssa_v0, sig__ssa_v0]",
                        "data__ssa_v1" + type + "data__ssa_v0\n",
                        "\"builtin.tensor.allreduce\", [data__ssa_v1, sig__ssa_v0]", "\"op\": 1",
                        "data__ssa_v2" + type + "data__ssa_v1\n", "self.chip, [data__ssa_v2]"}));
}

TEST_CASE("T58 the domain of a collective may be an outer one") {
  const std::string text = lowered(both(
      both(signal("[4]"), data_everywhere()),
      "buf2 = pld.alloc_window_buffer([256], dtype=pl.FP32)\nother = pld.window(buf2, [256], dtype=pl.FP32)\n"
      "self.chip(other, device=0)\npld.tensor.allreduce(data, sig)\nreturn 0\n"));
  INFO(text);
  CHECK(in_order(text, {"\"comm_d0\", devices=[]", "\"comm_d1\", devices=[0]",
                        "pld.system.world_size(), pl.const(1, pl.INT64)", "\"builtin.tensor.allreduce\""}));
  CHECK(count(text, "\"builtin.tensor.allreduce\"") == 1);
}

TEST_CASE("T59 T60 T61 rows and lanes of signals") {
  const auto with = [](std::string_view shape, std::string_view call) {
    return lowered(both(signal(shape), both(data_on_two(), std::string(call) + "\nreturn 0\n")));
  };
  CHECK_THAT(with("[1]", "pld.tensor.allreduce(data, sig)"),
             Contains("signal shape[0] = 1 must be at least the participating device count 2"));
  CHECK_THAT(with("[4]", "pld.tensor.allreduce(data, sig, core_num=4)"),
             Contains("rank-1 signal is valid only when one signal lane is required"));
  CHECK_THAT(with("[4, 2]", "pld.tensor.allreduce(data, sig, core_num=4)"),
             Contains("signal shape[1] = 2 must be at least the required lane count 4"));
  const std::string six = with("[4, 6]", "pld.tensor.allreduce(data, sig, core_num=4)");
  CHECK_THAT(six, Contains("\"core_num\": 4"));

  const std::string dynamic =
      lowered(both("sbuf = pld.alloc_window_buffer(n * 16)\nsig = pld.window(sbuf, [4, n], dtype=pl.INT32)\n",
                   both(data_on_two(), "pld.tensor.allreduce(data, sig)\nreturn 0\n")));
  CHECK_THAT(dynamic, Contains("rank-2 signal shape[1] must be constant"));

  const std::string many = both(
      signal("[4, 100]"), both(data_on_two(), "pld.tensor.allreduce(data, sig, core_num=100)\nreturn 0\n"));
  CHECK_THAT(lowered(many), Contains("\"core_num\": 100"));
  CHECK_THAT(lowered(many, {{"LowerHostTensorCollectives.aiv_cores", "48"}}),
             Contains("exceeds the backend AIV core count 48"));
}

TEST_CASE("T62 mode ring") {
  const auto with = [](std::string_view call) {
    return lowered(both(signal("[3, 2]"), both(data_on_two(), std::string(call) + "\nreturn 0\n")));
  };
  const std::string text = with("pld.tensor.allreduce(data, sig, mode=\"ring\")");
  INFO(text);
  CHECK_THAT(text, Contains("\"builtin.tensor.allreduce_ring\"") &&
                       Contains("kwargs={\"op\": 0, \"dtype\": pl.FP32}, attrs={\"op\": 0, "
                                "\"dtype\": pl.FP32, \"device\": "));
  CHECK_THAT(with("pld.tensor.allreduce(data, sig, mode=\"ring\", core_num=2)"),
             Contains("does not support core_num > 1"));
  CHECK_THAT(with("pld.tensor.allreduce(data, sig, mode=\"tree\")"),
             Contains("mode must be \"ring\" or \"mesh\""));
}

TEST_CASE("T63 D11 sizes of a ring") {
  const auto ring = [](std::string_view shape, int devices) {
    return after(host(both(signal(shape),
                           "buf = pld.alloc_window_buffer([256], dtype=pl.FP32)\n"
                           "data = pld.window(buf, [256], dtype=pl.FP32)\nfor r in pl.range(" +
                               std::to_string(devices) +
                               "):\n    self.chip(data, device=r)\n"
                               "pld.tensor.allreduce(data, sig, mode=\"ring\")\nreturn 0\n")),
                 {kDomains, kCollectives});
  };
  CHECK_THAT(ring("[4, 3]", 3), Contains("must be at least 2*(NR-1) + 1 = 5"));
  CHECK_THAT(ring("[5, 4]", 3), Contains("must equal the participating device count 3"));
  CHECK_THAT(ring("[7, 3]", 3), Contains("[2*(NR-1) + 1, NR]"));
  CHECK_THAT(ring("[5]", 3), Contains("[2*(NR-1) + 1, NR]"));
  CHECK_THAT(ring("[33, 17]", 17), Contains("16 or fewer"));
  // 256 elements do not divide into three chunks: fine.
  CHECK_THAT(ring("[5, 3]", 3), Contains("\"builtin.tensor.allreduce_ring\""));
  CHECK_THAT(ring("[31, 16]", 16), Contains("\"builtin.tensor.allreduce_ring\""));
}

TEST_CASE("T64 T65 barrier, broadcast, reduce_scatter") {
  std::string text = lower_windows({{"[4]", "INT32"}}, "pld.tensor.barrier(a)\n");
  INFO(text);
  CHECK(count(text, "\"builtin.tensor.barrier\", [a], ") == 2);
  CHECK_THAT(text,
             Contains("attrs={\"device\": pl.const(0, pl.INT64), \"arg_directions\": [pl.adir.inout]}"));
  CHECK_THAT(text, !Contains("kwargs={\"device"));

  text = lower_windows({{"[4, 64]", "FP32"}, {"[4]", "INT32"}},
                       "pld.tensor.broadcast(a, b, root=1)\npld.tensor.reduce_scatter(a, b)\n");
  INFO(text);
  CHECK_THAT(text, Contains("\"builtin.tensor.broadcast\"") &&
                       Contains("kwargs={\"root\": 1, \"dtype\": pl.FP32}, attrs={\"root\": 1, "
                                "\"dtype\": pl.FP32, \"device\": pl.const(0, pl.INT64)"));
  CHECK_THAT(text, Contains("\"builtin.tensor.reduce_scatter\"") &&
                       Contains("kwargs={\"op\": 0, \"dtype\": pl.FP32}"));

  CHECK_THAT(lower_windows({{"[4, 64]", "FP32"}, {"[4]", "INT32"}}, "pld.tensor.broadcast(a, b, root=5)\n"),
             Contains("root (5) must be a valid rank in [0, 2)"));
}

TEST_CASE("T66 allgather, all_to_all, all_to_all_v") {
  std::string text = lower_windows({{"[1, 64]", "FP32"}, {"[2, 64]", "FP32"}, {"[2, 1]", "INT32"}},
                                   "pld.tensor.allgather(a, b, c)\n");
  INFO(text);
  CHECK_THAT(
      text,
      Contains("\"builtin.tensor.allgather\", [a, b, c]") &&
          Contains(
              "kwargs={\"dtype\": pl.FP32}, attrs={\"dtype\": pl.FP32, \"device\": pl.const(0, pl.INT64), "
              "\"arg_directions\": [pl.adir.input, pl.adir.inout, pl.adir.inout]}"));
  text = lower_windows({{"[2, 64]", "FP32"}, {"[2, 64]", "FP32"}, {"[2]", "INT32"}},
                       "pld.tensor.all_to_all(a, b, c)\n");
  INFO(text);
  CHECK_THAT(text, Contains("\"builtin.tensor.all_to_all\", [a, b, c]") &&
                       Contains("[pl.adir.input, pl.adir.inout, pl.adir.inout]"));
  text = lower_windows({{"[8, 32]", "FP32"},
                        {"[8, 32]", "FP32"},
                        {"[2, 1]", "INT32"},
                        {"[2, 1]", "INT32"},
                        {"[2, 1]", "INT32"}},
                       "b = pld.tensor.all_to_all_v(a, b, c, d, e)\n");
  INFO(text);
  CHECK_THAT(text,
             Contains("\"builtin.tensor.all_to_all_v\", [a, b, c, d, e]") &&
                 Contains("[pl.adir.input, pl.adir.inout, pl.adir.inout, pl.adir.input, pl.adir.inout]"));
}

TEST_CASE("T67 windows of a collective are different allocations") {
  const auto refused = [](const std::vector<std::pair<std::string, std::string>>& shapes,
                          std::string_view rest, std::string_view first, std::string_view second) {
    const std::string text = lower_windows(shapes, rest);
    INFO(text);
    CHECK_THAT(text, Contains(std::string(first) + " and " + std::string(second) +
                              " must be different window allocations"));
  };
  const auto view = [](std::string_view name, std::string_view of, std::string_view shape,
                       std::string_view dtype) {
    return std::string(name) + " = pld.window(buf_" + std::string(of) + ", " + std::string(shape) +
           ", dtype=pl." + std::string(dtype) + ")\n";
  };
  refused({{"[64]", "FP32"}}, view("v", "a", "[64]", "INT32") + "pld.tensor.allreduce(a, v)\n", "src",
          "signal");
  refused({{"[64]", "FP32"}}, view("v", "a", "[64]", "INT32") + "pld.tensor.broadcast(a, v, root=0)\n",
          "target", "signal");
  refused({{"[4, 64]", "FP32"}}, view("v", "a", "[64]", "INT32") + "pld.tensor.reduce_scatter(a, v)\n",
          "target", "signal");
  for (const char* op : {"allgather", "all_to_all"}) {
    const std::string call = "pld.tensor." + std::string(op);
    const std::string input = std::string(op) == "allgather" ? "[1, 64]" : "[2, 64]";
    refused({{"[2, 64]", "FP32"}, {"[2, 1]", "INT32"}}, view("v", "a", input, "FP32") + call + "(v, a, b)\n",
            "input", "target");
    refused({{"[2, 64]", "FP32"}, {input, "FP32"}}, view("v", "b", "[2, 1]", "INT32") + call + "(b, a, v)\n",
            "input", "signal");
    refused({{"[2, 64]", "FP32"}, {input, "FP32"}}, view("v", "a", "[2, 1]", "INT32") + call + "(b, a, v)\n",
            "target", "signal");
  }
  const std::vector<std::pair<std::string, std::string>> five = {{"[8, 32]", "FP32"},
                                                                 {"[8, 32]", "FP32"},
                                                                 {"[2, 1]", "INT32"},
                                                                 {"[2, 1]", "INT32"},
                                                                 {"[2, 1]", "INT32"}};
  refused(five, view("v", "c", "[2, 1]", "INT32") + "pld.tensor.all_to_all_v(a, b, c, d, v)\n", "signal",
          "recv_counts");
  refused(five, view("v", "e", "[2, 1]", "INT32") + "pld.tensor.all_to_all_v(a, b, c, v, e)\n", "send_counts",
          "recv_counts");
  refused(five, view("v", "a", "[2, 1]", "INT32") + "pld.tensor.all_to_all_v(a, b, v, d, e)\n", "input",
          "signal");
  refused(five, view("v", "b", "[2, 1]", "INT32") + "pld.tensor.all_to_all_v(a, b, c, d, v)\n", "target",
          "recv_counts");
}

TEST_CASE("T68 host collectives read windows, not plain tensors") {
  const std::string_view plain =
      "x: pl.Tensor[[1, 64], pl.FP32], y: pl.Tensor[[2, 64], pl.FP32], z: pl.Tensor[[8, 32], pl.FP32], "
      "s: pl.Tensor[[2, 1], pl.INT32]";
  const std::string_view unbound =
      "x: pld.DistributedTensor[[1, 64], pl.FP32], y: pld.DistributedTensor[[2, 64], pl.FP32], "
      "z: pld.DistributedTensor[[8, 32], pl.FP32], s: pld.DistributedTensor[[2, 1], pl.INT32]";
  for (const std::string_view params : {plain, unbound}) {
    CHECK_THAT(
        lower_windows({{"[2, 64]", "FP32"}, {"[2, 1]", "INT32"}}, "pld.tensor.allgather(x, a, b)\n", params),
        Contains("input must be a window-bound DistributedTensor") &&
            Contains("when called from a HOST orchestrator"));
    CHECK_THAT(
        lower_windows({{"[2, 64]", "FP32"}, {"[2, 1]", "INT32"}}, "pld.tensor.all_to_all(y, a, b)\n", params),
        Contains("input must be a window-bound DistributedTensor"));
    const std::vector<std::pair<std::string, std::string>> four = {
        {"[8, 32]", "FP32"}, {"[8, 32]", "FP32"}, {"[2, 1]", "INT32"}, {"[2, 1]", "INT32"}};
    CHECK_THAT(lower_windows(four, "pld.tensor.all_to_all_v(z, b, c, s, d)\n", params),
               Contains("input must be a window-bound DistributedTensor") &&
                   Contains("send_counts must be a window-bound DistributedTensor"));
  }
}

TEST_CASE("T69 rules of the builtins") {
  CHECK_THAT(lower_windows({{"[2, 1]", "INT32"}}, "pld.tensor.barrier(a)\n"),
             Contains("rank-1") || Contains("rank 1"));
  CHECK_THAT(
      lower_windows({{"[4, 64]", "FP32"}, {"[2, 1]", "INT32"}}, "pld.tensor.broadcast(a, b, root=0)\n"),
      Contains("rank-1") || Contains("rank 1"));
  CHECK_THAT(lower_windows({{"[4, 64]", "FP32"}, {"[2, 1]", "INT32"}}, "pld.tensor.reduce_scatter(a, b)\n"),
             Contains("rank-1") || Contains("rank 1"));
  CHECK_THAT(lower_windows({{"[4, 64]", "FP16"}, {"[2]", "INT32"}}, "pld.tensor.broadcast(a, b, root=0)\n"),
             Contains("FP32"));
  CHECK_THAT(lower_windows({{"[4, 64]", "FP16"}, {"[2]", "INT32"}}, "pld.tensor.allreduce(a, b)\n"),
             Contains("\"dtype\": pl.FP16"));
}

TEST_CASE("operands in different domains") {
  const std::string text =
      lowered(both(both(signal("[4]"), data_on_two()),
                   "self.chip_sig(sig, device=3)\npld.tensor.allreduce(data, sig)\nreturn 0\n"));
  INFO(text);
  CHECK_THAT(text, Contains("must resolve to the same comm-domain scope"));
}

TEST_CASE("comments of a collective go to what replaces it") {
  const std::string loop = lowered(both(
      signal("[4]"), both(data_everywhere(), "# all of them\npld.tensor.allreduce(data, sig)\nreturn 0\n")));
  CHECK(in_order(loop, {"# all of them\n", "for r_1 in"}));
  const std::string calls = lowered(
      both(signal("[4]"), both(data_on_two(), "# both\ndata = pld.tensor.allreduce(data, sig)\nreturn 0\n")));
  CHECK(in_order(calls, {"# both\n", "\"builtin.tensor.allreduce\"", "\"builtin.tensor.allreduce\""}));
  CHECK(count(calls, "# both") == 1);
}

TEST_CASE("a collective inside another expression is refused") {
  CHECK_THAT(
      lowered(both(signal("[4]"), both(data_on_two(), "return pld.tensor.broadcast(data, sig, root=0)\n"))),
      Contains("must be a direct assignment or expression statement"));
}

TEST_CASE("T172 D9 D19 re-bound results in loops keep their window, with types that agree") {
  const std::string body =
      both(signal("[4]"), both(data_on_two(),
                               "for i in pl.range(3):\n    data = pld.tensor.allreduce(data, sig)\n"
                               "sig = pld.tensor.barrier(sig)\nsig = pld.tensor.barrier(sig)\n"
                               "for r in pl.range(2):\n    self.chip(data, device=r)\nreturn 0\n"));
  pldc::SourceManager sources;
  pldc::Context context;
  pldc::DiagSink diags;
  pldc::Module module = pldc::parse(*sources.add("t", host(body)), context, diags);
  REQUIRE(module.program != nullptr);
  const pldc::PassOptionValues none;
  pldc::PassEnv env{context, diags, none};
  for (const pldc::PassFunction pass :
       {pldc::run_ConvertToSSA, pldc::run_FlattenCallExpr, kSignals, kDomains, kCollectives, kContexts}) {
    module.program = pass(env, module.program);
    for (const pldc::Diagnostic& d : diags.all()) UNSCOPED_INFO(d.message);
    REQUIRE(module.program != nullptr);
    for (const pldc::Property p :
         {pldc::Property::TypeChecked, pldc::Property::AssignTypeSymmetry, pldc::Property::UseAfterDef}) {
      pldc::verify(p, module.program, diags);
    }
    if (pass == kDomains || pass == kCollectives || pass == kContexts) {
      pldc::verify(pldc::Property::CommDomainScopesMaterialized, module.program, diags);
    }
  }
  const std::string text = pldc::print(module, {});
  INFO(text);
  for (const pldc::Diagnostic& d : diags.all()) UNSCOPED_INFO(d.message);
  CHECK(!diags.has_errors());
  const std::string window = ", pl._dump.window_ref(\"buf__ssa_v0_window\")] = ";
  CHECK(in_order(text, {"init_values=(data__ssa_v0,)", "[data__iter_v1, sig__ssa_v0]",
                        window + "data__iter_v1\n", window + "pl.yield_(", "\"builtin.tensor.barrier\"",
                        "sig__ssa_v1", "= sig__ssa_v0\n", "= sig__ssa_v1\n"}));
}
