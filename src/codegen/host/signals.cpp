#include "codegen/host/signals.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "codegen/aliases.h"
#include "ir/check_op.h"
#include "ir/walk.h"
#include "passes/lineage.h"

namespace pldc {
namespace {

// A signal that reaches a collective.
struct Use {
  RankLimit limit;  // count 0: the shape says nothing
};

class DeviceSignals {
 public:
  explicit DeviceSignals(const Program& program) : program_(program), tracer_(&program), calls_(&program) {}

  // The collectives that get the parameter as their signal, in the function or in those it calls.
  const std::vector<Use>& of(const Function* function, std::size_t param) {
    Uses& uses = uses_of(function);
    static const std::vector<Use> none;
    return param < uses.size() ? uses[param] : none;
  }
  ReturnedParams& calls() { return calls_; }

 private:
  using Uses = std::vector<std::vector<Use>>;

  Uses& uses_of(const Function* function) {
    const auto [entry, fresh] = uses_.try_emplace(function);
    if (!fresh) return entry->second;  // known, or a call that goes in a circle
    Uses found(function->params.size());
    walk_stmts(function->body, [&](const Stmt* stmt) {
      for_each_expr(
          stmt, [&](const Expr* root) { walk_expr(root, [&](const Expr* e) { note(function, e, found); }); });
    });
    return uses_[function] = std::move(found);
  }

  void note(const Function* function, const Expr* e, Uses& found) {
    if (const Call* collective = as_collective(e)) {
      const CollectiveInfo& info = *collective_info(collective->op);
      if (info.signal >= collective->args.size()) return;
      const Expr* signal = collective->args[info.signal];
      const int param = tracer_.param_of(function, signal);
      if (param < 0) return;
      RankLimit limit;
      limit.collective = "pld.tensor." + std::string(info.name);
      limit.place = collective->span;
      const auto* type = dyn<TensorType>(signal->type);
      const bool ring = is_ring(collective);
      if (ring) limit.collective += " mode=\"ring\"";
      limit.exact = ring;
      const std::size_t axis = ring ? 1 : 0;
      if (type != nullptr && axis < type->shape.size())
        limit.count = const_int(type->shape[axis]).value_or(0);
      found[static_cast<std::size_t>(param)].push_back({std::move(limit)});
      return;
    }
    const auto* call = dyn<Call>(e);
    const auto* submit = dyn<Submit>(e);
    if (submit == nullptr && (call == nullptr || call->is_op())) return;
    const Function* callee = program_.find(submit != nullptr ? submit->function : call->function);
    if (callee == nullptr || callee == function) return;
    const List<const Expr*> args = submit != nullptr ? submit->args : call->args;
    for (std::size_t i = 0; i < args.size() && i < callee->params.size(); ++i) {
      if (!is_distributed(args[i]->type)) continue;
      const std::vector<Use> inner = of(callee, i);
      const int param = inner.empty() ? ParamTracer::kNone : tracer_.param_of(function, args[i]);
      if (param < 0) continue;
      auto& list = found[static_cast<std::size_t>(param)];
      list.insert(list.end(), inner.begin(), inner.end());
    }
  }

  const Program& program_;
  ParamTracer tracer_;
  ReturnedParams calls_;
  std::unordered_map<const Function*, Uses> uses_;
};

}  // namespace

void describe_signals(const Program& seen, Name name, HostEntry& out) {
  const Function* host = seen.find(name);
  if (host == nullptr) return;
  DeviceSignals signals(seen);
  Aliases aliases(signals.calls());
  aliases.add(host->body);
  std::unordered_set<const Expr*> over_ranks;
  walk_stmts(host->body, [&](const Stmt* stmt) {
    const auto* loop = dyn<ForStmt>(stmt);
    if (loop != nullptr && op_call(aliases.unwrap(loop->stop), OpId::pld_system_world_size) != nullptr) {
      over_ranks.insert(loop->loop_var);
    }
    for_each_expr(stmt, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        const auto* call = dyn<Call>(e);
        if (call == nullptr || call->is_op()) return;
        const Function* callee = seen.find(call->function);
        const AttrValue* device = find_attr(call->attrs, "device");
        if (callee == nullptr) return;
        const bool everywhere = device != nullptr &&
                                (device->kind == AttrKind::Expr || device->kind == AttrKind::Var) &&
                                over_ranks.count(aliases.unwrap(device->expr)) != 0;
        for (std::size_t i = 0; i < call->args.size() && i < callee->params.size(); ++i) {
          if (!is_distributed(call->args[i]->type)) continue;
          const std::vector<Use>& uses = signals.of(callee, i);
          if (uses.empty()) continue;
          const auto* view = dyn<Var>(aliases.root(call->args[i]));
          const Call* window =
              view != nullptr ? op_call(aliases.definition(view), OpId::pld_tensor_window) : nullptr;
          const auto* base = window != nullptr ? dyn<Var>(aliases.root(window->args[0])) : nullptr;
          if (base != nullptr) out.signal_slots.emplace_back(plain_name(base->name.text()));
          for (const Use& use : uses) {
            if (!everywhere || use.limit.count <= 0) continue;
            const bool known = std::any_of(out.limits.begin(), out.limits.end(), [&](const RankLimit& l) {
              return l.place == use.limit.place && l.count == use.limit.count;
            });
            if (!known) out.limits.push_back(use.limit);
          }
        }
      });
    });
  });
}

}  // namespace pldc
