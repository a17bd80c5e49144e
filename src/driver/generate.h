// From a program to the files of its build directory.
#pragma once

#include <string>

#include "driver/pipeline.h"
#include "driver/toolchain.h"

namespace pldc {

struct GenerateOptions {
  std::string target = "sim";
  std::string entry;
  bool debug_lines = false;  // -g
};
void add_generate_options(CLI::App& app, GenerateOptions& options, bool with_ascend);

// Runs the passes and code generation. `tree.files` then has all files, the runtime headers included; `ir` is
// the program as code generation saw it. False after an error.
bool generate_tree(Session& session, Input& input, const Pipeline& pipeline, const PassOptions& passes,
                   const GenerateOptions& options, const std::string& stem, Tree& tree, std::string& ir);

}  // namespace pldc
