// Ops between cores: events, barriers and pipes (ops.md S2, S8).
#include "ir/rules/rule.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

bool value_error(const RuleCall& call, Span where, std::string_view what, std::string_view wanted,
                 const std::string& found) {
  call.diags.report<diag::op_value>(where, what, call.name(), wanted, found);
  return false;
}

}  // namespace

const Type* rule_SyncEvent(const RuleCall& call) {
  const AttrValue* fixed = call.keyword("event_id");
  const bool dynamic = call.count() > 0;
  if ((fixed != nullptr) == dynamic) {
    value_error(call, call.span, "event_id", "given exactly once, as a keyword or as an operand",
                dynamic ? "both" : "neither");
    return nullptr;
  }
  const auto id = dynamic ? const_int(call.args[0]) : std::optional(fixed->integer);
  if (id && (*id < 0 || *id > 13)) {
    value_error(call, dynamic ? call.place(0) : call.span, "event_id", "in [0, 13]", fmt::format("{}", *id));
    return nullptr;
  }
  const std::int64_t mode = call.integer("ffts_mode", 0);
  if (mode < 0 || mode > 2) {
    value_error(call, call.span, "ffts_mode", "in [0, 2]", fmt::format("{}", mode));
    return nullptr;
  }
  return call.ctx.unknown();
}

const Type* rule_SyncAll(const RuleCall& call) {
  const AttrValue* mode = call.keyword("mode");
  const bool soft = mode != nullptr && mode->text == "soft";
  if (!soft && call.count() > 0) {
    value_error(call, call.place(0), "mode", "'soft' where a workspace is given", "'hard'");
    return nullptr;
  }
  if (soft && call.count() == 0) {
    call.diags.report<diag::op_operand_missing>(call.span, call.name(), "gm_workspace")
        .help("the soft barrier counts arrivals in an INT32 tensor of at least 16 elements");
    return nullptr;
  }
  if (call.count() > 0) {
    const TensorType* workspace = call.tensor(0);
    if (!call.one_of(0, workspace->dtype, {DType::INT32})) return nullptr;
    if (const auto cells = const_product(workspace->shape); cells && *cells < 16) {
      value_error(call, call.place(0), "gm_workspace", "of at least 16 elements", fmt::format("{}", *cells));
      return nullptr;
    }
  }
  return call.ctx.unknown();
}

const Type* rule_SetFfts(const RuleCall& call) {
  const TensorType* workspace = call.tensor(0);
  if (!call.one_of(0, workspace->dtype, {DType::INT64})) return nullptr;
  if (const auto cells = const_product(workspace->shape); cells && *cells < 256) {
    value_error(call, call.place(0), "workspace", "of at least 256 elements", fmt::format("{}", *cells));
    return nullptr;
  }
  return call.ctx.unknown();
}

const Type* rule_CrossCorePush(const RuleCall& call) {
  // The codes 3 and 4 cut an odd extent; only the matrix core can do that.
  const bool to_vector = call.op == OpId::tile_tpush_to_aiv;
  const std::int64_t split = call.integer("split", 0);
  if (split < 0 || split > (to_vector ? 4 : 2)) {
    value_error(call, call.span, "split",
                to_vector ? "in [0, 4]" : "in [0, 2] (odd halves go to the vector core only)",
                fmt::format("{}", split));
    return nullptr;
  }
  const TileType* tile = call.tile(0);
  if (split != 0 && !call.rank_is(0, tile->shape.size(), 2)) return nullptr;
  const AttrValue* stride = call.keyword("lane_stride");
  if (stride != nullptr) {
    const std::size_t axis = split == 2 || split == 4 ? 1 : 0;
    const std::int64_t extent = axis < tile->shape.size() ? const_int(tile->shape[axis]).value_or(0) : 0;
    const std::int64_t most = (extent + 1) / 2;  // 0: not known
    if (stride->integer <= 0 || (most > 0 && stride->integer > most)) {
      value_error(call, call.span, "lane_stride",
                  most > 0 ? fmt::format("in [1, {}], a lane's half", most) : std::string("positive"),
                  fmt::format("{}", stride->integer));
      return nullptr;
    }
  }
  return call.ctx.unknown();
}

}  // namespace pldc
