// Finds out on which devices each window of a host function lives and wraps the function's body into one
// communication-domain scope for each set of devices, whose slots are the windows.
//
// LowerHostTensorCollectives needs the devices of a collective's operands, MaterializeDistTensorCtx and code
// generation need the domain of every tensor; from here on a tensor's type names its window.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontend/text.h"
#include "ir/rewrite.h"
#include "ir/same.h"
#include "ir/walk.h"
#include "passes/lineage.h"
#include "passes/map_functions.h"
#include "passes/pass.h"
#include "support/diag/op.h"
#include "support/diag/pass.h"

namespace pldc {

namespace {

// The communication context of a rank holds that many addresses (passes.md 0.4).
constexpr std::size_t kMaxRanks = 64;

struct Devices {
  bool all = false;
  std::set<std::int64_t> ids;
  bool empty() const { return !all && ids.empty(); }
  void add(const Devices& other) {
    all = all || other.all;
    ids.insert(other.ids.begin(), other.ids.end());
  }
  // Equal descriptors open one domain; the single devices do not count once all are meant.
  friend bool operator==(const Devices& a, const Devices& b) {
    return a.all == b.all && (a.all || a.ids == b.ids);
  }
};

class Inference {
 public:
  Inference(PassEnv& env, ParamTracer& tracer, Body body)
      : env_(env), tracer_(tracer), lineage_(tracer, body) {}

  const WindowLineage& lineage() const { return lineage_; }
  const Devices& devices(const WindowAllocation& allocation) const { return evidence_.at(allocation.base); }

  // False after errors were reported.
  bool run(Body body) {
    const std::uint32_t errors = env_.diags.error_count();
    for (const WindowAllocation& allocation : lineage_.allocations()) {
      evidence_[allocation.base];
      if (allocation.name.empty()) {
        env_.diags.report<diag::alloc_nameless>(allocation.call->span)
            .help("give it a name: pl._dump.alloc_window_buffer(size, name='buffer')");
      }
    }
    walk(body);
    if (env_.diags.error_count() != errors) return false;
    share_coverage();
    if (env_.diags.error_count() != errors) return false;
    check_dead();
    return env_.diags.error_count() == errors;
  }

 private:
  struct Share {
    const Call* call;
    const CollectiveInfo* info;
  };

  void walk(Body body) {
    for (const Stmt* stmt : body) {
      for_each_expr(stmt, [&](const Expr* root) { walk_expr(root, [&](const Expr* e) { visit(e); }); });
      const auto* loop = dyn<ForStmt>(stmt);
      const bool is_loop = loop != nullptr || stmt->kind == StmtKind::While;
      if (loop != nullptr) loops_.push_back(loop);
      if (is_loop) ++depth_;
      for_each_body(stmt, [&](Body inner) { walk(inner); });
      if (is_loop) --depth_;
      if (loop != nullptr) loops_.pop_back();
    }
  }

  void visit(const Expr* e) {
    if (const Call* call = as_collective(e)) return note_collective(call);
    const auto* call = dyn<Call>(e);
    const auto* submit = dyn<Submit>(e);
    if (submit == nullptr && (call == nullptr || call->is_op())) return;
    const Function* callee = tracer_.function(call != nullptr ? call->function : submit->function);
    const AttrValue* device = find_attr(call != nullptr ? call->attrs : submit->attrs, "device");
    if (callee == nullptr || !callee->is_chip_orchestrator() || device == nullptr) return;
    Devices devices;
    if (!describe(device_expr(*device), e->span, devices)) return;
    for (const Expr* arg : call != nullptr ? call->args : submit->args) {
      for (const Var* base : lineage_.bases(arg)) evidence_[base].add(devices);
    }
  }

  const Expr* device_expr(const AttrValue& value) {
    if (value.kind == AttrKind::Int) return env_.ir.const_int(value.integer);
    return value.kind == AttrKind::Expr || value.kind == AttrKind::Var ? value.expr : nullptr;
  }

