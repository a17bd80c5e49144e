#include "driver/args.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "driver/session.h"
#include "support/file.h"
#include "support/words.h"

namespace pldc {
namespace {

constexpr int kDeepest = 16;  // response files within response files

bool expand(const std::vector<std::string>& args, int depth, std::vector<std::string>& to, std::string& file,
            std::string& error) {
  for (const std::string& arg : args) {
    if (arg.size() < 2 || arg[0] != '@') {
      to.push_back(arg);
      continue;
    }
    file = arg.substr(1);
    std::string text;
    if (depth == kDeepest) {
      error = fmt::format("is the {}th within each other: it includes itself, or they are nested too deep",
                          kDeepest + 1);
      return false;
    }
    std::error_code ignored;
    if (std::filesystem::is_character_file(file, ignored)) {  // /dev/zero never ends
      error = "is a device";
      return false;
    }
    if (!read_file(file, text, error)) return false;
    std::vector<std::string> words;
    if (!split_words(text, words)) {
      error = "has an open quote";
      return false;
    }
    if (!expand(words, depth + 1, to, file, error)) return false;
  }
  return true;
}

std::string name_of(const std::string& word) { return word.substr(0, word.find('=')); }

// The option that a word of the command line names, or null.
const CLI::Option* option_of(const CLI::App& app, const std::string& word) {
  if (word.size() < 2 || word[0] != '-') return nullptr;
  if (word[1] == '-') return app.get_option_no_throw(name_of(word));
  return app.get_option_no_throw(word.substr(0, 2));
}

// "--cxxflags=$CXXFLAGS" of a Makefile, where it is not set. Elsewhere such a variable is a slip: what it should have
// named would be left out without a word.
bool may_be_empty(const CLI::Option& option) { return option.check_lname("cxxflags"); }

ParseFailure empty_value(const std::string& option) {
  ParseFailure failure;
  failure.failed = true;
  failure.message = "option '" + option + "' is given an empty value";
  failure.help = "leave it out for its default";
  return failure;
}

bool takes_next_word(const CLI::App& app, const std::string& word) {
  const CLI::Option* option = option_of(app, word);
  if (option == nullptr || option->get_items_expected_min() == 0) return false;
  return word[1] == '-' ? word.find('=') == std::string::npos : word.size() == 2;
}

}  // namespace

bool expand_response_files(std::vector<std::string>& args, std::string& file, std::string& error) {
  std::vector<std::string> out;
  if (!expand(args, 0, out, file, error)) return false;
  args = std::move(out);
  return true;
}

Command* pick_command(std::vector<std::string>& args, const std::vector<std::unique_ptr<Command>>& commands,
                      const std::vector<std::unique_ptr<CLI::App>>& apps, std::string& unknown) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& word = args[i];
    if (word == "--") break;
    if (word.size() > 1 && word[0] == '-') {
      // Before the subcommand is known an option is looked up in all tables: options of one name are alike.
      const bool skip =
          std::any_of(apps.begin(), apps.end(), [&](const auto& app) { return takes_next_word(*app, word); });
      if (skip) ++i;
      continue;
    }
    for (const auto& command : commands) {
      if (command->info().name != word) continue;
      args.erase(args.begin() + static_cast<std::ptrdiff_t>(i));
      return command.get();
    }
    // A word that looks like a file is one, even if it does not exist: the message is about the file then.
    const bool like_file = word.find_first_of("./-") != std::string::npos || file_exists(word);
    if (like_file) break;
    unknown = word;
    return nullptr;
  }
  return commands.front().get();
}

std::vector<std::string> applicable_flags(const std::vector<std::string>& words, const CLI::App& app,
                                          const std::vector<std::unique_ptr<CLI::App>>& all) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    bool with_value = false;
    bool elsewhere = false;
    for (const auto& other : all) {
      with_value = with_value || takes_next_word(*other, word);
      elsewhere = elsewhere || option_of(*other, word) != nullptr;
    }
    const bool here = option_of(app, word) != nullptr;
    if (here || !elsewhere) out.push_back(word);  // unknown everywhere: let the parser complain
    if (with_value && i + 1 < words.size()) {
      ++i;
      if (here) out.push_back(words[i]);
    }
  }
  return out;
}

void normalize_spellings(std::vector<std::string>& args) {
  for (std::string& arg : args) {
    if (arg == "--") return;
    if (arg == "-MD" || arg == "-MF" || arg == "-MT") arg.insert(0, "-");
  }
}

ParseFailure parse_options(CLI::App& app, const std::vector<std::string>& args) {
  ParseFailure failure;
  std::vector<std::string> words;
  for (auto word = args.begin(); word != args.end(); ++word) {
    if (*word == "--") {  // only files follow; "./" keeps a dash in front from looking like an option
      for (++word; word != args.end(); ++word) {
        words.push_back(word->size() > 1 && (*word)[0] == '-' ? "./" + *word : *word);
      }
      break;
    }
    if (word->size() > 3 && word->substr(0, 2) == "--" && word->find('=') == word->size() - 1) {
      // The parser would take the next word for the value that is empty here.
      const CLI::Option* option = option_of(app, *word);
      if (option != nullptr && may_be_empty(*option)) continue;
      if (option != nullptr && option->get_items_expected_min() != 0) {
        return empty_value(word->substr(0, word->size() - 1));
      }
    }
    words.push_back(*word);
  }
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.allow_extras();
    app.parse(reversed);
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_positional() || may_be_empty(*option)) continue;
      for (const std::string& value : option->results()) {
        if (value.empty()) return empty_value(spelled(option->get_name()));
      }
    }
    const std::vector<std::string> extras = app.remaining();
    if (extras.empty()) return failure;
    failure.failed = true;
    const std::string& word = extras.front();
    if (word.size() < 2 || word[0] != '-') {
      failure.message = "unexpected argument '" + word + "'";
      return failure;
    }
    failure.unknown_option = name_of(word);
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group().empty()) continue;
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    const std::string_view guess = closest(failure.unknown_option, candidates);
    failure.help = guess.empty() ? "`pldc " + app.get_name() + " --help` lists the options"
                                 : fmt::format("did you mean '{}'?", guess);
  } catch (const CLI::ParseError& e) {
    failure.failed = true;
    failure.message = e.what();
  }
  return failure;
}

std::string options_in_force(const CLI::App& app, const std::string& verify) {
  std::string out;
  const auto given = [&](const char* name) {
    const CLI::Option* option = app.get_option_no_throw(name);
    return option == nullptr || option->count() != 0;
  };
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_positional() || option->get_name() == "--print-options") continue;
    const std::string name = spelled(option->get_lnames().empty() ? "-" + option->get_snames().front()
                                                                  : "--" + option->get_lnames().front());
    const bool plain_flag = option->get_items_expected_max() == 0 && option->get_type_name().empty();
    for (const std::string& value : option->reduced_results()) {
      if (value == option->get_default_str()) continue;
      const std::string separator = name.size() == 2 ? " " : "=";
      out += plain_flag ? name : name + separator + quote_word(value);
      out += '\n';
    }
  }
  if (!verify.empty() && !given("--verify-each") && !given("--no-verify"))
    out += "--verify-each=" + verify + "\n";
  return out;
}

}  // namespace pldc
