// ConvertToSSA (4): gives each assignment a variable of its own, with if results and loop carries where
// versions meet. Every later pass relies on it: one definition per variable makes "which value is read here"
// a look-up.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/auto_name.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/pass.h"
#include "passes/ssa/lost_values.h"
#include "passes/ssa/needs.h"
#include "passes/ssa/type_origin.h"
#include "passes/trace.h"
#include "support/diag/pass.h"

namespace pldc {

namespace {

using ssa::Origin;

void sort_by_name(std::vector<const Var*>& vars) {
  std::sort(vars.begin(), vars.end(), [](const Var* a, const Var* b) {
    return a->name == b->name ? a->id < b->id : a->name < b->name;
  });
}

// A loop's header while it is converted.
struct Carry {
  const Var* source;         // the variable as written
  const Var* source_result;  // the result it becomes; the same variable unless the text has an explicit carry
  const Expr* init;
  const Var* iter;
  const Var* result;
};

class Converter : public Rewriter {
 public:
  Converter(PassEnv& env, const Function* f) : Rewriter(env.ir), env_(env), function_(f), origins_(f) {}

  const Function* run() {
    find_definitions();
    Function n = *function_;
    std::vector<Param> params;
    for (Param param : function_->params) {
      const Var* version = make_version(param.var, NameRole::Ssa, type(param.var->type), param.var->span);
      set(param.var, version, param.var);
      param.var = version;
      params.push_back(param);
    }
    n.params = ctx().list(params);
    std::vector<const Type*> returns;
    for (const Type* t : function_->return_types) returns.push_back(type(t));
    n.return_types = ctx().list(returns);
    n.attrs = attrs(function_->attrs);
    std::vector<const Stmt*> out;
    convert(function_->body, out);
    n.body = ctx().list(out);
    return ctx().make(n);
  }

 private:
  // --- the current version of each variable
  struct Change {
    const Var* source;
    const Expr* before;
  };

  bool known(const Var* source) const { return mapped(source) != nullptr; }
  const Var* current(const Var* source) const { return static_cast<const Var*>(mapped(source)); }

  void set(const Var* source, const Var* version, Origin origin) {
    journal_.push_back({source, mapped(source)});
    substitute(source, version);
    origin_of_version_[version] = origin;
    with_origin_[origin].insert(source);
  }

  void roll_back(std::size_t mark) {
    while (journal_.size() > mark) {
      const Change& change = journal_.back();
      if (change.before != nullptr) {
        substitute(change.source, change.before);
      } else {
        forget(change.source);
      }
      journal_.pop_back();
    }
  }

  // The variables that changed since `mark`, with the versions they have now.
  std::unordered_map<const Var*, const Var*> changes_since(std::size_t mark) const {
    std::unordered_map<const Var*, const Var*> out;
    for (std::size_t i = mark; i < journal_.size(); ++i) {
      const Var* source = journal_[i].source;
      if (known(source)) out[source] = current(source);
    }
    return out;
  }

  const Var* make_version(const Var* source, NameRole role, const Type* t, Span span,
                          bool is_iter_arg = false) {
    const std::string_view name = source->name.text();
    const AutoName parts = parse_auto_name(name);
    if (!is_versionable_base(parts.base) && reported_.insert(source).second) {
      env_.diags.report<diag::name_not_versionable>(place_of(source), name, parts.base)
          .help("rename the variable so that its name has no '__'");
    }
    const std::string text = build_auto_name(parts.base, parts.qualifier, role, counters_[source]++);
    return ctx().var(ctx().name(text), t, span, is_iter_arg);
  }
  // A variable of its own that keeps its name: explicit carries and their results.
  const Var* make_same_name(const Var* source, const Type* t, bool is_iter_arg) {
    return ctx().var(source->name, t, source->span, is_iter_arg);
  }

