// type    = "pl.Scalar[pl." DTYPE "]" | tensor | tile | "pl.Array[" int ", pl." DTYPE "]" | "pl.Tuple[" types
// | "()" "]"
//         | "pl.Ptr" | "pl.MemRefType" | ... (format.md 3.1)
// tensor  = ("pl.Tensor" | "pld.DistributedTensor") "[[" dims "], pl." DTYPE [ "," view ] [ "," memref ] [
// "," window ] "]" tile    = "pl.Tile[[" dims "], pl." DTYPE [ "," memref ] [ ", pl.Mem." SPACE ] [ "," view
// ] "]"
#include "support/diag/type.h"

#include "frontend/reader.h"
#include "frontend/reader_enum.h"
#include "frontend/writer.h"
#include "support/diag/parse.h"

namespace pldc {

namespace {

// X(kind, legacy text, dump text): types without fields.
struct SimpleType {
  TypeKind kind;
  std::string_view legacy;
  std::string_view dump;
};
constexpr SimpleType kSimpleTypes[] = {
    {TypeKind::Ptr, "pl.Ptr", "pl.Ptr"},
    {TypeKind::MemRef, "pl.MemRefType", "pl.MemRefType"},
    {TypeKind::WindowBuffer, "pld.WindowBufferType", "pl._dump.WindowBuffer"},
    {TypeKind::CommCtx, "pld.CommCtxType", "pld.CommCtx"},
    {TypeKind::PrefetchAsyncContext, "pl.PrefetchAsyncContext", "pl.PrefetchAsyncContext"},
    {TypeKind::AsyncEvent, "pl.AsyncEvent", "pl.AsyncEvent"},
    {TypeKind::AsyncSession, "pl.AsyncSession", "pl.AsyncSession"},
    {TypeKind::Unknown, "pl.UnknownType", "pl._dump.Unknown"},
};

}  // namespace

bool Reader::read_dtype(DType& dtype) {
  const Token first = tok_;
  if (at(Tok::Name)) {
    if (const auto found = dtype_constants_.find(ctx_.name(text(tok_))); found != dtype_constants_.end()) {
      take();
      dtype = found->second;
      return true;
    }
  }
  Path path;
  if (!at(Tok::Name) || !read_path(path)) {
    if (!at(Tok::Name)) unexpected("a dtype such as 'pl.FP32'");
    return false;
  }
  if (path.head == style_.prefix) {
    if (const auto found = parse_enum<DType>(path.rest)) {
      dtype = *found;
      return true;
    }
  }
  unknown_member(lex_.span(first.begin, prev_end_), path.rest, "dtype", EnumNames<DType>::names);
  return false;
}

const Expr* Reader::read_dim() {
  if (at(Tok::Int)) {
    const Tok after = peek2().kind;
    if (after == Tok::Comma || after == Tok::RBracket) {
      std::int64_t value = 0;
      if (!read_int(value, "as a dimension")) return nullptr;
      // Types are compared by value: a constant needs no place of its own, so small ones are shared.
      if (value >= 0 && value < 4096) {
        if (small_dims_.empty()) small_dims_.resize(4096, nullptr);
        const ConstInt*& cached = small_dims_[static_cast<std::size_t>(value)];
        if (cached == nullptr) cached = ctx_.const_int(value);
        return cached;
      }
      return ctx_.const_int(value);
    }
  }
  const bool outer = in_type_;
  in_type_ = true;
  const Expr* dim = read_expr();
  in_type_ = outer;
  return dim;
}

bool Reader::read_dims(std::vector<const Expr*>& dims) {
  if (!accept(Tok::LBracket)) {
    // A module constant may hold a list of extents.
    if (at(Tok::Name)) {
      if (const auto found = constants_.find(ctx_.name(text(tok_))); found != constants_.end()) {
        if (const auto* tuple = dyn<MakeTuple>(found->second)) {
          take();
          dims.assign(tuple->elements.begin(), tuple->elements.end());
          return true;
        }
      }
    }
    unexpected("'[' before the dimensions");
    return false;
  }
  while (!at(Tok::RBracket)) {
    const Expr* dim = read_dim();
    if (dim == nullptr) return false;
    dims.push_back(dim);
    if (!accept(Tok::Comma)) break;
  }
  return expect(Tok::RBracket, "after the dimensions");
}

const Type* Reader::read_type() {
  const DepthGuard guard(*this);
  if (too_deep(span(tok_))) return nullptr;
  return read_type_body();
}

const Type* Reader::read_type_body() {
  Path path;
  if (!at(Tok::Name)) {
    unexpected("a type such as 'pl.Tensor[[64], pl.FP32]'");
    return nullptr;
  }
  if (at_word("tuple")) {
    // In a recorded call the results of a function are written as in a signature.
    take();
    path.rest = "Tuple";
    path.head = style_.prefix;
  } else if (!read_path(path)) {
    return nullptr;
  }
  const bool pl = path.head == style_.prefix;
  const bool pld = path.head == "pld";
  const std::string_view rest = path.rest;
  if (pl && rest == "Tile") return read_tile_type();
  if (pl && rest == "Tensor") return read_tensor_type(TypeKind::Tensor);
  if (pld && rest == "DistributedTensor") return read_tensor_type(TypeKind::DistributedTensor);
  if (pl && rest == "Scalar") {
    DType dtype{};
    if (!expect(Tok::LBracket, "after 'pl.Scalar'") || !read_dtype(dtype) ||
        !expect(Tok::RBracket, "after the dtype")) {
      return nullptr;
    }
    return ctx_.scalar(dtype);
  }
  if (pl && rest == "Array") {
    std::int64_t extent = 0;
    DType dtype{};
    const Token first = tok_;
    if (!expect(Tok::LBracket, "after 'pl.Array'")) return nullptr;
    if (authoring_) {
      const Expr* e = read_expr();
      if (e == nullptr) return nullptr;
      const auto value = const_int(e);
      if (!value) {
        diags_.report<diag::array_extent>(e->span).help("write a number or a module constant");
        return nullptr;
      }
      extent = *value;
    } else if (!read_int(extent, "as the array's extent")) {
      return nullptr;
    }
    if (!expect(Tok::Comma, "after the extent") || !read_dtype(dtype) ||
        !expect(Tok::RBracket, "after the dtype")) {
      return nullptr;
    }
    if (extent <= 0) {
      diags_.report<diag::array_extent>(lex_.span(first.begin, prev_end_))
          .help("an array has at least one element");
      return nullptr;
    }
    return ctx_.array(dtype, extent);
  }
  if (pl && rest == "Tuple") {
    std::vector<const Type*> elements;
    if (!expect(Tok::LBracket, "after 'pl.Tuple'")) return nullptr;
    if (at(Tok::LParen)) {
      take();
      if (!expect(Tok::RParen, "in the empty tuple type")) return nullptr;
    } else {
      while (!at(Tok::RBracket)) {
        const Type* element = read_type();
        if (element == nullptr) return nullptr;
        elements.push_back(element);
        if (!accept(Tok::Comma)) break;
      }
    }
    if (!expect(Tok::RBracket, "after the element types")) return nullptr;
    return ctx_.tuple(ctx_.list(elements));
  }
  for (const SimpleType& simple : kSimpleTypes) {
    const auto matches = [&](std::string_view spelled) {
      const std::size_t dot = spelled.find('.');
      const bool right_head = spelled.substr(0, dot) == "pl" ? pl : pld;
      return right_head && spelled.substr(dot + 1) == rest;
    };
    const bool legacy = matches(simple.legacy);
    if (!legacy && !matches(simple.dump)) continue;
    if (simple.legacy != simple.dump) (legacy ? saw_legacy_ : saw_dump_) = true;
    return ctx_.simple(simple.kind);
  }
  auto d =
      diags_.report<diag::unknown_type>(path.span, file_.text().substr(path.begin, prev_end_ - path.begin));
  static const std::vector<std::string_view> kTypes = {
      "Tensor",     "Tile",       "Scalar",       "Array",   "Tuple",      "Ptr", "DistributedTensor",
      "MemRefType", "AsyncEvent", "AsyncSession", "CommCtx", "CommCtxType"};
  if (const std::string_view guess = closest(rest, kTypes); !guess.empty()) {
    d.help("did you mean '{}.{}'?",
           guess == "DistributedTensor" || guess.substr(0, 7) == "CommCtx" ? "pld" : style_.prefix, guess);
  } else {
    d.help("types are pl.Tensor, pl.Tile, pl.Scalar, pl.Array, pl.Tuple, pl.Ptr and pld.DistributedTensor");
  }
  return nullptr;
}

// Sets a flag for as long as it lives.
namespace {
struct FlagGuard {
  explicit FlagGuard(bool& f) : flag(f), before(f) { flag = true; }
  ~FlagGuard() { flag = before; }
  FlagGuard(const FlagGuard&) = delete;
  FlagGuard& operator=(const FlagGuard&) = delete;
  bool& flag;
  bool before;
};
}  // namespace

const Type* Reader::read_tensor_type(TypeKind kind) {
  const std::uint32_t begin = prev_end_;
  if (!expect(Tok::LBracket, "after the tensor type")) return nullptr;
  std::vector<const Expr*> dims;
  DType dtype{};
  if (!read_dims(dims) || !expect(Tok::Comma, "between the dimensions and the dtype") || !read_dtype(dtype))
    return nullptr;
  const TensorView* view = nullptr;
  const MemRef* memref = nullptr;
  const Var* window = nullptr;
  while (accept(Tok::Comma) && !at(Tok::RBracket)) {
    if (at(Tok::String)) {
      take();  // the informational "window_buffer=name" of older texts says nothing
      saw_explicit_ = true;
      saw_legacy_ = true;
      continue;
    }
    Path path;
    if (!at(Tok::Name) || !read_path(path)) {
      if (!at(Tok::Name)) unexpected("a view, a MemRef or a window reference");
      return nullptr;
    }
    if (path.rest == "TensorView") {
      view = read_tensor_view();
      if (view == nullptr) return nullptr;
    } else if (path.rest == "MemRef") {
      memref = read_memref();
      if (memref == nullptr) return nullptr;
    } else if (path.rest == "_dump.window_ref" && kind == TypeKind::DistributedTensor) {
      saw_dump_ = true;
      const Token where = tok_;
      std::string_view label;
      if (!expect(Tok::LParen, "after 'pl._dump.window_ref'") || !read_label(label) ||
          !expect(Tok::RParen, "after the label")) {
        return nullptr;
      }
      window = window_by_label(label, lex_.span(where.begin, prev_end_));
    } else if (path.rest == "_dump.window_buffer" && kind == TypeKind::DistributedTensor) {
      saw_dump_ = true;
      WindowSlot slot{};
      if (!read_window_buffer(slot)) return nullptr;
      window = slot.base;
    } else {
      std::string_view layout = path.rest;
      if (layout.substr(0, 13) == "TensorLayout.") layout.remove_prefix(13);
      const auto known = parse_enum<TensorLayout>(layout);
      if (!known) {
        diags_
            .report<diag::type_part>(path.span, path.rest,
                                     kind == TypeKind::Tensor ? "pl.Tensor" : "pld.DistributedTensor")
            .help(
                "after the dtype may stand pl.TensorView(...), pl.MemRef(...) and, for distributed tensors, "
                "a window reference");
        return nullptr;
      }
      if (*known == TensorLayout::DN) {
        diags_.report<diag::bare_dn>(path.span).help(
            "write pl.TensorView(stride=[...], layout=pl.TensorLayout.DN)");
        return nullptr;
      }
      TensorView shorthand;
      shorthand.layout = *known;
      view = ctx_.make(shorthand);
    }
  }
  if (!expect(Tok::RBracket, "after the tensor type")) return nullptr;
  if (view != nullptr) {
    if (!view->valid_shape.empty() && view->valid_shape.size() != dims.size()) {
      diags_.report<diag::view_rank>(span_from(begin), "valid_shape", view->valid_shape.size(), dims.size())
          .help("give one extent for each dimension");
      return nullptr;
    }
    if (!view->stride.empty() && view->stride.size() != dims.size()) {
      diags_.report<diag::view_rank>(span_from(begin), "stride", view->stride.size(), dims.size())
          .help("give one stride for each dimension");
      return nullptr;
    }
  }
  return ctx_.tensor(kind, dtype, ctx_.list(dims), view, memref, window);
}

const TensorView* Reader::read_tensor_view() {
  TensorView view;
  const FlagGuard guard(in_view_);
  if (!expect(Tok::LParen, "after 'pl.TensorView'")) return nullptr;
  while (!at(Tok::RParen)) {
    const Token key_token = tok_;
    if (!at(Tok::Name) || peek2().kind != Tok::Assign) {
      unexpected("valid_shape=, stride=, layout= or pad=");
      return nullptr;
    }
    const std::string_view key = text(take());
    take();
    std::vector<const Expr*> dims;
    if (key == "valid_shape" || key == "stride") {
      if (!read_dims(dims)) return nullptr;
      (key == "stride" ? view.stride : view.valid_shape) = ctx_.list(dims);
    } else if (key == "layout") {
      if (!read_enum_member("TensorLayout", view.layout)) return nullptr;
    } else if (key == "pad") {
      if (!read_enum_member("PadValue", view.pad)) return nullptr;
    } else {
      diags_.report<diag::unknown_form_option>(span(key_token), key, "pl.TensorView",
                                               "valid_shape, stride, layout, pad");
      return nullptr;
    }
    if (!accept(Tok::Comma)) break;
  }
  if (!expect(Tok::RParen, "after the view")) return nullptr;
  return ctx_.make(view);
}

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

const Var* Reader::memref_base(std::string_view name) {
  const Var*& base = draft_->memref_bases[name];
  if (base == nullptr) base = ctx_.var(ctx_.name(name), ctx_.simple(TypeKind::Ptr));
  return base;
}

// memref = "pl.MemRef(" STRING [ ", slots=" int ] ")" [ index ] | "pl.MemRef(" base "," expr "," int [ ",
// slots=" int ] ")" [ index ]
const MemRef* Reader::read_memref() {
  MemRef m;
  if (!expect(Tok::LParen, "after 'pl.MemRef'")) return nullptr;
  if (at(Tok::Int)) {
    // The oldest form: address, size, id.
    std::int64_t address = 0;
    std::int64_t size = 0;
    std::int64_t id = 0;
    if (!read_int(address, "as the address") || !expect(Tok::Comma, "after the address") ||
        !read_int(size, "as the size") || !expect(Tok::Comma, "after the size") ||
        !read_int(id, "as the number of the buffer") || !expect(Tok::RParen, "after the MemRef")) {
      return nullptr;
    }
    m.base = memref_base(ctx_.text("mem_" + std::to_string(id)));
    m.byte_offset = ctx_.const_int(address);
    m.size = static_cast<std::uint64_t>(size);
    return ctx_.make(m);
  }
  std::string_view name;
  bool quoted = false;
  if (at(Tok::String)) {
    quoted = true;
    if (!read_string(name, "naming the buffer")) return nullptr;
  } else if (at(Tok::Name)) {
    name = text(take());
  } else {
    unexpected("the buffer's name");
    return nullptr;
  }
  const auto slots = [&] {
    std::int64_t count = 0;
    if (!expect_word("slots", "in 'pl.MemRef'") || !expect(Tok::Assign, "after 'slots'") ||
        !read_int(count, "for slots")) {
      return false;
    }
    if (count < 1 || count > 0xffff) {
      diags_.report<diag::slot_count>(span_from(prev_end_ - 1), count).help("a buffer has 1 to 65535 slots");
      return false;
    }
    m.slot_count = static_cast<std::uint32_t>(count);
    return true;
  };
  const bool declared =
      quoted &&
      (at(Tok::RParen) || (at(Tok::Comma) && peek2().kind == Tok::Name && lex_.text(peek2()) == "slots"));
  if (declared) {
    m.declared_name = ctx_.name(name);
    if (accept(Tok::Comma) && !slots()) return nullptr;
  } else {
    const Var* bound = quoted ? nullptr : lookup(ctx_.name(name));
    if (bound != nullptr && bound->type->kind == TypeKind::Ptr) {
      m.base = bound;
    } else {
      m.base = memref_base(ctx_.text(name));
    }
    if (!expect(Tok::Comma, "after the buffer")) return nullptr;
    // An offset names variables like any expression, symbols first as in other parts of types.
    m.byte_offset = read_expr();
    if (m.byte_offset == nullptr || !expect(Tok::Comma, "after the offset")) return nullptr;
    std::int64_t size = 0;
    if (!read_int(size, "as the size in bytes")) return nullptr;
    if (size < 0) {
      diags_.report<diag::negative_size>(span_from(prev_end_ - 1), size)
          .help("sizes are bytes, 0 if unknown");
      return nullptr;
    }
    m.size = static_cast<std::uint64_t>(size);
    if (accept(Tok::Comma) && !slots()) return nullptr;
  }
  if (!expect(Tok::RParen, "after the MemRef")) return nullptr;
  if (accept(Tok::LBracket)) {
    m.slot_index = read_expr();
    if (m.slot_index == nullptr || !expect(Tok::RBracket, "after the slot's index")) return nullptr;
  }
  return ctx_.make(m);
}

// --- printing
// --------------------------------------------------------------------------------------------------

void Writer::dim(const Expr* e) {
  if (const auto* constant = dyn<ConstInt>(e)) {
    integer(constant->value);
    return;
  }
  if (const auto* var = dyn<Var>(e); var != nullptr && !var->is_iter_arg) {
    out_ += name(var);
    return;
  }
  // Anything else prints by a printer that knows no local renaming, with typed constants (format.md 3.9).
  const bool plain = plain_names_;
  const bool typed = typed_index_;
  plain_names_ = typed_index_ = true;
  expr(e);
  plain_names_ = plain;
  typed_index_ = typed;
}

void Writer::dims(List<const Expr*> list) {
  out_ += '[';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i != 0) out_ += ", ";
    dim(list[i]);
  }
  out_ += ']';
}

