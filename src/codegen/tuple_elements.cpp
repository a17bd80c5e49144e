#include "codegen/tuple_elements.h"

#include <string>

#include "ir/auto_name.h"
#include "ir/rewrite.h"

namespace pldc {
namespace {

class ElementNames : public Rewriter {
 public:
  using Rewriter::Rewriter;

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    std::vector<const Stmt*>* const outer = out_;
    const auto* assign = dyn<AssignStmt>(s);
    out_ = &out;
    named_ = assign != nullptr ? assign->value : nullptr;
    const Stmt* n = rebuild(s);
    out.push_back(n);
    out_ = outer;
  }

  const Expr* expr(const Expr* e) override {
    const bool named = e == named_;
    const Expr* n = Rewriter::expr(e);
    const auto* get = dyn<TupleGet>(n);
    if (get == nullptr || named || out_ == nullptr) return n;
    const auto* tuple = dyn<Var>(get->tuple);
    if (tuple != nullptr && tuple->is_iter_arg) return n;  // a loop's condition reads it anew each time
    const std::string of =
        tuple != nullptr ? std::string(parse_auto_name(tuple->name.text()).base) : "element";
    const Var* element = ctx().var(ctx().name(of + "_" + std::to_string(get->index)), n->type, n->span);
    out_->push_back(ctx().assign(element, n, n->span));
    return element;
  }

 private:
  std::vector<const Stmt*>* out_ = nullptr;
  const Expr* named_ = nullptr;
};

}  // namespace

const Program* name_tuple_elements(Context& context, const Program* program) {
  return ElementNames(context).program(program);
}

}  // namespace pldc
