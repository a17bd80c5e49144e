// Gathering by index. The tile op takes flat positions of one row or block, so these are loops over rows.
#include <string>

#include "passes/convert_tensor_to_tile_ops/conversions.h"

namespace pldc::tiling {

namespace {

class Gather {
 public:
  explicit Gather(Lowering& lowering)
      : op(lowering), input(op.tensor(0)->shape), index(op.tensor(1)->shape), dtype(op.tensor(0)->dtype) {}

  const Expr* run();

 private:
  using Dims = List<const Expr*>;

  Dims dims(std::initializer_list<const Expr*> list) { return op.ir().list(list); }
  // A box of an operand as one row; `raw` and `row` name the two steps.
  const Expr* box(std::size_t i, Dims offsets, Dims shape, std::string_view name) {
    if (op.on_chip(i)) {
      const Expr* part = op.op(OpId::tile_slice, {op.tile(i), op.tuple(shape), op.tuple(offsets)});
      return op.bind(name, part);
    }
    const Expr* part = op.load(op.arg(i), offsets, shape, shape);
    return part != nullptr ? op.bind(name, part) : nullptr;
  }
  const Expr* row(std::size_t i, Dims offsets, Dims shape, std::string_view name, std::string_view raw) {
    if (shape.size() == 2) return box(i, offsets, shape, name);
    const Expr* part = box(i, offsets, shape, raw);
    return part != nullptr ? op.bind(name, op.reshape(part, dims({op.index(1), shape.back()}))) : nullptr;
  }
  const Var* picked(const Expr* from, const Expr* positions, const Expr* columns) {
    const Var* scratch = op.bind("gather_row_tmp", op.create(dims({op.index(1), columns}), DType::INT32));
    return op.bind("gather_row", OpId::tile_gather, {from, positions, scratch});
  }
  const Expr* matrix_rows();
  const Expr* nested_rows();
  const Expr* across(std::size_t axis);

