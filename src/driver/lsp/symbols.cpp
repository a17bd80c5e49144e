// documentSymbol: the outline.
#include <fmt/format.h>

#include "driver/lsp/names.h"
#include "driver/lsp/requests.h"

namespace pldc::lsp {
namespace {

enum SymbolKind : int { kClass = 5, kMethod = 6, kVariable = 13, kConstant = 14 };

Json symbol(std::string_view name, std::string detail, SymbolKind kind, Json range, Json selection) {
  return {{"name", name},
          {"detail", std::move(detail)},
          {"kind", kind},
          {"range", std::move(range)},
          {"selectionRange", std::move(selection)}};
}

Json function_symbol(const Document& document, const Analysis& analysis, const Function& f) {
  std::string detail(name_of(f.func_type));
  if (f.level) detail += fmt::format(", {}", name_of(*f.level));
  Json out = symbol(f.name.text(), detail, kMethod,
                    document.range(analysis.local(f.span.begin), end_of(analysis, f)),
                    document.range(analysis, f.name_span));
  Json children = Json::array();
  for (const Param& param : f.params) {
    const Span name = param.var->span;
    children.push_back(symbol(param.var->name.text(), type_text(param.var->type), kVariable,
                              document.range(analysis, Span{name.begin, param.type_span.end}),
                              document.range(analysis, name)));
  }
  out["children"] = std::move(children);
  return out;
}

}  // namespace

Json document_symbol(const Document& document, const Analysis& analysis, const Json&) {
  Json out = Json::array();
  const NameUses& names = analysis.names;
  std::size_t functions_begin = analysis.file->text().size();
  for (const Function& f : names.functions)
    functions_begin = std::min(functions_begin, analysis.local(f.span.begin));
  for (const NameUse& use : names.uses) {
    if (analysis.local(use.where.begin) >= functions_begin) break;
    const bool declared =
        use.defines && (use.kind == NameUse::Kind::Constant || use.kind == NameUse::Kind::Variable);
    if (!declared) continue;
    const Json range = document.range(analysis, use.where);
    out.push_back(symbol(analysis.text(use.where), use.var != nullptr ? "symbol" : "constant", kConstant,
                         range, range));
  }
  Json functions = Json::array();
  for (const Function& f : names.functions) functions.push_back(function_symbol(document, analysis, f));
  if (names.program.empty()) {
    for (Json& f : functions) out.push_back(std::move(f));
    return out;
  }
  const std::size_t last = analysis.file->text().find_last_not_of(" \t\r\n");
  Json program = symbol(names.program.text(), "program", kClass,
                        document.range(analysis.local(names.program_place.begin), last + 1),
                        document.range(analysis, names.program_name));
  program["children"] = std::move(functions);
  out.push_back(std::move(program));
  return out;
}

}  // namespace pldc::lsp
