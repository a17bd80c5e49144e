// Subscripts and scalar operators as people write them (format.md 2.9.3, 2.11).
#include <string>

#include "ir/authoring.h"
#include "ir/check_op.h"
#include "ir/describe.h"
#include "ir/rules.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

const Call* finish(Context& context, DiagSink& diags, OpId op, std::vector<const Expr*> args, Span span) {
  const Call* draft = context.call(op, context.list(args), {}, {}, context.unknown(), span);
  if (!check_call(diags, draft)) return nullptr;
  const Type* type = deduce(context, diags, op, draft->args, {}, span);
  return type != nullptr ? context.call_with_type(draft, type) : nullptr;
}

const Expr* tuple_of(Context& context, const std::vector<const Expr*>& elements, Span span) {
  return context.make_tuple(context.list(elements), span);
}

// base[...] on tensors and tiles: all indices read an element, else a slice.
const Expr* subscript(Context& context, DiagSink& diags, const Expr* base, List<const Expr*> shape, bool tile,
                      const std::vector<AuthoringIndex>& indices, Span span) {
  if (indices.size() > shape.size()) {
    diags.report<diag::op_subscript>(
        span, fmt::format("{} indices for a value of rank {}", indices.size(), shape.size()));
    return nullptr;
  }
  bool all_indices = indices.size() == shape.size();
  for (const AuthoringIndex& index : indices) all_indices = all_indices && !index.slice;
  if (all_indices) {
    std::vector<const Expr*> at;
    for (const AuthoringIndex& index : indices) at.push_back(index.start);
    return finish(context, diags, tile ? OpId::tile_read : OpId::tensor_read,
                  {base, tuple_of(context, at, span)}, span);
  }
  std::vector<const Expr*> extents;
  std::vector<const Expr*> offsets;
  std::vector<const Expr*> dropped;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const AuthoringIndex whole{nullptr, nullptr, true, span};
    const AuthoringIndex& index = i < indices.size() ? indices[i] : whole;
    const Expr* zero = context.const_int(0, DType::INDEX, index.span);
    if (!index.slice) {
      extents.push_back(context.const_int(1, DType::INDEX, index.span));
      offsets.push_back(index.start);
      dropped.push_back(context.const_int(static_cast<std::int64_t>(i), DType::INDEX, index.span));
      continue;
    }
    const Expr* start = index.start != nullptr ? index.start : zero;
    const Expr* stop = index.stop != nullptr ? index.stop : shape[i];
    offsets.push_back(start);
    const auto from = const_int(start);
    const auto to = const_int(stop);
    if (from && *from == 0) {
      extents.push_back(stop);
    } else if (from && to) {
      if (*to <= *from) {
        diags.report<diag::op_subscript>(index.span, fmt::format("the slice {}:{} is empty", *from, *to));
        return nullptr;
      }
      extents.push_back(context.const_int(*to - *from, DType::INDEX, index.span));
    } else {
      extents.push_back(dim_sub(context, stop, start));
    }
  }
  std::vector<const Expr*> args{base, tuple_of(context, extents, span), tuple_of(context, offsets, span)};
  if (!dropped.empty()) {
    args.push_back(tuple_of(context, {}, span));
    args.push_back(tuple_of(context, dropped, span));
  }
  return finish(context, diags, tile ? OpId::tile_slice : OpId::tensor_slice, std::move(args), span);
}

}  // namespace

const Expr* author_subscript(Context& context, DiagSink& diags, const Expr* base,
                             const std::vector<AuthoringIndex>& indices, Span span) {
  if (const auto* tensor = dyn<TensorType>(base->type)) {
    return subscript(context, diags, base, tensor->shape, false, indices, span);
  }
  if (const auto* tile = dyn<TileType>(base->type)) {
    return subscript(context, diags, base, tile->shape, true, indices, span);
  }
  if (dyn<ArrayType>(base->type) != nullptr) {
    if (indices.size() != 1 || indices[0].slice) {
      diags.report<diag::op_subscript>(span, "an array takes one index").help("write arr[i]");
      return nullptr;
    }
    return finish(context, diags, OpId::array_get_element, {base, indices[0].start}, span);
  }
  if (const auto* tuple = dyn<TupleType>(base->type)) {
    const auto index = indices.size() == 1 && !indices[0].slice ? const_int(indices[0].start) : std::nullopt;
    if (!index || *index < 0 || *index >= static_cast<std::int64_t>(tuple->elements.size())) {
      diags.report<diag::op_subscript>(
          span, fmt::format("a tuple of {} takes a constant index from 0 to {}", tuple->elements.size(),
                            tuple->elements.empty() ? 0 : tuple->elements.size() - 1));
      return nullptr;
    }
    return context.tuple_get(base, *index, span);
  }
  diags.report<diag::op_subscript>(span, fmt::format("{} has no elements to index", describe(base->type)))
      .help("tensors, tiles, arrays and tuples can be indexed");
  return nullptr;
}