  Lowering& op;
  const Dims input;
  const Dims index;
  const DType dtype;
};

// Rank 2 along the last axis.
const Expr* Gather::matrix_rows() {
  const Var* start = op.bind("gather_acc_init", op.create(index, dtype));
  return op.carry_loop(
      {"gather_lv", "gather_ia", "gather_rv"}, index[0], start,
      [&](const Var* at, const Var* carried) -> const Expr* {
        const Dims offsets = dims({at, op.index(0)});
        const Expr* from = row(0, offsets, dims({op.index(1), input[1]}), "gather_inp_row", "gather_inp_raw");
        const Expr* positions =
            row(1, offsets, dims({op.index(1), index[1]}), "gather_idx_row", "gather_idx_raw");
        if (from == nullptr || positions == nullptr) return carried;
        const Var* part = picked(from, positions, index[1]);
        return op.bind("gather_asmbl", OpId::tile_assemble, {carried, part, op.tuple(offsets)});
      });
}

// Rank 3 along the last axis: the rows of each page become one row of the result's first form.
const Expr* Gather::nested_rows() {
  const std::int64_t pages = const_int(index[0]).value_or(1);
  const std::int64_t rows = const_int(index[1]).value_or(1);
  const std::int64_t columns = const_int(index[2]).value_or(1);
  const Var* start = op.bind("gather_outer_acc_init", op.create(op.dims({pages, rows * columns}), dtype));
  const Var* all = op.carry_loop(
      {"gather_outer_lv", "gather_outer_ia", "gather_outer_rv"}, index[0], start,
      [&](const Var* page, const Var* outer) -> const Expr* {
        const Var* inner_start =
            op.bind("gather_inner_acc_init", op.create(dims({index[1], index[2]}), dtype));
        const Var* block = op.carry_loop({"gather_inner_lv", "gather_inner_ia", "gather_inner_rv"}, index[1],
                                         inner_start, [&](const Var* at, const Var* inner) -> const Expr* {
                                           const Dims offsets = dims({page, at, op.index(0)});
                                           const Expr* one = op.index(1);
                                           const Expr* from = row(0, offsets, dims({one, one, input[2]}),
                                                                  "gather_inp_row", "gather_inp_raw");
                                           const Expr* positions = row(1, offsets, dims({one, one, index[2]}),
                                                                       "gather_idx_row", "gather_idx_raw");
                                           if (from == nullptr || positions == nullptr) return inner;
                                           const Var* part = picked(from, positions, index[2]);
                                           return op.bind("gather_inner_asmbl", OpId::tile_assemble,
                                                          {inner, part, op.tuple({at, op.index(0)})});
                                         });
        const Var* flat = op.bind("gather_inner_flat", op.reshape(block, op.dims({1, rows * columns})));
        return op.bind("gather_outer_asmbl", OpId::tile_assemble,
                       {outer, flat, op.tuple({page, op.index(0)})});
      });
  return op.bind("gather_out", op.reshape(all, op.dims({pages * rows, columns})));
}

// Along another axis than the last: the elements that one row of the result may come from, flattened, and the position of
// each among them.
const Expr* Gather::across(std::size_t axis) {
  const std::size_t rank = index.size();
  const std::int64_t columns = const_int(index[rank - 1]).value_or(1);
  const std::int64_t width = const_int(input[rank - 1]).value_or(1);
  const std::int64_t along = const_int(input[axis]).value_or(1);
  const std::int64_t pages = rank == 3 ? const_int(index[0]).value_or(1) : 1;
  const std::int64_t rows = const_int(index[rank - 2]).value_or(1);
  // tile.ci makes no single number.
  const Expr* numbers = columns == 1 ? op.full(op.dims({1, 1}), DType::INT32, 0)
                                     : op.op(OpId::tile_ci, {op.int32(0), op.tuple(op.dims({1, columns}))},
                                             {{"dtype", AttrValue::of_dtype(DType::INT32)}});
  const Var* range = op.bind("gather_range", numbers);
  const Var* start = op.bind("gather_main_acc_init", op.create(op.dims({pages * rows, columns}), dtype));
  const Var* all = op.carry_loop(
      {"gather_main_lv", "gather_main_ia", "gather_main_rv"}, op.index(pages * rows), start,
      [&](const Var* at, const Var* carried) -> const Expr* {
        const Expr* page = op.div(at, op.index(rows));
        const Expr* in_page = op.mod(at, op.index(rows));
        std::vector<const Expr*> source = rank == 3 ? std::vector<const Expr*>{page, in_page, op.index(0)}
                                                    : std::vector<const Expr*>{at, op.index(0)};
        std::vector<const Expr*> extents(rank, op.index(1));
        source[axis] = op.index(0);
        extents[axis] = input[axis];
        extents[rank - 1] = input[rank - 1];
        const Expr* block = box(0, op.ir().list(source), op.ir().list(extents), "gather_inp_raw");
        if (block == nullptr) return carried;
        const Var* matrix = op.bind("gather_inp_2d", op.reshape(block, op.dims({along, width})));
        const Var* flat = op.bind("gather_inp_flat", op.reshape(matrix, op.dims({1, along * width})));
        const Dims place = rank == 3 ? dims({page, in_page, op.index(0)}) : dims({at, op.index(0)});
        const Dims one_row = rank == 3 ? op.dims({1, 1, columns}) : op.dims({1, columns});
        const Expr* positions = row(1, place, one_row, "gather_idx_row", "gather_idx_raw");
        if (positions == nullptr) return carried;
        const Var* scaled = op.bind("gather_idx_s", OpId::tile_muls, {positions, op.int32(width)});
        const Var* flat_index = op.bind("gather_fidx", OpId::tile_add, {scaled, range});
        const Var* part = picked(flat, flat_index, index[rank - 1]);
        return op.bind("gather_main_asmbl", OpId::tile_assemble,
                       {carried, part, op.tuple({at, op.index(0)})});
      });
  return op.bind("gather_out", op.reshape(all, op.dims({pages * rows, columns})));
}

const Expr* Gather::run() {
  const std::size_t rank = index.size();
  for (const List<const Expr*> shape : {input, index}) {
    for (const Expr* extent : shape) {
      if (!const_int(extent))
        return op.no_form("an extent that is no constant", "tensors of constant shape",
                          "take slices of constant shape first");
    }
  }
  std::int64_t axis = op.integer("dim", -1);
  if (axis < 0) axis += static_cast<std::int64_t>(rank);
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank) || rank < 2 || rank > 3)
    return op.no_form("a tensor of " + std::to_string(rank) + " axes", "two or three axes",
                      "reshape the operands");
  if (axis + 1 < static_cast<std::int64_t>(rank)) return across(static_cast<std::size_t>(axis));
  return rank == 2 ? matrix_rows() : nested_rows();
}

}  // namespace

