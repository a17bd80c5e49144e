// Statements. What depends on data is walked through once as well, with every event in it only marking its window as
// uncertain: after that nothing is claimed about the window, and the rest can still be matched.
#include "passes/match/unroll.h"

#include <algorithm>

#include "ir/check_op.h"
#include "ir/walk.h"
#include "passes/match/ops.h"
#include "support/diag/pass.h"
#include "support/diag/verify.h"

namespace pldc::match {
namespace {

// Loops that tell nothing are walked through for the numbers that they compute, if they are short.
constexpr std::uint64_t kSilentTrips = 1024;
// Blocks of one launch that are told apart.
constexpr std::int64_t kMaxBlocks = 256;
constexpr std::size_t kMaxEvents = 400'000;
// The context of a rank holds the addresses of so many peers.
constexpr std::size_t kMaxDomainRanks = 64;

// Whether a loop runs more than kSilentTrips times.
bool runs_long(std::int64_t first, std::int64_t end, std::int64_t stride) {
  if (stride > 0 ? first >= end : first <= end) return false;
  const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
  const std::uint64_t distance = stride > 0 ? u(end) - u(first) : u(first) - u(end);
  return (distance - 1) / (stride > 0 ? u(stride) : 0 - u(stride)) >= kSilentTrips;
}

bool is_number(const Var* v) {
  const auto dtype = scalar_dtype(v->type);
  return dtype && (is_int(*dtype) || *dtype == DType::BOOL);
}

}  // namespace

bool Unroller::run(const Function* host, Trace& trace) {
  trace_ = &trace;
  host_ = host;
  trace.devices.resize(options_.ranks);
  for (std::size_t d = 0; d < trace.devices.size(); ++d)
    out_[static_cast<std::int64_t>(d)] = &trace.devices[d];
  Frame frame;
  try {
    exec(frame, host->body);
  } catch (const GivenUp& stop) {
    switch (stop.why) {
      case GivenUp::Why::Limit: {
        const bool statements = stop.text.empty();
        std::string limit = stop.text;
        if (statements) limit = fmt::format("{} statements", options_.unroll_limit);
        DiagBuilder report = diags_.report<diag::match_limit>(stop.place, host->name.text(), limit);
        if (statements) {
          report.help("--unroll-limit=N allows more");
        } else {
          report.help("match it for fewer ranks, or with shorter loops");
        }
        break;
      }
      case GivenUp::Why::Data:
        diags_.report<diag::match_data>(stop.place,
                                        fmt::format("the rest of '{}' depends", host->name.text()));
        break;
      case GivenUp::Why::Ranks:
        findings_.clear();
        diags_.report<diag::match_other_ranks>(stop.place, stop.text, options_.ranks);
        break;
      case GivenUp::Why::Recursion:
        diags_.report<diag::match_limit>(stop.place, host->name.text(), "64 nested calls");
        break;
      case GivenUp::Why::Reported:
        break;
    }
    return false;
  }
  return true;
}

void Unroller::step(Span place) {
  if (++steps_ <= options_.unroll_limit) return;
  throw GivenUp{GivenUp::Why::Limit, loops_.empty() ? place : loops_.back(), {}};
}

void Unroller::note_data(Span place) { diags_.report<diag::match_data>(place, "this depends"); }

Unroller::Flow Unroller::exec(Frame& f, Body body) {
  for (const Stmt* stmt : body) {
    const Flow flow = exec(f, stmt);
    if (flow != Flow::Next) return flow;
  }
  return Flow::Next;
}

Unroller::Flow Unroller::exec(Frame& f, const Stmt* stmt) {
  step(stmt->span);
  statement_ = stmt->span;
  switch (stmt->kind) {
    case StmtKind::Assign: {
      const auto* assign = static_cast<const AssignStmt*>(stmt);
      const Call* alloc = op_call(assign->value, OpId::pld_tensor_alloc_window_buffer);
      f.values[assign->var] = alloc != nullptr ? allocate(f, alloc, assign->var) : eval(f, assign->value);
      return Flow::Next;
    }
    case StmtKind::Eval:
      eval(f, static_cast<const EvalStmt*>(stmt)->value);
      return Flow::Next;
    case StmtKind::Return: {
      std::vector<Value> values;
      for (const Expr* e : static_cast<const ReturnStmt*>(stmt)->values) values.push_back(eval(f, e));
      f.returned = std::move(values);
      return Flow::Return;
    }
    case StmtKind::Yield: {
      std::vector<Value> values;
      for (const Expr* e : static_cast<const YieldStmt*>(stmt)->values) values.push_back(eval(f, e));
      f.yields = std::move(values);
      return Flow::Next;
    }
    case StmtKind::Break:
      return Flow::Break;
    case StmtKind::Continue:
      return Flow::Continue;
    case StmtKind::If:
      return exec_if(f, static_cast<const IfStmt*>(stmt));
    case StmtKind::For:
      return exec_for(f, static_cast<const ForStmt*>(stmt));
    case StmtKind::While:
      return exec_while(f, static_cast<const WhileStmt*>(stmt));
    case StmtKind::Scope:
      return exec_scope(f, static_cast<const ScopeStmt*>(stmt));
    case StmtKind::Inline:
      return Flow::Next;
  }
  return Flow::Next;
}

Unroller::Flow Unroller::exec_maybe(Frame& f, Body body, const Stmt* whole) {
  if (!uncertain()) doubted_ = false;
  ++uncertain_;
  const Flow flow = exec(f, body);
  --uncertain_;
  if (!uncertain() && doubted_) note_data(whole->span);
  // Whether the statements after it run is not known either.
  if (flow != Flow::Next) throw GivenUp{GivenUp::Why::Data, whole->span, {}};
  return flow;
}

Unroller::Flow Unroller::exec_if(Frame& f, const IfStmt* branch) {
  const auto bind = [&](const std::vector<Value>& values) {
    for (std::size_t i = 0; i < branch->return_vars.size(); ++i) {
      f.values[branch->return_vars[i]] = i < values.size() ? values[i] : Value{};
    }
  };
  const auto condition = integer(f, branch->condition);
  if (condition) {
    f.yields.clear();
    const Flow flow = exec(f, *condition != 0 ? branch->then_body : branch->else_body);
    bind(f.yields);
    return flow;
  }
  f.yields.clear();
  exec_maybe(f, branch->then_body, branch);
  std::vector<Value> yields = std::move(f.yields);
  f.yields.clear();
  exec_maybe(f, branch->else_body, branch);
  yields.resize(branch->return_vars.size());
  for (std::size_t i = 0; i < yields.size(); ++i) {
    if (i >= f.yields.size() || !same_value(yields[i], f.yields[i])) yields[i] = Value{};
  }
  bind(yields);
  return Flow::Next;
}

Unroller::Flow Unroller::exec_uncertain_loop(Frame& f, List<IterArg> args, List<const Var*> results,
                                             Body body, const Stmt* loop) {
  std::vector<Value> start;
  for (const IterArg& arg : args) {
    start.push_back(eval(f, arg.init));
    f.values[arg.var] = start.back().kind == ValueKind::Int ? Value{} : start.back();
  }
  f.yields.clear();
  exec_maybe(f, body, loop);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool kept = i < f.yields.size() && i < start.size() && same_value(start[i], f.yields[i]);
    f.values[results[i]] = kept ? start[i] : Value{};
  }
  return Flow::Next;
}

