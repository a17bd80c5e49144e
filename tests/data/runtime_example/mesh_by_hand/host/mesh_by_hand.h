// MeshByHand: mesh_by_hand.pld as C++ functions.
#pragma once
#include "pld/host.h"

namespace mesh_by_hand {

// host(xs: in FP32 [NR, 1, 256], ys: out FP32 [NR, 1, 256])
void host(pld::Host& h, pld::Params& t);

const pld::ProgramInfo& program();

}  // namespace mesh_by_hand

// The only entry.
void pld_host_orch(pld::Host& h, pld::Params& t);
