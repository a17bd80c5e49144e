// Transfers between global memory and tiles, and views of tensors.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/device/ops.h"
#include "codegen/device/transfer.h"
#include "ir/check_op.h"
#include "support/diag/codegen.h"
#include "support/diag/op.h"

namespace pldc {
namespace {

bool is_whole(const TileType* type) { return type->view == nullptr || type->view->valid_shape.empty(); }

std::vector<Extent> extents(KernelBody& body, List<const Expr*> dims) {
  std::vector<Extent> out;
  for (const Expr* dim : dims) out.push_back(body.index(dim));
  return out;
}

bool has_atomic_add(DType dtype) {
  return dtype == DType::FP32 || dtype == DType::FP16 || dtype == DType::BF16 || dtype == DType::INT32 ||
         dtype == DType::INT16 || dtype == DType::INT8;
}

}  // namespace

bool is_atomic_add(KernelBody& body, const OpCall& op, DType dtype, bool& atomic) {
  atomic = keyword_int(op, "atomic", 0) == static_cast<std::int64_t>(AtomicType::Add);
  if (!atomic || has_atomic_add(dtype)) return true;
  body.env.diags
      .report<diag::op_atomic_dtype>(op.span(), op.info().name, "FP32, BF16, FP16, INT32, INT16 and INT8",
                                     name_of(dtype))
      .help("cast the tile to one of them before it is stored");
  return false;
}

void emit_load(KernelBody& body, const OpCall& op, const TensorRef& tensor, const std::string& pointer,
               const std::vector<Extent>& box, const TileRef& to) {
  const bool direct = to.form.space == MemSpace::Vec || to.form.space == MemSpace::Mat;
  TileRef landing = to;
  if (!direct) {
    landing = body.scratch(tile_form(MemSpace::Mat, to.form.dtype, to.ir_rows, to.ir_cols), to.valid_rows,
                           to.valid_cols);
    landing.ir_rows = to.ir_rows;
    landing.ir_cols = to.ir_cols;
  }
  const std::string global = body.global(op, tensor, pointer, box, landing.form.by_columns);
  Touch touch;
  touch.writes = {landing};
  touch.reads_global = true;
  body.issue(Pipe::MTE2, touch, fmt::format("TLOAD({}, {});", landing.name, global));
  if (!direct) body.move(to, landing);
}

void emit_store(KernelBody& body, const OpCall& op, const TensorRef& tensor, const std::string& pointer,
                const std::vector<Extent>& box, const TileRef& tile, bool atomic) {
  const MemSpace space = tile.form.space;
  const bool direct = space == MemSpace::Vec || space == MemSpace::Acc || space == MemSpace::Mat;
  TileRef from = direct ? tile : body.in_space(tile, MemSpace::Vec);
  if (from.form.dtype != tensor.dtype && from.form.space != MemSpace::Acc)
    from = body.with_dtype(from, tensor.dtype);
  const std::string global = body.global(op, tensor, pointer, box, from.form.by_columns);
  Touch touch;
  touch.reads = {from};
  touch.writes_global = true;
  const std::string types =
      atomic ? fmt::format("<decltype({}), decltype({}), AtomicType::AtomicAdd>", from.name, global)
             : std::string();
  body.issue(from.form.space == MemSpace::Acc ? Pipe::FIX : Pipe::MTE3, touch,
             fmt::format("TSTORE{}({}, {});", types, global, from.name));
}

namespace {

// Cuts the first `axes` axes of the box to `rows` rows: their outermost axis with more than one element takes what the
// others leave of them.
bool fit_rows(KernelBody& body, const OpCall& op, const Extent& rows, std::vector<Extent>& box,
              std::size_t axes) {
  std::size_t outer = axes;
  Extent inner(1);
  for (std::size_t i = 0; i < axes; ++i) {
    if (box[i].is(1)) continue;
    if (outer == axes) {
      outer = i;
    } else {
      inner = product(inner, box[i]);
    }
  }
  if (outer == axes) return true;
  if (inner.is(1)) {
    box[outer] = rows;
    return true;
  }
  if (rows.constant && inner.constant) {
    if (*rows.constant % *inner.constant != 0) return body.require_rectangle(op, nullptr);
    box[outer] = Extent(*rows.constant / *inner.constant);
    return true;
  }
  body.place();
  body.statement(
      fmt::format("if ({0} % {1} != 0) PLD_FAIL(\"%lld rows are no whole number of planes of %lld\", "
                  "static_cast<long long>({0}), static_cast<long long>({1}));",
                  "(" + rows.text + ")", inner.constant ? inner.text : "(" + inner.text + ")"));
  box[outer] =
      Extent(fmt::format("({} / {})", rows.text, inner.constant ? inner.text : "(" + inner.text + ")"));
  return true;
}

}  // namespace

// The box that a transfer of the tile's valid part covers: `dims` are its extents as the operation names them (one for
// each axis of the tensor; empty: the last axes). False after a report.
bool transfer_box(KernelBody& body, const OpCall& op, const TensorRef& tensor, const TileType* type,
                  List<const Expr*> dims, bool exact, TensorRef& shaped, std::vector<Extent>& box) {
  shaped = tensor;
  const std::size_t rank = tensor.stride.size();
  if (type->shape.size() == rank) {
    box = extents(body, valid_shape_of(type));
    return true;
  }
  const KernelBody::Box valid = body.valid_box(type);
  const auto physical = physical_tile(type);
  if (dims.size() != rank) {  // the tile lies in the last axes
    box.assign(rank, Extent(1));
    if (rank >= 1) box[rank - 1] = valid.cols;
    if (rank >= 2) box[rank - 2] = valid.rows;
    if (rank == 1 && physical && physical->cols == 1) box[0] = valid.rows;
  } else {
    box = extents(body, dims);
    // The columns of the tile are the last axis with more than one element, its rows all the axes before.
    std::size_t last = rank - 1;
    while (last > 0 && box[last].is(1) && !valid.cols.is(1)) --last;
    if (!valid.cols.is(1) || box[last].is(1)) {
      if (!is_whole(type) && !exact) {
        box[last] = valid.cols;
        if (!fit_rows(body, op, valid.rows, box, last)) return false;
      }
      if (last + 1 < rank) {  // trailing axes of one element
        box.resize(last + 1);
        shaped.stride.resize(last + 1);
      }
      return true;
    }
  }
  // A column: all axes with more than one element are rows.
  if (valid.cols.is(1) && !box.back().is(1)) {
    if (!is_whole(type) && !exact && !fit_rows(body, op, valid.rows, box, box.size())) return false;
    box.emplace_back(1);
    shaped.stride.emplace_back(1);
  }
  return true;
}

namespace {

bool load(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const auto* type = static_cast<const TileType*>(op.result->type);
  if (!body.check_dtype(op, type->dtype)) return false;
  const TensorRef tensor = body.tensor(op.arg(0));
  Sum offset;
  if (!body.offset_of(op, tensor, op.arg(1), offset)) return false;
  const TileRef to = body.result(op.result);
  const bool has_valid = op.args() > 3;
  const auto* dims = dyn<MakeTuple>(has_valid ? op.arg(3) : op.arg(2));
  TensorRef shaped;
  std::vector<Extent> box;
  if (!transfer_box(body, op, tensor, type, dims != nullptr ? dims->elements : List<const Expr*>{},
                    has_valid && keyword_int(op, "clamp", 0) == 0, shaped, box)) {
    return false;
  }
  emit_load(body, op, shaped, KernelBody::address(tensor, offset), box, to);
  return true;
}

bool store(KernelBody& body, const OpCall& op) {
  const TensorRef tensor = body.tensor(op.arg(2));
  const TileRef from = body.tile(op.arg(0));
  const auto* type = dyn<TileType>(op.arg(0)->type);
  bool atomic = false;
  Sum offset;
  if (type == nullptr || !body.check_dtype(op, tensor.dtype) ||
      !is_atomic_add(body, op, tensor.dtype, atomic) || !body.require_rectangle(op, type) ||
      !body.offset_of(op, tensor, op.arg(1), offset)) {
    return false;
  }
  const auto* dims = dyn<MakeTuple>(op.arg(3));
  TensorRef shaped;
  std::vector<Extent> box;
  if (!transfer_box(body, op, tensor, type, dims != nullptr ? dims->elements : List<const Expr*>{}, false,
                    shaped, box)) {
    return false;
  }
  emit_store(body, op, shaped, KernelBody::address(tensor, offset), box, from, atomic);
  if (op.result != nullptr) body.bind(op.result, tensor);
  return true;
}

// A rectangle of a tensor into a tile, transposed if asked.
bool gather_row(KernelBody& body, const OpCall& op) {
  const TileRef to = in_place(body, op, 0);
  const TensorRef tensor = body.tensor(op.arg(1));
  const auto* at = dyn<MakeTuple>(op.arg(2));
  const auto* extents_of = dyn<MakeTuple>(argument(op.call, "valid_shape"));
  if (extents_of == nullptr) extents_of = dyn<MakeTuple>(argument(op.call, "shapes"));
  Sum offset;
  if (!body.offset_of(op, tensor, op.arg(3), offset)) return false;
  const std::size_t rank = tensor.stride.size();
  if (at == nullptr || extents_of == nullptr || at->elements.size() != 2 ||
      extents_of->elements.size() != rank || rank < 2) {
    body.env.diags.report<diag::kernel_tile_rank>(op.span(), op.info().name, rank)
        .help("use lists of two elements");
    return false;
  }
  const bool transpose = keyword_int(op, "transpose", 0) != 0;
  Extent rows = body.index(extents_of->elements[rank - 2]);
  Extent cols = body.index(extents_of->elements[rank - 1]);
  Extent row_stride = tensor.stride[rank - 2];
  Extent col_stride = tensor.stride[rank - 1];
  if (transpose) {
    std::swap(rows, cols);
    std::swap(row_stride, col_stride);
  }
  Sum bytes;
  const Extent size(static_cast<std::int64_t>(byte_width(to.form.dtype)));
  bytes.add_product(body.index(at->elements[0]), Extent(to.form.row_step() * *size.constant));
  bytes.add_product(body.index(at->elements[1]), Extent(to.form.col_step() * *size.constant));
  const TileRef part = body.view(to, to.form, rows, cols, bytes, "part");
  const std::string global = body.global_matrix(tensor, KernelBody::address(tensor, offset), rows, cols,
                                                row_stride, col_stride, part.form.by_columns);
  Touch touch;
  touch.writes = {to};
  touch.reads_global = true;
  body.issue(Pipe::MTE2, touch, fmt::format("TLOAD({}, {});", part.name, global));
  return true;
}

bool mgather(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  constexpr std::string_view kOutOfBounds[] = {"Undefined", "Clamp", "Wrap", "Zero"};
  const std::int64_t oob = keyword_int(op, "gather_oob", 0);
  const bool rows = keyword_int(op, "coalesce", 0) == 0;
  const TensorRef memory = body.tensor(op.arg(0));
  if (!body.is_tile(op.arg(1)) || oob < 0 || oob > 3) {
    body.env.diags.report<diag::kernel_operand>(op.span(), "idx", op.info().name, "a tile")
        .help("load the indices into a tile first");
    return false;
  }
  const TileRef to = body.result(op.result);
  TileRef index = vector_operand(body, op, 1);
  if (rows) index = body.row_operand(index);
  const std::string global =
      body.global(op, memory, KernelBody::address(memory, memory.offset), memory.shape, false);
  body.place();
  body.alone(fmt::format("MGATHER<GatherMode::{}, GatherOOB::{}>({}, {}, {});", rows ? "Row" : "Elem",
                         kOutOfBounds[oob], to.name, global, index.name));
  return true;
}

bool mscatter(KernelBody& body, const OpCall& op) {
  const TensorRef memory = body.tensor(op.arg(2));
  const TileRef source = vector_operand(body, op, 0);
  const TileRef index = vector_operand(body, op, 1);
  const std::string global =
      body.global(op, memory, KernelBody::address(memory, memory.offset), memory.shape, false);
  body.place();
  body.alone(fmt::format("MSCATTER({}, {}, {});", global, source.name, index.name));
  if (op.result != nullptr) body.bind(op.result, memory);
  return true;
}

// ---- views ------------------------------------------------------------------------------------------------------

bool tensor_slice(KernelBody& body, const OpCall& op) {
  TensorRef out = body.tensor(op.arg(0));
  const auto* shape = dyn<MakeTuple>(op.arg(1));
  Sum offset;
  if (shape == nullptr || !body.offset_of(op, out, op.arg(2), offset)) return false;
  out.offset = offset;
  out.shape = extents(body, shape->elements);
  out.known_strides = false;
  if (const auto* drop = dyn<MakeTuple>(argument(op.call, "drop_dims"))) {
    for (std::size_t i = drop->elements.size(); i-- > 0;) {  // ascending axes
      const auto axis = KernelBody::fold(drop->elements[i]);
      if (!axis || *axis < 0 || static_cast<std::size_t>(*axis) >= out.shape.size()) continue;
      out.shape.erase(out.shape.begin() + *axis);
      out.stride.erase(out.stride.begin() + *axis);
    }
  }
  if (op.result != nullptr) body.bind(op.result, out);
  return true;
}

// Another shape for the same elements. Axes of one element come and go; otherwise the memory must have no gaps.
bool tensor_reshape(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  TensorRef out = body.tensor(op.arg(0));
  const auto* type = static_cast<const TensorType*>(op.result->type);
  std::vector<Extent> old_shape;
  std::vector<Extent> old_stride;
  for (std::size_t i = 0; i < out.shape.size(); ++i) {
    if (out.shape[i].is(1)) continue;
    old_shape.push_back(out.shape[i]);
    old_stride.push_back(out.stride[i]);
  }
  const std::vector<Extent> shape = extents(body, type->shape);
  std::vector<Extent> kept;
  for (const Extent& e : shape) {
    if (!e.is(1)) kept.push_back(e);
  }
  std::vector<Extent> stride(shape.size(), Extent(1));
  if (kept == old_shape) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (!shape[i].is(1)) stride[i] = old_stride[next++];
    }
  } else {
    if (!out.known_strides) {
      body.env.diags.report<diag::kernel_view_gaps>(op.span(), op.info().name, out.base)
          .help("pass the tensor itself instead of a part of it, or reshape before the part is taken");
      return false;
    }
    body.strides_of(type, stride);
  }
  out.shape = shape;
  out.stride = stride;
  body.bind(op.result, out);
  return true;
}

