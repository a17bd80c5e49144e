// Replacing break and continue by branches and conditions (passes.md 2.20, CtrlFlowTransform), for programs before SSA:
// what it makes may assign a variable twice.
//
// A `continue` ends its way through the body; what comes after it goes into the other branch. A `break` turns the loop
// into a while with a flag. Where a jump stands deeper, the rest of the body is guarded by a flag. Statements before a
// jump are kept and everything after it is guarded: there the reference is wrong (decisions D19).
#pragma once

#include <functional>

#include "ir/context.h"
#include "support/diag.h"

namespace pldc {

// Whether a break or a continue in `body` belongs to the loop around it.
bool has_jump(Body body);
bool has_jump(const Stmt* stmt, StmtKind kind);
// The first such jump; null if there is none.
const Stmt* first_jump(Body body);

// Lowers the jumps of the loops for which `wanted` holds, innermost first; loops of kinds that run their iterations in
// any order keep a break. Returns the same function if nothing changed; reports to `diags` what it cannot do.
const Function* lower_jumps(Context& context, DiagSink& diags, const Function* function,
                            const std::function<bool(const Stmt* loop)>& wanted);

}  // namespace pldc
