// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Files that a run writes. Included by launcher.cpp only.
#pragma once
#include "pld/npy.h"
#include "pld/runtime_options.h"

namespace pld {
namespace {

// No file is written twice: the first text would be lost. Several outputs may be printed, but not into a trace.
void check_files(const Options& options) {
  struct Written {
    Text option;
    Text file;
  };
  Array<Written> all;
  for (const NameFile& n : options.out) all.push_back({"--out " + n.name, n.file});
  if (!options.trace.empty()) all.push_back({"--trace", options.trace});
  for (size_t i = 0; i < all.size(); ++i) {
    const bool trace = all[i].option == "--trace";
    for (size_t k = 0; k < i; ++k) {
      const bool printed = all[i].file == "-" && all[k].file == "-";
      if (printed ? !trace : !npy::same_file(all[i].file, all[k].file)) continue;
      throw UsageError{all[k].option + " and " + all[i].option + " write the same file, " + all[i].file +
                       "; give two names"};
    }
  }
}

}  // namespace
}  // namespace pld
