#include "codegen/lanes/lanes.h"

#include <algorithm>

#include "codegen/lanes/lane_values.h"
#include "ir/rewrite.h"
#include "ir/rules.h"
#include "ir/walk.h"
#include "passes/map_functions.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

bool is_split(const Function* f) {
  const AttrValue* split = find_attr(f->attrs, "split");
  const AttrValue* region = find_attr(f->attrs, "split_aiv");
  return (split != nullptr && split->kind == AttrKind::Int && split->integer != 0) ||
         (region != nullptr && region->kind == AttrKind::Bool && region->as_bool());
}

bool uses_lanes(const Function* f) {
  if (f->func_type != FuncType::InCore) return false;
  bool found = false;
  const bool split = is_split(f);
  walk_stmts(f->body, [&](const Stmt* stmt) {
    found = found || dyn_scope(stmt, ScopeKind::SplitAiv) != nullptr;
    for_each_expr(stmt, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        found = found || is_shard(e) || is_gather(e) || (split && is_lane_number(e));
      });
    });
  });
  return found;
}

// What one lane computes.
class Lane : public Rewriter {
 public:
  Lane(Context& context, const LaneValues& values, std::int64_t number)
      : Rewriter(context), values_(values), number_(number) {}

  const Expr* expr(const Expr* e) override {
    if (is_lane_number(e)) return ctx().const_int(number_);
    const Expr* changed = Rewriter::expr(e);
    if (!is_shard(changed)) return changed;
    const auto* shard = static_cast<const Call*>(changed);
    const Attr lane{ctx().name("lane"), AttrValue::of_int(number_)};
    return ctx().call(shard->op, shard->args, shard->kwargs, ctx().list({lane}), shard->type, shard->span);
  }

  const Var* define(const Var* v) override {
    if (!values_.differs(v)) return Rewriter::define(v);
    return define_as(v, type(v->type));
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const auto* assign = dyn<AssignStmt>(s);
    const auto* tile = assign != nullptr ? dyn<TileType>(assign->var->type) : nullptr;
    const ScopeStmt* region = dyn_scope(s, ScopeKind::SplitAiv);
    if (tile != nullptr && values_.differs(assign->var)) {
      const Expr* value = expr(assign->value);
      const List<const Expr*> valid = valid_in_lane(tile, value);
      const Type* own = type(tile);
      if (!valid.empty()) own = with_valid(static_cast<const TileType*>(own), valid);
      const Var* var = define_as(assign->var, own);
      if (!valid.empty()) narrowed_.insert(var);
      out.push_back(ctx().assign(var, value, s->span));
    } else if (region != nullptr) {
      for (const Stmt* inner : region->body) stmt(inner, out);
    } else {
      Rewriter::stmt(s, out);
    }
  }

 private:
  const Var* define_as(const Var* v, const Type* own) {
    // Memory that the text names would be that of both.
    const auto* tile = dyn<TileType>(own);
    if (tile != nullptr && tile->memref != nullptr)
      own = ctx().tile(tile->dtype, tile->shape, nullptr, tile->space, tile->view);
    const Var* var = ctx().var(v->name, own, v->span, v->is_iter_arg);
    substitute(v, var);
    return var;
  }

  const Type* with_valid(const TileType* tile, List<const Expr*> valid) {
    TileView view = effective_view(tile);
    view.valid_shape = valid;
    return ctx().tile(tile->dtype, tile->shape, tile->memref, tile->space, &view);
  }

  // What holds data of a half of a tile that is not full: before LowerAutoVectorSplit types say the same for both lanes, half
  // of what the tile holds. Empty: what the type says.
  List<const Expr*> valid_in_lane(const TileType* said, const Expr* value) {
    const auto* call = dyn<Call>(value);
    if (call == nullptr || !call->is_op()) return {};
    if (is_shard(value)) return valid_of_half(said, call);
    const bool follows = std::any_of(call->args.begin(), call->args.end(),
                                     [&](const Expr* arg) { return narrowed_.count(arg) != 0; });
    if (!follows) return {};
    DiagSink scratch;
    const auto* deduced =
        dyn<TileType>(deduce(ctx(), scratch, call->op, call->args, call->kwargs, call->span));
    return deduced != nullptr ? valid_shape_of(deduced) : List<const Expr*>{};
  }

  List<const Expr*> valid_of_half(const TileType* said, const Call* shard) {
    const AttrValue* split = find_attr(shard->kwargs, "split");
    const AttrValue* given = find_attr(shard->kwargs, "lane_stride");
    const auto* whole = dyn<TileType>(shard->args[0]->type);
    if (whole == nullptr || split == nullptr || split->integer < 1 || split->integer > 2) return {};
    if (values_.type_differs(said)) return {};  // said for each lane
    const auto axis = static_cast<std::size_t>(split->integer - 1);
    const List<const Expr*> valid = valid_shape_of(whole);
    if (axis >= valid.size() || same_dim(valid[axis], whole->shape[axis])) return {};
    const auto extent = const_int(whole->shape[axis]);
    if (!extent) return {};
    const std::int64_t half = given != nullptr ? given->integer : (*extent + 1) / 2;
    const auto known = const_int(valid[axis]);
    std::vector<const Expr*> out(valid.begin(), valid.end());
    if (known) {
      out[axis] = ctx().const_int(std::clamp<std::int64_t>(*known - number_ * half, 0, half));
    } else {
      const Expr* rest = dim_sub(ctx(), valid[axis], ctx().const_int(number_ * half));
      out[axis] = ctx().binary(BinaryOp::Min, ctx().binary(BinaryOp::Max, rest, ctx().const_int(0)),
                               ctx().const_int(half));
    }
    return ctx().list(out);
  }

  std::unordered_set<const Expr*> narrowed_;
  const LaneValues& values_;
  std::int64_t number_;
};

