// The back end: from a program to the files of `pldc build` (cli.md), except the runtime headers, which the driver
// copies, and bin/. The same program and options give the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/context.h"
#include "support/diag.h"
#include "support/source.h"

namespace pldc {

enum class Target : std::uint8_t { Sim, Mpi, Ascend };

struct BuildOptions {
  // Of the input file (path_stem); names the program, its namespace and bin/<stem>. Any text is accepted.
  std::string stem;
  // The input as the user named it: shown in comments, reports of the program and, with line_map, in #line. An
  // absolute path is cut to its last component, so that the output does not depend on where the tree lies.
  std::string source;
  std::string entry;  // --entry; empty: choose as cli.md says
  Target target = Target::Sim;
  bool line_map = false;  // -g: #line in kernels
  // The program before LowerCompositeOps: it still says which signals belong to collectives in kernels, from which follow
  // the checks of --ranks. Null: what `generate` is given.
  const Program* as_read = nullptr;
  Span program = {};  // where the program stands, for what is to be said about all of it
};

struct OutputFile {
  std::string path;  // below the output directory, '/' as separator
  std::string text;
};

// Appends the files in a fixed order: manifest.json, host/, chips/, kernels/, Makefile (not for Ascend). False after an error was
// reported; `out` is then unchanged. Accepts the program as it stands after any pass (decisions D24).
bool generate(Context& context, const Module& module, const SourceManager& sources,
              const BuildOptions& options, DiagSink& diags, std::vector<OutputFile>& out);

}  // namespace pldc
