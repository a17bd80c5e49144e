// Other ranks' windows: transfers and signals.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/device/ops.h"
#include "codegen/device/transfer.h"
#include "ir/check_op.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

// A padded load asks for up to 15 columns more than there are, whatever they hold; those behind the end of the window are not
// touched.
TileRef inside_window(KernelBody& body, const OpCall& op, const TensorRef& window, const TileRef& to,
                      std::vector<Extent>& box) {
  const auto* offsets = dyn<MakeTuple>(op.arg(2));
  if (offsets == nullptr || offsets->elements.empty() || box.empty() || window.shape.empty()) return to;
  const Extent& asked = box.back();
  const Extent& end = window.shape.back();
  const Extent at = body.index(offsets->elements.back());
  if (asked.constant && end.constant && at.constant) {
    const std::int64_t left = *end.constant - *at.constant;
    if (left >= *asked.constant) return to;
    box.back() = Extent(left < 0 ? 0 : left);
  } else {
    box.back() =
        Extent(fmt::format("({0} < {1} - ({2}) ? {0} : {1} - ({2}))", asked.text, end.text, at.text));
  }
  return body.view(to, to.form, to.valid_rows, box.back(), {}, "inside");
}

bool remote_load(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const auto* type = static_cast<const TileType*>(op.result->type);
  if (!body.check_dtype(op, type->dtype)) return false;
  const TensorRef window = body.tensor(op.arg(0));
  Sum offset;
  if (!body.offset_of(op, window, op.arg(2), offset)) return false;
  const TileRef to = body.result(op.result);
  const auto* dims = dyn<MakeTuple>(op.args() > 4 ? op.arg(4) : op.arg(3));
  TensorRef shaped;
  std::vector<Extent> box;
  if (!transfer_box(body, op, window, type, dims != nullptr ? dims->elements : List<const Expr*>{},
                    op.args() > 4, shaped, box)) {
    return false;
  }
  const std::string pointer = body.peer_address(op, window, KernelBody::address(window, offset), op.arg(1));
  if (pointer.empty()) return false;
  const bool padded = keyword_int(op, "allow_physical_tail_padding", 0) != 0;
  emit_load(body, op, shaped, pointer, box, padded ? inside_window(body, op, window, to, box) : to);
  return true;
}

bool remote_store(KernelBody& body, const OpCall& op) {
  const TensorRef window = body.tensor(op.arg(1));
  bool atomic = false;
  Sum offset;
  if (!body.check_dtype(op, window.dtype) || !is_atomic_add(body, op, window.dtype, atomic) ||
      !body.offset_of(op, window, op.arg(3), offset)) {
    return false;
  }
  const std::string pointer = body.peer_address(op, window, KernelBody::address(window, offset), op.arg(2));
  if (pointer.empty()) return false;
  if (const auto* type = dyn<TileType>(op.arg(0)->type)) {
    if (!body.require_rectangle(op, type)) return false;
    TensorRef shaped;
    std::vector<Extent> box;
    if (!transfer_box(body, op, window, type, {}, false, shaped, box)) return false;
    emit_store(body, op, shaped, pointer, box, body.tile(op.arg(0)), atomic);
    return true;
  }
  // A tensor in global memory goes through a tile.
  const TensorRef source = body.tensor(op.arg(0));
  Extent rows(1);
  for (std::size_t i = 0; i + 1 < source.shape.size(); ++i) rows = product(rows, source.shape[i]);
  const Extent cols = source.shape.empty() ? Extent(1) : source.shape.back();
  if (!rows.constant || !cols.constant) {
    body.env.diags.report<diag::kernel_operand>(op.span(), "src", op.info().name, "of constant shape")
        .help("load the tensor into a tile, and store that with pld.tile.remote_store");
    return false;
  }
  TileRef stage =
      body.scratch(tile_form(MemSpace::Vec, source.dtype, *rows.constant, *cols.constant), rows, cols);
  emit_load(body, op, source, KernelBody::address(source, source.offset), source.shape, stage);
  emit_store(body, op, window, pointer, source.shape, stage, atomic);
  return true;
}

// The box of a put or get: the region operand, else all of the local tensor.
std::vector<Extent> transfer_shape(KernelBody& body, const OpCall& op, const TensorRef& whole) {
  const auto* shape = dyn<MakeTuple>(argument(op.call, "shape"));
  if (shape == nullptr) return whole.shape;
  std::vector<Extent> box;
  for (const Expr* e : shape->elements) box.push_back(body.index(e));
  return box;
}

