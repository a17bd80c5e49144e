// Matrix products.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/device/ops.h"
#include "codegen/device/transfer.h"

namespace pldc {
namespace {

// A factor in its memory and with the rounding of that memory, not that of a tile which it is a part of.
TileRef factor(KernelBody& body, const Expr* expr, MemSpace space) {
  const TileRef given = body.tile(expr);
  const TileForm form = tile_form(space, given.form.dtype, given.ir_rows, given.ir_cols);
  if (given.form.space == space && given.form.rows == form.rows && given.form.cols == form.cols) return given;
  TileRef out = body.scratch(form, given.valid_rows, given.valid_cols);
  out.ir_rows = given.ir_rows;
  out.ir_cols = given.ir_cols;
  body.issue(KernelBody::move_pipe(form, given.form), {{given}, {out}},
             fmt::format("TMOV({}, {});", out.name, given.name));
  return out;
}

// The accumulator of the result: its own place, or scratch memory if that is not an accumulator.
TileRef accumulator(KernelBody& body, const TileRef& result) {
  const TileForm form = tile_form(MemSpace::Acc, result.form.dtype, result.ir_rows, result.ir_cols);
  if (result.form.space == MemSpace::Acc && result.form.rows == form.rows && result.form.cols == form.cols)
    return result;
  TileRef out = body.scratch(form, result.valid_rows, result.valid_cols);
  out.ir_rows = result.ir_rows;
  out.ir_cols = result.ir_cols;
  return out;
}

struct Product {
  std::string callee;          // "TMATMUL" or "TGEMV"
  std::size_t acc = SIZE_MAX;  // argument numbers
  std::size_t left = 0;
  std::size_t right = 1;
  std::size_t bias = SIZE_MAX;
  std::size_t condition = SIZE_MAX;
};

// The official library multiplies floats into FP32 and INT8 into INT32.
void check_product(KernelBody& body, DType left, DType right, DType acc) {
  const bool floats = left == DType::FP16 || left == DType::BF16 || left == DType::FP32;
  if (!body.is_official() || (left == right && floats && acc == DType::FP32) ||
      (left == right && left == DType::INT8 && acc == DType::INT32)) {
    return;
  }
  body.refuse_official(
      fmt::format("it multiplies {} and {} into {}", name_of(left), name_of(right), name_of(acc)),
      "multiply FP16, BF16 or FP32 into FP32, or INT8 into INT32");
}

bool multiply(KernelBody& body, const OpCall& op, const Product& p) {
  if (op.result == nullptr && p.acc == SIZE_MAX) return true;
  const auto* left_type = static_cast<const TileType*>(op.arg(p.left)->type);
  if (!body.check_dtype(op, left_type->dtype) || !require_rank_2(body, op, op.arg(p.left))) return false;
  const TileRef left = factor(body, op.arg(p.left), MemSpace::Left);
  const TileRef right = factor(body, op.arg(p.right), MemSpace::Right);
  if (p.acc != SIZE_MAX) {
    const TileRef result = in_place(body, op, p.acc);
    const TileRef acc = accumulator(body, result);
    check_product(body, left.form.dtype, right.form.dtype, acc.form.dtype);
    if (acc.name != result.name) body.move(acc, result);
    const std::string add =
        fmt::format("{0}_ACC({1}, {1}, {2}, {3});", p.callee, acc.name, left.name, right.name);
    std::string text = add;
    if (p.condition < op.args()) {  // true: the accumulator's contents do not count
      const std::string fresh = fmt::format("{}({}, {}, {});", p.callee, acc.name, left.name, right.name);
      const auto* constant = dyn<ConstBool>(op.arg(p.condition));
      text = constant != nullptr
                 ? (constant->value ? fresh : add)
                 : fmt::format("if ({}) {} else {}", body.scalars.condition(op.arg(p.condition)),
                               "{ " + fresh + " }", "{ " + add + " }");
    }
    body.issue(Pipe::M, {{left, right, acc}, {acc}}, text);
    if (acc.name != result.name) body.move(result, acc);
    return true;
  }
  const TileRef result = body.result(op.result);
  const TileRef acc = accumulator(body, result);
  check_product(body, left.form.dtype, right.form.dtype, acc.form.dtype);
  Touch touch{{left, right}, {acc}};
  std::string text = fmt::format("{}({}, {}, {});", p.callee, acc.name, left.name, right.name);
  if (p.bias != SIZE_MAX) {
    const TileRef bias = body.in_space(body.tile(op.arg(p.bias)), MemSpace::Bias);
    touch.reads.push_back(bias);
    text = fmt::format("{}_BIAS({}, {}, {}, {});", p.callee, acc.name, left.name, right.name, bias.name);
  }
  body.issue(Pipe::M, touch, text);
  if (acc.name != result.name) body.move(result, acc);
  return true;
}

bool matmul(KernelBody& body, const OpCall& op) { return multiply(body, op, {"TMATMUL", SIZE_MAX, 0, 1}); }
bool matmul_acc(KernelBody& body, const OpCall& op) {
  return multiply(body, op, {"TMATMUL", 0, 1, 2, SIZE_MAX, 3});
}
bool matmul_bias(KernelBody& body, const OpCall& op) {
  return multiply(body, op, {"TMATMUL", SIZE_MAX, 0, 1, 2});
}
bool gemv(KernelBody& body, const OpCall& op) { return multiply(body, op, {"TGEMV", SIZE_MAX, 0, 1}); }
bool gemv_acc(KernelBody& body, const OpCall& op) {
  return multiply(body, op, {"TGEMV", 0, 1, 2, SIZE_MAX, 3});
}
bool gemv_bias(KernelBody& body, const OpCall& op) {
  return multiply(body, op, {"TGEMV", SIZE_MAX, 0, 1, 2});
}

// ---- batches ----------------------------------------------------------------------------------------------------

std::optional<std::vector<std::int64_t>> constant_shape(const Expr* expr) {
  const auto* type = dyn<TileType>(expr->type);
  if (type == nullptr || type->shape.size() < 2) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const Expr* dim : type->shape) {
    const auto extent = KernelBody::fold(dim);
    if (!extent) return std::nullopt;
    out.push_back(*extent);
  }
  return out;
}

// The number of the matrix of `shape` that belongs to batch number `index` of `batch`: axes of one element repeat.
std::int64_t matrix_of(std::int64_t index, const std::vector<std::int64_t>& batch,
                       const std::vector<std::int64_t>& shape) {
  std::int64_t out = 0;
  std::int64_t step = 1;
  const std::size_t axes = shape.size() - 2;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::int64_t extent = batch[batch.size() - 1 - i];
    const std::int64_t digit = index % extent;
    index /= extent;
    if (i >= axes) continue;
    const std::int64_t own = shape[axes - 1 - i];
    if (own != 1) out += digit * step;
    step *= own;
  }
  return out;
}

