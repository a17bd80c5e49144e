// A window seen as one row, worked on in tiles of one width: what the all-reduces move (passes.md 2.14).
#pragma once

#include "passes/lower_composite/expansion.h"

namespace pldc::composite {

// Most bytes of one tile.
inline constexpr std::int64_t kChunkBytes = 16384;

// The product of extents, constants folded; null after a report that it is too large to be a number.
const Expr* product_of(Expansion& out, List<const Expr*> dims);

class FlatTiles {
 public:
  FlatTiles(Expansion& out, DType dtype) : out_(out), dtype_(dtype) {}

  // Elements in the widest tile, and in 32 bytes: widths are multiples of that.
  std::int64_t most() const { return kChunkBytes / byte_width(dtype_); }
  std::int64_t unit() const { return 32 / byte_width(dtype_); }
  // The width for pieces of at most this many elements; null stands for a number that is not known.
  std::int64_t width_for(const Expr* elements) const;
  void look_at(const Var* row, std::int64_t width) {
    row_ = row;
    width_ = width;
  }

  // The own elements from `offset` on; what is beyond `valid` is zero.
  const Var* load(std::string_view loaded, std::string_view padded, const Expr* offset, const Expr* valid);
  // The same of a peer; binds `<qualifier>_loaded`, `<qualifier>_tail` for FP16, `<qualifier>`.
  const Var* receive(std::string_view qualifier, const Expr* peer, const Expr* offset, const Expr* valid);
  // Writes the first `valid` elements of the tile to `offset` on.
  void store(std::string_view stored_value, std::string_view result, const Expr* tile, const Expr* offset,
             const Expr* valid);

 private:
  const Expr* remote_load(const Expr* peer, const Expr* offset, const Expr* valid);
  const Expr* fill(const Expr* tile);

  Expansion& out_;
  DType dtype_;
  const Var* row_ = nullptr;  // of shape [1, elements]
  std::int64_t width_ = 0;
};

}  // namespace pldc::composite
