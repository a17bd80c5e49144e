#include "driver/lsp/positions.h"

#include <algorithm>

#include "support/source.h"

namespace pldc::lsp {
namespace {

// Bytes and UTF-16 units of the character that begins with this byte. Text that is no UTF-8 counts a unit a byte.
struct Width {
  std::size_t bytes;
  std::size_t units;
};
Width width_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (at + bytes > text.size()) return {1, 1};
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues_character(text[at + i])) return {1, 1};
  }
  return {bytes, bytes == 4 ? std::size_t{2} : std::size_t{1}};
}

}  // namespace

// Looks for one character at a time: that is what the library is fast at.
LineIndex::LineIndex(std::string_view text) : text_(text) {
  std::size_t feed = text.find('\n');
  std::size_t lone = text.find('\r');
  while (feed != std::string_view::npos || lone != std::string_view::npos) {
    if (feed == lone + 1) lone = feed;  // \r\n is one end
    const std::size_t end = std::min(feed, lone);
    starts_.push_back(end + 1);
    if (lone == end) lone = text.find('\r', end + 1);
    if (feed == end) feed = text.find('\n', end + 1);
  }
}

std::size_t LineIndex::offset(Position position) const {
  if (position.line >= starts_.size()) return text_.size();
  std::size_t at = starts_[position.line];
  for (std::size_t units = 0; at < text_.size() && text_[at] != '\n' && text_[at] != '\r';) {
    const Width width = width_at(text_, at);
    if (units + width.units > position.character) break;
    units += width.units;
    at += width.bytes;
  }
  return at;
}

Position LineIndex::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto line = static_cast<std::size_t>(next - starts_.begin()) - 1;
  if (line != line_ || offset < byte_) {
    line_ = line;
    byte_ = starts_[line];
    units_ = 0;
  }
  while (byte_ < offset) {
    const Width width = width_at(text_, byte_);
    if (byte_ + width.bytes > offset) break;  // within a character: its beginning
    byte_ += width.bytes;
    units_ += width.units;
  }
  return {line, units_};
}

}  // namespace pldc::lsp
