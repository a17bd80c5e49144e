// Arguments of a call: expressions, the values that are none (strings, dtypes, enum members), keywords and attrs=
// (format.md 2.8).
#include "frontend/duplicate.h"
#include "frontend/reader.h"
#include "frontend/reader_enum.h"
#include "frontend/writer.h"
#include "support/diag/parse.h"

namespace pldc {

// Into a fresh `arg`: a value that is no expression (string, dtype, enum member, None), or an expression.
bool Reader::read_argument(AuthoringArg& arg) {
  const std::uint32_t begin = tok_.begin;
  if (at(Tok::String)) {
    std::string_view value;
    if (!read_string(value, "as an argument")) return false;
    arg = AuthoringArg(AttrValue::of_string(value), span_from(begin));
    return true;
  }
  if (at(Tok::Name)) {
    const std::string_view word = text(tok_);
    if (word == "None") {
      take();
      arg.none = true;
      arg.span = span_from(begin);
      return true;
    }
    if (word == style_.prefix || word == "pld") {
      // An enum member or dtype is a path without a call behind it; look ahead on the text.
      const std::string_view all = file_.text();
      std::uint32_t end = tok_.end;
      while (end < all.size() &&
             (all[end] == '.' || all[end] == '_' || (all[end] >= '0' && all[end] <= '9') ||
              (all[end] >= 'a' && all[end] <= 'z') || (all[end] >= 'A' && all[end] <= 'Z'))) {
        ++end;
      }
      std::uint32_t next = end;
      while (next < all.size() && (all[next] == ' ' || all[next] == '\n' || all[next] == '\r')) ++next;
      const char after = next < all.size() ? all[next] : '\0';
      if (after == ',' || after == ')' || after == ']' || after == '}') {
        Path path;
        if (!read_path(path)) return false;
        if (path.rest.substr(0, 4) == "Mem." || path.rest.substr(0, 12) == "MemorySpace.") {
          MemSpace space{};
          if (!enum_from_text("Mem", path.rest.substr(path.rest.find('.') + 1), path.span, space))
            return false;
          arg = AuthoringArg(AttrValue::of_mem(space), path.span, "Mem");
          return true;
        }
        if (const auto dtype = parse_enum<DType>(path.rest)) {
          arg = AuthoringArg(AttrValue::of_dtype(*dtype), path.span);
          return true;
        }
        const std::size_t dot = path.rest.rfind('.');
        if (path.rest == "AUTO") {
          // pl.AUTO: the address is chosen later (reserve_buffer's base).
          arg = AuthoringArg(ctx_.const_int(-1, DType::INDEX, path.span));
          return true;
        }
        if (dot == std::string_view::npos) {
          if (parse_enum<TensorLayout>(path.rest)) {
            arg = AuthoringArg(AttrValue::of_string(path.rest), path.span, "TensorLayout");
            return true;
          }
          auto d =
              diags_.report<diag::not_a_value>(path.span, all.substr(path.begin, prev_end_ - path.begin));
          if (const std::string_view dtype = dtype_elsewhere(path.rest); !dtype.empty()) {
            d.help("did you mean '{}.{}'?", style_.prefix, dtype);
          } else {
            d.help("dtypes are {}", join_names(EnumNames<DType>::names));
          }
          return false;
        }
        const std::string_view type = path.rest.substr(0, dot);
        if (type == "KernelType" || type == "SyncAllMode" || type == "AccPhase" || type == "STPhase")
          saw_dump_ = true;
        arg = AuthoringArg(AttrValue::of_string(path.rest.substr(dot + 1)), path.span, type);
        return true;
      }
    }
    const auto found =
        dtype_constants_.empty() ? dtype_constants_.end() : dtype_constants_.find(ctx_.name(word));
    if (found != dtype_constants_.end()) {
      note_name(NameUse::Kind::Constant, span(take()), found->first);
      arg = AuthoringArg(AttrValue::of_dtype(found->second), span_from(begin));
      return true;
    }
  }
  const Expr* e = read_expr();
  if (e == nullptr) return false;
  arg.expr = e;
  arg.span = span_from(begin);  // a variable's own place is that of its definition
  return true;
}

// Behind "(": arguments up to and with ")".
bool Reader::read_arguments(std::vector<AuthoringArg>& args, std::vector<AuthoringKeyword>& keywords,
                            Attrs& attrs) {
  std::vector<Attr> attr_list;
  args.reserve(4);
  while (!at(Tok::RParen)) {
    if (at(Tok::Name) && after_name() == Tok::Assign) {
      const Token key = take();
      take();
      if (text(key) == "attrs" && at(Tok::LBrace)) {
        if (!read_attr_dict(attr_list, false)) return false;
      } else {
        AuthoringKeyword& keyword = keywords.emplace_back();
        keyword.name = text(key);
        keyword.name_span = span(key);
        if (!read_argument(keyword.arg)) return false;
      }
    } else {
      AuthoringArg& arg = args.emplace_back();
      if (!read_argument(arg)) return false;
      if (!keywords.empty()) {
        diags_.report<diag::positional_after_keyword>(arg.span).help(
            "give it a name, or move it to the front");
        return false;
      }
    }
    if (!accept(Tok::Comma)) break;
  }
  if (const auto repeated = first_duplicate(keywords, [](const AuthoringKeyword& k) { return k.name; })) {
    const AuthoringKeyword& keyword = keywords[repeated->first];
    diags_.report<diag::duplicate_keyword>(keyword.name_span, keyword.name)
        .note(keywords[repeated->second].name_span, "the first one is here");
    return false;
  }
  attrs = ctx_.list(attr_list);
  return expect(Tok::RParen, "after the arguments");
}

// Which dialect a keyword's spelling belongs to (format.md 9).
void Reader::note_dialect(const Keyword& row, const AuthoringArg& arg) {
  const bool differs = row.kind == KwKind::AccPhase || row.kind == KwKind::StPhase ||
                       row.kind == KwKind::CoreType || row.kind == KwKind::SyncMode;
  if (differs) (arg.enum_type.empty() ? saw_legacy_ : saw_dump_) = true;
}

// --- printing
// --------------------------------------------------------------------------------------------------

// The value operand of full: a bare number, in the dump dialect of tile.full typed.
void Writer::full_value(const Expr* e, bool typed) {
  const auto* i = dyn<ConstInt>(e);
  const auto* f = dyn<ConstFloat>(e);
  if (i == nullptr && f == nullptr) {
    expr(e);
    return;
  }
  const bool bits = f != nullptr && options_.dialect == Dialect::Dump && f->value - f->value != 0;
  if (typed) {
    prefix();
    out_ += "const(";
  }
  if (i != nullptr) {
    integer(i->value);
  } else if (bits) {
    float_bits(f->value);
  } else {
    floating(f->value);
  }
  if (typed) {
    out_ += ", ";
    dtype(i != nullptr ? i->dtype : f->dtype);
    out_ += ')';
  }
}

void Writer::call_attrs(Attrs attrs, bool comma) {
  bool open = false;
  for (const Attr& attr : attrs) {
    if (!open) out_ += comma ? ", attrs={" : "attrs={";
    if (open) out_ += ", ";
    open = true;
    quoted(attr.key.text());
    out_ += ": ";
    attr_value(attr.value);
  }
  if (open) out_ += '}';
}

void Writer::sync_word(std::string_view type, std::string_view stored, bool dump) {
  if (!dump) {
    out_ += '"';
    out_ += stored;
    out_ += '"';
    return;
  }
  std::string word;
  for (const char ch : stored.substr(0, stored.find('_')))
    word += ch >= 'a' && ch <= 'z' ? static_cast<char>(ch - 32) : ch;
  enum_member(type, word);
}

// How a stored keyword prints: by the kind that the op's table gives it (format.md 2.8).
void Writer::kwarg_value(const OpInfo& info, const Attr& kwarg) {
  const Keyword* row = info.keyword(kwarg.key.text());
  const bool dump = options_.dialect == Dialect::Dump;
  const AttrValue& v = kwarg.value;
  const auto single_quoted = [&](std::string_view text) {
    out_ += '\'';
    out_ += text;
    out_ += '\'';
  };
  const auto numbered = [&](auto member) {
    using E = decltype(member);
    return v.integer >= 0 && v.integer < static_cast<std::int64_t>(std::size(EnumNames<E>::names));
  };
  if (row != nullptr && v.kind == AttrKind::Int) {
    if (row->kind == KwKind::CastMode && numbered(CastMode{})) {
      single_quoted(name_of(static_cast<CastMode>(v.integer)));
      return;
    }
    if (row->kind == KwKind::AtomicType && numbered(AtomicType{})) {
      enum_member("AtomicType", name_of(static_cast<AtomicType>(v.integer)));
      return;
    }
    if (row->kind == KwKind::PipeType && numbered(PipeType{})) {
      enum_member("PipeType", name_of(static_cast<PipeType>(v.integer)));
      return;
    }
    if (row->kind == KwKind::AccPhase || row->kind == KwKind::StPhase) {
      if (dump) {
        const std::string_view phase = v.integer == 0 ? "Unspecified" : v.integer == 2 ? "Partial" : "Final";
        enum_member(row->kind == KwKind::AccPhase ? "AccPhase" : "STPhase", phase);
      } else {
        single_quoted(v.integer == 0 ? "unspecified" : v.integer == 2 ? "partial" : "final");
      }
      return;
    }
    if (row->kind == KwKind::Saturation) {
      single_quoted(v.integer != 0 ? "on" : "off");
      return;
    }
  }
  if (row != nullptr && v.kind == AttrKind::String && dump) {
    if (row->kind == KwKind::CoreType || row->kind == KwKind::SyncMode) {
      sync_word(row->kind == KwKind::CoreType ? "KernelType" : "SyncAllMode", v.text, true);
      return;
    }
  }
  if (v.kind == AttrKind::String) {
    single_quoted(v.text);
    return;
  }
  attr_value(v);
}

}  // namespace pldc
