// Starting kernels from a chip orchestration.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/chip/emitter.h"
#include "ir/walk.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

bool has_flag(Attrs attrs, std::string_view key) {
  const AttrValue* value = find_attr(attrs, key);
  return value != nullptr && value->kind == AttrKind::Bool && value->as_bool();
}

// Both vector cores run the kernel, each on its half.
bool uses_both_lanes(const Function* kernel) {
  if (has_flag(kernel->attrs, "dual_aiv_dispatch")) return true;
  const AttrValue* split = find_attr(kernel->attrs, "split");
  return kernel->func_type == FuncType::AIV && split != nullptr && split->kind == AttrKind::Int &&
         split->integer != 0;
}

// The expression of an attribute that is a number or an expression; null if it is absent.
const Expr* attr_expr(Context& ir, Attrs attrs, std::string_view key) {
  const AttrValue* value = find_attr(attrs, key);
  if (value == nullptr) return nullptr;
  if (value->kind == AttrKind::Int) return ir.const_int(value->integer);
  return value->kind == AttrKind::Expr || value->kind == AttrKind::Var ? value->expr : nullptr;
}

ArgDirection direction_of(const Param& param) {
  switch (param.direction) {
    case ParamDirection::In:
      return ArgDirection::Input;
    case ParamDirection::Out:
      return ArgDirection::OutputExisting;
    case ParamDirection::InOut:
      return ArgDirection::InOut;
  }
  return ArgDirection::Input;
}

std::string_view adder(ArgDirection direction) {
  switch (direction) {
    case ArgDirection::Output:
    case ArgDirection::OutputExisting:
      return "add_output";
    case ArgDirection::InOut:
      return "add_inout";
    case ArgDirection::NoDep:
      return "add_no_dep";
    case ArgDirection::Input:
    case ArgDirection::Scalar:
      break;
  }
  return "add_input";
}

List<const Expr*> args_of(const Expr* call) {
  const auto* submit = dyn<Submit>(call);
  return submit != nullptr ? submit->args : static_cast<const Call*>(call)->args;
}
Attrs attrs_of(const Expr* call) {
  const auto* submit = dyn<Submit>(call);
  return submit != nullptr ? submit->attrs : static_cast<const Call*>(call)->attrs;
}

}  // namespace

void ChipEmitter::call_function(const Stmt* stmt, const Var* result, const Expr* call) {
  const auto* submit = dyn<Submit>(call);
  const Name name = submit != nullptr ? submit->function : static_cast<const Call*>(call)->function;
  const Span span = call->span.valid() ? call->span : stmt->span;
  const Function* callee = env_.program.find(name);
  if (callee == nullptr) {
    env_.diags.report<diag::codegen_callee>(span, function_->name.text(), name.text(),
                                            "the program has no such function");
    return;
  }
  if (callee->is_host_orchestrator() || callee->level == Level::HOST) {
    env_.diags.report<diag::codegen_callee>(span, function_->name.text(), name.text(),
                                            "that is a function of the host");
    return;
  }
  const Launch outer = launch_;
  const Expr* blocks = submit != nullptr ? submit->core_num : attr_expr(env_.ir, attrs_of(call), "core_num");
  if (blocks != nullptr) launch_.blocks = scalar_.as(blocks, DType::INT32);
  if (submit != nullptr ? submit->sync_start : has_flag(attrs_of(call), "sync_start"))
    launch_.sync_start = true;
  if (submit != nullptr && !callee->is_kernel()) {
    launch_.submit = submit;
    launch_.result = result;
  }
  if (gathering_ != nullptr) {
    gather(callee, args_of(call), call);
  } else if (callee->is_kernel()) {
    start_kernel(callee, args_of(call), call, result);
  } else if (callee->is_wrapper()) {
    start_wrapper(callee, args_of(call), call, result);
  } else {
    expand(callee, args_of(call), call, result);
  }
  launch_ = outer;
}

std::string ChipEmitter::scalar_bits(const Expr* value, DType dtype) {
  // The bits of a parameter that is only handed on.
  if (const auto* var = dyn<Var>(value); var != nullptr && scalar_dtype(var->type) == dtype) {
    const AbiParam* param = signature_.find(var);
    const bool alone = function_->is_kernel();
    if (param != nullptr && (alone || forwarded_only(var))) return names_.of(var);
  }
  return fmt::format("pld_to_u64<{}>({})", cpp_scalar_type(dtype), scalar_.as(value, dtype));
}

