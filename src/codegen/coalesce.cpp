#include "codegen/coalesce.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/check_op.h"
#include "ir/op.h"
#include "ir/walk.h"

namespace pldc {
namespace {

using Live = std::set<int>;

// One walk from the end of the kernel to its begin, which knows what is alive, and notes which buffers are written while
// which others are.
class Interference {
 public:
  explicit Interference(const TileBuffers& buffers) : buffers_(buffers) {}

  void body(Body stmts, Live& live) {
    for (std::size_t i = stmts.size(); i-- > 0;) stmt(stmts[i], live);
  }

  std::vector<std::pair<int, int>> merged() {
    std::vector<std::pair<int, int>> out;
    for (const auto& [to, from] : copies_) {
      const int a = find(buffers_.of(to)), b = find(buffers_.of(from));
      if (a == b || !buffers_.alike(to, from) || touches(a, b)) continue;
      parent_[b] = a;
      std::set<int>& near = near_[a];
      for (const int other : std::set<int>(near_[b])) {
        near.insert(other);
        near_[other].insert(a);
      }
      out.emplace_back(a, b);
    }
    return out;
  }

  // A loop that is left in its middle, or text that is not ours: what is alive where is not known.
  bool unknown() const { return unknown_; }

 private:
  int find(int buffer) {
    const auto found = parent_.find(buffer);
    return found == parent_.end() ? buffer : find(found->second);
  }
  bool touches(int a, int b) {
    const auto near = near_.find(a);
    if (near == near_.end()) return false;
    return std::any_of(near->second.begin(), near->second.end(), [&](int other) { return find(other) == b; });
  }

  void use(const Expr* expr, Live& live) {
    walk_expr(expr, [&](const Expr* e) {
      const auto* var = dyn<Var>(e);
      const int buffer = var != nullptr ? buffers_.of(var) : -1;
      if (buffer >= 0) live.insert(buffer);
    });
  }
  void written(int buffer, const Live& live) {
    for (const int other : live) {
      if (other == buffer) continue;
      near_[buffer].insert(other);
      near_[other].insert(buffer);
    }
  }

  // Operations that read an element before they write it and no other one after.
  bool in_place(const Var* result, const Expr* value) {
    const auto* call = dyn<Call>(value);
    if (call == nullptr || !call->is_op()) return false;
    const Emit emit = op_info(call->op).emit.emit;
    if (emit != Emit::Unary && emit != Emit::Binary && emit != Emit::TileScalar) return false;
    return std::all_of(call->args.begin(), call->args.end(), [&](const Expr* arg) {
      const auto* var = dyn<Var>(arg);
      if (var == nullptr) return dyn<TileType>(arg->type) == nullptr;
      return buffers_.of(var) < 0 || buffers_.alike(result, var);
    });
  }

  void define(const Var* var, const Expr* value, Live& live) {
    const int buffer = buffers_.of(var);
    if (buffer < 0) {
      use(value, live);
      return;
    }
    const bool fresh = buffers_.owns(var);
    if (fresh) live.erase(buffer);
    if (!in_place(var, value)) use(value, live);
    written(buffer, live);
    use(value, live);
  }

  // The copies at the end of a branch or of an iteration; `live` holds what is alive after them.
  void copies(const std::vector<const Var*>& to, List<const Expr*> from, Live& live) {
    const Live after = live;
    for (const Var* var : to) {
      if (buffers_.of(var) >= 0) live.erase(buffers_.of(var));
    }
    for (const Expr* value : from) use(value, live);
    for (std::size_t i = 0; i < to.size() && i < from.size(); ++i) {
      const int buffer = buffers_.of(to[i]);
      if (buffer < 0) continue;
      written(buffer, after);
      const auto* source = dyn<Var>(from[i]);
      for (std::size_t k = 0; k < from.size(); ++k) {  // what the other copies still read
        if (k == i || from[k] == from[i]) continue;
        Live others;
        use(from[k], others);
        written(buffer, others);
      }
      if (source != nullptr && buffers_.of(source) >= 0) copies_.emplace_back(to[i], source);
    }
  }

