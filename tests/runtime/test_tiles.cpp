// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Movement, reduction, comparison, matrix product and index operations.
#include <climits>

#include "pld/tensor.h"
#include "support/catch.h"
#include "tile_values.h"

using namespace pto;
using test::Part;
using test::Vec;

TEST_CASE("loads and stores move the valid box of strided, multi-axis and column tensors") {
  std::vector<float> memory(4096), out(4096, -1.0f);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  SECTION("a partial row-major box with a row stride") {
    Part<float, 8, 24> t(5, 17);
    TASSIGN(t, 0);
    using G = GlobalTensor<float, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, -1, 1>, Layout::ND>;
    G g(memory.data() + 3, Shape<1, 1, 1, -1, -1>(5, 17), Stride<1, 1, 1, -1, 1>(100));
    G o(out.data(), Shape<1, 1, 1, -1, -1>(5, 17), Stride<1, 1, 1, -1, 1>(40));
    TLOAD(t, g);
    CHECK(t.at(4, 16) == 3 + 4 * 100 + 16);
    TSTORE(o, t);
    CHECK(out[4 * 40 + 16] == 3 + 4 * 100 + 16);
    CHECK(out[17] == -1.0f);
    CHECK(out[5 * 40] == -1.0f);
  }
  SECTION("five axes") {
    Vec<float, 12, 8> t;
    TASSIGN(t, 0);
    GlobalTensor<float, Shape<1, 2, 2, 3, 8>, Stride<1, 1000, 300, 50, 2>, Layout::ND> g(memory.data());
    TLOAD(t, g);
    CHECK(t.at(11, 7) == 1000 + 300 + 2 * 50 + 14);
    CHECK(t.at(6, 0) == 1000);
    CHECK(t.at(3, 1) == 302);
  }
  SECTION("a column") {
    Tile<TileType::Vec, float, 16, 1, BLayout::ColMajor, 9, 1> t;
    TASSIGN(t, 0);
    GlobalTensor<float, Shape<1, 1, 1, 9, 1>, Stride<9, 9, 9, 1, 9>, Layout::DN> g(memory.data() + 5);
    TLOAD(t, g);
    CHECK(t.at(8, 0) == 13);
    GlobalTensor<float, Shape<1, 1, 1, 9, 1>, Stride<1, 1, 1, 7, 1>, Layout::DN> o(out.data());
    TSTORE(o, t);
    CHECK(out[8 * 7] == 13);
    CHECK(out[1] == -1.0f);
  }
  SECTION("the shapes must agree") {
    Part<float, 8, 24> t(5, 17);
    TASSIGN(t, 0);
    GlobalTensor<float, Shape<1, 1, 1, 5, 16>, Stride<1, 1, 1, 16, 1>, Layout::ND> g(memory.data());
    CHECK_THROWS_WITH(TLOAD(t, g), Catch::Contains("5 rows and 16 columns") && Catch::Contains("[5, 17]"));
  }
  SECTION("no address") {
    Vec<float, 1, 8> t;
    GlobalTensor<float, Shape<1, 1, 1, 1, 8>, Stride<8, 8, 8, 8, 1>, Layout::ND> g(memory.data());
    CHECK_THROWS_WITH(TLOAD(t, g), Catch::Contains("no address"));
  }
}

TEMPLATE_TEST_CASE("atomic stores add", "", float, half, bfloat16_t, int32_t, int16_t, int8_t) {
  using T = TestType;
  std::vector<T> memory(64);
  for (size_t i = 0; i < 64; ++i) memory[i] = static_cast<T>(static_cast<float>(i));
  Part<T, 2, 32> t(2, 5);
  TASSIGN(t, 0);
  TEXPANDS(t, static_cast<T>(3.0f));
  using G = GlobalTensor<T, Shape<1, 1, 1, 2, 5>, Stride<1, 1, 1, 10, 2>, Layout::ND>;
  G g(memory.data());
  TSTORE<decltype(t), G, AtomicType::AtomicAdd>(g, t);
  CHECK(static_cast<float>(memory[18]) == 21.0f);
  CHECK(static_cast<float>(memory[8]) == 11.0f);
  CHECK(static_cast<float>(memory[1]) == 1.0f);
}

