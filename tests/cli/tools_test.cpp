// check, fmt, diff, roundtrip, list, explain, completions.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/cli.h"
#include "passes/pass.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("the text has no " + from);
  return text.replace(at, from.size(), to);
}

const std::string kText = std::string(kScale) + "\n";
// The same program, written by hand.
const std::string kLoose = with(with(kScale, "u: pl.Tile[[1, 64], pl.FP32, pl.Mem.Vec] = ", "u =  "),
                                "class Scale:", "class Scale :");

}  // namespace

TEST_CASE("check: nothing on a good file") {
  const TempDir dir;
  const Outcome outcome = run_pldc({"check", dir.write("f.pld", kScale)});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.empty());
  CHECK(run_pldc({"check", "--roundtrip", dir.path("f.pld")}).code == 0);
}

TEST_CASE("check: a message has place, line, caret and code") {
  const TempDir dir;
  const Outcome outcome =
      run_pldc({"check", dir.write("f.pld", with(kScale, "pl.tile.muls(", "pl.tile.mulz("))});
  CHECK(outcome.code == 1);
  CHECK(outcome.out.empty());
  CHECK(contains(outcome.err, "f.pld:9:"));
  CHECK(contains(outcome.err, "pl.tile.mulz(t, k)\n"));
  CHECK(contains(outcome.err, "^~~~"));
  CHECK(contains(outcome.err, "did you mean 'pl.tile.mul"));
}

TEST_CASE("fmt: canonical text, idempotent") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kLoose);
  const Outcome outcome = run_pldc({"fmt", file});
  CHECK(outcome.code == 0);
  CHECK(outcome.out == kText);
  CHECK(run_pldc({"fmt", dir.write("g.pld", outcome.out)}).out == outcome.out);
}

TEST_CASE("fmt: --check, -i and -o") {
  const TempDir dir;
  const std::string loose = dir.write("f.pld", kLoose);
  const Outcome check = run_pldc({"fmt", "--check", loose});
  CHECK(check.code == 4);
  CHECK(check.out.empty());
  CHECK(contains(check.err, "f.pld:5:12: error: is not in canonical form: expected `:`, found ` :`"));
  CHECK(run_pldc({"fmt", loose, "-o", dir.path("out.pld")}).code == 0);
  CHECK(content(dir.path("out.pld")) == kText);
  CHECK(content(loose) == kLoose);
  CHECK(run_pldc({"fmt", "-i", loose}).code == 0);
  CHECK(content(loose) == kText);
  CHECK(run_pldc({"fmt", "--check", loose}).code == 0);
  // A file that only lacks the final newline is left as it is.
  const std::string bare = dir.write("bare.pld", kScale);
  CHECK(run_pldc({"fmt", "-i", bare}).code == 0);
  CHECK(content(bare) == kScale);
  CHECK(run_pldc({"fmt", "--check", bare}).code == 0);
}

