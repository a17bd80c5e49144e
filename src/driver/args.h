// From the raw words of the command line to a subcommand and its options.
#pragma once

#include <string>
#include <vector>

#include "driver/command.h"
#include "driver/env.h"

namespace pldc {

class Session;

// Replaces each @FILE by the words in FILE. False and an error if that fails.
bool expand_response_files(std::vector<std::string>& args, std::string& file, std::string& error);

// Picks the subcommand out of `args` and removes its name. The first word that is neither an option nor the
// value of one decides: a subcommand's name, or else an input file of the default subcommand. Null and a
// diagnostic if it is neither.
Command* pick_command(std::vector<std::string>& args, const std::vector<std::unique_ptr<Command>>& commands,
                      const std::vector<std::unique_ptr<CLI::App>>& apps, std::string& unknown);

// The words of PLDC_FLAGS that mean something to the subcommand; words that only others know are dropped.
std::vector<std::string> applicable_flags(const std::vector<std::string>& words, const CLI::App& app,
                                          const std::vector<std::unique_ptr<CLI::App>>& all);

// -MD, -MF and -MT are words of their own, not -M with a value: spelled --MD ... in the table.
void normalize_spellings(std::vector<std::string>& args);

// Parses `args` (forward order). Kinds of failure are told apart so that the message can help.
struct ParseFailure {
  bool failed = false;
  std::string unknown_option;  // with a guess in `help`
  std::string message;
  std::string help;
};
ParseFailure parse_options(CLI::App& app, const std::vector<std::string>& args);

// "--passes=A,B\n": the options that differ from their defaults, in table order, and what `verify`, the value of
// PLDC_VERIFY, stands for.
std::string options_in_force(const CLI::App& app, const std::string& verify);

}  // namespace pldc