TEST_CASE("extract, insert, transpose, reshape, concat, pad") {
  Vec<int32_t, 4, 8> a;
  TASSIGN(a, 0);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 8; ++j) a.at(i, j) = 10 * i + j;
  }
  Part<int32_t, 2, 8> e(2, 3);
  TASSIGN(e, 0x400);
  TEXTRACT(e, a, 1, 4);
  CHECK(e.at(1, 2) == 26);
  CHECK_THROWS_WITH(TEXTRACT(e, a, 3, 0), Catch::Contains("outside of a tile of shape [4, 8]"));
  TINSERT(a, e, 0, 0);
  CHECK(a.at(0, 0) == 14);
  CHECK(a.at(1, 2) == 26);
  CHECK(a.at(0, 3) == 3);
  Vec<int32_t, 8, 8> t;
  TASSIGN(t, 0x800);
  Part<int32_t, 8, 8> tp(8, 4);
  TASSIGN(tp, 0x800);
  TTRANS(tp, a, t);
  CHECK(tp.at(7, 3) == a.at(3, 7));
  CHECK(tp.at(2, 1) == a.at(1, 2));
  Vec<int32_t, 2, 16> r;
  TASSIGN(r, 0xc00);
  TRESHAPE(r, a);
  CHECK(r.at(1, 9) == a.at(3, 1));
  Part<int32_t, 4, 16> c(4, 11);
  TASSIGN(c, 0x1000);
  Part<int32_t, 4, 8> left(4, 8), right(4, 3);
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TCONCAT(c, left, right);
  CHECK(c.at(3, 10) == a.at(3, 2));
  Tile<TileType::Vec, float, 4, 8, BLayout::RowMajor, 4, 8, SLayout::NoneBox, 512, PadValue::Min> p;
  Part<float, 4, 8> s(2, 5);
  TASSIGN(p, 0x2000);
  TASSIGN(s, 0x3000);
  TEXPANDS(s, 1.5f);
  TFILLPAD(p, s);
  CHECK(p.at(1, 4) == 1.5f);
  CHECK(p.at(1, 5) == -INFINITY);
  CHECK(p.at(3, 0) == -INFINITY);
  TASSIGN(s, 0x2000);
  s.at(0, 0) = 7;
  TFILLPAD_INPLACE(p, s);
  CHECK(p.at(0, 0) == 7);
  CHECK(p.at(0, 7) == -INFINITY);
  Tile<TileType::Vec, int16_t, 1, 16, BLayout::RowMajor, 1, 16, SLayout::NoneBox, 512, PadValue::Max> q;
  Part<int16_t, 1, 16> none(0, 0);
  TASSIGN(q, 0);
  TASSIGN(none, 0x100);
  TFILLPAD(q, none);
  CHECK(q.at(0, 15) == 32767);
}