void Writer::type(const Type* t) {
  switch (t->kind) {
    case TypeKind::Scalar:
      prefix();
      out_ += "Scalar[";
      dtype(static_cast<const ScalarType*>(t)->dtype);
      out_ += ']';
      return;
    case TypeKind::Tensor:
    case TypeKind::DistributedTensor:
      tensor_type(*static_cast<const TensorType*>(t));
      return;
    case TypeKind::Tile:
      tile_type(*static_cast<const TileType*>(t));
      return;
    case TypeKind::Array: {
      const auto* array = static_cast<const ArrayType*>(t);
      prefix();
      out_ += "Array[";
      integer(array->extent);
      out_ += ", ";
      dtype(array->dtype);
      out_ += ']';
      return;
    }
    case TypeKind::Tuple: {
      const auto* tuple = static_cast<const TupleType*>(t);
      prefix();
      out_ += "Tuple[";
      if (tuple->elements.empty()) out_ += "()";
      for (std::size_t i = 0; i < tuple->elements.size(); ++i) {
        if (i != 0) out_ += ", ";
        type(tuple->elements[i]);
      }
      out_ += ']';
      return;
    }
    case TypeKind::Ptr:
    case TypeKind::MemRef:
    case TypeKind::WindowBuffer:
    case TypeKind::CommCtx:
    case TypeKind::PrefetchAsyncContext:
    case TypeKind::AsyncEvent:
    case TypeKind::AsyncSession:
    case TypeKind::Unknown:
      break;
  }
  for (const SimpleType& simple : kSimpleTypes) {
    if (simple.kind != t->kind) continue;
    const std::string_view spelled = options_.dialect == Dialect::Dump ? simple.dump : simple.legacy;
    if (spelled.substr(0, 3) == "pl.") {
      prefix();
      out_ += spelled.substr(3);
    } else {
      out_ += spelled;
    }
    return;
  }
}

