// Golden tests of messages: tests/data/errors/NAME.pld is given to pldc, and what it says on stderr, with the
// exit code, must be NAME.err. NAME.cmd holds the command line if it is not `check NAME.pld`; in it %s is the
// .pld and %t a folder for what the command writes.
//
//   golden [GLOB...]   only the cases with such names; PLDC_BLESS=1 rewrites the expectations
//
// It also checks that each declared diagnostic occurs in an expectation, or is named or quoted by a test;
// diagnostics that do not are listed in tests/data/errors/uncovered.txt, which may only shrink.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <unordered_set>

#include "cli/cli.h"
#include "support/diag.h"
#include "support/pattern.h"
#include "support/temp_dir.h"
#include "support/text_diff.h"
#include "support/words.h"

namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool blessing() {
  const char* value = std::getenv("PLDC_BLESS");
  return value != nullptr && *value != '\0' && std::string(value) != "0";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// What the case prints now. The working directory is the folder of the cases, so names are short and the same
// everywhere.
std::string actual(const fs::path& source) {
  fs::path command_file = source;
  command_file.replace_extension(".cmd");
  std::string command = fs::exists(command_file) ? content(command_file) : "check %s";
  const TempDir temporary;
  command = replaced(replaced(command, "%s", source.string()), "%t", temporary.path(""));
  std::vector<std::string> words;
  if (!pldc::split_words(command, words)) return "the .cmd file has an open quote\n";
  const Outcome outcome = run_pldc(words, build_variables(), temporary.path(""));
  return replaced(outcome.err, temporary.path(""), "%t") + "exit " + std::to_string(outcome.code) + "\n";
}

bool run_case(const fs::path& source) {
  fs::path expectation = source;
  expectation.replace_extension(".err");
  const std::string now = actual(source);
  const std::string expected = content(expectation);
  const std::string name = source.stem().string();
  if (now == expected) return true;
  if (blessing()) {
    std::ofstream(expectation, std::ios::binary) << now;
    std::cout << "blessed " << name << '\n';
    return true;
  }
  std::cout << name << ": FAILED\n"
            << pldc::unified_diff(expected, now, name + ".err", "now") << "if this is right: tools/bless "
            << name << "\n\n";
  return false;
}

// Texts that may name a diagnostic: expectations and the sources of tests.
std::string all_tests(const fs::path& root) {
  std::string text;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "tests")) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".err" || extension == ".cpp" || extension == ".h") text += content(entry.path());
  }
  return text;
}

bool word_occurs(const std::string& text, const std::string& word) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !part(text[at - 1]);
    const bool ends = at + word.size() == text.size() || !part(text[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

// Tells whether a test quotes a piece of a message, long enough to be of no other one.
class Quotes {
 public:
  explicit Quotes(const std::string& text) {
    for (std::size_t i = 0; i + kDistinct <= text.size(); ++i)
      pieces_.insert(std::string_view(text).substr(i, kDistinct));
  }
  bool has(std::string_view format) const {
    for (std::size_t i = 0; i + kDistinct <= format.size(); ++i) {
      const std::string_view piece = format.substr(i, kDistinct);
      if (piece.find_first_of("{}\"") == std::string_view::npos && pieces_.count(piece) != 0) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kDistinct = 24;
  std::unordered_set<std::string_view> pieces_;
};

bool check_coverage(const fs::path& root) {
  const std::string text = all_tests(root);
  const Quotes quotes(text);
  std::set<std::string> uncovered;
  for (const pldc::DiagInfo* kind : pldc::all_diags()) {
    const std::string name(kind->id);
    if (!word_occurs(text, pldc::diag_code(*kind)) && !word_occurs(text, name) && !quotes.has(kind->format))
      uncovered.insert(name);
  }
  const fs::path list = root / "tests/data/errors/uncovered.txt";
  std::set<std::string> allowed;
  std::ifstream in(list);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '#') allowed.insert(line);
  }
  in.close();
  bool good = true;
  std::string kept = "# Diagnostics that no test produces yet. This list may only shrink.\n";
  for (const std::string& name : uncovered) {
    if (allowed.count(name) != 0 || (blessing() && allowed.empty())) {
      kept += name + "\n";
      continue;
    }
    std::cout << "no test produces the diagnostic '" << name << "': add one in tests/data/errors\n";
    good = false;
  }
  for (const std::string& name : allowed) {
    if (uncovered.count(name) != 0 || blessing()) continue;
    std::cout << "'" << name
              << "' is covered or gone: take it out of tests/data/errors/uncovered.txt (tools/bless does)\n";
    good = false;
  }
  if (blessing()) std::ofstream(list, std::ios::binary) << kept;
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const char* root_variable = std::getenv("PLDC_SOURCE_ROOT");
  const fs::path root = root_variable != nullptr ? root_variable : ".";
  std::vector<pldc::Glob> globs;
  for (int i = 1; i < argc; ++i) globs.emplace_back(argv[i]);
  const fs::path absolute_root = fs::absolute(root);
  fs::current_path(root / "tests/data/errors");
  std::vector<fs::path> sources;
  for (const fs::directory_entry& entry : fs::directory_iterator(".")) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".pld" || extension == ".cmd") {
      sources.push_back(entry.path().filename().replace_extension(".pld"));
    }
  }
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  std::size_t passed = 0;
  std::size_t failed = 0;
  for (const fs::path& source : sources) {
    const std::string name = source.stem().string();
    const bool wanted = globs.empty() || std::any_of(globs.begin(), globs.end(),
                                                     [&](const auto& glob) { return glob.matches(name); });
    if (wanted) ++(run_case(source) ? passed : failed);
  }
  if (globs.empty()) ++(check_coverage(absolute_root) ? passed : failed);
  std::printf("%zu passed, %zu failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
