// Which ops the match looks at.
#pragma once

#include <string>

#include "ir/expr.h"

namespace pldc::match {

// A collective of a kernel, or one rank's part of a host collective.
struct JoinInfo {
  std::string_view name;  // "allreduce"
  std::size_t signal;     // argument
};
// Nothing for other ops.
std::optional<JoinInfo> join_info(OpId op);

// Notifies, waits, collectives, and ops with a peer.
bool is_telling(OpId op);

// The name of a variable or window as a person wrote it.
std::string shown_name(const Var* v);

}  // namespace pldc::match
