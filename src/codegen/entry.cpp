#include "codegen/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/walk.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

std::unordered_set<Name> called_functions(const Program& program) {
  std::unordered_set<Name> called;
  for (const Function* f : program.functions) {
    walk_stmts(f->body, [&](const Stmt* stmt) {
      for_each_expr(stmt, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          // A call of oneself does not make a function another's: recursion is reported where it is generated.
          const auto* call = dyn<Call>(e);
          if (call != nullptr && !call->is_op() && call->function != f->name) called.insert(call->function);
          const auto* submit = dyn<Submit>(e);
          if (submit != nullptr && submit->function != f->name) called.insert(submit->function);
        });
      });
    });
  }
  return called;
}

bool is_orchestration(const Function* f) {
  if (f->is_chip_orchestrator()) return true;
  return f->func_type == FuncType::Opaque && f->role != Role::SubWorker && f->level != Level::HOST;
}

bool is_launchable(const Function* f) { return f->is_kernel() || f->is_wrapper(); }

// Cross-core pipes have another end.
bool has_pipes(const Function* f) {
  bool found = false;
  walk_stmts(f->body, [&](const Stmt* stmt) {
    for_each_expr(stmt, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        const auto* call = dyn<Call>(e);
        if (call == nullptr || !call->is_op()) return;
        found = found || call->op == OpId::tile_tpush_to_aic || call->op == OpId::tile_tpush_to_aiv ||
                call->op == OpId::tile_tpop_from_aic || call->op == OpId::tile_tpop_from_aiv;
      });
    });
  });
  return found;
}

std::string names_of(const std::vector<const Function*>& functions) {
  std::string out;
  for (const Function* f : functions) out += fmt::format("{}{}", out.empty() ? "" : ", ", f->name.text());
  return out;
}

}  // namespace

std::optional<EntryChoice> choose_entries(const Program& program, std::string_view name, DiagSink& diags,
                                          Span place) {
  std::vector<const Function*> hosts, orchestrations, kernels, all;
  const std::unordered_set<Name> called = called_functions(program);
  for (const Function* f : program.functions) {
    if (f->is_host_orchestrator()) hosts.push_back(f);
    if (is_orchestration(f) || is_launchable(f)) all.push_back(f);
    if (called.count(f->name) != 0) continue;
    if (is_orchestration(f)) orchestrations.push_back(f);
    if (is_launchable(f)) kernels.push_back(f);
  }
  const std::vector<const Function*>& named = hosts.empty() ? all : hosts;
  EntryChoice choice;
  choice.single_rank = hosts.empty();
  if (!name.empty()) {
    for (const Function* f : named) {
      if (f->name.text() == name) choice.functions.push_back(f);
    }
    if (choice.functions.empty()) {
      auto report = diags.report<diag::codegen_unknown_entry>(Span{}, name);
      if (!named.empty()) report.help("the program has: {}", names_of(named));
      return std::nullopt;
    }
  } else if (!hosts.empty()) {
    choice.functions = hosts;
  } else {
    choice.functions = !orchestrations.empty() ? orchestrations : kernels;
    if (choice.functions.empty()) choice.functions = all;  // they call each other in a circle
    if (choice.functions.empty()) {
      // Without any function the only place is the program's.
      const bool empty = program.functions.empty();
      diags.report<diag::codegen_no_entry>(empty ? place : program.functions.front()->name_span)
          .help("{}", empty ? "add a function"
                            : "give a function the level HOST and the role Orchestrator, or one of the types "
                              "Orchestration and InCore");
      return std::nullopt;
    }
    if (choice.functions.size() > 1) {
      diags
          .report<diag::codegen_several_entries>(choice.functions.front()->name_span,
                                                 choice.functions.front()->name.text())
          .help("choose one with --entry: {}", names_of(choice.functions));
      return std::nullopt;
    }
  }
  if (choice.single_rank && choice.functions.front()->is_kernel() && has_pipes(choice.functions.front())) {
    diags
        .report<diag::codegen_kernel_alone>(choice.functions.front()->name_span,
                                            choice.functions.front()->name.text(), "it has cross-core pipes")
        .help("write a Group function that calls the kernels at both ends");
    return std::nullopt;
  }
  return choice;
}

}  // namespace pldc
