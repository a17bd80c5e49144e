#include "support/diag.h"

#include <algorithm>
#include <tuple>

namespace pldc {

std::string diag_code(const DiagInfo& kind) { return fmt::format("PLD{:04}", kind.code); }

DiagBuilder DiagSink::add(const DiagInfo& kind, Span span, std::string message) {
  Severity severity = kind.severity;
  if (severity == Severity::Warning) {
    if (options_.disabled.find(kind.id) != options_.disabled.end()) return DiagBuilder(nullptr);
    if (options_.warnings_as_errors) severity = Severity::Error;
  }
  if (severity == Severity::Error) {
    // Past the limit only the count would grow; producers look at full() and stop.
    if (full()) return DiagBuilder(nullptr);
    ++errors_;
  }
  all_.push_back({&kind, severity, span, std::move(message), {}, {}});
  return DiagBuilder(&all_.back());
}

std::vector<Diagnostic> DiagSink::take() {
  std::vector<Diagnostic> sorted = std::move(all_);
  all_.clear();
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.span.begin < b.span.begin; });
  // Equal places are neighbours now, but other diagnostics of that place may stand between two equal ones.
  std::vector<Diagnostic> result;
  for (Diagnostic& next : sorted) {
    bool seen = false;
    for (auto it = result.rbegin(); it != result.rend() && it->span.begin == next.span.begin && !seen; ++it) {
      seen = it->kind == next.kind && it->span == next.span && it->message == next.message;
    }
    if (!seen) result.push_back(std::move(next));
  }
  return result;
}

std::string_view closest(std::string_view word, const std::vector<std::string_view>& candidates) {
  // Distance with swaps of neighbours (optimal string alignment), letter case at no cost. Among candidates
  // with as many edits the one with fewer replaced letters is closer: dropped and doubled letters are the
  // commoner slips, so each edit costs kEdit and a replacement one more.
  constexpr std::size_t kEdit = 1024;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const auto same = [&](char a, char b) { return lower(a) == lower(b); };
  if (word.size() < 2) return {};  // any other letter would be as close
  const std::size_t limit = word.size() < 3 ? 1 : std::max<std::size_t>(1, word.size() / 3);
  std::string_view best;
  std::size_t best_distance = (limit + 1) * kEdit;
  std::vector<std::size_t> before(word.size() + 1);
  std::vector<std::size_t> above(word.size() + 1);
  std::vector<std::size_t> row(word.size() + 1);
  for (const std::string_view candidate : candidates) {
    const std::size_t difference =
        candidate.size() > word.size() ? candidate.size() - word.size() : word.size() - candidate.size();
    if (difference * kEdit >= best_distance || candidate == word) continue;
    for (std::size_t i = 0; i <= word.size(); ++i) above[i] = i * kEdit;
    for (std::size_t j = 1; j <= candidate.size(); ++j) {
      row[0] = j * kEdit;
      for (std::size_t i = 1; i <= word.size(); ++i) {
        const std::size_t change = above[i - 1] + (same(word[i - 1], candidate[j - 1]) ? 0 : kEdit + 1);
        row[i] = std::min({above[i] + kEdit, row[i - 1] + kEdit, change});
        if (i > 1 && j > 1 && same(word[i - 1], candidate[j - 2]) && same(word[i - 2], candidate[j - 1])) {
          row[i] = std::min(row[i], before[i - 2] + kEdit);
        }
      }
      std::swap(before, above);
      std::swap(above, row);
    }
    if (above[word.size()] < best_distance) {
      best_distance = above[word.size()];
      best = candidate;
    }
  }
  return best;
}

}  // namespace pldc
