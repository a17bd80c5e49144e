// UnrollLoops, CtrlFlowTransform, and what ConvertToSSA does about jumps: numbered scenarios of passes.md.
#include "passes/run.h"
#include "support/catch.h"
#include "support/diag/pass.h"
#include "unit/passes/golden.h"

namespace pldc {
const Program* run_UnrollLoops(PassEnv&, const Program*);
const Program* run_CtrlFlowTransform(PassEnv&, const Program*);
const Program* run_ConvertToSSA(PassEnv&, const Program*);
}  // namespace pldc

using Catch::Matchers::Contains;

namespace {

constexpr std::string_view kKernel =
    "    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)\n"
    "    def main(n: pl.Scalar[pl.INDEX], s: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:\n";
constexpr std::string_view kOpaque =
    "    @pl.function\n"
    "    def main(self, n: pl.Scalar[pl.INDEX], s: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:\n";

// "x = y" becomes "x: pl.Scalar[pl.INDEX] = y", and each line is indented as a body.
std::string as_body(std::string_view text) {
  std::string out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line(text.substr(begin, end - begin));
    begin = end + 1;
    const std::size_t is = line.find(" = ");
    if (is != std::string::npos && line.find("init_values") == std::string::npos &&
        line.find(": pl.") == std::string::npos)
      line.replace(is, 3,
                   line.find("__tmp") < is && line.find("yield__") == std::string::npos &&
                           line.find("stop__") == std::string::npos
                       ? ": pl.Scalar[pl.BOOL] = "
                       : ": pl.Scalar[pl.INDEX] = ");
    out += "        " + line + "\n";
  }
  return out;
}

std::string body_after(std::string_view head, std::string_view body, pldc::PassFunction pass) {
  const golden::Result result =
      golden::run(golden::program(std::string(head) + as_body(body) + "        return s\n"), {pass});
  if (!result.ok) return result.errors;
  const std::size_t at = result.text.find(":\n", result.text.find("def main")) + 2;
  const std::string text = result.text.substr(at);
  return text.substr(0, text.rfind("        return s"));
}

void check_unrolled(std::string_view before, std::string_view after) {
  CHECK(body_after(kKernel, before, pldc::run_UnrollLoops) == as_body(after));
}
void check_lowered(std::string_view before, std::string_view after, std::string_view head = kKernel) {
  CHECK(body_after(head, before, pldc::run_CtrlFlowTransform) == as_body(after));
}

}  // namespace

TEST_CASE("T151 unroll: comments, nested loops, expressions that stay") {
  check_unrolled(
      "# before loop\nfor i in pl.unroll(0, 4, 2):\n    # in body\n    s = s + i\n    for j in "
      "pl.unroll(2):\n        s = s * j",
      "# before loop\n# in body\ns = s + 0\ns = s * 0\ns = s * 1\n# in body\ns = s + 2\ns = s * 0\ns = s * "
      "1");
}

TEST_CASE("T151 unroll: descending and empty ranges") {
  check_unrolled("for i in pl.unroll(3, 0, -1):\n    s = s + i", "s = s + 3\ns = s + 2\ns = s + 1");
  check_unrolled(
      "s = s + 1\nfor i in pl.unroll(4, 4):\n    s = s + i\nfor i in pl.unroll(0, 4, -1):\n    s = s + i",
      "s = s + 1");
  check_unrolled("for i in pl.unroll(0, 7, 3):\n    s = s + i", "s = s + 0\ns = s + 3\ns = s + 6");
}

TEST_CASE("T151 unroll: limits") {
  CHECK_THAT(body_after(kKernel, "for i in pl.unroll(1025):\n    s = s + i", pldc::run_UnrollLoops),
             Contains("1025 trips, more than 1024"));
  CHECK_THAT(body_after(kKernel, "for i in pl.unroll(1024):\n    s = s + i", pldc::run_UnrollLoops),
             Contains("s + 1023\n"));
  // The greatest distance that two numbers can have.
  CHECK_THAT(
      body_after(kKernel, "for i in pl.unroll(-9223372036854775807, 9223372036854775807):\n    s = s + i",
                 pldc::run_UnrollLoops),
      Contains("18446744073709551614 trips"));
  CHECK_THAT(
      body_after(kKernel,
                 "for i in pl.unroll(-9223372036854775807, 9223372036854775807, 9223372036854775807):\n"
                 "    s = s + i",
                 pldc::run_UnrollLoops),
      Contains("s + -9223372036854775807\n") && Contains("s + 0\n"));
}

