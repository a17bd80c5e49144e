// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The host collectives: ranks x operators x types x sizes, called twice in a row, with signals that are zero
// at the end.

#include "mini_program.h"
#include "pld/collectives.h"
#include "support/catch.h"
#include "tile_values.h"

namespace {

using pld::collectives::Op;
namespace coll = pld::collectives;

constexpr int kNarrow = 256;  // the official width; the sizes below then need several tiles

// Host copies of the ranks' buffers, moved in and out around the collective.
template <class T>
using Buffers = std::vector<std::vector<T>>;

template <class T>
constexpr pld::DType dtype_of() {
  return std::is_same_v<T, float> ? pld::f32 : std::is_same_v<T, half> ? pld::f16 : pld::i32;
}

template <class T>
void write(const pld::Tensor& t, const std::vector<T>& from) {
  std::copy(from.begin(), from.end(), static_cast<T*>(t.data));
}
template <class T>
std::vector<T> read(const pld::Tensor& t) {
  const T* p = static_cast<const T*>(t.data);
  return std::vector<T>(p, p + t.size());
}

template <class T>
Buffers<T> samples(int ranks, int64_t n, bool powers) {
  test::Random r(static_cast<uint64_t>(ranks) * 1000 + static_cast<uint64_t>(n));
  Buffers<T> b(static_cast<size_t>(ranks));
  for (auto& v : b) {
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t x = r.next();
      v.push_back(powers ? static_cast<T>(x % 3 == 0   ? 0.5f
                                          : x % 3 == 1 ? 1.0f
                                                       : -2.0f)
                         : static_cast<T>((static_cast<float>(x % 33) - 16.0f) / 8.0f));
    }
  }
  return b;
}

template <Op OP, class T>
T combine(T a, T b) {
  const float x = static_cast<float>(a), y = static_cast<float>(b);
  if constexpr (OP == Op::Sum) return static_cast<T>(x + y);
  if constexpr (OP == Op::Max) return x < y ? b : a;
  if constexpr (OP == Op::Min) return y < x ? b : a;
  if constexpr (OP == Op::Prod) return static_cast<T>(x * y);
}

// The own value first, then the peers in ascending order.
template <Op OP, class T>
std::vector<T> reduced(const Buffers<T>& in, size_t me) {
  std::vector<T> out = in[me];
  for (size_t r = 0; r < in.size(); ++r) {
    if (r == me) continue;
    for (size_t i = 0; i < out.size(); ++i) out[i] = combine<OP>(out[i], in[r][i]);
  }
  return out;
}

template <Op OP, class T, int W>
void allreduce_kernel(int64_t* args) {
  coll::allreduce<OP, T, W>(args);
}

template <Op OP, class T, int W>
void check_allreduce(int ranks, int64_t n, int cores) {
  test::MiniProgram program({{"allreduce", {allreduce_kernel<OP, T, W>}, test::many_blocks}});
  const Buffers<T> in = samples<T>(ranks, n, OP == Op::Prod);
  Buffers<T> once(in.size()), twice(in.size());
  program.run(
      [&](pld::Host& h, pld::Params&) {
        pld::Domain d = h.domain("d", h.all(),
                                 {{"data", n * static_cast<int64_t>(sizeof(T))},
                                  {"signal", ranks * cores * 4, pld::SlotUse::signal}});
        for (int r = 0; r < ranks; ++r)
          write(d.view(r, "data", {1, n}, dtype_of<T>()), in[static_cast<size_t>(r)]);
        for (int call = 0; call < 2; ++call) {
          for (int r = 0; r < ranks; ++r) {
            pld::Args a;
            a.inout(d.view(r, "data", {1, n}, dtype_of<T>()));
            if (cores == 1) {
              a.inout(d.view(r, "signal", {ranks}, pld::i32));
            } else {
              a.inout(d.view(r, "signal", {ranks, cores}, pld::i32));
            }
            a.scalar(d.size());
            a.u64(d.ctx(r));
            a.scalar(int64_t{cores});
            h.submit(r, "allreduce", a, {});
          }
          h.sync();
          for (int r = 0; r < ranks; ++r)
            (call == 0 ? once : twice)[static_cast<size_t>(r)] =
                read<T>(d.view(r, "data", {n}, dtype_of<T>()));
        }
      },
      test::ranks(ranks));
  long wrong = 0;
  for (size_t r = 0; r < in.size(); ++r) {
    const std::vector<T> want = reduced<OP>(in, r);
    for (size_t i = 0; i < want.size(); ++i) wrong += test::same(once[r][i], want[i]) ? 0 : 1;
  }
  for (size_t r = 0; r < in.size(); ++r) {
    const std::vector<T> want = reduced<OP>(once, r);
    for (size_t i = 0; i < want.size(); ++i) wrong += test::same(twice[r][i], want[i]) ? 0 : 1;
  }
  CAPTURE(ranks, n, cores);
  CHECK(wrong == 0);
}

