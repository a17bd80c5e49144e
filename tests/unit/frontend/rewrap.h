// Shapes printed text as a formatter of Python does: long lines are broken inside brackets, with trailing commas;
// strings get double quotes; functions are parted by blank lines. Small on purpose: it breaks lines at the same kinds
// of places as ruff and black, not at the very same places.
#pragma once

#include <cctype>
#include <string>
#include <vector>

namespace rewrap {

// A piece of a line: text, or a bracket with its elements.
struct Item {
  std::string text;  // of a bracket: the opening one
  std::string close;
  std::vector<std::vector<Item>> elements;
  bool trailing_comma = false;
  bool bracket() const { return !close.empty(); }
};
using Seq = std::vector<Item>;

inline std::string flat(const Seq& seq);

inline std::string flat_elements(const Item& item) {
  std::string out;
  for (std::size_t i = 0; i < item.elements.size(); ++i) out += (i != 0 ? ", " : "") + flat(item.elements[i]);
  return out + (item.trailing_comma && item.elements.size() == 1 ? "," : "");
}

inline std::string flat(const Seq& seq) {
  std::string out;
  for (const Item& item : seq)
    out += item.bracket() ? item.text + flat_elements(item) + item.close : item.text;
  return out;
}

class Line {
 public:
  explicit Line(const std::string& text) : text_(text) {}

  Seq parse(char close = '\0') {
    Seq seq;
    while (at_ < text_.size() && text_[at_] != close && (close == '\0' || text_[at_] != ',')) {
      const char c = text_[at_];
      if (c == '(' || c == '[' || c == '{') {
        seq.push_back(bracket());
      } else if (c == '"' || c == '\'') {
        add(seq, string());
      } else {
        add(seq, std::string(1, c));
        ++at_;
      }
    }
    return seq;
  }

