// The option table: each group of options is a struct and a function that adds it to a subcommand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

// CLI11 takes seconds to compile, so only the files that look into the table include it.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pldc {

// The most ranks that --ranks takes: as many as a program that was built runs on (kMaxRanks of runtime_options.h).
inline constexpr unsigned kMaxRanks = 1024;

struct WholeNumbers {
  unsigned smallest = 0;
  unsigned largest = 999'999'999;
};

// --- helpers for declaring options
// -----------------------------------------------------------------------------

// An option just declared, for what else there is to say about it.
class OptionRef {
 public:
  explicit OptionRef(CLI::Option* option) : option_(option) {}
  // The value is one of these words.
  void one_of(std::vector<std::string> words);
  // The value is some of these words, with commas.
  void some_of(std::vector<std::string> words);
  // The value is one of these.
  void whole_number(WholeNumbers range);

 private:
  CLI::Option* option_;
};

// Thin wrapper so that every option has a value name, a help text and a group.
class OptionTable {
 public:
  explicit OptionTable(CLI::App& app) : app_(app) {}

  OptionTable& group(std::string name) {
    group_ = std::move(name);
    return *this;
  }
  OptionRef flag(const std::string& names, bool& to, const std::string& text);
  // May be repeated; counts.
  OptionRef counter(const std::string& names, int& to, const std::string& text);
  OptionRef value(const std::string& names, std::string& to, const std::string& value,
                  const std::string& text);
  OptionRef number(const std::string& names, unsigned& to, const std::string& value, const std::string& text,
                   WholeNumbers range = {});
  // Repeatable; each use takes exactly one word.
  OptionRef list(const std::string& names, std::vector<std::string>& to, const std::string& value,
                 const std::string& text);
  // --name[=VALUE]: `present` is the value when none is written.
  OptionRef optional_value(const std::string& name, std::string& to, const std::string& present,
                           const std::string& value, const std::string& text);
  // The positional arguments.
  OptionRef files(std::vector<std::string>& to, const std::string& name, const std::string& text);

 private:
  OptionRef finish(CLI::Option* option, const std::string& value);

  CLI::App& app_;
  std::string group_;
};

// How an option is written by a person: "--dump-after", "-o", "-MD" (kept as "--MD" in the table, which has
// no single-dash words).
std::string spelled(const std::string& table_name);

// --- options of every subcommand
// -------------------------------------------------------------------------------

struct CommonOptions {
  std::string dialect;
  std::string style;
  std::string diag_format = "text";
  std::string color = "auto";
  unsigned max_errors = 20;
  std::vector<std::string> warnings;
  int verbose = 0;
  bool print_options = false;
  // Handled before parsing; here so that the table is complete.
  bool version = false;
  bool short_help = false;
  bool full_help = false;
  std::string crash;  // hidden: fail on purpose, for the tests of crash files
};
void add_common_options(CLI::App& app, CommonOptions& options);

// --- options of every subcommand that runs passes
// ----------------------------------------------------------------

struct PassOptions {
  std::vector<std::string> passes;
  bool passes_given = false;
  std::string stop_after;
  std::string start_after;
  std::vector<std::string> disable;
  std::vector<std::string> values;  // "P.key=value"
  std::string verify_each;          // "", "each" or "roundtrip"
  bool no_verify = false;
  bool strict_signals = false;
  std::string timing;  // "", "text" or "json"
  bool stats = false;
};
void add_pass_options(CLI::App& app, PassOptions& options);

struct DumpOptions {
  std::vector<std::string> after;
  std::vector<std::string> before;
  bool all = false;
  bool changed = false;
  std::string directory;
  std::string function;
  bool diff = false;
};
void add_dump_options(CLI::App& app, DumpOptions& options);

}  // namespace pldc
