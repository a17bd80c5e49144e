// Loops, branches and what they carry.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/device/body.h"
#include "ir/walk.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

bool is_word_character(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool mentions(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || !is_word_character(text[at - 1]);
    const std::size_t end = at + name.size();
    if (begins && (end == text.size() || !is_word_character(text[end]))) return true;
  }
  return false;
}

bool has_call(const Expr* expr) {
  bool found = false;
  walk_expr(expr, [&](const Expr* e) { found = found || e->kind == ExprKind::Call; });
  return found;
}

}  // namespace

// ---- what flows in and around -----------------------------------------------------------------------------------

// Declares the C++ variable of a scalar, of an array, or of a tensor that is one of several; a tile has its place already.
void KernelBody::declare_carry(Carry& carry, const Expr* init) {
  const Var* var = carry.var;
  const auto bind_result = [&](const std::string& name) {
    carry.name = name;
    if (carry.result != nullptr && carry.result != var) names_.alias(carry.result, name);
  };
  if (const auto dtype = scalar_dtype(var->type)) {
    const std::string_view type = cpp_scalar_type(*dtype);
    const std::string value = init != nullptr ? scalars.as(init, *dtype) : std::string();
    const std::string name = names_.declare(var);
    line(fmt::format("{}{} {}{};", marked(name), type.empty() ? "int64_t" : type, name,
                     value.empty() ? "" : " = " + value));
    bind_result(name);
    return;
  }
  if (var->type->kind == TypeKind::CommCtx) {
    if (init != nullptr) bind_result(context(init));
    names_.alias(var, carry.name);
    return;
  }
  if (const auto* array_type = dyn<ArrayType>(var->type)) {
    const ArrayRef source = init != nullptr && array(init) != nullptr ? *array(init) : ArrayRef{};
    ArrayRef& ref = declare_array(var, array_type);
    ref.depth = loop_depth_ + (init != nullptr ? 1 : 0);  // an iteration may change it in place
    carry.name = ref.name;
    if (!source.name.empty()) {
      statement(
          fmt::format("for (int64_t i = 0; i < {}; ++i) {}[i] = {}[i];", ref.extent, ref.name, source.name));
    }
    if (carry.result != nullptr) arrays_[carry.result] = ref;
    return;
  }
  const auto* type = dyn<TensorType>(var->type);
  if (type == nullptr) return;
  const Var* from = origin(var);
  const auto known = tensors_.find(from);
  if (from != var && known != tensors_.end()) {
    const TensorRef ref = tensor(from);
    bind(var, ref);
    if (carry.result != nullptr) bind(carry.result, ref);
    return;
  }
  TensorRef ref;
  ref.dtype = type->dtype;
  for (const Expr* dim : type->shape) ref.shape.push_back(index(dim));
  std::string value = "nullptr";
  if (init != nullptr) {
    const TensorRef first = tensor(init);
    value = address(first, first.offset);
    ref.stride = first.stride;
    ref.known_strides = first.known_strides;
  } else {
    strides_of(type, ref.stride);
  }
  ref.pointer = names_.declare(var);
  ref.base = ref.pointer;
  statement(fmt::format("{}__gm__ {}* {} = {};", marked(ref.pointer), cpp_memory_type(type->dtype),
                        ref.pointer, value));
  carry.name = ref.pointer;
  bind(var, ref);
  if (carry.result != nullptr) bind(carry.result, ref);
}

void KernelBody::open_carries(List<IterArg> args, List<const Var*> results, std::vector<Carry>& carries) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    carries.push_back({args[i].var, i < results.size() ? results[i] : nullptr, {}});
    if (dyn<TileType>(args[i].var->type) == nullptr) declare_carry(carries.back(), args[i].init);
  }
  for (const IterArg& arg : args) {  // their valid extents may be scalars that are carried too
    if (dyn<TileType>(arg.var->type) == nullptr) continue;
    if (const auto* made = dyn<Call>(arg.init)) {  // computed in the carry's place
      call(made, arg.var, made->span);
      continue;
    }
    const TileRef from = tile(arg.init);
    move(result(arg.var), from);
  }
}

// The valid extents of carried tiles may differ from iteration to iteration.
void KernelBody::enter_carries(const std::vector<Carry>& carries) {
  for (const Carry& carry : carries) {
    const auto known = tiles_.find(carry.var);
    if (known != tiles_.end()) set_valid(known->second);
  }
}

