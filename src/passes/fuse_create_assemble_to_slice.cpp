// FuseCreateAssembleToSlice (37): a buffer that is made, filled and then copied into a part of another one becomes that
// part, and the copy disappears.
#include <algorithm>
#include <unordered_set>

#include "ir/rewrite.h"
#include "ir/rules.h"
#include "ir/walk.h"
#include "passes/buffer_roots.h"
#include "passes/map_functions.h"
#include "passes/pass.h"

namespace pldc {

namespace {

// A create and the one assemble that copies what it makes.
struct Fusion {
  const AssignStmt* create = nullptr;
  const AssignStmt* assemble = nullptr;
  const Call* slice = nullptr;  // what the create becomes
};

class FusionFinder {
 public:
  FusionFinder(Context& context, ParamTracer& tracer, const Function* f)
      : context_(context), roots_(tracer, f) {
    for (const Param& param : f->params) order_.emplace(param.var, order_.size());
    collect(f->body);
  }

  // In the order of the assembles.
  std::vector<Fusion> take() {
    std::vector<Fusion> out;
    for (const Candidate* candidate : assembled_) {
      if (candidate->never) continue;
      Fusion fusion{candidate->create, candidate->assemble, slice_for(*candidate)};
      if (fusion.slice == nullptr) continue;
      target_of_.emplace(fusion.assemble->var, fusion.slice->args[0]);
      out.push_back(fusion);
    }
    return out;
  }

 private:
  struct Candidate {
    const AssignStmt* create = nullptr;
    const AssignStmt* assemble = nullptr;
    const MakeTuple* offsets = nullptr;
    bool never = false;  // copied twice, or added to what is there
  };

  void collect(Body body) {
    for (const Stmt* stmt : body) {
      for_each_def(stmt, [&](const Var* var) { order_.emplace(var, order_.size()); });
      const auto* assign = dyn<AssignStmt>(stmt);
      const auto* eval = dyn<EvalStmt>(stmt);
      const Expr* value = assign != nullptr ? assign->value : eval != nullptr ? eval->value : nullptr;
      if (const Call* copy = op_call(value, OpId::tensor_assemble)) {
        note_assemble(assign, copy);
      } else if (assign != nullptr && is_plain_create(value) && roots_.root(assign->var) == assign->var) {
        candidates_[assign->var].create = assign;
      } else if (assign != nullptr && value->kind == ExprKind::MakeTuple) {
        tuples_[assign->var] = static_cast<const MakeTuple*>(value);
      }
      for_each_body(stmt, [&](Body inner) { collect(inner); });
    }
  }

  // A filled buffer is more than memory, and one of another layout is no part of a packed one.
  static bool is_plain_create(const Expr* value) {
    const Call* create = op_call(value, OpId::tensor_create);
    if (create == nullptr || find_attr(create->kwargs, "init_value") != nullptr) return false;
    const AttrValue* layout = find_attr(create->kwargs, "layout");
    return create->args[0]->kind == ExprKind::MakeTuple &&
           (layout == nullptr || layout->integer == static_cast<std::int64_t>(TensorLayout::ND));
  }

  void note_assemble(const AssignStmt* stmt, const Call* copy) {
    const auto found =
        copy->args.size() > 1 ? candidates_.find(roots_.root(copy->args[1])) : candidates_.end();
    if (found == candidates_.end()) return;
    Candidate& candidate = found->second;
    const AttrValue* atomic = find_attr(copy->kwargs, "atomic");
    const auto* var = copy->args.size() == 3 ? dyn<Var>(copy->args[2]) : nullptr;
    const auto bound = var != nullptr ? tuples_.find(var) : tuples_.end();
    candidate.offsets = bound != tuples_.end()   ? bound->second
                        : copy->args.size() == 3 ? dyn<MakeTuple>(copy->args[2])
                                                 : nullptr;
    // A copy without a name for its result has nothing that the target could replace.
    if (stmt == nullptr || candidate.assemble != nullptr || candidate.offsets == nullptr ||
        (atomic != nullptr && atomic->integer != 0)) {
      candidate.never = true;
      return;
    }
    candidate.assemble = stmt;
    assembled_.push_back(&candidate);
  }

  // Null if the target or the offsets are not known yet where the buffer is made, which the reference does not ask.
  const Call* slice_for(const Candidate& candidate) {
    const auto* copy = static_cast<const Call*>(candidate.assemble->value);
    const Expr* target = copy->args[0];
    if (const auto* var = dyn<Var>(target)) {
      if (const auto fused = target_of_.find(var); fused != target_of_.end()) target = fused->second;
    }
    const std::size_t made_at = order_.at(candidate.create->var);
    bool known = true;
    const auto check = [&](const Expr* e) {
      const auto at = order_.find(e);
      known = known && (at == order_.end() || at->second < made_at);
    };
    walk_expr(target, check);
    walk_expr(candidate.offsets, check);
    if (!known) return nullptr;

    const auto* create = static_cast<const Call*>(candidate.create->value);
    const auto* shape = static_cast<const MakeTuple*>(create->args[0]);
    const std::size_t rank = candidate.offsets->elements.size();
    if (shape->elements.size() > rank) return nullptr;
    std::vector<const Expr*> extents(rank - shape->elements.size(), context_.const_int(1));
    extents.insert(extents.end(), shape->elements.begin(), shape->elements.end());
    const auto args = context_.list<const Expr*>(
        {target, context_.make_tuple(context_.list(extents), shape->span), candidate.offsets});
    DiagSink scratch;
    const Type* type = deduce(context_, scratch, OpId::tensor_slice, args, {}, create->span);
    return type != nullptr ? context_.call(OpId::tensor_slice, args, {}, create->attrs, type, create->span)
                           : nullptr;
  }

