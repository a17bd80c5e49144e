// Views, copies between memories, padding: operations that move tiles or look at them differently.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/device/ops.h"
#include "codegen/device/transfer.h"
#include "ir/check_op.h"
#include "support/diag/codegen.h"

namespace pldc {

TileRef in_place(KernelBody& body, const OpCall& op, std::size_t argument_index) {
  const TileRef from = body.tile(op.arg(argument_index));
  if (op.result == nullptr) return from;
  const TileRef to = body.result(op.result);
  if (to.form.space == from.form.space && body.same_place(to, from)) return to;
  // What is copied is what the operand has; the result may have more.
  const bool same_box = to.valid_rows == from.valid_rows && to.valid_cols == from.valid_cols;
  body.move(same_box ? to : body.view(to, to.form, from.valid_rows, from.valid_cols, {}, "old"), from);
  return to;
}

std::string element_place(const TileRef& tile, const std::string& number) {
  if (tile.is_packed()) return number;
  return fmt::format("{0} / {1} * {2} + {0} % {1} * {3}", number, tile.ir_cols, tile.form.row_step(),
                     tile.form.col_step());
}

void copy_flat(KernelBody& body, const TileRef& to, const TileRef& from) {
  const std::int64_t count = from.ir_rows * from.ir_cols;
  body.place();
  body.barrier();
  body.open(fmt::format("for (int64_t i = 0; i < {}; ++i)", count));
  body.statement(fmt::format("{}.SetValue({}, {}.GetValue({}));", to.name, element_place(to, "i"), from.name,
                             element_place(from, "i")));
  body.close();
  body.barrier();
}

TileRef without_padding(KernelBody& body, const TileRef& tile) {
  if (tile.is_packed()) return tile;
  const std::int64_t count = tile.ir_rows * tile.ir_cols;
  TileRef out = body.scratch(tile_form(MemSpace::Vec, tile.form.dtype, 1, count), Extent(1), Extent(count));
  out.ir_rows = 1;
  out.ir_cols = count;
  copy_flat(body, out, tile);
  return out;
}

namespace {

struct RowsCols {
  Extent row, col;
};

// Offsets into a tile as row and column: leading axes are multiplied into the rows.
bool tile_offset(KernelBody& body, const OpCall& op, const TileType* type, const Expr* offsets,
                 RowsCols& out) {
  const auto* list = dyn<MakeTuple>(offsets);
  const std::size_t rank = type->shape.size();
  if (list == nullptr || list->elements.size() != rank || rank == 0) {
    body.env.diags
        .report<diag::kernel_indices>(op.span(), op.info().name, list != nullptr ? list->elements.size() : 0,
                                      rank)
        .help("give one offset for each dimension of the tile");
    return false;
  }
  Sum row;
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    Extent step(1);
    for (std::size_t k = i + 1; k + 1 < rank; ++k) step = product(step, body.index(type->shape[k]));
    row.add_product(body.index(list->elements[i]), step);
  }
  out.row = row.extent();
  out.col = body.index(list->elements[rank - 1]);
  return true;
}

// Whether a box of a tile of rank 3 or more is a rectangle of its rows.
bool is_row_range(const TileType* whole, List<const Expr*> part) {
  const std::size_t rank = whole->shape.size();
  if (part.size() != rank) return true;
  bool wide = false;
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    if (wide && !same_dim(whole->shape[i], part[i])) return false;
    if (const_int(part[i]) != 1) wide = true;
  }
  return true;
}

