// InOutUseValid and OutParamNotShadowed: what was handed over for writing is known afterwards by the value
// that the call returned, and an output parameter stays the caller's memory.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/walk.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

struct HandedOver {
  Span place;
  ParamDirection direction;
};
using HandedSet = std::unordered_map<const Var*, HandedOver>;

// The variables that must not be read, with an undo log: branches and loops cost what they change, not what
// there is.
class Dead {
 public:
  const HandedOver* find(const Var* var) const {
    const auto found = now_.find(var);
    return found != now_.end() ? &found->second : nullptr;
  }
  bool empty() const { return now_.empty(); }
  void set(const Var* var, const HandedOver& how) { put(var, how); }
  void keep_or_set(const Var* var, const HandedOver& how) {
    if (find(var) == nullptr) put(var, how);
  }
  void clear(const Var* var) {
    if (find(var) != nullptr) put(var, std::nullopt);
  }

  std::size_t mark() const { return log_.size(); }
  // What changed since `mark`: for each variable the state before and now.
  struct Change {
    const Var* var;
    std::optional<HandedOver> before, now;
  };
  std::vector<Change> changes_since(std::size_t mark) const {
    std::vector<Change> out;
    std::unordered_set<const Var*> seen;
    for (std::size_t i = mark; i < log_.size(); ++i) {
      const auto& [var, before] = log_[i];
      if (!seen.insert(var).second) continue;
      const HandedOver* now = find(var);
      out.push_back({var, before, now != nullptr ? std::optional(*now) : std::nullopt});
    }
    return out;
  }
  void roll_back(std::size_t mark) {
    while (log_.size() > mark) {
      const auto [var, before] = log_.back();
      log_.pop_back();
      if (before) {
        now_.insert_or_assign(var, *before);
      } else {
        now_.erase(var);
      }
    }
  }

 private:
  void put(const Var* var, const std::optional<HandedOver>& how) {
    const HandedOver* before = find(var);
    log_.emplace_back(var, before != nullptr ? std::optional(*before) : std::nullopt);
    if (how) {
      now_.insert_or_assign(var, *how);
    } else {
      now_.erase(var);
    }
  }
  HandedSet now_;
  std::vector<std::pair<const Var*, std::optional<HandedOver>>> log_;
};

class Verifier {
 public:
  Verifier(const std::unordered_map<Name, const Function*>& functions, DiagSink& diags)
      : functions_(functions), diags_(diags) {}

  void run(const Function* f) {
    function_ = f;
    Dead dead;
    body(f->body, dead);
  }

 private:
  // What a body hands over and does not bind again, and what it surely binds: enough to know how a second run
  // of a loop body starts, without walking it twice.
  struct Summary {
    HandedSet handed;
    std::unordered_map<const Var*, bool> bound;
  };

  // Calls f(var, direction, place) for each variable of plain tensor type given to an Out or InOut parameter.
  // Window views are exempt: many ranks write into one window, and no returned value stands for it.
  template <class F>
  void for_each_output(const Expr* root, Span statement, F&& f) {
    walk_expr(root, [&](const Expr* e) {
      Name callee;
      List<const Expr*> args;
      if (const auto* call = dyn<Call>(e); call != nullptr && !call->is_op()) {
        callee = call->function;
        args = call->args;
      } else if (const auto* submit = dyn<Submit>(e)) {
        callee = submit->function;
        args = submit->args;
      }
      const auto found = callee.empty() ? functions_.end() : functions_.find(callee);
      // Without a result there is nothing else to read: the tensor itself stays the name of the memory.
      if (found == functions_.end() || found->second->return_types.empty()) return;
      const List<Param> params = found->second->params;
      for (std::size_t i = 0; i < args.size() && i < params.size(); ++i) {
        const auto* var = dyn<Var>(args[i]);
        if (var == nullptr || params[i].direction == ParamDirection::In || !is_plain_tensor(var->type))
          continue;
        f(var, params[i].direction, e->span.valid() ? e->span : statement);
      }
    });
  }

