// The body of a host sub-worker is foreign Python text: it is kept, not read. Comments and blank lines at its
// ends go, as does the indentation that it has as a block.
#include "frontend/reader.h"
#include "support/diag/parse.h"

namespace pldc {

namespace {

// One line as the reference's front end reprints it: without a comment behind the code, and with strings in
// single quotes where that needs no escapes. A line that is only a comment becomes empty.
std::string normalize_python_line(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '#') break;
    if (c != '"' && c != '\'') {
      out += c;
      continue;
    }
    std::size_t end = i + 1;
    bool plain = true;
    while (end < line.size() && line[end] != c) {
      if (line[end] == '\\' || line[end] == '\'') plain = false;
      end += line[end] == '\\' ? 2 : 1;
    }
    if (end >= line.size()) return std::string(line);  // a string over several lines: kept as it is
    const char quote = c == '"' && plain ? '\'' : c;
    out += quote;
    out += line.substr(i + 1, end - i - 1);
    out += quote;
    i = end;
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == '\t')) out.pop_back();
  return out;
}

}  // namespace

bool Reader::read_python_body(std::vector<const Stmt*>& body) {
  Draft& draft = *draft_;
  const std::string_view block = lex_.take_block(draft.column);
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin <= block.size();) {
    std::size_t end = block.find('\n', begin);
    if (end == std::string_view::npos) end = block.size();
    std::string_view line = block.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    begin = end + 1;
  }
  const auto indent_of = [](std::string_view line) {
    const std::size_t first = line.find_first_not_of(' ');
    return first == std::string_view::npos ? line.size() : first;
  };
  const auto is_blank = [](std::string_view line) {
    return line.find_first_not_of(" \t") == std::string_view::npos;
  };
  std::size_t common = std::string_view::npos;
  for (const std::string_view line : lines) {
    if (!is_blank(line)) common = std::min(common, indent_of(line));
  }
  if (common == std::string_view::npos) {
    diags_.report<diag::empty_body>(draft.f.name_span, draft.f.name.text()).help("write 'pass' for nothing");
    return false;
  }
  std::string text;
  for (const std::string_view line : lines) {
    if (authoring_) {
      const std::string code =
          is_blank(line) ? std::string() : normalize_python_line(line.substr(std::min(common, line.size())));
      if (code.empty()) continue;
      if (!text.empty()) text += '\n';
      text += code;
      continue;
    }
    if (!text.empty()) text += '\n';
    if (!is_blank(line)) text += line.substr(std::min(common, line.size()));
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text == "pass") return true;
  if (text == "...") {
    draft.f.requires_runtime_binding = true;
    return true;
  }
  const auto begin = static_cast<std::uint32_t>(block.data() - file_.text().data());
  InlineStmt n{};
  n.kind = StmtKind::Inline;
  n.span = lex_.span(begin, begin + static_cast<std::uint32_t>(block.size()));
  n.text = ctx_.text(text);
  body.push_back(ctx_.make(n));
  return true;
}

}  // namespace pldc
