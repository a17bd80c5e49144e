// Transfers between ranks go through staging tiles (passes.md 2.21).
#include <algorithm>
#include <string>

#include "passes/convert_tensor_to_tile_ops/conversions.h"

namespace pldc::tiling {

namespace {

// An extent, at most the chunk if there is one; the chunk alone if the extent is no constant.
std::int64_t bounded(std::optional<std::int64_t> extent, std::int64_t chunk) {
  if (!extent) return chunk;
  return chunk > 0 ? std::min(*extent, chunk) : *extent;
}

constexpr std::string_view kRemedy = "use pld.tensor.remote_store, which takes a computed value";

struct Transfer {
  OpId tile;
  std::string_view stage;
  bool keep_atomic;
};

const Expr* transfer(Lowering& op, const Transfer& kind) {
  std::vector<const Expr*> operands = {op.memory(0, kRemedy), op.arg(1), op.memory(2, kRemedy)};
  if (operands[0] == nullptr || operands[2] == nullptr) return nullptr;
  const TensorType* type = op.tensor(0);
  if (type == nullptr) return nullptr;
  const auto* region = op.count() > 5 ? dyn<MakeTuple>(op.arg(5)) : nullptr;
  const List<const Expr*> shape = region != nullptr ? region->elements : type->shape;
  std::optional<std::int64_t> rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) {
    const auto extent = const_int(shape[i]);
    rows = rows && extent ? std::optional(*rows * *extent) : std::nullopt;
  }
  const auto last = shape.empty() ? std::optional<std::int64_t>(1) : const_int(shape.back());
  const std::int64_t high = bounded(rows, op.integer("chunk_rows", 0));
  const std::int64_t wide = bounded(last, op.integer("chunk_cols", 0));
  const auto stage = [&](std::string_view end) {
    operands.push_back(
        op.bind(std::string(kind.stage) + std::string(end), op.create(op.dims({high, wide}), type->dtype)));
  };
  if (op.flag("pipeline")) {
    stage("_ping");
    stage("_pong");
  } else {
    stage("");
  }
  for (std::size_t i = 3; i < op.count(); ++i) operands.push_back(op.arg(i));
  std::vector<Attr> keywords;
  for (const Attr& keyword : op.call->kwargs) {
    if (kind.keep_atomic && keyword.key.text() == "atomic") keywords.push_back(keyword);
  }
  return op.op(kind.tile, op.ir().list(operands), op.ir().list(keywords));
}

}  // namespace

const Expr* put(Lowering& op) { return transfer(op, {OpId::pld_tile_put, "tput_stage", true}); }

const Expr* get(Lowering& op) { return transfer(op, {OpId::pld_tile_get, "tget_stage", false}); }

const Expr* remote_store(Lowering& op) {
  std::vector<const Expr*> operands = {op.tile(0)};
  if (operands[0] == nullptr) return nullptr;
  for (std::size_t i = 1; i < op.count(); ++i) operands.push_back(op.is_tensor(i) ? op.memory(i) : op.arg(i));
  if (std::find(operands.begin(), operands.end(), nullptr) != operands.end()) return nullptr;
  return op.op(OpId::pld_tile_remote_store, op.ir().list(operands), op.call->kwargs);
}

}  // namespace pldc::tiling
