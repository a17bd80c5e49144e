// ConvertTensorToTileOps beyond what the corpus has (its texts are compared in front_golden_test.cpp).
#include "passes/verify/verifiers.h"
#include "support/catch.h"
#include "unit/passes/dist_program.h"

using namespace dist;
using Catch::Matchers::Contains;

namespace pldc {
const Program* run_ConvertTensorToTileOps(PassEnv&, const Program*);
}  // namespace pldc

namespace {

const std::string kSquare = "pl.Tensor[[16, 64], pl.FP32]";
const std::string kOut = "pl.Out[" + kSquare + "]";

std::string kernel(std::string_view params, std::string_view body, std::string_view others = "") {
  return program("@pl.function(type=pl.FunctionType.InCore)\ndef kern(self, " + std::string(params) + "):\n" +
                 indented(body, 4) + "\n" + std::string(others));
}

// The program after the pass, or the errors. What the pass produces is verified.
std::string converted(const std::string& text) {
  const golden::Result result = golden::run(
      text, {pldc::run_ConvertToSSA, pldc::run_FlattenCallExpr, pldc::run_ConvertTensorToTileOps});
  if (!result.ok) return result.errors;
  for (const golden::Verifier verifier :
       {pldc::verify_IncoreTileOps, pldc::verify_SSAForm, pldc::verify_TypeChecked}) {
    const golden::Result found = golden::verify(result.text, verifier);
    INFO(result.text << found.errors);
    CHECK(found.ok);
  }
  return result.text;
}
std::string converted(std::string_view params, std::string_view body) {
  return converted(kernel(params, body));
}

}  // namespace

TEST_CASE("a parameter is loaded once, however often it is computed on") {
  const std::string text = converted("x: " + kSquare + ", y: " + kOut,
                                     "a = pl.tensor.exp(x)\nb = pl.tensor.add(a, x)\n"
                                     "return pl.tensor.assemble(y, b, [0, 0])");
  CHECK_THAT(text, Contains("pl.tile.add(a__tile, x__tile)"));
  CHECK(text.find("pl.tile.load") == text.rfind("pl.tile.load"));
}

TEST_CASE("products round once to the dtype that the tensor op promises") {
  const std::string params = "x: pl.Tensor[[16, 16], pl.FP16], y: pl.Out[pl.Tensor[[16, 16], pl.FP16]]";
  CHECK_THAT(converted(params, "c = pl.tensor.matmul(x, x)\nreturn pl.tensor.assemble(y, c, [0, 0])"),
             Contains("pl.tile.cast(matmul_acc_tile, target_type=pl.FP16, mode='rint')"));
  CHECK_THAT(
      converted("x: pl.Tensor[[16], pl.FP32], w: pl.Tensor[[16, 32], pl.FP32], "
                "y: pl.Out[pl.Tensor[[32], pl.FP32]]",
                "c = pl.tensor.matmul(x, w)\nreturn pl.tensor.assemble(y, c, [0])"),
      Contains("pl.tile.reshape(x_mat, [1, 16])") || Contains("pl.tile.reshape(x__ssa_v0_mat, [1, 16])"));
}

TEST_CASE("operands of other shapes and dtypes are brought together") {
  const std::string params = "x: " + kSquare +
                             ", c: pl.Tensor[[16, 1], pl.FP32], r: pl.Tensor[[1, 64], pl.FP32], "
                             "h: pl.Tensor[[16, 64], pl.FP16], y: " +
                             kOut;
  const auto body = [](std::string_view call) {
    return "t = " + std::string(call) + "\nreturn pl.tensor.assemble(y, t, [0, 0])";
  };
  // A column minus a matrix is not a matrix minus a column.
  CHECK_THAT(converted(params, body("pl.tensor.sub(c, x)")),
             Contains("pl.tile.row_expand(sub_expanded, c__tile)") &&
                 Contains("pl.tile.sub(sub_expanded_1, x__tile)"));
  CHECK_THAT(converted(params, body("pl.tensor.mul(r, x)")),
             Contains("pl.tile.col_expand_mul(x__tile, r__tile)"));
  CHECK_THAT(converted(params, body("pl.tensor.add(c, r)")),
             Contains("pl.tile.row_expand(add_expanded, c__tile)") && Contains("pl.tile.col_expand("));
  CHECK_THAT(converted(params, body("pl.tensor.maximum(x, h)")),
             Contains("pl.tile.cast(h__tile, target_type=pl.FP32, mode='round')"));
  // Tile ops keep the dtype of the tile; a sum of integers and 1.5 is none.
  CHECK_THAT(
      converted("x: pl.Tensor[[16, 64], pl.INT32], y: " + kOut, body("pl.tensor.adds(x, 1.5)")),
      Contains("pl.tile.cast(x__tile, target_type=pl.FP32") && Contains("pl.tile.adds(adds_cast, 1.5)"));
}