bool ChipEmitter::arguments(const Function* callee, List<const Expr*> args, Attrs attrs, Span span,
                            std::vector<Argument>& out) {
  const AttrValue* written = find_attr(attrs, "arg_directions");
  // Of a submit whose outputs the runtime allocates the contexts follow the arguments that are passed.
  const auto missing = callee->params.size() > args.size() ? callee->params.size() - args.size() : 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < callee->params.size(); ++i) {
    const Param& param = callee->params[i];
    const Type* type = param.var->type;
    Argument arg{&param, ParamKind::Tensor, direction_of(param), {}, nullptr};
    const bool is_context = type->kind == TypeKind::CommCtx;
    if (missing != 0 && !is_context && (next >= args.size() || args[next]->type->kind == TypeKind::CommCtx)) {
      arg.made = dyn<TensorType>(type);
      if (arg.made == nullptr || param.direction == ParamDirection::In) {
        env_.diags.report<diag::codegen_argument>(span, plain_name(param.var->name.text()),
                                                  callee->name.text(),
                                                  "it is missing, and only Out tensors may be left out");
        return false;
      }
      out.push_back(arg);
      continue;
    }
    if (next >= args.size()) {
      env_.diags.report<diag::codegen_argument>(span, plain_name(param.var->name.text()), callee->name.text(),
                                                "it is missing");
      return false;
    }
    const Expr* value = args[next];
    if (written != nullptr && next < written->directions.size()) {
      const ArgDirection given = written->directions[next];
      if (given != ArgDirection::Scalar) arg.direction = given;
    }
    const bool writes =
        arg.direction == ArgDirection::Output || arg.direction == ArgDirection::OutputExisting;
    if (writes && std::find(launch_.kept.begin(), launch_.kept.end(), value) != launch_.kept.end()) {
      arg.direction = ArgDirection::InOut;
    }
    ++next;
    if (dyn<TensorType>(type) != nullptr) {
      arg.text = tensor(value);
    } else if (const auto dtype = scalar_dtype(type)) {
      arg.kind = ParamKind::Scalar;
      arg.text = scalar_bits(value, *dtype);
    } else if (is_context) {
      arg.kind = ParamKind::Context;
      const Var* from = root(value);
      arg.text = from != nullptr ? names_.of(from) : std::string();
      if (arg.text.empty()) {
        env_.diags.report<diag::codegen_no_value>(value->span.valid() ? value->span : span, brief(value));
        return false;
      }
    } else {
      env_.diags.report<diag::codegen_argument>(
          span, plain_name(param.var->name.text()), callee->name.text(),
          "only tensors, scalars and communication contexts can be passed");
      return false;
    }
    if (arg.text.empty()) return false;
    out.push_back(std::move(arg));
  }
  return true;
}

int ChipEmitter::kernel_id(const Function* kernel, Signature signature, Span span) {
  if (signature.tensors > 32 || signature.scalars > 16) {
    const bool tensors = signature.tensors > 32;
    env_.diags.report<diag::codegen_kernel_limits>(span, kernel->name.text(),
                                                   tensors ? signature.tensors : signature.scalars,
                                                   tensors ? "tensors" : "scalars", tensors ? 32 : 16);
  }
  if (kernel->requires_runtime_binding || find_attr(kernel->attrs, "external_source") != nullptr) {
    env_.diags
        .report<diag::codegen_external>(kernel->name_span, kernel->name.text(), "it is bound at run time")
        .help("write its body in the program");
  }
  const auto same = [&](const ChipKernel& k) {
    if (k.function != kernel || k.signature.tensors != signature.tensors ||
        k.signature.scalars != signature.scalars) {
      return false;
    }
    for (std::size_t i = 0; i < signature.params.size(); ++i) {
      if (k.signature.params[i].index != signature.params[i].index) return false;
    }
    return true;
  };
  const auto found = std::find_if(text_->kernels.begin(), text_->kernels.end(), same);
  if (found != text_->kernels.end()) return static_cast<int>(found - text_->kernels.begin());
  text_->kernels.push_back({kernel, std::move(signature)});
  return static_cast<int>(text_->kernels.size() - 1);
}

void ChipEmitter::start_kernel(const Function* kernel, List<const Expr*> args, const Expr* call,
                               const Var* result) {
  Part part{kernel, {}};
  if (!arguments(kernel, args, attrs_of(call), call->span, part.arguments)) return;
  const int id = kernel_id(kernel, signature_of(kernel), call->span);
  const std::vector<Argument> all = part.arguments;
  std::string start;
  if (uses_both_lanes(kernel)) {
    start = fmt::format("rt_submit_task(MixedKernels{{kInvalidKernel, {0}, {0}}}, ", id);
  } else {
    start = fmt::format("rt_submit_{}_task({}, ", on_cube(kernel) ? "aic" : "aiv", id);
  }
  const bool blocking = waits(kernel);
  submit({part}, all, start, call, result, blocking);
}

