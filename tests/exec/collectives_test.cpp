// Host collectives and a mesh written by hand: the values on every rank, for every number of ranks that fits.
#include <algorithm>
#include <functional>

#include "exec/programs.h"
#include "support/catch.h"

using namespace exectest;

namespace {

// An all-reduce by Sum over all ranks from `xs` to `ys`, also when repeated. Sums of eighths are exact in any order.
void check_sum(const std::string& program, std::int64_t width,
               const std::vector<std::string>& repeat_options) {
  for (const int ranks : {1, 2, 3, 4, 8}) {
    const Array xs = eighths({ranks, 1, width}, static_cast<std::uint32_t>(ranks));
    const Array wanted = reduced(xs, first(ranks), std::plus<>());
    for (const std::vector<std::string>& options : {std::vector<std::string>{}, repeat_options}) {
      const Run done = run(source_of(program), ranks, {{"xs", xs}}, {"ys"}, options);
      CAPTURE(program, ranks, options, done.outcome.err);
      REQUIRE(done.outcome.code == 0);
      CHECK(done.outputs.at("ys").shape == wanted.shape);
      CHECK(done.outputs.at("ys").values == wanted.values);
    }
  }
}

}  // namespace

TEST_CASE("exec: host all-reduce with an explicit signal") {
  // --check=signals: the collective leaves its signals at zero.
  check_sum("host_allreduce_explicit", 384, {"--repeat=50", "--check=signals"});
}

TEST_CASE("exec: a mesh all-reduce written by hand") {
  check_sum("mesh_by_hand", 256, {"--repeat=50"});  // its barrier leaves ones, as it is written
}

TEST_CASE("exec: host all-reduces with implicit signals, Max and Prod on FP16") {
  for (const int ranks : {1, 2, 3, 4, 8}) {
    const Array xs = powers({ranks, 1, 1000}, static_cast<std::uint32_t>(ranks), true);
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{}, std::vector<std::string>{"--repeat=50", "--check=signals"}}) {
      const Run done = run(source_of("host_allreduce_implicit"), ranks, {{"xs", xs}}, {"ys", "zs"}, options);
      CAPTURE(ranks, options, done.outcome.err);
      REQUIRE(done.outcome.code == 0);
      CHECK(done.outputs.at("ys").half);
      CHECK(done.outputs.at("ys").values ==
            reduced(xs, first(ranks), [](float a, float b) { return std::max(a, b); }).values);
      CHECK(done.outputs.at("zs").values == reduced(xs, first(ranks), std::multiplies<>()).values);
    }
  }
}

TEST_CASE("exec: an all-reduce over several cores of each rank") {
  for (const int ranks : {1, 2, 3, 4}) {
    const Array xs = eighths({4, 1, 2048}, static_cast<std::uint32_t>(ranks));
    const Run done = run(source_of("host_allreduce_multicore"), ranks, {{"xs", xs}}, {"ys"});
    CAPTURE(ranks, done.outcome.err);
    REQUIRE(done.outcome.code == 0);
    // Ranks that are not there write nothing: their outputs stay zero.
    Array wanted = reduced(xs, first(ranks), std::plus<>());
    std::fill(wanted.values.begin() + ranks * xs.per_rank(), wanted.values.end(), 0.0F);
    CHECK(done.outputs.at("ys").values == wanted.values);
  }
}

TEST_CASE("exec: an all-reduce between devices 1 and 3 of four") {
  const Array xs = eighths({4, 1, 128}, 7);
  const Run done = run(source_of("host_subset_pair"), 4, {{"xs", xs}}, {"ys"});
  CAPTURE(done.outcome.err);
  REQUIRE(done.outcome.code == 0);
  Array wanted = reduced(xs, {1, 3}, std::plus<>());
  for (const int rank : {0, 2}) {
    std::fill_n(wanted.values.begin() + rank * xs.per_rank(), xs.per_rank(), 0.0F);
  }
  CHECK(done.outputs.at("ys").values == wanted.values);
}
