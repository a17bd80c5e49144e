// TypeChecked: what meets in a loop carry or in a result of an if is of one type; conditions are BOOL, bounds
// scalars.
#include <string>

#include "ir/describe.h"
#include "ir/walk.h"
#include "passes/trace.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

struct Side {
  std::string name;  // "the initial value 'x'"
  const Type* type;
};

std::string_view kind_text(TypeKind kind) {
  switch (kind) {
    case TypeKind::Scalar:
      return "scalar";
    case TypeKind::Tensor:
      return "tensor";
    case TypeKind::DistributedTensor:
      return "distributed tensor";
    case TypeKind::Tile:
      return "tile";
    case TypeKind::Array:
      return "array";
    case TypeKind::Tuple:
      return "tuple";
    case TypeKind::Ptr:
      return "pointer";
    case TypeKind::MemRef:
      return "memory reference";
    case TypeKind::WindowBuffer:
      return "window buffer";
    case TypeKind::CommCtx:
      return "communication context";
    case TypeKind::PrefetchAsyncContext:
      return "prefetch context";
    case TypeKind::AsyncEvent:
      return "event";
    case TypeKind::AsyncSession:
      return "session";
    case TypeKind::Unknown:
      return "value of unknown type";
  }
  return "value";
}

// INDEX and INT64 are one width of integer; which of them a constant or a bound gets is no difference in
// meaning.
bool same_dtype(DType a, DType b) {
  const auto wide = [](DType d) { return d == DType::INDEX ? DType::INT64 : d; };
  return wide(a) == wide(b);
}

bool provably_different(const Expr* a, const Expr* b) {
  const auto x = const_int(a);
  const auto y = const_int(b);
  return x && y && *x != *y;
}

class Verifier {
 public:
  explicit Verifier(DiagSink& diags) : diags_(diags) {}

  void run(const Function* f) {
    walk_stmts(f->body, [&](const Stmt* s) {
      if (const auto* branch = dyn<IfStmt>(s)) {
        check_condition("if", branch->condition, s->span);
        check_if(branch);
      } else if (const auto* loop = dyn<ForStmt>(s)) {
        check_bound("start", loop->start, s->span);
        check_bound("stop", loop->stop, s->span);
        check_bound("step", loop->step, s->span);
        check_loop(loop->iter_args, loop->return_vars, loop->body, s->span);
      } else if (const auto* loop_while = dyn<WhileStmt>(s)) {
        check_condition("while", loop_while->condition, s->span);
        check_loop(loop_while->iter_args, loop_while->return_vars, loop_while->body, s->span);
      }
    });
  }

 private:
  void check_condition(std::string_view what, const Expr* condition, Span span) {
    if (is_unknown(condition->type) || scalar_dtype(condition->type) == DType::BOOL) return;
    const Span place = condition->span.valid() && condition->kind != ExprKind::Var ? condition->span : span;
    diags_.report<diag::condition_not_bool>(place, what, describe(condition->type))
        .help("compare it with a value, for example `{} != 0`", describe(condition));
  }

  void check_bound(std::string_view what, const Expr* bound, Span span) {
    if (is_unknown(bound->type)) return;
    const auto dtype = scalar_dtype(bound->type);
    if (dtype && !is_float(*dtype)) return;
    diags_.report<diag::bound_not_scalar>(span, what, describe(bound->type))
        .help("use an integer scalar as the {}", what);
  }

  static std::string quoted(std::string_view what, const Expr* e) {
    const auto* var = dyn<Var>(e);
    return var != nullptr ? std::string(what).append(" '").append(var->name.text()).append("'")
                          : std::string(what);
  }

  void check_loop(List<IterArg> carries, List<const Var*> results, Body body, Span span) {
    const YieldStmt* yield = trailing_yield(body);
    if (carries.size() != results.size()) {
      diags_
          .report<diag::carry_count_differs>(span, "loop", carries.size(),
                                             fmt::format("{} results", results.size()))
          .help("name as many results as there are init_values");
    }
    if (yield != nullptr && yield->values.size() != carries.size()) {
      diags_
          .report<diag::carry_count_differs>(yield->span, "loop", carries.size(),
                                             fmt::format("{} yielded values", yield->values.size()))
          .help("yield one value for each of the init_values");
    }
    for (std::size_t i = 0; i < carries.size(); ++i) {
      const Side carry{quoted("the carry", carries[i].var), carries[i].var->type};
      check_pair("loop", carry, {quoted("the initial value", carries[i].init), carries[i].init->type}, span);
      if (yield != nullptr && i < yield->values.size()) {
        const Expr* value = yield->values[i];
        check_pair("loop", carry, {quoted("the yielded value", value), value->type}, yield->span);
      }
      if (i < results.size())
        check_pair("loop", carry, {quoted("the result", results[i]), results[i]->type}, span);
    }
  }

  void check_if(const IfStmt* s) {
    const YieldStmt* then_yield = trailing_yield(s->then_body);
    const YieldStmt* else_yield = trailing_yield(s->else_body);
    for (const YieldStmt* yield : {then_yield, else_yield}) {
      if (yield == nullptr || yield->values.size() == s->return_vars.size()) continue;
      diags_
          .report<diag::carry_count_differs>(yield->span, "if", s->return_vars.size(),
                                             fmt::format("{} yielded values", yield->values.size()))
          .help("yield one value for each result of the if");
    }
    for (std::size_t i = 0; i < s->return_vars.size(); ++i) {
      const Side result{quoted("the result", s->return_vars[i]), s->return_vars[i]->type};
      for (const YieldStmt* yield : {then_yield, else_yield}) {
        if (yield == nullptr || i >= yield->values.size()) continue;
        const Expr* value = yield->values[i];
        check_pair("if", result, {quoted("the yielded value", value), value->type}, yield->span);
      }
    }
  }