TEST_CASE("unroll: the loops of each copy have carries of their own") {
  const std::string text = body_after(kOpaque,
                                      "for i in pl.unroll(2):\n    for j, (a,) in pl.range(3, "
                                      "init_values=(s,)):\n        s: pl.Scalar[pl.INDEX] = "
                                      "pl.yield_(a + i)",
                                      pldc::run_UnrollLoops);
  CHECK_THAT(text, Contains("for j, (a,) in") && Contains("for j, (a_1,) in"));
}

TEST_CASE("T152 control flow: continue") {
  check_lowered("for i in pl.range(8):\n    if i == n:\n        continue\n    s = s + i",
                "for i in pl.range(8):\n    if i == n:\n        pass\n    else:\n        s = s + i");
  check_lowered(
      "for i in pl.range(8):\n    if i == n:\n        s = s + 1\n    else:\n        continue\n    s = s + i",
      "for i in pl.range(8):\n    if i == n:\n        s = s + 1\n        s = s + i\n    else:\n        pass");
}

TEST_CASE("T152 control flow: break") {
  check_lowered("for i in pl.range(8):\n    if i == n:\n        break\n    s = s + i",
                "i__idx_v1 = 0\nbreak__tmp_v0 = False\nwhile i__idx_v1 < 8 and not break__tmp_v0:\n"
                "    if i__idx_v1 == n:\n        break__tmp_v0 = True\n        pl.yield_()\n    else:\n"
                "        s = s + i__idx_v1\n        pl.yield_()\n    if not break__tmp_v0:\n"
                "        i__idx_v1 = i__idx_v1 + 1");
  // Downwards; a comment of the loop goes with the loop.
  check_lowered("# down\nfor i in pl.range(8, 0, -1):\n    if i == n:\n        break",
                "i__idx_v1 = 8\nbreak__tmp_v0 = False\nwhile i__idx_v1 > 0 and not break__tmp_v0:\n"
                "    if i__idx_v1 == n:\n        break__tmp_v0 = True\n        pl.yield_()\n    else:\n"
                "        pl.yield_()\n    if not break__tmp_v0:\n        i__idx_v1 = i__idx_v1 + -1");
  check_lowered("while s < n:\n    s = s + 1\n    if s == 7:\n        break",
                "break__tmp_v0 = False\nwhile s < n and not break__tmp_v0:\n    s = s + 1\n    if s == 7:\n"
                "        break__tmp_v0 = True\n        pl.yield_()\n    else:\n        pl.yield_()");
}

TEST_CASE("T152 control flow: inner loops are numbered first") {
  const std::string text = body_after(kKernel,
                                      "for i in pl.range(8):\n    for j in pl.range(4):\n        if j == "
                                      "n:\n            break\n    if i == n:\n        break",
                                      pldc::run_CtrlFlowTransform);
  CHECK_THAT(text, Contains("while i__idx_v3 < 8 and not break__tmp_v2:") &&
                       Contains("while j__idx_v1 < 4 and not break__tmp_v0:"));
}

TEST_CASE("T152 control flow: a break deeper in a branch guards the rest of the body") {
  check_lowered(
      "while s < n:\n    if s > 3:\n        if s == 7:\n            break\n        s = s + 2\n    s = s + 1",
      "break__tmp_v0 = False\nwhile s < n and not break__tmp_v0:\n    if s > 3:\n        if s == 7:\n"
      "            break__tmp_v0 = True\n            pl.yield_()\n        else:\n            s = s + 2\n"
      "            pl.yield_()\n    else:\n        pass\n    if not break__tmp_v0:\n        s = s + 1\n"
      "        pl.yield_()\n    else:\n        pl.yield_()");
}

TEST_CASE("T152 control flow: explicit carries") {
  check_lowered(
      "for i, (acc,) in pl.range(8, init_values=(s,)):\n    if i == n:\n        continue\n"
      "    acc__ssa_v5 = acc + i\n    r: pl.Scalar[pl.INDEX] = pl.yield_(acc__ssa_v5)",
      "for i, (acc,) in pl.range(8, init_values=(s,)):\n    if i == n:\n"
      "        acc__phi_v0: pl.Scalar[pl.INDEX] = pl.yield_(acc)\n    else:\n        acc__ssa_v5 = acc + i\n"
      "        acc__phi_v0: pl.Scalar[pl.INDEX] = pl.yield_(acc__ssa_v5)\n"
      "    r: pl.Scalar[pl.INDEX] = pl.yield_(acc__phi_v0)");
  const std::string text =
      body_after(kKernel,
                 "for i, (acc,) in pl.range(8, init_values=(s,)):\n    if i == n:\n        break\n"
                 "    acc__ssa_v5 = acc + i\n    r: pl.Scalar[pl.INDEX] = pl.yield_(acc__ssa_v5)",
                 pldc::run_CtrlFlowTransform);
  CHECK_THAT(text, Contains("acc__phi_v2: pl.Scalar[pl.INDEX] = pl.yield_(acc)\n") &&
                       Contains("r: pl.Scalar[pl.INDEX] = pl.yield_(acc__phi_v2)\n"));
}

