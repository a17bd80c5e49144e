// Tiles as C++ values: the type of a tile, how its memory is laid out, and other tile types over the same memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codegen/placement.h"

namespace pldc {

// An extent or a stride in C++: its text, and its value where it is constant.
struct Extent {
  std::string text;
  std::optional<std::int64_t> constant;
  std::int64_t unit = 1;  // every value that it can have is a multiple; 0: it is 0

  Extent() = default;
  Extent(std::int64_t value)  // NOLINT: implicit
      : text(std::to_string(value)), constant(value), unit(value < 0 ? -value : value) {}
  explicit Extent(std::string expression, std::int64_t multiple_of = 1)
      : text(std::move(expression)), unit(multiple_of) {}
  bool is(std::int64_t value) const { return constant == value; }
  friend bool operator==(const Extent& a, const Extent& b) {
    return a.constant.has_value() == b.constant.has_value() &&
           (a.constant ? a.constant == b.constant : a.text == b.text);
  }
};

// The template arguments of a C++ tile type, but for the valid extents.
struct TileForm {
  MemSpace space = MemSpace::Vec;
  DType dtype = DType::FP32;
  std::int64_t rows = 1;       // physical
  std::int64_t cols = 1;       // physical: the row length in memory unless by_columns
  bool by_columns = false;     // BLayout::ColMajor without boxes: element (r, c) lies at c * rows + r
  bool boxed = false;          // fractal layout of the cube memories
  bool inner_columns = false;  // of a boxed Mat tile: SLayout::ColMajor
  PadValue pad = PadValue::Null;

  // How the CPU keeps it; in boxed tiles of the device an element's place is not that simple.
  bool columns_first() const { return by_columns || (boxed && inner_columns); }
  std::int64_t row_step() const { return columns_first() ? 1 : cols; }
  std::int64_t col_step() const { return columns_first() ? rows : 1; }
  std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) * byte_width(dtype);
  }
  // A [R, 1] tile whose elements follow each other.
  bool is_column() const { return by_columns && cols == 1; }
  friend bool operator==(const TileForm&, const TileForm&) = default;
};

// A C++ tile variable.
struct TileRef {
  std::string name;
  TileForm form;
  Extent valid_rows;
  Extent valid_cols;
  std::uint64_t address = 0;  // bytes from the start of the space
  std::string offset;         // C++ text of more bytes; empty: none
  std::int64_t unit = 0;      // what divides the offset
  // Rows that the IR gives the tile: `form` may have more, rounded up. The columns likewise.
  std::int64_t ir_rows = 1;
  std::int64_t ir_cols = 1;

  // Element (r, c) lies at r * ir_cols + c: the row-major order of the IR is the order of the memory.
  bool is_packed() const {
    return form.columns_first() ? form.cols == 1 || (ir_rows == 1 && form.rows == 1)
                                : form.cols == ir_cols || ir_rows == 1;
  }
};

inline constexpr std::int64_t kTileLine = 32;  // bytes: rows of Vec tiles are multiples of it

// `value` rounded up to a multiple of `unit`.
constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}
// Elements of a dtype in one line.
inline std::int64_t line_elements(DType dtype) {
  return kTileLine / static_cast<std::int64_t>(byte_width(dtype));
}

// The form of a tile of that shape in that memory, with nothing known about a parent.
TileForm tile_form(MemSpace space, DType dtype, std::int64_t rows, std::int64_t cols, const TileView& view);
// The form with the layouts that a space has by itself (format.md 3.5).
TileForm tile_form(MemSpace space, DType dtype, std::int64_t rows, std::int64_t cols);

// Something that every value of the index expression is a multiple of; 0: it is 0.
std::int64_t known_divisor(const Expr* expr);

// "Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, -1, 64>"; a valid extent that is not constant is -1.
std::string tile_type_text(const TileForm& form, const Extent& valid_rows, const Extent& valid_cols);
// The memory as TileType names it: "Vec", "Mat", "Left", "Right", "Acc", "Bias", "Scaling"; empty if there is none.
std::string_view tile_type_name(MemSpace space);

}  // namespace pldc
