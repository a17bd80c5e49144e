// A program as code generation has taken it apart, and the files that are made of it.
#pragma once

#include <string>
#include <vector>

#include "codegen/chip/chip.h"
#include "codegen/codegen.h"
#include "codegen/host/host.h"

namespace pldc {

struct KernelCode {
  std::string title;                      // as the user knows it
  std::string name;                       // C++ name, unique in the chip
  const Function* function = nullptr;     // null: of a host collective
  Signature signature;                    // of `function`
  std::vector<std::string> builtin_args;  // of a host collective: "data (inout)"
  bool cube = false;                      // runs on a cube core
  std::string text;
};

struct ChipCode {
  ChipRef ref;
  int args = 0;
  std::string text;
  std::vector<KernelCode> kernels;
};

struct ProgramCode {
  std::string name;       // of the program class
  std::string stem;       // as given
  std::string file_stem;  // of bin/ and the header: the stem, or `ident` if make would take it apart
  std::string ident;      // the stem as a C++ identifier: namespace
  std::string file;       // of the source, as it may be shown
  std::vector<HostEntry> entries;
  std::vector<ChipCode> chips;
};

// host/<file_stem>.h, host/host_orch.cpp, host/main.cpp
std::string host_header_text(const ProgramCode& program);
std::string host_source_text(const ProgramCode& program, const Places& places);
std::string host_main_text(const ProgramCode& program);
// `hash`: of the program; processes that run together (mpi) compare it.
// `deep_blocks`: of any source of the program.
std::string makefile_text(const ProgramCode& program, bool mpi, bool deep_blocks, std::uint64_t hash);
// Whether blocks in the generated text nest deeper than every compiler takes by itself.
bool has_deep_blocks(std::string_view text);
std::string manifest_text(const ProgramCode& program, const BuildOptions& options, const Places& places);

// "x: in FP32 [NR, 1, 384]"
std::string describe(const HostParam& param, bool with_direction);

}  // namespace pldc
