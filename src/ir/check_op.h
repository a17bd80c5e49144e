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

// Whether a collective is called with mode="ring".
bool is_ring(const Call* call);

// Whether a collective that a host orchestrator calls has the dtypes and the reduction that its builtin takes (passes.md
// 4.4); in kernels it takes more.
bool check_host_collective(DiagSink& diags, const Call* call);

// What the front end demands of a program that a person wrote: window allocations and world_size() stand in
// HOST functions, outside of device scopes, and every window buffer has a name of its own. Passes may break
// the second (an inlined function allocates twice), so this is no property of later texts.
bool check_host_ops(DiagSink& diags, const Program* program);

// Also of what a person wrote only: passes make calls whose types differ in ways that they know to be right.
//
// The value for a parameter in a call or launch of a function of the program. Kind, dtype, rank and constant
// extents must agree; extents that are no constants agree with any. A DistributedTensor may stand for a
// Tensor, a scalar of any integer dtype for another and a number such as 2.5 for any floating-point dtype;
// leading extents of 1 do not count. `place`: of the
// argument. Reports and returns false.
bool check_argument(DiagSink& diags, const Function& callee, const Param& param, const Expr* value,
                    Span place);
// The same for what a `return` gives, against the results that the function declares, if it does.
// `places`: one for each value; `whole`: the statement.
bool check_results(DiagSink& diags, const Function& function, List<const Expr*> values, List<Span> places,
                   Span whole);
// A call of a function that the program does not have. `functions`: the names of those that it has.
void report_unknown_callee(DiagSink& diags, Span place, std::string_view callee,
                           std::vector<std::string_view> functions);
// Windows that are larger than their buffer, where both sizes are constants.
bool check_windows(DiagSink& diags, const Program* program);

// Which operand of the op's table the argument with this index of the call is: they differ where an optional
// operand in the middle is absent (stage2 of pld.tile.put, scratch of tile.mgather). Null beyond the table.
const Operand* operand_of(const Call* call, std::size_t argument);

// What the call does to the memory of the argument, keywords considered: an atomic store or notify also
// reads.
Access access_of(const Call* call, std::size_t argument);

// The argument for the operand of that name, or null.
const Expr* argument(const Call* call, std::string_view operand);

}  // namespace pldc
