// Gather, scatter, sort, sequences.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/device/ops.h"
#include "codegen/device/transfer.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

std::string mask_pattern(std::int64_t number) {
  constexpr std::string_view kPatterns[] = {"P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"};
  return fmt::format("MaskPattern::{}", number >= 1 && number <= 7 ? kPatterns[number - 1] : "P1111");
}

bool gather(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const TileRef to = body.result(op.result);
  // Flat indices count the elements of the IR's rows, which have no padding.
  const TileRef from = without_padding(body, vector_operand(body, op, 0));
  const TileRef index = vector_operand(body, op, 1);
  const TileRef tmp = op.args() > 2 ? body.tile(op.arg(2)) : body.scratch_like(index);
  body.issue(Pipe::V, {{from, index}, {to, tmp}},
             fmt::format("TGATHER({}, {}, {}, {});", to.name, from.name, index.name, tmp.name));
  return true;
}

bool gatherb(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const TileRef to = body.result(op.result);
  const TileRef from = without_padding(body, vector_operand(body, op, 0));
  const TileRef offsets = vector_operand(body, op, 1);
  body.issue(Pipe::V, {{from, offsets}, {to}},
             fmt::format("TGATHERB({}, {}, {});", to.name, from.name, offsets.name));
  return true;
}

bool gather_mask(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const TileRef to = body.result(op.result);
  const TileRef from = vector_operand(body, op, 0);
  body.issue(Pipe::V, {{from}, {to}},
             fmt::format("TGATHER<{}>({}, {});", mask_pattern(keyword_int(op, "mask_pattern", 7)), to.name,
                         from.name));
  return true;
}

bool scatter(KernelBody& body, const OpCall& op) {
  const TileRef from = vector_operand(body, op, 1);
  const TileRef index = vector_operand(body, op, 2);
  const TileRef to = in_place(body, op, 0);
  const TileRef flat = without_padding(body, to);
  body.issue(Pipe::V, {{from, index, flat}, {flat}},
             fmt::format("TSCATTER({}, {}, {});", flat.name, from.name, index.name));
  if (flat.name != to.name) copy_flat(body, to, flat);
  return true;
}

bool scatter_mask(KernelBody& body, const OpCall& op) {
  const TileRef from = vector_operand(body, op, 1);
  const TileRef to = in_place(body, op, 0);
  body.issue(Pipe::V, {{from, to}, {to}},
             fmt::format("TSCATTER<{}>({}, {});", mask_pattern(keyword_int(op, "mask_pattern", 7)), to.name,
                         from.name));
  return true;
}

// Rows of a copy of the input, replaced in the order of the indices.
bool scatter_update(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const auto* index_type = static_cast<const TileType*>(op.arg(1)->type);
  const TileRef input = vector_operand(body, op, 0);
  const TileRef index = vector_operand(body, op, 1);
  const TileRef source = body.by_rows(vector_operand(body, op, 2));
  const TileRef to = body.result(op.result);
  if (!require_rank_2(body, op, op.arg(0))) return false;
  const KernelBody::Box count = body.valid_box(index_type);
  body.move(to, input);
  const TileRef rows = body.by_rows(to);
  body.place();
  body.barrier();
  const std::string i = body.fresh("i");
  body.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", i, product(count.rows, count.cols).text));
  const std::string at =
      fmt::format("static_cast<int64_t>({}.GetValue({}))", index.name, element_place(index, i));
  if (source.ir_cols == 1) {  // no box of one element is 32 bytes
    body.statement(fmt::format("{}.SetValue({} * {}, {}.GetValue({} * {}));", rows.name, at,
                               rows.form.row_step(), source.name, i, source.form.row_step()));
  } else {
    TileForm form = source.form;
    form.rows = 1;
    Sum bytes;
    bytes.add_product(Extent(i),
                      Extent(source.form.row_step() * static_cast<std::int64_t>(byte_width(form.dtype))));
    const TileRef row = body.view(source, form, Extent(1), source.valid_cols, bytes, "row");
    body.statement(fmt::format("TINSERT({}, {}, {}, 0);", rows.name, row.name, at));
  }
  body.barrier();
  body.close();
  if (rows.name != to.name) body.move(to, rows);
  return true;
}

