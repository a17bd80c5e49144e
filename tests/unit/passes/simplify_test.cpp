// Simplify: every row of the table of rules, the statements, dead code, and all programs of the reference corpus.
#include <cstdlib>

#include "passes/run.h"
#include "support/catch.h"
#include "support/file.h"
#include "support/text_diff.h"
#include "unit/passes/golden.h"

namespace pldc {
const Program* run_ConvertToSSA(PassEnv&, const Program*);
const Program* run_Simplify(PassEnv&, const Program*);
void verify_SSAForm(const Program*, DiagSink&);
void verify_UseAfterDef(const Program*, DiagSink&);
}  // namespace pldc

using namespace golden;
using Catch::Matchers::Contains;

namespace {

std::string function(std::string_view body, std::string_view returns = "pl.Scalar[pl.INT64]") {
  std::string text =
      "    @pl.function\n    def main(self, x: pl.Scalar[pl.INT64], y: pl.Scalar[pl.INT64], z: "
      "pl.Scalar[pl.INT64], "
      "i: pl.Scalar[pl.INDEX], j: pl.Scalar[pl.INDEX], n: pl.Scalar[pl.INDEX], w: pl.Scalar[pl.INT32], v: "
      "pl.Scalar[pl.INT32], b: pl.Scalar[pl.BOOL], c: pl.Scalar[pl.BOOL], f: pl.Scalar[pl.FP32], t: "
      "pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> ";
  text += std::string(returns) + ":\n";
  text += body;
  return program(text);
}

// The body of a function with these parameters after the pass, or the errors.
std::string simplified(std::string_view body, std::string_view returns = "pl.Scalar[pl.INT64]") {
  const Result result = run(function(body, returns), {pldc::run_Simplify});
  if (!result.ok) return result.errors;
  const auto at = result.text.find(":\n", result.text.find("def main"));
  const Result verified = golden::verify(result.text, pldc::verify_UseAfterDef);
  return verified.ok ? result.text.substr(at + 2) : verified.errors + result.text;
}

// What stands between `begin` and the end of its line.
std::string rest_of_line(const std::string& text, std::string_view begin) {
  const auto at = text.find(begin);
  if (at == std::string::npos) return "none in:\n" + text;
  const auto from = at + begin.size();
  return text.substr(from, text.find('\n', from) - from);
}

std::string returned(std::string_view value) {
  return rest_of_line(simplified("        return " + std::string(value) + "\n"), "return ");
}

std::string condition(std::string_view test) {
  const std::string text =
      simplified("        if " + std::string(test) +
                 ":\n            r: pl.Scalar[pl.INT64] = pl.yield_(x)\n        else:\n"
                 "            r: pl.Scalar[pl.INT64] = pl.yield_(y)\n        return r\n");
  if (text == "        return x") return "always true";
  if (text == "        return y") return "always false";
  std::string kept = rest_of_line(text, "if ");
  if (!kept.empty() && kept.back() == ':') kept.pop_back();
  return kept;
}

std::string in_loop(std::string_view header, std::string_view value) {
  const std::string text =
      simplified("        for k, (a,) in " + std::string(header.substr(0, header.size() - 1)) +
                 ", init_values=(x,)):\n            s: pl.Scalar[pl.INT64] = " + std::string(value) +
                 "\n            r: pl.Scalar[pl.INT64] = pl.yield_(s)\n        return r\n");
  return rest_of_line(text, "s: pl.Scalar[pl.INT64] = ");
}

std::vector<std::string> lines_of_table() {
  const char* root = std::getenv("PLDC_SOURCE_ROOT");
  std::string text;
  std::string error;
  const std::string path = std::string(root != nullptr ? root : ".") + "/tests/data/simplify_rules.txt";
  REQUIRE(pldc::read_file(path, text, error));
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("T154 Simplify: every row of the table of rules") {
  std::string kind;
  int rows = 0;
  for (const std::string& line : lines_of_table()) {
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("-- ")) {
      kind = line.substr(3);
      continue;
    }
    const auto arrow = line.find(" => ");
    REQUIRE(arrow != std::string::npos);
    const std::string from = line.substr(0, arrow);
    INFO(kind << ": " << from);
    const std::string found = kind == "if"               ? condition(from)
                              : kind.starts_with("for ") ? in_loop(kind.substr(4), from)
                                                         : returned(from);
    CHECK(found == line.substr(arrow + 4));
    ++rows;
  }
  CHECK(rows > 380);
}

TEST_CASE("T117 Simplify: then and else branches know the condition") {
  CHECK(simplified("        if x > 5:\n"
                   "            if x > 3:\n"
                   "                r: pl.Scalar[pl.INT64] = pl.yield_(y)\n"
                   "            else:\n"
                   "                r: pl.Scalar[pl.INT64] = pl.yield_(z)\n"
                   "            q: pl.Scalar[pl.INT64] = pl.yield_(r)\n"
                   "        else:\n"
                   "            u: pl.Scalar[pl.INT64] = pl.min(x, 5)\n"
                   "            q: pl.Scalar[pl.INT64] = pl.yield_(u)\n"
                   "        return q\n") ==
        "        if 5 < x:\n"
        "            q: pl.Scalar[pl.INT64] = pl.yield_(y)\n"
        "        else:\n"
        "            u: pl.Scalar[pl.INT64] = x\n"
        "            q: pl.Scalar[pl.INT64] = pl.yield_(u)\n"
        "        return q");
}

TEST_CASE("Simplify: conditions are combined") {
  const auto nested = [](std::string_view outer, std::string_view inner) {
    const std::string text =
        simplified("        if " + std::string(outer) + ":\n            if " + std::string(inner) +
                   ":\n                pl.system.fence()\n        return x\n");
    return text.find("if ", text.find("if ") + 3) == std::string::npos;
  };
  CHECK(nested("x < y and y < z", "x + 1 < z"));
  CHECK_FALSE(nested("x < y and y < z", "x + 2 < z"));
  CHECK(nested("x <= y and y <= x", "x == y"));
  CHECK(nested("x == y + 3", "x > y + 2"));
  CHECK(nested("x == y + 3", "x > y + 3"));
  CHECK_FALSE(nested("x == y + 3", "x > z"));
  CHECK(nested("x < y and z < i", "x + z + 1 < y + i"));
  CHECK_FALSE(nested("x < y or y < z", "x < y"));
  CHECK_FALSE(nested("x < y", "z < y"));
  CHECK(nested("x < 10 and 3 < x", "x * 2 < 19"));
  CHECK_FALSE(nested("x < 10 and 3 < x", "x * 2 < 18"));
}

TEST_CASE("T117 Simplify: always true and always false ifs without results") {
  CHECK(simplified("        if i < 0:\n"
                   "            pl.system.fence()\n"
                   "        return x\n") == "        return x");
  CHECK(simplified("        if i >= 0:\n"
                   "            pl.system.fence()\n"
                   "        return x\n") ==
        "        pl.system.fence()\n"
        "        return x");
}

TEST_CASE("Simplify: a result that cannot be replaced is assigned") {
  // A call is made once, however often its result is read.
  CHECK(simplified("        if i >= 0:\n"
                   "            r: pl.Scalar[pl.INT64] = pl.yield_(pl.tensor.dim(t, 0))\n"
                   "        else:\n"
                   "            r: pl.Scalar[pl.INT64] = pl.yield_(y)\n"
                   "        return r * r\n") ==
        "        r: pl.Scalar[pl.INT64] = pl.tensor.dim(t, 0)\n"
        "        return r * r");
}

TEST_CASE("Simplify: a dead result whose value is a call stays") {
  const std::string body =
      "        if b:\n"
      "            r: pl.Scalar[pl.INT64] = pl.yield_(pl.tensor.dim(t, 0))\n"
      "        else:\n"
      "            r: pl.Scalar[pl.INT64] = pl.yield_(y)\n"
      "        return x";
  CHECK(simplified(body + "\n") == body);
}

TEST_CASE("T155 Simplify: loops that run zero times or once") {
  CHECK(simplified("        # never\n"
                   "        for k, (a,) in pl.range(4, 4, init_values=(x,)):\n"
                   "            # inside\n"
                   "            s: pl.Scalar[pl.INT64] = a + k\n"
                   "            r: pl.Scalar[pl.INT64] = pl.yield_(s)\n"
                   "        return r\n") ==
        "        r: pl.Scalar[pl.INT64] = x\n"
        "        return r");
  CHECK(simplified("        # once\n"
                   "        for k, (a,) in pl.range(n, n + 1, init_values=(x,)):\n"
                   "            # inside\n"
                   "            s: pl.Scalar[pl.INT64] = a + k\n"
                   "            r: pl.Scalar[pl.INT64] = pl.yield_(s)\n"
                   "        return r\n") ==
        "        # inside\n"
        "        s: pl.Scalar[pl.INT64] = x + n\n"
        "        return s");
  // Other kinds stay, but the variable is known.
  CHECK_THAT(simplified("        for k in pl.parallel(1):\n"
                        "            q: pl.Tensor[[64, 64], pl.FP32] = pl.tensor.adds(t, x + k)\n"
                        "        return x\n"),
             Contains("for k in pl.parallel(1):") && Contains("pl.tensor.adds(t, x)"));
}

TEST_CASE("Simplify: what a loop may not be folded for") {
  // Two trips, a step that may be anything, attributes.
  for (const char* header : {"pl.range(2)", "pl.range(0, 1, x)", "pl.range(n, n + 2)", "pl.range(x, y)",
                             "pl.range(1, attrs={\"a\": 1})"}) {
    const std::string text = simplified("        for k in " + std::string(header) +
                                        ":\n            pl.system.fence()\n        return x\n");
    INFO(header);
    CHECK_THAT(text, Contains("for k in "));
  }
  // A break would otherwise leave an outer loop.
  CHECK_THAT(simplified("        for k in pl.range(n):\n"
                        "            for m in pl.range(1):\n"
                        "                if b:\n"
                        "                    break\n"
                        "                pl.system.fence()\n"
                        "        return x\n"),
             Contains("for m in pl.range(1):"));
  // A variable that counts from below 0 is not taken for an INDEX that is not negative.
  CHECK(in_loop("pl.range(-4, 4)", "pl.max(k, 0)") == "pl.max(k, 0)");
  // Nested single trips are looked at once each, however many there are.
  std::string deep;
  for (int depth = 0; depth < 24; ++depth) {
    deep += std::string(8 + 4 * static_cast<std::size_t>(depth), ' ') + "for k" + std::to_string(depth) +
            " in pl.range(1):\n";
  }
  deep += std::string(8 + 4 * 24, ' ') + "pl.system.fence()\n        return x\n";
  CHECK(simplified(deep) == "        pl.system.fence()\n        return x");
}

TEST_CASE("T156 Simplify: what is not propagated and what stays") {
  // A constant inside a loop is not propagated, at depth 0 it is.
  CHECK(simplified("        a: pl.Scalar[pl.INDEX] = 4\n"
                   "        for k in pl.range(n):\n"
                   "            e: pl.Scalar[pl.INDEX] = 3\n"
                   "            pl.tensor.write(o, [a + k, e], 1.0)\n"
                   "        return a + i\n") ==
        "        for k in pl.range(n):\n"
        "            e: pl.Scalar[pl.INDEX] = 3\n"
        "            pl.tensor.write(o, [k + 4, e], 1.0)\n"
        "        return i + 4");
  CHECK_THAT(simplified("        g: pl.Scalar[pl.FP32] = 2.5\n"
                        "        q: pl.Tensor[[64, 64], pl.FP32] = pl.tensor.muls(t, g)\n"
                        "        return x\n"),
             Contains("g: pl.Scalar[pl.FP32] = 2.5") && Contains("muls(t, g)"));
  // The constant keeps the dtype it was written with.
  CHECK(simplified("        a: pl.Scalar[pl.INT64] = pl.const(4, pl.INT64)\n        return a + 8\n") ==
        "        return pl.const(12, pl.INT64)");
  // Dead results go, the if itself stays; an unread carry stays; a call stays.
  CHECK(simplified("        if b:\n"
                   "            s: pl.Scalar[pl.INT64] = x + y\n"
                   "            r: pl.Scalar[pl.INT64] = pl.yield_(s)\n"
                   "        else:\n"
                   "            r: pl.Scalar[pl.INT64] = pl.yield_(y)\n"
                   "        q: pl.Scalar[pl.INT64] = r * y\n"
                   "        return x\n") ==
        "        if b:\n"
        "            pass\n"
        "        else:\n"
        "            pass\n"
        "        return x");
  CHECK(simplified("        for k, (a,) in pl.range(n, init_values=(x,)):\n"
                   "            s: pl.Scalar[pl.INT64] = a + k\n"
                   "            dead: pl.Scalar[pl.INT64] = s * y\n"
                   "            r: pl.Scalar[pl.INT64] = pl.yield_(s)\n"
                   "        d: pl.Scalar[pl.INT64] = pl.tensor.dim(t, 0)\n"
                   "        return x\n") ==
        "        for k, (a,) in pl.range(n, init_values=(x,)):\n"
        "            s: pl.Scalar[pl.INT64] = a + k\n"
        "            r: pl.Scalar[pl.INT64] = pl.yield_(s)\n"
        "        d: pl.Scalar[pl.INT64] = pl.tensor.dim(t, 0)\n"
        "        return x");
}

TEST_CASE("Simplify: a scalar that only a type reads is alive") {
  const std::string text = simplified(
      "        a: pl.Scalar[pl.INT64] = x + y\n"
      "        q: pl.Tensor[[a, 64], pl.FP32] = pl.tensor.create([a, 64], dtype=pl.FP32, "
      "layout=pl.TensorLayout.ND)\n"
      "        u: pl.Scalar[pl.INT64] = pl.tensor.dim(q, 0)\n"
      "        return u\n");
  CHECK_THAT(text, Contains("a: pl.Scalar[pl.INT64] = x + y"));
}

TEST_CASE("T117 Simplify: constants flow into types") {
  CHECK_THAT(
      simplified(
          "        a: pl.Scalar[pl.INDEX] = 4\n"
          "        q: pl.Tensor[[a * 8, i + 0], pl.FP32] = pl.tensor.create([a * 8, i + 0], dtype=pl.FP32, "
          "layout=pl.TensorLayout.ND)\n"
          "        u: pl.Tensor[[a * 8, i + 0], pl.FP32] = pl.tensor.adds(q, 1.0)\n"
          "        d: pl.Scalar[pl.INT64] = pl.tensor.dim(u, 0)\n"
          "        return d\n"),
      Contains("q: pl.Tensor[[32, i], pl.FP32] = pl.tensor.create([32, i], dtype") &&
          Contains("u: pl.Tensor[[32, i], pl.FP32] = pl.tensor.adds(q, 1.0)"));
}

TEST_CASE("T157 Simplify: a while whose carry starts from a constant keeps its meaning") {
  CHECK(simplified("        a: pl.Scalar[pl.INT64] = pl.const(1, pl.INT64)\n"
                   "        for (k,) in pl.while_(init_values=(a,)):\n"
                   "            pl.cond(k < x)\n"
                   "            s: pl.Scalar[pl.INT64] = k * 2 + a\n"
                   "            r: pl.Scalar[pl.INT64] = pl.yield_(s)\n"
                   "        return r\n") ==
        "        for (k,) in pl.while_(init_values=(pl.const(1, pl.INT64),)):\n"
        "            pl.cond(k < x)\n"
        "            s: pl.Scalar[pl.INT64] = k * 2 + pl.const(1, pl.INT64)\n"
        "            r: pl.Scalar[pl.INT64] = pl.yield_(s)\n"
        "        return r");
}

TEST_CASE("Simplify: variables that are assigned again tell nothing") {
  // Not SSA: `a` is 1 only at the start, and the condition on it holds only until it changes.
  const std::string text = simplified(
      "        a: pl.Scalar[pl.INT64] = 1\n"
      "        if a < x:\n"
      "            a: pl.Scalar[pl.INT64] = x + 1\n"
      "            if a < x:\n"
      "                pl.system.fence()\n"
      "        return a\n");
  CHECK_THAT(text, Contains("if a < x:\n            a: pl.Scalar[pl.INT64] = x + 1\n            if a < x:"));
  CHECK_THAT(text, Contains("return a"));
}

TEST_CASE("Simplify: float comparisons keep their negation, which NaN tells apart") {
  CHECK(condition("not f < 2.0") == "not f < 2.0");
  CHECK(condition("f < 2.0 or 2.0 <= f") == "f < 2.0 or 2.0 <= f");
}

TEST_CASE("Simplify: unsigned integers may wrap around") {
  const auto unsigned_value = [](std::string_view value) {
    const Result result =
        run(program("    @pl.function\n    def main(self, p: pl.Scalar[pl.UINT32], q: pl.Scalar[pl.UINT32]) "
                    "-> pl.Scalar[pl.UINT32]:\n        return " +
                    std::string(value) + "\n"),
            {pldc::run_Simplify});
    return rest_of_line(result.text + result.errors, "return ");
  };
  for (const char* kept :
       {"p * pl.const(4000000000, pl.UINT32) % pl.const(1000, pl.UINT32)", "p - q + q",
        "p - pl.const(3, pl.UINT32) < pl.const(5, pl.UINT32)", "p < p + pl.const(1, pl.UINT32)"}) {
    CHECK(unsigned_value(kept) == kept);
  }
  CHECK(unsigned_value("pl.const(3, pl.UINT32) + pl.const(4, pl.UINT32) + p * pl.const(1, pl.UINT32)") ==
        "pl.const(7, pl.UINT32) + p");
  CHECK(unsigned_value("p > pl.min(q, q)") == "q < p");
}

TEST_CASE("Simplify: constants that overflow are not computed") {
  CHECK(returned("x + 9223372036854775807 + 1") == "x + 9223372036854775807 + 1");
  CHECK(returned("w + pl.const(2147483647, pl.INT32) + pl.const(1, pl.INT32)") ==
        "w + pl.const(2147483647, pl.INT32) + pl.const(1, pl.INT32)");
  CHECK(condition("x - 9223372036854775807 < 1") == "x - 9223372036854775807 < 1");
}

TEST_CASE(
    "Simplify: every program of the corpus gives the reference's text, at both places of the pipeline") {
  if (corpus().empty()) return;
  for (const int occurrence : {0, 1}) {
    int compared = 0;
    CHECK(compare_all("Simplify", pldc::run_Simplify, compared, occurrence) == "");
    CHECK(compared > 0);
  }
}

TEST_CASE("Simplify: a second run on the corpus changes nothing, and the form of the program is kept") {
  if (corpus().empty()) return;
  int ran = 0;
  for (const int occurrence : {0, 1}) {
    for (const Case& c : cases("Simplify", occurrence)) {
      const Result once = run(c.before, {pldc::run_Simplify});
      INFO(c.program << "\n" << once.errors);
      CHECK(once.ok);
      const Result twice = run(c.before, {pldc::run_Simplify, pldc::run_Simplify});
      if (twice.text != once.text) {
        UNSCOPED_INFO(pldc::unified_diff(once.text, twice.text, "once", "twice"));
        CHECK(false);
      }
      if (golden::verify(c.before, pldc::verify_SSAForm).ok) {
        CHECK(golden::verify(once.text, pldc::verify_SSAForm).errors == "");
      }
      ++ran;
    }
  }
  CHECK(ran > 0);
}

TEST_CASE("T153 Simplify: what the reference fails on, constants of dtype BOOL, is accepted") {
  CHECK(simplified("        stop: pl.Scalar[pl.BOOL] = False\n"
                   "        if stop:\n"
                   "            pl.system.fence()\n"
                   "        return x\n") ==
        "        stop: pl.Scalar[pl.BOOL] = False\n"
        "        if stop:\n"
        "            pl.system.fence()\n"
        "        return x");
  int errors = 0;
  for (const Case& c : cases("Simplify")) {
    if (!c.error) continue;
    const Result result = run(c.before, {pldc::run_Simplify});
    INFO(c.program << "\n" << result.errors);
    CHECK(result.ok);
    CHECK(golden::verify(result.text, pldc::verify_SSAForm).errors == "");
    ++errors;
  }
  CHECK((errors == 3 || corpus().find("shared") == std::string::npos));
}
