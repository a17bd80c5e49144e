// ExpandManualPhaseFence (40): puts one dummy task between the producers of an array of task ids and a loop of submits
// that all depend on the whole array.
//
// N producers and M consumers are N * M edges without it and N + M with it. It is done wherever that saves an edge.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/pass.h"
#include "passes/trace.h"
#include "passes/trip_count.h"

namespace pldc {

namespace {

// Arrays are updated in place, so all versions of one are the same memory: classes of array variables that assignments,
// updates and carries connect.
class ArrayClasses {
 public:
  explicit ArrayClasses(Body body) {
    walk_stmts(body, [&](const Stmt* stmt) { connect(stmt); });
  }

  const Var* class_of(const Var* var) {
    const Var* top = var;
    for (auto up = parent_.find(top); up != parent_.end(); up = parent_.find(top)) top = up->second;
    while (var != top) {
      const auto up = parent_.find(var);
      var = up->second;
      up->second = top;
    }
    return top;
  }

 private:
  void join(const Expr* a, const Expr* b) {
    const auto* one = dyn<Var>(a);
    const auto* other = dyn<Var>(b);
    if (one == nullptr || other == nullptr || dyn<ArrayType>(one->type) == nullptr) return;
    one = class_of(one);
    other = class_of(other);
    if (one != other) parent_[one] = other;
  }
  void yields(Body body, List<const Var*> results) {
    const YieldStmt* yield = trailing_yield(body);
    for (std::size_t i = 0; yield != nullptr && i < results.size() && i < yield->values.size(); ++i) {
      join(results[i], yield->values[i]);
    }
  }
  void carries(List<IterArg> args, List<const Var*> results, Body body) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      join(args[i].var, args[i].init);
      if (i < results.size()) join(results[i], args[i].var);
    }
    yields(body, results);
  }
  void connect(const Stmt* stmt) {
    if (const auto* assign = dyn<AssignStmt>(stmt)) {
      join(assign->var, assign->value);
      const Call* update = op_call(assign->value, OpId::array_update_element);
      if (update != nullptr && !update->args.empty()) join(assign->var, update->args[0]);
    } else if (const auto* loop = dyn<ForStmt>(stmt)) {
      carries(loop->iter_args, loop->return_vars, loop->body);
    } else if (const auto* loop_while = dyn<WhileStmt>(stmt)) {
      carries(loop_while->iter_args, loop_while->return_vars, loop_while->body);
    } else if (const auto* branch = dyn<IfStmt>(stmt)) {
      yields(branch->then_body, branch->return_vars);
      yields(branch->else_body, branch->return_vars);
    }
  }

  std::unordered_map<const Var*, const Var*> parent_;
};

// The array that a submit depends on, if that is its only dependency.
const Var* array_dependency(const Expr* e) {
  const auto* submit = dyn<Submit>(e);
  const auto* dep = submit != nullptr && submit->deps.size() == 1 ? dyn<Var>(submit->deps[0]) : nullptr;
  const auto* array = dep != nullptr ? dyn<ArrayType>(dep->type) : nullptr;
  return array != nullptr && array->dtype == DType::TASK_ID ? dep : nullptr;
}

class FenceInserter : public Rewriter {
 public:
  using Rewriter::Rewriter;

  const Function* function(const Function* f) override {
    if (f->func_type != FuncType::Orchestration) return f;
    ArrayClasses classes(f->body);
    classes_ = &classes;
    counter_ = 0;
    return Rewriter::function(f);
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    if (const auto* scope = dyn_scope(s, ScopeKind::Runtime)) {
      const bool outer = manual_;
      manual_ = scope->manual;
      out.push_back(rebuild(s));
      manual_ = outer;
      return;
    }
    if (s->kind == StmtKind::For || s->kind == StmtKind::While) {
      loop(s, out);
    } else {
      out.push_back(rebuild(s));
    }
  }

  const Expr* expr(const Expr* e) override {
    const Var* array = array_dependency(e);
    const auto fence = array != nullptr ? fences_.find(array) : fences_.end();
    if (fence == fences_.end()) return Rewriter::expr(e);
    Submit n = *static_cast<const Submit*>(Rewriter::expr(e));
    n.deps = ctx().list<const Expr*>({fence->second});
    return ctx().make(n);
  }

 private:
  static constexpr std::uint64_t kMany = 1 << 20;
  // Submits that depend on one array, and how often they run in all; in order of the first.
  struct Consumers {
    std::vector<std::pair<const Var*, std::uint64_t>> counts;
    std::unordered_map<const Var*, std::size_t> index;