void ChipEmitter::start_wrapper(const Function* wrapper, List<const Expr*> args, const Expr* call,
                                const Var* result) {
  // A group of one cube kernel and vector kernels is one task; anything else is started part by part.
  std::size_t cubes = 0, vectors = 0, others = 0;
  walk_stmts(wrapper->body, [&](const Stmt* stmt) {
    for_each_expr(stmt, [&](const Expr* e) {
      const auto* inner = dyn<Call>(e);
      const auto* submit = dyn<Submit>(e);
      if (submit == nullptr && (inner == nullptr || inner->is_op())) return;
      const Function* callee = env_.program.find(inner != nullptr ? inner->function : submit->function);
      ++(callee != nullptr && callee->func_type == FuncType::AIC   ? cubes
         : callee != nullptr && callee->func_type == FuncType::AIV ? vectors
                                                                   : others);
    });
  });
  Gathering gathering{wrapper, cubes + vectors, {}};
  if (cubes == 1 && vectors >= 1 && others == 0) {
    if (vectors > 2) {
      env_.diags.report<diag::codegen_group_parts>(
          call->span, wrapper->name.text(), fmt::format("{} vector kernels; a group has at most 2", vectors));
      return;
    }
    gathering_ = &gathering;
  }
  const AttrValue* written = find_attr(attrs_of(call), "arg_directions");
  for (std::size_t i = 0; written != nullptr && i < written->directions.size() && i < wrapper->params.size();
       ++i) {
    if (written->directions[i] == ArgDirection::InOut) launch_.kept.push_back(wrapper->params[i].var);
  }
  if (wrapper == function_) {
    body(wrapper->body, true);
  } else {
    expand(wrapper, args, call, nullptr);
  }
  gathering_ = nullptr;
  if (gathering.parts.empty()) return;

  // All parts see the same arguments: the different ones of all parts, tensors before scalars.
  std::vector<Argument> all;
  std::vector<Signature> signatures;
  for (const bool tensors : {true, false}) {
    for (const Part& part : gathering.parts) {
      for (const Argument& arg : part.arguments) {
        if ((arg.kind == ParamKind::Tensor) != tensors) continue;
        const auto same = [&](const Argument& a) {
          return a.text == arg.text && (a.kind == ParamKind::Tensor) == tensors;
        };
        const auto found = std::find_if(all.begin(), all.end(), same);
        if (found == all.end()) {
          all.push_back(arg);
        } else if (found->direction != arg.direction) {
          found->direction = ArgDirection::InOut;
        }
      }
    }
  }
  int ids[3] = {-1, -1, -1};
  bool blocking = false;
  for (const Part& part : gathering.parts) {
    Signature signature = signature_of(part.kernel);
    std::vector<int> tensor_index(static_cast<std::size_t>(signature.tensors));
    signature.tensors = signature.scalars = 0;
    for (const Argument& arg : all) ++(arg.kind == ParamKind::Tensor ? signature.tensors : signature.scalars);
    for (AbiParam& p : signature.params) {
      int index = 0;
      const Argument& arg = part.arguments[p.position];
      for (const Argument& a : all) {
        if ((a.kind == ParamKind::Tensor) != (arg.kind == ParamKind::Tensor)) continue;
        if (a.text == arg.text) break;
        ++index;
      }
      if (p.kind == ParamKind::Tensor) tensor_index[static_cast<std::size_t>(p.index)] = index;
      p.index = index;
    }
    for (SymbolSource& s : signature.symbols) s.tensor = tensor_index[static_cast<std::size_t>(s.tensor)];
    const int id = kernel_id(part.kernel, signature, call->span);
    blocking = blocking || waits(part.kernel);
    if (on_cube(part.kernel)) {
      ids[0] = id;
    } else if (ids[1] < 0) {
      ids[1] = id;
      if (uses_both_lanes(part.kernel) && vectors == 1) ids[2] = id;
    } else {
      ids[2] = id;
    }
  }
  const auto text = [](int id) { return id < 0 ? std::string("kInvalidKernel") : std::to_string(id); };
  submit(gathering.parts, all,
         fmt::format("rt_submit_task(MixedKernels{{{}, {}, {}}}, ", text(ids[0]), text(ids[1]), text(ids[2])),
         call, result, blocking);
}

void ChipEmitter::gather(const Function* kernel, List<const Expr*> args, const Expr* call) {
  Part part{kernel, {}};
  if (arguments(kernel, args, attrs_of(call), call->span, part.arguments))
    gathering_->parts.push_back(std::move(part));
}

// The name of the TaskOutputTensors, if anybody asks for the task or for a tensor that the runtime makes.
std::string ChipEmitter::outputs_name(const Var* result, const std::vector<Argument>& all) {
  if (result == nullptr) return {};
  std::vector<int> made;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].made != nullptr) made.push_back(static_cast<int>(i));
  }
  const bool single = !made.empty() && needed(result) && dyn<TensorType>(result->type) != nullptr;
  bool wanted = single;
  for (const auto& [var, index] : elements_of(result))
    wanted = wanted || (needed(var) && aliases().root(var) == var);
  if (!wanted) return {};
  std::string name = names_.fresh("outs");
  outputs_[result] = name;
  made_[result] = made;
  return name;
}

