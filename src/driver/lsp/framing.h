// Messages out of a stream of bytes: headers that end with an empty line, then as many bytes as Content-Length says.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pldc::lsp {

struct Frame {
  bool good = false;
  std::string body;  // of a message, or what is wrong with the headers
};

class Framing {
 public:
  // Longer messages are refused and their bytes dropped as they come.
  static constexpr std::size_t kLongest = std::size_t{256} << 20;

  void append(std::string_view bytes);
  // The next whole message, or a report on headers that cannot be understood; after such the stream is searched for the
  // next "Content-Length:". Nothing if more bytes are needed.
  std::optional<Frame> next();

 private:
  bool find_headers();

  std::string buffer_;
  std::size_t at_ = 0;        // what is before it was taken
  std::size_t searched_ = 0;  // no end of headers begins before it
  std::size_t drop_ = 0;      // bytes of a refused body that are still to come
  bool lost_ = false;         // searching for the next headers
};

// A message with its headers.
std::string framed(std::string_view body);

}  // namespace pldc::lsp
