// Comparing texts: the first difference for messages, and unified diffs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

// How the lines of one text become those of another: `same` lines that both have, then `removed` ones of the first, then
// `added` ones of the second, and so on to the end of both.
struct LineRun {
  std::size_t same;
  std::size_t removed;
  std::size_t added;
};
std::vector<LineRun> line_runs(std::string_view before, std::string_view after);

}  // namespace pldc
