#include "driver/report.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "frontend/text.h"
#include "ir/op.h"
#include "ir/walk.h"

namespace pldc {

void Timing::add(const PassStep& step, std::size_t arena_bytes) {
  rows_.push_back({step.planned->label(), step.milliseconds, step.changed, arena_bytes});
}

std::string Timing::text() const {
  std::string out = fmt::format("{:>10} {:>10}  {:<8}{}\n", "ms", "MB in all", "changed", "pass");
  double total = 0;
  for (const Row& row : rows_) {
    total += row.milliseconds;
    out += fmt::format("{:>10.3f} {:>10.2f}  {:<8}{}\n", row.milliseconds,
                       static_cast<double>(row.arena_bytes) / 1e6, row.changed ? "yes" : "no", row.pass);
  }
  return out + fmt::format("{:>10.3f} {:>10}  {:<8}{}\n", total, "", "", "total");
}

std::string Timing::json(const std::string& file) const {
  nlohmann::ordered_json out;
  out["file"] = file;
  out["passes"] = nlohmann::ordered_json::array();
  for (const Row& row : rows_) {
    out["passes"].push_back({{"pass", row.pass},
                             {"milliseconds", row.milliseconds},
                             {"changed", row.changed},
                             {"arena_bytes", row.arena_bytes}});
  }
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string statistics(const Program* program) {
  std::map<std::string, std::size_t> functions, ops;
  std::size_t statements = 0;
  std::size_t loops = 0;
  std::size_t calls = 0;
  std::size_t dispatches = 0;
  std::string domains;
  for (const Function* function : program->functions) {
    const std::string kind =
        function->is_host_orchestrator() ? "host" : std::string(name_of(function->func_type));
    ++functions[kind];
    walk_stmts(function->body, [&](const Stmt* stmt) {
      ++statements;
      loops += stmt->kind == StmtKind::For || stmt->kind == StmtKind::While;
      if (const ScopeStmt* domain = dyn_scope(stmt, ScopeKind::CommDomain)) {
        domains += fmt::format(
            "domain of {} with {} slots:",
            domain->devices.empty() ? "all devices" : fmt::format("{} devices", domain->devices.size()),
            domain->slots.size());
        for (const WindowSlot& slot : domain->slots) {
          domains += fmt::format(" {} ({} bytes)", slot.base->name.text(), print_expr(slot.size));
        }
        domains += '\n';
      }
      for_each_expr(stmt, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* expr) {
          if (const auto* call = dyn<Call>(expr)) {
            if (call->is_op()) {
              ++ops[std::string(op_info(call->op).name)];
            } else {
              ++(function->is_host_orchestrator() ? dispatches : calls);
            }
          }
        });
      });
    });
  }
  std::string out;
  const auto line = [&](std::string_view what, std::size_t count) {
    out += fmt::format("{:>8} {}\n", count, what);
  };
  for (const auto& [kind, count] : functions) line(kind + " functions", count);
  line("statements", statements);
  line("loops", loops);
  line("dispatches", dispatches);
  line("calls of functions", calls);
  for (const auto& [name, count] : ops) {
    if (name.rfind("pld.", 0) == 0 || name.rfind("builtin.", 0) == 0) line(name, count);
  }
  return out + domains;
}

}  // namespace pldc
