// OutlineIncoreScopes (9): turns pl.at(level=pl.Level.CORE_GROUP) scopes into kernels. From here on it is known what
// runs on a core and what launches it: a function that had such scopes becomes an orchestration.
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/outline/outliner.h"

namespace pldc {

namespace {

bool is_parent(const Function* f) {
  return f->func_type == FuncType::Opaque || f->func_type == FuncType::Orchestration ||
         f->func_type == FuncType::Graph;
}

// Puts the symbol of a dynamic dim in place of variables that read that dim: the symbol needs no parameter.
class DimReads : public Rewriter {
 public:
  DimReads(Context& context, const Function* f) : Rewriter(context) {
    for (const Param& param : f->params) {
      const auto* tensor = dyn<TensorType>(param.var->type);
      if (tensor == nullptr) continue;
      for (const Expr* dim : tensor->shape) {
        if (const auto* symbol = dyn<Var>(dim)) symbols_.insert(symbol);
      }
    }
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const auto* assign = dyn<AssignStmt>(s);
    const Expr* symbol = assign != nullptr ? symbol_read(assign->value) : nullptr;
    if (symbol == nullptr) {
      Rewriter::stmt(s, out);
    } else {
      substitute(assign->var, symbol);
    }
  }

 private:
  const Expr* symbol_read(const Expr* value) {
    const Call* call = op_call(value, OpId::tensor_dim);
    if (call == nullptr || call->args.size() != 2) return nullptr;
    const auto* tensor = dyn<TensorType>(expr(call->args[0])->type);
    auto axis = const_int(call->args[1]);
    if (tensor == nullptr || !axis) return nullptr;
    const auto rank = static_cast<std::int64_t>(tensor->shape.size());
    if (*axis < 0) *axis += rank;
    if (*axis < 0 || *axis >= rank) return nullptr;
    const auto* symbol = dyn<Var>(tensor->shape[static_cast<std::size_t>(*axis)]);
    return symbol != nullptr && symbols_.count(symbol) != 0 ? symbol : nullptr;
  }

  std::unordered_set<const Var*> symbols_;
};

}  // namespace

const Program* run_OutlineIncoreScopes(PassEnv& env, const Program* program) {
  const std::uint32_t errors = env.diags.error_count();
  outlining::Outliner outliner(env, program, {ScopeKind::InCore, FuncType::InCore, "incore"});
  std::vector<const Function*> functions;
  for (const Function* f : program->functions) {
    bool has_scope = false;
    if (is_parent(f)) {
      walk_stmts(f->body,
                 [&](const Stmt* s) { has_scope = has_scope || dyn_scope(s, ScopeKind::InCore) != nullptr; });
    }
    if (!has_scope) {
      functions.push_back(f);
      continue;
    }
    if (f->func_type != FuncType::Opaque) {
      functions.push_back(outliner.run(f));
      continue;
    }
    Function n = *outliner.run(DimReads(env.ir, f).function(f));
    n.func_type = FuncType::Orchestration;
    n.level = implied_level_role(FuncType::Orchestration).level;
    n.role = implied_level_role(FuncType::Orchestration).role;
    functions.push_back(env.ir.make(n));
  }
  if (env.diags.error_count() != errors) return nullptr;
  return outlining::with_functions(env.ir, program, functions, outliner.made());
}

}  // namespace pldc
