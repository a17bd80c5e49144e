// How often a for loop with constant bounds runs.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "ir/stmt.h"

namespace pldc {

// Nothing if a bound is no constant, the step is 0 or the number does not fit; an empty range has 0 trips.
inline std::optional<std::int64_t> trip_count(const ForStmt* loop) {
  const auto start = const_int(loop->start);
  const auto stop = const_int(loop->stop);
  const auto step = const_int(loop->step);
  if (!start || !stop || !step || *step == 0) return std::nullopt;
  const bool up = *step > 0;
  if (up ? *start >= *stop : *start <= *stop) return 0;
  // Unsigned: the distance of two int64 may be larger than an int64.
  const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
  const std::uint64_t distance = up ? u(*stop) - u(*start) : u(*start) - u(*stop);
  const std::uint64_t stride = up ? u(*step) : 0 - u(*step);
  const std::uint64_t trips = (distance - 1) / stride + 1;
  if (trips > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return static_cast<std::int64_t>(trips);
}

}  // namespace pldc
