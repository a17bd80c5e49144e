// Structural equality and hash of programs (format.md section 7), and the places where two programs differ.
//
// Spans, names of variables, comments, the program's name and MemRefs inside types do not count. Variables
// are compared through a one-to-one mapping that definitions establish; variables without a definition
// (symbols in parameter types, buffers named by MemRefs) are mapped on first use. Contract: equal programs
// have equal hashes. Nothing here reports or throws; all results own their text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"

namespace pldc {

bool same(const Program* a, const Program* b);
std::uint64_t structural_hash(const Program* program);

// Equality of two types of one program: variables by identity, MemRefs ignored.
bool same_type(const Type* a, const Type* b);

struct Difference {
  // `host.body[3].type.window_buffer.size`: function, statement, field. Communication domains that hold a
  // whole body are left out of the path of what is inside them; their own fields are at
  // `host.comm_domain[0].slots[1].size`.
  std::string path;
  std::string left;   // what stands there in the first program, as a short phrase
  std::string right;  // and in the second
  Span left_span;     // the closest place that is known
  Span right_span;
};

// Up to `limit` differences (0: no limit) in order of traversal; empty iff same(a, b).
std::vector<Difference> differences(const Program* a, const Program* b, std::size_t limit = 0);

}  // namespace pldc
