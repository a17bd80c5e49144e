// TypeChecked, one more part: the bytes of a value can be counted, so that sizes, strides and offsets are numbers everywhere
// behind the verifier.
#include <cstdint>

#include "ir/describe.h"
#include "ir/walk.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {
namespace {

// Of 64 bits one is the sign. Extents that are no constants count as 1.
bool is_countable(DType dtype, List<const Expr*> shape) {
  std::int64_t bytes = byte_width(dtype);
  for (const Expr* dim : shape) {
    const auto extent = const_int(dim);
    if (extent && *extent == 0) return true;
    if (extent && *extent > 0 && __builtin_mul_overflow(bytes, *extent, &bytes)) return false;
  }
  return true;
}

bool is_countable(const Type* type) {
  if (const auto* tensor = dyn<TensorType>(type)) return is_countable(tensor->dtype, tensor->shape);
  if (const auto* tile = dyn<TileType>(type)) return is_countable(tile->dtype, tile->shape);
  return true;
}

}  // namespace

void verify_type_sizes(const Function* f, DiagSink& diags) {
  bool first = true;  // what follows from it is as large
  const auto check = [&](const Var* var, Span span) {
    if (!first || is_countable(var->type)) return;
    first = false;
    diags.report<diag::type_uncountable>(span, var->name.text(), describe(var->type))
        .help("use smaller extents");
  };
  for (const Param& param : f->params) check(param.var, param.var->span);
  walk_stmts(f->body, [&](const Stmt* s) {
    if (const auto* assign = dyn<AssignStmt>(s)) check(assign->var, s->span);
  });
}

}  // namespace pldc
