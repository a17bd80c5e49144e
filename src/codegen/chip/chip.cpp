#include <fmt/format.h>

#include <algorithm>

#include "codegen/chip/emitter.h"
#include "ir/walk.h"
#include "support/diag/codegen.h"

namespace pldc {

bool emit_chip(const EmitEnv& env, const Function* function, std::string_view name, ChipText& out) {
  return ChipEmitter(env).run(function, name, out);
}

bool ChipEmitter::run(const Function* function, std::string_view name, ChipText& out) {
  start(function);
  text_ = &out;
  signature_ = signature_of(function);
  names_.reserve("a");
  const bool alone = function->is_kernel();
  if (!alone) look_at(function->body, false);

  std::string heading =
      fmt::format("Chip orchestration {} ({}).", name, env_.places.describe(function->name_span));
  out_.comment(heading);
  out_.raw("#include \"pld/orch.h\"");
  out_.line();
  out_.open("PLD_API PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs&)");
  out_.line(fmt::format("return PTO2OrchestrationConfig{{.expected_arg_count = {}}};",
                        signature_.tensors + signature_.scalars));
  out_.close();
  out_.line();
  std::string list;
  for (const ParamKind kind : {ParamKind::Tensor, ParamKind::Scalar}) {
    std::string part;
    for (const AbiParam& p : signature_.params) {
      if ((p.kind == ParamKind::Tensor) != (kind == ParamKind::Tensor)) continue;
      constexpr std::string_view kDirections[] = {"in", "out", "inout"};
      part += (part.empty() ? "" : ", ") + std::string(plain_name(p.param->var->name.text()));
      if (kind == ParamKind::Tensor) {
        part += fmt::format(" ({})", kDirections[static_cast<std::size_t>(p.param->direction)]);
      }
    }
    if (!part.empty()) list += (list.empty() ? "" : "; ") + part;
  }
  out_.comment("args: " + (list.empty() ? std::string("none") : list));
  const bool uses_args = !signature_.params.empty();
  out_.open(fmt::format("PLD_API void aicpu_orchestration_entry({}const ChipTaskArgs& a)",
                        uses_args ? "" : "[[maybe_unused]] "));
  parameters(signature_);
  out_.line();

  const auto is_scope = [](const Stmt* s) { return dyn_scope(s, ScopeKind::Runtime) != nullptr; };
  const bool scoped = !alone && std::any_of(function->body.begin(), function->body.end(), is_scope);
  if (!scoped) {
    out_.open("PTO2_SCOPE()");
    names_.push();
  }
  if (alone || function->is_wrapper()) {
    std::vector<const Expr*> args;
    for (const Param& p : function->params) args.push_back(p.var);
    const Call* call =
        env_.ir.call(function->name, env_.ir.list(args), {}, {}, env_.ir.unknown(), function->name_span);
    if (alone) {
      start_kernel(function, call->args, call, nullptr);
    } else {
      start_wrapper(function, call->args, call, nullptr);
    }
  } else {
    body(function->body, true);
  }
  if (!scoped) {
    names_.pop();
    out_.close();
  }
  out_.close();
  out.text = out_.take();
  return !failed();
}

// A scalar that is only handed on keeps its bits.
bool ChipEmitter::forwarded_only(const Var* scalar) const {
  int forwarded = 0;
  walk_stmts(function_->body, [&](const Stmt* stmt) {
    for_each_expr(stmt, [&](const Expr* e) {
      const auto* call = dyn<Call>(e);
      const auto* submit = dyn<Submit>(e);
      if (submit == nullptr && (call == nullptr || call->is_op())) return;
      const Function* callee = env_.program.find(call != nullptr ? call->function : submit->function);
      if (callee == nullptr || !callee->is_kernel()) return;
      const List<const Expr*> args = call != nullptr ? call->args : submit->args;
      for (std::size_t i = 0; i < args.size() && i < callee->params.size(); ++i) {
        const bool same = scalar_dtype(callee->params[i].var->type) == scalar_dtype(scalar->type);
        if (args[i] == scalar && same) ++forwarded;
      }
    });
  });
  return forwarded == uses(scalar);
}

void ChipEmitter::parameters(const Signature& signature) {
  const bool alone = function_->is_kernel();
  if (signature.params.size() != function_->params.size()) {
    for (const Param& p : function_->params) {
      if (signature.find(p.var) != nullptr) continue;
      env_.diags.report<diag::codegen_argument>(
          p.var->span, plain_name(p.var->name.text()), function_->name.text(),
          "only tensors, scalars and communication contexts can be passed");
    }
  }
  for (const AbiParam& p : signature.params) {
    const Var* var = p.param->var;
    bool wanted = alone || needed(var);
    if (p.kind == ParamKind::Tensor) {
      for (const SymbolSource& s : signature.symbols)
        wanted = wanted || (s.tensor == p.index && needed(s.symbol));
      if (!wanted) continue;
      out_.line(fmt::format("const ChipTensor& {} = a.tensor({}).ref();", names_.declare(var), p.index));
      continue;
    }
    if (!wanted) continue;
    const auto dtype = scalar_dtype(var->type);
    if (!dtype || alone || forwarded_only(var)) {
      out_.line(fmt::format("const uint64_t {} = a.scalar({});", names_.declare(var), p.index));
    } else {
      const std::string_view type = cpp_scalar_type(*dtype);
      out_.line(fmt::format("const {0} {1} = pld_from_u64<{0}>(a.scalar({2}));", type, names_.declare(var),
                            p.index));
    }
  }
  for (const SymbolSource& s : signature.symbols) {
    if (!needed(s.symbol)) continue;
    for (const AbiParam& p : signature.params) {
      if (p.kind != ParamKind::Tensor || p.index != s.tensor) continue;
      const std::string from = names_.of(p.param->var);
      out_.line(fmt::format("const int64_t {} = {}.shapes[{}];", names_.declare(s.symbol), from, s.axis));
    }
  }
}

std::string ChipEmitter::symbol(const Var*) { return {}; }

// The variable that owns the memory of a view.
const Var* ChipEmitter::memory(const Var* view) const {
  for (int depth = 0; view != nullptr && depth < 1000; ++depth) {
    const auto* call = dyn<Call>(aliases().definition(view));
    const int of = call != nullptr && call->is_op() ? op_info(call->op).effects.result_view_of : -1;
    if (of < 0 || static_cast<std::size_t>(of) >= call->args.size()) return view;
    view = root(call->args[static_cast<std::size_t>(of)]);
  }
  return view;
}

// Whether memory that the body makes is carried out of it: freeing it at the end of the scope would be too early.
bool ChipEmitter::escapes(Body list) const {
  std::unordered_set<const Var*> made;
  bool out = false;
  walk_stmts(list, [&](const Stmt* stmt) {
    const auto* assign = dyn<AssignStmt>(stmt);
    if (assign != nullptr) made.insert(assign->var);
  });
  walk_stmts(list, [&](const Stmt* stmt) {
    const auto* yield = dyn<YieldStmt>(stmt);
    if (yield == nullptr) return;
    for (const Expr* value : yield->values) {
      if (dyn<TensorType>(value->type) == nullptr) continue;
      const Var* owner = memory(root(value));
      out = out || (owner != nullptr && made.count(owner) != 0);
    }
  });
  return out;
}

// Whether a tensor that the body names is used behind it, by name: by a later statement, or as the result of a function
// whose body is written here.
bool ChipEmitter::used_behind(Body list) const {
  std::unordered_map<const Var*, int> inside;
  std::unordered_set<const Var*> made;
  walk_stmts(list, [&](const Stmt* stmt) {
    for_each_def(stmt, [&](const Var* var) {
      if (dyn<TensorType>(var->type) != nullptr) made.insert(var);
    });
    for_each_expr(stmt, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        if (const auto* var = dyn<Var>(e)) ++inside[var];
      });
    });
  });
  bool out = false;
  walk_stmts(list, [&](const Stmt* stmt) {
    const auto* ret = expanding() ? dyn<ReturnStmt>(stmt) : nullptr;
    if (ret == nullptr) return;
    for (const Expr* value : ret->values) {
      const Var* owner = root(value);
      out = out || (owner != nullptr && made.count(owner) != 0);
    }
  });
  return out || std::any_of(made.begin(), made.end(), [&](const Var* var) {
           const Var* owner = root(var);
           return owner != nullptr && made.count(owner) != 0 && uses(var) > inside[var];
         });
}

