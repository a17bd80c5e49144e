// pldc opt: output, dumps, stages.
#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

const std::string kText = std::string(kScale) + "\n";

}  // namespace

TEST_CASE("opt: the empty pipeline prints what was read, with one final newline") {
  const TempDir dir;
  for (const std::string end : {"", "\n"}) {
    const Outcome outcome = run_pldc({"opt", "--passes=NONE", dir.write("f.pld", kScale + end)});
    CHECK(outcome.code == 0);
    CHECK(outcome.err.empty());
    CHECK(outcome.out == kText);
  }
}

TEST_CASE("opt: -o writes the file, stdout stays empty, an unchanged file is not touched") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const std::string out = dir.path("sub/out.pld");
  const Outcome outcome = run_pldc({"--passes=NONE", file, "-o", out});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.empty());
  CHECK(content(out) == kText);
  const auto time = std::filesystem::last_write_time(out);
  CHECK(run_pldc({"--passes=NONE", file, "-o", out}).code == 0);
  CHECK(std::filesystem::last_write_time(out) == time);
  CHECK(run_pldc({"--passes=NONE", file, "-o", "-"}).out == kText);
  CHECK(run_pldc({"--passes=NONE", file, "-o", dir.path("f.pld/x")}).code == 1);
}

TEST_CASE("opt: a wrong input leaves no output") {
  const TempDir dir;
  const std::string bad = dir.write("bad.pld", "@\n");
  const Outcome outcome = run_pldc({bad, "-o", dir.path("out.pld")});
  CHECK(outcome.code == 1);
  CHECK(outcome.out.empty());
  CHECK_FALSE(std::filesystem::exists(dir.path("out.pld")));
}

TEST_CASE("dumps: one and no -o goes to stdout and the run stops there") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const Outcome after = run_pldc({"--dump-after=ConvertToSSA", file});
  CHECK(after.code == 0);
  CHECK(after.err.empty());
  CHECK_FALSE(contains(after.out, "# pldc:"));
  CHECK(after.out == run_pldc({"--stop-after=ConvertToSSA", file}).out);
  CHECK(after.out.back() == '\n');
  const Outcome before = run_pldc({"--dump-before=ConvertToSSA", file});
  CHECK(before.out == kText);
}

TEST_CASE("dumps: several are headed") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const Outcome two = run_pldc({"--dump-before=ConvertToSSA", "--dump-after=ConvertToSSA", file});
  CHECK(two.code == 0);
  CHECK(two.out.rfind("# pldc: before ConvertToSSA\n# pypto.program: Scale\n", 0) == 0);
  CHECK(contains(two.out, "\n# pldc: after ConvertToSSA\n# pypto.program: Scale\n"));
  const Outcome list = run_pldc({"--dump-after=ConvertToSSA,FlattenCallExpr", file});
  CHECK(contains(list.out, "# pldc: after ConvertToSSA\n"));
  CHECK(contains(list.out, "# pldc: after FlattenCallExpr\n"));
  const Outcome all = run_pldc({"--dump-all", file});
  CHECK(all.out.rfind("# pldc: frontend\n", 0) == 0);
  const Outcome changed = run_pldc({"--dump-changed", file});
  CHECK(changed.out.size() < all.out.size());
  CHECK(contains(changed.out, "# pldc: after ConvertToSSA\n"));
}

TEST_CASE("dumps: with -o the run goes on to the end") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const Outcome outcome = run_pldc({"--dump-before=ConvertToSSA", file, "-o", dir.path("out.pld")});
  CHECK(outcome.out == kText);
  CHECK(content(dir.path("out.pld")) == run_pldc({file}).out);
}

TEST_CASE("dumps: a folder has numbered files and an index") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const Outcome outcome = run_pldc({"--dump-dir=" + dir.path("d"), file});
  CHECK(outcome.code == 0);
  CHECK(outcome.out == run_pldc({file}).out);
  CHECK(contains(outcome.err, "wrote "));
  CHECK(content(dir.path("d/00_frontend.pld")) == kText);
  CHECK(content(dir.path("d/04_after_ConvertToSSA.pld")) ==
        run_pldc({"--dump-after=ConvertToSSA", file}).out);
  const auto index = nlohmann::json::parse(content(dir.path("d/index.json")));
  REQUIRE(index.is_array());
  CHECK(index[0]["pass"] == "frontend");
  CHECK(index[0]["file"] == "00_frontend.pld");
  for (const auto& row : index) {
    for (const char* key : {"pass", "changed", "milliseconds", "hash"}) CHECK(row.contains(key));
    CHECK(std::filesystem::exists(dir.path("d/" + row["file"].get<std::string>())));
  }
  const Outcome some = run_pldc({"--dump-dir=" + dir.path("e"), "--dump-after=ConvertToSSA", file});
  CHECK(some.code == 0);
  CHECK(dir.list("e") ==
        std::vector<std::string>{"00_frontend.pld", "04_after_ConvertToSSA.pld", "index.json"});
}

