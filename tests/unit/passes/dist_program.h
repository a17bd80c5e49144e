// Programs for the tests of the distributed passes: a host function on top of a few chip functions, in
// authoring form.
#pragma once

#include <string>
#include <string_view>

#include "passes/pass.h"
#include "unit/passes/golden.h"

namespace pldc {
const Program* run_SynthesizeAllReduceSignals(PassEnv&, const Program*);
const Program* run_MaterializeCommDomainScopes(PassEnv&, const Program*);
const Program* run_LowerHostTensorCollectives(PassEnv&, const Program*);
const Program* run_MaterializeDistTensorCtx(PassEnv&, const Program*);
const Program* run_ConvertToSSA(PassEnv&, const Program*);
const Program* run_FlattenCallExpr(PassEnv&, const Program*);
}  // namespace pldc

namespace dist {

inline constexpr pldc::PassFunction kSignals = pldc::run_SynthesizeAllReduceSignals;
inline constexpr pldc::PassFunction kDomains = pldc::run_MaterializeCommDomainScopes;
inline constexpr pldc::PassFunction kCollectives = pldc::run_LowerHostTensorCollectives;
inline constexpr pldc::PassFunction kContexts = pldc::run_MaterializeDistTensorCtx;

// Each line of `body` gets `indent` columns.
std::string indented(std::string_view body, int indent);

// A program of the given functions (methods at column 0).
std::string program(std::string_view functions);

// chip(data [256] FP32), chip_sig(sig [4] INT32), chip_rows([4, 64] FP32), and a host function with this
// body.
std::string host(std::string_view body, std::string_view params = "n: pl.Scalar[pl.INDEX]");

// The functions of `host` without the host function.
std::string_view chips();

// buf, data [256] FP32 and a dispatch of it to every device.
std::string_view data_everywhere();
// The same, to devices 0 and 1.
std::string_view data_on_two();

// The text after the passes in the dump dialect, or the errors. Text from the host's `def` on.
std::string after(std::string_view text, const std::vector<pldc::PassFunction>& passes,
                  const pldc::PassOptionValues& options = {});

std::size_t count(std::string_view text, std::string_view what);
// Whether the parts occur in this order.
bool in_order(std::string_view text, std::initializer_list<std::string_view> parts);

}  // namespace dist
