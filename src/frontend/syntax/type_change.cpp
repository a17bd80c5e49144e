#include "frontend/syntax/type_change.h"

#include <algorithm>
#include <vector>

#include "ir/context.h"
#include "ir/walk.h"

namespace pldc {

namespace {

std::vector<const Var*> variables(const Type* type) {
  std::vector<const Var*> found;
  for_each_type_expr(type, [&](const Expr* e) {
    walk_expr(e, [&](const Expr* part) {
      if (const auto* v = dyn<Var>(part)) found.push_back(v);
    });
  });
  return found;
}

}  // namespace

std::string changed_parts(const Type* before, const Type* now) {
  if (before->kind != now->kind) return {};
  std::string parts;
  const auto part = [&](std::string_view name, bool same) {
    if (!same) parts.append(parts.empty() ? "" : ", ").append(name);
  };
  if (const auto* tile = dyn<TileType>(before)) {
    const auto* other = static_cast<const TileType*>(now);
    const TileView a = effective_view(tile);
    const TileView b = effective_view(other);
    part("the dtype", tile->dtype == other->dtype);
    part("the shape", same_dims(tile->shape, other->shape));
    part("the valid shape", same_dims(valid_shape_of(tile), valid_shape_of(other)));
    part("the memory space", tile->space == other->space);
    part("the layout", same_dims(a.stride, b.stride) && a.blayout == b.blayout && a.slayout == b.slayout &&
                           a.fractal == b.fractal && a.compact == b.compact);
    part("the padding", a.pad == b.pad);
  } else if (const auto* tensor = dyn<TensorType>(before)) {
    const auto* other = static_cast<const TensorType*>(now);
    const TensorView a = tensor->view != nullptr ? *tensor->view : TensorView{};
    const TensorView b = other->view != nullptr ? *other->view : TensorView{};
    part("the dtype", tensor->dtype == other->dtype);
    part("the shape", same_dims(tensor->shape, other->shape));
    part("the valid shape", same_dims(valid_shape_of(tensor), valid_shape_of(other)));
    part("the strides", same_dims(a.stride, b.stride));
    part("the layout", a.layout == b.layout);
    part("the padding", a.pad == b.pad);
    part("the window", tensor->window == other->window);
  }
  return parts;
}

std::pair<const Var*, const Var*> namesakes(const Type* before, const Type* now) {
  const std::vector<const Var*> a = variables(before);
  const std::vector<const Var*> b = variables(now);
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i] && a[i]->name == b[i]->name) return {a[i], b[i]};
  }
  return {};
}

}  // namespace pldc
