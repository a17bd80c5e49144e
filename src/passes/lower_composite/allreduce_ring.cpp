// All-reduce by passing segments around: 2*(P-1)/P*N elements a rank, in 2*(P-1) rounds. In the first P-1 each rank
// adds what its left neighbour has of one segment to its own, so that at the end rank r has all of segment r; in the
// others the complete segments go around. Segments need not be equal, and may be empty.
#include "frontend/text.h"
#include "passes/lower_composite/collectives.h"
#include "passes/lower_composite/flat_tiles.h"
#include "passes/lower_composite/ranks.h"
#include "support/diag/pass.h"

namespace pldc::composite {

namespace {

// A communication context has the addresses of that many.
constexpr std::int64_t kMaxRanks = 64;

bool check_ring_signal(Expansion& out) {
  const TensorType* type = out.tensor(1);
  if (type->shape.size() != 2 || type->dtype != DType::INT32) {
    out.error<diag::kernel_ring_signal>(1, print_type(type))
        .help("give it a row for each of the 2*(NR-1) rounds and a column for each rank");
    return false;
  }
  const auto rows = const_int(type->shape[0]);
  const auto ranks = const_int(type->shape[1]);
  if (ranks && (*ranks < 1 || *ranks > kMaxRanks)) {
    out.error<diag::kernel_ring_signal>(1, print_type(type)).help("a domain has 1 to {} ranks", kMaxRanks);
    return false;
  }
  if (rows && ranks && *rows != 2 * (*ranks - 1)) {
    out.error<diag::kernel_ring_signal_rows>(1, *rows, 2 * (*ranks - 1), *ranks);
    return false;
  }
  return true;
}

// Whether the valid elements come first in memory: one part of an axis, all of the axes behind it, one of those
// before.
bool is_prefix(List<const Expr*> shape, List<const Expr*> valid) {
  std::size_t cut = 0;
  while (cut < shape.size() && const_int(valid[cut]) == 1) ++cut;
  for (std::size_t i = cut + 1; i < shape.size(); ++i) {
    if (!same_dim(valid[i], shape[i])) return false;
  }
  return true;
}

class Ring {
 public:
  Ring(Expansion& out, const Expr* size)
      : out_(out),
        size_(size),
        segments_(out.tensor(1)->shape[1]),
        fp16_(out.tensor(0)->dtype == DType::FP16),
        longest_(longest()),
        tiles_(out, out.tensor(0)->dtype),
        width_(out.index(tiles_.width_for(longest_))),
        ranks_(out, out.operand(0)),
        own_(out.bind("my_rank_idx", ranks_.own_index())),
        barriers_(out, ranks_, out.operand(1)) {}

  void run() {
    const TensorType* type = out_.tensor(0);
    const Expr* row = out_.tuple({out_.index(1), product_of(out_, type->shape)});
    const bool partial = !same_dims(type->shape, valid_shape_of(type));
    const Expr* valid = partial ? out_.tuple({out_.index(1), size_}) : nullptr;
    const Expr* target = out_.operand(0);
    tiles_.look_at(out_.bind("target_2d", partial ? out_.op(OpId::tensor_view, {target, row, valid})
                                                  : out_.op(OpId::tensor_view, {target, row})),
                   *const_int(width_));
    const Var* last = out_.bind("nr_minus_one", out_.sub(ranks_.count, out_.index(1)));
    out_.loop("rs_step", out_.index(0), last, out_.index(1), [&](const Var* round) { scatter_round(round); });
    out_.loop("ag_step", out_.index(0), last, out_.index(1),
              [&](const Var* round) { gather_round(round, last); });
    // Two barriers for each tile of the longest segment, on the row of every round.
    const Expr* tile_count = out_.div(out_.add(longest_, out_.sub(width_, out_.index(1))), width_);
    const Expr* total = out_.cast(out_.mul(out_.index(2), tile_count), DType::INT32);
    barriers_.reset_rows(out_.tensor(1)->shape[0], out_.bind("ring_reset_total", total));
  }

 private:
  struct Segment {
    const Var* begin;
    const Var* columns;
  };

  // The elements of the longest segment. Those of FP16 begin at multiples of 16, so one may be up to 15 longer.
  const Expr* longest() {
    const auto size = const_int(size_);
    const auto segments = const_int(segments_);
    constexpr std::int64_t kRagged = 15;
    if (size && segments) {
      const std::int64_t most = *size / *segments + (*size % *segments != 0 ? 1 : 0);
      return out_.index(!fp16_ ? most : *size - most > kRagged ? most + kRagged : *size);
    }
    const Expr* most = out_.div(out_.add(size_, out_.sub(segments_, out_.index(1))), segments_);
    return fp16_ ? out_.min(size_, out_.add(most, out_.index(kRagged))) : most;
  }