bool tile_slice(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const auto* type = static_cast<const TileType*>(op.result->type);
  const auto* parent_type = static_cast<const TileType*>(op.arg(0)->type);
  const auto* extents = dyn<MakeTuple>(op.arg(1));
  const TileRef parent = body.tile(op.arg(0));
  RowsCols at;
  if (!tile_offset(body, op, parent_type, op.arg(2), at)) return false;
  if (extents != nullptr && !is_row_range(parent_type, extents->elements))
    return body.require_rectangle(op, nullptr);
  const auto physical = physical_tile(type);
  if (!physical) return false;
  const TilePlace* place = body.env.placement.find(op.result);
  if (place != nullptr && place->parent == nullptr) {  // it has memory of its own: a copy
    const TileRef to = body.result(op.result);
    body.issue(KernelBody::move_pipe(to.form, parent.form), {{parent}, {to}},
               fmt::format("TEXTRACT({}, {}, {}, {});", to.name, parent.name, at.row.text, at.col.text));
    return true;
  }
  TileForm form = parent.form;
  form.pad = PadValue::Null;
  if (form.by_columns) {
    // Part of a column is a column; the columns of a column-major matrix are as far apart as before.
    if (form.cols == 1)
      form.rows = rounded_up(physical->rows, line_elements(form.dtype));
    else
      form.cols = physical->cols;
  } else {
    form.rows = physical->rows;
    if (form.boxed) form.rows = rounded_up(form.rows, form.rows % 16 == 0 ? 1 : 16);
  }
  const Extent size(static_cast<std::int64_t>(byte_width(form.dtype)));
  Sum bytes;
  bytes.add_product(at.row, product(Extent(parent.form.row_step()), size));
  bytes.add_product(at.col, product(Extent(parent.form.col_step()), size));
  body.bind_view(op.result, parent, form, bytes);
  return true;
}

bool tile_extract(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const TileRef from = body.tile(op.arg(0));
  const TileRef to = body.result(op.result);
  body.issue(KernelBody::move_pipe(to.form, from.form), {{from}, {to}},
             fmt::format("TEXTRACT({}, {}, {}, {});", to.name, from.name, body.scalars.index(op.arg(1)),
                         body.scalars.index(op.arg(2))));
  return true;
}

bool tile_assemble(KernelBody& body, const OpCall& op) {
  const auto* target_type = static_cast<const TileType*>(op.arg(0)->type);
  const auto* source_type = static_cast<const TileType*>(op.arg(1)->type);
  TileRef source = body.tile(op.arg(1));
  RowsCols at;
  if (!tile_offset(body, op, target_type, op.arg(2), at)) return false;
  if (!is_row_range(target_type, source_type->shape)) return body.require_rectangle(op, nullptr);
  TileRef to = in_place(body, op, 0);
  // All of the source is copied, whatever part of it is valid.
  if (!source.valid_rows.is(source.ir_rows) || !source.valid_cols.is(source.ir_cols)) {
    source = body.view(source, source.form, Extent(source.ir_rows), Extent(source.ir_cols), {}, "whole");
  }
  body.issue(KernelBody::move_pipe(to.form, source.form), {{source}, {to}},
             fmt::format("TINSERT({}, {}, {}, {});", to.name, source.name, at.row.text, at.col.text));
  return true;
}

bool tile_move(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  TileRef from = body.tile(op.arg(0));
  const TileRef to = body.result(op.result);
  if (from.form.dtype != to.form.dtype && byte_width(from.form.dtype) == byte_width(to.form.dtype)) {
    TileForm form = from.form;  // scales are bytes with another name
    form.dtype = to.form.dtype;
    from = body.view(from, form, from.valid_rows, from.valid_cols, {}, "scale");
  }
  body.move(to, from);
  return true;
}

// A tile as bytes, row by row.
TileRef as_bytes(KernelBody& body, const TileRef& tile) {
  TileRef rows = tile.form.by_columns ? body.as_row(tile) : tile;
  const auto width = static_cast<std::int64_t>(byte_width(rows.form.dtype));
  TileForm form = rows.form;
  form.dtype = DType::UINT8;
  form.cols *= width;
  TileRef out = body.view(rows, form, Extent(form.rows), Extent(form.cols), {}, "bytes");
  out.ir_rows = rows.ir_rows;
  out.ir_cols = rows.ir_cols * width;
  return out;
}

