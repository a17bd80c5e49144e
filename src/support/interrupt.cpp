#include "support/interrupt.h"

#include <atomic>

namespace pldc {
namespace {

constexpr std::size_t kMostChildren = 256;  // those beyond are not told

volatile sig_atomic_t received = 0;
std::atomic<bool> forwards{false};
std::atomic<pid_t> children[kMostChildren];

void on_interrupt(int signal) {
  received = signal;
  if (!forwards) return;
  for (const auto& child : children) {
    if (const pid_t pid = child; pid != 0) kill(pid, signal);
  }
}

}  // namespace

bool interrupted() { return received != 0; }

InterruptScope::InterruptScope(Then then) : then_(then) {
  received = 0;
  forwards = then == Then::End;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    // As nohup and shells without job control start it: it stays so.
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptScope::~InterruptScope() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  const int signal = received;
  received = 0;
  forwards = false;
  if (signal != 0 && then_ == Then::End) raise(signal);
}

Child::Child(pid_t pid) : place_(0) {
  for (; place_ < kMostChildren; ++place_) {
    pid_t none = 0;
    if (children[place_].compare_exchange_strong(none, pid)) break;
  }
  // It came between the start and this.
  if (forwards && received != 0) kill(pid, received);
}

Child::~Child() {
  if (place_ < kMostChildren) children[place_] = 0;
}

}  // namespace pldc
