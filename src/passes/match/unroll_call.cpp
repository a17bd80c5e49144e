// Calls of functions: dispatches to a device, launches of blocks, and plain calls.
#include "ir/walk.h"
#include "passes/match/unroll.h"

namespace pldc::match {
namespace {

constexpr int kMaxDepth = 64;

// The parts of a Group run on different cores at the same time.
bool has_several_parts(const Function* function) {
  int parts = 0;
  for_each_function_call(function->body, [&](const FunctionCall&, const Expr*, const Stmt*) { ++parts; });
  return parts > 1;
}

}  // namespace

Value Unroller::call(Frame& f, const Expr* e, const FunctionCall& call) {
  std::map<std::size_t, Argument> args;
  const Function* callee = program_.find(call.callee);
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    Argument arg{eval(f, call.args[i]), {}};
    if (arg.value.kind == ValueKind::Window) {
      arg.shape = arg.value.view->shape;
    } else if (const auto* type = dyn<TensorType>(call.args[i]->type)) {
      for (const Expr* extent : type->shape) arg.shape.push_back(integer(f, extent));
    }
    const Param* param = callee != nullptr ? param_for(callee, call, i) : nullptr;
    if (param == nullptr) continue;
    args[static_cast<std::size_t>(param - callee->params.data())] = std::move(arg);
  }
  if (callee == nullptr || (callee->role == Role::SubWorker && callee->level == Level::HOST)) return {};
  const auto attribute = [&](std::string_view key) -> std::optional<Value> {
    const AttrValue* attr = find_attr(call.attrs, key);
    if (attr == nullptr) return std::nullopt;
    if (attr->kind == AttrKind::Int) return Value::of(attr->integer);
    if (attr->kind != AttrKind::Expr && attr->kind != AttrKind::Var) return Value{};
    return eval(f, attr->expr);
  };

  std::int64_t device = f.device;
  if (f.host() && !callee->is_host_orchestrator()) {
    const auto named = attribute("device").value_or(Value::of(0)).integer();
    device = named.value_or(kUnknown);
    if (named && (*named < 0 || *named >= static_cast<std::int64_t>(options_.ranks))) {
      throw GivenUp{GivenUp::Why::Ranks, place_of(e), fmt::format("device {} is used", *named)};
    }
  }
  const auto* submit = dyn<Submit>(e);
  std::optional<Value> blocks = attribute("core_num");
  if (submit != nullptr && submit->core_num != nullptr) blocks = eval(f, submit->core_num);
  if (!blocks && callee->func_type == FuncType::Spmd) {
    if (const AttrValue* attr = find_attr(callee->attrs, "core_num")) {
      blocks = attr->kind == AttrKind::Int ? Value::of(attr->integer) : Value{};
    }
  }
  // It may not run at all, runs somewhere, or in an order that is not written down.
  const bool maybe = (submit != nullptr && submit->predicate != nullptr) || device == kUnknown ||
                     (callee->func_type == FuncType::Group && has_several_parts(callee));
  Value result;
  const Span place = place_of(e);
  if (maybe) {
    if (!uncertain()) doubted_ = false;
    ++uncertain_;
    result = enter(f, callee, args, device, place);
    --uncertain_;
    if (!uncertain() && doubted_) note_data(place);
  } else if (blocks && blocks->integer() != 1) {
    const std::int64_t caller = f.device;
    f.device = device;
    launch(f, *blocks, place, [&] { result = enter(f, callee, args, device, place); });
    f.device = caller;
  } else {
    result = enter(f, callee, args, device, place);
  }
  if (submit == nullptr) return result;
  std::vector<Value> results;
  if (result.kind == ValueKind::Tuple) {
    results = *result.elements;
  } else if (const auto* tuple = dyn<TupleType>(e->type); tuple != nullptr && tuple->elements.size() > 1) {
    results.push_back(result);
  }
  results.emplace_back();  // the task
  return Value::of(std::move(results));
}

Value Unroller::enter(Frame& caller, const Function* callee, const std::map<std::size_t, Argument>& args,
                      std::int64_t device, Span place) {
  if (depth_ >= kMaxDepth) throw GivenUp{GivenUp::Why::Recursion, place, {}};
  Frame inner;
  inner.device = device;
  inner.block = caller.block;
  inner.blocks = caller.blocks;
  // Symbols first: the types of later parameters may mention them.
  for (const auto& [index, arg] : args) {
    const auto* type = dyn<TensorType>(callee->params[index].var->type);
    if (type == nullptr || type->shape.size() != arg.shape.size()) continue;
    for (std::size_t axis = 0; axis < arg.shape.size(); ++axis) {
      const auto* symbol = dyn<Var>(type->shape[axis]);
      if (symbol != nullptr && arg.shape[axis]) inner.values.try_emplace(symbol, Value::of(*arg.shape[axis]));
    }
  }
  for (const auto& [index, arg] : args) {
    const Var* var = callee->params[index].var;
    inner.values[var] = as_declared(inner, arg.value, var->type);
  }
  ++depth_;
  const Span statement = statement_;
  try {
    exec(inner, callee->body);
    for (Event& e : inner.deferred) emit(device, std::move(e));
  } catch (...) {
    --depth_;
    throw;
  }
  --depth_;
  statement_ = statement;
  if (inner.returned.empty()) return {};
  return inner.returned.size() == 1 ? inner.returned[0] : Value::of(std::move(inner.returned));
}

// A window as the callee sees it: extents that its type fixes count, and decide how cells are numbered.
Value Unroller::as_declared(Frame& inner, const Value& value, const Type* declared) {
  const auto* type = dyn<TensorType>(declared);
  if (value.kind != ValueKind::Window || type == nullptr) return value;
  Extents shape;
  for (const Expr* extent : type->shape) shape.push_back(integer(inner, extent));
  const View& view = *value.view;
  if (shape == view.shape) return value;
  if (shape.size() == view.shape.size()) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (!shape[i]) shape[i] = view.shape[i];
    }
    if (shape == view.shape) return value;
  }
  return Value::of(reshaped(view, shape));
}

}  // namespace pldc::match
