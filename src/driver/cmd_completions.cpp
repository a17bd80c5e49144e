// pldc completions: shell completions out of the option table.
#include <CLI/CLI.hpp>

#include "driver/catalog.h"
#include "driver/command.h"
#include "driver/session.h"

namespace pldc {
namespace {

struct Words {
  std::string name;
  std::string summary;
  struct Option {
    std::string name;  // as written: "--dump-after", "-o"
    std::string text;
    bool value;
    std::string choices;  // the values, with spaces between; empty: a file or any text
  };
  std::vector<Option> options;
  std::string arguments;  // what stands instead of files, in the same way
};

std::string pass_names() {
  std::string out;
  for (const PassInfo& pass : all_passes()) out += (out.empty() ? "" : " ") + std::string(pass.name);
  return out;
}

std::string arguments_of(std::string_view command) {
  if (command == "completions") return "bash zsh fish";
  std::string out = command == "explain" ? pass_names() : "";
  if (command == "explain") {
    for (const OpInfo* op : all_ops()) out += " " + std::string(op->name);
    for (const DiagInfo* kind : all_diags()) out += " " + diag_code(*kind);
  } else if (command == "list") {
    for (const std::string_view topic : kListTopics) out += (out.empty() ? "" : " ") + std::string(topic);
  }
  return out;
}

std::string warning_words() {
  std::string out = "error no-error";
  for (const DiagInfo* kind : all_diags()) {
    if (kind->severity == Severity::Warning) out += fmt::format(" {0} no-{0}", kind->id);
  }
  return out;
}

// The words that OptionRef::one_of allows, or the passes or warnings where the option takes them.
std::string choices_of(CLI::Option& option) {
  constexpr std::string_view kOneOf = "one of ";
  const std::string kind = option.get_type_name();
  if (kind == "P" || kind == "P[,Q...]" || kind == "A,B,...") return pass_names();
  if (option.check_name("-W")) return warning_words();
  try {
    const std::string name = option.get_validator(0)->get_name();
    if (name.rfind(kOneOf, 0) == 0) return name.substr(kOneOf.size());
  } catch (const CLI::OptionNotFound&) {
  }
  return {};
}

// A copy of the command line's table: the real one is in use while this runs.
std::vector<Words> table() {
  std::vector<Words> out;
  for (const auto& command : make_commands()) {
    CLI::App app;
    app.set_help_flag();
    CommonOptions common;
    command->add_options(app);
    add_common_options(app, common);
    Words words{std::string(command->info().name),
                std::string(command->info().summary),
                {},
                arguments_of(command->info().name)};
    for (CLI::Option* option : app.get_options({})) {
      if (option->get_group().empty() || option->get_positional()) continue;
      const bool value = option->get_items_expected_min() > 0;
      const std::string choices = choices_of(*option);
      for (const std::string& name : option->get_snames())
        words.options.push_back({"-" + name, option->get_description(), value, choices});
      for (const std::string& name : option->get_lnames()) {
        words.options.push_back({spelled("--" + name), option->get_description(), value, choices});
      }
    }
    out.push_back(std::move(words));
  }
  return out;
}

std::string joined_options(const Words& words) {
  std::string out;
  for (const Words::Option& option : words.options) {
    const bool is_long = option.name.size() > 2 && option.name[1] == '-';
    out += (out.empty() ? "" : " ") + option.name + (option.value && is_long ? "=" : "");
  }
  return out;
}

std::string bash(const std::vector<Words>& commands) {
  std::string names;
  std::string patterns;  // a word that is one: values of options are not
  std::string cases;
  std::string values;
  const std::string passes = pass_names();
  for (const Words& words : commands) {
    names += (names.empty() ? "" : " ") + words.name;
    patterns += (patterns.empty() ? "" : "|") + words.name;
    cases += fmt::format("    {}) options=\"{}\" arguments=\"{}\" ;;\n", words.name, joined_options(words),
                         words.arguments);
    for (const Words::Option& option : words.options) {
      if (option.choices.empty()) continue;
      values += fmt::format("    {}:{}) values=\"{}\" ;;\n", words.name, option.name,
                            option.choices == passes ? "$passes" : option.choices);
    }
  }
  return fmt::format(
      "# bash completion for pldc; made by `pldc completions bash`\n"
      "_pldc() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" command={} options arguments values option= begin= "
      "word\n"
      "  local passes=\"{}\"\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case \"$word\" in {}) command=\"$word\"; break ;; esac\n"
      "  done\n"
      "  case \"$command\" in\n{}"
      "    *) options=\"\" ;;\n"
      "  esac\n"
      "  # A value: '--name value', '--name=value' in one word, or in three where '=' breaks words.\n"
      "  option=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  case \"$current\" in\n"
      "    =) current= ;;\n"
      "    --*=*) option=\"${{current%%=*}}\" begin=\"${{current%%=*}}=\" current=\"${{current#*=}}\" ;;\n"
      "    *) [[ $option == = && COMP_CWORD -gt 1 ]] && option=\"${{COMP_WORDS[COMP_CWORD-2]}}\" ;;\n"
      "  esac\n"
      "  case \"$command:$option\" in\n{}"
      "  esac\n"
      "  # The last of several values with commas between.\n"
      "  if [[ -n \"$values\" && \"$current\" == *,* ]]; then\n"
      "    begin+=\"${{current%,*}},\" current=\"${{current##*,}}\"\n"
      "  fi\n"
      "  if [[ ${{COMP_WORDS[1]}} == help ]]; then\n"
      "    COMPREPLY=($(compgen -W \"{}\" -- \"$current\"))\n"
      "  elif [[ -n \"$values\" && \"$current\" != -* ]]; then\n"
      "    COMPREPLY=($(compgen -P \"$begin\" -W \"$values\" -- \"$current\"))\n"
      "  elif [[ \"$current\" == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
      "    [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace\n"
      "  else\n"
      "    if [[ -n \"$arguments\" && -z \"$begin\" ]]; then\n"
      "      COMPREPLY=($(compgen -W \"$arguments\" -- \"$current\"))\n"
      "    else\n"
      "      COMPREPLY=($(compgen -P \"$begin\" -f -- \"$current\"))\n"
      "    fi\n"
      "    [[ $COMP_CWORD -eq 1 ]] && COMPREPLY+=($(compgen -W \"{} help\" -- \"$current\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _pldc pldc\n",
      commands.front().name, passes, patterns, cases, values, names, names);
}

std::string quoted(std::string text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (special.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string zsh_values(const std::string& choices) {
  return choices.empty() ? "_files" : "(" + choices + ")";
}

std::string zsh(const std::vector<Words>& commands) {
  std::string described;
  std::string cases;
  for (const Words& words : commands) {
    described += fmt::format("    '{}:{}'\n", words.name, quoted(words.summary, ""));
    cases += fmt::format("    {}) _arguments", words.name);
    for (const Words::Option& option : words.options) {
      const bool is_long = option.name.size() > 2 && option.name[1] == '-';
      const char* suffix = option.value ? (is_long ? "=" : "+") : "";
      cases += fmt::format(" \\\n      '*{}{}[{}]{}'", option.name, suffix, quoted(option.text, "[]:"),
                           option.value ? ":value:" + zsh_values(option.choices) : "");
    }
    cases += fmt::format(" \\\n      '*:file:{}' ;;\n", zsh_values(words.arguments));
  }
  return fmt::format(
      "#compdef pldc\n"
      "# zsh completion for pldc; made by `pldc completions zsh`\n"
      "_pldc() {{\n"
      "  local -a commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
      "    _describe subcommand commands\n"
      "    _files\n"
      "    return\n"
      "  fi\n"
      "  local command=${{words[2]}}\n"
      "  (( $+commands )) && [[ -z ${{(M)commands:#$command:*}} ]] && command={}\n"
      "  case $command in\n{}"
      "  esac\n"
      "}}\n"
      "_pldc \"$@\"\n",
      described, commands.front().name, cases);
}

std::string fish(const std::vector<Words>& commands) {
  std::string out = "# fish completion for pldc; made by `pldc completions fish`\n";
  std::string names;
  for (const Words& words : commands) names += (names.empty() ? "" : " ") + words.name;
  for (const Words& words : commands) {
    out += fmt::format("complete -c pldc -n '__fish_use_subcommand' -a {} -d '{}'\n", words.name,
                       quoted(words.summary, ""));
  }
  for (const Words& words : commands) {
    // The default subcommand's options complete where no other subcommand is named.
    std::string when = "__fish_seen_subcommand_from " + words.name;
    if (&words == &commands.front()) {
      std::string others;
      for (const Words& other : commands) others += &other == &words ? "" : " " + other.name;
      when = "not __fish_seen_subcommand_from" + others;
    }
    for (const Words::Option& option : words.options) {
      const bool is_long = option.name.size() > 2 && option.name[1] == '-';
      const std::string kind = is_long                   ? "-l " + option.name.substr(2)
                               : option.name.size() == 2 ? "-s " + option.name.substr(1)
                                                         : "-o " + option.name.substr(1);
      const std::string value = !option.value            ? ""
                                : option.choices.empty() ? " -r"
                                                         : " -x -a '" + option.choices + "'";
      out +=
          fmt::format("complete -c pldc -n '{}' {}{} -d '{}'\n", when, kind, value, quoted(option.text, ""));
    }
    if (!words.arguments.empty())
      out += fmt::format("complete -c pldc -n '{}' -f -a '{}'\n", when, words.arguments);
  }
  return out;
}

class CompletionsCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"completions",
            "bash|zsh|fish",
            "Shell completions out of the option table",
            {"mkdir -p ~/.local/share/bash-completion/completions",
             "pldc completions bash > ~/.local/share/bash-completion/completions/pldc",
             "pldc completions zsh > \"${fpath[1]}/_pldc\"",
             "pldc completions fish > ~/.config/fish/completions/pldc.fish"}};
  }
  void add_options(CLI::App& app) override { OptionTable(app).files(shells_, "SHELL", "bash, zsh or fish"); }
  int run(Session& session) override {
    const std::string shell = shells_.size() == 1 ? shells_.front() : std::string();
    const auto write = shell == "bash" ? bash : shell == "zsh" ? zsh : shell == "fish" ? fish : nullptr;
    if (write == nullptr) return session.usage_error("completions takes one of bash, zsh, fish");
    session.out() << write(table());
    return kFine;
  }

 private:
  std::vector<std::string> shells_;
};

}  // namespace

std::unique_ptr<Command> make_completions_command() { return std::make_unique<CompletionsCommand>(); }

}  // namespace pldc
