// The rules of the text form one by one: numbers, names, operators, comments, formatted input, hostile input.
#include <cmath>

#include "ir/same.h"
#include "unit/frontend/text_fixture.h"

using namespace texttest;

TEST_CASE("floats print with 17 digits and read back to the same value") {
  for (const char* text :
       {"0.0", "1.0", "2.5", "0.0001", "9.9999999999999995e-08", "10000000000000000.0",
        "4.9406564584124654e-324", "-0.0", "0.10000000000000001", "3.1400000000000001",
        "1.0000000000000001e-05", "0.33333333333333331", "1e+17", "65504.0", "3.4028234663852886e+38",
        "1e+100", "99999999999999984.0", "1.7976931348623157e+308"}) {
    unchanged("f: pl.Scalar[pl.FP32] = " + std::string(text));
  }
}

TEST_CASE("integers: bare for INDEX, typed otherwise, both ends of the range") {
  for (const char* text :
       {"5", "-7", "pl.const(5, pl.INT64)", "pl.const(-3, pl.INT32)", "pl.const(2, pl.FP32)",
        "-9223372036854775808", "pl.const(9223372036854775807, pl.INT64)", "pl.const(1, pl.BOOL)"}) {
    unchanged("v: pl.Scalar[pl.INDEX] = " + std::string(text));
  }
  CHECK(errors_of("v: pl.Scalar[pl.INDEX] = 9223372036854775808").find("PLD0253") != std::string::npos);
}

TEST_CASE("operators keep their grouping") {
  const std::string params =
      "a: pl.Scalar[pl.INDEX], b: pl.Scalar[pl.INDEX], c: pl.Scalar[pl.INDEX], p: pl.Scalar[pl.BOOL]";
  for (const char* text : {"a - (b - c)",
                           "a - b - c",
                           "a + (b + c)",
                           "(a + b) * c",
                           "a // (b * c)",
                           "a // b % c",
                           "(a ** b) ** c",
                           "a ** b ** c",
                           "(-a) ** b",
                           "-a ** b",
                           "-5 ** a",
                           "a | b & c",
                           "(a | b) & c",
                           "a & b ^ (b | c)",
                           "a << b + c",
                           "(a & b) << c",
                           "a >> (b << c)",
                           "a | b == c",
                           "a < b < c",
                           "a < (b < c)",
                           "(not p) == p",
                           "not a == b",
                           "not (p and p)",
                           "not not p",
                           "p and p or p",
                           "(p or p) and p",
                           "p or (p or p)",
                           "-(a + b)",
                           "--a",
                           "--5",
                           "~-a",
                           "a - -5",
                           "abs(a - b)",
                           "pl.min(a, b) * c",
                           "pl.const(1, pl.INDEX) + pl.const(2, pl.INDEX)",
                           "a + pl.const(2, pl.INDEX) * pl.const(3, pl.INDEX)",
                           "pl.min(pl.const(1, pl.INDEX) + pl.const(2, pl.INDEX), 3)",
                           "-1 + 2",
                           "pl.cast(1, pl.INT32) + 2",
                           "[a, b][1]",
                           "[]",
                           "[[a], 1]"}) {
    unchanged("v: pl.Scalar[pl.INDEX] = " + std::string(text), params);
  }
}

TEST_CASE("non-finite values: bits in dump, words in legacy, both read") {
  const std::string text = in_main(
      "f: pl.Scalar[pl.FP32] = pl._dump.float64(\"7ff0000000000000\")\n"
      "g: pl.Scalar[pl.BF16] = pl.const(pl._dump.float64(\"fff8000000000012\"), pl.BF16)");
  Read dump(text);
  INFO(dump.errors);
  REQUIRE(dump.module.program != nullptr);
  CHECK(print(dump.module, print_options(dump.module.style)) == text);
  PrintOptions legacy;
  legacy.dialect = Dialect::Legacy;
  const std::string words = print(dump.module, legacy);
  CHECK(words.find("= inf\n") != std::string::npos);
  CHECK(words.find("pl.const(-nan, pl.BF16)") != std::string::npos);
}

