// Operations of host functions on tensors of the host and on windows.
#include <fmt/format.h>

#include "codegen/host/emitter.h"
#include "ir/check_op.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

constexpr std::size_t kMaxAxes = 8;

}  // namespace

std::string HostEmitter::element(const Call* call) {
  note_whole(call->args[0]);
  const auto* type = dyn<TensorType>(call->args[0]->type);
  const DType dtype = type != nullptr ? type->dtype : DType::FP32;
  return fmt::format("{}.at<{}>({})", tensor(call->args[0]), cpp_memory_type(dtype), extents(call->args[1]));
}

std::string HostEmitter::nested_call(const Call* call) {
  if (!call->is_op()) return {};
  if (call->op == OpId::pld_system_world_size) {
    world_size_used_ = true;
    return "world_size";
  }
  if (call->op == OpId::tensor_dim && is_plain_tensor(call->args[0]->type)) {
    return fmt::format("{}.dim({})", tensor(call->args[0]), axis_of(call, 1));
  }
  if (call->op == OpId::tensor_read && is_plain_tensor(call->args[0]->type)) {
    const bool is_bool = scalar_dtype(call->type) == DType::BOOL;
    return is_bool ? "(" + element(call) + " != 0)" : element(call);
  }
  return {};
}

std::string HostEmitter::slice_text(const Call* call) {
  std::string text = fmt::format(".box({}, {})", shape_text(elements(argument(call, "shape"))),
                                 shape_text(elements(argument(call, "offset"))));
  if (const Expr* drop = argument(call, "drop_dims"); drop != nullptr && !elements(drop).empty()) {
    text += fmt::format(".drop({})", extents(drop));
  }
  return text;
}

// A view of a host tensor is written where it is used if it is used once, else it gets a name.
void HostEmitter::view(const Var* result, const Expr* from, const std::string& views) {
  if (const Window* w = is_distributed(from->type) ? window(from) : nullptr) {
    Window made = *w;
    made.views += views;
    windows_.insert_or_assign(result, std::move(made));
    return;
  }
  const std::string text = tensor(from) + views;
  if (uses(result) == 1) {
    names_.alias(result, text);
  } else {
    out_.line(fmt::format("const pld::Tensor {} = {};", names_.declare(result), text));
  }
}

void HostEmitter::create(const Var* result, const Call* call, Span span) {
  const AttrValue* dtype_value = find_attr(call->kwargs, "dtype");
  const DType dtype = dtype_value != nullptr ? static_cast<DType>(dtype_value->integer) : DType::FP32;
  const List<const Expr*> shape = elements(call->args[0]);
  if (host_dtype(dtype).empty()) {
    env_.diags.report<diag::codegen_dtype>(span, fmt::format("'{}'", plain_name(result->name.text())),
                                           name_of(dtype), "the runtime");
    return;
  }
  if (shape.empty() || shape.size() > kMaxAxes) {
    env_.diags.report<diag::codegen_rank>(span, plain_name(result->name.text()), shape.size(),
                                          "a host tensor has", kMaxAxes);
    return;
  }
  hazards_.forget(result);
  const std::string list = shape_text(shape);
  const std::string& name = names_.declare(result);
  out_.comment(brief(call));
  out_.line(fmt::format("const pld::Tensor {} = h.tensor({}, {});", name, list, host_dtype(dtype)));
  std::string value;
  if (call->op == OpId::tensor_full) value = scalar_(argument(call, "value"));
  if (const AttrValue* init = find_attr(call->kwargs, "init_value");
      init != nullptr && init->kind == AttrKind::Float) {
    value = cpp_float(init->real);
  }
  if (value.empty()) return;
  const std::string_view type = cpp_memory_type(dtype);
  const std::string i = names_.fresh("i");
  out_.line(
      fmt::format("for (int64_t {0} = 0; {0} < {1}.size(); ++{0}) static_cast<{2}*>({1}.data)[{0}] = "
                  "static_cast<{2}>({3});",
                  i, name, type, value));
}

