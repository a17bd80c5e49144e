// Small things that several passes do with statements.
#pragma once

#include "ir/context.h"

namespace pldc {

// The same statement with these leading comments.
const Stmt* with_comments(Context& context, const Stmt* stmt, List<std::string_view> comments);

}  // namespace pldc
