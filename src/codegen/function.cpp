#include "codegen/function.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/text.h"
#include "ir/check_op.h"
#include "ir/walk.h"
#include "support/check.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

// Whether the text holds the name as a whole word.
bool mentions(std::string_view text, std::string_view name) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

// A bound that may be computed again in every iteration.
bool is_stable(const Expr* expr) {
  bool stable = true;
  walk_expr(expr, [&](const Expr* e) {
    const auto* call = dyn<Call>(e);
    if (call != nullptr && call->op != OpId::pld_system_world_size && call->op != OpId::tensor_dim)
      stable = false;
  });
  return stable;
}

}  // namespace

// ---- looking ahead -------------------------------------------------------------------------------------------------

void FunctionEmitter::look_at(Body body, bool results) {
  aliases_.add(body);
  walk_stmts(body, [&](const Stmt* stmt) {
    const auto* assign = dyn<AssignStmt>(stmt);
    const auto* get = assign != nullptr ? dyn<TupleGet>(assign->value) : nullptr;
    if (const auto* tuple = get != nullptr ? dyn<Var>(get->tuple) : nullptr) {
      taken_[tuple].emplace_back(assign->var, static_cast<std::size_t>(get->index));
    }
    for_each_expr(stmt, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        if (const auto* var = dyn<Var>(e)) ++uses_[var];
      });
    });
  });
  needed_.add(body, results);
}

const std::vector<std::pair<const Var*, std::size_t>>& FunctionEmitter::elements_of(const Var* tuple) const {
  static const std::vector<std::pair<const Var*, std::size_t>> none;
  const auto found = taken_.find(tuple);
  return found != taken_.end() ? found->second : none;
}

const Var* FunctionEmitter::root(const Expr* value) const {
  const auto* var = dyn<Var>(aliases_.root(value));
  if (var == nullptr) return nullptr;
  const auto found = bound_.find(var);
  return found != bound_.end() ? found->second : var;
}

// ---- texts ---------------------------------------------------------------------------------------------------------

ScalarText FunctionEmitter::make_scalar_text() {
  return ScalarText(
      env_.diags,
      [this](const Var* var) {
        const std::string& name = names_.of(var);
        return name.empty() ? symbol(var) : name;
      },
      [this](const Call* call) { return nested_call(call); });
}

std::string FunctionEmitter::tensor(const Expr* value) {
  const Expr* from = aliases_.root(value);
  const auto* var = dyn<Var>(from);
  if (var != nullptr) {
    const std::string& name = names_.of(var);
    if (!name.empty()) return name;
  }
  if (!failed()) {
    env_.diags.report<diag::codegen_no_value>(value->span, brief(value));
  }
  return {};
}

std::string FunctionEmitter::value_text(const Expr* value, const Type* type) {
  if (const auto dtype = scalar_dtype(type)) return scalar_.as(value, *dtype);
  return tensor(value);
}

List<const Expr*> FunctionEmitter::elements(const Expr* tuple) {
  const auto* made = dyn<MakeTuple>(unwrap(tuple));
  return made != nullptr ? made->elements : List<const Expr*>{};
}

std::string FunctionEmitter::extents(const Expr* tuple) { return extents(elements(tuple)); }

std::string FunctionEmitter::axis_of(const Call* call, std::size_t argument) {
  const auto* type = dyn<TensorType>(call->args[0]->type);
  const auto axis = const_int(call->args[argument]);
  if (type == nullptr || !axis || *axis >= 0) return scalar_.index(call->args[argument]);
  return std::to_string(*axis + static_cast<std::int64_t>(type->shape.size()));
}

std::string FunctionEmitter::extents(List<const Expr*> list) { return braced(scalar_, list); }

DefinitionOf FunctionEmitter::definitions() const {
  return [this](const Var* var) { return aliases_.definition(var); };
}

ScalarText FunctionEmitter::size_text() const { return scalar_.for_sizes(definitions()); }

std::string FunctionEmitter::shape_text(List<const Expr*> list) { return braced(size_text(), list); }

std::string FunctionEmitter::braced(const ScalarText& text, List<const Expr*> list) {
  std::string out = "{";
  for (const Expr* e : list) {
    if (out.size() > 1) out += ", ";
    out += text.index(e);
  }
  return out + "}";
}

