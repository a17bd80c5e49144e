#include "ir/rewrite.h"

#include <algorithm>

namespace pldc {

const Var* Rewriter::use(const Var* v) {
  const Expr* to = mapped(v);
  const Var* var = dyn<Var>(to);
  return var != nullptr ? var : v;
}

List<const Expr*> Rewriter::exprs(List<const Expr*> list) {
  std::vector<const Expr*> changed;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Expr* e = expr(list[i]);
    if (changed.empty() && e != list[i])
      changed.assign(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i));
    if (!changed.empty() || e != list[i]) changed.push_back(e);
  }
  return changed.empty() ? list : context_.list(changed);
}

Attrs Rewriter::attrs(Attrs list) {
  std::vector<Attr> changed;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Attr attr = list[i];
    bool differs = false;
    switch (attr.value.kind) {
      case AttrKind::Expr: {
        const Expr* e = expr(attr.value.expr);
        differs = e != attr.value.expr;
        attr.value.expr = e;
        break;
      }
      case AttrKind::Var: {
        const Expr* e = expr(attr.value.expr);
        differs = e != attr.value.expr;
        if (differs)
          attr.value = e->kind == ExprKind::Var ? AttrValue::of_var(static_cast<const Var*>(e))
                                                : AttrValue::of_expr(e);
        break;
      }
      case AttrKind::VarList: {
        std::vector<const Var*> vars;
        for (const Var* v : attr.value.vars) {
          vars.push_back(use(v));
          differs = differs || vars.back() != v;
        }
        if (differs) attr.value.vars = context_.list(vars);
        break;
      }
      case AttrKind::VarPairList: {
        std::vector<VarIntPair> pairs;
        for (const VarIntPair& pair : attr.value.var_pairs) {
          pairs.push_back({use(pair.var), pair.value});
          differs = differs || pairs.back().var != pair.var;
        }
        if (differs) attr.value.var_pairs = context_.list(pairs);
        break;
      }
      case AttrKind::Int:
      case AttrKind::Bool:
      case AttrKind::String:
      case AttrKind::Float:
      case AttrKind::DType:
      case AttrKind::MemSpace:
      case AttrKind::TensorLayout:
      case AttrKind::TileLayout:
      case AttrKind::PadValue:
      case AttrKind::ArgDirection:
      case AttrKind::ArgDirectionList:
      case AttrKind::IntList:
      case AttrKind::IntPairList:
        break;
    }
    if (changed.empty() && differs)
      changed.assign(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i));
    if (!changed.empty() || differs) changed.push_back(attr);
  }
  return changed.empty() ? list : context_.list(changed);
}

const Expr* Rewriter::expr(const Expr* e) {
  if (e->kind == ExprKind::Var) {
    const Expr* to = mapped(static_cast<const Var*>(e));
    return to != nullptr ? to : e;
  }
  return children(e);
}

