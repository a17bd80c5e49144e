// pldc replay: what a crash file records, once more.
#include <algorithm>
#include <span>

#include "driver/command.h"
#include "driver/crash.h"
#include "driver/session.h"
#include "support/diag/driver.h"
#include "support/version.h"
#include "support/words.h"

namespace pldc {
namespace {

// Of the options that a crash file may record, those with which a stranger's file would do more than compile.
constexpr std::string_view kStarting[] = {"--cxx", "--cxxflags", "--test"};
constexpr std::string_view kWriting[] = {"--output",   "--out",      "--trace", "--build-dir",
                                         "--dump-dir", "--in-place", "--MD",    "--MF",
                                         "-M",         "-i",         "-o"};

// In "-vi" and "-vofile", too.
bool has_flag(std::string_view arg, std::string_view flag) {
  if (arg.starts_with("--") || arg.empty() || arg[0] != '-') return false;
  return arg.substr(0, arg.find_first_of("Wj=")).find(flag[1]) != std::string_view::npos;
}

// The first argument that is one of the options, with or without its value.
const std::string* argument_of(const std::vector<std::string>& args,
                               std::span<const std::string_view> options) {
  for (const std::string& arg : args) {
    for (const std::string_view option : options) {
      if (arg == option || arg.starts_with(std::string(option) + "=")) return &arg;
      if (option[1] != '-' && has_flag(arg, option)) return &arg;
    }
  }
  return nullptr;
}

class ReplayCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"replay",
            "CRASHFILE",
            "Run again what a crash file records",
            {"pldc replay pldc-crash-0123.pld", "pldc replay -v pldc-crash-0123.pld",
             "pldc replay --diag-format=json pldc-crash-0123.pld"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable table(app);
    table.files(files_, "CRASHFILE", "the file that pldc wrote after an internal error");
    table.group("Replay").flag("--trust", trust_, "also a command that starts programs or writes files");
  }

  int run(Session& session) override {
    if (files_.size() != 1) return session.usage_error("replay takes a single CRASHFILE");
    Input input(files_[0], session.diag_options());
    CrashRecord record;
    const bool good = load(session, input, record);
    session.show(input.diags);
    if (!good) return kBadInput;
    std::string words = "pldc";
    for (const std::string& arg : record.args) words += " " + quote_word(arg);
    session.log().info("{}: it ended with {}", words, record.what);

    Env env = session.env();
    env.overlay[record.input] = record.text;
    env.variable = [&](const std::string& name) -> std::optional<std::string> {
      // Flags of the environment are among the recorded arguments.
      if (name == "PLDC_FLAGS") return std::nullopt;
      if (name == "PLDC_VERIFY") return record.verify.empty() ? std::nullopt : std::optional(record.verify);
      return session.env().variable(name);
    };
    return run_main(record.args, env);
  }

 private:
  bool load(Session& session, Input& input, CrashRecord& record) const {
    if (!session.load(input)) return false;
    std::string error;
    if (!read_crash_file(input.file->text(), record, error)) {
      input.diags.report<diag::not_a_crash_file>(Span{}, input.path, error)
          .help("pldc writes such a file, pldc-crash-*.pld, after an internal error");
      return false;
    }
    // The subcommand comes first. Response files are expanded in what pldc records: this would read others.
    const auto replays = [](const std::string& arg) { return arg == "replay" || arg.starts_with("@"); };
    if (std::any_of(record.args.begin(), record.args.end(), replays)) {
      input.diags.report<diag::not_a_crash_file>(Span{}, input.path, "it records a replay");
      return false;
    }
    const std::string* const starts = trust_ ? nullptr : argument_of(record.args, kStarting);
    const std::string* const writes = trust_ ? nullptr : argument_of(record.args, kWriting);
    if (const std::string* acts = starts != nullptr ? starts : writes; acts != nullptr) {
      input.diags
          .report<diag::crash_file_acts>(
              Span{}, input.path, quote_word(*acts),
              starts != nullptr ? "starts another program" : "writes where it says")
          .help("give --trust if you know where the file comes from");
      return false;
    }
    if (record.version != kVersion)
      input.diags.report<diag::crash_file_version>(Span{}, record.version, kVersion);
    return true;
  }

  std::vector<std::string> files_;
  bool trust_ = false;
};

}  // namespace

std::unique_ptr<Command> make_replay_command() { return std::make_unique<ReplayCommand>(); }

}  // namespace pldc