 private:
  static void add(Seq& seq, const std::string& text) {
    if (seq.empty() || seq.back().bracket()) seq.push_back({});
    seq.back().text += text;
  }
  Item bracket() {
    Item item;
    item.text = text_[at_++];
    item.close = item.text == "(" ? ")" : item.text == "[" ? "]" : "}";
    while (at_ < text_.size() && text_[at_] != item.close[0]) {
      item.elements.push_back(parse(item.close[0]));
      if (at_ >= text_.size() || text_[at_] != ',') break;
      ++at_;
      while (at_ < text_.size() && text_[at_] == ' ') ++at_;
      item.trailing_comma = at_ < text_.size() && text_[at_] == item.close[0];
    }
    ++at_;
    return item;
  }
  std::string string() {
    const char quote = text_[at_];
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    std::string inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    const bool plain = inside.find('"') == std::string::npos && inside.find('\\') == std::string::npos;
    return quote == '\'' && plain ? '"' + inside + '"' : quote + inside + quote;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

class Wrapper {
 public:
  Wrapper(std::string& out, std::size_t width) : out_(out), width_(width) {}

  void statement(const std::string& line) {
    const std::size_t indent = line.find_first_not_of(' ');
    const std::string code = line.substr(indent);
    const Seq seq = Line(code).parse();
    const bool returns = code.compare(0, 7, "return ") == 0;
    if (indent + flat(seq).size() <= width_) {
      put(indent, flat(seq));
    } else if (returns && code.find(", ") != std::string::npos) {
      const std::string inside = "(" + code.substr(7) + ")";
      Seq values = Line(inside).parse();
      values[0].trailing_comma = true;
      put(indent, "return (");
      for (const Seq& value : values[0].elements) {
        out_ += '\n';
        emit(indent + 4, value, ",");
      }
      out_ += '\n';
      put(indent, ")");
    } else if (!wrapped_value(indent, code)) {
      emit(indent, seq, "", code.compare(0, 4, "def ") == 0);
    }
  }

 private:
  void put(std::size_t indent, const std::string& text) { out_ += std::string(indent, ' ') + text; }

  // `target = (` value `)` where the value fits on a line of its own.
  bool wrapped_value(std::size_t indent, const std::string& code) {
    int depth = 0;
    for (std::size_t i = 0; i + 3 < code.size(); ++i) {
      if (code[i] == '(' || code[i] == '[' || code[i] == '{') ++depth;
      if (code[i] == ')' || code[i] == ']' || code[i] == '}') --depth;
      if (depth != 0 || code.compare(i, 3, " = ") != 0) continue;
      const std::string target = flat(Line(code.substr(0, i)).parse());
      const std::string value = flat(Line(code.substr(i + 3)).parse());
      const bool brackets = value.find('(') != std::string::npos;
      const bool fits = indent + target.size() + 4 <= width_ && indent + 4 + value.size() <= width_;
      if (!fits && brackets) return false;
      put(indent, target + " = (\n");
      put(indent + 4, value + "\n");
      put(indent, ")");
      return true;
    }
    return false;
  }

  void emit(std::size_t indent, const Seq& seq, const std::string& suffix, bool first_bracket = false) {
    const std::string line = flat(seq) + suffix;
    std::size_t split = seq.size();
    for (std::size_t i = 0; i < seq.size(); ++i) {
      const bool can = seq[i].bracket() && !seq[i].elements.empty();
      if (can && (!first_bracket || split == seq.size())) split = i;
    }
    if (indent + line.size() <= width_ || split == seq.size()) {
      put(indent, line);
      return;
    }
    const Item& b = seq[split];
    const Seq head(seq.begin(), seq.begin() + static_cast<std::ptrdiff_t>(split));
    Seq tail{{b.close, "", {}, false}};
    tail.insert(tail.end(), seq.begin() + static_cast<std::ptrdiff_t>(split) + 1, seq.end());
    emit(indent, head, b.text);
    out_ += '\n';
    if (indent + 4 + flat_elements(b).size() <= width_) {
      put(indent + 4, flat_elements(b));
    } else {
      for (std::size_t i = 0; i < b.elements.size(); ++i) {
        if (i != 0) out_ += '\n';
        emit(indent + 4, b.elements[i], b.elements.size() > 1 || b.trailing_comma ? "," : "");
      }
    }
    out_ += '\n';
    emit(indent, tail, suffix);
  }

  std::string& out_;
  std::size_t width_;
};

// `a ** b` between names and numbers loses its spaces.
inline std::string tight_powers(std::string line) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = line.find(" ** "); at != std::string::npos; at = line.find(" ** ", at + 1)) {
    if (at > 0 && word(line[at - 1]) && at + 4 < line.size() && word(line[at + 4])) line.replace(at, 4, "**");
  }
  return line;
}

inline std::string text(const std::string& printed, std::size_t width) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= printed.size();) {
    const std::size_t end = std::min(printed.find('\n', begin), printed.size());
    lines.push_back(printed.substr(begin, end - begin));
    begin = end + 1;
  }
  std::string out;
  Wrapper wrapper(out, width);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string line = lines[i];
    while (!line.empty() && line.back() == ' ') line.pop_back();
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos) {
      out += '\n';
      continue;
    }
    const bool first_function = i > 0 && lines[i - 1].compare(0, 6, "class ") == 0;
    if (line[0] == '@') out += '\n';
    if (line.compare(0, 6, "    @p") == 0 && !first_function) out += '\n';
    if (line[indent] == '#') {
      out += line;
    } else if (line.compare(indent, 4, "def ") == 0 && i + 1 < lines.size() &&
               lines[i + 1].find_first_not_of(' ') != std::string::npos &&
               lines[i + 1].substr(lines[i + 1].find_first_not_of(' ')) == "...") {
      wrapper.statement(line);
      out += " ...";
      ++i;
    } else {
      wrapper.statement(tight_powers(line));
    }
    out += '\n';
  }
  return out;
}

}  // namespace rewrap
