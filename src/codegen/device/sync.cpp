#include "codegen/device/sync.h"

#include <fmt/format.h>

#include <algorithm>

namespace pldc {
namespace {

// Above this many instructions without a barrier the search for conflicts would dominate the running time.
constexpr std::size_t kMaxIssued = 256;

constexpr std::size_t at(Pipe pipe) { return static_cast<std::size_t>(pipe); }

}  // namespace

std::string_view pipe_name(Pipe pipe) {
  constexpr std::string_view kNames[kPipes] = {"PIPE_V",    "PIPE_M",    "PIPE_MTE1",
                                               "PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX"};
  return kNames[at(pipe)];
}

Region region_of(const TileRef& tile) {
  Region region;
  region.space = static_cast<int>(tile.form.space);
  if (tile.offset.empty()) {
    region.begin = tile.address;
    region.end = tile.address + tile.form.bytes();
  }
  return region;
}

bool Sync::conflicts(const Issued& earlier, const std::vector<Region>& reads,
                     const std::vector<Region>& writes) const {
  const auto meet = [](const std::vector<Region>& a, const std::vector<Region>& b) {
    return std::any_of(a.begin(), a.end(), [&](const Region& x) {
      return std::any_of(b.begin(), b.end(), [&](const Region& y) { return x.overlaps(y); });
    });
  };
  return meet(earlier.writes, reads) || meet(earlier.writes, writes) || meet(earlier.reads, writes);
}

std::vector<std::string> Sync::before(Pipe pipe, const std::vector<Region>& reads,
                                      const std::vector<Region>& writes) {
  std::vector<std::string> lines;
  if (issued_.size() >= kMaxIssued) {
    lines.emplace_back("pipe_barrier(PIPE_ALL);");
    barrier();
  }
  // The latest conflict first: what its pipe had waited for is complete too and needs no flag of its own.
  for (std::size_t i = issued_.size(); i-- > 0;) {
    const Issued& earlier = issued_[i];
    const std::size_t q = at(earlier.pipe);
    Clock& mine = waited_[at(pipe)];
    if (earlier.pipe == pipe || earlier.number <= mine[q] || !conflicts(earlier, reads, writes)) continue;
    lines.push_back(fmt::format("set_flag({}, {}, EVENT_ID0);", pipe_name(earlier.pipe), pipe_name(pipe)));
    lines.push_back(fmt::format("wait_flag({}, {}, EVENT_ID0);", pipe_name(earlier.pipe), pipe_name(pipe)));
    for (std::size_t r = 0; r < kPipes; ++r) mine[r] = std::max(mine[r], waited_[q][r]);
    mine[q] = last_[q];
  }
  last_[at(pipe)] = next_;
  issued_.push_back({pipe, next_++, reads, writes});
  return lines;
}

void Sync::barrier() {
  issued_.clear();
  for (Clock& clock : waited_) clock.fill(next_ - 1);
}

bool Sync::pending_from(std::uint64_t number) const {
  return std::any_of(issued_.begin(), issued_.end(), [&](const Issued& x) { return x.number >= number; });
}

Sync Sync::merge(const Sync& a, const Sync& b) {
  Sync out = a;
  out.next_ = std::max(a.next_, b.next_);
  for (const Issued& issued : b.issued_) {
    const bool known = std::any_of(a.issued_.begin(), a.issued_.end(), [&](const Issued& x) {
      return x.number == issued.number && x.pipe == issued.pipe;
    });
    if (!known) out.issued_.push_back(issued);
  }
  for (std::size_t p = 0; p < kPipes; ++p) {
    out.last_[p] = std::max(a.last_[p], b.last_[p]);
    for (std::size_t q = 0; q < kPipes; ++q) out.waited_[p][q] = std::min(a.waited_[p][q], b.waited_[p][q]);
  }
  return out;
}

}  // namespace pldc