  // Variables that the expression reads. An Out argument is written, not read.
  template <class F>
  void for_each_read(const Expr* e, F&& f) {
    if (const auto* var = dyn<Var>(e)) {
      f(var);
      return;
    }
    Name callee;
    List<const Expr*> args;
    if (const auto* call = dyn<Call>(e); call != nullptr && !call->is_op()) {
      callee = call->function;
      args = call->args;
    } else if (const auto* submit = dyn<Submit>(e)) {
      callee = submit->function;
      args = submit->args;
    }
    const auto found = callee.empty() ? functions_.end() : functions_.find(callee);
    std::size_t at = 0;
    for_each_child(e, [&](const Expr* child) {
      // The arguments come first among the operands.
      const std::size_t i = at++;
      const bool written = found != functions_.end() && i < args.size() && i < found->second->params.size() &&
                           found->second->params[i].direction == ParamDirection::Out &&
                           child->kind == ExprKind::Var;
      if (!written) for_each_read(child, f);
    });
  }

  static void bind(const Var* var, Summary& s) {
    s.handed.erase(var);
    s.bound[var] = true;
  }

  const Summary& summary_of(Body list) {
    static const Summary kEmpty;
    if (list.empty()) return kEmpty;
    if (const auto known = summaries_.find(list.data()); known != summaries_.end()) return known->second;
    Summary out;
    for (const Stmt* s : list) {
      for_each_expr(s, [&](const Expr* root) {
        for_each_output(root, s->span, [&](const Var* v, ParamDirection d, Span place) {
          out.handed.insert_or_assign(v, HandedOver{place, d});
        });
      });
      if (const auto* branch = dyn<IfStmt>(s)) {
        const Summary& then_part = summary_of(branch->then_body);
        const Summary& else_part = summary_of(branch->else_body);
        for (const auto& [v, in_both] : then_part.bound) {
          if (else_part.bound.count(v) != 0) bind(v, out);
        }
        for (const Summary* part : {&then_part, &else_part})
          out.handed.insert(part->handed.begin(), part->handed.end());
      } else if (s->kind == StmtKind::Scope) {
        const Summary& inner = summary_of(static_cast<const ScopeStmt*>(s)->body);
        for (const auto& [v, yes] : inner.bound) bind(v, out);
        out.handed.insert(inner.handed.begin(), inner.handed.end());
      } else {
        for_each_body(s, [&](Body b) {
          const Summary& inner = summary_of(b);
          out.handed.insert(inner.handed.begin(), inner.handed.end());
        });
      }
      for_each_def(s, [&](const Var* v) { bind(v, out); });
    }
    return summaries_.emplace(list.data(), std::move(out)).first->second;
  }

  void check(const Expr* root, Span statement, Dead& dead) {
    if (!dead.empty()) {
      for_each_read(root, [&](const Var* v) {
        const HandedOver* found = dead.find(v);
        if (found == nullptr) return;
        diags_.report<diag::read_after_output>(statement, v->name.text(), name_of(found->direction))
            .note(found->place, "handed over here")
            .help("use the value that the call returns instead of '{}'", v->name.text());
        dead.clear(v);  // once is enough
      });
    }
    for_each_output(root, statement, [&](const Var* v, ParamDirection d, Span place) {
      dead.set(v, HandedOver{place, d});
    });
  }

  void body(Body list, Dead& dead) {
    for (const Stmt* s : list) stmt(s, dead);
  }

