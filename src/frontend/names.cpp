// How variables are named in the text (format.md 1.7, 1.8).
#include <algorithm>
#include <set>
#include <unordered_set>

#include "frontend/writer.h"

namespace pldc {

namespace {

template <class F>
void type_var_leaves(const Type* type, bool with_distributed, F&& f) {
  const auto leaves = [&](List<const Expr*> dims) {
    for (const Expr* dim : dims) {
      if (dim->kind == ExprKind::ConstInt) continue;
      // Through binary and unary nodes only, as the reference collects them.
      std::vector<const Expr*> stack{dim};
      while (!stack.empty()) {
        const Expr* e = stack.back();
        stack.pop_back();
        if (const auto* var = dyn<Var>(e)) {
          f(var);
        } else if (const auto* binary = dyn<Binary>(e)) {
          stack.push_back(binary->rhs);
          stack.push_back(binary->lhs);
        } else if (const auto* unary = dyn<Unary>(e)) {
          stack.push_back(unary->operand);
        } else if (const auto* cast = dyn<Cast>(e)) {
          stack.push_back(cast->operand);
        }
      }
    }
  };
  if (const auto* tensor = dyn<TensorType>(type)) {
    if (is_distributed(type) && !with_distributed) return;
    leaves(tensor->shape);
    if (tensor->view != nullptr) {
      leaves(tensor->view->valid_shape);
      leaves(tensor->view->stride);
    }
  } else if (const auto* tile = dyn<TileType>(type)) {
    leaves(tile->shape);
    if (tile->view != nullptr) {
      leaves(tile->view->valid_shape);
      leaves(tile->view->stride);
      if (tile->view->start_offset != nullptr) leaves(List<const Expr*>(&tile->view->start_offset, 1));
    }
  } else if (const auto* tuple = dyn<TupleType>(type)) {
    for (const Type* element : tuple->elements) type_var_leaves(element, with_distributed, f);
  }
}

}  // namespace

void Writer::collect_dynamics(const Program& program) {
  const bool with_distributed = options_.dialect == Dialect::Dump;
  std::vector<const Var*> found;
  std::unordered_set<const Var*> seen;
  std::unordered_set<const Var*> defined;
  std::unordered_set<const Var*> kept_params;
  const Type* last = nullptr;
  const auto leaves = [&](const Type* type) {
    if (type == last) return;  // runs of one shared type are common
    last = type;
    type_var_leaves(type, with_distributed, [&](const Var* v) {
      if (seen.insert(v).second) found.push_back(v);
    });
  };
  for (const Function* f : program.functions) {
    for (const Param& param : f->params) leaves(param.var->type);
    for (const Type* type : f->return_types) leaves(type);
    walk_stmts(f->body, [&](const Stmt* s) {
      for_each_def(s, [&](const Var* v) { leaves(v->type); });
      for_each_expr(s, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          if (e->kind == ExprKind::Var) leaves(e->type);
        });
      });
    });
  }
  if (found.empty()) return;
  // Only now is it worth knowing what is defined.
  for (const Function* f : program.functions) {
    for (const Param& param : f->params) {
      if (seen.count(param.var) != 0) defined.insert(param.var);
      // Parameters named by a tensor parameter's valid_shape stay declared: signatures are read before
      // parameters exist.
      const auto* tensor = dyn<TensorType>(param.var->type);
      if (tensor != nullptr && tensor->view != nullptr) {
        for (const Expr* dim : tensor->view->valid_shape) {
          walk_expr(dim, [&](const Expr* e) {
            if (const auto* v = dyn<Var>(e)) kept_params.insert(v);
          });
        }
      }
    }
    walk_stmts(f->body, [&](const Stmt* s) {
      for_each_def(s, [&](const Var* v) {
        if (seen.count(v) != 0) {
          defined.insert(v);
          kept_params.erase(v);
        }
      });
    });
  }
  std::vector<const Var*> symbols;
  for (const Var* v : found) {
    if (defined.count(v) == 0 || kept_params.count(v) != 0) symbols.push_back(v);
  }
  // Steps 3 and 4 of 1.7 over the program-wide list.
  std::unordered_map<std::string_view, int> uses;
  for (const Var* v : symbols) ++uses[v->name.text()];
  std::set<std::string, std::less<>> taken;
  for (const Var* v : symbols) {
    if (uses[v->name.text()] == 1) taken.emplace(v->name.text());
  }
  for (const Var* v : symbols) {
    std::string printed(v->name.text());
    if (uses[v->name.text()] > 1) {
      for (int k = 0; taken.count(printed) != 0; ++k) {
        printed = std::string(v->name.text()) + "_" + std::to_string(k + 1);
      }
      taken.insert(printed);
    }
    dynamics_.emplace_back(v, std::move(printed));
  }
  std::sort(dynamics_.begin(), dynamics_.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& [v, printed] : dynamics_) dynamic_names_[v] = printed;
}

