// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The thread host: deadlock and timeout reports, checks, domains, staging of strided tensors, SPMD, mixed
// tasks.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "mini_program.h"
#include "support/catch.h"

using Catch::Contains;

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// args: signal [P, 1]; ctx. Waits for cell (rank + 1) % P, which nobody notifies.
void wait_for_nobody(int64_t* args) {
  int32_t* s = pld_arg<int32_t>(args, 0);
  CommContext* ctx = pld_ctx(args, 1);
  PLD_LOC(23);
  pto::comm::Signal cell(s + (pld_rank(ctx) + 1) % pld_nranks(ctx));
  pto::comm::TWAIT(cell, 1, pto::comm::WaitCmp::GE);
}

// Rank 0 waits, the others finish.
void only_rank_zero_waits(int64_t* args) {
  if (pld_rank(pld_ctx(args, 1)) == 0) wait_for_nobody(args);
}

void submit_to_all(pld::Host& h, const char* chip, pld::Domain& d) {
  for (int64_t r = 0; r < h.world_size(); ++r) {
    pld::Args a;
    a.inout(d.view(r, "sig", {h.world_size(), 1}, pld::i32));
    a.u64(d.ctx(r));
    h.submit(r, chip, a, {45, 13});
  }
}

void signal_host(pld::Host& h, pld::Params&) {
  pld::Domain d = h.domain("comm_d0", h.all(), {{"pad", 5}, {"sig", h.world_size() * 4}});
  submit_to_all(h, "kernel", d);
}

std::string error_of(const std::function<void()>& f, int* code = nullptr) {
  try {
    f();
  } catch (const pld::Error& e) {
    if (code != nullptr) *code = e.exit_code();
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a deadlock is reported at once, with everything that is needed to find it") {
  test::MiniProgram program({{"kernel", {wait_for_nobody}}});
  for (int ranks : {1, 2, 3, 64}) {
    const auto start = std::chrono::steady_clock::now();
    int code = 0;
    const std::string text = error_of([&] { program.run(signal_host, test::ranks(ranks)); }, &code);
    CHECK(seconds_since(start) < 1.5);
    CHECK(code == 4);
    CHECK_THAT(text, Contains("deadlock: no rank can move"));
    CHECK_THAT(text, Contains("mini.pld:23"));
    CHECK_THAT(text, Contains("comm_d0.sig[" + std::to_string(1 % ranks) + "]"));
    CHECK_THAT(text, Contains(">= 1"));
    if (ranks == 3) CHECK_THAT(text, Contains("any other rank of comm_d0: 1 2"));
  }
}

TEST_CASE("ranks that have finished are named in the report") {
  test::MiniProgram program({{"kernel", {only_rank_zero_waits}}});
  CHECK_THAT(error_of([&] { program.run(signal_host, test::ranks(3)); }),
             Contains("finished their work: 1, 2"));
}

TEST_CASE("a host can run again after a deadlock") {
  test::MiniProgram program({{"kernel", {wait_for_nobody}}, {"good", {[](int64_t*) {}}}});
  pld::ThreadHost host(program.info(), test::ranks(4));
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_WITH(program.run_on(host, signal_host), Contains("deadlock"));
    CHECK_FALSE(host.abandoned());
    CHECK_NOTHROW(program.run_on(host, [](pld::Host& h, pld::Params&) {
      pld::Domain d = h.domain("comm_d0", h.all(), {{"sig", 64}});
      submit_to_all(h, "good", d);
    }));
  }
}

