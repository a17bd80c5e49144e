// Writes into parameters that are declared inputs. Some the passes put right: ConvertTensorToTileOps declares as outputs
// what a kernel writes and what is handed on as it came in. What is written by way of a part of the parameter, of a loop
// carry or of a single element stays an input, so no caller waits for it or hands it back; these are found here.
#include <algorithm>
#include <span>
#include <unordered_set>

#include "ir/check_op.h"
#include "passes/function_call.h"
#include "passes/trace.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

constexpr int kUnset = -1;     // nothing known yet
constexpr int kNoParam = -2;   // no parameter, or not always the same
constexpr int kLongest = 100;  // steps through one expression; tuples may be made of their own elements

// For each function which of its parameters are written.
using Outputs = std::unordered_map<const Function*, std::vector<bool>>;

// Which plain tensor parameter of a function each variable is, or is a part of, whatever the order of its assignments:
// a variable counts only if all its values are of one parameter.
class Memory {
 public:
  Memory(const Program* program, const Outputs& outputs, const Function* f)
      : program_(program), outputs_(outputs) {
    for (std::size_t i = 0; i < f->params.size(); ++i) {
      if (is_plain_tensor(f->params[i].var->type)) meet(f->params[i].var, static_cast<int>(i));
    }
    tuples(f->body);
    define(f->body);
    while (!changed_.empty()) {
      const Var* var = changed_.back();
      changed_.pop_back();
      const int now = states_[var];
      for (const Var* user : users_[var]) meet(user, now);
    }
  }

  int param(const Expr* value) const {
    const Var* var = source(value);
    const auto found = var != nullptr ? states_.find(var) : states_.end();
    return found != states_.end() && found->second >= 0 ? found->second : kNoParam;
  }

  // The variable that the value is another name for, or a part of; null if it is something new.
  const Var* source(const Expr* value) const {
    for (int step = 0; value != nullptr && step < kLongest; ++step) {
      if (const auto* var = dyn<Var>(value)) return var;
      value = operand(value);
    }
    return nullptr;
  }

 private:
  const Expr* operand(const Expr* value) const {
    if (const auto* get = dyn<TupleGet>(value)) {
      const auto* var = dyn<Var>(get->tuple);
      const auto known = var != nullptr ? tuples_.find(var) : tuples_.end();
      const Expr* tuple = known != tuples_.end() ? known->second : get->tuple;
      if (const auto* made = dyn<MakeTuple>(tuple)) {
        const auto index = static_cast<std::size_t>(get->index);
        return index < made->elements.size() ? made->elements[index] : nullptr;
      }
      return written_argument(tuple);
    }
    const auto* call = dyn<Call>(value);
    if (call == nullptr || !call->is_op()) return written_argument(value);
    const Effects& effects = op_info(call->op).effects;
    const int from = effects.result_aliases >= 0 ? effects.result_aliases : effects.result_view_of;
    return from >= 0 && static_cast<std::size_t>(from) < call->args.size()
               ? call->args[static_cast<std::size_t>(from)]
               : nullptr;
  }

  // A function that writes one tensor usually returns it.
  const Expr* written_argument(const Expr* value) const {
    const auto called = function_call(value);
    const Function* callee = called ? program_->find(called->callee) : nullptr;
    const Expr* found = nullptr;
    for (std::size_t i = 0; callee != nullptr && i < called->args.size(); ++i) {
      const Param* param = param_for(callee, *called, i);
      if (param == nullptr || !is_plain_tensor(called->args[i]->type)) continue;
      if (!outputs_.at(callee)[static_cast<std::size_t>(param - callee->params.data())]) continue;
      if (found != nullptr) return nullptr;
      found = called->args[i];
    }
    return found;
  }

  void tuples(Body body) {
    walk_stmts(body, [&](const Stmt* s) {
      const auto* assign = dyn<AssignStmt>(s);
      if (assign != nullptr && dyn<TupleType>(assign->var->type) != nullptr)
        tuples_[assign->var] = assign->value;
    });
  }