Unroller::Flow Unroller::exec_for(Frame& f, const ForStmt* loop) {
  const auto first = integer(f, loop->start);
  const Value end = eval(f, loop->stop);
  const Value step_value = eval(f, loop->step);
  refuse_zero(f, loop->step, step_value, "the step of a loop");
  const auto stride = step_value.integer();
  const bool known = first && end.integer() && stride && *stride != 0;
  const bool numbers = std::any_of(loop->return_vars.begin(), loop->return_vars.end(), is_number);
  const bool silent = !tells(loop->body);
  const bool is_long = known && runs_long(*first, end.number, *stride);
  if (!known || (silent && (!numbers || is_long))) {
    f.values[loop->loop_var] = Value{};
    return exec_uncertain_loop(f, loop->iter_args, loop->return_vars, loop->body, loop);
  }
  std::vector<Value> carried;
  for (const IterArg& arg : loop->iter_args) carried.push_back(eval(f, arg.init));
  loops_.push_back(loop->span);
  Flow flow = Flow::Next;
  for (std::int64_t i = *first; *stride > 0 ? i < end.number : i > end.number;) {
    step(loop->span);
    Value counter = Value::of(i);
    counter.over_ranks = end.over_ranks;
    f.values[loop->loop_var] = counter;
    for (std::size_t k = 0; k < carried.size(); ++k) f.values[loop->iter_args[k].var] = carried[k];
    f.yields.clear();
    flow = exec(f, loop->body);
    for (std::size_t k = 0; k < carried.size() && !f.yields.empty(); ++k) {
      carried[k] = k < f.yields.size() ? f.yields[k] : Value{};
    }
    if (flow == Flow::Break || flow == Flow::Return) break;
    if (__builtin_add_overflow(i, *stride, &i)) break;
  }
  loops_.pop_back();
  for (std::size_t k = 0; k < loop->return_vars.size(); ++k) {
    f.values[loop->return_vars[k]] = k < carried.size() ? carried[k] : Value{};
  }
  return flow == Flow::Return ? flow : Flow::Next;
}

