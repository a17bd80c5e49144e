#include <array>

#include "passes/pass.h"

namespace pldc {

#define PLDC_PASS(id, ...) const Program* run_##id(PassEnv& env, const Program* program);
#include "passes/passes.def"
#undef PLDC_PASS

namespace {

constexpr std::array<std::string_view, kPropertyCount> kPropertyNames = {
#define PLDC_PROPERTY(id, checked, doc) #id,
#include "passes/properties.def"
#undef PLDC_PROPERTY
};

}  // namespace

std::string_view name_of(Property property) { return kPropertyNames[static_cast<std::size_t>(property)]; }

std::optional<Property> parse_property(std::string_view name) {
  for (std::size_t i = 0; i < kPropertyCount; ++i) {
    if (kPropertyNames[i] == name) return static_cast<Property>(i);
  }
  return std::nullopt;
}

const std::vector<PassInfo>& all_passes() {
  static const std::vector<PassInfo> passes = {
#define PLDC_PASS(id, summary, required, produced, invalidated, ...) \
  {#id, summary, &run_##id, required, produced, invalidated, __VA_ARGS__},
#include "passes/passes.def"
#undef PLDC_PASS
  };
  return passes;
}

const PassInfo* find_pass(std::string_view name) {
  for (const PassInfo& pass : all_passes()) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

}  // namespace pldc