TEST_CASE("fmt: what a person wrote is not lost silently") {
  const TempDir dir;
  const std::string body =
      "@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
      "    def k(self, x: pl.Tensor[[N, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):\n"
      "        \"\"\"Copies.\"\"\"\n        # kept\n        t = pl.load(x, [0, 0], [8, 64])\n"
      "        return pl.store(t, [0, 0], y)\n";
  const std::string import = "import pypto.language as pl\n";
  const std::string plain = with(body, "[N, 64]", "[8, 64]");
  const struct {
    std::string text;
    std::string loss;
  } cases[] = {{"# Mine.\n" + import + "N = 8\n" + body,
                ":1:1: warning: the canonical text does not have this comment"},
               {import + "N = 8\n" + body, ":2:1: warning: the canonical text does not have this constant"},
               {import + with(plain, "class P:\n", "class P:\n    'About P.'\n"),
                ":4:5: warning: the canonical text does not have this docstring"},
               {import + with(plain, "    @pl.f", "    # About k.\n    @pl.f"),
                ":4:5: warning: the canonical text does not have this comment"},
               {import + plain, ":2:1: warning: the canonical text does not have the short forms"}};
  for (const auto& c : cases) {
    const std::string file = dir.write("f.pld", c.text);
    CAPTURE(c.text);
    CHECK(run_pldc({"fmt", "--check", file}).code == 4);
    CHECK(content(file) == c.text);
    const Outcome printed = run_pldc({"fmt", file});
    CHECK(printed.code == 0);
    CHECK(lines_with(printed.err, "warning: ") == 1);
    CHECK(contains(printed.out, "# kept"));
    CHECK(contains(printed.err, c.loss));
    const std::string kept = file + ".orig";
    const Outcome rewritten = run_pldc({"fmt", "-i", file});
    CHECK(rewritten.code == 0);
    CHECK(contains(rewritten.err, c.loss));
    CHECK(contains(rewritten.err, "f.pld.orig is the text as it was"));
    CHECK(content(file) == printed.out);
    CHECK(content(kept) == c.text);
    // Once canonical there is nothing more to lose.
    CHECK(run_pldc({"fmt", "-i", file}).err.empty());
    CHECK(run_pldc({"fmt", "--check", file}).code == 0);
    // What was kept is not written over, unless it is the same.
    dir.write("f.pld", c.text);
    CHECK(run_pldc({"fmt", "-i", file}).code == 0);
    dir.write("f.pld", c.text + "\n# Another.\n");
    const Outcome refused = run_pldc({"fmt", "-i", file});
    CHECK(refused.code == 1);
    CHECK(contains(refused.err, "there is a "));
    CHECK(contains(refused.err, "-o OTHER"));
    CHECK(content(file) == c.text + "\n# Another.\n");
    CHECK(content(kept) == c.text);
    CHECK(run_pldc({"fmt", "-i", "--force", file}).code == 0);
    CHECK(content(file) == printed.out);
    std::filesystem::remove(kept);
  }
}

TEST_CASE("roundtrip: silent when all holds, the first difference otherwise") {
  const TempDir dir;
  const Outcome good = run_pldc({"roundtrip", dir.write("f.pld", kScale)});
  CHECK(good.code == 0);
  CHECK(good.out.empty());
  CHECK(good.err.empty());
  const std::string loose = dir.write("g.pld", kLoose);
  const Outcome differs = run_pldc({"roundtrip", loose});
  CHECK(differs.code == 4);
  CHECK(differs.out.empty());
  CHECK(contains(differs.err, "g.pld:5:12: error: "));
  CHECK(contains(differs.err, "expected `:`, found ` :`"));
  CHECK(contains(differs.err, "           ^"));
  CHECK(run_pldc({"roundtrip", "--semantic", loose}).code == 0);
  CHECK(run_pldc({"roundtrip", "--semantic", "--each", loose}).code == 0);
  CHECK(run_pldc({"roundtrip", dir.write("bad.pld", "@\n")}).code == 1);
}

TEST_CASE("roundtrip: the longest chain of elif, which passes nest") {
  std::string chain;
  for (int i = 0; i <= 500; ++i) {
    chain += (i == 0 ? "        if k == " : "        elif k == ") + std::to_string(i) +
             ".0:\n            u = pl.add(t, k)\n";
  }
  const std::string store = "        return pl.tile.store";
  const TempDir dir;
  const std::string file = dir.write("f.pld", with(kLoose, store, chain + store));
  CHECK(run_pldc({"roundtrip", "--semantic", "--each", file}).code == 0);
  const std::string dump = dir.write("g.pld", run_pldc({"--dump-after=ConvertToSSA", file}).out);
  CHECK(run_pldc({"roundtrip", dump}).code == 0);
}

TEST_CASE("roundtrip: an invalid program is wrong input, whatever its text") {
  const TempDir dir;
  const std::string loose = dir.write("loose.pld", with(kLoose, "self.kernel(", "self.gone("));
  const std::string uncalled = dir.write("f.pld", with(kScale, "self.kernel(", "self.gone("));
  for (const std::string& file : {loose, uncalled}) {
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{}, {"--semantic"}, {"--semantic", "--each"}}) {
      std::vector<std::string> words = {"roundtrip", file};
      words.insert(words.end(), options.begin(), options.end());
      const Outcome outcome = run_pldc(words);
      CAPTURE(words, outcome.err);
      CHECK(outcome.code == 1);
      CHECK_FALSE(contains(outcome.err, "[PLD0908]"));
    }
  }
  CHECK(run_pldc({"roundtrip", "--no-verify", uncalled}).code == 0);
}