// Runs a collective over windows with the given slots; `before` fills, `after` looks.
void run_collective(int ranks, pld::KernelFn kernel, const std::vector<std::pair<int64_t, int64_t>>& shapes,
                    const std::vector<pld::DType>& types, int64_t signal_rows, int64_t signal_cols,
                    int signal_at, const std::function<void(pld::Domain&, int)>& before,
                    const std::function<void(pld::Domain&, int)>& after, int calls = 2) {
  static const char* const kNames[] = {"s0", "s1", "s2", "s3"};
  test::MiniProgram program({{"collective", {kernel}, test::one_kernel}});
  program.run(
      [&](pld::Host& h, pld::Params&) {
        const auto bytes = [&](size_t i) {
          return i < shapes.size() ? shapes[i].first * shapes[i].second * pld::size_of(types[i]) : int64_t{0};
        };
        pld::Domain d = h.domain("d", h.all(),
                                 {{"s0", bytes(0)},
                                  {"s1", bytes(1)},
                                  {"s2", bytes(2)},
                                  {"s3", bytes(3)},
                                  {"signal", signal_rows * signal_cols * 4, pld::SlotUse::signal}});
        for (int call = 0; call < calls; ++call) {
          for (int r = 0; r < ranks; ++r) before(d, r);
          for (int r = 0; r < ranks; ++r) {
            pld::Args a;
            for (size_t i = 0; i <= shapes.size(); ++i) {
              if (static_cast<int>(i) == signal_at) {
                if (signal_cols == 0) {
                  a.inout(d.view(r, "signal", {signal_rows}, pld::i32));
                } else {
                  a.inout(d.view(r, "signal", {signal_rows, signal_cols}, pld::i32));
                }
              }
              if (i < shapes.size())
                a.inout(d.view(r, kNames[i], {shapes[i].first, shapes[i].second}, types[i]));
            }
            a.scalar(d.size());
            a.u64(d.ctx(r));
            h.submit(r, "collective", a, {7, 3});
          }
          h.sync();
          for (int r = 0; r < ranks; ++r) after(d, r);
        }
      },
      test::ranks(ranks));
}

const int kRanks[] = {1, 2, 3, 4, 8, 16};
#ifdef PLDC_SANITIZED
const int64_t kSizes[] = {1, 17, 255, 257};  // slower by ten and more
#else
const int64_t kSizes[] = {1, 17, 255, 256, 257, 4097};
#endif

void barrier_kernel(int64_t* args) { coll::barrier(args); }
template <int ROOT>
void broadcast_kernel(int64_t* args) {
  coll::broadcast<float, kNarrow>(args, ROOT);
}
void reduce_scatter_kernel(int64_t* args) { coll::reduce_scatter<Op::Sum, float, kNarrow>(args); }
void allgather_kernel(int64_t* args) { coll::allgather<float, kNarrow>(args); }
void all_to_all_kernel(int64_t* args) { coll::all_to_all<float, kNarrow>(args); }
void all_to_all_v_kernel(int64_t* args) { coll::all_to_all_v<float, kNarrow>(args); }
template <int W>
void ring_kernel(int64_t* args) {
  coll::allreduce_ring<Op::Sum, float, W>(args);
}

