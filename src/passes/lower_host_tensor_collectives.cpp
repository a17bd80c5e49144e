// Replaces each collective of a host function by one builtin call for every device of its domain, and its
// result by another name of the data window.
//
// Code generation and MaterializeDistTensorCtx then meet nothing on the host but dispatches to single
// devices. All checks that need the domain (enough signal cells, a valid root, separate windows) are made
// here.
#include <fmt/format.h>

#include <charconv>

#include "frontend/text.h"
#include "ir/check_op.h"
#include "ir/rewrite.h"
#include "ir/rules.h"
#include "ir/walk.h"
#include "passes/lineage.h"
#include "passes/map_functions.h"
#include "passes/pass.h"
#include "passes/statement.h"
#include "support/check.h"
#include "support/diag/pass.h"

namespace pldc {

namespace {

constexpr std::string_view kCoresOption = "LowerHostTensorCollectives.aiv_cores";
constexpr std::int64_t kMaxRingRanks = 16;

OpId builtin_for(OpId op, bool ring) {
  if (op == OpId::pld_tensor_allreduce) {
    return ring ? OpId::builtin_tensor_allreduce_ring : OpId::builtin_tensor_allreduce;
  }
  if (op == OpId::pld_tensor_barrier) return OpId::builtin_tensor_barrier;
  if (op == OpId::pld_tensor_broadcast) return OpId::builtin_tensor_broadcast;
  if (op == OpId::pld_tensor_reduce_scatter) return OpId::builtin_tensor_reduce_scatter;
  if (op == OpId::pld_tensor_allgather) return OpId::builtin_tensor_allgather;
  if (op == OpId::pld_tensor_all_to_all) return OpId::builtin_tensor_all_to_all;
  PLDC_CHECK(op == OpId::pld_tensor_all_to_all_v, "one of the seven collectives");
  return OpId::builtin_tensor_all_to_all_v;
}

std::int64_t int_keyword(const Call* call, std::string_view key, std::int64_t otherwise) {
  const AttrValue* value = find_attr(call->kwargs, key);
  return value != nullptr && value->kind == AttrKind::Int ? value->integer : otherwise;
}

class Lowering : public Rewriter {
 public:
  Lowering(PassEnv& env, ParamTracer& tracer, Body body)
      : Rewriter(env.ir), env_(env), lineage_(tracer, body), bound_(lineage_.bound_variables(true)) {}

  // Carries and results gain the reference together with the collectives that they come from.
  const Var* define(const Var* v) override {
    const auto found = bound_.find(v);
    const auto* tensor = found != bound_.end() && binds_ ? dyn<TensorType>(v->type) : nullptr;
    if (tensor == nullptr || tensor->window == found->second) return Rewriter::define(v);
    const Var* fresh = ctx().var_like(v, type(ctx().with_window(tensor, found->second)));
    substitute(v, fresh);
    return fresh;
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    if (const auto* scope = dyn_scope(s, ScopeKind::CommDomain)) {
      domains_.push_back(scope);
      out.push_back(rebuild(s));
      domains_.pop_back();
      return;
    }
    const auto* assign = dyn<AssignStmt>(s);
    const auto* eval = dyn<EvalStmt>(s);
    const Expr* value = assign != nullptr ? assign->value : eval != nullptr ? eval->value : nullptr;
    const Call* call = as_collective(value);
    if (call == nullptr) {
      const bool outer = binds_;
      binds_ = assign == nullptr || WindowLineage::gives_window(assign->value, true);
      out.push_back(rebuild(s));
      binds_ = outer;
      return;
    }
    const std::size_t first = out.size();
    if (!lower(call, s->span, out)) return;
    if (assign != nullptr) {
      const Expr* source = expr(call->args[collective_info(call->op)->data]);
      out.push_back(ctx().assign(define(assign->var), source, s->span));
    }
    if (!s->comments.empty()) out[first] = with_comments(ctx(), out[first], s->comments);
  }

 private:
  struct Operands {
    std::vector<const Var*> bases;  // parallel to the table's operands
  };

  static Span place(const Expr* arg, const Call* call) { return arg->span.valid() ? arg->span : call->span; }

