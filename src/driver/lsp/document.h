// An open text and what is known about it. Everything is found out anew after a change, when somebody asks: answers never
// belong to an older text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/lsp/protocol.h"
#include "frontend/name_uses.h"
#include "frontend/token.h"
#include "ir/context.h"

namespace pldc::lsp {

// Of one state of the text. Offsets here are local to the file.
struct Analysis {
  Analysis(const std::string& name, const std::string& text, DiagOptions options);

  std::size_t local(std::uint32_t global) const { return global - file->base(); }
  std::string_view text(Span span) const {
    return file->text().substr(local(span.begin), span.end - span.begin);
  }

  SourceManager sources;
  const SourceFile* file;
  Context context;
  DiagSink diags;
  Module module;
  // Of functions, `where` is the name alone, and the definitions are among the uses.
  NameUses names;
  std::vector<Diagnostic> diagnostics;  // of reading and verifying, as `pldc check` reports them
  bool readable = false;                // it was read without an error
  std::string prefix = "pl";            // what pypto.language is called

  std::vector<Token> tokens;      // all of them but the last; what the lexer cannot read is left out
  std::vector<Comment> comments;  // in the order of the text

 private:
  void scan();
};

class Document {
 public:
  Document(std::string uri, std::string text, std::optional<std::int64_t> version);
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  const std::string& uri() const { return uri_; }
  // For messages and crash files: the path of a file: address, else the address.
  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  const LineIndex& lines() const { return lines_; }
  std::optional<std::int64_t> version;

  void replace(std::string text);
  void replace(Position begin, Position end, std::string_view with);

  const Analysis& analysis(const DiagOptions& options);
  // For the analysis there is, once.
  bool take_unpublished();
  bool changed() const { return analysis_ == nullptr && !given_up_; }
  // The text cannot be analysed; it is not tried again before it changes.
  void give_up() { given_up_ = true; }

  Json range(std::size_t begin, std::size_t end) const;
  Json range(const Analysis& analysis, Span span) const;

 private:
  void text_changed();

  std::string uri_;
  std::string name_;
  std::string text_;
  LineIndex lines_;
  std::unique_ptr<Analysis> analysis_;
  bool published_ = false;
  bool given_up_ = false;
};

}  // namespace pldc::lsp