float value(int rank, int64_t row, int64_t i) {
  return static_cast<float>(rank * 1000 + row * 100) + static_cast<float>(i % 97);
}

}  // namespace

TEST_CASE("allreduce: every rank count, operator, type and size") {
  for (int p : kRanks) {
    for (int64_t n : kSizes) {
      check_allreduce<Op::Sum, float, kNarrow>(p, n, 1);
      check_allreduce<Op::Max, float, kNarrow>(p, n, 1);
      check_allreduce<Op::Min, float, kNarrow>(p, n, 1);
      check_allreduce<Op::Prod, float, kNarrow>(p, n, 1);
      check_allreduce<Op::Sum, half, kNarrow>(p, n, 1);
      check_allreduce<Op::Max, half, kNarrow>(p, n, 1);
      check_allreduce<Op::Min, half, kNarrow>(p, n, 1);
      check_allreduce<Op::Prod, half, kNarrow>(p, n, 1);
    }
  }
}

TEST_CASE("allreduce does not depend on the tile width and serves 64 ranks") {
  check_allreduce<Op::Sum, float, coll::kWide<float>>(4, 60001, 1);
  check_allreduce<Op::Sum, half, coll::kWide<half>>(3, 100003, 1);
  check_allreduce<Op::Sum, float, coll::kWide<float>>(64, 257, 1);
}

TEST_CASE("allreduce on several cores") {
  for (int p : {1, 2, 4}) {
    for (int64_t n : {int64_t{1}, int64_t{257}, int64_t{4097}}) {
      check_allreduce<Op::Sum, float, kNarrow>(p, n, 4);
      check_allreduce<Op::Max, half, kNarrow>(p, n, 3);
    }
  }
}

