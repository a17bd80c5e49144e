#include "support/text_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace pldc {
namespace {

std::string excerpt(std::string_view text, std::size_t from) {
  if (from >= text.size()) return "<end of text>";
  constexpr std::size_t kLongest = 60;
  const std::string_view rest = text.substr(from, kLongest);
  const std::size_t end = rest.find('\n');
  if (end == 0) return "<end of line>";
  return std::string(rest.substr(0, end)) +
         (end == std::string_view::npos && from + kLongest < text.size() ? "..." : "");
}

std::string_view without_final_newline(std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

struct Edit {
  char kind;  // ' ', '-' or '+'
  std::size_t line;
};

// Lines that stay: a longest common subsequence of the part that differs, by Myers' greedy algorithm on line
// numbers.
std::vector<Edit> edit_script(const std::vector<int>& a, const std::vector<int>& b) {
  const auto n = static_cast<int>(a.size());
  const auto m = static_cast<int>(b.size());
  const auto at = [](const std::vector<int>& v, int i) { return v[static_cast<std::size_t>(i)]; };
  // Two texts that share nothing cost n * m; past this bound the middle is shown as replaced whole.
  constexpr int kMostEdits = 4000;
  const int most = std::min(n + m, kMostEdits);
  std::vector<std::vector<int>> trace;
  std::vector<int> furthest(static_cast<std::size_t>(2 * most + 3), 0);
  const auto reach = [&](int k) -> int& { return furthest[static_cast<std::size_t>(k + most + 1)]; };
  int found = -1;
  for (int d = 0; d <= most && found < 0; ++d) {
    // Only the diagonals -d..d matter to step d.
    trace.emplace_back(furthest.begin() + (most + 1 - d), furthest.begin() + (most + 1 + d) + 1);
    for (int k = -d; k <= d; k += 2) {
      int x = k == -d || (k != d && reach(k - 1) < reach(k + 1)) ? reach(k + 1) : reach(k - 1) + 1;
      while (x < n && x - k < m && at(a, x) == at(b, x - k)) ++x;
      reach(k) = x;
      if (x >= n && x - k >= m) {
        found = d;
        break;
      }
    }
  }
  std::vector<Edit> script;
  if (found < 0) {
    for (int i = 0; i < n; ++i) script.push_back({'-', static_cast<std::size_t>(i)});
    for (int i = 0; i < m; ++i) script.push_back({'+', static_cast<std::size_t>(i)});
    return script;
  }
  int x = n;
  int y = m;
  for (int d = found; d > 0; --d) {
    // trace[d] holds diagonals -d..d as they were before step d, hence those of step d - 1.
    const std::vector<int>& before = trace[static_cast<std::size_t>(d)];
    const auto old = [&](int k) { return before[static_cast<std::size_t>(k + d)]; };
    const int k = x - y;
    const int from = k == -d || (k != d && old(k - 1) < old(k + 1)) ? k + 1 : k - 1;
    const int old_x = old(from);
    const int old_y = old_x - from;
    while (x > old_x && y > old_y) {
      script.push_back({' ', static_cast<std::size_t>(--x)});
      --y;
    }
    if (x == old_x) {
      script.push_back({'+', static_cast<std::size_t>(--y)});
    } else {
      script.push_back({'-', static_cast<std::size_t>(--x)});
    }
  }
  while (x > 0) script.push_back({' ', static_cast<std::size_t>(--x)});
  std::reverse(script.begin(), script.end());
  return script;
}

// Two texts as lines, and what of them differs.
struct LineComparison {
  std::vector<std::string_view> a;
  std::vector<std::string_view> b;
  std::size_t head = 0;      // lines that both begin with
  std::size_t tail = 0;      // lines that both end with
  std::vector<Edit> middle;  // of the lines between; numbers count from `head`
};

LineComparison compare_lines(std::string_view before, std::string_view after) {
  LineComparison out;
  out.a = lines_of(before);
  out.b = lines_of(after);
  const std::vector<std::string_view>& a = out.a;
  const std::vector<std::string_view>& b = out.b;
  std::size_t& head = out.head;
  std::size_t& tail = out.tail;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::unordered_map<std::string_view, int> numbers;
  const auto number = [&](std::string_view line) {
    return numbers.emplace(line, numbers.size()).first->second;
  };
  std::vector<int> middle_a, middle_b;
  for (std::size_t i = head; i < a.size() - tail; ++i) middle_a.push_back(number(a[i]));
  for (std::size_t i = head; i < b.size() - tail; ++i) middle_b.push_back(number(b[i]));
  out.middle = edit_script(middle_a, middle_b);
  return out;
}

std::string hunk_range(std::size_t start, std::size_t count) {
  // As in diff: an empty range is named by the line before it, and a count of one is left out.
  const std::size_t line = count == 0 ? start : start + 1;
  return count == 1 ? fmt::format("{}", line) : fmt::format("{},{}", line, count);
}

}  // namespace

bool first_difference(std::string_view expected, std::string_view found, TextDifference& difference) {
  expected = without_final_newline(expected);
  found = without_final_newline(found);
  if (expected == found) return false;
  const std::size_t shorter = std::min(expected.size(), found.size());
  std::size_t at = 0;
  while (at < shorter && expected[at] == found[at]) ++at;
  difference = {at, excerpt(expected, at), excerpt(found, at)};
  return true;
}

std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_label,
                         std::string_view after_label) {
  if (before == after) return {};
  const LineComparison lines = compare_lines(before, after);
  const std::vector<std::string_view>& a = lines.a;
  const std::vector<std::string_view>& b = lines.b;
  const std::size_t head = lines.head;
  const std::size_t tail = lines.tail;
  constexpr std::size_t kContext = 3;
  std::vector<Edit> script;
  for (std::size_t i = head - std::min(head, kContext); i < head; ++i) script.push_back({' ', i});
  for (const Edit edit : lines.middle) script.push_back({edit.kind, edit.line + head});
  for (std::size_t i = 0; i < std::min(tail, kContext); ++i) script.push_back({' ', a.size() - tail + i});

  std::string out = fmt::format("--- {}\n+++ {}\n", before_label, after_label);
  std::size_t line_a = head - std::min(head, kContext);
  std::size_t line_b = line_a;
  for (std::size_t i = 0; i < script.size();) {
    // A hunk: from the first change, with context, to the last change that is not more than two contexts
    // away.
    std::size_t first = i;
    while (first < script.size() && script[first].kind == ' ') ++first;
    if (first == script.size()) break;
    const std::size_t begin = first - std::min(first - i, kContext);
    line_a += begin - i;
    line_b += begin - i;
    std::size_t end = first;
    for (std::size_t j = first, same = 0; j < script.size() && same <= 2 * kContext; ++j) {
      same = script[j].kind == ' ' ? same + 1 : 0;
      if (same == 0) end = j + 1;
    }
    end = std::min(script.size(), end + kContext);
    std::string body;
    std::size_t count_a = 0;
    std::size_t count_b = 0;
    for (std::size_t j = begin; j < end; ++j) {
      const Edit& edit = script[j];
      body += fmt::format("{}{}\n", edit.kind, edit.kind == '+' ? b[edit.line] : a[edit.line]);
      count_a += edit.kind != '+';
      count_b += edit.kind != '-';
    }
    out += fmt::format("@@ -{} +{} @@\n{}", hunk_range(line_a, count_a), hunk_range(line_b, count_b), body);
    line_a += count_a;
    line_b += count_b;
    i = end;
  }
  return out;
}

std::vector<LineRun> line_runs(std::string_view before, std::string_view after) {
  const LineComparison lines = compare_lines(before, after);
  std::vector<LineRun> runs = {{lines.head, 0, 0}};
  for (const Edit& edit : lines.middle) {
    const bool same = edit.kind == ' ';
    if (same && runs.back().removed + runs.back().added != 0) runs.push_back({0, 0, 0});
    ++(same ? runs.back().same : edit.kind == '-' ? runs.back().removed : runs.back().added);
  }
  if (lines.tail != 0) {
    if (runs.back().removed + runs.back().added != 0) runs.push_back({0, 0, 0});
    runs.back().same += lines.tail;
  }
  return runs;
}

}  // namespace pldc
