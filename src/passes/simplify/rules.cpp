#include "passes/simplify/rules.h"

#include <algorithm>
#include <cctype>
#include <deque>

#include "ir/walk.h"
#include "support/check.h"

namespace pldc::simplify {

namespace {

constexpr std::string_view kLetters[kLetterCount] = {"x", "y", "z", "c", "c1", "c2", "c3"};
constexpr int kFirstConstant = 3;
constexpr int kMaxCopiedNodes = 32;

// Owns the terms of all rules.
class Table {
 public:
  Table() {
#define PLDC_REWRITE(pattern, result, condition) add(pattern, result, condition, false);
#define PLDC_REWRITE_MIN_MAX(pattern, result, condition) \
  add(pattern, result, condition, false);                \
  add(pattern, result, condition, true);
#include "passes/simplify/rules.def"
#undef PLDC_REWRITE
#undef PLDC_REWRITE_MIN_MAX
  }

  std::array<std::vector<Rule>, std::size(kBinaryInfo)> binary;
  std::array<std::vector<Rule>, 4> unary;

 private:
  // A reader of one text by precedence climbing; the operators and levels are the language's.
  class Reader {
   public:
    Reader(Table& table, std::string_view text, bool swap) : table_(table), rest_(text), swap_(swap) {}

    const Term* whole() {
      const Term* term = expression(0);
      PLDC_CHECK(peek().empty(), "rest of a rule: " + std::string(rest_));
      return term;
    }

   private:
    std::string_view peek() {
      while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
      std::size_t n = 0;
      const auto word = [&](std::size_t i) {
        return std::isalnum(static_cast<unsigned char>(rest_[i])) != 0;
      };
      while (n < rest_.size() && word(n)) ++n;
      if (n > 0 || rest_.empty()) return rest_.substr(0, n);
      const std::string_view two = rest_.substr(0, 2);
      return two == "//" || two == "==" || two == "!=" || two == "<=" || two == ">=" ? two
                                                                                     : rest_.substr(0, 1);
    }
    std::string_view next() {
      const std::string_view token = peek();
      rest_.remove_prefix(token.size());
      return token;
    }
    void expect(std::string_view token) { PLDC_CHECK(next() == token, "a rule lacks " + std::string(token)); }
    static int letter(std::string_view name) {
      for (std::size_t i = 0; i < kLetterCount; ++i) {
        if (kLetters[i] == name) return static_cast<int>(i);
      }
      return -1;
    }

    const Term* expression(int level) {
      const Term* lhs = operand();
      while (true) {
        const std::string_view token = peek();
        std::size_t op = 0;
        while (op < std::size(kBinaryInfo) && kBinaryInfo[op].text != token) ++op;
        if (op == std::size(kBinaryInfo) || kBinaryInfo[op].level <= level) return lhs;
        next();
        const Term* rhs = expression(kBinaryInfo[op].level);
        lhs = table_.binary_term(static_cast<BinaryOp>(op), lhs, rhs);
      }
    }

    const Term* operand() {
      const std::string_view token = next();
      Term term;
      if (token == "(") {
        const Term* inner = expression(0);
        expect(")");
        return inner;
      }
      if (token == "-" || token == "not") {
        term.kind = Term::Kind::Unary;
        term.unary = token == "-" ? UnaryOp::Neg : UnaryOp::Not;
        // `not` binds looser than comparisons, the sign tighter than everything.
        term.lhs = token == "-" ? operand() : expression(info_of(BinaryOp::And).level);
        return table_.keep(term);
      }
      if (token == "min" || token == "max") {
        expect("(");
        const Term* lhs = expression(0);
        expect(",");
        const Term* rhs = expression(0);
        expect(")");
        return table_.binary_term((token == "min") != swap_ ? BinaryOp::Min : BinaryOp::Max, lhs, rhs);
      }
      if (token == "true" || token == "false") {
        term.kind = Term::Kind::Bool;
        term.value = token == "true" ? 1 : 0;
        return table_.keep(term);
      }
      if (std::isdigit(static_cast<unsigned char>(token[0])) != 0) {
        for (const char digit : token) term.value = term.value * 10 + (digit - '0');
        if (peek() == ":") {
          next();
          term.letter = letter(next());
        }
        return table_.keep(term);
      }
      term.letter = letter(token);
      PLDC_CHECK(term.letter >= 0, "no letter: " + std::string(token));
      term.kind = term.letter < kFirstConstant ? Term::Kind::Expr : Term::Kind::Constant;
      return table_.keep(term);
    }

    Table& table_;
    std::string_view rest_;
    bool swap_;  // min for max and the other way round
  };

  const Term* keep(const Term& term) { return &terms_.emplace_back(term); }
  const Term* binary_term(BinaryOp op, const Term* lhs, const Term* rhs) {
    Term term;
    term.kind = Term::Kind::Binary;
    term.op = op;
    term.lhs = lhs;
    term.rhs = rhs;
    return keep(term);
  }

  void add(std::string_view pattern, std::string_view result, std::string_view condition, bool swap) {
    const Term* root = Reader(*this, pattern, swap).whole();
    const Term* to = Reader(*this, result, swap).whole();
    const Term* when = condition.empty() ? nullptr : Reader(*this, condition, false).whole();
    auto& list = root->kind == Term::Kind::Binary ? binary[static_cast<std::size_t>(root->op)]
                                                  : unary[static_cast<std::size_t>(root->unary)];
    std::array<int, kFirstConstant> uses{};
    count_uses(to, uses);
    const auto twice = std::find_if(uses.begin(), uses.end(), [](int n) { return n > 1; });
    const int copied = twice != uses.end() ? static_cast<int>(twice - uses.begin()) : -1;
    list.push_back({root, to, when, copied, computes(root) || computes(to)});
  }

