#include "driver/command.h"

namespace pldc {

std::vector<std::unique_ptr<Command>> make_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_opt_command());
  commands.push_back(make_build_command());
  commands.push_back(make_run_command());
  commands.push_back(make_roundtrip_command());
  commands.push_back(make_check_command());
  commands.push_back(make_fmt_command());
  commands.push_back(make_diff_command());
  commands.push_back(make_trace_command());
  commands.push_back(make_list_command());
  commands.push_back(make_explain_command());
  commands.push_back(make_reduce_command());
  commands.push_back(make_replay_command());
  commands.push_back(make_lsp_command());
  commands.push_back(make_completions_command());
  return commands;
}

}  // namespace pldc