TEST_CASE("reductions") {
  Part<float, 19, 40> s(19, 33);
  Tile<TileType::Vec, float, 24, 1, BLayout::ColMajor, 19, 1> d;
  Tile<TileType::Vec, int32_t, 24, 1, BLayout::ColMajor, 19, 1> arg;
  TASSIGN(s, 0);
  TASSIGN(d, 0x4000);
  TASSIGN(arg, 0x5000);
  test::Random r(2);
  test::fill(s, r);
  TROWSUM(d, s, s);
  bool right = true;
  for (int i = 0; i < 19; ++i) {
    float sum = s.at(i, 0);
    for (int j = 1; j < 33; ++j) sum += s.at(i, j);
    right = right && d.at(i, 0) == sum;
  }
  CHECK(right);
  TROWMAX(d, s, s);
  TROWARGMAX(arg, s, s);
  right = true;
  for (int i = 0; i < 19; ++i) {
    int best = 0;
    for (int j = 1; j < 33; ++j) best = s.at(i, j) > s.at(i, best) ? j : best;
    right = right && d.at(i, 0) == s.at(i, best) && arg.at(i, 0) == best;
  }
  CHECK(right);
  TROWMIN(d, s, s);
  TROWARGMIN(arg, s, s);
  right = true;
  for (int i = 0; i < 19; ++i) {
    int best = 0;
    for (int j = 1; j < 33; ++j) best = s.at(i, j) < s.at(i, best) ? j : best;
    right = right && d.at(i, 0) == s.at(i, best) && arg.at(i, 0) == best;
  }
  CHECK(right);
  Part<float, 1, 40> c(1, 33);
  Part<int32_t, 1, 40> carg(1, 33);
  TASSIGN(c, 0x6000);
  TASSIGN(carg, 0x7000);
  TCOLSUM(c, s);
  right = true;
  for (int j = 0; j < 33; ++j) {
    float sum = s.at(0, j);
    for (int i = 1; i < 19; ++i) sum += s.at(i, j);
    right = right && c.at(0, j) == sum;
  }
  CHECK(right);
  TCOLMAX(c, s);
  TCOLARGMAX(carg, s, s);
  right = true;
  for (int j = 0; j < 33; ++j) {
    int best = 0;
    for (int i = 1; i < 19; ++i) best = s.at(i, j) > s.at(best, j) ? i : best;
    right = right && c.at(0, j) == s.at(best, j) && carg.at(0, j) == best;
  }
  CHECK(right);
  s.SetValidShape(2, 3);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) s.at(i, j) = static_cast<float>(i + j + 2);
  }
  Tile<TileType::Vec, float, 8, 1, BLayout::ColMajor, 2, 1> two;
  TASSIGN(two, 0x4000);
  TROWPROD(two, s, s);
  CHECK(two.at(1, 0) == 60.0f);
  Part<float, 1, 40> three(1, 3);
  TASSIGN(three, 0x6000);
  TCOLPROD(three, s);
  CHECK(three.at(0, 2) == 20.0f);
  TCOLMIN(three, s);
  CHECK(three.at(0, 2) == 4.0f);
  s.SetValidShape(2, 0);
  CHECK_THROWS_WITH(TROWSUM(two, s, s), Catch::Contains("TROWSUM") && Catch::Contains("empty"));
}

TEST_CASE("half row sums accumulate in float, column sums in half") {
  Part<half, 1, 4096> s(1, 4096);
  TASSIGN(s, 0);
  TEXPANDS(s, half(1.0f));
  Tile<TileType::Vec, half, 16, 1, BLayout::ColMajor, 1, 1> d;
  TASSIGN(d, 0x8000);
  TROWSUM(d, s, s);
  CHECK(static_cast<float>(d.at(0, 0)) == 4096.0f);  // 2048 + 1 would stay 2048 in half
  Tile<TileType::Vec, half, 2100, 16, BLayout::RowMajor, 2100, 1> col;
  Tile<TileType::Vec, half, 1, 16, BLayout::RowMajor, 1, 1> sum;
  TASSIGN(col, 0);
  TASSIGN(sum, 0x20000);
  TEXPANDS(col, half(1.0f));
  TCOLSUM(sum, col);
  CHECK(static_cast<float>(sum.at(0, 0)) == 2048.0f);
}

TEST_CASE("integer row sums wrap") {
  Vec<int8_t, 1, 32> s;
  Tile<TileType::Vec, int8_t, 32, 1, BLayout::ColMajor, 1, 1> d;
  TASSIGN(s, 0);
  TASSIGN(d, 0x100);
  TEXPANDS(s, 100);
  TROWSUM(d, s, s);
  CHECK(d.at(0, 0) == static_cast<int8_t>(3200 & 0xff));
}

