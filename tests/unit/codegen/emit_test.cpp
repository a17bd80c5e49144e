#include "codegen/emit.h"

#include <cstdlib>

#include "codegen/expr.h"
#include "support/catch.h"
#include "support/diag/codegen.h"

using namespace pldc;

TEST_CASE("names of the program become C++ identifiers", "[codegen]") {
  CHECK(cpp_identifier("acc") == "acc");
  CHECK(cpp_identifier("for") == "for_");
  CHECK(cpp_identifier("a__b") == "a_b");
  CHECK(cpp_identifier("_x_") == "x");
  CHECK(cpp_identifier("2x") == "v2x");
  CHECK(cpp_identifier("") == "v");
  CHECK(cpp_identifier("___") == "v");
  CHECK(cpp_identifier("a\"; system(\"x") == "a_system_x");
  CHECK(cpp_identifier("\xc3\xa9t\xc3\xa9") == "t");
  CHECK(cpp_identifier("TADD") == "TADD_");
  CHECK(cpp_identifier("ENOENT") == "ENOENT_");
  CHECK(cpp_identifier("NR") == "NR");
  CHECK(cpp_identifier("Edge") == "Edge");
  CHECK(cpp_identifier(std::string(5000, 'a')).size() == 100);
  CHECK(cpp_name_part("main") == "main");
  CHECK(cpp_name_part("a/../b") == "a____b");
  CHECK(cpp_name_part("") == "_");
}

TEST_CASE("suffixes of generated names are dropped", "[codegen]") {
  CHECK(plain_name("x__ssa_v0") == "x");
  CHECK(plain_name("r__idx_v0_1") == "r");
  CHECK(plain_name("data__peer_acc_tmp_v13") == "peer_acc");
  CHECK(plain_name("__allreduce_signal_buf_0") == "__allreduce_signal_buf_0");
  CHECK(plain_name("a_1") == "a_1");
  CHECK(plain_name("win_ctx") == "win_ctx");
}

TEST_CASE("strings and comments are escaped", "[codegen]") {
  CHECK(cpp_string("a\"b\\c\n") == "\"a\\\"b\\\\c\\012\"");
  CHECK(cpp_string("?\?/") == "\"\\?\\?/\"");
  CHECK(cpp_comment("a\nb\\") == "a b\\.");
  CHECK(cpp_comment("what?\?/").back() == '.');
  CppText text;
  text.comment(std::string(200, 'x') + "\\\n#error");
  for (std::size_t at = 0; at < text.text().size();) {
    const std::size_t end = text.text().find('\n', at);
    const std::string line = text.text().substr(at, end - at);
    CHECK(line.substr(0, 2) == "//");
    CHECK(line.back() != '\\');
    CHECK(line.size() <= kCppColumns);
    at = end + 1;
  }
}

TEST_CASE("float literals read back as the same float", "[codegen]") {
  CHECK(cpp_float(0.5) == "0.5f");
  CHECK(cpp_float(0.1) == "0.1f");
  CHECK(cpp_float(3) == "3.0f");
  CHECK(cpp_float(1e-7) == "1e-07f");
  CHECK(cpp_float(-1.0 / 0.0) == "-__builtin_inff()");
  for (const float value : {1.0f / 3.0f, 3.4028235e38f, 1.17549435e-38f, 0.31830987334251404f, 16777217.0f}) {
    const std::string text = cpp_float(static_cast<double>(value));
    CHECK(std::strtof(text.c_str(), nullptr) == value);
  }
  CHECK(cpp_int(INT64_MIN) == "(-9223372036854775807 - 1)");
}

TEST_CASE("names are unique in a function and free again after their block", "[codegen]") {
  Context ir;
  const Type* index = ir.scalar(DType::INDEX);
  const Var* a = ir.var(ir.name("acc__ssa_v0"), index);
  const Var* b = ir.var(ir.name("acc__rv_v2"), index);
  CppNames names;
  names.reserve("args");
  CHECK(names.declare(a) == "acc");
  CHECK(names.declare(b) == "acc_1");
  CHECK(names.fresh("args") == "args_1");
  names.push();
  CHECK(names.fresh("acc") == "acc_2");
  CHECK(names.fresh("r") == "r");
  names.pop();
  CHECK(names.fresh("r") == "r");
  CHECK(names.of(a) == "acc");
  names.alias(a, "x + 1");
  CHECK(names.of(a) == "x + 1");
}

TEST_CASE("text is laid out", "[codegen]") {
  CppText text;
  text.open("void f()");
  text.line();
  text.line("a;");
  text.line();
  text.line();
  text.open("if (x)");
  text.line("b;");
  text.line();
  text.middle("} else {");
  text.line("c;");
  text.close();
  text.close();
  CHECK(text.text() == "void f() {\n  a;\n\n  if (x) {\n    b;\n  } else {\n    c;\n  }\n}\n");
  CppText call;
  call.call("f(", {"a", "b"});
  CHECK(call.text() == "f(a, b);\n");
  CppText broken;
  broken.call("f(", {std::string(60, 'a'), std::string(60, 'b')});
  CHECK(broken.text() == "f(" + std::string(60, 'a') + ",\n    " + std::string(60, 'b') + ");\n");
}

