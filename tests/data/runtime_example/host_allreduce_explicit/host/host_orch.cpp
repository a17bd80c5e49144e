// Host orchestration of HostAllReduceExplicit (host_allreduce_explicit.pld).
#include "host_allreduce_explicit.h"

namespace host_allreduce_explicit {

void host(pld::Host& h, pld::Params& t) {
  const pld::Tensor& xs = t["xs"];
  const pld::Tensor& ys = t["ys"];
  const int64_t world_size = h.world_size();

  pld::Domain comm_d0 =
      h.domain("comm_d0", h.all(),
               {{"win_buf", 1536, pld::SlotUse::data}, {"sig_buf", world_size * 4, pld::SlotUse::signal}});

  for (int64_t r = 0; r < world_size; ++r) {
    // put_in(xs[r], win, win_ctx), device=r
    pld::Args a;
    a.in(xs.box({1, 1, 384}, {r, 0, 0}).drop({0}));
    a.inout(comm_d0.view(r, "win_buf", {1, 384}, pld::f32));
    a.u64(comm_d0.ctx(r));
    h.submit(r, "put_in", a, {38, 13});
  }

  for (int64_t r = 0; r < world_size; ++r) {
    // builtin.tensor.allreduce(win, sig, op=Sum, core_num=1), device=r
    pld::Args a;
    a.inout(comm_d0.view(r, "win_buf", {1, 384}, pld::f32));
    a.inout(comm_d0.view(r, "sig_buf", {world_size, 1}, pld::i32));
    a.scalar(comm_d0.size());
    a.u64(comm_d0.ctx(r));
    a.scalar(int64_t{1});
    h.submit(r, "builtin_tensor_allreduce__sum__fp32", a, {41, 15});
  }

  for (int64_t r = 0; r < world_size; ++r) {
    // take_out(win, ys[r], win_ctx), device=r
    pld::Args a;
    a.in(comm_d0.view(r, "win_buf", {1, 384}, pld::f32));
    a.inout(ys.box({1, 1, 384}, {r, 0, 0}).drop({0}));
    a.u64(comm_d0.ctx(r));
    h.submit(r, "take_out", a, {43, 13});
  }
}

}  // namespace host_allreduce_explicit

void pld_host_orch(pld::Host& h, pld::Params& t) { host_allreduce_explicit::host(h, t); }

// ---- tables for the launcher ----

PLD_DECLARE_CHIP(put_in);
PLD_DECLARE_CHIP(builtin_tensor_allreduce__sum__fp32);
PLD_DECLARE_CHIP(take_out);
PLD_DECLARE_KERNEL(put_in, stage_in);
PLD_DECLARE_KERNEL(builtin_tensor_allreduce__sum__fp32, allreduce);
PLD_DECLARE_KERNEL(take_out, stage_out);

namespace host_allreduce_explicit {
namespace {

constexpr pld::KernelInfo kKernels0[] = {{"stage_in", pld::Core::aiv, PLD_KERNEL(put_in, stage_in), {10, 5}}};
constexpr pld::KernelInfo kKernels1[] = {
    {"allreduce", pld::Core::aiv, PLD_KERNEL(builtin_tensor_allreduce__sum__fp32, allreduce), {}}};
constexpr pld::KernelInfo kKernels2[] = {
    {"stage_out", pld::Core::aiv, PLD_KERNEL(take_out, stage_out), {16, 5}}};

constexpr pld::ChipInfo kChips[] = {
    {"put_in", PLD_CHIP(put_in), kKernels0, {22, 5}},
    {"builtin_tensor_allreduce__sum__fp32", PLD_CHIP(builtin_tensor_allreduce__sum__fp32), kKernels1, {}},
    {"take_out", PLD_CHIP(take_out), kKernels2, {27, 5}},
};

// xs: FP32 [NR, 1, 384]; ys: FP32 [NR, 1, 384]; axis 0 is indexed by the rank
constexpr pld::DimInfo kHostXs[] = {{-1, "NR", true}, {1}, {384}};
constexpr pld::DimInfo kHostYs[] = {{-1, "NR", true}, {1}, {384}};
constexpr pld::ParamInfo kHostParams[] = {
    {"xs", pld::Dir::in, pld::f32, false, kHostXs, {32, 20}},
    {"ys", pld::Dir::out, pld::f32, false, kHostYs, {33, 14}},
};

constexpr pld::EntryInfo kEntries[] = {
    {.name = "host",
     .run = host,
     .params = kHostParams,
     .max_device = -1,
     .rank_checks = {},
     .place = {32, 5}},
};

constexpr pld::ProgramInfo kProgram = {"host_allreduce_explicit", "host_allreduce_explicit.pld", kEntries,
                                       kChips};

}  // namespace

const pld::ProgramInfo& program() { return kProgram; }

}  // namespace host_allreduce_explicit
