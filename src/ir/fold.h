// Integer operations on constants, in the one way in which the reader and the passes fold them: 64-bit values, division
// that rounds down, shifts to the right that keep the sign.
#pragma once

#include <cstdint>

#include "ir/expr.h"

namespace pldc {

enum class FoldFailure : std::uint8_t {
  None,
  NoInteger,    // no operation on integers that gives one, or a negative exponent or shift
  ZeroDivisor,  // of // or %
  Overflow,     // of 64 bits
};

struct FoldedInt {
  std::int64_t value = 0;  // counts if nothing failed
  FoldFailure failure = FoldFailure::None;
  bool good() const { return failure == FoldFailure::None; }
};

FoldedInt fold_int(BinaryOp op, std::int64_t a, std::int64_t b);

}  // namespace pldc
