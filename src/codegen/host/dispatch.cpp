// What a host function starts: chips, host collectives, sub-workers.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/host/emitter.h"
#include "codegen/signature.h"
#include "ir/check_op.h"
#include "ir/fold.h"
#include "ir/walk.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

List<const Expr*> args_of(const Expr* call) {
  const auto* submit = dyn<Submit>(call);
  return submit != nullptr ? submit->args : static_cast<const Call*>(call)->args;
}
Attrs attrs_of(const Expr* call) {
  const auto* submit = dyn<Submit>(call);
  return submit != nullptr ? submit->attrs : static_cast<const Call*>(call)->attrs;
}

std::string_view adder(ArgDirection direction) {
  switch (direction) {
    case ArgDirection::Output:
    case ArgDirection::OutputExisting:
      return "out";
    case ArgDirection::InOut:
      return "inout";
    case ArgDirection::Input:
    case ArgDirection::NoDep:
    case ArgDirection::Scalar:
      break;
  }
  return "in";
}

std::string_view adder(ParamDirection direction) {
  return direction == ParamDirection::In ? "in" : direction == ParamDirection::Out ? "out" : "inout";
}

}  // namespace

// What the call says about its arguments is for the order of tasks: there an output that was written before is also an input,
// and one that orders nothing looks like an input. Processes have to know what is read and what is written.
std::string_view HostEmitter::adder(const Function* callee, const Expr* call, std::size_t index) const {
  const ParamDirection declared =
      env_.processes ? direction_of(callee, index) : callee->params[index].direction;
  const AttrValue* written = find_attr(attrs_of(call), "arg_directions");
  if (env_.processes || written == nullptr || index >= written->directions.size())
    return pldc::adder(declared);
  const ArgDirection direction = written->directions[index];
  const bool orders = direction != ArgDirection::Scalar && direction != ArgDirection::NoDep;
  return orders ? pldc::adder(direction) : pldc::adder(declared);
}

void HostEmitter::note_place(Span span, std::string_view device) {
  const std::uint32_t line = env_.places.at(span).line;
  if (line == 0) return;
  out_.before_next(device.empty() ? fmt::format("h.at({});", line)
                                  : fmt::format("h.at({}, {});", line, device));
}

std::string HostEmitter::place(Span span) const {
  const LineColumn at = env_.places.at(span);
  return at.line == 0 ? "{}" : fmt::format("{{{}, {}}}", at.line, at.column);
}

const Expr* HostEmitter::device_of(const Expr* call) const {
  const AttrValue* device = find_attr(attrs_of(call), "device");
  if (device == nullptr) return env_.ir.const_int(0);
  if (device->kind == AttrKind::Int) return env_.ir.const_int(device->integer);
  return device->kind == AttrKind::Expr || device->kind == AttrKind::Var ? device->expr
                                                                         : env_.ir.const_int(0);
}

std::string HostEmitter::device_text(const Expr* device) {
  const std::string text = scalar_.index(device);
  if (device->kind == ExprKind::Var || device->kind == ExprKind::ConstInt) return text;
  const std::string name = names_.fresh("device");
  out_.line(fmt::format("const int64_t {} = {};", name, text));
  return name;
}

void HostEmitter::sync_if(bool wanted) {
  if (!wanted) return;
  out_.line("h.sync();");
  hazards_.clear();
}

void HostEmitter::call_function(const Stmt* stmt, const Var* result, const Expr* call) {
  const auto* submit = dyn<Submit>(call);
  const Name name = submit != nullptr ? submit->function : static_cast<const Call*>(call)->function;
  const Span span = call->span.valid() ? call->span : stmt->span;
  const Function* callee = env_.program.find(name);
  if (callee == nullptr) {
    env_.diags.report<diag::codegen_callee>(span, function_->name.text(), name.text(),
                                            "the program has no such function");
    return;
  }
  if (callee->level == Level::HOST && callee->role == Role::SubWorker) return sub_worker(callee, call, span);
  if (callee->is_host_orchestrator()) {
    if (submit == nullptr) {
      expand(callee, args_of(call), call, result);
      hazards_.end_of_names();
      return;
    }
    env_.diags.report<diag::codegen_callee>(
        span, function_->name.text(), name.text(),
        "that is a host function, which can only be called, not submitted");
    return;
  }
  if (submit != nullptr && submit->args.size() < callee->params.size()) {
    env_.diags
        .report<diag::codegen_callee>(span, function_->name.text(), name.text(),
                                      "a dispatch must pass all arguments")
        .help("make the output with pl.tensor.create and pass it");
    return;
  }
  dispatch(callee, call, span);
}

