// The requests about documents. Each takes the document, what is known about it and the parameters, and gives the result;
// RequestError ends it with an error. One file each.
#pragma once

#include "driver/lsp/document.h"
#include "driver/session.h"

namespace pldc::lsp {

Json completion(const Document& document, const Analysis& analysis, const Json& params);
Json hover(const Document& document, const Analysis& analysis, const Json& params);
Json signature_help(const Document& document, const Analysis& analysis, const Json& params);
Json definition(const Document& document, const Analysis& analysis, const Json& params);
Json references(const Document& document, const Analysis& analysis, const Json& params);
Json document_highlight(const Document& document, const Analysis& analysis, const Json& params);
Json document_symbol(const Document& document, const Analysis& analysis, const Json& params);
Json code_action(const Document& document, const Analysis& analysis, const Json& params);
Json semantic_tokens(const Document& document, const Analysis& analysis, const Json& params);
Json formatting(const Document& document, const Analysis& analysis, const PrintOptions& options);

// The parameters of textDocument/publishDiagnostics.
Json diagnostics(const Document& document, const Analysis& analysis);
Json diagnostic(const Document& document, const Analysis& analysis, const Diagnostic& d);
// What semantic_tokens counts in.
Json semantic_legend();

}  // namespace pldc::lsp
