// The command line itself: help, options, response files, environment, exit codes.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/cli.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/temp_dir.h"

using Words = std::vector<std::string>;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

const Words kCommands = {"opt",   "build", "run",     "roundtrip", "check",  "fmt", "diff",
                         "trace", "list",  "explain", "reduce",    "replay", "lsp", "completions"};

// The longest line of a help text.
std::size_t width(const std::string& text) {
  std::size_t most = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) most = std::max(most, line.size());
  return most;
}

}  // namespace

TEST_CASE("help: goes to stdout, exit 0, one screen with examples") {
  const Outcome root = run_pldc({"-h"});
  CHECK(root.code == 0);
  CHECK(root.err.empty());
  CHECK(contains(root.out, "usage: pldc"));
  CHECK(contains(root.out, "--dump-after=MaterializeCommDomainScopes"));
  CHECK(lines(root.out) <= 24);
  CHECK(width(root.out) <= 80);
  for (const std::string& command : kCommands) {
    CAPTURE(command);
    CHECK(contains(root.out, "  " + command));
    const Outcome brief = run_pldc({command, "-h"});
    CHECK(brief.code == 0);
    CHECK(brief.err.empty());
    CHECK(contains(brief.out, "usage: pldc " + command));
    CHECK(contains(brief.out, "examples:"));
    CHECK(lines(brief.out) <= 25);
    CHECK(width(brief.out) <= 80);
    const Outcome full = run_pldc({command, "--help"});
    CHECK(full.code == 0);
    CHECK(contains(full.out, "--diag-format"));
    CHECK(contains(full.out, "exit codes:"));
    CHECK_FALSE(contains(full.out, "--crash"));
    CHECK(width(full.out) <= 80);
  }
  CHECK(run_pldc({"--help"}).code == 0);
}

TEST_CASE("help: three examples of every subcommand") {
  for (const std::string& command : kCommands) {
    CAPTURE(command);
    const std::string text = run_pldc({command, "-h"}).out;
    std::size_t count = 0;
    for (std::size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ", at + 1)) ++count;
    CHECK(count >= 3);
  }
}

TEST_CASE("help as a word") {
  CHECK(run_pldc({"help"}).out == run_pldc({"-h"}).out);
  CHECK(run_pldc({"help", "fmt"}).out == run_pldc({"fmt", "--help"}).out);
  CHECK(run_pldc({"help", "fmt"}).code == 0);
}

TEST_CASE("what processes cannot do is refused before anything is built") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const auto refused = [&](const Words& more) {
    Words words = {"run", "--target=mpi", "--build-dir=" + dir.path("built"), file};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_pldc(words);
    CAPTURE(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, "  help: "));
    CHECK(dir.list("") == Words{"f.pld"});
    return outcome.err;
  };
  CHECK(contains(refused({}), "--ranks=N"));
  CHECK(contains(refused({"--ranks=2", "--schedule=seeded"}), "--schedule=seeded"));
  CHECK(contains(refused({"--ranks=2", "--check=signals,races"}), "--check=races"));
}

TEST_CASE("version") {
  const Outcome version = run_pldc({"--version"});
  CHECK(version.code == 0);
  CHECK(version.out == std::string("pldc ") + PLDC_VERSION + "\n");
  CHECK(run_pldc({"check", "--version"}).out == version.out);
}

TEST_CASE("no arguments: help on stderr, exit 2") {
  const Outcome nothing = run_pldc({});
  CHECK(nothing.code == 2);
  CHECK(nothing.out.empty());
  CHECK(contains(nothing.err, "usage: pldc"));
}

