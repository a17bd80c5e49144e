// Elements of tuples that stand as operands, as in `self.f(r[0])`.
#pragma once

#include "ir/context.h"

namespace pldc {

// Binds each element of a tuple that stands inside another expression, or is returned, yielded, tested or a bound, to a
// variable in front of its statement, so that a tuple's elements are read by assignments only.
const Program* name_tuple_elements(Context& context, const Program* program);

}  // namespace pldc
