#include "support/process.h"

#include "support/catch.h"
#include "support/temp_dir.h"
#include "support/words.h"

using namespace pldc;

namespace {

ProcessSpec shell(const std::string& script) {
  ProcessSpec command;
  command.args = {"sh", "-c", script};
  command.capture = true;
  return command;
}

}  // namespace

TEST_CASE("process: both streams and the exit code") {
  const ProcessResult result = run_process(shell("echo out; echo err >&2; exit 7"));
  CHECK(result.error.empty());
  CHECK(result.out == "out\n");
  CHECK(result.err == "err\n");
  CHECK(result.exit_code == 7);
  CHECK_FALSE(result.ok());
}

TEST_CASE("process: more output than a pipe holds, on both streams") {
  const ProcessResult result = run_process(shell("head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"));
  CHECK(result.out.size() == 300000);
  CHECK(result.err.size() == 300000);
}

TEST_CASE("process: arguments are passed as they are") {
  ProcessSpec command;
  command.args = {"printf", "%s|", "a b", "$HOME", "*", "", "'"};
  command.capture = true;
  CHECK(run_process(command).out == "a b|$HOME|*||'|");
}

TEST_CASE("process: signals, missing programs, directories") {
  const ProcessResult killed = run_process(shell("kill -9 $$"));
  CHECK(killed.signal == 9);
  CHECK(killed.exit_code == 137);
  ProcessSpec missing;
  missing.args = {"no-such-program-here"};
  CHECK(run_process(missing).error == "No such file or directory");
  const TempDir dir;
  ProcessSpec pwd = shell("pwd -P");
  pwd.directory = dir.path("");
  CHECK(run_process(pwd).out == std::filesystem::canonical(dir.path("")).string() + "\n");
  pwd.directory = dir.path("none");
  CHECK(run_process(pwd).error.find("does not exist") != std::string::npos);
}

TEST_CASE("process: variables can be kept from the program") {
  setenv("PLDC_TEST_VARIABLE", "seen", 1);
  ProcessSpec spec = shell("echo [$PLDC_TEST_VARIABLE]");
  CHECK(run_process(spec).out == "[seen]\n");
  spec.unset = {"PLDC_TEST_VARIABLE"};
  CHECK(run_process(spec).out == "[]\n");
}

TEST_CASE("process: stdin is empty unless inherited") { CHECK(run_process(shell("cat")).out.empty()); }

TEST_CASE("processes: all run, results in order, stop at the first failure") {
  std::vector<ProcessSpec> commands;
  for (int i = 0; i < 12; ++i) commands.push_back(shell("echo " + std::to_string(i)));
  const auto results = run_processes(commands, 3);
  REQUIRE(results.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) CHECK(results[i].out == std::to_string(i) + "\n");

  const auto stopped = run_processes({shell("exit 1"), shell("echo never")}, 1);
  CHECK(stopped[0].exit_code == 1);
  CHECK(stopped[1].error == "not started");
  CHECK(run_processes({}, 2).empty());
}

TEST_CASE("words: splitting and quoting are inverse") {
  std::vector<std::string> words;
  REQUIRE(split_words(" -O2  'a b' \"c \\\" d\" e\\ f ''\n--x='y z'", words));
  CHECK(words == std::vector<std::string>{"-O2", "a b", "c \" d", "e f", "", "--x=y z"});
  CHECK_FALSE(split_words("'open", words));
  for (const std::string word : {"plain", "", "a b", "it's", "$x", "--y=1", "\"", "\\"}) {
    std::vector<std::string> back;
    REQUIRE(split_words(quote_word(word), back));
    CHECK(back == std::vector<std::string>{word});
  }
  CHECK(split_list("A, B,,C ") == std::vector<std::string>{"A", "B", "C"});
  CHECK(split_list("").empty());
}