  Context& context_;
  BufferRoots roots_;
  std::unordered_map<const Expr*, std::size_t> order_;  // of definitions, in textual order
  std::unordered_map<const Var*, const MakeTuple*> tuples_;
  std::unordered_map<const Var*, Candidate> candidates_;  // by what the create binds
  std::vector<const Candidate*> assembled_;
  std::unordered_map<const Var*, const Expr*> target_of_;  // result of a fused assemble -> final target
};

class Fuser : public Rewriter {
 public:
  Fuser(Context& context, const std::vector<Fusion>& fusions) : Rewriter(context) {
    for (const Fusion& fusion : fusions) {
      slices_.emplace(fusion.create, fusion.slice);
      removed_.insert(fusion.assemble);
      substitute(fusion.assemble->var, fusion.slice->args[0]);
    }
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    if (removed_.contains(s)) return;
    const auto found = slices_.find(s);
    if (found == slices_.end()) {
      out.push_back(rebuild(s));
      return;
    }
    AssignStmt n = *static_cast<const AssignStmt*>(s);
    n.value = expr(found->second);
    const auto* old = dyn<TensorType>(n.var->type);
    if (old->shape.size() != dyn<TensorType>(n.value->type)->shape.size()) {
      const Var* wider = ctx().var_like(n.var, n.value->type);
      substitute(n.var, wider);
      n.var = wider;
    }
    out.push_back(ctx().make(n));
  }

 private:
  std::unordered_map<const Stmt*, const Call*> slices_;
  std::unordered_set<const Stmt*> removed_;
};

// Removes carries that the body hands on as they came.
class CarryDropper : public Rewriter {
 public:
  CarryDropper(Context& context, const Function* f) : Rewriter(context) {
    find(f->body);
    for (const auto& [var, initial] : initial_) substitute(var, resolved(initial));
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const auto* outer = kept_;
    std::vector<bool> kept;
    if (const auto* loop = dyn<ForStmt>(s)) {
      s = without_dropped(*loop, kept);
      kept_ = &kept;
    } else if (const auto* loop_while = dyn<WhileStmt>(s)) {
      s = without_dropped(*loop_while, kept);
      kept_ = &kept;
    } else if (s->kind == StmtKind::If) {
      kept_ = nullptr;
    } else if (const auto* yield = dyn<YieldStmt>(s); yield != nullptr && kept_ != nullptr) {
      s = selected(*yield);
    }
    if (s != nullptr) out.push_back(rebuild(s));
    kept_ = outer;
  }

 private:
  const Expr* resolved(const Expr* e) const {
    for (const auto* var = dyn<Var>(e); var != nullptr; var = dyn<Var>(e)) {
      const auto found = initial_.find(var);
      if (found == initial_.end()) break;
      e = found->second;
    }
    return e;
  }

  // Inner loops first: their results are then known to be their initial values.
  void find(Body body) {
    for (const Stmt* stmt : body) {
      for_each_body(stmt, [&](Body inner) { find(inner); });
      if (const auto* loop = dyn<ForStmt>(stmt)) {
        find_in(loop->iter_args, loop->return_vars, loop->body);
      } else if (const auto* loop_while = dyn<WhileStmt>(stmt)) {
        find_in(loop_while->iter_args, loop_while->return_vars, loop_while->body);
      }
    }
  }
  void find_in(List<IterArg> args, List<const Var*> results, Body body) {
    const YieldStmt* yield = trailing_yield(body);
    if (yield == nullptr || yield->values.size() != args.size() || results.size() != args.size()) return;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (resolved(yield->values[i]) != args[i].var) continue;
      // Resolved here, so that a row of loops does not become a chain to be followed again and again.
      const Expr* initial = resolved(args[i].init);
      initial_[args[i].var] = initial;
      initial_[results[i]] = initial;
    }
  }

  template <class Loop>
  const Stmt* without_dropped(Loop n, std::vector<bool>& kept) {
    std::vector<IterArg> args;
    std::vector<const Var*> results;
    for (std::size_t i = 0; i < n.iter_args.size(); ++i) {
      kept.push_back(!initial_.contains(n.iter_args[i].var));
      if (!kept.back()) continue;
      args.push_back(n.iter_args[i]);
      if (i < n.return_vars.size()) results.push_back(n.return_vars[i]);
    }
    n.iter_args = ctx().list(args);
    n.return_vars = ctx().list(results);
    return ctx().make(n);
  }

  // The yield of the loop at hand with the values that are still carried; null if there are none.
  const Stmt* selected(YieldStmt n) {
    std::vector<const Expr*> values;
    for (std::size_t i = 0; i < n.values.size(); ++i) {
      if (i >= kept_->size() || (*kept_)[i]) values.push_back(n.values[i]);
    }
    n.values = ctx().list(values);
    return values.empty() ? nullptr : ctx().make(n);
  }

  std::unordered_map<const Var*, const Expr*> initial_;  // dropped carries and their results
  const std::vector<bool>* kept_ = nullptr;              // by carry of the loop that a yield here belongs to
};

}  // namespace

const Program* run_FuseCreateAssembleToSlice(PassEnv& env, const Program* program) {
  ParamTracer tracer(program);
  return map_functions(env, program, [&](const Function* f) {
    if (f->func_type != FuncType::Orchestration) return f;
    const std::vector<Fusion> fusions = FusionFinder(env.ir, tracer, f).take();
    if (fusions.empty()) return f;
    const Function* fused = Fuser(env.ir, fusions).function(f);
    return CarryDropper(env.ir, fused).function(fused);
  });
}

}  // namespace pldc
