// The operations that the op table describes by their shape alone: elementwise, reductions, expansions.
#include <fmt/format.h>

#include <array>

#include "codegen/device/ops.h"
#include "support/diag/codegen.h"

namespace pldc {

bool require_rank_2(KernelBody& body, const OpCall& op, const Expr* tile) {
  const auto* type = dyn<TileType>(tile->type);
  if (type == nullptr || type->shape.size() <= 2) return true;
  body.env.diags.report<diag::kernel_tile_rank>(op.span(), op.info().name, type->shape.size())
      .help("run the pass FlattenTileNdTo2D, or reshape the tile to two dimensions");
  return false;
}

TileRef vector_operand(KernelBody& body, const OpCall& op, std::size_t argument) {
  return body.in_space(body.tile(op.arg(argument)), MemSpace::Vec);
}

bool has_scalar_form(KernelBody& body, const OpCall& op, DType dtype) {
  if (!cpp_scalar_type(dtype).empty() && dtype != DType::TASK_ID) return true;
  body.env.diags.report<diag::kernel_dtype>(op.span(), op.info().name, name_of(dtype))
      .help("cast the tile to FP16 or FP32 first");
  return false;
}

bool elementwise(KernelBody& body, std::string_view callee, const TileRef& destination,
                 const std::vector<TileRef>& tiles, const std::vector<std::string>& after) {
  // Columns are computed as rows over the same memory: the instructions want row-major tiles.
  const bool rows = destination.form.by_columns;
  const TileRef to = rows ? body.as_row(destination) : destination;
  Touch touch;
  touch.writes.push_back(to);
  std::string text = fmt::format("{}({}", callee, to.name);
  for (const TileRef& tile : tiles) {
    const TileRef from = rows ? body.as_row(body.like(tile, destination)) : body.like(tile, destination);
    touch.reads.push_back(from);
    text += ", " + from.name;
  }
  for (const std::string& argument : after) text += ", " + argument;
  body.issue(Pipe::V, touch, text + ");");
  return true;
}

bool column_reduce(KernelBody& body, std::string_view callee, const TileRef& destination,
                   const TileRef& source, const std::string& tmp) {
  if (!source.form.by_columns) {
    const std::string rest = tmp.empty() ? "" : ", " + tmp;
    body.issue(Pipe::V, {{source}, {destination}},
               fmt::format("{}({}, {}{});", callee, destination.name, source.name, rest));
    return true;
  }
  // Down a column is along a row of the same memory.
  const TileRef row = body.as_row(source);
  const std::int64_t n = destination.ir_cols < 2 ? 2 : destination.ir_cols;
  const TileRef to = body.view(destination, tile_form(MemSpace::Vec, destination.form.dtype, n, 1),
                               destination.valid_cols, 1, {}, "column");
  const std::string along = "TROW" + std::string(callee.substr(4));
  const TileRef scratch = body.scratch_like(row);
  Touch touch{{row}, {to}};
  if (scratch.name != row.name) touch.writes.push_back(scratch);
  body.issue(Pipe::V, touch, fmt::format("{}({}, {}, {});", along, to.name, row.name, scratch.name));
  return true;
}

namespace {

bool starts_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

bool expand(KernelBody& body, const OpCall& op) {
  const std::string_view callee = op.info().emit.callee;
  const bool by_row = starts_with(callee, "TROWEXPAND");
  const TileRef to = body.result(op.result);
  const TileRef source = vector_operand(body, op, 0);
  const TileRef given = vector_operand(body, op, 1);
  if (to.form.by_columns) {  // one column: nothing to repeat
    const std::string_view kind = callee.substr(std::string_view("TROWEXPAND").size());
    if (kind != "EXPDIF") return elementwise(body, "T" + std::string(kind), to, {source, given});
    elementwise(body, "TSUB", to, {source, given});
    return elementwise(body, "TEXP", to, {to});
  }
  TileRef vector = body.with_dtype(given, to.form.dtype);
  const TileRef wide = body.like(source, to);
  if (by_row) {
    const bool packed = vector.ir_cols > 1;  // a carrier of 32 bytes a row
    if (!packed) vector = body.as_column(vector);
  } else {
    vector = body.row_operand(vector);
  }
  body.issue(Pipe::V, {{wide, vector}, {to}},
             fmt::format("{}({}, {}, {});", callee, to.name, wide.name, vector.name));
  return true;
}

bool reduce(KernelBody& body, const OpCall& op) {
  const std::string_view callee = op.info().emit.callee;
  const bool along_rows = starts_with(callee, "TROW");
  if (!along_rows && !require_rank_2(body, op, op.arg(0))) return false;
  TileRef to = body.result(op.result);
  TileRef source = vector_operand(body, op, 0);
  if (along_rows) {
    to = body.as_column(to);
    source = body.by_rows(source);
  }
  const TileRef tmp = op.args() > 1 ? body.tile(op.arg(1)) : body.scratch_like(source);
  body.issue(Pipe::V, {{source}, {to, tmp}},
             fmt::format("{}({}, {}, {});", callee, to.name, source.name, tmp.name));
  return true;
}

}  // namespace

bool emit_table_op(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;  // nothing observes the value
  const EmitColumn& emit = op.info().emit;
  const auto* type = dyn<TileType>(op.result->type);
  if (type == nullptr || !body.check_dtype(op, type->dtype)) {
    body.fail();
    return false;
  }
  for (const Expr* arg : op.call->args) {
    const auto* tile = dyn<TileType>(arg->type);
    if (tile != nullptr && !body.check_dtype(op, tile->dtype)) return false;
    if (tile != nullptr && !has_scalar_form(body, op, tile->dtype)) return false;
  }
  switch (emit.emit) {
    case Emit::Unary:
      return elementwise(body, emit.callee, body.result(op.result), {vector_operand(body, op, 0)});
    case Emit::Binary: {
      const TileRef to = body.result(op.result);
      return elementwise(body, emit.callee, to, {vector_operand(body, op, 0), vector_operand(body, op, 1)});
    }
    case Emit::BinaryTmp: {
      const TileRef to = body.result(op.result);
      return elementwise(body, emit.callee, to, {vector_operand(body, op, 0), vector_operand(body, op, 1)},
                         {body.tile(op.arg(2)).name});
    }
    case Emit::TileScalar: {
      const TileRef to = body.result(op.result);
      const bool shift = emit.callee == "TSHLS" || emit.callee == "TSHRS";
      const std::string scalar = body.scalars.as(op.arg(1), shift ? DType::INT32 : to.form.dtype);
      return elementwise(body, emit.callee, to, {vector_operand(body, op, 0)}, {scalar});
    }
    case Emit::Reduce:
      return reduce(body, op);
    case Emit::ColReduce:
      if (!require_rank_2(body, op, op.arg(0))) return false;
      return column_reduce(body, emit.callee, body.result(op.result), vector_operand(body, op, 0), {});
    case Emit::Expand:
      return expand(body, op);
    case Emit::None:
    case Emit::Special:
    case Emit::NoCode:
    case Emit::Host:
      break;
  }
  return false;
}

}  // namespace pldc