  void define(Body body) {
    walk_stmts(body, [&](const Stmt* s) {
      if (const auto* assign = dyn<AssignStmt>(s)) {
        define(assign->var, assign->value);
      } else if (const auto* loop = dyn<ForStmt>(s)) {
        carries(loop->iter_args, loop->return_vars, loop->body);
      } else if (const auto* loop_while = dyn<WhileStmt>(s)) {
        carries(loop_while->iter_args, loop_while->return_vars, loop_while->body);
      } else if (const auto* branch = dyn<IfStmt>(s)) {
        results(branch->return_vars, branch->then_body);
        results(branch->return_vars, branch->else_body);
      }
    });
  }
  void carries(List<IterArg> args, List<const Var*> vars, Body body) {
    std::vector<const Var*> carried;
    for (std::size_t i = 0; i < args.size(); ++i) {
      define(args[i].var, args[i].init);
      if (i < vars.size()) define(vars[i], args[i].var);
      carried.push_back(args[i].var);
    }
    results(carried, body);
  }
  void results(std::span<const Var* const> vars, Body body) {
    const YieldStmt* yield = trailing_yield(body);
    for (std::size_t i = 0; yield != nullptr && i < vars.size() && i < yield->values.size(); ++i)
      define(vars[i], yield->values[i]);
  }
  void define(const Var* var, const Expr* value) {
    if (!is_plain_tensor(var->type)) return;
    const Var* from = source(value);
    if (from == nullptr) {
      meet(var, kNoParam);
    } else if (from != var) {
      users_[from].push_back(var);
      meet(var, states_.try_emplace(from, kUnset).first->second);
    }
  }

  void meet(const Var* var, int state) {
    int& now = states_.try_emplace(var, kUnset).first->second;
    const int met = now == kUnset || now == state ? state : state == kUnset ? now : kNoParam;
    if (met == now) return;
    now = met;
    changed_.push_back(var);
  }

  const Program* program_;
  const Outputs& outputs_;
  std::unordered_map<const Var*, const Expr*> tuples_;
  std::unordered_map<const Var*, int> states_;
  std::unordered_map<const Var*, std::vector<const Var*>> users_;
  std::vector<const Var*> changed_;
};

// One place that may write a parameter.
struct Write {
  int param;
  bool raises;  // the passes declare the parameter an output
  Span place;
  const Function* callee = nullptr;  // null: an operation, which does write
  std::size_t callee_param = 0;
};

class Writes {
 public:
  Writes(const Program* program, const Outputs& outputs, const Function* f)
      : program_(program), function_(f), memory_(program, outputs, f) {
    body(f->body, nullptr);
  }
  std::vector<Write> take() { return std::move(writes_); }

 private:
  void body(Body statements, const ScopeStmt* kernel) {
    for (const Stmt* s : statements) {
      for_each_expr(s, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) { visit(e, e->span.valid() ? e->span : s->span, kernel); });
      });
      if (s->kind == StmtKind::For || s->kind == StmtKind::While) {
        // What a loop binds anew becomes a carry of it.
        for_each_body(
            s, [&](Body inner) { walk_stmts(inner, [&](const Stmt* in_loop) { bind(in_loop, kernel); }); });
      }
      const auto* scope = dyn<ScopeStmt>(s);
      const bool enters = kernel == nullptr && scope != nullptr && scope->scope == ScopeKind::InCore;
      for_each_body(s, [&](Body inner) { body(inner, enters ? scope : kernel); });
      bind(s, kernel);
    }
  }
  void bind(const Stmt* s, const ScopeStmt* kernel) {
    const auto* assign = dyn<AssignStmt>(s);
    if (assign == nullptr) return;
    rebound_.insert(assign->var);
    if (kernel != nullptr) made_in_[assign->var] = {kernel, assign->value};
  }

  void visit(const Expr* e, Span place, const ScopeStmt* kernel) {
    if (const auto called = function_call(e)) {
      const Function* callee = program_->find(called->callee);
      for (std::size_t i = 0; callee != nullptr && i < called->args.size(); ++i) {
        const Param* param = param_for(callee, *called, i);
        const int written = param != nullptr ? memory_.param(called->args[i]) : kNoParam;
        if (written < 0) continue;
        writes_.push_back({written, raises(called->args[i], kernel), place, callee,
                           static_cast<std::size_t>(param - callee->params.data())});
      }
      return;
    }
    const auto* call = dyn<Call>(e);
    if (call == nullptr) return;
    for (std::size_t i = 0; i < call->args.size(); ++i) {
      const Access access = access_of(call, i);
      if (access != Access::Write && access != Access::ReadWrite) continue;
      const int written = memory_.param(call->args[i]);
      if (written < 0) continue;
      const bool found = function_->is_kernel() || (kernel != nullptr && raises(call->args[i], kernel));
      writes_.push_back({written, found, place});
    }
  }

  // Whether a function that gets this value, or the kernel that the scope becomes, gets the parameter as it came in.
  bool raises(const Expr* value, const ScopeStmt* kernel) const {
    const Var* var = dyn<Var>(value);
    for (int step = 0; kernel != nullptr && step < kLongest; ++step) {
      if (var == nullptr) var = memory_.source(value);
      const auto made = made_in_.find(var);
      if (made == made_in_.end() || made->second.scope != kernel) break;
      value = made->second.value;
      var = nullptr;
    }
    return var != nullptr && rebound_.count(var) == 0 &&
           std::any_of(function_->params.begin(), function_->params.end(),
                       [&](const Param& param) { return param.var == var; });
  }

  struct Made {
    const ScopeStmt* scope;
    const Expr* value;
  };
  const Program* program_;
  const Function* function_;
  Memory memory_;
  std::unordered_set<const Var*> rebound_;
  std::unordered_map<const Var*, Made> made_in_;  // what kernel scopes bind
  std::vector<Write> writes_;
};

