#include "codegen/host/out_reads.h"

#include <unordered_set>

#include "ir/op.h"
#include "passes/function_call.h"

namespace pldc {

bool OutReads::operator()(const Function* function, std::size_t param) {
  return function->params[param].direction == ParamDirection::Out && of(function)[param];
}

const std::vector<bool>& OutReads::of(const Function* function) {
  const auto known = known_.find(function);
  if (known != known_.end()) return known->second;
  // Also the answer for a function that comes to itself again.
  known_[function] = std::vector<bool>(function->params.size());

  Aliases aliases(calls_);
  aliases.add(function->body);
  std::unordered_set<const Expr*> read, written;
  walk_stmts(function->body, [&](const Stmt* stmt) {
    std::vector<const Expr*> writes;
    const auto note = [&](const Expr* value, bool reads, bool also_writes) {
      const Expr* root = aliases.root(value);
      if (reads && written.count(root) == 0) read.insert(root);
      if (also_writes) writes.push_back(root);
    };
    for_each_expr(stmt, [&](const Expr* whole) {
      walk_expr(whole, [&](const Expr* e) {
        if (const auto called = function_call(e)) {
          const Function* callee = program_.find(called->callee);
          for (std::size_t i = 0; callee != nullptr && i < called->args.size(); ++i) {
            const Param* param = param_for(callee, *called, i);
            if (param == nullptr) continue;
            const auto position = static_cast<std::size_t>(param - callee->params.data());
            note(called->args[i], param->direction != ParamDirection::Out || (*this)(callee, position),
                 param->direction != ParamDirection::In);
          }
          return;
        }
        const auto* call = dyn<Call>(e);
        // Shapes are not memory, and who drops a cached copy does not look at it.
        if (call == nullptr || call->op == OpId::tensor_dim || call->op == OpId::system_cacheinvalid) return;
        const Effects& effects = op_info(call->op).effects;
        for (std::size_t i = 0; i < call->args.size() && i < effects.access.size(); ++i) {
          if (static_cast<int>(i) == effects.result_view_of) continue;
          const Access access = effects.access[i];
          note(call->args[i], access == Access::Read || access == Access::ReadWrite,
               access == Access::Write || access == Access::ReadWrite);
        }
      });
    });
    written.insert(writes.begin(), writes.end());
  });
  std::vector<bool>& out = known_[function];
  for (std::size_t i = 0; i < function->params.size(); ++i) out[i] = read.count(function->params[i].var) != 0;
  return out;
}

}  // namespace pldc