TEST_CASE("wrong command lines: exit 2, stdout empty, a message with a code") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const std::vector<Words> wrong = {
      {"--no-such-option", file},
      {"chek", file},
      {"check"},
      {"opt"},
      {"build"},
      {"run"},
      {"fmt"},
      {"roundtrip"},
      {"diff", file},
      {"diff", file, file, file},
      {"list"},
      {"list", "pases"},
      {"explain"},
      {"explain", "NoSuchThing"},
      {"completions", "tcsh"},
      {"--diag-format=xml", file},
      {"--color=sometimes", file},
      {"--dialect=new", file},
      {"--style=long", file},
      {"--max-errors=many", file},
      {"-Wno-such", file},
      {"-W", "such", file},
      {"--passes", file, "--no-such"},
      {"--passes=NoSuchPass", file},
      {"--passes=Simplify,!NoSuchPass", file},
      {"--stop-after=NoSuchPass", file},
      {"--start-after=NoSuchPass", file},
      {"--disable-pass=NoSuchPass", file},
      {"--dump-after=NoSuchPass", file},
      {"--dump-before=NoSuchPass", file},
      {"--passes=ConvertToSSA", "--dump-after=Simplify", file},
      {"--pass-option=Simplify", file},
      {"--pass-option=NoSuch.key=1", file},
      {"--pass-option=SynthesizeAllReduceSignals.sharing=none", file},
      {"--verify-each=often", file},
      {"--verify-each", "--no-verify", file},
      {"--timing=xml", file},
      {"--dump-func=[", "--dump-all", file},
      {"-o", "x", file, file},
      {"--dump-dir=x", file, file},
      {"fmt", "-i", "--check", file},
      {"fmt", "-i", "-o", "x", file},
      {"build", "--target=gpu", file},
      {"build", "--emit=text", file},
      {"build", "-o", "-", file},
      {"build", "-MF", "x", file},
      {"build", "--emit=ir", "-o", "-", "-MD", file},
      {"build", "-j", "many", file},
      {"run", "--target=ascend", file},
      {"run", "--ranks=0", file},
      {"run", file, file},
      {"run", "--schedule=random", file},
      {"run", "--target=mpi", file},
      {"run", "--schedule=seeded", "--schedules=0", file},
      {"run", "--schedules=3", file},
      {"run", "--seed=1", file},
      {"check", "--ranks=0", file},
      {"check", "--ranks=1025", file},
      {"run", "--after=Simplify", "--stop-after=Simplify", file},
      {"diff", "--limit=-1", file, file},
      {"list", "passes", "ops"},
      {"@no-such-file"},
  };
  for (const Words& words : wrong) {
    const Outcome outcome = run_pldc(words);
    CAPTURE(words, outcome.out, outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, "error: "));
    CHECK(contains(outcome.err, "[PLD0"));
  }
}

TEST_CASE("missing folders of what is written are made") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const auto in = [&](const std::string& name) { return dir.path("made/" + name + "/within/x"); };
  for (const std::string command : {"opt", "fmt", "trace"}) {
    CAPTURE(command);
    CHECK(run_pldc({command, file, "-o", in(command)}).code == 0);
    CHECK(std::filesystem::is_regular_file(in(command)));
  }
  CHECK(run_pldc({"reduce", "--test=true", file, "-o", in("reduce")}).code == 0);
  CHECK(std::filesystem::is_regular_file(in("reduce")));
  CHECK(run_pldc({"build", "--emit=ir", file, "-o", in("ir")}).code == 0);
  CHECK(std::filesystem::is_directory(in("ir")));
  CHECK(run_pldc({"build", "--emit-only", "-MD", "-MF", in("depfile"), file, "-o", in("build")}).code == 0);
  CHECK(std::filesystem::is_regular_file(in("depfile")));
  CHECK(run_pldc({"opt", "--dump-all", "--dump-dir", in("dumps"), file}).code == 0);
  CHECK(std::filesystem::is_regular_file(in("dumps") + "/index.json"));
  const Outcome within_a_file = run_pldc({"fmt", file, "-o", in("fmt") + "/x"});
  CHECK(within_a_file.code == 1);
  CHECK(contains(within_a_file.err, "cannot be"));
}

TEST_CASE("an empty value names no file") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const std::vector<std::pair<std::string, Words>> options = {
      {"opt", {"-o", "--output", "--dump-dir", "--stop-after"}},
      {"build", {"-o", "-MF", "-MT", "--cxx", "--entry"}},
      {"run", {"--build-dir", "--trace", "--in", "--out", "--expect", "--after"}},
      {"fmt", {"-o", "-io"}},
      {"trace", {"-o", "--output"}},
      {"reduce", {"-o", "--test"}},
  };
  for (const auto& [command, names] : options) {
    for (const std::string& name : names) {
      const Outcome outcome = run_pldc({command, name, "", file});
      CAPTURE(command, name, outcome.err);
      CHECK(outcome.code == 2);
      CHECK(outcome.out.empty());
      CHECK(contains(outcome.err, "is given an empty value [PLD0904]"));
      if (name.rfind("--", 0) == 0) CHECK(run_pldc({command, name + "=", file}).err == outcome.err);
    }
  }
  CHECK(run_pldc({"build", "--emit=ir", "--cxxflags", "", "-o", "-", file}).code == 0);
}

