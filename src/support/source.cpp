#include "support/source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pldc {

SourceFile::SourceFile(std::string name, std::string text, std::uint32_t base)
    : name_(std::move(name)), storage_(std::move(text)), text_(storage_), base_(base) {}

SourceFile::~SourceFile() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_size_);
}

const std::vector<std::uint32_t>& SourceFile::lines() const {
  if (lines_.empty()) {
    lines_.push_back(0);
    const char* at = text_.data();
    const char* end = at + text_.size();
    while (at != end) {
      const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
      if (found == nullptr) break;
      at = static_cast<const char*>(found) + 1;
      lines_.push_back(static_cast<std::uint32_t>(at - text_.data()));
    }
  }
  return lines_;
}

LineColumn SourceFile::locate(std::uint32_t offset) const {
  const std::uint32_t local = std::min(offset - base_, static_cast<std::uint32_t>(text_.size()));
  const auto& starts = lines();
  const auto after = std::upper_bound(starts.begin(), starts.end(), local);
  const auto line = static_cast<std::uint32_t>(after - starts.begin());
  return {line, local - starts[line - 1] + 1};
}

std::uint32_t SourceFile::line_begin(std::uint32_t line) const { return base_ + lines()[line - 1]; }

std::string_view SourceFile::line_text(std::uint32_t line) const {
  const auto& starts = lines();
  const std::size_t begin = starts[line - 1];
  std::size_t end = line < starts.size() ? starts[line] : text_.size();
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return text_.substr(begin, end - begin);
}

const SourceFile* SourceManager::add(std::string name, std::string text) {
  const std::uint64_t size = text.size();
  if (next_base_ + size + 1 > kMaxBytes) return nullptr;
  files_.push_back(std::make_unique<SourceFile>(std::move(name), std::move(text), next_base_));
  // One offset beyond the end belongs to the file too: errors at the end of input point there.
  next_base_ += static_cast<std::uint32_t>(size) + 1;
  return files_.back().get();
}

const SourceFile* SourceManager::load(const std::string& path, std::string& error) {
  const bool from_stdin = path == "-";
  const int fd = from_stdin ? 0 : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    error = std::string("cannot be read: ") + std::strerror(errno);
    return nullptr;
  }
  struct stat info {};
  const SourceFile* result = nullptr;
  if (fstat(fd, &info) != 0) {
    error = std::string("cannot be read: ") + std::strerror(errno);
  } else if (S_ISDIR(info.st_mode)) {
    error = "is a directory, not a file";
  } else if (S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) + next_base_ + 1 > kMaxBytes) {
    error = "is too large: pldc reads at most 4 GB in one run";
  } else if (S_ISREG(info.st_mode) && info.st_size > 0 && !from_stdin) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) {
      error = std::string("cannot be mapped: ") + std::strerror(errno);
    } else {
      auto file = std::make_unique<SourceFile>(path, std::string(), next_base_);
      file->mapped_ = mapped;
      file->mapped_size_ = size;
      file->text_ = std::string_view(static_cast<const char*>(mapped), size);
      next_base_ += static_cast<std::uint32_t>(size) + 1;
      files_.push_back(std::move(file));
      result = files_.back().get();
    }
  } else {
    std::string text;
    char buffer[1 << 16];
    for (;;) {
      const ssize_t got = read(fd, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        error = std::string("cannot be read: ") + std::strerror(errno);
        break;
      }
      if (got == 0) {
        result = add(from_stdin ? "<stdin>" : path, std::move(text));
        if (result == nullptr) error = "is too large: pldc reads at most 4 GB in one run";
        break;
      }
      text.append(buffer, static_cast<std::size_t>(got));
      if (text.size() + next_base_ + 1 > kMaxBytes) {
        error = "is too large: pldc reads at most 4 GB in one run";
        break;
      }
    }
  }
  if (!from_stdin) close(fd);
  return result;
}

const SourceFile* SourceManager::file_of(std::uint32_t offset) const {
  const auto after = std::upper_bound(files_.begin(), files_.end(), offset,
                                      [](std::uint32_t at, const auto& file) { return at < file->base(); });
  if (after == files_.begin()) return nullptr;
  return std::prev(after)->get();
}

std::string SourceManager::describe(Span span) const {
  if (!span.valid()) return {};
  const SourceFile* file = file_of(span.begin);
  if (file == nullptr) return {};
  const LineColumn at = file->locate(span.begin);
  return file->name() + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

}  // namespace pldc