  bool lower(const Call* call, Span span, std::vector<const Stmt*>& out) {
    const CollectiveInfo& info = *collective_info(call->op);
    Operands operands;
    if (!windows(call, info, operands) || !distinct(call, info, operands)) return false;
    const ScopeStmt* domain = domain_of(operands);
    if (domain == nullptr) {
      report_no_domain(call, info, operands);
      return false;
    }
    const auto ranks = static_cast<std::int64_t>(domain->devices.size());
    const auto mode = find_attr(call->kwargs, "mode");
    const bool is_allreduce = call->op == OpId::pld_tensor_allreduce;
    const bool ring = is_allreduce && is_ring(call);
    if (is_allreduce && mode != nullptr && !ring && mode->text != "mesh") {
      env_.diags.report<diag::allreduce_mode>(call->span, mode->text);
      return false;
    }
    const bool sound = ring ? check_ring(call, ranks) : check_signal(call, info, ranks);
    if (!sound || !check_root(call, ranks)) return false;

    const OpId builtin = builtin_for(call->op, ring);
    std::vector<const Expr*> args;
    std::vector<ArgDirection> directions;
    for (const CollectiveInfo::Operand& operand : info.operands) {
      args.push_back(expr(call->args[operand.index]));
      directions.push_back(operand.direction);
    }
    const Attrs kwargs = builtin_keywords(call, info, ring);
    const List<const Expr*> arg_list = ctx().list(args);
    const Type* type = deduce(ctx(), env_.diags, builtin, arg_list, kwargs, call->span);
    if (type == nullptr) return false;
    const Call* sample = ctx().call(builtin, arg_list, kwargs, {}, type, call->span);
    if (!check_call(env_.diags, sample) || !check_builtin_signal(env_.diags, sample)) return false;
    const auto direction_list = ctx().list(directions);
    const auto dispatch = [&](const Expr* device) -> const Stmt* {
      std::vector<Attr> attrs(kwargs.begin(), kwargs.end());
      attrs.push_back({ctx().name("device"), AttrValue::of_expr(device)});
      attrs.push_back({ctx().name("arg_directions"), AttrValue::of_directions(direction_list)});
      return ctx().eval(ctx().call(builtin, arg_list, kwargs, ctx().list(attrs), type, call->span), span);
    };
    const auto int64 = [&](std::int64_t v) -> const Expr* { return ctx().const_int(v, DType::INT64, span); };
    if (!domain->devices.empty()) {
      for (const std::int64_t device : domain->devices) out.push_back(dispatch(int64(device)));
      return true;
    }
    ForStmt loop{};
    loop.kind = StmtKind::For;
    loop.span = span;
    loop.for_kind = ForKind::Sequential;
    loop.loop_var = ctx().var(ctx().name("r"), ctx().scalar(DType::INT64), span);
    loop.start = int64(0);
    loop.stop = ctx().call(OpId::pld_system_world_size, {}, {}, {}, ctx().scalar(DType::INT64), span);
    loop.step = int64(1);
    loop.body = ctx().list({dispatch(loop.loop_var)});
    out.push_back(ctx().make(loop));
    return true;
  }

  // Each operand's allocation. Inputs may be plain tensors elsewhere, but the peers of a host collective read
  // them.
  bool windows(const Call* call, const CollectiveInfo& info, Operands& operands) {
    const std::size_t wanted = info.operands.size();
    if (call->args.size() < wanted ||
        (call->args.size() > wanted && call->op != OpId::pld_tensor_all_to_all_v)) {
      env_.diags.report<diag::collective_operands>(call->span, info.name, wanted, call->args.size());
      return false;
    }
    if (call->args.size() > wanted && const_int(call->args[wanted]) != 1) {
      env_.diags.report<diag::collective_core_num>(place(call->args[wanted], call), info.name);
      return false;
    }
    bool complete = true;
    for (const CollectiveInfo::Operand& operand : info.operands) {
      const Expr* arg = call->args[operand.index];
      const std::vector<const Var*>& bases = lineage_.bases(arg);
      operands.bases.push_back(bases.size() == 1 ? bases[0] : nullptr);
      if (bases.size() == 1 && is_distributed(arg->type)) continue;
      complete = false;
      if (bases.size() > 1) {
        env_.diags
            .report<diag::collective_window_ambiguous>(place(arg, call), info.name, operand.role,
                                                       bases[0]->name.text(), bases[1]->name.text())
            .help("call the collective once for each window");
      } else if (operand.only_from_dispatch) {
        env_.diags
            .report<diag::collective_needs_window>(place(arg, call), info.name, operand.role,
                                                   print_type(arg->type))
            .help("allocate a window for it, let a dispatched chip function fill it, and hand over the view");
      } else {
        env_.diags
            .report<diag::collective_not_window>(place(arg, call), info.name, operand.role, print_expr(arg))
            .help(
                "hand over the variable that pld.tensor.window(...) was assigned to, or a result that stands "
                "for it");
      }
    }
    return complete;
  }