TEST_CASE("--ranks: one limit wherever it is taken") {
  for (const std::string command : {"check", "run", "trace"}) {
    for (const std::string ranks : {"0", "1025", "999999999", "x"}) {
      const Outcome outcome = run_pldc({command, "--ranks", ranks, "no-such-file.pld"});
      CAPTURE(command, ranks, outcome.err);
      CHECK(outcome.code == 2);
      CHECK(contains(outcome.err, "--ranks: '" + ranks + "' is no whole number from 1 to 1024 ["));
    }
    CHECK(run_pldc({command, "--ranks", "1024", "no-such-file.pld"}).code == 1);
  }
}

TEST_CASE("slips are guessed") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  CHECK(contains(run_pldc({"chekc", file}).err, "did you mean 'check'?"));
  CHECK(contains(run_pldc({"--pases=NONE", file}).err, "did you mean '--passes'?"));
  CHECK(contains(run_pldc({"--dump-after=Simplfy", file}).err, "did you mean 'Simplify'?"));
  CHECK(contains(run_pldc({"--style=concice", file}).err, "did you mean 'concise'?"));
  CHECK(contains(run_pldc({"explain", "tile.lod"}).err, "did you mean 'tile.load'?"));
  CHECK(contains(run_pldc({"-Wno-no_efect", file}).err, "did you mean 'no_effect'?"));
}

TEST_CASE("errors of the command line obey --diag-format") {
  const TempDir dir;
  const std::string asked = dir.write("asked", "--diag-format=json");
  const std::map<std::string, std::string> flags{{"PLDC_FLAGS", "--diag-format=json"}};
  for (const Outcome& outcome :
       {run_pldc({"--diag-format=json", "--no-such", "x.pld"}),
        run_pldc({"--no-such", "x.pld", "--diag-format", "json"}), run_pldc({"--no-such", "x.pld"}, flags),
        run_pldc({"--no-such", "x.pld", "@" + asked})}) {
    CHECK(outcome.code == 2);
    CAPTURE(outcome.err);
    REQUIRE(outcome.err.front() == '{');
    const auto json = nlohmann::json::parse(outcome.err);
    CHECK(json["id"] == "unknown_option");
    CHECK(json["severity"] == "error");
  }
  CHECK(run_pldc({"--diag-format=text", "--no-such", "x.pld"}, flags).err.front() == 'p');
}

TEST_CASE("options may stand before the subcommand and after the file") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  CHECK(run_pldc({"--color=never", "check", file}).code == 0);
  CHECK(run_pldc({"check", file, "--color=never"}).code == 0);
  // The value of an option is no subcommand.
  CHECK(run_pldc({"--passes", "NONE", file}).code == 0);
  CHECK(run_pldc({"--style", "printed", "check", file}).code == 0);
}

TEST_CASE("the last of a repeated option wins") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  CHECK(run_pldc({"--passes=NONE", "--style=concise", "--style=printed", file}).out ==
        std::string(kScale) + "\n");
}

TEST_CASE("response files") {
  const TempDir dir;
  const std::string file = dir.write("with space.pld", kScale);
  const std::string args = dir.write("args", "--passes=NONE\n'" + file + "'\n");
  const Outcome outcome = run_pldc({"@" + args});
  CHECK(outcome.code == 0);
  CHECK(outcome.out == std::string(kScale) + "\n");
  const std::string nested = dir.write("nested", "check @" + args);
  CHECK(run_pldc({"fmt", "@" + dir.write("only", "'" + file + "'")}).code == 0);
  CHECK(run_pldc({"@" + nested}).code == 2);  // check has no --passes
  CHECK(run_pldc({"@" + dir.write("open", "'x")}).code == 2);
  const std::string self = dir.path("self");
  dir.write("self", "@" + self);
  CHECK(contains(run_pldc({"@" + self}).err, "includes itself"));
  std::string chain = args;  // of files that do not
  for (int i = 0; i < 20; ++i) chain = dir.write("chain" + std::to_string(i), "@" + chain);
  CHECK(contains(run_pldc({"@" + chain}).err, "nested too deep"));
}

TEST_CASE("PLDC_FLAGS: read first, and only what the subcommand knows") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const auto flags = [](const std::string& words) {
    return std::map<std::string, std::string>{{"PLDC_FLAGS", words}};
  };
  CHECK(run_pldc({file}, flags("--passes=NONE")).out == std::string(kScale) + "\n");
  CHECK(run_pldc({"fmt", file}, flags("--passes=NONE --dump-all")).code == 0);
  CHECK(run_pldc({"fmt", file}, flags("--passes NONE")).code == 0);
  CHECK(run_pldc({"fmt", file}, flags("--no-such-option")).code == 2);
  CHECK(run_pldc({"fmt", file}, flags("'open")).code == 2);
  const std::string words = dir.write("words", "--passes=NONE --dump-all");
  CHECK(run_pldc({file, "--print-options"}, flags("@" + words)).out == "--passes=NONE\n--dump-all\n");
  CHECK(contains(run_pldc({file}, flags("@no-such")).err, "response file 'no-such' cannot be read"));
  CHECK(run_pldc({"--style=printed", "--passes=NONE", file}, flags("--style=concise")).out ==
        std::string(kScale) + "\n");
}

