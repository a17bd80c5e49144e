// pldc opt: run the pipeline, print the IR.
#include "driver/command.h"
#include "driver/dump.h"
#include "driver/pipeline.h"
#include "driver/session.h"

namespace pldc {
namespace {

class OptCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"opt",
            "[OPTIONS] FILE...",
            "Run the pass pipeline and print the IR",
            {"pldc --dump-after=MaterializeCommDomainScopes foo.pld",
             "pldc --passes=ConvertToSSA,Simplify foo.pld -o out.pld",
             "pldc --dump-dir=dumps --verify-each foo.pld"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable table(app);
    table.group("Output").value("-o,--output", output_, "FILE", "the final IR to FILE");
    add_pass_options(app, passes_);
    add_dump_options(app, dumps_);
    table.files(files_, "FILE", "programs; - is standard input");
  }

  int run(Session& session) override {
    if (files_.empty()) return session.usage_error("no FILE is given", "`-` is standard input");
    if (files_.size() > 1 && !output_.empty() && output_ != "-")
      return session.usage_error("-o takes a single FILE");
    if (files_.size() > 1 && !dumps_.directory.empty())
      return session.usage_error("--dump-dir takes a single FILE");
    Pipeline pipeline;
    if (!plan_pipeline(session, passes_, pipeline)) return kBadUsage;
    if (!Dumper::check(session, dumps_, pipeline.plan)) return kBadUsage;
    return session.each(files_, [&](Input& input) { return process(session, input, pipeline); });
  }

 private:
  int process(Session& session, Input& input, const Pipeline& pipeline) const {
    if (!session.read(input)) return kBadInput;
    Dumper dumper(session, input, dumps_, pipeline, !output_.empty());
    dumper.start();
    const RunResult result = run_pipeline(session, input, pipeline, passes_, dumper.callbacks());
    if (!dumper.finish() || result.program == nullptr) return kBadInput;
    if (dumper.owns_stdout()) return kFine;
    input.module.program = result.program;
    const std::string text =
        session.print_text(input, input.module, session.print_options_for(input.module, false));
    return session.write_output(output_, text) ? kFine : kBadInput;
  }

  std::string output_;
  PassOptions passes_;
  DumpOptions dumps_;
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> make_opt_command() { return std::make_unique<OptCommand>(); }

}  // namespace pldc
