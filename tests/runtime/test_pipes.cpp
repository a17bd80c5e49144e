// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Pipes between the cores of one block.
#include "mini_program.h"
#include "support/catch.h"

using Catch::Contains;

TEST_CASE("cube and vector cores exchange tiles") {
  // The cube core sends a tile in halves to two lanes; each adds its lane + 1 and sends it back.
  static const auto vector = [](int64_t* args) {
    pto::Tile<pto::TileType::Vec, float, 2, 8, pto::BLayout::RowMajor, -1, -1> t(2, 8);
    TASSIGN(t, 0x40 * 4);
    pto::TPOP<pto::PipeDir::ToAIV, 3>(args, t, 1);
    TADDS(t, t, static_cast<float>(get_sub_block_id(args) + 1));
    pto::TPUSH<pto::PipeDir::ToAIC, 3>(args, t, 1);
  };
  static const auto cube = [](int64_t* args) {
    float* x = pld_arg<float>(args, 0);
    pto::Tile<pto::TileType::Vec, float, 4, 8> t;
    TASSIGN(t, 0);
    pto::GlobalTensor<float, pto::Shape<1, 1, 1, 4, 8>, pto::Stride<32, 32, 32, 8, 1>, pto::Layout::ND> g(x);
    TLOAD(t, g);
    pto::TPUSH<pto::PipeDir::ToAIV, 3>(args, t, 1);
    pto::TPOP<pto::PipeDir::ToAIC, 3>(args, t, 1);
    TSTORE(g, t);
  };
  const auto chip = [](const ChipTaskArgs& a) {
    CoreTaskArgs p = test::forward(a, 0);
    p.launch_spec.set_block_num(2);
    rt_submit_task(MixedKernels{0, 1, 1}, p);
  };
  test::MiniProgram program({{"mixed", {[](int64_t* a) { cube(a); }, [](int64_t* a) { vector(a); }}, chip}});
  std::vector<float> x(32, 10.0f);
  const auto host = [&](pld::Host& h, pld::Params&) {
    pld::Args a;
    a.inout(pld::Tensor::packed(x.data(), pld::f32, {4, 8}));
    h.submit(0, "mixed", a, {});
  };
  program.run(host, test::ranks(1));
  CHECK(x[0] == 12);  // two blocks, one after the other
  CHECK(x[31] == 14);

  const auto lonely = [](const ChipTaskArgs& a) {
    rt_submit_task(MixedKernels{kInvalidKernel, 0, 1}, test::forward(a, 0));
  };
  test::MiniProgram stuck({{"stuck", {[](int64_t* a) { vector(a); }, [](int64_t*) {}}, lonely}});
  CHECK_THROWS_WITH(stuck.run(
                        [&](pld::Host& h, pld::Params&) {
                          pld::Args a;
                          a.inout(pld::Tensor::packed(x.data(), pld::f32, {4, 8}));
                          h.submit(0, "stuck", a, {});
                        },
                        test::ranks(1)),
                    Contains("deadlock") && Contains("pipe 3 to the vector core"));
}

TEST_CASE("a core that does the work of all hands tiles to itself") {
  static const auto mixed = [](int64_t* args) {
    float* x = pld_arg<float>(args, 0);
    pto::Tile<pto::TileType::Vec, float, 4, 8> t, u;
    TASSIGN(t, 0);
    TASSIGN(u, 0x400);
    pto::GlobalTensor<float, pto::Shape<1, 1, 1, 4, 8>, pto::Stride<32, 32, 32, 8, 1>, pto::Layout::ND> g(x);
    TLOAD(t, g);
    pto::TPUSH<pto::PipeDir::ToAIV, 0>(args, t, 1);
    pto::TPOP<pto::PipeDir::ToAIV, 0>(args, u, 1);
    TADDS(u, u, x[0]);
    TSTORE(g, u);
    if (x[0] > 9) pto::TPUSH<pto::PipeDir::ToAIC, 0>(args, u, 0);
    if (x[0] < 0) pto::TPOP<pto::PipeDir::ToAIC, 0>(args, u, 0);
  };
  const auto chip = [](const ChipTaskArgs& a) { rt_submit_aiv_task(0, test::forward(a, 0)); };
  test::MiniProgram program({{"mixed", {[](int64_t* a) { mixed(a); }}, chip}});
  std::vector<float> x(32, 2.0f);
  const auto run = [&](float value) {
    std::fill(x.begin(), x.end(), value);
    program.run(
        [&](pld::Host& h, pld::Params&) {
          pld::Args a;
          a.inout(pld::Tensor::packed(x.data(), pld::f32, {4, 8}));
          h.submit(0, "mixed", a, {});
        },
        test::ranks(1));
  };
  run(2);
  CHECK(x[0] == 4);
  CHECK(x[31] == 4);
  CHECK_THROWS_WITH(run(5), Contains("hands data to another core"));
  CHECK_THROWS_WITH(run(-1), Contains("takes from a pipe into which nothing was handed"));
}