const Expr* author_store_subscript(Context& context, DiagSink& diags, const Expr* base,
                                   const std::vector<AuthoringIndex>& indices, const Expr* value, Span span) {
  const auto element = [&](DType dtype) -> const Expr* {
    const auto* c = dyn<ConstInt>(value);
    if (c == nullptr || c->dtype != DType::INDEX || c->dtype == dtype) return value;
    if (is_float(dtype)) return context.const_float(static_cast<double>(c->value), dtype, c->span);
    return context.const_int(c->value, dtype, c->span);
  };
  if (const auto* array = dyn<ArrayType>(base->type)) {
    if (indices.size() != 1 || indices[0].slice) {
      diags.report<diag::op_subscript>(span, "an array takes one index").help("write arr[i] = value");
      return nullptr;
    }
    return finish(context, diags, OpId::array_update_element, {base, indices[0].start, element(array->dtype)},
                  span);
  }
  const auto* tensor = dyn<TensorType>(base->type);
  const auto* tile = dyn<TileType>(base->type);
  if (tensor == nullptr && tile == nullptr) {
    diags.report<diag::op_subscript>(span,
                                     fmt::format("elements of {} cannot be assigned", describe(base->type)));
    return nullptr;
  }
  std::vector<const Expr*> offsets;
  bool slices = false;
  for (const AuthoringIndex& index : indices) {
    slices = slices || index.slice;
    offsets.push_back(index.start != nullptr ? index.start : context.const_int(0, DType::INDEX, index.span));
  }
  if (!slices) {
    diags.report<diag::op_subscript>(span, "a single element cannot be assigned")
        .help("write 'pl.write(target, [indices], value)', or assign a slice");
    return nullptr;
  }
  // What the slices leave open, and their ends, follow from the source.
  const std::size_t rank = tensor != nullptr ? tensor->shape.size() : tile->shape.size();
  while (offsets.size() < rank) offsets.push_back(context.const_int(0, DType::INDEX, span));
  return finish(context, diags, tensor != nullptr ? OpId::tensor_assemble : OpId::tile_assemble,
                {base, value, tuple_of(context, offsets, span)}, span);
}

const Expr* author_binary(Context& context, DiagSink& diags, BinaryOp op, const Expr* lhs, const Expr* rhs,
                          Span span) {
  const auto a = scalar_dtype(lhs->type);
  const auto b = scalar_dtype(rhs->type);
  if (is_logical(op)) return context.binary(op, lhs, rhs, span);
  if (!a || !b) {
    // Nothing is known about one of them: no promotion.
    if (is_unknown(lhs->type) || is_unknown(rhs->type)) return context.binary(op, lhs, rhs, span);
    const Expr* wrong = a ? rhs : lhs;
    auto report = diags.report<diag::op_scalar_mix>(span, info_of(op).text, "scalars", describe(lhs->type),
                                                    describe(rhs->type));
    if (dyn<TensorType>(wrong->type) != nullptr || dyn<TileType>(wrong->type) != nullptr) {
      report.help("tensors and tiles have operations instead of operators: pl.add, pl.mul, ...");
    }
    return nullptr;
  }
  const bool bits = op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor ||
                    op == BinaryOp::Shl || op == BinaryOp::Shr;
  const bool integers = is_int(*a) && is_int(*b);
  const bool floats = is_float(*a) && is_float(*b);
  if (!integers && (bits || !floats)) {
    auto report = diags.report<diag::op_scalar_mix>(
        span, info_of(op).text, bits ? "integers" : "integers or two floating-point numbers", name_of(*a),
        name_of(*b));
    if (is_float(*a) != is_float(*b) &&
        (lhs->kind == ExprKind::ConstInt || rhs->kind == ExprKind::ConstInt)) {
      report.help("write the number with a point: 2.0");
    } else if (*a == DType::BOOL || *b == DType::BOOL) {
      report.help("truth values are combined with and, or, not");
    } else {
      report.help("convert one of them with pl.cast");
    }
    return nullptr;
  }
  // The wider dtype; of equal width, the left one. INDEX and INT64 are one integer.
  const DType common = bit_width(*b) > bit_width(*a) ? *b : *a;
  const auto convert = [&](const Expr* e, DType from) -> const Expr* {
    const bool same = from == common || (from == DType::INDEX && common == DType::INT64) ||
                      (from == DType::INT64 && common == DType::INDEX);
    return same ? e : context.cast(e, common, e->span);
  };
  const Type* type = context.scalar(is_comparison(op) ? DType::BOOL : common);
  return context.binary_of_type(op, convert(lhs, *a), convert(rhs, *b), type, span);
}

}  // namespace pldc