TEST_CASE("roundtrip: after every pass, types that hold a call, and values without a dtype of their own") {
  const TempDir dir;
  const std::string path = dir.write("w.pld", R"(import pypto.language as pl
import pypto.language.distributed as pld

R = pl.dynamic("R")

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, s: pl.InOut[pld.DistributedTensor[[R, 4], pl.INT32]]):
        pld.system.wait(s, offsets=[0, 0], expected=0, cmp=pld.WaitCmp.Ge)

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(self, s: pl.InOut[pld.DistributedTensor[[R, 4], pl.INT32]]):
        zeros = pl.full([4, 4], dtype=pl.FP32, value=0)
        self.k(s)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self):
        buf = pld.alloc_window_buffer(1024)
        for r in pl.range(pld.world_size()):
            s = pld.window(buf, [2 * (pld.world_size() - 1), 4], dtype=pl.INT32)
            self.chip(s, device=r)
)");
  const Outcome outcome = run_pldc({"roundtrip", "--semantic", "--each", path});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
}

TEST_CASE("diff: names the path, exit 4") {
  const TempDir dir;
  const std::string a = dir.write("a.pld", kScale);
  const std::string b = dir.write("b.pld", with(kScale, "muls(t, k)", "adds(t, k)"));
  const std::string renamed = dir.write(
      "c.pld",
      with(with(with(kScale, "u: ", "other: "), "store(u,", "store(other,"), "class Scale", "class Other"));
  const Outcome same = run_pldc({"diff", a, a});
  CHECK(same.code == 0);
  CHECK(same.out.empty());
  CHECK(run_pldc({"diff", a, renamed}).code == 0);
  const Outcome differs = run_pldc({"diff", a, b});
  CHECK(differs.code == 4);
  CHECK(differs.err.empty());
  CHECK(contains(differs.out, "kernel.body[1]"));
  CHECK(contains(differs.out, "b.pld:9:"));
  const Outcome quiet = run_pldc({"diff", "-q", a, b});
  CHECK(quiet.code == 4);
  CHECK(quiet.out.empty());
  CHECK(run_pldc({"diff", a, dir.path("none.pld")}).code == 1);
  CHECK(run_pldc({"diff", dir.path("none.pld"), a}).code == 1);
  // What is wrong with one is said, whatever becomes of the other.
  const std::string wrong = dir.write("wrong.pld", "@\n");
  const std::string none = dir.path("none.pld");
  for (const auto& pair : {std::pair(wrong, none), std::pair(none, wrong)}) {
    const Outcome both = run_pldc({"diff", pair.first, pair.second});
    CAPTURE(both.err);
    CHECK(both.code == 1);
    CHECK(contains(both.err, "wrong.pld:1:"));
    CHECK(contains(both.err, "none.pld' cannot be read"));
  }
}

TEST_CASE("list: text and JSON name the same things") {
  for (const std::string topic : {"passes", "ops", "types", "diagnostics", "targets"}) {
    CAPTURE(topic);
    const Outcome text = run_pldc({"list", topic});
    CHECK(text.code == 0);
    const auto json = nlohmann::json::parse(run_pldc({"list", topic, "--json"}).out);
    REQUIRE(json.is_array());
    CHECK(json.size() > 1);
    for (const auto& entry : json) {
      const std::string name = entry.contains("name") ? entry["name"] : entry["id"];
      CAPTURE(name);
      CHECK(contains(text.out, name));
    }
  }
  CHECK(nlohmann::json::parse(run_pldc({"list", "passes", "--json"}).out)[0].contains("required"));
}

