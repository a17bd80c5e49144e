#include "codegen/placement.h"

#include "codegen/normalize.h"
#include "frontend/text.h"
#include "ir/walk.h"
#include "support/catch.h"
#include "support/diag/codegen.h"

using namespace pldc;

namespace {

// A kernel read from the statements of its body, with parameters x, y (FP32 tensors) and n (INDEX).
struct Kernel {
  explicit Kernel(std::string_view body, std::string_view type = "InCore", bool simulated = false) {
    std::string text =
        "import pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.";
    text += type;
    text +=
        ")\n    def k(x: pl.Tensor[[256, 256], pl.FP32], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[256, "
        "256], pl.FP32]]) "
        "-> pl.Tensor[[256, 256], pl.FP32]:\n";
    text += body;
    file = sources.add("k.pld", text);
    module = parse(*file, ir, diags);
    if (module.program == nullptr) return;
    program = normalize_for_codegen(ir, module.program, diags);
    if (program == nullptr) return;
    good = place_tiles(ir, diags, program->functions[0], placement, simulated);
  }
  const TilePlace& at(std::string_view name) {
    const Var* found = nullptr;
    walk_stmts(program->functions[0]->body, [&](const Stmt* stmt) {
      for_each_def(stmt, [&](const Var* v) {
        if (v->name.text().substr(0, name.size()) == name && dyn<TileType>(v->type) != nullptr &&
            found == nullptr)
          found = v;
      });
    });
    REQUIRE(found != nullptr);
    const TilePlace* place = placement.find(found);
    REQUIRE(place != nullptr);
    return *place;
  }
  std::string errors() {
    std::string out;
    for (const Diagnostic& d : diags.all()) out += d.message + "\n";
    return out;
  }
  SourceManager sources;
  const SourceFile* file = nullptr;
  Context ir;
  DiagSink diags;
  Module module;
  const Program* program = nullptr;
  TilePlacement placement;
  bool good = false;
};

PhysicalTile physical(std::vector<std::int64_t> shape, DType dtype, MemSpace space = MemSpace::Vec) {
  Context ir;
  std::vector<const Expr*> dims;
  for (const std::int64_t extent : shape) dims.push_back(ir.const_int(extent));
  return *physical_tile(ir.tile(dtype, ir.list(dims), nullptr, space));
}

}  // namespace

TEST_CASE("rows of vector tiles are padded to 32 bytes", "[codegen][placement]") {
  CHECK(physical({64, 128}, DType::FP32).bytes == 32768);
  const PhysicalTile row = physical({1, 1000}, DType::FP16);
  CHECK(row.phys_cols == 1008);
  CHECK(row.bytes == 2016);
  const PhysicalTile column = physical({5, 1}, DType::FP32);
  CHECK(column.column);
  CHECK(column.phys_rows == 8);
  CHECK(column.bytes == 32);
  CHECK_FALSE(physical({1, 1}, DType::FP32).column);
  CHECK(physical({2, 3, 8}, DType::FP32).rows == 6);
  CHECK(physical({16, 3}, DType::FP16, MemSpace::Left).bytes == 512);  // whole fractals
}

TEST_CASE("tiles that are not alive together share memory", "[codegen][placement]") {
  Kernel k(
      "        a = pl.load(x, [0, 0], [64, 64])\n"
      "        b = pl.mul(a, 2.0)\n"
      "        c = pl.mul(b, 2.0)\n"
      "        return pl.store(c, [0, 0], y)\n");
  INFO(k.errors());
  REQUIRE(k.good);
  CHECK(k.at("a").address == 0);
  CHECK(k.at("b").address == 16384);
  CHECK(k.at("c").address == 0);
  CHECK(k.placement.used(MemSpace::Vec) == 32768);
}

TEST_CASE("a carried tile keeps its memory for the whole loop, and what is yielded is computed there",
          "[codegen][placement]") {
  Kernel k(
      "        acc = pl.load(x, [0, 0], [16, 64])\n"
      "        for i in pl.range(4):\n"
      "            t = pl.load(x, [i * 16, 0], [16, 64])\n"
      "            acc = pl.add(acc, t)\n"
      "        return pl.store(acc, [0, 0], y)\n");
  INFO(k.errors());
  REQUIRE(k.good);
  const TilePlace& carry = k.at("acc__iter");
  for (const std::string_view name : {"acc__ssa_v0", "acc__ssa_v3", "acc__rv"}) {
    CAPTURE(name);
    CHECK(k.at(name).buffer == carry.buffer);
    CHECK(k.at(name).address == carry.address);
  }
  const TilePlace& other = k.at("t__");
  CHECK(other.buffer != carry.buffer);
  CHECK((other.address >= carry.address + 4096 || other.address + 4096 <= carry.address));
}

TEST_CASE("views lie in their parents", "[codegen][placement]") {
  Kernel k(
      "        a = pl.load(x, [0, 0], [64, 64])\n"
      "        b = pl.tile.slice(a, [8, 32], [4, 16])\n"
      "        c = pl.tile.slice(a, [8, 64], [n * 8, 0])\n"
      "        d = pl.tile.slice(c, [2, 64], [2, 0])\n"
      "        e = pl.tile.reshape(a, [32, 128])\n"
      "        f = pl.mul(b, 2.0)\n"
      "        g = pl.mul(d, 2.0)\n"
      "        h = pl.mul(e, 2.0)\n"
      "        y = pl.store(f, [0, 0], y)\n"
      "        y = pl.store(g, [0, 0], y)\n"
      "        return pl.store(pl.tile.reshape(h, [64, 64]), [0, 0], y)\n");
  INFO(k.errors());
  REQUIRE(k.good);
  CHECK(k.at("b").address == (4 * 64 + 16) * 4);
  CHECK(k.at("b").pitch == 64);
  CHECK(k.at("b").parent != nullptr);
  CHECK(k.at("c").address == 0);
  REQUIRE(k.at("c").offset != nullptr);
  CHECK(print_expr(k.at("c").offset) == "n__ssa_v0 * 8 * 64 * 4");
  CHECK(k.at("d").address == 2 * 64 * 4);
  CHECK(k.at("d").offset != nullptr);
  CHECK(k.at("e").buffer == k.at("a").buffer);
}

