#include "driver/crash.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "support/hash.h"
#include "support/version.h"

namespace pldc {
namespace {

// The header, a line for each: all are comments to who reads the file as a program.
constexpr std::string_view kFirstLine = "# pldc crash file 1";
constexpr std::string_view kVersionKey = "# version: ";
constexpr std::string_view kArgumentsKey = "# arguments: ";
constexpr std::string_view kVerifyKey = "# verify: ";
constexpr std::string_view kInputKey = "# input: ";
constexpr std::string_view kWhatKey = "# what: ";

// What the signal handler needs, made beforehand: it may not allocate.
struct Prepared {
  const char* path;
  const char* other_path;  // if that cannot be written
  const char* header;
  std::size_t header_size;
  const char* text;
  std::size_t text_size;
};
volatile sig_atomic_t armed = 0;
Prepared prepared;

void put(int fd, const char* text, std::size_t size) {
  while (size > 0) {
    const ssize_t put = ::write(fd, text, size);
    if (put <= 0) return;
    text += put;
    size -= static_cast<std::size_t>(put);
  }
}

void put(int fd, const char* text) { put(fd, text, std::strlen(text)); }

// The path of what was written, null: nothing could be.
const char* write_crash_file(const Prepared& p, const char* what, std::size_t what_size) {
  const char* path = p.path;
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) {
    path = p.other_path;
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (fd < 0) return nullptr;
  put(fd, p.header, p.header_size);
  put(fd, kWhatKey.data(), kWhatKey.size());
  put(fd, what, what_size);
  put(fd, "\n");
  put(fd, p.text, p.text_size);
  close(fd);
  return path;
}

constexpr char kPleaseReport[] = "; please report it with the crash file ";
constexpr char kNotWritten[] =
    "; please report it with the program and these options (no crash file could be written)";

const char* name_of_signal(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "signal SIGSEGV";
    case SIGBUS:
      return "signal SIGBUS";
    case SIGFPE:
      return "signal SIGFPE";
    case SIGILL:
      return "signal SIGILL";
    case SIGABRT:
      return "signal SIGABRT";
    default:
      return "a signal";
  }
}

[[maybe_unused]] void on_signal(int signal) {  // sanitizers have handlers of their own
  const char* what = name_of_signal(signal);
  put(2, "pldc: internal error: ");
  put(2, what);
  if (armed != 0) {
    const char* path = write_crash_file(prepared, what, std::strlen(what));
    put(2, path != nullptr ? kPleaseReport : kNotWritten);
    if (path != nullptr) put(2, path);
  }
  put(2, "\n");
  _exit(3);
}

std::string one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return out;
}

}  // namespace

CrashScope::CrashScope(std::string directory, const std::vector<std::string>& args, std::string_view verify,
                       std::string_view input_name, std::string_view input_text)
    : text_(input_text) {
  const nlohmann::json list = args;
  header_ = fmt::format("{}\n{}{}\n{}{}\n", kFirstLine, kVersionKey, kVersion, kArgumentsKey,
                        list.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  if (!verify.empty()) header_ += fmt::format("{}{}\n", kVerifyKey, one_line(verify));
  header_ += fmt::format("{}{}\n", kInputKey, one_line(input_name));
  const std::uint64_t hash = hash_combine(hash_bytes(header_), hash_bytes(input_text));
  const auto file_in = [&](const std::string& folder) {
    return fmt::format("{}/pldc-crash-{:016x}.pld", folder, hash);
  };
  path_ = file_in(directory);
  if (path_.rfind("./", 0) == 0) path_.erase(0, 2);
  const char* temporary = std::getenv("TMPDIR");
  other_path_ = file_in(temporary != nullptr && temporary[0] != 0 ? temporary : "/tmp");
  prepared = {path_.c_str(), other_path_.c_str(), header_.data(), header_.size(), text_.data(), text_.size()};
  armed = 1;
}

CrashScope::~CrashScope() { armed = 0; }

std::string CrashScope::write(std::string_view what) const {
  const std::string line = one_line(what);
  const char* path = write_crash_file(prepared, line.data(), line.size());
  return fmt::format("pldc: internal error: {}{}{}\n", line, path != nullptr ? kPleaseReport : kNotWritten,
                     path != nullptr ? path : "");
}

bool read_crash_file(std::string_view text, CrashRecord& record, std::string& error) {
  const auto line = [&] {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view out = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return out;
  };
  if (line() != kFirstLine) {
    error = fmt::format("it does not begin with '{}'", kFirstLine);
    return false;
  }
  std::string arguments;
  const auto value = [&](std::string_view key, std::string& to, bool optional) {
    if (!text.starts_with(key)) {
      if (!optional) error = fmt::format("it has no line '{}...' where one is expected", key);
      return optional;
    }
    to = std::string(line().substr(key.size()));
    return true;
  };
  if (!value(kVersionKey, record.version, false) || !value(kArgumentsKey, arguments, false) ||
      !value(kVerifyKey, record.verify, true) || !value(kInputKey, record.input, false) ||
      !value(kWhatKey, record.what, false))
    return false;
  const nlohmann::json list = nlohmann::json::parse(arguments, nullptr, false);
  bool words = list.is_array() && !list.empty();
  for (std::size_t i = 0; words && i < list.size(); ++i) words = list[i].is_string();
  if (!words) {
    error = "its arguments are no list of words";
    return false;
  }
  record.args = list.get<std::vector<std::string>>();
  record.text = std::string(text);
  return true;
}

void install_crash_handlers() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(PLDC_SANITIZED)
  static char stack[1 << 16];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
#endif
}

}  // namespace pldc