void Writer::memref(const MemRef& m) {
  out_ += ", ";
  prefix();
  out_ += "MemRef(";
  if (m.declared()) {
    out_ += '"';
    out_ += m.declared_name.text();
    out_ += '"';
  } else {
    const bool bare = !in_signature_ && assigned_here(m.base);
    if (!bare) out_ += '"';
    out_ += name(m.base);
    if (!bare) out_ += '"';
    out_ += ", ";
    // The offset follows the general rules, also inside a type.
    const bool typed = typed_index_;
    const bool plain = plain_names_;
    typed_index_ = plain_names_ = false;
    expr(m.byte_offset);
    typed_index_ = typed;
    plain_names_ = plain;
    out_ += ", ";
    integer(static_cast<std::int64_t>(m.size));
  }
  if (m.slot_count > 1) {
    out_ += ", slots=";
    integer(m.slot_count);
  }
  out_ += ')';
  if (m.slot_index != nullptr) {
    out_ += '[';
    expr(m.slot_index);
    out_ += ']';
  }
}

void Writer::tensor_type(const TensorType& t) {
  if (t.kind == TypeKind::Tensor) {
    prefix();
    out_ += "Tensor[";
  } else {
    out_ += "pld.DistributedTensor[";
  }
  dims(t.shape);
  out_ += ", ";
  dtype(t.dtype);
  if (const TensorView* v = t.view) {
    out_ += ", ";
    prefix();
    out_ += "TensorView(";
    if (!v->valid_shape.empty()) {
      out_ += "valid_shape=";
      dims(v->valid_shape);
      out_ += ", ";
    }
    out_ += "stride=";
    dims(v->stride);
    out_ += ", layout=";
    enum_member("TensorLayout", name_of(v->layout));
    if (v->pad != PadValue::Null) {
      out_ += ", pad=";
      enum_member("PadValue", name_of(v->pad));
    }
    out_ += ')';
  }
  if (t.memref != nullptr) memref(*t.memref);
  if (t.window != nullptr) {
    if (options_.dialect == Dialect::Dump) {
      out_ += ", ";
      prefix();
      out_ += "_dump.window_ref(";
      quoted(window_label(t.window));
      out_ += ')';
    } else if (options_.style == PrintStyle::Explicit) {
      out_ += ", \"window_buffer=";
      out_ += t.window->name.text();
      out_ += '"';
    }
  }
  out_ += ']';
}

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
