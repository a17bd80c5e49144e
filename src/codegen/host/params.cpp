// What the launcher has to know about a host function before it runs: its parameters, which of their axes count the ranks,
// and which devices it names.
#include <fmt/format.h>

#include <unordered_set>

#include "codegen/aliases.h"
#include "codegen/host/host.h"
#include "frontend/text.h"
#include "ir/check_op.h"
#include "ir/walk.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

constexpr std::size_t kMaxAxes = 8;

// The loops of a body: which run over all ranks, and the last value of those with constant bounds.
class RankScan {
 public:
  RankScan(const EmitEnv& env, const Function* function, HostEntry& entry)
      : function_(function), entry_(entry), aliases_(env.calls) {
    aliases_.add(function->body);
    scan(function->body);
  }

 private:
  void scan(Body body) {
    for (const Stmt* stmt : body) {
      if (const auto* loop = dyn<ForStmt>(stmt)) note_loop(loop);
      for_each_expr(stmt, [&](const Expr* root) { walk_expr(root, [&](const Expr* e) { note(e); }); });
      for_each_body(stmt, [&](Body inner) { scan(inner); });
    }
  }

  void note_loop(const ForStmt* loop) {
    const Expr* stop = aliases_.unwrap(loop->stop);
    if (op_call(stop, OpId::pld_system_world_size) != nullptr) over_ranks_.insert(loop->loop_var);
    const auto first = const_int(aliases_.unwrap(loop->start));
    const auto end = const_int(stop);
    const auto step = const_int(aliases_.unwrap(loop->step));
    if (!first || !end || !step || *step == 0) return;
    const bool up = *step > 0;
    if (up ? *first >= *end : *first <= *end) return;
    const std::int64_t trips =
        up ? (*end - *first + *step - 1) / *step : (*first - *end - *step - 1) / -*step;
    last_[loop->loop_var] = up ? *first + (trips - 1) * *step : *first;
  }

  void note(const Expr* e) {
    const auto* call = dyn<Call>(e);
    const auto* submit = dyn<Submit>(e);
    if (call != nullptr && (call->op == OpId::tensor_slice || call->op == OpId::tensor_read)) {
      const Expr* indices = argument(call, call->op == OpId::tensor_slice ? "offset" : "indices");
      const auto* tuple = dyn<MakeTuple>(aliases_.unwrap(indices));
      const Expr* root = aliases_.root(call->args[0]);
      for (std::size_t i = 0; tuple != nullptr && i < function_->params.size(); ++i) {
        if (function_->params[i].var != root || i >= entry_.params.size()) continue;
        for (std::size_t axis = 0; axis < tuple->elements.size() && axis < entry_.params[i].dims.size();
             ++axis) {
          const Expr* index = index_of(tuple->elements[axis]);
          if (over_ranks_.count(index) != 0) entry_.params[i].dims[axis].per_rank = true;
        }
      }
    }
    const Attrs attrs = call != nullptr ? call->attrs : submit != nullptr ? submit->attrs : Attrs{};
    const AttrValue* device = find_attr(attrs, "device");
    if (device == nullptr) return;
    if (device->kind == AttrKind::Int) {
      entry_.max_device = std::max(entry_.max_device, device->integer);
    } else if (device->kind == AttrKind::Expr || device->kind == AttrKind::Var) {
      const Expr* value = index_of(device->expr);
      if (const auto constant = const_int(value)) entry_.max_device = std::max(entry_.max_device, *constant);
      const auto last = last_.find(value);
      if (last != last_.end()) entry_.max_device = std::max(entry_.max_device, last->second);
    }
  }

  const Expr* index_of(const Expr* e) const {
    e = aliases_.unwrap(e);
    const auto* cast = dyn<Cast>(e);
    return cast != nullptr ? index_of(cast->operand) : e;
  }

  const Function* function_;
  HostEntry& entry_;
  Aliases aliases_;
  std::unordered_set<const Expr*> over_ranks_;
  std::unordered_map<const Expr*, std::int64_t> last_;
};

}  // namespace

bool describe_params(const EmitEnv& env, const Function* function, std::vector<HostParam>& out) {
  const std::uint32_t errors = env.diags.error_count();
  std::unordered_set<std::string> names;
  for (const HostParam& p : out) names.insert(p.name);
  for (const Param& param : function->params) {
    const Var* var = param.var;
    HostParam p;
    p.name = plain_name(var->name.text());
    if (names.count(p.name) != 0) p.name = var->name.text();
    for (int n = 1; !names.insert(p.name).second; ++n) p.name = fmt::format("{}_{}", var->name.text(), n);
    p.direction = param.direction;
    p.place = var->span.valid() ? var->span : function->name_span;
    if (const auto dtype = scalar_dtype(var->type)) {
      p.scalar = true;
      p.dtype = *dtype;
      if (host_dtype(*dtype).empty() || cpp_scalar_type(*dtype).empty()) {
        env.diags.report<diag::codegen_dtype>(p.place, fmt::format("'{}'", p.name), name_of(*dtype),
                                              "a parameter");
      }
    } else if (is_plain_tensor(var->type)) {
      const auto* type = static_cast<const TensorType*>(var->type);
      p.dtype = type->dtype;
      if (host_dtype(type->dtype).empty()) {
        env.diags.report<diag::codegen_dtype>(p.place, fmt::format("'{}'", p.name), name_of(type->dtype),
                                              "the runtime");
      }
      if (type->shape.empty() || type->shape.size() > kMaxAxes) {
        env.diags.report<diag::codegen_rank>(p.place, p.name, type->shape.size(), "a host tensor has",
                                             kMaxAxes);
      }
      for (const Expr* dim : type->shape) {
        HostDim d;
        d.extent = const_int(dim);
        if (const auto* symbol = dyn<Var>(dim)) {
          d.symbol = symbol->name.text();
        } else if (!d.extent) {
          d.symbol = print_expr(dim);
        }
        p.dims.push_back(std::move(d));
      }
    } else if (!is_distributed(var->type) && var->type->kind != TypeKind::CommCtx) {
      env.diags.report<diag::codegen_argument>(p.place, p.name, function->name.text(),
                                               "the parameters of an entry are tensors and scalars");
    } else if (function->is_host_orchestrator()) {
      env.diags
          .report<diag::codegen_argument>(p.place, p.name, function->name.text(),
                                          "windows are made by the host function itself")
          .help("allocate it in '{}' with pld.alloc_window_buffer", function->name.text());
    }
    out.push_back(std::move(p));
  }
  return env.diags.error_count() == errors;
}

void describe_ranks(const EmitEnv& env, const Function* function, HostEntry& out) {
  RankScan(env, function, out);
}

}  // namespace pldc