TEST_CASE("a reshape of padded rows is a copy", "[codegen][placement]") {
  Kernel k(
      "        a = pl.load(x, [0, 0], [8, 6])\n"
      "        b = pl.tile.reshape(a, [6, 8])\n"
      "        c = pl.mul(b, 2.0)\n"
      "        return pl.store(c, [0, 0], y)\n");
  INFO(k.errors());
  REQUIRE(k.good);
  CHECK(k.at("b").parent == nullptr);
  CHECK(k.at("b").buffer != k.at("a").buffer);
}

TEST_CASE("addresses in the text are used, names of buffers get one", "[codegen][placement]") {
  const std::string tail = "        return pl.tile.store(b, [0, 0], y)\n";
  const auto body = [&](std::string_view a, std::string_view b) {
    return "        m0: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)\n        m1: pl.Ptr = "
           "pl.tile.alloc(pl.Mem.Vec, 4096)\n"
           "        a: pl.Tile[[16, 64], pl.FP32, pl.MemRef(m0, " +
           std::string(a) +
           ", 4096), pl.Mem.Vec] = "
           "pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)\n"
           "        b: pl.Tile[[16, 64], pl.FP32, pl.MemRef(m1, " +
           std::string(b) +
           ", 4096), pl.Mem.Vec] = "
           "pl.tile.muls(a, 2.0)\n" +
           tail;
  };
  SECTION("after AllocateMemoryAddr") {
    Kernel k(body("8192", "4096"));
    INFO(k.errors());
    REQUIRE(k.good);
    CHECK(k.at("a").address == 8192);
    CHECK(k.at("b").address == 4096);
  }
  SECTION("before it") {
    Kernel k(body("0", "0"));
    INFO(k.errors());
    REQUIRE(k.good);
    CHECK(k.at("a").address == 0);
    CHECK(k.at("b").address == 4096);
  }
}

TEST_CASE("slots of a declared buffer follow each other", "[codegen][placement]") {
  Kernel k(
      "        for i in pl.range(4):\n"
      "            t: pl.Tile[[4, 64], pl.FP32, pl.MemRef(\"ring\", slots=2)[i % 2], pl.Mem.Vec] = "
      "pl.load(x, [i * 4, 0], "
      "[4, 64])\n"
      "            y = pl.store(pl.add(t, 1.0), [i * 4, 0], y)\n"
      "        return y\n");
  INFO(k.errors());
  REQUIRE(k.good);
  REQUIRE(k.at("t__ssa").offset != nullptr);
  CHECK(print_expr(k.at("t__ssa").offset).find("* 1024") != std::string::npos);
  CHECK(k.placement.used(MemSpace::Vec) == 3 * 1024);
}

TEST_CASE("a memory that is too small is reported with its numbers", "[codegen][placement]") {
  Kernel k(
      "        a = pl.load(x, [0, 0], [256, 256])\n"
      "        return pl.store(a, [0, 0], y)\n");
  CHECK_FALSE(k.good);
  REQUIRE_FALSE(k.diags.all().empty());
  const Diagnostic& d = k.diags.all().back();
  CHECK(d.kind == &diag::codegen_memory_full);
  CHECK(d.message == "the kernel 'k' needs 262144 bytes of Vec memory, but a core has 196608");
  REQUIRE(d.notes.size() == 1);
  CHECK(d.notes[0].span.valid());
}

TEST_CASE("the simulator has as much L0 memory as a product takes", "[codegen][placement]") {
  const std::string body =
      "        a = pl.load(x, [0, 0], [256, 128], target_memory=pl.MemorySpace.Mat)\n"
      "        l = pl.move(a, target_memory=pl.MemorySpace.Left)\n"
      "        b = pl.load(x, [0, 0], [128, 256], target_memory=pl.MemorySpace.Mat)\n"
      "        r = pl.move(b, target_memory=pl.MemorySpace.Right)\n"
      "        c = pl.matmul(l, r)\n"
      "        return pl.store(c, [0, 0], y)\n";
  Kernel device(body);
  CHECK_FALSE(device.good);
  CHECK(device.diags.all().front().kind == &diag::codegen_memory_full);
  Kernel simulated(body, "InCore", true);
  CHECK(simulated.good);
  CHECK(simulated.diags.all().front().kind == &diag::codegen_large_memory);
  CHECK(simulated.placement.is_large(MemSpace::Acc));
  CHECK_FALSE(simulated.placement.is_large(MemSpace::Mat));
}

TEST_CASE("so are what a product takes and what is made of it", "[codegen][placement]") {
  const std::string body =
      "        a = pl.load(x, [0, 0], [256, 256], target_memory=pl.MemorySpace.Mat)\n"
      "        c = pl.matmul(a, a)\n"
      "        d = pl.move(c, target_memory=pl.MemorySpace.Vec)\n"
      "        return pl.store(pl.exp(d), [0, 0], y)\n";
  CHECK_FALSE(Kernel(body).good);
  Kernel simulated(body, "InCore", true);
  CHECK(simulated.good);
  CHECK(simulated.placement.is_large(MemSpace::Vec));
  CHECK_FALSE(Kernel("        a = pl.load(x, [0, 0], [256, 256])\n        return pl.store(a, [0, 0], y)\n",
                     "InCore", true)
                  .good);
}
