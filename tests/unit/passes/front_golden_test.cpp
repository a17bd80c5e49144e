// The passes from InlineFunctions to OutlineClusterScopes on all programs of the reference corpus.
#include <map>

#include "support/catch.h"
#include "unit/passes/golden.h"

namespace pldc {
const Program* run_InlineFunctions(PassEnv&, const Program*);
const Program* run_UnrollLoops(PassEnv&, const Program*);
const Program* run_CtrlFlowTransform(PassEnv&, const Program*);
const Program* run_OutlineHierarchyScopes(PassEnv&, const Program*);
const Program* run_OutlineIncoreScopes(PassEnv&, const Program*);
const Program* run_OutlineClusterScopes(PassEnv&, const Program*);
}  // namespace pldc

namespace {

struct Stage {
  std::string_view name;
  pldc::PassFunction run;
  int changed;  // programs that the pass changes, at least, in the whole corpus
};
constexpr Stage kStages[] = {{"InlineFunctions", pldc::run_InlineFunctions, 6},
                             {"UnrollLoops", pldc::run_UnrollLoops, 8},
                             {"CtrlFlowTransform", pldc::run_CtrlFlowTransform, 6},
                             {"OutlineHierarchyScopes", pldc::run_OutlineHierarchyScopes, 5},
                             {"OutlineIncoreScopes", pldc::run_OutlineIncoreScopes, 80},
                             {"OutlineClusterScopes", pldc::run_OutlineClusterScopes, 14}};

// The corpus has the number of a process-wide counter in `_inline<N>` (passes.md 2.1): renumbered by first appearance.
std::string renumbered(std::string_view text) {
  constexpr std::string_view mark = "_inline";
  std::map<std::string, std::size_t> numbers;
  std::string out;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t at = text.find(mark, begin);
    if (at == std::string_view::npos) return out += text.substr(begin);
    std::size_t end = at + mark.size();
    out += text.substr(begin, end - begin);
    const std::size_t digits = end;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    const std::string number(text.substr(digits, end - digits));
    if (!number.empty()) out += std::to_string(numbers.emplace(number, numbers.size()).first->second);
    begin = end;
  }
}

}  // namespace

TEST_CASE("goldens of InlineFunctions to CtrlFlowTransform and of the outliners") {
  if (golden::corpus().empty()) return;
  const bool whole = golden::programs().size() > 300;
  for (const Stage& stage : kStages) {
    int changed = 0;
    for (const golden::Case& c : golden::cases(stage.name)) {
      if (c.error) continue;
      const golden::Result found = golden::run(c.before, {stage.run});
      INFO(stage.name << " " << c.program << "\n" << found.errors);
      CHECK(found.ok);
      if (c.exact) {
        CHECK(renumbered(found.text) == renumbered(c.after));
      } else {
        CHECK(golden::without_suffixes(found.text) == golden::without_suffixes(c.after));
      }
      changed += c.before != c.after ? 1 : 0;
    }
    CHECK((!whole || changed >= stage.changed));
  }
}

TEST_CASE("a second run of UnrollLoops, CtrlFlowTransform or an outliner changes nothing") {
  if (golden::corpus().empty()) return;
  for (const Stage& stage : kStages) {
    for (const golden::Case& c : golden::cases(stage.name)) {
      if (c.error || c.before == c.after) continue;
      const golden::Result once = golden::run(c.before, {stage.run});
      const golden::Result twice = golden::run(c.before, {stage.run, stage.run});
      INFO(stage.name << " " << c.program << "\n" << twice.errors);
      CHECK(twice.ok);
      CHECK(once.text == twice.text);
    }
  }
}