const Expr* gather(Lowering& op) { return Gather(op).run(); }

const Expr* gather_compare(Lowering& op) {
  const Expr* tile = op.vector(0);
  if (tile == nullptr) return nullptr;
  const Var* scratch = op.bind("gc_tmp", op.create(op.shape_of(tile), DType::UINT8));
  return same_call(op, OpId::tile_gather_compare, {tile, op.arg(1), scratch});
}

const Expr* gather_row(Lowering& op) {
  const Expr* accumulator = op.tile(0);
  const Expr* source = op.memory(1);
  if (accumulator == nullptr || source == nullptr) return nullptr;
  std::vector<const Expr*> operands = {accumulator, source};
  for (std::size_t i = 2; i < op.count(); ++i) operands.push_back(op.arg(i));
  return op.op(OpId::tile_gather_row, op.ir().list(operands), op.call->kwargs);
}

// One row after the other: its logical number, the page that the table has for it, the physical row.
const Expr* paged_gather(Lowering& op) {
  const Expr* source = op.memory(0);
  const Expr* indices = op.memory(1);
  const Expr* table = op.memory(2);
  if (source == nullptr || indices == nullptr || table == nullptr) return nullptr;
  const bool transposed = op.flag("is_trans");
  const std::int64_t size = op.integer("size", 1);
  const Expr* page_rows = op.index(op.integer("block_size", 1));
  const auto* from = dyn<TensorType>(source->type);
  const auto* index_type = dyn<TensorType>(indices->type);
  if (from == nullptr || index_type == nullptr) return nullptr;
  const std::size_t index_rank = index_type->shape.size();
  const std::int64_t most = op.integer("max_indices", 1);
  const auto space = static_cast<MemSpace>(op.integer("space", static_cast<std::int64_t>(MemSpace::Mat)));
  const Var* rows =
      op.bind("pg_rows", OpId::tensor_dim, {indices, op.index(static_cast<std::int64_t>(index_rank) - 1)});
  const List<const Expr*> shape = transposed ? op.dims({size, most}) : op.dims({most, size});
  const Var* start = op.bind("paged_gather_acc", op.create(shape, from->dtype, space));
  const auto element = [&](std::string_view name, const Expr* tensor, const Expr* at) {
    const auto* type = dyn<TensorType>(tensor->type);
    std::vector<const Expr*> place(type->shape.size(), op.index(0));
    place.back() = at;
    const Var* raw = op.bind(tile_name(std::string(name) + "_raw__tile"), OpId::tensor_read,
                             {tensor, op.tuple(op.ir().list(place))});
    return op.bind(name, op.cast(raw, DType::INDEX));
  };
  return op.carry_loop(
      {"pg_i", "paged_gather_iter", "paged_gather_result"}, rows, start,
      [&](const Var* at, const Var* carried) -> const Expr* {
        const Var* logical = element("pg_idx", indices, at);
        const Var* block = op.bind("pg_blk", op.div(logical, page_rows));
        const Var* rest = op.bind("pg_rem", op.mod(logical, page_rows));
        const Var* page = element("pg_pblk", table, block);
        const Var* row = op.bind("pg_phys", op.add(op.mul(page, page_rows), rest));
        const Expr* to = transposed ? op.tuple({op.index(0), at}) : op.tuple({at, op.index(0)});
        return op.bind("pg_row", OpId::tile_gather_row,
                       {carried, source, to, op.tuple({row, op.index(op.integer("col_off", 0))}),
                        op.tuple(op.dims({1, size}))},
                       {{"transpose", AttrValue::of_bool(transposed)}});
      });
}

const Expr* merge_sorted(Lowering& op) {
  std::vector<const Expr*> operands;
  for (std::size_t i = 0; i < op.count(); ++i) {
    operands.push_back(op.vector(i));
    if (operands.back() == nullptr) return nullptr;
  }
  if (op.result() == nullptr) return nullptr;
  operands.push_back(op.bind("mrgsort2_tmp", op.create(op.result()->shape, op.result()->dtype)));
  return op.op(OpId::tile_mrgsort_format2, op.ir().list(operands), op.call->kwargs);
}

}  // namespace pldc::tiling
