// assignment = NAME [ ":" type ] "=" expr | NAME { "," NAME } "=" expr
#include <algorithm>

#include "frontend/reader.h"
#include "frontend/syntax/type_change.h"
#include "ir/same.h"
#include "support/diag/parse.h"
#include "support/hash.h"

namespace pldc {

namespace {

bool constants_agree(List<const Expr*> a, List<const Expr*> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Expr* x, const Expr* y) {
    return x->kind != ExprKind::ConstInt || y->kind != ExprKind::ConstInt || same_dim(x, y);
  });
}

// Whether two types differ in no more than where and how a value is kept.
bool same_value(const Type* a, const Type* b) {
  if (a->kind != b->kind) return false;
  if (const auto* tile = dyn<TileType>(a)) {
    const auto* other = static_cast<const TileType*>(b);
    return tile->dtype == other->dtype && constants_agree(tile->shape, other->shape);
  }
  if (const auto* tensor = dyn<TensorType>(a)) {
    const auto* other = static_cast<const TensorType*>(b);
    return tensor->dtype == other->dtype && constants_agree(tensor->shape, other->shape);
  }
  return scalar_dtype(a) == scalar_dtype(b);
}

}  // namespace

bool Reader::read_assignment(Block& block, const Token& first) {
  const Token name = take();
  if (!usable_name(name)) return false;
  const Type* type = nullptr;
  if (accept(Tok::Colon)) {
    type = read_type();
    if (type == nullptr) {
      // Bound all the same: one slip is reported once.
      const Name n = ctx_.name(text(name));
      if (lookup(n) == nullptr) bind(n, ctx_.var(n, ctx_.unknown(), span(name)));
      return false;
    }
  }
  if (!expect(Tok::Assign, "after the name that is assigned")) return false;
  if (finish_assignment(block, first, name, type)) return true;
  const Name n = ctx_.name(text(name));
  if (lookup(n) == nullptr) bind(n, ctx_.var(n, type != nullptr ? type : ctx_.unknown(), span(name)));
  return false;
}

bool Reader::finish_assignment(Block& block, const Token& first, const Token& name_token, const Type* type) {
  const Name name = ctx_.name(text(name_token));
  if (at_yield()) return read_yield(block, first, {{name, span(name_token), type}});
  assigned_name_ = name;
  annotated_at_ = 0;
  if (type != nullptr) {
    // Formatted text may wrap the value into parentheses.
    const std::size_t begin = file_.text().find_first_not_of("( \r\n", tok_.begin);
    annotated_at_ = static_cast<std::uint32_t>(std::min(begin, file_.text().size()));
  }
  const Expr* value = nullptr;
  if (at_word("None")) {
    const Token none = take();
    value = ctx_.call(OpId::system_task_invalid, {}, {}, {}, ctx_.scalar(DType::TASK_ID), span(none));
  } else {
    value = read_expr();
  }
  assigned_name_ = Name{};
  annotated_at_ = 0;
  if (value == nullptr) return false;
  // `return`-style tuples: v = a, b
  if (at(Tok::Comma)) {
    std::vector<const Expr*> elements{value};
    while (accept(Tok::Comma)) {
      if (at(Tok::Newline)) break;
      const Expr* e = read_expr();
      if (e == nullptr) return false;
      elements.push_back(e);
    }
    value = ctx_.make_tuple(ctx_.list(elements), span_from(value->span.begin - file_.base()));
  }
  Comments comments;
  const Span whole = span_from(first.begin);
  if (!end_line(comments)) return false;
  flush_hoisted(block);
  (type != nullptr ? saw_annotated_ : saw_unannotated_) = true;
  if (type == nullptr && bind_symbol(name, span(name_token), value)) return true;

  if (type != nullptr) {
    if (const auto dtype = scalar_dtype(type)) {
      const auto* constant = dyn<ConstInt>(value);
      if (authoring_ && constant != nullptr && constant->dtype != *dtype) {
        if (is_float(*dtype)) {
          value = ctx_.const_float(static_cast<double>(constant->value), *dtype, constant->span);
        } else {
          value = ctx_.const_int(constant->value, *dtype, constant->span);
        }
      } else if (const auto* real = dyn<ConstFloat>(value);
                 authoring_ && real != nullptr && real->dtype != *dtype) {
        value = ctx_.const_float(real->value, *dtype, real->span);
      }
    }
    // Marker annotations do not override a known type of the value (format.md 2.10).
    const bool marker = type->kind == TypeKind::Ptr || type->kind == TypeKind::MemRef ||
                        type->kind == TypeKind::Unknown || type->kind == TypeKind::WindowBuffer ||
                        type->kind == TypeKind::CommCtx;
    if (!marker) value = retype_call(value, type);
    if (const auto* call = dyn<Call>(value);
        call != nullptr && is_unknown(call->type) && value != last_recorded_) {
      value = ctx_.call_with_type(call, type);
    }
  } else {
    // A function that declares no result gives what the name already stands for, as the printed text will say.
    const Var* before = is_unknown(value->type) && value != last_recorded_ ? lookup(name) : nullptr;
    const auto* call = before != nullptr && !before->is_iter_arg ? dyn<Call>(value) : nullptr;
    if (call != nullptr && !call->is_op()) value = retype_call(value, before->type);
    type = value->type;
  }
  const Var* var = nullptr;
  if (type->kind == TypeKind::Ptr) {
    // A signature's MemRef may have named the buffer already; it is the same variable.
    if (const auto found = draft_->memref_bases.find(name.text()); found != draft_->memref_bases.end()) {
      var = found->second;
      if (lookup(name) != var) bind(name, var);
      note_var(span(name_token), var, true);
    }
  }
  if (var == nullptr) {
    const Var* before = lookup(name);
    var = assign_target(name, span(name_token), type);
    // Printed text may show one variable with several views; another value would be lost silently.
    if (before == var && before != nullptr && !is_unknown(type) && !is_unknown(before->type) &&
        (authoring_ ? !same_type(before->type, type) : !same_value(before->type, type))) {
      const std::string parts = changed_parts(before->type, type);
      auto report = diags_.report<diag::type_changed>(span(name_token), name.text(), print_type(before->type),
                                                      print_type(type));
      const auto wanted = scalar_dtype(before->type), found = scalar_dtype(type);
      const bool widened = wanted && found == DType::INDEX && is_int(*wanted);
      report
          .help("{}", widened
                          ? fmt::format("write its constants as pl.const(1, pl.{0}), or convert the value: "
                                        "pl.cast(..., pl.{0})",
                                        name_of(*wanted))
                          : std::string("assign the new value to another name"))
          .note(before->span, "it was first assigned here{}{}",
                parts.empty() ? "" : "; what differs: ", parts);
      if (const auto pair = namesakes(before->type, type); pair.first != nullptr) {
        report.note(pair.first->span, "the first type means this '{}'", pair.first->name.text())
            .note(pair.second->span, "the type of the new value means this '{}'", pair.second->name.text());
      }
      return true;
    }
  }
  block.stmts.push_back(ctx_.assign(var, value, whole, comments));
  return true;
}

