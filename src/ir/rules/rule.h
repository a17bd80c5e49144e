// Shared by the result-type rules; internal to src/ir.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/check_op.h"
#include "ir/describe.h"
#include "ir/rules.h"

namespace pldc {

using Dims = List<const Expr*>;

// One call whose type is sought. Every error is reported once and makes the rule return null.
class RuleCall {
 public:
  RuleCall(Context& context, DiagSink& sink, OpId id, Dims arguments, Attrs keywords, Span where)
      : ctx(context), diags(sink), op(id), args(arguments), kwargs(keywords), span(where) {}

  Context& ctx;
  DiagSink& diags;
  OpId op;
  Dims args;
  Attrs kwargs;
  Span span;

  std::string_view name() const { return op_info(op).name; }
  std::size_t count() const { return args.size(); }
  const Type* type(std::size_t i) const { return args[i]->type; }
  const TensorType* tensor(std::size_t i) const { return dyn<TensorType>(args[i]->type); }
  const TileType* tile(std::size_t i) const { return dyn<TileType>(args[i]->type); }
  // Name of the operand for messages.
  std::string_view operand(std::size_t i) const;
  // The place of an argument, or of the call if the argument has none.
  Span place(std::size_t i) const { return args[i]->span.valid() ? args[i]->span : span; }

  const AttrValue* keyword(std::string_view key) const { return find_attr(kwargs, key); }
  std::int64_t integer(std::string_view key, std::int64_t fallback) const;
  bool flag(std::string_view key, bool fallback = false) const { return integer(key, fallback ? 1 : 0) != 0; }
  std::optional<DType> dtype(std::string_view key) const;
  std::optional<MemSpace> space(std::string_view key) const;

  // The elements of a tuple argument. Reports an argument that is no literal tuple.
  std::optional<Dims> tuple(std::size_t i) const;

