// Help texts, made from the option table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "driver/command.h"
#include "support/version.h"

namespace pldc {
namespace {

constexpr std::size_t kWidth = 80;

std::string names_of(const CLI::Option& option) {
  std::string out;
  for (const std::string& name : option.get_snames()) out += (out.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) out += (out.empty() ? "" : ", ") + spelled("--" + name);
  const std::string value = option.get_type_name();
  if (value.empty()) return out;
  if (value[0] == '[') return out + value;
  return out + (option.get_lnames().empty() || out[1] != '-' ? " " : "=") + value;
}

std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column + end > kWidth && column > indent) {
      while (!out.empty() && out.back() == ' ') out.pop_back();
      out += '\n' + std::string(indent, ' ');
      column = indent;
    }
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(end);
    if (text.empty()) break;
    text.remove_prefix(1);
    out += ' ';
    ++column;
  }
  return out;
}

std::vector<std::string> groups_of(const CLI::App& app) {
  // The subcommand's own options first: the common ones were added first and stand at the end here.
  std::vector<std::string> groups;
  for (const CLI::Option* option : app.get_options()) {
    const std::string& group = option->get_group();
    if (group.empty() || option->get_positional()) continue;
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

std::string usage_of(const CommandInfo& info) {
  return fmt::format("usage: pldc {} {}\n", info.name, info.usage);
}

std::string examples_of(const CommandInfo& info) {
  std::string out;
  for (const std::string_view example : info.examples) out += fmt::format("  {}\n", example);
  return out;
}

}  // namespace

std::string version_text() { return fmt::format("pldc {}\n", kVersion); }

std::string root_help(const std::vector<std::unique_ptr<Command>>& commands) {
  std::string out =
      "pldc: a compiler for the printed IR of PyPTO programs\nusage: pldc [SUBCOMMAND] [OPTIONS] "
      "FILE...\n\n";
  for (const auto& command : commands) {
    const CommandInfo info = command->info();
    out += fmt::format("  {:<12} {}{}\n", info.name, info.summary,
                       command == commands.front() ? " (default)" : "");
  }
  out +=
      "\nexamples:\n"
      "  pldc --dump-after=MaterializeCommDomainScopes foo.pld\n"
      "  pldc build foo.pld && foo.pldc/bin/foo --ranks 4 --in x=x.npy --out y=y.npy\n"
      "  pldc run foo.pld --ranks 4 --random --out y=-\n"
      "\n`pldc SUBCOMMAND -h`: a screen about it; `pldc help SUBCOMMAND`: all options.\n";
  return out;
}

std::string short_help(const Command& command, const CLI::App& app) {
  const CommandInfo info = command.info();
  std::string out = usage_of(info) + fmt::format("{}.\n\nexamples:\n{}\n", info.summary, examples_of(info));
  for (const std::string& group : groups_of(app)) {
    std::string line = fmt::format("{:<16}", group + ":");
    std::string names;
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group() != group || option->get_positional()) continue;
      names += (names.empty() ? "" : "  ") + names_of(*option);
    }
    out += line + wrapped(names, 16) + '\n';
  }
  return out + fmt::format("\n`pldc {} --help` explains each.\n", info.name);
}

std::string full_help(const Command& command, const CLI::App& app) {
  const CommandInfo info = command.info();
  std::string out = usage_of(info) + fmt::format("{}.\n\nexamples:\n{}", info.summary, examples_of(info));
  constexpr std::size_t kColumn = 32;
  const auto row = [&](const std::string& names, const std::string& text) {
    out += "  " + names;
    if (names.size() + 4 > kColumn) {
      out += '\n' + std::string(kColumn, ' ');
    } else {
      out += std::string(kColumn - 2 - names.size(), ' ');
    }
    out += wrapped(text, kColumn) + '\n';
  };
  bool arguments = false;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    if (!arguments) out += "\narguments:\n";
    arguments = true;
    row(option->get_single_name(), option->get_description());
  }
  for (const std::string& group : groups_of(app)) {
    out += fmt::format("\n{}:\n", group);
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group() == group && !option->get_positional())
        row(names_of(*option), option->get_description());
    }
  }
  return out +
         "\nexit codes: 0 fine, 1 wrong input, 2 wrong command line, 3 a bug in pldc,\n"
         "            4 a check failed\n"
         "environment: PLDC_FLAGS (more options), PLDC_VERIFY=each|roundtrip, NO_COLOR\n"
         "@FILE reads arguments from a file\n";
}

}  // namespace pldc
