// Equal texts of types are made and printed once (type.cpp): never across what their names mean.
#include "unit/frontend/text_fixture.h"

using namespace texttest;

namespace {

constexpr const char* kTwo =
    "@pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)\n"
    "def a(x: pl.Tensor[[16, 64], pl.FP32]):\n"
    "    mem_0: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 8192)\n"
    "    t: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem_0, pl.const(0, pl.INT64), 4096), pl.Mem.Vec] = "
    "pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)\n"
    "    u: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem_0, pl.const(0, pl.INT64), 4096), pl.Mem.Vec] = "
    "pl.tile.adds(t, 1.0)\n"
    "    v: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem_0, pl.const(4096, pl.INT64), 4096), pl.Mem.Vec] = "
    "pl.tile.adds(u, 1.0)\n"
    "@pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)\n"
    "def b(x: pl.Tensor[[16, 64], pl.FP32, pl.MemRef(\"mem_1\", pl.const(0, pl.INT64), 4096)], "
    "y: pl.Tensor[[16, 64], pl.FP32, pl.MemRef(\"mem_1\", pl.const(0, pl.INT64), 4096)]):\n"
    "    mem_0: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 8192)\n"
    "    t: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem_0, pl.const(0, pl.INT64), 4096), pl.Mem.Vec] = "
    "pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)";

const Type* type_of(const Function* f, std::size_t statement) {
  return static_cast<const AssignStmt*>(f->body[statement])->var->type;
}
const MemRef* memref_of(const Type* type) { return static_cast<const TileType*>(type)->memref; }

}  // namespace

TEST_CASE("types with a buffer are shared within a function and differ between functions") {
  const Read r(program(kTwo));
  INFO(r.errors);
  REQUIRE(r.good());
  const Function* a = r.module.program->functions[0];
  const Function* b = r.module.program->functions[1];
  CHECK(type_of(a, 1) == type_of(a, 2));
  CHECK(type_of(a, 1) != type_of(a, 3));
  CHECK(const_int(memref_of(type_of(a, 3))->byte_offset) == std::int64_t{4096});
  CHECK(memref_of(type_of(a, 1))->base == static_cast<const AssignStmt*>(a->body[0])->var);
  CHECK(memref_of(type_of(b, 1))->base == static_cast<const AssignStmt*>(b->body[0])->var);
  // The calls' own types have no buffer.
  const auto* load = static_cast<const AssignStmt*>(b->body[1])->value;
  CHECK(memref_of(load->type) == nullptr);
  CHECK(b->params[0].var->type == b->params[1].var->type);
  CHECK(r.printed() == program(kTwo));
}

TEST_CASE("a buffer's name is printed as it is called where the type stands") {
  // In the signature the name is quoted; behind its own allocation it is bare.
  const std::string text = program(
      "@pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)\n"
      "def a(x: pl.Tile[[16, 64], pl.FP32, pl.MemRef(\"mem_0\", pl.const(0, pl.INT64), 4096), pl.Mem.Vec]):\n"
      "    mem_0: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)\n"
      "    t: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem_0, pl.const(0, pl.INT64), 4096), pl.Mem.Vec] = "
      "pl.tile.adds(x, 1.0)");
  const Read r(text);
  INFO(r.errors);
  REQUIRE(r.good());
  CHECK(r.printed() == text);
}

TEST_CASE("a symbol in a type means what it means in its function") {
  const std::string text = program(
      "@pl.function\n"
      "def a(self, n: pl.Scalar[pl.INDEX], x: pl.Tensor[[n, 64], pl.FP32]):\n"
      "    pass\n"
      "@pl.function\n"
      "def b(self, n: pl.Scalar[pl.INDEX], x: pl.Tensor[[n, 64], pl.FP32]):\n"
      "    pass");
  const Read r(text);
  INFO(r.errors);
  REQUIRE(r.good());
  for (const Function* f : r.module.program->functions)
    CHECK(static_cast<const TensorType*>(f->params[1].var->type)->shape[0] == f->params[0].var);
  CHECK(r.printed() == text);
}
