// pldc fmt: canonical text.
#include "driver/command.h"
#include "driver/session.h"
#include "support/diag/driver.h"
#include "support/text_diff.h"

namespace pldc {
namespace {

class FmtCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"fmt",
            "[-i | --check] FILE...",
            "Print the canonical text of a program",
            {"pldc fmt foo.pld", "pldc fmt -i *.pld", "pldc fmt --check foo.pld"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable table(app);
    table.group("Output").flag("-i,--in-place", in_place_, "rewrite the files that are not canonical");
    table.flag("--check", check_, "print nothing; exit 4 if a file is not canonical");
    table.value("-o,--output", output_, "FILE", "write to FILE instead of standard output");
    table.files(files_, "FILE", "programs; - is standard input");
  }

  int run(Session& session) override {
    if (files_.empty()) return session.usage_error("no FILE is given", "`-` is standard input");
    if (in_place_ && check_) return conflict(session, "-i", "--check");
    if (!output_.empty() && (in_place_ || check_))
      return conflict(session, "-o", in_place_ ? "-i" : "--check");
    if (!output_.empty() && files_.size() > 1) return session.usage_error("-o takes a single FILE");
    return session.each(files_, [&](Input& input) { return format(session, input); });
  }

 private:
  static int conflict(Session& session, const char* a, const char* b) {
    session.report<diag::option_conflict>("", a, b);
    return kBadUsage;
  }

  int format(Session& session, Input& input) const {
    if (!session.read(input)) return kBadInput;
    const std::string text =
        session.print_text(input, input.module, session.print_options_for(input.module, true));
    if (check_) {
      TextDifference d{};
      if (!first_difference(text, input.file->text(), d)) return kFine;
      const auto at = static_cast<std::uint32_t>(input.file->base() + d.offset);
      input.diags.report<diag::not_canonical>(Span{at, at + 1}, d.expected, d.found)
          .help("`pldc fmt -i {}` rewrites it", input.path);
      return kCheckFailed;
    }
    if (in_place_ && input.path != "-") {
      // Only a missing final newline is no reason to touch the file.
      TextDifference ignored{};
      if (!first_difference(text, input.file->text(), ignored)) return kFine;
      return session.write_output(input.path, text) ? kFine : kBadInput;
    }
    return session.write_output(output_, text) ? kFine : kBadInput;
  }

  bool in_place_ = false;
  bool check_ = false;
  std::string output_;
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> make_fmt_command() { return std::make_unique<FmtCommand>(); }

}  // namespace pldc
