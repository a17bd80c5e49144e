// The registry, the default pipeline and the runner: cli.md "pass options", decisions D6, D14, D22; T108,
// T171, T172.
#include <set>

#include "passes/run.h"
#include "support/catch.h"
#include "unit/passes/dist_program.h"

using namespace dist;
using Catch::Matchers::Contains;

namespace {

struct Run {
  pldc::SourceManager sources;
  pldc::Context context;
  pldc::DiagSink diags;
  pldc::Module module;
  pldc::RunResult result;
  std::string errors;

  Run(std::string_view text, const pldc::PipelineOptions& options,
      const pldc::PassCallbacks& callbacks = {}) {
    module = pldc::parse(*sources.add("t", std::string(text)), context, diags);
    if (module.program != nullptr) {
      result = pldc::run_passes(options, context, diags, module.program, callbacks);
    }
    for (const pldc::Diagnostic& d : diags.take()) {
      errors += d.message + "\n";
      for (const std::string& help : d.help) errors += "  help: " + help + "\n";
    }
  }
  std::string text() const {
    if (result.program == nullptr) return errors;
    pldc::Module after = module;
    after.program = result.program;
    return pldc::print(after, {});
  }
};

std::string plan(std::string_view passes) {
  pldc::DiagSink diags;
  pldc::PipelineOptions options;
  options.passes = std::string(passes);
  const auto chosen = pldc::plan_passes(options, diags);
  std::string out;
  if (!chosen) {
    for (const pldc::Diagnostic& d : diags.take()) {
      out += d.message;
      for (const std::string& help : d.help) out += " " + help;
    }
    return out;
  }
  for (const pldc::PlannedPass& pass : *chosen) out += (out.empty() ? "" : " ") + pass.label();
  return out;
}

std::string plan_errors(const pldc::PipelineOptions& options) {
  pldc::DiagSink diags;
  if (pldc::plan_passes(options, diags)) return "";
  std::string out;
  for (const pldc::Diagnostic& d : diags.take()) {
    out += d.message;
    for (const std::string& help : d.help) out += " " + help;
  }
  return out;
}

std::string simple_host(std::string_view rest = "return 0\n") {
  return host(std::string(data_on_two()) + std::string(rest));
}

pldc::PipelineOptions only(std::string_view passes) {
  pldc::PipelineOptions options;
  options.passes = std::string(passes);
  return options;
}

}  // namespace

TEST_CASE("registry: names, properties and rows agree") {
  std::set<std::string_view> names;
  int last = 0;
  for (const pldc::PassInfo& pass : pldc::all_passes()) {
    CHECK(names.insert(pass.name).second);
    CHECK(pldc::find_pass(pass.name) == &pass);
    CHECK(pass.run != nullptr);
    CHECK(!pass.summary.empty());
    // In pipeline order.
    for (const pldc::PipelineEntry& entry : pldc::default_pipeline()) {
      if (entry.name != pass.name) continue;
      CHECK(entry.number > last);
      last = entry.number;
      break;
    }
  }
  CHECK(pldc::find_pass("Nonsense") == nullptr);
  for (std::size_t i = 0; i < pldc::kPropertyCount; ++i) {
    const auto property = static_cast<pldc::Property>(i);
    CHECK(pldc::parse_property(pldc::name_of(property)) == property);
  }
  CHECK(!pldc::parse_property("Nonsense"));
}

TEST_CASE("default pipeline: 49 entries, each with a reason") {
  const auto& entries = pldc::default_pipeline();
  REQUIRE(entries.size() == 49);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    CHECK(entries[i].number == static_cast<int>(i) + 1);
    CHECK(!entries[i].reason.empty());
  }
  CHECK(entries[3].name == "ConvertToSSA");
  CHECK(entries[40].name == "SynthesizeAllReduceSignals");
  CHECK(entries[43].name == "MaterializeDistTensorCtx");
  CHECK(entries[43].pass == pldc::find_pass("MaterializeDistTensorCtx"));
}

TEST_CASE("lists of passes") {
  CHECK(plan("NONE").empty());
  CHECK(plan("ConvertToSSA, FlattenCallExpr") == "04_ConvertToSSA 07_FlattenCallExpr");
  CHECK(plan("FlattenCallExpr,ConvertToSSA") == "07_FlattenCallExpr 04_ConvertToSSA");
  CHECK(plan("Materialize*,!*Scopes,!*Strides,!*Aliases,!*Symbols") == "44_MaterializeDistTensorCtx");
  CHECK(plan("Convert?oSSA,!Flatten*") == "04_ConvertToSSA");
  CHECK(count(plan("!ConvertToSSA"), " ") == 47);
  CHECK(count(plan("*"), " ") >= 48);
  CHECK(plan("41_*") == "41_SynthesizeAllReduceSignals");
  CHECK_THAT(plan("ConvertToSA"),
             Contains("there is no pass 'ConvertToSA'") && Contains("did you mean 'ConvertToSSA'?"));
  CHECK_THAT(plan("Xyz*"), Contains("there is no pass 'Xyz*'"));
  CHECK_THAT(plan("!Xyz"), Contains("there is no pass 'Xyz'"));
  if (pldc::find_pass("AllocateMemoryAddr") == nullptr) {
    CHECK_THAT(plan("AllocateMemoryAddr"), Contains("'AllocateMemoryAddr' is not supported yet"));
  }
}

