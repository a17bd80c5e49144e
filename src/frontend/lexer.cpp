#include "frontend/lexer.h"

#include <cstring>

#include "support/diag/lex.h"

namespace pldc {

constinit const std::array<Lexer::Char, 256> Lexer::kChars = [] {
  std::array<Char, 256> table{};
  for (std::size_t c = 0; c < 256; ++c) {
    Class& cls = table[c].cls;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') {
      cls = Class::NameStart;
    } else if (c >= '0' && c <= '9') {
      cls = Class::Digit;
    } else if (c == ' ' || c == '\t' || c == '\f') {
      cls = Class::Space;
    } else if (c == '\n' || c == '\r') {
      cls = Class::LineEnd;
    } else if (c == '"' || c == '\'') {
      cls = Class::Quote;
    } else if (c == '#') {
      cls = Class::Hash;
    } else if (c >= 0x80) {
      cls = Class::High;
    }
  }
  for (const char c : {'(', ')', '[', ']', '{', '}', ',', ':', '.', '=', '@', '-', '+',
                       '*', '/', '%', '<', '>', '&', '|', '^', '~', '!', ';', '\\'}) {
    table[static_cast<unsigned char>(c)].cls = Class::Punct;
  }
  const auto plain = [&](char c, Plain how, Tok token) {
    table[static_cast<unsigned char>(c)].plain = how;
    table[static_cast<unsigned char>(c)].token = token;
  };
  plain('(', Plain::Open, Tok::LParen);
  plain('[', Plain::Open, Tok::LBracket);
  plain('{', Plain::Open, Tok::LBrace);
  plain(')', Plain::Close, Tok::RParen);
  plain(']', Plain::Close, Tok::RBracket);
  plain('}', Plain::Close, Tok::RBrace);
  plain(',', Plain::Always, Tok::Comma);
  plain(':', Plain::UnlessAssign, Tok::Colon);
  plain('=', Plain::UnlessAssign, Tok::Assign);
  plain('.', Plain::BeforeName, Tok::Dot);
  return table;
}();

Lexer::Lexer(const SourceFile& file, DiagSink& diags, std::uint32_t max_brackets, std::uint32_t max_blocks)
    : text_(file.text()),
      base_(file.base()),
      diags_(diags),
      max_brackets_(max_brackets),
      max_blocks_(max_blocks) {
  if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = line_start_ = 3;  // UTF-8 byte order mark
}