namespace {

struct Scalars {
  Context ir;
  DiagSink diags;
  const Expr* var(std::string_view name, DType dtype) { return ir.var(ir.name(name), ir.scalar(dtype)); }
  const Expr* n = var("n", DType::INDEX);
  const Expr* m = var("m", DType::INDEX);
  const Expr* i32 = var("i", DType::INT32);
  const Expr* i8 = var("c", DType::INT8);
  const Expr* f = var("f", DType::FP32);
  const Expr* h = var("h", DType::FP16);
  const Expr* t = var("t", DType::BOOL);
  std::string text(const Expr* e) {
    const ScalarText scalar(diags, [](const Var* v) { return std::string(v->name.text()); });
    return scalar(e);
  }
  const Expr* op(BinaryOp o, const Expr* a, const Expr* b) { return ir.binary(o, a, b); }
  const Expr* c(std::int64_t value, DType dtype = DType::INDEX) { return ir.const_int(value, dtype); }
};

}  // namespace

TEST_CASE("scalar expressions keep the meaning of the IR", "[codegen]") {
  Scalars s;
  using B = BinaryOp;
  CHECK(s.text(s.op(B::Add, s.op(B::Mul, s.n, s.c(4)), s.m)) == "n * 4 + m");
  CHECK(s.text(s.op(B::Mul, s.op(B::Add, s.n, s.m), s.c(4))) == "(n + m) * 4");
  CHECK(s.text(s.op(B::Sub, s.n, s.op(B::Sub, s.m, s.c(1)))) == "n - (m - 1)");
  CHECK(s.text(s.op(B::Sub, s.op(B::Sub, s.n, s.m), s.c(1))) == "n - m - 1");
  // Rounded down, with the divisor's sign.
  CHECK(s.text(s.op(B::FloorDiv, s.n, s.c(-2))) == "pld_floordiv<int64_t>(n, -2)");
  CHECK(s.text(s.op(B::FloorMod, s.i32, s.c(3, DType::INT32))) == "pld_floormod<int32_t>(i, 3)");
  CHECK(s.text(s.op(B::Min, s.n, s.m)) == "pld_min<int64_t>(n, m)");
  CHECK(s.text(s.op(B::Pow, s.n, s.c(2))) == "pld_pow<int64_t>(n, 2)");
  // C++ would compute these in int.
  CHECK(s.text(s.op(B::Mul, s.c(65536), s.c(65536))) == "int64_t{65536} * 65536");
  CHECK(s.text(s.op(B::Shl, s.c(1), s.c(40))) == "int64_t{1} << 40");
  // Counts that C++ does not define.
  CHECK(s.text(s.op(B::Shl, s.c(1), s.n)) == "pld_shl<int64_t>(1, n)");
  CHECK(s.text(s.op(B::Shr, s.n, s.c(63))) == "n >> 63");
  CHECK(s.text(s.op(B::Shr, s.n, s.c(64))) == "pld_shr<int64_t>(n, 64)");
  CHECK(s.text(s.op(B::Shr, s.i32, s.c(-1, DType::INT32))) == "pld_shr<int32_t>(i, -1)");
  CHECK(s.text(s.op(B::Add, s.i8, s.i8)) == "static_cast<int8_t>(c + c)");
  CHECK(s.text(s.op(B::Add, s.h, s.h)) == "static_cast<half>(h + h)");
  // Both operands have one type.
  CHECK(s.text(s.op(B::Add, s.n, s.i32)) == "n + static_cast<int64_t>(i)");
  CHECK(s.text(s.op(B::Eq, s.i32, s.n)) == "static_cast<int64_t>(i) == n");
  CHECK(s.text(s.op(B::Mul, s.f, s.c(2))).find("static_cast<float>") == std::string::npos);
  // Precedence is that of C++, and nothing that compilers warn about.
  CHECK(s.text(s.op(B::Eq, s.op(B::BitAnd, s.n, s.c(1)), s.c(0))) == "(n & 1) == 0");
  CHECK(s.text(s.op(B::BitAnd, s.n, s.op(B::Add, s.m, s.c(1)))) == "n & (m + 1)");
  CHECK(s.text(s.op(B::Or, s.op(B::And, s.t, s.t), s.t)) == "(t && t) || t");
  CHECK(s.text(s.ir.unary(UnaryOp::Not, s.op(B::Lt, s.n, s.m))) == "!(n < m)");
  CHECK(s.text(s.ir.unary(UnaryOp::Neg, s.ir.unary(UnaryOp::Neg, s.n))) == "-(-n)");
  CHECK(s.text(s.ir.unary(UnaryOp::Neg, s.c(-3))) == "-(-3)");
  CHECK(s.text(s.ir.unary(UnaryOp::Abs, s.n)) == "pld_abs<int64_t>(n)");
  CHECK(s.text(s.ir.cast(s.n, DType::INT32)) == "static_cast<int32_t>(n)");
  CHECK(s.text(s.ir.cast(s.n, DType::INT64)) == "n");
  CHECK(s.text(s.ir.cast(s.n, DType::BOOL)) == "n != 0");
  CHECK(s.text(s.c(2, DType::FP32)) == "2.0f");
  CHECK_FALSE(s.diags.has_errors());
}

TEST_CASE("a scalar that has no form is reported", "[codegen]") {
  Scalars s;
  const Expr* tiny = s.var("q", DType::FP4);
  CHECK(s.text(s.op(BinaryOp::Add, tiny, tiny)) == "0");
  REQUIRE(s.diags.all().size() == 1);
  CHECK(s.diags.all()[0].kind == &diag::codegen_scalar_form);
  const ScalarText nothing(s.diags, [](const Var*) { return std::string(); });
  CHECK(nothing(s.n) == "0");
  CHECK(s.diags.all()[1].kind == &diag::codegen_no_value);
}
