// pldc reduce: the smallest program for which a command still succeeds.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "driver/command.h"
#include "driver/reduce/reducer.h"
#include "driver/session.h"
#include "passes/pass.h"
#include "support/diag/driver.h"
#include "support/file.h"
#include "support/interrupt.h"
#include "support/process.h"
#include "support/words.h"

namespace pldc {
namespace {

// A folder for the programs that are tried, under the name of the input: commands may look at it.
class Scratch {
 public:
  explicit Scratch(const std::string& input) {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "pldc_reduce.XXXXXX").string();
    if (error || mkdtemp(name.data()) == nullptr) return;
    folder_ = name;
    const std::string base = input == "-" ? "stdin.pld" : std::filesystem::path(input).filename().string();
    file_ = path_join(folder_, base);
  }
  ~Scratch() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& file() const { return file_; }  // empty: no folder could be made

 private:
  std::string folder_;
  std::string file_;
};

class ReduceCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"reduce",
            "--test=CMD FILE",
            "Find the smallest program for which a command still succeeds",
            {"pldc reduce --test='pldc check {} 2>&1 | grep -q PLD0401' wrong.pld",
             "pldc reduce --test='pldc check --ranks 4 {} 2>&1 | grep -q 0661' hang.pld",
             "pldc reduce --test='pldc replay {}; test $? = 3' pldc-crash-0123.pld"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable table(app);
    table.group("Test").value(
        "--test", test_, "CMD",
        "a shell command that exits 0 as long as the program shows what is looked for; {} is "
        "the program's file, else it comes last");
    table.number("--timeout", timeout_, "SECONDS", "a test that takes longer fails (10)", {1});
    table.flag("--readable", readable_,
               "try only programs that pldc reads, and verifies if it does FILE, without an error");
    table.group("Output").value("-o,--output", output_, "FILE", "the smallest program to FILE");
    table.files(files_, "FILE", "the program; - is standard input");
  }

  int run(Session& session) override {
    if (test_.empty())
      return session.usage_error("no --test is given", "it is a shell command that exits 0 for FILE");
    if (files_.size() != 1) return session.usage_error("reduce takes a single FILE");
    // Not through Session::each: a program that crashes pldc is what this is for.
    Input input(files_[0], session.diag_options());
    const int code = session.load(input) ? process(session, input) : kBadInput;
    session.show(input.diags);
    return code;
  }

 private:
  int process(Session& session, Input& input) {
    const InterruptScope interrupts(InterruptScope::Then::Continue);
    session.progress("the first test");
    const Scratch scratch(input.path);
    std::string error = "a temporary folder cannot be made";
    const std::string whole(input.file->text());
    reduce::Lines lines = reduce::split(whole);
    valid_ = reads(whole, true);
    if (scratch.file().empty() || !try_text(session, scratch, whole, error)) {
      input.diags.report<diag::reduce_test_fails>(Span{}, error);
      return kBadInput;
    }
    const std::size_t before = lines.size();
    reduce::Reducer::Hooks hooks;
    hooks.test = [&](const std::string& text) { return try_text(session, scratch, text, error); };
    hooks.stop = [] { return interrupted(); };
    hooks.progress = [&](const reduce::Lines& now) {
      session.log().info("{} lines after {} tests", now.size(), tests_);
      session.progress(fmt::format("{} lines after {} tests", now.size(), tests_));
    };
    // Without its blank lines and with plain indentation it is another text: it has to pass too.
    std::string result = whole;
    std::size_t after = before;
    if (try_text(session, scratch, reduce::join(lines), error)) {
      reduce::Reducer reducer(std::move(lines), std::move(hooks));
      const reduce::Lines& smallest = reducer.run();
      after = smallest.size();
      result = reduce::join(smallest);
    }
    session.say(fmt::format("{} of {} lines are left after {} tests{}\n", after, before, tests_,
                            interrupted() ? "; interrupted, so less may do" : ""));
    return session.write_output(output_, result) ? kFine : kBadInput;
  }

  // Whether the command succeeds for a program with this text; `error` says how it failed.
  bool try_text(Session& session, const Scratch& scratch, const std::string& text, std::string& error) {
    if (readable_ && !reads(text, valid_)) {
      error = "pldc does not read it without an error";
      return false;
    }
    if (write_if_changed(scratch.file(), text, error) == WriteResult::Failed) return false;
    std::string command = test_;
    const std::string file = quote_word(scratch.file());
    bool named = false;
    for (std::size_t at = command.find("{}"); at != std::string::npos;
         at = command.find("{}", at + file.size())) {
      command.replace(at, 2, file);
      named = true;
    }
    if (!named) command += " " + file;
    ProcessSpec spec;
    spec.args = {"/bin/sh", "-c", command};
    spec.capture = true;
    spec.timeout_seconds = timeout_;
    spec.give_up = [] { return interrupted(); };
    const ProcessResult result = run_process(spec);
    ++tests_;
    session.log().debug("test {}: exit {}", tests_, result.exit_code);
    error = !result.error.empty() ? result.error
            : interrupted()       ? std::string("it was interrupted")
            : result.timed_out    ? fmt::format("it took more than {} s", timeout_)
                                  : fmt::format("exit code {}{}", result.exit_code, last_words(result.err));
    return result.ok();
  }

  // What a command that cannot even start says, as the shell does of one that it does not find.
  static std::string last_words(std::string_view err) {
    while (!err.empty() && err.back() == '\n') err.remove_suffix(1);
    constexpr std::size_t kLongest = 200;
    const std::string_view line = err.substr(err.rfind('\n') + 1).substr(0, kLongest);
    return line.empty() ? std::string() : fmt::format("; its last line on stderr: {}", line);
  }

  // `valid`: and whether it passes the verifiers of what is read.
  static bool reads(const std::string& text, bool valid) {
    SourceManager sources;
    Context context;
    DiagSink diags;
    const Module module = parse(*sources.add("candidate.pld", text), context, diags);
    if (module.program == nullptr || diags.has_errors()) return false;
    return !valid || verify_written(module.program, diags);
  }

  std::string test_;
  unsigned timeout_ = 10;
  bool readable_ = false;
  bool valid_ = false;  // the whole program passes the verifiers, so a smaller one has to
  std::string output_;
  std::vector<std::string> files_;
  unsigned tests_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_reduce_command() { return std::make_unique<ReduceCommand>(); }

}  // namespace pldc
