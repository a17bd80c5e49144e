// HostAllReduceExplicit: host_allreduce_explicit.pld as C++ functions.
#pragma once
#include "pld/host.h"

namespace host_allreduce_explicit {

// host(xs: in FP32 [NR, 1, 384], ys: out FP32 [NR, 1, 384])
void host(pld::Host& h, pld::Params& t);

const pld::ProgramInfo& program();

}  // namespace host_allreduce_explicit

// The only entry.
void pld_host_orch(pld::Host& h, pld::Params& t);