TEST_CASE("T152 control flow: other functions and parallel loops keep their jumps") {
  const std::string_view loop = "for i in pl.range(8):\n    if i == n:\n        break\n    s = s + i";
  check_lowered(loop, loop, kOpaque);
  const std::string_view parallel =
      "for i in pl.parallel(8):\n    if i == n:\n        continue\n    s = s + i";
  check_lowered(parallel, parallel);
}

TEST_CASE("D19 control flow: statements before a jump are kept, what follows a nested continue is guarded") {
  check_lowered("for i in pl.range(8):\n    if i == n:\n        s = s + 100\n        continue\n    s = s + i",
                "for i in pl.range(8):\n    if i == n:\n        s = s + 100\n    else:\n        s = s + i");
  check_lowered(
      "for i in pl.range(8):\n    if i > 3:\n        if i == n:\n            continue\n        s = s + 2\n   "
      " s = s + 1",
      "for i in pl.range(8):\n    continue__tmp_v0 = False\n    if i > 3:\n        if i == n:\n"
      "            continue__tmp_v0 = True\n        else:\n            s = s + 2\n    if not "
      "continue__tmp_v0:\n"
      "        s = s + 1");
}

TEST_CASE("control flow: bounds that the body changes are read once") {
  CHECK_THAT(
      body_after(kKernel,
                 "for i in pl.range(n):\n    n = n + 1\n    if i == 5:\n        break\n    s = s + i",
                 pldc::run_CtrlFlowTransform),
      Contains("stop__tmp_v2: pl.Scalar[pl.INDEX] = n\n") && Contains("while i__idx_v1 < stop__tmp_v2 and"));
  // The sign of a computed step is not known.
  CHECK_THAT(body_after(kKernel, "for i in pl.range(0, 8, n):\n    if i == 5:\n        break\n    s = s + i",
                        pldc::run_CtrlFlowTransform),
             Contains("while (n > 0 and i__idx_v1 < 8 or n < 0 and i__idx_v1 > 8) and not break__tmp_v0:"));
}

TEST_CASE("T153 a break at the top level of a function passes the whole pipeline") {
  for (const char* program : {"pass_ctrlflow_break_toplevel_rejected"}) {
    if (golden::corpus().empty()) return;
    pldc::SourceManager sources;
    pldc::Context context;
    pldc::DiagSink diags;
    const pldc::Module module =
        pldc::parse(*sources.add("p.pld", golden::text_of(program, "00_frontend.pld")), context, diags);
    REQUIRE(module.program != nullptr);
    pldc::PipelineOptions options;
    options.verify = pldc::VerifyLevel::RoundTrip;
    const pldc::RunResult result = pldc::run_passes(options, context, diags, module.program);
    for (const pldc::Diagnostic& d : diags.all()) UNSCOPED_INFO(d.message);
    CHECK(result.program != nullptr);
  }
}

TEST_CASE("ConvertToSSA: loops that would lose values are written without jumps, others keep them") {
  const std::string kept = body_after(
      kOpaque, "for i in pl.range(8):\n    if i == n:\n        break\n    s = s + i", pldc::run_ConvertToSSA);
  CHECK_THAT(kept, Contains("break\n") && !Contains("while"));
  const std::string lowered = body_after(
      kOpaque, "for i in pl.range(8):\n    s = s + i\n    if i == n:\n        break", pldc::run_ConvertToSSA);
  CHECK_THAT(lowered, !Contains("break\n") && Contains("pl.while_"));
  const std::string skipped = body_after(
      kOpaque, "for i in pl.parallel(8):\n    s = s + i\n    if i == n:\n        continue\n    s = s + 1",
      pldc::run_ConvertToSSA);
  CHECK_THAT(skipped, !Contains("continue\n") && Contains("pl.parallel(8"));
  CHECK_THAT(body_after(kOpaque, "for i in pl.parallel(8):\n    s = s + i\n    if i == n:\n        break",
                        pldc::run_ConvertToSSA),
             Contains("'break' would lose the value that this iteration gave to 's'"));
  // A variable that nobody reads afterwards may be lost.
  CHECK_THAT(body_after(kOpaque,
                        "for i in pl.range(8):\n    t = i + n\n    if t == 5:\n        break\n    s = s + t",
                        pldc::run_ConvertToSSA),
             Contains("break\n"));
}