TEST_CASE("a plain store into a signal is seen, too") {
  // Rank 1 stores without a notify, then waits for rank 0's answer.
  const auto kernel = [](int64_t* args) {
    int32_t* s = pld_arg<int32_t>(args, 0);
    CommContext* ctx = pld_ctx(args, 1);
    if (pld_rank(ctx) == 0) {
      pto::comm::Signal mine(s);
      pto::comm::TWAIT(mine, 7, pto::comm::WaitCmp::EQ);
      pto::comm::Signal theirs(pld_peer(ctx, s, 1));
      pto::comm::TNOTIFY(theirs, 1, pto::comm::NotifyOp::Set);
    } else {
      for (int i = 0; i < 1000; ++i) sched_yield();
      __atomic_store_n(pld_peer(ctx, s, 0), 7, __ATOMIC_SEQ_CST);
      pto::comm::Signal mine(s);
      pto::comm::TWAIT(mine, 1, pto::comm::WaitCmp::GE);
    }
  };
  test::MiniProgram program({{"kernel", {kernel}}});
  const auto start = std::chrono::steady_clock::now();
  CHECK_NOTHROW(program.run(signal_host, test::ranks(2)));
  CHECK(seconds_since(start) < 1.0);
}

TEST_CASE("a timeout reports where the ranks are") {
  static std::atomic<bool> stop{false};
  const auto kernel = [](int64_t* args) {
    PLD_LOC(31);
    if (pld_rank(pld_ctx(args, 1)) == 0) {
      while (!stop) sched_yield();
    } else {
      wait_for_nobody(args);
    }
  };
  test::MiniProgram program({{"kernel", {kernel}}});
  pld::RunOptions o = test::ranks(2);
  o.timeout_seconds = 0.2;
  pld::ThreadHost host(program.info(), o);
  std::thread release([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    stop = true;
  });
  int code = 0;
  const std::string text = error_of([&] { program.run_on(host, signal_host); }, &code);
  release.join();
  CHECK(code == 4);
  CHECK_THAT(text, Contains("timeout: the run did not end within 0.2 seconds"));
  CHECK_THAT(text, Contains("mini.pld:31") && Contains("(running)"));
  CHECK_THAT(text, Contains("comm_d0.sig[0]"));
  CHECK_FALSE(host.abandoned());
}

TEST_CASE("a polling loop ends with a timeout") {
  const auto kernel = [](int64_t* args) {
    pto::comm::Signal s(pld_arg<int32_t>(args, 0));
    while (!pto::comm::TTEST(s, 1, pto::comm::WaitCmp::GE)) {
    }
  };
  test::MiniProgram program({{"kernel", {kernel}}});
  pld::RunOptions o = test::ranks(2);
  o.timeout_seconds = 0.1;
  CHECK_THROWS_WITH(program.run(signal_host, o), Contains("timeout"));
}

TEST_CASE("an error in a kernel stops the other ranks") {
  const auto kernel = [](int64_t* args) {
    if (pld_rank(pld_ctx(args, 1)) == 1) {
      PLD_LOC(77);
      pto::Tile<pto::TileType::Vec, float, 8, 8> t;
      TASSIGN(t, 1 << 20);
    }
    wait_for_nobody(args);
  };
  test::MiniProgram program({{"kernel", {kernel}}});
  int code = 0;
  const std::string text = error_of([&] { program.run(signal_host, test::ranks(4)); }, &code);
  CHECK(code == 1);
  CHECK_THAT(text,
             Contains("mini.pld:77: ") && Contains("vector buffer") && Contains("(kernel kernel, rank 1)"));
}

TEST_CASE("peers outside of the domain are refused") {
  const auto kernel = [](int64_t* args) { pld_peer(pld_ctx(args, 1), pld_arg<int32_t>(args, 0), 2); };
  test::MiniProgram program({{"kernel", {kernel}}});
  CHECK_THROWS_WITH(program.run(signal_host, test::ranks(2)),
                    Contains("peer 2 is not a rank of the domain, which has ranks 0 to 1"));
}

TEST_CASE("signals that are not zero at the end are reported") {
  const auto kernel = [](int64_t* args) {
    CommContext* ctx = pld_ctx(args, 1);
    pto::comm::Signal s(pld_peer(ctx, pld_arg<int32_t>(args, 0) + 1, 1));
    if (pld_rank(ctx) == 0) pto::comm::TNOTIFY(s, 3, pto::comm::NotifyOp::AtomicAdd);
  };
  test::MiniProgram program({{"kernel", {kernel}}});
  const auto host = [](pld::SlotUse use) {
    return [use](pld::Host& h, pld::Params&) {
      pld::Domain d = h.domain("d", h.all(), {{"sig", 8, use}});
      submit_to_all(h, "kernel", d);
    };
  };
  int code = 0;
  CHECK_THAT(error_of([&] { program.run(host(pld::SlotUse::signal), test::ranks(2)); }, &code),
             Contains("signal d.sig: cell 1 on rank 1 is 3"));
  CHECK(code == 4);
  CHECK_NOTHROW(program.run(host(pld::SlotUse::data), test::ranks(2)));
}