// ---- windows -------------------------------------------------------------------------------------------------------

const HostEmitter::Window* HostEmitter::window(const Expr* value) {
  const Var* from = root(value);
  const auto found = windows_.find(from);
  return from != nullptr && found != windows_.end() ? &found->second : nullptr;
}

std::string HostEmitter::window_text(const Window& w, const std::string& device) const {
  return fmt::format("{}.view({}, {}, {}, {}){}", domain_names_[w.domain], device, cpp_string(w.slot),
                     w.shape, host_dtype(w.dtype), w.views);
}

std::string HostEmitter::context_text(const Expr* value, const std::string& device, Span span) {
  const Var* from = root(value);
  const Call* query =
      from != nullptr ? op_call(aliases().definition(from), OpId::pld_system_get_comm_ctx) : nullptr;
  const Window* w = query != nullptr ? window(query->args[0]) : nullptr;
  if (w != nullptr) return fmt::format("{}.ctx({})", domain_names_[w->domain], device);
  env_.diags.report<diag::codegen_window>(value->span.valid() ? value->span : span, brief(value))
      .help("take the context of a tensor that pld.window has made in this function");
  return "0";
}

// ---- memory of the host --------------------------------------------------------------------------------------------

// Through other names to what decides the value: a constant, a loop variable, a sum of such.
const Expr* HostEmitter::resolved(const Expr* value) const {
  // Within one call only: later on names may stand for other values.
  std::unordered_map<const Expr*, const Expr*> seen;
  return resolved(value, seen);
}

const Expr* HostEmitter::resolved(const Expr* value,
                                  std::unordered_map<const Expr*, const Expr*>& seen) const {
  value = unwrap(value);
  const auto known = seen.find(value);
  if (known != seen.end()) return known->second;
  const Expr* found = computed(value, seen);
  seen.insert_or_assign(value, found);
  return found;
}

const Expr* HostEmitter::computed(const Expr* value,
                                  std::unordered_map<const Expr*, const Expr*>& seen) const {
  if (const auto* cast = dyn<Cast>(value);
      cast != nullptr && is_int(dtype_of(cast)) && is_int(dtype_of(cast->operand))) {
    return resolved(cast->operand, seen);
  }
  const auto* binary = dyn<Binary>(value);
  if (binary == nullptr) return value;
  const Expr* lhs = resolved(binary->lhs, seen);
  const Expr* rhs = resolved(binary->rhs, seen);
  const auto a = const_int(lhs);
  const auto b = const_int(rhs);
  if (a && b && (binary->op == BinaryOp::Mul || binary->op == BinaryOp::Add)) {
    const FoldedInt folded = fold_int(binary->op, *a, *b);
    if (folded.good()) return env_.ir.const_int(folded.value);
  }
  if (lhs == binary->lhs && rhs == binary->rhs) return value;
  return env_.ir.binary_of_type(binary->op, lhs, rhs, binary->type, binary->span);
}

HostAccess HostEmitter::access(const Expr* value, const Expr* device) const {
  HostAccess out{root(value), resolved(device), {}, {}, false, false, false, {}, false};
  // The outermost slice tells where in its tensor the memory lies.
  for (int depth = 0; out.root != nullptr && depth < 1000; ++depth) {
    const auto* call = dyn<Call>(aliases().definition(out.root));
    const int of = call != nullptr && call->is_op() ? op_info(call->op).effects.result_view_of : -1;
    if (of < 0 || static_cast<std::size_t>(of) >= call->args.size()) break;
    out.offsets.clear();
    out.extents.clear();
    if (call->op == OpId::tensor_slice) {
      const auto* offsets = dyn<MakeTuple>(unwrap(argument(call, "offset")));
      const auto* extents = dyn<MakeTuple>(unwrap(argument(call, "shape")));
      if (offsets != nullptr && extents != nullptr && offsets->elements.size() == extents->elements.size()) {
        for (const Expr* e : offsets->elements) out.offsets.push_back(resolved(e));
        for (const Expr* e : extents->elements) out.extents.push_back(resolved(e));
      }
    }
    out.root = root(call->args[static_cast<std::size_t>(of)]);
  }
  const auto* made = out.root != nullptr ? dyn<Call>(aliases().definition(out.root)) : nullptr;
  const bool is_param = std::any_of(function_->params.begin(), function_->params.end(),
                                    [&](const Param& p) { return p.var == out.root; });
  out.unknown = !is_param && (made == nullptr || !made->is_op());
  return out;
}