TEMPLATE_TEST_CASE("comparison and selection", "", float, half, int32_t, int16_t, uint8_t) {
  using T = TestType;
  Part<T, 5, 64> a(5, 37), b(5, 37), d(5, 37);
  Part<uint8_t, 5, 32> mask(5, 5);
  TASSIGN(a, 0);
  TASSIGN(b, 0x1000);
  TASSIGN(d, 0x2000);
  TASSIGN(mask, 0x3000);
  test::Random r(4);
  test::fill(a, r);
  test::fill(b, r);
  for (int i = 0; i < 5; ++i) b.at(i, 7) = a.at(i, 7);
  using V = std::conditional_t<std::is_integral_v<T>, T, float>;
  const auto truth = [](T x, T y, int mode) {
    const V p = x, q = y;
    return mode == 0   ? p == q
           : mode == 1 ? p != q
           : mode == 2 ? p < q
           : mode == 3 ? p <= q
           : mode == 4 ? p > q
                       : p >= q;
  };
  const T s = a.at(2, 2);
  for (int mode = 0; mode < 6; ++mode) {
    for (bool scalar : {false, true}) {
      if (scalar) {
        TCMPS(mask, a, s, static_cast<CmpMode>(mode));
      } else {
        TCMP(mask, a, b, static_cast<CmpMode>(mode));
      }
      long wrong = 0;
      for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 64; ++j) {
          const bool bit = ((mask.at(i, j / 8) >> (j % 8)) & 1) != 0;
          if (bit != (j < 37 && truth(a.at(i, j), scalar ? s : b.at(i, j), mode))) ++wrong;
        }
      }
      TSEL(d, mask, a, b, d);
      for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 37; ++j) {
          const bool first = truth(a.at(i, j), scalar ? s : b.at(i, j), mode);
          if (!test::same(d.at(i, j), first ? a.at(i, j) : b.at(i, j))) ++wrong;
        }
      }
      TSELS(d, mask, a, d, s);
      for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 37; ++j) {
          const bool first = truth(a.at(i, j), scalar ? s : b.at(i, j), mode);
          if (!test::same(d.at(i, j), first ? a.at(i, j) : s)) ++wrong;
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a mask may lie where the operand does") {
  Tile<TileType::Vec, float, 3, 64> a;
  Tile<TileType::Vec, uint8_t, 3, 32> mask;
  TASSIGN(a, 0);
  TASSIGN(mask, 0);
  const auto is_set = [](int i, int j) { return (i * 7 + j) % 3 == 0; };
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 64; ++j) a.at(i, j) = is_set(i, j) ? 1.0f : 0.0f;
  }
  TCMPS(mask, a, 0.0f, CmpMode::NE);
  long wrong = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 64; ++j) wrong += (((mask.at(i, j / 8) >> (j % 8)) & 1) != 0) != is_set(i, j);
  }
  CHECK(wrong == 0);
  CHECK(mask.at(2, 31) == 0);
}

