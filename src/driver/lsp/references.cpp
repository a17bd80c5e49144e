// references and documentHighlight: the same places, told in two ways.
#include "driver/lsp/names.h"
#include "driver/lsp/requests.h"

namespace pldc::lsp {
namespace {

std::vector<const NameUse*> places_at(const Document& document, const Analysis& analysis,
                                      const Json& params) {
  const NameUse* use = use_at(analysis, document.lines().offset(position_at(params, "position")));
  if (use == nullptr) return {};
  if (use->kind != NameUse::Kind::Op) return places_of(analysis, *use);
  std::vector<const NameUse*> calls;
  for (const NameUse& other : analysis.names.uses) {
    if (other.kind == NameUse::Kind::Op && other.op == use->op) calls.push_back(&other);
  }
  return calls;
}

}  // namespace

Json references(const Document& document, const Analysis& analysis, const Json& params) {
  const Json& context = object_at(params, "context");
  const auto wanted = context.find("includeDeclaration");
  const bool definitions = wanted == context.end() || !wanted->is_boolean() || wanted->get<bool>();
  Json out = Json::array();
  for (const NameUse* place : places_at(document, analysis, params)) {
    if (place->defines && !definitions) continue;
    out.push_back({{"uri", document.uri()}, {"range", document.range(analysis, place->where)}});
  }
  return out;
}

Json document_highlight(const Document& document, const Analysis& analysis, const Json& params) {
  enum HighlightKind : int { kRead = 2, kWrite = 3 };
  Json out = Json::array();
  for (const NameUse* place : places_at(document, analysis, params)) {
    out.push_back(
        {{"range", document.range(analysis, place->where)}, {"kind", place->defines ? kWrite : kRead}});
  }
  return out;
}

}  // namespace pldc::lsp
