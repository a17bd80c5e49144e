#include "ir/check_rules.h"
#include "ir/rules/rule.h"
#include "support/check.h"

namespace pldc {

const Type* deduce(Context& context, DiagSink& diags, OpId op, List<const Expr*> args, Attrs kwargs,
                   Span span) {
  using RuleFunction = const Type* (*)(const RuleCall&);
  static constexpr RuleFunction rules[] = {
#define PLDC_RULE(id) rule_##id,
#include "ir/ops/rules.def"
#undef PLDC_RULE
  };
  // Nothing is known about the result if nothing is known about an operand.
  for (const Expr* arg : args) {
    if (is_unknown(arg->type)) return context.unknown();
  }
  const OpInfo& info = op_info(op);
  PLDC_CHECK(args.size() >= info.required_count(), std::string(info.name));
  for (std::size_t i = 0; i < args.size() && i < info.required_count(); ++i) {
    PLDC_CHECK(kind_fits(info.operands[i].kind, args[i]), std::string(info.name));
  }
  const RuleCall call(context, diags, op, args, kwargs, span);
  return rules[static_cast<std::size_t>(info.rule.rule)](call);
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  const unsigned left = bit_width(a);
  const unsigned right = bit_width(b);
  if (left != right) {
    // BOOL is stored in a byte but is the narrowest integer.
    if (a == DType::BOOL) return b;
    if (b == DType::BOOL) return a;
    return left > right ? a : b;
  }
  if (is_float(a)) return a;
  if (a == DType::BOOL) return b;
  if (b == DType::BOOL) return a;
  return is_signed_int(a) ? a : b;
}

}  // namespace pldc
