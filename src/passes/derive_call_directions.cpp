// DeriveCallDirections (38): writes on every call and submit of a function how it uses each argument.
//
// The task runtime orders tasks by these. An output on memory that nobody has written yet depends on nothing, which is
// what distinguishes output_existing from inout; the callee's signature alone cannot tell.
#include <algorithm>

#include "ir/rewrite.h"
#include "passes/buffer_roots.h"
#include "passes/function_call.h"
#include "passes/pass.h"

namespace pldc {

namespace {

using Directions = std::unordered_map<const Function*, std::vector<ParamDirection>>;

class DirectionWriter : public Rewriter {
 public:
  DirectionWriter(Context& context, ParamTracer& tracer, const Directions& wrappers)
      : Rewriter(context), tracer_(tracer), wrappers_(wrappers) {}

  const Function* function(const Function* f) override {
    const BufferRoots roots(tracer_, f);
    roots_ = &roots;
    written_.clear();
    trail_.clear();
    own_inout_.clear();
    for (const Param& param : f->params) {
      if (param.direction == ParamDirection::InOut) own_inout_.insert(param.var);
    }
    const Function* out = with_signature(f);
    const Body rewritten = body(f->body);
    if (rewritten.data() == f->body.data() && rewritten.size() == f->body.size()) return out;
    Function n = *out;
    n.body = rewritten;
    return ctx().make(n);
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const auto* loop = dyn<ForStmt>(s);
    const bool repeats =
        s->kind == StmtKind::While || (loop != nullptr && loop->for_kind != ForKind::Parallel);
    if (repeats) ++repeating_;
    if (const auto* branch = dyn<IfStmt>(s)) {
      out.push_back(branches(branch));
    } else {
      out.push_back(rebuild(s));
    }
    if (repeats) --repeating_;
  }

  const Expr* expr(const Expr* e) override {
    const Expr* rewritten = Rewriter::expr(e);
    const auto call = function_call(rewritten);
    const Function* callee = call ? tracer_.function(call->callee) : nullptr;
    if (callee == nullptr || call->args.empty()) return rewritten;
    const Expr* out = rewritten;
    if (find_attr(call->attrs, "arg_directions") == nullptr) {
      const Attrs attrs = with_directions(*call, callee);
      if (call->is_submit) {
        Submit n = *static_cast<const Submit*>(rewritten);
        n.attrs = attrs;
        out = ctx().make(n);
      } else {
        Call n = *static_cast<const Call*>(rewritten);
        n.attrs = attrs;
        out = ctx().make(n);
      }
    }
    note_writes(*call, callee);
    return out;
  }

 private:
  // A wrapper with the directions that are in effect.
  const Function* with_signature(const Function* f) {
    const auto found = wrappers_.find(f);
    if (found == wrappers_.end()) return f;
    std::vector<Param> params(f->params.begin(), f->params.end());
    bool changed = false;
    for (std::size_t i = 0; i < params.size(); ++i) {
      changed = changed || params[i].direction != found->second[i];
      params[i].direction = found->second[i];
    }
    if (!changed) return f;
    Function n = *f;
    n.params = ctx().list(params);
    return ctx().make(n);
  }

  // What one branch writes is not written yet in the other one.
  const Stmt* branches(const IfStmt* branch) {
    IfStmt n = *branch;
    n.condition = expr(branch->condition);
    const std::size_t mark = trail_.size();
    n.then_body = body(branch->then_body);
    const std::vector<const Var*> then_writes(trail_.begin() + static_cast<std::ptrdiff_t>(mark),
                                              trail_.end());
    trail_.resize(mark);
    for (const Var* var : then_writes) written_.erase(var);
    n.else_body = body(branch->else_body);
    for (const Var* var : then_writes) note_write(var);
    const bool same = n.condition == branch->condition && n.then_body.data() == branch->then_body.data() &&
                      n.then_body.size() == branch->then_body.size() &&
                      n.else_body.data() == branch->else_body.data() &&
                      n.else_body.size() == branch->else_body.size();
    return same ? branch : ctx().make(n);
  }

  ParamDirection declared(const Function* callee, const Param* param) const {
    const auto wrapper = wrappers_.find(callee);
    return wrapper != wrappers_.end()
               ? wrapper->second[static_cast<std::size_t>(param - callee->params.data())]
               : param->direction;
  }

  Attrs with_directions(const FunctionCall& call, const Function* callee) {
    std::vector<ArgDirection> directions;
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const Param* param = param_for(callee, call, i);
      directions.push_back(dyn<TensorType>(call.args[i]->type) == nullptr || param == nullptr
                               ? ArgDirection::Scalar
                               : direction(call.args[i], declared(callee, param)));
    }
    const AttrValue* overrides = find_attr(call.attrs, "arg_direction_overrides");
    for (const std::int64_t index : overrides != nullptr ? overrides->ints : List<std::int64_t>{}) {
      if (index >= 0 && static_cast<std::size_t>(index) < directions.size() &&
          directions[static_cast<std::size_t>(index)] != ArgDirection::Scalar) {
        directions[static_cast<std::size_t>(index)] = ArgDirection::NoDep;
      }
    }
    std::vector<Attr> attrs = {
        {ctx().name("arg_directions"), AttrValue::of_directions(ctx().list(directions))}};
    attrs.insert(attrs.end(), call.attrs.begin(), call.attrs.end());
    return ctx().list(attrs);
  }

  ArgDirection direction(const Expr* arg, ParamDirection declared) const {
    if (declared == ParamDirection::In) return ArgDirection::Input;
    if (declared == ParamDirection::InOut || repeating_ > 0 || roots_->ambiguous(arg))
      return ArgDirection::InOut;
    const Var* root = roots_->root(arg);
    return root != nullptr && (written_.contains(root) || own_inout_.contains(root))
               ? ArgDirection::InOut
               : ArgDirection::OutputExisting;
  }

  void note_writes(const FunctionCall& call, const Function* callee) {
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const Param* param = param_for(callee, call, i);
      if (param == nullptr || declared(callee, param) == ParamDirection::In) continue;
      if (const Var* root = roots_->root(call.args[i])) note_write(root);
    }
  }
  void note_write(const Var* root) {
    if (written_.insert(root).second) trail_.push_back(root);
  }

  ParamTracer& tracer_;
  const Directions& wrappers_;
  const BufferRoots* roots_ = nullptr;      // of the function at hand
  std::unordered_set<const Var*> written_;  // roots that statements before this one write
  std::vector<const Var*> trail_;           // order in which `written_` grew
  std::unordered_set<const Var*> own_inout_;
  int repeating_ = 0;  // loops around this place whose iterations follow each other
};

}  // namespace

const Program* run_DeriveCallDirections(PassEnv& env, const Program* program) {
  ParamTracer tracer(program);
  const Directions wrappers = wrapper_directions(program);
  return DirectionWriter(env.ir, tracer, wrappers).program(program);
}

}  // namespace pldc