std::string FunctionEmitter::brief(const Expr* value) const {
  if (const auto* var = dyn<Var>(value)) {
    const Expr* definition = aliases_.definition(var);
    if (const Call* slice = op_call(definition, OpId::tensor_slice)) {
      // x[r] rather than x[r, 0, 0]: the indices of the axes that go away, if the others start at 0.
      const auto* offsets = dyn<MakeTuple>(argument(slice, "offset"));
      if (offsets == nullptr) return brief(slice->args[0]) + "[..]";
      const auto* dropped = dyn<MakeTuple>(argument(slice, "drop_dims"));
      std::size_t shown = offsets->elements.size();
      const std::size_t least =
          dropped != nullptr ? std::max<std::size_t>(dropped->elements.size(), 1) : shown;
      while (shown > least && const_int(offsets->elements[shown - 1]) == 0) --shown;
      std::string indices;
      for (std::size_t i = 0; i < shown; ++i) indices += (i == 0 ? "" : ", ") + brief(offsets->elements[i]);
      return fmt::format("{}[{}]", brief(slice->args[0]), indices);
    }
    return std::string(plain_name(var->name.text()));
  }
  const auto list = [&](List<const Expr*> items) {
    std::string out;
    for (const Expr* item : items) out += (out.empty() ? "" : ", ") + brief(item);
    return out;
  };
  if (const auto* tuple = dyn<MakeTuple>(value)) return "[" + list(tuple->elements) + "]";
  if (const auto* submit = dyn<Submit>(value)) {
    return fmt::format("submit {}({})", submit->function.text(), list(submit->args));
  }
  if (const auto* call = dyn<Call>(value)) {
    std::string out = fmt::format("{}({})", call->is_op() ? op_info(call->op).name : call->function.text(),
                                  list(call->args));
    if (const AttrValue* device = find_attr(call->attrs, "device");
        device != nullptr && device->kind != AttrKind::Int) {
      out += ", device=" + brief(device->expr);
    }
    return out;
  }
  if (const auto* binary = dyn<Binary>(value)) {
    const std::string_view op = info_of(binary->op).text;
    if (op == "min" || op == "max")
      return fmt::format("{}({}, {})", op, brief(binary->lhs), brief(binary->rhs));
    const auto side = [&](const Expr* e) {
      return dyn<Binary>(e) != nullptr ? "(" + brief(e) + ")" : brief(e);
    };
    return fmt::format("{} {} {}", side(binary->lhs), op, side(binary->rhs));
  }
  if (const auto* cast = dyn<Cast>(value)) return brief(cast->operand);
  if (const auto constant = const_int(value)) return std::to_string(*constant);
  return print_expr(value);
}

void FunctionEmitter::unsupported(const Expr* call, Span span) {
  const auto* op = dyn<Call>(call);
  const std::string name =
      op != nullptr && op->is_op() ? std::string(op_info(op->op).name) : print_expr(call);
  env_.diags.report<diag::codegen_op>(call->span.valid() ? call->span : span, name, kind_)
      .help("compute in a kernel (an InCore function), and call that here");
}

// ---- statements ----------------------------------------------------------------------------------------------------

void FunctionEmitter::body(Body list, bool tail) {
  for (std::size_t i = 0; i < list.size() && !env_.diags.full(); ++i)
    statement(list[i], tail && i + 1 == list.size());
}

void FunctionEmitter::statement(const Stmt* stmt, bool tail) {
  before_statement(stmt);
  switch (stmt->kind) {
    case StmtKind::Assign:
      return assign(static_cast<const AssignStmt*>(stmt));
    case StmtKind::Eval: {
      const Expr* value = static_cast<const EvalStmt*>(stmt)->value;
      const auto* call = dyn<Call>(value);
      if (call != nullptr && call->is_op()) return call_op(stmt, nullptr, call);
      if (call != nullptr || value->kind == ExprKind::Submit) return call_function(stmt, nullptr, value);
      return;  // a value that nobody uses
    }
    case StmtKind::Return:
      return function_return(static_cast<const ReturnStmt*>(stmt), tail);
    case StmtKind::Yield:
      return yield(static_cast<const YieldStmt*>(stmt));
    case StmtKind::Break:
      return leave("break");
    case StmtKind::Continue:
      return leave("continue");
    case StmtKind::If:
      return branch(static_cast<const IfStmt*>(stmt), tail);
    case StmtKind::For:
      return for_loop(static_cast<const ForStmt*>(stmt));
    case StmtKind::While:
      return while_loop(static_cast<const WhileStmt*>(stmt));
    case StmtKind::Scope:
      return scope(static_cast<const ScopeStmt*>(stmt), tail);
    case StmtKind::Inline:
      PLDC_CHECK(false, "only sub-workers have foreign text, and they are called, not translated");
      return;
  }
}

