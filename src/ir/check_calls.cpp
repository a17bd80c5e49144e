// What a person's calls pass and return, and that windows lie in their buffers.
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ir/check_op.h"
#include "ir/describe.h"
#include "ir/fold.h"
#include "ir/walk.h"
#include "support/diag/op.h"
#include "support/diag/parse.h"

namespace pldc {

namespace {

std::string_view shape_difference(List<const Expr*> given, List<const Expr*> wanted) {
  if (given.size() != wanted.size()) return "ranks";
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto a = const_int(given[i]);
    const auto b = const_int(wanted[i]);
    if (a && b && *a != *b) return "extents";
  }
  return {};
}

template <class T>
std::string_view shaped_difference(const T* given, const T* wanted) {
  if (given->dtype != wanted->dtype) return "dtypes";
  return shape_difference(given->shape, wanted->shape);
}

std::string_view scalar_difference(DType given, DType wanted) {
  const bool agree = given == wanted || (is_int(given) && is_int(wanted));
  return agree ? std::string_view{} : "dtypes";
}

// In what a value cannot stand for one of the type that is wanted; empty: it can.
std::string_view difference(const Type* given, const Type* wanted) {
  if (is_unknown(given) || is_unknown(wanted)) return {};
  const bool plain = is_distributed(given) && is_plain_tensor(wanted);
  if (given->kind != wanted->kind && !plain) return "kinds";
  if (const auto dtype = scalar_dtype(given)) return scalar_difference(*dtype, *scalar_dtype(wanted));
  if (const auto* tensor = dyn<TensorType>(given))
    return shaped_difference(tensor, static_cast<const TensorType*>(wanted));
  if (const auto* tile = dyn<TileType>(given))
    return shaped_difference(tile, static_cast<const TileType*>(wanted));
  if (const auto* array = dyn<ArrayType>(given)) {
    const auto* other = static_cast<const ArrayType*>(wanted);
    if (array->dtype != other->dtype) return "dtypes";
    return array->extent == other->extent ? std::string_view{} : "extents";
  }
  if (const auto* tuple = dyn<TupleType>(given)) {
    const List<const Type*> elements = static_cast<const TupleType*>(wanted)->elements;
    if (tuple->elements.size() != elements.size()) return "numbers of elements";
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const std::string_view inner = difference(tuple->elements[i], elements[i]);
      if (!inner.empty()) return inner;
    }
  }
  return {};
}

// A number has no dtype of its own among the floating-point ones.
std::string_view difference(const Expr* value, const Type* wanted) {
  const auto dtype = scalar_dtype(wanted);
  if (dtype && is_float(*dtype) && value->kind == ExprKind::ConstFloat) return {};
  return difference(value->type, wanted);
}

}  // namespace

bool check_argument(DiagSink& diags, const Function& callee, const Param& param, const Expr* value,
                    Span place) {
  const std::string_view what = difference(value, param.var->type);
  if (what.empty()) return true;
  auto report = diags.report<diag::call_argument>(place, param.var->name.text(), callee.name.text(),
                                                  describe(param.var->type), describe(value->type), what);
  report.note(param.var->span, "the parameter is declared here");
  const auto dtype = scalar_dtype(param.var->type);
  if (const auto number = const_int(value); number && dtype && is_float(*dtype)) {
    report.help("write {}.0", *number);
  } else {
    report.help("{}", what == "ranks"
                          ? "an index such as x[i] drops its axis, x[i:i + 1] keeps it"
                          : "pass a value of the declared type, or declare the parameter as what is passed");
  }
  return false;
}

void report_unknown_callee(DiagSink& diags, Span place, std::string_view callee,
                           std::vector<std::string_view> functions) {
  std::sort(functions.begin(), functions.end());
  auto report = diags.report<diag::unknown_callee>(place, callee);
  if (const std::string_view guess = closest(callee, functions); !guess.empty()) {
    report.help("did you mean 'self.{}'?", guess);
  } else {
    constexpr std::size_t kShown = 8;
    const bool more = functions.size() > kShown;
    if (more) functions.resize(kShown);
    report.help("the program has {}{}", fmt::join(functions, ", "), more ? ", ..." : "");
  }
}