bool gather_compare(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const auto* types = dyn<TupleType>(op.result->type);
  if (types == nullptr || types->elements.size() != 2) return false;
  const TileRef from = vector_operand(body, op, 0);
  // A result that nothing takes goes into scratch memory. Two that the text has put in one place are parted.
  const auto part = [&](std::size_t i) {
    if (const Var* var = body.tuple_part(op.result, i)) return body.result(var);
    const auto* type = static_cast<const TileType*>(types->elements[i]);
    const KernelBody::Box box = body.valid_box(type);
    return body.scratch(body.form_of(type, MemSpace::Vec), box.rows, box.cols);
  };
  const TileRef list = part(0);
  TileRef count = part(1);
  if (region_of(list).overlaps(region_of(count))) {
    const TileRef apart = body.own_memory("count", count.form, count.valid_rows, count.valid_cols);
    if (const Var* var = body.tuple_part(op.result, 1)) body.bind(var, apart);
    count = apart;
  }
  body.issue(Pipe::V, {{from}, {list, count}},
             fmt::format("TGATHER_CMP({}, {}, {}, {}, {}, {});", list.name, count.name, from.name,
                         body.scalars.as(op.arg(1), from.form.dtype),
                         compare_mode(keyword_int(op, "cmp_mode", 0)), keyword_int(op, "offset", 0)));
  return true;
}

bool require_fp32(KernelBody& body, const OpCall& op, const TileRef& tile) {
  if (tile.form.dtype == DType::FP32) return true;
  body.env.diags.report<diag::kernel_dtype>(op.span(), op.info().name, name_of(tile.form.dtype))
      .help("cast the values to FP32 first");
  return false;
}

bool sort32(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const TileRef from = vector_operand(body, op, 0);
  const TileRef index = vector_operand(body, op, 1);
  if (!require_fp32(body, op, from)) return false;
  const TileRef to = body.result(op.result);
  body.issue(Pipe::V, {{from, index}, {to}},
             fmt::format("TSORT32({}, {}, {});", to.name, from.name, index.name));
  return true;
}

bool merge_runs(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const TileRef from = vector_operand(body, op, 0);
  if (!require_fp32(body, op, from)) return false;
  const TileRef to = body.result(op.result);
  body.issue(Pipe::V, {{from}, {to}},
             fmt::format("TMRGSORT({}, {}, {});", to.name, from.name, body.scalars.index(op.arg(1))));
  return true;
}

bool merge_tiles(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const TileRef to = body.result(op.result);
  Touch touch{{}, {to}};
  std::string sources;
  for (std::size_t i = 0; i + 1 < op.args(); ++i) {  // the last one is scratch memory
    const TileRef from = vector_operand(body, op, i);
    if (!require_fp32(body, op, from)) return false;
    touch.reads.push_back(from);
    sources += ", " + from.name;
  }
  body.issue(Pipe::V, touch,
             fmt::format("TMRGSORT_TILES<{}>({}{});", keyword_int(op, "exhausted", 0) != 0 ? "true" : "false",
                         to.name, sources));
  return true;
}

bool sequence(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const TileRef to = body.result(op.result);
  body.issue(Pipe::V, {{}, {to}},
             fmt::format("TCI({}, {}, {});", to.name, body.scalars.as(op.arg(0), to.form.dtype),
                         keyword_int(op, "descending", 0) != 0 ? "true" : "false"));
  return true;
}

bool triangle(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const TileRef to = body.result(op.result);
  body.issue(Pipe::V, {{}, {to}},
             fmt::format("TTRI({}, {}, {});", to.name, body.scalars.as(op.arg(0), DType::INT32),
                         keyword_int(op, "upper", 0) != 0 ? "true" : "false"));
  return true;
}

bool random(KernelBody& body, const OpCall& op) {
  if (op.result == nullptr) return true;
  const TileRef to = body.result(op.result);
  std::string seeds;
  for (std::size_t i = 0; i < 6 && i < op.args(); ++i)
    seeds += ", " + body.scalars.as(op.arg(i), DType::UINT32);
  body.issue(Pipe::V, {{}, {to}},
             fmt::format("TRANDOM<{}>({}{});", keyword_int(op, "rounds", 10), to.name, seeds));
  return true;
}

constexpr OpEmitter kIndexOps[] = {
    {OpId::tile_ci, sequence},
    {OpId::tile_gather, gather},
    {OpId::tile_gather_compare, gather_compare},
    {OpId::tile_gather_mask, gather_mask},
    {OpId::tile_gatherb, gatherb},
    {OpId::tile_mrgsort_format1, merge_runs},
    {OpId::tile_mrgsort_format2, merge_tiles},
    {OpId::tile_random, random},
    {OpId::tile_scatter, scatter},
    {OpId::tile_scatter_mask, scatter_mask},
    {OpId::tile_scatter_update, scatter_update},
    {OpId::tile_sort32, sort32},
    {OpId::tile_tri, triangle},
};

}  // namespace

std::span<const OpEmitter> index_ops() { return kIndexOps; }

}  // namespace pldc
