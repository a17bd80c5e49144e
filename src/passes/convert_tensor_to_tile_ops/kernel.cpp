#include "passes/convert_tensor_to_tile_ops/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/auto_name.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/convert_tensor_to_tile_ops/conversions.h"
#include "passes/convert_tensor_to_tile_ops/homes.h"
#include "passes/convert_tensor_to_tile_ops/scalar_writes.h"

namespace pldc::tiling {

namespace {

class KernelConverter : public Rewriter, private Values {
 public:
  KernelConverter(PassEnv& env, const Function* kernel)
      : Rewriter(env.ir), env_(env), kernel_(kernel), homes_(kernel), staged_(staged_writes(kernel)) {}

  ConvertedKernel run() {
    std::vector<const Stmt*> out;
    load_params(out);
    statements(kernel_->body, out);
    const bool same = outs_.empty() && out.size() == kernel_->body.size() &&
                      std::equal(out.begin(), out.end(), kernel_->body.begin());
    if (same) return {kernel_, 0};
    if (out.empty() || out.back()->kind != StmtKind::Return) out.push_back(ctx().ret({}, kernel_->span));
    Function n = *kernel_;
    n.body = ctx().list(out);
    std::vector<Param> params(kernel_->params.begin(), kernel_->params.end());
    for (const auto& [position, var] : outs_) params.push_back({var, ParamDirection::Out, {}});
    n.params = ctx().list(params);
    return {ctx().make(n), outs_.size()};
  }

  Body body(Body b) override {
    std::vector<const Stmt*> out;
    statements(b, out);
    if (out.size() == b.size() && std::equal(out.begin(), out.end(), b.begin())) return b;
    return ctx().list(out);
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    switch (s->kind) {
      case StmtKind::Assign:
        return assign(static_cast<const AssignStmt*>(s), out);
      case StmtKind::Eval:
        return eval(static_cast<const EvalStmt*>(s), out);
      case StmtKind::Return:
        return return_values(static_cast<const ReturnStmt*>(s), out);
      case StmtKind::Yield:
        return yield(static_cast<const YieldStmt*>(s), out);
      case StmtKind::For:
        return loop(static_cast<const ForStmt*>(s), out);
      case StmtKind::While:
        return loop(static_cast<const WhileStmt*>(s), out);
      case StmtKind::If:
        return branch(static_cast<const IfStmt*>(s), out);
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Scope:
      case StmtKind::Inline:
        out.push_back(rebuild(s));
    }
  }

 private:
  // --- Values ------------------------------------------------------------------------------------------------
  const Expr* current(const Expr* e) override { return expr(e); }
  const Expr* loaded(const Expr* e) override {
    const auto* var = dyn<Var>(e);
    const auto found = var != nullptr ? loaded_.find(var) : loaded_.end();
    return found != loaded_.end() ? found->second : nullptr;
  }

  const Conversion* conversion(const Expr* value) const {
    const auto* call = dyn<Call>(value);
    return call != nullptr && call->is_op() ? conversion_of(call->op) : nullptr;
  }

  // A variable of this name for what an old one has become.
  const Var* become(const Var* old, std::string_view name, const Type* type) {
    const Var* var = ctx().var(ctx().name(name), type, old->span, old->is_iter_arg);
    substitute(old, var);
    return var;
  }
  // The same name with another type, if it is another one.
  const Var* retyped(const Var* old, const Type* type) {
    if (type->kind == old->type->kind && !touched(old->type, type)) {
      forget(old);
      return old;
    }
    const Var* var = ctx().var_like(old, type);
    substitute(old, var);
    return var;
  }
  static bool touched(const Type* before, const Type* after) {
    const auto* a = dyn<TupleType>(before);
    const auto* b = dyn<TupleType>(after);
    if (a == nullptr || b == nullptr) return false;
    for (std::size_t i = 0; i < a->elements.size() && i < b->elements.size(); ++i) {
      if (a->elements[i]->kind != b->elements[i]->kind) return true;
    }
    return false;
  }

  // As a tile: what is in memory is loaded here.
  const Expr* as_tile(const Expr* e, std::vector<const Stmt*>& out) {
    if (const Expr* tile = loaded(e)) return tile;
    const Expr* value = expr(e);
    if (dyn<TensorType>(value->type) == nullptr) return value;
    static constexpr Conversion kNone{};
    Lowering load(env_, *this, kNone, nullptr, e->span, false);
    const auto* var = dyn<Var>(value);
    const Expr* whole = load.load_whole(value);
    if (whole == nullptr) return value;
    const Var* tile =
        load.bind(tile_name(var != nullptr ? var->name.text() : std::string_view("value")), whole);
    append(load, out);
    return tile;
  }

