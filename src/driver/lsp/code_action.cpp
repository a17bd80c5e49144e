// codeAction: what a diagnostic's "did you mean" says, done.
#include <fmt/format.h>

#include "driver/lsp/requests.h"
#include "frontend/lexer.h"

namespace pldc::lsp {
namespace {

// The word between the quotes of "did you mean '...'?"; empty if the help is another one.
std::string_view suggestion_in(std::string_view help) {
  constexpr std::string_view kBegin = "did you mean '";
  constexpr std::string_view kEnd = "'?";
  if (help.substr(0, kBegin.size()) != kBegin) return {};
  help.remove_prefix(kBegin.size());
  const std::size_t end = help.find(kEnd);
  return end == std::string_view::npos ? std::string_view{} : help.substr(0, end);
}

// What the word is to replace: the path at the beginning of the diagnostic's place, its last part if the word has no
// dots, or what stands within quotes. Empty if the place begins with nothing of the kind.
Span replaced_by(const Analysis& analysis, Span place, std::string_view word) {
  const std::string_view text = analysis.text(place);
  if (text.empty()) return {};
  if (text.front() == '"' || text.front() == '\'') {
    const std::size_t end = text.find(text.front(), 1);
    if (end == std::string_view::npos) return {};
    return {place.begin + 1, place.begin + static_cast<std::uint32_t>(end)};
  }
  std::size_t end = 0;
  std::size_t part = 0;
  for (; end < text.size() && (Lexer::is_name_char(text[end]) || text[end] == '.'); ++end) {
    if (text[end] == '.') part = end + 1;
  }
  if (end == 0 || part == end) return {};
  const std::size_t begin = word.find('.') == std::string_view::npos ? part : 0;
  return {place.begin + static_cast<std::uint32_t>(begin), place.begin + static_cast<std::uint32_t>(end)};
}

bool wants_quick_fixes(const Json& context) {
  const auto only = context.find("only");
  if (only == context.end() || !only->is_array()) return true;
  for (const Json& kind : *only) {
    if (kind == "quickfix" || kind == "") return true;
  }
  return false;
}

}  // namespace

Json code_action(const Document& document, const Analysis& analysis, const Json& params) {
  const Json& range = object_at(params, "range");
  std::size_t begin = document.lines().offset(position_at(range, "start"));
  std::size_t end = document.lines().offset(position_at(range, "end"));
  if (begin > end) std::swap(begin, end);
  Json out = Json::array();
  if (!wants_quick_fixes(object_at(params, "context"))) return out;
  for (const Diagnostic& d : analysis.diagnostics) {
    if (!d.span.valid() || analysis.local(d.span.end) < begin || analysis.local(d.span.begin) > end) continue;
    for (const std::string& help : d.help) {
      std::string_view word = suggestion_in(help);
      if (!word.empty() && word.back() == '=') word.remove_suffix(1);  // of a keyword, whose '=' is there
      if (word.empty()) continue;
      const Span replaced = replaced_by(analysis, d.span, word);
      if (!replaced.valid()) continue;
      const Json edit{{"range", document.range(analysis, replaced)}, {"newText", word}};
      out.push_back({{"title", fmt::format("Replace '{}' by '{}'", analysis.text(replaced), word)},
                     {"kind", "quickfix"},
                     {"isPreferred", true},
                     {"diagnostics", Json::array({diagnostic(document, analysis, d)})},
                     {"edit", {{"changes", {{document.uri(), Json::array({edit})}}}}}});
    }
  }
  return out;
}

}  // namespace pldc::lsp
