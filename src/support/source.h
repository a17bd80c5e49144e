// Source files and positions. All files loaded in one run share one 32-bit offset space, so a Span is two numbers
// and needs no file name; lines and columns are computed only when a diagnostic is shown.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pldc {

// Whether the byte is one of a character's second to last in UTF-8.
constexpr bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Half-open byte range in the offset space of a SourceManager. {0, 0} means "no place" (offset 0 is never handed
// out to a file).
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool valid() const { return end != 0; }
  friend bool operator==(Span, Span) = default;
};

struct LineColumn {
  std::uint32_t line = 0;    // from 1
  std::uint32_t column = 0;  // from 1, in bytes
};

class SourceFile {
 public:
  SourceFile(std::string name, std::string text, std::uint32_t base);
  ~SourceFile();
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;

  // As the user spelled the path; "-" is shown as "<stdin>".
  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }
  std::uint32_t base() const { return base_; }
  std::uint32_t end() const { return base_ + static_cast<std::uint32_t>(text_.size()); }

  // `offset` is global. Builds the line index on the first call.
  LineColumn locate(std::uint32_t offset) const;
  // The line's text without its line end.
  std::string_view line_text(std::uint32_t line) const;
  std::uint32_t line_begin(std::uint32_t line) const;  // global offset

 private:
  friend class SourceManager;
  const std::vector<std::uint32_t>& lines() const;

  std::string name_;
  std::string storage_;
  std::string_view text_;
  void* mapped_ = nullptr;
  std::size_t mapped_size_ = 0;
  std::uint32_t base_;
  mutable std::vector<std::uint32_t> lines_;  // local offsets of line starts; empty until asked for
};

class SourceManager {
 public:
  // Largest sum of all files: offsets are 32 bits wide.
  static constexpr std::uint64_t kMaxBytes = 0xfff00000ULL;

  // Maps or reads `path` ("-" is standard input). On failure returns null and sets `error` to a sentence fragment
  // such as "cannot be read: No such file or directory".
  const SourceFile* load(const std::string& path, std::string& error);
  const SourceFile* add(std::string name, std::string text);

  const SourceFile* file_of(std::uint32_t offset) const;
  // "name:line:col"; empty for an invalid span.
  std::string describe(Span span) const;

 private:
  std::uint32_t next_base_ = 1;
  std::vector<std::unique_ptr<SourceFile>> files_;
};

}  // namespace pldc