  static void append(Lowering& op, std::vector<const Stmt*>& out) {
    out.insert(out.end(), op.statements().begin(), op.statements().end());
  }

  // What has none is refused where it is used.
  static bool has_constant_shape(const Var* tensor) {
    const List<const Expr*> shape = dyn<TensorType>(tensor->type)->shape;
    return std::all_of(shape.begin(), shape.end(),
                       [](const Expr* dim) { return const_int(dim).has_value(); });
  }

  void load_params(std::vector<const Stmt*>& out) {
    for (const Param& param : kernel_->params) {
      if (!homes_.loaded(param.var) || !has_constant_shape(param.var)) continue;
      const Expr* tile = as_tile(param.var, out);
      if (tile != param.var) loaded_[param.var] = tile;
    }
  }

  // --- statements --------------------------------------------------------------------------------------------
  void statements(Body b, std::vector<const Stmt*>& out) {
    for (const Stmt* s : b) {
      stmt(s, out);
      const auto complete = late_stores_.find(s);
      if (complete == late_stores_.end()) continue;
      for (const AssignStmt* store : complete->second) {
        forget(store->var);
        convert(store, *conversion(store->value), out);
      }
    }
  }

  void assign(const AssignStmt* s, std::vector<const Stmt*>& out) {
    if (const auto position = homes_.result_of(s->var)) {
      substitute(s->var, result_memory(*position, s->var->type, s->span));
      return;
    }
    const Conversion* found = conversion(s->value);
    const bool in_memory = found != nullptr && found->takes == Takes::View && !homes_.on_chip(s->var);
    if (found == nullptr || in_memory) return plain(s, out);
    if (const auto staged = staged_.find(s->var); staged != staged_.end() && !homes_.on_chip(s->var)) {
      const auto* assemble = static_cast<const Call*>(s->value);
      const Expr* tile = expr(assemble->args[1]);
      if (dyn<TileType>(tile->type) != nullptr) {
        substitute(s->var, tile);
        late_stores_[staged->second].push_back(s);
        return;
      }
    }
    convert(s, *found, out);
  }

  void convert(const AssignStmt* s, const Conversion& found, std::vector<const Stmt*>& out) {
    const auto* call = static_cast<const Call*>(s->value);
    Lowering op(env_, *this, found, call, call->span, homes_.only_for_matmul(s->var),
                homes_.only_assembled_as(s->var));
    const Expr* value = found.convert(op);
    append(op, out);
    if (value == nullptr) return;
    const Var* var = become(s->var, tile_name(s->var->name.text()), value->type);
    out.push_back(ctx().assign(var, value, s->span));
  }

  // What tensor.dim says of a tensor that has become a tile; null for all else.
  const Expr* extent_of_tile(const Expr* before, const Expr* now) {
    const auto* call = dyn<Call>(now);
    if (call == nullptr || call->op != OpId::tensor_dim || dyn<TileType>(call->args[0]->type) == nullptr)
      return nullptr;
    const auto* tensor = dyn<TensorType>(static_cast<const Call*>(before)->args[0]->type);
    const auto axis = const_int(call->args[1]);
    if (tensor == nullptr || !axis) return nullptr;
    const auto rank = static_cast<std::int64_t>(tensor->shape.size());
    const std::int64_t at = *axis < 0 ? *axis + rank : *axis;
    return at >= 0 && at < rank ? expr(tensor->shape[static_cast<std::size_t>(at)]) : nullptr;
  }

  void plain(const AssignStmt* s, std::vector<const Stmt*>& out) {
    const Expr* value = expr(s->value);
    if (const Expr* extent = extent_of_tile(s->value, value)) {
      out.push_back(ctx().assign(s->var, extent, s->span, s->comments));
      return;
    }
    if (const auto* get = dyn<TupleGet>(value)) {
      const auto* tuple = dyn<TupleType>(get->tuple->type);
      const auto at = static_cast<std::size_t>(get->index);
      if (tuple != nullptr && at < tuple->elements.size() && tuple->elements[at]->kind != get->type->kind)
        value = ctx().tuple_get(get->tuple, get->index, get->span);
    }
    if (value->type->kind == s->var->type->kind) return out.push_back(rebuild(s));
    const Var* var = retyped(s->var, value->type);
    out.push_back(ctx().assign(var, value, s->span, s->comments));
  }

  void eval(const EvalStmt* s, std::vector<const Stmt*>& out) {
    const Conversion* found = conversion(s->value);
    if (found == nullptr) return out.push_back(rebuild(s));
    const auto* call = static_cast<const Call*>(s->value);
    Lowering op(env_, *this, *found, call, call->span, false);
    const Expr* value = found->convert(op);
    append(op, out);
    if (value == s->value) return out.push_back(s);
    if (value != nullptr && value->kind == ExprKind::Call) out.push_back(ctx().eval(value, s->span));
  }