  // The origin of a converted value, given the text's value: of a variable that of its version.
  Origin origin_of(const Expr* value, Origin declared) const {
    const Expr* at = value;
    while (const Expr* operand = ssa::same_memory_operand(at)) at = operand;
    if (const auto* var = dyn<Var>(at)) {
      const Var* version = known(var) ? current(var) : nullptr;
      const auto found = origin_of_version_.find(version);
      return found != origin_of_version_.end() ? found->second : var;
    }
    const TypeKind kind = at->type->kind;
    const bool own = holds<TensorType>(kind) || holds<TileType>(kind) || holds<TupleType>(kind);
    return own ? static_cast<Origin>(at) : declared;
  }

  // --- definitions of the text, for messages
  void find_definitions() {
    for (const Param& param : function_->params) places_.emplace(param.var, param.var->span);
    walk_stmts(function_->body, [&](const Stmt* stmt) {
      for_each_def(stmt, [&](const Var* v) { places_.emplace(v, stmt->span); });
    });
  }
  Span place_of(const Var* source) const {
    if (source->span.valid()) return source->span;
    const auto found = places_.find(source);
    return found != places_.end() ? found->second : function_->name_span;
  }

  // A variable without a version and without a definition is a symbol of a dynamic dim and stays; the reader
  // gives the variables that a defective text marks as undefined (`x__FREE_VAR`) no type.
  void check_read(const Var* var, Span place) {
    if (known(var)) return;
    const auto defined = places_.find(var);
    if (defined == places_.end() && !is_unknown(var->type)) return;
    if (!reported_.insert(var).second) return;
    auto report = env_.diags.report<diag::undefined_variable>(place, var->name.text());
    if (defined != places_.end()) {
      report.note(defined->second, "'{}' gets its value only here, which not every way to the read passes",
                  var->name.text());
    }
    report.help("assign '{}' on every way before it is read, for example before the if or the loop",
                var->name.text());
  }

  const Expr* convert(const Expr* e, Span statement) {
    walk_expr(e, [&](const Expr* part) {
      if (const auto* var = dyn<Var>(part)) check_read(var, place_in(e, statement));
    });
    return expr(e);
  }
  // A variable's span is that of its definition.
  static Span place_in(const Expr* e, Span statement) {
    return e->span.valid() && e->kind != ExprKind::Var ? e->span : statement;
  }

  Attrs convert(Attrs list, Span statement) {
    for_each_attr_expr(list, [&](const Expr* e) {
      walk_expr(e, [&](const Expr* part) {
        if (const auto* var = dyn<Var>(part)) check_read(var, statement);
      });
    });
    return attrs(list);
  }

