// The report of `pldc trace`: one HTML file that shows what the passes did to a program, and what the program is.
#pragma once

#include <string>

#include "driver/trace/report_data.h"

namespace pldc::trace {

struct ReportOptions {
  std::string stem;    // of the input
  std::string entry;   // the host function to draw; empty: all
  unsigned ranks = 0;  // to draw who notifies whom for; 0: as many as the text says, if it does
};

// "map": domains, dispatches and signals of the last program of the run. Nothing is reported: what cannot be shown has its
// reason beside it in the report. Null for a program that has nothing that runs.
Json program_map(Session& session, Input& input, const Recorder& recorder, const ReportOptions& options);

// What the ranks tell each other in every host function, by the static match; "diags" are its findings.
Json message_map(Session& session, Input& input, const Program* program, unsigned ranks);

std::string report(Session& session, Input& input, const Recorder& recorder, const ReportOptions& options);

}  // namespace pldc::trace
