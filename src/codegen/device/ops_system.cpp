// Scalars, arrays, pipes between cores, synchronisation; and the table of all operations.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "codegen/device/ops.h"
#include "codegen/device/transfer.h"
#include "ir/walk.h"
#include "support/diag/codegen.h"

namespace pldc {

// ---- scalars ----------------------------------------------------------------------------------------------------

namespace {

// Where an element lies in a tile, counted in elements.
bool element_of(KernelBody& body, const OpCall& op, const TileRef& tile, const Expr* indices, Sum& out) {
  const auto* list = dyn<MakeTuple>(indices);
  const auto* type = dyn<TileType>(op.arg(0)->type);
  const std::size_t rank = type != nullptr ? type->shape.size() : 0;
  if (list == nullptr || list->elements.size() != rank || rank == 0) {
    body.env.diags
        .report<diag::kernel_indices>(op.span(), op.info().name, list != nullptr ? list->elements.size() : 0,
                                      rank)
        .help("give one index for each dimension of the tile");
    return false;
  }
  Extent step(tile.form.row_step());
  out.add_product(body.index(list->elements[rank - 1]), Extent(tile.form.col_step()));
  for (std::size_t i = rank - 1; i-- > 0;) {
    out.add_product(body.index(list->elements[i]), step);
    step = product(step, body.index(type->shape[i]));
  }
  return true;
}

// The reservations of a function in program order, each as a call.
void reservations(Body body, std::vector<const Call*>& out) {
  walk_stmts(body, [&](const Stmt* stmt) {
    const auto* assign = dyn<AssignStmt>(stmt);
    const auto* call = assign != nullptr ? dyn<Call>(assign->value) : nullptr;
    if (call != nullptr && call->op == OpId::system_reserve_buffer) out.push_back(call);
  });
}

// The number that stands for a buffer: its base if the text gives one, else what the reservations before it in the
// function leave free. A peer's buffer is the one that the peer function has reserved under the name.
std::int64_t buffer_address(KernelBody& body, const OpCall& op) {
  const auto text = [](const Call* call, std::string_view key) {
    const AttrValue* value = find_attr(call->kwargs, key);
    return value != nullptr ? std::string_view(value->text) : std::string_view();
  };
  const Function* owner = &body.kernel;
  if (op.call->op == OpId::system_import_peer_buffer) {
    owner = nullptr;
    for (const Function* f : body.env.program.functions) {
      if (plain_name(f->name.text()) == plain_name(text(op.call, "peer_func"))) owner = f;
    }
    if (owner == nullptr) return 0;
  }
  std::vector<const Call*> all;
  reservations(owner->body, all);
  std::int64_t next = 0;
  for (const Call* call : all) {
    const AttrValue* base = find_attr(call->kwargs, "base");
    const AttrValue* size = find_attr(call->kwargs, "size");
    const std::int64_t at = base != nullptr && base->integer >= 0 ? base->integer : next;
    if (text(call, "name") == text(op.call, "name")) return at;
    next = std::max(next, at + (size != nullptr ? size->integer : 0));
  }
  return 0;
}

std::string as_bool(const std::string& text, DType dtype) {
  return dtype == DType::BOOL ? text + " != 0" : text;
}

}  // namespace

std::string scalar_call(KernelBody& body, const OpCall& op, bool& reads_memory) {
  const OpId id = op.call->op;
  if (id == OpId::tile_get_block_idx || id == OpId::tensor_get_block_idx) {
    return "static_cast<int64_t>(get_block_idx(args))";
  }
  if (id == OpId::tile_get_block_num || id == OpId::tensor_get_block_num) {
    return "static_cast<int64_t>(get_block_num(args))";
  }
  if (id == OpId::tile_get_subblock_idx || id == OpId::tensor_get_subblock_idx) {
    return "static_cast<int64_t>(get_sub_block_id(args))";
  }
  if (id == OpId::pld_system_rank) return fmt::format("pld_rank({})", body.context(op.arg(0)));
  if (id == OpId::pld_system_nranks) return fmt::format("pld_nranks({})", body.context(op.arg(0)));
  if (id == OpId::system_available_cluster_count) return std::to_string(kDeviceClusters);
  if (id == OpId::system_available_aiv_count) return std::to_string(kDeviceVectorCores);
  if (id == OpId::prefetch_wait) return "true";
  if (id == OpId::system_reserve_buffer || id == OpId::system_import_peer_buffer) {
    return cpp_int(buffer_address(body, op));
  }
  if (id == OpId::tensor_dim) {
    const TensorRef tensor = body.tensor(op.arg(0));
    auto axis = KernelBody::fold(op.arg(1)).value_or(0);
    if (axis < 0) axis += static_cast<std::int64_t>(tensor.shape.size());
    if (axis < 0 || static_cast<std::size_t>(axis) >= tensor.shape.size()) return {};
    const Extent& extent = tensor.shape[static_cast<std::size_t>(axis)];
    return extent.constant ? fmt::format("int64_t{{{}}}", extent.text) : extent.text;
  }
  if (id == OpId::tensor_read) {
    const TensorRef tensor = body.tensor(op.arg(0));
    Sum offset;
    if (!body.offset_of(op, tensor, op.arg(1), offset)) return {};
    reads_memory = true;
    return as_bool(fmt::format("pld_read({})", KernelBody::address(tensor, offset)), tensor.dtype);
  }
  if (id == OpId::tile_read) {
    const TileRef tile = body.tile(op.arg(0));
    Sum offset;
    if (!element_of(body, op, tile, op.arg(1), offset)) return {};
    reads_memory = true;
    return as_bool(fmt::format("{}.GetValue({})", tile.name, offset.text()), tile.form.dtype);
  }
  if (id == OpId::array_get_element) {
    const ArrayRef* array = body.array(op.arg(0));
    return array != nullptr ? fmt::format("{}[{}]", array->name, body.scalars.index(op.arg(1)))
                            : std::string();
  }
  return {};
}

namespace {

bool scalar(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;  // nothing observes the value
  bool reads_memory = false;
  const std::string text = scalar_call(body, op, reads_memory);
  if (text.empty()) {
    body.fail();
    return false;
  }
  if (reads_memory) {
    body.place();
    body.barrier();
  }
  body.define_scalar(op.result, text);
  if (reads_memory) body.barrier();
  return true;
}

bool tile_write(KernelBody& body, const OpCall& op) {
  const TileRef to = in_place(body, op, 0);
  Sum offset;
  if (!has_scalar_form(body, op, to.form.dtype) || !element_of(body, op, to, op.arg(1), offset)) return false;
  body.place();
  body.alone(
      fmt::format("{}.SetValue({}, {});", to.name, offset.text(), body.scalars.as(op.arg(2), to.form.dtype)));
  return true;
}

// ---- arrays -----------------------------------------------------------------------------------------------------

void check_index(KernelBody& body, const Expr* index, const ArrayRef& array) {
  if (KernelBody::fold(index)) return;  // the op's check has seen it
  const std::string i = body.scalars.index(index);
  body.place();
  body.statement(
      fmt::format("if ({0} < 0 || {0} >= {1}) PLD_FAIL(\"an array of {1} cells has no cell %lld\", "
                  "static_cast<long long>({2}));",
                  body.index(index).text, array.extent, i));
}

bool array_create(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const auto* type = dyn<ArrayType>(op.result->type);
  if (type == nullptr) return false;
  body.declare_array(op.result, type);
  return true;
}

bool array_get(KernelBody& body, const OpCall& op) {
  if (const ArrayRef* array = body.array(op.arg(0))) check_index(body, op.arg(1), *array);
  return scalar(body, op);
}

bool array_update(KernelBody& body, const OpCall& op) {
  const ArrayRef* known = body.array(op.arg(0));
  if (known == nullptr || op.result == nullptr) return op.result == nullptr;
  const ArrayRef from = *known;
  check_index(body, op.arg(1), from);
  ArrayRef to = from;
  // In place if nothing else looks at the old value, in this iteration or another one.
  const auto* var = dyn<Var>(op.arg(0));
  if (var == nullptr || body.use_count(var) > 1 || from.depth < body.loop_depth()) {
    to = body.declare_array(op.result, static_cast<const ArrayType*>(op.result->type));
    body.statement(
        fmt::format("for (int64_t i = 0; i < {}; ++i) {}[i] = {}[i];", to.extent, to.name, from.name));
  } else {
    body.bind(op.result, to);
  }
  body.statement(fmt::format("{}[{}] = {};", to.name, body.scalars.index(op.arg(1)),
                             body.scalars.as(op.arg(2), to.dtype)));
  return true;
}

}  // namespace

ArrayRef* KernelBody::array(const Expr* expr) {
  const auto* var = dyn<Var>(expr);
  const auto known = var != nullptr ? arrays_.find(var) : arrays_.end();
  if (known != arrays_.end()) return &known->second;
  fail();
  return nullptr;
}

ArrayRef& KernelBody::declare_array(const Var* var, const ArrayType* type) {
  ArrayRef ref{names_.fresh(var->name.text()), type->extent, type->dtype, loop_depth_};
  const std::string_view element = cpp_scalar_type(type->dtype);
  if (element.empty() || type->dtype == DType::TASK_ID) {
    env.diags.report<diag::kernel_dtype>(var->span, plain_name(var->name.text()), name_of(type->dtype))
        .help("arrays of task ids are for the orchestration");
  }
  statement(fmt::format("{}{} {}[{}] = {{}};", marked(ref.name), element, ref.name, ref.extent));
  return arrays_[var] = ref;
}

namespace {

// ---- pipes between cores ----------------------------------------------------------------------------------------

// Where the second lane's half begins: given, or half of what the tile has without its padding; 0: half of the tile.
std::int64_t second_half(const OpCall& op, const TileRef& whole, std::int64_t split) {
  const std::int64_t given = keyword_int(op, "lane_stride", 0);
  if (given != 0 || (split != 1 && split != 2)) return given;
  const std::int64_t extent = split == 1 ? whole.ir_rows : whole.ir_cols;
  const std::int64_t padded = split == 1 ? whole.form.rows : whole.form.cols;
  return extent != padded ? (extent + 1) / 2 : 0;
}

// ToAIV or ToAIC: where the data goes.
bool push(KernelBody& body, const OpCall& op) {
  const bool to_aiv = op.call->op == OpId::tile_tpush_to_aiv;
  const TileRef tile = body.tile(op.arg(0));
  const std::int64_t split = keyword_int(op, "split", 0);
  const std::int64_t stride = to_aiv ? second_half(op, tile, split) : 0;
  body.place();
  body.alone(fmt::format("TPUSH<PipeDir::{}, {}>(args, {}, {}{});", to_aiv ? "ToAIV" : "ToAIC",
                         keyword_int(op, "id", 0), tile.name, split,
                         stride > 0 ? fmt::format(", {}", stride) : std::string()));
  return true;
}

bool pop(KernelBody& body, const OpCall& op) {
  const bool to_aiv = op.call->op == OpId::tile_tpop_from_aic;
  if (op.result == nullptr || dyn<TileType>(op.result->type) == nullptr) {
    body.env.diags.report<diag::kernel_operand>(op.span(), "result", op.info().name, "a tile of known type")
        .help("annotate the variable: t: pl.Tile[[rows, columns], dtype, pl.Mem.Vec] = ...");
    return false;
  }
  const TileRef to = body.result(op.result);
  body.place(true);
  body.alone(fmt::format("TPOP<PipeDir::{}, {}>(args, {}, {});", to_aiv ? "ToAIV" : "ToAIC",
                         keyword_int(op, "id", 0), to.name, keyword_int(op, "split", 0)));
  return true;
}

bool release(KernelBody& body, const OpCall& op) {
  // The slot goes back to the core that has pushed it.
  const bool to_aiv = op.call->op == OpId::system_tfree_to_aic;
  body.line(
      fmt::format("TFREE<PipeDir::{}, {}>(args);", to_aiv ? "ToAIV" : "ToAIC", keyword_int(op, "id", 0)));
  return true;
}

// ---- order ------------------------------------------------------------------------------------------------------

bool bar_all(KernelBody& body, const OpCall&) {
  body.barrier();
  return true;
}
bool bar_v(KernelBody& body, const OpCall&) {
  body.line("pipe_barrier(PIPE_V);");
  return true;
}
bool bar_m(KernelBody& body, const OpCall&) {
  body.line("pipe_barrier(PIPE_M);");
  return true;
}
// The flags between the pipes are placed by the emitter; those of the program order nothing more than a barrier does.
bool sync_dst(KernelBody& body, const OpCall&) {
  body.barrier();
  return true;
}

bool cacheinvalid(KernelBody& body, const OpCall&) {
  constexpr std::string_view kText = "pld_cacheinvalid();\n";
  const std::string& text = body.text().text();
  if (text.size() >= kText.size() && text.compare(text.size() - kText.size(), kText.size(), kText) == 0)
    return true;
  body.barrier();
  body.line("pld_cacheinvalid();");
  return true;
}
bool fence(KernelBody& body, const OpCall&) {
  body.line("pld_fence();");
  return true;
}

bool event(KernelBody& body, const OpCall& op) {
  const bool set = op.call->op == OpId::system_sync_set;
  const std::string id = op.args() > 0 ? body.scalars.as(op.arg(0), DType::INT32)
                                       : std::to_string(keyword_int(op, "event_id", 0));
  body.place(!set);
  body.alone(fmt::format("{}({});", set ? "pld_sync_set" : "pld_sync_wait", id));
  return true;
}

bool syncall(KernelBody& body, const OpCall&) {
  body.place(true);
  body.alone("pld_syncall();");
  return true;
}

bool nothing(KernelBody&, const OpCall&) { return true; }

// Hands data between the matrix core and the vector lanes: a device needs a kernel for each core, which ExpandMixedKernel
// makes. The simulator's one core does the work of all after both_lanes() has made both halves values.
bool refuse_split(KernelBody& body, const OpCall& op) {
  body.env.diags.report<diag::kernel_split>(op.span(), op.info().name, body.kernel.name.text())
      .help("run the passes up to ExpandMixedKernel");
  return false;
}

bool shard(KernelBody& body, const OpCall& op) {
  const AttrValue* lane = find_attr(op.call->attrs, "lane");
  if (lane == nullptr || body.is_official()) return refuse_split(body, op);
  const std::int64_t split = keyword_int(op, "split", 0);
  const TileRef whole = body.tile(op.arg(0));
  const TileRef half = body.result(op.result);
  body.place();
  body.alone(fmt::format("pld_shard({}, {}, {}, {}, {});", half.name, whole.name, split, lane->integer,
                         second_half(op, whole, split)));
  return true;
}

bool gather(KernelBody& body, const OpCall& op) {
  if (op.args() != 2 || body.is_official()) return refuse_split(body, op);
  const TileRef first = body.tile(op.arg(0));
  const TileRef second = body.tile(op.arg(1));
  const TileRef whole = body.result(op.result);
  body.place();
  body.alone(fmt::format("pld_gather({}, {}, {}, {});", whole.name, first.name, second.name,
                         keyword_int(op, "split", 0)));
  return true;
}

constexpr OpEmitter kSystemOps[] = {
    {OpId::array_create, array_create},
    {OpId::array_get_element, array_get},
    {OpId::array_update_element, array_update},
    {OpId::pld_system_nranks, scalar},
    {OpId::pld_system_rank, scalar},
    {OpId::prefetch_async_prefetch, nothing},
    {OpId::prefetch_make_context, nothing},
    {OpId::prefetch_session, nothing},
    {OpId::prefetch_wait, scalar},
    {OpId::system_aic_initialize_pipe, nothing},
    {OpId::system_aiv_initialize_pipe, nothing},
    {OpId::system_available_aiv_count, scalar},
    {OpId::system_available_cluster_count, scalar},
    {OpId::system_bar_all, bar_all},
    {OpId::system_bar_m, bar_m},
    {OpId::system_bar_v, bar_v},
    {OpId::system_cacheinvalid, cacheinvalid},
    {OpId::system_fence, fence},
    {OpId::system_import_peer_buffer, scalar},
    {OpId::system_reserve_buffer, scalar},
    {OpId::system_set_ffts, nothing},
    {OpId::system_sync_dst, sync_dst},
    {OpId::system_sync_set, event},
    {OpId::system_sync_src, nothing},
    {OpId::system_sync_wait, event},
    {OpId::system_syncall, syncall},
    {OpId::system_tfree_to_aic, release},
    {OpId::system_tfree_to_aiv, release},
    {OpId::tensor_aic_gather, gather},
    {OpId::tensor_aiv_shard, shard},
    {OpId::tensor_dim, scalar},
    {OpId::tensor_get_block_idx, scalar},
    {OpId::tensor_get_block_num, scalar},
    {OpId::tensor_get_subblock_idx, scalar},
    {OpId::tensor_read, scalar},
    {OpId::tile_aic_gather, gather},
    {OpId::tile_aiv_shard, shard},
    {OpId::tile_get_block_idx, scalar},
    {OpId::tile_get_block_num, scalar},
    {OpId::tile_get_subblock_idx, scalar},
    {OpId::tile_read, scalar},
    {OpId::tile_tpop_from_aic, pop},
    {OpId::tile_tpop_from_aiv, pop},
    {OpId::tile_tpush_to_aic, push},
    {OpId::tile_tpush_to_aiv, push},
    {OpId::tile_write, tile_write},
};

}  // namespace

std::span<const OpEmitter> system_ops() { return kSystemOps; }

// ---- all of them ------------------------------------------------------------------------------------------------

bool has_official_form(OpId op) {
  // LowerCompositeOps takes the first two apart.
  constexpr OpId kOwn[] = {
      OpId::tile_sin,
      OpId::tile_cos,
      OpId::tile_gather_compare,
      OpId::tile_mrgsort_format2,
      OpId::tile_random,
      OpId::tile_tri,
      OpId::tile_tpop_from_aic,
      OpId::tile_tpop_from_aiv,
      OpId::tile_tpush_to_aic,
      OpId::tile_tpush_to_aiv,
      OpId::system_tfree_to_aic,
      OpId::system_tfree_to_aiv,
      OpId::system_sync_set,
      OpId::system_sync_wait,
      OpId::system_syncall,
      OpId::tile_matmul_mx,
      OpId::tile_matmul_mx_acc,
      OpId::tile_matmul_mx_bias,
  };
  return std::find(std::begin(kOwn), std::end(kOwn), op) == std::end(kOwn);
}

EmitOp special_emitter(OpId op) {
  static const std::array<EmitOp, kOpCount> table = [] {
    std::array<EmitOp, kOpCount> out{};
    for (const auto ops :
         {comm_ops(), index_ops(), matrix_ops(), memory_ops(), shape_ops(), system_ops(), vector_ops()}) {
      for (const OpEmitter& row : ops) out[static_cast<std::size_t>(row.op)] = row.emit;
    }
    return out;
  }();
  return table[static_cast<std::size_t>(op)];
}

}  // namespace pldc
