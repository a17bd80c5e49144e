// Crash files: after a bug in pldc the input and the options are on disk, and stderr has one line that names
// the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pldc {

// While one is alive, a fatal signal ends the process with exit code 3 and a crash file.
class CrashScope {
 public:
  CrashScope(std::string directory, const std::vector<std::string>& args, std::string_view input_name,
             std::string_view input_text);
  ~CrashScope();
  CrashScope(const CrashScope&) = delete;
  CrashScope& operator=(const CrashScope&) = delete;

  // Writes the file for an exception; returns the line for stderr.
  std::string write(std::string_view what) const;

 private:
  std::string header_;
  std::string path_;
  std::string_view text_;
};

// Installs the signal handlers, with a stack of their own so that an overflow is caught too. Called once, by
// main.
void install_crash_handlers();

}  // namespace pldc
