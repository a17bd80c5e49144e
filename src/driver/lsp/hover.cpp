#include <fmt/format.h>

#include "driver/lsp/cursor.h"
#include "driver/lsp/docs.h"
#include "driver/lsp/names.h"
#include "driver/lsp/requests.h"

namespace pldc::lsp {
namespace {

std::string_view line_around(const Analysis& analysis, std::size_t offset) {
  const std::string_view text = analysis.file->text();
  const std::size_t begin = offset == 0 ? 0 : text.find_last_of("\r\n", offset - 1) + 1;
  return text.substr(begin, std::min(text.find_first_of("\r\n", offset), text.size()) - begin);
}

std::string about_variable(const Analysis& analysis, const NameUse& use) {
  std::string_view what = "variable";
  const Param* param = parameter_of(analysis, use.var);
  std::string type = type_text(use.var->type);
  if (param != nullptr) {
    what = "parameter";
    type = type_text(*param);
  } else if (use.var->is_iter_arg) {
    what = "carried by a loop";
  } else {
    for (const NameUse* place : places_of(analysis, use)) {
      const std::string_view line = line_around(analysis, analysis.local(place->where.begin));
      if (place->defines && line.find(".dynamic(") != std::string_view::npos) what = "symbol";
    }
  }
  return code_block(fmt::format("{}: {}", analysis.text(use.where), type)) + std::string(what) + "\n";
}

std::string about_name(const Analysis& analysis, const NameUse& use) {
  switch (use.kind) {
    case NameUse::Kind::Variable:
      return about_variable(analysis, use);
    case NameUse::Kind::Constant:
      for (const NameUse* place : places_of(analysis, use)) {
        if (place->defines)
          return code_block(line_around(analysis, analysis.local(place->where.begin))) + "module constant\n";
      }
      return {};
    case NameUse::Kind::Function: {
      const Function* f = find_function(analysis, use.name.text());
      if (f == nullptr) return {};
      std::string kind(name_of(f->func_type));
      if (f->level) kind += fmt::format(", level {}", name_of(*f->level));
      if (f->role) kind += fmt::format(", role {}", name_of(*f->role));
      return code_block("def " + signature_of(*f).text) + kind + "\n";
    }
    case NameUse::Kind::Op:
      return op_markdown(op_info(use.op));
  }
  return {};
}

// A keyword of the op whose call the place is in.
std::string about_keyword(const Analysis& analysis, const PathAt& word) {
  const std::string_view text = analysis.file->text();
  std::size_t after = word.end;
  while (after < text.size() && text[after] == ' ') ++after;
  if (after >= text.size() || text[after] != '=' || text.substr(after, 2) == "==") return {};
  for (const OpInfo* op : ops_of(analysis, call_at(analysis, word.begin).callee)) {
    if (const Keyword* keyword = op->keyword(word.path)) return keyword_markdown(*op, *keyword);
  }
  return {};
}

}  // namespace

Json hover(const Document& document, const Analysis& analysis, const Json& params) {
  const std::size_t offset = document.lines().offset(position_at(params, "position"));
  const std::string_view text = analysis.file->text();
  const PathAt word = path_at(text, offset);
  if (word.path.empty()) return nullptr;
  std::string about;
  std::size_t begin = word.begin;
  std::size_t end = word.end;
  if (comment_at(analysis, offset) != nullptr) {
    // Dumps of several stages are headed by comments that name passes.
    about = pass_markdown(text.substr(word.begin, word.end - word.begin));
  } else if (const NameUse* use = use_at(analysis, offset);
             use != nullptr && string_at(analysis, offset) == nullptr) {
    about = about_name(analysis, *use);
    begin = analysis.local(use->where.begin);
    end = analysis.local(use->where.end);
  } else {
    if (word.path.find('.') == std::string::npos) about = about_keyword(analysis, word);
    if (about.empty()) {
      for (const OpInfo* op : ops_of(analysis, word.path))
        about += (about.empty() ? "" : "\n---\n") + op_markdown(*op);
    }
    if (about.empty()) about = word_markdown(analysis, word.path);
  }
  if (about.empty()) return nullptr;
  return {{"contents", {{"kind", "markdown"}, {"value", about}}}, {"range", document.range(begin, end)}};
}

}  // namespace pldc::lsp
