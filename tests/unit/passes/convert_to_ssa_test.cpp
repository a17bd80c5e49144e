// ConvertToSSA: numbered scenarios, one test per error, and all programs of the reference corpus.
#include "support/catch.h"
#include "unit/passes/golden.h"

namespace pldc {
const Program* run_ConvertToSSA(PassEnv&, const Program*);
void verify_SSAForm(const Program*, DiagSink&);
}  // namespace pldc

using namespace golden;
using Catch::Matchers::Contains;

namespace {

// The body of `main(self, n, m: INT64, c: BOOL)` after the pass, or the errors.
std::string ssa(std::string_view body, std::string_view returns = "pl.Scalar[pl.INT64]") {
  std::string text =
      "    @pl.function\n    def main(self, n: pl.Scalar[pl.INT64], m: pl.Scalar[pl.INT64], c: "
      "pl.Scalar[pl.BOOL]) -> ";
  text += std::string(returns) + ":\n";
  text += body;
  const Result result = run(program(text), {pldc::run_ConvertToSSA});
  if (!result.ok) return result.errors;
  const auto at = result.text.find(":\n", result.text.find("def main"));
  const Result verified = golden::verify(result.text, pldc::verify_SSAForm);
  return verified.ok ? result.text.substr(at + 2) : verified.errors + result.text;
}

// A kernel `kern(x, o: Out)` on tensors.
std::string kernel(std::string_view body) {
  std::string text =
      "    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)\n"
      "    def kern(n: pl.Scalar[pl.INDEX], x: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], "
      "pl.FP32]]) "
      "-> pl.Tensor[[64, 64], pl.FP32]:\n";
  text += body;
  const Result result = run(program(text), {pldc::run_ConvertToSSA});
  return result.ok ? result.text : result.errors;
}

}  // namespace

TEST_CASE("T142 SSA: numbers go on through the branches of nested ifs") {
  CHECK(ssa("        a: pl.Scalar[pl.INT64] = n\n"
            "        if c:\n"
            "            if n < m:\n"
            "                a: pl.Scalar[pl.INT64] = n + 1\n"
            "            else:\n"
            "                a: pl.Scalar[pl.INT64] = n + 2\n"
            "        else:\n"
            "            a: pl.Scalar[pl.INT64] = n + 3\n"
            "        return a\n") ==
        "        a__ssa_v0: pl.Scalar[pl.INT64] = n__ssa_v0\n"
        "        if c__ssa_v0:\n"
        "            if n__ssa_v0 < m__ssa_v0:\n"
        "                a__ssa_v1: pl.Scalar[pl.INT64] = n__ssa_v0 + 1\n"
        "                a__phi_v3: pl.Scalar[pl.INT64] = pl.yield_(a__ssa_v1)\n"
        "            else:\n"
        "                a__ssa_v2: pl.Scalar[pl.INT64] = n__ssa_v0 + 2\n"
        "                a__phi_v3: pl.Scalar[pl.INT64] = pl.yield_(a__ssa_v2)\n"
        "            a__phi_v5: pl.Scalar[pl.INT64] = pl.yield_(a__phi_v3)\n"
        "        else:\n"
        "            a__ssa_v4: pl.Scalar[pl.INT64] = n__ssa_v0 + 3\n"
        "            a__phi_v5: pl.Scalar[pl.INT64] = pl.yield_(a__ssa_v4)\n"
        "        return a__phi_v5");
}

