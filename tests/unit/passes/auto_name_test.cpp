// Generated names: taking apart, building, making fresh ones (passes.md 2.0, 4.5).
#include "ir/auto_name.h"

#include "support/catch.h"

using namespace pldc;

namespace {

std::string parts(std::string_view name) {
  const AutoName n = parse_auto_name(name);
  std::string out =
      std::string(n.base) + "|" + std::string(n.qualifier) + "|" + std::string(name_of(n.role)) + "|";
  return n.version ? out + std::to_string(*n.version) : out;
}

}  // namespace

TEST_CASE("auto name: parsing") {
  CHECK(parts("x") == "x|||");
  CHECK(parts("x__ssa_v1") == "x||ssa|1");
  CHECK(parts("data__peer_acc_tmp_v13") == "data|peer_acc|tmp|13");
  CHECK(parts("y__l0_tmp_v2") == "y|l0|tmp|2");
  CHECK(parts("z__tmp") == "z||tmp|");
  CHECK(parts("o__store") == "o||store|");
  CHECK(parts("w__v4") == "w|||4");
  CHECK(parts("a__b") == "a__b|||");
  CHECK(parts("a__b__ssa_v0") == "a|b_|ssa|0");
  CHECK(parts("_submit_tmp__ssa_v0") == "_submit_tmp||ssa|0");
  // A printer suffix after the version is no part of the name.
  CHECK(parts("_submit_tmp__ssa_v0_1") == "_submit_tmp||ssa|0");
  CHECK(parts("r_1__idx_v0") == "r_1||idx|0");
  CHECK(parts("v__FREE_VAR") == "v__FREE_VAR|||");
  CHECK(parts("x__v99999999999") == "x__v99999999999|||");
  CHECK(parts("x__vv1") == "x__vv1|||");
}

TEST_CASE("auto name: bases that are short, empty or made by a wrapper") {
  CHECK(parts("_") == "_|||");
  CHECK(rename_auto_name("_", NameRole::Ssa, 0) == "___ssa_v0");
  CHECK(parts("___ssa_v0") == "_||ssa|0");
  // A base that ends in underscores: the delimiter is the last two of the run.
  CHECK(rename_auto_name("s_", NameRole::Ssa, 0) == "s___ssa_v0");
  CHECK(parts("s___ssa_v0") == "s_||ssa|0");
  CHECK(auto_name_stem("s___ssa_v0") == "s_");
  CHECK(parts("__auto_barrier_0") == "__auto_barrier_0|||");
  CHECK(parts("__auto_all_to_all_v_12__ssa_v0") == "__auto_all_to_all_v_12||ssa|0");
  CHECK(is_versionable_base("__auto_all_to_all_v_12"));
  CHECK_FALSE(is_versionable_base("__auto_x"));
  CHECK_FALSE(is_versionable_base("__under"));
  CHECK_FALSE(is_versionable_base("a__b"));
  CHECK(is_versionable_base("a_b"));
}

TEST_CASE("auto name: building") {
  CHECK(build_auto_name("x", {}, NameRole::Ssa, 1) == "x__ssa_v1");
  CHECK(build_auto_name("data", "peer_acc", NameRole::Tmp, 13) == "data__peer_acc_tmp_v13");
  CHECK(build_auto_name("o", {}, NameRole::Store, std::nullopt) == "o__store");
  CHECK(build_auto_name("o", {}, NameRole::None, std::nullopt) == "o");
  CHECK(rename_auto_name("x__ssa_v3", NameRole::Ssa, 0) == "x__ssa_v0");
  CHECK(rename_auto_name("y__l0_tmp_v2", NameRole::Ssa, 0) == "y__l0_ssa_v0");
  CHECK(rename_auto_name("z__tmp", NameRole::Ssa, 0) == "z__ssa_v0");
  CHECK(rename_auto_name("w__v4", NameRole::Ssa, 0) == "w__ssa_v0");
  CHECK(auto_name_stem("data__peer_acc_tmp_v13") == "data");
  CHECK(auto_name_stem("a__b") == "a");
  CHECK(auto_name_stem("a") == "a");
}

TEST_CASE("auto name: fresh names") {
  NamePool pool;
  pool.add("o__ssa_v0");
  CHECK(pool.fresh_like("o__ssa_v0") == "o__ssa_v1");
  CHECK(pool.fresh_like("o__ssa_v0") == "o__ssa_v2");
  CHECK(pool.fresh_like("tid") == "tid__ssa_v0");
  CHECK(pool.fresh_like("tid") == "tid__ssa_v1");
  CHECK(pool.fresh_like("o__store") == "o__store_v0");
  CHECK(pool.fresh_like("y__l0_tmp_v2") == "y__l0_tmp_v3");
}
