#include "passes/ssa/lost_values.h"

#include <unordered_map>
#include <vector>

#include "ir/walk.h"
#include "passes/control_flow/jumps.h"
#include "passes/ssa/needs.h"
#include "support/diag/pass.h"

namespace pldc::ssa {

namespace {

// Finds a jump with a variable assigned before it for which `matters` holds.
template <class Matters>
class Search {
 public:
  Search(StmtKind jump, const Matters& matters) : jump_(jump), matters_(matters) {}

  // True if the end of the list can be reached.
  bool list(Body body) {
    for (const Stmt* s : body) {
      if (found != nullptr) return false;
      if (s->kind == StmtKind::Break || s->kind == StmtKind::Continue) {
        for (const Var* v : assigned_) {
          if (s->kind != jump_ || !matters_(v)) continue;
          found = v;
          at = s;
          break;
        }
        return false;
      }
      if (const auto* branch = dyn<IfStmt>(s)) {
        if (!branches(branch)) return false;
      } else if (s->kind == StmtKind::Scope) {
        if (!list(static_cast<const ScopeStmt*>(s)->body)) return false;
      } else if (s->kind == StmtKind::For || s->kind == StmtKind::While) {
        for_each_body(s, [&](Body inner) {
          walk_stmts(inner, [&](const Stmt* in) {
            for_each_def(in, [&](const Var* v) { assigned_.push_back(v); });
          });
        });
      }
      if (const auto* assign = dyn<AssignStmt>(s)) assigned_.push_back(assign->var);
    }
    return true;
  }

  const Var* found = nullptr;
  const Stmt* at = nullptr;

 private:
  bool branches(const IfStmt* s) {
    const std::size_t mark = assigned_.size();
    const bool then_ends = list(s->then_body);
    const std::vector<const Var*> in_then(assigned_.begin() + static_cast<std::ptrdiff_t>(mark),
                                          assigned_.end());
    assigned_.resize(mark);
    const bool else_ends = list(s->else_body);
    if (!else_ends) assigned_.resize(mark);
    if (then_ends) assigned_.insert(assigned_.end(), in_then.begin(), in_then.end());
    return then_ends || else_ends;
  }

  const StmtKind jump_;
  const Matters& matters_;
  std::vector<const Var*> assigned_;
};

class LostValues {
 public:
  explicit LostValues(const Function* function) { count(function->body, reads_); }

  // A variable that is assigned on the way to such a jump of this loop, and read in a later iteration or after the loop;
  // null if there is none. `at`: the jump.
  const Var* find(const Stmt* loop, StmtKind jump, const Stmt*& at) {
    Body body;
    for_each_body(loop, [&](Body b) { body = b; });
    Reads inside;
    count(body, inside);
    const auto* condition = dyn<WhileStmt>(loop);
    if (condition != nullptr) {
      walk_expr(condition->condition, [&](const Expr* e) {
        // Read again after each iteration: as good as outside.
        if (const auto* v = dyn<Var>(e)) inside[v] -= 1;
      });
    }
    const auto matters = [&](const Var* v) {
      const auto all = reads_.find(v);
      return all != reads_.end() && (all->second > inside[v] || needs_.reads_from_outside(body, v));
    };
    Search search(jump, matters);
    search.list(body);
    at = search.at;
    return search.found;
  }

 private:
  using Reads = std::unordered_map<const Var*, int>;
  static void count(Body body, Reads& reads) {
    walk_stmts(body, [&](const Stmt* s) {
      for_each_expr(s, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          if (const auto* v = dyn<Var>(e)) ++reads[v];
        });
      });
    });
  }

  Reads reads_;  // in the whole function
  Needs needs_;
};

}  // namespace

const Function* keep_values(PassEnv& env, const Function* f) {
  LostValues lost(f);
  return lower_jumps(env.ir, env.diags, f, [&](const Stmt* loop) {
    Body body;
    for_each_body(loop, [&](Body b) { body = b; });
    if (!has_jump(body)) return false;
    const Stmt* at = nullptr;
    const Var* by_break = lost.find(loop, StmtKind::Break, at);
    const auto* counted = dyn<ForStmt>(loop);
    if (by_break != nullptr && counted != nullptr && counted->for_kind != ForKind::Sequential) {
      env.diags.report<diag::jump_loses_values>(at->span, "break", by_break->name.text())
          .note(loop->span, "the loop")
          .help("use pl.range");
      return false;
    }
    return by_break != nullptr || lost.find(loop, StmtKind::Continue, at) != nullptr;
  });
}

}  // namespace pldc::ssa
