// AssignTypeSymmetry: a variable has the type of the value it is assigned, MemRefs aside.
#include "frontend/text.h"
#include "ir/same.h"
#include "ir/walk.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

bool untyped(const Type* type) {
  if (is_unknown(type)) return true;
  const auto* tuple = dyn<TupleType>(type);
  if (tuple == nullptr) return false;
  for (const Type* element : tuple->elements) {
    if (!untyped(element)) return false;
  }
  return !tuple->elements.empty();
}

// Tuples element by element, so that an untyped element skips only itself. INT64 and INDEX are one dtype for
// scalars: a constant of either may be assigned to a variable of the other.
bool symmetric(const Type* variable, const Type* value) {
  if (untyped(variable) || untyped(value)) return true;
  const auto* left = dyn<TupleType>(variable);
  const auto* right = dyn<TupleType>(value);
  if (left != nullptr && right != nullptr) {
    if (left->elements.size() != right->elements.size()) return false;
    for (std::size_t i = 0; i < left->elements.size(); ++i) {
      if (!symmetric(left->elements[i], right->elements[i])) return false;
    }
    return true;
  }
  const auto a = scalar_dtype(variable);
  const auto b = scalar_dtype(value);
  const auto is_index = [](DType d) { return d == DType::INDEX || d == DType::INT64; };
  if (a && b && is_index(*a) && is_index(*b)) return true;
  return same_type(variable, value);
}

}  // namespace

void verify_AssignTypeSymmetry(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    walk_stmts(f->body, [&](const Stmt* stmt) {
      const auto* assign = dyn<AssignStmt>(stmt);
      if (assign == nullptr || symmetric(assign->var->type, assign->value->type)) return;
      diags.report<diag::assign_types_differ>(assign->span, assign->var->name.text(),
                                              print_type(assign->var->type), print_type(assign->value->type));
    });
  }
}

}  // namespace pldc