// A tile of the vector buffer that carries the data, for operations that do not bring one.
TileRef stage_for(KernelBody& body, const OpCall& op, DType dtype, const std::vector<Extent>& box) {
  constexpr std::int64_t kMostBytes = 16 * 1024;
  constexpr std::int64_t kUnknown = 256;
  const std::int64_t size = byte_width(dtype);
  Extent rows(1);
  for (std::size_t i = 0; i + 1 < box.size(); ++i) rows = product(rows, box[i]);
  const std::int64_t chunk_rows = keyword_int(op, "chunk_rows", 0);
  const std::int64_t chunk_cols = keyword_int(op, "chunk_cols", 0);
  std::int64_t cols = box.empty() ? 1 : box.back().constant.value_or(kUnknown);
  if (chunk_cols > 0) cols = std::min(cols, chunk_cols);
  while (cols * size > kMostBytes && cols % 2 == 0) cols /= 2;  // a divisor: the chunks have one size
  if (cols * size > kMostBytes) cols = kMostBytes / size;
  std::int64_t height = rows.constant.value_or(1);
  if (chunk_rows > 0) height = std::min(height, chunk_rows);
  while (height > 1 && (height * cols * size > kMostBytes)) {
    do {
      --height;
    } while (height > 1 && rows.constant && *rows.constant % height != 0);
  }
  TileForm form = tile_form(MemSpace::Vec, dtype, 1, cols);
  form.rows = std::max<std::int64_t>(1, height);
  // The official transfer slides a window of the stage's valid extents over the box: where they do not divide it, they must
  // not be constants of the type.
  const auto window = [&](std::int64_t n, const Extent& whole) {
    const bool divides = whole.constant && *whole.constant % n == 0;
    return divides || !body.is_official() ? Extent(n) : Extent(std::to_string(n));
  };
  const Extent across = box.empty() ? Extent(1) : box.back();
  const Extent down = box.size() < 2 ? Extent(1) : box[box.size() - 2];
  return body.scratch(form, window(form.rows, down), window(cols, across));
}

}  // namespace

bool copy_tensor(KernelBody& body, const OpCall& op) {
  const TensorRef destination = body.tensor(op.arg(0));
  const TensorRef source = body.tensor(op.arg(1));
  bool atomic = false;
  Sum offset;
  if (!body.check_dtype(op, destination.dtype) || !is_atomic_add(body, op, destination.dtype, atomic) ||
      !body.offset_of(op, destination, op.arg(2), offset)) {
    return false;
  }
  std::vector<Extent> box;
  for (const Expr* dim : valid_shape_of(op.arg(1)->type)) box.push_back(body.index(dim));
  const TileRef stage = stage_for(body, op, destination.dtype, box);
  const std::string to = body.global(op, destination, KernelBody::address(destination, offset), box, false);
  const std::string from = body.global(op, source, KernelBody::address(source, source.offset), box, false);
  // A put works on local memory as well.
  body.alone(fmt::format("comm::TPUT{}({}, {}, {});", atomic ? "<AtomicType::AtomicAdd>" : "", to, from,
                         stage.name));
  if (op.result != nullptr) body.bind(op.result, destination);
  return true;
}

