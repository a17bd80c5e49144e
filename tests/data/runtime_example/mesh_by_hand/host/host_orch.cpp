// Host orchestration of MeshByHand (mesh_by_hand.pld).
#include "mesh_by_hand.h"

namespace mesh_by_hand {

void host(pld::Host& h, pld::Params& t) {
  const pld::Tensor& xs = t["xs"];
  const pld::Tensor& ys = t["ys"];
  const int64_t world_size = h.world_size();

  pld::Domain comm_d0 =
      h.domain("comm_d0", h.all(),
               {{"win_buf", 1024, pld::SlotUse::data}, {"sig_buf", world_size * 4, pld::SlotUse::data}});

  for (int64_t r = 0; r < world_size; ++r) {
    // per_rank(xs[r], ys[r], win, sig, win_ctx, sig_ctx), device=r
    pld::Args a;
    a.in(xs.box({1, 1, 256}, {r, 0, 0}).drop({0}));
    a.inout(ys.box({1, 1, 256}, {r, 0, 0}).drop({0}));
    a.inout(comm_d0.view(r, "win_buf", {1, 256}, pld::f32));
    a.inout(comm_d0.view(r, "sig_buf", {world_size, 1}, pld::i32));
    a.u64(comm_d0.ctx(r));
    a.u64(comm_d0.ctx(r));
    h.submit(r, "per_rank", a, {45, 13});
  }
}

}  // namespace mesh_by_hand

void pld_host_orch(pld::Host& h, pld::Params& t) { mesh_by_hand::host(h, t); }

// ---- tables for the launcher ----

PLD_DECLARE_CHIP(per_rank);
PLD_DECLARE_KERNEL(per_rank, reduce_rank);

namespace mesh_by_hand {
namespace {

constexpr pld::KernelInfo kKernels0[] = {
    {"reduce_rank", pld::Core::aiv, PLD_KERNEL(per_rank, reduce_rank), {10, 5}}};

constexpr pld::ChipInfo kChips[] = {
    {"per_rank", PLD_CHIP(per_rank), kKernels0, {32, 5}},
};

// xs: FP32 [NR, 1, 256]; ys: FP32 [NR, 1, 256]; axis 0 is indexed by the rank
constexpr pld::DimInfo kHostXs[] = {{-1, "NR", true}, {1}, {256}};
constexpr pld::DimInfo kHostYs[] = {{-1, "NR", true}, {1}, {256}};
constexpr pld::ParamInfo kHostParams[] = {
    {"xs", pld::Dir::in, pld::f32, false, kHostXs, {38, 20}},
    {"ys", pld::Dir::out, pld::f32, false, kHostYs, {39, 14}},
};

constexpr pld::EntryInfo kEntries[] = {
    {.name = "host",
     .run = host,
     .params = kHostParams,
     .max_device = -1,
     .rank_checks = {},
     .place = {38, 5}},
};

constexpr pld::ProgramInfo kProgram = {"mesh_by_hand", "mesh_by_hand.pld", kEntries, kChips};

}  // namespace

const pld::ProgramInfo& program() { return kProgram; }

}  // namespace mesh_by_hand
