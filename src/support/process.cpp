#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>

#include "support/file.h"
#include "support/interrupt.h"

extern char** environ;

namespace pldc {
namespace {

// Closes what it holds; -1 is nothing.
struct Fd {
  int fd = -1;
  Fd() = default;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }
  void reset() {
    if (fd >= 0) close(fd);
    fd = -1;
  }
};

using Clock = std::chrono::steady_clock;

// When a program has had its time.
class Limit {
 public:
  explicit Limit(const ProcessSpec& command) : give_up_(command.give_up) {
    if (command.timeout_seconds != 0) end_ = Clock::now() + std::chrono::seconds(command.timeout_seconds);
  }
  bool exists() const { return end_.has_value(); }
  bool reached() const { return end_ && (Clock::now() >= *end_ || (give_up_ && give_up_())); }
  // Milliseconds for poll(), after which it is asked again; -1 without a limit.
  int pause() const { return end_ ? 100 : -1; }

 private:
  std::optional<Clock::time_point> end_;
  std::function<bool()> give_up_;
};

// Until the program has closed both, or the limit is reached.
void drain(Fd& out, std::string& out_text, Fd& err, std::string& err_text, const Limit& limit) {
  char buffer[1 << 14];
  while (out.fd >= 0 || err.fd >= 0) {
    if (limit.reached()) return;
    pollfd ready[2] = {{out.fd, POLLIN, 0}, {err.fd, POLLIN, 0}};
    if (poll(ready, 2, limit.pause()) <= 0) {
      if (limit.exists() || errno == EINTR) continue;
      return;
    }
    for (int i = 0; i < 2; ++i) {
      Fd& from = i == 0 ? out : err;
      if (from.fd < 0 || ready[i].revents == 0) continue;
      const ssize_t got = read(from.fd, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        from.reset();
      } else {
        (i == 0 ? out_text : err_text).append(buffer, static_cast<std::size_t>(got));
      }
    }
  }
}

}  // namespace

ProcessResult run_process(const ProcessSpec& command) {
  ProcessResult result;
  std::vector<char*> argv;
  for (const std::string& arg : command.args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  if (command.args.empty()) {
    result.error = "no command";
    return result;
  }
  if (!command.directory.empty() && !is_directory(command.directory)) {
    result.error = "the working directory '" + command.directory + "' does not exist";
    return result;
  }

  Fd out_read, out_write, err_read, err_write;
  if (command.capture) {
    int ends[2];
    // Close-on-exec: another thread may be starting a process at this moment, which must not keep our pipe
    // open.
    if (pipe2(ends, O_CLOEXEC) == 0) {
      out_read.fd = ends[0];
      out_write.fd = ends[1];
    }
    if (pipe2(ends, O_CLOEXEC) == 0) {
      err_read.fd = ends[0];
      err_write.fd = ends[1];
    }
    if (out_read.fd < 0 || err_read.fd < 0) {
      result.error = std::string("no pipe: ") + std::strerror(errno);
      return result;
    }
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (command.null_input) posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (command.capture) {
    posix_spawn_file_actions_adddup2(&actions, out_write.fd, 1);
    posix_spawn_file_actions_adddup2(&actions, err_write.fd, 2);
  }
  if (!command.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string name(text.substr(0, text.find('=')));
    if (std::find(command.unset.begin(), command.unset.end(), name) == command.unset.end()) {
      environment.push_back(*entry);
    }
  }
  environment.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const Limit limit(command);
  const bool group = command.group || limit.exists();
  if (group) {
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
  }
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    result.error = std::strerror(failed);
    return result;
  }
  const Child child(group ? -pid : pid);
  out_write.reset();
  err_write.reset();
  drain(out_read, result.out, err_read, result.err, limit);

  int status = 0;
  for (;;) {
    const bool waiting = limit.exists() && !result.timed_out;
    const pid_t got = waitpid(pid, &status, waiting ? WNOHANG : 0);
    if (got == pid) break;
    if (got < 0 && errno != EINTR) {
      result.error = std::strerror(errno);
      return result;
    }
    if (!waiting) continue;
    if (limit.reached()) {
      result.timed_out = true;
      kill(-pid, SIGKILL);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
    result.exit_code = 128 + result.signal;
  } else {
    result.exit_code = WEXITSTATUS(status);
  }
  return result;
}

std::vector<ProcessResult> run_processes(std::vector<ProcessSpec> commands, unsigned jobs) {
  std::vector<ProcessResult> results(commands.size());
  for (ProcessResult& result : results) result.error = "not started";
  if (jobs == 0) jobs = std::max(1U, std::thread::hardware_concurrency());
  jobs = static_cast<unsigned>(std::min<std::size_t>(jobs, commands.size()));
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    for (;;) {
      const std::size_t i = next.fetch_add(1);
      if (i >= commands.size() || failed) return;
      commands[i].capture = true;
      results[i] = run_process(commands[i]);
      if (!results[i].ok()) failed = true;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace pldc
