// Tile variables of a kernel.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/device/body.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

// An address in the memory that TileType names: both scale memories are parts of one there.
std::string hex(const TileForm& form, std::uint64_t value) {
  const std::uint64_t base = form.space == MemSpace::RightScale ? space_bytes(MemSpace::LeftScale) : 0;
  return fmt::format("0x{:x}", base + value);
}

// A [R, 1] tile's place for its elements is the same as that of a [1, R] tile.
TileForm row_form(const TileForm& form) {
  TileForm row = form;
  row.by_columns = false;
  row.rows = form.by_columns ? form.cols : 1;
  row.cols = form.by_columns ? form.rows : form.cols;
  row.pad = PadValue::Null;
  return row;
}

}  // namespace

TileForm KernelBody::form_of(const TileType* type, MemSpace space) const {
  const auto physical = physical_tile(type);
  if (!physical) return {};
  TileView view = effective_view(type);
  if (type->space && *type->space != space) {
    // A value that shares memory with one of another space, such as a carry, lies there as that space has it.
    const TileView there = implicit_tile_view(type->shape, space);
    view.blayout = there.blayout;
    view.slayout = there.slayout;
  }
  return tile_form(space, type->dtype, physical->rows, physical->cols, view);
}

MemSpace KernelBody::space_of(const Var* var) const {
  if (const TilePlace* place = env.placement.find(var)) return place->space;
  const auto* type = dyn<TileType>(var->type);
  return type != nullptr && type->space ? *type->space : MemSpace::Vec;
}

KernelBody::Box KernelBody::valid_box(const TileType* type) {
  const List<const Expr*> valid = valid_shape_of(type);
  Box box{Extent(1), Extent(1), true};
  if (valid.empty()) return box;
  box.cols = index(valid.back());
  bool outer_is_one = true;  // all axes so far have one valid element
  for (std::size_t i = 0; i + 1 < valid.size(); ++i) {
    const Extent extent = index(valid[i]);
    // Rows of different outer indices follow each other only if no row between them is missing.
    const auto whole = fold(type->shape[i]);
    if (!outer_is_one && !(whole && extent.is(*whole))) box.rectangle = false;
    if (!extent.is(1)) outer_is_one = false;
    box.rows = product(box.rows, extent);
  }
  return box;
}

bool KernelBody::require_rectangle(const OpCall& op, const TileType* type) {
  if (type != nullptr && valid_box(type).rectangle) return true;
  env.diags.report<diag::kernel_valid_box>(op.span(), op.info().name)
      .help("run the pass FlattenTileNdTo2D, or process the outer dimension in a loop");
  return false;
}

std::uint64_t KernelBody::reserve(MemSpace space, std::uint64_t bytes, std::uint64_t& from) {
  constexpr std::uint64_t kUnit = 32;
  const std::uint64_t at = (from + kUnit - 1) / kUnit * kUnit;
  from = at + bytes;
  std::uint64_t& most = reserved_[static_cast<std::size_t>(space)];
  most = std::max(most, from);
  if (from <= space_bytes(space) || !memory_reported_.insert(std::string(name_of(space))).second) return at;
  if (!env.placement.may_be_large(space)) {
    env.diags
        .report<diag::kernel_scratch>(kernel.name_span, kernel.name.text(), from, name_of(space),
                                      space_bytes(space))
        .help("process the data in smaller tiles");
  } else if (!env.placement.is_large(space)) {  // else it is reported
    env.diags
        .report<diag::codegen_large_memory>(kernel.name_span, kernel.name.text(), from, name_of(space),
                                            space_bytes(space))
        .help("process the data in smaller tiles before this runs on a device");
  }
  return at;
}

std::string KernelBody::assign_text(const std::string& name, const TileForm& form, std::uint64_t address,
                                    const std::string& offset) {
  std::string at = hex(form, address);
  if (!offset.empty()) at += fmt::format(" + static_cast<uint64_t>({})", offset);
  if (env.placement.may_be_large(form.space)) movable_tiles_.emplace(name, form.space);
  return fmt::format("TASSIGN({}, {});", name, at);
}

