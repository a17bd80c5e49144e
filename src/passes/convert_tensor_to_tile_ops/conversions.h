// What becomes of each tensor op in a kernel: one row an op.
#pragma once

#include "passes/convert_tensor_to_tile_ops/lowering.h"

namespace pldc::tiling {

// How the op takes its tensors.
enum class Takes : std::uint8_t {
  Tiles,   // as tiles: a parameter is loaded whole, once, at the start of the kernel
  Itself,  // loads what it needs where it stands, or works on memory
  Target,  // the first operand is written: the result lives where that lives
  View,    // a view of the first operand, which may stay in memory
};

// What is computed; null after a report.
using Convert = const Expr* (*)(Lowering& op);

struct Conversion {
  OpId op;
  Takes takes;
  Convert convert;
  OpId tile = OpId::none_;  // for conversions that several ops share
};

// Null for ops that stay as they are.
const Conversion* conversion_of(OpId op);

// Every function of the table; each is in the file of its family.
#define PLDC_CONVERSION(op, takes, convert, tile) const Expr* convert(Lowering& op);
#include "passes/convert_tensor_to_tile_ops/conversions.def"
#undef PLDC_CONVERSION

// The tile op with the same operands and keywords, on these tiles.
const Expr* same_call(Lowering& op, OpId id, std::initializer_list<const Expr*> operands);

}  // namespace pldc::tiling
