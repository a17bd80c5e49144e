// MaterializeValidShapeSymbols (49): makes parameters of the symbols that only the valid_shape of a kernel's tensors
// mentions, and passes the extents.
//
// A kernel gets a tensor's address and shape, not how much of it holds data; that number has to be passed. This is the
// last pass, so that no other one needs to know of the parameters in front.
#include <unordered_set>

#include "frontend/text.h"
#include "ir/rewrite.h"
#include "passes/function_call.h"
#include "passes/pass.h"
#include "support/diag/pass.h"

namespace pldc {

namespace {

// Where a symbol stands alone.
struct Place {
  std::size_t param;
  std::size_t dim;
};
struct Symbol {
  const Var* var;
  std::vector<Place> places;
};
using Symbols = std::vector<Symbol>;  // in the order of the new parameters

Symbols unbound_symbols(PassEnv& env, const Function* f) {
  std::unordered_set<const Expr*> bound;
  for (const Param& param : f->params) {
    const auto* tensor = dyn<TensorType>(param.var->type);
    if (tensor == nullptr) bound.insert(param.var);
    for (const Expr* dim : tensor != nullptr ? tensor->shape : List<const Expr*>{}) {
      walk_expr(dim, [&](const Expr* e) { bound.insert(e); });
    }
  }
  const auto valid_shape = [](const Param& param) {
    const auto* tensor = dyn<TensorType>(param.var->type);
    return tensor != nullptr && tensor->view != nullptr ? tensor->view->valid_shape : List<const Expr*>{};
  };
  Symbols symbols;
  std::unordered_map<const Expr*, std::size_t> index;
  for (std::size_t i = 0; i < f->params.size(); ++i) {
    const auto dims = valid_shape(f->params[i]);
    for (std::size_t k = 0; k < dims.size(); ++k) {
      const auto* var = dyn<Var>(dims[k]);
      if (var == nullptr || bound.contains(var)) continue;
      const auto [at, fresh] = index.emplace(var, symbols.size());
      if (fresh) symbols.push_back({var, {}});
      symbols[at->second].places.push_back({i, k});
    }
  }
  std::unordered_set<const Expr*> reported;
  for (const Param& param : f->params) {
    for (const Expr* dim : valid_shape(param)) {
      walk_expr(dim, [&](const Expr* e) {
        const auto* var = dyn<Var>(e);
        if (var == nullptr || bound.contains(var) || index.contains(var) || !reported.insert(var).second)
          return;
        env.diags
            .report<diag::symbol_compound>(param.type_span.valid() ? param.type_span : f->name_span,
                                           param.var->name.text(), f->name.text(), var->name.text(),
                                           print_expr(dim))
            .help("let one parameter have '{}' alone in its valid_shape, or pass it as a scalar parameter",
                  var->name.text());
      });
    }
  }
  return symbols;
}

class SymbolPasser : public Rewriter {
 public:
  SymbolPasser(PassEnv& env, const Program* program) : Rewriter(env.ir), env_(env) {
    for (const Function* f : program->functions) {
      functions_.emplace(f->name, f);
      if (!f->is_kernel() && f->func_type != FuncType::Spmd) continue;
      if (Symbols symbols = unbound_symbols(env, f); !symbols.empty()) plans_.emplace(f, std::move(symbols));
    }
  }

  bool idle() const { return plans_.empty(); }

  const Function* function(const Function* f) override {
    const Function* out = Rewriter::function(f);
    const auto plan = plans_.find(f);
    if (plan == plans_.end()) return out;
    Function n = *out;
    std::vector<Param> params;
    for (const Symbol& symbol : plan->second) params.push_back({symbol.var, ParamDirection::In, {}});
    params.insert(params.end(), out->params.begin(), out->params.end());
    n.params = ctx().list(params);
    return ctx().make(n);
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    span_ = s->span;
    out.push_back(rebuild(s));
  }

  const Expr* expr(const Expr* e) override {
    const Expr* rewritten = Rewriter::expr(e);
    const auto call = function_call(rewritten);
    const auto callee = call ? functions_.find(call->callee) : functions_.end();
    const auto plan = callee != functions_.end() ? plans_.find(callee->second) : plans_.end();
    if (plan == plans_.end()) return rewritten;
    std::vector<const Expr*> args;
    for (const Symbol& symbol : plan->second) {
      const Expr* extent = extent_of(symbol, callee->second, *call, e->span.valid() ? e->span : span_);
      if (extent == nullptr) return rewritten;
      args.push_back(extent);
    }
    const std::size_t count = args.size();
    args.insert(args.end(), call->args.begin(), call->args.end());
    if (call->is_submit) return with(*static_cast<const Submit*>(rewritten), args, count);
    return with(*static_cast<const Call*>(rewritten), args, count);
  }

 private:
  template <class T>
  const Expr* with(T n, const std::vector<const Expr*>& args, std::size_t count) {
    n.args = ctx().list(args);
    n.attrs = shifted(n.attrs, count);
    return ctx().make(n);
  }

  // Attributes that number arguments, with `count` scalars in front.
  Attrs shifted(Attrs attrs, std::size_t count) {
    std::vector<Attr> out(attrs.begin(), attrs.end());
    for (Attr& attr : out) {
      if (attr.key.text() == "arg_directions") {
        std::vector<ArgDirection> directions(count, ArgDirection::Scalar);
        directions.insert(directions.end(), attr.value.directions.begin(), attr.value.directions.end());
        attr.value = AttrValue::of_directions(ctx().list(directions));
      } else if (attr.key.text() == "arg_direction_overrides") {
        std::vector<std::int64_t> indices(attr.value.ints.begin(), attr.value.ints.end());
        for (std::int64_t& index : indices) index += static_cast<std::int64_t>(count);
        attr.value = AttrValue::of_ints(ctx().list(indices));
      }
    }
    return ctx().list(out);
  }

  // How far the arguments hold data where the callee's parameters say `symbol`; null after a report.
  const Expr* extent_of(const Symbol& symbol, const Function* callee, const FunctionCall& call, Span place) {
    const Expr* extent = nullptr;
    for (const Place& at : symbol.places) {
      const Expr* argument = argument_for(callee, call, at.param);
      if (argument == nullptr) {
        env_.diags
            .report<diag::symbol_argument_missing>(place, callee->name.text(),
                                                   callee->params[at.param].var->name.text(),
                                                   symbol.var->name.text())
            .help("create the output before the submit and pass it");
        return nullptr;
      }
      const List<const Expr*> valid = valid_shape_of(argument->type);
      if (at.dim >= valid.size()) return nullptr;
      if (extent != nullptr && !same_dim(extent, valid[at.dim])) {
        env_.diags
            .report<diag::symbol_extents_differ>(place, callee->name.text(), symbol.var->name.text(),
                                                 print_expr(extent), print_expr(valid[at.dim]))
            .help("pass tensors that are valid in the same extent, or use two symbols in '{}'",
                  callee->name.text());
        return nullptr;
      }
      extent = valid[at.dim];
    }
    return extent;
  }

  PassEnv& env_;
  std::unordered_map<Name, const Function*> functions_;
  std::unordered_map<const Function*, Symbols> plans_;
  Span span_;
};

}  // namespace

const Program* run_MaterializeValidShapeSymbols(PassEnv& env, const Program* program) {
  const std::uint32_t errors = env.diags.error_count();
  SymbolPasser passer(env, program);
  const Program* out = passer.idle() ? program : passer.program(program);
  return env.diags.error_count() == errors ? out : nullptr;
}

}  // namespace pldc
