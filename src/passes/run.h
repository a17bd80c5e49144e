// Running a list of passes over a program: which ones (cli.md "pass options"), whether they fit together, and
// what is verified in between. Used by the driver, the tests and every tool that needs a stage of the
// pipeline.
//
// Errors: everything that is wrong with the options, the program or a pass's result is reported to the
// DiagSink; the functions then return an empty result. Only a bug of pldc throws (InternalError). Ownership:
// programs live in the Context, as always; a plan refers to static tables only and may be kept and reused.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "passes/pass.h"

namespace pldc {

enum class VerifyLevel : std::uint8_t {
  None,     // --no-verify
  Default,  // the input; what a pass produces, once; windows after every pass; everything that is held at the
            // end
  Each,     // --verify-each: also what a pass requires, and all that is held, around every pass
  RoundTrip,  // --verify-each=roundtrip: as Each, and printing and reading back after every pass
};

struct PipelineOptions {
  // --passes: names and globs, `!X` takes out, NONE is the empty list. Without it the default pipeline.
  std::optional<std::string> passes;
  // A pass occurs twice if the pipeline has it twice: "Simplify" is the first one, "45_Simplify" names the
  // second.
  std::string stop_after;   // empty: run to the end
  std::string start_after;  // empty: from the beginning
  std::vector<std::string> disabled;
  PassOptionValues pass_options;
  VerifyLevel verify = VerifyLevel::Default;
  bool strict_signals = false;
};

// Takes "P.key=value" apart into `values`; false and a report if it has another form. The plan checks P, key
// and value.
bool add_pass_option(std::string_view text, PassOptionValues& values, DiagSink& diags);

struct PlannedPass {
  int number;  // in the default pipeline; 0: not part of it
  std::string_view name;
  const PassInfo* pass;  // null: not in this project, which does without it; skipped
  // "45_Simplify"
  std::string label() const;
};
using PassPlan = std::vector<PlannedPass>;

// The passes to run, in order, with nothing looked at but the options: unknown names (with the likeliest one
// meant), unknown pass options, a stop that is not in the list.
std::optional<PassPlan> plan_passes(const PipelineOptions& options, DiagSink& diags);

// Whether the plan can work on this program: each required property is produced by a pass before or held by
// the input (decisions D22), Reports the first finding of the property's
// verifier.
bool check_plan(const PassPlan& plan, const PipelineOptions& options, const Program* program,
                DiagSink& diags);

struct PassStep {
  std::size_t index;  // in the plan
  const PlannedPass* planned;
  const Program* before;
  const Program* after;  // in a call before the pass: the same as `before`
  bool changed;
  bool skipped;         // a pass that this project lacks and the program does not need
  double milliseconds;  // of the pass alone, without verification
};

// Called around every pass, skipped ones included. Returning false ends the run there, with the program as it
// stands.
struct PassCallbacks {
  std::function<bool(const PassStep&)> before;
  std::function<bool(const PassStep&)> after;
};

struct RunResult {
  const Program* program = nullptr;  // null after an error
  PropertySet held;                  // properties that passes established and nothing destroyed since
  bool stopped = false;              // a callback ended the run
};

RunResult run_plan(const PassPlan& plan, const PipelineOptions& options, Context& context, DiagSink& diags,
                   const Program* program, const PassCallbacks& callbacks = {});

// plan_passes, check_plan and run_plan in one.
RunResult run_passes(const PipelineOptions& options, Context& context, DiagSink& diags,
                     const Program* program, const PassCallbacks& callbacks = {});

}  // namespace pldc