TEST_CASE("T143 SSA: carries of a loop are sorted by name") {
  CHECK(ssa("        b: pl.Scalar[pl.INT64] = m\n"
            "        a: pl.Scalar[pl.INT64] = n\n"
            "        for i in pl.range(n):\n"
            "            t: pl.Scalar[pl.INT64] = a + i\n"
            "            b: pl.Scalar[pl.INT64] = b + t\n"
            "            a: pl.Scalar[pl.INT64] = a + b\n"
            "            for j in pl.range(4):\n"
            "                a: pl.Scalar[pl.INT64] = a + j\n"
            "        return a + b\n") ==
        "        b__ssa_v0: pl.Scalar[pl.INT64] = m__ssa_v0\n"
        "        a__ssa_v0: pl.Scalar[pl.INT64] = n__ssa_v0\n"
        "        for i__idx_v0, (a__iter_v1, b__iter_v1) in pl.range(n__ssa_v0, init_values=(a__ssa_v0, "
        "b__ssa_v0)):\n"
        "            t__ssa_v0: pl.Scalar[pl.INT64] = a__iter_v1 + i__idx_v0\n"
        "            b__ssa_v3: pl.Scalar[pl.INT64] = b__iter_v1 + t__ssa_v0\n"
        "            a__ssa_v3: pl.Scalar[pl.INT64] = a__iter_v1 + b__ssa_v3\n"
        "            for j__idx_v0, (a__iter_v4,) in pl.range(4, init_values=(a__ssa_v3,)):\n"
        "                a__ssa_v6: pl.Scalar[pl.INT64] = a__iter_v4 + j__idx_v0\n"
        "                a__rv_v5: pl.Scalar[pl.INT64] = pl.yield_(a__ssa_v6)\n"
        "            a__rv_v2, b__rv_v2 = pl.yield_(a__rv_v5, b__ssa_v3)\n"
        "        return a__rv_v2 + b__rv_v2");
}

TEST_CASE("T144 SSA: the condition of a while reads the carries") {
  CHECK(ssa("        k: pl.Scalar[pl.INT64] = m\n"
            "        s: pl.Scalar[pl.INT64] = m\n"
            "        while k < n:\n"
            "            if k > 3:\n"
            "                s: pl.Scalar[pl.INT64] = s + k\n"
            "            k: pl.Scalar[pl.INT64] = k + 1\n"
            "        return s\n") ==
        "        k__ssa_v0: pl.Scalar[pl.INT64] = m__ssa_v0\n"
        "        s__ssa_v0: pl.Scalar[pl.INT64] = m__ssa_v0\n"
        "        for (k__iter_v1, s__iter_v1) in pl.while_(init_values=(k__ssa_v0, s__ssa_v0)):\n"
        "            pl.cond(k__iter_v1 < n__ssa_v0)\n"
        "            if k__iter_v1 > 3:\n"
        "                s__ssa_v3: pl.Scalar[pl.INT64] = s__iter_v1 + k__iter_v1\n"
        "                s__phi_v4: pl.Scalar[pl.INT64] = pl.yield_(s__ssa_v3)\n"
        "            else:\n"
        "                s__phi_v4: pl.Scalar[pl.INT64] = pl.yield_(s__iter_v1)\n"
        "            k__ssa_v3: pl.Scalar[pl.INT64] = k__iter_v1 + 1\n"
        "            k__rv_v2, s__rv_v2 = pl.yield_(k__ssa_v3, s__phi_v4)\n"
        "        return s__rv_v2");
}

TEST_CASE("T145 SSA: a loop result starts as the memory it stands for, or is refused") {
  CHECK_THAT(kernel("        for i in pl.range(0, 64, 16):\n"
                    "            t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [i, 0], [16, "
                    "64], [16, 64], "
                    "target_memory=pl.Mem.Vec)\n"
                    "            r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(t, [i, 0], o)\n"
                    "        return r\n"),
             Contains("for i__idx_v0, (r__iter_v0,) in pl.range(0, 64, 16, init_values=(o__ssa_v0,)):") &&
                 Contains("r__rv_v1: pl.Tensor[[64, 64], pl.FP32] = pl.yield_(r__ssa_v2)") &&
                 Contains("return r__rv_v1"));
  CHECK_THAT(kernel("        for i in pl.range(n):\n"
                    "            t: pl.Tensor[[64, 64], pl.FP32] = pl.tensor.adds(x, 1.0)\n"
                    "        return t\n"),
             Contains("PLD0502 't' is first assigned inside this loop and read after it") &&
                 Contains("help: assign 't' before the loop"));
}

