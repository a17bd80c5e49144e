// From generated C++ to a program. The generated Makefile says how to compile; this runs it.
#pragma once

#include <string>
#include <vector>

#include "driver/session.h"

namespace pldc {

struct ToolOptions {
  std::string cxx;       // empty: $CXX, else g++, c++ or clang++
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
  std::vector<TreeFile> files;
  std::string help;              // what to do where the directory cannot be written; empty: nothing to say
  std::string kept_when_failed;  // where the directory goes if it cannot be compiled; empty: it stays

  const TreeFile* file(std::string_view path) const;
  // bin/<name>, bin/lib<name>.a: as the Makefile says, else `otherwise`.
  std::string program_name(const std::string& otherwise) const;
};

// A compiler that works, with its flags and whatever else decides about its results.
struct Toolchain {
  std::string cxx;
  std::string cxxflags;
  unsigned jobs = 1;
  std::string key;
};
// False and a diagnostic if there is no compiler.
bool find_toolchain(Session& session, const ToolOptions& options, Toolchain& tools);

// What a change of any file, flag or of the compiler changes.
std::string build_key(const Tree& tree, const Toolchain& tools);

// Writes the files that changed. False and a diagnostic on failure.
bool write_tree(Session& session, const Tree& tree);

// Compiles what changed and links `targets` ("bin/foo"). False and a diagnostic on failure.
bool compile_tree(Session& session, const Tree& tree, const Toolchain& tools,
                  const std::vector<std::string>& targets);

// $XDG_CACHE_HOME/pldc, else $HOME/.cache/pldc; empty if there is neither.
std::string cache_directory(const Env& env);

}  // namespace pldc