void KernelBody::close_carries(const std::vector<Carry>& carries) {
  for (const Carry& carry : carries) {
    const auto known = tiles_.find(carry.var);
    if (carry.result == nullptr || known == tiles_.end()) continue;
    const TileRef from = known->second;
    const TileRef to = result(carry.result);
    move(to, from);
  }
}

// ---- yields -----------------------------------------------------------------------------------------------------

void KernelBody::yield(List<const Expr*> values) {
  if (targets_.empty()) return;
  const YieldTarget& target = targets_.back();
  std::vector<ScalarMove> scalar_moves;
  std::vector<std::pair<const Var*, const Expr*>> tile_moves;
  for (std::size_t i = 0; i < values.size() && i < target.carries.size(); ++i) {
    const Carry& carry = target.carries[i];
    const Type* type = carry.var->type;
    if (const auto dtype = scalar_dtype(type)) {
      scalar_moves.push_back(
          {std::string(cpp_scalar_type(*dtype)), carry.name, scalars.as(values[i], *dtype)});
    } else if (dyn<TileType>(type) != nullptr) {
      tile_moves.emplace_back(carry.var, values[i]);
    } else if (dyn<ArrayType>(type) != nullptr) {
      const ArrayRef* from = array(values[i]);
      if (from != nullptr && from->name != carry.name) {
        statement(fmt::format("for (int64_t i = 0; i < {}; ++i) {}[i] = {}[i];", from->extent, carry.name,
                              from->name));
      }
    } else if (const auto* tensor_type = dyn<TensorType>(type)) {
      if (carry.name.empty()) continue;  // one tensor on all paths
      const TensorRef from = tensor(values[i]);
      const TensorRef& to = tensors_[carry.var];
      if (!(from.stride == to.stride)) {
        env.diags.report<diag::kernel_branch_tensor>(values[i]->span, plain_name(carry.var->name.text()))
            .help("copy one of the tensors into memory of the same layout");
      }
      scalar_moves.push_back({fmt::format("__gm__ {}*", cpp_memory_type(tensor_type->dtype)), carry.name,
                              address(from, from.offset)});
    }
  }
  yield_scalars(std::move(scalar_moves));
  std::vector<std::pair<TileRef, TileRef>> moves;
  for (const auto& [to, value] : tile_moves) {
    const TileRef from = tile(value);
    moves.emplace_back(result(to), from);
  }
  yield_tiles(std::move(moves));
}

// All right-hand sides hold values from before the assignments.
void KernelBody::yield_scalars(std::vector<ScalarMove> moves) {
  moves.erase(std::remove_if(moves.begin(), moves.end(), [](const ScalarMove& m) { return m.to == m.from; }),
              moves.end());
  bool crossed = false;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    for (std::size_t k = i + 1; k < moves.size(); ++k)
      crossed = crossed || mentions(moves[k].from, moves[i].to);
  }
  if (crossed) {
    for (ScalarMove& m : moves) {
      const std::string name = fresh(m.to + "_next");
      statement(fmt::format("const {} {} = {};", m.type, name, m.from));
      m.from = name;
    }
  }
  for (const ScalarMove& m : moves) statement(fmt::format("{} = {};", m.to, m.from));
}

void KernelBody::yield_tiles(std::vector<std::pair<TileRef, TileRef>> moves) {
  moves.erase(std::remove_if(moves.begin(), moves.end(),
                             [&](const auto& m) {
                               return m.first.form.space == m.second.form.space &&
                                      same_place(m.first, m.second);
                             }),
              moves.end());
  while (!moves.empty()) {
    // A copy whose destination no other copy still reads.
    const auto free = std::find_if(moves.begin(), moves.end(), [&](const auto& m) {
      const Region to = region_of(m.first);
      return std::none_of(moves.begin(), moves.end(), [&](const auto& other) {
        return &other != &m && region_of(other.second).overlaps(to);
      });
    });
    if (free != moves.end()) {
      move(free->first, free->second);
      moves.erase(free);
      continue;
    }
    // They form a ring: one value waits in scratch memory.
    TileRef& source = moves.front().second;
    TileRef copy = scratch(source.form, source.valid_rows, source.valid_cols);
    copy.ir_rows = source.ir_rows;
    copy.ir_cols = source.ir_cols;
    move(copy, source);
    source = copy;
  }
}

void KernelBody::leave(std::string_view keyword) {
  if (sync_.pending()) barrier();
  line(keyword);
}

// ---- statements -------------------------------------------------------------------------------------------------

