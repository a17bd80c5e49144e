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

// What a help or a note says to put in; empty: nothing. `where` is what follows the quotes.
std::string_view added(std::string_view message, std::string_view where) {
  constexpr std::string_view kAdd = "add '";
  if (!message.starts_with(kAdd) || !message.ends_with(where)) return {};
  const std::string_view text = message.substr(kAdd.size(), message.size() - kAdd.size() - where.size());
  return text.find('\'') == std::string_view::npos ? text : std::string_view{};
}

// A line above that of the place, with its indentation.
Fix line_above(const SourceFile& file, Span place, std::string_view line) {
  const std::string_view before = file.text().substr(0, place.begin - file.base());
  const std::size_t end = before.rfind('\n');
  const std::string_view indent = end == std::string_view::npos ? before : before.substr(end + 1);
  return {{place.begin, place.begin}, fmt::format("{}\n{}", line, indent), fmt::format("Add '{}'", line)};
}

}  // namespace

std::vector<Fix> fixes_of(const Diagnostic& diagnostic, const SourceManager& sources) {
  std::vector<Fix> out;
  const Span place = diagnostic.span;
  const SourceFile* file = place.valid() ? sources.file_of(place.begin) : nullptr;
  if (file == nullptr || place.end < place.begin) return out;
  const std::string_view text = file->text().substr(place.begin - file->base(), place.end - place.begin);
  const auto put_in = [&](Span where, std::string_view message) {
    const std::string_view word = added(message, "' here");
    if (!word.empty())
      out.push_back({{where.begin, where.begin}, std::string(word), fmt::format("Add '{}'", word)});
  };
  for (const RelatedPlace& note : diagnostic.notes) {
    if (note.span.valid() && sources.file_of(note.span.begin) == file) put_in(note.span, note.message);
  }
  for (const std::string& help : diagnostic.help) {
    put_in(place, help);
    if (const std::string_view line = added(help, "' above"); !line.empty())
      out.push_back(line_above(*file, place, line));
    const std::string_view word = suggestion_in(help);
    const Span span = word.empty() ? Span{} : replaced_by(text, place.begin, word);
    if (!span.valid()) continue;
    const std::string_view old = text.substr(span.begin - place.begin, span.end - span.begin);
    out.push_back({span, std::string(word), fmt::format("Replace '{}' by '{}'", old, word)});
  }
  return out;
}

}  // namespace pldc
