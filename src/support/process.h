// Running other programs, without a shell.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace pldc {

struct ProcessSpec {
  std::vector<std::string> args;   // args[0] is looked up in PATH
  std::string directory;           // working directory; empty: this process's
  std::vector<std::string> unset;  // environment variables that the program must not see
  bool capture = false;            // collect stdout and stderr; otherwise the program inherits them
  bool null_input = true;          // stdin is /dev/null; otherwise inherited
  // The head of a process group of its own: a signal that this process gets (interrupt.h) reaches all that it starts.
  bool group = false;
  // 0: it may take as long as it likes. Otherwise it is the head of a process group of its own, which is killed when the
  // time is over.
  unsigned timeout_seconds = 0;
  // With a timeout: asked a few times a second; true ends the program as if its time were over.
  std::function<bool()> give_up;
};

struct ProcessResult {
  std::string error;  // not empty: the program could not be started, and why
  int exit_code = 0;  // as a shell gives it: 128 + signal if a signal ended the program
  int signal = 0;
  bool timed_out = false;
  std::string out;
  std::string err;
  bool ok() const { return error.empty() && exit_code == 0; }
};

ProcessResult run_process(const ProcessSpec& command);

// Runs the commands, at most `jobs` at a time (0: one per processor). Output is captured. Once one has failed
// no more are started: their results keep the error "not started".
std::vector<ProcessResult> run_processes(std::vector<ProcessSpec> commands, unsigned jobs);

}  // namespace pldc
