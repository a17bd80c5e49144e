// Where the tiles of a kernel lie. MemRefs that a pass made are used as they are; what has no address gets one here.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/context.h"
#include "support/diag.h"

namespace pldc {

// A tile in memory, physically: what the C++ tile type says (CONTRACT.md, "Tiles"). Rank 3 and more: the leading axes are
// multiplied into the rows.
struct PhysicalTile {
  std::int64_t rows = 1;  // of the IR
  std::int64_t cols = 1;
  std::int64_t phys_rows = 1;  // rows of a column-major [R, 1] tile rounded up to 32 bytes, else `rows`
  std::int64_t phys_cols = 1;  // columns of a row-major tile rounded up to 32 bytes, else `cols`
  bool column = false;         // a [R, 1] tile of Vec with R > 1: column-major
  bool by_columns = false;     // several rows and columns, column after column
  std::uint64_t bytes = 0;
};
// Nothing if an extent is not constant.
std::optional<PhysicalTile> physical_tile(const TileType* type);

struct TilePlace {
  MemSpace space = MemSpace::Vec;
  // Bytes from the start of the space. The start of the tile is address + offset.
  std::uint64_t address = 0;
  // Added to the address, in bytes; INDEX expression in the variables of the kernel; null: nothing. Set for slices whose
  // offsets vary and for buffers with several slots.
  const Expr* offset = nullptr;
  // Values with the same buffer, address and offset share memory by intent (carries, phis, in-place results); values of
  // different buffers that are alive at the same time never overlap.
  std::uint32_t buffer = 0;
  // A view (slice, reshape, set_validshape) of this tile; null: not a view. A slice has the row length of its parent.
  const Var* parent = nullptr;
  std::int64_t pitch = 0;  // physical columns of a row: of the parent, for a slice
};

class TilePlacement {
 public:
  // Null for anything that is not a placed tile variable of the kernel.
  const TilePlace* find(const Var* var) const;
  // More than the memory of a core; only the simulator has it.
  bool is_large(MemSpace space) const;
  bool may_be_large(MemSpace space) const { return may_be_large_[static_cast<std::size_t>(space)]; }
  // Bytes in use of a space (highest end of any tile).
  std::uint64_t used(MemSpace space) const { return used_[static_cast<std::size_t>(space)]; }

 private:
  friend class TilePlacer;
  std::unordered_map<const Var*, TilePlace> places_;
  std::uint64_t used_[16] = {};
  bool may_be_large_[16] = {};
};

std::uint64_t space_bytes(MemSpace space);

// False after an error: a memory is too small (the message names kernel, memory and bytes), or a tile has an extent that
// is not constant. `simulated`: the L0 memories, for which AutoTileMatmulL0 cuts products into pieces, may be as large as
// it takes, and in a kernel with products the others too; that is a warning.
bool place_tiles(Context& context, DiagSink& diags, const Function* kernel, TilePlacement& placement,
                 bool simulated = false);

}  // namespace pldc