TEST_CASE("stages") {
  pldc::DiagSink diags;
  pldc::PipelineOptions options;
  options.start_after = "ExpandManualPhaseFence";
  options.stop_after = "MaterializeDistTensorCtx";
  auto chosen = pldc::plan_passes(options, diags);
  REQUIRE(chosen);
  REQUIRE(chosen->size() == 4);
  CHECK(chosen->front().number == 41);

  options.start_after = "45_Simplify";
  options.stop_after.clear();
  chosen = pldc::plan_passes(options, diags);
  REQUIRE(chosen);
  CHECK(chosen->front().number == 46);

  options = {};
  options.stop_after = "Simplify";
  chosen = pldc::plan_passes(options, diags);
  REQUIRE(chosen);
  CHECK(chosen->back().number == 5);
  options.start_after = "Simplify";
  chosen = pldc::plan_passes(options, diags);
  REQUIRE(chosen);
  CHECK(chosen->empty());

  options.start_after = "FlattenCallExpr";
  CHECK_THAT(plan_errors(options),
             Contains("--stop-after=Simplify lies before --start-after=FlattenCallExpr"));
  options.start_after = "FlatenCallExpr";
  CHECK_THAT(plan_errors(options), Contains("did you mean 'FlattenCallExpr'?"));
  options = only("ConvertToSSA");
  options.stop_after = "FlattenCallExpr";
  CHECK_THAT(plan_errors(options),
             Contains("'FlattenCallExpr' of --stop-after is not among the passes of this run"));
}

TEST_CASE("pass options") {
  const auto errors = [](std::string_view text) {
    pldc::DiagSink diags;
    pldc::PipelineOptions options;
    if (!pldc::add_pass_option(text, options.pass_options, diags)) return diags.all()[0].message;
    return plan_errors(options);
  };
  CHECK(errors("SynthesizeAllReduceSignals.sharing=lineage").empty());
  CHECK(errors("LowerHostTensorCollectives.aiv_cores=48").empty());
  CHECK_THAT(errors("sharing=lineage"), Contains("expected PASS.KEY=VALUE"));
  CHECK_THAT(errors("SynthesizeAllReduceSignals.sharing"), Contains("expected PASS.KEY=VALUE"));
  CHECK_THAT(errors("SynthesizeAllReduceSignals.sharing=never"),
             Contains("'never' is no value") && Contains("call|lineage"));
  CHECK_THAT(errors("LowerHostTensorCollectives.aiv_cores=many"), Contains("'many' is no value"));
  CHECK_THAT(errors("SynthesizeAllReduceSignals.shring=call"),
             Contains("has no option 'shring'") && Contains("sharing"));
  CHECK_THAT(errors("SynthesizeSignals.sharing=call"), Contains("there is no pass 'SynthesizeSignals'"));
}

TEST_CASE("D22 a missing property is an error that names it and the first finding") {
  const Run run(simple_host(), only("LowerHostTensorCollectives"));
  CHECK(run.result.program == nullptr);
  CHECK_THAT(run.errors,
             Contains("'LowerHostTensorCollectives' needs property CommDomainScopesMaterialized") &&
                 Contains("'buf' lies in no communication domain") &&
                 Contains("run MaterializeCommDomainScopes before it"));
  // The text of a stage has the properties of the stage.
  const Run first(simple_host(), only("MaterializeCommDomainScopes"));
  REQUIRE(first.result.program != nullptr);
  CHECK(first.result.held.has(pldc::Property::CommDomainScopesMaterialized));
  const Run second(first.text(), only("LowerHostTensorCollectives"));
  CHECK(second.errors.empty());
  const Run destroyed(simple_host(), only("ConvertToSSA,FlattenCallExpr"));
  CHECK_THAT(destroyed.errors,
             Contains("'FlattenCallExpr' needs property NormalizedStmtStructure, which 'ConvertToSSA'"));
}