// What the callee does, whatever it declares.
ParamDirection HostEmitter::direction_of(const Function* callee, std::size_t param) const {
  return out_reads_(callee, param) ? ParamDirection::InOut : callee->params[param].direction;
}

std::vector<HostAccess> HostEmitter::accesses(const Function* callee, const Expr* call) const {
  std::vector<HostAccess> out;
  const List<const Expr*> args = args_of(call);
  const Expr* device = device_of(call);
  for (std::size_t i = 0; i < args.size() && i < callee->params.size(); ++i) {
    if (!is_plain_tensor(args[i]->type)) continue;
    HostAccess a = access(args[i], device);
    if (a.root == nullptr) continue;
    const ParamDirection direction = direction_of(callee, i);
    a.read = direction != ParamDirection::Out;
    a.write = direction != ParamDirection::In;
    a.span = call->span.valid() ? call->span : args[i]->span;
    out.push_back(std::move(a));
  }
  return out;
}

void HostEmitter::collect_accesses(Body list, std::vector<HostAccess>& out) const {
  walk_stmts(list, [&](const Stmt* stmt) {
    for_each_expr(stmt, [&](const Expr* e) {
      const auto* call = dyn<Call>(e);
      const auto* submit = dyn<Submit>(e);
      if (submit == nullptr && (call == nullptr || call->is_op())) return;
      const Function* callee = env_.program.find(submit != nullptr ? submit->function : call->function);
      if (callee == nullptr || callee->level == Level::HOST) return;
      const auto found = accesses(callee, e);
      out.insert(out.end(), found.begin(), found.end());
    });
  });
}

void HostEmitter::note_parts(const std::vector<HostAccess>& accesses) {
  for (const HostAccess& a : accesses) {
    whole_ = whole_ || a.unknown;
    const int axis = own_axis(a);
    const auto [known, fresh] = parts_.try_emplace(a.root, axis);
    if (known->second != axis) known->second = -1;
  }
}

void HostEmitter::note_whole(const Expr* tensor) {
  HostAccess a = access(tensor, env_.ir.const_int(0));
  a.offsets.clear();
  note_parts({a});
}

// Every rank of --target=mpi has host memory of its own: what another one's dispatch wrote is not there.
void HostEmitter::check_own_memory(const std::vector<HostAccess>& accesses, Span span) {
  for (const HostAccess& now : accesses) {
    const HostAccess* before = hazards_.written_elsewhere(now);
    if (before == nullptr) continue;
    env_.diags
        .report<diag::codegen_host_dependence>(
            span, brief(now.device), plain_name(now.root->name.text()), brief(before->device),
            before->earlier_iteration && before->span == now.span ? " in another iteration" : "")
        .note(before->span, "written here")
        .help(
            "hand the data over in a window, dispatch both to the same device, or use --target=sim, whose "
            "ranks share memory");
    return;
  }
}

// ---- dispatches ----------------------------------------------------------------------------------------------------