// Bytes of a tile of the matrix memories whose boxes are padded: they are put in rows in the vector buffer. What the accumulator
// holds stays there, for nothing goes back into it.
bool reinterpret_boxes(KernelBody& body, const OpCall& op, const TileRef& from, const TileRef& probe) {
  const TileRef rows = body.in_space(from, MemSpace::Vec);
  const TileForm form = tile_form(MemSpace::Vec, probe.form.dtype, probe.ir_rows, probe.ir_cols);
  const Extent height(probe.ir_rows), width(probe.ir_cols);
  TileRef to = from.form.space == MemSpace::Acc ? body.own_memory("bits", form, height, width)
                                                : body.scratch(form, height, width);
  to.ir_rows = probe.ir_rows;
  to.ir_cols = probe.ir_cols;
  copy_flat(body, as_bytes(body, to), as_bytes(body, rows));
  if (from.form.space == MemSpace::Acc) {
    body.bind(op.result, to);
  } else {
    body.move(body.result(op.result), to);
  }
  return true;
}

bool tile_reshape(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const auto* type = static_cast<const TileType*>(op.result->type);
  TileRef from = body.tile(op.arg(0));
  const auto physical = physical_tile(type);
  if (!physical || !body.check_dtype(op, type->dtype)) return false;
  TileForm form = body.form_of(type, from.form.space);
  TileRef probe;
  probe.form = form;
  probe.ir_rows = physical->rows;
  probe.ir_cols = physical->cols;
  const TilePlace* place = body.env.placement.find(op.result);
  const bool same_elements = byte_width(type->dtype) == byte_width(from.form.dtype);
  if (from.is_packed() && probe.is_packed() && (place == nullptr || place->parent != nullptr)) {
    body.bind_view(op.result, from, form, {});
    return true;
  }
  // Whatever lies by columns: the bytes of a row are meant.
  if (!same_elements && from.form.by_columns && !form.by_columns && from.ir_rows == probe.ir_rows)
    from = body.by_rows(from);
  const auto in_rows = [](const TileRef& t) {
    return !t.form.boxed && (!t.form.by_columns || t.form.cols == 1);
  };
  if (!same_elements && in_rows(from) && in_rows(probe)) {
    const TileRef to = body.result(op.result);
    copy_flat(body, as_bytes(body, to), as_bytes(body, from));
    return true;
  }
  if (!same_elements && (from.form.space == MemSpace::Acc || from.form.space == MemSpace::Mat))
    return reinterpret_boxes(body, op, from, probe);
  if (!same_elements) {
    body.env.diags.report<diag::kernel_padded_rows>(op.span(), op.info().name)
        .help("use rows whose length is a multiple of 32 bytes");
    return false;
  }
  if (type->dtype != from.form.dtype) {
    TileForm other = from.form;
    other.dtype = type->dtype;
    const TileRef alias = body.view(from, other, from.valid_rows, from.valid_cols, {}, "bits");
    from.name = alias.name;
    from.form = other;
  }
  const TileRef to = body.result(op.result);
  copy_flat(body, to, from);
  return true;
}

