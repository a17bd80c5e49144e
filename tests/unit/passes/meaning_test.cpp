// Passes keep the meaning of programs: random nests of statements on integers give the same results before and after,
// and what comes out is in the form that the pass promises.
#include "unit/passes/meaning.h"

#include "ir/walk.h"
#include "passes/verify/verifiers.h"
#include "support/catch.h"
#include "unit/passes/golden.h"

namespace pldc {
const Program* run_InlineFunctions(PassEnv&, const Program*);
const Program* run_UnrollLoops(PassEnv&, const Program*);
const Program* run_CtrlFlowTransform(PassEnv&, const Program*);
const Program* run_ConvertToSSA(PassEnv&, const Program*);
const Program* run_FlattenCallExpr(PassEnv&, const Program*);
const Program* run_OutlineHierarchyScopes(PassEnv&, const Program*);
const Program* run_OutlineIncoreScopes(PassEnv&, const Program*);
}  // namespace pldc

namespace {

// Runs the passes on random programs and compares the values of `main` before and after.
void check_meaning(unsigned count, const meaning::NestOptions& options,
                   const std::vector<pldc::PassFunction>& passes,
                   const std::vector<golden::Verifier>& verifiers) {
  int changed = 0;
  for (unsigned seed = 0; seed < count; ++seed) {
    const std::string text = meaning::random_program(seed, options);
    pldc::SourceManager sources;
    pldc::Context context;
    pldc::DiagSink diags;
    const pldc::Module module = pldc::parse(*sources.add("nest.pld", text), context, diags);
    const pldc::PassOptionValues values;
    pldc::PassEnv env{context, diags, values};
    const pldc::Program* after = module.program;
    std::string printed;
    for (const pldc::PassFunction pass : passes) {
      if (after == nullptr) break;
      after = pass(env, after);
    }
    if (after != nullptr) {
      pldc::Module out = module;
      out.program = after;
      printed = pldc::print(out, pldc::print_options(out.style));
      for (const golden::Verifier verifier : verifiers) verifier(after, diags);
    }
    INFO("seed " << seed << "\n" << text);
    INFO(printed);
    INFO(pldc::render(diags.all(), sources, {}));
    REQUIRE(after != nullptr);
    REQUIRE_FALSE(diags.has_errors());
    changed += after != module.program ? 1 : 0;
    for (const std::int64_t n : {0, 3, -4}) {
      const auto wanted = meaning::evaluate(module.program, "main", {{n}});
      const auto found = meaning::evaluate(after, "main", {{n}});
      REQUIRE(wanted == found);
    }
  }
  CHECK(changed > static_cast<int>(count / 4));
}

void no_jump(const pldc::Program* program, pldc::DiagSink&) {
  for (const pldc::Function* f : program->functions) {
    pldc::walk_stmts(f->body, [](const pldc::Stmt* s) {
      CHECK(s->kind != pldc::StmtKind::Break);
      CHECK(s->kind != pldc::StmtKind::Continue);
    });
  }
}

const std::vector<golden::Verifier> kSsa = {pldc::verify_SSAForm, pldc::verify_UseAfterDef,
                                            pldc::verify_TypeChecked};

}  // namespace

TEST_CASE("SSA and flatten keep the meaning of random nests") {
  check_meaning(1500, {}, {pldc::run_ConvertToSSA, pldc::run_FlattenCallExpr}, kSsa);
}

TEST_CASE("InlineFunctions keeps the meaning of random programs") {
  meaning::NestOptions options;
  options.helpers = true;
  check_meaning(400, options, {pldc::run_InlineFunctions}, {pldc::verify_InlineFunctionsEliminated});
  check_meaning(400, options, {pldc::run_InlineFunctions, pldc::run_ConvertToSSA}, kSsa);
}

TEST_CASE("UnrollLoops keeps the meaning of random programs") {
  meaning::NestOptions options;
  options.unroll = true;
  check_meaning(500, options, {pldc::run_UnrollLoops}, {});
  check_meaning(500, options, {pldc::run_UnrollLoops, pldc::run_ConvertToSSA}, kSsa);
}

TEST_CASE("CtrlFlowTransform keeps the meaning of random kernels, and leaves no jump") {
  meaning::NestOptions options;
  options.kernel = true;
  options.scopes = false;
  options.jumps = true;
  check_meaning(1500, options, {pldc::run_CtrlFlowTransform}, {no_jump});
  check_meaning(1500, options, {pldc::run_CtrlFlowTransform, pldc::run_ConvertToSSA}, kSsa);
}

TEST_CASE("ConvertToSSA loses no value to a jump in other functions") {
  meaning::NestOptions options;
  options.jumps = true;
  check_meaning(1500, options, {pldc::run_ConvertToSSA}, kSsa);
}

TEST_CASE("outlining keeps the meaning of random programs") {
  meaning::NestOptions options;
  options.levels = true;
  const std::vector<pldc::PassFunction> passes = {pldc::run_ConvertToSSA, pldc::run_FlattenCallExpr,
                                                  pldc::run_OutlineHierarchyScopes,
                                                  pldc::run_OutlineIncoreScopes};
  std::vector<golden::Verifier> verifiers = kSsa;
  verifiers.push_back(pldc::verify_HierarchyOutlined);
  verifiers.push_back(pldc::verify_SplitIncoreOrch);
  check_meaning(800, options, passes, verifiers);
}
