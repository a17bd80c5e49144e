// The passes from InlineFunctions to ConvertTensorToTileOps on all programs of the reference corpus.
#include "support/catch.h"
#include "unit/passes/golden.h"

namespace pldc {
const Program* run_InlineFunctions(PassEnv&, const Program*);
const Program* run_UnrollLoops(PassEnv&, const Program*);
const Program* run_CtrlFlowTransform(PassEnv&, const Program*);
const Program* run_OutlineHierarchyScopes(PassEnv&, const Program*);
const Program* run_OutlineIncoreScopes(PassEnv&, const Program*);
const Program* run_OutlineClusterScopes(PassEnv&, const Program*);
const Program* run_ConvertTensorToTileOps(PassEnv&, const Program*);
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
                             {"OutlineClusterScopes", pldc::run_OutlineClusterScopes, 14},
                             {"ConvertTensorToTileOps", pldc::run_ConvertTensorToTileOps, 110}};

}  // namespace

TEST_CASE("goldens of InlineFunctions to CtrlFlowTransform, of the outliners and the conversion to tiles") {
  if (golden::corpus().empty()) return;
  const bool whole = golden::programs().size() > 300;
  for (const Stage& stage : kStages) {
    int compared = 0;
    const std::string report = golden::compare_all(stage.name, stage.run, compared);
    INFO(stage.name << "\n" << report);
    CHECK(report.empty());
    int changed = 0;
    for (const golden::Case& c : golden::cases(stage.name))
      changed += !c.error && c.before != c.after ? 1 : 0;
    CHECK((!whole || changed >= stage.changed));
  }
}

TEST_CASE("a second run of UnrollLoops, CtrlFlowTransform, an outliner or the conversion changes nothing") {
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