// Transposes each matrix of a tile of rank 3 or more. False after a report.
bool transpose_matrices(KernelBody& body, const OpCall& op, const TileRef& from, const TileRef& to,
                        const TileRef& tmp) {
  const auto* type = static_cast<const TileType*>(op.arg(0)->type);
  const std::size_t rank = type->shape.size();
  std::int64_t count = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) count *= KernelBody::fold(type->shape[i]).value_or(1);
  const std::int64_t rows = KernelBody::fold(type->shape[rank - 2]).value_or(1);
  const std::int64_t cols = KernelBody::fold(type->shape[rank - 1]).value_or(1);
  if (from.form.columns_first() || to.form.columns_first()) return require_rank_2(body, op, op.arg(0));
  if (from.form.boxed) {  // matrices of boxed tiles cannot be looked at one by one
    const MemSpace space = from.form.space;
    const TileRef part =
        body.scratch(tile_form(space, from.form.dtype, rows, cols), Extent(rows), Extent(cols));
    const TileRef out =
        body.scratch(tile_form(space, from.form.dtype, cols, rows), Extent(cols), Extent(rows));
    for (std::int64_t n = 0; n < count; ++n) {
      body.issue(Pipe::MTE1, {{from}, {part}},
                 fmt::format("TEXTRACT({}, {}, {}, 0);", part.name, from.name, n * rows));
      body.issue(Pipe::MTE1, {{part}, {out}},
                 fmt::format("TTRANS({}, {}, {});", out.name, part.name, part.name));
      body.issue(Pipe::MTE1, {{out}, {to}},
                 fmt::format("TINSERT({}, {}, {}, 0);", to.name, out.name, n * cols));
    }
    return true;
  }
  const std::int64_t size = byte_width(from.form.dtype);
  for (std::int64_t n = 0; n < count; ++n) {
    TileForm from_form = from.form;
    TileForm to_form = to.form;
    from_form.rows = rows;
    to_form.rows = cols;
    Sum from_bytes;
    Sum to_bytes;
    from_bytes.add(n * rows * from.form.row_step() * size);
    to_bytes.add(n * cols * to.form.row_step() * size);
    const TileRef part = body.view(from, from_form, Extent(rows), Extent(cols), from_bytes, "part");
    const TileRef out = body.view(to, to_form, Extent(cols), Extent(rows), to_bytes, "part");
    body.issue(Pipe::V, {{part}, {out, tmp}},
               fmt::format("TTRANS({}, {}, {});", out.name, part.name, tmp.name));
  }
  return true;
}

bool tile_transpose_view(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const auto* type = static_cast<const TileType*>(op.result->type);
  const TileRef from = body.tile(op.arg(0));
  if (type->shape.size() > 2) {  // several matrices: no one tile looks at all of them
    const auto physical = physical_tile(type);
    const KernelBody::Box box = body.valid_box(type);
    if (!physical) return false;
    TileRef to = body.own_memory(op.result->name.text(),
                                 tile_form(from.form.space, from.form.dtype, physical->rows, physical->cols),
                                 box.rows, box.cols);
    to.ir_rows = physical->rows;
    to.ir_cols = physical->cols;
    body.bind(op.result, to);
    return transpose_matrices(body, op, from, to, from);
  }
  TileForm form = from.form;
  form.pad = PadValue::Null;
  std::swap(form.rows, form.cols);
  if (form.boxed) {
    form.inner_columns = !form.inner_columns;  // the boxes stay where they are
  } else {
    form.by_columns = !form.by_columns;
  }
  body.bind_view(op.result, from, form, {});
  return true;
}

bool tile_set_validshape(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const TileRef from = body.tile(op.arg(0));
  const TilePlace* place = body.env.placement.find(op.result);
  if (place != nullptr && place->parent == nullptr && !body.same_place(body.result(op.result), from)) {
    body.move(body.result(op.result), from);
    return true;
  }
  TileForm form = from.form;
  form.pad = PadValue::Null;
  body.bind_view(op.result, from, form, {});
  return true;
}

bool tile_create(KernelBody& body, const OpCall& op) {
  // Nothing happens at run time, but the variable exists from here on.
  if (op.result == nullptr) return true;
  const auto* type = static_cast<const TileType*>(op.result->type);
  if (!body.check_dtype(op, type->dtype)) return false;
  body.result(op.result);
  return true;
}

