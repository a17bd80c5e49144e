// What a diagnostic says about two types that a name would have one after the other.
#pragma once

#include <string>
#include <utility>

#include "ir/type.h"

namespace pldc {

// The parts that differ, "the shape, the padding"; empty if the kinds do or the parts have no names.
std::string changed_parts(const Type* before, const Type* now);
// Two variables of one name that the types mention at the same place, or nulls: without a word about them the types look alike.
std::pair<const Var*, const Var*> namesakes(const Type* before, const Type* now);

}  // namespace pldc
