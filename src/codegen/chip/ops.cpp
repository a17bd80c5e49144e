// Operations of chip orchestrations: views and elements of tensors, arrays, task ids.
#include <fmt/format.h>

#include "codegen/chip/emitter.h"
#include "ir/check_op.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

constexpr std::size_t kMaxAxes = 5;

std::optional<DType> dtype_keyword(const Call* call) {
  const AttrValue* value = find_attr(call->kwargs, "dtype");
  return value != nullptr ? std::optional(static_cast<DType>(value->integer)) : std::nullopt;
}

}  // namespace

std::string ChipEmitter::u32_array(List<const Expr*> list, std::string_view prefix, Span span) {
  constexpr std::int64_t kMost = 0xffffffff;
  const ScalarText size = size_text();
  std::vector<std::string> items;
  bool may_fail = false;
  for (const Expr* e : list) {
    const std::string text = size.index(e);
    const auto constant = const_int(e);
    const bool fits = constant && *constant >= 0 && *constant <= kMost;
    may_fail = may_fail || !fits;
    items.push_back(fits ? text : fmt::format("pld_u32({})", text));
  }
  if (const std::uint32_t line = env_.places.at(span).line; may_fail && line != 0)
    out_.line(fmt::format("PLD_LOC({});", line));
  const std::string name = names_.fresh(prefix);
  out_.call(fmt::format("const uint32_t {}[{}] = {{", name, items.size()), items, "};");
  return name;
}

std::string ChipEmitter::info(List<const Expr*> shape, DType dtype, Span span) {
  if (abi_dtype(dtype).empty()) {
    env_.diags.report<diag::codegen_dtype>(span, "a tensor that is made here", name_of(dtype), "the runtime");
    return "c0";
  }
  if (shape.empty() || shape.size() > kMaxAxes) {
    env_.diags.report<diag::codegen_rank>(span, "a tensor that is made here", shape.size(), "a tensor has",
                                          kMaxAxes);
    return "c0";
  }
  const std::string extents = u32_array(shape, "s0", span);
  const std::string name = names_.fresh("c0");
  out_.line(
      fmt::format("const TensorCreateInfo {}({}, {}, {});", name, extents, shape.size(), abi_dtype(dtype)));
  return name;
}

void ChipEmitter::create(const Var* result, List<const Expr*> shape, DType dtype, const Expr* value,
                         Span span) {
  const std::string made = info(shape, dtype, span);
  const std::string list = names_.fresh("l0");
  out_.line(fmt::format("const TaskOutputTensors {} = alloc_tensors({});", list, made));
  const std::string& name = names_.declare(result);
  out_.line(fmt::format("const ChipTensor& {} = {}.get_ref(0);", name, list));
  if (value == nullptr) return;
  const std::string_view type = cpp_memory_type(dtype);
  out_.line(fmt::format("pld_fill<{}>({}, {});", type, name, scalar_(value)));
}

void ChipEmitter::view(const Var* result, const std::string& text) {
  out_.line(fmt::format("const ChipTensor {} = {};", names_.declare(result), text));
}

void ChipEmitter::slice(const Var* result, const Call* call) {
  const std::string from = tensor(call->args[0]);
  const std::string shape = u32_array(elements(argument(call, "shape")), "s0", call->span);
  const std::string offset = u32_array(elements(argument(call, "offset")), "o0", call->span);
  std::string text = fmt::format("{}.view({}, {})", from, shape, offset);
  if (const Expr* drop = argument(call, "drop_dims"); drop != nullptr && !elements(drop).empty()) {
    text = fmt::format("pld_drop({}, {})", text, extents(drop));
  }
  view(result, text);
}

bool ChipEmitter::may_touch_elements(const Call* call, Span span) {
  if (!env_.official) return true;
  env_.diags
      .report<diag::codegen_official_chip>(call->span.valid() ? call->span : span, op_info(call->op).name,
                                           "its tasks run later, and its tensors lie on the device")
      .help("compute it in a kernel, or build for --target=sim");
  return false;
}

