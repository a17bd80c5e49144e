#include "passes/outline/outliner.h"

#include <algorithm>

#include "ir/rewrite.h"
#include "passes/control_flow/jumps.h"
#include "passes/outline/kernel_body.h"
#include "passes/outline/tuple_elements.h"
#include "passes/outline/uses.h"
#include "support/diag/pass.h"

namespace pldc::outlining {

namespace {

using Stmts = std::vector<const Stmt*>;

std::string_view level_tag(Level level) {
  switch (level) {
    case Level::AIV:
      return "aiv";
    case Level::AIC:
      return "aic";
    case Level::CORE_GROUP:
      return "core_group";
    case Level::CHIP_DIE:
      return "chip_die";
    case Level::CHIP:
      return "chip";
    case Level::HOST:
      return "host";
    case Level::CLUSTER_0:
      return "cluster0";
    case Level::CLUSTER_1:
      return "cluster1";
    case Level::CLUSTER_2:
      return "cluster2";
    case Level::GLOBAL:
      return "global";
  }
  return "level";
}

// Where each variable is referred to last in a list.
struct LastUses {
  std::unordered_map<const Var*, std::size_t> of;
  bool any_after(std::size_t index) const { return last_any > index && !of.empty(); }
  std::size_t last_any = 0;
};

}  // namespace

// Rewrites one function, or the body of a scope that becomes one.
class ScopeRewriter : public Rewriter {
 public:
  ScopeRewriter(Outliner& outliner, std::unordered_set<const Var*>& locals, std::string name, NamePool names)
      : Rewriter(outliner.env_.ir),
        outliner_(outliner),
        locals_(locals),
        name_(std::move(name)),
        names_(std::move(names)) {}
  // For a scope inside the scope at hand of `outer`.
  ScopeRewriter(ScopeRewriter& outer, std::string name, NamePool names)
      : ScopeRewriter(outer.outliner_, outer.locals_, std::move(name), std::move(names)) {
    outer_ = &outer;
    in_launch_ = outer.in_launch_;
  }

  Body body(Body b) override {
    // What a branch or a loop body renames is not seen after it; a scope lets it through.
    const bool through = inside_.empty() || inside_.back()->kind == StmtKind::Scope;
    const bool bare = !inside_.empty() && b.size() == 1;
    const std::size_t mark = renamed_.size();
    lists_.push_back({b, 0, bare});
    Stmts out;
    for (std::size_t i = 0; i < b.size(); ++i) {
      lists_.back().index = i;
      stmt(b[i], out);
    }
    lists_.pop_back();
    if (!through) roll_back(mark);
    if (std::equal(out.begin(), out.end(), b.begin(), b.end())) return b;
    return ctx().list(out);
  }

  void stmt(const Stmt* s, Stmts& out) override {
    if (const ScopeStmt* scope = dyn_scope(s, outliner_.kind_.scope)) {
      outline(scope, out);
      return;
    }
    const bool launch = dyn_scope(s, ScopeKind::Spmd) != nullptr;
    inside_.push_back(s);
    in_launch_ += launch ? 1 : 0;
    Rewriter::stmt(s, out);
    in_launch_ -= launch ? 1 : 0;
    inside_.pop_back();
  }

 private:
  struct Frame {
    Body list;
    std::size_t index;
    bool bare;  // the only statement of a loop, branch or scope
  };

  // --- names
  void rename(const Var* from, const Var* to) {
    renamed_.emplace_back(from, to);
    before_.push_back(mapped(from));
    substitute(from, to);
  }
  void roll_back(std::size_t mark) {
    while (renamed_.size() > mark) {
      if (before_.back() != nullptr) {
        substitute(renamed_.back().first, before_.back());
      } else {
        forget(renamed_.back().first);
      }
      renamed_.pop_back();
      before_.pop_back();
    }
  }