TEST_CASE("ring allreduce: ragged sizes, more ranks than elements, many calls") {
  for (int p : {1, 2, 3, 4, 7, 8, 16}) {
    for (int64_t n : kSizes) {
      const Buffers<float> in = samples<float>(p, n, false);
      long wrong = 0;
      const auto before = [&](pld::Domain& d, int r) {
        write(d.view(r, "s0", {n}, pld::f32), in[static_cast<size_t>(r)]);
      };
      const auto after = [&](pld::Domain& d, int r) {
        const auto got = read<float>(d.view(r, "s0", {n}, pld::f32));
        const auto want = reduced<Op::Sum>(in, 0);  // exact in any order
        for (size_t i = 0; i < want.size(); ++i) wrong += got[i] == want[i] ? 0 : 1;
      };
      run_collective(p, ring_kernel<kNarrow>, {{1, n}}, {pld::f32}, 2 * (p - 1) + 1, p, 1, before, after, 3);
      CAPTURE(p, n);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("ring allreduce refuses more than 16 ranks and other signals before the first notify") {
  const auto nothing = [](pld::Domain&, int) {};
  CHECK_THROWS_WITH(
      run_collective(17, ring_kernel<kNarrow>, {{1, 17}}, {pld::f32}, 33, 17, 1, nothing, nothing),
      Catch::Contains("at most 16 ranks"));
  CHECK_THROWS_WITH(run_collective(3, ring_kernel<kNarrow>, {{1, 17}}, {pld::f32}, 5, 4, 1, nothing, nothing),
                    Catch::Contains("a signal of shape [5, 3], not [5, 4]"));
}

TEST_CASE("a signal with too few rows is refused") {
  const auto nothing = [](pld::Domain&, int) {};
  CHECK_THROWS_WITH(run_collective(4, barrier_kernel, {}, {}, 3, 1, 0, nothing, nothing),
                    Catch::Contains("the signal has 3 rows, the domain 4 ranks"));
}

TEST_CASE("barrier") {
  for (int p : {1, 2, 3, 16, 64}) {
    run_collective(
        p, barrier_kernel, {}, {}, p, 1, 0, [](pld::Domain&, int) {}, [](pld::Domain&, int) {}, 5);
  }
  SUCCEED();
}

TEST_CASE("broadcast, also of a root that changes its data at once") {
  for (int p : kRanks) {
    for (int64_t n : kSizes) {
      const bool last = p > 2;
      const int root = last ? 2 : 0;
      long wrong = 0;
      const auto before = [&](pld::Domain& d, int r) {
        for (int64_t i = 0; i < n; ++i) d.view(r, "s0", {n}, pld::f32).at<float>({i}) = value(r, 0, i);
      };
      const auto after = [&](pld::Domain& d, int r) {
        for (int64_t i = 0; i < n; ++i)
          wrong += d.view(r, "s0", {n}, pld::f32).at<float>({i}) == value(root, 0, i) ? 0 : 1;
      };
      run_collective(p, last ? broadcast_kernel<2> : broadcast_kernel<0>, {{1, n}}, {pld::f32}, p, 1, 1,
                     before, after);
      CAPTURE(p, n);
      CHECK(wrong == 0);
    }
  }
  const auto nothing = [](pld::Domain&, int) {};
  CHECK_THROWS_WITH(run_collective(2, broadcast_kernel<2>, {{1, 4}}, {pld::f32}, 2, 1, 1, nothing, nothing),
                    Catch::Contains("root 2 is not one of 2 ranks"));
}

TEST_CASE("reduce_scatter") {
  for (int p : kRanks) {
    for (int64_t n : kSizes) {
      const int64_t rows = p + 1;  // one row more than ranks: it stays
      long wrong = 0;
      const auto before = [&](pld::Domain& d, int r) {
        for (int64_t k = 0; k < rows; ++k) {
          for (int64_t i = 0; i < n; ++i)
            d.view(r, "s0", {rows, n}, pld::f32).at<float>({k, i}) = value(r, k, i);
        }
      };
      const auto after = [&](pld::Domain& d, int r) {
        for (int64_t k = 0; k < rows; ++k) {
          for (int64_t i = 0; i < n; ++i) {
            float want = value(r, k, i);
            for (int q = 0; q < p && k == r; ++q) want += q == r ? 0.0f : value(q, k, i);
            wrong += d.view(r, "s0", {rows, n}, pld::f32).at<float>({k, i}) == want ? 0 : 1;
          }
        }
      };
      run_collective(p, reduce_scatter_kernel, {{rows, n}}, {pld::f32}, p, 1, 1, before, after);
      CAPTURE(p, n);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("allgather and all_to_all") {
  for (int p : kRanks) {
    for (int64_t n : kSizes) {
      for (bool gather : {true, false}) {
        const int64_t in_rows = gather ? 1 : p;
        long wrong = 0;
        const auto before = [&](pld::Domain& d, int r) {
          for (int64_t k = 0; k < in_rows; ++k) {
            for (int64_t i = 0; i < n; ++i)
              d.view(r, "s0", {in_rows, n}, pld::f32).at<float>({k, i}) = value(r, k, i);
          }
        };
        const auto after = [&](pld::Domain& d, int r) {
          for (int64_t k = 0; k < p; ++k) {
            for (int64_t i = 0; i < n; ++i) {
              const float want = value(static_cast<int>(k), gather ? 0 : r, i);
              wrong += d.view(r, "s1", {p, n}, pld::f32).at<float>({k, i}) == want ? 0 : 1;
            }
          }
        };
        run_collective(p, gather ? allgather_kernel : all_to_all_kernel, {{in_rows, n}, {p, n}},
                       {pld::f32, pld::f32}, p, 1, 2, before, after);
        CAPTURE(p, n, gather);
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("all_to_all_v clamps counts and sends full blocks") {
  constexpr int64_t kMax = 3;
  for (int p : {1, 2, 3, 4, 8}) {
    for (int64_t n : {int64_t{1}, int64_t{17}, int64_t{257}}) {
      const auto count = [&](int from, int64_t to) {
        return (from * 2 + static_cast<int>(to)) % 6;
      };  // up to 5 > kMax
      long wrong = 0;
      const auto before = [&](pld::Domain& d, int r) {
        for (int64_t k = 0; k < p * kMax; ++k) {
          for (int64_t i = 0; i < n; ++i)
            d.view(r, "s0", {p * kMax, n}, pld::f32).at<float>({k, i}) = value(r, k, i);
        }
        for (int64_t k = 0; k < p; ++k) d.view(r, "s2", {p, 1}, pld::i32).at<int32_t>({k, 0}) = count(r, k);
      };
      const auto after = [&](pld::Domain& d, int r) {
        for (int s = 0; s < p; ++s) {
          const int rows = std::min(count(s, r), static_cast<int>(kMax));
          wrong += d.view(r, "s3", {p, 1}, pld::i32).at<int32_t>({s, 0}) == rows ? 0 : 1;
          for (int64_t k = 0; k < rows; ++k) {
            for (int64_t i = 0; i < n; ++i) {
              wrong += d.view(r, "s1", {p * kMax, n}, pld::f32).at<float>({s * kMax + k, i}) ==
                               value(s, r * kMax + k, i)
                           ? 0
                           : 1;
            }
          }
        }
      };
      run_collective(p, all_to_all_v_kernel, {{p * kMax, n}, {p * kMax, n}, {p, 1}, {p, 1}},
                     {pld::f32, pld::f32, pld::i32, pld::i32}, p, 1, 2, before, after);
      CAPTURE(p, n);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("back-to-back calls without a host barrier keep their order") {
  // The root adds 1 to its data and broadcasts, many times; a non-root adds what it got. Missing barriers
  // show here.
  static constexpr int64_t kCount = 600;
  static const auto add_one = [](int64_t* args) {
    float* x = pld_arg<float>(args, 0);
    CommContext* ctx = pld_ctx(args, 3);
    float* sum = x + kCount;
    for (int64_t i = 0; i < kCount; ++i) {
      if (pld_rank(ctx) == 0)
        x[i] += 1.0f;
      else
        sum[i] += x[i];
    }
  };
  test::MiniProgram program(
      {{"add", {[](int64_t* args) { add_one(args); }}}, {"broadcast", {broadcast_kernel<0>}}});
  const int ranks = 4, rounds = 50;
  program.run(
      [&](pld::Host& h, pld::Params&) {
        pld::Domain d =
            h.domain("d", h.all(), {{"x", kCount * 8}, {"signal", ranks * 4, pld::SlotUse::signal}});
        for (int round = 0; round < rounds; ++round) {
          for (int r = 0; r < ranks; ++r) {
            pld::Args a;
            a.inout(d.view(r, "x", {kCount}, pld::f32));
            a.inout(d.view(r, "signal", {ranks}, pld::i32));
            a.scalar(d.size());
            a.u64(d.ctx(r));
            if (r == 0) h.submit(r, "add", a, {});
            h.submit(r, "broadcast", a, {});
            if (r != 0) h.submit(r, "add", a, {});
          }
        }
        h.sync();
        for (int r = 1; r < ranks; ++r) {
          const pld::Tensor x = d.view(r, "x", {2, kCount}, pld::f32);
          CHECK(x.at<float>({1, 0}) == static_cast<float>(rounds * (rounds + 1) / 2));
          CHECK(x.at<float>({1, kCount - 1}) == static_cast<float>(rounds * (rounds + 1) / 2));
        }
      },
      test::ranks(ranks), 5);
}