TEST_CASE("windows are zero at the start of every run") {
  const auto kernel = [](int64_t* args) {
    int32_t* s = pld_arg<int32_t>(args, 0);
    if (*s != 0) ::pld::sim::fail("not zero");
    *s = 5;
  };
  test::MiniProgram program({{"kernel", {kernel}}});
  CHECK_NOTHROW(program.run(signal_host, test::ranks(3), 20));
}

TEST_CASE("accesses outside of a window are found") {
  using G = pto::GlobalTensor<float, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>, pto::Layout::ND>;
  static int offset = 0;
  const auto kernel = [](int64_t* args) {
    pto::Tile<pto::TileType::Vec, float, 1, 8> t;
    TASSIGN(t, 0);
    PLD_LOC(12);
    G g(reinterpret_cast<float*>(pld_peer(pld_ctx(args, 1), pld_arg<int32_t>(args, 0), 1)) + offset);
    TLOAD(t, g);
  };
  test::MiniProgram program({{"kernel", {kernel}}});
  pld::RunOptions o = test::ranks(2);
  o.check_bounds = true;
  const auto host = [](pld::Host& h, pld::Params&) {
    pld::Domain d = h.domain("d", h.all(), {{"sig", 40}, {"other", 64}});
    submit_to_all(h, "kernel", d);
  };
  offset = 2;
  CHECK_NOTHROW(program.run(host, o));
  offset = 3;
  int code = 0;
  CHECK_THAT(error_of([&] { program.run(host, o); }, &code),
             Contains("mini.pld:12") &&
                 Contains("reads 32 bytes in d.sig (rank 1), which has 40 bytes, at offset 12"));
  CHECK(code == 4);
  offset = 10;
  CHECK_THAT(error_of([&] { program.run(host, o); }), Contains("0 bytes behind d.sig (rank 1)"));
}