TEST_CASE("equal hints are made unique in order of definition, reserved names first") {
  // Two loops over i, and a variable that is called i_1 already: the second loop becomes i_2.
  unchanged(
      "for i in pl.range(4):\n    a: pl.Scalar[pl.INDEX] = i\nfor i_1 in pl.range(4):\n    b: "
      "pl.Scalar[pl.INDEX] = i_1");
  Read r(
      "@pl.function\ndef f(x: pl.Scalar[pl.INDEX]):\n    for i in pl.range(2):\n        a: "
      "pl.Scalar[pl.INDEX] = i\n"
      "    for i in pl.range(3):\n        b: pl.Scalar[pl.INDEX] = i\n    i_1: pl.Scalar[pl.INDEX] = x\n");
  INFO(r.errors);
  REQUIRE(r.module.program != nullptr);
  const std::string out = print(r.module, print_options(r.module.style));
  CHECK(out.find("for i_2 in pl.range(3)") != std::string::npos);
}

TEST_CASE("comments stay with the statement that follows; a trailing one moves in front of its statement") {
  const std::string text = in_main(
      "# one\n# \n# # two\na: pl.Scalar[pl.INDEX] = n\n# before\nif a < n:\n    # inside\n    b: "
      "pl.Scalar[pl.INDEX] = a");
  Read r(text);
  INFO(r.errors);
  REQUIRE(r.module.program != nullptr);
  CHECK(print(r.module, print_options(r.module.style)) == text);
  Read trailing(in_main("a: pl.Scalar[pl.INDEX] = n  # why"));
  REQUIRE(trailing.module.program != nullptr);
  CHECK(print(trailing.module, print_options(trailing.module.style)) ==
        in_main("# why\na: pl.Scalar[pl.INDEX] = n"));
  Read lost(in_main("a: pl.Scalar[pl.INDEX] = n\n# the end"));
  CHECK(lost.module.program != nullptr);
  CHECK(lost.errors.find("PLD0244") != std::string::npos);
}

TEST_CASE("formatted input comes out canonical") {
  const std::string canonical = in_main("v: pl.Scalar[pl.INDEX] = pl.min(n, n + 1)\nreturn v, n");
  const std::string formatted =
      "# pypto.program: P\nimport pypto.language as pl\n\n\n@pl.program\nclass P:\n\n    @pl.function\n    "
      "def main(\n        "
      "self,\n        n: pl.Scalar[pl.INDEX],\n    ):\n\n        v: pl.Scalar[pl.INDEX] = pl.min(\n          "
      "  n,\n            "
      "(n + 1),\n        )\n\n        return (\n            v,\n            n,\n        )\n";
  Read r(formatted);
  INFO(r.errors);
  REQUIRE(r.module.program != nullptr);
  CHECK(print(r.module, print_options(r.module.style)) == canonical);
}

TEST_CASE("several errors are found in one run, each with its place") {
  const std::string errors = errors_of(
      "a: pl.Scalar[pl.INDEX] = gone\nb: pl.Scalar[pl.INDEX] = (n\nc: pl.Tensr[[4], pl.FP32] = n\n"
      "d: pl.Scalar[pl.FP99] = n\nif n < 3:\n    e = pl.tile.lod(n)");
  CHECK(errors.find("t.pld:8:") != std::string::npos);
  CHECK(errors.find("'gone' is not defined") != std::string::npos);
  CHECK(errors.find("unknown") == std::string::npos);
  CHECK(errors.find("'pl.Tensr' is no type") != std::string::npos);
  CHECK(errors.find("did you mean 'pl.Tensor'?") != std::string::npos);
  CHECK(errors.find("FP99") != std::string::npos);
}

TEST_CASE("one slip is reported once: names of a faulty statement count as defined") {
  const std::string errors = errors_of(
      "a: pl.Scalar[pl.INDEX] = gone + 1\nb: pl.Scalar[pl.INDEX] = a\nc: pl.Scalar[pl.INDEX] = gone");
  CHECK(errors.find("1 error") == std::string::npos);
  std::size_t count = 0;
  for (std::size_t at = errors.find(": error:"); at != std::string::npos;
       at = errors.find(": error:", at + 1))
    ++count;
  CHECK(count == 1);
}

