// memref = "pl.MemRef(" STRING [ ", slots=" int ] ")" [ index ] | "pl.MemRef(" base "," expr "," int [ ", slots=" int ] ")" [ index ]
#include "frontend/reader.h"
#include "frontend/writer.h"
#include "support/diag/type.h"

namespace pldc {

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
  const Token name_token = tok_;
  if (at(Tok::String)) {
    quoted = true;
    if (!read_plain_string(name, "naming the buffer")) return nullptr;
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
      (at(Tok::RParen) || (at(Tok::Comma) && (peek2().kind == Tok::RParen ||
                                              (peek2().kind == Tok::Name && lex_.text(peek2()) == "slots"))));
  if (declared) {
    m.declared_name = ctx_.name(name);
    if (accept(Tok::Comma) && !at(Tok::RParen) && !slots()) return nullptr;
  } else {
    const Var* bound = quoted ? nullptr : lookup(ctx_.name(name));
    if (bound != nullptr && bound->type->kind == TypeKind::Ptr) {
      m.base = bound;
    } else {
      m.base = memref_base(name);
    }
    if (!quoted) note_var(span(name_token), m.base, false);
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
    if (accept(Tok::Comma) && !at(Tok::RParen) && !slots()) return nullptr;
  }
  accept(Tok::Comma);
  if (!expect(Tok::RParen, "after the MemRef")) return nullptr;
  if (accept(Tok::LBracket)) {
    m.slot_index = read_expr();
    if (m.slot_index == nullptr || !expect(Tok::RBracket, "after the slot's index")) return nullptr;
  }
  return ctx_.make(m);
}

// --- printing
// --------------------------------------------------------------------------------------------------

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

}  // namespace pldc