  // --- what is needed after the statement at hand
  const LastUses& last_uses(Body list) {
    const auto [at, fresh] = uses_.try_emplace(list.data());
    if (!fresh) return at->second;
    LastUses facts;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto note = [&](const Var* v) {
        facts.of[v] = i;
        facts.last_any = i;
      };
      walk_stmts(list.subspan(i, 1), [&](const Stmt* s) { for_each_use(s, note); });
    }
    return uses_[list.data()] = std::move(facts);
  }
  bool needed(const Var* v) {
    for (const Frame& list : lists_) {
      const LastUses& uses = last_uses(list.list);
      const auto found = uses.of.find(v);
      if (found != uses.of.end() && found->second > list.index) return true;
    }
    return outer_ != nullptr && outer_->needed(v);
  }
  bool anything_needed() {
    for (const Frame& list : lists_) {
      if (last_uses(list.list).any_after(list.index)) return true;
    }
    return outer_ != nullptr && outer_->anything_needed();
  }

  // --- one scope
  struct Outlined {
    Interface scope;
    const ScopeStmt* spmd;  // inside a cluster; null: none
    std::vector<const Var*> outputs;
    std::size_t plain_outputs;  // how many of them are no targets of stores
  };
  void outline(const ScopeStmt* s, Stmts& out);
  void find_outputs(const ScopeRewriter& inner, Outlined& o);
  const Function* make_function(const ScopeStmt* s, std::string_view name, Body body, bool deferred,
                                const Outlined& o);
  const Expr* make_launch(const ScopeStmt* s, Name function, const Outlined& o);
  const Var* task_id(const ScopeStmt* s, Stmts& out);
  bool check(const ScopeStmt* s);
  const ScopeStmt* spmd_inside(const ScopeStmt* s, const Interface& scope);
  Attrs function_attrs(const ScopeStmt* s, bool unwrapped, bool deferred);
  std::string wanted_name(const ScopeStmt* s);
  Attrs launch_attrs(const ScopeStmt* s, const Interface& scope, bool submit);

  Outliner& outliner_;
  std::unordered_set<const Var*>& locals_;
  std::string name_;  // of the function
  NamePool names_;    // of its variables and of what was outlined from it
  ScopeRewriter* outer_ = nullptr;
  std::size_t count_ = 0;
  int in_launch_ = 0;
  std::vector<Frame> lists_;
  std::vector<const Stmt*> inside_;
  std::vector<std::pair<const Var*, const Var*>> renamed_;
  std::vector<const Expr*> before_;
  std::unordered_map<const Stmt* const*, LastUses> uses_;
};

std::string ScopeRewriter::wanted_name(const ScopeStmt* s) {
  const std::size_t number = count_++;
  if (!s->name_hint.empty()) return std::string(s->name_hint);
  std::string name = name_ + "_";
  if (!outliner_.kind_.tag.empty()) {
    name += outliner_.kind_.tag;
  } else {
    name += level_tag(s->level.value_or(Level::CHIP));
    if (s->role) name += *s->role == Role::Orchestrator ? "_orch" : "_sub_worker";
  }
  return name + "_" + std::to_string(number);
}

bool ScopeRewriter::check(const ScopeStmt* s) {
  DiagSink& diags = outliner_.env_.diags;
  const std::uint32_t errors = diags.error_count();
  const auto report = [&](const Stmt* jump, std::string_view what) {
    diags.report<diag::scope_jump>(jump->span, what)
        .note(s->span, "the with")
        .help("compute a value inside the with, and decide after it");
  };
  walk_stmts(s->body, [&](const Stmt* inner) {
    if (inner->kind == StmtKind::Return) report(inner, "return");
  });
  for (const Stmt* inner : s->body) {
    if (inner->kind == StmtKind::Yield) report(inner, "pl.yield_");
  }
  if (const Stmt* jump = first_jump(s->body))
    report(jump, jump->kind == StmtKind::Break ? "break" : "continue");
  return diags.error_count() == errors;
}

