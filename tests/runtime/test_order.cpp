// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Seeded schedules (fibers) and the search for races.
#include <set>

#include "mini_program.h"
#include "support/catch.h"

using Catch::Contains;

namespace {

// Every rank has `data`, 64 floats, and `sig`, 8 cells; the kernels get both and the context.
void host(pld::Host& h, pld::Params&) {
  pld::Domain d = h.domain("d", h.all(), {{"data", 256}, {"sig", 32}});
  for (int64_t r = 0; r < h.world_size(); ++r) {
    pld::Args a;
    a.inout(d.view(r, "data", {64}, pld::f32));
    a.inout(d.view(r, "sig", {8}, pld::i32));
    a.u64(d.ctx(r));
    a.scalar(int32_t{4});  // blocks, for chips that want them
    h.submit(r, "chip", a, {45, 13});
  }
}

CommContext* context(int64_t* args) { return pld_ctx(args, 2); }
int32_t me(int64_t* args) { return pld_rank(context(args)); }
float* data(int64_t* args, int32_t rank) { return pld_peer(context(args), pld_arg<float>(args, 0), rank); }
int32_t* cell(int64_t* args, int32_t rank, int i) {
  return pld_peer(context(args), pld_arg<int32_t>(args, 1) + i, rank);
}
void notify(int64_t* args, int32_t rank, int i, int32_t value = 1) {
  pto::comm::TNOTIFY(pto::comm::Signal(cell(args, rank, i)), value, pto::comm::NotifyOp::AtomicAdd);
}
void wait(int64_t* args, int i, int32_t value) {
  pto::comm::TWAIT(pto::comm::Signal(cell(args, me(args), i)), value, pto::comm::WaitCmp::GE);
}

pld::RunOptions seeded(int64_t ranks, uint64_t seed, bool races = false) {
  pld::RunOptions o = test::ranks(ranks);
  o.seeded = true;
  o.seed = seed;
  o.check_races = races;
  return o;
}
std::string error_of(test::MiniProgram& program, const pld::RunOptions& options, int* code = nullptr) {
  try {
    program.run(host, options);
  } catch (const pld::Error& e) {
    if (code != nullptr) *code = e.exit_code();
    return e.what();
  }
  return "";
}

std::string steps;  // of a seeded run: who took them
void walk(int64_t* args) {
  for (int i = 0; i < 4; ++i) {
    notify(args, me(args), 0);
    steps += static_cast<char>('a' + me(args));
  }
}

// Ping-pong between neighbours, through both cells and data.
void rounds(int64_t* args) {
  const int32_t n = pld_nranks(context(args)), right = (me(args) + 1) % n, left = (me(args) + n - 1) % n;
  for (int32_t i = 0; i < 5; ++i) {
    pld_write(data(args, right) + i, 1.0F);
    notify(args, right, 0);
    wait(args, 0, 1);
    if (pld_read(data(args, me(args)) + i) != 1.0F) PLD_FAIL("the value of round %d is not there", i);
    notify(args, me(args), 0, -1);
    notify(args, left, 1);
    wait(args, 1, i + 1);
  }
  notify(args, me(args), 1, -5);
}

}  // namespace

TEST_CASE("one seed gives one order, other seeds give others") {
  test::MiniProgram program({{"chip", {walk}}});
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 9; ++seed) {
    std::string first;
    for (int again = 0; again < 2; ++again) {
      steps.clear();
      program.run(host, seeded(3, seed));
      CHECK(steps.size() == 12);
      if (again == 0) {
        first = steps;
      } else {
        CHECK(steps == first);
      }
    }
    orders.insert(first);
  }
  CHECK(orders.size() >= 7);
}

TEST_CASE("seeded: ranks wait for each other, all rounds come out, no race is seen") {
  test::MiniProgram program({{"chip", {rounds}}});
  for (uint64_t seed = 0; seed < 30; ++seed) CHECK(error_of(program, seeded(3, seed, true)) == "");
  CHECK(error_of(program, seeded(64, 1, true)) == "");
  pld::RunOptions threads = test::ranks(4);
  threads.check_races = true;
  CHECK_NOTHROW(program.run(host, threads, 5));
}

TEST_CASE("seeded: deadlocks, errors of kernels and of the host end the run; the host can run again") {
  const auto stuck = [](int64_t* args) {
    PLD_LOC(23);
    if (me(args) == 1) wait(args, 3, 1);
  };
  test::MiniProgram dead({{"chip", {stuck}}});
  int code = 0;
  for (int64_t ranks : {2, 64}) {
    CHECK_THAT(error_of(dead, seeded(ranks, 5), &code),
               Contains("deadlock: no rank can move") && Contains("mini.pld:23") && Contains("d.sig[3]"));
    CHECK(code == 4);
  }
  const auto wrong = [](int64_t* args) {
    if (me(args) == 1) PLD_FAIL("rank %d gives up", me(args));
    wait(args, 0, 1);
  };
  test::MiniProgram failing({{"chip", {wrong}}});
  pld::ThreadHost again(failing.info(), seeded(3, 0));
  for (int i = 0; i < 2; ++i) CHECK_THROWS_WITH(failing.run_on(again, host), Contains("rank 1 gives up"));

  const auto fails = [](pld::Host& h, pld::Params& p) {
    host(h, p);
    throw pld::Error("the host gives up");
  };
  CHECK_THROWS_WITH(dead.run(fails, seeded(3, 0)), Contains("the host gives up"));
}