  // Reports the first difference only: the others are its consequences.
  void check_pair(std::string_view where, const Side& a, const Side& b, Span span) {
    if (a.type == b.type || is_unknown(a.type) || is_unknown(b.type)) return;
    if (a.type->kind != b.type->kind) {
      diags_
          .report<diag::type_kind_differs>(span, where, a.name, kind_text(a.type->kind), b.name,
                                           kind_text(b.type->kind))
          .help("make both the same kind of value");
      return;
    }
    if (const auto* x = dyn<TensorType>(a.type)) {
      const auto* y = dyn<TensorType>(b.type);
      if (!check_shaped(where, a, b, x->dtype, y->dtype, x->shape, y->shape, span)) return;
      const PadValue pad_x = x->view != nullptr ? x->view->pad : PadValue::Null;
      const PadValue pad_y = y->view != nullptr ? y->view->pad : PadValue::Null;
      if (!check_pad(where, a, b, pad_x, pad_y, span)) return;
      if (x->window != nullptr && y->window != nullptr && x->window != y->window) {
        diags_.report<diag::type_window_differs>(span, where, a.name, b.name)
            .note(x->window->span, "the window of {}", a.name)
            .note(y->window->span, "the window of {}", b.name)
            .help("use a view of one window on every way");
      }
    } else if (const auto* p = dyn<TileType>(a.type)) {
      const auto* q = dyn<TileType>(b.type);
      if (!check_shaped(where, a, b, p->dtype, q->dtype, p->shape, q->shape, span)) return;
      const PadValue pad_p = p->view != nullptr ? p->view->pad : PadValue::Null;
      const PadValue pad_q = q->view != nullptr ? q->view->pad : PadValue::Null;
      check_pad(where, a, b, pad_p, pad_q, span);
    } else if (const auto* s = dyn<ScalarType>(a.type)) {
      check_dtype(where, a, b, s->dtype, dyn<ScalarType>(b.type)->dtype, span);
    } else if (const auto* arr = dyn<ArrayType>(a.type)) {
      const auto* other = dyn<ArrayType>(b.type);
      if (!check_dtype(where, a, b, arr->dtype, other->dtype, span)) return;
      if (arr->extent != other->extent) {
        diags_.report<diag::type_dim_differs>(span, where, 0, a.name, arr->extent, b.name, other->extent)
            .help("give both arrays one extent");
      }
    } else if (const auto* t = dyn<TupleType>(a.type)) {
      const auto* u = dyn<TupleType>(b.type);
      if (t->elements.size() != u->elements.size()) {
        diags_
            .report<diag::type_rank_differs>(span, where, a.name, t->elements.size(), b.name,
                                             u->elements.size())
            .help("make both tuples of one length");
        return;
      }
      for (std::size_t i = 0; i < t->elements.size(); ++i) {
        check_pair(where, {fmt::format("element {} of {}", i, a.name), t->elements[i]},
                   {fmt::format("element {} of {}", i, b.name), u->elements[i]}, span);
      }
    }
  }

  bool check_dtype(std::string_view where, const Side& a, const Side& b, DType x, DType y, Span span) {
    if (same_dtype(x, y)) return true;
    diags_.report<diag::type_dtype_differs>(span, where, a.name, name_of(x), b.name, name_of(y))
        .help("convert one of them to {} with pl.cast", name_of(x));
    return false;
  }

  bool check_shaped(std::string_view where, const Side& a, const Side& b, DType x, DType y,
                    List<const Expr*> shape_x, List<const Expr*> shape_y, Span span) {
    if (!check_dtype(where, a, b, x, y, span)) return false;
    if (shape_x.size() != shape_y.size()) {
      diags_.report<diag::type_rank_differs>(span, where, a.name, shape_x.size(), b.name, shape_y.size())
          .help("reshape one of them");
      return false;
    }
    for (std::size_t i = 0; i < shape_x.size(); ++i) {
      if (!provably_different(shape_x[i], shape_y[i])) continue;
      diags_
          .report<diag::type_dim_differs>(span, where, i, a.name, describe(shape_x[i]), b.name,
                                          describe(shape_y[i]))
          .help("give both values one shape");
      return false;
    }
    const auto valid_x = valid_shape_of(a.type);
    const auto valid_y = valid_shape_of(b.type);
    for (std::size_t i = 0; i < valid_x.size() && i < valid_y.size(); ++i) {
      if (!provably_different(valid_x[i], valid_y[i])) continue;
      diags_
          .report<diag::type_valid_differs>(span, where, i, a.name, describe(valid_x[i]), b.name,
                                            describe(valid_y[i]))
          .help("give both values one valid shape");
      return false;
    }
    return true;
  }

  bool check_pad(std::string_view where, const Side& a, const Side& b, PadValue x, PadValue y, Span span) {
    if (x == y) return true;
    diags_.report<diag::type_pad_differs>(span, where, a.name, name_of(x), b.name, name_of(y))
        .help("give both values one padding");
    return false;
  }

  DiagSink& diags_;
};

}  // namespace

void verify_TypeChecked(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    Verifier(diags).run(f);
    verify_type_sizes(f, diags);
  }
}

}  // namespace pldc
