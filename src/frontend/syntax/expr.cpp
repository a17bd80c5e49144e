// expr = or-expr; precedence as in format.md 2.9.1 (or, xor, and, not, comparisons, |, ^, &, shifts, + -, * /
// // %, unary - ~, ** from the right). atom = NAME | number | True | False | call | "[" exprs "]" | "(" expr
// ")" | atom "[" i "]"
#include <cmath>
#include <cstring>
#include <limits>

#include "frontend/reader.h"
#include "frontend/reader_enum.h"
#include "frontend/writer.h"
#include "ir/authoring.h"
#include "support/diag/lex.h"
#include "support/diag/parse.h"

namespace pldc {

namespace {

constexpr int kNotLevel = 4;
constexpr int kUnaryLevel = 12;
constexpr int kPowLevel = 13;

struct Operator {
  Tok token;
  BinaryOp op;
};
constexpr Operator kOperators[] = {
    {Tok::EqEq, BinaryOp::Eq},
    {Tok::NotEq, BinaryOp::Ne},
    {Tok::Lt, BinaryOp::Lt},
    {Tok::Le, BinaryOp::Le},
    {Tok::Gt, BinaryOp::Gt},
    {Tok::Ge, BinaryOp::Ge},
    {Tok::Pipe, BinaryOp::BitOr},
    {Tok::Caret, BinaryOp::BitXor},
    {Tok::Amp, BinaryOp::BitAnd},
    {Tok::Shl, BinaryOp::Shl},
    {Tok::Shr, BinaryOp::Shr},
    {Tok::Plus, BinaryOp::Add},
    {Tok::Minus, BinaryOp::Sub},
    {Tok::Star, BinaryOp::Mul},
    {Tok::Slash, BinaryOp::FloatDiv},
    {Tok::DSlash, BinaryOp::FloorDiv},
    {Tok::Percent, BinaryOp::FloorMod},
    {Tok::DStar, BinaryOp::Pow},
};

std::optional<BinaryOp> operator_of(Tok kind) {
  if (kind < Tok::Plus) return std::nullopt;  // most tokens behind an expression are brackets and commas
  for (const Operator& o : kOperators) {
    if (o.token == kind) return o.op;
  }
  return std::nullopt;
}

}  // namespace

const Expr* Reader::read_expr(int level) {
  const std::uint32_t begin = tok_.begin;
  const DepthGuard guard(*this);
  if (too_deep(span(tok_))) return nullptr;
  const Expr* lhs = nullptr;
  if (at(Tok::Name) && at_word("not")) {
    take();
    const Expr* operand = read_expr(kNotLevel);
    if (operand == nullptr) return nullptr;
    foldable_ = false;
    lhs = ctx_.unary(UnaryOp::Not, operand, span_from(begin));
  } else {
    lhs = read_unary();
  }
  std::uint32_t chain = 0;
  while (lhs != nullptr) {
    std::optional<BinaryOp> op = operator_of(tok_.kind);
    if (!op && at(Tok::Name)) {
      const std::string_view word = text(tok_);
      if (word == "and") op = BinaryOp::And;
      if (word == "or") op = BinaryOp::Or;
      if (word == "xor") op = BinaryOp::Xor;
      if (word == "in" || word == "is" || word == "if") {
        // `for x in` is read elsewhere; in an expression these are Python that the language does not have.
        break;
      }
    }
    if (!op) break;
    const int op_level = info_of(*op).level;
    if (op_level < level || (op_level == level && level != 0 && *op != BinaryOp::Pow)) break;
    // A left-leaning chain makes a tree as deep as it is long.
    if (++chain + depth_ > options_.max_depth * 8) {
      diags_.report<diag::too_deep>(span(tok_), "operators", options_.max_depth * 8);
      return nullptr;
    }
    if (*op == BinaryOp::Xor) saw_legacy_ = true;
    take();
    const bool lhs_foldable = foldable_;
    foldable_ = false;
    // Operators of one level group to the left, ** to the right.
    const Expr* rhs = *op == BinaryOp::Pow ? read_expr(kUnaryLevel) : read_expr(op_level);
    if (rhs == nullptr) return nullptr;
    lhs = make_binary(*op, lhs, rhs, lhs_foldable && foldable_, span_from(begin));
  }
  return lhs;
}

const Expr* Reader::make_binary(BinaryOp op, const Expr* lhs, const Expr* rhs, bool foldable, Span where) {
  foldable_ = false;
  lhs = typed(lhs);
  rhs = typed(rhs);
  if (!authoring_) {
    // Constants of an all-constant tree print typed, so a bare negative literal beside one was a negation.
    if (is_all_constant(lhs) && is_all_constant(rhs)) {
      lhs = unfold_negative(lhs);
      rhs = unfold_negative(rhs);
    }
    return ctx_.binary(op, lhs, rhs, where);
  }
  if (foldable && !is_comparison(op) && !is_logical(op)) {
    const std::uint32_t errors = diags_.error_count();
    if (const Expr* folded = fold(op, lhs, rhs, where)) {
      foldable_ = true;
      return folded;
    }
    if (diags_.error_count() != errors) return nullptr;
  }
  return author_binary(ctx_, diags_, op, lhs, rhs, where);
}

bool Reader::is_all_constant(const Expr* e) const {
  if (e->kind == ExprKind::ConstInt) return true;
  const auto* binary = dyn<Binary>(e);
  return binary != nullptr && is_all_constant(binary->lhs) && is_all_constant(binary->rhs);
}

const Expr* Reader::unfold_negative(const Expr* e) {
  const auto* i = dyn<ConstInt>(e);
  if (i == nullptr || i->value >= 0 || i->dtype != DType::INDEX || !i->span.valid()) return e;
  if (file_.text()[i->span.begin - file_.base()] != '-') return e;
  if (i->value == std::numeric_limits<std::int64_t>::min()) return e;
  return ctx_.unary(UnaryOp::Neg, ctx_.const_int(-i->value, i->dtype, {i->span.begin + 1, i->span.end}),
                    i->span);
}

// Literals and module constants fold as in Python; null where they do not (format.md 2.9.3).
const Expr* Reader::fold(BinaryOp op, const Expr* lhs, const Expr* rhs, Span where) {
  const auto* a = dyn<ConstInt>(lhs);
  const auto* b = dyn<ConstInt>(rhs);
  const auto number = [](const Expr* e) {
    const auto* i = dyn<ConstInt>(e);
    return i != nullptr ? static_cast<double>(i->value) : static_cast<const ConstFloat*>(e)->value;
  };
  const auto is_number = [](const Expr* e) {
    return e->kind == ExprKind::ConstInt || e->kind == ExprKind::ConstFloat;
  };
  if (!is_number(lhs) || !is_number(rhs)) return nullptr;
  const bool divides = op == BinaryOp::FloatDiv || op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod;
  if (divides && number(rhs) == 0) {
    diags_.report<diag::constant_division>(where).help("the divisor of a constant expression must not be 0");
    return nullptr;
  }
  if (a != nullptr && b != nullptr && op != BinaryOp::FloatDiv) {
    std::int64_t result = 0;
    bool overflow = false;
    const std::int64_t x = a->value;
    const std::int64_t y = b->value;
    switch (op) {
      case BinaryOp::Add:
        overflow = __builtin_add_overflow(x, y, &result);
        break;
      case BinaryOp::Sub:
        overflow = __builtin_sub_overflow(x, y, &result);
        break;
      case BinaryOp::Mul:
        overflow = __builtin_mul_overflow(x, y, &result);
        break;
      case BinaryOp::FloorDiv:
      case BinaryOp::FloorMod: {
        if (x == std::numeric_limits<std::int64_t>::min() && y == -1) {
          overflow = true;
          break;
        }
        std::int64_t quotient = x / y;
        if (x % y != 0 && (x < 0) != (y < 0)) --quotient;
        result = op == BinaryOp::FloorDiv ? quotient : x - quotient * y;
        break;
      }
      case BinaryOp::Pow: {
        if (y < 0) return nullptr;
        result = 1;
        for (std::int64_t i = 0; i < y && !overflow; ++i) {
          overflow = __builtin_mul_overflow(result, x, &result);
          if (result == 0 || (result == 1 && x == 1)) break;
          if (i > 128 && x != -1) overflow = true;
        }
        break;
      }
      case BinaryOp::Shl:
        if (y < 0 || y > 62) {
          overflow = true;
        } else {
          overflow = __builtin_mul_overflow(x, std::int64_t{1} << y, &result);
        }
        break;
      case BinaryOp::Shr:
        if (y < 0) return nullptr;
        result = x >> std::min<std::int64_t>(y, 63);
        break;
      case BinaryOp::BitAnd:
        result = x & y;
        break;
      case BinaryOp::BitOr:
        result = x | y;
        break;
      case BinaryOp::BitXor:
        result = x ^ y;
        break;
      case BinaryOp::Or:
      case BinaryOp::Xor:
      case BinaryOp::And:
      case BinaryOp::Eq:
      case BinaryOp::Ne:
      case BinaryOp::Lt:
      case BinaryOp::Le:
      case BinaryOp::Gt:
      case BinaryOp::Ge:
      case BinaryOp::FloatDiv:
      case BinaryOp::Min:
      case BinaryOp::Max:
        return nullptr;
    }
    if (overflow) {
      diags_.report<diag::constant_overflow>(where).help("the value must fit 64 bits");
      return nullptr;
    }
    return ctx_.const_int(result, DType::INDEX, where);
  }
  const double x = number(lhs);
  const double y = number(rhs);
  double result = 0;
  if (op == BinaryOp::Add) {
    result = x + y;
  } else if (op == BinaryOp::Sub) {
    result = x - y;
  } else if (op == BinaryOp::Mul) {
    result = x * y;
  } else if (op == BinaryOp::FloatDiv) {
    result = x / y;
  } else if (op == BinaryOp::FloorDiv) {
    result = std::floor(x / y);
  } else if (op == BinaryOp::FloorMod) {
    result = x - std::floor(x / y) * y;
  } else if (op == BinaryOp::Pow) {
    result = std::pow(x, y);
  } else {
    return nullptr;
  }
  return ctx_.const_float(result, DType::FP32, where);
}

const Expr* Reader::read_unary() {
  const std::uint32_t begin = tok_.begin;
  if (at(Tok::Minus)) {
    take();
    if (at(Tok::Int) || at(Tok::Float)) {
      // A minus before a literal makes a negative constant (G6).
      const Expr* number = read_number(true, begin);
      return number;
    }
    if (at_word("inf") || at_word("nan")) {
      const Name name = ctx_.name(text(tok_));
      if (lookup(name) == nullptr) {
        saw_legacy_ = true;
        const double value = text(take()) == "inf" ? std::numeric_limits<double>::infinity() : std::nan("");
        foldable_ = false;
        return ctx_.const_float(-value, DType::FP32, span_from(begin));
      }
    }
    const DepthGuard guard(*this);
    if (too_deep(span(tok_))) return nullptr;
    const Expr* operand = read_expr(kUnaryLevel);
    if (operand == nullptr) return nullptr;
    if (authoring_ && foldable_) {
      if (const auto* i = dyn<ConstInt>(operand))
        return ctx_.const_int(-i->value, i->dtype, span_from(begin));
      if (const auto* f = dyn<ConstFloat>(operand))
        return ctx_.const_float(-f->value, f->dtype, span_from(begin));
    }
    if (authoring_) {
      // -pl.const(...) is a negative constant too.
      if (const auto* i = dyn<ConstInt>(operand))
        return ctx_.const_int(-i->value, i->dtype, span_from(begin));
      if (const auto* f = dyn<ConstFloat>(operand))
        return ctx_.const_float(-f->value, f->dtype, span_from(begin));
    }
    foldable_ = false;
    return ctx_.unary(UnaryOp::Neg, operand, span_from(begin));
  }
  if (at(Tok::Tilde)) {
    take();
    const DepthGuard guard(*this);
    if (too_deep(span(tok_))) return nullptr;
    const Expr* operand = read_expr(kUnaryLevel);
    if (operand == nullptr) return nullptr;
    foldable_ = false;
    return ctx_.unary(UnaryOp::BitNot, operand, span_from(begin));
  }
  if (at(Tok::Plus)) {
    take();
    return read_unary();
  }
  return read_postfix();
}

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
  const Expr* value = read_expr();
  if (value == nullptr) return false;
  Comments comments;
  const Span whole = span_from(first.begin);
  if (!end_line(comments)) return false;
  flush_hoisted(block);
  const Expr* stored = author_store_subscript(ctx_, diags_, var, indices, value, whole);
  if (stored == nullptr) return true;
  const Var* result = assign_target(var->name, span(first), stored->type);
  block.stmts.push_back(ctx_.assign(result, stored, whole, comments));
  return true;
}

