#include "driver/lsp/names.h"
#include "driver/lsp/requests.h"

namespace pldc::lsp {

Json definition(const Document& document, const Analysis& analysis, const Json& params) {
  const NameUse* use = use_at(analysis, document.lines().offset(position_at(params, "position")));
  if (use == nullptr) return nullptr;
  // The nearest binding before the place: the first one, or the one of the branch. A variable that is assigned several
  // times has several; a loop's carry has the one in the header.
  const NameUse* found = nullptr;
  for (const NameUse* place : places_of(analysis, *use)) {
    if (!place->defines) continue;
    const bool before = place->where.begin <= use->where.begin;
    if (found == nullptr || before) found = place;
  }
  if (found == nullptr) return nullptr;
  return {{"uri", document.uri()}, {"range", document.range(analysis, found->where)}};
}

}  // namespace pldc::lsp