// Where `c` brings a line's layout that stands at `column`: a tab goes to the next multiple of 8, as in Python.
static std::uint32_t next_column(std::uint32_t column, char c) {
  if (c == '\t') return (column / 8 + 1) * 8;
  return c == '\f' ? 0 : column + 1;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

std::uint32_t Lexer::column_of(std::uint32_t offset) const {
  std::uint32_t begin = offset;
  while (begin > 0 && text_[begin - 1] != '\n') --begin;
  if (begin == 0 && text_.substr(0, 3) == "\xef\xbb\xbf") begin = 3;
  std::uint32_t column = 0;
  for (; begin < offset; ++begin) column = next_column(column, text_[begin]);
  return column;
}

std::uint32_t Lexer::first_of_line(std::uint32_t& column) const {
  const auto size = static_cast<std::uint32_t>(text_.size());
  std::uint32_t first = at_;
  column = 0;
  for (; first < size && is_blank(text_[first]); ++first) column = next_column(column, text_[first]);
  return first;
}

void Lexer::rewind(const Mark& mark) {
  at_ = mark.at;
  depth_ = mark.depth;
  comments_.resize(mark.comments);
}

Token Lexer::next_other() {
  if (pending_dedents_ != 0) {
    --pending_dedents_;
    return {Tok::Dedent, at_, at_};
  }
  if (at_line_start_) {
    const Token token = layout();
    if (token.kind != Tok::Error) return token;  // Error: no layout token here
  }
  const char* data = text_.data();
  const auto size = static_cast<std::uint32_t>(text_.size());
  for (;;) {
    if (at_ >= size) {
      if (!at_line_start_) {
        at_line_start_ = true;
        return {Tok::Newline, at_, at_};
      }
      return layout();
    }
    const auto c = static_cast<unsigned char>(data[at_]);
    switch (kChars[c].cls) {
      case Class::Space:
        ++at_;
        continue;
      case Class::NameStart:
      case Class::Digit:
        return name_or_number(c);
      case Class::Quote:
        return string(at_);
      case Class::Hash:
        comment();
        continue;
      case Class::LineEnd: {
        const std::uint32_t begin = at_;
        at_ += c == '\r' && at_ + 1 < size && data[at_ + 1] == '\n' ? 2 : 1;
        line_start_ = at_;
        if (depth_ != 0) continue;
        at_line_start_ = true;
        return {Tok::Newline, begin, begin};
      }
      case Class::Punct:
        if (c == '\\' && at_ + 1 < size && (data[at_ + 1] == '\n' || data[at_ + 1] == '\r')) {
          at_ += data[at_ + 1] == '\r' && at_ + 2 < size && data[at_ + 2] == '\n' ? 3 : 2;
          continue;
        }
        return punctuation(c);
      case Class::High: {
        const std::uint32_t begin = at_;
        while (at_ < size && static_cast<unsigned char>(data[at_]) >= 0x80) ++at_;
        if (valid_utf8(begin, at_)) diags_.report<diag::non_ascii_name>(span(begin, at_));
        return error(begin, at_);
      }
      case Class::Bad: {
        const std::uint32_t begin = at_;
        while (at_ < size && data[at_] == data[begin]) ++at_;  // a run of them is one slip
        diags_.report<diag::bad_character>(span(begin, begin + 1), static_cast<unsigned>(c));
        return error(begin, at_);
      }
    }
  }
}

// At the start of a line: decides between INDENT, DEDENT and neither (kind Error). Blank lines and lines with
// only a comment have no layout.
Token Lexer::layout() {
  const char* data = text_.data();
  const auto size = static_cast<std::uint32_t>(text_.size());
  for (;;) {
    std::uint32_t column = 0;
    at_ = first_of_line(column);
    if (at_ >= size) {
      at_line_start_ = true;
      if (indents_.size() > 1) {
        indents_.pop_back();
        return {Tok::Dedent, size, size};
      }
      return {Tok::End, size, size};
    }
    if (data[at_] == '\n' || data[at_] == '\r') {
      ++at_;
      line_start_ = at_;
      continue;
    }
    if (data[at_] == '#') {
      comment();
      continue;
    }
    at_line_start_ = false;
    if (column == indents_.back()) return {Tok::Error, at_, at_};
    if (column > indents_.back()) {
      if (indents_.size() > max_blocks_ && !reported_depth_) {
        reported_depth_ = true;
        diags_.report<diag::too_deep>(span(at_, at_ + 1), "blocks", max_blocks_);
      }
      indents_.push_back(column);
      return {Tok::Indent, at_, at_};
    }
    std::uint32_t count = 0;
    while (indents_.size() > 1 && column < indents_.back()) {
      indents_.pop_back();
      ++count;
    }
    if (column != indents_.back()) {
      diags_.report<diag::bad_indent>(span(at_, at_ + 1), column, indents_.back())
          .help("indent the line like the statement that it belongs with; one level is 4 spaces");
      // The line belongs to the block inside, so that those after it still find the blocks around.
      indents_.push_back(column);
      --count;
    }
    if (count == 0) return {Tok::Error, at_, at_};
    pending_dedents_ = count - 1;
    return {Tok::Dedent, at_, at_};
  }
}

void Lexer::comment() {
  const std::uint32_t begin = at_;
  const void* found = std::memchr(text_.data() + at_, '\n', text_.size() - at_);
  std::uint32_t end = found != nullptr
                          ? static_cast<std::uint32_t>(static_cast<const char*>(found) - text_.data())
                          : static_cast<std::uint32_t>(text_.size());
  at_ = end;
  if (end > begin && text_[end - 1] == '\r') --end;
  for (std::uint32_t i = begin; i < end; ++i) {
    const auto c = static_cast<unsigned char>(text_[i]);
    if (c == 0) {
      diags_.report<diag::bad_character>(span(i, i + 1), 0U);
      break;
    }
    if (c >= 0x80) {
      valid_utf8(i, end);
      break;
    }
  }
  comments_.push_back({begin, end, column_of(begin)});
}

Token Lexer::name_or_number(unsigned char c) {
  if (kChars[c].cls == Class::Digit) return number();
  const char* data = text_.data();
  const auto size = static_cast<std::uint32_t>(text_.size());
  const std::uint32_t begin = at_++;
  while (at_ < size && is_name_char(data[at_])) ++at_;
  return {Tok::Name, begin, at_};
}

std::uint32_t Lexer::take_path() {
  const char* data = text_.data();
  const auto size = static_cast<std::uint32_t>(text_.size());
  while (at_ + 1 < size && data[at_] == '.' &&
         kChars[static_cast<unsigned char>(data[at_ + 1])].cls == Class::NameStart) {
    at_ += 2;
    while (at_ < size && is_name_char(data[at_])) ++at_;
  }
  return at_;
}

Token Lexer::number() {
  const char* data = text_.data();
  const auto size = static_cast<std::uint32_t>(text_.size());
  const std::uint32_t begin = at_;
  const auto digits = [&] {
    while (at_ < size &&
           (kChars[static_cast<unsigned char>(data[at_])].cls == Class::Digit || data[at_] == '_'))
      ++at_;
  };
  if (data[at_] == '0' && at_ + 1 < size && (data[at_ + 1] == 'x' || data[at_ + 1] == 'X')) {
    at_ += 2;
    while (at_ < size && is_name_char(data[at_])) ++at_;
    return {Tok::Int, begin, at_};
  }
  digits();
  Tok kind = Tok::Int;
  if (at_ < size && data[at_] == '.' && !(at_ + 1 < size && data[at_ + 1] == '.')) {
    kind = Tok::Float;
    ++at_;
    digits();
  }
  if (at_ < size && (data[at_] == 'e' || data[at_] == 'E')) {
    std::uint32_t after = at_ + 1;
    if (after < size && (data[after] == '+' || data[after] == '-')) ++after;
    if (after < size && kChars[static_cast<unsigned char>(data[after])].cls == Class::Digit) {
      kind = Tok::Float;
      at_ = after;
      digits();
    }
  }
  if (at_ < size && kChars[static_cast<unsigned char>(data[at_])].cls == Class::NameStart) {
    while (at_ < size && is_name_char(data[at_])) ++at_;
    diags_.report<diag::bad_number>(span(begin, at_),
                                    text_.substr(begin, std::min<std::uint32_t>(at_ - begin, 40)));
    return error(begin, at_);
  }
  return {kind, begin, at_};
}

Token Lexer::string(std::uint32_t quote_at) {
  const char* data = text_.data();
  const auto size = static_cast<std::uint32_t>(text_.size());
  const char quote = data[quote_at];
  const bool triple = quote_at + 2 < size && data[quote_at + 1] == quote && data[quote_at + 2] == quote;
  at_ = quote_at + (triple ? 3 : 1);
  bool checked = false;
  while (at_ < size) {
    const auto c = static_cast<unsigned char>(data[at_]);
    if (c == static_cast<unsigned char>(quote)) {
      if (!triple) {
        ++at_;
        return {Tok::String, quote_at, at_};
      }
      if (at_ + 2 < size && data[at_ + 1] == quote && data[at_ + 2] == quote) {
        at_ += 3;
        return {Tok::String, quote_at, at_};
      }
    }
    if (c == '\\' && at_ + 1 < size) ++at_;
    if (c == '\n') {
      // A raw newline may stand in a double-quoted string: attribute strings are printed so (format.md 1.5).
      // It is accepted only where the string does end; a string that is not closed on its line is the
      // likelier slip.
      if (!triple && (quote == '\'' || depth_ == 0)) break;
      line_start_ = at_ + 1;
    }
    if (c == 0) break;
    if (c >= 0x80 && !checked) {
      checked = true;
      std::uint32_t end = at_;
      while (end < size && data[end] != '\n' && data[end] != quote) ++end;
      if (!valid_utf8(at_, end)) {
        at_ = end;
        return error(quote_at, end);
      }
    }
    ++at_;
  }
  // Report the quote; continue at the end of its line so that the rest of the file is still read.
  std::uint32_t end = quote_at;
  while (end < size && data[end] != '\n' && data[end] != '\r') ++end;
  at_ = end;
  diags_
      .report<diag::unterminated_string>(span(quote_at, end),
                                         triple ? std::string(3, quote) : std::string(1, quote))
      .help("close the string before the end of the line");
  return error(quote_at, end);
}

Token Lexer::punctuation(unsigned char c) {
  const char* data = text_.data();
  const auto size = static_cast<std::uint32_t>(text_.size());
  const std::uint32_t begin = at_++;
  const char following = at_ < size ? data[at_] : '\0';
  const auto token = [&](Tok kind, std::uint32_t length) {
    at_ = begin + length;
    return Token{kind, begin, at_};
  };
  const auto open = [&](Tok kind) {
    if (++depth_ > max_brackets_ && !reported_depth_) {
      reported_depth_ = true;
      diags_.report<diag::too_deep>(span(begin, begin + 1), "brackets", max_brackets_);
    }
    return Token{kind, begin, at_};
  };
  const auto close = [&](Tok kind) {
    if (depth_ != 0) --depth_;
    return Token{kind, begin, at_};
  };
  const auto or_assign = [&](Tok kind) {
    return following == '=' ? token(Tok::AugAssign, 2) : token(kind, 1);
  };
  switch (c) {
    case '(':
      return open(Tok::LParen);
    case '[':
      return open(Tok::LBracket);
    case '{':
      return open(Tok::LBrace);
    case ')':
      return close(Tok::RParen);
    case ']':
      return close(Tok::RBracket);
    case '}':
      return close(Tok::RBrace);
    case ',':
      return token(Tok::Comma, 1);
    case ':':
      return following == '=' ? token(Tok::AugAssign, 2) : token(Tok::Colon, 1);
    case ';':
      return token(Tok::Semicolon, 1);
    case '@':
      return or_assign(Tok::At);
    case '~':
      return token(Tok::Tilde, 1);
    case '+':
      return or_assign(Tok::Plus);
    case '%':
      return or_assign(Tok::Percent);
    case '&':
      return or_assign(Tok::Amp);
    case '|':
      return or_assign(Tok::Pipe);
    case '^':
      return or_assign(Tok::Caret);
    case '-':
      return following == '>' ? token(Tok::Arrow, 2) : or_assign(Tok::Minus);
    case '*':
      return following == '*' ? token(Tok::DStar, 2) : or_assign(Tok::Star);
    case '/':
      return following == '/' ? token(Tok::DSlash, 2) : or_assign(Tok::Slash);
    case '=':
      return following == '=' ? token(Tok::EqEq, 2) : token(Tok::Assign, 1);
    case '<':
      return following == '<' ? token(Tok::Shl, 2) : following == '=' ? token(Tok::Le, 2) : token(Tok::Lt, 1);
    case '>':
      return following == '>' ? token(Tok::Shr, 2) : following == '=' ? token(Tok::Ge, 2) : token(Tok::Gt, 1);
    case '!':
      if (following == '=') return token(Tok::NotEq, 2);
      break;
    case '.':
      if (following == '.' && begin + 2 < size && data[begin + 2] == '.') return token(Tok::Ellipsis, 3);
      if (kChars[static_cast<unsigned char>(following)].cls == Class::Digit) {
        at_ = begin + 1;
        while (at_ < size && is_name_char(data[at_])) ++at_;
        return {Tok::Float, begin, at_};
      }
      return token(Tok::Dot, 1);
    default:
      break;
  }
  diags_.report<diag::bad_character>(span(begin, at_), static_cast<unsigned>(c));
  return error(begin, at_);
}

Token Lexer::error(std::uint32_t begin, std::uint32_t end) { return {Tok::Error, begin, end}; }

// Reports the first malformed sequence (overlong forms and surrogates included).
bool Lexer::valid_utf8(std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t i = begin; i < end;) {
    const auto c = static_cast<unsigned char>(text_[i]);
    std::uint32_t length = 1;
    if (c >= 0x80) {
      length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
      bool good = c >= 0xc2 && c <= 0xf4 && i + length <= text_.size();
      for (std::uint32_t k = 1; good && k < length; ++k) {
        good = continues_character(text_[i + k]);
      }
      if (good) {
        const auto second = static_cast<unsigned char>(text_[i + 1]);
        good = !(c == 0xe0 && second < 0xa0) && !(c == 0xed && second > 0x9f) &&
               !(c == 0xf0 && second < 0x90) && !(c == 0xf4 && second > 0x8f);
      }
      if (!good) {
        diags_.report<diag::invalid_utf8>(span(i, i + 1), static_cast<unsigned>(c));
        return false;
      }
    }
    i += length;
  }
  return true;
}

