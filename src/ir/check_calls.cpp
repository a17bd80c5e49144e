// What a person's calls pass and return, and the memory that windows and stores touch.
#include <unordered_map>
#include <unordered_set>

#include "ir/check_op.h"
#include "ir/describe.h"
#include "ir/walk.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

// The extents behind the leading ones: `xs[rank]` has one extent less than the slice [1, ...] of the same elements.
List<const Expr*> without_leading_ones(List<const Expr*> shape) {
  while (!shape.empty() && const_int(shape.front()) == std::int64_t{1}) shape = shape.subspan(1);
  return shape;
}

std::string_view shape_difference(List<const Expr*> given, List<const Expr*> wanted) {
  if (given.size() != wanted.size()) {
    given = without_leading_ones(given);
    wanted = without_leading_ones(wanted);
    if (given.size() != wanted.size()) return "ranks";
  }
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

}  // namespace

bool check_argument(DiagSink& diags, const Function& callee, const Param& param, const Expr* value,
                    Span place) {
  const std::string_view what = difference(value->type, param.var->type);
  if (what.empty()) return true;
  diags
      .report<diag::call_argument>(place, param.var->name.text(), callee.name.text(),
                                   describe(param.var->type), describe(value->type), what)
      .note(param.var->span, "the parameter is declared here")
      .help("pass a value of the declared type, or declare the parameter as what is passed");
  return false;
}

bool check_results(DiagSink& diags, const Function& function, List<const Expr*> values, List<Span> places,
                   Span whole) {
  const List<const Type*> declared = function.return_types;
  if (declared.empty() || values.empty()) return true;
  std::vector<const Type*> given;
  for (const Expr* value : values) given.push_back(value->type);
  if (given.size() == 1 && is_unknown(given[0])) return true;
  if (const auto* tuple = dyn<TupleType>(given[0]); tuple != nullptr && given.size() == 1)
    given.assign(tuple->elements.begin(), tuple->elements.end());
  if (given.size() != declared.size()) {
    diags.report<diag::result_count>(whole, function.name.text(), declared.size(), given.size())
        .note(function.name_span, "the function is declared here")
        .help("return one value for each declared result");
    return false;
  }
  bool ok = true;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string_view what = difference(given[i], declared[i]);
    if (what.empty()) continue;
    diags
        .report<diag::result_type>(values.size() == given.size() ? places[i] : places[0],
                                   function.name.text(), describe(declared[i]), describe(given[i]), what)
        .note(function.name_span, "the function is declared here")
        .help("return a value of the declared type, or declare the result as what is returned");
    ok = false;
  }
  return ok;
}

namespace {

class Memory {
 public:
  explicit Memory(DiagSink& diags) : diags_(diags) {}

  void function(const Function* f) {
    function_ = f;
    inputs_.clear();
    for (const Param& param : f->params) {
      if (param.direction == ParamDirection::In) inputs_.emplace(param.var, &param);
    }
    walk_stmts(f->body, [&](const Stmt* s) {
      for_each_expr(s, [&](const Expr* e) {
        walk_expr(e, [&](const Expr* x) {
          if (const auto* call = dyn<Call>(x); call != nullptr && call->is_op()) op(call);
        });
      });
      if (const auto* assign = dyn<AssignStmt>(s))
        if (const Call* made = op_call(assign->value, OpId::pld_tensor_alloc_window_buffer))
          buffers_.emplace(assign->var, made);
    });
  }
  bool ok() const { return ok_; }

 private:
  void op(const Call* call) {
    if (call->op == OpId::pld_tensor_window) window(call);
    if (call->op == OpId::tile_store) store(call, call->args[2]);
    if (call->op == OpId::tensor_assemble) store(call, call->args[0]);
  }

  void window(const Call* call) {
    const auto buffer = buffers_.find(call->args[0]);
    const auto* tensor = dyn<TensorType>(call->type);
    if (buffer == buffers_.end() || tensor == nullptr) return;
    const auto size = const_int(buffer->second->args[0]);
    std::int64_t bits = bit_width(tensor->dtype);
    for (const Expr* dim : tensor->shape) {
      const auto extent = const_int(dim);
      if (!size || !extent || *extent < 0 || __builtin_mul_overflow(bits, *extent, &bits)) return;
    }
    const std::int64_t bytes = (bits + 7) / 8;
    if (!size || bytes <= *size) return;
    diags_.report<diag::window_size>(call->span, describe(call->type), bytes, *size)
        .note(buffer->second->span, "the buffer is allocated here")
        .help("allocate as much as the window needs, or make a smaller window");
    ok_ = false;
  }

  void store(const Call* call, const Expr* target) {
    const auto input = inputs_.find(target);
    if (input == inputs_.end()) return;
    const Param& param = *input->second;
    diags_.report<diag::store_input>(call->span, param.var->name.text(), function_->name.text())
        .note(param.var->span, "the parameter is declared here")
        .help("declare it as pl.Out[...], or as pl.InOut[...] if it is read as well");
  }

  DiagSink& diags_;
  const Function* function_ = nullptr;
  std::unordered_map<const Expr*, const Call*> buffers_;  // by the variable that the allocation binds
  std::unordered_map<const Expr*, const Param*> inputs_;
  bool ok_ = true;
};

}  // namespace

bool check_memory(DiagSink& diags, const Program* program) {
  Memory memory(diags);
  for (const Function* f : program->functions) memory.function(f);
  return memory.ok();
}

}  // namespace pldc
