// Pull lexer with Python's layout rule: NEWLINE, INDENT and DEDENT outside brackets, nothing inside them.
// Comments are no tokens; they are collected in order for the reader to attach.
#pragma once

#include <string_view>
#include <vector>

#include "frontend/token.h"
#include "support/diag.h"

namespace pldc {

class Lexer {
 public:
  Lexer(const SourceFile& file, DiagSink& diags, std::uint32_t max_depth);

  Token next();

  std::string_view text() const { return text_; }
  std::string_view text(const Token& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  Span span(std::uint32_t begin, std::uint32_t end) const { return {base_ + begin, base_ + end}; }
  Span span(const Token& token) const { return span(token.begin, token.end); }
  std::uint32_t column_of(std::uint32_t offset) const;

  std::vector<Comment>& comments() { return comments_; }

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
  Token layout();
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
  std::uint32_t max_depth_;
  std::uint32_t at_ = 0;
  std::uint32_t line_start_ = 0;
  std::uint32_t depth_ = 0;  // open brackets
  std::uint32_t pending_dedents_ = 0;
  bool at_line_start_ = true;
  bool reported_depth_ = false;
  std::vector<std::uint32_t> indents_ = {0};
  std::vector<Comment> comments_;
};

}  // namespace pldc