Unroller::Flow Unroller::exec_while(Frame& f, const WhileStmt* loop) {
  std::vector<Value> carried;
  for (const IterArg& arg : loop->iter_args) carried.push_back(eval(f, arg.init));
  const bool silent = !tells(loop->body);
  std::uint64_t trips = 0;
  loops_.push_back(loop->span);
  Flow flow = Flow::Next;
  for (;;) {
    step(loop->span);
    for (std::size_t k = 0; k < carried.size(); ++k) f.values[loop->iter_args[k].var] = carried[k];
    const auto condition = integer(f, loop->condition);
    if (!condition || (silent && ++trips > kSilentTrips)) {
      // From here on nothing is known; what the iterations before have told stays.
      loops_.pop_back();
      for (std::size_t k = 0; k < carried.size(); ++k) {
        f.values[loop->iter_args[k].var] = carried[k].kind == ValueKind::Int ? Value{} : carried[k];
      }
      f.yields.clear();
      exec_maybe(f, loop->body, loop);
      for (std::size_t k = 0; k < loop->return_vars.size(); ++k) {
        const bool kept = k < carried.size() && k < f.yields.size() && same_value(carried[k], f.yields[k]);
        f.values[loop->return_vars[k]] = kept ? carried[k] : Value{};
      }
      return Flow::Next;
    }
    if (*condition == 0) break;
    f.yields.clear();
    flow = exec(f, loop->body);
    for (std::size_t k = 0; k < carried.size() && !f.yields.empty(); ++k) {
      carried[k] = k < f.yields.size() ? f.yields[k] : Value{};
    }
    if (flow == Flow::Break || flow == Flow::Return) break;
  }
  loops_.pop_back();
  for (std::size_t k = 0; k < loop->return_vars.size(); ++k) {
    f.values[loop->return_vars[k]] = k < carried.size() ? carried[k] : Value{};
  }
  return flow == Flow::Return ? flow : Flow::Next;
}

Unroller::Flow Unroller::launch(Frame& f, const Value& blocks, Span place,
                                const std::function<void()>& body) {
  const Value outer_block = f.block;
  const Value outer_blocks = f.blocks;
  f.blocks = blocks;
  const auto restore = [&] {
    f.block = outer_block;
    f.blocks = outer_blocks;
  };
  if (!blocks.integer() || blocks.number > kMaxBlocks || f.device < 0 || uncertain()) {
    f.block = Value{};
    if (!uncertain()) doubted_ = false;
    ++uncertain_;
    body();
    --uncertain_;
    if (!uncertain() && doubted_) note_data(place);
    restore();
    return Flow::Next;
  }
  Event fork;
  fork.kind = EventKind::Fork;
  fork.place = place;
  Events*& out = out_[f.device];
  Events* outer = out;
  for (std::int64_t b = 0; b < blocks.number; ++b) {
    f.block = Value::of(b);
    Events inner;
    out = &inner;
    try {
      body();
    } catch (...) {
      out = outer;
      throw;
    }
    out = outer;
    if (!inner.empty()) fork.branches.push_back(std::move(inner));
  }
  restore();
  if (fork.branches.size() == 1) {
    for (Event& e : fork.branches[0]) out->push_back(std::move(e));
  } else if (!fork.branches.empty()) {
    // Blocks of one rank in one collective: which of them meets which block of another rank is not said anywhere.
    for (const Events& branch : fork.branches) {
      for_each_event(branch, f.device, [&](const Event& e, std::int64_t) {
        if (e.kind == EventKind::Collective) trace_->allocations[e.cell.allocation].uncertain = true;
      });
    }
    out->push_back(std::move(fork));
  }
  return Flow::Next;
}

