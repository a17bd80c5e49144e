// pldc list, pldc explain: the tool describes itself.
#include <fmt/ranges.h>

#include "driver/catalog.h"
#include "driver/command.h"
#include "driver/session.h"
#include "support/diag/driver.h"

namespace pldc {
namespace {

class ListCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"list",
            "passes|ops|types|enums|forms|diagnostics|targets [--json]",
            "Show what there is",
            {"pldc list passes", "pldc list ops --json", "pldc list diagnostics"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable table(app);
    table.group("Output").flag("--json", json_, "as one JSON array");
    table.files(topics_, "WHAT", "passes, ops, types, enums, forms, diagnostics or targets");
  }

  int run(Session& session) override {
    if (topics_.size() != 1)
      return session.usage_error(fmt::format("list takes one of {}", fmt::join(kListTopics, ", ")));
    const std::string& topic = topics_.front();
    const std::vector<std::string_view> all(std::begin(kListTopics), std::end(kListTopics));
    if (std::find(all.begin(), all.end(), topic) == all.end()) {
      const std::string_view guess = closest(topic, all);
      return session.usage_error(
          fmt::format("'{}' is none of {}", topic, fmt::join(kListTopics, ", ")),
          guess.empty() ? std::string() : "did you mean '" + std::string(guess) + "'?");
    }
    session.out() << (json_ ? list_json(topic) : list_text(topic));
    return kFine;
  }

 private:
  bool json_ = false;
  std::vector<std::string> topics_;
};

class ExplainCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"explain",
            "NAME...",
            "A paragraph and an example for a pass, an op or a diagnostic code",
            {"pldc explain MaterializeCommDomainScopes", "pldc explain tile.load", "pldc explain PLD0902"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable(app).files(
        names_, "NAME",
        "passes, ops, types, enumerations, forms, targets, properties, a diagnostic's code or name");
  }

  int run(Session& session) override {
    if (names_.empty())
      return session.usage_error("no NAME is given",
                                 fmt::format("`pldc list {}` shows them", fmt::join(kListTopics, "|")));
    bool first = true;
    int code = kFine;
    for (const std::string& name : names_) {
      std::string guess;
      const std::string text = explain(name, guess);
      if (text.empty()) {
        session.report<diag::unknown_topic>(
            guess.empty() ? fmt::format("`pldc list {}` shows the names", fmt::join(kListTopics, "|"))
                          : "did you mean '" + guess + "'?",
            name);
        code = kBadUsage;
        continue;
      }
      session.out() << (first ? "" : "\n") << text;
      first = false;
    }
    return code;
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<Command> make_list_command() { return std::make_unique<ListCommand>(); }
std::unique_ptr<Command> make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace pldc
