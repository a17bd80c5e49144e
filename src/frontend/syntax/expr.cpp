// expr = or-expr; precedence as in format.md 2.9.1 (or, xor, and, not, comparisons, |, ^, &, shifts, + -, * / // %,
// unary - ~, ** from the right).
#include "frontend/reader.h"
#include "frontend/writer.h"
#include "ir/authoring.h"
#include "support/diag/lex.h"

namespace pldc {

namespace {

constexpr int kNotLevel = 4;
constexpr int kUnaryLevel = 12;
constexpr int kAtomLevel = 15;

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
    // -pl.const(...) is a negative constant too.
    if (authoring_ && (operand->kind == ExprKind::ConstInt || operand->kind == ExprKind::ConstFloat))
      return negated(operand, span_from(begin));
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
      return kAtomLevel;
  }
  return kAtomLevel;
}

// A tree of binary nodes over integer constants only: its INDEX constants print typed, or the reader would
// fold them.
bool all_constant(const Expr* e) {
  if (e->kind == ExprKind::ConstInt) return true;
  const auto* binary = dyn<Binary>(e);
  return binary != nullptr && all_constant(binary->lhs) && all_constant(binary->rhs);
}

// A power of a literal; those of constants only print typed.
bool begins_with_literal(const Expr* e) {
  const auto* power = dyn<Binary>(e);
  if (power == nullptr || power->op != BinaryOp::Pow || all_constant(power)) return false;
  const auto* i = dyn<ConstInt>(power->lhs);
  const auto* f = dyn<ConstFloat>(power->lhs);
  return (i != nullptr && i->dtype == DType::INDEX) || (f != nullptr && f->dtype == DType::FP32);
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
          // A minus before a literal would be part of it (G6).
          child(u->operand, begins_with_literal(u->operand) ? kAtomLevel : kUnaryLevel, false);
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
