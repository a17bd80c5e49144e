// pldc diff: structural difference of two programs.
#include "driver/command.h"
#include "driver/session.h"
#include "ir/same.h"

namespace pldc {
namespace {

class DiffCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"diff",
            "A B",
            "Compare two programs by structure: no names, comments, layout",
            {"pldc diff before.pld after.pld", "pldc diff --limit=1 a.pld b.pld",
             "pldc diff -q a.pld b.pld && echo same"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable table(app);
    table.group("Output").number("--limit", limit_, "N", "stop after N differences; 0: show all (default)");
    table.flag("-q,--quiet", quiet_, "print nothing; the exit code tells");
    table.files(files_, "FILE", "the two programs; - is standard input");
  }

  int run(Session& session) override {
    if (files_.size() != 2) return session.usage_error("diff takes two FILEs");
    Input a(files_[0], session.diag_options());
    bool met = false;
    int code = session.each({files_[1]}, [&](Input& b) {
      met = true;
      // The first file is read inside the guard of the second so that a crash in either is caught.
      const bool read_a = session.load(a) && session.read(a);
      const bool read_b = session.read(b);
      if (!read_a || !read_b) return static_cast<int>(kBadInput);
      const auto found = differences(a.module.program, b.module.program, quiet_ ? 1 : limit_);
      if (!quiet_) show(session, found);
      return static_cast<int>(found.empty() ? kFine : kCheckFailed);
    });
    session.show(a.diags);
    const auto read = [&](Input& input) { return session.read(input) ? kFine : kBadInput; };
    if (!met) code = worse(code, session.each({files_[0]}, read));  // its errors are said all the same
    return code;
  }

 private:
  static void show(Session& session, const std::vector<Difference>& found) {
    const auto side = [&](char mark, const std::string& text, Span span) {
      const std::string place = session.sources().describe(span);
      return fmt::format("  {} {}{}\n", mark, text, place.empty() ? "" : "  (" + place + ")");
    };
    for (const Difference& d : found) {
      session.out() << d.path << '\n' << side('-', d.left, d.left_span) << side('+', d.right, d.right_span);
    }
  }

  unsigned limit_ = 0;
  bool quiet_ = false;
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> make_diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace pldc
