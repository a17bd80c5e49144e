// Whole programs, built and run as a user would, on inputs made here and compared with plain loops.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace exectest {

// An array as .npy files hold it: row-major; FP32, FP16 and (in outputs) small INT32 values as floats.
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
  bool half = false;  // FP16 in the file; values must be representable in it

  std::int64_t per_rank() const { return static_cast<std::int64_t>(values.size()) / shape[0]; }
};

// Values that sums over a few ranks leave exact in FP16 and FP32: multiples of 1/8 from -8 to 8, from a seed.
Array eighths(std::vector<std::int64_t> shape, std::uint32_t seed, bool half = false);
// 1/2, 1, 2 and their negatives, whose products stay exact.
Array powers(std::vector<std::int64_t> shape, std::uint32_t seed, bool half = false);

struct Run {
  Outcome outcome;
  std::map<std::string, Array> outputs;  // empty unless the program ended well
};
// `pldc run PROGRAM --ranks N ...`. PROGRAM is the path of a text.
Run run(const std::string& program, int ranks, const std::map<std::string, Array>& inputs,
        const std::vector<std::string>& outputs, const std::vector<std::string>& options = {});

// The hand-written text of a program of the corpus.
std::string source_of(const std::string& name);

// What an all-reduce over `members` leaves on each of them: `reduce(a, b)` over their slices along axis 0.
template <class Reduce>
Array reduced(const Array& input, const std::vector<int>& members, Reduce reduce) {
  Array result = input;
  const auto n = static_cast<std::size_t>(input.per_rank());
  for (std::size_t i = 0; i < n; ++i) {
    float value = input.values[static_cast<std::size_t>(members[0]) * n + i];
    for (std::size_t m = 1; m < members.size(); ++m) {
      value = reduce(value, input.values[static_cast<std::size_t>(members[m]) * n + i]);
    }
    for (const int member : members) result.values[static_cast<std::size_t>(member) * n + i] = value;
  }
  return result;
}
std::vector<int> first(int ranks);  // 0, 1, ..., ranks-1

}  // namespace exectest
