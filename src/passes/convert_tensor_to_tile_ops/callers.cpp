#include "passes/convert_tensor_to_tile_ops/callers.h"

#include "ir/rewrite.h"
#include "passes/function_call.h"
#include "support/diag/pass.h"

namespace pldc::tiling {

namespace {

bool forwards(const Function* f) { return f->is_wrapper() || f->is_kernel(); }

class CallRewriter : public Rewriter {
 public:
  CallRewriter(PassEnv& env, const std::unordered_map<Name, const Function*>& functions,
               const AddedResults& added)
      : Rewriter(env.ir), env_(env), functions_(functions), added_(added) {}

  // The function with its calls changed, and the parameters that it needs for them.
  const Function* function(const Function* f) override {
    forwarding_ = forwards(f);
    params_.clear();
    const Body changed = body(f->body);
    if (changed.data() == f->body.data() && changed.size() == f->body.size()) return f;
    Function n = *f;
    n.body = changed;
    std::vector<Param> params(f->params.begin(), f->params.end());
    params.insert(params.end(), params_.begin(), params_.end());
    n.params = ctx().list(params);
    return ctx().make(n);
  }
  std::size_t param_count() const { return params_.size(); }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    out_ = &out;
    const bool repeats = s->kind == StmtKind::For || s->kind == StmtKind::While;
    if (repeats) ++loops_;
    const Stmt* changed = rebuild(s);
    if (repeats) --loops_;
    out.push_back(changed);
  }
  Body body(Body b) override {
    std::vector<const Stmt*>* outer = out_;
    const Body done = Rewriter::body(b);
    out_ = outer;
    return done;
  }

  const Expr* expr(const Expr* e) override {
    const Expr* rewritten = Rewriter::expr(e);
    const auto call = function_call(rewritten);
    const auto found = call ? added_.find(call->callee) : added_.end();
    if (found == added_.end()) return rewritten;
    const Function* callee = functions_.at(call->callee);
    const std::size_t first = callee->params.size() - found->second;
    // A submit may leave out outputs, which the runtime then allocates; what comes after them it allocates as well.
    if (call->is_submit && call->args.size() < first) return rewritten;
    if (call->args.size() != first) return rewritten;
    std::vector<const Expr*> args(call->args.begin(), call->args.end());
    for (std::size_t i = first; i < callee->params.size(); ++i) {
      const Expr* memory = provide(callee, i, *call, rewritten->span);
      if (memory == nullptr) return rewritten;
      args.push_back(memory);
    }
    const Attrs attrs = with_directions(call->attrs, found->second);
    if (call->is_submit) {
      Submit n = *static_cast<const Submit*>(rewritten);
      n.args = ctx().list(args);
      n.attrs = attrs;
      return ctx().make(n);
    }
    Call n = *static_cast<const Call*>(rewritten);
    n.args = ctx().list(args);
    n.attrs = attrs;
    return ctx().make(n);
  }

 private:
  // Extents of the callee's types in terms of the call.
  class Arguments : public Rewriter {
   public:
    using Rewriter::Rewriter;
  };

  const Expr* provide(const Function* callee, std::size_t param, const FunctionCall& call, Span span) {
    const Var* wanted = callee->params[param].var;
    Arguments arguments(ctx());
    for (std::size_t i = 0; i < call.args.size() && i < callee->params.size(); ++i)
      arguments.substitute(callee->params[i].var, call.args[i]);
    const auto* type = dyn<TensorType>(arguments.type(wanted->type));
    const Var* memory = ctx().var(wanted->name, type, span);
    if (forwarding_) {
      if (loops_ > 0) {
        env_.diags.report<diag::results_in_wrapper_loop>(span, callee->name.text())
            .help("give the kernel an Out parameter and pass it, or move the loop into the kernel");
        return nullptr;
      }
      params_.push_back({memory, ParamDirection::Out, {}});
      return memory;
    }
    const Attrs keywords = ctx().list({Attr{ctx().name("dtype"), AttrValue::of_dtype(type->dtype)},
                                       Attr{ctx().name("layout"), AttrValue::of_layout(TensorLayout::ND)}});
    const Expr* shape = ctx().make_tuple(type->shape, span);
    out_->push_back(ctx().assign(
        memory, ctx().call(OpId::tensor_create, ctx().list({shape}), keywords, {}, type, span), span));
    return memory;
  }

  // Directions that are written already cover every argument.
  Attrs with_directions(Attrs attrs, std::size_t more) {
    if (find_attr(attrs, "arg_directions") == nullptr) return attrs;
    std::vector<Attr> changed(attrs.begin(), attrs.end());
    for (Attr& attr : changed) {
      if (attr.key.text() != "arg_directions") continue;
      std::vector<ArgDirection> list(attr.value.directions.begin(), attr.value.directions.end());
      list.insert(list.end(), more, ArgDirection::Output);
      attr.value = AttrValue::of_directions(ctx().list(list));
    }
    return ctx().list(changed);
  }

  PassEnv& env_;
  const std::unordered_map<Name, const Function*>& functions_;
  const AddedResults& added_;
  std::vector<const Stmt*>* out_ = nullptr;  // where the statement under way will stand
  std::vector<Param> params_;
  bool forwarding_ = false;
  int loops_ = 0;
};

}  // namespace

const Program* provide_results(PassEnv& env, const Program* program, AddedResults added) {
  std::unordered_map<Name, const Function*> functions;
  for (const Function* f : program->functions) functions[f->name] = f;
  std::unordered_map<Name, const Function*> changed;
  // Callees before callers: a wrapper that gets parameters is a function with added results itself.
  enum class State : std::uint8_t { Open, Busy, Done };
  std::unordered_map<Name, State> states;
  const auto visit = [&](auto&& self, const Function* f) -> void {
    State& state = states[f->name];
    if (state != State::Open) return;
    state = State::Busy;
    for_each_function_call(f->body, [&](const FunctionCall& call, const Expr*, const Stmt*) {
      const auto callee = functions.find(call.callee);
      if (callee != functions.end()) self(self, callee->second);
    });
    CallRewriter rewriter(env, functions, added);
    const Function* n = rewriter.function(f);
    if (n != f) changed[f->name] = n;
    if (rewriter.param_count() > 0) {
      added[f->name] += rewriter.param_count();
      functions[f->name] = n;
    }
    states[f->name] = State::Done;
  };
  for (const Function* f : program->functions) visit(visit, f);
  if (changed.empty()) return program;
  std::vector<const Function*> list;
  for (const Function* f : program->functions) {
    const auto found = changed.find(f->name);
    list.push_back(found != changed.end() ? found->second : f);
  }
  Program n = *program;
  n.functions = env.ir.list(list);
  return env.ir.make(n);
}

}  // namespace pldc::tiling
