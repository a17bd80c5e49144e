#include "driver/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "support/diag.h"

namespace pldc {

OptionRef OptionTable::finish(CLI::Option* option, const std::string& value) {
  option->group(group_);
  if (!value.empty()) option->type_name(value);
  return OptionRef(option);
}

OptionRef OptionTable::flag(const std::string& names, bool& to, const std::string& text) {
  return finish(app_.add_flag(names, to, text)->disable_flag_override(), "");
}

OptionRef OptionTable::counter(const std::string& names, int& to, const std::string& text) {
  return finish(app_.add_flag(names, to, text), "");
}

OptionRef OptionTable::value(const std::string& names, std::string& to, const std::string& value,
                             const std::string& text) {
  // The last one wins, so that an option can be added to a command line that a script has made.
  return finish(app_.add_option(names, to, text)->capture_default_str()->take_last(), value);
}

OptionRef OptionTable::number(const std::string& names, unsigned& to, const std::string& value,
                              const std::string& text, WholeNumbers range) {
  OptionRef option = finish(app_.add_option(names, to, text)->capture_default_str()->take_last(), value);
  option.whole_number(range);
  return option;
}

OptionRef OptionTable::list(const std::string& names, std::vector<std::string>& to, const std::string& value,
                            const std::string& text) {
  return finish(app_.add_option(names, to, text)->allow_extra_args(false), value);
}

OptionRef OptionTable::optional_value(const std::string& name, std::string& to, const std::string& present,
                                      const std::string& value, const std::string& text) {
  return finish(app_.add_flag(name + "{" + present + "}", to, text)->take_last(), "[=" + value + "]");
}

OptionRef OptionTable::files(std::vector<std::string>& to, const std::string& name, const std::string& text) {
  return finish(app_.add_option(name, to, text), "");
}

namespace {

// What is wrong with a word that should be one of some; empty: nothing.
std::string not_among(const std::vector<std::string>& words, const std::string& word) {
  std::string all;
  std::vector<std::string_view> candidates;
  for (const std::string& w : words) {
    if (w == word) return {};
    all += (all.empty() ? "" : ", ") + w;
    candidates.push_back(w);
  }
  const std::string_view guess = closest(word, candidates);
  return "'" + word + "' is none of " + all +
         (guess.empty() ? std::string() : "; did you mean '" + std::string(guess) + "'?");
}

// Named by the words, for the completions; a description would show in help.
std::string choices(const std::vector<std::string>& words) {
  std::string all = "one of";
  for (const std::string& word : words) all += " " + word;
  return all;
}

}  // namespace

void OptionRef::one_of(std::vector<std::string> words) {
  const std::string name = choices(words);
  option_->check(CLI::Validator(
      [words = std::move(words)](std::string& word) { return not_among(words, word); }, "", name));
}

void OptionRef::some_of(std::vector<std::string> words) {
  const std::string name = choices(words);
  option_->check(CLI::Validator(
      [words = std::move(words)](std::string& list) {
        for (std::size_t at = 0;;) {
          const std::size_t end = list.find(',', at);
          std::string wrong = not_among(words, list.substr(at, end == std::string::npos ? end : end - at));
          if (!wrong.empty() || end == std::string::npos) return wrong;
          at = end + 1;
        }
      },
      "", name));
}

void OptionRef::whole_number(WholeNumbers range) {
  option_->check(CLI::Validator(
      [range](std::string& word) {
        const bool digits =
            !word.empty() && word.size() <= 9 && word.find_first_not_of("0123456789") == std::string::npos;
        const unsigned long number = digits ? std::stoul(word) : 0;
        if (digits && number >= range.smallest && number <= range.largest) return std::string();
        return fmt::format("'{}' is no whole number from {} to {}", word, range.smallest, range.largest);
      },
      ""));
}

std::string spelled(const std::string& table_name) {
  return table_name == "--MD" || table_name == "--MF" || table_name == "--MT" ? table_name.substr(1)
                                                                              : table_name;
}

void add_common_options(CLI::App& app, CommonOptions& options) {
  OptionTable table(app);
  table.group("Text")
      .value("--dialect", options.dialect, "dump|legacy", "dialect of the IR that is printed")
      .one_of({"dump", "legacy"});
  table
      .value("--style", options.style, "STYLE",
             "printed, concise or explicit: how much of the types is printed")
      .one_of({"printed", "concise", "explicit"});
  table.group("Diagnostics")
      .value("--diag-format", options.diag_format, "FORMAT", "text, json (one object a line) or sarif")
      .one_of({"text", "json", "sarif"});
  table.value("--color", options.color, "WHEN", "auto, always or never; auto obeys NO_COLOR")
      .one_of({"auto", "always", "never"});
  table.number("--max-errors", options.max_errors, "N", "stop reading after N errors; 0: never (default 20)");
  table.list("-W", options.warnings, "NAME",
             "NAME or no-NAME: warning on or off; error: warnings are errors");
  table.group("General").counter("-v,--verbose", options.verbose,
                                 "say on stderr what is done; twice: in detail");
  table.flag("--print-options", options.print_options,
             "print the options in force that differ from their defaults, and stop");
  table.flag("--version", options.version, "print the version and stop");
  table.flag("-h", options.short_help, "one screen of help, with examples");
  table.flag("--help", options.full_help, "all options");
  table.group("").value("--crash", options.crash, "HOW", "").one_of({"check", "memory", "signal", "stack"});
}

void add_pass_options(CLI::App& app, PassOptions& options) {
  OptionTable table(app);
  table.group("Passes").list("--passes", options.passes, "A,B,...",
                             "exactly these passes in this order; globs, !C removes, NONE is the empty list");
  table.value("--stop-after", options.stop_after, "P", "end after pass P");
  table.value("--start-after", options.start_after, "P",
              "begin behind pass P: the input is a dump made there");
  table.list("--disable-pass", options.disable, "P", "leave pass P out");
  table.list("--pass-option", options.values, "P.key=value", "set an option of a pass");
  table.flag("--strict-signals", options.strict_signals, "reject every host allreduce in a loop");
  table.group("Verification")
      .optional_value("--verify-each", options.verify_each, "each", "roundtrip",
                      "verify after each pass; roundtrip: print, read and compare too")
      .one_of({"each", "roundtrip"});
  table.flag("--no-verify", options.no_verify, "no verification at all (default: the input and the end)");
  table.group("Reports")
      .optional_value("--timing", options.timing, "text", "json", "time and memory of each pass, on stderr")
      .one_of({"text", "json"});
  table.flag("--stats", options.stats, "counts of functions, statements, domains and collectives, on stderr");
}

void add_dump_options(CLI::App& app, DumpOptions& options) {
  OptionTable table(app);
  table.group("Dumps").list("--dump-after", options.after, "P[,Q...]",
                            "print the IR after these passes; one dump and no -o: to stdout, and stop there");
  table.list("--dump-before", options.before, "P[,Q...]", "the same, before");
  table.flag("--dump-all", options.all, "print the IR at the start and after every pass");
  table.flag("--dump-changed", options.changed, "the same, after every pass that changed something");
  table.value("--dump-dir", options.directory, "D", "write dumps to D/NN_after_P.pld, with D/index.json");
  table.value("--dump-func", options.function, "GLOB", "only the functions with such names");
  table.flag("--diff", options.diff, "for each pass that changed something a unified diff of the printed IR");
}

}  // namespace pldc