bool tile_transpose(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const auto* type = static_cast<const TileType*>(op.arg(0)->type);
  const auto rank = static_cast<std::int64_t>(type->shape.size());
  auto a = KernelBody::fold(op.arg(1)).value_or(0);
  auto b = KernelBody::fold(op.arg(2)).value_or(0);
  if (a < 0) a += rank;
  if (b < 0) b += rank;
  if (std::min(a, b) != rank - 2 || std::max(a, b) != rank - 1) {
    body.env.diags.report<diag::kernel_transpose>(op.span(), op.info().name, a, b)
        .help("swap the last two dimensions, or reshape the tile first");
    return false;
  }
  const TileRef from = vector_operand(body, op, 0);
  const TileRef to = body.result(op.result);
  // A row and a column are the same bytes in memory.
  if (rank == 2 && (from.form.is_column() || from.ir_rows == 1) && (to.form.is_column() || to.ir_rows == 1)) {
    const TileRef source = body.row_operand(from);
    body.move(
        body.view(body.as_row(to), body.as_row(to).form, source.valid_rows, source.valid_cols, {}, "box"),
        source);
    return true;
  }
  const auto tmp_of = [&] {
    if (op.args() > 3) return body.tile(op.arg(3));
    return body.scratch(from.form, from.valid_rows, from.valid_cols);
  };
  const TileRef tmp = tmp_of();
  if (rank > 2) return transpose_matrices(body, op, from, to, tmp);
  // The result counts as valid everywhere; what the source does not have stays unspecified.
  const bool whole = from.valid_rows == to.valid_cols && from.valid_cols == to.valid_rows;
  const TileRef box = whole ? to : body.view(to, to.form, from.valid_cols, from.valid_rows, {}, "box");
  body.issue(Pipe::V, {{from}, {box, tmp}},
             fmt::format("TTRANS({}, {}, {});", box.name, from.name, tmp.name));
  return true;
}

bool tile_concat(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  if (!require_rank_2(body, op, op.arg(0))) return false;
  const TileRef left = vector_operand(body, op, 0);
  const TileRef right = vector_operand(body, op, 1);
  const TileRef to = body.result(op.result);
  body.issue(Pipe::V, {{left, right}, {to}},
             fmt::format("TCONCAT({}, {}, {});", to.name, left.name, right.name));
  return true;
}

bool tile_fillpad(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  TileRef from = body.tile(op.arg(0));
  TileRef to = body.result(op.result);
  const auto pad =
      static_cast<PadValue>(keyword_int(op, "pad_value", static_cast<std::int64_t>(PadValue::Zero)));
  if (to.form.pad != pad) {  // the annotation says nothing about it
    TileForm form = to.form;
    form.pad = pad;
    to = body.view(to, form, to.valid_rows, to.valid_cols, {}, "pad");
  }
  // A source that lies differently is copied first, as large as it is.
  if (from.form.by_columns != to.form.by_columns) {
    TileRef turned = from;
    const std::int64_t line = line_elements(from.form.dtype);
    turned.form.by_columns = to.form.by_columns;
    turned.form.rows = to.form.by_columns ? rounded_up(from.ir_rows, line) : from.ir_rows;
    turned.form.cols = to.form.by_columns ? from.ir_cols : rounded_up(from.ir_cols, line);
    from = body.like(from, turned);
  }
  const bool same = from.form.space == to.form.space && body.same_place(from, to);
  const std::string_view callee = op.call->op == OpId::tile_fillpad_expand ? "TFILLPAD_EXPAND"
                                  : same                                   ? "TFILLPAD_INPLACE"
                                                                           : "TFILLPAD";
  body.issue(Pipe::V, {{from}, {to}}, fmt::format("{}({}, {});", callee, to.name, from.name));
  return true;
}

constexpr OpEmitter kShapeOps[] = {
    {OpId::tile_assemble, tile_assemble},
    {OpId::tile_concat, tile_concat},
    {OpId::tile_create, tile_create},
    {OpId::tile_extract, tile_extract},
    {OpId::tile_fillpad, tile_fillpad},
    {OpId::tile_fillpad_expand, tile_fillpad},
    {OpId::tile_fillpad_inplace, tile_fillpad},
    {OpId::tile_move, tile_move},
    {OpId::tile_reinterpret_view, tile_reshape},
    {OpId::tile_reshape, tile_reshape},
    {OpId::tile_set_validshape, tile_set_validshape},
    {OpId::tile_slice, tile_slice},
    {OpId::tile_transpose, tile_transpose},
    {OpId::tile_transpose_view, tile_transpose_view},
};

}  // namespace

std::span<const OpEmitter> shape_ops() { return kShapeOps; }

}  // namespace pldc
