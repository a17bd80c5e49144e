// SynthesizeAllReduceSignals: scenarios T1 to T21 and T166, decisions D5 and D6.
#include "support/catch.h"
#include "support/diag/pass.h"
#include "unit/passes/dist_program.h"

using namespace dist;
using Catch::Matchers::Contains;

namespace {

std::string signals(std::string_view body, const pldc::PassOptionValues& options = {}) {
  return after(host(body), {kSignals}, options);
}
const pldc::PassOptionValues kLineage = {{"SynthesizeAllReduceSignals.sharing", "lineage"}};

std::string body(std::string_view rest) { return std::string(data_everywhere()) + std::string(rest); }

constexpr std::string_view kSignal =
    "sbuf = pld.alloc_window_buffer([4], dtype=pl.INT32)\n"
    "sig = pld.window(sbuf, [4], dtype=pl.INT32)\n";

}  // namespace

TEST_CASE("T1 T2 implicit all-reduce gets a signal of its own, directly before it") {
  const std::string text =
      signals(body("data = pld.tensor.allreduce(data, op=pld.ReduceOp.Sum)\nreturn 0\n"));
  INFO(text);
  CHECK(count(text, "pld.tensor.allreduce(") == 1);
  CHECK(count(text, "pld.tensor.window(") == 2);
  CHECK(in_order(
      text, {"self.chip(", "__allreduce_signal_world_size_0: pl.Scalar[pl.INT64] = pld.system.world_size()\n",
             "__allreduce_signal_buf_0: pl.Ptr = "
             "pl._dump.alloc_window_buffer(__allreduce_signal_world_size_0 * pl.const(1, pl.INT64) * "
             "pl.const(4, pl.INT64), name='__allreduce_signal_buf_0')\n",
             "__allreduce_signal_0: pld.DistributedTensor[[__allreduce_signal_world_size_0, 1], pl.INT32] = "
             "pld.tensor.window(__allreduce_signal_buf_0, [__allreduce_signal_world_size_0, pl.const(1, "
             "pl.INT64)], dtype=pl.INT32)\n",
             "pld.tensor.allreduce(data, __allreduce_signal_0, op=0, mode='mesh', core_num=1)\n"}));
}

TEST_CASE("T3 the signal has a column for each core") {
  const std::string text = signals(body("data = pld.tensor.allreduce(data, core_num=4)\nreturn 0\n"));
  INFO(text);
  CHECK(in_order(
      text,
      {"alloc_window_buffer(__allreduce_signal_world_size_0 * pl.const(4, pl.INT64) * pl.const(4, pl.INT64)",
       "[[__allreduce_signal_world_size_0, 4], pl.INT32]",
       "[__allreduce_signal_world_size_0, pl.const(4, pl.INT64)]", "core_num=4)"}));
}

TEST_CASE("T4 T5 explicit signals stay as they are") {
  for (const char* call : {"data = pld.tensor.allreduce(data, sig)\nreturn 0\n",
                           "pld.tensor.allreduce(data, sig)\nreturn 0\n"}) {
    const std::string text = signals(body(std::string(kSignal) + call));
    INFO(text);
    CHECK(count(text, "__allreduce") == 0);
    CHECK(count(text, "pld.tensor.allreduce(data, sig,") == 1);
  }
}

TEST_CASE("T6 an expression statement stays one") {
  const std::string text = signals(body("pld.tensor.allreduce(data)\nreturn 0\n"));
  INFO(text);
  CHECK_THAT(text, Contains("\n        pld.tensor.allreduce(data, __allreduce_signal_0, "));
}

