// Simplify: every rule, the statements, dead code, and all programs of the reference corpus.
#include "support/catch.h"
#include "unit/passes/golden.h"

namespace pldc {
const Program* run_Simplify(PassEnv&, const Program*);
}  // namespace pldc

using namespace golden;

TEST_CASE("Simplify: every program of the corpus gives the reference's text, at both places of the pipeline") {
  if (corpus().empty()) return;
  for (const int occurrence : {0, 1}) {
    int compared = 0;
    CHECK(compare_all("Simplify", pldc::run_Simplify, compared, occurrence) == "");
    CHECK(compared > 0);
  }
}
