// Printed text that a formatter of Python has re-shaped reads as what it was: every reference text is re-wrapped at 40,
// 80 or 200 columns in turn (at each with PLDC_TEST_STAGES=all) and must print as before.
#include <cstdlib>
#include <iterator>

#include "ir/same.h"
#include "support/corpus.h"
#include "unit/frontend/rewrap.h"
#include "unit/frontend/text_fixture.h"

using namespace texttest;

namespace {

// Texts that are no Python, or hold a person's Python verbatim, which a formatter changes.
bool formatter_reads(const std::string& text) {
  if (has(text, " xor ") || has(text, "level=pl.Level.HOST, role=pl.Role.SubWorker")) return false;
  // A header without a body.
  std::size_t begin = 0;
  std::size_t header = std::string::npos;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent != std::string::npos) {
      // A formatter takes the blanks at the end of a comment away.
      if (line[indent] == '#' && line.back() == ' ' && line.size() > indent + 2) return false;
      if (header != std::string::npos && indent <= header) return false;
      header = line.back() == ':' && line[indent] != '#' ? indent : std::string::npos;
    }
    begin = end + 1;
  }
  return header == std::string::npos;
}

}  // namespace

TEST_CASE("the wrapper breaks lines as a formatter does") {
  const std::string printed =
      "# pypto.program: P\nimport pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function\n"
      "    def main(self, n: pl.Scalar[pl.INDEX]) -> tuple[pl.Scalar[pl.INDEX], pl.Scalar[pl.INDEX]]:\n"
      "        # \n        v: pl.Scalar[pl.INDEX] = pl.min(n ** 2, pl.const(3, pl.INT64))\n        return v, "
      "n + 1111111111111111111\n"
      "    @pl.function\n    def ext(self):\n        ...";
  CHECK(rewrap::text(printed, 40) ==
        "# pypto.program: P\nimport pypto.language as pl\n\n\n@pl.program\nclass P:\n    @pl.function\n"
        "    def main(\n        self, n: pl.Scalar[pl.INDEX]\n    ) -> tuple[\n        pl.Scalar[pl.INDEX],\n"
        "        pl.Scalar[pl.INDEX],\n    ]:\n        #\n        v: pl.Scalar[pl.INDEX] = pl.min(\n"
        "            n**2, pl.const(3, pl.INT64)\n        )\n        return (\n            v,\n"
        "            n + 1111111111111111111,\n        )\n\n    @pl.function\n    def ext(self): ...\n");
  CHECK(formatter_reads(printed));
  CHECK(!formatter_reads("with pl.scope():\nreturn"));
}

TEST_CASE("every reference text survives a formatter") {
  constexpr std::size_t widths[] = {40, 80, 200};
  const char* const stages = std::getenv("PLDC_TEST_STAGES");
  const bool all = stages != nullptr && std::string_view(stages) == "all";
  std::size_t count = 0;
  for (const std::string& path : corpus::texts()) {
    const std::string text = corpus::read(path);
    if (!formatter_reads(text)) continue;
    for (std::size_t i = 0; i < std::size(widths); ++i) {
      if (!all && i != count % std::size(widths)) continue;
      const std::size_t width = widths[i];
      const Read r(rewrap::text(text, width));
      if (!r.good()) FAIL(path << " at " << width << "\n" << r.errors.substr(0, 1000));
      std::string printed = r.printed();
      while (!printed.empty() && printed.back() == '\n' && (text.empty() || text.back() != '\n'))
        printed.pop_back();
      if (printed != text) FAIL(path << " at " << width << "\n" << first_difference(text, printed));
    }
    ++count;
  }
  CHECK(count >= 100);
}

TEST_CASE("what a formatter does to single forms") {
  const auto reads_as = [](const std::string& formatted, const std::string& canonical,
                           const std::string& params) {
    const Read r(in_main(formatted, params));
    INFO(formatted << "\n" << r.errors);
    REQUIRE(r.good());
    CHECK(r.printed() == in_main(canonical, params));
  };
  const std::string n = kScalarParams;
  reads_as("for (\n    i\n) in pl.range(\n    4,\n):\n    pass", "for i in pl.range(4):\n    pass", n);
  reads_as(
      "for a, b in pl.while_(init_values=(n, n)):\n    pl.cond(a < b)\n    a_out, b_out = pl.yield_(a, b)",
      "for (a, b) in pl.while_(init_values=(n, n)):\n    pl.cond(a < b)\n    a_out, b_out = pl.yield_(a, b)",
      n);
  reads_as(
      "for (\n    i,\n    (a, b),\n) in pl.range(4, init_values=(n, n)):\n    a_out, b_out = (\n        "
      "pl.yield_(a, b)\n    )",
      "for i, (a, b) in pl.range(4, init_values=(n, n)):\n    a_out, b_out = pl.yield_(a, b)", n);
  reads_as("v: pl.Scalar[pl.INDEX] = (\n    n + 1\n)", "v: pl.Scalar[pl.INDEX] = n + 1", n);
  reads_as(
      "y: pl.Tensor[\n    [4],\n    pl.FP32,\n    pl.MemRef(\n        \"m\",\n        0,\n        16,\n    "
      "),\n] = (\n    x\n)",
      "y: pl.Tensor[[4], pl.FP32, pl.MemRef(\"m\", 0, 16)] = x", "x: pl.Tensor[[4], pl.FP32]");
  reads_as("y: pl.Tensor[[4], pl.FP32, pl.MemRef(\n    \"ring\",\n    slots=2,\n)[\n    0\n]] = x",
           "y: pl.Tensor[[4], pl.FP32, pl.MemRef(\"ring\", slots=2)[0]] = x", "x: pl.Tensor[[4], pl.FP32]");
  reads_as("y: pl.Tensor[[4], pl.FP32, pl.MemRef(\n    \"ring\",\n)] = x",
           "y: pl.Tensor[[4], pl.FP32, pl.MemRef(\"ring\")] = x", "x: pl.Tensor[[4], pl.FP32]");
  reads_as("if (\n    n < 3\n    and n > 1\n):\n    return", "if n < 3 and n > 1:\n    return", n);
  reads_as("return (\n    n,\n)", "return n", n);
  reads_as("with pl.at(\n    level=pl.Level.CORE_GROUP,\n    deps=[\n        n,\n    ],\n):\n    return",
           "with pl.at(level=pl.Level.CORE_GROUP, deps=[n]):\n    return", "n: pl.Scalar[pl.TASK_ID]");
}