TEST_CASE("domains: subsets, alignment, limits, wrong names") {
  test::MiniProgram program({{"kernel", {[](int64_t*) {}}}});
  program.run(
      [](pld::Host& h, pld::Params&) {
        pld::Domain d = h.domain("pair", {1, 3}, {{"a", 5}, {"b", 33}, {"c", 4}});
        CHECK(d.size() == 2);
        const auto* ctx = reinterpret_cast<const CommContext*>(d.ctx(3));
        CHECK(ctx->rankId == 1);
        CHECK(ctx->rankNum == 2);
        CHECK(ctx->winSize == 32 + 64 + 32 + 32);
        const auto address = [&](int64_t r, const char* slot) {
          return static_cast<const char*>(d.view(r, slot, {1}, pld::i32).data);
        };
        CHECK(address(1, "b") - address(1, "a") == 32);
        CHECK(address(1, "c") - address(1, "a") == 96);
        CHECK(ctx->windowsIn[0] == reinterpret_cast<uint64_t>(address(1, "a")));
        CHECK_THROWS_WITH(d.ctx(0), "device 0 is not in domain pair");
        CHECK_THROWS_WITH(d.view(1, "x", {1}, pld::i32), Contains("no buffer x"));
        CHECK_THROWS_WITH(d.view(1, "b", {9}, pld::f32), Contains("takes 36 bytes, its buffer has 33"));
        CHECK_THROWS_WITH(h.domain("far", {0, 4}, {}), Contains("device 4"));
        CHECK_THROWS_WITH(d.require_at_most(1, "ring"), "ring serves at most 1 ranks, domain pair has 2");
        pld::Args a;
        CHECK_THROWS_WITH(h.submit(4, "kernel", a, {9, 1}),
                          "dispatch of kernel to device 4, there are 4 ranks");
        CHECK_THROWS_WITH(h.submit(0, "other", a, {}), Contains("no chip orchestration other"));
      },
      test::ranks(4));
  // What the host function does not catch names its place.
  const auto said = [&](const test::MiniProgram::HostFn& host_fn) {
    return error_of([&] { program.run(host_fn, test::ranks(4)); });
  };
  CHECK(said([](pld::Host& h, pld::Params&) {
          h.submit(4, "kernel", {}, {9, 1});
        }) == "mini.pld:9: dispatch of kernel to device 4, there are 4 ranks (host function host, rank 4)");
  CHECK(said([](pld::Host& h, pld::Params& t) {
          h.at(7);
          t["x"].size();
        }) == "mini.pld:7: parameter x has no tensor (host function host)");
  CHECK(said([](pld::Host& h, pld::Params&) {
          h.sub_worker("f", nullptr, {}, {8, 2});
        }) ==
        "mini.pld:8: sub-worker f is Python text; link a C++ function pld_sub_f(const pld::Args&) (host "
        "function host)");
  CHECK(said([](pld::Host& h, pld::Params&) {
          h.at(6, 2);
          throw std::bad_alloc();
        }) == "mini.pld:6: no memory (host function host, rank 2)");
  CHECK(said([](pld::Host& h, pld::Params& t) {
          h.domain("old", {0}, {});
          t["x"].size();
        }) == "parameter x has no tensor");  // nobody said where
  pld::RunOptions o = test::ranks(65);
  CHECK_THROWS_WITH(program.run([](pld::Host& h, pld::Params&) { h.domain("wide", h.all(), {}); }, o),
                    "domain wide has 65 ranks; a communication domain has at most 64");
}

TEST_CASE("strided host tensors reach a chip packed and come back") {
  const auto kernel = [](int64_t* args) {
    float* x = pld_arg<float>(args, 0);
    float* y = pld_arg<float>(args, 1);
    for (int64_t i = 0; i < pld_dim(args, 0, 0) * pld_dim(args, 0, 1); ++i) y[i] = x[i] + 1, x[i] = -1;
  };
  test::MiniProgram program({{"kernel", {kernel}}});
  std::vector<float> x(40), y(40, 0.0f);
  for (size_t i = 0; i < 40; ++i) x[i] = static_cast<float>(i);
  program.run(
      [&](pld::Host& h, pld::Params&) {
        const pld::Tensor tx = pld::Tensor::packed(x.data(), pld::f32, {4, 10}),
                          ty = pld::Tensor::packed(y.data(), pld::f32, {4, 10});
        pld::Args a;
        a.in(tx.box({2, 3}, {1, 4}));
        a.out(ty.transpose(0, 1).box({2, 3}, {4, 1}));
        h.submit(0, "kernel", a, {});
      },
      test::ranks(1));
  CHECK(x[14] == 14);  // an input is not written back
  CHECK(y[1 * 10 + 4] == 15);
  CHECK(y[3 * 10 + 4] == 17);
  CHECK(y[2 * 10 + 5] == 26);
  CHECK(y[0] == 0);
}

