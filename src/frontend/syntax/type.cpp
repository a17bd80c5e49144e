// type = "pl.Scalar[pl." DTYPE "]" | tensor | tile | "pl.Array[" int ", pl." DTYPE "]" | "pl.Tuple[" types | "()" "]"
//      | "pl.Ptr" | "pl.MemRefType" | ... (format.md 3.1)
#include "support/diag/type.h"

#include <algorithm>
#include <array>

#include "frontend/reader.h"
#include "frontend/reader_enum.h"
#include "frontend/writer.h"

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

// What type_text() looks at: brackets, and the '=' behind a type without any.
constexpr std::uint8_t kOpen = 1, kClose = 2, kEnd = 3;
constexpr std::array<std::uint8_t, 256> kBrackets = [] {
  std::array<std::uint8_t, 256> table{};
  table['['] = table['('] = kOpen;
  table[']'] = table[')'] = kClose;
  table['='] = table['\n'] = kEnd;
  return table;
}();

const MemRef* memref_of(const Type* type) {
  if (const auto* tile = dyn<TileType>(type)) return tile->memref;
  const auto* tensor = dyn<TensorType>(type);
  return tensor != nullptr ? tensor->memref : nullptr;
}

}  // namespace

bool Reader::read_dtype(DType& dtype) {
  const Token first = tok_;
  if (at(Tok::Name) && !dtype_constants_.empty()) {
    if (const auto found = dtype_constants_.find(ctx_.name(text(tok_))); found != dtype_constants_.end()) {
      note_name(NameUse::Kind::Constant, span(take()), found->first);
      dtype = found->second;
      return true;
    }
  }
  if (at(Tok::Name) && !refused_names_.empty() && refused_names_.count(ctx_.name(text(tok_))) != 0) {
    return false;  // what is wrong with the constant was reported there
  }
  Path path;
  if (!at(Tok::Name) || !read_path(path)) {
    if (!at(Tok::Name)) unexpected("a dtype such as 'pl.FP32'");
    return false;
  }
  if (path.head == style_.prefix) {
    if (!path.rest.empty() && path.rest == last_dtype_.first) {
      dtype = last_dtype_.second;
      return true;
    }
    if (const auto found = parse_enum<DType>(path.rest)) {
      last_dtype_ = {path.rest, *found};
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
          note_name(NameUse::Kind::Constant, span(take()), found->first);
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
  const std::string_view written = type_text();
  if (written.empty()) return read_type_body();
  const std::uint32_t end = tok_.begin + static_cast<std::uint32_t>(written.size());
  const auto found = known_types_.find(written);
  if (found == known_types_.end()) {
    const Type* type = read_type_body();
    if (type != nullptr && prev_end_ == end) remember_type(written, type);
    return type;
  }
  const std::uint32_t begin = tok_.begin;
  lex_.skip_to(end);
  prev_end_ = end;
  has_tok2_ = false;
  tok_ = lex_.next();
  last_known_ = &found->second;
  const Type* type = in_buffer(found->second);
  note_buffer(begin, written, type);
  return type;
}

// The text of the type that begins here if it ends with a bracket, else nothing.
std::string_view Reader::type_text() const {
  if (!at(Tok::Name) || (has_tok2_ && tok2_.kind != Tok::Dot)) return {};
  const std::string_view all = file_.text();
  std::uint32_t open = 0;
  const std::uint32_t begin = tok_.begin;
  constexpr std::size_t kLongest = 256;  // a longer one is rare, and looking ahead must not cost
  const std::size_t limit = std::min(all.size(), begin + kLongest);
  for (std::size_t i = begin; i < limit; ++i) {
    const std::uint8_t bracket = kBrackets[static_cast<unsigned char>(all[i])];
    if (bracket == 0) continue;
    if (bracket == kOpen) {
      ++open;
    } else if (bracket == kClose) {
      if (open <= 1) return open == 0 ? std::string_view{} : all.substr(begin, i + 1 - begin);
      --open;
    } else if (open == 0) {
      return {};
    }
  }
  return {};
}

// A type without names but those of enums and fields means the same wherever it stands, so it is made once and shared. One
// that names a buffer as well differs in nothing else: it is remembered without its buffer.
void Reader::remember_type(std::string_view written, const Type* type) {
  KnownType known;
  known.type = type;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const char c = written[i];
    if (Lexer::begins_name(c)) {
      const std::size_t word = i;
      while (i + 1 < written.size() && Lexer::is_name_char(written[i + 1])) ++i;
      const char after = i + 1 < written.size() ? written[i + 1] : '\0';
      const std::string_view name = written.substr(word, i + 1 - word);
      const bool member = word > 0 && written[word - 1] == '.';
      const bool head = !member && after == '.' && (name == style_.prefix || name == "pld");
      if (!member && !head && after != '=') return;
      if (name != "MemRef") continue;
      // MemRef(NAME, ... or MemRef("NAME", ...; not the two older forms, and one of them only.
      if (!known.base.empty() || after != '(') return;
      i += 2;
      known.quoted = i < written.size() && written[i] == '"';
      if (known.quoted) ++i;
      const std::size_t base = i;
      while (i < written.size() && Lexer::is_name_char(written[i])) ++i;
      const std::string_view behind = written.substr(i, 3);
      if (i == base || !Lexer::begins_name(written[base]) ||
          !(known.quoted ? behind == "\", " : behind.substr(0, 2) == ", ")) {
        return;
      }
      if (known.quoted && written.substr(i + 3, 5) == "slots") return;
      known.base = ctx_.name(written.substr(base, i - base));
    } else if (!(c >= '0' && c <= '9') && c != ',' && c != ' ' && c != '.' && c != '=' && c != '[' &&
               c != ']' && c != '(' && c != ')') {
      return;
    }
  }
  if (!known.base.empty()) {
    const MemRef* memref = memref_of(type);
    if (memref == nullptr || memref->declared()) return;
  }
  known_types_.emplace(written, known);
}

// The remembered type with the buffer that its text names here.
const Type* Reader::in_buffer(KnownType& known) {
  if (known.base.empty()) return known.type;
  const MemRef* memref = memref_of(known.type);
  const Var* bound = known.quoted ? nullptr : lookup(known.base);
  const bool buffer = bound != nullptr && bound->type->kind == TypeKind::Ptr;
  const Var* base = buffer ? bound : memref_base(known.base.text());
  if (base == memref->base) return known.type;
  MemRef here = *memref;
  here.base = base;
  if (const auto* tile = dyn<TileType>(known.type)) {
    TileType copy = *tile;
    copy.memref = ctx_.make(here);
    known.type = ctx_.make(copy);
  } else {
    TensorType copy = *static_cast<const TensorType*>(known.type);
    copy.memref = ctx_.make(here);
    known.type = ctx_.make(copy);
  }
  return known.type;
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
    DType dtype{};
    const Token first = tok_;
    if (!expect(Tok::LBracket, "after 'pl.Array'")) return nullptr;
    const Expr* e = read_expr();
    if (e == nullptr) return nullptr;
    if (e->kind != ExprKind::ConstInt) {
      diags_.report<diag::array_extent>(lex_.span(first.end, prev_end_))
          .help("write a number or a module constant");
      return nullptr;
    }
    const std::int64_t extent = static_cast<const ConstInt*>(e)->value;
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
      "Tensor",     "Tile",       "Scalar",       "Array",   "Tuple",       "Ptr",   "DistributedTensor",
      "MemRefType", "AsyncEvent", "AsyncSession", "CommCtx", "CommCtxType", "InOut", "Out"};
  if (const std::string_view guess = closest(rest, kTypes); !guess.empty()) {
    d.help("did you mean '{}.{}'?",
           guess == "DistributedTensor" || guess.substr(0, 7) == "CommCtx" ? "pld" : style_.prefix, guess);
  } else {
    d.help("types are pl.Tensor, pl.Tile, pl.Scalar, pl.Array, pl.Tuple, pl.Ptr and pld.DistributedTensor");
  }
  return nullptr;
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

namespace {

bool constants(List<const Expr*> list) {
  return std::all_of(list.begin(), list.end(), [](const Expr* e) { return e->kind == ExprKind::ConstInt; });
}

// Whether the type prints alike wherever it stands: it mentions no variable.
bool prints_alike(const Type* t) {
  if (const auto* tile = dyn<TileType>(t)) {
    const TileView* v = tile->view;
    return tile->memref == nullptr && constants(tile->shape) &&
           (v == nullptr ||
            (constants(v->valid_shape) && constants(v->stride) && v->start_offset == nullptr));
  }
  const auto* tensor = dyn<TensorType>(t);
  if (tensor == nullptr || tensor->memref != nullptr || tensor->window != nullptr) return false;
  const TensorView* v = tensor->view;
  return constants(tensor->shape) && (v == nullptr || (constants(v->valid_shape) && constants(v->stride)));
}

}  // namespace

// Types make half of a text, and few are distinct: one that was printed before is copied from there.
void Writer::type(const Type* t) {
  const bool long_text =
      t->kind == TypeKind::Tile || t->kind == TypeKind::Tensor || t->kind == TypeKind::DistributedTensor;
  if (!long_text || passing_ || stamp_ == 0) {
    new_type(t);
    return;
  }
  if (printed_types_.empty()) printed_types_.resize(kPrintedTypes);
  PrintedType& known = printed_types_[(reinterpret_cast<std::uintptr_t>(t) >> 4) % kPrintedTypes];
  const std::size_t begin = out_.size();
  if (known.type == t &&
      (known.stamp == 0 || (known.stamp == stamp_ && known.in_signature == in_signature_))) {
    out_.append(out_.view().data() + known.begin, known.length);
    known.begin = begin;  // nearer to what is in the caches
    return;
  }
  new_type(t);
  known = {t, begin, static_cast<std::uint32_t>(out_.size() - begin), prints_alike(t) ? 0 : stamp_,
           in_signature_};
}

void Writer::new_type(const Type* t) {
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

}  // namespace pldc