  const Var* result_memory(std::size_t position, const Type* like, Span span) {
    const auto known = outs_.find(position);
    if (known != outs_.end()) return known->second;
    const Type* declared = position < kernel_->return_types.size() ? kernel_->return_types[position] : like;
    const auto* tensor = dyn<TensorType>(declared);
    if (tensor == nullptr) tensor = dyn<TensorType>(like);
    DType dtype = DType::FP32;
    List<const Expr*> shape;
    if (tensor != nullptr) {
      dtype = tensor->dtype;
      shape = tensor->shape;
    } else if (const auto* tile = dyn<TileType>(like)) {
      dtype = tile->dtype;
      shape = tile->shape;
    }
    const std::string name = build_auto_name(fmt::format("ret{}", position), {}, NameRole::Out, std::nullopt);
    const Var* var = ctx().var(ctx().name(name), ctx().tensor(TypeKind::Tensor, dtype, shape), span);
    outs_[position] = var;
    return var;
  }

  void return_values(const ReturnStmt* s, std::vector<const Stmt*>& out) {
    std::vector<const Expr*> values;
    bool stored = false;
    for (std::size_t i = 0; i < s->values.size(); ++i) {
      const Expr* value = expr(s->values[i]);
      const auto* tile = dyn<TileType>(value->type);
      if (tile != nullptr && dyn<TensorType>(s->values[i]->type) != nullptr) {
        const Var* memory = result_memory(i, tile, s->span);
        static constexpr Conversion kNone{};
        Lowering op(env_, *this, kNone, nullptr, s->span, false);
        const auto rank = dyn<TensorType>(memory->type)->shape.size();
        const Expr* store = op.store(value, op.tuple(op.zeros(rank)), memory);
        const std::string name = build_auto_name(fmt::format("ret{}", i), {}, NameRole::Store, std::nullopt);
        value = op.bind(name, store);
        append(op, out);
        stored = true;
      }
      values.push_back(value);
    }
    if (!stored) return out.push_back(rebuild(s));
    out.push_back(ctx().ret(ctx().list(values), s->span, s->comments));
  }

  void yield(const YieldStmt* s, std::vector<const Stmt*>& out) {
    std::vector<const Expr*> values;
    bool differs = false;
    for (std::size_t i = 0; i < s->values.size(); ++i) {
      const bool tile = !receivers_.empty() && i < receivers_.back().size() && receivers_.back()[i];
      values.push_back(tile ? as_tile(s->values[i], out) : expr(s->values[i]));
      differs = differs || values.back() != s->values[i];
    }
    yielded_ = values;
    out.push_back(differs ? ctx().yield(ctx().list(values), s->span, s->comments) : s);
  }

  // The body of a loop or branch that hands its values to these variables.
  Body inner(Body b, const std::vector<const Var*>& receivers) {
    std::vector<bool> tiles;
    for (const Var* var : receivers) tiles.push_back(homes_.on_chip(var));
    receivers_.push_back(std::move(tiles));
    const Body done = body(b);
    receivers_.pop_back();
    return done;
  }

  template <class Loop>
  std::vector<IterArg> carries(const Loop* s, std::vector<const Stmt*>& out) {
    std::vector<IterArg> args;
    for (const IterArg& arg : s->iter_args) {
      const Expr* init = homes_.on_chip(arg.var) ? as_tile(arg.init, out) : expr(arg.init);
      args.push_back({arg.var, init});
    }
    return args;
  }
  void define_carries(std::vector<IterArg>& args) {
    for (IterArg& arg : args) {
      arg.var = homes_.on_chip(arg.var) ? retyped(arg.var, arg.init->type) : define(arg.var);
    }
  }
  template <class Loop>
  Body carried_body(const Loop* s) {
    std::vector<const Var*> receivers;
    for (const IterArg& arg : s->iter_args) receivers.push_back(arg.var);
    return inner(s->body, receivers);
  }
  List<const Var*> loop_results(List<const Var*> old, const std::vector<IterArg>& args) {
    std::vector<const Var*> results;
    for (std::size_t i = 0; i < old.size(); ++i) {
      results.push_back(homes_.on_chip(old[i]) && i < args.size() ? retyped(old[i], args[i].var->type)
                                                                  : define(old[i]));
    }
    return ctx().list(results);
  }
  template <class T>
  void push_if_changed(const T* old, const T& n, std::vector<const Stmt*>& out) {
    const auto same = [](auto a, auto b) {
      return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
    };
    bool equal = same(n.return_vars, old->return_vars);
    for (std::size_t i = 0; i < n.iter_args.size(); ++i) {
      equal = equal && n.iter_args[i].var == old->iter_args[i].var &&
              n.iter_args[i].init == old->iter_args[i].init;
    }
    equal = equal && same(n.body, old->body);
    if constexpr (std::is_same_v<T, ForStmt>) {
      equal = equal && n.start == old->start && n.stop == old->stop && n.step == old->step;
    } else {
      equal = equal && n.condition == old->condition;
    }
    out.push_back(equal ? static_cast<const Stmt*>(old) : ctx().make(n));
  }

