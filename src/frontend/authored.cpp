#include "frontend/authored.h"

#include <algorithm>
#include <unordered_map>

#include "frontend/lexer.h"

namespace pldc {

namespace {

// The reader limits nesting; these scans only look.
constexpr std::uint32_t kAnyDepth = 100000;

// The forms `pl.X(` that printed text has; any other is a short op name, which only people write.
constexpr std::string_view kPrintedForms[] = {"function",
                                              "program",
                                              "func_attr",
                                              "range",
                                              "parallel",
                                              "unroll",
                                              "pipeline",
                                              "yield_",
                                              "while_",
                                              "cond",
                                              "at",
                                              "cluster",
                                              "graph",
                                              "spmd",
                                              "split_aiv",
                                              "scope",
                                              "submit",
                                              "spmd_submit",
                                              "const",
                                              "cast",
                                              "min",
                                              "max",
                                              "MemRef",
                                              "TensorView",
                                              "TileView",
                                              "dynamic",
                                              "split",
                                              "set_cache_policy",
                                              "cross_core_slot"};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '#')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// How often each comment stands in canonical text, which has them on lines of their own.
std::unordered_map<std::string_view, int> comments_of(std::string_view printed) {
  std::unordered_map<std::string_view, int> counts;
  while (!printed.empty()) {
    const std::size_t end = std::min(printed.find('\n'), printed.size());
    const std::string_view line = printed.substr(0, end);
    const std::size_t start = line.find_first_not_of(' ');
    if (start != std::string_view::npos && line[start] == '#') ++counts[trimmed(line.substr(start))];
    printed.remove_prefix(std::min(end + 1, printed.size()));
  }
  return counts;
}

}  // namespace

std::span<const std::string_view> printed_forms() { return kPrintedForms; }

bool has_program_header(const SourceFile& file) {
  constexpr std::string_view kHeader = "# pypto.program:";
  std::string_view start = file.text();
  if (start.substr(0, 3) == "\xef\xbb\xbf") start.remove_prefix(3);
  return start.substr(0, kHeader.size()) == kHeader;
}

namespace {

// Whether a `class` stands at the start of a line.
bool has_class(const SourceFile& file) {
  const std::string_view all = file.text();
  constexpr std::string_view kWord = "class ";
  for (std::size_t at = all.find(kWord); at != std::string_view::npos; at = all.find(kWord, at + 1)) {
    if (at == 0 || all[at - 1] == '\n' || all[at - 1] == '\r') return true;
  }
  return false;
}

}  // namespace

bool is_authored(const SourceFile& file) {
  return !has_program_header(file) && (has_class(file) || has_short_forms(file));
}

bool has_short_forms(const SourceFile& file) {
  if (has_program_header(file)) return false;
  DiagSink quiet;
  Lexer scan(file, quiet, kAnyDepth);
  Token before{};
  Token token = scan.next();
  std::uint32_t column = 0;
  bool at_start = true;
  std::uint32_t brackets = 0;
  while (token.kind != Tok::End) {
    const Token following = scan.next();
    if (token.kind == Tok::LParen || token.kind == Tok::LBracket || token.kind == Tok::LBrace) ++brackets;
    if ((token.kind == Tok::RParen || token.kind == Tok::RBracket || token.kind == Tok::RBrace) &&
        brackets != 0)
      --brackets;
    if (token.kind == Tok::Indent) ++column;
    if (token.kind == Tok::Dedent && column != 0) --column;
    if (token.kind == Tok::Name) {
      if (at_start && column != 0 && following.kind == Tok::Assign) return true;
      if (following.kind == Tok::LParen && before.kind == Tok::Dot) {
        const std::string_view leaf = scan.text(token);
        std::uint32_t head_end = before.begin;
        std::uint32_t head = head_end;
        const std::string_view all = file.text();
        while (head > 0 && ((all[head - 1] >= 'a' && all[head - 1] <= 'z') || all[head - 1] == '_')) --head;
        const std::string_view prefix = all.substr(head, head_end - head);
        const bool dotted = head > 0 && all[head - 1] == '.';
        if (!dotted && prefix == "pl" &&
            std::find(std::begin(kPrintedForms), std::end(kPrintedForms), leaf) == std::end(kPrintedForms)) {
          return true;
        }
        if (!dotted && prefix == "pld") return true;
      }
    }
    at_start = (token.kind == Tok::Newline || token.kind == Tok::Indent || token.kind == Tok::Dedent) &&
               brackets == 0;
    before = token;
    token = following;
  }
  return false;
}

std::optional<TextLoss> first_loss(const SourceFile& file, std::string_view printed) {
  DiagSink quiet;
  Lexer scan(file, quiet, kAnyDepth);
  std::unordered_map<std::string_view, int> kept = comments_of(printed);
  std::optional<TextLoss> loss;
  const auto lose = [&](std::uint32_t begin, std::uint32_t end, std::string_view what) {
    const Span span = scan.span(begin, end);
    if (!loss || span.begin < loss->span.begin) loss = TextLoss{span, what};
  };
  bool in_class = false;
  bool at_start = true;
  std::uint32_t indent = 0;
  Token token = scan.next();
  while (token.kind != Tok::End && !loss) {
    const Token following = scan.next();
    if (token.kind == Tok::Indent) ++indent;
    if (token.kind == Tok::Dedent && indent != 0) --indent;
    if (at_start && token.kind == Tok::Name && indent == 0) {
      if (scan.text(token) == "class") in_class = true;
      // The symbols of pl.dynamic are printed again.
      const std::string_view value =
          following.kind == Tok::Assign ? file.text().substr(following.end, 80) : std::string_view();
      if (following.kind == Tok::Assign && value.substr(0, value.find('(')).find(".dynamic") == value.npos)
        lose(token.begin, token.end, "this constant's name");
    }
    // A function's docstring becomes comments.
    if (at_start && token.kind == Tok::String && (indent == 0 || (in_class && indent == 1)))
      lose(token.begin, token.end, "this docstring");
    at_start = token.kind == Tok::Newline || token.kind == Tok::Indent || token.kind == Tok::Dedent;
    token = following;
  }
  // Comments up to the token after the loss have been seen, so an earlier one is among them.
  for (const Comment& comment : scan.comments()) {
    const auto text = trimmed(file.text().substr(comment.begin, comment.end - comment.begin));
    if (text.empty()) continue;
    if (const auto found = kept.find(text); found != kept.end() && found->second > 0) {
      --found->second;
      continue;
    }
    lose(comment.begin, comment.end, "this comment");
    break;
  }
  if (!loss && has_short_forms(file)) {
    const std::uint32_t begin = file.text().find('@') == std::string_view::npos
                                    ? 0
                                    : static_cast<std::uint32_t>(file.text().find('@'));
    lose(begin, begin + 1, "the short forms and the layout of this program");
  }
  return loss;
}

}  // namespace pldc
