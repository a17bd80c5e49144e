// The hash walks a program in the order in which same() compares it, so that variables, numbered by first
// visit, get the same numbers in equal programs. What a variable adds must not depend on whether it is seen
// for the first time: one program may share a node where an equal one has two.
#include <bit>
#include <optional>
#include <unordered_map>

#include "ir/op.h"
#include "ir/same.h"
#include "support/hash.h"

namespace pldc {

namespace {

template <class E>
std::uint64_t number(E e) {
  return static_cast<std::uint64_t>(e);
}
template <class E>
std::uint64_t number_or_none(std::optional<E> e) {
  return e ? number(*e) + 1 : 0;
}
// INT64 and INDEX are one dtype where same() treats them so.
DType index_as_int64(DType dtype) { return dtype == DType::INDEX ? DType::INT64 : dtype; }

class Hasher {
 public:
  std::uint64_t program(const Program* p) {
    std::uint64_t h = p->functions.size();
    for (const Function* f : p->functions) h = hash_combine(h, function(f));
    return h;
  }

 private:
  std::uint64_t var(const Var* v) { return numbers_.try_emplace(v, numbers_.size()).first->second; }
  std::uint64_t define(const Var* v, bool is_loop_var = false) {
    const std::uint64_t h = var(v);
    const auto scalar = is_loop_var ? scalar_dtype(v->type) : std::nullopt;
    return hash_combine(h, scalar ? number(index_as_int64(*scalar)) : type(v->type));
  }
  std::uint64_t defines(List<const Var*> list) {
    std::uint64_t h = list.size();
    for (const Var* v : list) h = hash_combine(h, define(v));
    return h;
  }
  std::uint64_t iter_args(List<IterArg> list) {
    std::uint64_t h = list.size();
    for (const IterArg& arg : list) {
      h = hash_combine(h, expr(arg.init));
      h = hash_combine(h, define(arg.var));
    }
    return h;
  }
  std::uint64_t exprs(List<const Expr*> list) {
    std::uint64_t h = list.size();
    for (const Expr* e : list) h = hash_combine(h, expr(e));
    return h;
  }
  std::uint64_t maybe(const Expr* e) { return e != nullptr ? hash_combine(1, expr(e)) : 0; }

  std::uint64_t expr(const Expr* e);
  std::uint64_t expr_fields(const Expr* e);
  std::uint64_t attrs(Attrs list);
  std::uint64_t attr_value(const AttrValue& v);
  std::uint64_t type(const Type* t);
  std::uint64_t type_fields(const Type* t);
  std::uint64_t body(Body b);
  std::uint64_t stmt(const Stmt* s);
  std::uint64_t scope(const ScopeStmt* s);
  std::uint64_t function(const Function* f);

