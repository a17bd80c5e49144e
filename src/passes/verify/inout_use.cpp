// InOutUseValid and OutParamNotShadowed: what was handed over for writing is known afterwards by the value
// that the call returned, and an output parameter stays the caller's memory.
#include <unordered_map>
#include <vector>

#include "ir/walk.h"
#include "passes/verify/verifiers.h"

namespace pldc {

namespace {

struct HandedOver {
  Span place;
  ParamDirection direction;
};
using Dead = std::unordered_map<const Var*, HandedOver>;

class Verifier {
 public:
  Verifier(const std::unordered_map<Name, const Function*>& functions, DiagSink& diags)
      : functions_(functions), diags_(diags) {}

  void run(const Function* f) {
    Dead dead;
    body(f->body, dead);
  }

 private:
  // What a body hands over and does not bind again, and what it surely binds: enough to know how a second run
  // of a loop body starts, without walking it twice.
  struct Summary {
    Dead handed;
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
        const auto found = dead.find(v);
        if (found == dead.end()) return;
        diags_.report<Diag::read_after_output>(statement, v->name.text(), name_of(found->second.direction))
            .note(found->second.place, "handed over here")
            .help("use the value that the call returns instead of '{}'", v->name.text());
        dead.erase(found);  // once is enough
      });
    }
    for_each_output(root, statement, [&](const Var* v, ParamDirection d, Span place) {
      dead.insert_or_assign(v, HandedOver{place, d});
    });
  }

  void body(Body list, Dead& dead) {
    for (const Stmt* s : list) stmt(s, dead);
  }

  void stmt(const Stmt* s, Dead& dead) {
    const auto* loop_while = dyn<WhileStmt>(s);
    if (loop_while == nullptr) {
      for_each_expr(s, [&](const Expr* e) { check(e, s->span, dead); });
    } else {
      for (const IterArg& arg : loop_while->iter_args) check(arg.init, s->span, dead);
    }
    if (const auto* branch = dyn<IfStmt>(s)) {
      Dead other = dead;
      body(branch->then_body, dead);
      body(branch->else_body, other);
      for (const auto& [v, where] : other) dead.emplace(v, where);
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
    for_each_def(s, [&](const Var* v) { dead.erase(v); });
  }

  static void define_header(const Stmt* s, Dead& dead) {
    if (const auto* loop = dyn<ForStmt>(s)) {
      dead.erase(loop->loop_var);
      for (const IterArg& arg : loop->iter_args) dead.erase(arg.var);
    } else if (const auto* loop_while = dyn<WhileStmt>(s)) {
      for (const IterArg& arg : loop_while->iter_args) dead.erase(arg.var);
    }
  }

  // The body starts as it is found by its first run or by a later one; after it, it may have run or not.
  template <class Header>
  void loop_body(Body list, Dead& dead, Header&& header) {
    const Dead before = dead;
    for (const auto& [v, where] : summary_of(list).handed) dead.emplace(v, where);
    header();
    body(list, dead);
    for (const auto& [v, where] : before) dead.emplace(v, where);
  }

  const std::unordered_map<Name, const Function*>& functions_;
  DiagSink& diags_;
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
          .report<Diag::output_param_replaced>(s->span, name_of(found->second), assign->var->name.text(),
                                               op_info(call->op).name)
          .note(assign->var->span, "the parameter")
          .help("write into '{}' instead, or give the new tensor another name", assign->var->name.text());
    });
  }
}

}  // namespace pldc
