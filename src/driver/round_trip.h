// The round trip: a program printed and read again is the same program.
#pragma once

#include <string>

#include "frontend/text.h"
#include "support/diag.h"

namespace pldc {

// Whether the program survives being printed and read: print, read in a fresh context, compare structure and
// hash, print again, compare bytes. `original`, if not null, is also compared with the first print. What does
// not hold is reported to `diags`. `printed_name` names the printed text in messages.
struct RoundTripCheck {
  SourceManager& sources;
  DiagSink& diags;
  PrintOptions print;
  const SourceFile* original = nullptr;
  std::string printed_name;
};
bool survives_round_trip(const Module& module, const RoundTripCheck& check);

}  // namespace pldc
