#include <algorithm>
#include <bit>

#include "ir/comparer.h"
#include "ir/op.h"

namespace pldc {

namespace same_detail {

namespace {

bool same_double(double a, double b) {
  return a == b || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

constexpr std::string_view kTypeKindNames[] = {"Scalar",
                                               "Tensor",
                                               "DistributedTensor",
                                               "Tile",
                                               "Array",
                                               "Tuple",
                                               "Ptr",
                                               "MemRef",
                                               "WindowBuffer",
                                               "CommCtx",
                                               "PrefetchAsyncContext",
                                               "AsyncEvent",
                                               "AsyncSession",
                                               "Unknown"};
constexpr std::string_view kExprKindNames[] = {
    "variable", "integer", "float",  "bool",  "binary expression", "unary expression",
    "cast",     "call",    "submit", "tuple", "tuple element"};
constexpr std::string_view kUnaryNames[] = {"-", "not", "~", "abs"};
constexpr std::string_view kAttrKindNames[] = {"int",
                                               "bool",
                                               "string",
                                               "float",
                                               "dtype",
                                               "memory space",
                                               "tensor layout",
                                               "tile layout",
                                               "pad value",
                                               "direction",
                                               "direction list",
                                               "int list",
                                               "variable list",
                                               "variable",
                                               "expression",
                                               "int pair list",
                                               "variable pair list"};

template <class E, std::size_t N>
std::string_view kind_name(const std::string_view (&names)[N], E kind) {
  return names[static_cast<std::size_t>(kind)];
}

std::string callee_text(const Call* call) {
  return std::string(call->is_op() ? op_info(call->op).name : call->function.text());
}

}  // namespace

std::string type_text(const Type* t) {
  if (t == nullptr) return "nothing";
  if (const auto* scalar = dyn<ScalarType>(t)) return fmt::format("Scalar[{}]", name_of(scalar->dtype));
  return std::string(kind_name(kTypeKindNames, t->kind));
}

std::string expr_text(const Expr* e) {
  if (e == nullptr) return "nothing";
  if (const auto* v = dyn<Var>(e)) return fmt::format("variable '{}'", v->name.text());
  if (const auto* c = dyn<ConstInt>(e)) return fmt::format("{} ({})", c->value, name_of(c->dtype));
  if (const auto* c = dyn<ConstFloat>(e)) return fmt::format("{} ({})", c->value, name_of(c->dtype));
  if (const auto* c = dyn<ConstBool>(e)) return c->value ? "True" : "False";
  if (const auto* c = dyn<Call>(e)) return fmt::format("call of {}", callee_text(c));
  if (const auto* s = dyn<Submit>(e)) return fmt::format("submit of {}", s->function.text());
  if (const auto* b = dyn<Binary>(e)) return fmt::format("expression with '{}'", info_of(b->op).text);
  return std::string(kind_name(kExprKindNames, e->kind));
}

std::string Comparer::path_text() const {
  std::string text;
  for (const Segment& segment : path_) {
    if (!segment.field.empty()) {
      if (!text.empty()) text += '.';
      text += segment.field;
    }
    if (segment.index >= 0) text += fmt::format("[{}]", segment.index);
    if (!segment.key.empty()) text += fmt::format("[\"{}\"]", segment.key);
  }
  return text;
}

namespace {

// Names are hints: two variables that are not each other's counterpart may well be called the same.
std::string_view another(const Var* a, const Var* b) {
  return a->name.text() == b->name.text() ? "another " : "";
}

}  // namespace

bool Comparer::var(const Var* a, const Var* b) {
  const auto unlike = [&] {
    return differ([&] { return fmt::format("variable '{}'", a->name.text()); },
                  [&] { return fmt::format("{}variable '{}'", another(a, b), b->name.text()); });
  };
  if (mode_ == Mode::Identity) return a == b ? true : unlike();
  const auto left = to_right_.find(a);
  const auto right = to_left_.find(b);
  if (left != to_right_.end() || right != to_left_.end()) {
    const bool mapped = left != to_right_.end() && left->second == b;
    return mapped ? true : unlike();
  }
  // Without a definition so far: the first use maps the pair.
  to_right_.emplace(a, b);
  to_left_.emplace(b, a);
  const At at(*this, "type");
  return type(a->type, b->type);
}

bool Comparer::define(const Var* a, const Var* b, bool is_loop_var) {
  const auto left = to_right_.try_emplace(a, b);
  const auto right = to_left_.try_emplace(b, a);
  if (left.first->second != b || right.first->second != a) {
    return differ([&] { return fmt::format("definition of '{}'", a->name.text()); },
                  [&] { return fmt::format("definition of {}'{}'", another(a, b), b->name.text()); });
  }
  const At at(*this, "type");
  if (is_loop_var) {
    const auto x = scalar_dtype(a->type);
    const auto y = scalar_dtype(b->type);
    if (x && y && index_as_int64(*x) == index_as_int64(*y)) return true;
  }
  return type(a->type, b->type);
}

bool Comparer::defines(std::string_view field, List<const Var*> a, List<const Var*> b) {
  if (a.size() != b.size()) {
    const At at(*this, field);
    return differ([&] { return fmt::format("{} entries", a.size()); },
                  [&] { return fmt::format("{} entries", b.size()); });
  }
  bool equal = true;
  for (std::size_t i = 0; i < a.size() && !stop(); ++i) {
    const At at(*this, field, static_cast<std::int64_t>(i));
    equal = define(a[i], b[i]) && equal;
  }
  return equal;
}

bool Comparer::child(std::string_view field, const Expr* a, const Expr* b) {
  if (stop()) return false;
  const At at(*this, field);
  return expr(a, b);
}

bool Comparer::exprs(std::string_view field, List<const Expr*> a, List<const Expr*> b) {
  if (a.size() != b.size()) {
    const At at(*this, field);
    return differ([&] { return fmt::format("{} entries", a.size()); },
                  [&] { return fmt::format("{} entries", b.size()); });
  }
  bool equal = true;
  for (std::size_t i = 0; i < a.size() && !stop(); ++i) {
    const At at(*this, field, static_cast<std::int64_t>(i));
    equal = expr(a[i], b[i]) && equal;
  }
  return equal;
}

bool Comparer::expr(const Expr* a, const Expr* b) {
  if (a == nullptr || b == nullptr) {
    if (a == b) return true;
    return differ([&] { return expr_text(a); }, [&] { return expr_text(b); });
  }
  const Place place(*this, a->span, b->span);
  if (a->kind != b->kind) return differ([&] { return expr_text(a); }, [&] { return expr_text(b); });
  if (a->kind == ExprKind::Var) return var(static_cast<const Var*>(a), static_cast<const Var*>(b));
  if (equal_.contains({a, b})) return true;
  const bool equal = expr_fields(a, b);
  // Only nodes with operands can be shared to the point where it matters.
  if (equal && a->kind != ExprKind::ConstInt && a->kind != ExprKind::ConstFloat &&
      a->kind != ExprKind::ConstBool) {
    equal_.insert({a, b});
  }
  return equal;
}

bool Comparer::expr_fields(const Expr* a, const Expr* b) {
  const auto own_type = [&] {
    if (stop()) return false;
    const At at(*this, "type");
    return type(a->type, b->type);
  };
  const auto texts = [&] { return differ([&] { return expr_text(a); }, [&] { return expr_text(b); }); };
  switch (a->kind) {
    case ExprKind::Var:
      return var(static_cast<const Var*>(a), static_cast<const Var*>(b));
    case ExprKind::ConstInt: {
      const auto* x = static_cast<const ConstInt*>(a);
      const auto* y = static_cast<const ConstInt*>(b);
      return x->value == y->value && index_as_int64(x->dtype) == index_as_int64(y->dtype) ? true : texts();
    }
    case ExprKind::ConstFloat: {
      const auto* x = static_cast<const ConstFloat*>(a);
      const auto* y = static_cast<const ConstFloat*>(b);
      return same_double(x->value, y->value) && x->dtype == y->dtype ? true : texts();
    }
    case ExprKind::ConstBool:
      return static_cast<const ConstBool*>(a)->value == static_cast<const ConstBool*>(b)->value ? true
                                                                                                : texts();
    case ExprKind::Binary: {
      const auto* x = static_cast<const Binary*>(a);
      const auto* y = static_cast<const Binary*>(b);
      if (x->op != y->op) return value("op", info_of(x->op).text, info_of(y->op).text);
      const bool lhs = child("lhs", x->lhs, y->lhs);
      const bool rhs = child("rhs", x->rhs, y->rhs);
      return lhs && rhs && own_type();
    }
    case ExprKind::Unary: {
      const auto* x = static_cast<const Unary*>(a);
      const auto* y = static_cast<const Unary*>(b);
      if (x->op != y->op) return value("op", kind_name(kUnaryNames, x->op), kind_name(kUnaryNames, y->op));
      return child("operand", x->operand, y->operand) && own_type();
    }
    case ExprKind::Cast:
      return child("operand", static_cast<const Cast*>(a)->operand, static_cast<const Cast*>(b)->operand) &&
             own_type();
    case ExprKind::Call: {
      const auto* x = static_cast<const Call*>(a);
      const auto* y = static_cast<const Call*>(b);
      if (x->op != y->op || x->function.text() != y->function.text())
        return value("op", callee_text(x), callee_text(y));
      const bool args = exprs("args", x->args, y->args);
      const bool kwargs = attrs("kwargs", x->kwargs, y->kwargs);
      const bool meta = attrs("attrs", x->attrs, y->attrs);
      const bool result = own_type();
      return args && kwargs && meta && result;
    }
    case ExprKind::Submit: {
      const auto* x = static_cast<const Submit*>(a);
      const auto* y = static_cast<const Submit*>(b);
      if (x->function.text() != y->function.text())
        return value("op", x->function.text(), y->function.text());
      bool equal = exprs("args", x->args, y->args);
      equal = exprs("deps", x->deps, y->deps) && equal;
      equal = child("core_num", x->core_num, y->core_num) && equal;
      equal = flag("spmd", x->spmd, y->spmd) && equal;
      equal = flag("sync_start", x->sync_start, y->sync_start) && equal;
      equal = flag("allow_early_resolve", x->allow_early_resolve, y->allow_early_resolve) && equal;
      equal = child("predicate", x->predicate, y->predicate) && equal;
      equal = attrs("attrs", x->attrs, y->attrs) && equal;
      return own_type() && equal;
    }
    case ExprKind::MakeTuple:
      return exprs("elements", static_cast<const MakeTuple*>(a)->elements,
                   static_cast<const MakeTuple*>(b)->elements);
    case ExprKind::TupleGet: {
      const auto* x = static_cast<const TupleGet*>(a);
      const auto* y = static_cast<const TupleGet*>(b);
      return child("tuple", x->tuple, y->tuple) && value("index", x->index, y->index);
    }
  }
  return true;
}

bool Comparer::attr_value(const AttrValue& a, const AttrValue& b) {
  if (a.kind != b.kind)
    return differ_text(kind_name(kAttrKindNames, a.kind), kind_name(kAttrKindNames, b.kind));
  const auto numbers = [&] {
    return differ([&] { return fmt::format("{}", a.integer); }, [&] { return fmt::format("{}", b.integer); });
  };
  const auto lists = [&] { return differ_text("a list", "another list"); };
  switch (a.kind) {
    case AttrKind::Int:
    case AttrKind::Bool:
    case AttrKind::MemSpace:
    case AttrKind::TensorLayout:
    case AttrKind::TileLayout:
    case AttrKind::PadValue:
      return a.integer == b.integer ? true : numbers();
    case AttrKind::DType:
      if (a.integer == b.integer) return true;
      return differ_text(name_of(static_cast<DType>(a.integer)), name_of(static_cast<DType>(b.integer)));
    case AttrKind::ArgDirection:
      if (a.integer == b.integer) return true;
      return differ_text(name_of(static_cast<ArgDirection>(a.integer)),
                         name_of(static_cast<ArgDirection>(b.integer)));
    case AttrKind::String:
      return a.text == b.text ? true : differ_text(a.text, b.text);
    case AttrKind::Float:
      if (same_double(a.real, b.real)) return true;
      return differ([&] { return fmt::format("{}", a.real); }, [&] { return fmt::format("{}", b.real); });
    case AttrKind::Expr:
      return expr(a.expr, b.expr);
    case AttrKind::Var:
      return var(a.var(), b.var());
    case AttrKind::ArgDirectionList: {
      if (a.directions.size() != b.directions.size()) return lists();
      for (std::size_t i = 0; i < a.directions.size(); ++i) {
        const At at(*this, {}, static_cast<std::int64_t>(i));
        if (a.directions[i] != b.directions[i])
          return differ_text(name_of(a.directions[i]), name_of(b.directions[i]));
      }
      return true;
    }
    case AttrKind::IntList:
      return std::equal(a.ints.begin(), a.ints.end(), b.ints.begin(), b.ints.end()) ? true : lists();
    case AttrKind::VarList: {
      if (a.vars.size() != b.vars.size()) return lists();
      for (std::size_t i = 0; i < a.vars.size(); ++i) {
        const At at(*this, {}, static_cast<std::int64_t>(i));
        if (!var(a.vars[i], b.vars[i])) return false;
      }
      return true;
    }
    case AttrKind::IntPairList:
      return std::equal(a.int_pairs.begin(), a.int_pairs.end(), b.int_pairs.begin(), b.int_pairs.end(),
                        [](IntPair x, IntPair y) { return x.first == y.first && x.second == y.second; })
                 ? true
                 : lists();
    case AttrKind::VarPairList: {
      if (a.var_pairs.size() != b.var_pairs.size()) return lists();
      for (std::size_t i = 0; i < a.var_pairs.size(); ++i) {
        const At at(*this, {}, static_cast<std::int64_t>(i));
        if (a.var_pairs[i].value != b.var_pairs[i].value) return lists();
        if (!var(a.var_pairs[i].var, b.var_pairs[i].var)) return false;
      }
      return true;
    }
  }
  return true;
}

bool Comparer::attrs(std::string_view field, Attrs a, Attrs b) {
  bool equal = true;
  for (const Attr& attr : a) {
    if (stop()) return false;
    const At at(*this, field, -1, attr.key.text());
    const AttrValue* other = find_attr(b, attr.key.text());
    if (other == nullptr) {
      equal = differ_text(kind_name(kAttrKindNames, attr.value.kind), "nothing");
    } else {
      equal = attr_value(attr.value, *other) && equal;
    }
  }
  for (const Attr& attr : b) {
    if (stop()) return false;
    if (find_attr(a, attr.key.text()) != nullptr) continue;
    const At at(*this, field, -1, attr.key.text());
    equal = differ_text("nothing", kind_name(kAttrKindNames, attr.value.kind));
  }
  return equal;
}

bool Comparer::type(const Type* a, const Type* b) {
  if (a == nullptr || b == nullptr || a->kind != b->kind) {
    if (a == b || (is_unknown(a) && is_unknown(b))) return true;
    return differ([&] { return type_text(a); }, [&] { return type_text(b); });
  }
  if (equal_.contains({a, b})) return true;
  const bool equal = type_fields(a, b);
  if (equal && a->kind != TypeKind::Scalar) equal_.insert({a, b});
  return equal;
}

bool Comparer::window(const Var* a, const Var* b) {
  const At at(*this, "window_buffer");
  if (a == nullptr || b == nullptr) {
    return a == b
               ? true
               : differ_text(a != nullptr ? a->name.text() : "none", b != nullptr ? b->name.text() : "none");
  }
  const bool equal = var(a, b);
  // The size belongs to the domain's slot, which is compared there; a reader looks for it at the tensor as
  // well.
  if (mode_ == Mode::List && equal && windows_reported_.insert(a).second) {
    const auto left = slots_left_.find(a);
    const auto right = slots_right_.find(b);
    if (left != slots_left_.end() && right != slots_right_.end())
      child("size", left->second->size, right->second->size);
  }
  return equal;
}

bool Comparer::tensor_view(const TensorView* a, const TensorView* b) {
  const At at(*this, "view");
  if (a == nullptr || b == nullptr)
    return a == b ? true : differ_text(a != nullptr ? "a view" : "none", b != nullptr ? "a view" : "none");
  bool equal = exprs("valid_shape", a->valid_shape, b->valid_shape);
  equal = exprs("stride", a->stride, b->stride) && equal;
  equal = value("layout", name_of(a->layout), name_of(b->layout)) && equal;
  return value("pad", name_of(a->pad), name_of(b->pad)) && equal;
}

bool Comparer::tile_view(const TileView* a, const TileView* b) {
  const At at(*this, "view");
  if (a == nullptr || b == nullptr)
    return a == b ? true : differ_text(a != nullptr ? "a view" : "none", b != nullptr ? "a view" : "none");
  bool equal = exprs("valid_shape", a->valid_shape, b->valid_shape);
  equal = exprs("stride", a->stride, b->stride) && equal;
  equal = child("start_offset", a->start_offset, b->start_offset) && equal;
  equal = value("blayout", name_of(a->blayout), name_of(b->blayout)) && equal;
  equal = value("slayout", name_of(a->slayout), name_of(b->slayout)) && equal;
  equal = value("fractal", a->fractal, b->fractal) && equal;
  equal = value("pad", name_of(a->pad), name_of(b->pad)) && equal;
  return value("compact", name_of(a->compact), name_of(b->compact)) && equal;
}

bool Comparer::type_fields(const Type* a, const Type* b) {
  switch (a->kind) {
    case TypeKind::Scalar:
      return value("dtype", name_of(static_cast<const ScalarType*>(a)->dtype),
                   name_of(static_cast<const ScalarType*>(b)->dtype));
    case TypeKind::Tensor:
    case TypeKind::DistributedTensor: {
      const auto* x = static_cast<const TensorType*>(a);
      const auto* y = static_cast<const TensorType*>(b);
      bool equal = value("dtype", name_of(x->dtype), name_of(y->dtype));
      equal = exprs("shape", x->shape, y->shape) && equal;
      equal = tensor_view(x->view, y->view) && equal;
      return window(x->window, y->window) && equal;
    }
    case TypeKind::Tile: {
      const auto* x = static_cast<const TileType*>(a);
      const auto* y = static_cast<const TileType*>(b);
      bool equal = value("dtype", name_of(x->dtype), name_of(y->dtype));
      equal = exprs("shape", x->shape, y->shape) && equal;
      equal = tile_view(x->view, y->view) && equal;
      return optional_enum("memory_space", x->space, y->space) && equal;
    }
    case TypeKind::Array: {
      const auto* x = static_cast<const ArrayType*>(a);
      const auto* y = static_cast<const ArrayType*>(b);
      const bool equal = value("dtype", name_of(x->dtype), name_of(y->dtype));
      return value("extent", x->extent, y->extent) && equal;
    }
    case TypeKind::Tuple: {
      const auto* x = static_cast<const TupleType*>(a);
      const auto* y = static_cast<const TupleType*>(b);
      if (x->elements.size() != y->elements.size()) {
        return differ([&] { return fmt::format("{} elements", x->elements.size()); },
                      [&] { return fmt::format("{} elements", y->elements.size()); });
      }
      bool equal = true;
      for (std::size_t i = 0; i < x->elements.size() && !stop(); ++i) {
        const At at(*this, "elements", static_cast<std::int64_t>(i));
        equal = type(x->elements[i], y->elements[i]) && equal;
      }
      return equal;
    }
    case TypeKind::Ptr:
    case TypeKind::MemRef:
    case TypeKind::WindowBuffer:
    case TypeKind::CommCtx:
    case TypeKind::PrefetchAsyncContext:
    case TypeKind::AsyncEvent:
    case TypeKind::AsyncSession:
    case TypeKind::Unknown:
      return true;
  }
  return true;
}

}  // namespace same_detail

bool same_type(const Type* a, const Type* b) {
  return a == b || same_detail::Comparer(same_detail::Comparer::Mode::Identity, 0, nullptr).type(a, b);
}

}  // namespace pldc