  // Elements side by side that get one value are a tile that is stored.
  bool fill(const ForStmt* s, std::vector<const Stmt*>& out) {
    const std::vector<Fill> fills = fills_of(s);
    for (const Fill& part : fills) {
      if (dyn<TensorType>(expr(part.write->args[0])->type) == nullptr) return false;
    }
    static constexpr Conversion kNone{};
    for (const Fill& part : fills) {
      Lowering op(env_, *this, kNone, nullptr, part.write->span, false);
      const auto* target = static_cast<const Var*>(expr(part.write->args[0]));
      const auto* type = dyn<TensorType>(target->type);
      const std::string name = tile_name(target->name.text());
      const Expr* full = op.op(OpId::tile_full, {op.tuple(op.dims({1, part.count})), part.write->args[2]},
                               {{"dtype", AttrValue::of_dtype(type->dtype)}});
      std::vector<const Expr*> shape(type->shape.size(), op.index(1));
      shape.back() = op.index(part.count);
      const Var* shaped = op.bind(name, op.reshape(op.bind(name, full), ctx().list(shape)));
      std::vector<const Expr*> offsets;
      for (const Expr* offset : part.offsets) offsets.push_back(expr(offset));
      op.eval(op.store(shaped, op.tuple(ctx().list(offsets)), target));
      append(op, out);
    }
    return !fills.empty();
  }

  void loop(const ForStmt* s, std::vector<const Stmt*>& out) {
    if (fill(s, out)) return;
    ForStmt n = *s;
    std::vector<IterArg> args = carries(s, out);
    n.start = expr(s->start);
    n.stop = expr(s->stop);
    n.step = expr(s->step);
    define_carries(args);
    n.iter_args = ctx().list(args);
    n.body = carried_body(s);
    n.return_vars = loop_results(s->return_vars, args);
    push_if_changed(s, n, out);
  }

  void loop(const WhileStmt* s, std::vector<const Stmt*>& out) {
    WhileStmt n = *s;
    std::vector<IterArg> args = carries(s, out);
    define_carries(args);
    n.iter_args = ctx().list(args);
    n.condition = expr(s->condition);
    n.body = carried_body(s);
    n.return_vars = loop_results(s->return_vars, args);
    push_if_changed(s, n, out);
  }

  void branch(const IfStmt* s, std::vector<const Stmt*>& out) {
    IfStmt n = *s;
    n.condition = expr(s->condition);
    const std::vector<const Var*> receivers(s->return_vars.begin(), s->return_vars.end());
    n.then_body = inner(s->then_body, receivers);
    const std::vector<const Expr*> yielded = yielded_;
    n.else_body = inner(s->else_body, receivers);
    std::vector<const Var*> results;
    for (std::size_t i = 0; i < receivers.size(); ++i) {
      results.push_back(homes_.on_chip(receivers[i]) && i < yielded.size()
                            ? retyped(receivers[i], yielded[i]->type)
                            : define(receivers[i]));
    }
    n.return_vars = ctx().list(results);
    const bool same = n.condition == s->condition && n.then_body.data() == s->then_body.data() &&
                      n.then_body.size() == s->then_body.size() &&
                      n.else_body.data() == s->else_body.data() &&
                      n.else_body.size() == s->else_body.size() &&
                      std::equal(results.begin(), results.end(), s->return_vars.begin());
    out.push_back(same ? s : ctx().make(n));
  }

  PassEnv& env_;
  const Function* kernel_;
  Homes homes_;
  Staged staged_;
  std::unordered_map<const Stmt*, std::vector<const AssignStmt*>>
      late_stores_;  // by the statement before them
  std::unordered_map<const Var*, const Expr*> loaded_;
  std::map<std::size_t, const Var*> outs_;    // by position among the results
  std::vector<std::vector<bool>> receivers_;  // of the open bodies: which of their values are tiles
  std::vector<const Expr*> yielded_;          // what the last yield handed over
};

}  // namespace

ConvertedKernel convert_kernel(PassEnv& env, const Function* kernel) {
  return KernelConverter(env, kernel).run();
}

}  // namespace pldc::tiling