TEST_CASE("hostile input ends in a diagnostic or success, never in a crash") {
  for (const std::string& text :
       {std::string(),
        std::string("\0\0\0", 3),
        std::string("\xff\xfe"),
        std::string(100000, '('),
        std::string(100000, '['),
        std::string("@pl.program\nclass P:\n"),
        std::string("@pl.program\nclass P"),
        std::string("@"),
        std::string("x = "),
        std::string("\"\"\""),
        in_main("v: pl.Scalar[pl.INDEX] = " + std::string(5000, '(') + "n" + std::string(5000, ')')),
        in_main("v: pl.Scalar[pl.INDEX] = " + std::string(5000, '-') + "n"),
        in_main("v: pl.Scalar[pl.INDEX] = 'abc"),
        in_main("with pl.at(level=pl.Level.CORE_GROUP):"),
        in_main("for i in pl.range(4)"),
        in_main("return\n  return"),
        in_main("a.b.c.d = 3"),
        in_main("lambda: 3"),
        in_main("pl.yield_("),
        in_main("x: = 3")}) {
    Read r(text);
    CHECK((r.module.program != nullptr || !r.errors.empty()));
  }
  std::string chain = "n";
  for (int i = 0; i < 20000; ++i) chain += " + n";
  Read deep(in_main("v: pl.Scalar[pl.INDEX] = " + chain));
  CHECK(deep.module.program == nullptr);
  CHECK(deep.errors.find("PLD0107") != std::string::npos);
  std::string blocks;
  std::string indent = "        ";
  std::string nested = in_main("if n < 1:");
  for (int i = 0; i < 2000; ++i) {
    indent += "    ";
    nested += "\n" + indent + "if n < 1:";
  }
  Read many(nested);
  CHECK(many.module.program == nullptr);
}

TEST_CASE(
    "legacy domain comments turn into scopes; a line naming no allocation stays a comment, with a warning") {
  const std::string head =
      "# pypto.program: P\nimport pypto.language as pl\n\n@pl.program\nclass P:\n    "
      "@pl.function(level=pl.Level.HOST, "
      "role=pl.Role.Orchestrator)\n    def host(self):\n        # pld.comm_domain: devices=[0, 1], slots=[";
  const std::string body =
      "]\n        buf: pl.Ptr = pld.tensor.alloc_window_buffer(64)\n        w: pld.DistributedTensor[[16], "
      "pl.FP32] = "
      "pld.tensor.window(buf, [16], dtype=pl.FP32)\n        return";
  Read good(head + "buf" + body);
  INFO(good.errors);
  REQUIRE(good.module.program != nullptr);
  const Function* host = good.module.program->functions[0];
  REQUIRE(host->body.size() == 1);
  const auto* domain = dyn_scope(host->body[0], ScopeKind::CommDomain);
  REQUIRE(domain != nullptr);
  CHECK(domain->devices.size() == 2);
  const auto* window = dyn<AssignStmt>(domain->body[1]);
  REQUIRE(window != nullptr);
  CHECK(static_cast<const TensorType*>(window->var->type)->window == domain->slots[0].base);
  CHECK(print(good.module, print_options(good.module.style)) == head + "buf" + body);
  Read bad(head + "other" + body);
  REQUIRE(bad.module.program != nullptr);
  CHECK(bad.errors.find("PLD0252") != std::string::npos);
}

TEST_CASE("window labels are numbered per stem over the whole text") {
  const std::string one =
      "        with pl._dump.comm_domain(name=\"comm_d0\", devices=[], "
      "slots=[pl._dump.window_buffer(\"LABEL\", "
      "base=\"b\", size=64, load_from_host=False, store_to_host=False)]):\n            b: pl.Ptr = "
      "pl._dump.alloc_window_buffer(64, name='NAME')\n            return";
  const auto host = [&](const std::string& name, const std::string& label) {
    std::string text = one;
    text.replace(text.find("LABEL"), 5, label);
    text.replace(text.find("NAME"), 4, name);
    return "    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n    def " + name + "(self):\n" +
           text;
  };
  const std::string text = "# pypto.program: P\nimport pypto.language as pl\n\n@pl.program\nclass P:\n" +
                           host("h1", "b_window") + "\n" + host("h2", "b_window_1");
  Read r(text);
  INFO(r.errors);
  REQUIRE(r.module.program != nullptr);
  CHECK(print(r.module, print_options(r.module.style)) == text);
}