// In an orchestration, `rows = pl.tensor.dim(x, 0)` of an axis whose extent is a symbol makes the name stand
// for the symbol; there is no statement.
bool Reader::bind_symbol(Name name, Span where, const Expr* value) {
  if (!authoring_ || draft_->f.func_type != FuncType::Orchestration) return false;
  const Call* call = op_call(value, OpId::tensor_dim);
  if (call == nullptr || call->args.size() != 2) return false;
  const auto* tensor = dyn<TensorType>(call->args[0]->type);
  const auto axis = const_int(call->args[1]);
  if (tensor == nullptr || !axis) return false;
  const auto rank = static_cast<std::int64_t>(tensor->shape.size());
  const std::int64_t index = *axis < 0 ? *axis + rank : *axis;
  if (index < 0 || index >= rank) return false;
  const auto* symbol = dyn<Var>(tensor->shape[static_cast<std::size_t>(index)]);
  if (symbol == nullptr || lookup(name) != nullptr) return false;
  bind(name, symbol);
  note_var(where, symbol, true);
  return true;
}

// Gives an op or function call the type that its assignment states, without the MemRef: InitMemRef gives
// memory to variables only (decisions D10).
const Expr* Reader::retype_call(const Expr* value, const Type* type) {
  const auto* call = dyn<Call>(value);
  if (call == nullptr || value == last_recorded_) return value;
  if (!call->is_op() && !is_unknown(call->type)) return value;
  if (authoring_ && !is_unknown(call->type) && type->kind == call->type->kind) {
    // A person's annotation: views, memory and spaces in it win; what it leaves open stays deduced.
    if (const auto* tile = dyn<TileType>(type)) {
      const auto* deduced = static_cast<const TileType*>(call->type);
      if (!tile->space || tile->view == nullptr) {
        return ctx_.call_with_type(
            call, ctx_.tile(tile->dtype, tile->shape, nullptr, tile->space ? tile->space : deduced->space,
                            tile->view != nullptr ? tile->view : deduced->view));
      }
    }
  }
  const Type* own = without_memref(type);
  if (!is_unknown(call->type)) return ctx_.call_with_type(call, own);
  const_cast<Call*>(call)->type = own;  // just read: nobody else has seen it
  return call;
}

const Type* Reader::without_memref(const Type* type) {
  if (last_known_ == nullptr || last_known_->type != type) return stripped_of_memref(type);
  if (last_known_->bare == nullptr) last_known_->bare = stripped_of_memref(type);
  return last_known_->bare;
}