void Writer::begin_function(const Function& f) {
  ++stamp_;
  locals_.clear();
  const auto collect = [&](const Var* v, bool definition, bool assigned) {
    if (v->id >= vars_.size())
      vars_.resize(std::max<std::size_t>(v->id + 1, vars_.size() + vars_.size() / 2));
    VarEntry& e = vars_[v->id];
    if (e.stamp != stamp_) {
      e = VarEntry{stamp_, static_cast<std::uint32_t>(locals_.size())};
      locals_.push_back({v, assigned, definition});
      return;
    }
    Local& known = locals_[e.local];
    known.assigned = known.assigned || assigned;
    known.defined = known.defined || definition;
  };
  for (const Param& param : f.params) collect(param.var, true, false);
  walk_stmts(f.body, [&](const Stmt* s) {
    const bool assigned = s->kind == StmtKind::Assign;
    for_each_def(s, [&](const Var* v) { collect(v, true, assigned); });
  });
  const auto use = [&](const Expr* root) {
    walk_expr(root, [&](const Expr* e) {
      if (e->kind == ExprKind::Var) collect(static_cast<const Var*>(e), false, false);
    });
  };
  walk_stmts(f.body, [&](const Stmt* s) {
    if (const auto* scope = dyn<ScopeStmt>(s)) {
      // Attributes of cluster and runtime scopes are not visited; those of domains only in the dump dialect.
      if (scope->scope == ScopeKind::Cluster || scope->scope == ScopeKind::Runtime) return;
      if (scope->scope == ScopeKind::CommDomain && options_.dialect == Dialect::Legacy) return;
    }
    for_each_expr(s, use);
  });
  // Symbols of the whole program have their names already.
  const auto is_local = [&](const Local& l) {
    return dynamic_names_.empty() || dynamic_names_.count(l.var) == 0;
  };
  // A hint that only one variable has prints as it is; these are reserved before any other name is made.
  const auto hint = [&](Name n) -> NameEntryState& {
    if (n.id() >= hints_.size()) hints_.resize(std::max<std::size_t>(n.id() + 1, hints_.size() * 2));
    NameEntryState& h = hints_[n.id()];
    if (h.stamp != stamp_) h = NameEntryState{stamp_, 0, 0};
    return h;
  };
  bool clashes = false;
  for (const Local& l : locals_) {
    if (is_local(l)) clashes = ++hint(l.var->name).count > 1 || clashes;
  }
  std::unordered_set<std::string_view> taken;
  if (clashes) {
    for (const Local& l : locals_) {
      if (is_local(l) && hint(l.var->name).count == 1) taken.insert(l.var->name.text());
    }
  }
  for (Local& l : locals_) {
    if (!is_local(l)) continue;
    NameEntryState& h = hint(l.var->name);
    std::string_view printed = l.var->name.text();
    if (h.count > 1) {
      std::string candidate(printed);
      while (taken.count(candidate) != 0)
        candidate = std::string(printed) + "_" + std::to_string(++h.next_suffix);
      printed = storage_.copy(candidate);
      taken.insert(printed);
    }
    if (!l.defined) {
      // Used but never bound: marks a malformed function.
      printed = storage_.copy(std::string(printed) + "__FREE_VAR");
    }
    l.printed = printed;
  }
}

std::string_view Writer::name(const Var* v) const {
  const Local* l = local(v);
  return l != nullptr && !l->printed.empty() ? l->printed : plain_name(v);
}

std::string_view Writer::plain_name(const Var* v) const {
  if (!dynamic_names_.empty()) {
    if (const auto found = dynamic_names_.find(v); found != dynamic_names_.end()) return found->second;
  }
  return v->name.text();
}

bool Writer::assigned_here(const Var* v) const {
  const Local* l = local(v);
  return l != nullptr && l->assigned;
}

}  // namespace pldc
