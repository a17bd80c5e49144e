// What the driver takes from outside. Tests pass their own, so every subcommand runs in process.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace pldc {

struct Env {
  std::ostream* out;
  std::ostream* err;
  bool in_is_terminal = false;
  bool err_is_terminal = false;
  // Environment variables.
  std::function<std::optional<std::string>(const std::string&)> variable;
  // Programs that pldc starts write to `out` and `err` above instead of inheriting stdout and stderr.
  bool capture_children = false;
  // Texts that stand for files of these names, as `pldc replay` has them.
  std::map<std::string, std::string> overlay;
  // Where crash files go.
  std::string crash_directory = ".";
};

// Exit codes (the same for every subcommand).
enum Exit : int {
  kFine = 0,
  kBadInput = 1,
  kBadUsage = 2,
  kInternalError = 3,
  kCheckFailed = 4,
};
// The worse of two: a bug in pldc, then wrong usage, wrong input, a failed check.
int worse(int a, int b);

// The whole program; `args` without the program's name.
int run_main(const std::vector<std::string>& args, Env& env);

}  // namespace pldc