TEST_CASE("T7 T8 all-reduces in returns become statements") {
  std::string text = signals(body("return pld.tensor.allreduce(data)\n"));
  INFO(text);
  CHECK(in_order(text, {"__allreduce_signal_0: ",
                        "__allreduce_result_1: pld.DistributedTensor[[256], pl.FP32] = "
                        "pld.tensor.allreduce(data, __allreduce_signal_0",
                        "return __allreduce_result_1"}));
  text = signals(body(std::string(kSignal) + "return pld.tensor.allreduce(data, sig)\n"));
  INFO(text);
  CHECK(in_order(
      text, {"__allreduce_result_0: ", "pld.tensor.allreduce(data, sig,", "return __allreduce_result_0"}));
  CHECK(count(text, "__allreduce_signal") == 0);
}

TEST_CASE("T9 T47 T166 each implicit call has its own signal, and all live in the domain of the data") {
  const std::string two = body("data = pld.tensor.allreduce(data)\npld.tensor.allreduce(data)\nreturn 0\n");
  std::string text = signals(two);
  INFO(text);
  CHECK(in_order(text, {"__allreduce_signal_world_size_0:", "__allreduce_signal_buf_0:",
                        "__allreduce_signal_0:", "__allreduce_signal_0,",
                        "__allreduce_signal_world_size_1:", "* pl.const(1, pl.INT64) * pl.const(4, pl.INT64)",
                        "__allreduce_signal_1:", "__allreduce_signal_1,"}));
  text = after(host(two), {kSignals, kDomains});
  INFO(text);
  CHECK(count(text, "comm_domain(") == 1);
  CHECK(in_order(text,
                 {"base=\"buf\"", "base=\"__allreduce_signal_buf_0\"", "base=\"__allreduce_signal_buf_1\""}));

  const std::string mixed = std::string(kSignal) + body(
                                                       "data_1 = pld.tensor.allreduce(data, sig)\n"
                                                       "data_2 = pld.tensor.allreduce(data_1)\nreturn 0\n");
  text = after(host(mixed), {kSignals, kDomains});
  INFO(text);
  CHECK(count(text, "comm_domain(") == 1);
  CHECK(in_order(text, {"base=\"sbuf\"", "base=\"buf\"", "base=\"__allreduce_signal_buf_0\""}));
}

TEST_CASE("T10 T11 names in use push the counter for all three names together") {
  std::string text = after(
      program(std::string(chips()) +
              "@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
              "def host(self):\n"
              "    b: pl.Ptr = pl._dump.alloc_window_buffer(1024, name='__allreduce_signal_buf_0')\n"
              "    data: pld.DistributedTensor[[256], pl.FP32] = pld.tensor.window(b, [256], dtype=pl.FP32)\n"
              "    data2: pld.DistributedTensor[[256], pl.FP32] = pld.tensor.allreduce(data, op=0, "
              "mode='mesh', core_num=1)\n"
              "    return 0\n"),
      {kSignals});
  INFO(text);
  CHECK(in_order(text,
                 {"__allreduce_signal_world_size_1:", "__allreduce_signal_buf_1:", "__allreduce_signal_1:"}));

  text =
      signals(body("__allreduce_signal_0 = pld.window(buf, [256], dtype=pl.FP32)\n"
                   "__allreduce_result_1 = pld.window(buf, [256], dtype=pl.FP32)\n"
                   "return pld.tensor.allreduce(data)\n"));
  INFO(text);
  CHECK(in_order(text, {"__allreduce_signal_world_size_1:", "__allreduce_signal_buf_1:",
                        "__allreduce_signal_1:", "__allreduce_result_2:"}));
}

TEST_CASE("T12 numbers go on through the functions of a program, in name order") {
  const auto one = [](std::string_view name, std::string_view buffer, std::string_view extra) {
    return "@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\ndef " + std::string(name) +
           "(self):\n    " + std::string(buffer) +
           " = pld.alloc_window_buffer([256], dtype=pl.FP32)\n    data = pld.window(" + std::string(buffer) +
           ", [256], dtype=pl.FP32)\n" + std::string(extra) +
           "    data = pld.tensor.allreduce(data)\n    return 0\n\n";
  };
  const golden::Result result =
      golden::run(program(one("host_orch_b", "buf_b", "") +
                          one("host_orch_a", "buf_a", "    __allreduce_signal_0 = 3\n")),
                  {kSignals});
  INFO(result.errors << result.text);
  REQUIRE(result.ok);
  const std::size_t a = result.text.find("def host_orch_a");
  const std::size_t b = result.text.find("def host_orch_b");
  REQUIRE(a < b);
  CHECK(result.text.find("__allreduce_signal_1:") < b);
  CHECK(result.text.find("__allreduce_signal_2:") > b);
}

