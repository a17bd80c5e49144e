#include "driver/lsp/requests.h"

namespace pldc::lsp {

Json diagnostic(const Document& document, const Analysis& analysis, const Diagnostic& d) {
  enum DiagnosticSeverity : int { kError = 1, kWarning = 2, kInformation = 3 };
  std::string message = d.message;
  Json related = Json::array();
  for (const RelatedPlace& note : d.notes) {
    if (note.span.valid()) {
      related.push_back(
          {{"location", {{"uri", document.uri()}, {"range", document.range(analysis, note.span)}}},
           {"message", note.message}});
    } else {
      message += "\nnote: " + note.message;
    }
  }
  for (const std::string& help : d.help) message += "\nhelp: " + help;
  Json out{{"range", document.range(analysis, d.span)},
           {"severity", d.severity == Severity::Error     ? kError
                        : d.severity == Severity::Warning ? kWarning
                                                          : kInformation},
           {"code", diag_code(*d.kind)},
           {"source", "pldc"},
           {"message", std::move(message)}};
  if (!related.empty()) out["relatedInformation"] = std::move(related);
  return out;
}

Json diagnostics(const Document& document, const Analysis& analysis) {
  Json list = Json::array();
  for (const Diagnostic& d : analysis.diagnostics) list.push_back(diagnostic(document, analysis, d));
  Json out{{"uri", document.uri()}, {"diagnostics", std::move(list)}};
  if (document.version) out["version"] = *document.version;
  return out;
}

}  // namespace pldc::lsp
