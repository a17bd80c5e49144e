// What is wrong with a trace. Claims only what holds in every run, or in a run that some order of the ranks leads to.
#pragma once

#include "passes/match/findings.h"
#include "passes/match/trace.h"

namespace pldc::match {

void judge(const Trace& trace, Findings& findings);

}  // namespace pldc::match
