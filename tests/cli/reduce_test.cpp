// reduce and replay: small programs out of large ones, and crashes once more.
#include <filesystem>
#include <fstream>

#include "cli/cli.h"
#include "driver/reduce/lines.h"
#include "driver/reduce/reducer.h"
#include "support/catch.h"
#include "support/temp_dir.h"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using namespace pldc;

namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string reduced(const std::string& text, const std::function<bool(const std::string&)>& test) {
  reduce::Reducer reducer(reduce::split(text), {test, [] { return false; }, [](const reduce::Lines&) {}});
  return reduce::join(reducer.run());
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// A program of `functions` kernels with ten statements each, inside loops.
std::string large_program(int functions) {
  std::string text = "# pypto.program: Large\nimport pypto.language as pl\n\n@pl.program\nclass Large:\n";
  for (int f = 0; f < functions; ++f) {
    text += "    @pl.function\n    def f" + std::to_string(f) +
            "(self, n: pl.Scalar[pl.INDEX], x: pl.Tensor[[8, 64], pl.FP32]) -> pl.Tensor[[8, 64], pl.FP32]:\n"
            "        for i in pl.range(n):\n";
    for (int s = 0; s < 10; ++s)
      text += "            t" + std::to_string(s) + ": pl.Tensor[[8, 64], pl.FP32] = pl.tensor.adds(x, " +
              std::to_string(f * 10 + s) + ".0)\n";
    text += "        return x\n";
  }
  return text;
}

}  // namespace

TEST_CASE("reduce: lines that brackets or strings hold together are one") {
  const reduce::Lines lines = reduce::split(
      "a = f(\n    1,  # (\n    2,\n)\n\n  s = \"\"\"x(\n  y\"\"\"\n\tb = '('\nc = [\nunclosed\n");
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].text == "a = f(\n    1,  # (\n    2,\n)");
  CHECK(lines[1] == reduce::Line{2, "s = \"\"\"x(\n  y\"\"\""});
  CHECK(lines[2] == reduce::Line{8, "b = '('"});
  CHECK(lines[3].text == "c = [\nunclosed");
  CHECK(reduce::split("").empty());
  CHECK(reduce::join({}).empty());
}

TEST_CASE("reduce: what stands between brackets") {
  const std::string text = "x = pl.f(a, [1, 2], g(b)) + ()";
  const auto groups = reduce::groups_of(text);
  REQUIRE(groups.size() == 4);
  CHECK(text.substr(groups[0].head, groups[0].open - groups[0].head) == "pl.f");
  REQUIRE(groups[0].items.size() == 3);
  CHECK(reduce::item_text(text, groups[0], 1) == "[1, 2]");
  CHECK(reduce::without_item(text, groups[0], 0) == "x = pl.f([1, 2], g(b)) + ()");
  CHECK(reduce::without_item(text, groups[0], 2) == "x = pl.f(a, [1, 2]) + ()");
  CHECK(reduce::without_item(text, groups[2], 0) == "x = pl.f(a, [1, 2], g()) + ()");
  CHECK(groups[3].items.empty());
  CHECK(reduce::groups_of("f(a, ']'").empty());
  CHECK(reduce::groups_of("f(a,)")[0].items.size() == 1);
}

TEST_CASE("reduce: lines, bodies, arguments and calls go while the test holds") {
  CHECK(reduced("a\n  b\n    c\nd\n", [](const std::string& t) { return has(t, "c"); }) == "c\n");
  CHECK(reduced("x = f(g(1, 2), [h(3)])\n",
                [](const std::string& t) { return has(t, "3") && has(t, "x"); }) == "x = 3\n");
  // A parameter goes with its arguments: here a text without that is refused.
  const auto fits = [](const std::string& t) {
    return has(t, "def f(self, b)") == has(t, "self.f(2)") && has(t, "def f(self,") && has(t, "self.f(") &&
           (has(t, "def f(self, b)") || (has(t, "a, b") && has(t, "1, 2")));
  };
  CHECK_THAT(reduced("def f(self, a, b):\n  g\ny = self.f(1, 2)\n", fits),
             Contains("def f(self, b)") && Contains("self.f(2)"));
  // Results go with the returns, and with what the calls are assigned to; a call that is returned stays.
  const auto consistent = [](const std::string& t) {
    return has(t, "-> T") == has(t, "return x") && has(t, "-> T") == has(t, "b = self.f(1)") &&
           has(t, "self.f(1)") && has(t, "-> U") == has(t, "return self.f(2)") && has(t, "self.f(2)");
  };
  CHECK(reduced("def f(self, a) -> T:\n  return x\nb = self.f(1)\ndef g(self) -> U:\n  return self.f(2)\n",
                consistent) == "self.f(1)\nself.f(2)\n");
  // All of it goes if nothing is needed.
  CHECK(reduced("a\nb\n", [](const std::string&) { return true; }).empty());
}

