#include "passes/ssa/needs.h"

#include <algorithm>
#include <unordered_set>

#include "ir/walk.h"

namespace pldc::ssa {

namespace {

// Adds each variable once, in order.
class VarSet {
 public:
  explicit VarSet(std::vector<const Var*>& out) : out_(out) {}
  void add(const Var* var) {
    if (seen_.insert(var).second) out_.push_back(var);
  }
  bool has(const Var* var) const { return seen_.count(var) != 0; }

 private:
  std::vector<const Var*>& out_;
  std::unordered_set<const Var*> seen_;
};

}  // namespace

bool Needs::needed_after(Body list, std::size_t index, const Var* var) {
  const ListFacts& facts = facts_of(list);
  const auto found = facts.events.find(var);
  if (found == facts.events.end()) return false;
  const std::vector<Event>& events = found->second;
  const auto next = std::upper_bound(events.begin(), events.end(), index,
                                     [](std::size_t at, const Event& event) { return at < event.index; });
  return next != events.end() && next->read;
}

bool Needs::reads_from_outside(Body list, const Var* var) { return facts_of(list).exposed.count(var) != 0; }

const Needs::ListFacts& Needs::facts_of(Body list) {
  if (list.empty()) return empty_;
  if (const auto known = lists_.find(list.data()); known != lists_.end()) return known->second;
  ListFacts facts;
  VarSet exposed(facts.whole.exposed);
  VarSet defines(facts.whole.defines);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Facts one = facts_of(list[i]);
    for (const Var* v : one.exposed) {
      facts.events[v].push_back({i, true});
      if (!defines.has(v)) exposed.add(v);
    }
    for (const Var* v : one.defines) {
      std::vector<Event>& events = facts.events[v];
      if (events.empty() || events.back().index != i) events.push_back({i, false});
      defines.add(v);
    }
  }
  facts.exposed.insert(facts.whole.exposed.begin(), facts.whole.exposed.end());
  return lists_.emplace(list.data(), std::move(facts)).first->second;
}

Needs::Facts Needs::facts_of(const Stmt* stmt) {
  Facts facts;
  VarSet exposed(facts.exposed);
  VarSet defines(facts.defines);
  std::unordered_set<const Var*> own;  // carries: a while condition reads them, not the outside
  if (const auto* loop = dyn<WhileStmt>(stmt)) {
    for (const IterArg& arg : loop->iter_args) own.insert(arg.var);
  } else if (const auto* counted = dyn<ForStmt>(stmt)) {
    own.insert(counted->loop_var);
    for (const IterArg& arg : counted->iter_args) own.insert(arg.var);
  }
  const auto read = [&](const Expr* root) {
    walk_expr(root, [&](const Expr* e) {
      const auto* var = dyn<Var>(e);
      if (var != nullptr && own.count(var) == 0) exposed.add(var);
    });
  };
  for_each_expr(stmt, read);

  if (const auto* assign = dyn<AssignStmt>(stmt)) {
    defines.add(assign->var);
  } else if (const auto* branch = dyn<IfStmt>(stmt)) {
    const Facts& then_facts = facts_of(branch->then_body).whole;
    const Facts& else_facts = facts_of(branch->else_body).whole;
    for (const Var* v : then_facts.exposed) exposed.add(v);
    for (const Var* v : else_facts.exposed) exposed.add(v);
    const std::unordered_set<const Var*> in_else(else_facts.defines.begin(), else_facts.defines.end());
    for (const Var* v : then_facts.defines) {
      if (in_else.count(v) != 0) defines.add(v);
    }
    for (const Var* v : branch->return_vars) defines.add(v);
  } else if (const auto* scope = dyn<ScopeStmt>(stmt)) {
    const Facts& body = facts_of(scope->body).whole;
    for (const Var* v : body.exposed) exposed.add(v);
    for (const Var* v : body.defines) defines.add(v);
  } else if (const auto* loop = dyn<WhileStmt>(stmt)) {
    for (const Var* v : facts_of(loop->body).whole.exposed) {
      if (own.count(v) == 0) exposed.add(v);
    }
    for (const Var* v : loop->return_vars) defines.add(v);
  } else if (const auto* counted = dyn<ForStmt>(stmt)) {
    // A loop may run zero times, so what its body assigns is not surely defined after it.
    for (const Var* v : facts_of(counted->body).whole.exposed) {
      if (own.count(v) == 0) exposed.add(v);
    }
    for (const Var* v : counted->return_vars) defines.add(v);
  }
  return facts;
}

}  // namespace pldc::ssa