std::string KernelBody::with_large_memories(const std::string& text) const {
  std::map<MemSpace, std::pair<std::string, std::uint64_t>> large;  // name and bytes
  for (const auto& [name, space] : movable_tiles_) {
    const std::uint64_t bytes =
        std::max(env.placement.used(space), reserved_[static_cast<std::size_t>(space)]);
    if (bytes > space_bytes(space)) large[space] = {fmt::format("large_{}", name_of(space)), bytes};
  }
  if (large.empty()) return text;
  std::string out;
  for (const auto& [space, memory] : large) {
    out += fmt::format("  pld_large_memory {}({});\n", memory.first, memory.second);
  }
  constexpr std::string_view kAssign = "TASSIGN(";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    std::string line = text.substr(at, end - at);
    const std::size_t call = line.find_first_not_of(' ');
    if (call != std::string::npos && line.compare(call, kAssign.size(), kAssign) == 0) {
      const std::size_t first = call + kAssign.size();
      const auto tile = movable_tiles_.find(line.substr(first, line.find(',', first) - first));
      const auto memory = tile != movable_tiles_.end() ? large.find(tile->second) : large.end();
      if (memory != large.end()) {
        line.insert(first + tile->first.size(), ", " + memory->second.first);
        line.replace(call, kAssign.size(), "pld_assign(");
      }
    }
    out += line;
    at = end;
  }
  return out;
}

std::string KernelBody::declare_tile(std::string_view like, const TileForm& form, const Extent& valid_rows,
                                     const Extent& valid_cols, std::uint64_t address,
                                     const std::string& offset) {
  check_core(form);
  const std::string type = tile_type_text(form, valid_rows, valid_cols);
  const bool fixed = valid_rows.constant && valid_cols.constant && offset.empty();
  const std::string key = fixed ? fmt::format("{}@{}", type, address) : std::string();
  if (fixed) {
    const auto known = tile_names_.find(key);
    if (known != tile_names_.end()) return known->second;
  }
  // Declared at the top of the function, so the name must stay free of other uses to the end.
  const std::string name = names_.fresh(like);
  names_.reserve(name);
  std::string arguments;
  if (!valid_rows.constant && !valid_cols.constant) {
    arguments = fmt::format("({}, {})", form.rows, form.cols);
  } else if (!valid_rows.constant || !valid_cols.constant) {
    arguments = fmt::format("({})", valid_rows.constant ? form.cols : form.rows);
  }
  declarations_.line(fmt::format("{} {}{};", type, name, arguments));
  if (offset.empty()) declarations_.line(assign_text(name, form, address));
  if (fixed) tile_names_.emplace(key, name);
  return name;
}

void KernelBody::set_valid(const TileRef& tile) {
  if (tile.valid_rows.constant && tile.valid_cols.constant) return;
  line(fmt::format("{}.SetValidShape({}, {});", tile.name, tile.valid_rows.text, tile.valid_cols.text));
}

TileRef KernelBody::tile(const Expr* expr) {
  const auto* var = dyn<Var>(expr);
  if (var != nullptr) {
    const auto known = tiles_.find(var);
    if (known != tiles_.end()) return known->second;
    // Contents that nobody has written: a tile.create, or the result of a call that failed.
    if (definitions_.count(var) != 0 && env.placement.find(var) != nullptr) return result(var);
  }
  if (var != nullptr && !env.diags.has_errors()) {
    env.diags.report<diag::codegen_no_value>(expr->span, plain_name(var->name.text()));
  }
  fail();
  return {};
}

TileRef KernelBody::result(const Var* var) {
  const auto* type = static_cast<const TileType*>(var->type);
  const auto known = tiles_.find(var);
  if (known != tiles_.end()) {
    set_valid(known->second);
    return known->second;
  }
  const TilePlace* place = env.placement.find(var);
  const auto physical = physical_tile(type);
  TileRef out;
  if (place == nullptr || !physical) {  // reported by the placement
    fail();
    return out;
  }
  out.form = form_of(type, place->space);
  out.ir_rows = physical->rows;
  out.ir_cols = physical->cols;
  const Box box = valid_box(type);
  out.valid_rows = box.rows;
  out.valid_cols = box.cols;
  out.address = place->address;
  if (place->offset != nullptr) {
    const Extent offset = index(place->offset);
    out.offset = offset.text;
    out.unit = offset.unit;
  }
  check_address(out);
  out.name =
      declare_tile(var->name.text(), out.form, out.valid_rows, out.valid_cols, out.address, out.offset);
  if (!out.offset.empty()) {
    line(assign_text(out.name, out.form, out.address, out.offset));
  }
  set_valid(out);
  tiles_[var] = out;
  return out;
}

TileRef KernelBody::view(const TileRef& like, const TileForm& form, const Extent& valid_rows,
                         const Extent& valid_cols, const Sum& byte_offset, std::string_view suffix) {
  TileRef out = like;
  out.form = form;
  out.valid_rows = valid_rows;
  out.valid_cols = valid_cols;
  if (byte_offset.is_constant()) {
    out.address += static_cast<std::uint64_t>(byte_offset.constant());
  } else {
    Sum sum = byte_offset;
    if (!like.offset.empty()) sum.add(Extent(like.offset, like.unit));
    out.offset = sum.extent().text;
    out.unit = sum.unit();
  }
  check_address(out);
  const std::string name = suffix.empty() ? like.name : fmt::format("{}_{}", like.name, suffix);
  out.name = declare_tile(name, form, valid_rows, valid_cols, out.address, out.offset);
  if (!out.offset.empty()) {
    line(assign_text(out.name, out.form, out.address, out.offset));
  }
  set_valid(out);
  return out;
}