void FunctionEmitter::assign(const AssignStmt* stmt) {
  const Expr* value = stmt->value;
  const auto* call = dyn<Call>(value);
  if (is_pure(value) && !needed(stmt->var)) return;
  if (call != nullptr && call->is_op()) return call_op(stmt, stmt->var, call);
  if (call != nullptr || value->kind == ExprKind::Submit) return call_function(stmt, stmt->var, value);
  const auto dtype = scalar_dtype(stmt->var->type);
  if (value->kind == ExprKind::TupleGet) {
    const Expr* tuple = unwrap(static_cast<const TupleGet*>(value)->tuple);
    const auto index = static_cast<std::size_t>(static_cast<const TupleGet*>(value)->index);
    if (const auto* made = dyn<MakeTuple>(tuple); made != nullptr && index < made->elements.size()) {
      value = made->elements[index];
    } else {
      const auto* var = dyn<Var>(static_cast<const TupleGet*>(value)->tuple);
      if (var == nullptr || aliases_.root(stmt->var) != stmt->var) return;
      const auto given = returned_.find(var);
      if (given != returned_.end() && index < given->second.size()) {
        bind_result(stmt->var, given->second[index]);
      } else {
        call_element(stmt->var, var, tuple, index);
      }
      return;
    }
  }
  if (!dtype || value->kind == ExprKind::MakeTuple) return;  // another name; looked through at the uses
  if (*dtype == DType::TASK_ID || value->kind == ExprKind::Var) {
    const std::string text = scalar_.as(value, *dtype);
    names_.alias(stmt->var, text);
    return;
  }
  const std::string text = scalar_.as(value, *dtype);
  out_.line(fmt::format("const {} {} = {};", cpp_scalar_type(*dtype), names_.declare(stmt->var), text));
}

std::string FunctionEmitter::carry(const Var* var, const Expr* init) {
  const auto dtype = scalar_dtype(var->type);
  const bool unused = !needed(var);
  if (dtype) {
    const std::string_view type = cpp_scalar_type(*dtype);
    const std::string text = init != nullptr ? scalar_.as(init, *dtype) : std::string();
    const std::string& name = names_.declare(var);
    out_.line(fmt::format("{}{} {}{};", unused ? "[[maybe_unused]] " : "", type, name,
                          init != nullptr ? " = " + text : "{}"));
    return name;
  }
  if (dyn<TensorType>(var->type) == nullptr) {
    const Expr* from = aliases_.root(var);
    if (from == var) {
      env_.diags.report<diag::codegen_window>(var->span, plain_name(var->name.text()))
          .help("{}", dyn<TupleType>(var->type) != nullptr ? "carry the elements of the tuple one by one"
                                                           : "keep one value in the variable");
    }
    return {};
  }
  if (aliases_.root(var) != var || !tensor_variable(var)) return {};
  const std::string text = init != nullptr ? tensor(init) : std::string();
  const std::string& name = names_.declare(var);
  out_.line(fmt::format("{}{} {}{};", unused ? "[[maybe_unused]] " : "", tensor_type(), name,
                        init != nullptr ? " = " + text : "{}"));
  return name;
}

