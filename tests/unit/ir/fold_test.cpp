// Integer operations on constants: Python's results where they fit, else what is wrong.
#include "ir/fold.h"

#include <limits>

#include "support/catch.h"

using namespace pldc;

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

void gives(std::int64_t a, BinaryOp op, std::int64_t b, std::int64_t value) {
  const FoldedInt folded = fold_int(op, a, b);
  INFO(a << " " << info_of(op).text << " " << b);
  CHECK(folded.good());
  CHECK(folded.value == value);
}

void fails(std::int64_t a, BinaryOp op, std::int64_t b, FoldFailure failure) {
  INFO(a << " " << info_of(op).text << " " << b);
  CHECK(fold_int(op, a, b).failure == failure);
}

}  // namespace

TEST_CASE("division of constants rounds down") {
  gives(7, BinaryOp::FloorDiv, 2, 3);
  gives(-7, BinaryOp::FloorDiv, 2, -4);
  gives(7, BinaryOp::FloorDiv, -2, -4);
  gives(-7, BinaryOp::FloorDiv, -2, 3);
  gives(-8, BinaryOp::FloorDiv, 2, -4);
  gives(-7, BinaryOp::FloorMod, 2, 1);
  gives(7, BinaryOp::FloorMod, -2, -1);
  gives(-7, BinaryOp::FloorMod, -2, -1);
  gives(kMin, BinaryOp::FloorMod, -1, 0);
  gives(5, BinaryOp::FloorDiv, -1, -5);
  fails(kMin, BinaryOp::FloorDiv, -1, FoldFailure::Overflow);
  fails(1, BinaryOp::FloorDiv, 0, FoldFailure::ZeroDivisor);
  fails(1, BinaryOp::FloorMod, 0, FoldFailure::ZeroDivisor);
}

TEST_CASE("constants beyond 64 bits do not fold") {
  fails(kMax, BinaryOp::Add, 1, FoldFailure::Overflow);
  fails(kMin, BinaryOp::Sub, 1, FoldFailure::Overflow);
  fails(0, BinaryOp::Sub, kMin, FoldFailure::Overflow);
  fails(kMax, BinaryOp::Mul, 2, FoldFailure::Overflow);
  gives(kMax, BinaryOp::Mul, -1, -kMax);
  gives(-2, BinaryOp::Pow, 63, kMin);
  fails(2, BinaryOp::Pow, 63, FoldFailure::Overflow);
  gives(-1, BinaryOp::Pow, kMax, -1);
  gives(0, BinaryOp::Pow, 0, 1);
  fails(2, BinaryOp::Pow, -1, FoldFailure::NoInteger);
}

TEST_CASE("shifts of constants") {
  gives(1, BinaryOp::Shl, 62, std::int64_t{1} << 62);
  gives(-1, BinaryOp::Shl, 63, kMin);
  gives(0, BinaryOp::Shl, 1000, 0);
  fails(1, BinaryOp::Shl, 63, FoldFailure::Overflow);
  fails(1, BinaryOp::Shl, 64, FoldFailure::Overflow);
  fails(1, BinaryOp::Shl, -1, FoldFailure::NoInteger);
  gives(-5, BinaryOp::Shr, 1, -3);
  gives(-5, BinaryOp::Shr, 200, -1);
  gives(5, BinaryOp::Shr, 200, 0);
  fails(5, BinaryOp::Shr, -1, FoldFailure::NoInteger);
}

TEST_CASE("operations that give no integer do not fold") {
  for (const BinaryOp op : {BinaryOp::FloatDiv, BinaryOp::And, BinaryOp::Xor, BinaryOp::Lt, BinaryOp::Eq})
    fails(1, op, 2, FoldFailure::NoInteger);
  gives(6, BinaryOp::BitAnd, 3, 2);
  gives(6, BinaryOp::BitOr, 3, 7);
  gives(6, BinaryOp::BitXor, 3, 5);
  gives(-1, BinaryOp::Min, 3, -1);
  gives(-1, BinaryOp::Max, 3, 3);
}