TileRef KernelBody::bind_view(const Var* var, const TileRef& parent, const TileForm& form,
                              const Sum& byte_offset) {
  const auto* type = static_cast<const TileType*>(var->type);
  const Box box = valid_box(type);
  TileRef like = parent;
  like.name = std::string(var->name.text());
  TileRef out = view(like, form, box.rows, box.cols, byte_offset);
  if (const auto physical = physical_tile(type)) {
    out.ir_rows = physical->rows;
    out.ir_cols = physical->cols;
  }
  tiles_[var] = out;
  return out;
}

TileRef KernelBody::scratch(const TileForm& form, const Extent& valid_rows, const Extent& valid_cols) {
  const auto s = static_cast<std::size_t>(form.space);
  std::uint64_t from = std::max(scratch_[s], own_[s]);
  TileRef out;
  out.form = form;
  out.form.pad = PadValue::Null;
  out.valid_rows = valid_rows;
  out.valid_cols = valid_cols;
  out.ir_rows = valid_rows.constant.value_or(form.rows);
  out.ir_cols = valid_cols.constant.value_or(form.cols);
  out.address = reserve(form.space, form.bytes(), from);
  scratch_[s] = from;
  out.name = declare_tile("scratch", out.form, valid_rows, valid_cols, out.address, {});
  set_valid(out);
  return out;
}

TileRef KernelBody::scratch_like(const TileRef& tile) {
  return is_official() ? scratch(tile.form, tile.valid_rows, tile.valid_cols) : tile;
}

TileRef KernelBody::own_memory(std::string_view like, const TileForm& form, const Extent& valid_rows,
                               const Extent& valid_cols) {
  const auto s = static_cast<std::size_t>(form.space);
  TileRef out;
  out.form = form;
  out.valid_rows = valid_rows;
  out.valid_cols = valid_cols;
  out.ir_rows = form.rows;
  out.ir_cols = form.cols;
  out.address = reserve(form.space, form.bytes(), own_[s]);
  scratch_[s] = std::max(scratch_[s], own_[s]);
  out.name = declare_tile(like, form, valid_rows, valid_cols, out.address, {});
  set_valid(out);
  return out;
}

Pipe KernelBody::move_pipe(const TileForm& to, const TileForm& from) {
  if (from.space == MemSpace::Acc) return Pipe::FIX;
  if (from.space == MemSpace::Mat) return Pipe::MTE1;
  if (from.space == MemSpace::Vec && to.space != MemSpace::Vec) return Pipe::MTE3;
  return Pipe::V;
}

void KernelBody::move(const TileRef& to, const TileRef& from) {
  if (to.form.space == from.form.space && same_place(to, from)) return;
  issue(move_pipe(to.form, from.form), {{from}, {to}}, fmt::format("TMOV({}, {});", to.name, from.name));
}

TileRef KernelBody::as_row(const TileRef& tile) {
  if (!tile.form.by_columns && tile.ir_rows == 1) return tile;
  TileRef source = tile;
  if (!tile.form.by_columns) {
    // A column of a wider tile: its elements do not follow each other.
    source = scratch(tile_form(tile.form.space, tile.form.dtype, std::max<std::int64_t>(2, tile.ir_rows), 1),
                     tile.valid_rows, 1);
    issue(Pipe::V, {{tile}, {source}}, fmt::format("TMOV({}, {});", source.name, tile.name));
  }
  TileRef out = view(source, row_form(source.form), source.valid_cols, source.valid_rows, {}, "row");
  out.ir_rows = tile.ir_cols;
  out.ir_cols = tile.ir_rows;
  return out;
}

TileRef KernelBody::as_column(const TileRef& tile) {
  if (tile.form.is_column()) return tile;
  TileForm column = tile_form(tile.form.space, tile.form.dtype, std::max<std::int64_t>(2, tile.ir_rows), 1);
  if (tile.ir_rows == 1) return view(tile, column, tile.valid_rows, 1, {}, "column");
  const TileRef out = scratch(column, tile.valid_rows, 1);
  issue(Pipe::V, {{tile}, {out}}, fmt::format("TMOV({}, {});", out.name, tile.name));
  return out;
}

TileRef KernelBody::by_rows(const TileRef& tile) {
  if (!tile.form.by_columns || tile.ir_cols == 1) return tile;
  TileRef shape = tile;
  shape.form = tile_form(MemSpace::Vec, tile.form.dtype, tile.ir_rows, tile.ir_cols);
  return like(tile, shape);
}

