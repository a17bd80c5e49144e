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
  // `verify` is the value of PLDC_VERIFY; empty: it is not set.
  CrashScope(std::string directory, const std::vector<std::string>& args, std::string_view verify,
             std::string_view input_name, std::string_view input_text);
  ~CrashScope();
  CrashScope(const CrashScope&) = delete;
  CrashScope& operator=(const CrashScope&) = delete;

  // Writes the file for an exception; returns the line for stderr.
  std::string write(std::string_view what) const;

 private:
  std::string header_;
  std::string path_;
  std::string other_path_;  // where there may be no file in that folder
  std::string_view text_;
};

// What a crash file says.
struct CrashRecord {
  std::string version;
  std::vector<std::string> args;  // the subcommand first
  std::string verify;             // PLDC_VERIFY; empty: it was not set
  std::string input;              // the file's name among the arguments
  std::string what;
  std::string text;  // of the file
};
// False if `text` is no crash file; `error` says what is missing.
bool read_crash_file(std::string_view text, CrashRecord& record, std::string& error);

// Installs the signal handlers, with a stack of their own so that an overflow is caught too. Called once, by
// main.
void install_crash_handlers();

}  // namespace pldc