TEST_CASE("PLDC_VERIFY: one of two words, whatever the subcommand") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  for (const std::string command : {"opt", "check", "fmt", "build", "trace", "roundtrip"}) {
    const Outcome outcome = run_pldc({command, file}, {{"PLDC_VERIFY", "always"}});
    CAPTURE(command, outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, "PLDC_VERIFY is 'always' [PLD0904]\n  help: set it to each or roundtrip"));
  }
  for (const std::string word : {"each", "roundtrip", ""})
    CHECK(run_pldc({"opt", file}, {{"PLDC_VERIFY", word}}).code == 0);
}

TEST_CASE("-o: folders are refused, pipes and links are written through, dash is stdout") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  const std::string text = std::string(kScale) + "\n";
  for (const std::string& folder : {dir.path(""), dir.path("") + "/"}) {
    const Outcome outcome = run_pldc({"--passes=NONE", file, "-o", folder});
    CHECK(outcome.code == 1);
    CHECK(contains(outcome.err, "is a directory [PLD0901]"));
  }
  CHECK(run_pldc({"--passes=NONE", file, "-o", "-"}).out == text);
  const std::string real = dir.write("real.pld", "old");
  const std::string link = dir.path("link.pld");
  std::filesystem::create_symlink(real, link);
  CHECK(run_pldc({"--passes=NONE", file, "-o", link}).code == 0);
  CHECK(std::filesystem::is_symlink(link));
  std::ifstream in(real);
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == text);
  // New folders on the way are made; what is there already is left alone, with its time.
  const std::string deep = dir.path("new/folder/out.pld");
  CHECK(run_pldc({"--passes=NONE", file, "-o", deep}).code == 0);
  const auto long_ago = std::filesystem::last_write_time(deep) - std::chrono::hours(1);
  std::filesystem::last_write_time(deep, long_ago);
  CHECK(run_pldc({"--passes=NONE", file, "-o", deep}).code == 0);
  CHECK(std::filesystem::last_write_time(deep) == long_ago);
  CHECK(dir.list("new/folder") == Words{"out.pld"});
}

TEST_CASE("print-options: what differs from the defaults") {
  const Outcome outcome = run_pldc({"--print-options", "--passes=A,B", "--style=concise", "-W", "error",
                                    "--verify-each", "--max-errors=20", "--stats", "-o", "a b", "f.pld"});
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  for (const char* line : {"--passes=A,B\n", "--style=concise\n", "-W error\n", "--verify-each=each\n",
                           "--stats\n", "--output='a b'\n"}) {
    CAPTURE(line, outcome.out);
    CHECK(contains(outcome.out, line));
  }
  CHECK_FALSE(contains(outcome.out, "max-errors"));
  CHECK_FALSE(contains(outcome.out, "f.pld"));
  CHECK(run_pldc({"check", "--print-options", "f.pld"}).out.empty());
  const std::map<std::string, std::string> verify{{"PLDC_VERIFY", "roundtrip"}};
  CHECK(run_pldc({"f.pld", "--print-options"}, verify).out == "--verify-each=roundtrip\n");
  CHECK(run_pldc({"f.pld", "--print-options", "--verify-each"}, verify).out == "--verify-each=each\n");
  CHECK(run_pldc({"f.pld", "--print-options", "--no-verify"}, verify).out == "--no-verify\n");
}

TEST_CASE("several files: each is processed, the worst code counts") {
  const TempDir dir;
  const std::string good = dir.write("good.pld", kScale);
  const std::string bad = dir.write("bad.pld", "import pypto.language as pl\n\n@pl.program\nclass\n");
  const std::string loose = dir.write("loose.pld", std::string("\n\n") + kScale);
  const std::string missing = dir.path("missing.pld");
  const Outcome outcome = run_pldc({"check", bad, missing, good});
  CHECK(outcome.code == 1);
  CHECK(contains(outcome.err, "bad.pld:4:"));
  CHECK(contains(outcome.err, "missing.pld' cannot be read: No such file or directory"));
  CHECK(run_pldc({"check", good, good}).code == 0);
  CHECK(run_pldc({"fmt", "--check", good, loose}).code == 4);
  CHECK(run_pldc({"fmt", "--check", loose, bad}).code == 1);
  const Outcome printed = run_pldc({"--passes=NONE", good, bad, good});
  CHECK(printed.code == 1);
  CHECK(printed.out == std::string(kScale) + "\n" + kScale + "\n");
}

