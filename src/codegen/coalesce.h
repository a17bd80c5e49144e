// Which tiles of a kernel may share memory so that what loops carry and branches yield need not be copied.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "ir/stmt.h"

namespace pldc {

// What coalescing needs to know of the tiles. A buffer is the memory of one value and of the views of it.
struct TileBuffers {
  // The buffer of a tile variable, -1 for what has none.
  std::function<int(const Var*)> of;
  // Whether a variable has its place in a buffer by itself, not as a view of another.
  std::function<bool(const Var*)> owns;
  // Whether a copy between two variables would be one of all bytes, to the same bytes of the other buffer.
  std::function<bool(const Var*, const Var*)> alike;
};

// Pairs of buffers to be merged, in order. Buffers that are joined by a copy (a carry with its initial value, the result
// of a branch or a carry with what is yielded) are merged unless one is written while the other is still needed: the
// coloring rule of Chaitin et al., "Register allocation via coloring" (1981), with aggressive coalescing.
std::vector<std::pair<int, int>> coalesce(Body kernel, const TileBuffers& buffers);

}  // namespace pldc