TEST_CASE("reductions drop the axis if the tensor op does") {
  CHECK_THAT(converted("x: " + kSquare + ", y: pl.Out[pl.Tensor[[16], pl.FP32]]",
                       "s = pl.tensor.row_sum(x, keep_dim=False)\nreturn pl.tensor.assemble(y, s, [0])"),
             Contains("pl.tile.reshape(reduced, [16])"));
}

TEST_CASE("a loop over a parameter that it also reads stays in memory") {
  const std::string text = converted("y: pl.InOut[" + kSquare + "]",
                                     "for i in pl.range(0, 16, 4):\n"
                                     "    t = pl.tensor.slice(y, [4, 64], [i, 0])\n"
                                     "    y = pl.tensor.assemble(y, pl.tensor.exp(t), [i, 0])\nreturn y");
  CHECK_THAT(text, Contains("pl.tile.load(y__iter_v1, [i__idx_v0, 0]") &&
                       Contains("pl.tile.store(t__tile_1, [i__idx_v0, 0], y__iter_v1)"));
}

TEST_CASE("a filled tensor becomes memory of the caller only if a loop replaces all of it") {
  const auto loop = [](std::string_view stop) {
    return converted(
        program("@pl.function(type=pl.FunctionType.InCore)\ndef kern(self, x: " + kSquare + ") -> " +
                kSquare + ":\n" +
                indented("o = pl.tensor.full([16, 64], dtype=pl.FP32, value=1.0)\nfor i in pl.range(0, " +
                             std::string(stop) +
                             ", 4):\n    t = pl.tensor.slice(x, [4, 64], [i, 0])\n"
                             "    o = pl.tensor.assemble(o, pl.tensor.exp(t), [i, 0])\nreturn o",
                         4)));
  };
  CHECK_THAT(loop("16"), Contains("init_values=(ret0__out,)"));
  CHECK_THAT(loop("12"),
             Contains("init_values=(o__tile,)") && Contains("pl.tile.store(o__rv_v2, [0, 0], ret0__out)"));
}

TEST_CASE("what is written through a view is the memory itself") {
  const std::string text = converted(
      "x: pl.Tensor[[1024], pl.FP32], y: " + kOut,
      "v = pl.tensor.reshape(y, [1024])\nw = pl.tensor.assemble(v, pl.tensor.exp(x), [0])\nreturn y");
  CHECK_THAT(text, Contains("pl.tensor.reshape(y") && Contains("pl.tile.store("));
  CHECK_THAT(text, !Contains("pl.tile.load(y"));
}

TEST_CASE("results get memory through wrappers and submits, with the extents of the call") {
  const std::string others =
      "@pl.function(type=pl.FunctionType.Group)\ndef group(self, x: " + kSquare + ") -> " + kSquare +
      ":\n    return self.kern(x)\n"
      "@pl.function(type=pl.FunctionType.Orchestration)\ndef main(self, x: " +
      kSquare + ") -> " + kSquare + ":\n    a = self.group(x)\n    b = self.kern(a)\n    return b\n";
  const std::string text =
      converted(program("@pl.function(type=pl.FunctionType.InCore)\ndef kern(self, x: " + kSquare + ") -> " +
                        kSquare + ":\n    return pl.tensor.exp(x)\n" + others));
  CHECK_THAT(text, Contains("self.kern(x__ssa_v0, ret0__out)") || Contains("self.kern(x, ret0__out)"));
  CHECK_THAT(text, Contains("self.group(") && Contains(", ret0__out)") && Contains(", ret0__out_1)"));
  CHECK_THAT(text, Contains("ret0__out_1: pl.Tensor[[16, 64], pl.FP32] = pl.tensor.create([16, 64]"));
}

TEST_CASE("a transposed carry is transposed") {
  CHECK_THAT(
      converted("x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]",
                "a = pl.tensor.exp(x)\nfor i in pl.range(4):\n"
                "    a = pl.tensor.matmul(x, a, b_trans=True)\nreturn pl.tensor.assemble(y, a, [0, 0])"),
      Contains("pl.tile.transpose_view("));
}
