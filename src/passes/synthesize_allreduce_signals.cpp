// Gives every host all-reduce written without a signal a private signal window of its own.
//
// MaterializeCommDomainScopes can then treat the signal like any other window: it becomes a slot of the
// domain of the data it synchronises, and LowerHostTensorCollectives finds every collective with all its
// operands. All-reduces in returns become statements of their own on the way, for the lowering replaces
// statements.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "ir/rewrite.h"
#include "ir/rules.h"
#include "ir/walk.h"
#include "passes/lineage.h"
#include "passes/pass.h"
#include "support/diag/op.h"
#include "support/diag/pass.h"

namespace pldc {

namespace {

constexpr std::string_view kSharingOption = "SynthesizeAllReduceSignals.sharing";

const Call* as_allreduce(const Expr* e) { return op_call(e, OpId::pld_tensor_allreduce); }

// Names nobody may get a second time: of all variables of the program, and of all allocations.
class GeneratedNames {
 public:
  explicit GeneratedNames(const Program* program) {
    for (const Function* f : program->functions) {
      for (const Param& param : f->params) used_.emplace(param.var->name.text());
      walk_stmts(f->body, [&](const Stmt* stmt) {
        for_each_def(stmt, [&](const Var* v) { used_.emplace(v->name.text()); });
        for_each_expr(stmt, [&](const Expr* root) { add_allocations(root); });
      });
    }
  }

  struct Signal {
    std::string world_size, buffer, view;
  };
  Signal signal() {
    for (;;) {
      const std::uint64_t n = counter_++;
      Signal names{fmt::format("__allreduce_signal_world_size_{}", n),
                   fmt::format("__allreduce_signal_buf_{}", n), fmt::format("__allreduce_signal_{}", n)};
      if (used_.contains(names.world_size) || used_.contains(names.buffer) || used_.contains(names.view))
        continue;
      used_.insert({names.world_size, names.buffer, names.view});
      return names;
    }
  }
  std::string result() {
    for (;;) {
      std::string name = fmt::format("__allreduce_result_{}", counter_++);
      if (used_.insert(name).second) return name;
    }
  }

 private:
  void add_allocations(const Expr* root) {
    walk_expr(root, [&](const Expr* e) {
      const Call* call = op_call(e, OpId::pld_tensor_alloc_window_buffer);
      const AttrValue* name = call != nullptr ? find_attr(call->kwargs, "name") : nullptr;
      if (name != nullptr) used_.emplace(name->text);
    });
  }

  std::unordered_set<std::string> used_;
  std::uint64_t counter_ = 0;  // one for signals and results, over the whole program
};

class Synthesizer : public Rewriter {
 public:
  Synthesizer(PassEnv& env, ParamTracer& tracer, GeneratedNames& names)
      : Rewriter(env.ir),
        env_(env),
        tracer_(tracer),
        names_(names),
        shared_(env.option(kSharingOption, "call") == "lineage") {}

  const Function* function(const Function* f) override {
    if (!f->is_host_orchestrator()) return f;
    if (shared_) return function_sharing(f);
    Function n = *f;
    n.body = body(f->body);
    return n.body.data() == f->body.data() && n.body.size() == f->body.size() ? f : ctx().make(n);
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    check_nesting(s);
    switch (s->kind) {
      case StmtKind::Assign: {
        AssignStmt n = *static_cast<const AssignStmt*>(s);
        const Expr* value = direct(n.value, out);
        if (value == n.value) return out.push_back(s);
        n.value = value;
        return out.push_back(ctx().make(n));
      }
      case StmtKind::Eval: {
        EvalStmt n = *static_cast<const EvalStmt*>(s);
        const Expr* value = direct(n.value, out);
        if (value == n.value) return out.push_back(s);
        n.value = value;
        return out.push_back(ctx().make(n));
      }
      case StmtKind::Return:
        return lift_return(static_cast<const ReturnStmt*>(s), out);
      case StmtKind::For:
      case StmtKind::While: {
        ++loops_;
        out.push_back(rebuild(s));
        --loops_;
        return;
      }
      case StmtKind::If:
      case StmtKind::Scope:
        return out.push_back(rebuild(s));
      case StmtKind::Yield:
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Inline:
        return out.push_back(s);
    }
  }

