// pldc run: build for this machine, into a cache, and run.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "driver/command.h"
#include "driver/generate.h"
#include "driver/mpi.h"
#include "driver/session.h"
#include "support/diag/driver.h"
#include "support/file.h"
#include "support/interrupt.h"
#include "support/process.h"
#include "support/words.h"

namespace pldc {
namespace {

namespace fs = std::filesystem;

// What the cache keeps; the least recently used goes first.
constexpr std::size_t kPrograms = 64;
constexpr std::size_t kObjects = 32;  // of the runtime, under other compilers, flags and versions
constexpr std::uintmax_t kProgramBytes = std::uintmax_t{512} << 20;

std::uintmax_t bytes_below(const fs::path& directory) {
  std::uintmax_t sum = 0;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory, ignored)) {
    const std::uintmax_t bytes = entry.is_regular_file(ignored) ? entry.file_size(ignored) : 0;
    if (bytes != static_cast<std::uintmax_t>(-1)) sum += bytes;
  }
  return sum;
}

// The newest program stays in any case: it is about to run.
void prune(const std::string& cache) {
  std::vector<std::pair<fs::file_time_type, fs::path>> programs, objects;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache, ignored)) {
    const bool program = entry.path().filename().string().rfind("run-", 0) == 0;
    if (!program && entry.path().extension() != ".o") continue;
    (program ? programs : objects).emplace_back(entry.last_write_time(ignored), entry.path());
  }
  std::sort(programs.rbegin(), programs.rend());
  std::sort(objects.rbegin(), objects.rend());
  std::uintmax_t sum = 0;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    sum += bytes_below(programs[i].second);
    if (i >= kPrograms || (i > 0 && sum > kProgramBytes)) fs::remove_all(programs[i].second, ignored);
  }
  for (std::size_t i = kObjects; i < objects.size(); ++i) fs::remove(objects[i].second, ignored);
}

constexpr std::string_view kNameCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

class RunCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"run",
            "FILE [OPTIONS]",
            "Build a program and run it",
            {"pldc run foo.pld --ranks 4 --in x=x.npy --out y=y.npy", "pldc run foo.pld --random --out y=-",
             "pldc run foo.pld --ranks 4 --random --schedule=seeded --schedules=9"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable table(app);
    table.group("Build").value("--build-dir", build_dir_, "D", "build there (default: a cache)");
    table.value("--after", after_, "P", "run the IR as it stands after pass P");
    add_generate_options(app, generate_, false);
    table.group("Run");
    value(table, "--ranks", "N", "number of ranks (default: what the program implies, else 2)")
        .whole_number({1, kMaxRanks});
    values(table, "--in", "NAME=FILE.npy", "value of a tensor parameter");
    values(table, "--scalar", "NAME=VALUE", "value of a scalar parameter");
    values(table, "--out", "NAME=FILE.npy", "write an Out or InOut parameter; - prints it");
    table.optional_value("--random", random_, "0", "SEED", "fill inputs that are not given, repeatably");
    values(table, "--expect", "NAME=FILE.npy", "compare an Out or InOut parameter; exit 4 if it differs");
    value(table, "--rtol", "X", "relative tolerance of --expect");
    value(table, "--atol", "X", "absolute tolerance of --expect");
    value(table, "--repeat", "N", "run N times, print minimum, median and maximum").whole_number({1});
    value(table, "--schedule", "threads|seeded",
          "ranks as threads (default), or on one thread in a seeded order")
        .one_of({"threads", "seeded"});
    value(table, "--seed", "S", "seed of the order (default 0), which it repeats");
    value(table, "--schedules", "K", "the orders of K seeds from S on; all results must agree")
        .whole_number({1});
    value(table, "--check", "WHAT",
          "report races on windows, signals not zero at the end, accesses outside of windows: races, "
          "signals, bounds (with "
          "commas)")
        .some_of({"races", "signals", "bounds"});
    value(table, "--timeout", "SECONDS", "watchdog (default 60)");
    value(table, "--trace", "FILE.json", "write a trace for Chrome or Perfetto; - prints it");
    add_tool_options(app, tools_);
    add_pass_options(app, passes_);
    table.files(files_, "FILE", "the program; - is standard input");
  }

  int run(Session& session) override {
    if (files_.empty()) return session.usage_error("no FILE is given", "`-` is standard input");
    if (files_.size() > 1) return session.usage_error("run takes a single FILE");
    if (!after_.empty()) {
      if (!passes_.stop_after.empty()) {
        session.report<diag::option_conflict>("", "--after", "--stop-after");
        return kBadUsage;
      }
      passes_.stop_after = after_;
    }
    if (!order_is_seeded(session) || !serves_mpi(session)) return kBadUsage;
    Pipeline pipeline;
    if (!plan_pipeline(session, passes_, pipeline)) return kBadUsage;
    std::string program;
    const SourceFile* source = nullptr;
    const int code = session.each(files_, [&](Input& input) {
      source = input.file;
      return build(session, input, pipeline, program);
    });
    return code == kFine ? start(session, program, *source) : code;
  }

 private:
  // Options that only the program understands: kept as they were given.
  struct Forwarded {
    std::string name;
    std::string value;                // of an option given at most once
    std::vector<std::string> values;  // of one that may be repeated
  };

  OptionRef value(OptionTable& table, const std::string& name, const std::string& kind,
                  const std::string& text) {
    forwarded_.push_back(std::make_unique<Forwarded>(Forwarded{name, {}, {}}));
    return table.value(name, forwarded_.back()->value, kind, text);
  }
  OptionRef values(OptionTable& table, const std::string& name, const std::string& kind,
                   const std::string& text) {
    forwarded_.push_back(std::make_unique<Forwarded>(Forwarded{name, {}, {}}));
    return table.list(name, forwarded_.back()->values, kind, text);
  }

  const std::string& forwarded(std::string_view name) const {
    const auto found = std::find_if(forwarded_.begin(), forwarded_.end(),
                                    [&](const auto& option) { return option->name == name; });
    return (*found)->value;
  }

  // Said before anything is built.
  bool order_is_seeded(Session& session) const {
    if (forwarded("--schedule") == "seeded") return true;
    for (const char* name : {"--seed", "--schedules"}) {
      if (forwarded(name).empty()) continue;
      session.report<diag::option_needs>("", name, "--schedule=seeded");
      return false;
    }
    return true;
  }

  // Said before anything is built, too.
  bool serves_mpi(Session& session) const {
    if (generate_.target != "mpi") return true;
    if (forwarded("--ranks").empty()) {
      session.report<diag::option_needs>("it starts one process for each rank", "--target=mpi", "--ranks=N");
      return false;
    }
    const bool races = forwarded("--check").find("races") != std::string::npos;
    if (!races && forwarded("--schedule") != "seeded") return true;
    session.report<diag::option_conflict>("--target=sim has all ranks in one process", "--target=mpi",
                                          races ? "--check=races" : "--schedule=seeded");
    return false;
  }

  // This command without the choice of the order, for the program's messages, which add it.
  static std::string invocation(const std::vector<std::string>& args) {
    std::string all = "pldc";
    for (std::size_t i = 0; i < args.size(); ++i) {
      const std::string option = args[i].substr(0, args[i].find('='));
      if (option == "--schedule" || option == "--seed" || option == "--schedules") {
        if (option == args[i]) ++i;
        continue;
      }
      all += ' ' + quote_word(args[i]);
    }
    return all;
  }

  int build(Session& session, Input& input, const Pipeline& pipeline, std::string& program) const {
    if (!session.read(input)) return kBadInput;
    Tree tree;
    std::string ir;
    if (!generate_tree(session, input, pipeline, passes_, generate_, path_stem(input.path), tree, ir))
      return kBadInput;
    // What the user should see before the program writes.
    session.show(input.diags);
    const std::string name = tree.program_name(path_stem(input.path));
    const std::vector<std::string> targets = {"bin/" + name};
    Toolchain tools;
    const InterruptScope interrupts(InterruptScope::Then::End);  // until the unfinished folder is gone
    if (!find_toolchain(session, tools_, tools)) return kBadInput;
    if (generate_.target == "mpi" && !find_mpi_compiler(session, tools)) return kBadInput;
    if (!build_dir_.empty()) {
      tree.directory = build_dir_;
      if (!write_tree(session, tree) || !compile_tree(session, tree, tools, targets)) return kBadInput;
      program = path_join(tree.directory, "bin/" + name);
      return kFine;
    }
    const std::string cache = cache_directory(session.env());
    const std::string key = build_key(tree, tools);
    const std::string final_directory = path_join(cache.empty() ? "/tmp" : cache, "run-" + key);
    program = path_join(final_directory, "bin/" + name);
    std::error_code ignored;
    if (file_exists(program)) {
      fs::last_write_time(final_directory, fs::file_time_type::clock::now(), ignored);
      session.log().info("using {}", program);
      return kFine;
    }
    // Built under another name and renamed, so that runs at the same time do not meet half a program.
    tree.directory = final_directory + "." + std::to_string(getpid());
    tree.kept_when_failed = final_directory + ".failed";
    tree.help = "build somewhere else with --build-dir DIR, or set XDG_CACHE_HOME to a folder for caches";
    const bool built = write_tree(session, tree) && compile_tree(session, tree, tools, targets);
    if (built) {
      fs::rename(tree.directory, final_directory, ignored);
      if (ignored && !file_exists(program)) {
        session.report<diag::cannot_write>(tree.help, final_directory,
                                           "cannot be made: " + ignored.message());
        return kBadInput;
      }
    }
    fs::remove_all(tree.directory, ignored);
    if (!cache.empty()) prune(cache);
    return built ? kFine : kBadInput;
  }

  // Without the word that the diagnostic has anyway, and without line ends at the end.
  static std::string trimmed(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.rfind("error: ", 0) == 0 ? text.substr(7) : text;
  }

  // The first place of the source that a message names, as in "foo.pld:12:20: parameter x ..." or in a table; taken out of
  // the message if it comes first.
  static Span place_in(const SourceFile& source, std::string& said) {
    const std::string shown = source.name()[0] == '/' ? path_last(source.name()) : source.name();
    std::size_t at = said.find(shown + ":");
    if (at == std::string::npos) return {};
    const bool first = at == 0;
    at += shown.size();
    const auto number = [&] {
      std::uint32_t value = 0;
      if (at >= said.size() || said[at] != ':') return value;
      std::size_t end = at + 1;
      while (end < said.size() && said[end] >= '0' && said[end] <= '9' && end < at + 9)
        value = value * 10 + static_cast<std::uint32_t>(said[end++] - '0');
      if (value != 0) at = end;
      return value;
    };
    const std::uint32_t line = number();
    const std::uint32_t column = number();
    const auto lines = 1 + std::count(source.text().begin(), source.text().end(), '\n');
    if (line == 0 || line > lines) return {};
    if (first && said.compare(at, 2, ": ") == 0) said.erase(0, at + 2);
    const std::string_view text = source.line_text(line);
    const std::size_t begin = column != 0 ? column - 1 : text.find_first_not_of(" \t");
    if (begin >= text.size()) return {};
    // Without a column all of the line, with one the word that stands there.
    std::size_t end = column != 0 ? text.find_first_not_of(kNameCharacters, begin) : text.size();
    end = std::min(std::max(end, begin + 1), text.size());
    const std::uint32_t base = source.line_begin(line);
    return {base + static_cast<std::uint32_t>(begin), base + static_cast<std::uint32_t>(end)};
  }

  int start(Session& session, const std::string& program, const SourceFile& source) const {
    ProcessSpec command;
    if (generate_.target == "mpi" && !mpi_launcher(session, forwarded("--ranks"), command.args))
      return kBadInput;
    command.args.push_back(program.find('/') == std::string::npos ? "./" + program : program);
    for (const auto& option : forwarded_) {
      for (const std::string& v : option->values) command.args.push_back(option->name + "=" + v);
      if (!option->value.empty()) command.args.push_back(option->name + "=" + option->value);
    }
    command.args.push_back("--invocation=" + invocation(session.args()));
    if (!random_.empty()) command.args.push_back("--random=" + random_);
    if (!generate_.entry.empty()) command.args.push_back("--entry=" + generate_.entry);
    // A machine that reads diagnostics reads nothing else on stderr.
    const bool as_diagnostic = session.for_machines();
    command.capture = session.env().capture_children || as_diagnostic;
    command.null_input = session.env().capture_children;
    session.out().flush();
    session.err().flush();
    const InterruptScope interrupts(InterruptScope::Then::End);  // the program, too
    const ProcessResult result = run_process(command);
    session.out() << result.out;
    if (!as_diagnostic) {
      session.err() << result.err;
    } else if (std::string said = trimmed(result.err); !said.empty()) {
      DiagSink sink(session.diag_options());
      const Span place = place_in(source, said);
      if (result.exit_code != 0) {
        sink.report<diag::program_failed>(place, said);
      } else {
        sink.report<diag::program_said>(place, said);
      }
      session.show(sink);
    }
    if (!result.error.empty()) {
      session.report<diag::cannot_start>("", command.args.front(), result.error);
      return kBadInput;
    }
    if (result.exit_code == kFine && forwarded("--schedule") == "seeded") {
      const std::string& count = forwarded("--schedules");
      session.log().info("{}", count.empty() || count == "1" ? "the run in the order of the seed is fine"
                                                             : count + " schedules agree");
    }
    if (result.signal == 0 || interrupted()) return result.exit_code;
    if (result.signal == SIGPIPE)
      return 128 + SIGPIPE;  // who reads has had enough, as in `pldc run ... | head`
    session.report<diag::program_ended>(
        forwarded("--check").find("bounds") != std::string::npos
            ? ""
            : "run it with --check=bounds, which names the accesses outside of windows and tensors",
        result.signal, strsignal(result.signal));
    return kCheckFailed;
  }

  std::string build_dir_;
  std::string after_;
  std::string random_;
  std::vector<std::unique_ptr<Forwarded>> forwarded_;
  GenerateOptions generate_;
  ToolOptions tools_;
  PassOptions passes_;
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace pldc
