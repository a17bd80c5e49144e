#include "passes/convert_tensor_to_tile_ops/scalar_writes.h"

#include <algorithm>

#include "ir/context.h"
#include "ir/walk.h"

namespace pldc::tiling {

namespace {

bool mentions(const Expr* root, const Expr* wanted) {
  bool found = false;
  walk_expr(root, [&](const Expr* e) { found = found || e == wanted; });
  return found;
}

// What is added to the loop variable in an index; null if it is not a plain sum. `zero`: for the variable alone.
const Expr* base_of(const Expr* index, const Var* variable, const Expr* zero) {
  if (index == variable) return zero;
  const auto* sum = dyn<Binary>(index);
  if (sum == nullptr || sum->op != BinaryOp::Add) return nullptr;
  if (sum->rhs == variable && !mentions(sum->lhs, variable)) return sum->lhs;
  if (sum->lhs == variable && !mentions(sum->rhs, variable)) return sum->rhs;
  return nullptr;
}

bool fill_of(const Stmt* s, const ForStmt* loop, Fill& fill) {
  const auto* eval = dyn<EvalStmt>(s);
  const Call* write = eval != nullptr ? op_call(eval->value, OpId::tensor_write) : nullptr;
  const auto* indices = write != nullptr ? dyn<MakeTuple>(write->args[1]) : nullptr;
  if (indices == nullptr || indices->elements.empty() || !is_plain_tensor(write->args[0]->type)) return false;
  if (write->args[2]->kind != ExprKind::ConstFloat && write->args[2]->kind != ExprKind::ConstInt)
    return false;
  fill.write = write;
  fill.offsets.assign(indices->elements.begin(), indices->elements.end());
  const Expr*& last = fill.offsets.back();
  last = base_of(last, loop->loop_var, loop->start);
  return last != nullptr && std::none_of(fill.offsets.begin(), fill.offsets.end(),
                                         [&](const Expr* e) { return mentions(e, loop->loop_var); });
}

constexpr std::int64_t kMostElements = 8192;  // of one fill: a tile of 32 KB
constexpr std::int64_t kBlockBytes = 32;      // tiles consist of whole blocks

std::int64_t bytes_of(const Call* write) { return byte_width(dyn<TensorType>(write->args[0]->type)->dtype); }

// How a statement uses a variable.
struct Uses {
  int writes = 0;  // of single elements
  int others = 0;
};

Uses uses_in(const Stmt* s, const Var* var) {
  Uses uses;
  const auto look = [&](const Stmt* inner) {
    const auto* eval = dyn<EvalStmt>(inner);
    const Call* write = eval != nullptr ? op_call(eval->value, OpId::tensor_write) : nullptr;
    for_each_expr(inner, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        if (e != var) return;
        write != nullptr && write->args[0] == var ? ++uses.writes : ++uses.others;
      });
    });
  };
  const Stmt* one[] = {s};
  walk_stmts(Body(one), look);
  return uses;
}

class StagingFinder {
 public:
  explicit StagingFinder(const Function* kernel) : kernel_(kernel) {
    walk_stmts(kernel->body, [&](const Stmt* s) {
      if (const auto* assign = dyn<AssignStmt>(s)) values_[assign->var] = assign->value;
      for_each_expr(s, [&](const Expr* root) { walk_expr(root, [&](const Expr* e) { ++uses_[e]; }); });
    });
  }

  Staged find() {
    search(kernel_->body);
    return std::move(staged_);
  }

 private:
  // A value of the kernel that nothing else uses, over the whole of the target.
  bool stages(const Call* call) const {
    const auto* source = dyn<Var>(call->args[1]);
    const auto found = source != nullptr ? values_.find(source) : values_.end();
    const auto* made = found != values_.end() ? dyn<Call>(found->second) : nullptr;
    if (made == nullptr || !made->is_op() || op_info(made->op).effects.result_view_of >= 0) return false;
    if (op_info(made->op).effects.result_aliases >= 0 || uses_.at(source) != 1) return false;
    const AttrValue* atomic = find_attr(call->kwargs, "atomic");
    if (atomic != nullptr && atomic->integer != 0) return false;
    const auto* from = dyn<TensorType>(source->type);
    const auto* to = dyn<TensorType>(call->args[0]->type);
    const auto* offsets = dyn<MakeTuple>(call->args[2]);
    if (from == nullptr || to == nullptr || offsets == nullptr || from->dtype != to->dtype) return false;
    return is_plain_tensor(to) && from->view == nullptr && same_dims(from->shape, to->shape) &&
           std::all_of(offsets->elements.begin(), offsets->elements.end(),
                       [](const Expr* e) { return const_int(e) == 0; });
  }

  void search(Body body) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      for_each_body(body[i], [&](Body inner) { search(inner); });
      const auto* assign = dyn<AssignStmt>(body[i]);
      const Call* call = assign != nullptr ? op_call(assign->value, OpId::tensor_assemble) : nullptr;
      if (call == nullptr || !stages(call)) continue;
      const auto* target = dyn<Var>(call->args[0]);
      const Stmt* last = nullptr;
      bool clean = true;  // nobody has looked at the tensor so far
      for (std::size_t k = i + 1; k < body.size() && clean; ++k) {
        const Uses uses = uses_in(body[k], assign->var);
        const Uses old = target != nullptr ? uses_in(body[k], target) : Uses{};
        clean = uses.others == 0 && old.writes + old.others == 0;
        if (clean && uses.writes > 0) last = body[k];
        for (std::size_t n = k + 1; !clean && n < body.size(); ++n) {
          if (uses_in(body[n], assign->var).writes > 0) last = nullptr;  // written again after that
        }
        if (uses.writes > 0 && !clean) last = nullptr;
      }
      if (last != nullptr) staged_[assign->var] = last;
    }
  }

  const Function* kernel_;
  std::unordered_map<const Var*, const Expr*> values_;
  std::unordered_map<const Expr*, int> uses_;
  Staged staged_;
};

}  // namespace

std::vector<Fill> fills_of(const ForStmt* loop) {
  const auto start = const_int(loop->start);
  const auto stop = const_int(loop->stop);
  if (!start || !stop || const_int(loop->step) != 1 || !loop->iter_args.empty() || loop->body.empty())
    return {};
  const std::int64_t count = *stop - *start;
  if (count < 1 || count > kMostElements || *start != 0) return {};
  std::vector<Fill> fills;
  for (const Stmt* s : loop->body) {
    Fill fill{nullptr, count, {}};
    if (!fill_of(s, loop, fill)) return {};
    if (count * bytes_of(fill.write) % kBlockBytes != 0) return {};
    fills.push_back(std::move(fill));
  }
  return fills;
}

Staged staged_writes(const Function* kernel) { return StagingFinder(kernel).find(); }

}  // namespace pldc::tiling
