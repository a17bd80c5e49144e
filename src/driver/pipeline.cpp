#include "driver/pipeline.h"

#include "driver/report.h"
#include "support/diag/driver.h"
#include "support/pattern.h"

namespace pldc {
namespace {

VerifyLevel level_of(const PassOptions& options, const Env& env) {
  if (options.no_verify) return VerifyLevel::None;
  std::string word = options.verify_each;
  if (word.empty()) word = env.variable("PLDC_VERIFY").value_or("");
  if (word == "each") return VerifyLevel::Each;
  if (word == "roundtrip") return VerifyLevel::RoundTrip;
  return VerifyLevel::Default;
}

}  // namespace

bool plan_pipeline(Session& session, const PassOptions& options, Pipeline& pipeline) {
  if (options.no_verify && !options.verify_each.empty()) {
    session.report<diag::option_conflict>("", "--no-verify", "--verify-each");
    return false;
  }
  PipelineOptions& to = pipeline.options;
  if (!options.passes.empty()) {
    to.passes.emplace();
    for (const std::string& word : options.passes) *to.passes += (to.passes->empty() ? "" : ",") + word;
  }
  to.stop_after = options.stop_after;
  to.start_after = options.start_after;
  to.disabled = options.disable;
  to.verify = level_of(options, session.env());
  to.strict_signals = options.strict_signals;
  DiagSink diags(session.diag_options());
  bool good = true;
  for (const std::string& word : options.values) good = add_pass_option(word, to.pass_options, diags) && good;
  if (good) {
    std::optional<PassPlan> plan = plan_passes(to, diags);
    good = plan.has_value();
    if (plan) pipeline.plan = std::move(*plan);
  }
  session.show(diags);
  return good;
}

std::vector<std::size_t> find_passes(const PassPlan& plan, const std::string& word) {
  std::vector<std::size_t> found;
  const Glob glob(word);
  const bool many = Glob::is_glob(word);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const PlannedPass& pass = plan[i];
    const std::string numbered = fmt::format("{}_{}", pass.number, pass.name);
    if (glob.matches(pass.name) || glob.matches(pass.label()) || glob.matches(numbered)) {
      found.push_back(i);
      if (!many) break;
    }
  }
  return found;
}

RunResult run_pipeline(Session& session, Input& input, const Pipeline& pipeline, const PassOptions& options,
                       const PassCallbacks& callbacks) {
  Timing timing;
  PassCallbacks watched;
  watched.before = [&](const PassStep& step) {
    session.progress(fmt::format("{}: {}", input.path, step.planned->name));
    if (!step.skipped) session.log().debug("{}: {}", input.path, step.planned->label());
    return !callbacks.before || callbacks.before(step);
  };
  watched.after = [&](const PassStep& step) {
    if (!step.skipped) timing.add(step, input.context.arena().bytes_reserved());
    return !callbacks.after || callbacks.after(step);
  };
  RunResult result;
  if (!check_plan(pipeline.plan, pipeline.options, input.module.program, input.diags)) return result;
  result =
      run_plan(pipeline.plan, pipeline.options, input.context, input.diags, input.module.program, watched);
  const bool count = options.stats && result.program != nullptr;
  if (session.several_files() && (options.timing == "text" || count)) session.say(input.path + ":\n");
  if (!options.timing.empty())
    session.say(options.timing == "json" ? timing.json(input.path) : timing.text());
  if (count) session.say(statistics(result.program));
  return result;
}

}  // namespace pldc