// The one spmd scope of a cluster; null if there is none or it was refused.
const ScopeStmt* ScopeRewriter::spmd_inside(const ScopeStmt* s, const Interface& scope) {
  if (!outliner_.kind_.unwraps_spmd) return nullptr;
  DiagSink& diags = outliner_.env_.diags;
  std::vector<const ScopeStmt*> found;
  walk_stmts(s->body, [&](const Stmt* inner) {
    if (const ScopeStmt* spmd = dyn_scope(inner, ScopeKind::Spmd)) found.push_back(spmd);
  });
  if (found.empty()) return nullptr;
  if (found.size() > 1) {
    diags.report<diag::cluster_two_spmd>(found[1]->span)
        .note(found[0]->span, "the first one")
        .help("put each into a pl.cluster() of its own");
    return nullptr;
  }
  for (const auto& [key, what] :
       {std::pair{"task_id_var", "a task id"}, std::pair{"manual_dep_edges", "dependencies"},
        std::pair{"predicate", "a predicate"}, std::pair{"allow_early_resolve", "allow_early_resolve"}}) {
    if (find_attr(found[0]->attrs, key) == nullptr) continue;
    diags.report<diag::cluster_spmd_launch>(found[0]->span, what).help("write it at the pl.cluster()");
    return nullptr;
  }
  const Var* inside = nullptr;
  for_each_var_in(found[0]->core_num, [&](const Var* v) {
    if (locals_.count(v) != 0 && std::find(scope.inputs.begin(), scope.inputs.end(), v) == scope.inputs.end())
      inside = v;
  });
  if (inside == nullptr) return found[0];
  diags.report<diag::spmd_count_inside>(found[0]->span, auto_name_stem(inside->name.text()))
      .note(s->span, "the cluster")
      .help("compute it before the cluster");
  return nullptr;
}

Attrs ScopeRewriter::function_attrs(const ScopeStmt* s, bool unwrapped, bool deferred) {
  std::vector<Attr> out;
  const auto add = [&](std::string_view key, AttrValue value) { out.push_back({ctx().name(key), value}); };
  if (outliner_.kind_.scope == ScopeKind::InCore) {
    const auto as_attr = [](SplitMode mode) { return AttrValue::of_int(static_cast<std::int64_t>(mode)); };
    const bool whole = s->split && *s->split != SplitMode::NONE;
    if (whole) add("split", as_attr(*s->split));
    for (const std::string_view key : {"slot_num", "windowize"}) {
      if (const AttrValue* value = find_attr(s->attrs, key)) add(key, *value);
    }
    if (deferred) add("deferred_completion_waiter", AttrValue::of_bool(true));
    const ScopeStmt* region = nullptr;
    bool agree = true;
    walk_stmts(s->body, [&](const Stmt* inner) {
      const ScopeStmt* split = dyn_scope(inner, ScopeKind::SplitAiv);
      if (split == nullptr) return;
      agree = agree && (region == nullptr || region->split == split->split);
      if (region == nullptr) region = split;
    });
    if (region != nullptr) {
      if (whole) {
        outliner_.env_.diags.report<diag::split_twice>(region->span)
            .note(s->span, "the with")
            .help("take pl.split out of its optimizations");
      }
      add("split_aiv", AttrValue::of_bool(true));
      if (agree && region->split && *region->split != SplitMode::NONE) add("split", as_attr(*region->split));
    }
  }
  if (unwrapped) add("spmd_unwrapped", AttrValue::of_bool(true));
  return ctx().list(out);
}