TEST_CASE("matrix products") {
  const auto run = [](auto element, auto accumulator) {
    using T = decltype(element);
    using Acc = decltype(accumulator);
    using L1 = Tile<TileType::Mat, T, 32, 64, BLayout::ColMajor, 32, 64, SLayout::RowMajor, 512>;
    using L1b = Tile<TileType::Mat, T, 64, 48, BLayout::ColMajor, 64, 48, SLayout::RowMajor, 512>;
    L1 ma;
    L1b mb;
    TileLeft<T, 32, 64> l;
    TileRight<T, 64, 48> r;
    TileAcc<Acc, 32, 48> acc;
    Tile<TileType::Bias, Acc, 1, 48> bias;
    TASSIGN(ma, 0);
    TASSIGN(mb, 0x8000);
    TASSIGN(l, 0);
    TASSIGN(r, 0);
    TASSIGN(acc, 0);
    TASSIGN(bias, 0);
    test::Random random(8);
    const auto small = [&] {
      return static_cast<T>(static_cast<float>(static_cast<int>(random.next() % 7)) - 3.0f);
    };
    for (int i = 0; i < 32; ++i) {
      for (int k = 0; k < 64; ++k) ma.at(i, k) = small();
    }
    for (int k = 0; k < 64; ++k) {
      for (int j = 0; j < 48; ++j) mb.at(k, j) = small();
    }
    for (int j = 0; j < 48; ++j) bias.at(0, j) = static_cast<Acc>(j);
    TMOV(l, ma);
    TEXTRACT(r, mb, 0, 0);
    TMATMUL(acc, l, r);
    const auto product = [&](int i, int j) {
      double sum = 0;
      for (int k = 0; k < 64; ++k)
        sum += static_cast<double>(static_cast<float>(ma.at(i, k))) *
               static_cast<double>(static_cast<float>(mb.at(k, j)));
      return sum;
    };
    bool right = true;
    for (int i = 0; i < 32; ++i) {
      for (int j = 0; j < 48; ++j) right = right && static_cast<double>(acc.at(i, j)) == product(i, j);
    }
    CHECK(right);
    TMATMUL_ACC(acc, acc, l, r);
    CHECK(static_cast<double>(acc.at(5, 7)) == 2 * product(5, 7));
    TMATMUL_BIAS(acc, l, r, bias);
    CHECK(static_cast<double>(acc.at(31, 47)) == product(31, 47) + 47);
    std::vector<Acc> out(32 * 48);
    GlobalTensor<Acc, Shape<1, 1, 1, 32, 48>, Stride<1, 1, 1, 48, 1>, Layout::ND> g(out.data());
    TSTORE(g, acc);
    CHECK(out[31 * 48 + 47] == acc.at(31, 47));
  };
  run(float{}, float{});
  run(half{}, float{});
  run(bfloat16_t{}, float{});
  run(int8_t{}, int32_t{});
}

TEST_CASE("storing the accumulator converts") {
  TileAcc<float, 16, 16> acc;
  TASSIGN(acc, 0);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) acc.at(i, j) = 1.0f + static_cast<float>(i * 16 + j) * 0x1p-12f;
  }
  std::vector<half> out(256);
  GlobalTensor<half, Shape<1, 1, 1, 16, 16>, Stride<1, 1, 1, 16, 1>, Layout::ND> g(out.data());
  TSTORE(g, acc);
  CHECK(out[6].bits == half(acc.at(0, 6)).bits);
}

