// codeAction: what the help of a diagnostic says, done.
#include "driver/lsp/requests.h"
#include "support/fix.h"

namespace pldc::lsp {
namespace {

bool wants_quick_fixes(const Json& context) {
  const auto only = context.find("only");
  if (only == context.end() || !only->is_array()) return true;
  for (const Json& kind : *only) {
    if (kind == "quickfix" || kind == "") return true;
  }
  return false;
}

}  // namespace

Json code_action(const Document& document, const Analysis& analysis, const Json& params) {
  const Json& range = object_at(params, "range");
  std::size_t begin = document.lines().offset(position_at(range, "start"));
  std::size_t end = document.lines().offset(position_at(range, "end"));
  if (begin > end) std::swap(begin, end);
  Json out = Json::array();
  if (!wants_quick_fixes(object_at(params, "context"))) return out;
  for (const Diagnostic& d : analysis.diagnostics) {
    if (!d.span.valid() || analysis.local(d.span.end) < begin || analysis.local(d.span.begin) > end) continue;
    for (const Fix& fix : fixes_of(d, analysis.sources)) {
      const Json edit{{"range", document.range(analysis, fix.span)}, {"newText", fix.text}};
      out.push_back({{"title", fix.title},
                     {"kind", "quickfix"},
                     {"isPreferred", true},
                     {"diagnostics", Json::array({diagnostic(document, analysis, d)})},
                     {"edit", {{"changes", {{document.uri(), Json::array({edit})}}}}}});
    }
  }
  return out;
}

}  // namespace pldc::lsp
