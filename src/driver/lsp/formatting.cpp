#include <fmt/format.h>

#include "driver/lsp/requests.h"
#include "frontend/authored.h"

namespace pldc::lsp {

// The canonical text, as `pldc fmt -i` writes it, and refused where that refuses: where it would lose what a person wrote.
Json formatting(const Document& document, const Analysis& analysis, const PrintOptions& options) {
  if (!analysis.readable) throw RequestError(kRequestFailed, "the text has errors: nothing is formatted");
  std::string canonical = print(analysis.module, options);
  if (canonical.empty() || canonical.back() != '\n') canonical += '\n';
  const std::string& text = document.text();
  if (canonical == text || canonical == text + "\n") return Json::array();
  if (const auto loss = first_loss(*analysis.file, canonical)) {
    const Position place = document.lines().position(analysis.local(loss->span.begin));
    throw RequestError(kRequestFailed, fmt::format("the canonical text would lose {} in line {}: nothing is "
                                                   "formatted; `pldc fmt` prints it",
                                                   loss->what, place.line + 1));
  }
  // One edit between the lines that are equal at both ends.
  std::size_t begin = 0;
  std::size_t lines_end = 0;
  const std::size_t shorter = std::min(text.size(), canonical.size());
  while (begin < shorter && text[begin] == canonical[begin]) {
    if (text[begin++] == '\n') lines_end = begin;
  }
  begin = lines_end;
  std::size_t tail = 0;
  std::size_t line_tail = 0;
  while (tail < shorter - begin && text[text.size() - 1 - tail] == canonical[canonical.size() - 1 - tail]) {
    if (text[text.size() - 1 - tail] == '\n') line_tail = tail;
    ++tail;
  }
  tail = line_tail;
  return Json::array({{{"range", document.range(begin, text.size() - tail)},
                       {"newText", canonical.substr(begin, canonical.size() - tail - begin)}}});
}

}  // namespace pldc::lsp
