#include "driver/lsp/framing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace pldc::lsp {
namespace {

constexpr std::string_view kLength = "content-length:";
constexpr std::size_t kLongestHeaders = 8192;

bool begins_with_word(std::string_view text, std::string_view small_letters) {
  if (text.size() < small_letters.size()) return false;
  return std::equal(small_letters.begin(), small_letters.end(), text.begin(), [](char a, char b) {
    return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
  });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// The value of Content-Length, or what is wrong.
std::optional<std::size_t> length_in(std::string_view headers, std::string& wrong) {
  std::optional<std::size_t> length;
  while (!headers.empty()) {
    const std::size_t end = std::min(headers.find('\n'), headers.size());
    const std::string_view line = trimmed(headers.substr(0, end));
    headers.remove_prefix(std::min(end + 1, headers.size()));
    if (line.empty()) continue;
    if (line.find(':') == std::string_view::npos) {
      wrong = "a header line has no ':'";
      return std::nullopt;
    }
    if (!begins_with_word(line, kLength)) continue;
    const std::string_view digits = trimmed(line.substr(kLength.size()));
    std::size_t value = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9' || digits.size() > 15) {
        wrong = "Content-Length is no number of bytes";
        return std::nullopt;
      }
      value = value * 10 + static_cast<std::size_t>(c - '0');
    }
    if (digits.empty()) {
      wrong = "Content-Length is empty";
      return std::nullopt;
    }
    length = value;
  }
  if (!length) wrong = "the headers have no Content-Length";
  return length;
}

}  // namespace

void Framing::append(std::string_view bytes) {
  const std::size_t dropped = std::min(drop_, bytes.size());
  drop_ -= dropped;
  bytes.remove_prefix(dropped);
  // Taken messages are cut off when they are most of the buffer, so that a byte is moved once or twice at most.
  if (at_ > buffer_.size() / 2) {
    buffer_.erase(0, at_);
    searched_ -= std::min(searched_, at_);
    at_ = 0;
  }
  buffer_ += bytes;
}

// After headers that made no sense: goes to what looks like the next ones. False if there is nothing.
bool Framing::find_headers() {
  for (; at_ + kLength.size() <= buffer_.size(); ++at_) {
    if (begins_with_word(std::string_view(buffer_).substr(at_, kLength.size()), kLength)) {
      lost_ = false;
      searched_ = at_;
      return true;
    }
  }
  return false;
}

std::optional<Frame> Framing::next() {
  if (lost_ && !find_headers()) return std::nullopt;
  const std::string_view all = buffer_;
  std::size_t end = std::string_view::npos;  // of the headers
  std::size_t body = 0;
  for (std::size_t i = std::max(at_, searched_); (i = all.find('\n', i)) != std::string_view::npos; ++i) {
    const std::size_t after = i + 1 < all.size() && all[i + 1] == '\r' ? i + 2 : i + 1;
    if (after < all.size() && all[after] == '\n') {
      end = i;
      body = after + 1;
      break;
    }
  }
  if (end == std::string_view::npos) {
    if (all.size() - at_ > kLongestHeaders) {
      ++at_;
      lost_ = true;
      return Frame{false, fmt::format("headers of more than {} bytes", kLongestHeaders)};
    }
    searched_ = std::max(at_, all.size() < 3 ? 0 : all.size() - 3);
    return std::nullopt;
  }
  std::string wrong;
  const std::optional<std::size_t> length = length_in(all.substr(at_, end - at_), wrong);
  if (!length) {
    ++at_;  // what belongs to the next message may stand within these lines
    lost_ = true;
    return Frame{false, wrong};
  }
  if (*length > kLongest) {
    const std::size_t here = std::min(*length, all.size() - body);
    drop_ = *length - here;
    at_ = searched_ = body + here;
    return Frame{false, fmt::format("a message of {} bytes, more than {}", *length, kLongest)};
  }
  if (all.size() - body < *length) {
    searched_ = end;  // the headers are looked at again when more has come
    return std::nullopt;
  }
  Frame frame{true, std::string(all.substr(body, *length))};
  at_ = searched_ = body + *length;
  return frame;
}

std::string framed(std::string_view body) {
  return fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
}

}  // namespace pldc::lsp