const Type* Reader::stripped_of_memref(const Type* type) {
  const auto* tile = dyn<TileType>(type);
  if (tile != nullptr && tile->memref != nullptr) {
    TileType copy = *tile;
    copy.memref = nullptr;
    if (copy.view != nullptr) return ctx_.make(copy);
    // Many tiles differ in nothing but the buffer.
    std::uint64_t key = hash_combine(static_cast<std::uint64_t>(copy.dtype),
                                     copy.space ? 1 + static_cast<std::uint64_t>(*copy.space) : 0);
    for (const Expr* dim : copy.shape) key = hash_combine(key, reinterpret_cast<std::uintptr_t>(dim));
    const TileType*& known = plain_tiles_[key];
    if (known == nullptr) known = ctx_.make(copy);
    const bool same =
        known->dtype == copy.dtype && known->space == copy.space &&
        std::equal(copy.shape.begin(), copy.shape.end(), known->shape.begin(), known->shape.end());
    return same ? known : ctx_.make(copy);
  }
  if (const auto* tensor = dyn<TensorType>(type); tensor != nullptr && tensor->memref != nullptr) {
    TensorType copy = *tensor;
    copy.memref = nullptr;
    return ctx_.make(copy);
  }
  return type;
}

// a, b = value        (a, b), tid = pl.submit(...)        a, b = pl.yield_(...)
bool Reader::read_unpacking(Block& block, const Token& first) {
  struct Target {
    Token name;
    int group;  // elements of the parenthesised first target
  };
  std::vector<Target> targets;
  bool grouped = false;
  if (at(Tok::LParen)) {
    take();
    grouped = true;
    while (at(Tok::Name)) {
      targets.push_back({take(), 1});
      if (!accept(Tok::Comma)) break;
    }
    if (!expect(Tok::RParen, "after the names")) return false;
    if (at(Tok::Assign)) grouped = false;  // (a, b) = ...
    if (grouped && !expect(Tok::Comma, "after the group of results")) return false;
  }
  while (!at(Tok::Assign)) {
    if (!at(Tok::Name)) {
      unexpected("a name to assign to");
      return false;
    }
    targets.push_back({take(), 0});
    if (!accept(Tok::Comma)) break;
  }
  if (!expect(Tok::Assign, "after the names that are assigned")) return false;
  for (const Target& t : targets) {
    if (!usable_name(t.name)) return false;
  }
  if (at_yield()) {
    std::vector<YieldTarget> yields;
    for (const Target& t : targets) yields.push_back({ctx_.name(text(t.name)), span(t.name), nullptr});
    return read_yield(block, first, std::move(yields));
  }
  const Expr* value = read_expr();
  if (value != nullptr && at(Tok::Comma)) {
    // a, b = b, a
    std::vector<const Expr*> elements{value};
    while (value != nullptr && accept(Tok::Comma) && !at(Tok::Newline)) {
      value = read_expr();
      elements.push_back(value);
    }
    if (value != nullptr)
      value = ctx_.make_tuple(ctx_.list(elements), span_from(elements[0]->span.begin - file_.base()));
  }
  if (value == nullptr) {
    for (const Target& t : targets) {
      const Name n = ctx_.name(text(t.name));
      if (lookup(n) == nullptr) bind(n, ctx_.var(n, ctx_.unknown(), span(t.name)));
    }
    return false;
  }
  Comments comments;
  const Span whole = span_from(first.begin);
  if (!end_line(comments)) return false;
  flush_hoisted(block);
  saw_unannotated_ = true;
  const bool submit = value->kind == ExprKind::Submit;
  const auto* tuple_type = dyn<TupleType>(value->type);
  if (tuple_type != nullptr && tuple_type->elements.size() != targets.size()) {
    const std::size_t elements = tuple_type->elements.size();
    if (submit && !grouped && targets.size() > 2) {
      diags_.report<diag::flat_submit>(whole).help("write '(a, b), task_id = pl.submit(...)'");
      return true;
    }
    diags_.report<diag::unpack_count>(whole, targets.size(), elements, elements == 1 ? "element" : "elements")
        .help("name every element of the result");
    return true;
  }
  const Var* temp = ctx_.var(ctx_.name(submit ? "_submit_tmp" : "_tuple_tmp"), value->type, whole);
  block.stmts.push_back(ctx_.assign(temp, value, whole, comments));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Expr* element = ctx_.tuple_get(temp, static_cast<std::int64_t>(i), span(targets[i].name));
    const Var* var = assign_target(ctx_.name(text(targets[i].name)), span(targets[i].name), element->type);
    block.stmts.push_back(ctx_.assign(var, element, whole));
  }
  return true;
}

}  // namespace pldc
