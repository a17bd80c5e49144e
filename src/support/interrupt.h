// Ctrl-C, kill and hang-up while something must be cleared away: folders that are half written, programs that run for us.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>

namespace pldc {

// While one is alive, the first SIGINT, SIGTERM or SIGHUP does not end the process, the second does. Not to be nested.
class InterruptScope {
 public:
  enum class Then {
    Continue,  // the owner asks interrupted() and goes on with what it has
    End,  // programs that run_process() started get the signal too, and the destructor ends the process by it
  };
  explicit InterruptScope(Then then);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
  Then then_;
  struct sigaction before_[kSignals.size()]{};
};

// Since the scope began.
bool interrupted();

// The program `pid` runs for this process, until the object ends; -pid: a process group does.
class Child {
 public:
  explicit Child(pid_t pid);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

 private:
  std::size_t place_;
};

}  // namespace pldc
