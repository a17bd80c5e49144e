// Precompiled for every library: parsing these took most of the time of a build. They are a matter of speed only, so each
// file still includes what it uses. Guarded the old way: compilers warn of #pragma once in what they precompile.
#ifndef PLDC_PCH_STD_H
#define PLDC_PCH_STD_H

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#endif
