// Short names, aliases and the dispatch on operands (format.md 2.11, 4.2).
#include "unit/ir/op_fixture.h"

using namespace optest;

namespace {

std::string resolved(bool pld, std::string_view name, const std::vector<AuthoringArg>& args,
                     const std::vector<AuthoringKeyword>& keywords = {}) {
  const OpId op = resolve_short_name(pld, name, args, keywords);
  return op == OpId::none_ ? "none" : std::string(op_info(op).name);
}

}  // namespace

TEST_CASE("the first operand tells a short name's category") {
  Ops ops;
  const Var* x = ops.tensor(DType::FP32, {16, 64});
  const Var* w = ops.window(DType::FP32, {16, 64});
  const Var* t = ops.tile(DType::FP32, {16, 64});
  const Expr* zero = ops.tuple({0, 0});
  REQUIRE(resolved(false, "exp", {t}) == "tile.exp");
  REQUIRE(resolved(false, "exp", {x}) == "tensor.exp");
  REQUIRE(resolved(false, "add", {t, t}) == "tile.add");
  REQUIRE(resolved(false, "add", {x, x}) == "tensor.add");
  REQUIRE(resolved(false, "load", {x, zero, zero}) == "tile.load");
  REQUIRE(resolved(false, "store", {t, zero, x}) == "tile.store");
  REQUIRE(resolved(false, "read", {x, zero}) == "tensor.read");
  REQUIRE(resolved(false, "read", {t, zero}) == "tile.read");
  REQUIRE(resolved(false, "move", {t}) == "tile.move");
  REQUIRE(resolved(false, "slice", {w, zero, zero}) == "tensor.slice");
  REQUIRE(resolved(false, "assemble", {x, x, zero}) == "tensor.assemble");
  REQUIRE(resolved(false, "and_", {t, t}) == "tile.and");
}

TEST_CASE("names without a tensor or tile have fixed categories") {
  Ops ops;
  const Expr* shape = ops.tuple({16, 64});
  REQUIRE(resolved(false, "create_tensor", {shape}) == "tensor.create");
  REQUIRE(resolved(false, "create_tile", {shape}) == "tile.create");
  REQUIRE(resolved(false, "full", {shape}) == "tensor.full");
  REQUIRE(resolved(false, "get_block_idx", {}) == "tensor.get_block_idx");
  REQUIRE(resolved(false, "tpop_from_aic", {}) == "tile.tpop_from_aic");
  REQUIRE(resolved(false, "tpush_to_aiv", {ops.tile(DType::FP32, {16, 64})}) == "tile.tpush_to_aiv");
  REQUIRE(resolved(false, "tfree_to_aic", {ops.tile(DType::FP32, {16, 64})}) == "system.tfree_to_aic");
  REQUIRE(resolved(false, "reserve_buffer", {}) == "system.reserve_buffer");
  REQUIRE(resolved(false, "import_peer_buffer", {}) == "system.import_peer_buffer");
  REQUIRE(resolved(false, "aic_initialize_pipe", {}) == "system.aic_initialize_pipe");
  REQUIRE(resolved(true, "world_size", {}) == "pld.system.world_size");
  REQUIRE(resolved(true, "rank", {ops.context()}) == "pld.system.rank");
  REQUIRE(resolved(true, "nranks", {ops.context()}) == "pld.system.nranks");
  REQUIRE(resolved(true, "get_comm_ctx", {ops.window(DType::FP32, {4})}) == "pld.system.get_comm_ctx");
  REQUIRE(resolved(true, "window", {}) == "pld.tensor.window");
  REQUIRE(resolved(true, "alloc_window_buffer", {}) == "pld.tensor.alloc_window_buffer");
  REQUIRE(resolved(true, "remote_load", {ops.window(DType::FP32, {4})}) == "pld.tile.remote_load");
  REQUIRE(resolved(true, "remote_store", {ops.tile(DType::FP32, {1, 8})}) == "pld.tile.remote_store");
  REQUIRE(resolved(true, "remote_store", {ops.tensor(DType::FP32, {1, 8})}) == "pld.tensor.remote_store");
}

