#include "fuzz/generator.h"

#include <algorithm>
#include <string>
#include <vector>

namespace pldc::fuzz {

namespace {

constexpr std::string_view kHints[] = {"x",   "y",     "i",   "x_1",   "x__ssa_v0",
                                       "tmp", "True_", "pl_", "self_", "inf_"};
constexpr DType kDTypes[] = {DType::INDEX, DType::INT32, DType::INT64,
                             DType::FP32,  DType::BOOL,  DType::UINT8};
constexpr BinaryOp kArithmetic[] = {BinaryOp::Add,      BinaryOp::Sub,     BinaryOp::Mul, BinaryOp::FloorDiv,
                                    BinaryOp::FloorMod, BinaryOp::Min,     BinaryOp::Max, BinaryOp::BitAnd,
                                    BinaryOp::BitOr,    BinaryOp::BitXor,  BinaryOp::Shl, BinaryOp::Shr,
                                    BinaryOp::Pow,      BinaryOp::FloatDiv};
constexpr BinaryOp kConditions[] = {BinaryOp::Lt, BinaryOp::Le, BinaryOp::Eq,
                                    BinaryOp::Ne, BinaryOp::Gt, BinaryOp::Ge};

class Generator {
 public:
  Generator(Context& context, std::string_view bytes) : ctx_(context), bytes_(bytes) {}

  const Program* program() {
    std::vector<const Function*> functions;
    const std::size_t count = 1 + next() % 3;
    for (std::size_t i = 0; i < count; ++i) functions.push_back(function("f" + std::to_string(i)));
    Program p{};
    p.name = ctx_.name("Generated");
    p.functions = ctx_.list(functions);
    return ctx_.make(p);
  }

 private:
  std::size_t next() {
    if (at_ >= bytes_.size()) return 0;
    return static_cast<unsigned char>(bytes_[at_++]);
  }
  template <class T, std::size_t N>
  T one_of(const T (&choices)[N]) {
    return choices[next() % N];
  }
  bool spent() const { return at_ >= bytes_.size(); }

  const Var* make_var(const Type* type, bool carry = false) {
    const Var* v = ctx_.var(ctx_.name(one_of(kHints)), type, {}, carry);
    scope_.push_back(v);
    return v;
  }

  std::int64_t number() {
    constexpr std::int64_t kSpecial[] = {0, 1, -1, 7, 4095, 4096, INT64_MAX, INT64_MIN, INT32_MIN};
    return one_of(kSpecial);
  }

  const Type* value_type() {
    if (next() % 4 != 0) return ctx_.scalar(one_of(kDTypes));
    std::vector<const Expr*> shape;
    for (std::size_t n = 1 + next() % 3; n != 0; --n)
      shape.push_back(ctx_.const_int(1 + static_cast<std::int64_t>(next())));
    const DType dtype = one_of(kDTypes);
    if (next() % 2 == 0) return ctx_.tile(dtype, ctx_.list(shape), nullptr, MemSpace::Vec);
    return ctx_.tensor(TypeKind::Tensor, dtype, ctx_.list(shape));
  }

  // A scalar expression over what is in scope.
  const Expr* expr(unsigned depth) {
    const std::size_t choice = next() % 8;
    if (depth == 0 || choice < 3) {
      std::vector<const Var*> scalars;
      std::copy_if(scope_.begin(), scope_.end(), std::back_inserter(scalars),
                   [](const Var* v) { return v->type->kind == TypeKind::Scalar; });
      if (!scalars.empty() && choice != 0) return scalars[next() % scalars.size()];
      if (choice == 1) return ctx_.const_float(static_cast<double>(number()) / 3, DType::FP32);
      return ctx_.const_int(number(), next() % 2 == 0 ? DType::INDEX : DType::INT32);
    }
    if (choice == 3) {
      const Expr* operand = expr(depth - 1);
      // The minus of a number belongs to the number.
      const bool number = operand->kind == ExprKind::ConstInt || operand->kind == ExprKind::ConstFloat;
      return number ? operand : ctx_.unary(UnaryOp::Neg, operand);
    }
    if (choice == 4) return ctx_.cast(expr(depth - 1), one_of(kDTypes));
    const BinaryOp op = one_of(kArithmetic);
    const Expr* lhs = expr(depth - 1);
    return ctx_.binary(op, lhs, expr(depth - 1));
  }

  const Expr* condition() {
    const BinaryOp op = one_of(kConditions);
    const Expr* lhs = expr(2);
    const Expr* compare = ctx_.binary(op, lhs, expr(2));
    return next() % 4 == 0 ? ctx_.unary(UnaryOp::Not, compare) : compare;
  }

  Body body(unsigned depth) {
    const std::size_t outer = scope_.size();
    std::vector<const Stmt*> stmts;
    for (std::size_t n = 1 + next() % 4; n != 0; --n) stmts.push_back(stmt(depth));
    scope_.resize(outer);
    return ctx_.list(stmts);
  }

  const Stmt* stmt(unsigned depth) {
    const std::size_t choice = depth == 0 || spent() ? 0 : next() % 6;
    if (choice == 4) {
      IfStmt s{};
      s.kind = StmtKind::If;
      s.condition = condition();
      s.then_body = body(depth - 1);
      s.has_else = next() % 2 == 0;
      if (s.has_else) s.else_body = body(depth - 1);
      return ctx_.make(s);
    }
    if (choice == 5) {
      ForStmt s{};
      s.kind = StmtKind::For;
      s.for_kind = next() % 2 == 0 ? ForKind::Sequential : ForKind::Parallel;
      // The variable has the type of the bounds.
      s.start = ctx_.const_int(number());
      s.stop = ctx_.const_int(number());
      s.step = ctx_.const_int(number());
      const std::size_t outer = scope_.size();
      s.loop_var = make_var(ctx_.scalar(DType::INDEX));
      s.body = body(depth - 1);
      scope_.resize(outer);
      return ctx_.make(s);
    }
    const Expr* value = expr(3);
    return ctx_.assign(make_var(value->type), value);
  }

  const Function* function(const std::string& name) {
    scope_.clear();
    std::vector<Param> params;
    for (std::size_t n = next() % 4; n != 0; --n) {
      const Type* type = value_type();
      params.push_back(
          {make_var(type), type->kind == TypeKind::Scalar ? ParamDirection::In : ParamDirection::InOut, {}});
    }
    Function f{};
    f.name = ctx_.name(name);
    f.func_type = FuncType::Opaque;
    f.params = ctx_.list(params);
    f.body = body(4);
    return ctx_.make(f);
  }

  Context& ctx_;
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::vector<const Var*> scope_;
};

}  // namespace

const Program* generate(Context& context, std::string_view bytes) {
  return Generator(context, bytes).program();
}

}  // namespace pldc::fuzz
