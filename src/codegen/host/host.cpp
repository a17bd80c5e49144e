#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "codegen/host/emitter.h"
#include "ir/walk.h"
#include "support/diag/codegen.h"

namespace pldc {

bool emit_host(const EmitEnv& env, const Function* function, ChipTable& chips, HostEntry& out) {
  return HostEmitter(env, chips, out).run(function);
}

bool emit_single_rank(const EmitEnv& env, const Function* function, ChipTable& chips, HostEntry& out) {
  out.single_rank = true;
  return HostEmitter(env, chips, out).run_single(function);
}

bool HostEmitter::run(const Function* function) {
  start(function);
  entry_.function = function;
  for (const std::string_view name : {"h", "t", "world_size"}) names_.reserve(name);
  describe_params(env_, function, entry_.params);
  describe_ranks(env_, function, entry_);
  look_at(function->body, false);
  for (const Param& p : function->params) names_.declare(p.var);
  out_ = CppText(1);
  body(function->body, true);
  for (std::size_t i = 0; env_.processes && !whole_ && i < function->params.size(); ++i) {
    const auto part = parts_.find(function->params[i].var);
    if (part != parts_.end() && i < entry_.params.size()) entry_.params[i].own_axis = part->second;
  }
  entry_.text = finish(out_.take());
  return !failed();
}

bool HostEmitter::run_single(const Function* function) {
  start(function);
  entry_.function = function;
  for (const std::string_view name : {"h", "t"}) names_.reserve(name);
  describe_params(env_, function, entry_.params);
  for (const Param& p : function->params) {
    if (!is_distributed(p.var->type) && p.var->type->kind != TypeKind::CommCtx) continue;
    env_.diags
        .report<diag::codegen_kernel_alone>(p.var->span.valid() ? p.var->span : function->name_span,
                                            function->name.text(),
                                            "it takes windows of a communication domain")
        .help(
            "write a host function (level=pl.Level.HOST, role=pl.Role.Orchestrator) that makes the windows");
    return false;
  }
  if (failed()) return false;
  for (const Param& p : function->params) names_.declare(p.var);
  out_ = CppText(1);
  std::vector<const Expr*> args;
  for (const Param& p : function->params) args.push_back(p.var);
  const Call* call =
      env_.ir.call(function->name, env_.ir.list(args), {}, {}, env_.ir.unknown(), function->name_span);
  for (const Expr* arg : args) look_at(env_.ir.list<const Stmt*>({env_.ir.eval(arg)}), false);
  dispatch(function, call, function->span);
  entry_.text = finish(out_.take());
  return !failed();
}

// The function around the body: parameters that the body uses stand first.
std::string HostEmitter::finish(const std::string& body_text) {
  CppText head;
  bool uses_params = !symbol_order_.empty();
  for (const Param& p : function_->params) uses_params = uses_params || needed(p.var);
  bool uses_host = world_size_used_;
  for (const std::string_view use : {"h.submit(", "h.domain(", "h.tensor(", "h.sync(", "h.sub_worker("}) {
    uses_host = uses_host || body_text.find(use) != std::string::npos;
  }
  head.open(fmt::format("void {}(pld::Host&{}, pld::Params&{})", entry_.cpp_name, uses_host ? " h" : "",
                        uses_params ? " t" : ""));
  for (std::size_t i = 0; i < function_->params.size(); ++i) {
    const Var* var = function_->params[i].var;
    if (!needed(var)) continue;
    const std::string key = cpp_string(entry_.params[i].name);
    if (const auto dtype = scalar_dtype(var->type)) {
      const std::string_view type = cpp_scalar_type(*dtype);
      head.line(fmt::format("const {0} {1} = t.scalar<{0}>({2});", type, names_.of(var), key));
    } else {
      head.line(fmt::format("const pld::Tensor& {} = t[{}];", names_.of(var), key));
    }
  }
  for (const auto& [name, symbol] : symbol_order_) {
    head.line(fmt::format("const int64_t {} = t.dim({});", name, cpp_string(symbol)));
  }
  if (world_size_used_) head.line("const int64_t world_size = h.world_size();");
  head.line();
  std::string text = head.take();
  // Neither a blank line at the start of the function nor at its end.
  const std::size_t first = body_text.find_first_not_of('\n');
  if (first != std::string::npos) text += body_text.substr(first);
  while (text.size() >= 2 && text[text.size() - 1] == '\n' && text[text.size() - 2] == '\n') text.pop_back();
  return text + "}\n";
}

std::string HostEmitter::symbol(const Var* var) {
  const auto known = symbols_.find(var);
  if (known != symbols_.end()) return known->second;
  // A symbol is known if some parameter has it as a whole extent.
  const std::string_view name = var->name.text();
  for (const HostParam& p : entry_.params) {
    for (const HostDim& dim : p.dims) {
      if (dim.symbol != name || aliases().definition(var) != nullptr) continue;
      const std::string& text = names_.declare(var);
      symbols_.emplace(var, text);
      symbol_order_.emplace_back(text, name);
      return text;
    }
  }
  return {};
}

bool HostEmitter::tensor_variable(const Var* var) {
  if (!is_distributed(var->type)) return true;
  env_.diags.report<diag::codegen_window>(var->span, plain_name(var->name.text()))
      .help("keep each window in a variable of its own");
  return false;
}

void HostEmitter::before_loop(Body list) {
  // What an earlier iteration has started may still be under way.
  std::vector<HostAccess> inside;
  collect_accesses(list, inside);
  std::unordered_set<const Var*> made;
  walk_stmts(list, [&](const Stmt* stmt) { for_each_def(stmt, [&](const Var* v) { made.insert(v); }); });
  std::erase_if(inside, [&](const HostAccess& a) { return made.count(a.root) != 0; });
  for (HostAccess& a : inside) a.earlier_iteration = true;
  hazards_.add(inside);
}

// ---- domains -------------------------------------------------------------------------------------------------------

void HostEmitter::scope(const ScopeStmt* scope, bool tail) {
  switch (scope->scope) {
    case ScopeKind::CommDomain:
      open_domain(scope);
      return body(scope->body, tail);
    case ScopeKind::Runtime:
      return body(scope->body, tail);
    case ScopeKind::InCore:
    case ScopeKind::Hierarchy:
    case ScopeKind::Cluster:
    case ScopeKind::Graph:
    case ScopeKind::Spmd:
    case ScopeKind::SplitAiv:
      break;
  }
  constexpr std::string_view kNames[] = {"in-core", "level", "cluster", "graph",
                                         "spmd",    "split", "runtime", "domain"};
  env_.diags
      .report<diag::codegen_scope>(scope->span, kNames[static_cast<std::size_t>(scope->scope)],
                                   "a host function")
      .help("put the statements into an orchestration and call that with device=");
}

// The size of a slot as it can be computed at the head of the scope: through the definitions of names that are only
// bound inside of it.
std::string HostEmitter::slot_size(const WindowSlot& slot) {
  bool good = true;
  int depth = 0;
  std::function<std::string(const Var*)> name;
  const ScalarText text = ScalarText(
                              env_.diags,
                              [&](const Var* var) {
                                const std::string& known = names_.of(var);
                                if (!known.empty()) return known;
                                std::string found = symbol(var);
                                if (!found.empty()) return found;
                                return name(var);
                              },
                              [&](const Call* call) {
                                if (call->op == OpId::tensor_read)
                                  good = false;  // not before the statements that may write it
                                return good ? nested_call(call) : std::string("0");
                              })
                              .for_sizes(definitions());
  name = [&](const Var* var) -> std::string {
    const Expr* definition = aliases().definition(var);
    if (definition == nullptr || ++depth > 200) {
      good = false;
      return "0";
    }
    return text.operand(definition);
  };
  std::string out = text.index(slot.size);
  if (!good) {
    const Span span = slot.size->span.valid() ? slot.size->span : slot.base->span;
    env_.diags.report<diag::codegen_slot_size>(span, plain_name(slot.base->name.text()))
        .help("compute the size from parameters and pld.world_size() only");
    return "0";
  }
  return out;
}

// Bytes of a buffer that every machine has addresses for.
constexpr std::int64_t kNeverTooLarge = std::int64_t{1} << 40;

void HostEmitter::open_domain(const ScopeStmt* scope) {
  HostDomain domain;
  domain.name = scope->name_hint.empty() ? fmt::format("comm_d{}", entry_.domains.size())
                                         : std::string(scope->name_hint);
  domain.devices.assign(scope->devices.begin(), scope->devices.end());
  for (const std::int64_t device : domain.devices) entry_.max_device = std::max(entry_.max_device, device);
  const std::size_t index = entry_.domains.size();
  std::unordered_set<std::string> used;
  for (const WindowSlot& slot : scope->slots) {
    HostSlot s;
    s.name = plain_name(slot.base->name.text());
    if (!used.insert(s.name).second) {
      s.name = slot.base->name.text();
      for (int n = 1; !used.insert(s.name).second; ++n)
        s.name = fmt::format("{}_{}", slot.base->name.text(), n);
    }
    s.bytes = const_int(resolved(slot.size));
    s.size = s.bytes ? std::to_string(*s.bytes) : slot_size(slot);
    const auto range = SizeRanges(definitions()).of(slot.size);
    if (!range || range->low < 0 || range->high > kNeverTooLarge)
      s.line = env_.places.at(slot.size->span.valid() ? slot.size->span : slot.base->span).line;
    s.signal = std::find(entry_.signal_slots.begin(), entry_.signal_slots.end(),
                         plain_name(slot.base->name.text())) != entry_.signal_slots.end();
    slots_[slot.base] = {index, s.name};
    domain.slots.push_back(std::move(s));
  }
  entry_.domains.push_back(std::move(domain));
  mark_signals(scope->body);

  const HostDomain& d = entry_.domains[index];
  const std::string name = names_.fresh(d.name);
  domain_names_.push_back(name);
  std::string devices = "h.all()";
  if (!d.devices.empty()) devices = fmt::format("{{{}}}", fmt::join(d.devices, ", "));
  const std::string head =
      fmt::format("pld::Domain {} = h.domain({}, {}, {{", name, cpp_string(d.name), devices);
  std::vector<std::string> slots;
  out_.line();
  for (const HostSlot& s : d.slots) {
    std::string size = s.size;
    if (size.find("pld_size_") != std::string::npos) {  // what goes wrong there has a line of its own
      if (s.line != 0) out_.before_next(fmt::format("h.at({});", s.line));
      size = names_.fresh(cpp_identifier(s.name) + "_bytes");
      out_.line(fmt::format("const int64_t {} = {};", size, s.size));
    }
    slots.push_back(fmt::format("{{{}, {}, pld::SlotUse::{}{}}}", cpp_string(s.name), size,
                                s.signal ? "signal" : "data",
                                s.line != 0 ? fmt::format(", {}", s.line) : std::string()));
  }
  note_place(scope->span, {});
  out_.call(head, slots, "});");
  out_.line();
}

// The signals of host collectives must be zero when the run ends.
bool HostEmitter::mark_signals(Body list) {
  walk_stmts(list, [&](const Stmt* stmt) {
    for_each_expr(stmt, [&](const Expr* e) {
      const auto* call = dyn<Call>(e);
      if (call == nullptr || !builtin_variant(call)) return;
      for (std::size_t i = 0; i < call->args.size(); ++i) {
        const Operand* operand =
            op_info(call->op).operands[i].name.empty() ? nullptr : &op_info(call->op).operands[i];
        if (operand == nullptr || operand->name != "signal") continue;
        const Var* view = root(call->args[i]);
        const Call* made =
            view != nullptr ? op_call(aliases().definition(view), OpId::pld_tensor_window) : nullptr;
        const Var* base = made != nullptr ? root(made->args[0]) : nullptr;
        const auto slot = slots_.find(base);
        if (slot == slots_.end()) continue;
        for (HostSlot& s : entry_.domains[slot->second.domain].slots) {
          if (s.name == slot->second.name) s.signal = true;
        }
      }
    });
  });
  return true;
}

// ---- chips ---------------------------------------------------------------------------------------------------------

const std::string& ChipTable::add(ChipRef ref) {
  const std::string base = ref.name;
  const auto taken = [&](const std::string& name) {
    return std::any_of(chips_.begin(), chips_.end(), [&](const ChipRef& c) { return c.name == name; });
  };
  for (int n = 1; taken(ref.name); ++n) ref.name = fmt::format("{}_{}", base, n);
  chips_.push_back(std::move(ref));
  return chips_.back().name;
}

const std::string& ChipTable::name_of(const Function* function) {
  for (const ChipRef& c : chips_) {
    if (c.function == function) return c.name;
  }
  return add({function, std::nullopt, cpp_name_part(function->name.text())});
}

const std::string& ChipTable::name_of(const BuiltinVariant& variant) {
  for (const ChipRef& c : chips_) {
    if (c.builtin == variant) return c.name;
  }
  return add({nullptr, variant, builtin_chip_name(variant)});
}

}  // namespace pldc