bool tensor_transpose(KernelBody& body, const OpCall& op) {
  TensorRef out = body.tensor(op.arg(0));
  const auto rank = static_cast<std::int64_t>(out.shape.size());
  auto a = KernelBody::fold(op.arg(1));
  auto b = KernelBody::fold(op.arg(2));
  if (!a || !b) return false;
  if (*a < 0) *a += rank;
  if (*b < 0) *b += rank;
  if (*a < 0 || *b < 0 || *a >= rank || *b >= rank) return false;
  std::swap(out.shape[static_cast<std::size_t>(*a)], out.shape[static_cast<std::size_t>(*b)]);
  std::swap(out.stride[static_cast<std::size_t>(*a)], out.stride[static_cast<std::size_t>(*b)]);
  out.known_strides = false;
  if (op.result != nullptr) body.bind(op.result, out);
  return true;
}

bool same_tensor(KernelBody& body, const OpCall& op) {
  const TensorRef tensor = body.tensor(op.arg(0));
  if (op.result != nullptr) body.bind(op.result, tensor);
  return true;
}

// A tile, or another tensor, written into a tensor.
bool tensor_assemble(KernelBody& body, const OpCall& op) {
  const auto* type = dyn<TileType>(op.arg(1)->type);
  if (type == nullptr) return copy_tensor(body, op);
  const TensorRef tensor = body.tensor(op.arg(0));
  const TileRef from = body.tile(op.arg(1));
  bool atomic = false;
  Sum offset;
  if (!is_atomic_add(body, op, tensor.dtype, atomic) || !body.require_rectangle(op, type) ||
      !body.offset_of(op, tensor, op.arg(2), offset)) {
    return false;
  }
  TensorRef shaped;
  std::vector<Extent> box;
  if (!transfer_box(body, op, tensor, type, {}, false, shaped, box)) return false;
  emit_store(body, op, shaped, KernelBody::address(tensor, offset), box, from, atomic);
  if (op.result != nullptr) body.bind(op.result, tensor);
  return true;
}