  bool describe(const Expr* device, Span dispatch, Devices& out) {
    // A variable's own place is that of its definition.
    const bool here = device != nullptr && device->kind != ExprKind::Var && device->span.valid();
    const Span place = here ? device->span : dispatch;
    if (const auto constant = const_int(device)) {
      if (*constant < 0) {
        env_.diags.report<diag::device_negative>(place, *constant);
        return false;
      }
      out.ids.insert(*constant);
      return true;
    }
    const auto* var = dyn<Var>(device);
    if (var == nullptr) {
      env_.diags
          .report<diag::device_form>(place,
                                     device != nullptr ? print_expr(device) : std::string("no expression"))
          .help(
              "dispatch with device=N, or inside `for r in pl.range(...)` with device=r; compute what "
              "depends on r from "
              "the other operands");
      return false;
    }
    for (std::size_t i = loops_.size(); i-- > 0;) {
      if (loops_[i]->loop_var == var) return describe_loop(*loops_[i], place, out);
    }
    env_.diags.report<diag::device_not_loop_variable>(place, var->name.text())
        .help("use the variable of the loop around the dispatch, or a constant");
    return false;
  }

  bool describe_loop(const ForStmt& loop, Span place, Devices& out) {
    const std::string_view name = loop.loop_var->name.text();
    const Expr* stop = lineage_.unwrap(loop.stop);
    if (op_call(stop, OpId::pld_system_world_size) != nullptr) {
      out.all = true;
      return true;
    }
    const auto last = const_int(stop);
    if (!last) {
      env_.diags.report<diag::device_loop_bound>(place, name, print_expr(loop.stop))
          .note(loop.stop->span, "the bound of the loop")
          .help("loop to a constant or to pld.system.world_size()");
      return false;
    }
    const auto start = const_int(lineage_.unwrap(loop.start));
    const auto step = const_int(lineage_.unwrap(loop.step));
    if (!start || !step) {
      env_.diags.report<diag::device_loop_start>(place, name, start ? "step" : "start",
                                                 print_expr(start ? loop.step : loop.start));
      return false;
    }
    if (*step != 1) {
      env_.diags.report<diag::device_loop_step>(place, name, *step)
          .note(loop.span, "the loop")
          .help(
              "dispatch to each device by its number, or renumber the devices so that the loop counts by "
              "one");
      return false;
    }
    if (*start < 0) {
      env_.diags.report<diag::device_negative>(place, *start);
      return false;
    }
    if (*start >= *last) {
      env_.diags.report<diag::device_range_empty>(place, name, *start, *last)
          .help("remove the loop, or let it reach at least one device");
      return false;
    }
    if (static_cast<std::uint64_t>(*last) - static_cast<std::uint64_t>(*start) > kMaxRanks) {
      env_.diags.report<diag::domain_too_large>(place, *last - *start, kMaxRanks);
      return false;
    }
    for (std::int64_t id = *start; id < *last; ++id) out.ids.insert(id);
    return true;
  }

  void note_collective(const Call* call) {
    const CollectiveInfo* info = collective_info(call->op);
    if (call->op == OpId::pld_tensor_all_to_all_v && depth_ > 0) {
      env_.diags.report<diag::all_to_all_v_in_loop>(call->span)
          .help("move it out of the loop, or do the exchange inside a kernel");
      return;
    }
    const std::size_t wanted = info->operands.size();
    if (call->args.size() < wanted) {
      env_.diags.report<diag::collective_operands>(call->span, info->name, wanted, call->args.size());
      return;
    }
    bool usable = true;
    for (const CollectiveInfo::Operand& operand : info->operands) {
      if (!operand.only_from_dispatch) usable = one_window(call, *info, operand) && usable;
    }
    if (usable) shares_.push_back({call, info});
  }

  bool one_window(const Call* call, const CollectiveInfo& info, const CollectiveInfo::Operand& operand) {
    const Expr* arg = call->args[operand.index];
    const auto& bases = lineage_.bases(arg);
    if (bases.size() == 1) return true;
    const Span place = arg->span.valid() ? arg->span : call->span;
    if (bases.empty()) {
      env_.diags.report<diag::collective_not_window>(place, info.name, operand.role, print_expr(arg))
          .help(
              "hand over the variable that pld.tensor.window(...) was assigned to, or a result that stands "
              "for it");
    } else {
      env_.diags
          .report<diag::collective_window_ambiguous>(place, info.name, operand.role, bases[0]->name.text(),
                                                     bases[1]->name.text())
          .help("call the collective once for each window");
    }
    return false;
  }

