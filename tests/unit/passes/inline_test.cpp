// InlineFunctions: numbered scenarios of passes.md.
#include "support/catch.h"
#include "unit/passes/golden.h"

namespace pldc {
const Program* run_InlineFunctions(PassEnv&, const Program*);
}  // namespace pldc

using Catch::Matchers::Contains;

namespace {

// Functions on numbers: "name: statements" of Inline functions of a and b, and the body of main(n, m), whose text after
// the pass is returned, or the errors.
std::string inlined(const std::vector<std::pair<std::string, std::string>>& functions,
                    std::string_view main) {
  const auto indented = [](std::string_view text) {
    std::string out = "        ";
    for (const char c : text) out += c == '\n' ? std::string("\n        ") : std::string(1, c);
    return out + "\n";
  };
  std::string text;
  for (const auto& [head, body] : functions) {
    text += "    @pl.function(type=pl.FunctionType.Inline)\n    def " + head + ":\n" + indented(body);
  }
  text +=
      "    @pl.function\n    def main(self, n: pl.Scalar[pl.INDEX], m: pl.Scalar[pl.INDEX]) -> "
      "pl.Scalar[pl.INDEX]:\n" +
      indented(main);
  const golden::Result result = golden::run(golden::program(text), {pldc::run_InlineFunctions});
  if (!result.ok) return result.errors;
  CHECK(result.text.find("Inline") == std::string::npos);
  const std::string from =
      result.text.substr(result.text.find(":\n", result.text.find("def main")) + 2) + "\n";
  std::string out;
  std::size_t begin = 0;
  while (begin < from.size()) {
    const std::size_t end = from.find('\n', begin);
    std::string line = from.substr(begin + 8, end - begin - 8);
    const std::size_t type = line.find(": pl.Scalar[pl.INDEX]");
    if (type != std::string::npos) line.erase(type, 21);
    out += line + "\n";
    begin = end + 1;
  }
  return out;
}

const std::string kTwo = "(self, a: pl.Scalar[pl.INDEX], b: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]";
const std::string kOne = "(self, a: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]";
const std::string kPair = "(self, a: pl.Scalar[pl.INDEX]) -> tuple[pl.Scalar[pl.INDEX], pl.Scalar[pl.INDEX]]";

}  // namespace

TEST_CASE("T119 inline: a value, a statement, a return") {
  CHECK(inlined({{"sq" + kTwo, "t = a * b\nu = t + a\nreturn u"}}, "r = self.sq(n, m + 1)\nreturn r") ==
        "t_inline0 = n * (m + 1)\nu_inline1 = t_inline0 + n\nr = u_inline1\nreturn r\n");
  CHECK(inlined({{"sq" + kTwo, "t = a * b\nreturn t"}}, "return self.sq(n, m)") ==
        "t_inline0 = n * m\nreturn t_inline0\n");
  // The comments of the call go, those of the body stay.
  CHECK(inlined({{"f(self, a: pl.Scalar[pl.INDEX])", "# inside\nt = a + 1"}},
                "# the call\nself.f(n)\nreturn n") == "# inside\nt_inline0 = n + 1\nreturn n\n");
}

TEST_CASE("T119 inline: loops and branches of the body") {
  CHECK(inlined({{"loopy" + kOne, "s = a\nfor i in pl.range(4):\n    s = s + i\nreturn s"}},
                "r = n\nif n > 1:\n    r = self.loopy(m)\nreturn r") ==
        "r = n\nif n > 1:\n    s_inline0 = m\n    for i_inline1 in pl.range(4):\n"
        "        s_inline0 = s_inline0 + i_inline1\n    r = s_inline0\nreturn r\n");
}

TEST_CASE("T119 inline: recursion is refused") {
  CHECK_THAT(
      inlined({{"a" + kOne, "m = self.b(a)\nreturn m"}, {"b" + kOne, "m = self.a(a)\nreturn m"}}, "return n"),
      Contains("Cycle detected in FunctionType::Inline call graph: a -> b -> a"));
  CHECK_THAT(inlined({{"f" + kOne, "m = self.f(a) + 1\nreturn m"}}, "return n"),
             Contains("Cycle detected") && Contains("f -> f"));
}

TEST_CASE("T119 inline: an early return in a branch is refused") {
  CHECK_THAT(inlined({{"f" + kOne, "if a > 1:\n    return a\nreturn a + 1"}}, "return self.f(n)"),
             Contains("'f' contains a non-trailing ReturnStmt"));
}

