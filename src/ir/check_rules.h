// Parts of the op checks; internal to src/ir.
#pragma once

#include <span>
#include <string>

#include "ir/check_op.h"

namespace pldc {

// What a keyword of a kind may hold: how it is stored and, for lists of names, the names and their numbers.
struct KeywordRange {
  AttrKind kind = AttrKind::Int;
  std::span<const std::string_view> names;  // empty: any value of the kind
  std::span<const std::int64_t> numbers;    // of the names; empty: 0, 1, 2, ...
  std::string_view enum_type;               // "ReduceOp": how members may be written

  std::int64_t number(std::size_t i) const {
    return numbers.empty() ? static_cast<std::int64_t>(i) : numbers[i];
  }
  std::string_view name_of(std::int64_t number) const;
  std::string allowed() const;
};
KeywordRange keyword_range(KwKind kind);

// Whether a value may stand for an operand of this kind; a value of Unknown type always may.
bool kind_fits(ArgKind kind, const Expr* e);

// Semantic creation errors of the distributed and builtin ops (passes.md 4); true for every other op. Count
// and kinds of operands and keywords hold already.
bool check_distributed_op(DiagSink& diags, const Call* call);
// Reports an operand of the wrong kind that has a sibling op for its kind, and then returns false.
bool check_source_level(DiagSink& diags, const Call* call, std::size_t argument);

}  // namespace pldc
