#include <algorithm>

#include "ir/comparer.h"

namespace pldc {

namespace same_detail {

namespace {

constexpr std::string_view kStmtKindNames[] = {
    "assignment", "expression statement", "return", "yield", "break", "continue", "if", "for", "while",
    "scope",      "foreign body"};
constexpr std::string_view kScopeKindNames[] = {"InCore", "Hierarchy", "Cluster", "Graph",
                                                "Spmd",   "SplitAiv",  "Runtime", "CommDomain"};
}  // namespace

std::string stmt_text(const Stmt* s) {
  if (s == nullptr) return "nothing";
  if (const auto* assign = dyn<AssignStmt>(s)) {
    return fmt::format("assignment of '{}' ({})", assign->var->name.text(), expr_text(assign->value));
  }
  if (const auto* eval = dyn<EvalStmt>(s)) return expr_text(eval->value);
  if (const auto* scope = dyn<ScopeStmt>(s))
    return fmt::format("{} scope", kScopeKindNames[static_cast<std::size_t>(scope->scope)]);
  return std::string(kStmtKindNames[static_cast<std::size_t>(s->kind)]);
}

bool Comparer::iter_args(List<IterArg> a, List<IterArg> b) {
  if (a.size() != b.size()) {
    const At at(*this, "iter_args");
    return differ([&] { return fmt::format("{} carries", a.size()); },
                  [&] { return fmt::format("{} carries", b.size()); });
  }
  bool equal = true;
  for (std::size_t i = 0; i < a.size() && !stop(); ++i) {
    const At at(*this, "iter_args", static_cast<std::int64_t>(i));
    equal = child("init", a[i].init, b[i].init) && equal;
    equal = define(a[i].var, b[i].var) && equal;
  }
  return equal;
}

bool Comparer::stmt(const Stmt* a, const Stmt* b) {
  const Place place(*this, a->span, b->span);
  if (a->kind != b->kind) return differ([&] { return stmt_text(a); }, [&] { return stmt_text(b); });
  switch (a->kind) {
    case StmtKind::Assign: {
      const auto* x = static_cast<const AssignStmt*>(a);
      const auto* y = static_cast<const AssignStmt*>(b);
      const bool equal = define(x->var, y->var);
      return child("value", x->value, y->value) && equal;
    }
    case StmtKind::Eval:
      return child("value", static_cast<const EvalStmt*>(a)->value, static_cast<const EvalStmt*>(b)->value);
    case StmtKind::Return:
      return exprs("values", static_cast<const ReturnStmt*>(a)->values,
                   static_cast<const ReturnStmt*>(b)->values);
    case StmtKind::Yield:
      return exprs("values", static_cast<const YieldStmt*>(a)->values,
                   static_cast<const YieldStmt*>(b)->values);
    case StmtKind::Break:
    case StmtKind::Continue:
      return true;
    case StmtKind::If: {
      const auto* x = static_cast<const IfStmt*>(a);
      const auto* y = static_cast<const IfStmt*>(b);
      bool equal = child("condition", x->condition, y->condition);
      equal = body("then", x->then_body, y->then_body) && equal;
      equal = flag("has_else", x->has_else, y->has_else) && equal;
      equal = body("else", x->else_body, y->else_body) && equal;
      return defines("return_vars", x->return_vars, y->return_vars) && equal;
    }
    case StmtKind::For: {
      const auto* x = static_cast<const ForStmt*>(a);
      const auto* y = static_cast<const ForStmt*>(b);
      bool equal = [&] {
        const At at(*this, "loop_var");
        return define(x->loop_var, y->loop_var, true);
      }();
      equal = child("start", x->start, y->start) && equal;
      equal = child("stop", x->stop, y->stop) && equal;
      equal = child("step", x->step, y->step) && equal;
      equal = iter_args(x->iter_args, y->iter_args) && equal;
      equal = body("body", x->body, y->body) && equal;
      equal = defines("return_vars", x->return_vars, y->return_vars) && equal;
      equal = value("kind", name_of(x->for_kind), name_of(y->for_kind)) && equal;
      return attrs("attrs", x->attrs, y->attrs) && equal;
    }
    case StmtKind::While: {
      const auto* x = static_cast<const WhileStmt*>(a);
      const auto* y = static_cast<const WhileStmt*>(b);
      bool equal = iter_args(x->iter_args, y->iter_args);
      equal = child("condition", x->condition, y->condition) && equal;
      equal = body("body", x->body, y->body) && equal;
      return defines("return_vars", x->return_vars, y->return_vars) && equal;
    }
    case StmtKind::Scope:
      return scope(static_cast<const ScopeStmt*>(a), static_cast<const ScopeStmt*>(b));
    case StmtKind::Inline:
      return value("text", static_cast<const InlineStmt*>(a)->text, static_cast<const InlineStmt*>(b)->text);
  }
  return true;
}

bool Comparer::scope(const ScopeStmt* a, const ScopeStmt* b) {
  if (a->scope != b->scope) return differ([&] { return stmt_text(a); }, [&] { return stmt_text(b); });
  const bool equal = body("body", a->body, b->body);
  return scope_fields(a, b) && equal;
}

// Everything of a scope but its body, which comes first: slots name variables that the body defines.
bool Comparer::scope_fields(const ScopeStmt* a, const ScopeStmt* b) {
  bool equal = value("name", a->name_hint, b->name_hint);
  equal = attrs("attrs", a->attrs, b->attrs) && equal;
  equal = optional_enum("level", a->level, b->level) && equal;
  equal = optional_enum("role", a->role, b->role) && equal;
  equal = optional_enum("split", a->split, b->split) && equal;
  equal = child("core_num", a->core_num, b->core_num) && equal;
  equal = flag("sync_start", a->sync_start, b->sync_start) && equal;
  equal = flag("manual", a->manual, b->manual) && equal;
  if (!std::equal(a->devices.begin(), a->devices.end(), b->devices.begin(), b->devices.end())) {
    const At at(*this, "devices");
    equal = differ([&] { return fmt::format("[{}]", fmt::join(a->devices, ", ")); },
                   [&] { return fmt::format("[{}]", fmt::join(b->devices, ", ")); });
  }
  if (a->slots.size() != b->slots.size()) {
    const At at(*this, "slots");
    return differ([&] { return fmt::format("{} slots", a->slots.size()); },
                  [&] { return fmt::format("{} slots", b->slots.size()); });
  }
  for (std::size_t i = 0; i < a->slots.size() && !stop(); ++i) {
    const At at(*this, "slots", static_cast<std::int64_t>(i));
    const WindowSlot& x = a->slots[i];
    const WindowSlot& y = b->slots[i];
    equal = child("base", x.base, y.base) && equal;
    equal = child("size", x.size, y.size) && equal;
    equal = flag("load_from_host", x.load_from_host, y.load_from_host) && equal;
    equal = flag("store_to_host", x.store_to_host, y.store_to_host) && equal;
  }
  return equal;
}

bool Comparer::body(std::string_view field, Body a, Body b) {
  bool equal = true;
  const std::size_t common = std::min(a.size(), b.size());
  std::size_t i = 0;
  for (; i < common && !stop(); ++i) {
    const At at(*this, field, static_cast<std::int64_t>(i));
    if (stmt(a[i], b[i])) continue;
    equal = false;
    // With statements missing on one side, all that follows would differ only because it is shifted.
    if (a.size() != b.size()) break;
  }
  if (a.size() != b.size() && !stop()) {
    const At at(*this, field, equal ? static_cast<std::int64_t>(i) : -1);
    if (equal) {
      differ([&] { return i < a.size() ? stmt_text(a[i]) : "the end"; },
             [&] { return i < b.size() ? stmt_text(b[i]) : "the end"; });
    } else {
      const auto count = [](std::size_t n) { return fmt::format("{} statement{}", n, n == 1 ? "" : "s"); };
      differ([&] { return count(a.size()); }, [&] { return count(b.size()); });
    }
    equal = false;
  }
  return equal;
}

bool Comparer::function(const Function* a, const Function* b) {
  const Place place(*this, a->name_span, b->name_span);
  const At name(*this, a->name.text());
  bool equal = true;
  if (a->params.size() != b->params.size()) {
    const At at(*this, "params");
    equal = differ([&] { return fmt::format("{} parameters", a->params.size()); },
                   [&] { return fmt::format("{} parameters", b->params.size()); });
  }
  for (std::size_t i = 0; i < std::min(a->params.size(), b->params.size()) && !stop(); ++i) {
    const At at(*this, "params", static_cast<std::int64_t>(i));
    equal = define(a->params[i].var, b->params[i].var) && equal;
    equal = value("direction", name_of(a->params[i].direction), name_of(b->params[i].direction)) && equal;
  }
  if (a->return_types.size() != b->return_types.size()) {
    const At at(*this, "return_types");
    equal = differ([&] { return fmt::format("{} types", a->return_types.size()); },
                   [&] { return fmt::format("{} types", b->return_types.size()); });
  } else {
    for (std::size_t i = 0; i < a->return_types.size() && !stop(); ++i) {
      const At at(*this, "return_types", static_cast<std::int64_t>(i));
      equal = type(a->return_types[i], b->return_types[i]) && equal;
    }
  }
  if (stop()) return false;
  equal = value("func_type", name_of(a->func_type), name_of(b->func_type)) && equal;
  equal = optional_enum("level", a->level, b->level) && equal;
  equal = optional_enum("role", a->role, b->role) && equal;
  equal = attrs("attrs", a->attrs, b->attrs) && equal;
  equal = flag("requires_runtime_binding", a->requires_runtime_binding, b->requires_runtime_binding) && equal;
  if (stop()) return false;

  // Domains around a whole body on both sides are transparent for paths.
  std::vector<std::pair<const ScopeStmt*, const ScopeStmt*>> domains;
  Body x = a->body;
  Body y = b->body;
  while (x.size() == 1 && y.size() == 1) {
    const ScopeStmt* left = dyn_scope(x[0], ScopeKind::CommDomain);
    const ScopeStmt* right = dyn_scope(y[0], ScopeKind::CommDomain);
    if (left == nullptr || right == nullptr) break;
    domains.emplace_back(left, right);
    for (const WindowSlot& slot : left->slots) slots_left_[slot.base] = &slot;
    for (const WindowSlot& slot : right->slots) slots_right_[slot.base] = &slot;
    x = left->body;
    y = right->body;
  }
  equal = body("body", x, y) && equal;
  for (std::size_t i = 0; i < domains.size() && !stop(); ++i) {
    const auto& [left, right] = domains[i];
    const At at(*this, "comm_domain", static_cast<std::int64_t>(i));
    const Place scope_place(*this, left->span, right->span);
    equal = scope_fields(left, right) && equal;
  }
  return equal;
}

bool Comparer::program(const Program* a, const Program* b) {
  bool equal = true;
  std::size_t i = 0;
  std::size_t j = 0;
  // Both lists are sorted by name.
  while ((i < a->functions.size() || j < b->functions.size()) && !stop()) {
    const Function* x = i < a->functions.size() ? a->functions[i] : nullptr;
    const Function* y = j < b->functions.size() ? b->functions[j] : nullptr;
    if (x != nullptr && y != nullptr && x->name.text() == y->name.text()) {
      equal = function(x, y) && equal;
      ++i;
      ++j;
      continue;
    }
    const bool left_only = y == nullptr || (x != nullptr && x->name.text() < y->name.text());
    const Function* only = left_only ? x : y;
    const At at(*this, only->name.text());
    const Place place(*this, left_only ? only->name_span : Span{}, left_only ? Span{} : only->name_span);
    equal = left_only ? differ_text("a function", "nothing") : differ_text("nothing", "a function");
    ++(left_only ? i : j);
  }
  return equal;
}

}  // namespace same_detail

bool same(const Program* a, const Program* b) {
  return same_detail::Comparer(same_detail::Comparer::Mode::Equal, 0, nullptr).program(a, b);
}

std::vector<Difference> differences(const Program* a, const Program* b, std::size_t limit) {
  std::vector<Difference> found;
  same_detail::Comparer(same_detail::Comparer::Mode::List, limit, &found).program(a, b);
  return found;
}

}  // namespace pldc