TEST_CASE("dumps: only some functions") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const Outcome outcome = run_pldc({"--dump-before=ConvertToSSA", "--dump-func=ker*", file});
  CHECK(contains(outcome.out, "def kernel("));
  CHECK_FALSE(contains(outcome.out, "def main("));
  CHECK(outcome.err.empty());
  CHECK(contains(run_pldc({"--dump-func=x", file}).err, "--dump-func has no effect"));
  CHECK(contains(run_pldc({"--dump-after=Simplify", "--dump-func=x*", file}).err,
                 "--dump-func=x* has no effect: no function that was dumped has such a name"));
}

TEST_CASE("diff: what each pass changed, and nothing for those that did not") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const Outcome outcome =
      run_pldc({"--diff", "--passes=ConvertToSSA,NormalizeStmtStructure,FlattenCallExpr", file});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "--- before ConvertToSSA\n+++ after ConvertToSSA\n@@ "));
  CHECK_FALSE(contains(outcome.out, "# pypto.program: Scale\nimport"));
  CHECK(run_pldc({"--diff", "--passes=NONE", file}).out.empty());
}

TEST_CASE("stages: a dump is a boundary") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const std::string whole = run_pldc({file}).out;
  for (const std::string pass : {"ConvertToSSA", "FlattenCallExpr"}) {
    const std::string stage = dir.write("stage.pld", run_pldc({"--dump-after=" + pass, file}).out);
    const Outcome rest = run_pldc({"--start-after=" + pass, stage});
    CAPTURE(pass, rest.err);
    CHECK(rest.code == 0);
    CHECK(rest.out == whole);
  }
}

TEST_CASE("a property that the input lacks is named") {
  const TempDir dir;
  std::string text = kScale;
  const std::string file = dir.write("f.pld", text);
  const Outcome outcome = run_pldc({"--disable-pass=ConvertToSSA", file});
  CHECK(outcome.code == 1);
  CHECK(contains(outcome.err, "SSAForm"));
  CHECK(contains(outcome.err, "ConvertToSSA"));
}

TEST_CASE("reports go to stderr") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const std::string plain = run_pldc({file}).out;
  const Outcome text = run_pldc({"--timing", "--stats", file});
  CHECK(text.out == plain);
  CHECK(contains(text.err, "04_ConvertToSSA"));
  CHECK(contains(text.err, "InCore functions"));
  const Outcome json = run_pldc({"--timing=json", file});
  CHECK(nlohmann::json::parse(json.err)["passes"].size() > 3);
  CHECK(contains(run_pldc({"-vv", "--passes=ConvertToSSA", file}).err, "ConvertToSSA"));
  CHECK_FALSE(contains(text.err, file));
  const std::string other = dir.write("g.pld", kScale);
  CHECK(contains(run_pldc({"--timing", file, other}).err, file + ":\n        ms"));
  CHECK(contains(run_pldc({"--stats", file, other}).err, other + ":\n       1 InCore functions"));
}

TEST_CASE("verification: each pass, round trips, none") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const std::string plain = run_pldc({file}).out;
  CHECK(run_pldc({"--verify-each", file}).out == plain);
  CHECK(run_pldc({"--verify-each=roundtrip", file}).out == plain);
  CHECK(run_pldc({"--no-verify", file}).out == plain);
  for (const std::string how : {"each", "roundtrip"}) {
    const Outcome outcome = run_pldc({file}, {{"PLDC_VERIFY", how}});
    CHECK(outcome.code == 0);
    CHECK(outcome.out == plain);
  }
  CHECK(run_pldc({"fmt", file}, {{"PLDC_VERIFY", "roundtrip"}}).code == 0);
}

TEST_CASE("dialects and styles of the output") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  CHECK(
      contains(run_pldc({"--passes=NONE", "--style=concise", file}).out, "        u = pl.tile.muls(t, k)\n"));
  CHECK(run_pldc({"--passes=NONE", "--dialect=legacy", file}).out == kText);
}