  void stmt(const Stmt* s, Live& live) {
    switch (s->kind) {
      case StmtKind::Assign: {
        const auto* assign = static_cast<const AssignStmt*>(s);
        define(assign->var, assign->value, live);
        return;
      }
      case StmtKind::Eval:
        use(static_cast<const EvalStmt*>(s)->value, live);
        return;
      case StmtKind::Return:
        for (const Expr* value : static_cast<const ReturnStmt*>(s)->values) use(value, live);
        return;
      case StmtKind::Yield:
        if (!yielding_.empty()) {
          const std::vector<const Var*> to = yielding_.back();
          copies(to, static_cast<const YieldStmt*>(s)->values, live);
        }
        return;
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Inline:
        unknown_ = true;
        return;
      case StmtKind::If:
        branch(static_cast<const IfStmt*>(s), live);
        return;
      case StmtKind::For: {
        const auto* loop = static_cast<const ForStmt*>(s);
        repeat(loop->iter_args, loop->body, nullptr, live);
        for (const Expr* bound : {loop->start, loop->stop, loop->step}) use(bound, live);
        return;
      }
      case StmtKind::While: {
        const auto* loop = static_cast<const WhileStmt*>(s);
        repeat(loop->iter_args, loop->body, loop->condition, live);
        return;
      }
      case StmtKind::Scope:
        body(static_cast<const ScopeStmt*>(s)->body, live);
        return;
    }
  }

  void branch(const IfStmt* s, Live& live) {
    Live otherwise = live;
    if (!s->return_vars.empty()) yielding_.emplace_back(s->return_vars.begin(), s->return_vars.end());
    body(s->then_body, live);
    body(s->else_body, otherwise);
    if (!s->return_vars.empty()) yielding_.pop_back();
    live.insert(otherwise.begin(), otherwise.end());
    use(s->condition, live);
  }

  // The results of a loop lie where its carries do, so `live` has these if they are needed.
  void repeat(List<IterArg> args, Body stmts, const Expr* condition, Live& live) {
    std::vector<const Var*> carries;
    for (const IterArg& arg : args) {
      carries.push_back(arg.var);
      if (buffers_.of(arg.var) >= 0) live.insert(buffers_.of(arg.var));
    }
    if (condition != nullptr) use(condition, live);
    yielding_.push_back(carries);
    for (std::size_t before = live.size() + 1;
         before != live.size();) {  // what an iteration needs, the last one leaves
      before = live.size();
      Live begin = live;
      body(stmts, begin);
      live.insert(begin.begin(), begin.end());
    }
    yielding_.pop_back();
    enter(args, live);
  }

  void enter(List<IterArg> args, Live& live) {
    const Live after = live;
    for (const IterArg& arg : args) {
      if (buffers_.of(arg.var) >= 0) live.erase(buffers_.of(arg.var));
    }
    for (const IterArg& arg : args) use(arg.init, live);
    for (const IterArg& arg : args) {
      const int buffer = buffers_.of(arg.var);
      if (buffer < 0) continue;
      written(buffer, after);
      for (const IterArg& other : args) {
        if (other.init == arg.init) continue;
        Live read;
        use(other.init, read);
        written(buffer, read);
      }
      const auto* source = dyn<Var>(arg.init);
      if (source == nullptr) {  // computed in the carry's place
        Live read;
        use(arg.init, read);
        written(buffer, read);
      } else if (buffers_.of(source) >= 0) {
        copies_.emplace_back(arg.var, source);
      }
    }
  }

  const TileBuffers& buffers_;
  std::map<int, std::set<int>> near_;
  std::map<int, int> parent_;
  std::vector<std::pair<const Var*, const Var*>> copies_;  // to, from
  std::vector<std::vector<const Var*>> yielding_;
  bool unknown_ = false;
};

}  // namespace

std::vector<std::pair<int, int>> coalesce(Body kernel, const TileBuffers& buffers) {
  Interference interference(buffers);
  Live live;
  interference.body(kernel, live);
  return interference.unknown() ? std::vector<std::pair<int, int>>() : interference.merged();
}

}  // namespace pldc
