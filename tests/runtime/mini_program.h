// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Programs made by hand for tests: one kernel per chip, a host function that may capture.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "pld/host.h"
#include "pld/kernel.h"
#include "pld/orch.h"

namespace test {

inline PTO2OrchestrationConfig no_arguments(const ChipTaskArgs&) { return {0}; }

inline CoreTaskArgs forward(const ChipTaskArgs& a, int scalars) {
  CoreTaskArgs p;
  for (int i = 0; i < a.tensor_count; ++i) p.add_inout(a.tensor(i).ref());
  for (int j = 0; j < scalars; ++j) p.add_scalar(a.scalar(j));
  return p;
}
// Passes everything on to kernel 0.
inline void one_kernel(const ChipTaskArgs& a) { rt_submit_aiv_task(0, forward(a, a.scalar_count)); }
// Kernel 0 on as many blocks as the last scalar says, at once.
inline void many_blocks(const ChipTaskArgs& a) {
  CoreTaskArgs p = forward(a, a.scalar_count - 1);
  p.launch_spec.set_block_num(pld_from_u64<int32_t>(a.scalar(a.scalar_count - 1)));
  p.launch_spec.set_require_sync_start(true);
  rt_submit_aiv_task(0, p);
}

struct MiniChip {
  std::string name;
  std::vector<pld::KernelFn> kernels;
  void (*entry)(const ChipTaskArgs&) = one_kernel;
};

// Owns the tables of a program.
class MiniProgram {
 public:
  using HostFn = std::function<void(pld::Host&, pld::Params&)>;

  explicit MiniProgram(std::vector<MiniChip> chips) : chips_(std::move(chips)) {
    kernels_.resize(chips_.size());
    for (size_t i = 0; i < chips_.size(); ++i) {
      for (pld::KernelFn fn : chips_[i].kernels)
        kernels_[i].push_back({chips_[i].name.c_str(), pld::Core::aiv, fn, {}});
      pld::List<pld::KernelInfo> list;
      list.first = kernels_[i].data();
      list.count = static_cast<int64_t>(kernels_[i].size());
      infos_.push_back({chips_[i].name.c_str(), no_arguments, chips_[i].entry, list, {}});
    }
    program_.name = "mini";
    program_.source = "mini.pld";
    program_.chips.first = infos_.data();
    program_.chips.count = static_cast<int64_t>(infos_.size());
    entry_ = {.name = "host",
              .run = [](pld::Host& h, pld::Params& t) { (*current())(h, t); },
              .params = {},
              .max_device = -1,
              .single_rank = false,
              .rank_checks = {},
              .place = {}};
  }
  MiniProgram(const MiniProgram&) = delete;
  MiniProgram& operator=(const MiniProgram&) = delete;

  const pld::ProgramInfo& info() const { return program_; }

  // Runs the host function `repeat` times on one host.
  void run(const HostFn& host_fn, const pld::RunOptions& options, int repeat = 1) {
    pld::ThreadHost host(program_, options);
    for (int i = 0; i < repeat; ++i) run_on(host, host_fn);
  }
  void run_on(pld::ThreadHost& host, const HostFn& host_fn) {
    current() = &host_fn;
    pld::Params params;
    host.run(entry_, params);
  }

 private:
  static const HostFn*& current() {
    static const HostFn* fn = nullptr;
    return fn;
  }
  std::vector<MiniChip> chips_;
  std::vector<std::vector<pld::KernelInfo>> kernels_;
  std::vector<pld::ChipInfo> infos_;
  pld::ProgramInfo program_ = {};
  pld::EntryInfo entry_ = {};
};

inline pld::RunOptions ranks(int64_t n) {
  pld::RunOptions o;
  o.ranks = n;
  o.check_signals = true;
  o.timeout_seconds = 120;
  return o;
}

}  // namespace test