TEST_CASE("--disable-pass") {
  pldc::PipelineOptions options;
  options.disabled = {"MaterializeCommDomainScopes"};
  const Run refused(simple_host(), options);
  CHECK(refused.result.program == nullptr);
  CHECK_THAT(
      refused.errors,
      Contains(
          "'MaterializeCommDomainScopes' cannot be left out: 'LowerHostTensorCollectives' needs property "
          "CommDomainScopesMaterialized"));
  options.disabled = {"SynthesizeAllReduceSignals"};
  CHECK(Run(simple_host(), options).errors.empty());
  options.disabled = {"MaterialiseCommDomainScopes"};
  CHECK_THAT(Run(simple_host(), options).errors, Contains("did you mean 'MaterializeCommDomainScopes'?"));
  options = only("ConvertToSSA");
  options.disabled = {"FlattenCallExpr"};
  CHECK_THAT(Run(simple_host(), options).errors, Contains("not among the passes of this run"));
}

TEST_CASE("D14 passes that do not exist are left out") {
  const Run run(simple_host(), {});
  INFO(run.errors);
  CHECK(run.result.program != nullptr);
  CHECK(run.errors.empty());
}

TEST_CASE("callbacks see every pass and can end the run") {
  std::vector<std::string> seen;
  pldc::PassCallbacks callbacks;
  callbacks.before = [&](const pldc::PassStep& step) {
    CHECK(step.before == step.after);
    seen.push_back("<" + step.planned->label());
    return true;
  };
  callbacks.after = [&](const pldc::PassStep& step) {
    CHECK(step.changed == (step.before != step.after));
    CHECK(step.skipped == (step.planned->pass == nullptr));
    CHECK(step.milliseconds >= 0);
    seen.push_back(">" + step.planned->label());
    return step.planned->name != "MaterializeCommDomainScopes";
  };
  const Run run(simple_host(), {}, callbacks);
  REQUIRE(run.result.program != nullptr);
  CHECK(run.result.stopped);
  CHECK(seen.size() == 84);
  CHECK(seen.back() == ">42_MaterializeCommDomainScopes");
  CHECK_THAT(run.text(), Contains("comm_domain("));

  callbacks.before = [](const pldc::PassStep& step) { return step.planned->number != 42; };
  callbacks.after = nullptr;
  const Run before(simple_host(), {}, callbacks);
  CHECK(before.result.stopped);
  CHECK_THAT(before.text(), !Contains("comm_domain("));
}

TEST_CASE("verification after passes, and not") {
  // A kernel that asks for a context the pass cannot see is refused by the pass; a program that pass 44
  // leaves alone is caught by the verifier of what it produces (T108).
  const std::string query = program(
      "@pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)\n"
      "def chip(self, p: pl.Ptr) -> pl.Scalar[pl.INT32]:\n"
      "    w: pld.DistributedTensor[[256], pl.FP32] = pld.tensor.window(p, [256], dtype=pl.FP32)\n"
      "    c: pld.CommCtx = pld.system.get_comm_ctx(w)\n"
      "    n: pl.Scalar[pl.INT32] = pld.system.rank(c)\n    return n\n");
  pldc::PipelineOptions options = only("MaterializeDistTensorCtx");
  const Run caught(query, options);
  CHECK(caught.result.program == nullptr);
  CHECK_THAT(caught.errors,
             Contains("'chip' still calls") && Contains("property DistTensorCtxMaterialized does not hold"));
  options.verify = pldc::VerifyLevel::None;
  CHECK(Run(query, options).result.program != nullptr);

  for (const pldc::VerifyLevel level : {pldc::VerifyLevel::Each, pldc::VerifyLevel::RoundTrip}) {
    options = {};
    options.verify = level;
    const Run each(host("sbuf = pld.alloc_window_buffer([4], dtype=pl.INT32)\nsig = pld.window(sbuf, [4], "
                        "dtype=pl.INT32)\n" +
                        std::string(data_everywhere()) +
                        "for i in pl.range(3):\n    data = pld.tensor.allreduce(data, sig)\n"
                        "data = pld.tensor.allreduce(data)\nself.chip(data, device=0)\nreturn 0\n"),
                   options);
    INFO(each.errors);
    CHECK(each.result.program != nullptr);
    CHECK(each.errors.empty());
  }
}

TEST_CASE("--strict-signals reaches the pass") {
  pldc::PipelineOptions options;
  options.strict_signals = true;
  const Run run(host("sbuf = pld.alloc_window_buffer([4], dtype=pl.INT32)\nsig = pld.window(sbuf, [4], "
                     "dtype=pl.INT32)\n" +
                     std::string(data_on_two()) +
                     "for i in pl.range(3):\n    pld.tensor.allreduce(data, sig)\nreturn 0\n"),
                options);
  CHECK_THAT(run.errors, Contains("under --strict-signals"));
}