  bool distinct(const Call* call, const CollectiveInfo& info, const Operands& operands) {
    for (std::size_t i = 0; i < operands.bases.size(); ++i) {
      for (std::size_t j = i + 1; j < operands.bases.size(); ++j) {
        if (operands.bases[i] != operands.bases[j]) continue;
        const WindowAllocation* allocation = lineage_.allocation(operands.bases[i]);
        env_.diags
            .report<diag::collective_same_window>(place(call->args[info.operands[j].index], call), info.name,
                                                  info.operands[i].role, info.operands[j].role,
                                                  allocation->name)
            .note(allocation->stmt->span, "both are views of this allocation")
            .help("give one of them an allocation of its own");
        return false;
      }
    }
    return true;
  }

  static bool has_slot(const ScopeStmt* domain, const Var* base) {
    for (const WindowSlot& slot : domain->slots) {
      if (slot.base == base) return true;
    }
    return false;
  }

  const ScopeStmt* domain_of(const Operands& operands) const {
    for (std::size_t i = domains_.size(); i-- > 0;) {
      bool all = true;
      for (const Var* base : operands.bases) all = all && has_slot(domains_[i], base);
      if (all) return domains_[i];
    }
    return nullptr;
  }

  void report_no_domain(const Call* call, const CollectiveInfo& info, const Operands& operands) {
    auto report = env_.diags.report<diag::collective_no_domain>(call->span, info.name);
    for (std::size_t i = 0; i < operands.bases.size(); ++i) {
      const WindowAllocation* allocation = lineage_.allocation(operands.bases[i]);
      std::string where = "in no domain around the call";
      for (const ScopeStmt* domain : domains_) {
        if (has_slot(domain, operands.bases[i])) where = fmt::format("in domain '{}'", domain->name_hint);
      }
      report.note(allocation->stmt->span, "{} is '{}', {}", info.operands[i].role, allocation->name, where);
    }
    report.help("dispatch chip functions with all of them on the same devices");
  }

  // Cells a rank waits on: rows for the ranks, columns (lanes) for the cores.
  bool check_signal(const Call* call, const CollectiveInfo& info, std::int64_t ranks) {
    const Expr* signal = call->args[info.signal];
    const auto* type = dyn<TensorType>(signal->type);
    const Span where = place(signal, call);
    const bool is_allreduce = call->op == OpId::pld_tensor_allreduce;
    const std::int64_t lanes = is_allreduce ? int_keyword(call, "core_num", 1) : 1;
    if (!check_cores(call, lanes)) return false;
    const std::size_t rank = type->shape.size();
    if (rank != 1 && rank != 2) {
      env_.diags.report<diag::signal_rank>(where, info.name, rank);
      return false;
    }
    if (rank == 1 && lanes != 1) {
      env_.diags.report<diag::signal_rank_one>(where, info.name, lanes)
          .help("give the signal the shape [ranks, {}]", lanes);
      return false;
    }
    if (rank == 2) {
      const auto columns = const_int(type->shape[1]);
      if (!columns) {
        env_.diags.report<diag::signal_columns_dynamic>(where, info.name, print_expr(type->shape[1]));
        return false;
      }
      if (is_allreduce && *columns < lanes) {
        env_.diags.report<diag::signal_columns_few>(where, info.name, *columns, lanes)
            .help("give the signal the shape [ranks, {}]", lanes);
        return false;
      }
      if (!is_allreduce && *columns != lanes) {
        env_.diags.report<diag::signal_columns_differ>(where, info.name, *columns, lanes);
        return false;
      }
    }
    const auto rows = const_int(type->shape[0]);
    if (rows && *rows < ranks) {
      env_.diags.report<diag::signal_rows_few>(where, info.name, *rows, ranks)
          .help("give the signal one row for each of the {} devices", ranks);
      return false;
    }
    return true;
  }

  // Only a known backend limits the cores; none is known unless the option says how many there are.
  bool check_cores(const Call* call, std::int64_t lanes) {
    const std::string_view text = env_.option(kCoresOption, "");
    std::int64_t cores = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), cores);
    if (text.empty() || parsed.ec != std::errc{} || lanes <= cores) return true;
    env_.diags.report<diag::allreduce_cores_exceed>(call->span, lanes, cores);
    return false;
  }