bool batch(KernelBody& body, const OpCall& op, bool accumulate) {
  if (op.result == nullptr && !accumulate) return true;
  const std::size_t first = accumulate ? 1 : 0;
  const auto left_shape = constant_shape(op.arg(first));
  const auto right_shape = constant_shape(op.arg(first + 1));
  const auto* out_type =
      static_cast<const TileType*>(op.result != nullptr ? op.result->type : op.arg(0)->type);
  if (!left_shape || !right_shape || !body.check_dtype(op, out_type->dtype)) return false;
  const TileRef result = accumulate ? in_place(body, op, 0) : body.result(op.result);
  const TileRef left = body.tile(op.arg(first));
  const TileRef right = body.tile(op.arg(first + 1));
  const std::int64_t m = (*left_shape)[left_shape->size() - 2];
  const std::int64_t k = left_shape->back();
  const std::int64_t n = right_shape->back();
  std::vector<std::int64_t> axes;
  std::int64_t count = 1;
  for (std::size_t i = 0; i + 2 < out_type->shape.size(); ++i) {
    axes.push_back(KernelBody::fold(out_type->shape[i]).value_or(1));
    count *= axes.back();
  }
  // Of each matrix, what holds data.
  const List<const Expr*> left_valid = valid_shape_of(op.arg(first)->type);
  const List<const Expr*> right_valid = valid_shape_of(op.arg(first + 1)->type);
  const Extent vm = body.index(left_valid[left_valid.size() - 2]);
  const Extent vk = body.index(left_valid.back());
  const Extent vn = body.index(right_valid.back());
  const TileRef l = body.scratch(tile_form(MemSpace::Left, left.form.dtype, m, k), vm, vk);
  const TileRef r = body.scratch(tile_form(MemSpace::Right, right.form.dtype, k, n), vk, vn);
  const TileRef acc = body.scratch(tile_form(MemSpace::Acc, result.form.dtype, m, n), vm, vn);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t left_row = matrix_of(i, axes, *left_shape) * m;
    const std::int64_t right_row = matrix_of(i, axes, *right_shape) * k;
    body.issue(Pipe::MTE1, {{left}, {l}},
               fmt::format("TEXTRACT({}, {}, {}, 0);", l.name, left.name, left_row));
    body.issue(Pipe::MTE1, {{right}, {r}},
               fmt::format("TEXTRACT({}, {}, {}, 0);", r.name, right.name, right_row));
    if (accumulate) {
      body.issue(Pipe::FIX, {{result}, {acc}},
                 fmt::format("TEXTRACT({}, {}, {}, 0);", acc.name, result.name, i * m));
      body.issue(Pipe::M, {{l, r, acc}, {acc}},
                 fmt::format("TMATMUL_ACC({0}, {0}, {1}, {2});", acc.name, l.name, r.name));
    } else {
      body.issue(Pipe::M, {{l, r}, {acc}}, fmt::format("TMATMUL({}, {}, {});", acc.name, l.name, r.name));
    }
    body.issue(Pipe::FIX, {{acc}, {result}},
               fmt::format("TINSERT({}, {}, {}, 0);", result.name, acc.name, i * m));
  }
  return true;
}