TEST_CASE("reduce: a result is minimal by lines, and each text is tried once") {
  std::unordered_set<std::string> seen;
  bool twice = false;
  const std::string text = reduced(large_program(20), [&](const std::string& t) {
    twice = !seen.insert(t).second || twice;
    return has(t, "77.0") && has(t, "154.0");
  });
  CHECK_FALSE(twice);
  CHECK(reduce::split(text).size() == 2);
}

TEST_CASE("reduce: 500 lines that fail are shrunk to a few") {
  const TempDir dir;
  // One of 440 statements adds tensors of two dtypes: that is what the message is about.
  std::string text = large_program(37);
  const std::string line = "t5: pl.Tensor[[8, 64], pl.FP32] = pl.tensor.adds(x, 235.0)";
  const std::size_t at = text.find(line);
  REQUIRE(at != std::string::npos);
  text.replace(at, line.size(), "t5: pl.Tensor[[8, 64], pl.FP32] = pl.tensor.row_sum(n)");
  REQUIRE(std::count(text.begin(), text.end(), '\n') > 500);
  const std::string file = dir.write("large.pld", text);
  const std::string build =
      std::getenv("PLDC_BUILD_ROOT") != nullptr ? std::getenv("PLDC_BUILD_ROOT") : "build";
  const std::string test = build + "/src/driver/pldc check {} 2>&1 | grep -q 'of tensor.row_sum must be'";
  const Outcome outcome = run_pldc({"reduce", "--test=" + test, file, "-o", dir.path("small.pld")});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const std::string small = content(dir.path("small.pld"));
  INFO(small);
  CHECK(std::count(small.begin(), small.end(), '\n') < 15);
  CHECK_THAT(small, Contains("row_sum("));
  CHECK_THAT(outcome.err, Contains("lines are left after"));
}

TEST_CASE("reduce: a program that hangs is reduced to one that hangs") {
  if (std::getenv("PLDC_SOURCE_ROOT") == nullptr || std::getenv("PLDC_BUILD_ROOT") == nullptr) return;
  const TempDir dir;
  const std::string hang =
      content(std::string(std::getenv("PLDC_SOURCE_ROOT")) + "/samples/tutorial/2_hang.pld");
  const std::string file = dir.write("hang.pld", hang);
  const std::string small = dir.path("small.pld");
  const std::string pldc = std::string(std::getenv("PLDC_BUILD_ROOT")) + "/src/driver/pldc";
  // The match of signals needs no kernels; to run they must be some.
  const std::string test = pldc + " check --ranks 2 {} 2>&1 | grep -q PLD0661 && " + pldc +
                           " build --emit=kernels -o - {} >/dev/null 2>&1";
  const Outcome outcome = run_pldc({"reduce", "--test=" + test, file, "-o", small});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const std::string text = content(small);
  INFO(text);
  CHECK(text.size() * 2 < hang.size());
  CHECK_FALSE(has(text, "->"));
  const Outcome run = run_pldc({"run", "--ranks=2", "--random", small}, build_variables());
  INFO(run.err);
  CHECK(run.code == 4);
  CHECK_THAT(run.err, Contains("deadlock: no rank can move") && Contains("to be notified by"));
}

TEST_CASE("reduce: only programs that can be read, under the name of the input, within the time") {
  const TempDir dir;
  const std::string file = dir.write("it's.pld", kScale);
  const Outcome outcome = run_pldc(
      {"reduce", "--readable", "--test=case {} in */it\\'s.pld) grep -q muls {};; *) false;; esac", file});
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  const std::string small = dir.write("small.pld", outcome.out);
  CHECK(run_pldc({"check", small}).code == 0);
  CHECK_THAT(outcome.out, Contains("muls") && !Contains("Orchestration"));

  const Outcome slow = run_pldc({"reduce", "--timeout=1", "--test=sleep 20 #", file});
  CHECK(slow.code == 1);
  CHECK_THAT(slow.err, Contains("it took more than 1 s"));
  CHECK_THAT(run_pldc({"reduce", "--test=no-such-command {}", file}).err,
             Contains("exit code 127; its last line on stderr: ") && Contains("no-such-command"));
  CHECK(run_pldc({"reduce", file}).code == 2);
  CHECK(run_pldc({"reduce", "--test=true", "--timeout=0", file}).code == 2);
  CHECK(run_pldc({"reduce", "--test=true", file, file}).code == 2);
  CHECK(run_pldc({"reduce", "--test=true", dir.path("none.pld")}).code == 1);
}

