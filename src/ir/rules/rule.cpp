#include "ir/rules/rule.h"

#include <algorithm>

#include "support/diag/op.h"

namespace pldc {

std::string_view RuleCall::operand(std::size_t i) const {
  const OpInfo& info = op_info(op);
  return i < info.operand_count() ? info.operands[i].name : std::string_view("operand");
}

std::int64_t RuleCall::integer(std::string_view key, std::int64_t fallback) const {
  const AttrValue* value = keyword(key);
  return value != nullptr ? value->integer : fallback;
}

std::optional<DType> RuleCall::dtype(std::string_view key) const {
  const AttrValue* value = keyword(key);
  if (value == nullptr || value->kind != AttrKind::DType) return std::nullopt;
  return static_cast<DType>(value->integer);
}

std::optional<MemSpace> RuleCall::space(std::string_view key) const {
  const AttrValue* value = keyword(key);
  if (value == nullptr || value->kind != AttrKind::MemSpace) return std::nullopt;
  return static_cast<MemSpace>(value->integer);
}

std::optional<Dims> RuleCall::tuple(std::size_t i) const {
  if (const auto* made = dyn<MakeTuple>(args[i])) return made->elements;
  diags.report<diag::op_tuple>(place(i), operand(i), name(), describe(type(i)));
  return std::nullopt;
}

bool RuleCall::one_of(std::size_t i, DType dtype, std::initializer_list<DType> allowed) const {
  if (std::find(allowed.begin(), allowed.end(), dtype) != allowed.end()) return true;
  std::string list;
  std::size_t at = 0;
  for (const DType d : allowed) {
    if (at > 0) list += at + 1 == allowed.size() ? " or " : ", ";
    list += name_of(d);
    ++at;
  }
  diags.report<diag::op_dtype>(place(i), operand(i), name(), list, name_of(dtype))
      .help("convert it with pl.cast first");
  return false;
}

bool RuleCall::integer_dtype(std::size_t i, DType dtype) const {
  if (is_int(dtype)) return true;
  diags.report<diag::op_dtype>(place(i), operand(i), name(), "an integer dtype", name_of(dtype));
  return false;
}

bool RuleCall::same_dtype(std::size_t i, std::size_t j, DType a, DType b) const {
  if (a == b) return true;
  diags.report<diag::op_dtypes_differ>(place(j), operand(i), operand(j), name(), name_of(a), name_of(b))
      .help("convert one of them with pl.cast first");
  return false;
}

bool RuleCall::rank_is(std::size_t i, std::size_t found, std::size_t wanted) const {
  if (found == wanted) return true;
  diags.report<diag::op_rank>(place(i), operand(i), name(), wanted, found);
  return false;
}

bool RuleCall::rank_at_least(std::size_t i, std::size_t found, std::size_t wanted) const {
  if (found >= wanted) return true;
  diags.report<diag::op_rank>(place(i), operand(i), name(), fmt::format("at least {}", wanted), found);
  return false;
}

bool RuleCall::tuple_rank(std::size_t i, std::size_t found, std::size_t wanted, std::size_t of) const {
  if (found == wanted) return true;
  diags.report<diag::op_tuple_rank>(place(i), operand(i), name(), operand(of), wanted, found);
  return false;
}

bool RuleCall::positive(std::size_t i, Dims dims, bool constant) const {
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto value = const_int(dims[d]);
    if (value ? *value > 0 : !constant) continue;
    diags.report<diag::op_extent>(place(i), d, operand(i), name(),
                                  constant ? "a positive constant" : "positive", describe(dims[d]));
    return false;
  }
  return true;
}

std::optional<std::vector<const Expr*>> broadcast(Dims a, Dims b) {
  std::vector<const Expr*> result(std::max(a.size(), b.size()));
  for (std::size_t i = 1; i <= result.size(); ++i) {
    const Expr* x = i <= a.size() ? a[a.size() - i] : nullptr;
    const Expr* y = i <= b.size() ? b[b.size() - i] : nullptr;
    const Expr*& to = result[result.size() - i];
    if (x == nullptr || y == nullptr) {
      to = x != nullptr ? x : y;
    } else if (same_dim(x, y) || is_const(y, 1)) {
      to = x;
    } else if (is_const(x, 1)) {
      to = y;
    } else {
      return std::nullopt;
    }
  }
  return result;
}

std::optional<Dims> broadcast(const RuleCall& call, Dims a, Dims b) {
  if (same_dims(a, b)) return a;
  const auto dims = broadcast(a, b);
  if (dims) return call.ctx.list(*dims);
  call.diags.report<diag::op_shapes>(call.span, call.name(), describe(a), describe(b));
  return std::nullopt;
}

const Type* make_tile(const RuleCall& call, DType dtype, Dims shape, std::optional<MemSpace> space,
                      Dims valid) {
  TileView view = implicit_tile_view(shape, space);
  view.valid_shape = valid;
  return call.ctx.tile(dtype, shape, nullptr, space, &view);
}

const Type* make_tile_like(const RuleCall& call, const TileType* like, DType dtype, Dims shape) {
  TileView view = implicit_tile_view(shape, MemSpace::Vec);
  const TileView from = effective_view(like);
  view.blayout = from.blayout;
  view.slayout = from.slayout;
  view.pad = from.pad;
  view.valid_shape = valid_shape_of(like);
  return call.ctx.tile(dtype, shape, nullptr, MemSpace::Vec, &view);
}

const Type* make_viewed(const RuleCall& call, TypeKind kind, DType dtype, Dims shape, const TensorView& view,
                        const Var* window, const MemRef* memref) {
  return call.ctx.tensor(kind, dtype, shape, call.ctx.make(view), memref, window);
}

const Type* make_tensor(const RuleCall& call, DType dtype, Dims shape, Dims valid) {
  if (valid.empty() || same_dims(valid, shape)) return call.ctx.tensor(TypeKind::Tensor, dtype, shape);
  TensorView view;
  view.valid_shape = valid;
  return make_viewed(call, TypeKind::Tensor, dtype, shape, view);
}

}  // namespace pldc