void ChipEmitter::call_element(const Var* var, const Var* tuple, const Expr* call, std::size_t index) {
  const auto outs = outputs_.find(tuple);
  const auto* submit = dyn<Submit>(call);
  if (outs == outputs_.end() || submit == nullptr) return;
  if (scalar_dtype(var->type) == DType::TASK_ID) {
    out_.line(fmt::format("const PTO2TaskId {} = {}.task_id();", names_.declare(var), outs->second));
    return;
  }
  const Function* callee = env_.program.find(submit->function);
  const std::vector<int>& returned = env_.calls.of(callee);
  if (index >= returned.size()) return;
  const std::vector<int>& made = made_[tuple];
  const auto found = std::find(made.begin(), made.end(), returned[index]);
  if (found == made.end()) return;
  out_.line(fmt::format("const ChipTensor& {} = {}.get_ref({});", names_.declare(var), outs->second,
                        found - made.begin()));
}

void ChipEmitter::dependencies(const std::string& task, const Submit* submit) {
  if (submit == nullptr || submit->deps.empty()) return;
  std::vector<std::string> ids;
  for (const Expr* dep : submit->deps) {
    const auto* array = dyn<ArrayType>(dep->type);
    if (array == nullptr) {
      ids.push_back(scalar_.as(dep, DType::TASK_ID));
      continue;
    }
    const std::string name = tensor(dep);
    if (submit->deps.size() == 1) {
      out_.line(fmt::format("{}.set_dependencies({}, {});", task, name, array->extent));
      return;
    }
    for (std::int64_t i = 0; i < array->extent; ++i) ids.push_back(fmt::format("{}[{}]", name, i));
  }
  const std::string name = names_.fresh("deps");
  out_.call(fmt::format("const PTO2TaskId {}[{}] = {{", name, ids.size()), ids, "};");
  out_.line(fmt::format("{}.set_dependencies({}, {});", task, name, ids.size()));
}

void ChipEmitter::submit(const std::vector<Part>&, const std::vector<Argument>& all, const std::string& start,
                         const Expr* call, const Var* result, bool blocking) {
  const auto* submit = dyn<Submit>(call);
  if (submit == nullptr && launch_.submit != nullptr) {
    submit = launch_.submit;
    result = launch_.result;
    launch_.result = nullptr;
  }
  const std::string task = names_.fresh(fmt::format("p{}", tasks_++));
  out_.line();
  out_.comment(brief(call));
  if (const LineColumn place = env_.places.at(call->span); place.line != 0) {
    out_.line(fmt::format("PLD_LOC({});", place.line));
  }
  std::string outs = outputs_name(result, all);
  const bool conditional = submit != nullptr && submit->predicate != nullptr;
  if (conditional) {
    if (!outs.empty()) out_.line(fmt::format("TaskOutputTensors {};", outs));
    out_.open(fmt::format("if ({})", scalar_.condition(submit->predicate)));
    names_.push();
  }
  std::vector<std::string> infos;
  for (const Argument& arg : all) {
    infos.push_back(arg.made != nullptr ? info(arg.made->shape, arg.made->dtype, call->span) : std::string());
  }
  out_.line(fmt::format("CoreTaskArgs {};", task));
  for (const bool tensors : {true, false}) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Argument& arg = all[i];
      if ((arg.kind == ParamKind::Tensor) != tensors) continue;
      if (!tensors) {
        out_.line(fmt::format("{}.add_scalar({});", task, arg.text));
      } else if (arg.made != nullptr) {
        out_.line(fmt::format("{}.add_output({});", task, infos[i]));
      } else {
        out_.line(fmt::format("{}.{}({});", task, adder(arg.direction), arg.text));
      }
    }
  }
  dependencies(task, submit);
  if (!launch_.blocks.empty()) {
    out_.line(fmt::format("{}.launch_spec.set_block_num({});", task, launch_.blocks));
    if (launch_.sync_start || blocking)
      out_.line(fmt::format("{}.launch_spec.set_require_sync_start(true);", task));
  }
  if (outs.empty()) {
    out_.line(fmt::format("{}{});", start, task));
  } else if (conditional) {
    out_.line(fmt::format("{} = {}{});", outs, start, task));
  } else {
    out_.line(fmt::format("const TaskOutputTensors {} = {}{});", outs, start, task));
  }
  if (conditional) {
    names_.pop();
    out_.close();
  }
  if (!outs.empty() && dyn<TensorType>(result->type) != nullptr) {
    out_.line(fmt::format("const ChipTensor& {} = {}.get_ref(0);", names_.declare(result), outs));
  }
}

}  // namespace pldc
