// Precompiled for the test programs with many files.
#ifndef PLDC_PCH_CATCH_H
#define PLDC_PCH_CATCH_H

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "support/catch.h"

#endif
