// Facts about the language and the passes as text: what `list` and `explain` show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/op.h"
#include "passes/pass.h"

namespace pldc {

// "pl.tile.load(tensor, offsets, shapes, [valid_shape], target_memory=...)": how a call of the op is written.
std::string signature(const OpInfo& op);
std::string names_of(PropertySet set);
// All ops in the order of their names.
std::vector<const OpInfo*> all_ops();

// What `list WHAT` prints, as text or JSON; empty if WHAT is unknown.
std::string list_text(std::string_view what);
std::string list_json(std::string_view what);
// The paragraph of `explain NAME`; empty if nothing of that name exists, `guess` then may be close.
std::string explain(std::string_view name, std::string& guess);

inline constexpr std::string_view kListTopics[] = {"passes", "ops",         "types",  "enums",
                                                   "forms",  "diagnostics", "targets"};

}  // namespace pldc