TEST_CASE("sarif: one document for a whole run") {
  const TempDir dir;
  const std::string bad = dir.write("bad.pld", "@\n");
  const Outcome outcome = run_pldc({"check", "--diag-format=sarif", bad, bad});
  CHECK(outcome.code == 1);
  const auto json = nlohmann::json::parse(outcome.err);
  CHECK(json["runs"][0]["results"].size() >= 2);
  const Outcome fine = run_pldc({"check", "--diag-format=sarif", dir.write("good.pld", kScale)});
  CHECK(nlohmann::json::parse(fine.err)["runs"][0]["results"].empty());
}

TEST_CASE("max-errors stops and says so") {
  const TempDir dir;
  std::string text = kScale;
  text += "\n";
  for (int i = 0; i < 5; ++i) text += "        v" + std::to_string(i) + " = pl.tile.no_such_op(x)\n";
  const std::string file = dir.write("f.pld", text);
  const Outcome all = run_pldc({"check", file});
  CHECK(all.code == 1);
  CHECK(contains(all.err, "v4 = "));
  const Outcome few = run_pldc({"check", "--max-errors=2", file});
  CHECK_FALSE(contains(few.err, "v4 = "));
  CHECK(contains(few.err, "too many errors, stopping (2 shown"));
}

TEST_CASE("colours: only when asked for, or on a terminal without NO_COLOR") {
  const TempDir dir;
  const std::string bad = dir.write("bad.pld", "@\n");
  CHECK(contains(run_pldc({"check", "--color=always", bad}).err, "\033["));
  CHECK_FALSE(contains(run_pldc({"check", "--color=never", bad}).err, "\033["));
  CHECK_FALSE(contains(run_pldc({"check", bad}).err, "\033["));
}

TEST_CASE("crashes: a file with input and options, one line on stderr, exit 3") {
  const TempDir dir;
  const std::string file = dir.write("f.pld", kScale);
  for (const std::string how : {"check", "memory"}) {
    const TempDir crashes;
    const Outcome outcome = run_pldc({"check", "--crash=" + how, file}, {}, crashes.path(""));
    CAPTURE(how, outcome.err);
    CHECK(outcome.code == 3);
    CHECK(lines(outcome.err) == 1);
    CHECK(contains(outcome.err, "pldc: internal error: "));
    const auto names = crashes.list("");
    REQUIRE(names.size() == 1);
    CHECK(contains(outcome.err, names.front()));
    std::ifstream in(crashes.path(names.front()));
    const std::string text(std::istreambuf_iterator<char>(in), {});
    CHECK(contains(text, "# arguments: [\"check\",\"--crash=" + how + "\","));
    CHECK(text.size() > std::string(kScale).size());
    CHECK(text.substr(text.size() - std::string(kScale).size()) == kScale);
    // The crash file is itself a program: the header is comments.
    CHECK(run_pldc({"check", crashes.path(names.front())}).code == 0);
  }
  // Where nobody, not even root, can make a file it goes to the folder for temporary files.
  const Outcome other = run_pldc({"check", "--crash=check", file}, {}, "/proc");
  CHECK(other.code == 3);
  const std::size_t at = other.err.find("/pldc-crash-");
  CAPTURE(other.err);
  REQUIRE(at != std::string::npos);
  const std::string path = other.err.substr(other.err.rfind(' ') + 1);
  CHECK(std::filesystem::remove(path.substr(0, path.size() - 1)));
}

#ifndef PLDC_SANITIZED
TEST_CASE("crashes: fatal signals, an overflow of the stack among them") {
  const char* build = std::getenv("PLDC_BUILD_ROOT");
  if (build == nullptr) return;
  for (const std::string how : {"signal", "stack"}) {
    const TempDir dir;
    dir.write("f.pld", kScale);
    pldc::ProcessSpec spec;
    spec.args = {std::string(build) + "/src/driver/pldc", "check", "--crash=" + how, "f.pld"};
    spec.directory = dir.path("");
    spec.capture = true;
    const pldc::ProcessResult result = pldc::run_process(spec);
    CAPTURE(how, result.err);
    CHECK(result.exit_code == 3);
    CHECK(lines(result.err) == 1);
    const auto names = dir.list("");
    REQUIRE(names.size() == 2);
    CHECK(contains(result.err, names.back()));
  }
}
#endif