TEST_CASE("sequences, triangles, gather, scatter") {
  Vec<int32_t, 1, 16> ci;
  TASSIGN(ci, 0);
  TCI(ci, 5);
  CHECK(ci.at(0, 15) == 20);
  TCI(ci, INT_MIN, true);
  CHECK(ci.at(0, 1) == INT_MAX);
  Vec<float, 4, 8> tri;
  TASSIGN(tri, 0x100);
  TTRI(tri, 1, false);
  CHECK(tri.at(1, 2) == 1);
  CHECK(tri.at(1, 3) == 0);
  TTRI(tri, -1, true);
  CHECK(tri.at(2, 1) == 1);
  CHECK(tri.at(2, 0) == 0);

  Vec<float, 2, 8> s, d;
  Vec<int32_t, 2, 8> idx;
  TASSIGN(s, 0x1000);
  TASSIGN(d, 0x1100);
  TASSIGN(idx, 0x1200);
  for (int i = 0; i < 16; ++i) s.at(i / 8, i % 8) = static_cast<float>(i), idx.at(i / 8, i % 8) = 15 - i;
  TGATHER(d, s, idx);
  CHECK(d.at(0, 0) == 15);
  CHECK(d.at(1, 7) == 0);
  TEXPANDS(d, 0.0f);
  idx.at(1, 7) = 15;  // written twice: the last wins
  TSCATTER(d, s, idx);
  CHECK(d.at(1, 7) == 15);
  CHECK(d.at(0, 0) == 0);
  CHECK(d.at(0, 1) == 14);
  idx.at(0, 0) = 16;
  CHECK_THROWS_WITH(TGATHER(d, s, idx), Catch::Contains("index 16 is outside of 0 to 15"));
  Part<float, 2, 8> half_width(2, 4);
  TASSIGN(half_width, 0x1300);
  TGATHER<MaskPattern::P1010>(half_width, s);
  CHECK(half_width.at(1, 3) == 15);
  TEXPANDS(d, -1.0f);
  TSCATTER<MaskPattern::P0101>(d, half_width);
  CHECK(d.at(1, 6) == 15);
  CHECK(d.at(1, 7) == -1);
  Vec<int32_t, 2, 8> found, count;
  TASSIGN(found, 0x1400);
  TASSIGN(count, 0x1500);
  TGATHER_CMP(found, count, s, 10.0f, CmpMode::GT);
  CHECK(count.at(0, 0) == 0);
  CHECK(count.at(0, 1) == 5);
  CHECK(found.at(1, 0) == 3);

  std::vector<float> table(40);
  for (size_t i = 0; i < 40; ++i) table[i] = static_cast<float>(i);
  GlobalTensor<float, Shape<1, 1, 1, 5, 8>, Stride<1, 1, 1, 8, 1>, Layout::ND> g(table.data());
  Vec<int32_t, 1, 8> rows;
  TASSIGN(rows, 0x1600);
  rows.at(0, 0) = 4;
  rows.at(0, 1) = -1;
  MGATHER<GatherMode::Row, GatherOOB::Clamp>(d, g, rows);
  CHECK(d.at(0, 3) == 35);
  CHECK(d.at(1, 3) == 35);
  MGATHER<GatherMode::Row, GatherOOB::Zero>(d, g, rows);
  CHECK(d.at(1, 3) == 0);
  for (int i = 0; i < 16; ++i) idx.at(i / 8, i % 8) = 2 * i;
  MGATHER<GatherMode::Elem>(d, g, idx);
  CHECK(d.at(1, 7) == 30);
  MSCATTER(g, s, idx);
  CHECK(table[30] == 15);
  CHECK(table[31] == 31);
}

TEST_CASE("sorting") {
  Vec<float, 1, 64> s;
  Vec<uint32_t, 1, 64> idx;
  Vec<float, 1, 128> sorted, merged;
  TASSIGN(s, 0);
  TASSIGN(idx, 0x400);
  TASSIGN(sorted, 0x800);
  TASSIGN(merged, 0xc00);
  test::Random r(6);
  for (int i = 0; i < 64; ++i)
    s.at(0, i) = static_cast<float>(r.next() % 20), idx.at(0, i) = static_cast<uint32_t>(i);
  TSORT32(sorted, s, idx);
  for (int g = 0; g < 2; ++g) {
    for (int i = 1; i < 32; ++i) {
      const float a = sorted.at(0, 64 * g + 2 * i - 2), b = sorted.at(0, 64 * g + 2 * i);
      const auto ia = std::bit_cast<uint32_t>(sorted.at(0, 64 * g + 2 * i - 1));
      const auto ib = std::bit_cast<uint32_t>(sorted.at(0, 64 * g + 2 * i + 1));
      CHECK((a > b || (a == b && ia < ib)));
      CHECK(s.at(0, ib) == b);
    }
  }
  Part<float, 1, 64> a(1, 64), b(1, 64);
  TASSIGN(a, 0x800);
  TASSIGN(b, 0x900);
  TMRGSORT_TILES<false>(merged, a, b);
  for (int i = 1; i < 64; ++i) CHECK(merged.at(0, 2 * i - 2) >= merged.at(0, 2 * i));
  Vec<float, 1, 256> runs, one;
  TASSIGN(runs, 0x2000);
  TASSIGN(one, 0x3000);
  for (int i = 0; i < 128; ++i) {
    runs.at(0, 2 * i) = static_cast<float>(100 - i % 32 * 3 + i / 32);
    runs.at(0, 2 * i + 1) = std::bit_cast<float>(static_cast<uint32_t>(i));
  }
  TMRGSORT(one, runs, 64);
  for (int i = 1; i < 128; ++i) CHECK(one.at(0, 2 * i - 2) >= one.at(0, 2 * i));
}