 private:
  struct SharedSignal {
    const Var* base;  // of the data's allocation
    std::int64_t core_num;
    const Var* view = nullptr;
    Span span;
  };

  // An all-reduce deeper inside an expression has no place for the statements of its signal.
  void check_nesting(const Stmt* s) {
    const auto nested = [&](const Expr* root, bool direct_allowed) {
      walk_expr(root, [&](const Expr* e) {
        const Call* call = as_allreduce(e);
        if (call == nullptr || (direct_allowed && e == root)) return;
        env_.diags.report<diag::allreduce_nested>(call->span)
            .help("assign its result to a variable in a statement before and use the variable here");
      });
    };
    const bool direct_allowed =
        s->kind == StmtKind::Assign || s->kind == StmtKind::Eval || s->kind == StmtKind::Return;
    for_each_expr(s, [&](const Expr* root) { nested(root, direct_allowed); });
  }

  std::int64_t core_num(const Call* call) {
    const AttrValue* value = find_attr(call->kwargs, "core_num");
    if (value == nullptr) return 1;
    if (value->kind != AttrKind::Int || value->integer <= 0) {
      env_.diags.report<diag::op_value>(call->span, "core_num", "pld.tensor.allreduce", "a positive integer",
                                        value->kind == AttrKind::Int ? fmt::format("{}", value->integer)
                                                                     : std::string("another kind of value"));
      return 0;
    }
    return value->integer;
  }

  // Checks the call; true if it is an all-reduce that needs a signal.
  bool needs_signal(const Call* call) {
    if (call->args.empty() || call->args.size() > 2) {
      env_.diags.report<diag::collective_operands>(call->span, "allreduce", 2, call->args.size());
      return false;
    }
    if (loops_ > 0 && env_.strict_signals) {
      env_.diags.report<diag::allreduce_in_loop_strict>(call->span)
          .help("move it out of the loop, or leave out --strict-signals");
      return false;
    }
    if (call->args.size() == 2) return false;
    if (loops_ > 0 && !shared_) {
      env_.diags.report<diag::allreduce_implicit_in_loop>(call->span)
          .help(
              "pass a signal window as second operand (it may be used again in each iteration), or move the "
              "all-reduce out of the loop")
          .help("or let all implicit all-reduces of one buffer share a signal: --pass-option={}=lineage",
                kSharingOption);
      return false;
    }
    return core_num(call) != 0;
  }

  const Expr* direct(const Expr* value, std::vector<const Stmt*>& out) {
    const Call* call = as_allreduce(value);
    if (call == nullptr || !needs_signal(call)) return value;
    const Var* signal = shared_ ? shared_signal(call) : make_signal(core_num(call), call->span, out);
    if (signal == nullptr) return value;
    const auto args = ctx().list({call->args[0], static_cast<const Expr*>(signal)});
    const Type* type = deduce(ctx(), env_.diags, call->op, args, call->kwargs, call->span);
    if (type == nullptr) return value;
    return ctx().call(call->op, args, call->kwargs, call->attrs, type, call->span);
  }

  void lift_return(const ReturnStmt* s, std::vector<const Stmt*>& out) {
    std::vector<const Expr*> values(s->values.begin(), s->values.end());
    bool lifted = false;
    for (const Expr*& value : values) {
      if (as_allreduce(value) == nullptr) continue;
      const Expr* call = direct(value, out);
      const Var* result = ctx().var(ctx().name(names_.result()), call->type, call->span);
      out.push_back(ctx().assign(result, call, call->span));
      value = result;
      lifted = true;
    }
    out.push_back(lifted ? ctx().ret(ctx().list(values), s->span, s->comments) : s);
  }

