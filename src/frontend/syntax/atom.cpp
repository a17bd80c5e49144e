// atom = NAME | number | True | False | call | "[" exprs "]" | "(" expr ")" | atom "[" i "]"
#include <algorithm>

#include "frontend/reader.h"
#include "frontend/use_places.h"
#include "ir/authoring.h"
#include "support/diag/parse.h"

namespace pldc {

namespace {

constexpr std::string_view kForeignWords[] = {"None",  "lambda", "if",  "else",  "for",    "in",   "is",
                                              "await", "yield",  "def", "while", "return", "class"};

}  // namespace

const Expr* Reader::read_postfix() {
  const std::uint32_t begin = tok_.begin;
  const Expr* e = read_atom();
  while (e != nullptr && at(Tok::LBracket)) e = read_subscript(e, begin);
  if (e != nullptr && at(Tok::Dot)) {
    diags_.report<diag::no_attributes>(lex_.span(tok_.begin, tok_.end))
        .help("values have no attributes or methods here");
    return nullptr;
  }
  return e;
}

const Expr* Reader::read_subscript(const Expr* base, std::uint32_t begin) {
  foldable_ = false;
  // A constant index of a tuple; anything else is sugar that people write.
  if (base->type->kind == TypeKind::Tuple || (base->type->kind == TypeKind::Unknown && !authoring_) ||
      base->kind == ExprKind::Submit) {
    take();
    std::int64_t index = 0;
    if (!read_int(index, "as a tuple's index") || !expect(Tok::RBracket, "after the index")) return nullptr;
    const auto* tuple = dyn<TupleType>(base->type);
    if (index < 0 || (tuple != nullptr && static_cast<std::size_t>(index) >= tuple->elements.size())) {
      diags_.report<diag::tuple_index>(span_from(begin), index, tuple != nullptr ? tuple->elements.size() : 0)
          .help("indices run from 0");
      return nullptr;
    }
    return ctx_.tuple_get(base, index, span_from(begin));
  }
  take();  // [
  std::vector<AuthoringIndex> indices;
  while (!at(Tok::RBracket)) {
    AuthoringIndex index;
    const std::uint32_t index_begin = tok_.begin;
    if (!at(Tok::Colon)) {
      index.start = read_expr();
      if (index.start == nullptr) return nullptr;
    }
    if (accept(Tok::Colon)) {
      index.slice = true;
      if (!at(Tok::Comma) && !at(Tok::RBracket)) {
        index.stop = read_expr();
        if (index.stop == nullptr) return nullptr;
      }
    }
    index.span = span_from(index_begin);
    indices.push_back(index);
    if (!accept(Tok::Comma)) break;
  }
  if (!expect(Tok::RBracket, "after the subscript")) return nullptr;
  foldable_ = false;
  const Span where = span_from(begin);
  if (store_target_ && at(Tok::Assign)) {
    // The left side of `t[...] = e`: the statement reader takes it from here.
    store_indices_ = std::move(indices);
    return base;
  }
  if (in_predicate_) {
    bool all_points = true;
    std::vector<const Expr*> point;
    for (const AuthoringIndex& index : indices) {
      all_points = all_points && !index.slice;
      point.push_back(index.start);
    }
    const auto* tensor = dyn<TensorType>(base->type);
    if (all_points && tensor != nullptr && tensor->shape.size() == point.size()) {
      const Expr* tuple = ctx_.make_tuple(ctx_.list(point), where);
      return ctx_.call(OpId::tensor_read, ctx_.list({base, tuple}), {}, {}, ctx_.scalar(tensor->dtype),
                       where);
    }
  }
  return author_subscript(ctx_, diags_, base, indices, where);
}

bool Reader::store_through(Block& block, const Token& first, const Expr* target) {
  const auto* var = dyn<Var>(target);
  if (var == nullptr || store_indices_.empty()) {
    unexpected("end of line");
    return false;
  }
  const std::vector<AuthoringIndex> indices = std::move(store_indices_);
  store_indices_.clear();
  take();  // =
  const std::uint32_t value_begin = tok_.begin;
  const Expr* value = read_expr();
  if (value == nullptr) return false;
  const Span value_span = span_from(value_begin);
  Comments comments;
  const Span whole = span_from(first.begin);
  if (!end_line(comments)) return false;
  flush_hoisted(block);
  DiagSink quiet;
  const Expr* stored = author_store_subscript(ctx_, quiet, var, indices, value, whole);
  if (stored == nullptr) {
    UsePlaces place(ctx_);
    author_store_subscript(ctx_, diags_, place(var, span(first)), indices, place(value, value_span), whole);
    return true;
  }
  const Var* result = assign_target(var->name, span(first), stored->type);
  block.stmts.push_back(ctx_.assign(result, stored, whole, comments));
  return true;
}

const Expr* Reader::read_list(Tok close, Span open) {
  // Lists nest, so they are collected on one stack.
  const std::size_t mark = elements_.size();
  const std::uint32_t begin = open.begin - file_.base();
  while (!at(close)) {
    const Expr* e = read_expr();
    if (e == nullptr) {
      elements_.resize(mark);
      return nullptr;
    }
    elements_.push_back(e);
    if (!accept(Tok::Comma)) break;
  }
  const List<const Expr*> list = ctx_.arena().copy(List<const Expr*>(elements_).subspan(mark));
  elements_.resize(mark);
  if (at_word("for")) {
    diags_.report<diag::foreign_python>(span(tok_), "a comprehension")
        .help("write the elements out, or use a loop: 'for i in {}.range(...):'", style_.prefix);
    return nullptr;
  }
  if (!expect(close, "after the elements")) return nullptr;
  foldable_ = false;
  const bool indices = std::all_of(list.begin(), list.end(),
                                   [&](const Expr* e) { return e->type == ctx_.scalar(DType::INDEX); });
  if (!indices) return ctx_.make_tuple(list, span_from(begin));
  if (list.size() >= index_tuples_.size()) index_tuples_.resize(list.size() + 1, nullptr);
  const Type*& type = index_tuples_[list.size()];
  if (type == nullptr) type = ctx_.make_tuple(list)->type;
  return ctx_.make(MakeTuple{{ExprKind::MakeTuple, span_from(begin), type}, list});
}

const Expr* Reader::read_atom() {
  if (at(Tok::Name)) return read_name_atom();
  if (at(Tok::Int) || at(Tok::Float)) return read_number(false, tok_.begin);
  if (at(Tok::LBracket)) {
    const Token open = take();
    return read_list(Tok::RBracket, span(open));
  }
  if (at(Tok::LParen)) {
    const Token open = take();
    if (at(Tok::RParen)) return read_list(Tok::RParen, span(open));
    const bool store = store_target_;
    store_target_ = false;
    const Expr* e = read_expr();
    store_target_ = store;
    if (e == nullptr) return nullptr;
    if (at(Tok::Comma)) {
      // (a, b) as a value
      std::vector<const Expr*> elements{e};
      while (accept(Tok::Comma)) {
        if (at(Tok::RParen)) break;
        const Expr* more = read_expr();
        if (more == nullptr) return nullptr;
        elements.push_back(more);
      }
      if (!expect(Tok::RParen, "after the elements")) return nullptr;
      foldable_ = false;
      return ctx_.make_tuple(ctx_.list(elements), span_from(open.begin));
    }
    if (!expect(Tok::RParen, "after the expression")) return nullptr;
    return e;
  }
  if (at(Tok::String)) {
    diags_.report<diag::string_value>(span(tok_))
        .help("a string may only stand where an op or a scope takes one");
    return nullptr;
  }
  unexpected("an expression");
  return nullptr;
}

const Expr* Reader::read_name_atom() {
  const Token first = tok_;
  const std::string_view word = text(first);
  foldable_ = false;
  const Tok second = after_name();
  if (second != Tok::Dot && second != Tok::LParen) {
    take();
    if (word == "True" || word == "False") return ctx_.const_bool(word == "True", span(first));
    const Name name = ctx_.name(word);
    const Var* bound = lookup(name);
    if (bound != nullptr && !in_type_) {
      note_var(span(first), bound, false);
      return bound;
    }
    if (bound == nullptr && (word == "inf" || word == "nan") && dynamic(name) == nullptr) {
      saw_legacy_ = true;
      const double value = word == "inf" ? std::numeric_limits<double>::infinity() : std::nan("");
      return ctx_.const_float(value, DType::FP32, span(first));
    }
    for (const std::string_view python : kForeignWords) {
      if (word == python) {
        diags_.report<diag::unexpected_token>(span(first), "an expression", fmt::format("'{}'", word));
        return nullptr;
      }
    }
    return resolve_name(name, span(first));
  }
  Path path;
  if (!read_path(path)) return nullptr;
  if (!at(Tok::LParen)) {
    if (path.head == style_.prefix) {
      std::string_view rest = path.rest;
      if (rest.substr(0, 4) == "Mem." || rest.substr(0, 12) == "MemorySpace.") {
        rest.remove_prefix(rest.find('.') + 1);
        MemSpace space{};
        if (!enum_from_text("Mem", rest, path.span, space)) return nullptr;
        // In the place of a value a memory space is its number (alloc's first operand).
        return ctx_.const_int(static_cast<std::int64_t>(space), DType::INDEX, path.span);
      }
    }
    AttrValue value;
    bool known = false;
    const std::size_t dot = path.rest.rfind('.');
    if (dot != std::string_view::npos) {
      if (!enum_value(path.rest.substr(0, dot), path.rest.substr(dot + 1), path.span, value, known))
        return nullptr;
      if (known && value.kind == AttrKind::Int) return ctx_.const_int(value.integer, DType::INDEX, path.span);
    }
    diags_.report<diag::not_a_value>(path.span, file_.text().substr(path.begin, prev_end_ - path.begin))
        .help("dtypes, enum members and functions stand only where an op or a type takes them");
    return nullptr;
  }
  const bool store = store_target_;
  store_target_ = false;
  const std::vector<AuthoringIndex> pending = std::move(store_indices_);
  store_indices_.clear();
  const Expr* e = read_call(path);
  store_target_ = store;
  foldable_ = false;
  if (e != nullptr && e->kind == ExprKind::ConstInt && (path.rest.size() > 9 || path.rest == "const"))
    foldable_ = false;
  return e;
}

}  // namespace pldc