std::string_view Lexer::take_block(std::uint32_t column) {
  // Called when the header's Newline token is the last one made: at_ is the start of the first line of the
  // block.
  const std::uint32_t begin = at_;
  std::uint32_t end = begin;
  const auto size = static_cast<std::uint32_t>(text_.size());
  while (at_ < size) {
    std::uint32_t indent = 0;
    const std::uint32_t first = first_of_line(indent);
    const bool blank = first >= size || text_[first] == '\n' || text_[first] == '\r';
    const bool closes = !blank && (text_[first] == ')' || text_[first] == ']' || text_[first] == '}');
    if (!blank && !closes && indent <= column) break;
    const void* found = std::memchr(text_.data() + first, '\n', size - first);
    std::uint32_t line_end =
        found != nullptr ? static_cast<std::uint32_t>(static_cast<const char*>(found) - text_.data()) : size;
    // A triple-quoted string may hold lines of any indentation.
    if (!blank && text_[first] != '#') {
      for (const std::string_view quote : {std::string_view("\"\"\""), std::string_view("'''")}) {
        const std::size_t open = text_.substr(0, line_end).find(quote, first);
        if (open == std::string_view::npos) continue;
        std::size_t close = text_.find(quote, open + 3);
        if (close == std::string_view::npos || close < line_end) continue;
        close = text_.find('\n', close);
        line_end = close == std::string_view::npos ? size : static_cast<std::uint32_t>(close);
        break;
      }
    }
    if (!blank) end = line_end;
    at_ = line_end < size ? line_end + 1 : size;
  }
  line_start_ = at_;
  at_line_start_ = true;
  return text_.substr(begin, end - begin);
}

