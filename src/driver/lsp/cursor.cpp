#include "driver/lsp/cursor.h"

#include <algorithm>

#include "frontend/lexer.h"

namespace pldc::lsp {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Where the word begins that ends at `end`.
std::size_t word_begin(std::string_view text, std::size_t end) {
  while (end > 0 && Lexer::is_name_char(text[end - 1])) --end;
  return end;
}

// Puts the parts that stand before the word at `begin` in front of it. A part on another line belongs to the path only
// behind a dot at the line's end or before one at its start, as formatted text has it.
std::string with_parts_before(std::string_view text, std::size_t begin, std::string path) {
  for (int parts = 0; parts < 8; ++parts) {
    std::size_t dot = begin;
    while (dot > 0 && is_blank(text[dot - 1])) --dot;
    if (dot == 0 || text[dot - 1] != '.') break;
    std::size_t end = dot - 1;
    while (end > 0 && is_blank(text[end - 1])) --end;
    begin = word_begin(text, end);
    if (begin == end || !Lexer::begins_name(text[begin])) break;
    path = std::string(text.substr(begin, end - begin)) + "." + path;
  }
  return path;
}

// Words that begin a statement when they are the first on their line: an unclosed bracket before them is not theirs.
bool begins_statement(std::string_view word) {
  constexpr std::string_view kWords[] = {"def",  "class",  "for",  "while", "if",
                                         "with", "return", "else", "elif"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

bool first_on_line(std::string_view text, std::size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  return at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r';
}

}  // namespace

PathAt path_at(std::string_view text, std::size_t offset) {
  PathAt found;
  found.begin = word_begin(text, offset);
  found.end = offset;
  while (found.end < text.size() && Lexer::is_name_char(text[found.end])) ++found.end;
  if (found.begin == found.end || !Lexer::begins_name(text[found.begin])) return found;
  found.path =
      with_parts_before(text, found.begin, std::string(text.substr(found.begin, found.end - found.begin)));
  return found;
}

std::string typed_path(std::string_view text, std::size_t offset) {
  const std::size_t begin = word_begin(text, offset);
  if (begin < offset && !Lexer::begins_name(text[begin])) return {};
  return with_parts_before(text, begin, std::string(text.substr(begin, offset - begin)));
}

namespace {

bool opens(Tok kind) { return kind == Tok::LParen || kind == Tok::LBracket || kind == Tok::LBrace; }
bool closes(Tok kind) { return kind == Tok::RParen || kind == Tok::RBracket || kind == Tok::RBrace; }

// Whether the token is at or before the beginning of the statement that follows it.
bool ends_statement(std::string_view text, const Token& token) {
  if (token.kind == Tok::Newline || token.kind == Tok::Indent || token.kind == Tok::Dedent) return true;
  if (token.kind != Tok::At && token.kind != Tok::Name) return false;
  return first_on_line(text, token.begin) &&
         (token.kind == Tok::At || begins_statement(text.substr(token.begin, token.end - token.begin)));
}

// The tokens before an offset, from the last one on.
class Backwards {
 public:
  Backwards(const Analysis& analysis, std::size_t before)
      : text_(analysis.file->text()), tokens_(analysis.tokens) {
    const auto first = std::lower_bound(tokens_.begin(), tokens_.end(), before,
                                        [](const Token& t, std::size_t at) { return t.begin < at; });
    at_ = static_cast<std::size_t>(first - tokens_.begin());
  }
  bool next() { return at_ > 0 && steps_++ < kFurthest && (--at_, true); }
  const Token& token() const { return tokens_[at_]; }
  // `back` tokens before the current one; null if there is none of that kind.
  const Token* before(Tok kind, std::size_t back = 1) const {
    return at_ >= back && tokens_[at_ - back].kind == kind ? &tokens_[at_ - back] : nullptr;
  }
  std::string text(const Token& token) const {
    return std::string(text_.substr(token.begin, token.end - token.begin));
  }

 private:
  static constexpr std::size_t kFurthest = 20000;  // tokens; no call is longer
  std::string_view text_;
  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace

CallAt call_at(const Analysis& analysis, std::size_t offset) {
  CallAt call;
  const std::string_view text = analysis.file->text();
  std::size_t depth = 0;
  // The word being typed at the place is not looked at.
  Backwards scan(analysis, word_begin(text, offset));
  while (scan.next()) {
    const Token& token = scan.token();
    if (ends_statement(text, token)) return {};
    if (closes(token.kind)) {
      ++depth;
    } else if (opens(token.kind) && depth > 0) {
      --depth;
    } else if (opens(token.kind)) {
      const Token* name = token.kind == Tok::LParen ? scan.before(Tok::Name) : nullptr;
      if (name == nullptr) {
        call = {};  // within a list of the call: what was counted belongs to the list
        continue;
      }
      call.callee = scan.text(*name);
      std::size_t back = 1;
      while (scan.before(Tok::Dot, back + 1) != nullptr && scan.before(Tok::Name, back + 2) != nullptr) {
        back += 2;
        call.callee = scan.text(*scan.before(Tok::Name, back)) + "." + call.callee;
      }
      call.decorator = scan.before(Tok::At, back + 1) != nullptr;
      return call;
    } else if (depth == 0 && token.kind == Tok::Comma) {
      ++call.argument;
    } else if (depth == 0 && token.kind == Tok::Assign && scan.before(Tok::Name) != nullptr) {
      call.given.push_back(scan.text(*scan.before(Tok::Name)));
      if (call.argument == 0 && call.keyword.empty()) call.keyword = call.given.back();
    }
  }
  return {};
}

const Comment* comment_at(const Analysis& analysis, std::size_t offset) {
  const auto after = std::upper_bound(analysis.comments.begin(), analysis.comments.end(), offset,
                                      [](std::size_t at, const Comment& c) { return at <= c.begin; });
  if (after == analysis.comments.begin()) return nullptr;
  const Comment& comment = *(after - 1);
  return offset > comment.begin && offset <= comment.end ? &comment : nullptr;
}

const Token* string_at(const Analysis& analysis, std::size_t offset) {
  const auto after = std::lower_bound(analysis.tokens.begin(), analysis.tokens.end(), offset,
                                      [](const Token& t, std::size_t at) { return t.begin < at; });
  if (after == analysis.tokens.begin()) return nullptr;
  const Token& token = *(after - 1);
  return token.kind == Tok::String && offset < token.end ? &token : nullptr;
}

}  // namespace pldc::lsp