TEST_CASE("explain: every pass, op and diagnostic") {
  for (const std::string topic : {"passes", "ops", "types", "enums", "forms", "diagnostics", "targets"}) {
    for (const auto& entry : nlohmann::json::parse(run_pldc({"list", topic, "--json"}).out)) {
      const std::string name = entry.contains("name") ? entry["name"] : entry["code"];
      const Outcome outcome = run_pldc({"explain", name});
      CAPTURE(name, outcome.out);
      CHECK(outcome.code == 0);
      CHECK(contains(outcome.out, name));
      CHECK(outcome.out.size() > 40);
    }
  }
  CHECK(contains(run_pldc({"explain", "902"}).out, "unknown_option"));
  CHECK(contains(run_pldc({"explain", "unknown_option"}).out, "PLD0902"));
  CHECK(contains(run_pldc({"explain", "pl.tile.load"}).out, "tile.load"));
  CHECK(contains(run_pldc({"explain", "SSAForm"}).out, "ConvertToSSA"));
  CHECK(contains(run_pldc({"explain", "matmul"}).out, "tile.matmul"));
  for (const auto& [name, start] :
       std::map<std::string, std::string>{{"pl.load", "tile.load: an op"},
                                          {"pld.notify", "pld.system.notify: an op"},
                                          {"pl.create_tensor", "tensor.create: an op"},
                                          {"pl.range", "pl.range: a sequential loop"},
                                          {"InOut", "pl.InOut: the direction"},
                                          {"pl.Tensor", "Tensor: a type"},
                                          {"pl.FP32", "FP32: a dtype"},
                                          {"sim", "sim: a target"}}) {
    const Outcome outcome = run_pldc({"explain", name});
    CAPTURE(name, outcome.out, outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.out.rfind(start, 0) == 0);
  }
  CHECK(contains(run_pldc({"explain", "pld.notify"}).out, "Set"));  // values of an enum
  CHECK(contains(run_pldc({"explain", "Tenser"}).err, "did you mean 'Tensor'?"));
}

TEST_CASE("completions: valid shell that knows options and subcommands") {
  const TempDir dir;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = run_pldc({"completions", shell});
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "dump-after"));
    CHECK(contains(outcome.out, "roundtrip"));
    pldc::ProcessSpec syntax;
    syntax.args = {shell, "-n", dir.write(shell, outcome.out)};
    syntax.capture = true;
    const pldc::ProcessResult result = pldc::run_process(syntax);
    CAPTURE(shell, result.err);
    if (result.error.empty()) CHECK(result.exit_code == 0);
  }
  // bash completes for real.
  pldc::ProcessSpec bash;
  const std::string script = dir.write(
      "go", "source " + dir.path("bash") +
                "; COMP_WORDS=(pldc check --diag); COMP_CWORD=2; _pldc; "
                "printf '%s ' \"${COMPREPLY[@]}\"; COMP_WORDS=(pldc rou); COMP_CWORD=1; "
                "_pldc; printf '%s ' \"${COMPREPLY[@]}\"; echo;"
                "try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($#-1)); _pldc; echo \"<${COMPREPLY[*]}>\"; };"
                "try pldc list pas; try pldc explain Simp; try pldc --dump-after=Simp;"
                "try pldc --dump-after = Simp; try pldc --dump-after Simp; try pldc --style = co;"
                "try pldc build --emit = k; try pldc completions f;"
                "try pldc --dump-after=ConvertToSSA,Simp; try pldc run --check = races,si; try pldc help ro;"
                "try pldc hel");
  bash.args = {"bash", script};
  bash.capture = true;
  const pldc::ProcessResult result = pldc::run_process(bash);
  if (result.error.empty()) {
    CAPTURE(result.err);
    CHECK(contains(result.out, "--diag-format="));
    CHECK(contains(result.out, "roundtrip"));
    CHECK(contains(
        result.out,
        "<passes>\n<Simplify>\n<--dump-after=Simplify>\n<Simplify>\n<Simplify>\n<concise>\n<"
        "kernels>\n<fish>\n<--dump-after=ConvertToSSA,Simplify>\n<races,signals>\n<roundtrip>\n<help>\n"));
  }
}
