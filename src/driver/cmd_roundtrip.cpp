// pldc roundtrip: the text survives being read and printed.
#include "driver/command.h"
#include "driver/pipeline.h"
#include "driver/round_trip.h"
#include "driver/session.h"
#include "passes/pass.h"

namespace pldc {
namespace {

class RoundtripCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"roundtrip",
            "[--semantic] [--each] FILE...",
            "Check that programs survive being printed and read",
            {"pldc roundtrip dump.pld", "pldc roundtrip --semantic handwritten.pld",
             "pldc roundtrip --each dump.pld"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable table(app);
    table.group("Checks").flag("--semantic", semantic_,
                               "do not compare the input's bytes: it is not canonical");
    table.flag("--each", each_, "also after every pass of the pipeline");
    add_pass_options(app, passes_);
    table.files(files_, "FILE", "programs; - is standard input");
  }

  int run(Session& session) override {
    if (files_.empty()) return session.usage_error("no FILE is given", "`-` is standard input");
    Pipeline pipeline;
    if (!plan_pipeline(session, passes_, pipeline)) return kBadUsage;
    return session.each(files_, [&](Input& input) { return process(session, input, pipeline); });
  }

 private:
  int process(Session& session, Input& input, const Pipeline& pipeline) const {
    if (!session.read(input)) return kBadInput;
    // The text of a program that is wrong is no finding about the printer or the reader.
    if (!passes_.no_verify && !verify_written(input.module.program, input.diags)) return kBadInput;
    RoundTripCheck check{session.sources(), input.diags, session.print_options_for(input.module, true),
                         semantic_ ? nullptr : input.file, "<print of " + input.file->name() + ">"};
    if (!survives_round_trip(input.module, check)) return kCheckFailed;
    if (!each_) return kFine;
    bool good = true;
    PassCallbacks callbacks;
    callbacks.after = [&](const PassStep& step) {
      if (!step.changed) return true;
      // Later stages have what only the dump dialect can show.
      Module module = input.module;
      module.program = step.after;
      check.print.dialect = Dialect::Dump;
      check.original = nullptr;
      check.printed_name = fmt::format("<{} after {}>", input.file->name(), step.planned->label());
      good = survives_round_trip(module, check);
      return good;
    };
    const RunResult result = run_pipeline(session, input, pipeline, passes_, callbacks);
    if (!good) return kCheckFailed;
    return result.program != nullptr ? kFine : kBadInput;
  }

  bool semantic_ = false;
  bool each_ = false;
  PassOptions passes_;
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> make_roundtrip_command() { return std::make_unique<RoundtripCommand>(); }

}  // namespace pldc
