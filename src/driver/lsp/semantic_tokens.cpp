// semanticTokens: what the names of the text are, which highlighting by patterns cannot know.
#include "driver/lsp/names.h"
#include "driver/lsp/requests.h"

namespace pldc::lsp {
namespace {

enum Type : int { kVariable, kParameter, kFunction, kConstantType };
enum Modifier : int { kDeclaration = 1, kReadonly = 2, kDefaultLibrary = 4 };

}  // namespace

Json semantic_legend() {
  return {{"tokenTypes", {"variable", "parameter", "function", "enumMember"}},
          {"tokenModifiers", {"declaration", "readonly", "defaultLibrary"}}};
}

Json semantic_tokens(const Document& document, const Analysis& analysis, const Json&) {
  std::vector<const Var*> parameters(analysis.context.var_count(), nullptr);
  for (const Function& f : analysis.names.functions) {
    for (const Param& param : f.params) parameters[param.var->id] = param.var;
  }
  Json data = Json::array();
  Position before;
  for (const NameUse& use : analysis.names.uses) {
    std::size_t begin = analysis.local(use.where.begin);
    const std::size_t end = analysis.local(use.where.end);
    int type = kVariable;
    int modifiers = use.defines ? kDeclaration : 0;
    switch (use.kind) {
      case NameUse::Kind::Variable:
        if (parameters[use.var->id] != nullptr) type = kParameter;
        break;
      case NameUse::Kind::Constant:
        type = kConstantType;
        modifiers |= kReadonly;
        break;
      case NameUse::Kind::Function:
        type = kFunction;
        break;
      case NameUse::Kind::Op:
        type = kFunction;
        modifiers |= kDefaultLibrary;
        begin += analysis.text(use.where).rfind('.') + 1;  // the op's own name
        break;
    }
    if (begin >= end) continue;
    const Position place = document.lines().position(begin);
    const bool same_line = place.line == before.line;
    data.push_back(place.line - before.line);
    data.push_back(place.character - (same_line ? before.character : 0));
    data.push_back(end - begin);  // names are ASCII
    data.push_back(type);
    data.push_back(modifiers);
    before = place;
  }
  return {{"data", std::move(data)}};
}

}  // namespace pldc::lsp