const Expr* Rewriter::children(const Expr* e) {
  const Type* new_type = type(e->type);
  switch (e->kind) {
    case ExprKind::Var:
    case ExprKind::ConstInt:
    case ExprKind::ConstFloat:
    case ExprKind::ConstBool:
      return e;
    case ExprKind::Binary: {
      Binary n = *static_cast<const Binary*>(e);
      const Expr* l = expr(n.lhs);
      const Expr* r = expr(n.rhs);
      if (l == n.lhs && r == n.rhs) return e;
      n.lhs = l;
      n.rhs = r;
      return context_.make(n);
    }
    case ExprKind::Unary: {
      Unary n = *static_cast<const Unary*>(e);
      const Expr* operand = expr(n.operand);
      if (operand == n.operand) return e;
      n.operand = operand;
      return context_.make(n);
    }
    case ExprKind::Cast: {
      Cast n = *static_cast<const Cast*>(e);
      const Expr* operand = expr(n.operand);
      if (operand == n.operand) return e;
      n.operand = operand;
      return context_.make(n);
    }
    case ExprKind::Call: {
      Call n = *static_cast<const Call*>(e);
      const auto args = exprs(n.args);
      const auto kwargs = attrs(n.kwargs);
      const auto attributes = attrs(n.attrs);
      if (args.data() == n.args.data() && kwargs.data() == n.kwargs.data() &&
          attributes.data() == n.attrs.data() && new_type == n.type) {
        return e;
      }
      n.args = args;
      n.kwargs = kwargs;
      n.attrs = attributes;
      n.type = new_type;
      return context_.make(n);
    }
    case ExprKind::Submit: {
      Submit n = *static_cast<const Submit*>(e);
      const auto args = exprs(n.args);
      const auto deps = exprs(n.deps);
      const Expr* core_num = n.core_num != nullptr ? expr(n.core_num) : nullptr;
      const Expr* predicate = n.predicate != nullptr ? expr(n.predicate) : nullptr;
      const auto attributes = attrs(n.attrs);
      if (args.data() == n.args.data() && deps.data() == n.deps.data() && core_num == n.core_num &&
          predicate == n.predicate && attributes.data() == n.attrs.data() && new_type == n.type) {
        return e;
      }
      n.args = args;
      n.deps = deps;
      n.core_num = core_num;
      n.predicate = predicate;
      n.attrs = attributes;
      n.type = new_type;
      return context_.make(n);
    }
    case ExprKind::MakeTuple: {
      MakeTuple n = *static_cast<const MakeTuple*>(e);
      const auto elements = exprs(n.elements);
      if (elements.data() == n.elements.data()) return e;
      return context_.make_tuple(elements, n.span);
    }
    case ExprKind::TupleGet: {
      TupleGet n = *static_cast<const TupleGet*>(e);
      const Expr* tuple = expr(n.tuple);
      if (tuple == n.tuple && new_type == n.type) return e;
      n.tuple = tuple;
      n.type = new_type;
      return context_.make(n);
    }
  }
  return e;
}

const MemRef* Rewriter::memref(const MemRef* m) {
  if (m == nullptr) return nullptr;
  MemRef n = *m;
  if (n.base != nullptr) n.base = use(n.base);
  if (n.byte_offset != nullptr) n.byte_offset = expr(n.byte_offset);
  if (n.slot_index != nullptr) n.slot_index = expr(n.slot_index);
  if (n.base == m->base && n.byte_offset == m->byte_offset && n.slot_index == m->slot_index) return m;
  return context_.make(n);
}

const Type* Rewriter::type(const Type* t) {
  // Most types mention only constants; an empty map then makes the whole rewrite free.
  return map_.empty() ? t : rebuild(t);
}

const Type* Rewriter::rebuild(const Type* t) {
  if (const auto* tensor = dyn<TensorType>(t)) {
    TensorType n = *tensor;
    n.shape = exprs(n.shape);
    if (n.view != nullptr) {
      TensorView v = *n.view;
      v.valid_shape = exprs(v.valid_shape);
      v.stride = exprs(v.stride);
      if (v.valid_shape.data() != n.view->valid_shape.data() || v.stride.data() != n.view->stride.data()) {
        n.view = context_.make(v);
      }
    }
    n.memref = memref(n.memref);
    if (n.window != nullptr) n.window = use(n.window);
    if (n.shape.data() == tensor->shape.data() && n.view == tensor->view && n.memref == tensor->memref &&
        n.window == tensor->window) {
      return t;
    }
    return context_.tensor(n.kind, n.dtype, n.shape, n.view, n.memref, n.window);
  }
  if (const auto* tile = dyn<TileType>(t)) {
    TileType n = *tile;
    n.shape = exprs(n.shape);
    n.memref = memref(n.memref);
    if (n.view != nullptr) {
      TileView v = *n.view;
      v.valid_shape = exprs(v.valid_shape);
      v.stride = exprs(v.stride);
      if (v.start_offset != nullptr) v.start_offset = expr(v.start_offset);
      if (v.valid_shape.data() != n.view->valid_shape.data() || v.stride.data() != n.view->stride.data() ||
          v.start_offset != n.view->start_offset) {
        n.view = context_.make(v);
      }
    }
    if (n.shape.data() == tile->shape.data() && n.memref == tile->memref && n.view == tile->view) return t;
    return context_.tile(n.dtype, n.shape, n.memref, n.space, n.view);
  }
  if (const auto* tuple = dyn<TupleType>(t)) {
    std::vector<const Type*> elements;
    bool differs = false;
    for (const Type* element : tuple->elements) {
      elements.push_back(type(element));
      differs = differs || elements.back() != element;
    }
    return differs ? context_.tuple(context_.list(elements)) : t;
  }
  return t;
}