  // The three statements of a signal with one row a rank and one column a core.
  const Var* make_signal(std::int64_t cores, Span span, std::vector<const Stmt*>& out) {
    const GeneratedNames::Signal names = names_.signal();
    const auto int64 = [&](std::int64_t value) -> const Expr* {
      return ctx().const_int(value, DType::INT64, span);
    };
    const auto op = [&](OpId id, List<const Expr*> args, Attrs kwargs) -> const Expr* {
      const Type* type = deduce(ctx(), env_.diags, id, args, kwargs, span);
      return ctx().call(id, args, kwargs, {}, type != nullptr ? type : ctx().unknown(), span);
    };
    const auto bind = [&](const std::string& name, const Expr* value) {
      const Var* var = ctx().var(ctx().name(name), value->type, span);
      out.push_back(ctx().assign(var, value, span));
      return var;
    };
    const Var* ranks = bind(names.world_size, op(OpId::pld_system_world_size, {}, {}));
    const Expr* cells = ctx().binary(BinaryOp::Mul, ranks, int64(cores), span);
    const Expr* bytes = ctx().binary(BinaryOp::Mul, cells, int64(byte_width(DType::INT32)), span);
    const Var* buffer =
        bind(names.buffer,
             op(OpId::pld_tensor_alloc_window_buffer, ctx().list({bytes}),
                ctx().list({Attr{ctx().name("name"), AttrValue::of_string(ctx().text(names.buffer))}})));
    const Expr* shape = ctx().make_tuple(ctx().list({static_cast<const Expr*>(ranks), int64(cores)}), span);
    return bind(names.view, op(OpId::pld_tensor_window, ctx().list({static_cast<const Expr*>(buffer), shape}),
                               ctx().list({Attr{ctx().name("dtype"), AttrValue::of_dtype(DType::INT32)}})));
  }

  // --- sharing=lineage: one signal for all implicit all-reduces of one data allocation, made at the very
  // start -----
  const Function* function_sharing(const Function* f) {
    const WindowLineage lineage(tracer_, f->body);
    lineage_ = &lineage;
    shared_signals_.clear();
    const std::uint32_t errors = env_.diags.error_count();
    walk_stmts(f->body,
               [&](const Stmt* s) { for_each_expr(s, [&](const Expr* root) { note_shared(root); }); });
    if (env_.diags.error_count() != errors) return f;
    std::vector<const Stmt*> out;
    for (SharedSignal& signal : shared_signals_) signal.view = make_signal(signal.core_num, signal.span, out);
    const Body rest = body(f->body);
    lineage_ = nullptr;
    if (out.empty() && rest.data() == f->body.data() && rest.size() == f->body.size()) return f;
    out.insert(out.end(), rest.begin(), rest.end());
    Function n = *f;
    n.body = ctx().list(out);
    return ctx().make(n);
  }

  void note_shared(const Expr* root) {
    const Call* call = as_allreduce(root);
    if (call == nullptr || call->args.size() != 1) return;
    const Var* base = lineage_->base(call->args[0]);
    if (base == nullptr) {
      env_.diags.report<diag::allreduce_target_unknown>(call->span)
          .help("reduce a view that pld.tensor.window made in this function, or pass a signal");
      return;
    }
    const std::int64_t cores = core_num(call);
    if (SharedSignal* found = find_shared(base)) {
      found->core_num = std::max(found->core_num, cores);
    } else {
      shared_signals_.push_back({base, cores, nullptr, call->span});
    }
  }
  SharedSignal* find_shared(const Var* base) {
    for (SharedSignal& signal : shared_signals_) {
      if (signal.base == base) return &signal;
    }
    return nullptr;
  }
  const Var* shared_signal(const Call* call) {
    const SharedSignal* found = find_shared(lineage_->base(call->args[0]));
    return found != nullptr ? found->view : nullptr;
  }

  PassEnv& env_;
  ParamTracer& tracer_;
  GeneratedNames& names_;
  bool shared_;
  int loops_ = 0;
  const WindowLineage* lineage_ = nullptr;
  std::vector<SharedSignal> shared_signals_;
};

}  // namespace

const Program* run_SynthesizeAllReduceSignals(PassEnv& env, const Program* program) {
  const std::uint32_t errors = env.diags.error_count();
  GeneratedNames names(program);
  ParamTracer tracer(program);
  const Program* result = Synthesizer(env, tracer, names).program(program);
  return env.diags.error_count() == errors ? result : nullptr;
}

}  // namespace pldc