  std::unordered_map<const Var*, std::uint64_t> numbers_;
  std::unordered_map<const Expr*, std::uint64_t> exprs_;  // nodes with operands, which may be shared
  std::unordered_map<const Type*, std::uint64_t> types_;
};

std::uint64_t Hasher::expr(const Expr* e) {
  if (e->kind == ExprKind::Var) return hash_combine(number(e->kind), var(static_cast<const Var*>(e)));
  if (const auto found = exprs_.find(e); found != exprs_.end()) return found->second;
  const std::uint64_t h = hash_combine(number(e->kind), expr_fields(e));
  exprs_.emplace(e, h);
  return h;
}

std::uint64_t Hasher::expr_fields(const Expr* e) {
  switch (e->kind) {
    case ExprKind::Var:
      return var(static_cast<const Var*>(e));
    case ExprKind::ConstInt: {
      const auto* n = static_cast<const ConstInt*>(e);
      return hash_combine(number(n->value), number(index_as_int64(n->dtype)));
    }
    case ExprKind::ConstFloat: {
      const auto* n = static_cast<const ConstFloat*>(e);
      // +0 and -0 are equal.
      return hash_combine(std::bit_cast<std::uint64_t>(n->value == 0 ? 0.0 : n->value), number(n->dtype));
    }
    case ExprKind::ConstBool:
      return static_cast<const ConstBool*>(e)->value ? 1 : 0;
    case ExprKind::Binary: {
      const auto* n = static_cast<const Binary*>(e);
      std::uint64_t h = number(n->op);
      h = hash_combine(h, expr(n->lhs));
      h = hash_combine(h, expr(n->rhs));
      return hash_combine(h, type(n->type));
    }
    case ExprKind::Unary: {
      const auto* n = static_cast<const Unary*>(e);
      return hash_combine(hash_combine(number(n->op), expr(n->operand)), type(n->type));
    }
    case ExprKind::Cast:
      return hash_combine(expr(static_cast<const Cast*>(e)->operand), type(e->type));
    case ExprKind::Call: {
      const auto* n = static_cast<const Call*>(e);
      std::uint64_t h = hash_bytes(n->is_op() ? op_info(n->op).name : n->function.text());
      h = hash_combine(h, exprs(n->args));
      h = hash_combine(h, attrs(n->kwargs));
      h = hash_combine(h, attrs(n->attrs));
      return hash_combine(h, type(n->type));
    }
    case ExprKind::Submit: {
      const auto* n = static_cast<const Submit*>(e);
      std::uint64_t h = hash_bytes(n->function.text());
      h = hash_combine(h, exprs(n->args));
      h = hash_combine(h, exprs(n->deps));
      h = hash_combine(h, maybe(n->core_num));
      h = hash_combine(h,
                       (n->spmd ? 1U : 0U) | (n->sync_start ? 2U : 0U) | (n->allow_early_resolve ? 4U : 0U));
      h = hash_combine(h, maybe(n->predicate));
      h = hash_combine(h, attrs(n->attrs));
      return hash_combine(h, type(n->type));
    }
    case ExprKind::MakeTuple:
      return exprs(static_cast<const MakeTuple*>(e)->elements);
    case ExprKind::TupleGet: {
      const auto* n = static_cast<const TupleGet*>(e);
      return hash_combine(expr(n->tuple), number(n->index));
    }
  }
  return 0;
}

// Attributes are maps: their order does not count, hence the sum. Values that mention variables add only
// their kind, for a number given here would depend on the order.
std::uint64_t Hasher::attrs(Attrs list) {
  std::uint64_t sum = list.size();
  for (const Attr& attr : list) {
    sum += hash_combine(hash_bytes(attr.key.text()),
                        hash_combine(number(attr.value.kind), attr_value(attr.value)));
  }
  return sum;
}

std::uint64_t Hasher::attr_value(const AttrValue& v) {
  switch (v.kind) {
    case AttrKind::Int:
    case AttrKind::Bool:
    case AttrKind::DType:
    case AttrKind::MemSpace:
    case AttrKind::TensorLayout:
    case AttrKind::TileLayout:
    case AttrKind::PadValue:
    case AttrKind::ArgDirection:
      return number(v.integer);
    case AttrKind::String:
      return hash_bytes(v.text);
    case AttrKind::Float:
      return std::bit_cast<std::uint64_t>(v.real == 0 ? 0.0 : v.real);
    case AttrKind::ArgDirectionList: {
      std::uint64_t h = v.directions.size();
      for (const ArgDirection d : v.directions) h = hash_combine(h, number(d));
      return h;
    }
    case AttrKind::IntList: {
      std::uint64_t h = v.ints.size();
      for (const std::int64_t i : v.ints) h = hash_combine(h, number(i));
      return h;
    }
    case AttrKind::IntPairList: {
      std::uint64_t h = v.int_pairs.size();
      for (const IntPair& p : v.int_pairs)
        h = hash_combine(hash_combine(h, number(p.first)), number(p.second));
      return h;
    }
    case AttrKind::VarList:
      return v.vars.size();
    case AttrKind::VarPairList:
      return v.var_pairs.size();
    case AttrKind::Var:
    case AttrKind::Expr:
      return 0;
  }
  return 0;
}

std::uint64_t Hasher::type(const Type* t) {
  if (is_unknown(t)) return number(TypeKind::Unknown);
  if (const auto found = types_.find(t); found != types_.end()) return found->second;
  const std::uint64_t h = hash_combine(number(t->kind), type_fields(t));
  types_.emplace(t, h);
  return h;
}

std::uint64_t Hasher::type_fields(const Type* t) {
  if (const auto* scalar = dyn<ScalarType>(t)) return number(scalar->dtype);
  if (const auto* tensor = dyn<TensorType>(t)) {
    std::uint64_t h = hash_combine(number(tensor->dtype), exprs(tensor->shape));
    if (tensor->view != nullptr) {
      h = hash_combine(h, exprs(tensor->view->valid_shape));
      h = hash_combine(h, exprs(tensor->view->stride));
      h = hash_combine(h, number(tensor->view->layout));
      h = hash_combine(h, number(tensor->view->pad));
    }
    return hash_combine(h, tensor->window != nullptr ? hash_combine(1, var(tensor->window)) : 0);
  }
  if (const auto* tile = dyn<TileType>(t)) {
    std::uint64_t h = hash_combine(number(tile->dtype), exprs(tile->shape));
    if (tile->view != nullptr) {
      h = hash_combine(h, exprs(tile->view->valid_shape));
      h = hash_combine(h, exprs(tile->view->stride));
      h = hash_combine(h, maybe(tile->view->start_offset));
      h = hash_combine(h, number(tile->view->blayout));
      h = hash_combine(h, number(tile->view->slayout));
      h = hash_combine(h, number(tile->view->fractal));
      h = hash_combine(h, number(tile->view->pad));
      h = hash_combine(h, number(tile->view->compact));
    }
    return hash_combine(h, number_or_none(tile->space));
  }
  if (const auto* array = dyn<ArrayType>(t)) return hash_combine(number(array->dtype), number(array->extent));
  if (const auto* tuple = dyn<TupleType>(t)) {
    std::uint64_t h = tuple->elements.size();
    for (const Type* element : tuple->elements) h = hash_combine(h, type(element));
    return h;
  }
  return 0;
}

std::uint64_t Hasher::body(Body b) {
  std::uint64_t h = b.size();
  for (const Stmt* s : b) h = hash_combine(h, hash_combine(number(s->kind), stmt(s)));
  return h;
}

std::uint64_t Hasher::stmt(const Stmt* s) {
  switch (s->kind) {
    case StmtKind::Assign: {
      const auto* n = static_cast<const AssignStmt*>(s);
      const std::uint64_t h = define(n->var);
      return hash_combine(h, expr(n->value));
    }
    case StmtKind::Eval:
      return expr(static_cast<const EvalStmt*>(s)->value);
    case StmtKind::Return:
      return exprs(static_cast<const ReturnStmt*>(s)->values);
    case StmtKind::Yield:
      return exprs(static_cast<const YieldStmt*>(s)->values);
    case StmtKind::Break:
    case StmtKind::Continue:
      return 0;
    case StmtKind::If: {
      const auto* n = static_cast<const IfStmt*>(s);
      std::uint64_t h = expr(n->condition);
      h = hash_combine(h, body(n->then_body));
      h = hash_combine(h, n->has_else ? 1 : 0);
      h = hash_combine(h, body(n->else_body));
      return hash_combine(h, defines(n->return_vars));
    }
    case StmtKind::For: {
      const auto* n = static_cast<const ForStmt*>(s);
      std::uint64_t h = define(n->loop_var, true);
      h = hash_combine(h, expr(n->start));
      h = hash_combine(h, expr(n->stop));
      h = hash_combine(h, expr(n->step));
      h = hash_combine(h, iter_args(n->iter_args));
      h = hash_combine(h, body(n->body));
      h = hash_combine(h, defines(n->return_vars));
      h = hash_combine(h, number(n->for_kind));
      return hash_combine(h, attrs(n->attrs));
    }
    case StmtKind::While: {
      const auto* n = static_cast<const WhileStmt*>(s);
      std::uint64_t h = iter_args(n->iter_args);
      h = hash_combine(h, expr(n->condition));
      h = hash_combine(h, body(n->body));
      return hash_combine(h, defines(n->return_vars));
    }
    case StmtKind::Scope:
      return scope(static_cast<const ScopeStmt*>(s));
    case StmtKind::Inline:
      return hash_bytes(static_cast<const InlineStmt*>(s)->text);
  }
  return 0;
}

std::uint64_t Hasher::scope(const ScopeStmt* s) {
  std::uint64_t h = hash_combine(number(s->scope), body(s->body));
  h = hash_combine(h, hash_bytes(s->name_hint));
  h = hash_combine(h, attrs(s->attrs));
  h = hash_combine(h, number_or_none(s->level));
  h = hash_combine(h, number_or_none(s->role));
  h = hash_combine(h, number_or_none(s->split));
  h = hash_combine(h, maybe(s->core_num));
  h = hash_combine(h, (s->sync_start ? 1U : 0U) | (s->manual ? 2U : 0U));
  for (const std::int64_t device : s->devices) h = hash_combine(h, number(device));
  for (const WindowSlot& slot : s->slots) {
    h = hash_combine(h, var(slot.base));
    h = hash_combine(h, expr(slot.size));
    h = hash_combine(h, (slot.load_from_host ? 1U : 0U) | (slot.store_to_host ? 2U : 0U));
  }
  return h;
}

std::uint64_t Hasher::function(const Function* f) {
  std::uint64_t h = hash_combine(hash_bytes(f->name.text()), f->params.size());
  for (const Param& param : f->params) {
    h = hash_combine(h, define(param.var));
    h = hash_combine(h, number(param.direction));
  }
  h = hash_combine(h, f->return_types.size());
  for (const Type* t : f->return_types) h = hash_combine(h, type(t));
  h = hash_combine(h, number(f->func_type));
  h = hash_combine(h, number_or_none(f->level));
  h = hash_combine(h, number_or_none(f->role));
  h = hash_combine(h, attrs(f->attrs));
  h = hash_combine(h, f->requires_runtime_binding ? 1 : 0);
  return hash_combine(h, body(f->body));
}

}  // namespace

std::uint64_t structural_hash(const Program* program) { return Hasher().program(program); }

}  // namespace pldc