void HostEmitter::dispatch(const Function* callee, const Expr* call, Span span) {
  const Signature signature = signature_of(callee);
  const List<const Expr*> args = args_of(call);
  if (args.size() != callee->params.size()) {
    env_.diags.report<diag::codegen_callee>(
        span, function_->name.text(), callee->name.text(),
        fmt::format("it takes {} arguments, not {}", callee->params.size(), args.size()));
    return;
  }
  const std::vector<HostAccess> touched = accesses(callee, call);
  out_.line();
  out_.comment(brief(call));
  if (env_.processes) check_own_memory(touched, span);
  note_parts(touched);
  sync_if(hazards_.conflict(touched));
  hazards_.add(touched);
  const std::string device = device_text(device_of(call));
  note_place(span, device);
  const std::string a = names_.fresh("a");
  std::vector<std::string> tensors, scalars;
  for (const AbiParam& p : signature.params) {
    const Expr* arg = args[p.position];
    if (p.kind == ParamKind::Tensor) {
      const Window* w = is_distributed(arg->type) ? window(arg) : nullptr;
      if (is_distributed(arg->type) && w == nullptr) {
        env_.diags.report<diag::codegen_window>(arg->span.valid() ? arg->span : span, brief(arg))
            .help("pass a tensor that pld.window has made in this function");
        continue;
      }
      const std::string text = w != nullptr ? window_text(*w, device) : tensor(arg);
      tensors.push_back(fmt::format("{}.{}({});", a, adder(callee, call, p.position), text));
    } else if (p.kind == ParamKind::Context) {
      scalars.push_back(fmt::format("{}.u64({});", a, context_text(arg, device, span)));
    } else {
      const DType dtype = scalar_dtype(p.param->var->type).value_or(DType::INDEX);
      if (cpp_scalar_type(dtype).empty() || dtype == DType::TASK_ID) {
        env_.diags.report<diag::codegen_argument>(
            span, plain_name(p.param->var->name.text()), callee->name.text(),
            fmt::format("scalars of dtype {} cannot be passed", name_of(dtype)));
        continue;
      }
      scalars.push_back(fmt::format("{}.scalar<{}>({});", a, cpp_scalar_type(dtype), scalar_.as(arg, dtype)));
    }
  }
  for (const SymbolSource& symbol : signature.symbols) {
    const auto p = std::find_if(signature.params.begin(), signature.params.end(), [&](const AbiParam& param) {
      return param.kind == ParamKind::Tensor && param.index == symbol.tensor;
    });
    const auto* tensor = dyn<TensorType>(args[p->position]->type);
    const List<const Expr*> valid = valid_shape_of(args[p->position]->type);
    const auto axis = static_cast<std::size_t>(symbol.axis);
    if (!symbol.valid || tensor == nullptr || axis >= valid.size() ||
        same_dim(valid[axis], tensor->shape[axis]))
      continue;
    // A parameter with a symbol of its own came in whole.
    const Var* from = root(args[p->position]);
    const bool is_param = std::any_of(function_->params.begin(), function_->params.end(),
                                      [&](const Param& param) { return param.var == from; });
    const auto* own = dyn<Var>(valid[axis]);
    if (is_param && own != nullptr && names_.of(own).empty()) continue;
    env_.diags
        .report<diag::codegen_argument>(span, plain_name(p->param->var->name.text()), callee->name.text(),
                                        "a dispatch passes shapes, but not which part of a tensor holds data")
        .help("pass the extent as a scalar parameter of '{}' and set it there", callee->name.text());
  }
  if (signature.params.size() != callee->params.size()) {
    env_.diags.report<diag::codegen_callee>(span, function_->name.text(), callee->name.text(),
                                            "it takes something that is no tensor, scalar or context");
  }
  out_.line(fmt::format("pld::Args {};", a));
  for (const std::string& line : tensors) out_.line(line);
  for (const std::string& line : scalars) out_.line(line);
  out_.line(
      fmt::format("h.submit({}, {}, {}, {});", device, cpp_string(chips_.name_of(callee)), a, place(span)));
}