class Expander {
 public:
  Expander(Context& context, const LaneValues& values)
      : ir_(context), values_(values), lanes_{{context, values, 0}, {context, values, 1}} {}

  Body body(Body list, const std::vector<bool>& yields) {
    std::vector<const Stmt*> out;
    for (const Stmt* s : list) statement(s, yields, out);
    return ir_.list(out);
  }

 private:
  void statement(const Stmt* s, const std::vector<bool>& yields, std::vector<const Stmt*>& out) {
    if (values_.control_differs(s)) return each_lane(s, out);
    switch (s->kind) {
      case StmtKind::Assign:
        return assign(static_cast<const AssignStmt*>(s), out);
      case StmtKind::Eval:
        if (values_.differs(static_cast<const EvalStmt*>(s)->value)) return each_lane(s, out);
        return lanes_[0].stmt(s, out);
      case StmtKind::Yield:
        out.push_back(ir_.yield(both(static_cast<const YieldStmt*>(s)->values, yields), s->span));
        return;
      case StmtKind::If:
        out.push_back(branch(*static_cast<const IfStmt*>(s)));
        return;
      case StmtKind::For: {
        ForStmt n = *static_cast<const ForStmt*>(s);
        n.start = lanes_[0].expr(n.start);
        n.stop = lanes_[0].expr(n.stop);
        n.step = lanes_[0].expr(n.step);
        n.loop_var = lanes_[0].define(n.loop_var);
        loop(n);
        out.push_back(ir_.make(n));
        return;
      }
      case StmtKind::While: {
        WhileStmt n = *static_cast<const WhileStmt*>(s);
        loop(n);
        out.push_back(ir_.make(n));
        return;
      }
      case StmtKind::Scope: {
        ScopeStmt n = *static_cast<const ScopeStmt*>(s);
        const Body inside = body(n.body, yields);
        if (n.scope == ScopeKind::SplitAiv) {
          out.insert(out.end(), inside.begin(), inside.end());
          return;
        }
        n.body = inside;
        out.push_back(ir_.make(n));
        return;
      }
      case StmtKind::Return:
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Inline:
        return lanes_[0].stmt(s, out);
    }
  }

  void each_lane(const Stmt* s, std::vector<const Stmt*>& out) {
    for (Lane& lane : lanes_) lane.stmt(s, out);
  }

  void assign(const AssignStmt* s, std::vector<const Stmt*>& out) {
    const bool differs = values_.differs(s->var);
    if (!is_gather(s->value)) {
      if (differs) return each_lane(s, out);
      return lanes_[0].stmt(s, out);
    }
    const auto* gather = static_cast<const Call*>(s->value);
    const List<const Expr*> halves = both(gather->args, {true});
    for (Lane& lane : lanes_) {
      const Var* var = lane.define(s->var);
      out.push_back(ir_.assign(var, ir_.call(gather->op, halves, gather->kwargs, {}, var->type, gather->span),
                               s->span));
      if (!differs) return;
    }
  }

  // The values of lane 0, and those of lane 1 where they differ.
  List<const Expr*> both(List<const Expr*> list, const std::vector<bool>& differ) {
    std::vector<const Expr*> out;
    for (std::size_t i = 0; i < list.size(); ++i) {
      out.push_back(lanes_[0].expr(list[i]));
      if (i < differ.size() && differ[i]) out.push_back(lanes_[1].expr(list[i]));
    }
    return ir_.list(out);
  }
  List<const Var*> define_both(List<const Var*> list) {
    std::vector<const Var*> out;
    for (const Var* var : list) {
      out.push_back(lanes_[0].define(var));
      if (values_.differs(var)) out.push_back(lanes_[1].define(var));
    }
    return ir_.list(out);
  }

  template <class Loop>
  void loop(Loop& n) {
    std::vector<bool> differ;
    std::vector<const Expr*> inits;
    std::vector<const Var*> carries;
    for (const IterArg& carry : n.iter_args) {
      differ.push_back(values_.differs(carry.var));
      carries.push_back(carry.var);
      inits.push_back(carry.init);
    }
    const List<const Expr*> starts = both(ir_.list(inits), differ);
    const List<const Var*> vars = define_both(ir_.list(carries));
    std::vector<IterArg> args;
    for (std::size_t i = 0; i < vars.size(); ++i) args.push_back({vars[i], starts[i]});
    n.iter_args = ir_.list(args);
    if constexpr (std::is_same_v<Loop, WhileStmt>) n.condition = lanes_[0].expr(n.condition);
    n.body = body(n.body, differ);
    n.return_vars = define_both(n.return_vars);
  }

  const Stmt* branch(IfStmt n) {
    n.condition = lanes_[0].expr(n.condition);
    std::vector<bool> differ;
    for (const Var* var : n.return_vars) differ.push_back(values_.differs(var));
    n.then_body = body(n.then_body, differ);
    n.else_body = body(n.else_body, differ);
    n.return_vars = define_both(n.return_vars);
    return ir_.make(n);
  }

  Context& ir_;
  const LaneValues& values_;
  Lane lanes_[2];
};

}  // namespace

const Program* both_lanes(PassEnv& env, const Program* program) {
  return map_functions(env, program, [&](const Function* f) -> const Function* {
    if (!uses_lanes(f)) return f;
    const LaneValues values(f);
    if (const Expr* lost = values.lost_gather()) {
      env.diags
          .report<diag::codegen_lost_gather>(lost->span.valid() ? lost->span : f->name_span, f->name.text())
          .help("take it out of loops and branches that depend on the lane");
      return f;
    }
    Function n = *f;
    n.body = Expander(env.ir, values).body(f->body, {});
    return env.ir.make(n);
  });
}

}  // namespace pldc