TileRef KernelBody::row_operand(const TileRef& tile) {
  if (tile.ir_rows == 1 && tile.ir_cols > 1) return by_rows(tile);
  return tile.form.by_columns || tile.ir_rows != 1 ? as_row(tile) : tile;
}

TileRef KernelBody::in_space(const TileRef& tile, MemSpace space) {
  if (tile.form.space == space) return tile;
  const TileForm form = tile_form(space, tile.form.dtype, tile.ir_rows, tile.ir_cols);
  TileRef out = scratch(form, tile.valid_rows, tile.valid_cols);
  out.ir_rows = tile.ir_rows;
  out.ir_cols = tile.ir_cols;
  move(out, tile);
  return out;
}

TileRef KernelBody::with_dtype(const TileRef& tile, DType dtype) {
  if (tile.form.dtype == dtype) return tile;
  TileForm form = tile_form(tile.form.space, dtype, tile.ir_rows, tile.ir_cols);
  if (tile.form.by_columns && !form.by_columns) {
    form.by_columns = true;
    form.rows = rounded_up(tile.ir_rows, line_elements(dtype));
    form.cols = tile.ir_cols;
  }
  TileRef out = scratch(form, tile.valid_rows, tile.valid_cols);
  out.ir_rows = tile.ir_rows;
  out.ir_cols = tile.ir_cols;
  issue(Pipe::V, {{tile}, {out}}, fmt::format("TCVT({}, {}, RoundMode::CAST_RINT);", out.name, tile.name));
  return out;
}

TileRef KernelBody::repeated(const TileRef& tile, const TileRef& destination, bool rows, bool cols) {
  const DType dtype = tile.form.dtype;
  if (destination.ir_cols == 1) {  // one element for a whole column: a row of it, read as a column
    const TileRef source = as_column(tile);
    const TileRef row =
        scratch(tile_form(MemSpace::Vec, dtype, 1, destination.ir_rows), 1, destination.valid_rows);
    issue(Pipe::V, {{source}, {row}}, fmt::format("TROWEXPAND({}, {});", row.name, source.name));
    TileRef out = view(row, tile_form(MemSpace::Vec, dtype, destination.ir_rows, 1), destination.valid_rows,
                       1, {}, "column");
    out.ir_rows = destination.ir_rows;
    out.ir_cols = 1;
    return out;
  }
  TileRef now = tile;
  if (cols) {
    const TileRef source = as_column(now);
    const std::int64_t height = rows ? 1 : destination.ir_rows;
    TileRef out = scratch(tile_form(MemSpace::Vec, dtype, height, destination.ir_cols),
                          rows ? Extent(1) : destination.valid_rows, destination.valid_cols);
    issue(Pipe::V, {{source}, {out}}, fmt::format("TROWEXPAND({}, {});", out.name, source.name));
    out.ir_rows = height;
    out.ir_cols = destination.ir_cols;
    now = out;
  }
  if (rows) {
    now = by_rows(now);
    TileRef out = scratch(tile_form(MemSpace::Vec, dtype, destination.ir_rows, destination.ir_cols),
                          destination.valid_rows, destination.valid_cols);
    issue(Pipe::V, {{now}, {out}}, fmt::format("TCOLEXPAND({}, {});", out.name, now.name));
    out.ir_rows = destination.ir_rows;
    out.ir_cols = destination.ir_cols;
    now = out;
  }
  return now;
}

TileRef KernelBody::like(const TileRef& tile, const TileRef& destination) {
  TileRef now = with_dtype(tile, destination.form.dtype);
  // An axis of one element is repeated where the result has more.
  const bool rows = now.ir_rows == 1 && destination.ir_rows != 1 && !destination.valid_rows.is(1);
  const bool cols = now.ir_cols == 1 && destination.ir_cols != 1 && !destination.valid_cols.is(1);
  if (rows || cols) now = repeated(now, destination, rows, cols);
  if (now.form.by_columns == destination.form.by_columns) return now;
  TileForm form = destination.form;
  form.space = MemSpace::Vec;
  TileRef out = scratch(form, destination.valid_rows, destination.valid_cols);
  out.ir_rows = now.ir_rows;
  out.ir_cols = now.ir_cols;
  issue(Pipe::V, {{now}, {out}}, fmt::format("TMOV({}, {});", out.name, now.name));
  return out;
}

bool KernelBody::check_dtype(const OpCall& op, DType dtype) {
  if (!cpp_memory_type(dtype).empty()) return true;
  env.diags.report<diag::kernel_dtype>(op.span(), op.info().name, name_of(dtype))
      .help("cast to a dtype of 8, 16, 32 or 64 bits that the tile library has");
  return false;
}

}  // namespace pldc
