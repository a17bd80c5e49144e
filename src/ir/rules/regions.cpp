// Which part of a result holds data after a rectangle was read or written, and after a reshape (ops.md 0.4).
#include <algorithm>

#include "ir/rules/rule.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

bool offset_ok(const RuleCall& call, std::size_t operand, std::size_t axis, const Expr* offset) {
  if (!provably_negative(offset)) return true;
  call.diags.report<diag::op_negative>(offset->span.valid() ? offset->span : call.place(operand), axis,
                                       call.operand(operand), call.name(), describe(offset));
  return false;
}

}  // namespace

const Expr* rest_behind(Context& context, const Expr* end, const Expr* offset) {
  if (is_const(offset, 0)) return end;
  return dim_max(context, dim_sub(context, end, offset), dim_const(context, 0));
}

std::optional<Dims> read_window(const RuleCall& call, const WindowRead& read) {
  Context& ctx = call.ctx;
  const bool by_axis =
      read.source_shape.size() == read.window.size() && read.offset.size() == read.window.size();
  std::vector<const Expr*> valid;
  for (std::size_t i = 0; i < read.window.size(); ++i) {
    const Expr* window = read.window[i];
    const Expr* request = i < read.requested.size() ? read.requested[i] : nullptr;
    if (request != nullptr) {
      if (!offset_ok(call, read.valid_operand, i, request)) return std::nullopt;
      if (provably_lt(window, request) == true) {
        call.diags.report<diag::op_valid_exceeds>(call.place(read.valid_operand), call.name(),
                                                  describe(request), i, describe(window));
        return std::nullopt;
      }
    }
    if (i < read.offset.size() && !offset_ok(call, read.offset_operand, i, read.offset[i]))
      return std::nullopt;
    if (!by_axis) {
      valid.push_back(request != nullptr ? request : window);
      continue;
    }
    const Expr* offset = read.offset[i];
    const Expr* extent = read.source_shape[i];
    const Expr* reach = read.whole || request == nullptr ? window : request;
    if (!read.clamp && provably_lt(extent, dim_add(ctx, offset, reach)) == true) {
      call.diags
          .report<diag::op_reads_past>(call.place(read.offset_operand), call.name(), i, describe(offset),
                                       describe(reach), describe(extent))
          .help("read a smaller part, or give the extents that hold data as the valid shape");
      return std::nullopt;
    }
    const Expr* available = window;
    if (read.clamp || !same_dim(read.source_valid[i], extent)) {
      available = dim_min(ctx, rest_behind(ctx, read.source_valid[i], offset), window);
    }
    if (request == nullptr) {
      valid.push_back(available);
    } else {
      valid.push_back(provably_le(available, request) == true ? available : request);
    }
  }
  return ctx.list(valid);
}

std::optional<Dims> write_region(const RuleCall& call, const RegionWrite& write) {
  Context& ctx = call.ctx;
  const std::size_t rank = write.target_shape.size();
  if (write.source_valid.size() != rank || write.target_valid.size() != rank || write.reach.size() != rank) {
    call.diags.report<diag::op_shapes>(call.span, call.name(), describe(write.source_valid),
                                       describe(write.target_shape));
    return std::nullopt;
  }
  for (std::size_t i = 0; i < rank; ++i) {
    if (!offset_ok(call, write.offset_operand, i, write.offset[i])) return std::nullopt;
    if (provably_lt(write.target_shape[i], dim_add(ctx, write.offset[i], write.reach[i])) == true) {
      call.diags.report<diag::op_writes_past>(call.place(write.offset_operand), call.name(), i,
                                              describe(write.offset[i]), describe(write.reach[i]),
                                              describe(write.target_shape[i]));
      return std::nullopt;
    }
  }
  if (all_zero_valid(write.source_valid) || same_dims(write.target_valid, write.target_shape)) {
    return write.target_valid;
  }
  const auto report = [&](std::string_view what, std::size_t axis) {
    call.diags.report<diag::op_region>(call.place(write.offset_operand), call.name(), what, axis,
                                       describe(write.target_valid), describe(write.source_valid),
                                       describe(write.offset));
  };
  if (all_zero_valid(write.target_valid)) {
    for (std::size_t i = 0; i < rank; ++i) {
      if (const_int(write.offset[i]) && !is_const(write.offset[i], 0)) {
        report("leaves a gap", i);
        return std::nullopt;
      }
    }
    return write.source_valid;
  }
  // Axes along which the written part reaches beyond the valid one.
  std::optional<std::size_t> grown;
  bool provable = true;
  bool at_origin = true;
  bool covers = true;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto inside =
        provably_le(dim_add(ctx, write.offset[i], write.source_valid[i]), write.target_valid[i]);
    at_origin = at_origin && is_const(write.offset[i], 0);
    covers = covers && provably_le(write.target_valid[i], write.source_valid[i]) == true;
    if (inside == true) continue;
    if (!inside) provable = false;
    if (grown) {
      if (at_origin && covers) continue;
      if (!provable) return write.target_valid;
      report("would make an L-shape", i);
      return std::nullopt;
    }
    grown = i;
  }
  if (at_origin && covers) return write.source_valid;
  if (!grown) return write.target_valid;
  if (!provable) return write.target_valid;
  std::vector<const Expr*> valid(write.target_valid.begin(), write.target_valid.end());
  for (std::size_t i = 0; i < rank; ++i) {
    if (i == *grown) {
      if (provably_lt(write.target_valid[i], write.offset[i]) == true) {
        report("leaves a gap", i);
        return std::nullopt;
      }
      valid[i] = dim_add(ctx, write.offset[i], write.source_valid[i]);
    } else if (!is_const(write.offset[i], 0) ||
               provably_lt(write.source_valid[i], write.target_valid[i]) == true) {
      report("would make an L-shape", i);
      return std::nullopt;
    }
  }
  return ctx.list(valid);
}

