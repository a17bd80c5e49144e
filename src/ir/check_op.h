// What must hold for every call of an op, printed text included.
#pragma once

#include "ir/context.h"
#include "support/diag.h"

namespace pldc {

enum class CallSource : std::uint8_t {
  Written,  // by a person, or made by a pass of this project
  Printed,  // read from printed text, which passes of other compilers may have written
};

// Operand count and kinds (Unknown passes), keyword names, kinds and presence, and the creation errors of the
// distributed ops (passes.md 4). Reports each fault at the operand, keyword or call; false if there was one.
// A call of a function of the program passes.
bool check_call(DiagSink& diags, const Call* call, CallSource source = CallSource::Written);

// The shape that a builtin collective's signal must have (passes.md 4.4, the table of internal builtins):
// what the pass that makes these calls promises, and what a verifier may ask. True for every other op.
bool check_builtin_signal(DiagSink& diags, const Call* call);

// What the front end demands of a program that a person wrote: window allocations and world_size() stand in
// HOST functions, outside of device scopes, and every window buffer has a name of its own. Passes may break
// the second (an inlined function allocates twice), so this is no property of later texts.
bool check_host_ops(DiagSink& diags, const Program* program);

// Which operand of the op's table the argument with this index of the call is: they differ where an optional
// operand in the middle is absent (stage2 of pld.tile.put, scratch of tile.mgather). Null beyond the table.
const Operand* operand_of(const Call* call, std::size_t argument);

// What the call does to the memory of the argument, keywords considered: an atomic store or notify also
// reads.
Access access_of(const Call* call, std::size_t argument);

// The argument for the operand of that name, or null.
const Expr* argument(const Call* call, std::string_view operand);

}  // namespace pldc