bool batch_matmul(KernelBody& body, const OpCall& op) { return batch(body, op, false); }
bool batch_matmul_acc(KernelBody& body, const OpCall& op) { return batch(body, op, true); }

// ---- microscaled ------------------------------------------------------------------------------------------------

TileRef scale(KernelBody& body, const Expr* expr) {
  TileRef given = body.tile(expr);
  if (given.form.dtype == DType::FP8E8M0) return given;
  TileForm form = given.form;
  form.dtype = DType::FP8E8M0;
  return body.view(given, form, given.valid_rows, given.valid_cols, {}, "scale");
}

bool matmul_mx(KernelBody& body, const OpCall& op) {
  const bool accumulate = op.call->op == OpId::tile_matmul_mx_acc;
  const bool biased = op.call->op == OpId::tile_matmul_mx_bias;
  if (op.result == nullptr && !accumulate) return true;
  const std::size_t first = accumulate ? 1 : 0;
  const TileRef left = factor(body, op.arg(first), MemSpace::Left);
  const TileRef left_scale = scale(body, op.arg(first + 1));
  const TileRef right = factor(body, op.arg(first + 2), MemSpace::Right);
  const TileRef right_scale = scale(body, op.arg(first + 3));
  const TileRef result = accumulate ? in_place(body, op, 0) : body.result(op.result);
  const TileRef acc = accumulator(body, result);
  if (accumulate && acc.name != result.name) body.move(acc, result);
  Touch touch{{left, right, left_scale, right_scale}, {acc}};
  std::string text = fmt::format("{}, {}, {}, {}", left.name, left_scale.name, right.name, right_scale.name);
  if (accumulate) {
    touch.reads.push_back(acc);
    text = fmt::format("TMATMUL_MX({0}, {0}, {1});", acc.name, text);
  } else if (biased) {
    const TileRef bias = body.in_space(body.tile(op.arg(4)), MemSpace::Bias);
    touch.reads.push_back(bias);
    text = fmt::format("TMATMUL_MX({}, {}, {});", acc.name, text, bias.name);
  } else {
    text = fmt::format("TMATMUL_MX({}, {});", acc.name, text);
  }
  body.issue(Pipe::M, touch, text);
  if (acc.name != result.name) body.move(result, acc);
  return true;
}

bool scale_address(KernelBody& body, const OpCall& op) {
  if (op.result != nullptr) body.bind(op.result, body.tile(op.arg(0)));
  return true;
}

constexpr OpEmitter kMatrixOps[] = {
    {OpId::tile_batch_matmul, batch_matmul},
    {OpId::tile_batch_matmul_acc, batch_matmul_acc},
    {OpId::tile_gemv, gemv},
    {OpId::tile_gemv_acc, gemv_acc},
    {OpId::tile_gemv_bias, gemv_bias},
    {OpId::tile_matmul, matmul},
    {OpId::tile_matmul_acc, matmul_acc},
    {OpId::tile_matmul_bias, matmul_bias},
    {OpId::tile_matmul_mx, matmul_mx},
    {OpId::tile_matmul_mx_acc, matmul_mx},
    {OpId::tile_matmul_mx_bias, matmul_mx},
    {OpId::tile_tget_scale_addr, scale_address},
};

}  // namespace

std::span<const OpEmitter> matrix_ops() { return kMatrixOps; }

}  // namespace pldc