std::string ChipEmitter::array_cell(const Call* call) {
  const auto* type = static_cast<const ArrayType*>(call->args[0]->type);
  const Expr* index = call->args[1];
  const std::string at = const_int(index)
                             ? scalar_.index(index)
                             : fmt::format("pld_cell({}, {})", scalar_.index(index), type->extent);
  return fmt::format("{}[{}]", tensor(call->args[0]), at);
}

std::string ChipEmitter::rank_query(const Call* call) {
  const Var* from = root(call->args[0]);
  const std::string context = from != nullptr ? names_.of(from) : std::string();
  if (context.empty()) return {};
  return fmt::format("static_cast<int32_t>(reinterpret_cast<const CommContext*>({})->{})", context,
                     call->op == OpId::pld_system_rank ? "rankId" : "rankNum");
}

std::string ChipEmitter::nested_call(const Call* call) {
  if (!call->is_op()) return {};
  if (call->op == OpId::tensor_dim) {
    return fmt::format("int64_t{{{}.shapes[{}]}}", tensor(call->args[0]), axis_of(call, 1));
  }
  if (call->op == OpId::tensor_read) {
    if (!may_touch_elements(call, call->span)) return "0";
    const auto dtype = scalar_dtype(call->type).value_or(DType::INDEX);
    const std::string text = fmt::format("pld_read<{}>({}, {})", cpp_memory_type(dtype),
                                         tensor(call->args[0]), extents(call->args[1]));
    return dtype == DType::BOOL ? "(" + text + " != 0)" : text;
  }
  if (call->op == OpId::array_get_element) {
    return array_cell(call);
  }
  // An orchestration is no block of a launch.
  if (call->op == OpId::tensor_get_block_idx || call->op == OpId::tensor_get_subblock_idx ||
      call->op == OpId::tile_get_block_idx || call->op == OpId::tile_get_subblock_idx) {
    return "int64_t{0}";
  }
  if (call->op == OpId::tensor_get_block_num || call->op == OpId::tile_get_block_num) return "int64_t{1}";
  if (call->op == OpId::system_available_cluster_count) return std::to_string(kDeviceClusters);
  if (call->op == OpId::system_available_aiv_count) return std::to_string(kDeviceVectorCores);
  if (call->op == OpId::system_task_invalid) return "PTO2TaskId::invalid()";
  if (call->op == OpId::system_task_is_valid)
    return scalar_.as(call->args[0], DType::TASK_ID) + ".is_valid()";
  if (call->op == OpId::pld_system_rank || call->op == OpId::pld_system_nranks) return rank_query(call);
  return {};
}