  // --- checks: false after a report ------------------------------------------------------------------------
  bool one_of(std::size_t i, DType dtype, std::initializer_list<DType> allowed) const;
  bool integer_dtype(std::size_t i, DType dtype) const;
  bool same_dtype(std::size_t i, std::size_t j, DType a, DType b) const;
  bool rank_is(std::size_t i, std::size_t found, std::size_t wanted) const;
  bool rank_at_least(std::size_t i, std::size_t found, std::size_t wanted) const;
  // The tuple argument i has `wanted` elements, one an axis of argument `of`.
  bool tuple_rank(std::size_t i, std::size_t found, std::size_t wanted, std::size_t of) const;
  // Dims that are constants are positive; all must be constants if `constant`.
  bool positive(std::size_t i, Dims dims, bool constant) const;
};

// --- dims
// --------------------------------------------------------------------------------------------------------

// Extent provably equal to a constant.
inline bool is_const(const Expr* dim, std::int64_t value) {
  const auto constant = const_int(dim);
  return constant && *constant == value;
}
const Expr* dim_const(Context& context, std::int64_t value);
const Expr* dim_min(Context& context, const Expr* a, const Expr* b);
const Expr* dim_max(Context& context, const Expr* a, const Expr* b);
// Whether a <= b, a < b, a == b can be proved, false or true; nothing if neither.
std::optional<bool> provably_le(const Expr* a, const Expr* b);
std::optional<bool> provably_lt(const Expr* a, const Expr* b);
// The lower bound that is known without context: 0 for extents and products of them, the value of constants.
std::optional<std::int64_t> lower_bound(const Expr* e);
std::optional<std::int64_t> upper_bound(const Expr* e);
bool provably_negative(const Expr* e);
std::optional<std::int64_t> const_product(Dims dims);
// The product of dims, constants gathered in front.
const Expr* dim_product(Context& context, Dims dims);
bool all_zero_valid(Dims valid);

// Broadcast of two shapes, right-aligned; nothing if they do not fit.
std::optional<std::vector<const Expr*>> broadcast(Dims a, Dims b);
// As above, with the report that names both shapes.
std::optional<Dims> broadcast(const RuleCall& call, Dims a, Dims b);

// --- regions (ops.md 0.4)
// ------------------------------------------------------------------------------------------

// What lies between `offset` and `end`: max(end - offset, 0).
const Expr* rest_behind(Context& context, const Expr* end, const Expr* offset);

struct WindowRead {
  Dims source_shape;
  Dims source_valid;
  Dims offset;
  Dims window;
  Dims requested;  // empty: none given
  bool clamp = false;
  // The whole window must lie in the source, whatever the request says (tile.slice, tile.extract).
  bool whole = false;
  std::size_t offset_operand = 0;
  std::size_t valid_operand = 0;
};
// The valid part of what is read, or nothing after a report.
std::optional<Dims> read_window(const RuleCall& call, const WindowRead& read);

// The valid part of `target` after a source with `source_valid` was written at `offset`; nothing after a
// report. `reach`: what must fit (the valid part or the physical shape of the source).
struct RegionWrite {
  Dims target_shape;
  Dims target_valid;
  Dims offset;
  Dims source_valid;
  Dims reach;
  std::size_t offset_operand = 0;
};
std::optional<Dims> write_region(const RuleCall& call, const RegionWrite& write);

// The valid part after a reshape; nothing after a report.
std::optional<Dims> reshape_valid(const RuleCall& call, Dims shape, Dims valid, Dims to);

// --- results
// -------------------------------------------------------------------------------------------------------

// A tile of this shape in this memory, with the implicit layout and the given valid part.
const Type* make_tile(const RuleCall& call, DType dtype, Dims shape, std::optional<MemSpace> space,
                      Dims valid = {});
// The layout of an element-wise result: valid part, block layouts and padding of `like`, in vector memory.
const Type* make_tile_like(const RuleCall& call, const TileType* like, DType dtype, Dims shape);
// A tensor with a copy of the view.
const Type* make_viewed(const RuleCall& call, TypeKind kind, DType dtype, Dims shape, const TensorView& view,
                        const Var* window = nullptr, const MemRef* memref = nullptr);
// A plain tensor; a view only if `valid` is not the whole shape.
const Type* make_tensor(const RuleCall& call, DType dtype, Dims shape, Dims valid = {});

// --- checks that tiles and tensors share; false after a report
// -----------------------------------------------------

bool atomic_ok(const RuleCall& call, DType dtype);
// Removes the dimensions that the tuple argument names from shape and valid part.
bool drop_dims(const RuleCall& call, std::size_t operand, std::vector<const Expr*>& shape,
               std::vector<const Expr*>& valid);
bool same_size(const RuleCall& call, Dims from, Dims to);
// Arguments 1 and 2 as axes, from 0.
bool swapped_axes(const RuleCall& call, std::size_t rank, std::size_t& a, std::size_t& b);
// Arguments 1 and 2 as the valid part of a matrix.
bool valid_extents(const RuleCall& call, Dims shape, Dims& valid);
bool pad_value_ok(const RuleCall& call, PadValue& pad);
// Argument 1 is a constant shape that holds `from`.
bool grows(const RuleCall& call, Dims from, Dims to);
// Argument 1 has an index for each axis; constant ones lie inside of constant extents.
bool indices_ok(const RuleCall& call, Dims shape);
// Argument 2 is a scalar of the dtype of the elements.
bool element_ok(const RuleCall& call, DType dtype);
// The shape of the same bytes as elements of another dtype. The elements follow each other in memory along the axis that is
// `contiguous` before the last one.
bool reinterpreted_shape(const RuleCall& call, DType from, DType to, Dims shape, std::optional<Dims> wanted,
                         Dims& result, std::size_t contiguous = 0);

bool constant_value(const RuleCall& call, std::size_t i);
bool sequence_ok(const RuleCall& call, Dims shape, DType dtype);
bool random_ok(const RuleCall& call, Dims shape, DType dtype);
// Shape and valid part of a lane's half (`shard`) or of the two halves together.
bool lane_geometry(const RuleCall& call, Dims shape, Dims valid, bool shard, Dims& new_shape,
                   Dims& new_valid);
bool mask_stride(const RuleCall& call, std::int64_t& stride);
bool masked_shape(const RuleCall& call, Dims shape, std::int64_t stride, Dims& result);
// The columns of `from` spread over those of `to`, which is the argument `target`.
bool spreads(const RuleCall& call, Dims from, Dims to, std::size_t target);
// The operands of gather_row, whose accumulator has this dtype and shape.
bool gathers_rows(const RuleCall& call, DType dtype, Dims shape);
bool mask_dtype(const RuleCall& call, DType from, DType& to);
bool compare_ok(const RuleCall& call, DType dtype, Dims shape, DType& counts, std::int64_t& columns);
bool sorted_pairs(const RuleCall& call, Dims shape, DType dtype, Dims& result);
bool run_length_ok(const RuleCall& call);

#define PLDC_RULE(id) const Type* rule_##id(const RuleCall& call);
#include "ir/ops/rules.def"
#undef PLDC_RULE

}  // namespace pldc
