// Sine and cosine of FP32 tiles from additions and products, for hardware without them (passes.md 2.14).
//
// x is brought to t in [-pi/2, pi/2] by taking k*pi off in parts, each part short enough that its product with k is
// exact or that what is lost no longer counts; the sine is then t*P(t^2) up to the sign (-1)^k. The cosine is the
// sine of x + pi/2, where pi/2 is added in two parts among the others. The parts of pi are those of a Cody-Waite
// reduction, P is a minimax polynomial; the error is at most 1e-5 for |x| <= 2048*pi.
#include "passes/lower_composite/collectives.h"

namespace pldc::composite {

namespace {

constexpr float kPiInverse = 0.31830988732818603515625F;
constexpr float kPi[] = {3.140625F, 0.0009670257568359375F, 6.2771141529083251953125e-7F,
                         1.21644916362129151821e-10F, -1.0290623200529979163e-13F};
constexpr float kHalfPi = 1.57079637050628662109375F;
constexpr float kHalfPiRest = -4.371139000189375e-8F;
// Highest power first; the last coefficient is 1.
constexpr float kPolynomial[] = {2.604926501e-6F, -1.980894471e-4F, 8.333049340e-3F, -1.666665792e-1F};

class Sine {
 public:
  Sine(Expansion& out, bool cosine) : out_(out), cosine_(cosine) {}

  const Expr* expand() {
    const Expr* x = out_.operand(0);
    const Var* k = multiple_of_pi(x);
    const Var* t = reduced(x, k);
    const Var* sign = sign_of(k);
    const Var* square = out_.bind("t2sq", OpId::tile_mul, {t, t});
    const Var* p = out_.bind("p_r0", scaled(square, kPolynomial[0]));
    p = out_.bind("p_r1", plus(p, kPolynomial[1]));
    p = out_.bind("p_t2_r1", OpId::tile_mul, {p, square});
    p = out_.bind("p_r2", plus(p, kPolynomial[2]));
    p = out_.bind("p_t2_r2", OpId::tile_mul, {p, square});
    p = out_.bind("p_r3", plus(p, kPolynomial[3]));
    p = out_.bind("p_t2_r3", OpId::tile_mul, {p, square});
    p = out_.bind("p_one", plus(p, 1.0F));
    const Var* value = out_.bind("t_p", OpId::tile_mul, {t, p});
    return out_.op(OpId::tile_mul, {sign, value});
  }

 private:
  const Expr* scaled(const Expr* tile, float factor) {
    return out_.op(OpId::tile_muls, {tile, out_.float32(factor)});
  }
  const Expr* plus(const Expr* tile, float value) {
    return out_.op(OpId::tile_adds, {tile, out_.float32(value)});
  }
  const Expr* converted(const Expr* tile, DType dtype, CastMode mode) {
    return out_.op(OpId::tile_cast, {tile},
                   {{"target_type", AttrValue::of_dtype(dtype)},
                    {"mode", AttrValue::of_int(static_cast<std::int64_t>(mode))}});
  }
  const Var* whole(std::string_view integers, std::string_view floats, const Expr* tile, CastMode mode) {
    const Var* i = out_.bind(integers, converted(tile, DType::INT32, mode));
    return out_.bind(floats, converted(i, DType::FP32, CastMode::None));
  }

  const Var* multiple_of_pi(const Expr* x) {
    const Var* turns = out_.bind("pi_inv_x", scaled(x, kPiInverse));
    if (!cosine_) return whole("k_i", "k_f", turns, CastMode::Round);
    return whole("k_i", "k_f", out_.bind("k_pre", plus(turns, 0.5F)), CastMode::Rint);
  }

  // x - k*pi, for the cosine x - k*pi + pi/2.
  const Var* reduced(const Expr* x, const Var* k) {
    const auto minus = [&](std::string_view product, std::string_view rest, const Expr* from, float part) {
      const Var* multiple = out_.bind(product, scaled(k, part));
      return out_.bind(rest, OpId::tile_sub, {from, multiple});
    };
    const Var* t = minus("k_pi_v2", "t0", x, kPi[0]);
    t = minus("k_pi_c1", "t1", t, kPi[1]);
    if (cosine_) t = out_.bind("t1h", plus(t, kHalfPi));
    t = minus("k_pi_c2", "t2", t, kPi[2]);
    t = minus("k_pi_c3", "t3", t, kPi[3]);
    t = minus("k_pi_c4", "t4", t, kPi[4]);
    return cosine_ ? out_.bind("t4t", plus(t, kHalfPiRest)) : t;
  }

  // (-1)^k = 4*floor(k/2) - 2*k + 1
  const Var* sign_of(const Var* k) {
    const Var* half = out_.bind("half_k", scaled(k, 0.5F));
    const Var* floor = whole("floor_hk_i", "floor_hk_f", half, CastMode::Floor);
    const Var* fourfold = out_.bind("floor_x4", scaled(floor, 4.0F));
    const Var* twice = out_.bind("neg2_k", scaled(k, -2.0F));
    const Var* sum = out_.bind("sign_pre", OpId::tile_add, {fourfold, twice});
    return out_.bind("sign", plus(sum, 1.0F));
  }

  Expansion& out_;
  bool cosine_;
};

}  // namespace

const Expr* expand_sin(Expansion& out) { return Sine(out, false).expand(); }
const Expr* expand_cos(Expansion& out) { return Sine(out, true).expand(); }

}  // namespace pldc::composite
