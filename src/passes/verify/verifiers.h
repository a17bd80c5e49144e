// One verifier a property: `void verify_<Property>(const Program*, DiagSink&)` reports every finding as an
// error with its place and returns. A verifier never changes the program, needs no other property, and
// accepts every program that the reader makes. verify.cpp is the only caller; a property that holds by
// construction has an empty verifier.
#pragma once

#include "passes/pass.h"

namespace pldc {

#define PLDC_PROPERTY(id, checked, doc) void verify_##id(const Program* program, DiagSink& diags);
#include "passes/properties.def"
#undef PLDC_PROPERTY

// Whether every call and launch names a function of the program; reports those that do not. No property: passes neither
// require nor lose it.
bool verify_callees(const Program* program, DiagSink& diags);

// Whether yields end the bodies of loops and branches, with one value for each result. Part of SSAForm.
void check_yields(const Function* f, DiagSink& diags);

// Whether the bytes of each value can be counted. Part of TypeChecked.
void verify_type_sizes(const Function* f, DiagSink& diags);

// Whether a function that declares results returns any. Part of ReturnParamsExplicit for kernels.
bool check_returns(const Function* f, DiagSink& diags);

// Whether scopes that are launched stand where something can be launched. True of every program that
// OutlineClusterScopes can take all clusters out of.
bool check_launch_scopes(const Program* program, DiagSink& diags);

// Whether collectives of host orchestrators have dtypes that their builtins take.
bool check_host_collectives(const Program* program, DiagSink& diags);

// The finder behind AtomicAddDtypeValid, for a backend whose memory cannot add BF16 atomically. No backend of
// this project is one, so the property itself never reports anything.
void find_bf16_atomic_adds(const Program* program, DiagSink& diags);

// A property that somebody asked about, whatever the backend: as verify(), but AtomicAddDtypeValid holds only if
// the program fits A5, too.
bool verify_for_any_backend(Property property, const Program* program, DiagSink& diags);

}  // namespace pldc