// Attributes of the call or submit, in stored order.
Attrs ScopeRewriter::launch_attrs(const ScopeStmt* s, const Interface& scope, bool submit) {
  std::vector<Attr> out;
  const auto position = [&](const Var* v) {
    return std::find(scope.inputs.begin(), scope.inputs.end(), v) - scope.inputs.begin();
  };
  const auto captured = [&](const Var* v) {
    return position(v) != static_cast<std::ptrdiff_t>(scope.inputs.size());
  };
  if (const AttrValue* dumps = find_attr(s->attrs, "dump_vars")) {
    std::vector<const Var*> vars(dumps->vars.begin(), dumps->vars.end());
    std::erase_if(vars, [&](const Var* v) { return !captured(v); });
    if (!submit)
      std::sort(vars.begin(), vars.end(), [&](auto* a, auto* b) { return position(a) < position(b); });
    for (const Var*& v : vars) v = use(v);
    if (!vars.empty()) out.push_back({ctx().name("dump_vars"), AttrValue::of_vars(ctx().list(vars))});
  }
  if (const AttrValue* overrides = find_attr(s->attrs, "arg_direction_overrides_vars")) {
    std::vector<std::int64_t> indices;
    for (const Var* v : overrides->vars) {
      if (!captured(v)) {
        outliner_.env_.diags.report<diag::no_dep_not_captured>(s->span, auto_name_stem(v->name.text()))
            .help("take it out of no_dep_args");
        continue;
      }
      indices.push_back(position(v));
    }
    std::sort(indices.begin(), indices.end());
    out.push_back({ctx().name("arg_direction_overrides"), AttrValue::of_ints(ctx().list(indices))});
  }
  return ctx().list(out);
}

// What the scope hands out: variables of its body, then the targets of stores.
void ScopeRewriter::find_outputs(const ScopeRewriter& inner, Outlined& o) {
  const bool everything = !lists_.back().bare && !anything_needed();
  // A variable of the body -> names that it had before scopes inside were outlined.
  std::unordered_map<const Var*, std::vector<const Var*>> was;
  for (const auto& [from, to] : inner.renamed_) was[to].push_back(from);
  for (const Var* v : o.scope.defined) {
    if (o.scope.stored.count(v) != 0) continue;
    bool wanted = everything || needed(v);
    for (const Var* old : was[v]) wanted = wanted || needed(old);
    if (wanted) o.outputs.push_back(v);
  }
  o.plain_outputs = o.outputs.size();
  o.outputs.insert(o.outputs.end(), o.scope.store_targets.begin(), o.scope.store_targets.end());
}

const Function* ScopeRewriter::make_function(const ScopeStmt* s, std::string_view name, Body body,
                                             bool deferred, const Outlined& o) {
  const Kind& kind = outliner_.kind_;
  KernelBody kernel(ctx(), o.scope, o.spmd);
  const auto directions =
      directions_of(body, o.scope, kind.callee_directions ? &outliner_.functions_ : nullptr);
  Function f{};
  std::vector<Param> params;
  for (std::size_t i = 0; i < o.scope.inputs.size(); ++i)
    params.push_back({kernel.parameter(o.scope.inputs[i]), directions[i], {}});
  Stmts statements;
  for (const Stmt* st : body) kernel.stmt(st, statements);
  const bool level = kind.scope == ScopeKind::Hierarchy;
  const LevelRole implied = implied_level_role(kind.function);
  f.name = ctx().name(name);
  f.span = s->span;
  f.name_span = s->span;
  f.params = ctx().list(params);
  f.body = ctx().list(statements);
  f.func_type = kind.function;
  f.level = level ? s->level : implied.level;
  f.role = level ? s->role : implied.role;
  f.attrs = function_attrs(s, o.spmd != nullptr, deferred);

  // A tensor that is the memory of a parameter is returned as that parameter.
  const Function* without_return = ctx().make(f);
  std::vector<const Expr*> values;
  std::vector<const Type*> types;
  for (std::size_t i = 0; i < o.outputs.size(); ++i) {
    const Expr* value = kernel.expr(o.outputs[i]);
    const bool tensor = i < o.plain_outputs && dyn<TensorType>(value->type) != nullptr;
    const int param = tensor ? outliner_.tracer_.param_of(without_return, value) : ParamTracer::kNone;
    if (param != ParamTracer::kNone) value = f.params[static_cast<std::size_t>(param)].var;
    values.push_back(value);
    types.push_back(value->type);
  }
  if (!values.empty()) statements.push_back(ctx().ret(ctx().list(values), s->span));
  f.body = ctx().list(statements);
  f.return_types = ctx().list(types);
  return ctx().make(f);
}