void FunctionEmitter::for_loop(const ForStmt* loop) {
  const DType dtype = scalar_dtype(loop->loop_var->type).value_or(DType::INDEX);
  const std::string_view type = cpp_scalar_type(dtype);
  const auto step = const_int(loop->step);
  if (step == 0) {
    env_.diags.report<diag::codegen_step_zero>(loop->step->span.valid() ? loop->step->span : loop->span);
    return;
  }
  std::vector<Target> targets;
  for (std::size_t i = 0; i < loop->iter_args.size(); ++i) {
    const std::string name = carry(loop->iter_args[i].var, loop->iter_args[i].init);
    targets.push_back({name, loop->iter_args[i].var->type});
    if (i < loop->return_vars.size() && !name.empty()) names_.alias(loop->return_vars[i], name);
  }
  std::string stop = scalar_.as(loop->stop, dtype);
  if (!is_stable(loop->stop)) {
    const std::string name = names_.fresh("stop");
    out_.line(fmt::format("const {} {} = {};", type, name, stop));
    stop = name;
  }
  std::string step_text = scalar_.as(loop->step, dtype);
  if (!step && !is_stable(loop->step)) {
    const std::string name = names_.fresh("step");
    out_.line(fmt::format("const {} {} = {};", type, name, step_text));
    step_text = name;
  }
  const std::string start = scalar_.as(loop->start, dtype);
  names_.push();
  const std::string i = names_.declare(loop->loop_var);
  std::string more = fmt::format("{} {} {}", i, step && *step < 0 ? ">" : "<", stop);
  if (!step) more = fmt::format("{} > 0 ? {} < {} : {} > {}", step_text, i, stop, i, stop);
  const std::string next = step == 1                                ? "++" + i
                           : step == -1                             ? "--" + i
                           : step && *step < 0 && *step > INT64_MIN ? fmt::format("{} -= {}", i, -*step)
                                                                    : fmt::format("{} += {}", i, step_text);
  targets_.push_back(std::move(targets));
  ++loops_;
  out_.line();
  out_.open(fmt::format("for ({} {} = {}; {}; {})", type, i, start, more,
                        loop_step(i, next, step_text, step, const_int(loop->stop), dtype)));
  begin_optional();
  before_loop(loop->body);
  body(loop->body, false);
  end_optional();
  out_.close();
  out_.line();
  --loops_;
  targets_.pop_back();
  names_.pop();
}

void FunctionEmitter::while_loop(const WhileStmt* loop) {
  std::vector<Target> targets;
  for (std::size_t i = 0; i < loop->iter_args.size(); ++i) {
    const std::string name = carry(loop->iter_args[i].var, loop->iter_args[i].init);
    targets.push_back({name, loop->iter_args[i].var->type});
    if (i < loop->return_vars.size() && !name.empty()) names_.alias(loop->return_vars[i], name);
  }
  names_.push();
  targets_.push_back(std::move(targets));
  ++loops_;
  out_.line();
  out_.open(fmt::format("while ({})", scalar_.condition(loop->condition)));
  begin_optional();
  before_loop(loop->body);
  body(loop->body, false);
  end_optional();
  out_.close();
  out_.line();
  --loops_;
  targets_.pop_back();
  names_.pop();
}

void FunctionEmitter::branch(const IfStmt* branch, bool tail) {
  std::vector<Target> targets;
  for (const Var* var : branch->return_vars) targets.push_back({carry(var, nullptr), var->type});
  const std::string condition = scalar_.condition(branch->condition);
  targets_.push_back(targets);
  names_.push();
  out_.open(fmt::format("if ({})", condition));
  begin_optional();
  body(branch->then_body, tail);
  end_optional();
  names_.pop();
  const bool assigns =
      std::any_of(targets.begin(), targets.end(), [](const Target& t) { return !t.name.empty(); });
  const bool only_yield =
      branch->else_body.size() == 1 && branch->else_body[0]->kind == StmtKind::Yield && !assigns;
  if (branch->has_else && !branch->else_body.empty() && !only_yield) {
    names_.push();
    out_.middle("} else {");
    begin_optional();
    body(branch->else_body, tail);
    end_optional();
    names_.pop();
  }
  out_.close();
  targets_.pop_back();
}

void FunctionEmitter::yield(const YieldStmt* stmt) {
  if (targets_.empty()) return;
  const std::vector<Target> targets = targets_.back();
  struct Move {
    std::string to, from;
    const Type* type;
  };
  std::vector<Move> moves;
  for (std::size_t i = 0; i < targets.size() && i < stmt->values.size(); ++i) {
    if (targets[i].name.empty()) continue;
    std::string from = value_text(stmt->values[i], targets[i].type);
    if (from != targets[i].name) moves.push_back({targets[i].name, std::move(from), targets[i].type});
  }
  // A value may use what another one overwrites.
  bool crossed = false;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    for (std::size_t k = i + 1; k < moves.size(); ++k)
      crossed = crossed || mentions(moves[k].from, moves[i].to);
  }
  if (crossed) {
    for (Move& move : moves) {
      const std::string name = names_.fresh("next_" + move.to);
      const auto dtype = scalar_dtype(move.type);
      out_.line(
          fmt::format("const {} {} = {};", dtype ? cpp_scalar_type(*dtype) : tensor_type(), name, move.from));
      move.from = name;
    }
  }
  for (const Move& move : moves) out_.line(fmt::format("{} = {};", move.to, move.from));
}

// What the loop carries stays what the iteration before has yielded: ConvertToSSA leaves a jump in a loop only where that
// is what the program means.
void FunctionEmitter::leave(std::string_view text) {
  if (loops_ != 0) out_.line(fmt::format("{};", text));  // else refused by the verifier
}