Unroller::Flow Unroller::exec_scope(Frame& f, const ScopeStmt* scope) {
  switch (scope->scope) {
    case ScopeKind::CommDomain:
      open_domain(scope);
      break;
    case ScopeKind::Spmd:
      return launch(f, scope->core_num != nullptr ? eval(f, scope->core_num) : Value{}, scope->span,
                    [&] { exec(f, scope->body); });
    case ScopeKind::SplitAiv:
      // Both vector cores run it, or one: what they tell is not counted.
      return tells(scope->body) ? exec_maybe(f, scope->body, scope) : exec(f, scope->body);
    case ScopeKind::InCore:
    case ScopeKind::Hierarchy:
    case ScopeKind::Cluster:
    case ScopeKind::Graph:
    case ScopeKind::Runtime:
      break;
  }
  return exec(f, scope->body);
}

void Unroller::open_domain(const ScopeStmt* scope) {
  Domain domain;
  domain.name = scope->name_hint;
  for (const std::int64_t device : scope->devices) {
    if (device >= static_cast<std::int64_t>(options_.ranks)) {
      throw GivenUp{GivenUp::Why::Ranks, scope->span, fmt::format("device {} is used", device)};
    }
    domain.devices.push_back(device);
  }
  for (std::int64_t d = 0; scope->devices.empty() && d < static_cast<std::int64_t>(options_.ranks); ++d) {
    domain.devices.push_back(d);
  }
  if (domain.devices.size() > kMaxDomainRanks) {
    diags_
        .report<diag::domain_too_large>(scope->span.valid() ? scope->span : host_->name_span,
                                        domain.devices.size(), kMaxDomainRanks)
        .help("run it on at most {} devices, or use a part of them", kMaxDomainRanks);
    throw GivenUp{GivenUp::Why::Reported, scope->span, {}};
  }
  for (const WindowSlot& slot : scope->slots) {
    if (slot.base == nullptr) continue;
    allocation_of_[slot.base] = trace_->allocations.size();
    Allocation allocation;
    allocation.name = shown_name(slot.base);
    allocation.domain = trace_->domains.size();
    trace_->allocations.push_back(std::move(allocation));
  }
  trace_->domains.push_back(std::move(domain));
}

void Unroller::emit(std::int64_t device, Event event) {
  Allocation& allocation = trace_->allocations[event.cell.allocation];
  (event.kind == EventKind::Collective ? allocation.collective : allocation.cells) = true;
  const auto out = out_.find(device);
  if (uncertain() || out == out_.end()) {
    allocation.uncertain = true;
    doubted_ = true;
    return;
  }
  if (++events_ > kMaxEvents)
    throw GivenUp{GivenUp::Why::Limit, loops_.empty() ? event.place : loops_.back(),
                  fmt::format("{} notifies, waits and collectives", kMaxEvents)};
  out->second->push_back(std::move(event));
}

void Unroller::doubt(const Value& window, Span place) {
  doubted_ = true;
  if (window.kind == ValueKind::Window) {
    trace_->allocations[window.view->allocation].uncertain = true;
    if (!uncertain()) note_data(place);
    return;
  }
  // Any window may be meant.
  for (Allocation& allocation : trace_->allocations) allocation.uncertain = true;
  if (!uncertain()) note_data(place);
}

bool Unroller::tells(Body body) {
  bool found = false;
  walk_stmts(body, [&](const Stmt* stmt) {
    if (found) return;
    const auto known = tells_stmt_.find(stmt);
    if (known != tells_stmt_.end()) {
      found = known->second;
      return;
    }
    bool here = false;
    for_each_expr(stmt, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        const auto* op = dyn<Call>(e);
        if (op != nullptr && op->is_op() && is_telling(op->op)) here = true;
        const auto inner = function_call(e);
        const Function* callee = inner ? program_.find(inner->callee) : nullptr;
        if (callee != nullptr && tells(callee)) here = true;
      });
    });
    tells_stmt_[stmt] = here;
    found = here;
  });
  return found;
}

bool Unroller::tells(const Function* function) {
  const auto [entry, fresh] = tells_function_.try_emplace(function, false);
  if (!fresh) return entry->second;
  const bool found = tells(function->body);
  return tells_function_[function] = found;
}

}  // namespace pldc::match