bool check_results(DiagSink& diags, const Function& function, List<const Expr*> values, List<Span> places,
                   Span whole) {
  List<const Type*> declared = function.return_types;
  if (declared.empty()) return true;
  // A result that is declared as one tuple may be returned element by element.
  if (const auto* tuple = dyn<TupleType>(declared[0]);
      tuple != nullptr && declared.size() == 1 && values.size() > 1)
    declared = tuple->elements;
  std::vector<const Type*> given;
  for (const Expr* value : values) given.push_back(value->type);
  // One value of several results: those of a call that is returned as it is.
  const bool forwarded = values.size() == 1 && declared.size() > 1;
  if (forwarded && is_unknown(given[0])) return true;
  if (const auto* tuple = forwarded ? dyn<TupleType>(given[0]) : nullptr)
    given.assign(tuple->elements.begin(), tuple->elements.end());
  if (given.size() != declared.size()) {
    diags.report<diag::result_count>(whole, function.name.text(), declared.size(), given.size())
        .note(function.name_span, "the function is declared here")
        .help("return one value for each declared result");
    return false;
  }
  bool ok = true;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string_view what =
        forwarded ? difference(given[i], declared[i]) : difference(values[i], declared[i]);
    if (what.empty()) continue;
    diags
        .report<diag::result_type>(places[forwarded ? 0 : i], function.name.text(), describe(declared[i]),
                                   describe(given[i]), what)
        .note(function.name_span, "the function is declared here")
        .help("return a value of the declared type, or declare the result as what is returned");
    ok = false;
  }
  return ok;
}

namespace {

// The integer that an expression of constants is; nothing for another, or where it has no value.
std::optional<std::int64_t> constant_value(const Expr* e) {
  if (const auto* binary = dyn<Binary>(e)) {
    const auto lhs = constant_value(binary->lhs);
    const auto rhs = lhs ? constant_value(binary->rhs) : std::nullopt;
    if (!rhs) return std::nullopt;
    const FoldedInt folded = fold_int(binary->op, *lhs, *rhs);
    return folded.good() ? std::optional(folded.value) : std::nullopt;
  }
  if (const auto* cast = dyn<Cast>(e)) {
    const auto dtype = scalar_dtype(cast->type);
    // A narrower integer may cut the value.
    return dtype == DType::INDEX || dtype == DType::INT64 ? constant_value(cast->operand) : std::nullopt;
  }
  return const_int(e);
}

// The bytes of a tensor of constant shape; nothing for another, or for more than can be counted.
std::optional<std::int64_t> constant_bytes(const TensorType* tensor) {
  std::int64_t bits = bit_width(tensor->dtype);
  for (const Expr* dim : tensor->shape) {
    const auto extent = constant_value(dim);
    if (!extent || *extent < 0 || __builtin_mul_overflow(bits, *extent, &bits)) return std::nullopt;
  }
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

}  // namespace

bool check_windows(DiagSink& diags, const Program* program) {
  bool ok = true;
  std::unordered_map<const Expr*, const Call*> buffers;  // by the variable that the allocation binds
  const auto check = [&](const Call* call) {
    const auto buffer = buffers.find(call->args[0]);
    const auto* tensor = dyn<TensorType>(call->type);
    if (buffer == buffers.end() || tensor == nullptr) return;
    const auto size = constant_value(buffer->second->args[0]);
    const auto bytes = constant_bytes(tensor);
    if (!size || !bytes || *bytes <= *size) return;
    diags.report<diag::window_size>(call->span, describe(tensor), *bytes, *size)
        .note(buffer->second->span, "the buffer is allocated here")
        .help("allocate as much as the window needs, or make a smaller window");
    ok = false;
  };
  for (const Function* f : program->functions) {
    walk_stmts(f->body, [&](const Stmt* s) {
      for_each_expr(s, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          if (const Call* call = op_call(e, OpId::pld_tensor_window)) check(call);
        });
      });
      const auto* assign = dyn<AssignStmt>(s);
      if (assign == nullptr) return;
      if (const Call* made = op_call(assign->value, OpId::pld_tensor_alloc_window_buffer))
        buffers.emplace(assign->var, made);
    });
  }
  return ok;
}

}  // namespace pldc