TEST_CASE("T119 inline: tuple results need no tuple") {
  CHECK(inlined({{"two" + kPair, "p = a + 1\nq = a + 2\nreturn p, q"}}, "r, s = self.two(n)\nreturn r + s") ==
        "p_inline0 = n + 1\nq_inline1 = n + 2\nr = p_inline0\ns = q_inline1\nreturn r + s\n");
  // What is assigned in between must not be seen by the second element.
  CHECK(inlined({{"swap(self, a: pl.Scalar[pl.INDEX], b: pl.Scalar[pl.INDEX]) -> tuple[pl.Scalar[pl.INDEX], "
                  "pl.Scalar[pl.INDEX]]",
                  "return b, a"}},
                "n, m = self.swap(n, m)\nreturn n * 2 + m") ==
        "_tuple_tmp_inline0 = m\n_tuple_tmp_inline1 = n\nn = _tuple_tmp_inline0\nm = _tuple_tmp_inline1\n"
        "return n * 2 + m\n");
}

TEST_CASE("T119 inline: functions that nobody calls are dropped, calls inside expressions refused") {
  CHECK(inlined({{"unused" + kOne, "return a"}}, "return n") == "return n\n");
  CHECK_THAT(inlined({{"sq" + kOne, "return a * a"}}, "m = self.sq(n) + 1\nreturn m"),
             Contains("calls the Inline function 'sq'"));
}

TEST_CASE("inline: a rebound parameter is the caller's variable only where nobody can tell") {
  const std::vector<std::pair<std::string, std::string>> bump = {
      {"bump" + kTwo, "a = a + b\na = a * 2\nreturn a"}};
  CHECK(inlined(bump, "s = n\ns = self.bump(s, m)\nreturn s") == "s = n\ns = s + m\ns = s * 2\nreturn s\n");
  // s is read again; both parameters are s; an argument is no variable; the loop reads s in its next turn.
  CHECK(inlined(bump, "s = n\nr = self.bump(s, m)\nreturn r + s") ==
        "s = n\na_inline0 = s\na_inline0 = a_inline0 + m\na_inline0 = a_inline0 * 2\nr = a_inline0\nreturn r "
        "+ s\n");
  CHECK(inlined(bump, "s = n\ns = self.bump(s, s)\nreturn s") ==
        "s = n\na_inline0 = s\na_inline0 = a_inline0 + s\na_inline0 = a_inline0 * 2\ns = a_inline0\nreturn "
        "s\n");
  CHECK(inlined(bump, "s = self.bump(3, m)\nreturn s") ==
        "a_inline0 = 3\na_inline0 = a_inline0 + m\na_inline0 = a_inline0 * 2\ns = a_inline0\nreturn s\n");
  CHECK_THAT(inlined(bump, "s = n\nr = n\nfor i in pl.range(3):\n    r = self.bump(s, m)\nreturn r"),
             Contains("    a_inline0 = s\n"));
}

TEST_CASE("inline: a launch in an argument runs once") {
  const std::string text =
      "    @pl.function\n    def f(self, a: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:\n        return a\n"
      "    @pl.function(type=pl.FunctionType.Inline)\n    def sq" +
      kOne +
      ":\n        return a * a\n"
      "    @pl.function\n    def main(self, n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:\n"
      "        return self.sq(self.f(n))\n";
  const golden::Result result = golden::run(golden::program(text), {pldc::run_InlineFunctions});
  CHECK_THAT(result.text,
             Contains("a_inline0: pl.Scalar[pl.INDEX] = self.f(n)\n        return a_inline0 * a_inline0"));
}

TEST_CASE("inline: symbols of parameters are what the argument has, dump marks move on") {
  const std::string text =
      "    @pl.function(type=pl.FunctionType.Inline)\n"
      "    def f(self, a: pl.Tensor[[M, 64], pl.FP32]) -> pl.Tensor[[M, 64], pl.FP32]:\n"
      "        with pl.at(level=pl.Level.CORE_GROUP):\n"
      "            t: pl.Tensor[[M, 64], pl.FP32] = pl.tensor.adds(a, 1.0)\n"
      "        return t\n"
      "    @pl.function\n"
      "    def main(self, x: pl.Tensor[[16, 64], pl.FP32]) -> pl.Tensor[[16, 64], pl.FP32]:\n"
      "        y: pl.Tensor[[16, 64], pl.FP32] = self.f(x, attrs={\"dump_vars\": [x]})\n"
      "        return y\n";
  const golden::Result result =
      golden::run("import pypto.language as pl\n\nM = pl.dynamic(\"M\")\n\n@pl.program\nclass P:\n" + text,
                  {pldc::run_InlineFunctions});
  INFO(result.errors);
  CHECK_THAT(result.text,
             Contains("with pl.at(level=pl.Level.CORE_GROUP, dumps=[x]):\n"
                      "            t_inline0: pl.Tensor[[16, 64], pl.FP32] = pl.tensor.adds(x, 1.0)"));
}

TEST_CASE("inline: the wrong number of arguments in printed text") {
  const std::string text =
      "    @pl.function(type=pl.FunctionType.Inline)\n    def f" + kTwo +
      ":\n        return a + b\n"
      "    @pl.function\n    def main(self, n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:\n"
      "        r: pl.Scalar[pl.INDEX] = self.f(n)\n        return r\n";
  CHECK_THAT(golden::run(golden::program(text), {pldc::run_InlineFunctions}).errors, Contains("argument"));
}
