#include "support/text_diff.h"

#include <random>

#include "support/catch.h"
#include "support/process.h"
#include "support/temp_dir.h"

using namespace pldc;

TEST_CASE("first difference: a final newline does not count") {
  TextDifference d{};
  CHECK_FALSE(first_difference("a\nb", "a\nb\n", d));
  CHECK_FALSE(first_difference("", "\n", d));
  REQUIRE(first_difference("a\nbc\nd", "a\nbx\nd", d));
  CHECK(d.offset == 3);
  CHECK(d.expected == "c");
  CHECK(d.found == "x");
  REQUIRE(first_difference("a\n", "a\nb", d));
  CHECK(d.offset == 1);
  CHECK(d.expected == "<end of text>");
  CHECK(d.found == "<end of line>");
  REQUIRE(first_difference("a", "a\n\n", d));
}

TEST_CASE("unified diff: the usual shape") {
  CHECK(unified_diff("a\n", "a\n", "x", "y").empty());
  CHECK(unified_diff("1\n2\n3\n4\n5\n6\n", "1\n2\n3\nX\n5\n6\n", "before", "after") ==
        "--- before\n+++ after\n@@ -1,6 +1,6 @@\n 1\n 2\n 3\n-4\n+X\n 5\n 6\n");
  CHECK(unified_diff("", "a\n", "x", "y") == "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n");
  CHECK(unified_diff("a\n", "", "x", "y") == "--- x\n+++ y\n@@ -1 +0,0 @@\n-a\n");
}

TEST_CASE("unified diff: `patch` turns one text into the other") {
  ProcessSpec version;
  version.args = {"patch", "--version"};
  version.capture = true;
  const bool has_patch = run_process(version).ok();
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::string before, after;
    const int lines = static_cast<int>(random() % 60);
    for (int i = 0; i < lines; ++i) {
      const std::string line = std::to_string(random() % 12) + "\n";
      if (random() % 8 != 0) before += line;
      if (random() % 8 != 0) after += line;
    }
    const std::string diff = unified_diff(before, after, "f", "f");
    CHECK(diff.empty() == (before == after));
    if (diff.empty() || !has_patch) continue;
    const TempDir dir;
    dir.write("f", before);
    dir.write("d", diff);
    ProcessSpec patch;
    patch.args = {"patch", "-s", "-F0", "-o", "out", "f", "d"};
    patch.capture = true;
    patch.directory = dir.path("");
    const ProcessResult result = run_process(patch);
    CAPTURE(before, after, diff, result.out, result.err);
    REQUIRE(result.ok());
    std::ifstream in(dir.path("out"));
    CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == after);
  }
}

TEST_CASE("unified diff: few changed lines in a large text, and texts that share nothing") {
  std::string before, after;
  for (int i = 0; i < 20000; ++i) {
    before += "line " + std::to_string(i) + "\n";
    after += "line " + std::to_string(i == 10000 ? -1 : i) + "\n";
  }
  const std::string diff = unified_diff(before, after, "x", "y");
  CHECK(diff.find("@@ -9998,7 +9998,7 @@\n") != std::string::npos);
  std::string other;
  for (int i = 0; i < 20000; ++i) other += "other " + std::to_string(i) + "\n";
  CHECK(unified_diff(before, other, "x", "y").size() > before.size());
}

TEST_CASE("line runs: the lines of two texts in turns") {
  const auto runs = [](std::string_view a, std::string_view b) {
    std::string out;
    for (const LineRun& run : line_runs(a, b)) {
      for (const std::size_t n : {run.same, run.removed, run.added}) out += std::to_string(n) + " ";
    }
    return out;
  };
  CHECK(runs("a\nb", "a\nb") == "2 0 0 ");
  CHECK(runs("", "") == "0 0 0 ");
  CHECK(runs("", "a\nb") == "0 0 2 ");
  CHECK(runs("a\nb", "") == "0 2 0 ");
  CHECK(runs("a\nb\nc\nd", "a\nX\nc\nY\nd") == "1 1 1 1 0 1 1 0 0 ");
  CHECK(runs("a\nx\nb\nc", "a\ny\nz\nb\nq") == "1 1 2 1 1 1 ");
}