// The call or submit of the function, before anything gets a new name.
const Expr* ScopeRewriter::make_launch(const ScopeStmt* s, Name function, const Outlined& o) {
  const auto attr = [&](std::string_view key) { return find_attr(s->attrs, key); };
  const auto flag = [&](std::string_view key) { return attr(key) != nullptr && attr(key)->as_bool(); };
  const bool level = outliner_.kind_.scope == ScopeKind::Hierarchy;
  const AttrValue* deps = attr("manual_dep_edges");
  const AttrValue* predicate = attr("predicate");
  const bool early = flag("allow_early_resolve");
  const bool submit =
      !level && (attr("task_id_var") != nullptr || deps != nullptr || predicate != nullptr || early);
  std::vector<const Expr*> args;
  for (const Var* input : o.scope.inputs) args.push_back(expr(input));
  std::vector<const Type*> types;
  for (const Var* output : o.outputs) types.push_back(type(output->type));
  const Attrs attrs = level ? Attrs{} : launch_attrs(s, o.scope, submit);
  const ScopeStmt* spmd = o.spmd != nullptr ? o.spmd : s->scope == ScopeKind::Spmd ? s : nullptr;
  if (submit) {
    Submit n{};
    n.kind = ExprKind::Submit;
    n.span = s->span;
    n.function = function;
    n.args = ctx().list(args);
    std::vector<const Expr*> dependencies;
    for (const Var* v : deps != nullptr ? deps->vars : List<const Var*>()) dependencies.push_back(expr(v));
    n.deps = ctx().list(dependencies);
    n.core_num = spmd != nullptr ? expr(spmd->core_num) : nullptr;
    n.predicate = predicate != nullptr ? expr(predicate->expr) : nullptr;
    n.attrs = attrs;
    n.spmd = spmd != nullptr;
    n.sync_start = spmd != nullptr && spmd->sync_start;
    n.allow_early_resolve = early;
    types.push_back(ctx().scalar(DType::TASK_ID));
    n.type = ctx().tuple(ctx().list(types));
    return ctx().make(n);
  }
  std::vector<Attr> all(attrs.begin(), attrs.end());
  if (spmd != nullptr) {
    all.push_back({ctx().name("core_num"), AttrValue::of_expr(expr(spmd->core_num))});
    if (spmd->sync_start) all.push_back({ctx().name("sync_start"), AttrValue::of_bool(true)});
  }
  const Type* result = types.empty()       ? ctx().unknown()
                       : types.size() == 1 ? types[0]
                                           : ctx().tuple(ctx().list(types));
  return ctx().call(function, ctx().list(args), {}, ctx().list(all), result, s->span);
}

void ScopeRewriter::outline(const ScopeStmt* s, Stmts& out) {
  const Kind& kind = outliner_.kind_;
  DiagSink& diags = outliner_.env_.diags;
  const std::uint32_t errors = diags.error_count();
  if (!check(s)) return;
  const bool deferred = kind.scope == ScopeKind::InCore && check_deferred_wait(diags, s, in_launch_ > 0);
  const std::string name = outliner_.unique_name(wanted_name(s), name_, names_);

  // Scopes inside first: then this one is plain statements.
  NamePool inner_names;
  walk_stmts(s->body, [&](const Stmt* st) {
    for_each_def(st, [&](const Var* v) { inner_names.add(v->name.text()); });
  });
  ScopeRewriter inner(*this, name, std::move(inner_names));
  const Body body = inner.body(s->body);
  if (body.data() != s->body.data()) {
    // The calls of inner scopes have introduced variables.
    walk_stmts(body, [&](const Stmt* st) { for_each_def(st, [&](const Var* v) { locals_.insert(v); }); });
  }
  Outlined o{interface_of(body, locals_, kind.store_targets), nullptr, {}, 0};
  o.spmd = spmd_inside(s, o.scope);
  if (diags.error_count() != errors) return;
  find_outputs(inner, o);
  const Function* f = make_function(s, name, body, deferred, o);
  outliner_.add(f);
  const Expr* launch = make_launch(s, f->name, o);

  // The names under which the results are known from here on.
  std::vector<const Var*> targets(o.outputs.begin(),
                                  o.outputs.begin() + static_cast<std::ptrdiff_t>(o.plain_outputs));
  for (const Var* target : o.scope.store_targets) {
    targets.push_back(
        ctx().var(ctx().name(names_.fresh_like(target->name.text())), type(target->type), target->span));
    rename(target, targets.back());
  }
  for (const auto& [result, target] : o.scope.stored) rename(result, use(target));
  for (const auto& [from, to] : inner.renamed_) rename(from, use(to));
  const bool submit = launch->kind == ExprKind::Submit;
  if (submit) targets.push_back(task_id(s, out));
  if (targets.empty()) {
    out.push_back(ctx().eval(launch, s->span));
  } else if (!submit && targets.size() == 1) {
    out.push_back(ctx().assign(targets[0], launch, s->span));
  } else {
    const Var* all = ctx().var(ctx().name("ret__tmp_v0"), launch->type, s->span);
    out.push_back(ctx().assign(all, launch, s->span));
    for (std::size_t i = 0; i < targets.size(); ++i) {
      out.push_back(
          ctx().assign(targets[i], ctx().tuple_get(all, static_cast<std::int64_t>(i), s->span), s->span));
    }
  }
}

