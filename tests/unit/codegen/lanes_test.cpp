#include "generated.h"

using namespace codegentest;

namespace {

// The text of a kernel with the body, indented by 8.
std::string kernel_of(const std::string& body, const std::string& attributes = "") {
  Generated g(
      "import pypto.language as pl\n\n@pl.program\nclass P:\n"
      "    @pl.function(type=pl.FunctionType.InCore" +
      attributes +
      ")\n    def k(self, x: pl.Tensor[[32, 64], pl.FP32], y: pl.Out[pl.Tensor[[32, 64], pl.FP32]]) -> "
      "pl.Tensor[[32, 64], pl.FP32]:\n" +
      body + "        return y\n");
  INFO(g.rendered);
  REQUIRE(g.good);
  return g["kernels/k/k.cpp"];
}

int count(const std::string& text, std::string_view part) {
  int n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

const std::string kRegion = "        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):\n";

}  // namespace

TEST_CASE("what differs between the lanes is computed for each, the rest once", "[codegen][lanes]") {
  SECTION("halves, and what is made of them") {
    const std::string text =
        kernel_of("        t = pl.exp(pl.load(x, [0, 0], [32, 64]))\n" + kRegion +
                  "            y = pl.store(pl.neg(pl.aiv_shard(t)), [lane * 16, 0], y)\n");
    CHECK(count(text, "TEXP(") == 1);
    CHECK(count(text, "TNEG(") == 2);
    CHECK(count(text, "TSTORE(") == 2);
    CHECK(contains(text, ", 1, 0, 0);"));
    CHECK(contains(text, ", 1, 1, 0);"));
  }
  SECTION("a join is the same for both") {
    const std::string text =
        kernel_of("        t = pl.load(x, [0, 0], [32, 64])\n" + kRegion +
                  "            g = pl.aic_gather(pl.neg(pl.aiv_shard(t)))\n"
                  "        y = pl.store(pl.exp(pl.move(g, target_memory=pl.Mem.Vec)), [0, 0], y)\n");
    CHECK(count(text, "TNEG(") == 2);
    CHECK(count(text, "pld_gather(") == 1);
    CHECK(count(text, "TEXP(") == 1);
  }
  SECTION("what each lane writes into is its own") {
    const std::string text = kernel_of(
        "        t = pl.load(x, [0, 0], [32, 64])\n        w = pl.tile.full([32, 64], dtype=pl.FP32, "
        "value=0.0)\n" +
        kRegion +
        "            w = pl.tile.assemble(w, pl.aiv_shard(t), [lane * 16, 0])\n"
        "            y = pl.store(pl.tile.slice(w, [16, 64], [lane * 16, 0]), [lane * 16, 0], y)\n");
    CHECK(count(text, "TEXPANDS(") == 2);
  }
  SECTION("carries, and ways that only one lane goes") {
    const std::string text = kernel_of(
        "        t = pl.load(x, [0, 0], [32, 64])\n" + kRegion +
        "            h = pl.aiv_shard(t)\n            n = 0\n"
        "            for i in pl.range(4):\n                h = pl.neg(h)\n                n = n + 1\n"
        "            if lane == 0:\n                y = pl.store(pl.exp(h), [n, 0], y)\n");
    CHECK(count(text, "for (") == 1);
    CHECK(count(text, "TNEG(") == 2);
    CHECK(count(text, "if (") == 2);
    CHECK(count(text, "int64_t n = 0;") == 1);
  }
}

TEST_CASE("each lane's half of a tile that is not full holds what there is", "[codegen][lanes]") {
  const std::string text =
      kernel_of("        t = pl.tile.set_validshape(pl.load(x, [0, 0], [32, 64]), 21, 64)\n" + kRegion +
                "            y = pl.store(pl.neg(pl.aiv_shard(t)), [lane * 16, 0], y)\n");
  CHECK(contains(text, "Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, 5, 64>"));
  CHECK(contains(text, "Shape<1, 1, 1, 5, 64>"));
}

TEST_CASE("a kernel that is not split is lane 0", "[codegen][lanes]") {
  const std::string body =
      "        l = pl.tile.get_subblock_idx()\n        y = pl.store(pl.load(x, [l, 0], [1, 64]), [l, 0], "
      "y)\n";
  CHECK(count(kernel_of(body), "TLOAD(") == 1);
  CHECK(count(kernel_of(body, ", attrs={\"split\": pl.SplitMode.UP_DOWN}"), "TLOAD(") == 2);
}
