// pldc trace: what the passes did to a program, as one HTML file.
#include <map>

#include "codegen/entry.h"
#include "driver/command.h"
#include "driver/pipeline.h"
#include "driver/session.h"
#include "driver/trace/report.h"
#include "support/diag/driver.h"
#include "support/file.h"

namespace pldc {
namespace {

class TraceCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"trace",
            "FILE... [-o REPORT.html]",
            "Show what each pass does, and the program, as one HTML file",
            {"pldc trace foo.pld -o report.html", "pldc trace --ranks 4 foo.pld",
             "pldc trace --stop-after=LowerCompositeOps -o - foo.pld >report.html"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable table(app);
    table.group("Output").value(
        "-o,--output", output_, "FILE",
        "where to (default: STEM.html in the working directory); - is standard output");
    table.group("Program").value("--entry", entry_, "NAME",
                                 "which host function to draw, if there are several");
    table.number("--ranks", ranks_, "N",
                 "draw who notifies whom for N ranks (default: as many as the program asks for, if it does)",
                 {1, kMaxRanks});
    add_pass_options(app, passes_);
    table.files(files_, "FILE", "programs, a report each; - is standard input");
  }

  int run(Session& session) override {
    if (files_.empty()) return session.usage_error("no FILE is given", "`-` is standard input");
    if (files_.size() > 1 && !output_.empty()) return session.usage_error("-o takes a single FILE");
    std::map<std::string, std::string> writers;
    for (const std::string& file : files_) {
      const auto [other, fresh] = writers.emplace(report_name(file), file);
      if (fresh) continue;
      session.report<diag::same_report>("give one of them at a time, with -o", other->second, file,
                                        other->first);
      return kBadUsage;
    }
    Pipeline pipeline;
    if (!plan_pipeline(session, passes_, pipeline)) return kBadUsage;
    return session.each(files_, [&](Input& input) { return process(session, input, pipeline); });
  }

 private:
  std::string report_name(const std::string& file) const {
    return output_.empty() ? path_stem(file) + ".html" : output_;
  }

  // After a pass that failed there is a report too: it shows where, and what was said.
  int process(Session& session, Input& input, const Pipeline& pipeline) const {
    if (!session.read(input)) return kBadInput;
    trace::Recorder recorder(session, input, pipeline.plan);
    recorder.start();
    const RunResult result = run_pipeline(session, input, pipeline, passes_, recorder.callbacks());
    recorder.finish(result);
    bool good = result.program != nullptr;
    if (good && !entry_.empty()) good = choose_entries(*result.program, entry_, input.diags).has_value();
    trace::ReportOptions options;
    options.stem = path_stem(input.path);
    options.entry = entry_;
    options.ranks = ranks_;
    const bool written =
        session.write_output(report_name(input.path), trace::report(session, input, recorder, options));
    return good && written ? kFine : kBadInput;
  }

  std::string output_;
  std::string entry_;
  unsigned ranks_ = 0;
  PassOptions passes_;
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> make_trace_command() { return std::make_unique<TraceCommand>(); }

}  // namespace pldc