namespace {

// The valid part if the shapes differ by unit axes only.
std::optional<std::vector<const Expr*>> move_unit_axes(Context& ctx, Dims shape, Dims valid, Dims to) {
  std::vector<const Expr*> result;
  const Expr* unit_valid = nullptr;  // of a unit axis that may be empty
  std::size_t next = 0;
  const auto skip_units = [&] {
    while (next < shape.size() && is_const(shape[next], 1)) {
      if (!is_const(valid[next], 1)) {
        if (unit_valid != nullptr) return false;
        unit_valid = valid[next];
      }
      ++next;
    }
    return true;
  };
  for (const Expr* extent : to) {
    if (is_const(extent, 1)) {
      result.push_back(dim_const(ctx, 1));
      continue;
    }
    if (!skip_units() || next == shape.size() || !same_dim(shape[next], extent)) return std::nullopt;
    result.push_back(valid[next++]);
  }
  if (!skip_units() || next != shape.size()) return std::nullopt;
  if (unit_valid != nullptr) {
    const auto unit = std::find_if(to.begin(), to.end(), [](const Expr* e) { return is_const(e, 1); });
    if (unit == to.end()) return std::nullopt;
    result[static_cast<std::size_t>(unit - to.begin())] = unit_valid;
  }
  return result;
}

// The valid part if it is a prefix of the elements in row-major order, in both shapes.
std::optional<std::vector<const Expr*>> move_prefix(Context& ctx, Dims shape, Dims valid, Dims to) {
  // The axis that is cut; axes before it have extent 1, axes behind it are full.
  std::size_t cut = shape.size();
  while (cut > 0 && same_dim(shape[cut - 1], valid[cut - 1])) --cut;
  if (cut == 0) return std::vector<const Expr*>(to.begin(), to.end());
  --cut;
  for (std::size_t i = 0; i < cut; ++i) {
    if (!is_const(valid[i], 1) && !is_const(shape[i], 1)) return std::nullopt;
  }
  const auto chunk = const_product(shape.subspan(cut + 1));
  if (!chunk) return std::nullopt;
  const auto rows = const_int(valid[cut]);
  for (std::size_t j = to.size(); j > 0; --j) {
    const auto trailing = const_product(to.subspan(j));
    if (!trailing || *trailing == 0) return std::nullopt;
    std::vector<const Expr*> result(to.begin(), to.end());
    for (std::size_t i = 0; i + 1 < j; ++i) result[i] = dim_const(ctx, 1);
    if (rows) {
      const std::int64_t total = *rows * *chunk;
      const auto extent = const_int(to[j - 1]);
      if (total % *trailing != 0) continue;
      if (extent && total / *trailing > *extent) continue;
      result[j - 1] = dim_const(ctx, total / *trailing);
      return result;
    }
    // Unknown count: the axes in front must not take part.
    if (*chunk % *trailing != 0) continue;
    const auto leading = const_product(to.first(j - 1));
    if (!leading || *leading != 1) continue;
    result[j - 1] = dim_mul(ctx, valid[cut], dim_const(ctx, *chunk / *trailing));
    return result;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Dims> reshape_valid(const RuleCall& call, Dims shape, Dims valid, Dims to) {
  Context& ctx = call.ctx;
  if (same_dims(shape, valid)) return Dims{};
  if (all_zero_valid(valid)) {
    return ctx.list(std::vector<const Expr*>(to.size(), dim_const(ctx, 0)));
  }
  if (const auto moved = move_unit_axes(ctx, shape, valid, to)) return ctx.list(*moved);
  if (const auto moved = move_prefix(ctx, shape, valid, to)) return ctx.list(*moved);
  call.diags.report<diag::op_reshape_valid>(call.span, call.name(), describe(shape), describe(to),
                                            describe(valid));
  return std::nullopt;
}

}  // namespace pldc