TEST_CASE(
    "T13 T14 T15 loops: implicit refused, explicit accepted, everything refused under --strict-signals") {
  const std::string_view loops[] = {"for i in pl.range(3):\n", "for i in pl.parallel(3):\n",
                                    "while n > 0:\n"};
  for (const std::string_view loop : loops) {
    const std::string implicit = body(std::string(loop) + "    pld.tensor.allreduce(data)\nreturn 0\n");
    const std::string explicit_signal =
        body(std::string(kSignal) + std::string(loop) + "    pld.tensor.allreduce(data, sig)\nreturn 0\n");
    const std::string refused = signals(implicit);
    CHECK_THAT(refused, Contains("without an explicit signal is not supported inside a for/while loop"));
    CHECK_THAT(refused, Contains("pass a signal"));
    CHECK_THAT(refused, Contains("--pass-option=SynthesizeAllReduceSignals.sharing=lineage"));
    CHECK_THAT(signals(explicit_signal), Contains("pld.tensor.allreduce(data, sig,"));

    pldc::SourceManager sources;
    pldc::Context context;
    pldc::DiagSink diags;
    const pldc::Module module = pldc::parse(*sources.add("t", host(explicit_signal)), context, diags);
    REQUIRE(module.program != nullptr);
    const pldc::PassOptionValues none;
    pldc::PassEnv env{context, diags, none, true};
    CHECK(pldc::run_SynthesizeAllReduceSignals(env, module.program) == nullptr);
    REQUIRE(diags.all().size() == 1);
    CHECK(diags.all()[0].kind == &pldc::diag::allreduce_in_loop_strict);
  }
}

TEST_CASE("T16 an if around an implicit all-reduce is no loop") {
  const std::string text = signals(body("if n > 0:\n    pld.tensor.allreduce(data)\nreturn 0\n"));
  INFO(text);
  CHECK(in_order(text, {"if n > 0:\n", "    __allreduce_signal_world_size_0:",
                        "    pld.tensor.allreduce(data, __allreduce_signal_0"}));
}

TEST_CASE("T17 an all-reduce inside another expression is refused") {
  for (const char* nested :
       {"self.chip(pld.tensor.allreduce(data), device=0)\nreturn 0\n",
        "pld.tensor.broadcast(pld.tensor.allreduce(data, sig), sig, root=0)\nreturn 0\n"}) {
    CHECK_THAT(signals(body(std::string(kSignal) + nested)),
               Contains("must be a direct assignment, expression statement, or return value"));
  }
}

TEST_CASE("T18 T19 only host orchestrators are touched") {
  const std::string text = program(
      "@pl.function(type=pl.FunctionType.InCore)\n"
      "def kern(self, w: pl.InOut[pld.DistributedTensor[[1, 64], pl.FP32]]) -> pld.DistributedTensor[[1, "
      "64], pl.FP32]:\n"
      "    w = pld.tensor.allreduce(w)\n"
      "    return w\n");
  pldc::SourceManager sources;
  pldc::Context context;
  pldc::DiagSink diags;
  const pldc::Module module = pldc::parse(*sources.add("t", text), context, diags);
  for (const pldc::Diagnostic& d : diags.all()) UNSCOPED_INFO(d.message);
  REQUIRE(module.program != nullptr);
  const pldc::PassOptionValues none;
  pldc::PassEnv env{context, diags, none};
  CHECK(pldc::run_SynthesizeAllReduceSignals(env, module.program) == module.program);
  CHECK(pldc::run_MaterializeCommDomainScopes(env, module.program) == module.program);
  CHECK(pldc::run_LowerHostTensorCollectives(env, module.program) == module.program);
}

