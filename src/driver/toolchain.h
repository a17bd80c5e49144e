// From generated C++ to a program: the compiler commands, run in parallel, only those whose inputs changed.
#pragma once

#include <string>
#include <vector>

#include "driver/session.h"

namespace pldc {

struct ToolOptions {
  std::string cxx;       // empty: $CXX, else g++, else c++
  std::string cxxflags;  // empty: $CXXFLAGS
  unsigned jobs = 0;     // 0: one per processor
};
void add_tool_options(CLI::App& app, ToolOptions& options);

// One generated file, with its path below the build directory.
struct TreeFile {
  std::string path;
  std::string text;
};

// The files of one program, as they lie below its build directory.
struct Tree {
  std::string directory;
  std::string name;  // bin/<name>, bin/lib<name>.a
  std::vector<TreeFile> files;
};

// What a change of any file, flag or of the compiler changes.
std::string build_key(Session& session, const Tree& tree, const ToolOptions& options);

// Writes the files that changed, and the runtime headers. False and a diagnostic on failure.
bool write_tree(Session& session, const Tree& tree);

// Compiles and links into bin/. `library`: also the archive. False and a diagnostic on failure.
bool compile_tree(Session& session, const Tree& tree, const ToolOptions& options, bool library);

// $XDG_CACHE_HOME/pldc, else $HOME/.cache/pldc; empty if there is neither.
std::string cache_directory(const Env& env);

}  // namespace pldc
