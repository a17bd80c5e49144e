// The version, set by the build system from the project's own (meson.build).
#pragma once

#include <string_view>

namespace pldc {

#ifndef PLDC_VERSION
#error "the build system defines PLDC_VERSION"
#endif
inline constexpr std::string_view kVersion = PLDC_VERSION;

}  // namespace pldc