class InputWrites {
 public:
  explicit InputWrites(const Program* program) : program_(program) {
    for (const Function* f : program->functions) {
      std::vector<bool>& outputs = outputs_[f];
      for (const Param& param : f->params) outputs.push_back(param.direction != ParamDirection::In);
    }
    // Results of kernels are known by what kernels write.
    for (const bool kernels : {true, false}) {
      for (const Function* f : program->functions) {
        if (f->is_kernel() == kernels) function(f);
      }
    }
    written_ = outputs_;
    spread(outputs_, [](const Write& write) { return write.raises; });
    spread(written_, [](const Write&) { return true; });
  }

  void report(const Function* f, DiagSink& diags) const {
    const std::vector<bool>& outputs = outputs_.at(f);
    std::unordered_set<int> reported;
    for (const Write& write : writes_.at(f)) {
      const Param& param = f->params[static_cast<std::size_t>(write.param)];
      const bool writes = write.callee == nullptr || written_.at(write.callee)[write.callee_param];
      if (!writes || outputs[static_cast<std::size_t>(write.param)] || !reported.insert(write.param).second)
        continue;
      diags.report<diag::input_written>(write.place, param.var->name.text(), f->name.text())
          .note(param.var->span.valid() ? param.var->span : f->name_span,
                "an input, since it is neither pl.Out nor pl.InOut")
          .help("declare the parameter with pl.Out[...], or pl.InOut[...] if its old contents are read, too");
    }
  }

 private:
  void function(const Function* f) {
    const std::vector<Write>& writes = writes_[f] = Writes(program_, outputs_, f).take();
    for (const Write& write : writes) {
      if (write.callee != nullptr) {
        callers_[write.callee].push_back({f, &write});
      } else if (write.raises) {
        outputs_[f][static_cast<std::size_t>(write.param)] = true;
      }
    }
  }

  // Adds what calls write that `counts` says yes to, from callees to callers.
  template <class Counts>
  void spread(Outputs& outputs, Counts&& counts) {
    std::vector<std::pair<const Function*, std::size_t>> fresh;
    const auto add = [&](const Function* f, const Write& write) {
      const auto at = static_cast<std::size_t>(write.param);
      if (!counts(write) || outputs[f][at]) return;
      outputs[f][at] = true;
      fresh.emplace_back(f, at);
    };
    for (const Function* f : program_->functions) {
      for (const Write& write : writes_[f]) {
        if (write.callee == nullptr || outputs[write.callee][write.callee_param]) add(f, write);
      }
    }
    while (!fresh.empty()) {
      const auto [f, param] = fresh.back();
      fresh.pop_back();
      for (const auto& [caller, write] : callers_[f]) {
        if (write->callee_param == param) add(caller, *write);
      }
    }
  }

  const Program* program_;
  Outputs outputs_;  // declared, by the program or by the passes
  Outputs written_;
  std::unordered_map<const Function*, std::vector<Write>> writes_;
  std::unordered_map<const Function*, std::vector<std::pair<const Function*, const Write*>>> callers_;
};

}  // namespace

void find_input_writes(const Program* program, DiagSink& diags) {
  const InputWrites writes(program);
  for (const Function* f : program->functions) {
    if (f->func_type != FuncType::Inline) writes.report(f, diags);
  }
}

}  // namespace pldc
