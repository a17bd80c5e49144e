// Rewriting that shares whatever did not change: a rewriter that changes nothing returns the very same pointers, so
// "did the pass change anything" is one comparison.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/context.h"

namespace pldc {

// Derive and override what the pass is about. The defaults rebuild a node only if a child changed. Variables are
// replaced through `substitute`, in expressions and inside types alike; a definition whose type changes gets a new
// variable of the same name, which replaces the old one from there on.
class Rewriter {
 public:
  explicit Rewriter(Context& context) : context_(context) {}
  virtual ~Rewriter() = default;
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  void substitute(const Var* from, const Expr* to) { map_[from] = to; }
  void forget(const Var* from) { map_.erase(from); }

  virtual const Expr* expr(const Expr* e);
  virtual const Type* type(const Type* t);
  // The definition of a variable: default as described above.
  virtual const Var* define(const Var* v);
  // Appends what replaces the statement.
  virtual void stmt(const Stmt* s, std::vector<const Stmt*>& out);
  virtual Body body(Body b);
  virtual const Function* function(const Function* f);
  // All functions in name order.
  virtual const Program* program(const Program* p);

  // The statement with its expressions, definitions and bodies rewritten.
  const Stmt* rebuild(const Stmt* s);

 protected:
  Context& ctx() { return context_; }
  const Expr* children(const Expr* e);
  // The type with its expressions rewritten, also while no variable is replaced.
  const Type* rebuild(const Type* t);
  List<const Expr*> exprs(List<const Expr*> list);
  Attrs attrs(Attrs list);
  // A variable used where only a variable may stand (attribute lists, MemRef bases, windows). If it is replaced by
  // something that is no variable it stays.
  const Var* use(const Var* v);
  virtual const MemRef* memref(const MemRef* m);
  List<WindowSlot> slots(List<WindowSlot> list);
  List<const Var*> defines(List<const Var*> list);
  const Expr* mapped(const Var* v) const {
    const auto found = map_.find(v);
    return found != map_.end() ? found->second : nullptr;
  }

 private:
  Context& context_;
  std::unordered_map<const Var*, const Expr*> map_;
};

}  // namespace pldc
