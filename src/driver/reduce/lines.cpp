#include "driver/reduce/lines.h"

#include <algorithm>

namespace pldc::reduce {

namespace {

constexpr std::size_t kTab = 8;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Walks over text, keeping apart what is inside strings and comments.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  bool done() const { return at_ >= text_.size(); }

  // The next character that is code, or 0 after having skipped a string or comment.
  char next() {
    const char c = text_[at_];
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      return 0;
    }
    if (c == '"' || c == '\'') {
      skip_string(c);
      return 0;
    }
    ++at_;
    return c;
  }

 private:
  void skip_string(char quote) {
    const std::string three(3, quote);
    if (text_.substr(at_, 3) == three) {
      const auto end = text_.find(three, at_ + 3);
      at_ = end == std::string_view::npos ? text_.size() : end + 3;
      return;
    }
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote) {
        ++at_;
        return;
      }
    }
    at_ = std::min(at_, text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Lines split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    Line line;
    std::size_t begin = 0;
    for (; begin < text.size() && (text[begin] == ' ' || text[begin] == '\t'); ++begin)
      line.indent += text[begin] == '\t' ? kTab - line.indent % kTab : 1;
    Scanner scanner(text.substr(begin));
    std::size_t depth = 0;
    bool ended = false;
    while (!scanner.done() && !ended) {
      const char c = scanner.next();
      if (c == '(' || c == '[' || c == '{') ++depth;
      if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
      ended = c == '\n' && depth == 0;
    }
    const std::size_t end = begin + scanner.at();
    line.text = std::string(text.substr(begin, end - begin));
    while (!line.text.empty() && is_blank(line.text.back())) line.text.pop_back();
    text.remove_prefix(end);
    if (!line.text.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

std::string join(const Lines& lines) {
  std::string out;
  for (const Line& line : lines) {
    out.append(line.indent, ' ');
    out += line.text;
    out += '\n';
  }
  return out;
}

std::size_t end_of(const Lines& lines, std::size_t at) {
  std::size_t end = at + 1;
  while (end < lines.size() && lines[end].indent > lines[at].indent) ++end;
  return end;
}

std::vector<std::size_t> depths(const Lines& lines) {
  std::vector<std::size_t> out;
  std::vector<std::size_t> above;  // indentation of the open lines
  for (const Line& line : lines) {
    while (!above.empty() && above.back() >= line.indent) above.pop_back();
    out.push_back(above.size());
    above.push_back(line.indent);
  }
  return out;
}

std::vector<Group> groups_of(std::string_view text) {
  std::vector<Group> groups;
  std::vector<std::size_t> open;  // indices into groups
  Scanner scanner(text);
  while (!scanner.done()) {
    const std::size_t at = scanner.at();
    const char c = scanner.next();
    if (c == '(' || c == '[' || c == '{') {
      std::size_t head = at;
      while (head > 0 && is_word(text[head - 1])) --head;
      open.push_back(groups.size());
      groups.push_back({at, std::string_view::npos, head, {at + 1}});
    } else if (!open.empty() && c == ',') {
      groups[open.back()].items.push_back(at + 1);
    } else if (!open.empty() && (c == ')' || c == ']' || c == '}')) {
      groups[open.back()].close = at;
      open.pop_back();
    }
  }
  std::erase_if(groups, [](const Group& g) { return g.close == std::string_view::npos; });
  for (Group& group : groups) {
    // Nothing between the brackets, or behind the last comma, is no item.
    if (item_text(text, group, group.items.size() - 1).empty()) group.items.pop_back();
  }
  return groups;
}

std::string without_item(const std::string& text, const Group& group, std::size_t item) {
  std::size_t begin = group.items[item];
  std::size_t end = item + 1 < group.items.size() ? group.items[item + 1] : group.close;
  if (item + 1 == group.items.size() && item > 0) {
    begin -= 1;  // the comma before it
  } else {
    // From its first character to that of the next, so that the blank before it stays.
    while (begin < end && is_blank(text[begin])) ++begin;
    while (end < group.close && is_blank(text[end])) ++end;
  }
  return text.substr(0, begin) + text.substr(end);
}

std::string_view item_text(std::string_view text, const Group& group, std::size_t item) {
  const std::size_t begin = group.items[item];
  const std::size_t end = item + 1 < group.items.size() ? group.items[item + 1] - 1 : group.close;
  std::string_view out = text.substr(begin, end - begin);
  while (!out.empty() && is_blank(out.front())) out.remove_prefix(1);
  while (!out.empty() && (is_blank(out.back()) || out.back() == ',')) out.remove_suffix(1);
  return out;
}

}  // namespace pldc::reduce