TEST_CASE("T145 SSA: a value that stands for another memory than a parameter") {
  // The memory of the created tensor, which goes by the name `o` at that point.
  CHECK_THAT(kernel("        q: pl.Tensor[[64, 64], pl.FP32] = pl.tensor.create([64, 64], dtype=pl.FP32, "
                    "layout=pl.TensorLayout.ND)\n"
                    "        for i in pl.range(0, 64, 16):\n"
                    "            t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [i, 0], [16, "
                    "64], [16, 64], "
                    "target_memory=pl.Mem.Vec)\n"
                    "            r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(t, [i, 0], q)\n"
                    "        return r\n"),
             Contains("init_values=(q__ssa_v0,)"));
}

TEST_CASE("T146 SSA: generated endings of source names are taken off") {
  const std::string text =
      ssa("        x__ssa_v3: pl.Scalar[pl.INT64] = n\n"
          "        y__l0_tmp_v2: pl.Scalar[pl.INT64] = x__ssa_v3\n"
          "        z__tmp: pl.Scalar[pl.INT64] = y__l0_tmp_v2\n"
          "        w__v4: pl.Scalar[pl.INT64] = z__tmp\n"
          "        return w__v4\n");
  CHECK(text ==
        "        x__ssa_v0: pl.Scalar[pl.INT64] = n__ssa_v0\n"
        "        y__l0_ssa_v0: pl.Scalar[pl.INT64] = x__ssa_v0\n"
        "        z__ssa_v0: pl.Scalar[pl.INT64] = y__l0_ssa_v0\n"
        "        w__ssa_v0: pl.Scalar[pl.INT64] = z__ssa_v0\n"
        "        return w__ssa_v0");
  CHECK_THAT(ssa("        __allreduce_signal_0: pl.Scalar[pl.INT64] = n\n"
                 "        return __allreduce_signal_0\n"),
             Contains("return __allreduce_signal_0__ssa_v0"));
  // Names that were told apart when the text was printed.
  CHECK(ssa("        y__tile: pl.Scalar[pl.INT64] = n\n"
            "        y__tile_1: pl.Scalar[pl.INT64] = y__tile\n"
            "        return y__tile_1\n") ==
        "        y__ssa_v0: pl.Scalar[pl.INT64] = n__ssa_v0\n"
        "        y__ssa_v0_1: pl.Scalar[pl.INT64] = y__ssa_v0\n"
        "        return y__ssa_v0_1");
  CHECK_THAT(ssa("        a__b: pl.Scalar[pl.INT64] = n\n"
                 "        return a__b\n"),
             Contains("PLD0500 the name 'a__b' cannot be versioned: its base 'a__b' contains '__'") &&
                 Contains("help: rename the variable"));
}

TEST_CASE("T147 SSA: an explicit carry keeps its names beside an implicit one") {
  CHECK(ssa("        side: pl.Scalar[pl.INT64] = m\n"
            "        for i, (acc,) in pl.range(n, init_values=(m,)):\n"
            "            nxt: pl.Scalar[pl.INT64] = acc + i\n"
            "            side: pl.Scalar[pl.INT64] = side + nxt\n"
            "            total: pl.Scalar[pl.INT64] = pl.yield_(nxt)\n"
            "        return total + side\n") ==
        "        side__ssa_v0: pl.Scalar[pl.INT64] = m__ssa_v0\n"
        "        for i__idx_v0, (acc, side__iter_v1) in pl.range(n__ssa_v0, init_values=(m__ssa_v0, "
        "side__ssa_v0)):\n"
        "            nxt__ssa_v0: pl.Scalar[pl.INT64] = acc + i__idx_v0\n"
        "            side__ssa_v3: pl.Scalar[pl.INT64] = side__iter_v1 + nxt__ssa_v0\n"
        "            total, side__rv_v2 = pl.yield_(nxt__ssa_v0, side__ssa_v3)\n"
        "        return total + side__rv_v2");
}