void KernelBody::branch(const IfStmt* stmt) {
  span_ = stmt->span;
  YieldTarget target;
  target.is_loop = false;
  for (const Var* var : stmt->return_vars) {
    target.carries.push_back({var, nullptr, {}});
    if (dyn<TileType>(var->type) == nullptr) {
      declare_carry(target.carries.back(), nullptr);
    } else if (const TilePlace* place_of = env.placement.find(var);
               place_of != nullptr && place_of->offset != nullptr) {
      result(var);  // its address is needed on both paths
    }
  }
  const bool has_results = !target.carries.empty();
  line_directive(stmt->condition->span);
  open(fmt::format("if ({})", scalars.condition(stmt->condition)));
  const Sync before = sync_;
  if (has_results) targets_.push_back(std::move(target));
  line_ = 0;
  statements(stmt->then_body);
  if (stmt->has_else && !stmt->else_body.empty()) {
    Sync after_then = sync_;
    sync_ = before;
    sync_.number_after(after_then);
    names_.pop();
    body_.middle("} else {");
    names_.push();
    at_barrier_ = false;
    line_ = 0;
    statements(stmt->else_body);
    sync_ = Sync::merge(after_then, sync_);
  } else {
    sync_ = Sync::merge(sync_, before);
  }
  if (has_results) targets_.pop_back();
  close();
  line_ = 0;
}

void KernelBody::loop(const ForStmt* stmt) {
  span_ = stmt->span;
  YieldTarget target;
  target.is_loop = true;
  open_carries(stmt->iter_args, stmt->return_vars, target.carries);
  const DType dtype = scalar_dtype(stmt->loop_var->type).value_or(DType::INDEX);
  const std::string start = scalars.as(stmt->start, dtype);
  std::string stop = scalars.as(stmt->stop, dtype);
  if (has_call(stmt->stop)) {  // asked once, before the loop
    const std::string name = fresh(std::string(plain_name(stmt->loop_var->name.text())) + "_stop");
    statement(fmt::format("const {} {} = {};", cpp_scalar_type(dtype), name, stop));
    stop = name;
  }
  const auto step = fold(stmt->step);
  if (step == 0) {
    env.diags.report<diag::codegen_step_zero>(stmt->step->span.valid() ? stmt->step->span : stmt->span);
  }
  const std::string step_text = scalars.as(stmt->step, dtype);
  line_directive(stmt->span);
  flush();
  names_.push();
  const std::string name = names_.declare(stmt->loop_var);
  const std::string limit = stop.find_first_of(" ?") == std::string::npos ? stop : "(" + stop + ")";
  const std::string test =
      !step       ? fmt::format("({}) > 0 ? {} < {} : {} > {}", step_text, name, limit, name, limit)
      : *step < 0 ? fmt::format("{} > {}", name, limit)
                  : fmt::format("{} < {}", name, limit);
  const std::string_view type = cpp_scalar_type(dtype);
  const bool narrow = bit_width(dtype) < 32;
  const std::string next = narrow ? fmt::format("{} = static_cast<{}>({} + {})", name, type, name, step_text)
                                  : fmt::format("{} += {}", name, step_text);
  open(fmt::format("for ({} {} = {}; {}; {})", type, name, start, test,
                   loop_step(name, next, step_text, step, fold(stmt->stop), dtype)));
  const Sync before = sync_;
  const std::uint64_t first = sync_.next();
  const std::vector<Carry> carries = target.carries;
  targets_.push_back(std::move(target));
  line_ = 0;
  ++loop_depth_;
  enter_carries(carries);
  statements(stmt->body);
  if (sync_.pending_from(first)) barrier();
  --loop_depth_;
  targets_.pop_back();
  sync_ = Sync::merge(sync_, before);
  close();
  names_.pop();
  line_ = 0;
  close_carries(carries);
}

void KernelBody::loop(const WhileStmt* stmt) {
  span_ = stmt->span;
  YieldTarget target;
  target.is_loop = true;
  open_carries(stmt->iter_args, stmt->return_vars, target.carries);
  line_directive(stmt->span);
  open(fmt::format("while ({})", scalars.condition(stmt->condition)));
  const Sync before = sync_;
  const std::uint64_t first = sync_.next();
  const std::vector<Carry> carries = target.carries;
  targets_.push_back(std::move(target));
  line_ = 0;
  ++loop_depth_;
  enter_carries(carries);
  statements(stmt->body);
  if (sync_.pending_from(first)) barrier();
  --loop_depth_;
  targets_.pop_back();
  sync_ = Sync::merge(sync_, before);
  close();
  line_ = 0;
  close_carries(carries);
}

}  // namespace pldc