void FunctionEmitter::function_return(const ReturnStmt* stmt, bool tail) {
  if (!expansions_.empty()) {
    const Expansion& e = expansions_.back();
    if (!tail) {
      const auto* call = e.call;
      env_.diags
          .report<diag::codegen_callee>(call->span, function_->name.text(), e.function->name.text(),
                                        "it returns before its end")
          .note(stmt->span, "here");
      return;
    }
    // What the caller sees as results: values that are no parameters.
    if (e.result == nullptr) return;
    if (dyn<TupleType>(e.result->type) != nullptr) {
      returned_[e.result].assign(stmt->values.begin(), stmt->values.end());
    } else if (stmt->values.size() == 1) {
      bind_result(e.result, stmt->values[0]);
    }
    return;
  }
  for (const Expr* value : stmt->values) {
    // A window is memory of the devices, in its domain; a host function that returns one has no tensor to hand out.
    if (dyn<TensorType>(value->type) == nullptr || is_distributed(value->type)) continue;
    const Var* from = root(value);
    const bool is_param = std::any_of(function_->params.begin(), function_->params.end(),
                                      [&](const Param& p) { return p.var == from; });
    if (is_param) continue;
    env_.diags
        .report<diag::codegen_returns_other>(value->span.valid() ? value->span : stmt->span,
                                             function_->name.text())
        .help("add an Out parameter of this shape to '{}', write the result there and return it",
              function_->name.text());
  }
  if (!tail) out_.line("return;");
}

void FunctionEmitter::bind_result(const Var* result, const Expr* value) {
  if (const auto dtype = scalar_dtype(result->type)) {
    names_.alias(result, scalar_.as(value, *dtype));
  } else if (aliases_.root(result) == result) {
    names_.alias(result, tensor(value));
    if (const Var* from = root(value)) bound_[result] = from;
  }
}

// Symbols that say how much of a parameter holds data mean what the argument says there.
void FunctionEmitter::bind_valid_symbols(const Type* param, const Type* argument) {
  const auto* tensor = dyn<TensorType>(param);
  if (tensor == nullptr || tensor->view == nullptr) return;
  const List<const Expr*> extents = valid_shape_of(argument);
  for (std::size_t i = 0; i < tensor->view->valid_shape.size() && i < extents.size(); ++i) {
    const auto* symbol = dyn<Var>(tensor->view->valid_shape[i]);
    if (symbol != nullptr && symbol != extents[i]) names_.alias(symbol, scalar_.as(extents[i], DType::INDEX));
  }
}

void FunctionEmitter::expand(const Function* callee, List<const Expr*> args, const Expr* call,
                             const Var* result) {
  const auto on_the_way = [&](const Expansion& e) { return e.function == callee; };
  if (callee == function_ || std::any_of(expansions_.begin(), expansions_.end(), on_the_way)) {
    env_.diags.report<diag::codegen_recursion>(call->span, callee->name.text());
    return;
  }
  std::vector<std::pair<const Var*, const Var*>> bindings;
  for (std::size_t i = 0; i < callee->params.size() && i < args.size(); ++i) {
    const Var* param = callee->params[i].var;
    const Var* from = root(args[i]);
    if (dyn<TensorType>(param->type) != nullptr || dyn<ArrayType>(param->type) != nullptr) {
      names_.alias(param, tensor(args[i]));
      bind_valid_symbols(param->type, args[i]->type);
    } else if (const auto dtype = scalar_dtype(param->type)) {
      const std::string text = scalar_.as(args[i], *dtype);
      // Evaluated once, as an argument is.
      if (args[i]->kind == ExprKind::Var || args[i]->kind == ExprKind::ConstInt) {
        names_.alias(param, text);
      } else {
        out_.line(fmt::format("const {} {} = {};", cpp_scalar_type(*dtype), names_.declare(param), text));
      }
    } else if (from != nullptr) {
      names_.alias(param, names_.of(from));
    }
    if (from != nullptr) bindings.emplace_back(param, from);
  }
  for (const auto& [param, from] : bindings) bound_[param] = from;
  look_at(callee->body, true);
  expansions_.push_back({callee, result, call});
  const std::vector<std::vector<Target>> targets = std::move(targets_);
  targets_.clear();
  body(callee->body, true);
  targets_ = targets;
  expansions_.pop_back();
}

}  // namespace pldc