TEST_CASE("T171 nested and returned all-reduces through the pipeline") {
  const Run nested(simple_host("self.chip(pld.tensor.allreduce(data), device=0)\nreturn 0\n"), {});
  INFO(nested.errors);
  REQUIRE(nested.result.program != nullptr);
  CHECK(in_order(nested.text(), {"__allreduce_signal_0: ",
                                 "\"builtin.tensor.allreduce\", [data__ssa_v0, __allreduce_signal_0]",
                                 "t__tmp_v0: ", "= data__ssa_v0\n", "self.chip, [t__tmp_v0"}));
  const Run returned(simple_host("return pld.tensor.allreduce(data)\n"), {});
  INFO(returned.errors);
  REQUIRE(returned.result.program != nullptr);
  CHECK_THAT(returned.text(), !Contains("__allreduce_result_"));
  CHECK_THAT(returned.text(), Contains("return t__tmp_v"));
}

TEST_CASE("T172 an all-reduce in a host loop through the pipeline, both forms") {
  for (const char* statement :
       {"    data = pld.tensor.allreduce(data, sig)\n", "    pld.tensor.allreduce(data, sig)\n"}) {
    const Run run(host("sbuf = pld.alloc_window_buffer([4], dtype=pl.INT32)\nsig = pld.window(sbuf, [4], "
                       "dtype=pl.INT32)\n" +
                       std::string(data_on_two()) + "for i in pl.range(3):\n" + statement +
                       "self.chip(data, device=1)\nreturn 0\n"),
                  {});
    INFO(run.errors);
    REQUIRE(run.result.program != nullptr);
    CHECK(count(run.text(), "\"builtin.tensor.allreduce\"") == 2);
  }
}

TEST_CASE("a device that is a variable with a constant value, through the pipeline") {
  const Run run(host("buf = pld.alloc_window_buffer([256], dtype=pl.FP32)\n"
                     "data = pld.window(buf, [256], dtype=pl.FP32)\n"
                     "dev = 0\n"
                     "self.chip(data, device=dev)\n"
                     "self.chip(data, device=dev + 1)\n"
                     "return 0\n"),
                {});
  INFO(run.errors);
  REQUIRE(run.result.program != nullptr);
  CHECK_THAT(run.text(), Contains("devices=[0, 1]") && Contains("\"device\": pl.const(0, pl.INDEX)") &&
                             Contains("\"device\": pl.const(1, pl.INDEX)") && !Contains("dev__"));
}

TEST_CASE("T52 a loop over one device, through the pipeline") {
  const Run run(host("buf = pld.alloc_window_buffer([256], dtype=pl.FP32)\n"
                     "data = pld.window(buf, [256], dtype=pl.FP32)\n"
                     "for r in pl.range(1):\n"
                     "    self.chip(data, device=r)\n"
                     "return 0\n"),
                {});
  INFO(run.errors);
  REQUIRE(run.result.program != nullptr);
  CHECK_THAT(run.text(),
             Contains("devices=[0]") && Contains("\"device\": pl.const(0, pl.INDEX)") && !Contains("for r"));
}

TEST_CASE("T117 constants flow into window shapes, and the views stay views of their window") {
  const Run run(host("rows = 4\n"
                     "buf = pld.alloc_window_buffer(rows * 64 * 4)\n"
                     "data = pld.window(buf, [rows, 64], dtype=pl.FP32)\n"
                     "for r in pl.range(pld.world_size()):\n"
                     "    self.chip_rows(data, device=r)\n"
                     "return 0\n"),
                {});
  INFO(run.errors);
  REQUIRE(run.result.program != nullptr);
  const std::string text = run.text();
  CHECK_THAT(text, Contains("alloc_window_buffer(1024") && Contains("DistributedTensor[[4, 64], pl.FP32") &&
                       !Contains("rows__"));
  // Second run of Simplify on the finished text: slots and views still are of one window.
  for (const pldc::Function* f : run.result.program->functions) {
    if (!f->is_host_orchestrator()) continue;
    const auto* scope = pldc::dyn_scope(f->body[0], pldc::ScopeKind::CommDomain);
    REQUIRE(scope != nullptr);
    REQUIRE(scope->slots.size() == 1);
    bool seen = false;
    for (const pldc::Stmt* s : scope->body) {
      const auto* assign = pldc::dyn<pldc::AssignStmt>(s);
      if (assign == nullptr || !pldc::is_distributed(assign->var->type)) continue;
      CHECK(static_cast<const pldc::TensorType*>(assign->var->type)->window == scope->slots[0].base);
      seen = true;
    }
    CHECK(seen);
  }
}
