// Calls of ops made by hand, and what was reported about them.
#pragma once

#include <string>
#include <vector>

#include "ir/authoring.h"
#include "ir/check_op.h"
#include "ir/describe.h"
#include "ir/rules.h"
#include "support/catch.h"

namespace optest {

using namespace pldc;

using Dims = std::vector<std::int64_t>;
using Args = std::vector<const Expr*>;
using Kwargs = std::vector<Attr>;

struct Ops {
  Context ctx;
  DiagSink diags{DiagOptions{0, false, {}}};

  const Expr* index(std::int64_t value) { return ctx.const_int(value); }
  const Expr* i32(std::int64_t value) { return ctx.const_int(value, DType::INT32); }
  const Expr* real(double value) { return ctx.const_float(value); }
  const Var* var(std::string_view name, const Type* type) { return ctx.var(ctx.name(name), type); }
  const Var* scalar(std::string_view name, DType dtype) { return var(name, ctx.scalar(dtype)); }

  List<const Expr*> dims(const Dims& extents) {
    Args list;
    for (const std::int64_t e : extents) list.push_back(index(e));
    return ctx.list(list);
  }
  const Expr* tuple(const Dims& values) { return ctx.make_tuple(dims(values)); }
  const Expr* tuple_of(const Args& values) { return ctx.make_tuple(ctx.list(values)); }

  const TensorType* tensor_type(DType dtype, const Dims& shape, TypeKind kind = TypeKind::Tensor) {
    return ctx.tensor(kind, dtype, dims(shape));
  }
  const Var* tensor(DType dtype, const Dims& shape, std::string_view name = "x") {
    return var(name, tensor_type(dtype, shape));
  }
  const Var* window(DType dtype, const Dims& shape, std::string_view name = "w") {
    return var(name, tensor_type(dtype, shape, TypeKind::DistributedTensor));
  }
  const Var* viewed(DType dtype, const Dims& shape, const TensorView& view,
                    TypeKind kind = TypeKind::Tensor) {
    return var("v", ctx.tensor(kind, dtype, dims(shape), ctx.make(view)));
  }
  const Var* tile(DType dtype, const Dims& shape, MemSpace space = MemSpace::Vec, const Args& valid = {},
                  std::string_view name = "t") {
    TileView view = implicit_tile_view(dims(shape), space);
    if (!valid.empty()) view.valid_shape = ctx.list(valid);
    return var(name, ctx.tile(dtype, dims(shape), nullptr, space, &view));
  }
  const Var* context() { return var("ctx", ctx.simple(TypeKind::CommCtx)); }

  Attr kw(std::string_view key, AttrValue value) { return {ctx.name(key), value}; }
  Attr kw(std::string_view key, std::int64_t value) { return kw(key, AttrValue::of_int(value)); }

  const Call* raw(OpId op, const Args& args, const Kwargs& kwargs = {}) {
    return ctx.call(op, ctx.list(args), ctx.list(kwargs), {}, ctx.unknown());
  }
  bool check(OpId op, const Args& args, const Kwargs& kwargs = {}) {
    return check_call(diags, raw(op, args, kwargs));
  }
  // The deduced type, or null with a report.
  const Type* type(OpId op, const Args& args, const Kwargs& kwargs = {}) {
    const Call* call = raw(op, args, kwargs);
    if (!check_call(diags, call)) return nullptr;
    return deduce(ctx, diags, op, call->args, call->kwargs, {});
  }
  std::string described(OpId op, const Args& args, const Kwargs& kwargs = {}) {
    const Type* found = type(op, args, kwargs);
    return found != nullptr ? describe(found) : "error: " + messages();
  }

  const Call* author(std::string_view name, std::vector<AuthoringArg> args,
                     std::vector<AuthoringKeyword> keywords = {}) {
    return author_call(ctx, diags, written(name, std::move(args), std::move(keywords)));
  }
  // "pld.window" or "tile.load": what stands in the text behind the prefix.
  AuthoringCall written(std::string_view name, std::vector<AuthoringArg> args,
                        std::vector<AuthoringKeyword> keywords = {}) {
    AuthoringCall call;
    call.pld = name.substr(0, 4) == "pld.";
    call.name = call.pld ? name.substr(4) : name;
    call.args = std::move(args);
    call.keywords = std::move(keywords);
    return call;
  }
  static AuthoringKeyword by_name(std::string_view name, AuthoringArg arg) { return {name, {}, arg}; }
  static AuthoringKeyword by_name(std::string_view name, AttrValue value, std::string_view type = {}) {
    return {name, {}, AuthoringArg(value, {}, type)};
  }
  static AuthoringArg value(AttrValue v, std::string_view type = {}) { return AuthoringArg(v, {}, type); }
  static AttrValue word(std::string_view text) { return AttrValue::of_string(text); }

  // What was reported since the last call, help included.
  std::string messages() {
    std::string text;
    for (const Diagnostic& d : diags.take()) {
      text += d.message + "\n";
      for (const std::string& help : d.help) text += "help: " + help + "\n";
    }
    return text;
  }
};

inline std::string keywords_of(const Call* call) {
  std::string text;
  for (const Attr& attr : call->kwargs) text += (text.empty() ? "" : " ") + std::string(attr.key.text());
  return text;
}

inline std::int64_t keyword(const Call* call, std::string_view key) {
  const AttrValue* value = find_attr(call->kwargs, key);
  REQUIRE(value != nullptr);
  return value->integer;
}

#define REQUIRE_REPORT(ops, expression, part)                          \
  do {                                                                 \
    const auto result_ = (expression);                                 \
    const std::string said_ = (ops).messages();                        \
    INFO("said: " << said_);                                           \
    REQUIRE_FALSE(static_cast<bool>(result_));                         \
    REQUIRE_THAT(said_, Catch::Matchers::Contains(std::string(part))); \
  } while (false)

#define REQUIRE_FINE(ops, expression)           \
  do {                                          \
    const auto result_ = (expression);          \
    const std::string said_ = (ops).messages(); \
    INFO("said: " << said_);                    \
    REQUIRE(static_cast<bool>(result_));        \
    REQUIRE(said_.empty());                     \
  } while (false)

}  // namespace optest