TEST_CASE("aliases depend on the keywords that are given") {
  Ops ops;
  const Var* x = ops.tensor(DType::FP32, {1, 256});
  const Var* t = ops.tile(DType::FP32, {1, 256});
  const auto mask = Ops::by_name("mask_pattern", AttrValue::of_int(1));
  REQUIRE(resolved(false, "tensor.arange", {}) == "tensor.ci");
  REQUIRE(resolved(false, "tile.arange", {}) == "tile.ci");
  REQUIRE(resolved(false, "tensor.mrgsort", {x}, {Ops::by_name("block_len", AuthoringArg(ops.index(64)))}) ==
          "tensor.mrgsort_format1");
  REQUIRE(resolved(false, "mrgsort", {x, ops.index(64)}) == "tensor.mrgsort_format1");
  REQUIRE(resolved(false, "mrgsort", {t, t}) == "tile.mrgsort_format2");
  REQUIRE(resolved(false, "gather", {x, x}) == "tensor.gather");
  REQUIRE(resolved(false, "gather", {x}, {mask}) == "tensor.gather_mask");
  REQUIRE(resolved(false, "gather", {x}, {Ops::by_name("cmp_mode", Ops::word("gt"))}) ==
          "tensor.gather_compare");
  REQUIRE(resolved(false, "tensor.scatter", {x}, {mask}) == "tensor.scatter_mask");
  REQUIRE(resolved(false, "scatter", {t, t, t}) == "tile.scatter");
}

TEST_CASE("a scalar second operand picks the scalar form where there is one") {
  Ops ops;
  const Var* x = ops.tensor(DType::FP32, {16, 64});
  const Var* t = ops.tile(DType::FP32, {16, 64});
  for (const std::string_view name : {"add", "sub", "mul", "div", "fmod", "maximum", "minimum"}) {
    REQUIRE(resolved(false, name, {t, ops.real(2)}) == "tile." + std::string(name) + "s");
  }
  for (const std::string_view name : {"add", "sub", "mul", "div", "fmod"}) {
    REQUIRE(resolved(false, name, {x, ops.index(2)}) == "tensor." + std::string(name) + "s");
  }
  REQUIRE(resolved(false, "maximum", {x, ops.real(0)}) == "tensor.maximum");
  REQUIRE(resolved(false, "tensor.cmp", {x, ops.real(0)}) == "tensor.cmp");
  REQUIRE(resolved(false, "tile.cmp", {t, ops.real(0)}) == "tile.cmps");
  REQUIRE(resolved(false, "tensor.add", {x, ops.real(1)}) == "tensor.adds");
  REQUIRE(resolved(false, "tile.addc", {t, ops.real(1), t}) == "tile.addsc");
  REQUIRE(resolved(false, "tensor.shl", {x, ops.index(1)}) == "tensor.shls");
  REQUIRE(resolved(false, "add", {},
                   {Ops::by_name("lhs", AuthoringArg(t)), Ops::by_name("rhs", AuthoringArg(ops.real(1)))}) ==
          "tile.adds");
}

TEST_CASE("what is no operation is none") {
  Ops ops;
  for (const std::string_view name : {"", "lod", "range", "tile.lod", "function", "tile", "const"}) {
    REQUIRE(resolved(false, name, {ops.tile(DType::FP32, {16, 64})}) == "none");
    REQUIRE_FALSE(is_op_name(false, name));
  }
  REQUIRE(is_op_name(false, "add"));
  REQUIRE(is_op_name(true, "all_reduce"));
  REQUIRE_FALSE(is_op_name(false, "all_reduce"));
  // Operations of one prefix are not those of the other.
  REQUIRE(resolved(false, "world_size", {}) == "none");
  REQUIRE(resolved(true, "add", {ops.tile(DType::FP32, {16, 64})}) == "none");
}

TEST_CASE("an unknown operation is reported with the closest name") {
  Ops ops;
  const Var* t = ops.tile(DType::FP32, {16, 64});
  REQUIRE_REPORT(ops, ops.author("stroe", {t}), "did you mean 'pl.store'");
  REQUIRE_REPORT(ops, ops.author("tile.stroe", {t}), "did you mean 'pl.tile.store'");
  REQUIRE_REPORT(ops, ops.author("pld.windw", {t}), "did you mean 'pld.window'");
  REQUIRE_REPORT(ops, ops.author("pld.tensor.brodcast", {t}), "pld.tensor.broadcast");
  REQUIRE_REPORT(ops, ops.author("create_tenso", {}), "create_tensor");
  REQUIRE_REPORT(ops, ops.author("no_such_operation_at_all", {t}), "no operation");
}