  // --- statements
  void convert(Body list, std::vector<const Stmt*>& out) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list.size() >= 2) need_ = i + 1 < list.size() ? Need{list, i} : Need{};
      if (list[i]->kind == StmtKind::Yield && i + 1 < list.size()) {
        env_.diags.report<diag::conversion_yield_not_last>(list[i]->span)
            .note(list[i + 1]->span, "this statement comes after it")
            .help("move the pl.yield_ to the end, or remove the statements after it");
      }
      out.push_back(convert(list[i]));
    }
  }

  const Stmt* convert(const Stmt* s) {
    switch (s->kind) {
      case StmtKind::Assign:
        return convert_assign(static_cast<const AssignStmt*>(s));
      case StmtKind::Eval: {
        EvalStmt n = *static_cast<const EvalStmt*>(s);
        n.value = convert(n.value, s->span);
        return ctx().make(n);
      }
      case StmtKind::Return: {
        ReturnStmt n = *static_cast<const ReturnStmt*>(s);
        n.values = convert_list(n.values, s->span);
        return ctx().make(n);
      }
      case StmtKind::Yield: {
        YieldStmt n = *static_cast<const YieldStmt*>(s);
        n.values = convert_list(n.values, s->span);
        return ctx().make(n);
      }
      case StmtKind::If:
        return convert_if(static_cast<const IfStmt*>(s));
      case StmtKind::For:
        return convert_for(static_cast<const ForStmt*>(s));
      case StmtKind::While:
        return convert_while(static_cast<const WhileStmt*>(s));
      case StmtKind::Scope:
        return convert_scope(static_cast<const ScopeStmt*>(s));
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Inline:
        return s;
    }
    return s;
  }

  List<const Expr*> convert_list(List<const Expr*> values, Span statement) {
    std::vector<const Expr*> out;
    for (const Expr* value : values) out.push_back(convert(value, statement));
    return ctx().list(out);
  }

  // The value's type where the value brings one of its own, else the declared one; where the variable is
  // placed in memory is a fact about the variable and is kept.
  const Type* type_of_target(const Var* target, const Expr* value) {
    const Type* declared = type(target->type);
    const TypeKind kind = value->type->kind;
    const bool own = value->kind == ExprKind::Var || holds<TensorType>(kind) || holds<TileType>(kind) ||
                     holds<TupleType>(kind);
    if (!own || is_unknown(value->type)) return declared;
    if (const auto* wanted = dyn<TensorType>(declared); wanted != nullptr && wanted->memref != nullptr) {
      if (const auto* t = dyn<TensorType>(value->type); t != nullptr && t->memref != wanted->memref) {
        return ctx().tensor(t->kind, t->dtype, t->shape, t->view, wanted->memref, t->window);
      }
    }
    if (const auto* wanted = dyn<TileType>(declared); wanted != nullptr && wanted->memref != nullptr) {
      if (const auto* t = dyn<TileType>(value->type); t != nullptr && t->memref != wanted->memref) {
        return ctx().tile(t->dtype, t->shape, wanted->memref, t->space, t->view);
      }
    }
    return value->type;
  }

  const Stmt* convert_assign(const AssignStmt* s) {
    AssignStmt n = *s;
    const Origin origin = origin_of(s->value, origins_.of(s->var));
    n.value = convert(s->value, s->span);
    const auto length = static_cast<std::uint32_t>(s->var->name.text().size());
    const Span target = s->span.valid() ? Span{s->span.begin, s->span.begin + length} : s->var->span;
    n.var = make_version(s->var, NameRole::Ssa, type_of_target(s->var, n.value), target);
    set(s->var, n.var, origin);
    return ctx().make(n);
  }

  const Stmt* convert_if(const IfStmt* s) {
    IfStmt n = *s;
    n.condition = convert(s->condition, s->span);
    const std::size_t mark = journal_.size();
    std::vector<const Stmt*> then_out;
    convert(s->then_body, then_out);
    const auto then_versions = changes_since(mark);
    roll_back(mark);
    std::vector<const Stmt*> else_out;
    convert(s->else_body, else_out);
    const auto else_versions = changes_since(mark);
    roll_back(mark);

    std::vector<const Var*> merged;
    for (const auto& [source, version] : then_versions) {
      if (known(source) || else_versions.count(source) != 0) merged.push_back(source);
    }
    for (const auto& [source, version] : else_versions) {
      if (known(source) && then_versions.count(source) == 0) merged.push_back(source);
    }
    const bool explicit_results = !s->return_vars.empty();
    if (explicit_results) {
      check_yield(then_out, s->return_vars.size(), s->span, "this if");
      check_yield(else_out, s->return_vars.size(), s->span, "this if");
    }
    std::vector<const Var*> results;
    for (const Var* v : s->return_vars) {
      const Var* version = make_version(v, NameRole::Rv, type(v->type), v->span);
      set(v, version, version);
      results.push_back(version);
    }
    // A result that the text names takes the place of a merge of the same variable.
    const std::unordered_set<const Var*> named(s->return_vars.begin(), s->return_vars.end());
    merged.erase(
        std::remove_if(merged.begin(), merged.end(), [&](const Var* v) { return named.count(v) != 0; }),
        merged.end());
    if (merged.empty()) {
      n.then_body = ctx().list(then_out);
      n.else_body = ctx().list(else_out);
      n.return_vars = ctx().list(results);
      return ctx().make(n);
    }
    sort_by_name(merged);
    std::vector<const Expr*> then_values;
    std::vector<const Expr*> else_values;
    for (const Var* source : merged) {
      const auto in_then = then_versions.find(source);
      const auto in_else = else_versions.find(source);
      then_values.push_back(in_then != then_versions.end() ? in_then->second : current(source));
      else_values.push_back(in_else != else_versions.end() ? in_else->second : current(source));
    }
    for (std::size_t i = 0; i < merged.size(); ++i) {
      const Var* version = make_version(merged[i], NameRole::Phi, then_values[i]->type, s->span);
      set(merged[i], version, version);
      results.push_back(version);
    }
    append_yield(then_out, then_values, s->span);
    append_yield(else_out, else_values, s->span);
    n.then_body = ctx().list(then_out);
    n.else_body = ctx().list(else_out);
    n.has_else = true;
    n.return_vars = ctx().list(results);
    return ctx().make(n);
  }

  // --- loops
  // Where the loop stands: the list whose rest may need what the loop assigns.
  struct Need {
    Body list = {};
    std::size_t index = 0;
  };

  struct Assigned {
    std::vector<const Var*> vars;                      // in textual order
    std::unordered_map<const Var*, const Expr*> last;  // value last assigned; null: a result of a statement
    std::unordered_map<const Var*, Span> place;
  };
  static Assigned assigned_in(Body body) {
    Assigned out;
    const auto add = [&](const Var* v, const Expr* value, Span place) {
      if (out.last.insert_or_assign(v, value).second) out.vars.push_back(v);
      out.place.insert_or_assign(v, place);
    };
    walk_stmts(body, [&](const Stmt* stmt) {
      if (const auto* assign = dyn<AssignStmt>(stmt)) {
        add(assign->var, assign->value, stmt->span);
        return;
      }
      List<const Var*> results;
      if (const auto* branch = dyn<IfStmt>(stmt)) results = branch->return_vars;
      if (const auto* loop = dyn<ForStmt>(stmt)) results = loop->return_vars;
      if (const auto* loop = dyn<WhileStmt>(stmt)) results = loop->return_vars;
      for (const Var* v : results) add(v, nullptr, stmt->span);
    });
    return out;
  }

  // The value before the loop of a variable that only the loop assigns.
  const Var* start_of(const Var* source, const Expr* value) {
    if (value == nullptr) return nullptr;
    const Origin origin = origins_.of(value);
    const auto has_origin = [&](const Var* v) {
      if (!known(v)) return false;
      const auto found = origin_of_version_.find(current(v));
      return found != origin_of_version_.end() && found->second == origin;
    };
    for (const Param& param : function_->params) {
      if (param.direction != ParamDirection::In && has_origin(param.var)) return current(param.var);
    }
    const Var* earliest = nullptr;
    if (const auto found = with_origin_.find(origin); found != with_origin_.end()) {
      for (const Var* v : found->second) {
        if (has_origin(v) && (earliest == nullptr || current(v)->id < earliest->id)) earliest = current(v);
      }
    }
    if (earliest != nullptr) return earliest;
    // The memory that the value stands for may have another name since: take the variable that the text
    // writes to.
    while (const Expr* operand = ssa::same_memory_operand(value)) value = operand;
    const auto* var = dyn<Var>(value);
    return var != nullptr && var != source && known(var) ? current(var) : nullptr;
  }

  std::vector<Carry> open_loop(List<IterArg> iter_args, List<const Var*> return_vars, Body body,
                               const Need& need, Span span) {
    std::vector<Carry> carries;
    for (std::size_t i = 0; i < iter_args.size(); ++i) {
      const Expr* init = convert(iter_args[i].init, span);
      const Var* iter = make_same_name(iter_args[i].var, type(iter_args[i].var->type), true);
      const Var* source_result = i < return_vars.size() ? return_vars[i] : nullptr;
      const Var* result = source_result != nullptr
                              ? make_same_name(source_result, type(source_result->type), false)
                              : make_same_name(iter_args[i].var, iter->type, false);
      carries.push_back({iter_args[i].var, source_result, init, iter, result});
    }
    const Assigned assigned = assigned_in(body);
    std::vector<const Var*> carried;
    std::vector<const Var*> escaping;
    const std::unordered_set<const Var*> named(return_vars.begin(), return_vars.end());
    for (const Var* v : assigned.vars) {
      if (known(v)) {
        carried.push_back(v);
      } else if (!need.list.empty() && needs_.needed_after(need.list, need.index, v) && named.count(v) == 0) {
        escaping.push_back(v);
      }
    }
    sort_by_name(carried);
    sort_by_name(escaping);
    const auto add = [&](const Var* source, const Expr* init, const Type* t) {
      const Var* iter = make_version(source, NameRole::Iter, t, span, true);
      const Var* result = make_version(source, NameRole::Rv, t, span);
      carries.push_back({source, source, init, iter, result});
    };
    for (const Var* v : carried) add(v, current(v), current(v)->type);
    for (const Var* v : escaping) {
      const Var* start = start_of(v, assigned.last.at(v));
      if (start == nullptr) {
        if (reported_.insert(v).second) {
          env_.diags.report<diag::loop_result_without_start>(assigned.place.at(v), v->name.text())
              .note(span, "the loop")
              .help("assign '{}' before the loop", v->name.text());
        }
        start = make_same_name(v, type(v->type), false);  // to find more errors
      }
      add(v, start, start->type);
    }
    for (const Carry& carry : carries) set(carry.source, carry.iter, origin_of_init(carry));
    return carries;
  }
  Origin origin_of_init(const Carry& carry) const {
    const auto* var = dyn<Var>(carry.init);
    const auto found = origin_of_version_.find(var);
    return found != origin_of_version_.end() ? found->second : carry.iter;
  }

  // Converts the body, ends it with the yield of all carries and makes the results known.
  Body close_loop(Body body, const std::vector<Carry>& carries, std::size_t explicit_count, std::size_t mark,
                  Span span) {
    std::vector<const Stmt*> out;
    convert(body, out);
    if (explicit_count != 0) check_yield(out, explicit_count, span, "this loop");
    std::vector<const Expr*> values;
    for (std::size_t i = explicit_count; i < carries.size(); ++i)
      values.push_back(current(carries[i].source));
    if (!values.empty()) append_yield(out, values, span);
    roll_back(mark);
    // The results that the text names come last: such a name hides a carry of the same variable.
    for (std::size_t k = 0; k < carries.size(); ++k) {
      const Carry& carry = carries[(k + explicit_count) % carries.size()];
      if (carry.source_result != nullptr) set(carry.source_result, carry.result, origin_of_init(carry));
    }
    return ctx().list(out);
  }

  static std::vector<IterArg> iter_args_of(const std::vector<Carry>& carries) {
    std::vector<IterArg> out;
    for (const Carry& carry : carries) out.push_back({carry.iter, carry.init});
    return out;
  }
  static std::vector<const Var*> results_of(const std::vector<Carry>& carries) {
    std::vector<const Var*> out;
    for (const Carry& carry : carries) out.push_back(carry.result);
    return out;
  }

  const Stmt* convert_for(const ForStmt* s) {
    const Need need = need_;
    ForStmt n = *s;
    n.start = convert(s->start, s->span);
    n.stop = convert(s->stop, s->span);
    n.step = convert(s->step, s->span);
    n.attrs = convert(s->attrs, s->span);
    const std::size_t mark = journal_.size();
    const std::vector<Carry> carries = open_loop(s->iter_args, s->return_vars, s->body, need, s->span);
    n.loop_var = make_version(s->loop_var, NameRole::Idx, type(s->loop_var->type), s->loop_var->span);
    set(s->loop_var, n.loop_var, n.loop_var);
    n.iter_args = ctx().list(iter_args_of(carries));
    n.return_vars = ctx().list(results_of(carries));
    n.body = close_loop(s->body, carries, s->iter_args.size(), mark, s->span);
    return ctx().make(n);
  }

  const Stmt* convert_while(const WhileStmt* s) {
    const Need need = need_;
    WhileStmt n = *s;
    const std::size_t mark = journal_.size();
    const std::vector<Carry> carries = open_loop(s->iter_args, s->return_vars, s->body, need, s->span);
    n.condition = convert(s->condition, s->span);
    n.iter_args = ctx().list(iter_args_of(carries));
    n.return_vars = ctx().list(results_of(carries));
    n.body = close_loop(s->body, carries, s->iter_args.size(), mark, s->span);
    return ctx().make(n);
  }

  const Stmt* convert_scope(const ScopeStmt* s) {
    ScopeStmt n = *s;
    if (n.core_num != nullptr) n.core_num = convert(n.core_num, s->span);
    n.attrs = convert(s->attrs, s->span);
    // Inside, only variables known here count as needed later, and a known variable is carried anyway.
    if (!yields_pass_through(s->scope)) need_ = {};
    std::vector<const Stmt*> out;
    convert(s->body, out);
    n.body = ctx().list(out);
    n.slots = slots(s->slots);
    return ctx().make(n);
  }

  // --- yields

  // Adds values to the yield that ends the body; one is made if there is none, inside a final scope that
  // yields pass through.
  void append_yield(std::vector<const Stmt*>& body, const std::vector<const Expr*>& values, Span span) {
    if (!body.empty()) {
      if (const auto* yield = dyn<YieldStmt>(body.back())) {
        YieldStmt n = *yield;
        std::vector<const Expr*> all(yield->values.begin(), yield->values.end());
        all.insert(all.end(), values.begin(), values.end());
        n.values = ctx().list(all);
        body.back() = ctx().make(n);
        return;
      }
      const auto* scope = dyn<ScopeStmt>(body.back());
      if (scope != nullptr && yields_pass_through(scope->scope)) {
        std::vector<const Stmt*> inner(scope->body.begin(), scope->body.end());
        append_yield(inner, values, span);
        ScopeStmt n = *scope;
        n.body = ctx().list(inner);
        body.back() = ctx().make(n);
        return;
      }
    }
    body.push_back(ctx().yield(ctx().list(values), span));
  }

  void check_yield(const std::vector<const Stmt*>& body, std::size_t count, Span owner,
                   std::string_view what) {
    const YieldStmt* yield = trailing_yield(Body(body.data(), body.size()));
    if (yield == nullptr) {
      env_.diags.report<diag::conversion_yield_missing>(owner, what, count)
          .help("end each body with pl.yield_ of {} values", count);
    } else if (yield->values.size() != count) {
      env_.diags.report<diag::conversion_yield_count>(yield->span, what, count, yield->values.size())
          .note(owner, "{} starts here", what)
          .help("yield {} values", count);
    }
  }

  PassEnv& env_;
  const Function* function_;
  ssa::SourceOrigins origins_;
  ssa::Needs needs_;
  Need need_;
  std::vector<Change> journal_;
  std::unordered_map<const Var*, std::uint32_t> counters_;
  std::unordered_map<const Var*, Origin> origin_of_version_;
  std::unordered_map<Origin, std::unordered_set<const Var*>> with_origin_;
  std::unordered_map<const Var*, Span> places_;
  std::unordered_set<const Var*> reported_;
};

// Its body is text of another language; renaming its parameters would part them from it.
bool has_foreign_body(const Function* f) {
  if (f->level != Level::HOST || f->role != Role::SubWorker) return false;
  return std::any_of(f->body.begin(), f->body.end(),
                     [](const Stmt* s) { return s->kind == StmtKind::Inline; });
}

}  // namespace

const Program* run_ConvertToSSA(PassEnv& env, const Program* program) {
  std::vector<const Function*> functions;
  for (const Function* f : program->functions) {
    functions.push_back(has_foreign_body(f) ? f : Converter(env, ssa::keep_values(env, f)).run());
  }
  if (env.diags.has_errors()) return nullptr;
  Program n = *program;
  n.functions = env.ir.list(functions);
  return env.ir.make(n);
}

}  // namespace pldc