  void stmt(const Stmt* s, Dead& dead) {
    const auto* loop_while = dyn<WhileStmt>(s);
    if (loop_while == nullptr) {
      for_each_expr(s, [&](const Expr* e) {
        if (s->kind != StmtKind::Return || !names_output(e)) check(e, s->span, dead);
      });
    } else {
      for (const IterArg& arg : loop_while->iter_args) check(arg.init, s->span, dead);
    }
    if (const auto* branch = dyn<IfStmt>(s)) {
      // Afterwards dead is what is dead at the end of either branch.
      const std::size_t mark = dead.mark();
      body(branch->then_body, dead);
      const auto in_then = dead.changes_since(mark);
      dead.roll_back(mark);
      body(branch->else_body, dead);
      std::unordered_set<const Var*> changed;
      for (const Dead::Change& change : in_then) changed.insert(change.var);
      for (const Dead::Change& change : dead.changes_since(mark)) {
        if (change.before && changed.count(change.var) == 0) dead.keep_or_set(change.var, *change.before);
      }
      for (const Dead::Change& change : in_then) {
        if (change.now) dead.keep_or_set(change.var, *change.now);
      }
    } else if (const auto* loop = dyn<ForStmt>(s)) {
      loop_body(loop->body, dead, [&] { define_header(s, dead); });
    } else if (loop_while != nullptr) {
      loop_body(loop_while->body, dead, [&] {
        define_header(s, dead);
        check(loop_while->condition, s->span, dead);
      });
    } else {
      for_each_body(s, [&](Body inner) { body(inner, dead); });
    }
    for_each_def(s, [&](const Var* v) { dead.clear(v); });
  }

  // A kernel's return names the parameters that it has written (NormalizeReturnOrder), through calls too.
  bool names_output(const Expr* e) const {
    return function_->is_kernel() &&
           std::any_of(function_->params.begin(), function_->params.end(), [&](const Param& param) {
             return param.var == e && param.direction != ParamDirection::In;
           });
  }

  static void define_header(const Stmt* s, Dead& dead) {
    if (const auto* loop = dyn<ForStmt>(s)) {
      dead.clear(loop->loop_var);
      for (const IterArg& arg : loop->iter_args) dead.clear(arg.var);
    } else if (const auto* loop_while = dyn<WhileStmt>(s)) {
      for (const IterArg& arg : loop_while->iter_args) dead.clear(arg.var);
    }
  }

  // The body starts as it is found by its first run or by a later one; after it, it may have run or not.
  template <class Header>
  void loop_body(Body list, Dead& dead, Header&& header) {
    const std::size_t mark = dead.mark();
    for (const auto& [v, where] : summary_of(list).handed) dead.keep_or_set(v, where);
    header();
    body(list, dead);
    for (const Dead::Change& change : dead.changes_since(mark)) {
      if (change.before) dead.keep_or_set(change.var, *change.before);
    }
  }

  const std::unordered_map<Name, const Function*>& functions_;
  DiagSink& diags_;
  const Function* function_ = nullptr;
  std::unordered_map<const Stmt* const*, Summary> summaries_;
};

}  // namespace

void verify_InOutUseValid(const Program* program, DiagSink& diags) {
  std::unordered_map<Name, const Function*> functions;
  for (const Function* f : program->functions) functions.emplace(f->name, f);
  for (const Function* f : program->functions) {
    if (!f->is_wrapper()) Verifier(functions, diags).run(f);
  }
}

void verify_OutParamNotShadowed(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    std::unordered_map<const Var*, ParamDirection> outputs;
    for (const Param& param : f->params) {
      if (param.direction != ParamDirection::In) outputs.emplace(param.var, param.direction);
    }
    if (outputs.empty()) continue;
    walk_stmts(f->body, [&](const Stmt* s) {
      const auto* assign = dyn<AssignStmt>(s);
      if (assign == nullptr) return;
      const auto* call = dyn<Call>(assign->value);
      const bool creates =
          call != nullptr && (call->op == OpId::tensor_create || call->op == OpId::tensor_full);
      const auto found = creates ? outputs.find(assign->var) : outputs.end();
      if (found == outputs.end()) return;
      diags
          .report<diag::output_param_replaced>(s->span, name_of(found->second), assign->var->name.text(),
                                               op_info(call->op).name)
          .note(assign->var->span, "the parameter")
          .help("write into '{}' instead, or give the new tensor another name", assign->var->name.text());
    });
  }
}

}  // namespace pldc
