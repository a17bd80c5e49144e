#include "passes/lower_composite/expansion.h"

#include "ir/auto_name.h"

namespace pldc::composite {

std::int64_t Expansion::keyword(std::string_view name, std::int64_t otherwise) const {
  const AttrValue* value = find_attr(call->kwargs, name);
  return value != nullptr && value->kind == AttrKind::Int ? value->integer : otherwise;
}

const Var* Expansion::temp(std::string_view qualifier, const Type* type, bool is_iter_arg) {
  const std::string name = build_auto_name(base_, qualifier, NameRole::Tmp, counter_++);
  return ir().var(ir().name(name), type, call->span, is_iter_arg);
}

const Var* Expansion::bind(std::string_view qualifier, const Expr* value) {
  const Var* var = temp(qualifier, value->type);
  push(ir().assign(var, value, call->span));
  return var;
}

void Expansion::loop(std::string_view qualifier, const Expr* start, const Expr* stop, const Expr* step,
                     const LoopBody& body) {
  ForStmt loop{};
  loop.kind = StmtKind::For;
  loop.span = call->span;
  loop.for_kind = ForKind::Sequential;
  loop.loop_var = temp(qualifier, ir().scalar(DType::INDEX));
  loop.start = start;
  loop.stop = stop;
  loop.step = step;
  loop.body = block([&] { body(loop.loop_var); });
  push(ir().make(loop));
}

const Var* Expansion::carry_loop(const CarryNames& names, const Expr* stop, const Expr* initial,
                                 const CarryBody& body) {
  const Var* variable = temp(names.variable, ir().scalar(DType::INDEX));
  const Var* carried = temp(names.carried, initial->type, true);
  // The result takes its number after the body.
  const Var* result = nullptr;
  const Body inner = block([&] { push(ir().yield(ir().list({body(variable, carried)}), call->span)); });
  result = temp(names.result, initial->type);
  push_carry_loop(variable, stop, {carried, initial}, result, inner);
  return result;
}

void Expansion::when(const Expr* condition, const std::function<void()>& body) {
  IfStmt branch{};
  branch.kind = StmtKind::If;
  branch.span = call->span;
  branch.condition = condition;
  branch.then_body = block(body);
  push(ir().make(branch));
}

const Var* Expansion::choose(std::string_view qualifier, const Expr* condition, const Branch& then_value,
                             const Branch& else_value) {
  IfStmt branch{};
  branch.kind = StmtKind::If;
  branch.span = call->span;
  branch.condition = condition;
  const Type* type = nullptr;
  const auto yielding = [&](const Branch& value) {
    return block([&] {
      const Expr* e = value();
      if (type == nullptr) type = e->type;
      push(ir().yield(ir().list({e}), call->span));
    });
  };
  branch.then_body = yielding(then_value);
  branch.else_body = yielding(else_value);
  branch.has_else = true;
  const Var* result = temp(qualifier, type);
  branch.return_vars = ir().list({result});
  push(ir().make(branch));
  return result;
}

}  // namespace pldc::composite
