// Tensors of a kernel: pointers, strides, boxes in global memory.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "codegen/device/body.h"
#include "ir/check_op.h"
#include "ir/walk.h"
#include "support/diag/codegen.h"

namespace pldc {

// ---- sums and products ------------------------------------------------------------------------------------------

void Sum::add(const Extent& term) {
  if (term.constant) {
    constant_ += *term.constant;
  } else {
    terms_.push_back(term.text);
    unit_ = std::gcd(unit_, term.unit);
  }
}

void Sum::add_product(const Extent& a, const Extent& b) { add(product(a, b)); }

std::string Sum::text() const {
  if (terms_.empty()) return std::to_string(constant_);
  std::string out = terms_[0];
  for (std::size_t i = 1; i < terms_.size(); ++i) out += " + " + terms_[i];
  if (constant_ > 0) out += fmt::format(" + {}", constant_);
  if (constant_ < 0) out += fmt::format(" - {}", -constant_);
  return out;
}

std::int64_t Sum::unit() const { return std::gcd(unit_, constant_); }

Extent Sum::extent() const {
  if (terms_.empty()) return Extent(constant_);
  const bool single = terms_.size() == 1 && constant_ == 0;
  return Extent(single ? terms_[0] : "(" + text() + ")", unit());
}

Extent product(const Extent& a, const Extent& b) {
  if (a.constant && b.constant) return Extent(*a.constant * *b.constant);
  if (a.is(0) || b.is(0)) return Extent(0);
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  std::int64_t unit = 1;
  if (__builtin_mul_overflow(a.unit, b.unit, &unit)) unit = std::max(a.unit, b.unit);
  return Extent(a.text + " * " + b.text, unit);
}

// ---- parameters -------------------------------------------------------------------------------------------------

void KernelBody::strides_of(const TensorType* type, std::vector<Extent>& out) {
  const std::size_t rank = type->shape.size();
  out.assign(rank, Extent(1));
  if (type->view != nullptr && type->view->stride.size() == rank) {
    for (std::size_t i = 0; i < rank; ++i) out[i] = index(type->view->stride[i]);
    return;
  }
  std::vector<std::size_t> order(rank);  // axes from the fastest one
  for (std::size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  if (type->view != nullptr && type->view->layout == TensorLayout::DN && rank >= 2)
    std::swap(order[0], order[1]);
  Extent step(1);
  for (const std::size_t axis : order) {
    out[axis] = step;
    step = product(step, index(type->shape[axis]));
  }
}

void KernelBody::bind_parameters() {
  std::vector<const Var*> windows;
  std::vector<const Var*> contexts;
  for (const AbiParam& param : env.signature.params) {
    const Var* var = param.param->var;
    const std::string& name = names_.declare(var);
    if (is_distributed(var->type)) windows.push_back(var);
    if (param.kind == ParamKind::Context) contexts.push_back(var);
    const auto* type = dyn<TensorType>(var->type);
    if (type == nullptr) continue;
    TensorRef ref;
    ref.root = var;
    ref.pointer = name;
    ref.base = name;
    ref.dtype = type->dtype;
    tensors_[var] = ref;
  }
  // Contexts are appended in the order of the windows; a kernel may have others of its own before them.
  if (contexts.size() >= windows.size()) {
    for (std::size_t i = 0; i < windows.size(); ++i) {
      contexts_[windows[i]] = contexts[contexts.size() - windows.size() + i];
    }
  }
  for (const SymbolSource& symbol : env.signature.symbols) names_.declare(symbol.symbol);
  // Shapes and strides may mention symbols: only those of the tensors that are used are asked for.
  for (const AbiParam& param : env.signature.params) {
    if (param.kind != ParamKind::Tensor) continue;
    const auto* type = static_cast<const TensorType*>(param.param->var->type);
    const bool packed = env.callers.always_packed(kernel, param.position);
    shapes_due_[param.param->var] = {type, packed,
                                     packed || env.callers.always_packed(kernel, param.position, true)};
  }
}

void KernelBody::complete(const Var* var, TensorRef& ref) {
  const auto due = shapes_due_.find(var);
  if (due == shapes_due_.end()) return;
  const auto [type, is_packed, packed_rows] = due->second;
  shapes_due_.erase(due);
  // On a CPU the fractal layouts are as good as row-major ones: nobody but kernels looks at windows and intermediates.
  if (type->view != nullptr && type->view->layout != TensorLayout::ND &&
      type->view->layout != TensorLayout::DN && is_official()) {
    env.diags
        .report<diag::kernel_layout>(var->span, plain_name(var->name.text()), name_of(type->view->layout))
        .help("use the layout ND or DN");
  }
  for (const Expr* dim : type->shape) ref.shape.push_back(index(dim));
  // A stride that no type fixes is read from the argument.
  const bool symbolic =
      type->view != nullptr && std::any_of(type->view->stride.begin(), type->view->stride.end(),
                                           [](const Expr* e) { return !fold(e); });
  const bool written = type->view != nullptr && !type->view->stride.empty() && !symbolic;
  if (written || (is_packed && !symbolic)) {
    strides_of(type, ref.stride);
    return;
  }
  ref.known_strides = false;
  const AbiParam* param = env.signature.find(var);
  for (std::size_t axis = 0; axis < type->shape.size(); ++axis) {
    const auto extent = fold(type->shape[axis]);
    if (extent == 1 || (packed_rows && !symbolic && axis + 1 == type->shape.size())) {
      ref.stride.emplace_back(1);  // of one element: never multiplied by anything but 0
    } else {
      ref.stride.emplace_back(fmt::format("pld_stride(args, {}, {})", param->index, axis));
    }
  }
}

TensorRef KernelBody::tensor(const Expr* expr) {
  const auto* var = dyn<Var>(expr);
  if (var != nullptr) {
    const auto known = tensors_.find(var);
    if (known != tensors_.end()) {
      complete(var, known->second);
      return known->second;
    }
  }
  // What could not be made is missing where it is used; that it could not was reported.
  if (expr != nullptr && env.diags.error_count() == errors_) {
    const std::string_view name = var != nullptr ? plain_name(var->name.text()) : std::string_view("?");
    env.diags.report<diag::kernel_tensor>(expr->span, name)
        .help("pass it as a parameter, or run the passes up to ConvertTensorToTileOps");
  }
  fail();
  return {};
}

// ---- aliases ----------------------------------------------------------------------------------------------------

// The variable whose memory this one is, whatever path was taken: through stores, loop carries and branches whose values
// all come from one place. A value that may be one of several is its own origin.
const Var* KernelBody::origin(const Var* var) {
  const auto known = origins_.find(var);
  if (known != origins_.end()) return known->second;
  origins_[var] = var;
  const auto found = definitions_.find(var);
  if (found == definitions_.end() || mixed_.count(var) != 0) return var;
  const auto origin_of = [&](const Expr* expr) {
    const auto* v = dyn<Var>(expr);
    return v != nullptr ? origin(v) : nullptr;
  };
  const auto yielded = [](Body body, std::size_t i) -> const Expr* {
    const auto* last = body.empty() ? nullptr : dyn<YieldStmt>(body.back());
    return last != nullptr && i < last->values.size() ? last->values[i] : nullptr;
  };
  const Var* out = nullptr;
  if (const auto* assign = dyn<AssignStmt>(found->second)) {
    const Expr* source = assign->value;
    if (const auto* call = dyn<Call>(source)) {
      const int operand = call->is_op() ? op_info(call->op).effects.result_aliases : -1;
      source = operand >= 0 && static_cast<std::size_t>(operand) < call->args.size()
                   ? call->args[static_cast<std::size_t>(operand)]
                   : nullptr;
    }
    out = origin_of(source);
  } else if (const auto* branch = dyn<IfStmt>(found->second)) {
    for (std::size_t i = 0; i < branch->return_vars.size(); ++i) {
      if (branch->return_vars[i] != var) continue;
      const Var* then_origin = origin_of(yielded(branch->then_body, i));
      out = then_origin != nullptr && then_origin == origin_of(yielded(branch->else_body, i)) ? then_origin
                                                                                              : nullptr;
    }
  } else {
    const auto* loop = dyn<ForStmt>(found->second);
    const auto* loop_while = dyn<WhileStmt>(found->second);
    const List<IterArg> args = loop != nullptr ? loop->iter_args : loop_while->iter_args;
    const List<const Var*> results = loop != nullptr ? loop->return_vars : loop_while->return_vars;
    const Body body = loop != nullptr ? loop->body : loop_while->body;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (i < results.size() && results[i] == var) out = origin(args[i].var);
      if (args[i].var != var) continue;
      const Var* first = origin_of(args[i].init);
      if (first == nullptr) break;
      origins_[var] = first;  // if every iteration keeps it
      if (origin_of(yielded(body, i)) == first) {
        out = first;
      } else {  // it does not: whatever relied on that is found anew
        mixed_.insert(var);
        origins_.clear();
        return origin(var);
      }
    }
  }
  if (out != nullptr) origins_[var] = out;
  return origins_[var];
}

// ---- addresses and boxes ----------------------------------------------------------------------------------------

bool KernelBody::offset_of(const OpCall& op, const TensorRef& tensor, const Expr* indices, Sum& out) {
  const auto* list = dyn<MakeTuple>(indices);
  out = tensor.offset;
  if (tensor.pointer.empty()) return false;  // reported
  if (list == nullptr || list->elements.size() != tensor.stride.size()) {
    env.diags
        .report<diag::kernel_indices>(op.span(), op.info().name, list != nullptr ? list->elements.size() : 0,
                                      tensor.stride.size())
        .help("give one offset for each dimension of the tensor");
    return false;
  }
  for (std::size_t i = 0; i < list->elements.size(); ++i)
    out.add_product(index(list->elements[i]), tensor.stride[i]);
  return true;
}

std::string KernelBody::address(const TensorRef& tensor, const Sum& offset) {
  if (offset.is_zero()) return tensor.pointer;
  return fmt::format("{} + {}", tensor.pointer, offset.extent().text);
}

std::string KernelBody::global_matrix(const TensorRef& tensor, const std::string& pointer, const Extent& rows,
                                      const Extent& cols, const Extent& row_stride, const Extent& col_stride,
                                      bool column) {
  TensorRef matrix = tensor;
  matrix.stride = {row_stride, col_stride};
  return global(OpCall{nullptr, nullptr}, matrix, pointer, {rows, cols}, column);
}

std::string KernelBody::global(const OpCall& op, const TensorRef& tensor, const std::string& pointer,
                               const std::vector<Extent>& box, bool column) {
  constexpr std::size_t kAxes = 5;
  std::vector<Extent> shape = box;
  std::vector<Extent> stride = tensor.stride;
  // More axes than the type has: those of one element say nothing.
  for (std::size_t i = 0; shape.size() > kAxes && i < shape.size();) {
    if (shape[i].is(1)) {
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(i));
      stride.erase(stride.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (shape.size() > kAxes) {
    env.diags.report<diag::kernel_rank>(op.span(), op.info().name, shape.size())
        .help("view the tensor with fewer dimensions");
    fail();
    return "missing";
  }
  while (shape.size() < kAxes) {
    // The stride of an axis of one element is not used; it repeats the extent of what lies inside.
    const Extent outer = stride.empty() ? Extent(1) : product(stride.front(), shape.front());
    shape.insert(shape.begin(), Extent(1));
    stride.insert(stride.begin(), outer.constant && *outer.constant > 0 ? outer : Extent(1));
  }
  // Rows of several axes that follow each other are rows of one.
  for (std::size_t i = 3; column && i-- > 0;) {
    if (shape[i].is(1)) continue;
    if (!(stride[i] == product(stride[3], shape[3]))) break;
    shape[3] = product(shape[i], shape[3]);
    shape[i] = Extent(1);
  }
  check_box(shape, stride, column);
  if (column && stride[3].is(1)) stride[4] = shape[3].constant ? shape[3] : Extent(1);
  const auto list = [](const std::vector<Extent>& extents, std::string& dynamic) {
    std::string text;
    for (const Extent& e : extents) {
      if (!text.empty()) text += ", ";
      // Template arguments are ints: what is larger is given to the constructor, as what is not known.
      const bool fixed = e.constant && *e.constant <= std::numeric_limits<std::int32_t>::max();
      text += fixed ? e.text : "-1";
      if (!fixed) dynamic += (dynamic.empty() ? "" : ", ") + e.text;
    }
    return text;
  };
  std::string shape_values;
  std::string stride_values;
  const std::string shape_type = "Shape<" + list(shape, shape_values) + ">";
  const std::string stride_type = "Stride<" + list(stride, stride_values) + ">";
  const std::string name = fresh(fmt::format("{}_{}", tensor.base, global_counts_[tensor.base]++));
  std::string arguments = pointer;
  if (!shape_values.empty() || !stride_values.empty()) {
    arguments += fmt::format(", {}({})", shape_type, shape_values);
    arguments += fmt::format(", {}({})", stride_type, stride_values);
  }
  place();
  const std::string head =
      fmt::format("GlobalTensor<{}, {}, {}, Layout::{}> {}(", cpp_memory_type(tensor.dtype), shape_type,
                  stride_type, column ? "DN" : "ND", name);
  if (head.size() + arguments.size() + 2 + static_cast<std::size_t>(body_.depth()) * 2 <= kCppColumns) {
    line(head + arguments + ");");
  } else {
    statement(head);
    statement("    " + arguments + ");");
  }
  return name;
}

std::string KernelBody::peer_address(const OpCall& op, const TensorRef& tensor, const std::string& pointer,
                                     const Expr* peer) {
  const auto found = contexts_.find(tensor.root);
  if (tensor.root == nullptr || found == contexts_.end()) {
    env.diags
        .report<diag::kernel_operand>(op.span(), tensor.base, op.info().name, "a window of known context")
        .help("run the pass MaterializeDistTensorCtx, or take the window as a parameter of the kernel");
    return {};
  }
  return fmt::format("pld_peer({}, {}, {})", scalar_name(found->second), pointer, scalars.index(peer));
}

std::string KernelBody::context(const Expr* expr) {
  const auto* var = dyn<Var>(expr);
  return var != nullptr ? scalar_name(var) : std::string("nullptr");
}

}  // namespace pldc
