// The op table: every op is found by its names, and its row makes sense.
#include <map>
#include <set>

#include "unit/ir/op_fixture.h"

using namespace optest;

TEST_CASE("the table has the 312 operations of the format, in their groups") {
  REQUIRE(kOpCount == 312);
  std::map<std::string, int> groups;
  for (std::size_t i = 0; i < kOpCount; ++i) {
    ++groups[std::string(op_category(op_info(static_cast<OpId>(i)).name))];
  }
  const std::map<std::string, int> wanted{{"array", 3},       {"tensor", 105}, {"tile", 138},
                                          {"system", 22},     {"prefetch", 4}, {"pld.system", 7},
                                          {"pld.tensor", 12}, {"pld.tile", 4}, {"builtin.tensor", 8},
                                          {"dist", 5},        {"test", 4}};
  REQUIRE(groups == wanted);
}

TEST_CASE("an operation is found by its name, with and without the underscore of Python's words") {
  for (std::size_t i = 0; i < kOpCount; ++i) {
    const OpInfo& info = op_info(static_cast<OpId>(i));
    INFO(info.name);
    REQUIRE(find_op(info.name) == static_cast<OpId>(i));
    REQUIRE(find_op(std::string(info.name) + "_") == static_cast<OpId>(i));
    REQUIRE(find_op(std::string(info.name) + "x__") == OpId::none_);
  }
  REQUIRE(find_op("tile.and_") == OpId::tile_and);
  REQUIRE(find_op("tensor.not_") == OpId::tensor_not);
  for (const std::string_view name : {"", "tile", "tile.", ".load", "load", "pl.tile.load", "zzz.zz", "_"}) {
    REQUIRE(find_op(name) == OpId::none_);
  }
  REQUIRE(op_category("pld.tensor.put") == "pld.tensor");
  REQUIRE(op_category("load") == "");
}

TEST_CASE("identifiers follow the names") {
  const auto id_of = [](std::string_view name) {
    std::string id(name);
    for (char& c : id) c = c == '.' ? '_' : c;
    return id;
  };
  std::set<std::string> seen;
#define PLDC_OP(id, ...)                                      \
  REQUIRE(id_of(op_info(OpId::id).name) == std::string(#id)); \
  REQUIRE(seen.insert(#id).second);
#include "ir/ops/all.def"
#undef PLDC_OP
}

TEST_CASE("effects say what an op does to its operands") {
  Ops ops;
  const Var* t = ops.tile(DType::FP32, {16, 64});
  const Var* y = ops.tensor(DType::FP32, {16, 64});
  const Call* store = ops.raw(OpId::tile_store, {t, ops.tuple({0, 0}), y});
  REQUIRE(access_of(store, 0) == Access::Read);
  REQUIRE(access_of(store, 2) == Access::Write);
  REQUIRE(op_info(OpId::tile_store).effects.result_aliases == 2);
  REQUIRE(op_info(OpId::tile_store).effects.side_effect);
  const Call* add = ops.raw(OpId::tile_store, {t, ops.tuple({0, 0}), y}, {ops.kw("atomic", 1)});
  REQUIRE(access_of(add, 2) == Access::ReadWrite);

  const Var* sig = ops.window(DType::INT32, {4});
  const Args cell{sig, ops.i32(1), ops.tuple({0}), ops.i32(1)};
  REQUIRE(access_of(ops.raw(OpId::pld_system_notify, cell, {ops.kw("op", 1)}), 0) == Access::Write);
  REQUIRE(access_of(ops.raw(OpId::pld_system_notify, cell, {ops.kw("op", 0)}), 0) == Access::ReadWrite);
  REQUIRE(access_of(ops.raw(OpId::pld_system_wait, cell), 0) == Access::Read);

  const Var* w = ops.window(DType::FP32, {16, 64});
  const Call* put = ops.raw(OpId::pld_tensor_put, {w, ops.i32(0), y});
  REQUIRE(access_of(put, 0) == Access::Write);
  REQUIRE(access_of(put, 2) == Access::Read);
  const Call* get = ops.raw(OpId::pld_tensor_get, {y, ops.i32(0), w});
  REQUIRE(access_of(get, 0) == Access::Write);
  const Call* reduce = ops.raw(OpId::pld_tensor_allreduce, {w, sig});
  REQUIRE(access_of(reduce, 0) == Access::ReadWrite);
  REQUIRE(access_of(reduce, 1) == Access::ReadWrite);
  const Call* exchange = ops.raw(OpId::pld_tensor_all_to_all_v, {w, w, sig, sig, sig});
  REQUIRE(access_of(exchange, 0) == Access::Read);
  REQUIRE(access_of(exchange, 1) == Access::Write);
  REQUIRE(access_of(exchange, 2) == Access::ReadWrite);
  REQUIRE(access_of(exchange, 3) == Access::Read);
  REQUIRE(access_of(exchange, 4) == Access::Write);
  REQUIRE(op_info(OpId::tensor_slice).effects.result_view_of == 0);
}

TEST_CASE("optional operands in the middle are told apart by what they are") {
  Ops ops;
  const Var* w = ops.window(DType::FP32, {16, 64});
  const Var* x = ops.tensor(DType::FP32, {16, 64});
  const Var* s = ops.tile(DType::FP32, {8, 64});
  const Expr* zero = ops.tuple({0, 0});
  const Call* two = ops.raw(OpId::pld_tile_put, {w, ops.i32(1), x, s, s, zero, zero, ops.tuple({8, 64})});
  REQUIRE(operand_of(two, 4)->name == "stage2");
  REQUIRE(operand_of(two, 7)->name == "shape");
  const Call* one = ops.raw(OpId::pld_tile_put, {w, ops.i32(1), x, s, zero, zero, ops.tuple({8, 64})});
  REQUIRE(operand_of(one, 4)->name == "dst_offsets");
  REQUIRE(argument(one, "stage2") == nullptr);
  REQUIRE(argument(one, "shape") == one->args[6]);
  REQUIRE(operand_of(one, 9) == nullptr);

  const Var* ix = ops.tile(DType::INT32, {1, 8});
  const Call* gather = ops.raw(OpId::tile_mgather, {x, ix, ops.tuple({8, 64})});
  REQUIRE(operand_of(gather, 2)->name == "valid_shape");
  const Call* scratch = ops.raw(OpId::tile_mgather, {x, ix, x, ops.tuple({8, 64})});
  REQUIRE(operand_of(scratch, 2)->name == "scratch");
  REQUIRE(operand_of(scratch, 3)->name == "valid_shape");
}
