// Comments are kept: each belongs to the statement that follows it (format.md 1.6).
#include <algorithm>

#include "frontend/reader.h"
#include "frontend/writer.h"
#include "support/diag/parse.h"

namespace pldc {

std::string_view Reader::comment_text(const Comment& c) const {
  std::string_view t = file_.text().substr(c.begin, c.end - c.begin);
  if (c.verbatim) return t;
  t.remove_prefix(1);
  if (!t.empty() && t.front() == ' ') t.remove_prefix(1);
  return t;
}

Reader::Comments Reader::take_comments(std::uint32_t before) {
  auto& all = lex_.comments();
  std::size_t end = comment_head_;
  while (end < all.size() && all[end].begin < before) ++end;
  if (end == comment_head_) return {};
  std::vector<std::string_view> texts;
  for (std::size_t i = comment_head_; i < end; ++i) texts.push_back(ctx_.text(comment_text(all[i])));
  comment_head_ = end;
  if (comment_head_ == all.size() && all.size() > 256) {
    all.clear();
    comment_head_ = 0;
  }
  return ctx_.list(texts);
}

Reader::Comments Reader::take_header_comments() {
  auto& all = lex_.comments();
  if (comment_head_ == all.size()) return {};
  const std::uint32_t header_end = prev_end_;
  const std::uint32_t body_begin = tok_.begin;
  const std::uint32_t column = at(Tok::Indent) ? lex_.column_of(tok_.begin) : 0;
  std::vector<std::string_view> texts;
  std::vector<Comment> rest;
  for (std::size_t i = comment_head_; i < all.size(); ++i) {
    const Comment& c = all[i];
    if (c.begin < header_end || (c.begin < body_begin && c.column < column)) {
      texts.push_back(ctx_.text(comment_text(c)));
    } else {
      rest.push_back(c);
    }
  }
  std::copy(rest.begin(), rest.end(), all.begin() + static_cast<std::ptrdiff_t>(all.size() - rest.size()));
  comment_head_ = all.size() - rest.size();
  return ctx_.list(texts);
}

void Reader::drop_block_comments(std::uint32_t column, std::uint32_t before) {
  auto& all = lex_.comments();
  while (comment_head_ < all.size() && all[comment_head_].begin < before &&
         all[comment_head_].column >= column) {
    const Comment& c = all[comment_head_++];
    diags_.report<diag::comment_dropped>(lex_.span(c.begin, std::max(c.end, c.begin + 1)))
        .help("put it before a statement: a comment is kept with the statement that follows it");
  }
}

// A bare string statement turns into comment lines of the next statement, one per line of the string.
void Reader::docstring(const Token& token) {
  const std::string_view t = text(token);
  const std::uint32_t quotes = t.size() >= 6 && t[0] == t[1] && t[1] == t[2] ? 3 : 1;
  std::vector<Comment> lines;
  std::uint32_t begin = token.begin + quotes;
  const std::uint32_t end = token.end - quotes;
  for (std::uint32_t i = begin; i <= end; ++i) {
    if (i != end && file_.text()[i] != '\n') continue;
    lines.push_back({begin, i, lex_.column_of(token.begin), true});
    begin = i + 1;
  }
  auto& all = lex_.comments();
  auto place = all.begin() + static_cast<std::ptrdiff_t>(comment_head_);
  while (place != all.end() && place->begin < token.begin) ++place;
  all.insert(place, lines.begin(), lines.end());
}

void Writer::comments(List<std::string_view> list) {
  for (const std::string_view line : list) {
    pad();
    out_ += "# ";
    out_ += line;
    out_ += '\n';
  }
}

}  // namespace pldc
