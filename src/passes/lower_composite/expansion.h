// Writes the statements that one composite op stands for (passes.md 2.14). Every value gets a name of its own,
// `<base>__<qualifier>_tmp_v<n>`, with one counter for all composites of a function; the order in which the
// functions here take numbers is part of the pass's text. Constants are not folded: Simplify does that later.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "passes/statement_writer.h"

namespace pldc::composite {

using Args = StatementWriter::Args;
using pldc::KeywordArg;
using pldc::KeywordArgs;

class Expansion : public StatementWriter {
 public:
  // `counter`: the number of the next name; advanced.
  Expansion(PassEnv& environment, const Call* composite, std::string_view base, std::uint32_t& counter)
      : StatementWriter(environment, composite->span), call(composite), base_(base), counter_(counter) {}

  const Call* const call;  // what is expanded

  // The operand, or null if the call has not that many.
  const Expr* operand(std::size_t i) const { return i < call->args.size() ? call->args[i] : nullptr; }
  // Its tensor type; the checks of the op's table have been made.
  const TensorType* tensor(std::size_t i) const { return dyn<TensorType>(call->args[i]->type); }
  std::int64_t keyword(std::string_view name, std::int64_t otherwise) const;
  // Reports an error about the operand, at the call.
  template <const DiagInfo& D, class... Values>
  DiagBuilder error(std::size_t i, Values&&... values) {
    DiagBuilder report = env.diags.report<D>(call->span, std::forward<Values>(values)...);
    if (const auto* var = dyn<Var>(operand(i)); var != nullptr && var->span.valid()) {
      report.note(var->span, "'{}' is defined here", var->name.text());
    }
    return report;
  }

  // --- expressions -------------------------------------------------------------------------------------------
  const Expr* float32(float value) {
    return ir().const_float(static_cast<double>(value), DType::FP32, call->span);
  }
  const Expr* sub(const Expr* a, const Expr* b) { return binary(BinaryOp::Sub, a, b); }
  const Expr* min(const Expr* a, const Expr* b) { return binary(BinaryOp::Min, a, b); }
  const Expr* max(const Expr* a, const Expr* b) { return binary(BinaryOp::Max, a, b); }

  // --- statements --------------------------------------------------------------------------------------------
  const Var* bind(std::string_view qualifier, const Expr* value);
  const Var* bind(std::string_view qualifier, OpId id, Args args, KeywordArgs keywords = {}) {
    return bind(qualifier, op(id, args, keywords));
  }
  using LoopBody = std::function<void(const Var*)>;
  void loop(std::string_view qualifier, const Expr* start, const Expr* stop, const Expr* step,
            const LoopBody& body);
  // From 0 in steps of 1, carrying one value; `body` gives the next one. Returns the last.
  struct CarryNames {
    std::string_view variable, carried, result;
  };
  using CarryBody = std::function<const Expr*(const Var* variable, const Var* carried)>;
  const Var* carry_loop(const CarryNames& names, const Expr* stop, const Expr* initial,
                        const CarryBody& body);
  void when(const Expr* condition, const std::function<void()>& body);
  using Branch = std::function<const Expr*()>;
  const Var* choose(std::string_view qualifier, const Expr* condition, const Branch& then_value,
                    const Branch& else_value);

 private:
  const Var* temp(std::string_view qualifier, const Type* type, bool is_iter_arg = false);

  std::string base_;
  std::uint32_t& counter_;
};

}  // namespace pldc::composite