  // A collective's other windows live where its data lives.
  void share_coverage() {
    for (const auto& [call, info] : shares_) {
      if (info->coverage < 0) continue;
      const Var* data = lineage_.base(call->args[static_cast<std::size_t>(info->coverage)]);
      const Devices from = evidence_.at(data);
      if (from.empty()) {
        env_.diags.report<diag::collective_no_coverage>(call->span, name_of_base(data), info->name)
            .note(lineage_.allocation(data)->stmt->span, "the data buffer is allocated here")
            .help(
                "dispatch a chip function with it and device=, so that it is known on which devices it "
                "lives");
        continue;
      }
      for (const std::size_t dependent : info->dependents)
        evidence_[lineage_.base(call->args[dependent])].add(from);
    }
    // Last, so that a signal may serve a barrier before the collective that tells where it lives.
    for (const auto& [call, info] : shares_) {
      if (info->coverage >= 0) continue;
      const Var* signal = lineage_.base(call->args[info->signal]);
      if (!evidence_.at(signal).empty()) continue;
      env_.diags.report<diag::barrier_no_coverage>(call->span, name_of_base(signal))
          .note(lineage_.allocation(signal)->stmt->span, "the signal buffer is allocated here")
          .help(
              "hand the signal to a chip function that is dispatched with device=, or use it as the signal "
              "of another "
              "collective");
    }
  }

  std::string_view name_of_base(const Var* base) const { return lineage_.allocation(base)->name; }

  void check_dead() {
    for (const WindowAllocation& allocation : lineage_.allocations()) {
      if (allocation.views.empty()) {
        env_.diags.report<diag::allocation_without_view>(allocation.stmt->span, allocation.name)
            .help("make a tensor of it with pld.tensor.window, or remove the allocation");
      } else if (evidence_.at(allocation.base).empty()) {
        env_.diags.report<diag::allocation_undispatched>(allocation.stmt->span, allocation.name)
            .help("hand a view of it to a chip function dispatched with device=, or remove the allocation");
      }
    }
  }

  PassEnv& env_;
  ParamTracer& tracer_;
  WindowLineage lineage_;
  std::unordered_map<const Var*, Devices> evidence_;
  std::vector<Share> shares_;
  std::vector<const ForStmt*> loops_;
  int depth_ = 0;
};

// Gives views, and whatever else can carry it on both sides of all its assignments, the reference to its
// window.
class Retyper : public Rewriter {
 public:
  Retyper(Context& context, const WindowLineage& lineage)
      : Rewriter(context), bound_(lineage.bound_variables(false)) {}

  const Var* define(const Var* v) override {
    const auto found = bound_.find(v);
    const auto* tensor = found != bound_.end() && binds_ ? dyn<TensorType>(v->type) : nullptr;
    if (tensor == nullptr || tensor->window == found->second) return Rewriter::define(v);
    const Type* rewritten = type(ctx().with_window(tensor, found->second));
    const Var* fresh = ctx().var_like(v, rewritten);
    substitute(v, fresh);
    return fresh;
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const auto* definition = dyn<AssignStmt>(s);
    const bool outer = binds_;
    binds_ = definition == nullptr || WindowLineage::gives_window(definition->value, false);
    const Stmt* rebuilt = rebuild(s);
    binds_ = outer;
    const auto* assign = dyn<AssignStmt>(rebuilt);
    const Call* call = assign != nullptr ? op_call(assign->value, OpId::pld_tensor_window) : nullptr;
    const auto* var_type = call != nullptr ? dyn<TensorType>(assign->var->type) : nullptr;
    const auto* call_type = call != nullptr ? dyn<TensorType>(call->type) : nullptr;
    if (var_type != nullptr && call_type != nullptr && var_type->window != call_type->window) {
      // The call gains the reference and nothing else; a real mismatch stays for AssignTypeSymmetry to
      // report.
      const Type* with_window = ctx().with_window(call_type, var_type->window);
      if (same_type(with_window, var_type)) {
        AssignStmt n = *assign;
        n.value = ctx().call_with_type(call, with_window);
        rebuilt = ctx().make(n);
      }
    }
    out.push_back(rebuilt);
  }

