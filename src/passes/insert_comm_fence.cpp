// InsertCommFence (48): marks where a kernel must drop cached copies of memory that other ranks write, and where its
// own accesses must be finished before what follows.
//
// Markers stand directly behind the access, in the same body, so late passes and code generation need not look for
// the places again. Nothing is computed by them: a simulator with one memory only checks that they can be emitted.
#include <algorithm>

#include "ir/rewrite.h"
#include "passes/pass.h"

namespace pldc {

namespace {

class Marker : public Rewriter {
 public:
  using Rewriter::Rewriter;

  const Function* function(const Function* f) override {
    if (!f->is_kernel()) return f;
    const Body marked = body(f->body);
    if (marked.data() == f->body.data() && marked.size() == f->body.size()) return f;
    Function n = *f;
    n.body = marked;
    return ctx().make(n);
  }

  // Nothing but lists of statements changes.
  const Expr* expr(const Expr* e) override { return e; }
  const Var* define(const Var* v) override { return v; }

  Body body(Body b) override {
    std::vector<const Stmt*> out;
    out.reserve(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) {
      out.push_back(rebuild(b[i]));
      std::vector<const Expr*> markers;
      add_markers(b[i], markers);
      if (stand_there(markers, b.subspan(i + 1))) continue;
      for (const Expr* marker : markers) out.push_back(ctx().eval(marker, b[i]->span));
    }
    if (out.size() == b.size() && std::equal(out.begin(), out.end(), b.begin())) return b;
    return ctx().list(out);
  }

 private:
  void add_markers(const Stmt* s, std::vector<const Expr*>& out) {
    const Expr* value = nullptr;
    if (const auto* assign = dyn<AssignStmt>(s)) value = assign->value;
    if (const auto* eval = dyn<EvalStmt>(s)) value = eval->value;
    if (value == nullptr) return;
    const auto* call = dyn<Call>(value);
    // What the callee has written or read is not known here.
    if (value->kind == ExprKind::Submit || (call != nullptr && !call->is_op())) {
      out.push_back(invalidate({}));
      out.push_back(fence());
    } else if (call != nullptr) {
      add_markers(call, out);
    }
  }

  void add_markers(const Call* call, std::vector<const Expr*>& out) {
    if (const auto* target = local_target(call)) {
      const auto* type = static_cast<const TensorType*>(target->type);
      const std::vector<const Expr*> origin(type->shape.size(), ctx().const_int(0));
      out.push_back(
          invalidate({target, ctx().make_tuple(type->shape), ctx().make_tuple(ctx().list(origin))}));
      out.push_back(fence());
    } else if (call->op == OpId::pld_tile_remote_store || call->op == OpId::pld_tensor_remote_store ||
               call->op == OpId::pld_tile_put || call->op == OpId::pld_tensor_put) {
      out.push_back(fence());
    } else if (call->op == OpId::pld_system_wait) {
      out.push_back(invalidate({}));
    }
  }

  // The window on this rank that the call writes, for its peers to read; null: none.
  static const Var* local_target(const Call* call) {
    std::size_t operand = 0;
    if (call->op == OpId::tile_store) {
      operand = 2;
    } else if (call->op != OpId::tensor_write && call->op != OpId::pld_tile_get &&
               call->op != OpId::pld_tensor_get) {
      return nullptr;
    }
    const auto* target = operand < call->args.size() ? dyn<Var>(call->args[operand]) : nullptr;
    return target != nullptr && target->type->kind == TypeKind::DistributedTensor ? target : nullptr;
  }

  const Expr* invalidate(const std::vector<const Expr*>& what) {
    return ctx().call(OpId::system_cacheinvalid, ctx().list(what), {}, {}, ctx().unknown());
  }
  const Expr* fence() { return ctx().call(OpId::system_fence, {}, {}, {}, ctx().unknown()); }

  // Whether the statements begin with these very markers: the pass has been here.
  static bool stand_there(const std::vector<const Expr*>& markers, Body rest) {
    if (rest.size() < markers.size()) return false;
    for (std::size_t i = 0; i < markers.size(); ++i) {
      const auto* eval = dyn<EvalStmt>(rest[i]);
      if (eval == nullptr || !same_marker(static_cast<const Call*>(markers[i]), dyn<Call>(eval->value))) {
        return false;
      }
    }
    return true;
  }
  static bool same_marker(const Call* a, const Call* b) {
    if (b == nullptr || a->op != b->op || a->args.size() != b->args.size()) return false;
    for (std::size_t i = 0; i < a->args.size(); ++i) {
      const auto* x = dyn<MakeTuple>(a->args[i]);
      const auto* y = dyn<MakeTuple>(b->args[i]);
      const bool same =
          x != nullptr && y != nullptr ? same_dims(x->elements, y->elements) : a->args[i] == b->args[i];
      if (!same) return false;
    }
    return true;
  }
};

}  // namespace

const Program* run_InsertCommFence(PassEnv& env, const Program* program) {
  return Marker(env.ir).program(program);
}

}  // namespace pldc
