#include "driver/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>

namespace pldc {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kTick = std::chrono::milliseconds(200);

// A longer line would be broken, and only its last part be written over.
std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(STDERR_FILENO, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    clear();
    done_ = true;
  }
  changed_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

void Progress::step(std::string_view what) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  if (what_.empty()) since_ = Clock::now();
  what_ = what;
  if (!watcher_.joinable()) watcher_ = std::thread([this] { watch(); });
}

void Progress::pause() {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  clear();
  what_.clear();
}

void Progress::clear() {
  if (shown_) write_all("\r\033[K");
  shown_ = false;
}

void Progress::watch() {
  std::unique_lock lock(mutex_);
  while (!done_) {
    const auto elapsed = Clock::now() - since_;
    if (!what_.empty() && elapsed >= kPatience) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(elapsed).count();
      std::string line = fmt::format("{} s: {}", seconds, what_);
      for (char& c : line) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
      // Bytes, so characters of several are cut too early rather than too late.
      const std::size_t width = terminal_width();
      if (line.size() >= width) line.resize(width - 1);
      write_all("\r\033[K" + line);
      shown_ = true;
    }
    changed_.wait_for(lock, kTick);
  }
}

}  // namespace pldc