bool tensor_write(KernelBody& body, const OpCall& op) {
  const TensorRef tensor = body.tensor(op.arg(0));
  Sum offset;
  if (!body.check_dtype(op, tensor.dtype) || !has_scalar_form(body, op, tensor.dtype) ||
      !body.offset_of(op, tensor, op.arg(1), offset)) {
    return false;
  }
  body.place();
  body.alone(fmt::format("pld_write({}, {});", KernelBody::address(tensor, offset),
                         body.scalars.as(op.arg(2), tensor.dtype)));
  if (op.result != nullptr) body.bind(op.result, tensor);
  return true;
}

constexpr OpEmitter kMemoryOps[] = {
    {OpId::tensor_assemble, tensor_assemble},
    {OpId::tensor_reshape, tensor_reshape},
    {OpId::tensor_set_validshape, same_tensor},
    {OpId::tensor_slice, tensor_slice},
    {OpId::tensor_transpose, tensor_transpose},
    {OpId::tensor_view, tensor_reshape},
    {OpId::tensor_write, tensor_write},
    {OpId::tile_gather_row, gather_row},
    {OpId::tile_load, load},
    {OpId::tile_mgather, mgather},
    {OpId::tile_mscatter, mscatter},
    {OpId::tile_store, store},
};

}  // namespace

std::span<const OpEmitter> memory_ops() { return kMemoryOps; }

}  // namespace pldc
