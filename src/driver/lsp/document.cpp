#include "driver/lsp/document.h"

#include <algorithm>

#include "frontend/lexer.h"
#include "passes/pass.h"
#include "support/diag/driver.h"

namespace pldc::lsp {
namespace {

// Only scanning: any nesting will do.
constexpr std::uint32_t kAnyDepth = 1U << 30;

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// file:///home/a%20b.pld -> /home/a b.pld
std::string path_of(const std::string& uri) {
  constexpr std::string_view kScheme = "file://";
  if (uri.compare(0, kScheme.size(), kScheme) != 0) return uri;
  std::string path;
  for (std::size_t i = kScheme.size(); i < uri.size(); ++i) {
    const int high = uri[i] == '%' && i + 2 < uri.size() ? digit_of(uri[i + 1]) : -1;
    const int low = high >= 0 ? digit_of(uri[i + 2]) : -1;
    if (low >= 0) {
      path += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      path += uri[i];
    }
  }
  return path;
}

}  // namespace

Analysis::Analysis(const std::string& name, const std::string& text, DiagOptions options)
    : file(sources.add(name, text)), diags(std::move(options)) {
  module = parse_noting_names(*file, context, diags, names);
  readable = module.program != nullptr && !diags.has_errors();
  if (readable && verify_written(module.program, diags)) find_input_writes(module.program, diags);
  const bool full = diags.full();
  const std::uint32_t count = diags.error_count();
  diagnostics = diags.take();
  if (full) {
    DiagSink last;
    last.report<diag::too_many_errors>(Span{}, count);
    for (Diagnostic& d : last.take()) diagnostics.push_back(std::move(d));
  }
  prefix = module.style.prefix;
  for (NameUse& use : names.uses) {
    if (use.kind != NameUse::Kind::Function) continue;
    const auto length = static_cast<std::uint32_t>(use.name.text().size());
    if (use.where.end - use.where.begin >= length) use.where.begin = use.where.end - length;
  }
  for (const Function& f : names.functions)
    names.uses.push_back({NameUse::Kind::Function, true, f.name_span, nullptr, f.name});
  std::sort(names.uses.begin(), names.uses.end(),
            [](const NameUse& a, const NameUse& b) { return a.where.begin < b.where.begin; });
  scan();
}

void Analysis::scan() {
  DiagSink quiet;
  Lexer lexer(*file, quiet, kAnyDepth);
  for (Token token = lexer.next(); token.kind != Tok::End; token = lexer.next()) {
    if (token.kind != Tok::Error) tokens.push_back(token);
  }
  comments = std::move(lexer.comments());
}

Document::Document(std::string uri, std::string text, std::optional<std::int64_t> number)
    : version(number), uri_(std::move(uri)), name_(path_of(uri_)), text_(std::move(text)) {
  text_changed();
}

void Document::text_changed() {
  lines_ = LineIndex(text_);
  analysis_ = nullptr;
  published_ = false;
  given_up_ = false;
}

void Document::replace(std::string text) {
  text_ = std::move(text);
  text_changed();
}

void Document::replace(Position begin, Position end, std::string_view with) {
  std::size_t from = lines_.offset(begin);
  std::size_t to = lines_.offset(end);
  if (from > to) std::swap(from, to);
  text_.replace(from, to - from, with);
  text_changed();
}

const Analysis& Document::analysis(const DiagOptions& options) {
  if (analysis_ == nullptr) analysis_ = std::make_unique<Analysis>(name_, text_, options);
  return *analysis_;
}

bool Document::take_unpublished() {
  if (analysis_ == nullptr || published_) return false;
  published_ = true;
  return true;
}

Json Document::range(std::size_t begin, std::size_t end) const {
  return {{"start", to_json(lines_.position(begin))},
          {"end", to_json(lines_.position(std::max(begin, end)))}};
}

Json Document::range(const Analysis& analysis, Span span) const {
  if (!span.valid() || span.begin < analysis.file->base()) return range(0, 0);
  return range(analysis.local(span.begin), analysis.local(std::max(span.begin, span.end)));
}

}  // namespace pldc::lsp
