// The dump marks of a call that InlineFunctions expands (passes.md 2.1).
#pragma once

#include <vector>

#include "ir/context.h"

namespace pldc::inlining {

// Marks the variables on the scopes and function calls among `stmts`, from index `first` on, that use them.
void move_dump_marks(Context& context, const std::vector<const Var*>& marked, std::size_t first,
                     std::vector<const Stmt*>& stmts);

}  // namespace pldc::inlining
