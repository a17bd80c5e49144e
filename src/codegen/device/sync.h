// Order between the pipes of a core. Instructions of one pipe complete in order; between pipes a flag is needed wherever
// one instruction uses memory that an earlier one of another pipe uses, unless both only read it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/device/tile_form.h"

namespace pldc {

enum class Pipe : std::uint8_t { V, M, MTE1, MTE2, MTE3, FIX };
inline constexpr std::size_t kPipes = 6;
std::string_view pipe_name(Pipe pipe);  // "PIPE_V"

// A piece of memory that an instruction reads or writes. Global memory is one region: parameters may overlap.
struct Region {
  static constexpr int kGlobal = -1;
  int space = kGlobal;  // a MemSpace, or kGlobal
  std::uint64_t begin = 0;
  std::uint64_t end = ~std::uint64_t{0};
  bool overlaps(const Region& other) const {
    return space == other.space && begin < other.end && other.begin < end;
  }
};
// A tile whose place is not constant is taken for its whole memory.
Region region_of(const TileRef& tile);

class Sync {
 public:
  // What must stand before the instruction: pairs of set_flag and wait_flag, or a barrier. Notes the instruction.
  std::vector<std::string> before(Pipe pipe, const std::vector<Region>& reads,
                                  const std::vector<Region>& writes);
  // A pipe_barrier(PIPE_ALL) was written: everything before it is complete.
  void barrier();
  // Whether any instruction may be unfinished.
  bool pending() const { return !issued_.empty(); }
  // The number of the next instruction, and whether one from that number on may be unfinished.
  std::uint64_t next() const { return next_; }
  bool pending_from(std::uint64_t number) const;
  // Numbers the instructions from here on after those of `other`: the second of two branches must not reuse the numbers of
  // the first.
  void number_after(const Sync& other) { next_ = other.next_; }
  // What may be unfinished where two paths meet.
  static Sync merge(const Sync& a, const Sync& b);

 private:
  struct Issued {
    Pipe pipe;
    std::uint64_t number;
    std::vector<Region> reads;
    std::vector<Region> writes;
  };
  using Clock = std::array<std::uint64_t, kPipes>;

  bool conflicts(const Issued& earlier, const std::vector<Region>& reads,
                 const std::vector<Region>& writes) const;

  std::uint64_t next_ = 1;
  std::vector<Issued> issued_;
  Clock last_{};  // number of the last instruction of each pipe
  std::array<Clock, kPipes>
      waited_{};  // waited_[p][q]: pipe p has waited for the instructions of q up to that number
};

}  // namespace pldc