 private:
  std::unordered_map<const Var*, const Var*> bound_;
  bool binds_ = true;  // whether the statement at hand can bind its variables to windows
};

class Materializer {
 public:
  Materializer(PassEnv& env, ParamTracer& tracer) : env_(env), tracer_(tracer) {}

  const Function* function(const Function* f) {
    if (!f->is_host_orchestrator()) return f;
    if (f->body.size() == 1 && dyn_scope(f->body[0], ScopeKind::CommDomain) != nullptr) return f;
    Inference inference(env_, tracer_, f->body);
    if (inference.lineage().allocations().empty()) return f;
    if (!inference.run(f->body)) return f;
    const std::vector<Domain> domains = cluster(inference);
    if (domains.empty()) return f;

    Retyper retyper(env_.ir, inference.lineage());
    Body body = retyper.body(f->body);
    for (std::size_t i = domains.size(); i-- > 0;) {
      const ScopeStmt* scope = wrap(domains[i], i, retyper, body);
      body = env_.ir.list({static_cast<const Stmt*>(scope)});
    }
    Function n = *f;
    n.body = body;
    return env_.ir.make(n);
  }

 private:
  struct Domain {
    Devices devices;
    std::vector<const WindowAllocation*> slots;
  };

  // Allocations with equal devices form one domain; domains stand in the order of their first allocation.
  std::vector<Domain> cluster(const Inference& inference) {
    const std::uint32_t errors = env_.diags.error_count();
    std::vector<Domain> domains;
    for (const WindowAllocation& allocation : inference.lineage().allocations()) {
      const Devices& devices = inference.devices(allocation);
      auto domain =
          std::find_if(domains.begin(), domains.end(), [&](const Domain& d) { return d.devices == devices; });
      if (domain == domains.end()) {
        domain = domains.insert(domains.end(), Domain{devices, {}});
        if (!devices.all && devices.ids.size() > kMaxRanks) {
          env_.diags.report<diag::domain_too_large>(allocation.stmt->span, devices.ids.size(), kMaxRanks);
        }
      }
      for (const WindowAllocation* other : domain->slots) {
        if (other->name != allocation.name) continue;
        env_.diags.report<diag::alloc_twice>(allocation.stmt->span, allocation.name)
            .note(other->stmt->span, "the other allocation of that name")
            .help("rename one of them");
        break;
      }
      domain->slots.push_back(&allocation);
    }
    if (env_.diags.error_count() != errors) domains.clear();
    return domains;
  }

  const ScopeStmt* wrap(const Domain& domain, std::size_t index, Retyper& retyper, Body body) {
    std::vector<std::int64_t> devices;
    if (!domain.devices.all) devices.assign(domain.devices.ids.begin(), domain.devices.ids.end());
    std::vector<WindowSlot> slots;
    for (const WindowAllocation* allocation : domain.slots) {
      slots.push_back({allocation->base, retyper.expr(allocation->size), false, false});
    }
    ScopeStmt scope{};
    scope.kind = StmtKind::Scope;
    scope.span = domain.slots.front()->stmt->span;
    scope.scope = ScopeKind::CommDomain;
    scope.name_hint = env_.ir.text(fmt::format("comm_d{}", index));
    scope.body = body;
    scope.devices = env_.ir.list(devices);
    scope.slots = env_.ir.list(slots);
    return env_.ir.make(scope);
  }

  PassEnv& env_;
  ParamTracer& tracer_;
};

}  // namespace

const Program* run_MaterializeCommDomainScopes(PassEnv& env, const Program* program) {
  ParamTracer tracer(program);
  Materializer materializer(env, tracer);
  return map_functions(env, program, [&](const Function* f) { return materializer.function(f); });
}

}  // namespace pldc
