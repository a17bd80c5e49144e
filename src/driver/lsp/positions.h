// Places in a text as the protocol counts them: lines from 0, and UTF-16 units within a line.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace pldc::lsp {

struct Position {
  std::size_t line = 0;
  std::size_t character = 0;
};

class LineIndex {
 public:
  LineIndex() = default;
  // `text` must live as long as this is used. Lines end with \n, \r\n or \r.
  explicit LineIndex(std::string_view text);

  // Byte offset of a place; a line or character that is too large is the last one there is.
  std::size_t offset(Position position) const;
  Position position(std::size_t offset) const;

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_{0};
  // Where the last answer was: places asked for in the order of the text cost one walk along each line.
  mutable std::size_t line_ = 0;
  mutable std::size_t byte_ = 0;
  mutable std::size_t units_ = 0;
};

}  // namespace pldc::lsp
