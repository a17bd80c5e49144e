// Expressions and the ops that the match knows. All other ops give values that are not known.
#include <algorithm>

#include "ir/check_op.h"
#include "passes/match/ops.h"
#include "passes/match/unroll.h"
#include "support/diag/op.h"
#include "support/diag/verify.h"

namespace pldc::match {

Value Unroller::OpCall::operator[](std::string_view operand) const {
  const Expr* e = argument(call, operand);
  for (std::size_t i = 0; e != nullptr && i < args.size(); ++i) {
    if (call->args[i] == e) return args[i];
  }
  return {};
}

Unroller::Extents Unroller::OpCall::extents(std::string_view operand) const {
  Extents out;
  const Value v = (*this)[operand];
  if (v.kind != ValueKind::Tuple) return out;
  for (const Value& element : *v.elements) out.push_back(element.integer());
  return out;
}

Value Unroller::eval(Frame& f, const Expr* e) {
  switch (e->kind) {
    case ExprKind::Var: {
      const auto found = f.values.find(static_cast<const Var*>(e));
      return found != f.values.end() ? found->second : Value{};
    }
    case ExprKind::ConstInt: {
      const auto* constant = static_cast<const ConstInt*>(e);
      return is_int(constant->dtype) ? Value::of(constant->value) : Value{};
    }
    case ExprKind::ConstBool:
      return Value::of(static_cast<const ConstBool*>(e)->value ? 1 : 0);
    case ExprKind::ConstFloat:
      return {};
    case ExprKind::Binary:
      return eval_binary(f, static_cast<const Binary*>(e));
    case ExprKind::Unary: {
      const auto* unary = static_cast<const Unary*>(e);
      return unary_value(unary->op, eval(f, unary->operand), e->type);
    }
    case ExprKind::Cast:
      return cast_value(eval(f, static_cast<const Cast*>(e)->operand), e->type);
    case ExprKind::MakeTuple: {
      std::vector<Value> elements;
      for (const Expr* element : static_cast<const MakeTuple*>(e)->elements)
        elements.push_back(eval(f, element));
      return Value::of(std::move(elements));
    }
    case ExprKind::TupleGet: {
      const auto* get = static_cast<const TupleGet*>(e);
      const Value tuple = eval(f, get->tuple);
      const auto index = static_cast<std::size_t>(get->index);
      if (tuple.kind != ValueKind::Tuple || get->index < 0 || index >= tuple.elements->size()) return {};
      return (*tuple.elements)[index];
    }
    case ExprKind::Submit:
    case ExprKind::Call: {
      if (const auto inner = function_call(e)) return call(f, e, *inner);
      OpCall op{static_cast<const Call*>(e), {}};
      for (const Expr* arg : op.call->args) op.args.push_back(eval(f, arg));
      return eval_op(f, op);
    }
  }
  return {};
}

Value Unroller::eval_binary(Frame& f, const Binary* e) {
  const Value lhs = eval(f, e->lhs);
  if (!is_logical(e->op)) {
    const Value rhs = eval(f, e->rhs);
    if (e->op == BinaryOp::FloorDiv || e->op == BinaryOp::FloorMod) {
      refuse_zero(f, e->rhs, rhs, e->op == BinaryOp::FloorDiv ? "the divisor of '//'" : "the divisor of '%'");
    }
    return binary_value(e->op, lhs, rhs, e->lhs->type, e->type);
  }
  // The second operand of `and` and `or` is asked only if the first one leaves it open.
  const auto first = lhs.integer();
  if (first && e->op != BinaryOp::Xor && (*first != 0) == (e->op == BinaryOp::Or)) {
    return Value::of(e->op == BinaryOp::Or ? 1 : 0);
  }
  const bool open = !first && e->op != BinaryOp::Xor;
  if (open) ++uncertain_;
  const Value rhs = eval(f, e->rhs);
  if (open) --uncertain_;
  return binary_value(e->op, lhs, rhs, e->lhs->type, e->type);
}

void Unroller::refuse_zero(const Frame& f, const Expr* e, const Value& value, std::string_view what) {
  if (value.integer() != 0 || uncertain()) return;
  const std::string where = f.host() ? "in the host function" : fmt::format("on device {}", f.device);
  findings_.add<diag::match_zero>(place_of(e), std::max<std::int64_t>(f.device, 0),
                                  {std::string(what), where}, "guard it with an if, or use another value");
  throw GivenUp{GivenUp::Why::Reported, place_of(e), {}};
}

void Unroller::refuse_size(const std::string& what, const Value& size, Span place) {
  const bool negative = size.kind == ValueKind::Int && size.number < 0;
  if ((!negative && !size.overflowed) || uncertain()) return;
  findings_.add<diag::match_size>(
      place, 0,
      {std::to_string(options_.ranks), what, negative ? "is " + std::to_string(size.number) : "overflows"},
      negative ? "it must be 0 or more with every number of ranks"
               : "compute it from smaller numbers, or with fewer ranks");
}

// The shape may depend on the number of ranks, so the reader could not compare.
void Unroller::check_size(const OpCall& window, const View& view) {
  const Value extents = window["shape"];
  for (std::size_t i = 0; extents.kind == ValueKind::Tuple && i < extents.elements->size(); ++i) {
    refuse_size(fmt::format("extent {} of this window", i), (*extents.elements)[i], place_of(window.call));
  }
  const Allocation& allocation = trace_->allocations[view.allocation];
  std::int64_t bits = bit_width(view.dtype);
  for (const auto& extent : view.shape) {
    if (!extent || *extent < 0) return;
    if (!__builtin_mul_overflow(bits, *extent, &bits)) continue;
    Value bytes;
    bytes.overflowed = true;
    return refuse_size("the size of this window", bytes, place_of(window.call));
  }
  const std::int64_t bytes = bits / 8 + (bits % 8 != 0 ? 1 : 0);
  if (!allocation.bytes || bytes <= *allocation.bytes || uncertain()) return;
  std::string shape;
  for (const auto& extent : view.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(*extent);
  auto& finding = findings_.add<diag::window_size>(
      place_of(window.call), 0,
      {fmt::format("a DistributedTensor {} [{}]", name_of(view.dtype), shape), std::to_string(bytes),
       std::to_string(*allocation.bytes)},
      "allocate as much as the window needs, or make a smaller window");
  if (finding.notes.empty()) finding.notes.emplace_back(allocation.place, "the buffer is allocated here");
}

Value Unroller::rank(const Frame& f, const Value& context) const {
  if (context.kind != ValueKind::Context || f.device < 0) return {};
  const auto rank = trace_->domains[static_cast<std::size_t>(context.number)].rank_of(f.device);
  return rank ? Value::of(*rank) : Value{};
}

Value Unroller::allocate(Frame& f, const Call* call, const Var* base) {
  const Value size = call->args.empty() ? Value{} : eval(f, call->args[0]);
  refuse_size("the size of this buffer", size, place_of(call));
  const auto bytes = size.number >= 0 ? size.integer() : std::nullopt;
  const auto found = allocation_of_.find(base);
  if (found != allocation_of_.end()) {
    trace_->allocations[found->second].bytes = bytes;
    trace_->allocations[found->second].place = place_of(call);
  }
  return found != allocation_of_.end()
             ? Value::of(static_cast<std::int64_t>(found->second), ValueKind::Buffer)
             : Value{};
}

// Which ranks a program is made for is what the extents of the axes say that its rank loops index.
void Unroller::host_index(Frame& f, const OpCall& op, const Extents& index) {
  const auto* var = dyn<Var>(op.call->args[0]);
  const auto* type = dyn<TensorType>(op.call->args[0]->type);
  bool is_param = false;
  for (const Param& param : host_->params) is_param = is_param || param.var == var;
  const Value offsets = op[op.call->op == OpId::tensor_slice ? "offset" : "indices"];
  if (!is_param || type == nullptr || offsets.kind != ValueKind::Tuple) return;
  for (std::size_t axis = 0; axis < index.size() && axis < type->shape.size(); ++axis) {
    if (!(*offsets.elements)[axis].over_ranks) continue;
    if (const auto* symbol = dyn<Var>(type->shape[axis])) {
      f.values.try_emplace(symbol, Value::of(static_cast<std::int64_t>(options_.ranks)));
    }
    const auto extent = const_int(type->shape[axis]);
    if (extent && *extent != static_cast<std::int64_t>(options_.ranks)) {
      throw GivenUp{GivenUp::Why::Ranks, op.call->args[0]->span.valid() ? op.call->args[0]->span : statement_,
                    fmt::format("'{}' has room for {} ranks", shown_name(var), *extent)};
    }
  }
}

void Unroller::touch_operands(const OpCall& op) {
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    if (op.args[i].kind != ValueKind::Window) continue;
    Allocation& allocation = trace_->allocations[op.args[i].view->allocation];
    const Access access = access_of(op.call, i);
    if (access == Access::Read || access == Access::ReadWrite) allocation.read = true;
    if (access == Access::Write || access == Access::ReadWrite) allocation.uncertain = true;
  }
}

Value Unroller::view_of(Frame& f, const OpCall& op, const Value& window) {
  const View& view = *window.view;
  const OpId id = op.call->op;
  if ((id == OpId::tensor_view || id == OpId::tensor_reshape) &&
      find_attr(op.call->kwargs, "layout") == nullptr) {
    const Extents shape = op.extents("shape");
    return shape.empty() ? window : Value::of(reshaped(view, shape));
  }
  if (id == OpId::tensor_slice) {
    View part = sliced(view, op.extents("shape"), op.extents("offset"));
    Extents dropped = op.extents("drop_dims");
    std::sort(dropped.begin(), dropped.end());
    for (std::size_t i = dropped.size(); i-- > 0;) {
      const std::int64_t axis = dropped[i].value_or(-1);
      if (axis < 0 || axis >= static_cast<std::int64_t>(part.shape.size())) {
        part.offset = std::nullopt;
        continue;
      }
      part.shape.erase(part.shape.begin() + axis);
      part.stride.erase(part.stride.begin() + axis);
    }
    return Value::of(std::move(part));
  }
  // Another layout of the same window.
  View other = view;
  other.offset = std::nullopt;
  other.shape.clear();
  const auto* type = dyn<TensorType>(op.call->type);
  for (const Expr* extent : type != nullptr ? type->shape : List<const Expr*>()) {
    other.shape.push_back(integer(f, extent));
  }
  pack(other);
  return Value::of(std::move(other));
}

std::optional<Value> Unroller::eval_query(Frame& f, const OpCall& op) {
  const Call* call = op.call;
  const OpId id = call->op;
  if (id == OpId::pld_system_world_size) {
    Value v = Value::of(static_cast<std::int64_t>(options_.ranks));
    v.over_ranks = true;
    return v;
  }
  if (id == OpId::pld_system_get_comm_ctx) {
    const Value window = op["dist_tensor"];
    if (window.kind != ValueKind::Window) return Value{};
    return Value::of(static_cast<std::int64_t>(trace_->allocations[window.view->allocation].domain),
                     ValueKind::Context);
  }
  if (id == OpId::pld_system_rank) return rank(f, op["ctx"]);
  if (id == OpId::pld_system_nranks) {
    const Value context = op["ctx"];
    if (context.kind != ValueKind::Context) return Value{};
    const auto& devices = trace_->domains[static_cast<std::size_t>(context.number)].devices;
    return Value::of(static_cast<std::int64_t>(devices.size()));
  }
  if (id == OpId::pld_tensor_window) {
    const Value buffer = op["buf"];
    const auto* type = dyn<TensorType>(call->type);
    if (buffer.kind != ValueKind::Buffer || type == nullptr) return Value{};
    View view;
    view.allocation = static_cast<std::size_t>(buffer.number);
    view.dtype = type->dtype;
    view.shape = op.extents("shape");
    pack(view);
    check_size(op, view);
    return Value::of(std::move(view));
  }
  if (id == OpId::tensor_dim) {
    const auto axis = op["axis"].integer();
    const auto* type = dyn<TensorType>(call->args[0]->type);
    if (!axis || type == nullptr) return Value{};
    const auto rank = static_cast<std::int64_t>(type->shape.size());
    const std::int64_t at = *axis < 0 ? *axis + rank : *axis;
    return at >= 0 && at < rank ? eval(f, type->shape[static_cast<std::size_t>(at)]) : Value{};
  }
  if (id == OpId::tensor_get_block_idx || id == OpId::tile_get_block_idx) return f.block;
  if (id == OpId::tensor_get_block_num || id == OpId::tile_get_block_num) return f.blocks;
  return std::nullopt;
}

Value Unroller::eval_op(Frame& f, const OpCall& op) {
  const Call* call = op.call;
  if (const auto known = eval_query(f, op)) return *known;
  if (call->op == OpId::pld_system_notify) {
    notify(f, op);
    return {};
  }
  if (call->op == OpId::pld_system_wait || call->op == OpId::pld_system_defer_wait) {
    wait(f, op);
    return {};
  }
  if (f.host() && (call->op == OpId::tensor_slice || call->op == OpId::tensor_read)) {
    host_index(f, op, op.extents(call->op == OpId::tensor_slice ? "offset" : "indices"));
  }
  const Effects& effects = op_info(call->op).effects;
  const auto operand = [&](std::int8_t index) {
    return op[op_info(call->op).operands[static_cast<std::size_t>(index)].name];
  };
  if (effects.result_view_of >= 0) {
    const Value base = operand(effects.result_view_of);
    return base.kind == ValueKind::Window ? view_of(f, op, base) : Value{};
  }
  if (join_info(call->op)) {
    collective(f, op);
  } else {
    touch_operands(op);
    const Value far = op["target"].kind == ValueKind::Window ? op["target"]
                      : op["dst"].kind == ValueKind::Window  ? op["dst"]
                                                             : op["src"];
    if (argument(call, "peer") != nullptr && far.kind == ValueKind::Window) peer_device(f, op, far);
  }
  return effects.result_aliases >= 0 ? operand(effects.result_aliases) : Value{};
}

}  // namespace pldc::match
