// Golden tests of messages: tests/data/errors/NAME.pld is given to pldc, and what it says on stderr, with the
// exit code, must be NAME.err. NAME.cmd holds the command line if it is not `check NAME.pld`; in it %s is the
// .pld and %t a folder for what the command writes.
//
//   golden [GLOB...]   only the cases with such names; PLDC_BLESS=1 rewrites the expectations
//
// It also checks that each declared diagnostic occurs in an expectation.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "cli/cli.h"
#include "driver/example.h"
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

// Each declared diagnostic is shown by a case, which `pldc explain` shows in turn (tools/embed_examples).
bool check_coverage() {
  std::string text;
  for (const fs::directory_entry& entry : fs::directory_iterator(".")) {
    if (entry.path().extension() == ".err") text += content(entry.path());
  }
  bool good = true;
  std::set<unsigned> explained;
  for (const pldc::DiagExample& example : pldc::diag_examples()) explained.insert(example.code);
  for (const pldc::DiagInfo* kind : pldc::all_diags()) {
    const std::string code = pldc::diag_code(*kind);
    if (text.find(code) == std::string::npos) {
      std::cout << "no case shows " << code << " (" << kind->id << "): add one in tests/data/errors\n";
      good = false;
    } else if (explained.count(kind->code) == 0) {
      std::cout << "`pldc explain " << code
                << "` shows no example: tools/embed_examples takes none of the cases\n";
      good = false;
    }
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const char* root_variable = std::getenv("PLDC_SOURCE_ROOT");
  const fs::path root = root_variable != nullptr ? root_variable : ".";
  std::vector<pldc::Glob> globs;
  for (int i = 1; i < argc; ++i) globs.emplace_back(argv[i]);
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
  if (globs.empty()) ++(check_coverage() ? passed : failed);
  std::printf("%zu passed, %zu failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