TEST_CASE("host tensors: views and their errors") {
  std::vector<int32_t> v(24);
  for (int i = 0; i < 24; ++i) v[static_cast<size_t>(i)] = i;
  const pld::Tensor t = pld::Tensor::packed(v.data(), pld::i32, {2, 3, 4}, "t");
  CHECK(t.slice(1).at<int32_t>({2, 3}) == 23);
  CHECK(t.box({1, 2, 2}, {1, 1, 2}).drop({0}).at<int32_t>({1, 1}) == 23);
  CHECK(t.reshape({6, 4}).at<int32_t>({5, 0}) == 20);
  CHECK(t.transpose(0, -1).dim(0) == 4);
  CHECK_FALSE(t.transpose(0, 2).contiguous());
  CHECK(t.box({1, 3, 4}, {1, 0, 0}).contiguous());
  CHECK_THROWS_WITH(t.slice(2), Contains("index 2 is outside of axis 0 of t [2, 3, 4]"));
  CHECK_THROWS_WITH(t.box({1, 3, 4}, {2, 0, 0}), Contains("past the end of axis 0"));
  CHECK_THROWS_WITH(t.drop({1}), Contains("axis 1"));
  CHECK_THROWS_WITH(t.reshape({5, 5}), Contains("cannot reshape"));
  CHECK_THROWS_WITH(t.at<int32_t>({0, 0, 4}), Contains("axis 2"));
  std::vector<int32_t> w(24, 0);
  pld::Tensor::packed(w.data(), pld::i32, {4, 3, 2}).assign(t.transpose(0, 2));
  CHECK(w[1 * 6 + 2 * 2 + 1] == 21);
}

TEST_CASE("blocks of an SPMD task") {
  const auto kernel = [](int64_t* args) {
    int32_t* s = pld_arg<int32_t>(args, 0);
    s[get_block_idx(args)] = 100 * get_block_num(args) + get_sub_block_id(args);
    pld_syncall();
    for (int i = 0; i < get_block_num(args); ++i) {
      if (s[i] == 0) ::pld::sim::fail("block %d has not arrived", i);
    }
  };
  test::MiniProgram program({{"kernel", {kernel}, test::many_blocks}});
  program.run(
      [](pld::Host& h, pld::Params&) {
        pld::Domain d = h.domain("d", h.all(), {{"s", 64}});
        for (int64_t r = 0; r < 2; ++r) {
          pld::Args a;
          a.inout(d.view(r, "s", {16}, pld::i32));
          a.scalar(int32_t{6});
          h.submit(r, "kernel", a, {});
        }
        h.sync();
        CHECK(d.view(1, "s", {16}, pld::i32).at<int32_t>({5}) == 600);
      },
      test::ranks(2), 20);
}

TEST_CASE("a deadlock inside of an SPMD task names all blocks") {
  const auto kernel = [](int64_t* args) {
    int32_t* s = pld_arg<int32_t>(args, 0);
    pto::comm::Signal cell(s + get_block_idx(args));
    pto::comm::TWAIT(cell, 1, pto::comm::WaitCmp::GE);
  };
  test::MiniProgram program({{"kernel", {kernel}, test::many_blocks}});
  const std::string text = error_of([&] {
    program.run(
        [](pld::Host& h, pld::Params&) {
          pld::Domain d = h.domain("d", h.all(), {{"s", 64}});
          pld::Args a;
          a.inout(d.view(0, "s", {16}, pld::i32));
          a.scalar(int32_t{3});
          h.submit(0, "kernel", a, {});
        },
        test::ranks(1));
  });
  CHECK_THAT(text, Contains("d.s[0]") && Contains("d.s[1]") && Contains("d.s[2]"));
}

TEST_CASE("deferred waits hold the end of a task") {
  static const auto kernel = [](int64_t* args) {
    int32_t* s = pld_arg<int32_t>(args, 0);
    pld_deferred_waits waits;
    pto::comm::Signal cell(s);
    pto::comm::TNOTIFY(cell, 2, pto::comm::NotifyOp::AtomicAdd);
    for (int i = 0; i < 64; ++i) waits.add(s, 2, pto::comm::WaitCmp::GE, 7);
    waits.wait();
    pld_deferred_waits more;
    more.add(s, 3, pto::comm::WaitCmp::GE, 9);
    more.wait();
  };
  test::MiniProgram program({{"kernel", {kernel}}});
  const std::string text = error_of([&] { program.run(signal_host, test::ranks(1)); });
  CHECK_THAT(text, Contains("deadlock") && Contains(":9") && Contains(">= 3"));

  static const auto many = [](int64_t* args) {
    pld_deferred_waits waits;
    for (int i = 0; i < 65; ++i) waits.add(pld_arg<int32_t>(args, 0), 0, pto::comm::WaitCmp::GE, 7);
  };
  test::MiniProgram full({{"kernel", {many}}});
  CHECK_THAT(error_of([&] { full.run(signal_host, test::ranks(1)); }),
             Contains("more than 64 deferred waits"));
}