const Expr* Reader::read_list(Tok close, Span open) {
  std::vector<const Expr*> elements;
  const std::uint32_t begin = open.begin - file_.base();
  while (!at(close)) {
    const Expr* e = read_expr();
    if (e == nullptr) return nullptr;
    elements.push_back(e);
    if (!accept(Tok::Comma)) break;
  }
  if (!expect(close, "after the elements")) return nullptr;
  foldable_ = false;
  return ctx_.make_tuple(ctx_.list(elements), span_from(begin));
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
  const Tok second = peek2().kind;
  if (second != Tok::Dot && second != Tok::LParen) {
    take();
    if (word == "True" || word == "False") return ctx_.const_bool(word == "True", span(first));
    const Name name = ctx_.name(word);
    if (lookup(name) == nullptr && (word == "inf" || word == "nan") && dynamic(name) == nullptr) {
      saw_legacy_ = true;
      const double value = word == "inf" ? std::numeric_limits<double>::infinity() : std::nan("");
      return ctx_.const_float(value, DType::FP32, span(first));
    }
    for (const std::string_view python : {"None", "lambda", "if", "else", "for", "in", "is", "await", "yield",
                                          "def", "while", "return", "class"}) {
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

// --- printing
// --------------------------------------------------------------------------------------------------

namespace {

int level_of(const Expr* e, bool dump) {
  switch (e->kind) {
    case ExprKind::Binary: {
      const BinaryOp op = static_cast<const Binary*>(e)->op;
      if (op == BinaryOp::Xor && dump) return 14;
      return info_of(op).level;
    }
    case ExprKind::Unary:
      switch (static_cast<const Unary*>(e)->op) {
        case UnaryOp::Neg:
        case UnaryOp::BitNot:
          return kUnaryLevel;
        case UnaryOp::Not:
          return kNotLevel;
        case UnaryOp::Abs:
          return 14;
      }
      return 14;
    case ExprKind::Cast:
    case ExprKind::Call:
      return 14;
    case ExprKind::Var:
    case ExprKind::ConstInt:
    case ExprKind::ConstFloat:
    case ExprKind::ConstBool:
    case ExprKind::Submit:
    case ExprKind::MakeTuple:
    case ExprKind::TupleGet:
      return 15;
  }
  return 15;
}

// A tree of binary nodes over integer constants only: its INDEX constants print typed, or the reader would
// fold them.
bool all_constant(const Expr* e) {
  if (e->kind == ExprKind::ConstInt) return true;
  const auto* binary = dyn<Binary>(e);
  return binary != nullptr && all_constant(binary->lhs) && all_constant(binary->rhs);
}

}  // namespace

void Writer::child(const Expr* e, int parent, bool tie_needs_parens) {
  const int level = level_of(e, options_.dialect == Dialect::Dump);
  const bool parens = level < parent || (level == parent && tie_needs_parens);
  if (parens) out_ += '(';
  expr(e);
  if (parens) out_ += ')';
}

void Writer::exprs(List<const Expr*> list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i != 0) out_ += ", ";
    expr(list[i]);
  }
}

void Writer::constant(std::int64_t value, DType d) {
  if (d == DType::INDEX && !typed_index_) {
    integer(value);
    return;
  }
  prefix();
  out_ += "const(";
  integer(value);
  out_ += ", ";
  dtype(d);
  out_ += ')';
}

void Writer::expr(const Expr* e) {
  switch (e->kind) {
    case ExprKind::Var:
      if (plain_names_) {
        out_ += plain_name(static_cast<const Var*>(e));
      } else {
        out_ += name(static_cast<const Var*>(e));
      }
      return;
    case ExprKind::ConstInt:
      constant(static_cast<const ConstInt*>(e)->value, static_cast<const ConstInt*>(e)->dtype);
      return;
    case ExprKind::ConstFloat: {
      const auto* f = static_cast<const ConstFloat*>(e);
      const bool bits = !std::isfinite(f->value) && options_.dialect == Dialect::Dump;
      const auto value = [&] {
        if (bits) {
          float_bits(f->value);
        } else {
          floating(f->value);
        }
      };
      if (f->dtype == DType::FP32) {
        value();
        return;
      }
      prefix();
      out_ += "const(";
      value();
      out_ += ", ";
      dtype(f->dtype);
      out_ += ')';
      return;
    }
    case ExprKind::ConstBool:
      out_ += static_cast<const ConstBool*>(e)->value ? "True" : "False";
      return;
    case ExprKind::Binary:
      binary(*static_cast<const Binary*>(e));
      return;
    case ExprKind::Unary: {
      const auto* u = static_cast<const Unary*>(e);
      switch (u->op) {
        case UnaryOp::Neg:
          out_ += '-';
          child(u->operand, kUnaryLevel, false);
          return;
        case UnaryOp::BitNot:
          out_ += '~';
          child(u->operand, kUnaryLevel, false);
          return;
        case UnaryOp::Not:
          out_ += "not ";
          child(u->operand, kNotLevel, false);
          return;
        case UnaryOp::Abs:
          out_ += "abs(";
          expr(u->operand);
          out_ += ')';
          return;
      }
      return;
    }
    case ExprKind::Cast: {
      prefix();
      out_ += "cast(";
      expr(static_cast<const Cast*>(e)->operand);
      out_ += ", ";
      dtype(scalar_dtype(e->type).value_or(DType::INDEX));
      out_ += ')';
      return;
    }
    case ExprKind::Call:
      call(*static_cast<const Call*>(e));
      return;
    case ExprKind::Submit:
      submit(*static_cast<const Submit*>(e));
      return;
    case ExprKind::MakeTuple:
      out_ += '[';
      exprs(static_cast<const MakeTuple*>(e)->elements);
      out_ += ']';
      return;
    case ExprKind::TupleGet: {
      const auto* get = static_cast<const TupleGet*>(e);
      expr(get->tuple);
      out_ += '[';
      integer(get->index);
      out_ += ']';
      return;
    }
  }
}

void Writer::binary(const Binary& b) {
  const auto pair = [&](std::string_view head) {
    out_ += head;
    expr(b.lhs);
    out_ += ", ";
    expr(b.rhs);
    out_ += ')';
  };
  if (b.op == BinaryOp::Min || b.op == BinaryOp::Max) {
    prefix();
    pair(b.op == BinaryOp::Min ? "min(" : "max(");
    return;
  }
  if (b.op == BinaryOp::Xor && options_.dialect == Dialect::Dump) {
    prefix();
    pair("_dump.logical_xor(");
    return;
  }
  const bool outer = typed_index_;
  if (!typed_index_ && (b.lhs->kind == ExprKind::ConstInt || b.lhs->kind == ExprKind::Binary) &&
      all_constant(&b)) {
    typed_index_ = true;
  }
  const BinaryInfo& info = info_of(b.op);
  const bool right_associative = b.op == BinaryOp::Pow;
  child(b.lhs, info.level, right_associative);
  out_ += ' ';
  out_ += info.text;
  out_ += ' ';
  child(b.rhs, info.level, !right_associative);
  typed_index_ = outer;
}

}  // namespace pldc