TEST_CASE("replay: arguments, input and PLDC_VERIFY of the run that crashed") {
  const TempDir dir, crashes;
  const std::string good = dir.write("good.pld", kScale);
  const std::string bad = dir.write("bad.pld", std::string(kScale) + "  # a comment");
  const Outcome crash =
      run_pldc({"check", "--crash=check", good, bad},
               {{"PLDC_VERIFY", "roundtrip"}, {"PLDC_FLAGS", "--max-errors=7"}}, crashes.path(""));
  CHECK(crash.code == 3);
  const auto names = crashes.list("");
  REQUIRE(names.size() == 2);
  for (const std::string& name : names) {
    const std::string text = content(crashes.path(name));
    CHECK_THAT(text, Contains("--max-errors=7") && Contains("# verify: roundtrip\n"));
    CHECK(has(text, good) != has(text, bad));  // each file alone
    std::filesystem::remove(dir.path("good.pld"));
    std::filesystem::remove(dir.path("bad.pld"));
    // It crashes again, and records the very same.
    const TempDir again;
    const Outcome replayed = run_pldc({"replay", crashes.path(name)}, {{"PLDC_FLAGS", "-v"}}, again.path(""));
    INFO(replayed.err);
    CHECK(replayed.code == 3);
    REQUIRE(again.list("") == std::vector<std::string>{name});
    CHECK(content(again.path(name)) == text);
  }
}

TEST_CASE("replay: a file that starts programs or writes files is trusted only if the user says so") {
  const TempDir dir;
  for (const char* recorded :
       {R"("build","--cxx=touch","f.pld")", R"("build","f.pld","--cxx","touch")",
        R"("reduce","--test=touch","f.pld")", R"("roundtrip","-o","out.pld","f.pld")",
        R"("opt","-vo","out.pld","f.pld")", R"("fmt","-i","f.pld")", R"("opt","-oout.pld","f.pld")",
        R"("opt","f.pld","--dump-dir=d")", R"("build","-MD","f.pld")", R"("build","--MF=x","f.pld")"}) {
    const std::string file =
        dir.write("c.pld", std::string("# pldc crash file 1\n# version: 0.1.0\n# arguments: [") + recorded +
                               "]\n# input: f.pld\n# what: x\n" + kScale);
    const Outcome outcome = run_pldc({"replay", file}, {}, dir.path(""));
    INFO(recorded);
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, Contains("give --trust if you know where the file comes from"));
    CHECK(dir.list("") == std::vector<std::string>{"c.pld"});
  }
  const std::string file = dir.write(
      "c.pld", "# pldc crash file 1\n# version: 0.1.0\n# arguments: [\"opt\",\"-W\",\"no-error\",\"-o\",\"" +
                   dir.path("out.pld") + "\",\"f.pld\"]\n# input: f.pld\n# what: x\n" + kScale);
  CHECK(run_pldc({"replay", "--trust", file}, {}, dir.path("")).code == 0);
  CHECK(content(dir.path("out.pld")).size() > 100);
}

TEST_CASE("replay: a bug that is gone, and files that are no crash files") {
  const TempDir dir;
  const std::string header = "# pldc crash file 1\n# version: 0.0.0\n";
  const std::string file = dir.write(
      "c.pld",
      header + "# arguments: [\"roundtrip\",\"nowhere/f.pld\"]\n# input: nowhere/f.pld\n# what: it broke\n" +
          kScale);
  const Outcome fine = run_pldc({"replay", "-v", file});
  INFO(fine.err);
  CHECK(fine.code == 0);
  CHECK_THAT(fine.err, Contains("pldc roundtrip nowhere/f.pld: it ended with it broke") &&
                           Contains("the crash file is of version 0.0.0"));
  for (const std::string& text : std::vector<std::string>{
           std::string(kScale), header, header + "# arguments: [1]\n# input: f\n# what: x\n",
           header + "# arguments: [\n# input: f\n# what: x\n",
           header + "# arguments: []\n# input: f\n# what: x\n",
           header + "# arguments: [\"replay\",\"f\"]\n# input: f\n# what: x\n",
           header + "# arguments: [\"-v\",\"replay\",\"f\"]\n# input: f\n# what: x\n",
           header + "# arguments: [\"check\",\"@f\"]\n# input: f\n# what: x\n", ""}) {
    const Outcome outcome = run_pldc({"replay", dir.write("d.pld", text)});
    INFO(text);
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, Contains("is no crash file") || Contains("it records a replay"));
  }
  CHECK(run_pldc({"replay"}).code == 2);
}
