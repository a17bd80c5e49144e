#include "passes/match/match.h"

#include <algorithm>

#include "ir/walk.h"
#include "passes/match/judge.h"
#include "passes/match/unroll.h"
#include "passes/run.h"

namespace pldc {
namespace match {

std::optional<std::int64_t> Domain::rank_of(std::int64_t device) const {
  const auto found = std::lower_bound(devices.begin(), devices.end(), device);
  if (found == devices.end() || *found != device) return std::nullopt;
  return found - devices.begin();
}

namespace {

bool allocates(const Function* f) {
  bool found = false;
  walk_stmts(f->body, [&](const Stmt* stmt) {
    const auto* assign = dyn<AssignStmt>(stmt);
    const Expr* value = assign != nullptr ? assign->value : nullptr;
    found = found || op_call(value, OpId::pld_tensor_alloc_window_buffer) != nullptr;
  });
  return found && f->is_host_orchestrator();
}

bool has_domains(const Program* program) {
  bool found = false;
  for (const Function* f : program->functions) {
    walk_stmts(f->body,
               [&](const Stmt* stmt) { found = found || dyn_scope(stmt, ScopeKind::CommDomain) != nullptr; });
  }
  return found;
}

// Scopes as functions, domains of the windows, one definition a variable: by the passes that `pldc run` uses as well.
// Collectives stay as they are. A text that has its domains has had them all.
const Program* prepared(Context& context, const Program* program, DiagSink& diags) {
  if (has_domains(program)) return program;
  PipelineOptions options;
  options.passes = "InlineFunctions,UnrollLoops,CtrlFlowTransform";
  program = run_passes(options, context, diags, program).program;
  if (program == nullptr) return nullptr;
  // Asked now: without its jumps a loop may define a variable twice.
  options.passes = properties_of(program).has(Property::SSAForm) ? "" : "ConvertToSSA,";
  *options.passes +=
      "Simplify,NormalizeStmtStructure,FlattenCallExpr,OutlineHierarchyScopes,OutlineIncoreScopes,"
      "OutlineClusterScopes,"
      "SynthesizeAllReduceSignals,MaterializeCommDomainScopes";
  return run_passes(options, context, diags, program).program;
}

}  // namespace
}  // namespace match

bool match_ranks(Context& context, const Program* program, const MatchOptions& options, DiagSink& diags,
                 std::vector<MatchedHost>* matched) {
  if (std::none_of(program->functions.begin(), program->functions.end(), match::allocates)) return true;
  program = match::prepared(context, program, diags);
  if (program == nullptr) return false;
  for (const Function* f : program->functions) {
    if (!match::allocates(f)) continue;
    match::Trace trace;
    match::Findings findings;
    const bool whole = match::Unroller(*program, options, findings, diags).run(f, trace);
    // Credits that a program and a collective leave to each other in one window are not told apart.
    for (match::Allocation& a : trace.allocations) a.uncertain = a.uncertain || (a.collective && a.cells);
    if (whole) match::judge(trace, findings);
    findings.report(diags);
    if (matched != nullptr) matched->push_back({f->name, std::move(trace), whole});
  }
  return true;
}

}  // namespace pldc
