// What kernels compute: control flow, carries, views, transfers and scalars, compiled together and run.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "support/catch.h"
#include "unit/codegen/kernel_fixture.h"

namespace {

using namespace kerneltest;
using pldc::DType;
using Values = std::vector<double>;

Values ramp(std::int64_t n, double first = 0, double step = 1) {
  Values out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(first + step * static_cast<double>(i));
  return out;
}

struct Case {
  std::string name;
  std::string functions;
  std::vector<Tensor> arguments;
  std::size_t result;  // argument that holds the result
  Values expected;     // NaN: any value
  std::vector<std::uint64_t> scalars = {};
  std::string error = {};  // part of the message that ends the kernel
  int block = 0, blocks = 1, lane = 0;
};

Tensor f32(std::vector<std::int64_t> shape, const Values& values) {
  return Tensor::of(DType::FP32, std::move(shape), values);
}
Tensor i32(std::vector<std::int64_t> shape, const Values& values) {
  return Tensor::of(DType::INT32, std::move(shape), values);
}

Values map(const Values& in, const std::function<double(double)>& f) {
  Values out;
  for (const double v : in) out.push_back(f(v));
  return out;
}

std::vector<Case> cases() {
  std::vector<Case> out;
  const Values x16 = ramp(16 * 8, -3, 0.5);
  const std::string in_out = "x: pl.Tensor[[16, 8], pl.FP32], y: pl.Out[pl.Tensor[[16, 8], pl.FP32]]";
  const auto io = [&] { return std::vector<Tensor>{f32({16, 8}, x16), f32({16, 8}, {})}; };

  // Loops carry tiles; each iteration sees the value of the one before.
  out.push_back({"carried tile",
                 kernel(in_out,
                        "a = pl.load(x, [0, 0], [16, 8])\n"
                        "for i in pl.range(3):\n"
                        "    a = pl.tile.adds(a, 1.0)\n"
                        "pl.store(a, [0, 0], y)\n"),
                 io(), 1, map(x16, [](double v) { return v + 3; })});
  out.push_back({"carry that does not run",
                 kernel(in_out + ", n: pl.Scalar[pl.INDEX]",
                        "a = pl.load(x, [0, 0], [16, 8])\n"
                        "for i in pl.range(n):\n"
                        "    a = pl.tile.adds(a, 1.0)\n"
                        "pl.store(a, [0, 0], y)\n"),
                 io(),
                 1,
                 x16,
                 {scalar_bits(std::int64_t{0})}});
  out.push_back({"the old value lives on",
                 kernel(in_out,
                        "a = pl.load(x, [0, 0], [16, 8])\n"
                        "b = a\n"
                        "for i in pl.range(2):\n"
                        "    a = pl.mul(a, a)\n"
                        "c = pl.sub(a, b)\n"
                        "pl.store(c, [0, 0], y)\n"),
                 io(), 1, map(x16, [](double v) {
                   const float s = static_cast<float>(v) * static_cast<float>(v);
                   return static_cast<double>(s * s - static_cast<float>(v));
                 })});
  // Values that change places.
  {
    Values want = map(x16, [](double v) { return v * 2; });
    out.push_back({"swap",
                   kernel(in_out,
                          "a = pl.load(x, [0, 0], [16, 8])\n"
                          "b = pl.tile.muls(a, 2.0)\n"
                          "for i in pl.range(3):\n"
                          "    a, b = b, a\n"
                          "pl.store(a, [0, 0], y)\n"),
                   io(), 1, want});
  }
  out.push_back({"rotation of scalars",
                 kernel("y: pl.Out[pl.Tensor[[1, 8], pl.INT32]]",
                        "p = pl.const(1, pl.INT32)\n"
                        "q = pl.const(10, pl.INT32)\n"
                        "r = pl.const(100, pl.INT32)\n"
                        "for i in pl.range(4):\n"
                        "    p, q, r = q, r, p + q\n"
                        "pl.tensor.write(y, [0, 0], p)\n"
                        "pl.tensor.write(y, [0, 1], q)\n"
                        "pl.tensor.write(y, [0, 2], r)\n"),
                 {i32({1, 8}, {})},
                 0,
                 {110, 111, 121, 0, 0, 0, 0, 0}});
  // Branches.
  for (const std::int64_t n : {1, 7}) {
    out.push_back({fmt::format("branch {}", n),
                   kernel(in_out + ", n: pl.Scalar[pl.INDEX]",
                          "a = pl.load(x, [0, 0], [16, 8])\n"
                          "k = 5\n"
                          "if n > 3:\n"
                          "    b = pl.neg(a)\n"
                          "    k = k + n\n"
                          "else:\n"
                          "    b = pl.tile.adds(a, 1.0)\n"
                          "for i in pl.range(k):\n"
                          "    b = pl.tile.adds(b, 1.0)\n"
                          "pl.store(b, [0, 0], y)\n"),
                   io(),
                   1,
                   map(x16, [n](double v) { return n > 3 ? 12 - v : v + 6; }),
                   {scalar_bits(n)}});
  }
  out.push_back({"while",
                 kernel("y: pl.Out[pl.Tensor[[1, 8], pl.INT32]], n: pl.Scalar[pl.INT32]",
                        "k = pl.const(1, pl.INT32)\n"
                        "s = pl.const(0, pl.INT32)\n"
                        "while k < n:\n"
                        "    s = s + k\n"
                        "    k = k * pl.const(2, pl.INT32)\n"
                        "pl.tensor.write(y, [0, 0], s)\n"
                        "pl.tensor.write(y, [0, 1], k)\n"),
                 {i32({1, 8}, {})},
                 0,
                 {63, 64, 0, 0, 0, 0, 0, 0},
                 {scalar_bits(std::int64_t{50})}});
  out.push_back({"loop downwards",
                 kernel("y: pl.Out[pl.Tensor[[1, 8], pl.INT32]]",
                        "for i in pl.range(7, -1, -2):\n"
                        "    pl.tensor.write(y, [0, i], pl.cast(i * 3, pl.INT32))\n"),
                 {i32({1, 8}, {})},
                 0,
                 {0, 3, 0, 9, 0, 15, 0, 21}});
  out.push_back(
      {"python's division",
       kernel("y: pl.Out[pl.Tensor[[1, 8], pl.INT32]], a: pl.Scalar[pl.INT32], b: pl.Scalar[pl.INT32]",
              "pl.tensor.write(y, [0, 0], a // b)\n"
              "pl.tensor.write(y, [0, 1], a % b)\n"
              "pl.tensor.write(y, [0, 2], pl.min(a, b))\n"
              "pl.tensor.write(y, [0, 3], pl.max(a, b) - a * b)\n"),
       {i32({1, 8}, {})},
       0,
       {-4, 1, -7, 16, 0, 0, 0, 0},
       {static_cast<std::uint64_t>(std::int64_t{-7}), scalar_bits(std::int64_t{2})}});
  // Tensors that are one of several.
  for (const std::int64_t n : {0, 1}) {
    out.push_back(
        {fmt::format("one of two tensors {}", n),
         kernel("x: pl.Tensor[[16, 8], pl.FP32], z: pl.Tensor[[16, 8], pl.FP32], n: pl.Scalar[pl.INDEX], "
                "y: pl.Out[pl.Tensor[[16, 8], pl.FP32]]",
                "if n > 0:\n"
                "    s = x\n"
                "else:\n"
                "    s = z\n"
                "t = pl.load(s, [0, 0], [16, 8])\n"
                "pl.store(t, [0, 0], y)\n"),
         {f32({16, 8}, x16), f32({16, 8}, ramp(128, 1000)), f32({16, 8}, {})},
         2,
         n > 0 ? x16 : ramp(128, 1000),
         {scalar_bits(n)}});
  }
  // Parts of tensors, valid extents, offsets.
  {
    Values want(64, 0);
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 8; ++c)
        want[static_cast<std::size_t>((r + 2) * 8 + c)] = x16[static_cast<std::size_t>((r + 5) * 8 + c)] * 2;
    }
    out.push_back(
        {"valid rows",
         kernel(
             "x: pl.Tensor[[16, 8], pl.FP32], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]",
             "t = pl.load(x, [n + 2, 0], [8, 8], [n, 8])\n"
             "u = pl.tile.muls(t, 2.0)\n"
             "pl.store(u, [2, 0], y)\n"),
         {f32({16, 8}, x16), f32({8, 8}, {})},
         1,
         want,
         {scalar_bits(std::int64_t{3})}});
  }
  {
    const Values x = ramp(40);
    Values want;
    for (const double v : x) want.push_back(v + 1);
    out.push_back({"padded rows",
                   kernel("x: pl.Tensor[[4, 10], pl.FP32], y: pl.Out[pl.Tensor[[4, 10], pl.FP32]]",
                          "t = pl.load(x, [0, 0], [4, 10])\n"
                          "u = pl.tile.adds(t, 1.0)\n"
                          "pl.store(u, [0, 0], y)\n"),
                   {f32({4, 10}, x), f32({4, 10}, {})},
                   1,
                   want});
    out.push_back({"reshape of padded rows",
                   kernel("x: pl.Tensor[[4, 10], pl.FP32], y: pl.Out[pl.Tensor[[2, 20], pl.FP32]]",
                          "t = pl.load(x, [0, 0], [4, 10])\n"
                          "u = pl.tile.reshape(t, [2, 20])\n"
                          "v = pl.tile.adds(u, 1.0)\n"
                          "pl.store(v, [0, 0], y)\n"),
                   {f32({4, 10}, x), f32({2, 20}, {})},
                   1,
                   want});
  }
  {
    const Values x = ramp(2 * 3 * 8);
    out.push_back({"three dimensions",
                   kernel("x: pl.Tensor[[2, 3, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 3, 8], pl.FP32]]",
                          "t = pl.load(x, [0, 0, 0], [2, 3, 8])\n"
                          "u = pl.tile.adds(t, 0.5)\n"
                          "pl.store(u, [0, 0, 0], y)\n"),
                   {f32({2, 3, 8}, x), f32({2, 3, 8}, {})},
                   1,
                   map(x, [](double v) { return v + 0.5; })});
  }
  {
    Values want;
    for (int r = 0; r < 16; ++r) {
      double s = 0;
      for (int c = 0; c < 8; ++c) s += x16[static_cast<std::size_t>(r * 8 + c)];
      for (int c = 0; c < 8; ++c) want.push_back(x16[static_cast<std::size_t>(r * 8 + c)] - (s + 1));
    }
    out.push_back({"columns",
                   kernel(in_out,
                          "t = pl.load(x, [0, 0], [16, 8])\n"
                          "tmp = pl.tile.create([16, 8], dtype=pl.FP32)\n"
                          "s = pl.tile.row_sum(t, tmp)\n"
                          "s = pl.tile.adds(s, 1.0)\n"
                          "u = pl.tile.row_expand_sub(t, s)\n"
                          "pl.store(u, [0, 0], y)\n"),
                   io(), 1, want});
  }
  {
    Values want;
    for (int r = 0; r < 16; ++r) {
      for (int c = 0; c < 8; ++c) {
        want.push_back(x16[static_cast<std::size_t>(r * 8 + c)] + (c + 1) - (100.0 + r));
      }
    }
    out.push_back(
        {"operands that are repeated",
         kernel(
             "x: pl.Tensor[[16, 8], pl.FP32], r: pl.Tensor[[1, 8], pl.FP32], c: pl.Tensor[[16, 1], pl.FP32], "
             "y: pl.Out[pl.Tensor[[16, 8], pl.FP32]]",
             "t = pl.load(x, [0, 0], [16, 8])\n"
             "rr = pl.load(r, [0, 0], [1, 8])\n"
             "cc = pl.load(c, [0, 0], [16, 1])\n"
             "u = pl.tile.sub(pl.tile.add(t, rr), cc)\n"
             "pl.store(u, [0, 0], y)\n"),
         {f32({16, 8}, x16), f32({1, 8}, ramp(8, 1)), f32({16, 1}, ramp(16, 100)), f32({16, 8}, {})},
         3,
         want});
  }
  // Slices are views: of rows, of columns, at places that vary.
  {
    Values want;
    for (int r = 0; r < 4; ++r) {
      for (int c = 0; c < 8; ++c)
        want.push_back(x16[static_cast<std::size_t>((r + 6) * 8 + c)] +
                       x16[static_cast<std::size_t>((r + 2) * 8 + c)]);
    }
    out.push_back(
        {"slices",
         kernel(
             "x: pl.Tensor[[16, 8], pl.FP32], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]",
             "t = pl.load(x, [0, 0], [16, 8])\n"
             "a = pl.tile.slice(t, [4, 8], [n * 2, 0])\n"
             "b = pl.tile.slice(t, [4, 8], [2, 0])\n"
             "pl.store(pl.tile.add(a, b), [0, 0], y)\n"),
         {f32({16, 8}, x16), f32({4, 8}, {})},
         1,
         want,
         {scalar_bits(std::int64_t{3})}});
  }
  {
    Values want;
    for (int r = 0; r < 4; ++r) want.push_back(-x16[static_cast<std::size_t>(r * 8 + 3)]);
    out.push_back({"a column of a matrix",
                   kernel("x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 1], pl.FP32]]",
                          "t = pl.load(x, [0, 0], [4, 8])\n"
                          "c = pl.tile.slice(t, [4, 1], [0, 3])\n"
                          "pl.store(pl.neg(c), [0, 0], y)\n"),
                   {f32({4, 8}, x16), f32({4, 1}, {})},
                   1,
                   want});
  }
  {
    Values want = x16;
    for (int r = 0; r < 4; ++r) {
      for (int c = 0; c < 8; ++c)
        want[static_cast<std::size_t>((r + 8) * 8 + c)] = x16[static_cast<std::size_t>(r * 8 + c)];
    }
    out.push_back({"assemble",
                   kernel(in_out,
                          "t = pl.load(x, [0, 0], [16, 8])\n"
                          "p = pl.load(x, [0, 0], [4, 8])\n"
                          "u = pl.tile.assemble(t, p, [8, 0])\n"
                          "pl.store(u, [0, 0], y)\n"),
                   io(), 1, want});
  }
  {
    Values want;
    for (int c = 0; c < 8; ++c) {
      for (int r = 0; r < 16; ++r) want.push_back(x16[static_cast<std::size_t>(r * 8 + c)]);
    }
    out.push_back({"transpose",
                   kernel("x: pl.Tensor[[16, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 16], pl.FP32]]",
                          "t = pl.load(x, [0, 0], [16, 8])\n"
                          "pl.store(pl.tile.transpose(t, 0, 1), [0, 0], y)\n"),
                   {f32({16, 8}, x16), f32({8, 16}, {})},
                   1,
                   want});
  }
  // Elements.
  out.push_back(
      {"elements of tiles and tensors",
       kernel("x: pl.Tensor[[16, 8], pl.FP32], y: pl.Out[pl.Tensor[[1, 8], pl.FP32]], n: pl.Scalar[pl.INDEX]",
              "t = pl.load(x, [0, 0], [16, 8])\n"
              "a = pl.tile.read(t, [2, n])\n"
              "b = pl.tensor.read(x, [n, 1])\n"
              "u = pl.load(y, [0, 0], [1, 8])\n"
              "v = pl.tile.write(u, [0, 3], a + b)\n"
              "pl.store(v, [0, 0], y)\n"),
       {f32({16, 8}, x16), f32({1, 8}, ramp(8))},
       1,
       {0, 1, 2, x16[20] + x16[33], 4, 5, 6, 7},
       {scalar_bits(std::int64_t{4})}});
  out.push_back({"arrays",
                 kernel("y: pl.Out[pl.Tensor[[1, 8], pl.INT32]], n: pl.Scalar[pl.INDEX]",
                        "a = pl.array.create(4, dtype=pl.INT32)\n"
                        "a = pl.array.update_element(a, 0, pl.const(5, pl.INT32))\n"
                        "b = pl.array.update_element(a, n, pl.const(7, pl.INT32))\n"
                        "pl.tensor.write(y, [0, 0], pl.array.get_element(a, 0))\n"
                        "pl.tensor.write(y, [0, 1], pl.array.get_element(b, n))\n"
                        "pl.tensor.write(y, [0, 2], pl.array.get_element(a, n))\n"),
                 {i32({1, 8}, {})},
                 0,
                 {5, 7, 0, 0, 0, 0, 0, 0},
                 {scalar_bits(std::int64_t{2})}});
  out.push_back({"array bounds",
                 kernel("y: pl.Out[pl.Tensor[[1, 8], pl.INT32]], n: pl.Scalar[pl.INDEX]",
                        "a = pl.array.create(4, dtype=pl.INT32)\n"
                        "pl.tensor.write(y, [0, 0], pl.array.get_element(a, n))\n"),
                 {i32({1, 8}, {})},
                 0,
                 {},
                 {scalar_bits(std::int64_t{4})},
                 "has no cell 4"});
  out.push_back({"blocks",
                 kernel("y: pl.Out[pl.Tensor[[1, 8], pl.INT32]]",
                        "b = pl.tile.get_block_idx()\n"
                        "n = pl.tile.get_block_num()\n"
                        "l = pl.tile.get_subblock_idx()\n"
                        "pl.tensor.write(y, [0, 0], pl.cast(b * 100 + n * 10 + l, pl.INT32))\n"),
                 {i32({1, 8}, {})},
                 0,
                 {381, 0, 0, 0, 0, 0, 0, 0},
                 {},
                 {},
                 3,
                 8,
                 1});
  out.push_back({"division by zero",
                 kernel("x: pl.Tensor[[1, 8], pl.INT32], y: pl.Out[pl.Tensor[[1, 8], pl.INT32]]",
                        "t = pl.load(x, [0, 0], [1, 8])\n"
                        "pl.store(pl.tile.div(t, t), [0, 0], y)\n"),
                 {i32({1, 8}, {1, 2, 0, 4, 5, 6, 7, 8}), i32({1, 8}, {})},
                 1,
                 {},
                 {},
                 "division by zero at [0, 2]"});
  // Matrices, straight from the text of a person: no memory is named.
  {
    Values a, b, want;
    for (int i = 0; i < 16 * 16; ++i) a.push_back(i % 5 - 2), b.push_back(i % 7 - 3);
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 16; ++j) {
        double s = 0;
        for (int k = 0; k < 16; ++k)
          s += a[static_cast<std::size_t>(i * 16 + k)] * b[static_cast<std::size_t>(k * 16 + j)];
        want.push_back(s * 2);
      }
    }
    out.push_back(
        {"matmul",
         kernel("a: pl.Tensor[[16, 16], pl.FP16], b: pl.Tensor[[16, 16], pl.FP16], y: pl.Out[pl.Tensor[[16, "
                "16], pl.FP32]]",
                "l = pl.load(a, [0, 0], [16, 16], target_memory=pl.Mem.Mat)\n"
                "r = pl.load(b, [0, 0], [16, 16], target_memory=pl.Mem.Mat)\n"
                "c = pl.matmul(l, r)\n"
                "c = pl.matmul_acc(c, l, r)\n"
                "pl.store(c, [0, 0], y)\n"),
         {Tensor::of(DType::FP16, {16, 16}, a), Tensor::of(DType::FP16, {16, 16}, b), f32({16, 16}, {})},
         2,
         want});
  }
  // Atomic stores add to what is there.
  out.push_back({"atomic store",
                 kernel("x: pl.Tensor[[1, 8], pl.INT32], y: pl.InOut[pl.Tensor[[1, 8], pl.INT32]]",
                        "t = pl.load(x, [0, 0], [1, 8])\n"
                        "for i in pl.range(3):\n"
                        "    pl.store(t, [0, 0], y, atomic=pl.AtomicType.Add)\n"),
                 {i32({1, 8}, ramp(8)), i32({1, 8}, ramp(8, 100))},
                 1,
                 {100, 104, 108, 112, 116, 120, 124, 128}});
  return out;
}

}  // namespace

