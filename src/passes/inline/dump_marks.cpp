#include "passes/inline/dump_marks.h"

#include <algorithm>
#include <unordered_set>

#include "ir/rewrite.h"
#include "ir/walk.h"

namespace pldc::inlining {

namespace {

bool launches(ScopeKind kind) {
  return kind == ScopeKind::InCore || kind == ScopeKind::Spmd || kind == ScopeKind::Cluster ||
         kind == ScopeKind::Hierarchy;
}

class Marker : public Rewriter {
 public:
  Marker(Context& context, const std::vector<const Var*>& marked) : Rewriter(context), marked_(marked) {}

  const Expr* expr(const Expr* e) override {
    e = Rewriter::expr(e);
    if (const auto* call = dyn<Call>(e); call != nullptr && !call->is_op()) {
      Call n = *call;
      n.attrs = with_marks(call->attrs, used_in(call->args));
      return n.attrs.data() == call->attrs.data() ? e : ctx().make(n);
    }
    if (const auto* submit = dyn<Submit>(e)) {
      Submit n = *submit;
      n.attrs = with_marks(submit->attrs, used_in(submit->args));
      return n.attrs.data() == submit->attrs.data() ? e : ctx().make(n);
    }
    return e;
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const auto* scope = dyn<ScopeStmt>(s);
    if (scope == nullptr || !launches(scope->scope)) {
      Rewriter::stmt(s, out);
      return;
    }
    std::unordered_set<const Expr*> read;
    walk_stmts(scope->body, [&](const Stmt* inner) {
      for_each_expr(inner,
                    [&](const Expr* root) { walk_expr(root, [&](const Expr* e) { read.insert(e); }); });
    });
    std::vector<const Var*> used;
    for (const Var* v : marked_) {
      if (read.count(v) != 0) used.push_back(v);
    }
    ScopeStmt n = *scope;
    n.attrs = with_marks(scope->attrs, used);
    out.push_back(n.attrs.data() == scope->attrs.data() ? s : ctx().make(n));
  }

 private:
  std::vector<const Var*> used_in(List<const Expr*> args) const {
    std::vector<const Var*> used;
    for (const Expr* arg : args) {
      const auto* v = dyn<Var>(arg);
      if (v != nullptr && std::find(marked_.begin(), marked_.end(), v) != marked_.end()) used.push_back(v);
    }
    return used;
  }

  // In the place that the attribute has in stored order: behind dependencies and direction overrides.
  Attrs with_marks(Attrs attrs, const std::vector<const Var*>& used) {
    std::vector<const Var*> all;
    if (const AttrValue* present = find_attr(attrs, "dump_vars"))
      all.assign(present->vars.begin(), present->vars.end());
    const std::size_t before = all.size();
    for (const Var* v : used) {
      if (std::find(all.begin(), all.end(), v) == all.end()) all.push_back(v);
    }
    if (all.size() == before) return attrs;
    std::vector<Attr> out;
    for (const Attr& attr : attrs) {
      if (attr.key.text() != "dump_vars") out.push_back(attr);
    }
    const auto place = std::find_if(out.begin(), out.end(), [](const Attr& attr) {
      return attr.key.text() != "manual_dep_edges" && attr.key.text() != "arg_direction_overrides_vars";
    });
    out.insert(place, Attr{ctx().name("dump_vars"), AttrValue::of_vars(ctx().list(all))});
    return ctx().list(out);
  }

  const std::vector<const Var*>& marked_;
};

}  // namespace

void move_dump_marks(Context& context, const std::vector<const Var*>& marked, std::size_t first,
                     std::vector<const Stmt*>& stmts) {
  if (marked.empty()) return;
  const std::vector<const Stmt*> plain(stmts.begin() + static_cast<std::ptrdiff_t>(first), stmts.end());
  stmts.resize(first);
  Marker marker(context, marked);
  for (const Stmt* s : plain) marker.stmt(s, stmts);
}

}  // namespace pldc::inlining
