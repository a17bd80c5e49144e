// A subcommand: its options, its help and what it does.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/options.h"

namespace pldc {

class Session;

struct CommandInfo {
  std::string_view name;
  std::string_view usage;    // behind "pldc NAME "
  std::string_view summary;  // one line
  std::vector<std::string_view> examples;
};

class Command {
 public:
  virtual ~Command() = default;
  virtual CommandInfo info() const = 0;
  virtual void add_options(CLI::App& app) = 0;
  // Checks what the option table cannot say and does the work. Returns the exit code.
  virtual int run(Session& session) = 0;
};

// In the order in which help lists them; the first is the default.
std::vector<std::unique_ptr<Command>> make_commands();

std::unique_ptr<Command> make_opt_command();
std::unique_ptr<Command> make_roundtrip_command();
std::unique_ptr<Command> make_build_command();
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_check_command();
std::unique_ptr<Command> make_fmt_command();
std::unique_ptr<Command> make_diff_command();
std::unique_ptr<Command> make_trace_command();
std::unique_ptr<Command> make_list_command();
std::unique_ptr<Command> make_explain_command();
std::unique_ptr<Command> make_reduce_command();
std::unique_ptr<Command> make_replay_command();
std::unique_ptr<Command> make_lsp_command();
std::unique_ptr<Command> make_completions_command();

// --- help
// ----------------------------------------------------------------------------------------------------------

std::string version_text();
std::string root_help(const std::vector<std::unique_ptr<Command>>& commands);
// One screen: usage, examples and the names of the options.
std::string short_help(const Command& command, const CLI::App& app);
std::string full_help(const Command& command, const CLI::App& app);

}  // namespace pldc