  // Ragged and dynamic sizes of the data are fine (decisions D11); the signal is not free.
  bool check_ring(const Call* call, std::int64_t ranks) {
    const std::int64_t cores = int_keyword(call, "core_num", 1);
    if (cores != 1) {
      env_.diags.report<diag::ring_core_num>(call->span, cores)
          .help("leave core_num out, or use mode=\"mesh\"");
      return false;
    }
    if (ranks == 0) return true;
    if (ranks > kMaxRingRanks) {
      env_.diags.report<diag::ring_ranks>(call->span, ranks).help("use mode=\"mesh\", or fewer devices");
      return false;
    }
    const Expr* signal = call->args[1];
    const auto* type = dyn<TensorType>(signal->type);
    const Span where = place(signal, call);
    const std::int64_t rows_needed = 2 * (ranks - 1) + 1;
    if (type->dtype != DType::INT32 || type->shape.size() != 2) {
      env_.diags.report<diag::ring_signal_type>(where, print_type(type), rows_needed, ranks);
      return false;
    }
    const auto rows = const_int(type->shape[0]);
    const auto columns = const_int(type->shape[1]);
    if (rows && *rows < rows_needed) {
      env_.diags.report<diag::ring_signal_rows>(where, *rows, rows_needed, ranks);
      return false;
    }
    if (columns && *columns != ranks) {
      env_.diags.report<diag::ring_signal_columns>(where, *columns, ranks);
      return false;
    }
    if (rows && columns && *rows != 2 * (*columns - 1) + 1) {
      env_.diags.report<diag::ring_signal_shape>(where, *rows, *columns, rows_needed, ranks);
      return false;
    }
    return true;
  }

  bool check_root(const Call* call, std::int64_t ranks) {
    if (call->op != OpId::pld_tensor_broadcast || ranks == 0) return true;
    const std::int64_t root = int_keyword(call, "root", 0);
    if (root >= 0 && root < ranks) return true;
    env_.diags.report<diag::broadcast_root>(call->span, root, ranks);
    return false;
  }

  // What the builtin is told, in the order of its table row: op or root, dtype, core_num.
  Attrs builtin_keywords(const Call* call, const CollectiveInfo& info, bool ring) {
    std::vector<Attr> list;
    const auto add = [&](std::string_view key, AttrValue value) { list.push_back({ctx().name(key), value}); };
    const bool is_allreduce = call->op == OpId::pld_tensor_allreduce;
    if (is_allreduce || call->op == OpId::pld_tensor_reduce_scatter) {
      add("op", AttrValue::of_int(int_keyword(call, "op", static_cast<std::int64_t>(ReduceOp::Sum))));
    }
    if (call->op == OpId::pld_tensor_broadcast) add("root", AttrValue::of_int(int_keyword(call, "root", 0)));
    if (call->op != OpId::pld_tensor_barrier) {
      add("dtype", AttrValue::of_dtype(dyn<TensorType>(call->args[info.operands[0].index]->type)->dtype));
    }
    if (is_allreduce && !ring) add("core_num", AttrValue::of_int(int_keyword(call, "core_num", 1)));
    return ctx().list(list);
  }

  PassEnv& env_;
  WindowLineage lineage_;
  std::unordered_map<const Var*, const Var*> bound_;
  std::vector<const ScopeStmt*> domains_;
  bool binds_ = true;  // whether the statement at hand can bind its variables to windows
};

// Whether there is anything to lower. A collective inside another expression has no place for its
// replacement.
bool has_collective(Body body, DiagSink& diags) {
  bool found = false;
  walk_stmts(body, [&](const Stmt* stmt) {
    const bool direct = stmt->kind == StmtKind::Assign || stmt->kind == StmtKind::Eval;
    for_each_expr(stmt, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        const Call* call = as_collective(e);
        if (call == nullptr) return;
        found = true;
        if (direct && e == root) return;
        diags.report<diag::collective_nested>(call->span, collective_info(call->op)->name)
            .help("assign its result to a variable in a statement before (FlattenCallExpr does that)");
      });
    });
  });
  return found;
}

}  // namespace

const Program* run_LowerHostTensorCollectives(PassEnv& env, const Program* program) {
  ParamTracer tracer(program);
  return map_functions(env, program, [&](const Function* f) -> const Function* {
    if (!f->is_host_orchestrator() || !has_collective(f->body, env.diags)) return f;
    Function n = *f;
    n.body = Lowering(env, tracer, f->body).body(f->body);
    return env.ir.make(n);
  });
}

}  // namespace pldc