void ChipEmitter::call_op(const Stmt* stmt, const Var* result, const Call* call) {
  if (result != nullptr && !needed(result) && is_pure(call)) return;
  const auto dtype = result != nullptr ? scalar_dtype(result->type) : std::nullopt;
  if (dtype) {
    if (call->op == OpId::system_task_dummy) {
      out_.line(fmt::format("const PTO2TaskId {} = rt_submit_dummy_task();", names_.declare(result)));
      return;
    }
    const std::string text = nested_call(call);
    if (text.empty()) return unsupported(call, stmt->span);
    const std::string_view type = cpp_scalar_type(*dtype);
    out_.line(fmt::format("const {} {} = {};", type, names_.declare(result), text));
    return;
  }
  if (call->op == OpId::tensor_write) {
    if (!may_touch_elements(call, stmt->span)) return;
    const auto* type = static_cast<const TensorType*>(call->args[0]->type);
    const bool is_bool = type->dtype == DType::BOOL;
    const std::string value = scalar_.as(call->args[2], type->dtype);
    out_.line(fmt::format("pld_write<{}>({}, {}, {});", cpp_memory_type(type->dtype), tensor(call->args[0]),
                          extents(call->args[1]), is_bool ? value + " ? 1 : 0" : value));
    return;
  }
  if (call->op == OpId::tensor_assemble) {
    const AttrValue* atomic = find_attr(call->kwargs, "atomic");
    if (atomic != nullptr && atomic->integer != 0) {
      env_.diags.report<diag::codegen_atomic_assemble>(call->span.valid() ? call->span : stmt->span,
                                                       "an orchestration");
      return;
    }
    const Var* target = root(call->args[0]);
    if (target != nullptr && target == root(call->args[1])) return;
    if (!may_touch_elements(call, stmt->span)) return;
    out_.comment(brief(call));
    // Only what the source holds is written.
    const auto* source = static_cast<const TensorType*>(call->args[1]->type);
    std::string part = tensor(call->args[1]);
    if (source->view != nullptr && !source->view->valid_shape.empty()) {
      part = fmt::format("pld_valid({}, {})", part, extents(source->view->valid_shape));
    }
    out_.line(fmt::format("pld_assemble({}, {}, {});", tensor(call->args[0]), part, extents(call->args[2])));
    return;
  }
  if (call->op == OpId::array_update_element) {
    const auto* type = static_cast<const ArrayType*>(call->args[0]->type);
    out_.line(fmt::format("{} = {};", array_cell(call), scalar_.as(call->args[2], type->dtype)));
    return;
  }
  if (call->op == OpId::system_task_dummy) {
    out_.line("rt_submit_dummy_task();");
    return;
  }
  const Effects& effects = op_info(call->op).effects;
  if (result == nullptr) {
    if (is_pure(call) || op_info(call->op).emit.emit == Emit::NoCode) return;
    return unsupported(call, stmt->span);
  }
  if (call->op == OpId::array_create) {
    const auto* type = static_cast<const ArrayType*>(result->type);
    const std::string_view element = cpp_scalar_type(type->dtype);
    if (element.empty()) return unsupported(call, stmt->span);
    out_.line(fmt::format("{} {}[{}] = {{}};", element, names_.declare(result), type->extent));
    return;
  }
  if (call->op == OpId::tensor_create || call->op == OpId::tensor_full) {
    const auto of = dtype_keyword(call);
    if (!of) return unsupported(call, stmt->span);
    const Expr* value = call->op == OpId::tensor_full ? argument(call, "value") : nullptr;
    if (const AttrValue* init = find_attr(call->kwargs, "init_value");
        init != nullptr && init->kind == AttrKind::Float) {
      value = env_.ir.const_float(init->real);
    }
    if (value != nullptr && !may_touch_elements(call, stmt->span)) return;
    out_.comment(brief(call));
    return create(result, elements(call->args[0]), *of, value, call->span.valid() ? call->span : stmt->span);
  }
  if (call->op == OpId::tensor_slice) return slice(result, call);
  if (call->op == OpId::tensor_reshape || call->op == OpId::tensor_view) {
    const Expr* shape = argument(call, "shape");
    const std::string from = tensor(call->args[0]);
    return view(result, shape != nullptr
                            ? fmt::format("pld_reshape({}, {})", from, shape_text(elements(shape)))
                            : from);
  }
  if (call->op == OpId::tensor_transpose) {
    return view(result, fmt::format("pld_transpose({}, {}, {})", tensor(call->args[0]), axis_of(call, 1),
                                    axis_of(call, 2)));
  }
  if (call->op == OpId::tensor_reinterpret_view) {
    const auto* type = static_cast<const TensorType*>(result->type);
    if (abi_dtype(type->dtype).empty()) return unsupported(call, stmt->span);
    if (!may_touch_elements(call, stmt->span)) return;
    return view(result, fmt::format("pld_reinterpret({}, {}, {})", tensor(call->args[0]),
                                    abi_dtype(type->dtype), extents(type->shape)));
  }
  if (call->op == OpId::tensor_set_validshape || op_info(call->op).emit.emit == Emit::NoCode) return;
  (void)effects;
  unsupported(call, stmt->span);
}

}  // namespace pldc