TEST_CASE("chip orchestration: intermediates, views, scalar access, task ids") {
  const auto chip = [](const ChipTaskArgs& a) {
    const ChipTensor& x = a.tensor(0).ref();
    PTO2_SCOPE() {
      uint32_t shape[2] = {4, 8};
      TensorCreateInfo info(shape, 2, DataType::FLOAT32);
      TaskOutputTensors made = alloc_tensors(info, info);
      const ChipTensor& tmp = made.get_ref(1);
      if (pld_read<float>(tmp, {3, 7}) != 0) ::pld::sim::fail("an intermediate is not zero");
      pld_fill<float>(tmp, 2.0f);
      uint32_t extents[2] = {2, 3}, offsets[2] = {1, 4};
      const ChipTensor part = tmp.view(extents, offsets);
      pld_fill<float>(part, 5.0f);
      if (part.is_contiguous != 0 || part.extent != 11) ::pld::sim::fail("view");
      uint32_t row[2] = {1, 8}, second[2] = {1, 0};
      const ChipTensor line = pld_drop(tmp.view(row, second), {0});
      if (line.ndims != 1 || pld_read<float>(line, {5}) != 5.0f || pld_read<float>(line, {3}) != 2.0f)
        ::pld::sim::fail("drop");
      if (pld_read<float>(pld_transpose(tmp, 0, 1), {6, 2}) != 5.0f) ::pld::sim::fail("transpose");
      if (pld_read<float>(pld_reshape(tmp, {32}), {14}) != 5.0f) ::pld::sim::fail("reshape");
      pld_assemble(x, part, {0, 1});
      pld_write<float>(x, {1, 7}, 9);
      CoreTaskArgs p;
      p.add_input(x);
      p.add_output(info);
      TaskOutputTensors out = rt_submit_aiv_task(0, p);
      PTO2TaskId deps[1] = {out.task_id()};
      CoreTaskArgs q;
      q.add_input(out.get_ref(0));
      q.add_output(x);
      q.set_dependencies(deps, 1);
      if (!deps[0].is_valid() || PTO2TaskId::invalid().is_valid() || !rt_submit_dummy_task().is_valid())
        ::pld::sim::fail("id");
      rt_submit_aiv_task(0, q);
    }
  };
  const auto kernel = [](int64_t* args) {
    for (int i = 0; i < 32; ++i) pld_arg<float>(args, 1)[i] = pld_arg<float>(args, 0)[i] * 2;
  };
  test::MiniProgram program({{"chip", {kernel}, chip}});
  std::vector<float> x(32, 1.0f);
  const auto host = [&](pld::Host& h, pld::Params&) {
    pld::Args a;
    a.inout(pld::Tensor::packed(x.data(), pld::f32, {4, 8}));
    h.submit(0, "chip", a, {});
  };
  pld::RunOptions o = test::ranks(1);
  o.check_bounds = true;
  program.run(host, o);
  CHECK(x[0] == 4);
  CHECK(x[1] == 20);
  CHECK(x[8 + 3] == 20);
  CHECK(x[15] == 36);
}

TEST_CASE("errors in chip orchestrations") {
  const auto run = [](void (*chip)(const ChipTaskArgs&)) {
    test::MiniProgram program({{"chip", {[](int64_t*) {}}, chip}});
    program.run(
        [&](pld::Host& h, pld::Params&) {
          pld::Args a;
          a.u64(1);
          h.submit(0, "chip", a, {5, 1});
        },
        test::ranks(1));
  };
  CHECK_THROWS_WITH(run([](const ChipTaskArgs& a) { a.tensor(0); }),
                    Contains("mini.pld:5: tensor argument 0 of 0"));
  CHECK_THROWS_WITH(run([](const ChipTaskArgs& a) { a.scalar(1); }), Contains("scalar argument 1 of 1"));
  CHECK_THROWS_WITH(run([](const ChipTaskArgs&) { rt_submit_aiv_task(1, CoreTaskArgs()); }),
                    Contains("no kernel 1"));
  CHECK_THROWS_WITH(run([](const ChipTaskArgs&) {
                      CoreTaskArgs p;
                      p.launch_spec.set_block_num(0);
                      rt_submit_aiv_task(0, p);
                    }),
                    Contains("0 blocks"));
}