void Lexer::resync(std::uint32_t offset, std::uint32_t column) {
  const auto size = static_cast<std::uint32_t>(text_.size());
  at_ = std::min(offset, size);
  for (;;) {
    const void* found = at_ < size ? std::memchr(text_.data() + at_, '\n', size - at_) : nullptr;
    at_ = found != nullptr ? static_cast<std::uint32_t>(static_cast<const char*>(found) - text_.data()) + 1
                           : size;
    if (at_ >= size) break;
    std::uint32_t indent = 0;
    const std::uint32_t first = first_of_line(indent);
    const bool blank = first >= size || text_[first] == '\n' || text_[first] == '\r' || text_[first] == '#';
    // A closing bracket at the statement's column ends a wrapped statement (it cannot begin one).
    const bool closes = first < size && (text_[first] == ')' || text_[first] == ']' || text_[first] == '}');
    if (!blank && !closes && indent <= column) break;
  }
  while (!comments_.empty() && comments_.back().begin >= at_) comments_.pop_back();
  // Blocks that the faulty statement had opened are gone with it.
  while (indents_.size() > 1 && indents_.back() > column) indents_.pop_back();
  line_start_ = at_;
  depth_ = 0;
  pending_dedents_ = 0;
  at_line_start_ = true;
}

void Lexer::seek(std::uint32_t offset, std::uint32_t column) {
  at_ = line_start_ = offset;
  depth_ = 0;
  pending_dedents_ = 0;
  at_line_start_ = true;
  indents_.clear();
  if (column != 0) indents_.push_back(0);
  indents_.push_back(column);
  comments_.clear();
}

}  // namespace pldc
