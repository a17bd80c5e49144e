// Prints a table of pass by program: does each pass, given the reference's text before it, print the reference's text
// after it? See tools/conformance for the options.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>

#include "unit/passes/golden.h"

namespace {

struct Totals {
  int equal = 0;
  int differs = 0;
  int listed = 0;
  int stale = 0;
  int not_applicable = 0;
  int& of(golden::Verdict verdict) {
    switch (verdict) {
      case golden::Verdict::Equal:
        return equal;
      case golden::Verdict::Differs:
        return differs;
      case golden::Verdict::Listed:
        return listed;
      case golden::Verdict::Stale:
        return stale;
      case golden::Verdict::NotApplicable:
        break;
    }
    return not_applicable;
  }
  void add(const Totals& other) {
    equal += other.equal;
    differs += other.differs;
    listed += other.listed;
    stale += other.stale;
    not_applicable += other.not_applicable;
  }
};

std::string_view word_for(golden::Verdict verdict) {
  switch (verdict) {
    case golden::Verdict::Equal:
      return "equal";
    case golden::Verdict::Differs:
      return "DIFFERS";
    case golden::Verdict::Listed:
      return "differs (listed)";
    case golden::Verdict::Stale:
      return "EQUAL, BUT LISTED";
    case golden::Verdict::NotApplicable:
      break;
  }
  return "not applicable";
}

void print_row(std::string_view name, const Totals& t) {
  fmt::print("{:<34}{:>7}{:>9}{:>8}{:>7}{:>16}\n", name, t.equal, t.differs, t.listed, t.stale,
             t.not_applicable);
}

}  // namespace

int main(int argc, char** argv) {
  bool each = false;
  bool diffs = false;
  std::vector<std::string_view> wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--programs") {
      each = true;
    } else if (arg == "--diff") {
      diffs = true;
    } else if (arg.starts_with("-")) {
      fmt::print(stderr, "usage: conformance [--programs] [--diff] [PASS...]\n");
      return 2;
    } else if (pldc::find_pass(arg) == nullptr) {
      fmt::print(stderr, "conformance: there is no pass '{}' here\n", arg);
      return 2;
    } else {
      wanted.push_back(arg);
    }
  }
  if (golden::programs().empty()) {
    fmt::print(stderr, "conformance: there is no corpus at '{}'\n", golden::corpus());
    return 2;
  }
  fmt::print("{:<34}{:>7}{:>9}{:>8}{:>7}{:>16}\n", "pass", "equal", "differs", "listed", "stale",
             "not applicable");
  Totals all;
  std::map<std::string_view, int> seen;
  for (const pldc::PipelineEntry& entry : pldc::default_pipeline()) {
    const int occurrence = seen[entry.name]++;
    if (entry.pass == nullptr) continue;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), entry.name) == wanted.end()) continue;
    Totals row;
    const std::string label = fmt::format("{:02} {}", entry.number, entry.name);
    for (const golden::Comparison& c : golden::compare(entry.name, entry.pass->run, occurrence)) {
      ++row.of(c.verdict);
      const bool wrong = c.verdict == golden::Verdict::Differs || c.verdict == golden::Verdict::Stale;
      if (each || (diffs && wrong)) fmt::print("  {:<44}{}\n", c.program, word_for(c.verdict));
      if (diffs && wrong) fmt::print("{}", c.report);
    }
    print_row(label, row);
    all.add(row);
  }
  print_row("total", all);
  return all.differs != 0 || all.stale != 0 ? 1 : 0;
}