TEST_CASE("random numbers repeat and depend on key and counter") {
  Vec<uint32_t, 2, 256> a, b;
  TASSIGN(a, 0);
  TASSIGN(b, 0x1000);
  TRANDOM<10>(a, 1, 2, 3, 4, 5, 6);
  TRANDOM<10>(b, 1, 2, 3, 4, 5, 6);
  CHECK(a.at(1, 255) == b.at(1, 255));
  CHECK(a.at(0, 0) != a.at(1, 0));
  TRANDOM<10>(b, 1, 2, 3 + 64, 4, 5, 6);  // the second row's counter
  CHECK(a.at(1, 17) == b.at(0, 17));
  // Known answer of Philox-4x32-10 for counter 0 and key 0, from the authors' Random123 test vectors.
  TRANDOM<10>(a, 0, 0, 0, 0, 0, 0);
  CHECK(a.at(0, 0) == 0x6627e8d5u);
  CHECK(a.at(0, 64) == 0xe169c58du);
  CHECK(a.at(0, 128) == 0xbc57ac4cu);
  CHECK(a.at(0, 192) == 0x9b00dbd8u);
}

TEST_CASE("signals of this thread: test, notify, wait") {
  alignas(4) int32_t cells[4] = {};
  comm::Signal s(cells + 2);
  CHECK(comm::TTEST(s, 0, comm::WaitCmp::EQ));
  comm::TNOTIFY(s, 5, comm::NotifyOp::AtomicAdd);
  comm::TNOTIFY(s, -2, comm::NotifyOp::AtomicAdd);
  CHECK(comm::TTEST(s, 3, comm::WaitCmp::GE));
  CHECK_FALSE(comm::TTEST(s, 3, comm::WaitCmp::GT));
  CHECK(comm::TTEST(s, 4, comm::WaitCmp::NE));
  CHECK(comm::TTEST(s, 4, comm::WaitCmp::LT));
  CHECK(comm::TTEST(s, 3, comm::WaitCmp::LE));
  comm::TNOTIFY(s, 9, comm::NotifyOp::Set);
  comm::TWAIT(s, 9, comm::WaitCmp::EQ);
  CHECK(cells[2] == 9);
  GlobalTensor<int32_t, Shape<1, 1, 1, 4, 1>, Stride<1, 1, 1, 1, 1>, Layout::DN> all(cells);
  CHECK_FALSE(comm::TTEST(all, 9, comm::WaitCmp::EQ));
  CHECK(comm::TTEST(all, 0, comm::WaitCmp::GE));
}

TEMPLATE_TEST_CASE("put and get", "", float, half, int8_t) {
  using T = TestType;
  std::vector<T> a(200), b(200);
  for (size_t i = 0; i < 200; ++i)
    a[i] = static_cast<T>(static_cast<float>(i % 50)), b[i] = static_cast<T>(1.0f);
  Vec<T, 1, 32> stage;
  TASSIGN(stage, 0);
  using G = GlobalTensor<T, Shape<1, 1, 1, 4, 10>, Stride<40, 40, 40, 20, 1>, Layout::ND>;
  G src(a.data()), dst(b.data());
  comm::TPUT(dst, src, stage);
  CHECK(static_cast<float>(b[69]) == 19);
  CHECK(static_cast<float>(b[70]) == 1);
  comm::TPUT<AtomicType::AtomicAdd>(dst, src, stage);
  CHECK(static_cast<float>(b[69]) == 38);
  G back(a.data() + 100);
  comm::TGET(back, dst, stage, stage);
  CHECK(static_cast<float>(a[169]) == 38);
  const T* constant = a.data();  // the same memory is not written, so it may be read-only
  G self(const_cast<T*>(constant));
  comm::TGET(self, self, stage);
}
