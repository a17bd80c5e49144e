// Where the elements of a tensor follow each other in memory.
#pragma once

#include "ir/type.h"

namespace pldc {

// The axis with stride 1, counted from the last one, which is 0; that of a transposed matrix is 1. Of several such axes, of
// which all but one have one element, the last; 0 if there is none.
std::size_t contiguous_axis(const TensorType* tensor);

}  // namespace pldc
