// tile = "pl.Tile[[" dims "], pl." DTYPE [ "," memref ] [ ", pl.Mem." SPACE ] [ "," view ] "]"
#include "frontend/reader.h"
#include "frontend/reader_enum.h"
#include "frontend/writer.h"
#include "support/diag/parse.h"
#include "support/diag/type.h"

namespace pldc {

struct Reader::TileViewText {
  std::vector<const Expr*> valid_shape, stride;
  const Expr* start_offset = nullptr;
  std::optional<TileLayout> blayout, slayout;
  std::optional<std::int64_t> fractal;
  PadValue pad = PadValue::Null;
  CompactMode compact = CompactMode::Null;
};

bool Reader::read_tile_view(TileViewText& view) {
  const FlagGuard guard(in_view_);
  if (!expect(Tok::LParen, "after 'pl.TileView'")) return false;
  while (!at(Tok::RParen)) {
    const Token key_token = tok_;
    if (!at(Tok::Name) || peek2().kind != Tok::Assign) {
      unexpected("a field of the view, such as valid_shape=");
      return false;
    }
    const std::string_view key = text(take());
    take();
    bool good = true;
    TileLayout layout{};
    if (key == "valid_shape") {
      good = read_dims(view.valid_shape);
    } else if (key == "stride") {
      good = read_dims(view.stride);
    } else if (key == "start_offset") {
      view.start_offset = read_view_offset();
      good = view.start_offset != nullptr;
    } else if (key == "blayout") {
      good = read_enum_member("TileLayout", layout);
      view.blayout = layout;
    } else if (key == "slayout") {
      good = read_enum_member("TileLayout", layout);
      view.slayout = layout;
    } else if (key == "fractal") {
      std::int64_t value = 0;
      good = read_int(value, "for fractal");
      view.fractal = value;
    } else if (key == "pad") {
      good = read_enum_member("PadValue", view.pad);
    } else if (key == "compact") {
      good = read_enum_member("CompactMode", view.compact);
    } else {
      diags_.report<diag::unknown_form_option>(
          span(key_token), key, "pl.TileView",
          "valid_shape, stride, start_offset, blayout, slayout, fractal, pad, compact");
      good = false;
    }
    if (!good) return false;
    if (!accept(Tok::Comma)) break;
  }
  return expect(Tok::RParen, "after the view");
}

const Expr* Reader::read_view_offset() {
  const bool outer = in_type_;
  in_type_ = true;
  const Expr* e = read_expr();
  in_type_ = outer;
  return e;
}

const Type* Reader::read_tile_type() {
  const std::uint32_t begin = prev_end_;
  if (!expect(Tok::LBracket, "after 'pl.Tile'")) return nullptr;
  std::vector<const Expr*> dims;
  DType dtype{};
  if (!read_dims(dims) || !expect(Tok::Comma, "between the dimensions and the dtype") || !read_dtype(dtype))
    return nullptr;
  const MemRef* memref = nullptr;
  std::optional<MemSpace> space;
  bool has_view = false;
  TileViewText written;
  while (accept(Tok::Comma) && !at(Tok::RBracket)) {
    Path path;
    if (!at(Tok::Name) || !read_path(path)) {
      if (!at(Tok::Name)) unexpected("a MemRef, a memory space or a view");
      return nullptr;
    }
    std::string_view rest = path.rest;
    if (rest == "MemRef") {
      memref = read_memref();
      if (memref == nullptr) return nullptr;
    } else if (rest == "TileView") {
      has_view = true;
      if (!read_tile_view(written)) return nullptr;
    } else if (rest.substr(0, 4) == "Mem." || rest.substr(0, 12) == "MemorySpace.") {
      rest.remove_prefix(rest.find('.') + 1);
      MemSpace s{};
      if (!enum_from_text("Mem", rest, path.span, s)) return nullptr;
      space = s;
    } else {
      diags_.report<diag::type_part>(path.span, path.rest, "pl.Tile")
          .help("after the dtype may stand pl.MemRef(...), pl.Mem.<space> and pl.TileView(...)");
      return nullptr;
    }
  }
  if (!expect(Tok::RBracket, "after the tile type")) return nullptr;
  if (memref != nullptr && !space) {
    diags_.report<diag::memref_without_space>(span_from(begin))
        .help("add the memory space, such as pl.Mem.Vec");
    return nullptr;
  }
  const List<const Expr*> shape = ctx_.list(dims);
  if (!has_view) return ctx_.tile(dtype, shape, memref, space, nullptr);
  const TileView implicit = implicit_tile_view(shape, space);
  // The explicit style writes the three layout fields of every tile, also where they are implied.
  if (written.blayout && written.slayout && written.fractal && *written.blayout == implicit.blayout &&
      *written.slayout == implicit.slayout && *written.fractal == implicit.fractal) {
    saw_explicit_ = true;
  }
  for (const auto* list : {&written.valid_shape, &written.stride}) {
    if (!list->empty() && list->size() != dims.size()) {
      diags_
          .report<diag::view_rank>(span_from(begin), list == &written.stride ? "stride" : "valid_shape",
                                   list->size(), dims.size())
          .help("give one value for each dimension");
      return nullptr;
    }
  }
  TileView view = implicit;
  view.valid_shape = ctx_.list(written.valid_shape);
  view.stride = ctx_.list(written.stride);
  view.start_offset = written.start_offset;
  if (written.blayout) view.blayout = *written.blayout;
  if (written.slayout) view.slayout = *written.slayout;
  if (written.fractal) view.fractal = *written.fractal;
  view.pad = written.pad;
  view.compact = written.compact;
  return ctx_.tile(dtype, shape, memref, space, &view);
}

// --- printing
// --------------------------------------------------------------------------------------------------

void Writer::tile_type(const TileType& t) {
  prefix();
  out_ += "Tile[";
  dims(t.shape);
  out_ += ", ";
  dtype(t.dtype);
  if (t.memref != nullptr) memref(*t.memref);
  if (t.space) {
    out_ += ", ";
    enum_member("Mem", name_of(*t.space));
  }
  const bool all_layouts = options_.style == PrintStyle::Explicit;
  if (t.view != nullptr || all_layouts) {
    const TileView implicit = implicit_tile_view(t.shape, t.space);
    const TileView& v = t.view != nullptr ? *t.view : implicit;
    out_ += ", ";
    prefix();
    out_ += "TileView(";
    bool comma = false;
    const auto field = [&](std::string_view key) {
      if (comma) out_ += ", ";
      comma = true;
      out_ += key;
      out_ += '=';
    };
    if (!v.valid_shape.empty()) {
      field("valid_shape");
      dims(v.valid_shape);
    }
    if (!v.stride.empty()) {
      field("stride");
      dims(v.stride);
    }
    if (v.start_offset != nullptr) {
      field("start_offset");
      dim(v.start_offset);
    }
    if (all_layouts || v.blayout != implicit.blayout) {
      field("blayout");
      enum_member("TileLayout", name_of(v.blayout));
    }
    if (all_layouts || v.slayout != implicit.slayout) {
      field("slayout");
      enum_member("TileLayout", name_of(v.slayout));
    }
    if (all_layouts || v.fractal != implicit.fractal) {
      field("fractal");
      integer(v.fractal);
    }
    if (v.pad != PadValue::Null) {
      field("pad");
      enum_member("PadValue", name_of(v.pad));
    }
    if (v.compact != CompactMode::Null) {
      field("compact");
      enum_member("CompactMode", name_of(v.compact));
    }
    out_ += ')';
  }
  out_ += ']';
}

}  // namespace pldc
