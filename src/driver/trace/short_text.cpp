#include "driver/trace/short_text.h"

#include "frontend/text.h"
#include "ir/auto_name.h"
#include "ir/check_op.h"
#include "ir/op.h"
#include "ir/walk.h"

namespace pldc::trace {
namespace {

constexpr int kMostNodes = 48;
constexpr int kDeepest = 12;

// Whether a text is easier to read with the value in place of its name.
bool is_plain(const Expr* value) {
  switch (value->kind) {
    case ExprKind::Var:
    case ExprKind::ConstInt:
    case ExprKind::ConstFloat:
    case ExprKind::ConstBool:
    case ExprKind::Binary:
    case ExprKind::Unary:
    case ExprKind::Cast:
    case ExprKind::MakeTuple:
      return true;
    case ExprKind::Call: {
      const auto* call = static_cast<const Call*>(value);
      return call->is_op() && scalar_dtype(value->type).has_value() && call->args.size() <= 1;
    }
    case ExprKind::Submit:
    case ExprKind::TupleGet:
      return false;
  }
  return false;
}

bool both_integers(const Cast* cast) {
  const auto from = scalar_dtype(cast->operand->type);
  const auto to = scalar_dtype(cast->type);
  return from && to && is_int(*from) && is_int(*to);
}

}  // namespace

ShortText::ShortText(Context& context, const Function* function) : Rewriter(context) {
  std::unordered_map<const Var*, int> definitions;
  walk_stmts(function->body, [&](const Stmt* stmt) {
    for_each_def(stmt, [&](const Var* v) { ++definitions[v]; });
    if (const auto* assign = dyn<AssignStmt>(stmt)) values_[assign->var] = assign->value;
  });
  for (auto& [var, value] : values_) {
    if (definitions[var] != 1) value = nullptr;
  }
}

std::string ShortText::name(const Var* v) {
  const AutoName parts = parse_auto_name(v->name.text());
  return std::string(parts.base.empty() ? v->name.text() : parts.base);
}

std::string ShortText::of(const Expr* e) {
  budget_ = kMostNodes;
  depth_ = 0;
  return print_expr(expr(e));
}

std::string ShortText::argument(const Expr* e) {
  const auto* var = dyn<Var>(e);
  const auto found = var != nullptr ? values_.find(var) : values_.end();
  const Call* slice = op_call(found != values_.end() ? found->second : e, OpId::tensor_slice);
  const auto* offsets = slice != nullptr ? dyn<MakeTuple>(pldc::argument(slice, "offset")) : nullptr;
  if (offsets == nullptr) return of(e);
  std::string out;
  for (const Expr* offset : offsets->elements) out += (out.empty() ? "" : ", ") + of(offset);
  return of(slice->args[0]) + "[" + out + "]";
}

const Expr* ShortText::expr(const Expr* e) {
  --budget_;
  if (e->kind == ExprKind::Call && static_cast<const Call*>(e)->is_op()) {
    // Attributes such as directions are left out.
    const auto* call = static_cast<const Call*>(e);
    return ctx().call(call->op, exprs(call->args), call->kwargs, {}, call->type, call->span);
  }
  if (const auto* constant = dyn<ConstInt>(e)) return ctx().const_int(constant->value);
  // A change of width says nothing to a reader.
  if (const auto* cast = dyn<Cast>(e); cast != nullptr && both_integers(cast)) return expr(cast->operand);
  const auto* var = dyn<Var>(e);
  if (var == nullptr) return children(e);
  const auto found = values_.find(var);
  const Expr* value = found != values_.end() ? found->second : nullptr;
  if (value != nullptr && is_plain(value) && budget_ > 0 && depth_ < kDeepest) {
    ++depth_;
    const Expr* out = expr(value);
    --depth_;
    return out;
  }
  return ctx().var(ctx().name(name(var)), var->type, var->span);
}

}  // namespace pldc::trace