const Var* Rewriter::define(const Var* v) {
  const Type* new_type = type(v->type);
  if (new_type == v->type) {
    // A definition hides an earlier substitution of the same variable (it can only stem from an earlier copy).
    forget(v);
    return v;
  }
  const Var* fresh = context_.var_like(v, new_type);
  substitute(v, fresh);
  return fresh;
}

List<const Var*> Rewriter::defines(List<const Var*> list) {
  std::vector<const Var*> vars;
  bool differs = false;
  for (const Var* v : list) {
    vars.push_back(define(v));
    differs = differs || vars.back() != v;
  }
  return differs ? context_.list(vars) : list;
}

List<WindowSlot> Rewriter::slots(List<WindowSlot> list) {
  std::vector<WindowSlot> changed;
  bool differs = false;
  for (const WindowSlot& slot : list) {
    WindowSlot n = slot;
    n.base = use(n.base);
    n.size = expr(n.size);
    differs = differs || n.base != slot.base || n.size != slot.size;
    changed.push_back(n);
  }
  return differs ? context_.list(changed) : list;
}

const Stmt* Rewriter::rebuild(const Stmt* s) {
  const auto iter_inits = [&](List<IterArg> args) {
    std::vector<const Expr*> inits;
    for (const IterArg& arg : args) inits.push_back(expr(arg.init));
    return inits;
  };
  const auto iter_defs = [&](List<IterArg> args, const std::vector<const Expr*>& inits) {
    std::vector<IterArg> out;
    bool differs = false;
    for (std::size_t i = 0; i < args.size(); ++i) {
      out.push_back({define(args[i].var), inits[i]});
      differs = differs || out.back().var != args[i].var || inits[i] != args[i].init;
    }
    return differs ? context_.list(out) : args;
  };
  switch (s->kind) {
    case StmtKind::Assign: {
      AssignStmt n = *static_cast<const AssignStmt*>(s);
      const Expr* value = expr(n.value);
      const Var* var = define(n.var);
      if (value == n.value && var == n.var) return s;
      n.value = value;
      n.var = var;
      return context_.make(n);
    }
    case StmtKind::Eval: {
      EvalStmt n = *static_cast<const EvalStmt*>(s);
      const Expr* value = expr(n.value);
      if (value == n.value) return s;
      n.value = value;
      return context_.make(n);
    }
    case StmtKind::Return: {
      ReturnStmt n = *static_cast<const ReturnStmt*>(s);
      const auto values = exprs(n.values);
      if (values.data() == n.values.data()) return s;
      n.values = values;
      return context_.make(n);
    }
    case StmtKind::Yield: {
      YieldStmt n = *static_cast<const YieldStmt*>(s);
      const auto values = exprs(n.values);
      if (values.data() == n.values.data()) return s;
      n.values = values;
      return context_.make(n);
    }
    case StmtKind::If: {
      const auto* old = static_cast<const IfStmt*>(s);
      IfStmt n = *old;
      n.condition = expr(n.condition);
      n.then_body = body(n.then_body);
      n.else_body = body(n.else_body);
      n.return_vars = defines(n.return_vars);
      if (n.condition == old->condition && n.then_body.data() == old->then_body.data() &&
          n.then_body.size() == old->then_body.size() && n.else_body.data() == old->else_body.data() &&
          n.else_body.size() == old->else_body.size() && n.return_vars.data() == old->return_vars.data()) {
        return s;
      }
      return context_.make(n);
    }
    case StmtKind::For: {
      const auto* old = static_cast<const ForStmt*>(s);
      ForStmt n = *old;
      const auto inits = iter_inits(n.iter_args);
      n.start = expr(n.start);
      n.stop = expr(n.stop);
      n.step = expr(n.step);
      n.loop_var = define(n.loop_var);
      n.iter_args = iter_defs(n.iter_args, inits);
      n.body = body(n.body);
      n.return_vars = defines(n.return_vars);
      n.attrs = attrs(n.attrs);
      if (n.start == old->start && n.stop == old->stop && n.step == old->step &&
          n.loop_var == old->loop_var && n.iter_args.data() == old->iter_args.data() &&
          n.body.data() == old->body.data() && n.body.size() == old->body.size() &&
          n.return_vars.data() == old->return_vars.data() && n.attrs.data() == old->attrs.data()) {
        return s;
      }
      return context_.make(n);
    }
    case StmtKind::While: {
      const auto* old = static_cast<const WhileStmt*>(s);
      WhileStmt n = *old;
      const auto inits = iter_inits(n.iter_args);
      n.iter_args = iter_defs(n.iter_args, inits);
      n.condition = expr(n.condition);
      n.body = body(n.body);
      n.return_vars = defines(n.return_vars);
      if (n.condition == old->condition && n.iter_args.data() == old->iter_args.data() &&
          n.body.data() == old->body.data() && n.body.size() == old->body.size() &&
          n.return_vars.data() == old->return_vars.data()) {
        return s;
      }
      return context_.make(n);
    }
    case StmtKind::Scope: {
      const auto* old = static_cast<const ScopeStmt*>(s);
      ScopeStmt n = *old;
      if (n.core_num != nullptr) n.core_num = expr(n.core_num);
      n.attrs = attrs(n.attrs);
      n.body = body(n.body);
      // Slots name variables that the body defines, so they are mapped after it.
      n.slots = slots(n.slots);
      if (n.core_num == old->core_num && n.attrs.data() == old->attrs.data() &&
          n.body.data() == old->body.data() && n.body.size() == old->body.size() &&
          n.slots.data() == old->slots.data()) {
        return s;
      }
      return context_.make(n);
    }
    case StmtKind::Break:
    case StmtKind::Continue:
    case StmtKind::Inline:
      return s;
  }
  return s;
}

