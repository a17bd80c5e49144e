// Passes as the command line asks for them.
#pragma once

#include "driver/options.h"
#include "driver/session.h"
#include "passes/run.h"

namespace pldc {

struct Pipeline {
  PipelineOptions options;
  PassPlan plan;
};

// Reads the pass options. False and diagnostics if they are wrong (exit code 2).
bool plan_pipeline(Session& session, const PassOptions& options, Pipeline& pipeline);

// Whether a word of --dump-after and the like means this pass: its name, "45_Simplify", or a glob. A name
// without a number means the first pass of that name; see find_passes.
std::vector<std::size_t> find_passes(const PassPlan& plan, const std::string& word);

// Runs the plan on the program read from `input`, with --timing and --stats. The program is null after an
// error.
RunResult run_pipeline(Session& session, Input& input, const Pipeline& pipeline, const PassOptions& options,
                       const PassCallbacks& callbacks = {});

}  // namespace pldc