  static bool computes(const Term* term) {
    if (term == nullptr) return false;
    if (term->kind == Term::Kind::Unary && term->unary == UnaryOp::Neg) return true;
    const bool order_only = is_comparison(term->op) || is_logical(term->op) || term->op == BinaryOp::Min ||
                            term->op == BinaryOp::Max;
    if (term->kind == Term::Kind::Binary && !order_only) return true;
    return computes(term->lhs) || computes(term->rhs);
  }

  static void count_uses(const Term* term, std::array<int, kFirstConstant>& uses) {
    if (term->kind == Term::Kind::Expr) ++uses[static_cast<std::size_t>(term->letter)];
    if (term->lhs != nullptr) count_uses(term->lhs, uses);
    if (term->rhs != nullptr) count_uses(term->rhs, uses);
  }

  std::deque<Term> terms_;
};

const Table& table() {
  static const Table rules;
  return rules;
}

}  // namespace

const std::vector<Rule>& rules_for(BinaryOp op) { return table().binary[static_cast<std::size_t>(op)]; }
const std::vector<Rule>& rules_for(UnaryOp op) { return table().unary[static_cast<std::size_t>(op)]; }

bool Match::matches(const Term* pattern, const Expr* e) {
  switch (pattern->kind) {
    case Term::Kind::Constant:
      if (e->kind != ExprKind::ConstInt || !int_dtype(e)) return false;
      [[fallthrough]];
    case Term::Kind::Expr: {
      const Expr*& bound = letters_[static_cast<std::size_t>(pattern->letter)];
      if (bound == nullptr) bound = e;
      return bound == e || equal(bound, e);
    }
    case Term::Kind::Binary: {
      const auto* binary = dyn<Binary>(e);
      if (binary == nullptr || binary->op != pattern->op) return false;
      // Floats have values (NaN) that are neither below nor above another.
      if (is_comparison(binary->op) && !(int_dtype(binary->lhs) && int_dtype(binary->rhs))) return false;
      return matches(pattern->lhs, binary->lhs) && matches(pattern->rhs, binary->rhs);
    }
    case Term::Kind::Unary: {
      const auto* unary = dyn<Unary>(e);
      return unary != nullptr && unary->op == pattern->unary && matches(pattern->lhs, unary->operand);
    }
    case Term::Kind::Number:
    case Term::Kind::Bool:
      return false;  // only results have them
  }
  return false;
}

Interval Match::interval(const Term* term, const Bounds& bounds) const {
  if (term->kind == Term::Kind::Number) return Interval::point(term->value);
  if (term->kind == Term::Kind::Binary) {
    return interval_of(term->op, interval(term->lhs, bounds), interval(term->rhs, bounds));
  }
  if (term->kind == Term::Kind::Unary) return negate(interval(term->lhs, bounds));
  return bounds(letters_[static_cast<std::size_t>(term->letter)]);
}

bool Match::holds(const Term* condition, const Bounds& bounds) const {
  if (condition == nullptr) return true;
  if (condition->op == BinaryOp::And) return holds(condition->lhs, bounds) && holds(condition->rhs, bounds);
  if (condition->op == BinaryOp::Or) return holds(condition->lhs, bounds) || holds(condition->rhs, bounds);
  return always(condition->op, interval(condition->lhs, bounds), interval(condition->rhs, bounds));
}

bool Match::may_copy(int letter) const {
  if (letter < 0) return true;
  // Stops at the limit, so that this costs the same for every size.
  std::vector<const Expr*> pending{letters_[static_cast<std::size_t>(letter)]};
  int nodes = 0;
  while (!pending.empty() && nodes <= kMaxCopiedNodes) {
    const Expr* e = pending.back();
    pending.pop_back();
    ++nodes;
    for_each_child(e, [&](const Expr* child) { pending.push_back(child); });
  }
  return nodes <= kMaxCopiedNodes;
}

const Expr* Match::build(const Term* result, Folder& folder, DType dtype, Span span) const {
  switch (result->kind) {
    case Term::Kind::Expr:
    case Term::Kind::Constant:
      return letters_[static_cast<std::size_t>(result->letter)];
    case Term::Kind::Number: {
      const int like = result->letter;
      const auto other = like >= 0 ? int_dtype(letters_[static_cast<std::size_t>(like)]) : std::nullopt;
      return folder.ctx().const_int(result->value, other.value_or(dtype), span);
    }
    case Term::Kind::Bool:
      return folder.ctx().const_bool(result->value != 0, span);
    case Term::Kind::Unary: {
      const Expr* operand = build(result->lhs, folder, dtype, span);
      return operand != nullptr ? folder.unary(result->unary, operand, span) : nullptr;
    }
    case Term::Kind::Binary: {
      const Expr* lhs = build(result->lhs, folder, dtype, span);
      const Expr* rhs = lhs != nullptr ? build(result->rhs, folder, dtype, span) : nullptr;
      if (rhs == nullptr) return nullptr;
      const Expr* made = folder.binary(result->op, lhs, rhs, span);
      const bool overflow = made->kind == ExprKind::Binary && lhs->kind == ExprKind::ConstInt &&
                            rhs->kind == ExprKind::ConstInt;
      return overflow ? nullptr : made;
    }
  }
  return nullptr;
}

}  // namespace pldc::simplify
