// pldc check: parse and verify only. pldc roundtrip: the text survives being read and printed.
#include "driver/command.h"
#include "driver/round_trip.h"
#include "driver/session.h"
#include "passes/match/match.h"
#include "passes/pass.h"
#include "passes/verify/verifiers.h"
#include "support/diag/driver.h"
#include "support/words.h"

namespace pldc {
namespace {

RoundTripCheck round_trip_of(Session& session, Input& input, bool with_bytes) {
  return {session.sources(), input.diags, session.print_options_for(input.module, true),
          with_bytes ? input.file : nullptr, "<print of " + input.file->name() + ">"};
}

// The properties named by words like "SSAForm,NoNestedCalls", which the option table has checked.
std::vector<Property> properties_named(const std::vector<std::string>& words) {
  std::vector<Property> out;
  for (const std::string& word : words) {
    for (const std::string& name : split_list(word)) {
      if (const auto property = parse_property(name)) out.push_back(*property);
    }
  }
  return out;
}

class CheckCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"check",
            "[--roundtrip] [--ranks N] [--property=NAME,...] FILE...",
            "Read and verify programs; print nothing but diagnostics",
            {"pldc check foo.pld", "pldc check --roundtrip samples/*.pld", "pldc check --ranks 4 foo.pld",
             "pldc check --property=SSAForm dump.pld", "pldc check --diag-format=json foo.pld"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable table(app);
    table.group("Checks").flag("--roundtrip", roundtrip_,
                               "also that the program survives being printed and read");
    table.number(
        "--ranks", ranks_, "N",
        "also match notifies, waits and collectives, as far as they do not depend on data, for N ranks",
        {1, kMaxRanks});
    table.number("--unroll-limit", unroll_limit_, "N",
                 "with --ranks: statements to look at, all ranks together", {1});
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kPropertyCount; ++i) names.emplace_back(name_of(static_cast<Property>(i)));
    table
        .list("--property", properties_, "NAME,...",
              "also that the program has these properties of the passes")
        .some_of(std::move(names));
    table.files(files_, "FILE", "programs; - is standard input");
  }

  int run(Session& session) override {
    if (files_.empty()) return session.usage_error("no FILE is given", "`-` is standard input");
    return session.each(files_, [&](Input& input) {
      if (!session.read(input)) return static_cast<int>(kBadInput);
      bool valid = verify_written(input.module.program, input.diags);
      if (valid) find_input_writes(input.module.program, input.diags);
      for (const Property property : properties_named(properties_)) {
        valid = verify_for_any_backend(property, input.module.program, input.diags) && valid;
      }
      if (valid && roundtrip_ && !survives_round_trip(input.module, round_trip_of(session, input, false))) {
        return static_cast<int>(kCheckFailed);
      }
      if (valid && ranks_ != 0) {
        MatchOptions match;
        match.ranks = ranks_;
        if (unroll_limit_ != 0) match.unroll_limit = unroll_limit_;
        if (!match_ranks(input.context, input.module.program, match, input.diags))
          return static_cast<int>(kBadInput);
      }
      return static_cast<int>(valid ? kFine : kBadInput);
    });
  }

 private:
  bool roundtrip_ = false;
  unsigned ranks_ = 0;
  unsigned unroll_limit_ = 0;
  std::vector<std::string> properties_;
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> make_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace pldc
