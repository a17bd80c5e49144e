// Elementwise operations with a form of their own: conversions, comparisons, selections, filling.
#include <fmt/format.h>

#include "codegen/device/ops.h"

namespace pldc {

std::string compare_mode(std::int64_t number) {
  constexpr std::string_view kModes[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  return fmt::format("CmpMode::{}", number >= 0 && number < 6 ? kModes[number] : "EQ");
}

namespace {

// The dtype of the operand tile is one with arithmetic.
bool ready(KernelBody& body, const OpCall& op, std::size_t argument) {
  if (op.result == nullptr) return false;
  const auto* type = dyn<TileType>(op.arg(argument)->type);
  return type != nullptr && body.check_dtype(op, type->dtype) && has_scalar_form(body, op, type->dtype);
}

// Two instructions: the official subtraction of three operands adds the third one. The place of the result may be that of
// an operand that is still needed, so the first step has a place of its own.
bool ternary(KernelBody& body, const OpCall& op) {
  if (!ready(body, op, 0)) return op.result == nullptr;
  const TileRef to = body.result(op.result);
  const std::string_view step = op.call->op == OpId::tile_addc ? "TADD" : "TSUB";
  TileRef first = body.scratch(to.form, to.valid_rows, to.valid_cols);
  first.ir_rows = to.ir_rows;
  first.ir_cols = to.ir_cols;
  elementwise(body, step, first, {vector_operand(body, op, 0), vector_operand(body, op, 1)});
  return elementwise(body, step, to, {first, vector_operand(body, op, 2)});
}

// The same with a scalar in the middle.
bool scalar_ternary(KernelBody& body, const OpCall& op) {
  if (!ready(body, op, 0)) return op.result == nullptr;
  const TileRef to = body.result(op.result);
  const std::string step = op.call->op == OpId::tile_addsc ? "TADD" : "TSUB";
  TileRef first = body.scratch(to.form, to.valid_rows, to.valid_cols);
  first.ir_rows = to.ir_rows;
  first.ir_cols = to.ir_cols;
  elementwise(body, step + "S", first, {vector_operand(body, op, 0)},
              {body.scalars.as(op.arg(1), to.form.dtype)});
  return elementwise(body, step, to, {first, vector_operand(body, op, 2)});
}

// (destination, tile, scalar, tmp)
bool scalar_tmp(KernelBody& body, const OpCall& op) {
  if (!ready(body, op, 0)) return op.result == nullptr;
  const TileRef to = body.result(op.result);
  return elementwise(body, op.info().emit.callee, to, {vector_operand(body, op, 0)},
                     {body.scalars.as(op.arg(1), to.form.dtype), body.tile(op.arg(2)).name});
}

bool sine(KernelBody& body, const OpCall& op) {
  if (!ready(body, op, 0)) return op.result == nullptr;
  const std::string_view callee = op.call->op == OpId::tile_sin ? "TSIN" : "TCOS";
  return elementwise(body, callee, body.result(op.result), {vector_operand(body, op, 0)});
}

bool fill(KernelBody& body, const OpCall& op, const Expr* value) {
  if (op.result == nullptr) return true;
  const auto* type = static_cast<const TileType*>(op.result->type);
  if (!body.check_dtype(op, type->dtype) || !has_scalar_form(body, op, type->dtype)) return false;
  return elementwise(body, "TEXPANDS", body.result(op.result), {}, {body.scalars.as(value, type->dtype)});
}
bool full(KernelBody& body, const OpCall& op) { return fill(body, op, op.arg(1)); }
bool expands(KernelBody& body, const OpCall& op) { return fill(body, op, op.arg(1)); }

// 1 where the number is not 0. There is no conversion to BOOL, so a comparison chooses between the two values.
bool truth(KernelBody& body, const TileRef& to, const TileRef& from) {
  const std::int64_t bytes = rounded_up((from.form.cols + 7) / 8, kTileLine);
  const TileRef mask = body.scratch(tile_form(MemSpace::Vec, DType::UINT8, from.form.rows, bytes),
                                    from.valid_rows, Extent(bytes));
  const TileRef ones = body.scratch(to.form, to.valid_rows, to.valid_cols);
  body.issue(Pipe::V, {{from}, {mask}}, fmt::format("TCMPS({}, {}, 0, CmpMode::NE);", mask.name, from.name));
  body.issue(Pipe::V, {{}, {ones}}, fmt::format("TEXPANDS({}, 1);", ones.name));
  const TileRef tmp = body.scratch_like(mask);
  body.issue(Pipe::V, {{mask, ones}, {to, tmp}},
             fmt::format("TSELS({}, {}, {}, {}, 0);", to.name, mask.name, ones.name, tmp.name));
  return true;
}

bool cast(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const auto* from_type = static_cast<const TileType*>(op.arg(0)->type);
  const auto* to_type = static_cast<const TileType*>(op.result->type);
  if (!body.check_dtype(op, from_type->dtype) || !body.check_dtype(op, to_type->dtype)) return false;
  if (to_type->dtype == DType::FP8E8M0) return has_scalar_form(body, op, to_type->dtype);
  constexpr std::string_view kModes[] = {"NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD"};
  const std::int64_t mode = keyword_int(op, "mode", static_cast<std::int64_t>(CastMode::Round));
  if (mode < 0 || mode > 6) return false;
  const TileRef to = body.result(op.result);
  TileRef from = vector_operand(body, op, 0);
  TileRef out = to;
  if (to.form.by_columns != from.form.by_columns) {  // a column of a wider tile
    TileRef shape = to;
    shape.form.dtype = from.form.dtype;
    shape.form.rows =
        to.form.by_columns ? rounded_up(to.ir_rows, line_elements(from.form.dtype)) : to.form.rows;
    from = body.like(from, shape);
  }
  if (out.form.by_columns) {
    out = body.as_row(out);
    from = body.as_row(from);
  }
  if (to_type->dtype == DType::BOOL && from_type->dtype != DType::BOOL) return truth(body, out, from);
  std::string text = fmt::format("TCVT({}, {}, RoundMode::CAST_{}", out.name, from.name, kModes[mode]);
  if (const AttrValue* saturation = find_attr(op.call->kwargs, "saturation_mode")) {
    text += saturation->integer != 0 ? ", SaturationMode::ON" : ", SaturationMode::OFF";
  }
  body.issue(Pipe::V, {{from}, {out}}, text + ");");
  return true;
}

// A tile of the shape that the operands of a comparison have together; only its form and extents are used.
TileRef common_shape(KernelBody& body, const TileRef& a, const TileRef& b, DType dtype) {
  TileRef out = a;
  out.ir_rows = std::max(a.ir_rows, b.ir_rows);
  out.ir_cols = std::max(a.ir_cols, b.ir_cols);
  if (out.ir_rows != a.ir_rows) out.valid_rows = b.valid_rows;
  if (out.ir_cols != a.ir_cols) out.valid_cols = b.valid_cols;
  out.form = tile_form(MemSpace::Vec, dtype, out.ir_rows, out.ir_cols);
  static_cast<void>(body);
  return out;
}

DType wider(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (bit_width(a) != bit_width(b)) return bit_width(a) > bit_width(b) ? a : b;
  return is_float(a) || is_signed_int(a) ? a : b;
}

bool cmp(KernelBody& body, const OpCall& op) {
  if (!ready(body, op, 0) || !ready(body, op, 1)) return op.result == nullptr;
  const TileRef mask = body.result(op.result);
  TileRef a = vector_operand(body, op, 0);
  TileRef b = vector_operand(body, op, 1);
  const TileRef both = common_shape(body, a, b, wider(a.form.dtype, b.form.dtype));
  a = body.like(a, both);
  b = body.like(b, both);
  body.issue(Pipe::V, {{a, b}, {mask}},
             fmt::format("TCMP({}, {}, {}, {});", mask.name, a.name, b.name,
                         compare_mode(keyword_int(op, "cmp_type", 0))));
  return true;
}

bool cmps(KernelBody& body, const OpCall& op) {
  if (!ready(body, op, 0)) return op.result == nullptr;
  const TileRef mask = body.result(op.result);
  TileRef a = vector_operand(body, op, 0);
  const DType dtype = wider(a.form.dtype, dtype_of(op.arg(1)));
  // An integer tile against a literal keeps its dtype; against a float it is compared as a float.
  if (is_float(dtype) && !is_float(a.form.dtype)) a = body.with_dtype(a, dtype);
  body.issue(
      Pipe::V, {{a}, {mask}},
      fmt::format("TCMPS({}, {}, {}, {});", mask.name, a.name, body.scalars.as(op.arg(1), a.form.dtype),
                  compare_mode(keyword_int(op, "cmp_type", 0))));
  return true;
}

bool sel(KernelBody& body, const OpCall& op) {
  if (!ready(body, op, 1)) return op.result == nullptr;
  const TileRef to = body.result(op.result);
  const TileRef mask = vector_operand(body, op, 0);
  const TileRef a = body.like(vector_operand(body, op, 1), to);
  const TileRef b = body.like(vector_operand(body, op, 2), to);
  const TileRef tmp = op.args() > 3 ? body.tile(op.arg(3)) : body.scratch_like(mask);
  body.issue(Pipe::V, {{mask, a, b}, {to, tmp}},
             fmt::format("TSEL({}, {}, {}, {}, {});", to.name, mask.name, a.name, b.name, tmp.name));
  return true;
}

bool sels(KernelBody& body, const OpCall& op) {
  if (!ready(body, op, 1)) return op.result == nullptr;
  const TileRef to = body.result(op.result);
  const TileRef mask = vector_operand(body, op, 0);
  const TileRef a = body.like(vector_operand(body, op, 1), to);
  const TileRef tmp = body.tile(op.arg(2));
  body.issue(Pipe::V, {{mask, a}, {to, tmp}},
             fmt::format("TSELS({}, {}, {}, {}, {});", to.name, mask.name, a.name, tmp.name,
                         body.scalars.as(op.arg(3), to.form.dtype)));
  return true;
}

bool row_expand(KernelBody& body, const OpCall& op) {
  if (!ready(body, op, 1)) return op.result == nullptr;
  const TileRef to = body.result(op.result);
  const TileRef column = body.with_dtype(vector_operand(body, op, 1), to.form.dtype);
  if (to.form.by_columns) {
    body.move(to, body.like(column, to));
    return true;
  }
  const TileRef from = body.as_column(column);
  body.issue(Pipe::V, {{from}, {to}}, fmt::format("TROWEXPAND({}, {});", to.name, from.name));
  return true;
}

bool col_expand(KernelBody& body, const OpCall& op) {
  if (!ready(body, op, 1)) return op.result == nullptr;
  const TileRef to = body.result(op.result);
  TileRef row = body.with_dtype(vector_operand(body, op, 1), to.form.dtype);
  if (to.form.by_columns) {
    body.move(to, body.like(row, to));
    return true;
  }
  row = body.row_operand(row);
  body.issue(Pipe::V, {{row}, {to}}, fmt::format("TCOLEXPAND({}, {});", to.name, row.name));
  return true;
}

bool col_sum(KernelBody& body, const OpCall& op) {
  if (!ready(body, op, 0)) return op.result == nullptr;
  if (!require_rank_2(body, op, op.arg(0))) return false;
  const std::string tmp = op.args() > 1 ? body.tile(op.arg(1)).name + ", true" : std::string();
  return column_reduce(body, "TCOLSUM", body.result(op.result), vector_operand(body, op, 0), tmp);
}

constexpr OpEmitter kVectorOps[] = {
    {OpId::tile_addc, ternary},
    {OpId::tile_addsc, scalar_ternary},
    {OpId::tile_cast, cast},
    {OpId::tile_cmp, cmp},
    {OpId::tile_cmps, cmps},
    {OpId::tile_col_expand, col_expand},
    {OpId::tile_col_sum, col_sum},
    {OpId::tile_cos, sine},
    {OpId::tile_expands, expands},
    {OpId::tile_full, full},
    {OpId::tile_rems, scalar_tmp},
    {OpId::tile_row_expand, row_expand},
    {OpId::tile_sel, sel},
    {OpId::tile_sels, sels},
    {OpId::tile_sin, sine},
    {OpId::tile_subc, ternary},
    {OpId::tile_subsc, scalar_ternary},
    {OpId::tile_xors, scalar_tmp},
};

}  // namespace

std::span<const OpEmitter> vector_ops() { return kVectorOps; }

}  // namespace pldc
