#include "passes/outline/tuple_elements.h"

#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/rewrite.h"
#include "ir/walk.h"

namespace pldc::outlining {
namespace {

class BeforeScopes : public Rewriter {
 public:
  BeforeScopes(Context& context, ScopeKind kind, NamePool& names)
      : Rewriter(context), kind_(kind), names_(names) {}

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const ScopeStmt* scope = inside_ ? nullptr : dyn_scope(s, kind_);
    if (scope == nullptr) return Rewriter::stmt(s, out);
    own_.clear();
    elements_.clear();
    walk_stmts(scope->body,
               [&](const Stmt* inner) { for_each_def(inner, [&](const Var* v) { own_.insert(v); }); });
    std::vector<const Stmt*> rewritten;
    inside_ = true;
    before_ = &out;
    Rewriter::stmt(s, rewritten);
    inside_ = false;
    out.insert(out.end(), rewritten.begin(), rewritten.end());
  }

  const Expr* expr(const Expr* e) override {
    const auto* get = inside_ ? dyn<TupleGet>(e) : nullptr;
    const auto* tuple = get != nullptr ? dyn<Var>(get->tuple) : nullptr;
    if (tuple == nullptr || own_.count(tuple) != 0) return Rewriter::expr(e);
    const Var*& element = elements_[{tuple, get->index}];
    if (element == nullptr) {
      const AutoName parts = parse_auto_name(tuple->name.text());
      const std::string name =
          names_.fresh_like(build_auto_name(parts.base, parts.qualifier, NameRole::Tmp, {}));
      element = ctx().var(ctx().name(name), e->type, e->span);
      before_->push_back(ctx().assign(element, e, e->span));
    }
    return element;
  }

 private:
  const ScopeKind kind_;
  NamePool& names_;
  bool inside_ = false;
  std::vector<const Stmt*>* before_ = nullptr;
  std::unordered_set<const Var*> own_;  // bound inside of the scope
  std::map<std::pair<const Var*, std::int64_t>, const Var*> elements_;
};

}  // namespace

const Function* elements_before_scopes(Context& context, const Function* f, ScopeKind kind, NamePool& names) {
  return BeforeScopes(context, kind, names).function(f);
}

}  // namespace pldc::outlining