void Rewriter::stmt(const Stmt* s, std::vector<const Stmt*>& out) { out.push_back(rebuild(s)); }

Body Rewriter::body(Body b) {
  std::vector<const Stmt*> out;
  out.reserve(b.size());
  for (const Stmt* s : b) stmt(s, out);
  if (out.size() == b.size() && std::equal(out.begin(), out.end(), b.begin())) return b;
  return context_.list(out);
}

const Function* Rewriter::function(const Function* f) {
  Function n = *f;
  std::vector<Param> params;
  bool differs = false;
  for (const Param& param : f->params) {
    params.push_back(param);
    params.back().var = define(param.var);
    differs = differs || params.back().var != param.var;
  }
  if (differs) n.params = context_.list(params);
  std::vector<const Type*> returns;
  bool returns_differ = false;
  for (const Type* t : f->return_types) {
    returns.push_back(type(t));
    returns_differ = returns_differ || returns.back() != t;
  }
  if (returns_differ) n.return_types = context_.list(returns);
  n.attrs = attrs(n.attrs);
  n.body = body(n.body);
  if (!differs && !returns_differ && n.attrs.data() == f->attrs.data() && n.body.data() == f->body.data() &&
      n.body.size() == f->body.size()) {
    return f;
  }
  return context_.make(n);
}

const Program* Rewriter::program(const Program* p) {
  std::vector<const Function*> functions;
  bool differs = false;
  for (const Function* f : p->functions) {
    functions.push_back(function(f));
    differs = differs || functions.back() != f;
  }
  if (!differs) return p;
  Program n = *p;
  n.functions = context_.list(functions);
  return context_.make(n);
}

}  // namespace pldc
