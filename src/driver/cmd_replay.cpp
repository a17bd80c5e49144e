// pldc replay: what a crash file records, once more.
#include <algorithm>

#include "driver/command.h"
#include "driver/crash.h"
#include "driver/session.h"
#include "support/diag/driver.h"
#include "support/version.h"
#include "support/words.h"

namespace pldc {
namespace {

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
    OptionTable(app).files(files_, "CRASHFILE", "the file that pldc wrote after an internal error");
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
  static bool load(Session& session, Input& input, CrashRecord& record) {
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
    if (record.version != kVersion)
      input.diags.report<diag::crash_file_version>(Span{}, record.version, kVersion);
    return true;
  }

  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> make_replay_command() { return std::make_unique<ReplayCommand>(); }

}  // namespace pldc