TEST_CASE("T170 SSA: a printer suffix in the text becomes part of the name") {
  CHECK(ssa("        s: pl.Scalar[pl.INT64] = n\n"
            "        for r in pl.range(2):\n"
            "            s: pl.Scalar[pl.INT64] = s + r\n"
            "        for r_1 in pl.range(2):\n"
            "            s: pl.Scalar[pl.INT64] = s + r_1\n"
            "        return s\n") ==
        "        s__ssa_v0: pl.Scalar[pl.INT64] = n__ssa_v0\n"
        "        for r__idx_v0, (s__iter_v1,) in pl.range(2, init_values=(s__ssa_v0,)):\n"
        "            s__ssa_v3: pl.Scalar[pl.INT64] = s__iter_v1 + r__idx_v0\n"
        "            s__rv_v2: pl.Scalar[pl.INT64] = pl.yield_(s__ssa_v3)\n"
        "        for r_1__idx_v0, (s__iter_v4,) in pl.range(2, init_values=(s__rv_v2,)):\n"
        "            s__ssa_v6: pl.Scalar[pl.INT64] = s__iter_v4 + r_1__idx_v0\n"
        "            s__rv_v5: pl.Scalar[pl.INT64] = pl.yield_(s__ssa_v6)\n"
        "        return s__rv_v5");
}

TEST_CASE("SSA: a variable that only one branch defines has no value after the if") {
  CHECK_THAT(ssa("        if c:\n"
                 "            z: pl.Scalar[pl.INT64] = n + 1\n"
                 "        return z\n"),
             Contains("PLD0501 'z' has no value here") && Contains("help: assign 'z' on every way"));
}

TEST_CASE("SSA: a variable that only a loop body defines has no value after it") {
  // The loop is the last statement of its list, so nothing in that list needs `z`.
  CHECK_THAT(ssa("        if c:\n"
                 "            k: pl.Scalar[pl.INT64] = n\n"
                 "            for i in pl.range(n):\n"
                 "                z: pl.Scalar[pl.INT64] = k + i\n"
                 "        return z\n"),
             Contains("PLD0501 'z' has no value here"));
}

TEST_CASE("SSA: functions with a foreign body are left alone") {
  const std::string text = program(
      "    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)\n"
      "    def check(x: pl.Tensor[[16, 64], pl.FP32]):\n"
      "        print(x)\n");
  const Result result = run(text, {pldc::run_ConvertToSSA});
  CHECK(result.errors.empty());
  CHECK(result.text + "\n" == text);
}

TEST_CASE("SSA: every program of the corpus gives the reference's text") {
  if (corpus().empty()) return;
  int compared = 0;
  CHECK(compare_all("ConvertToSSA", pldc::run_ConvertToSSA, compared) == "");
  CHECK(compared > 0);
}

TEST_CASE("SSA: the dump dialect of a program gives the same text") {
  if (corpus().empty()) return;
  int compared = 0;
  for (const Case& c : cases("ConvertToSSA")) {
    const std::string text = text_of("dump/" + c.program, "00_frontend.pld");
    // Passes 1 to 3 stand between.
    if (c.program == "fmt_while_carry") continue;  // conformance_exceptions.txt
    bool untouched = !text.empty() && !c.error && c.exact;
    for (const Entry& entry : index_of(c.program)) {
      untouched = untouched && (entry.number == 0 || entry.number > 3 || entry.file.empty());
    }
    if (!untouched) continue;
    const Result result = run(text, {pldc::run_ConvertToSSA});
    INFO(c.program << "\n" << result.errors);
    CHECK(result.text == c.after);
    ++compared;
  }
  CHECK((compared > 0 || text_of("dump/two_domains", "00_frontend.pld").empty()));
}

TEST_CASE("SSA: a program that the reference rightly rejects is rejected") {
  if (corpus().empty()) return;
  const Result result = run(text_of("fmt_names_clash", "00_frontend.pld"), {pldc::run_ConvertToSSA});
  CHECK_FALSE(result.ok);
  CHECK_THAT(result.errors, Contains("PLD0500") && Contains("'__under'"));
}
