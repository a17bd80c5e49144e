// What the official toolchain asks of a kernel and simulation does not: one kind of core, data paths that its pipes have,
// aligned addresses, boxes in global memory that its transfers can describe. What it cannot do is refused by name.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "codegen/device/body.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

bool is_vector(MemSpace space) { return space == MemSpace::Vec; }

// Whether the pipe moves data from one memory of the core to the other, or computes there.
bool connects(Pipe pipe, MemSpace from, MemSpace to) {
  const bool feeds = to == MemSpace::Left || to == MemSpace::Right || to == MemSpace::Bias ||
                     to == MemSpace::LeftScale || to == MemSpace::RightScale;
  switch (pipe) {
    case Pipe::V:
      return is_vector(from) && is_vector(to);
    case Pipe::MTE1:
      return from == MemSpace::Mat && feeds;
    case Pipe::FIX:
      return from == MemSpace::Acc && (to == MemSpace::Mat || is_vector(to));
    case Pipe::M:
      return to == MemSpace::Acc;
    case Pipe::MTE2:
    case Pipe::MTE3:
      return false;
  }
  return false;
}

}  // namespace

std::int64_t known_divisor(const Expr* expr) {
  if (const auto value = const_int(expr)) return std::abs(*value);
  if (const auto* cast = dyn<Cast>(expr)) return is_int(dtype_of(cast)) ? known_divisor(cast->operand) : 1;
  const auto* binary = dyn<Binary>(expr);
  if (binary == nullptr) return 1;
  const std::int64_t a = known_divisor(binary->lhs);
  const std::int64_t b = known_divisor(binary->rhs);
  // Far below what could overflow: nobody asks for more than 32.
  constexpr std::int64_t kMost = 1 << 20;
  if (binary->op == BinaryOp::Mul) return a < kMost && b < kMost ? a * b : std::max<std::int64_t>(a, b);
  if (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub) return std::gcd(a, b);
  return 1;
}

void KernelBody::refuse_official(std::string_view why, std::string_view help) {
  fail();
  if (!refused_.insert(span_.begin).second) return;
  env.diags.report<diag::kernel_target>(span_, operation_, why).help("{}", help);
}

void KernelBody::check_core(const TileForm& form) {
  const bool cube = !is_vector(form.space);
  if (!cube_) cube_ = cube;
  if (!is_official() || !refused_.empty()) return;
  if (form.space == MemSpace::Mat && !form.boxed && form.rows > 1) {
    refuse_official("a tile of several rows in Mat memory has no boxes", "leave out the layout of the tile");
    return;
  }
  // The lines of a box of one-byte elements are longer than what extents are rounded up to.
  const bool columns = form.space == MemSpace::Right || form.inner_columns;
  const std::int64_t line = line_elements(form.dtype);
  if (form.boxed && form.space != MemSpace::Acc && (columns ? form.rows : form.cols) % line != 0) {
    refuse_official(fmt::format("a tile of {} elements by {} is not made of whole boxes, whose {} have {}",
                                form.rows, form.cols, columns ? "columns" : "rows", line),
                    "make the extents multiples of the lines of a box, 32 bytes");
    return;
  }
  if (*cube_ == cube) return;
  refuse_official(
      fmt::format("it uses {} memory in a kernel of the {} core", name_of(form.space),
                  *cube_ ? "matrix" : "vector"),
      "compute products and vector operations in kernels of their own, with a tensor between them");
}

void KernelBody::check_path(Pipe pipe, const Touch& touch) {
  if (!is_official() || !refused_.empty()) return;
  for (const TileRef& to : touch.writes) {
    const bool loads = pipe == Pipe::MTE2 && (is_vector(to.form.space) || to.form.space == MemSpace::Mat);
    for (const TileRef& from : touch.reads) {
      if (connects(pipe, from.form.space, to.form.space)) continue;
      refuse_official(fmt::format("no pipe of a core goes from {} to {} memory", name_of(from.form.space),
                                  name_of(to.form.space)),
                      "move the data through a tensor in global memory");
      return;
    }
    if (touch.reads.empty() && !loads && !connects(pipe, to.form.space, to.form.space)) {
      refuse_official(fmt::format("no pipe of a core fills {} memory this way", name_of(to.form.space)),
                      "compute it in vector memory, in a kernel of its own");
      return;
    }
  }
  for (const TileRef& from : touch.reads) {
    if (!touch.writes_global || is_vector(from.form.space) || from.form.space == MemSpace::Acc) continue;
    refuse_official(fmt::format("no pipe of a core stores {} memory", name_of(from.form.space)),
                    "store the tile from vector memory or from the accumulator");
    return;
  }
}

void KernelBody::check_address(const TileRef& tile) {
  if (!is_official() || (tile.address % kTileLine == 0 && tile.unit % kTileLine == 0)) return;
  refuse_official("a tile of it would not begin at a multiple of 32 bytes",
                  "begin parts of a tile at multiples of 32 bytes");
}

void KernelBody::check_box(const std::vector<Extent>& shape, const std::vector<Extent>& stride, bool column) {
  if (!is_official()) return;
  if (!column) {
    if (stride[4].is(1) || shape[4].is(1)) return;
    refuse_official("the elements of a row do not follow each other in the tensor",
                    "transpose the tile instead of the tensor");
    return;
  }
  if (!shape[4].is(1)) {
    refuse_official("a column-major tile of several columns cannot be loaded or stored",
                    "use a row-major tile, or one of one column");
    return;
  }
  const bool one_axis = shape[0].is(1) && shape[1].is(1) && shape[2].is(1);
  if (one_axis && (stride[3].is(1) || shape[3].is(1))) return;
  refuse_official("the elements of a column do not follow each other in the tensor",
                  "take the column from a tensor of one column, or load whole rows");
}

}  // namespace pldc
