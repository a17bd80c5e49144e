// What the match has to say, gathered so that a fault that many ranks share is said once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "support/diag.h"

namespace pldc::match {

// "rank 2", "ranks 0, 1 and 3", "ranks 0 to 7"
std::string rank_list(const std::set<std::int64_t>& ranks);

// Gathers by kind and place. The text is that of the first rank; the others are named in a note.
class Findings {
 public:
  struct Finding {
    std::vector<std::string> words;  // the arguments of the diagnostic's format
    std::string help;
    std::set<std::int64_t> ranks;
    std::vector<std::pair<Span, std::string>> notes;
  };

  // The finding of that kind and place; `fresh` if it is the first one.
  template <const DiagInfo& D>
  Finding& add(Span place, std::int64_t rank, std::vector<std::string> words, std::string help = {}) {
    auto& entry = entries_[{place.begin, place.end, D.code}];
    if (entry.ranks.empty()) {
      entry.words = std::move(words);
      entry.help = std::move(help);
    }
    entry.ranks.insert(rank);
    return entry;
  }
  bool has(const DiagInfo& kind) const;
  void clear() { entries_.clear(); }
  bool empty() const { return entries_.empty(); }

  void report(DiagSink& diags) const;

 private:
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>, Finding> entries_;
};

}  // namespace pldc::match
