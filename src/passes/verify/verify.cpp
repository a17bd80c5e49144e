#include "passes/verify/verifiers.h"

namespace pldc {

namespace {

using Verifier = void (*)(const Program*, DiagSink&);

constexpr Verifier kVerifiers[] = {
#define PLDC_PROPERTY(id, checked, doc) &verify_##id,
#include "passes/properties.def"
#undef PLDC_PROPERTY
};
static_assert(std::size(kVerifiers) == kPropertyCount);

constexpr Property kInput[] = {
    Property::TypeChecked,   Property::BreakContinueValid,     Property::NoRedundantBlocks,
    Property::InOutUseValid, Property::ManualDepsOnSubmitOnly, Property::AtomicAddDtypeValid};

}  // namespace

bool verify(Property property, const Program* program, DiagSink& diags) {
  const std::uint32_t errors = diags.error_count();
  kVerifiers[static_cast<std::size_t>(property)](program, diags);
  return diags.error_count() == errors;
}

bool verify_for_any_backend(Property property, const Program* program, DiagSink& diags) {
  const std::uint32_t errors = diags.error_count();
  if (property == Property::AtomicAddDtypeValid) find_bf16_atomic_adds(program, diags);
  return verify(property, program, diags) && diags.error_count() == errors;
}

PropertySet properties_of(const Program* program) {
  PropertySet held;
  for (std::size_t i = 0; i < kPropertyCount; ++i) {
    DiagSink scratch;
    const auto property = static_cast<Property>(i);
    if (verify(property, program, scratch)) held.add({property});
  }
  return held;
}

bool verify_input(const Program* program, DiagSink& diags) {
  bool fine = verify_callees(program, diags);
  for (const Property property : kInput) fine = verify(property, program, diags) && fine;
  return fine;
}

bool verify_written(const Program* program, DiagSink& diags) {
  bool fine = verify_input(program, diags);
  for (const Property property : {Property::NoNestedInCore, Property::PipelineLoopValid})
    fine = verify(property, program, diags) && fine;
  for (const Function* f : program->functions) fine = check_returns(f, diags) && fine;
  fine = check_launch_scopes(program, diags) && fine;
  fine = check_host_collectives(program, diags) && fine;
  if (!fine) return false;  // a yield in the wrong place makes others look wrong
  const std::uint32_t errors = diags.error_count();
  for (const Function* f : program->functions) check_yields(f, diags);
  return diags.error_count() == errors;
}

}  // namespace pldc