TEST_CASE("seeded: the cores of a launch meet at its barrier") {
  const auto cores = [](int64_t* args) {
    const int32_t block = get_block_idx(args), blocks = get_block_num(args);
    pld_write(data(args, me(args)) + block, static_cast<float>(block + 1));
    pld_syncall();
    const float other = pld_read(data(args, me(args)) + (block + 1) % blocks);
    if (other != static_cast<float>((block + 1) % blocks + 1)) PLD_FAIL("block %d passed too early", block);
  };
  test::MiniProgram program({{"chip", {cores}, test::many_blocks}});
  for (uint64_t seed = 0; seed < 9; ++seed) CHECK(error_of(program, seeded(2, seed, true)) == "");
}

TEST_CASE("races: what signals do not order is found in any order, with both sides") {
  // Rank 0 writes after its notify.
  const auto late = [](int64_t* args) {
    if (me(args) == 0) {
      PLD_LOC(10);
      notify(args, 1, 2);
      PLD_LOC(11);
      pld_write(data(args, 1) + 4, 1.0F);
    } else if (me(args) == 1) {
      PLD_LOC(20);
      wait(args, 2, 1);
      notify(args, 1, 2, -1);
      PLD_LOC(21);
      (void)pld_read(data(args, 1) + 4);
    }
  };
  test::MiniProgram program({{"chip", {late}}});
  for (uint64_t seed = 0; seed < 9; ++seed) {
    int code = 0;
    const std::string text = error_of(program, seeded(2, seed, true), &code);
    CAPTURE(seed, text);
    CHECK(code == 4);
    CHECK_THAT(text, Contains("race: bytes 16..19 of d.data in the window of rank 1"));
    CHECK_THAT(text, Contains("mini.pld:11  writes") && Contains("mini.pld:21  reads"));
  }
  // Seen by a rank that has waited for the writer: the message says for what.
  bool explained = false;
  for (uint64_t seed = 0; seed < 9 && !explained; ++seed) {
    explained =
        error_of(program, seeded(2, seed, true)).find("waited for is d.sig[2]: notified at mini.pld:10") !=
        std::string::npos;
  }
  CHECK(explained);
}

TEST_CASE("races: a wait is ordered only after what the value needs") {
  // Cell 0 counts to 2; a wait for 1 may have seen either notify, so neither rank's data is safe to read.
  const auto count = [](int64_t* args) {
    if (me(args) != 0) {
      pld_write(data(args, 0) + me(args), 1.0F);
      notify(args, 0, 0);
      return;
    }
    wait(args, 0, 1);
    (void)pld_read(data(args, 0) + 1);
    (void)pld_read(data(args, 0) + 2);
    notify(args, 0, 0, -2);
  };
  test::MiniProgram program({{"chip", {count}}});
  for (uint64_t seed = 0; seed < 9; ++seed)
    CHECK_THAT(error_of(program, seeded(3, seed, true)), Contains("race: "));
}

TEST_CASE("races: additions that cannot be divided do not conflict, a plain read beside them does") {
  static bool read_too = false;
  const auto add = [](int64_t* args) {
    if (me(args) == 0) {
      if (read_too) (void)pld_read(cell(args, 0, 0));
      return;
    }
    notify(args, 0, 0);
    notify(args, 0, 0, -1);
  };
  test::MiniProgram program({{"chip", {add}}});
  for (const bool with : {false, true}) {
    read_too = with;
    CHECK(error_of(program, seeded(3, 0, true)).empty() == !with);
  }
}

TEST_CASE("races: blocks of one launch") {
  const auto same = [](int64_t* args) { pld_write(data(args, me(args)), 1.0F); };
  const auto blocks = [](const ChipTaskArgs& a) {
    CoreTaskArgs p = test::forward(a, a.scalar_count - 1);
    p.launch_spec.set_block_num(3);
    rt_submit_aiv_task(0, p);
  };
  test::MiniProgram program({{"chip", {same}, blocks}});
  pld::RunOptions o = test::ranks(1);
  o.check_races = true;
  CHECK_THROWS_WITH(program.run(host, o), Contains("0 core 0") && Contains("0 core 1") &&
                                              Contains("between the cores of one launch"));
}

TEST_CASE("the next value of a loop variable stays at the end of its type") {
  CHECK(pld_next(int64_t{3}, 4) == 7);
  CHECK(pld_next(INT64_MAX - 2, 5) == INT64_MAX);
  CHECK(pld_next(INT64_MIN + 2, -5) == INT64_MIN);
  CHECK(pld_next(int8_t{125}, int8_t{5}) == 127);
  CHECK(pld_next(uint8_t{250}, uint8_t{10}) == 255);
}

TEST_CASE("a window as large as the numbers is refused with its size") {
  test::MiniProgram program({{"chip", {[](int64_t*) {}}}});
  const auto huge = [](pld::Host& h, pld::Params&) { h.domain("d", h.all(), {{"a", 64}, {"b", INT64_MAX}}); };
  CHECK_THROWS_WITH(program.run(huge, test::ranks(2)),
                    Contains("buffer b of domain d has 9223372036854775807 bytes"));
}