void HostEmitter::collective(const Call* call, Span span) {
  const BuiltinVariant variant = *builtin_variant(call);
  const OpInfo& info = op_info(call->op);
  std::vector<const Window*> windows;
  for (const Expr* arg : call->args) {
    const Window* w = window(arg);
    if (w == nullptr) {
      env_.diags.report<diag::codegen_window>(arg->span.valid() ? arg->span : span, brief(arg))
          .help("pass a tensor that pld.window has made in this function");
      return;
    }
    windows.push_back(w);
  }
  if (windows.empty()) return;
  const std::string domain = domain_names_[windows[0]->domain];
  std::string details;
  for (const Attr& kw : call->kwargs) {
    const std::string_view key = kw.key.text();
    if (key == "op") details += fmt::format(", op={}", name_of(variant.reduce));
    if (key == "root" || key == "core_num") details += fmt::format(", {}={}", key, kw.value.integer);
  }
  std::string title = brief(call);
  title.insert(title.find(')') == std::string::npos ? title.size() : title.find(')'), details);
  out_.line();
  out_.comment(title);
  if (call->op == OpId::builtin_tensor_allreduce_ring) {
    out_.line(
        fmt::format("{}.require_at_most(16, {});", domain, cpp_string("pld.tensor.allreduce mode=\"ring\"")));
  }
  limit_ranks(call, windows, span);
  const std::string device = device_text(device_of(call));
  note_place(span, device);
  const std::string a = names_.fresh("a");
  out_.line(fmt::format("pld::Args {};", a));
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::string_view role = info.operands[i].name;
    const bool only_read = role == "input" || role == "send_counts";
    out_.line(fmt::format("{}.{}({});", a, only_read ? "in" : "inout", window_text(*windows[i], device)));
  }
  out_.line(fmt::format("{}.scalar({}.size());", a, domain));
  out_.line(fmt::format("{}.u64({}.ctx({}));", a, domain, device));
  if (call->op == OpId::builtin_tensor_allreduce) {
    const AttrValue* cores = find_attr(call->kwargs, "core_num");
    out_.line(fmt::format("{}.scalar(int64_t{{{}}});", a, cores != nullptr ? cores->integer : 1));
  }
  out_.line(
      fmt::format("h.submit({}, {}, {}, {});", device, cpp_string(chips_.name_of(variant)), a, place(span)));
}

// A signal with constant extents serves a bounded number of ranks; the domain of all devices has as many as the run.
void HostEmitter::limit_ranks(const Call* call, const std::vector<const Window*>& windows, Span span) {
  const OpInfo& info = op_info(call->op);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (info.operands[i].name != "signal" || !entry_.domains[windows[i]->domain].devices.empty()) continue;
    const bool ring = call->op == OpId::builtin_tensor_allreduce_ring;
    const std::size_t axis = ring ? 1 : 0;
    if (axis >= windows[i]->extents.size()) continue;
    const auto count = const_int(resolved(windows[i]->extents[axis]));
    if (!count || *count <= 0) continue;
    RankLimit limit;
    limit.collective = "pld.tensor." + std::string(op_leaf(info.name));
    if (ring) limit.collective = "pld.tensor.allreduce mode=\"ring\"";
    limit.count = *count;
    limit.exact = ring;
    limit.place = span;
    const bool known = std::any_of(entry_.limits.begin(), entry_.limits.end(), [&](const RankLimit& l) {
      return l.place == limit.place && l.count == limit.count;
    });
    if (!known) entry_.limits.push_back(std::move(limit));
  }
}

void HostEmitter::sub_worker(const Function* callee, const Expr* call, Span span) {
  const Signature signature = signature_of(callee);
  const List<const Expr*> args = args_of(call);
  out_.line();
  out_.comment(brief(call));
  const std::string a = names_.fresh("a");
  out_.line(fmt::format("pld::Args {};", a));
  for (const bool tensors : {true, false}) {
    for (const AbiParam& p : signature.params) {
      if ((p.kind == ParamKind::Tensor) != tensors || p.position >= args.size()) continue;
      const Expr* arg = args[p.position];
      if (tensors && is_plain_tensor(arg->type)) {
        note_whole(arg);
        out_.line(fmt::format("{}.{}({});", a, adder(callee, call, p.position), tensor(arg)));
      } else if (p.kind == ParamKind::Scalar) {
        const DType dtype = scalar_dtype(p.param->var->type).value_or(DType::INDEX);
        out_.line(fmt::format("{}.scalar<{}>({});", a, cpp_scalar_type(dtype), scalar_.as(arg, dtype)));
      } else {
        env_.diags.report<diag::codegen_argument>(arg->span.valid() ? arg->span : span,
                                                  plain_name(p.param->var->name.text()), callee->name.text(),
                                                  "sub-workers take tensors of the host and scalars");
      }
    }
  }
  const std::string name = cpp_name_part(callee->name.text());
  if (std::find(entry_.sub_workers.begin(), entry_.sub_workers.end(), name) == entry_.sub_workers.end()) {
    entry_.sub_workers.push_back(name);
  }
  // Waits for all dispatches.
  out_.line(fmt::format("h.sub_worker({}, pld_sub_{}, {}, {});", cpp_string(callee->name.text()), name, a,
                        place(span)));
  hazards_.clear();
}

}  // namespace pldc