  // Where segment i begins, and the one before it ends.
  const Expr* bound(const Expr* i) {
    if (!fp16_) return out_.div(out_.mul(i, size_), segments_);
    const auto blocks = [&] { return out_.mul(segments_, out_.index(16)); };
    const Expr* rounded = out_.add(out_.mul(i, size_), out_.sub(blocks(), out_.index(1)));
    return out_.min(out_.mul(out_.div(rounded, blocks()), out_.index(16)), size_);
  }
  Segment segment(std::string_view phase, const Var* index) {
    const std::string name(phase);
    const Var* begin = out_.bind(name + "_segment_begin", bound(index));
    const Var* end = out_.bind(name + "_segment_end", bound(out_.add(index, out_.index(1))));
    return {begin, out_.bind(name + "_segment_cols", out_.sub(end, begin))};
  }
  const Expr* around(const Expr* rank) { return out_.mod(out_.add(rank, ranks_.count), ranks_.count); }
  const Expr* left() { return around(out_.sub(own_, out_.index(1))); }

  void scatter_round(const Var* round) {
    const Var* step = out_.bind("step", out_.add(round, out_.index(1)));
    const Var* index = out_.bind("recv_add_idx", around(out_.sub(out_.sub(own_, step), out_.index(1))));
    const Var* left_rank = out_.bind("left", left());
    const Segment part = segment("rs", index);
    const auto receive_and_add = [&](const Expr* from, const Expr* valid) -> const Expr* {
      const Var* received = tiles_.receive("recv_rs", left_rank, from, valid);
      const Var* own = tiles_.load("acc_rs_loaded", "acc_rs", from, valid);
      return out_.bind("acc_rs_next", reduce_op(out_), {own, received});
    };
    tiles_of({"rs", "acc_rs", "store_rs"}, round, part, receive_and_add);
  }

  void gather_round(const Var* round, const Var* last) {
    const Var* step = out_.bind("ag_step_val", out_.add(round, out_.index(1)));
    const Var* row = out_.bind("ag_round", out_.add(round, last));
    const Var* index = out_.bind("ag_segment_idx", around(out_.sub(own_, step)));
    const Var* left_rank = out_.bind("ag_left", left());
    const Segment part = segment("ag", index);
    const auto receive = [&](const Expr* from, const Expr* valid) -> const Expr* {
      return tiles_.receive("recv_ag", left_rank, from, valid);
    };
    tiles_of({"ag", "recv_ag", "store_ag"}, row, part, receive);
  }

  struct Phase {
    std::string name, value, store;
  };
  using Take = std::function<const Expr*(const Expr* from, const Expr* valid)>;

  // One round: all ranks go through as many tiles as the longest segment has, so that their barriers match; a rank
  // whose segment is shorter only meets the others.
  void tiles_of(const Phase& phase, const Expr* row, const Segment& part, const Take& take) {
    out_.loop(phase.name + "_col", out_.index(0), longest_, width_, [&](const Var* column) {
      const auto active = [&] { return out_.binary(BinaryOp::Lt, column, part.columns); };
      const auto from = [&] { return out_.add(part.begin, column); };
      const auto rest = [&] { return out_.min(width_, out_.sub(part.columns, column)); };
      const auto valid = [&] { return out_.max(out_.index(1), rest()); };
      // Barriers before this tile, and the one now.
      const auto first = [&] {
        return out_.add(out_.mul(out_.div(column, width_), out_.index(2)), out_.index(1));
      };
      meet(phase.name + "_ready", first(), row);
      const Var* value = out_.choose(
          "if_res", active(), [&]() -> const Expr* { return take(from(), valid()); },
          [&]() -> const Expr* {
            // Any tile of the type; it is never stored.
            return tiles_.load(phase.value + "_placeholder_loaded", phase.value + "_placeholder",
                               out_.index(0), valid());
          });
      meet(phase.name + "_read", out_.add(first(), out_.index(1)), row);
      out_.when(active(), [&] {
        // The clamps change nothing where a segment is active: they show the bounds to those who read the types.
        const auto clamped = [&](const Expr* e) {
          return out_.sub(size_, out_.max(out_.index(0), out_.sub(size_, e)));
        };
        const auto begin = [&] { return clamped(from()); };
        const Expr* end = clamped(out_.add(begin(), rest()));
        tiles_.store(phase.value + "_valid", phase.store, value, begin(), out_.sub(end, begin()));
      });
    });
  }
  void meet(const std::string& name, const Expr* reached, const Expr* row) {
    barriers_.meet("_" + name, out_.bind(name + "_epoch", out_.cast(reached, DType::INT32)), row);
  }

  Expansion& out_;
  const Expr* size_;
  const Expr* segments_;  // as many as ranks
  bool fp16_;
  const Expr* longest_;
  FlatTiles tiles_;
  const Expr* width_;
  Ranks ranks_;
  const Var* own_;
  Barriers barriers_;
};

}  // namespace

const Expr* expand_ring_allreduce(Expansion& out) {
  const TensorType* type = out.tensor(0);
  if (!check_ring_signal(out)) return nullptr;
  const List<const Expr*> valid = valid_shape_of(type);
  if (!is_prefix(type->shape, valid)) {
    out.error<diag::kernel_ring_prefix>(0, print_type(type))
        .help("let the valid part be the first elements of the target in memory, or use mode=\"mesh\"");
    return nullptr;
  }
  const Expr* size = product_of(out, valid);
  if (size == nullptr || product_of(out, type->shape) == nullptr) return nullptr;
  Ring(out, size).run();
  return out.operand(0);
}

}  // namespace pldc::composite