namespace {

bool transfer(KernelBody& body, const OpCall& op, bool put) {
  const TensorRef destination = body.tensor(op.arg(0));
  const TensorRef source = body.tensor(op.arg(2));
  bool atomic = false;
  if (!body.check_dtype(op, destination.dtype) || !is_atomic_add(body, op, destination.dtype, atomic))
    return false;
  Sum to = destination.offset;
  Sum from = source.offset;
  const Expr* to_offsets = argument(op.call, "dst_offsets");
  const Expr* from_offsets = argument(op.call, "src_offsets");
  if (to_offsets != nullptr && !body.offset_of(op, destination, to_offsets, to)) return false;
  if (from_offsets != nullptr && !body.offset_of(op, source, from_offsets, from)) return false;
  const std::vector<Extent> box = transfer_shape(body, op, put ? source : destination);
  std::string to_pointer = KernelBody::address(destination, to);
  std::string from_pointer = KernelBody::address(source, from);
  std::string& remote = put ? to_pointer : from_pointer;
  remote = body.peer_address(op, put ? destination : source, remote, op.arg(1));
  if (remote.empty()) return false;

  const Expr* given = argument(op.call, "stage");
  const Expr* second = argument(op.call, "stage2");
  std::string stages =
      given != nullptr ? body.tile(given).name : stage_for(body, op, destination.dtype, box).name;
  if (second != nullptr) stages += ", " + body.tile(second).name;
  const std::string to_global = body.global(op, destination, to_pointer, box, false);
  const std::string from_global = body.global(op, source, from_pointer, box, false);
  body.place();
  const std::string callee =
      put ? (atomic ? "comm::TPUT<AtomicType::AtomicAdd>" : "comm::TPUT") : "comm::TGET";
  body.alone(fmt::format("{}({}, {}, {});", callee, to_global, from_global, stages));
  return true;
}

bool put(KernelBody& body, const OpCall& op) { return transfer(body, op, true); }
bool get(KernelBody& body, const OpCall& op) { return transfer(body, op, false); }

bool notify(KernelBody& body, const OpCall& op) {
  const TensorRef window = body.tensor(op.arg(0));
  Sum offset;
  if (!body.offset_of(op, window, op.arg(2), offset)) return false;
  const std::string pointer = body.peer_address(op, window, KernelBody::address(window, offset), op.arg(1));
  if (pointer.empty()) return false;
  const bool add = keyword_int(op, "op", 0) == static_cast<std::int64_t>(NotifyOp::AtomicAdd);
  const std::string value = body.scalars.as(op.arg(3), DType::INT32);
  body.place();
  body.barrier();
  const std::string signal = body.signal_name(window);
  body.statement(fmt::format("comm::Signal {}({});", signal, pointer));
  body.statement(
      fmt::format("comm::TNOTIFY({}, {}, comm::NotifyOp::{});", signal, value, add ? "AtomicAdd" : "Set"));
  return true;
}

struct WaitText {
  std::string signal, cell, address, value, compare;

  std::string wait() const { return fmt::format("comm::TWAIT({}, {}, {});", signal, value, compare); }
};

bool wait_text(KernelBody& body, const OpCall& op, WaitText& out) {
  const TensorRef window = body.tensor(op.arg(0));
  Sum offset;
  if (!body.offset_of(op, window, op.arg(1), offset)) return false;
  // Mapped by name: the numbers of the two enumerations differ.
  const bool equal = keyword_int(op, "cmp", 1) == static_cast<std::int64_t>(WaitCmp::Eq);
  out.value = body.scalars.as(op.arg(2), DType::INT32);
  out.compare = equal ? "comm::WaitCmp::EQ" : "comm::WaitCmp::GE";
  out.address = KernelBody::address(window, offset);
  out.signal = body.signal_name(window);
  out.cell = fmt::format("comm::Signal {}({});", out.signal, out.address);
  return true;
}

bool wait(KernelBody& body, const OpCall& op) {
  WaitText text;
  if (!wait_text(body, op, text)) return false;
  body.place(true);
  body.statement(text.cell);
  body.statement(text.wait());
  body.line("pld_cacheinvalid();");
  return true;
}

// The task must not finish before the cell has its value, but what follows need not wait.
bool defer_wait(KernelBody& body, const OpCall& op) {
  WaitText text;
  if (!wait_text(body, op, text)) return false;
  const LineColumn at = body.env.places.at(op.span());
  if (!body.at_top_level()) {  // how often it comes here, and for which cells, is known when the kernel runs
    body.statement(fmt::format("{}.add({}, {}, {}, {});", body.deferred_waits(), text.address, text.value,
                               text.compare, at.line));
    return true;
  }
  CppText& end = body.epilogue();
  end.line();
  end.comment(short_form(nullptr, op.call));
  if (at.line != 0) end.line(fmt::format("PLD_LOC({});", at.line));
  end.line("pipe_barrier(PIPE_ALL);");
  end.line(text.cell);
  end.line(text.wait());
  return true;
}

constexpr OpEmitter kCommOps[] = {
    {OpId::pld_system_defer_wait, defer_wait},
    {OpId::pld_system_notify, notify},
    {OpId::pld_system_wait, wait},
    {OpId::pld_tensor_get, get},
    {OpId::pld_tensor_put, put},
    {OpId::pld_tensor_remote_store, remote_store},
    {OpId::pld_tile_get, get},
    {OpId::pld_tile_put, put},
    {OpId::pld_tile_remote_load, remote_load},
    {OpId::pld_tile_remote_store, remote_store},
};

}  // namespace

std::span<const OpEmitter> comm_ops() { return kCommOps; }

}  // namespace pldc