TEST_CASE("kernels compute what the program says", "[kernel][exec]") {
  std::vector<Case> all = cases();
  std::vector<Run> runs;
  for (const Case& c : all) {
    const Emitted emitted = emit(program(c.functions));
    INFO(c.name << "\n" << emitted.errors << program(c.functions));
    REQUIRE(emitted.kernels.size() == 1);
    Run run{emitted.kernels.begin()->second, c.arguments, c.scalars};
    run.block = c.block, run.blocks = c.blocks, run.lane = c.lane;
    runs.push_back(std::move(run));
  }
  const std::string said = execute(runs);
  INFO(said.substr(0, 4000));
  REQUIRE(said.empty());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Case& c = all[i];
    INFO(c.name << "\n" << program(c.functions) << runs[i].text);
    if (!c.error.empty()) {
      INFO(runs[i].error);
      CHECK(runs[i].error.find(c.error) != std::string::npos);
      continue;
    }
    CHECK(runs[i].error == "");
    const Values got = runs[i].tensors[c.result].values();
    REQUIRE(got.size() == c.expected.size());
    std::string wrong;
    for (std::size_t k = 0; k < got.size(); ++k) {
      if (!std::isnan(c.expected[k]) && got[k] != c.expected[k]) {
        wrong = fmt::format("cell {} is {}, expected {}", k, got[k], c.expected[k]);
        break;
      }
    }
    CHECK(wrong == "");
  }
}
