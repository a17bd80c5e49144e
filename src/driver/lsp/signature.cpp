// signatureHelp: the op or function whose call the place is in, and which argument it is.
#include <algorithm>

#include "driver/catalog.h"
#include "driver/lsp/cursor.h"
#include "driver/lsp/docs.h"
#include "driver/lsp/names.h"
#include "driver/lsp/requests.h"

namespace pldc::lsp {
namespace {

Json information(const std::string& label, const std::vector<std::string>& parameters,
                 const std::string& about) {
  Json list = Json::array();
  std::size_t from = label.find('(');
  for (const std::string& parameter : parameters) {
    // As a piece of the label: names alone may stand in it more than once.
    const std::size_t at = label.find(parameter, from);
    if (at == std::string::npos) continue;
    from = at + parameter.size();
    list.push_back({{"label", {at, from}}});
  }
  return {{"label", label}, {"documentation", about}, {"parameters", std::move(list)}};
}

std::vector<std::string> parameters_of(const OpInfo& op) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < op.operand_count(); ++i) names.emplace_back(op.operands[i].name);
  for (std::size_t i = 0; i < op.keyword_count(); ++i)
    names.push_back(std::string(op.keywords[i].name) + "=");
  return names;
}

std::size_t active_in(const std::vector<std::string>& names, const CallAt& call) {
  if (call.keyword.empty()) return std::min(call.argument, names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    if (name.substr(0, name.find_first_of("=:")) == call.keyword) return i;
  }
  return names.size();
}

}  // namespace

Json signature_help(const Document& document, const Analysis& analysis, const Json& params) {
  const std::size_t offset = document.lines().offset(position_at(params, "position"));
  if (comment_at(analysis, offset) != nullptr) return nullptr;
  const CallAt call = call_at(analysis, offset);
  if (call.callee.empty()) return nullptr;
  Json signatures = Json::array();
  std::size_t active = 0;
  if (call.callee.compare(0, 5, "self.") == 0) {
    const Function* f = find_function(analysis, std::string_view(call.callee).substr(5));
    if (f == nullptr) return nullptr;
    const Signature signature = signature_of(*f);
    signatures.push_back(
        information(signature.text, signature.parameters, std::string(name_of(f->func_type))));
    active = active_in(signature.parameters, call);
  } else {
    for (const OpInfo* op : ops_of(analysis, call.callee)) {
      const std::vector<std::string> names = parameters_of(*op);
      if (signatures.empty()) active = active_in(names, call);
      signatures.push_back(information(signature(*op), names, op->doc.text.data()));
    }
  }
  if (signatures.empty()) return nullptr;
  return {{"signatures", std::move(signatures)}, {"activeSignature", 0}, {"activeParameter", active}};
}

}  // namespace pldc::lsp
