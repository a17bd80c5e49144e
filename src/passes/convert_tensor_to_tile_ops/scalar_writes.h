// Two shapes of code that write a tensor element by element, which a tile does at once. Nothing here reports.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/module.h"

namespace pldc::tiling {

// A loop that sets `count` elements side by side to one constant.
struct Fill {
  const Call* write;  // tensor.write
  std::int64_t count;
  std::vector<const Expr*> offsets;  // of the first element
};
// What the loop does if it does nothing but that; empty otherwise.
std::vector<Fill> fills_of(const ForStmt* loop);

// A tile is stored over a whole tensor, then single elements of the tensor are written: they can be written into the tile
// before it is stored. The assembled variable -> the statement of the same body after which the tile is complete.
using Staged = std::unordered_map<const Var*, const Stmt*>;
Staged staged_writes(const Function* kernel);

}  // namespace pldc::tiling
