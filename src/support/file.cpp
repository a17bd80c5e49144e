#include "support/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace pldc {
namespace {

std::string reason(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

bool read_all(int fd, std::string& text) {
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) return true;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

// The descriptor of this process that the path stands for, as /dev/stdout, /dev/fd/3 and links to them do; else -1.
// Its file may have lost its name, or be open for appending: only what is open already is what the caller means.
int own_descriptor(std::string path) {
  char own[PATH_MAX];
  if (realpath("/proc/self/fd", own) == nullptr) return -1;
  for (int links = 0; links < 40; ++links) {
    const std::string name = path_last(path);
    char parent[PATH_MAX];
    if (name.empty() || realpath(path_parent(path).c_str(), parent) == nullptr) return -1;
    if (std::strcmp(parent, own) == 0) {
      const bool number = name.size() <= 6 && name.find_first_not_of("0123456789") == std::string::npos;
      return number ? std::stoi(name) : -1;
    }
    char to[PATH_MAX];
    const ssize_t size = readlink(path.c_str(), to, sizeof to);
    if (size <= 0 || size == sizeof to) return -1;
    path = path_join(parent, std::string_view(to, static_cast<std::size_t>(size)));
  }
  return -1;
}

mode_t current_umask() {
  const mode_t mask = umask(022);
  umask(mask);
  return mask;
}

}  // namespace

bool read_file(const std::string& path, std::string& text, std::string& error) {
  text.clear();
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    error = reason("cannot be read");
    return false;
  }
  const bool ok = read_all(fd, text);
  if (!ok) error = reason("cannot be read");
  close(fd);
  return ok;
}

WriteResult write_if_changed(const std::string& path, std::string_view text, std::string& error) {
  struct stat info {};
  std::string target = path;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    error = "is a directory";
    return WriteResult::Failed;
  }
  if (const int open_already = own_descriptor(path); open_already >= 0) {
    if (write_all(open_already, text)) return WriteResult::Written;
    error = reason("cannot be written");
    return WriteResult::Failed;
  }
  if (exists && !S_ISREG(info.st_mode)) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const bool ok = fd >= 0 && write_all(fd, text);
    if (!ok) error = reason("cannot be written");
    if (fd >= 0) close(fd);
    return ok ? WriteResult::Written : WriteResult::Failed;
  }
  if (exists) {
    std::string old;
    std::string ignored;
    if (static_cast<std::size_t>(info.st_size) == text.size() && read_file(path, old, ignored) &&
        old == text) {
      return WriteResult::Unchanged;
    }
    // A symbolic link stays one: the file that it names is replaced.
    char resolved[PATH_MAX];
    if (realpath(path.c_str(), resolved) == nullptr) {  // as a descriptor of another process may be
      error = reason("cannot be written");
      return WriteResult::Failed;
    }
    target = resolved;
  } else if (!make_dirs(path_parent(path), error)) {
    error = "cannot be written: " + error;
    return WriteResult::Failed;
  }
  std::string temporary = target + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) {
    error = reason("cannot be written");
    return WriteResult::Failed;
  }
  // mkostemp makes private files; the mode has to be that of the old file or of a new one.
  const mode_t mode = exists ? (info.st_mode & 07777) : (0666 & ~current_umask());
  bool ok = write_all(fd, text) && fchmod(fd, mode) == 0;
  if (!ok) error = reason("cannot be written");
  if (close(fd) != 0 && ok) {
    error = reason("cannot be written");
    ok = false;
  }
  if (ok && rename(temporary.c_str(), target.c_str()) != 0) {
    error = reason("cannot be written");
    ok = false;
  }
  if (!ok) unlink(temporary.c_str());
  return ok ? WriteResult::Written : WriteResult::Failed;
}

bool make_dirs(const std::string& path, std::string& error) {
  if (path.empty() || is_directory(path)) return true;
  const std::string parent = path_parent(path);
  if (parent != path && !make_dirs(parent, error)) return false;
  // Another process may make the same folder at the same time.
  if (mkdir(path.c_str(), 0777) != 0 && !(errno == EEXIST && is_directory(path))) {
    error = "the folder '" + path + "' " + reason("cannot be made");
    return false;
  }
  return true;
}

bool file_exists(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0;
}

bool is_directory(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string path_stem(std::string_view path) {
  if (path == "-" || path == "<stdin>") return "stdin";
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  const std::size_t dot = path.rfind('.');
  if (dot != std::string_view::npos && dot != 0) path = path.substr(0, dot);
  return std::string(path);
}

std::string path_last(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string path_join(std::string_view dir, std::string_view name) {
  if (dir.empty() || dir == "." || (!name.empty() && name.front() == '/')) return std::string(name);
  std::string result(dir);
  if (result.back() != '/') result += '/';
  return result.append(name);
}

std::string path_parent(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  if (slash == 0) return "/";
  return std::string(path.substr(0, slash));
}

}  // namespace pldc