TEST_CASE("T20 printing and reading between the passes changes nothing") {
  const std::string source = host(body("data = pld.tensor.allreduce(data)\nreturn 0\n"));
  const golden::Result first = golden::run(source, {kSignals}, {}, pldc::Dialect::Dump);
  INFO(first.errors);
  REQUIRE(first.ok);
  CHECK(after(first.text, {kDomains}) == after(source, {kSignals, kDomains}));
}

TEST_CASE("T21 what the front end refuses") {
  CHECK_THAT(signals(body("data = pld.tensor.allreduce(data, mode=\"ring\")\nreturn 0\n")),
             Contains("signal"));
  for (const char* cores : {"0", "True", "2.5"}) {
    CHECK_THAT(
        signals(body("data = pld.tensor.allreduce(data, core_num=" + std::string(cores) + ")\nreturn 0\n")),
        Contains("core_num"));
  }
}

TEST_CASE("T21 signal=None is refused: a signal is left out, not None") {
  CHECK_THAT(signals(body("data = pld.tensor.allreduce(data, signal=None)\nreturn 0\n")), Contains("None"));
  CHECK_THAT(signals(body("data = pld.tensor.allreduce(data, None)\nreturn 0\n")), Contains("None"));
}

TEST_CASE("D5 sharing=lineage: one signal for each buffer, at the very start, good for loops") {
  const std::string text = signals(body("buf2 = pld.alloc_window_buffer([256], dtype=pl.FP32)\n"
                                        "other = pld.window(buf2, [256], dtype=pl.FP32)\n"
                                        "pld.tensor.allreduce(other)\n"
                                        "for i in pl.range(3):\n"
                                        "    data = pld.tensor.allreduce(data, core_num=2)\n"
                                        "data = pld.tensor.allreduce(data, core_num=4)\n"
                                        "return pld.tensor.allreduce(data)\n"),
                                   kLineage);
  INFO(text);
  CHECK(in_order(
      text, {"def host", "__allreduce_signal_world_size_0:", "__allreduce_signal_0:", "_0, 1], pl.INT32]",
             "__allreduce_signal_world_size_1:", "__allreduce_signal_1:", "_1, 4], pl.INT32]", "buf: pl.Ptr",
             "pld.tensor.allreduce(other, __allreduce_signal_0",
             "__allreduce_signal_1, op=0, mode='mesh', core_num=2)",
             "__allreduce_signal_1, op=0, mode='mesh', core_num=4)", "__allreduce_result_2",
             "__allreduce_signal_1, op=0, mode='mesh', core_num=1)"}));
  CHECK(count(text, "pld.system.world_size()") == 3);

  const std::string explicit_call =
      signals(body(std::string(kSignal) + "data = pld.tensor.allreduce(data, sig)\nreturn 0\n"), kLineage);
  CHECK(count(explicit_call, "__allreduce") == 0);

  const std::string unknown =
      after(host("return pld.tensor.allreduce(d)\n", "d: pld.DistributedTensor[[256], pl.FP32]"), {kSignals},
            kLineage);
  CHECK_THAT(unknown, Contains("is the view of no window allocation"));
}

TEST_CASE("D5 a shared signal goes through the later passes") {
  const std::string text =
      after(host(body("for i in pl.range(3):\n    data = pld.tensor.allreduce(data)\nreturn 0\n")),
            {kSignals, kDomains, kCollectives, kContexts}, kLineage);
  INFO(text);
  CHECK(count(text, "comm_domain(") == 1);
  CHECK(count(text, "\"builtin.tensor.allreduce\"") == 1);
}
