#include "codegen/device/tile_form.h"

#include <fmt/format.h>

#include "codegen/emit.h"

namespace pldc {
namespace {

constexpr std::int64_t kBox = 16;  // rows and columns of an inner box of 2-byte elements

bool is_cube(MemSpace space) {
  return space == MemSpace::Left || space == MemSpace::Right || space == MemSpace::Acc;
}

}  // namespace

TileForm tile_form(MemSpace space, DType dtype, std::int64_t rows, std::int64_t cols, const TileView& view) {
  TileForm form;
  form.space = space;
  form.dtype = dtype;
  form.rows = rows;
  form.cols = cols;
  form.pad = view.pad;
  const std::int64_t line = line_elements(dtype);
  form.boxed = is_cube(space) || (space == MemSpace::Mat && view.slayout != TileLayout::NoneBox);
  if (form.boxed) {
    form.inner_columns = space == MemSpace::Mat && view.slayout == TileLayout::ColMajor;
    // The axis along which the elements of a box's line lie may be a multiple of the line, the other one of the box. The
    // inner dimension of a product gets the same rounding on both sides.
    const std::int64_t inner = line < kBox ? line : kBox;
    const bool lines_are_columns = space == MemSpace::Right || form.inner_columns;
    form.rows = rounded_up(rows, lines_are_columns ? inner : kBox);
    form.cols = rounded_up(cols, lines_are_columns || space == MemSpace::Acc ? kBox : inner);
    return form;
  }
  // A [R, 1] tile is the same bytes either way; by columns it needs no padding. Boxes, which a tile keeps in its type when it
  // comes from the accumulator, are for the matrix memories: elsewhere it lies by rows, as vector operations want it.
  const bool columns = view.blayout == TileLayout::ColMajor && view.slayout == TileLayout::NoneBox;
  form.by_columns = rows > 1 && (cols == 1 || columns);
  if (form.by_columns) {
    form.rows = rounded_up(rows, line);
  } else {
    form.cols = rounded_up(cols, line);
  }
  return form;
}

TileForm tile_form(MemSpace space, DType dtype, std::int64_t rows, std::int64_t cols) {
  TileView view;
  view.slayout = space == MemSpace::Mat ? TileLayout::RowMajor : TileLayout::NoneBox;
  return tile_form(space, dtype, rows, cols, view);
}

std::string_view tile_type_name(MemSpace space) {
  switch (space) {
    case MemSpace::Vec:
      return "Vec";
    case MemSpace::Mat:
      return "Mat";
    case MemSpace::Left:
      return "Left";
    case MemSpace::Right:
      return "Right";
    case MemSpace::Acc:
      return "Acc";
    case MemSpace::Bias:
      return "Bias";
    case MemSpace::LeftScale:
    case MemSpace::RightScale:
      return "Scaling";
    case MemSpace::DDR:
    case MemSpace::ScalarLocal:
      return {};
  }
  return {};
}

std::string tile_type_text(const TileForm& form, const Extent& valid_rows, const Extent& valid_cols) {
  const std::string_view element = cpp_memory_type(form.dtype);
  const bool full = valid_rows.is(form.rows) && valid_cols.is(form.cols);
  const auto valid = [](const Extent& extent) { return extent.constant ? extent.text : std::string("-1"); };
  if (form.space == MemSpace::Left || form.space == MemSpace::Right || form.space == MemSpace::Acc) {
    const std::string head =
        fmt::format("Tile{}<{}, {}, {}", tile_type_name(form.space), element, form.rows, form.cols);
    return full ? head + '>' : fmt::format("{}, {}, {}>", head, valid(valid_rows), valid(valid_cols));
  }
  std::string text =
      fmt::format("Tile<TileType::{}, {}, {}, {}", tile_type_name(form.space), element, form.rows, form.cols);
  const bool mat = form.space == MemSpace::Mat;
  const bool padded = form.pad != PadValue::Null;
  if (full && !mat && !padded && !form.by_columns) return text + '>';
  const bool column_major = form.boxed ? !form.inner_columns : form.by_columns;
  text += fmt::format(", BLayout::{}, {}, {}", column_major ? "ColMajor" : "RowMajor", valid(valid_rows),
                      valid(valid_cols));
  if (mat || padded) {
    text += form.boxed ? (form.inner_columns ? ", SLayout::ColMajor, 512" : ", SLayout::RowMajor, 512")
                       : ", SLayout::NoneBox, 512";
  }
  if (padded) {
    text += form.pad == PadValue::Zero  ? ", PadValue::Zero"
            : form.pad == PadValue::Max ? ", PadValue::Max"
                                        : ", PadValue::Min";
  }
  return text + '>';
}

}  // namespace pldc