    void add(const Var* array, std::uint64_t times) {
      const auto [at, fresh] = index.emplace(array, counts.size());
      if (fresh) counts.emplace_back(array, 0);
      std::uint64_t& count = counts[at->second].second;
      count = std::min(kMany, count + times);
    }
  };

  void loop(const Stmt* s, std::vector<const Stmt*>& out) {
    const auto* counted = dyn<ForStmt>(s);
    const auto outer_fences = fences_;
    const bool outer_descends = descends_;
    // A fence further out stands for the submits that were counted for it only.
    if (counted == nullptr || !descends_ || !trip_count(counted)) fences_.clear();
    if (counted != nullptr && manual_) {
      for (const Var* array : arrays_to_fence(counted)) {
        const Var* tid = ctx().var(ctx().name(fmt::format("phase_fence_barrier_{}_tid", counter_++)),
                                   ctx().scalar(DType::TASK_ID), s->span);
        out.push_back(ctx().assign(tid, barrier(array, s->span), s->span));
        fences_[array] = tid;
      }
    }
    descends_ = counted != nullptr && counted->for_kind != ForKind::Parallel;
    out.push_back(rebuild(s));
    descends_ = outer_descends;
    fences_ = outer_fences;
  }

  const Call* barrier(const Var* array, Span span) {
    return ctx().call(OpId::system_task_dummy, {}, {},
                      ctx().list<Attr>({{ctx().name("dummy_task"), AttrValue::of_bool(true)},
                                        {ctx().name("manual_dep_edges"),
                                         AttrValue::of_vars(ctx().list<const Var*>({array}))}}),
                      ctx().scalar(DType::TASK_ID), span);
  }

  std::vector<const Var*> arrays_to_fence(const ForStmt* loop) {
    const auto trips = trip_count(loop);
    const bool parallel = loop->for_kind == ForKind::Parallel;
    if (trips ? *trips == 0 : parallel) return {};
    Consumers consumers;
    count(loop->body, !parallel, trips ? static_cast<std::uint64_t>(*trips) : 1, consumers);
    if (consumers.counts.empty()) return {};
    std::unordered_set<const Var*> changing;  // definitions of the loop, and classes of arrays updated in it
    for (const IterArg& arg : loop->iter_args) changing.insert(arg.var);
    walk_stmts(loop->body, [&](const Stmt* stmt) {
      for_each_def(stmt, [&](const Var* var) { changing.insert(var); });
      const auto* assign = dyn<AssignStmt>(stmt);
      const auto* eval = dyn<EvalStmt>(stmt);
      const Call* update = op_call(assign != nullptr ? assign->value
                                   : eval != nullptr ? eval->value
                                                     : nullptr,
                                   OpId::array_update_element);
      const auto* array = update != nullptr && !update->args.empty() ? dyn<Var>(update->args[0]) : nullptr;
      if (array != nullptr) changing.insert(classes_->class_of(array));
    });
    std::vector<const Var*> out;
    for (const auto& [array, edges] : consumers.counts) {
      if (fences_.contains(array) || changing.contains(array) || changing.contains(classes_->class_of(array)))
        continue;
      const std::int64_t producers = dyn<ArrayType>(array->type)->extent;
      // producers * consumers - (producers + consumers) >= 1
      if (producers >= 2 && edges >= 2 && (producers > 2 || edges > 2)) out.push_back(array);
    }
    return out;
  }

  // `descends`: the loop around this body is not parallel, so that loops in it count.
  static void count(Body body, bool descends, std::uint64_t times, Consumers& out) {
    for (const Stmt* stmt : body) {
      for_each_expr(stmt, [&](const Expr* e) {
        if (const Var* array = array_dependency(e)) out.add(array, times);
      });
      const auto* loop = dyn<ForStmt>(stmt);
      if (loop == nullptr && stmt->kind != StmtKind::While) {
        for_each_body(stmt, [&](Body inner) { count(inner, descends, times, out); });
        continue;
      }
      const auto trips = loop != nullptr && descends ? trip_count(loop) : std::nullopt;
      if (!trips) continue;
      const auto inner_times = std::min(kMany, times * std::min(kMany, static_cast<std::uint64_t>(*trips)));
      count(loop->body, loop->for_kind != ForKind::Parallel, inner_times, out);
    }
  }

  ArrayClasses* classes_ = nullptr;
  int counter_ = 0;
  bool manual_ = false;
  bool descends_ = false;                              // the loop around this place is not parallel
  std::unordered_map<const Var*, const Var*> fences_;  // array -> task to depend on instead, at this place
};

}  // namespace

const Program* run_ExpandManualPhaseFence(PassEnv& env, const Program* program) {
  return FenceInserter(env.ir).program(program);
}

}  // namespace pldc
