// What is being done, on a terminal, once it takes longer than a second: one line that is written over and goes away.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace pldc {

// A thread writes the line to descriptor 2, because the work itself has no moment for it: a pass, a compiler. It starts
// with the first step() and ends with this object. Whoever writes to the terminal calls pause() before; then nothing is
// shown up to the next step().
class Progress {
 public:
  explicit Progress(bool enabled) : enabled_(enabled) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // This is being done now: "foo.pld: Simplify".
  void step(std::string_view what);
  void pause();

 private:
  using Clock = std::chrono::steady_clock;
  void watch();
  void clear();

  const bool enabled_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;                        // empty: paused
  Clock::time_point since_ = Clock::now();  // of the first step after a pause
  bool shown_ = false;
  bool done_ = false;
  std::thread watcher_;
};

}  // namespace pldc
