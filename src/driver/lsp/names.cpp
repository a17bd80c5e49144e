#include "driver/lsp/names.h"

#include <algorithm>

namespace pldc::lsp {
namespace {

// Branches and loops make a variable of their own for a name that stands in the text once, so variables are compared by
// the place of their definition.
bool same_meaning(const NameUse& a, const NameUse& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case NameUse::Kind::Variable:
      return a.var == b.var || (a.var->span.valid() && a.var->span == b.var->span);
    case NameUse::Kind::Constant:
    case NameUse::Kind::Function:
      return a.name == b.name;
    case NameUse::Kind::Op:
      return &a == &b;
  }
  return false;
}

}  // namespace

const NameUse* use_at(const Analysis& analysis, std::size_t offset) {
  const std::vector<NameUse>& uses = analysis.names.uses;
  auto after = std::upper_bound(uses.begin(), uses.end(), offset, [&](std::size_t at, const NameUse& use) {
    return at < analysis.local(use.where.begin);
  });
  if (after == uses.begin()) return nullptr;
  const NameUse& use = *(after - 1);
  return offset <= analysis.local(use.where.end) ? &use : nullptr;
}

std::vector<const NameUse*> places_of(const Analysis& analysis, const NameUse& use) {
  std::vector<const NameUse*> places;
  for (const NameUse& other : analysis.names.uses) {
    if (same_meaning(use, other)) places.push_back(&other);
  }
  return places;
}

const Function* function_at(const Analysis& analysis, std::size_t offset) {
  const Function* found = nullptr;
  for (const Function& f : analysis.names.functions) {
    if (analysis.local(f.span.begin) <= offset) found = &f;
  }
  return found;
}

std::size_t end_of(const Analysis& analysis, const Function& function) {
  const std::string_view text = analysis.file->text();
  std::size_t end = text.size();
  for (const Function& f : analysis.names.functions) {
    if (f.span.begin > function.span.begin) end = std::min(end, analysis.local(f.span.begin));
  }
  const std::size_t last = text.find_last_not_of(" \t\r\n", end == 0 ? 0 : end - 1);
  return last == std::string_view::npos ? end : std::min(end, last + 1);
}

const Function* find_function(const Analysis& analysis, std::string_view name) {
  for (const Function& f : analysis.names.functions) {
    if (f.name.text() == name) return &f;
  }
  return nullptr;
}

const Param* parameter_of(const Analysis& analysis, const Var* var) {
  for (const Function& f : analysis.names.functions) {
    for (const Param& param : f.params) {
      if (param.var == var) return &param;
    }
  }
  return nullptr;
}

std::string type_text(const Type* type) {
  return type == nullptr || is_unknown(type) ? "?" : print_type(type);
}

std::string type_text(const Param& param) {
  const std::string type = type_text(param.var->type);
  if (param.direction == ParamDirection::In) return type;
  return "pl." + std::string(name_of(param.direction)) + "[" + type + "]";
}

Signature signature_of(const Function& function) {
  Signature out;
  out.text = std::string(function.name.text()) + "(";
  for (const Param& param : function.params) {
    out.parameters.push_back(std::string(param.var->name.text()) + ": " + type_text(param));
    out.text += (out.parameters.size() == 1 ? "" : ", ") + out.parameters.back();
  }
  out.text += ")";
  for (std::size_t i = 0; i < function.return_types.size(); ++i)
    out.text += (i == 0 ? " -> " : ", ") + type_text(function.return_types[i]);
  return out;
}

}  // namespace pldc::lsp
