// Comparing texts: the first difference for messages, and unified diffs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pldc {

struct TextDifference {
  std::size_t offset;    // first byte that differs, the same in both
  std::string expected;  // an excerpt of each from there on, at most a line
  std::string found;
};
// False if the texts are the same but for one final newline (decisions D16).
bool first_difference(std::string_view expected, std::string_view found, TextDifference& difference);

// `diff -u` with three lines of context, labels as given; empty if the texts are equal.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_label,
                         std::string_view after_label);

}  // namespace pldc
