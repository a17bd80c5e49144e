// Pull lexer with Python's layout rule: NEWLINE, INDENT and DEDENT outside brackets, nothing inside them.
// Comments are no tokens; they are collected in order for the reader to attach.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "frontend/token.h"
#include "support/diag.h"

namespace pldc {

class Lexer {
 public:
  Lexer(const SourceFile& file, DiagSink& diags, std::uint32_t max_brackets, std::uint32_t max_blocks);
  Lexer(const SourceFile& file, DiagSink& diags, std::uint32_t max_depth)
      : Lexer(file, diags, max_depth, max_depth) {}

  [[gnu::always_inline]] Token next() {
    const Token token = next_plain();
    return token.kind != Tok::Error ? token : next_other();
  }

  std::string_view text() const { return text_; }
  std::string_view text(const Token& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  Span span(std::uint32_t begin, std::uint32_t end) const { return {base_ + begin, base_ + end}; }
  Span span(const Token& token) const { return span(token.begin, token.end); }
  // The indentation of what stands at `offset`: from 0, a tab counts up to the next multiple of 8.
  std::uint32_t column_of(std::uint32_t offset) const;
  // Behind a name: takes the `.name`s that follow it directly. Returns where they end.
  std::uint32_t take_path();

  static bool begins_name(char c) { return class_of(c) == Class::NameStart; }
  static bool is_name_char(char c) { return kNameChars[static_cast<unsigned char>(c)]; }

  std::vector<Comment>& comments() { return comments_; }

  // Inside brackets: continues at `offset`, with as many of them open as there are now.
  void skip_to(std::uint32_t offset) { at_ = offset; }

  // Inside brackets only: a position to come back to.
  struct Mark {
    std::uint32_t at;
    std::uint32_t depth;
    std::size_t comments;
  };
  Mark mark() const { return {at_, depth_, comments_.size()}; }
  void rewind(const Mark& mark);

  // The lines after the current one that are indented deeper than `column`, as they stand (for foreign
  // bodies). The lexer continues behind them, at the start of a line, with a Newline already consumed.
  std::string_view take_block(std::uint32_t column);
  // After an error: continues at the first line after `offset` that is not indented deeper than `column`;
  // brackets are taken as closed, and enclosing blocks end with DEDENT tokens as usual.
  void resync(std::uint32_t offset, std::uint32_t column);
  // Continues at `offset`, the start of a line, in a block whose statements are indented by more than
  // `column`.
  void seek(std::uint32_t offset, std::uint32_t column);
  std::uint32_t block_column() const { return indents_.back(); }

 private:
  // What a character can begin. The plain ones make most of every text and are handled in line.
  enum class Class : std::uint8_t { Bad, Space, NameStart, Digit, Quote, Hash, LineEnd, Punct, High };
  enum class Plain : std::uint8_t { No, Always, UnlessAssign, BeforeName, Open, Close };
  struct Char {
    Class cls = Class::Bad;
    Plain plain = Plain::No;
    Tok token = Tok::Error;  // of a plain character
  };
  static const std::array<Char, 256> kChars;
  static constexpr std::array<bool, 256> kNameChars = [] {
    std::array<bool, 256> part{};
    for (unsigned c = 0; c < 256; ++c) {
      part[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    return part;
  }();
  static Class class_of(char c) { return kChars[static_cast<unsigned char>(c)].cls; }
  Token next_plain();
  Token next_other();
  Token layout();
  // The line begins at at_: the offset of the first character that is not blank, and its `column`.
  std::uint32_t first_of_line(std::uint32_t& column) const;
  Token name_or_number(unsigned char c);
  Token number();
  Token string(std::uint32_t quote_at);
  Token punctuation(unsigned char c);
  Token error(std::uint32_t begin, std::uint32_t end);
  void comment();
  bool valid_utf8(std::uint32_t begin, std::uint32_t end);

  std::string_view text_;
  std::uint32_t base_;
  DiagSink& diags_;
  std::uint32_t max_brackets_;
  std::uint32_t max_blocks_;
  std::uint32_t at_ = 0;
  std::uint32_t line_start_ = 0;
  std::uint32_t depth_ = 0;  // open brackets
  std::uint32_t pending_dedents_ = 0;
  bool at_line_start_ = true;
  bool reported_depth_ = false;
  std::vector<std::uint32_t> indents_ = {0};
  std::vector<Comment> comments_;
};

// Names and punctuation of one character, within a line; the kind is Error if another token is next.
[[gnu::always_inline]] inline Token Lexer::next_plain() {
  if (pending_dedents_ != 0 || at_line_start_) return {Tok::Error, 0, 0};
  const char* const data = text_.data();
  const auto size = static_cast<std::uint32_t>(text_.size());
  while (at_ < size && data[at_] == ' ') ++at_;
  if (at_ + 1 >= size) return {Tok::Error, 0, 0};
  const Char c = kChars[static_cast<unsigned char>(data[at_])];
  const std::uint32_t begin = at_;
  if (c.cls == Class::NameStart) {
    std::uint32_t end = begin + 1;
    while (end < size && is_name_char(data[end])) ++end;
    at_ = end;
    return {Tok::Name, begin, end};
  }
  const char following = data[begin + 1];
  switch (c.plain) {
    case Plain::No:
      return {Tok::Error, 0, 0};
    case Plain::Always:
      break;
    case Plain::UnlessAssign:
      if (following == '=') return {Tok::Error, 0, 0};
      break;
    case Plain::BeforeName:
      if (kChars[static_cast<unsigned char>(following)].cls != Class::NameStart) return {Tok::Error, 0, 0};
      break;
    case Plain::Open:
      if (depth_ >= max_brackets_) return {Tok::Error, 0, 0};
      ++depth_;
      break;
    case Plain::Close:
      if (depth_ == 0) return {Tok::Error, 0, 0};
      --depth_;
      break;
  }
  at_ = begin + 1;
  return {c.token, begin, at_};
}

}  // namespace pldc
