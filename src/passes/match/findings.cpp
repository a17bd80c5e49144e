#include "passes/match/findings.h"

#include <algorithm>
#include <array>

#include "support/diag/op.h"
#include "support/diag/verify.h"

namespace pldc::match {
namespace {

// How many arguments the message has.
template <const DiagInfo& D>
constexpr std::size_t holes() {
  std::size_t n = 0;
  for (std::size_t at = D.format.find("{}"); at != std::string_view::npos; at = D.format.find("{}", at + 2))
    ++n;
  return n;
}

template <const DiagInfo& D, std::size_t... I>
DiagBuilder say(DiagSink& diags, Span place, const std::vector<std::string>& words,
                std::index_sequence<I...>) {
  return diags.report<D>(place, words.at(I)...);
}

}  // namespace

std::string rank_list(const std::set<std::int64_t>& ranks) {
  if (ranks.empty()) return "no rank";
  if (ranks.size() == 1) return "rank " + std::to_string(*ranks.begin());
  const std::int64_t first = *ranks.begin();
  const std::int64_t last = *ranks.rbegin();
  if (ranks.size() > 2 && last - first + 1 == static_cast<std::int64_t>(ranks.size())) {
    return fmt::format("ranks {} to {}", first, last);
  }
  std::string text = "ranks ";
  for (const std::int64_t rank : ranks) {
    if (rank != first) text += rank == last ? " and " : ", ";
    text += std::to_string(rank);
  }
  return text;
}

bool Findings::has(const DiagInfo& kind) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const auto& e) { return std::get<2>(e.first) == kind.code; });
}

void Findings::report(DiagSink& diags) const {
  for (const auto& entry : entries_) {
    const auto& key = entry.first;
    const auto& found = entry.second;
    const Span place{std::get<0>(key), std::get<1>(key)};
    const auto finish = [&](DiagBuilder builder) {
      for (const auto& [at, text] : found.notes) builder.note(at, "{}", text);
      if (found.ranks.size() > 1) builder.help("the same holds for all of {}", rank_list(found.ranks));
      if (!found.help.empty()) builder.help("{}", found.help);
    };
#define PLDC_SAY(kind)                     \
  if (std::get<2>(key) == diag::kind.code) \
    finish(say<diag::kind>(diags, place, found.words, std::make_index_sequence<holes<diag::kind>()>()));
    PLDC_SAY(match_no_notify)
    PLDC_SAY(match_unreachable)
    PLDC_SAY(match_deadlock)
    PLDC_SAY(match_missed)
    PLDC_SAY(match_no_wait)
    PLDC_SAY(match_partial)
    PLDC_SAY(match_order)
    PLDC_SAY(match_peer)
    PLDC_SAY(match_cell)
    PLDC_SAY(match_zero)
    PLDC_SAY(match_size)
    PLDC_SAY(window_size)
#undef PLDC_SAY
  }
}

}  // namespace pldc::match