// The variable for the task id. A placeholder that the text needs before the scope is taken off `out`.
const Var* ScopeRewriter::task_id(const ScopeStmt* s, Stmts& out) {
  const AttrValue* named = find_attr(s->attrs, "task_id_var");
  if (named == nullptr)
    return ctx().var(ctx().name(names_.fresh_like("tid")), ctx().scalar(DType::TASK_ID), s->span);
  const auto* placeholder = out.empty() ? nullptr : dyn<AssignStmt>(out.back());
  if (placeholder != nullptr && placeholder->var == named->var() &&
      op_call(placeholder->value, OpId::system_task_invalid) != nullptr) {
    out.pop_back();
  }
  return use(named->var());
}

Outliner::Outliner(PassEnv& env, const Program* program, const Kind& kind)
    : env_(env), kind_(kind), tracer_(program) {
  for (const Function* f : program->functions) functions_.emplace(f->name, f);
}

const Function* Outliner::run(const Function* f) {
  bool any = false;
  walk_stmts(f->body, [&](const Stmt* s) { any = any || dyn_scope(s, kind_.scope) != nullptr; });
  if (!any) return f;
  NamePool names(f);
  f = elements_before_scopes(env_.ir, f, kind_.scope, names);
  auto locals = locals_of(f);
  return ScopeRewriter(*this, locals, std::string(f->name.text()), std::move(names)).function(f);
}

void Outliner::add(const Function* f) {
  made_.push_back(f);
  functions_.emplace(f->name, f);
  tracer_.add(f);
}

std::string Outliner::unique_name(std::string_view wanted, std::string_view function, NamePool& names) {
  const auto taken = [&](const std::string& name) {
    return names.has(name) || find(env_.ir.name(name)) != nullptr;
  };
  std::string name(wanted);
  if (!names.has(name) && taken(name)) name = std::string(function) + "_" + name;
  const std::string base = name;
  // Numbers that were taken stay taken.
  for (int& i = next_number_[base]; taken(name); ++i) name = base + "_" + std::to_string(i);
  names.add(name);
  return name;
}

const Function* Outliner::find(Name name) const {
  const auto found = functions_.find(name);
  return found != functions_.end() ? found->second : nullptr;
}

const Program* with_functions(Context& context, const Program* program,
                              const std::vector<const Function*>& changed,
                              const std::vector<const Function*>& made) {
  std::vector<const Function*> all = made;
  for (const Function* f : changed) all.push_back(f);
  std::sort(all.begin(), all.end(), [](const Function* a, const Function* b) { return a->name < b->name; });
  if (all.size() == program->functions.size() &&
      std::equal(all.begin(), all.end(), program->functions.begin()))
    return program;
  Program n = *program;
  n.functions = context.list(all);
  return context.make(n);
}

}  // namespace pldc::outlining
