#include "passes/match/ops.h"

#include <algorithm>

#include "ir/auto_name.h"
#include "passes/lineage.h"

namespace pldc::match {

std::optional<JoinInfo> join_info(OpId op) {
  if (const CollectiveInfo* info = collective_info(op)) return JoinInfo{info->name, info->signal};
  if (op_category(op_info(op).name) != "builtin.tensor") return std::nullopt;
  const auto& operands = op_info(op).operands;
  for (std::size_t i = 0; i < op_info(op).operand_count(); ++i) {
    if (operands[i].name != "signal") continue;
    return JoinInfo{op_info(op).name.substr(std::string_view("builtin.tensor.").size()), i};
  }
  return std::nullopt;
}

bool is_telling(OpId op) {
  if (op == OpId::pld_system_notify || op == OpId::pld_system_wait || op == OpId::pld_system_defer_wait)
    return true;
  const auto& operands = op_info(op).operands;
  const bool peer = std::any_of(operands.begin(), operands.end(),
                                [](const Operand& operand) { return operand.name == "peer"; });
  return peer || join_info(op);
}

std::string shown_name(const Var* v) {
  const AutoName parts = parse_auto_name(v->name.text());
  return std::string(parts.base.empty() ? v->name.text() : parts.base);
}

}  // namespace pldc::match
