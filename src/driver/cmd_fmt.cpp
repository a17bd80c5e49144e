// pldc fmt: canonical text.
#include <filesystem>

#include "driver/command.h"
#include "driver/session.h"
#include "frontend/authored.h"
#include "support/diag/driver.h"
#include "support/file.h"
#include "support/text_diff.h"

namespace pldc {
namespace {

class FmtCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"fmt",
            "[-i | --check] FILE...",
            "Print the canonical text of printed IR",
            {"pldc fmt foo.pld", "pldc fmt -i dump.pld", "pldc fmt --check dump.pld"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable table(app);
    table.group("Output").flag("-i,--in-place", in_place_,
                               "rewrite the files that are not canonical; where comments or hand-written "
                               "forms are lost, keep FILE.orig");
    table.flag("--check", check_, "print nothing; exit 4 if a file is not canonical");
    table.flag("--force", force_, "with -i: keep no FILE.orig");
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
    TextDifference d{};
    const bool rewrites = in_place_ && input.path != "-";
    // Only a missing final newline is no reason to touch the file.
    const bool differs = first_difference(text, input.file->text(), d);
    if ((check_ || rewrites) && !differs) return kFine;
    // A text that a person wrote has what the canonical one does not: it is kept beside it.
    const auto loss = differs && !check_ && !force_ && (rewrites || has_short_forms(*input.file))
                          ? first_loss(*input.file, text)
                          : std::nullopt;
    if (loss && rewrites) {
      if (!keep(session, input, *loss)) return kBadInput;
    } else if (loss) {
      input.diags.report<diag::canonical_lost>(loss->span, loss->what);
    }
    if (check_) {
      const auto at = static_cast<std::uint32_t>(input.file->base() + d.offset);
      input.diags.report<diag::not_canonical>(Span{at, at + 1}, d.expected, d.found)
          .help("`pldc fmt -i {}` rewrites it", input.path);
      return kCheckFailed;
    }
    return session.write_output(rewrites ? input.path : output_, text) ? kFine : kBadInput;
  }

  static bool keep(Session& session, Input& input, const TextLoss& loss) {
    const std::string kept = input.path + ".orig";
    std::error_code ignored;
    std::string before;
    std::string error;
    const bool same = read_file(kept, before, error) && before == input.file->text();
    if (!same && std::filesystem::exists(kept, ignored)) {
      input.diags.report<diag::canonical_loses>(loss.span, loss.what, kept)
          .help("move that file away, or give --force; `pldc fmt {} -o OTHER` leaves both as they are",
                input.path);
      return false;
    }
    if (!session.write_output(kept, input.file->text())) return false;
    input.diags.report<diag::canonical_lost>(loss.span, loss.what).help("{} is the text as it was", kept);
    return true;
  }

  bool in_place_ = false;
  bool check_ = false;
  bool force_ = false;
  std::string output_;
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> make_fmt_command() { return std::make_unique<FmtCommand>(); }

}  // namespace pldc
