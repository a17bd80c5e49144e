#include "passes/inline/call_graph.h"

#include <algorithm>

#include "ir/walk.h"
#include "support/diag/pass.h"

namespace pldc::inlining {

namespace {

constexpr std::int64_t kMaxStatements = 200'000;
constexpr int kMaxDepth = 100;

const Expr* whole_value(const Stmt* stmt) {
  if (const auto* assign = dyn<AssignStmt>(stmt)) return assign->value;
  if (const auto* eval = dyn<EvalStmt>(stmt)) return eval->value;
  const auto* ret = dyn<ReturnStmt>(stmt);
  return ret != nullptr && ret->values.size() == 1 ? ret->values[0] : nullptr;
}

}  // namespace

CallGraph::CallGraph(const Program* program) {
  for (const Function* f : program->functions) {
    if (f->func_type != FuncType::Inline) continue;
    InlineFunction& entry = inline_.emplace(f->name, InlineFunction{f, nullptr, {}}).first->second;
    order_.push_back(f->name);
    if (!f->body.empty()) entry.ret = dyn<ReturnStmt>(f->body.back());
    walk_stmts(f->body,
               [&](const Stmt* s) { for_each_def(s, [&](const Var* v) { entry.assigned.insert(v); }); });
  }
}

const InlineFunction* CallGraph::find(Name name) const {
  const auto found = inline_.find(name);
  return found != inline_.end() ? &found->second : nullptr;
}

const InlineFunction* CallGraph::called(const Stmt* stmt, const Call*& call) const {
  const auto* value = dyn<Call>(whole_value(stmt));
  if (value == nullptr || value->is_op()) return nullptr;
  call = value;
  return find(value->function);
}

std::vector<const InlineFunction*> CallGraph::callees(const Function* f) const {
  std::vector<const InlineFunction*> out;
  walk_stmts(f->body, [&](const Stmt* s) {
    for_each_expr(s, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        const auto* call = dyn<Call>(e);
        const InlineFunction* callee = call != nullptr && !call->is_op() ? find(call->function) : nullptr;
        if (callee != nullptr) out.push_back(callee);
      });
    });
  });
  return out;
}

bool CallGraph::check_cycles(DiagSink& diags, std::vector<const InlineFunction*>& callees_first) const {
  // Depth first without recursion: a chain of calls may be as long as the program.
  enum class Mark : std::uint8_t { New, Open, Done };
  std::unordered_map<const InlineFunction*, Mark> marks;
  struct Frame {
    const InlineFunction* at;
    std::vector<const InlineFunction*> next;
    std::size_t index = 0;
  };
  for (const Name name : order_) {
    std::vector<Frame> stack;
    const auto open = [&](const InlineFunction* f) {
      marks[f] = Mark::Open;
      stack.push_back({f, callees(f->function)});
    };
    if (marks[find(name)] == Mark::New) open(find(name));
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.index == top.next.size()) {
        marks[top.at] = Mark::Done;
        callees_first.push_back(top.at);
        stack.pop_back();
        continue;
      }
      const InlineFunction* callee = top.next[top.index++];
      const Mark mark = marks[callee];
      if (mark == Mark::New) open(callee);
      if (mark != Mark::Open) continue;
      std::string chain;
      const auto begin =
          std::find_if(stack.begin(), stack.end(), [&](const Frame& frame) { return frame.at == callee; });
      for (auto frame = begin; frame != stack.end(); ++frame) {
        if (chain.size() < 400) chain += std::string(frame->at->function->name.text()) + " -> ";
      }
      diags
          .report<diag::inline_cycle>(callee->function->name_span,
                                      chain + std::string(callee->function->name.text()))
          .help("an Inline function is copied to where it is called: write the recursion as a loop");
      return false;
    }
  }
  return true;
}

bool CallGraph::check(const Program* program, DiagSink& diags) const {
  const std::uint32_t errors = diags.error_count();
  std::vector<const InlineFunction*> callees_first;
  if (!check_cycles(diags, callees_first)) return false;
  for (const InlineFunction* f : callees_first) {
    walk_stmts(f->function->body, [&](const Stmt* s) {
      if (s->kind != StmtKind::Return || s == f->ret) return;
      diags.report<diag::inline_early_return>(s->span, f->function->name.text())
          .help("assign the value in each branch, and return it as the last statement");
    });
  }
  struct Cost {
    std::int64_t statements;
    int depth;
  };
  std::unordered_map<const InlineFunction*, Cost> costs;
  const auto check_cost = [&](const Function* f) {
    Cost cost{0, 0};
    walk_stmts(f->body, [&](const Stmt*) { cost.statements += 1; });
    for (const InlineFunction* callee : callees(f)) {
      cost.statements = std::min(cost.statements + costs.at(callee).statements, kMaxStatements + 1);
      cost.depth = std::max(cost.depth, costs.at(callee).depth + 1);
    }
    if (cost.statements > kMaxStatements) {
      diags.report<diag::inline_too_large>(f->name_span, f->name.text(), kMaxStatements)
          .help("make some of the called functions InCore or Orchestration functions");
    } else if (cost.depth > kMaxDepth) {
      diags.report<diag::inline_too_deep>(f->name_span, f->name.text(), kMaxDepth)
          .help("make some of the called functions InCore or Orchestration functions");
    }
    return cost;
  };
  for (const InlineFunction* f : callees_first) {
    costs.emplace(f, check_cost(f->function));
    if (diags.error_count() != errors) return false;
  }
  for (const Function* f : program->functions) {
    if (f->func_type != FuncType::Inline) check_cost(f);
  }
  return diags.error_count() == errors;
}

}  // namespace pldc::inlining