void ChipEmitter::scope(const ScopeStmt* scope, bool tail) {
  switch (scope->scope) {
    case ScopeKind::Runtime: {
      if (used_behind(scope->body)) {
        out_.line("// No scope: a tensor made here is used behind it.");
        return body(scope->body, tail);
      }
      const bool keep = escapes(scope->body);
      if (keep) {
        out_.line("// No scope: a tensor made here is carried on.");
        out_.open("");
      } else {
        out_.open(scope->manual ? "PTO2_SCOPE(PTO2ScopeMode::MANUAL)" : "PTO2_SCOPE()");
      }
      names_.push();
      body(scope->body, tail);
      names_.pop();
      out_.close();
      return;
    }
    case ScopeKind::Spmd: {
      const Launch outer = launch_;
      launch_.blocks = scalar_.as(scope->core_num, DType::INT32);
      launch_.sync_start = scope->sync_start;
      body(scope->body, tail);
      launch_ = outer;
      return;
    }
    case ScopeKind::Cluster:
    case ScopeKind::Graph:
      return body(scope->body, tail);
    case ScopeKind::InCore:
    case ScopeKind::Hierarchy:
    case ScopeKind::SplitAiv:
    case ScopeKind::CommDomain:
      break;
  }
  constexpr std::string_view kNames[] = {"in-core", "level", "cluster", "graph",
                                         "spmd",    "split", "runtime", "domain"};
  env_.diags
      .report<diag::codegen_scope>(scope->span, kNames[static_cast<std::size_t>(scope->scope)],
                                   "an orchestration")
      .help("put the statements into an InCore function and call it");
}

bool waits(const Function* kernel) {
  bool found = false;
  walk_stmts(kernel->body, [&](const Stmt* stmt) {
    for_each_expr(stmt, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        const auto* call = dyn<Call>(e);
        if (call == nullptr || !call->is_op()) return;
        found = found || call->op == OpId::pld_system_wait || call->op == OpId::pld_system_notify ||
                call->op == OpId::system_syncall;
      });
    });
  });
  return found;
}

}  // namespace pldc
