#include "support/fix.h"

#include <algorithm>

namespace pldc {
namespace {

// The word that the help puts between quotes; empty if it does not name one for another.
std::string_view suggestion_in(std::string_view help) {
  for (const std::string_view begin : {"did you mean '", "add an underscore: '"}) {
    if (!help.starts_with(begin)) continue;
    help.remove_prefix(begin.size());
    std::string_view word = help.substr(0, help.find('\''));
    if (word.size() == help.size()) return {};
    if (!word.empty() && word.back() == '=') word.remove_suffix(1);  // of a keyword, whose '=' is there
    return word;
  }
  return {};
}

bool in_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
         byte == '_' || byte >= 0x80;
}

// What the word is to replace: the path at the beginning of the diagnostic's place, its last part if the word has no
// dots, or what stands within quotes. Invalid if the place begins with nothing of the kind.
Span replaced_by(std::string_view text, std::uint32_t at, std::string_view word) {
  if (text.empty()) return {};
  if (text.front() == '"' || text.front() == '\'') {
    const std::size_t end = text.find(text.front(), 1);
    if (end == std::string_view::npos || end == 1) return {};
    return {at + 1, at + static_cast<std::uint32_t>(end)};
  }
  std::size_t end = 0;
  std::size_t part = 0;
  for (; end < text.size() && (in_name(text[end]) || text[end] == '.'); ++end) {
    if (text[end] == '.') part = end + 1;
  }
  if (end == 0 || part == end) return {};
  const std::size_t begin = word.find('.') == std::string_view::npos ? part : 0;
  return {at + static_cast<std::uint32_t>(begin), at + static_cast<std::uint32_t>(end)};
}

}  // namespace

std::vector<Fix> fixes_of(const Diagnostic& diagnostic, const SourceManager& sources) {
  std::vector<Fix> out;
  const Span place = diagnostic.span;
  const SourceFile* file = place.valid() ? sources.file_of(place.begin) : nullptr;
  if (file == nullptr || place.end < place.begin) return out;
  const std::string_view text = file->text().substr(place.begin - file->base(), place.end - place.begin);
  for (const std::string& help : diagnostic.help) {
    const std::string_view word = suggestion_in(help);
    const Span span = word.empty() ? Span{} : replaced_by(text, place.begin, word);
    if (!span.valid()) continue;
    const std::string_view old = text.substr(span.begin - place.begin, span.end - span.begin);
    out.push_back({span, std::string(word), fmt::format("Replace '{}' by '{}'", old, word)});
  }
  return out;
}

}  // namespace pldc
