// Operations in comments: the IR's text without types, prefixes and SSA suffixes.
#include <fmt/format.h>

#include "codegen/device/body.h"
#include "frontend/text.h"

namespace pldc {
namespace {

std::string short_expr(const Expr* expr);

std::string short_list(List<const Expr*> items) {
  std::string out;
  for (const Expr* item : items) out += (out.empty() ? "" : ", ") + short_expr(item);
  return out;
}

template <class E>
std::string member(std::int64_t number) {
  const auto& names = EnumNames<E>::names;
  const bool known = number >= 0 && static_cast<std::size_t>(number) < std::size(names);
  return known ? std::string(names[static_cast<std::size_t>(number)]) : std::to_string(number);
}

// The keywords that change what is computed.
std::string short_keyword(const Keyword& keyword, const AttrValue& value) {
  switch (keyword.kind) {
    case KwKind::CastMode:
      return member<CastMode>(value.integer);
    case KwKind::AtomicType:
      return value.integer == static_cast<std::int64_t>(AtomicType::Add) ? "Add" : "";
    case KwKind::PipeType:
      return member<PipeType>(value.integer);
    case KwKind::ReduceOp:
      return member<ReduceOp>(value.integer);
    case KwKind::NotifyOp:
      return member<NotifyOp>(value.integer);
    case KwKind::WaitCmp:
      return member<WaitCmp>(value.integer);
    case KwKind::CmpType: {
      constexpr std::string_view kNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
      const bool known = value.integer >= 0 && value.integer < 6;
      return known ? std::string(kNames[value.integer]) : std::to_string(value.integer);
    }
    case KwKind::DType:
      return std::string(name_of(static_cast<DType>(value.integer)));
    case KwKind::PadValue:
      return std::string(name_of(static_cast<PadValue>(value.integer)));
    case KwKind::Int:
      return std::to_string(value.integer);
    case KwKind::Bool:
      return value.as_bool() ? "True" : "";
    case KwKind::String:
    case KwKind::Float:
    case KwKind::MemSpace:
    case KwKind::TensorLayout:
    case KwKind::TileLayout:
    case KwKind::Coalesce:
    case KwKind::GatherOob:
    case KwKind::AccPhase:
    case KwKind::StPhase:
    case KwKind::CoreType:
    case KwKind::SyncMode:
    case KwKind::Saturation:
      return {};
  }
  return {};
}

std::string short_call(const Call* call) {
  if (!call->is_op()) return fmt::format("{}({})", call->function.text(), short_list(call->args));
  const OpInfo& info = op_info(call->op);
  std::string out(info.name);
  if (out.rfind("pld.", 0) == 0) out.erase(0, 4);
  std::string args = short_list(call->args);
  for (const Attr& attr : call->kwargs) {
    const Keyword* keyword = info.keyword(attr.key.text());
    const std::string value = keyword != nullptr ? short_keyword(*keyword, attr.value) : std::string();
    if (!value.empty()) args += fmt::format("{}{}={}", args.empty() ? "" : ", ", attr.key.text(), value);
  }
  return fmt::format("{}({})", out, args);
}

std::string short_expr(const Expr* expr) {
  if (const auto* var = dyn<Var>(expr)) return std::string(plain_name(var->name.text()));
  if (const auto* tuple = dyn<MakeTuple>(expr)) return "[" + short_list(tuple->elements) + "]";
  if (const auto* constant = dyn<ConstInt>(expr)) return std::to_string(constant->value);
  if (const auto* cast = dyn<Cast>(expr)) return short_expr(cast->operand);
  if (const auto* call = dyn<Call>(expr)) return short_call(call);
  if (const auto* binary = dyn<Binary>(expr)) {
    const auto side = [](const Expr* e) {
      const std::string text = short_expr(e);
      return dyn<Binary>(e) != nullptr ? "(" + text + ")" : text;
    };
    const std::string_view text = info_of(binary->op).text;
    if (binary->op == BinaryOp::Min || binary->op == BinaryOp::Max) {
      return fmt::format("{}({}, {})", text, short_expr(binary->lhs), short_expr(binary->rhs));
    }
    return fmt::format("{} {} {}", side(binary->lhs), text, side(binary->rhs));
  }
  return print_expr(expr);
}

}  // namespace

std::string short_form(const Var* result, const Expr* value) {
  const std::string text = short_expr(value);
  if (result == nullptr || result->type->kind == TypeKind::Unknown) return text;
  return fmt::format("{} = {}", plain_name(result->name.text()), text);
}

}  // namespace pldc
