// The command line as a whole: words to subcommand, options, work, exit code.
#include "support/diag/driver.h"

#include <CLI/CLI.hpp>

#include "driver/args.h"
#include "driver/command.h"
#include "driver/env.h"
#include "driver/session.h"
#include "support/words.h"

namespace pldc {
namespace {

// Options that count before the command line has been understood: how its errors are shown.
void take_options_for_errors(const std::vector<std::string>& args, CommonOptions& options) {
  const auto take = [&](std::size_t at, const std::string& name, std::string& to, const auto&... words) {
    std::string value;
    if (args[at] == name && at + 1 < args.size()) value = args[at + 1];
    if (args[at].rfind(name + "=", 0) == 0) value = args[at].substr(name.size() + 1);
    if (((value == words) || ...)) to = value;
  };
  for (std::size_t i = 0; i < args.size() && args[i] != "--"; ++i) {
    take(i, "--diag-format", options.diag_format, "text", "json", "sarif");
    take(i, "--color", options.color, "auto", "always", "never");
  }
}

bool asks(const std::vector<std::string>& args, std::string_view word) {
  for (const std::string& arg : args) {
    if (arg == "--") return false;
    if (arg == word) return true;
  }
  return false;
}

int fail(Session& session, int code) {
  session.finish();
  return code;
}

}  // namespace

int run_main(const std::vector<std::string>& raw, Env& env) {
  std::vector<std::string> args = raw;
  // Words of the variable stand before those of the command line, which win.
  std::vector<std::string> flags;
  const bool closed = split_words(env.variable("PLDC_FLAGS").value_or(""), flags);
  bool expanded = true;
  std::string file, error;
  CommonOptions for_errors;
  for (std::vector<std::string>* words : {&flags, &args}) {
    expanded = expanded && expand_response_files(*words, file, error);
    normalize_spellings(*words);
    take_options_for_errors(*words, for_errors);
  }
  Session early(env, for_errors, args);
  if (!closed) return fail(early, early.usage_error("PLDC_FLAGS has an open quote"));
  if (!expanded) {
    early.report<diag::bad_response_file>("", file, error);
    return fail(early, kBadUsage);
  }
  // `pldc help [SUBCOMMAND]`, as other tools have it.
  if (!args.empty() && args.front() == "help") {
    args.erase(args.begin());
    args.push_back(args.empty() ? "-h" : "--help");
  }

  const std::vector<std::unique_ptr<Command>> commands = make_commands();
  std::vector<CommonOptions> common(commands.size());
  std::vector<std::unique_ptr<CLI::App>> apps;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    auto app = std::make_unique<CLI::App>("", std::string(commands[i]->info().name));
    app->set_help_flag();
    commands[i]->add_options(*app);
    add_common_options(*app, common[i]);
    apps.push_back(std::move(app));
  }

  if (args.empty()) {
    *env.err << root_help(commands);
    return kBadUsage;
  }
  if (asks(args, "--version")) {
    *env.out << version_text();
    return kFine;
  }
  const bool wants_help = asks(args, "-h") || asks(args, "--help");
  std::string unknown;
  const std::size_t words = args.size();
  Command* command = pick_command(args, commands, apps, unknown);
  if (command == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& c : commands) names.push_back(c->info().name);
    const std::string_view guess = closest(unknown, names);
    early.report<diag::unknown_command>(
        guess.empty() ? "`pldc -h` lists the subcommands" : fmt::format("did you mean '{}'?", guess),
        unknown);
    return fail(early, kBadUsage);
  }
  std::size_t index = 0;
  while (commands[index].get() != command) ++index;
  CLI::App& app = *apps[index];
  if (wants_help) {
    const bool named = args.size() != words;
    const bool all = asks(args, "--help");
    *env.out << (!named && !all ? root_help(commands)
                 : all          ? full_help(*command, app)
                                : short_help(*command, app));
    if (!named && all) *env.out << '\n' << root_help(commands);
    return kFine;
  }

  flags = applicable_flags(flags, app, apps);
  args.insert(args.begin(), flags.begin(), flags.end());
  const ParseFailure failure = parse_options(app, args);
  if (failure.failed) {
    if (failure.unknown_option.empty()) return fail(early, early.usage_error(failure.message, failure.help));
    early.report<diag::unknown_option>(failure.help, failure.unknown_option);
    return fail(early, kBadUsage);
  }

  std::vector<std::string> recorded{std::string(command->info().name)};
  recorded.insert(recorded.end(), args.begin(), args.end());
  Session session(env, common[index], std::move(recorded));
  const std::string verify = env.variable("PLDC_VERIFY").value_or("");
  if (!verify.empty() && verify != "each" && verify != "roundtrip") {
    return fail(session, session.usage_error(fmt::format("PLDC_VERIFY is '{}'", verify),
                                             "set it to each or roundtrip, or unset it"));
  }
  if (!session.check_warning_names()) return fail(session, kBadUsage);
  if (common[index].print_options) {
    *env.out << options_in_force(app, verify);
    return kFine;
  }
  const int code = command->run(session);
  session.finish();
  return code;
}

}  // namespace pldc