void HostEmitter::assemble(const Call* call, Span span) {
  const AttrValue* atomic = find_attr(call->kwargs, "atomic");
  if (atomic != nullptr && atomic->integer != 0) {
    env_.diags.report<diag::codegen_atomic_assemble>(span, "a host function");
    return;
  }
  if (!is_plain_tensor(call->args[0]->type) || !is_plain_tensor(call->args[1]->type))
    return unsupported(call, span);
  const auto* target = static_cast<const TensorType*>(call->args[0]->type);
  const auto* part = static_cast<const TensorType*>(call->args[1]->type);
  const Var* from = root(call->args[1]);
  if (from != nullptr && from == root(call->args[0])) return;
  std::string extents_text = "{";
  std::string dropped;
  const std::size_t more = target->shape.size() - std::min(target->shape.size(), part->shape.size());
  for (std::size_t i = 0; i < more; ++i) {
    extents_text += "1, ";
    dropped += fmt::format("{}{}", dropped.empty() ? "" : ", ", i);
  }
  std::string part_text = tensor(call->args[1]);
  const bool partial = part->view != nullptr && !part->view->valid_shape.empty();
  if (partial) {  // only what the source holds is written
    std::string zeros;
    for (std::size_t i = 0; i < part->shape.size(); ++i) zeros += i == 0 ? "0" : ", 0";
    part_text += fmt::format(".box({}, {{{}}})", extents(part->view->valid_shape), zeros);
  }
  for (std::size_t i = 0; i < part->shape.size(); ++i) {
    const auto extent = const_int(partial ? part->view->valid_shape[i] : part->shape[i]);
    extents_text += fmt::format("{}{}", i == 0 ? "" : ", ",
                                extent ? std::to_string(*extent) : fmt::format("{}.dim({})", part_text, i));
  }
  note_whole(call->args[0]);
  note_whole(call->args[1]);
  out_.line();
  out_.comment(brief(call));
  sync_if(true);
  out_.line(fmt::format("{}.box({}}}, {}){}.assign({});", tensor(call->args[0]), extents_text,
                        extents(call->args[2]), dropped.empty() ? "" : ".drop({" + dropped + "})",
                        part_text));
}

void HostEmitter::call_op(const Stmt* stmt, const Var* result, const Call* call) {
  const Span span = call->span.valid() ? call->span : stmt->span;
  if (result != nullptr && is_pure(call) && !needed(result)) return;
  if (builtin_variant(call)) return collective(call, span);
  if (const auto dtype = result != nullptr ? scalar_dtype(result->type) : std::nullopt) {
    if (call->op == OpId::pld_system_world_size) {
      names_.alias(result, nested_call(call));
      return;
    }
    if (call->op == OpId::tensor_read) sync_if(true);
    const std::string text = nested_call(call);
    if (text.empty()) return unsupported(call, span);
    out_.line(fmt::format("const {} {} = {};", cpp_scalar_type(*dtype), names_.declare(result), text));
    return;
  }
  if (call->op == OpId::tensor_write && is_plain_tensor(call->args[0]->type)) {
    const DType dtype = static_cast<const TensorType*>(call->args[0]->type)->dtype;
    const std::string value = scalar_.as(call->args[2], dtype);
    sync_if(true);
    out_.line(fmt::format("{} = {};", element(call), dtype == DType::BOOL ? value + " ? 1 : 0" : value));
    return;
  }
  if (call->op == OpId::tensor_assemble) return assemble(call, span);
  if (result == nullptr) {
    if (is_pure(call)) return;
    return unsupported(call, span);
  }
  if (call->op == OpId::pld_tensor_alloc_window_buffer || call->op == OpId::pld_system_get_comm_ctx ||
      call->op == OpId::tensor_set_validshape) {
    return;  // looked through where they are used
  }
  if (call->op == OpId::pld_tensor_window) return make_window(result, call, span);
  if (call->op == OpId::tensor_create || call->op == OpId::tensor_full) return create(result, call, span);
  if (call->op == OpId::tensor_slice) return view(result, call->args[0], slice_text(call));
  if (call->op == OpId::tensor_reshape || call->op == OpId::tensor_view) {
    const Expr* shape = argument(call, "shape");
    return view(result, call->args[0],
                shape != nullptr ? fmt::format(".reshape({})", shape_text(elements(shape))) : std::string());
  }
  if (call->op == OpId::tensor_transpose) {
    return view(result, call->args[0], fmt::format(".transpose({}, {})", axis_of(call, 1), axis_of(call, 2)));
  }
  unsupported(call, span);
}

void HostEmitter::make_window(const Var* result, const Call* call, Span span) {
  const auto slot = slots_.find(root(call->args[0]));
  if (slot == slots_.end()) {
    env_.diags.report<diag::codegen_window>(span, plain_name(result->name.text()))
        .help("make the window from a buffer that pld.alloc_window_buffer has allocated in this function");
    return;
  }
  const auto* type = static_cast<const TensorType*>(result->type);
  if (host_dtype(type->dtype).empty()) {
    env_.diags.report<diag::codegen_dtype>(span, fmt::format("'{}'", plain_name(result->name.text())),
                                           name_of(type->dtype), "the runtime");
    return;
  }
  windows_.insert_or_assign(result, Window{slot->second.domain,
                                           slot->second.name,
                                           shape_text(elements(call->args[1])),
                                           type->dtype,
                                           {},
                                           elements(call->args[1])});
}

}  // namespace pldc