TEST_CASE("dispatches of one rank keep their order; many ranks share the cores") {
  const auto kernel = [](int64_t* args) {
    int32_t* log = pld_arg<int32_t>(args, 0);
    log[++log[0]] = pld_scalar<int32_t>(args, 1);
  };
  test::MiniProgram program({{"log", {kernel}}});
  program.run(
      [](pld::Host& h, pld::Params&) {
        pld::Domain d = h.domain("d", h.all(), {{"log", 1024}});
        for (int i = 0; i < 200; ++i) {
          for (int64_t r = 0; r < h.world_size(); ++r) {
            pld::Args a;
            a.inout(d.view(r, "log", {256}, pld::i32));
            a.scalar(i);
            h.submit(r, "log", a, {});
          }
        }
        h.sync();
        for (int64_t r = 0; r < h.world_size(); ++r) {
          for (int i = 0; i < 200; ++i) REQUIRE(d.view(r, "log", {256}, pld::i32).at<int32_t>({i + 1}) == i);
        }
      },
      test::ranks(64));
}

namespace {

// args: x [64]; rounds. Every rank adds 1 to all elements on rank 0, by put and by store in turn.
template <class T>
void add_ones(int64_t* args) {
  using G = pto::GlobalTensor<T, pto::Shape<1, 1, 1, 1, 64>, pto::Stride<64, 64, 64, 64, 1>, pto::Layout::ND>;
  T* x = pld_arg<T>(args, 0);
  CommContext* ctx = pld_ctx(args, 1);
  pto::Tile<pto::TileType::Vec, T, 1, 64> ones, stage;
  TASSIGN(ones, 0);
  TASSIGN(stage, 0x1000);
  TEXPANDS(ones, static_cast<T>(1.0f));
  G mine(x + 64), theirs(pld_peer(ctx, x, 0));
  TSTORE(mine, ones);
  for (int i = 0; i < 100; ++i) {
    if (i % 2 == 0) {
      pto::comm::TPUT<pto::AtomicType::AtomicAdd>(theirs, mine, stage);
    } else {
      TSTORE<decltype(ones), G, pto::AtomicType::AtomicAdd>(theirs, ones);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("atomic adds of many ranks lose nothing", "", float, half, bfloat16_t, int32_t, int16_t,
                   int8_t) {
  using T = TestType;
  const bool narrow = std::is_same_v<T, bfloat16_t>;  // counts to 256 exactly
  const int ranks = narrow ? 2 : 8;
  test::MiniProgram program({{"add", {add_ones<T>}}});
  program.run(
      [&](pld::Host& h, pld::Params&) {
        pld::Domain d = h.domain("d", h.all(), {{"x", 128 * static_cast<int64_t>(sizeof(T))}});
        const pld::DType type = sizeof(T) == 4 ? pld::i32 : sizeof(T) == 2 ? pld::i16 : pld::i8;
        for (int64_t r = 0; r < ranks; ++r) {
          pld::Args a;
          a.inout(d.view(r, "x", {128}, type));
          a.u64(d.ctx(r));
          h.submit(r, "add", a, {});
        }
        h.sync();
        long wrong = 0;
        const T want = std::is_integral_v<T> ? static_cast<T>(ranks * 100)
                                             : static_cast<T>(static_cast<float>(ranks * 100));
        for (int64_t i = 0; i < 64; ++i) {
          const T got = static_cast<const T*>(d.view(0, "x", {128}, type).data)[i];
          wrong += static_cast<float>(got) == static_cast<float>(want) ? 0 : 1;
        }
        CHECK(wrong == 0);
      },
      test::ranks(ranks), 3);
}
