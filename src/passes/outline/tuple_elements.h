// Results of several that a scope reads: a function takes no tuples.
#pragma once

#include "ir/auto_name.h"
#include "ir/context.h"

namespace pldc::outlining {

// The function with each element that a scope of the kind takes from a tuple of the outside bound to a variable of its
// own in front of the scope. `names` are those of the function; the new ones are added.
const Function* elements_before_scopes(Context& context, const Function* f, ScopeKind kind, NamePool& names);

}  // namespace pldc::outlining
