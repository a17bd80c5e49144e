// Writes statements that stand for one thing of the program: calls with deduced types, bodies of loops and branches.
// Passes that replace an op by several derive from it and give the values their names.
//
// Errors go to the DiagSink of the environment; what was to be computed then has Unknown type, so nobody need look. Nodes
// belong to the Context.
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace pldc {

struct KeywordArg {
  std::string_view name;
  AttrValue value;
};
using KeywordArgs = std::initializer_list<KeywordArg>;

class StatementWriter {
 public:
  using Args = std::initializer_list<const Expr*>;

  // `place`: the span of everything that is written.
  StatementWriter(PassEnv& environment, Span place) : env(environment), span(place), blocks_(1) {}

  PassEnv& env;
  const Span span;

  Context& ir() { return env.ir; }

  // --- expressions -------------------------------------------------------------------------------------------
  const Expr* index(std::int64_t value) { return ir().const_int(value, DType::INDEX, span); }
  const Expr* int32(std::int64_t value) { return ir().const_int(value, DType::INT32, span); }
  const Expr* binary(BinaryOp op, const Expr* a, const Expr* b) { return ir().binary(op, a, b, span); }
  const Expr* mul(const Expr* a, const Expr* b) { return binary(BinaryOp::Mul, a, b); }
  const Expr* add(const Expr* a, const Expr* b) { return binary(BinaryOp::Add, a, b); }
  const Expr* div(const Expr* a, const Expr* b) { return binary(BinaryOp::FloorDiv, a, b); }
  const Expr* mod(const Expr* a, const Expr* b) { return binary(BinaryOp::FloorMod, a, b); }
  const Expr* cast(const Expr* e, DType dtype) { return ir().cast(e, dtype, span); }
  const Expr* tuple(Args elements) { return ir().make_tuple(ir().list(elements), span); }
  const Expr* tuple(List<const Expr*> elements) { return ir().make_tuple(elements, span); }
  // A call with its deduced type.
  const Expr* op(OpId id, Args args, KeywordArgs keywords = {});
  const Expr* op(OpId id, List<const Expr*> args, Attrs keywords);

  // What has been written; call once, at the end.
  std::vector<const Stmt*>& statements() { return blocks_.front(); }

 protected:
  void push(const Stmt* stmt) { blocks_.back().push_back(stmt); }
  Body block(const std::function<void()>& body);
  // From 0 in steps of 1, carrying one value; `body` ends with the yield of the next one.
  void push_carry_loop(const Var* variable, const Expr* stop, IterArg carried, const Var* result, Body body);

 private:
  std::vector<std::vector<const Stmt*>> blocks_;  // open ones, innermost last
};

}  // namespace pldc
