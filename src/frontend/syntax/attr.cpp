// attrval = int | "True" | "False" | float | STRING | "pl." enum member | "pl." DTYPE | "[" ... "]" | NAME |
// expr Read by syntax alone, in the order of format.md 6.1; a few keys fix the kind.
#include <algorithm>

#include "frontend/reader.h"
#include "frontend/reader_enum.h"
#include "frontend/writer.h"
#include "support/diag/parse.h"

namespace pldc {

namespace {

// Keys whose value is a list of variables even when it is empty.
bool holds_vars(std::string_view key) {
  return key == "manual_dep_edges" || key == "compiler_manual_dep_edges" || key == "dump_vars" ||
         key == "arg_direction_overrides_vars";
}

}  // namespace

// An enum member given by its path; `known` tells whether the type is one that attributes may hold.
bool Reader::enum_value(std::string_view head, std::string_view member, Span where, AttrValue& value,
                        bool& known) {
  known = true;
  const auto numbered = [&](auto example, auto make) {
    decltype(example) found{};
    if (!enum_from_text(head, member, where, found)) return false;
    value = make(found);
    return true;
  };
  const auto as_int = [](auto v) { return AttrValue::of_int(static_cast<std::int64_t>(v)); };
  if (head == "Mem" || head == "MemorySpace") return numbered(MemSpace{}, AttrValue::of_mem);
  if (head == "TensorLayout") return numbered(TensorLayout{}, AttrValue::of_layout);
  if (head == "TileLayout") return numbered(TileLayout{}, AttrValue::of_tile_layout);
  if (head == "PadValue") return numbered(PadValue{}, AttrValue::of_pad);
  if (head == "adir") return numbered(ArgDirection{}, AttrValue::of_direction);
  if (head == "SplitMode") return numbered(SplitMode{}, as_int);
  if (head == "AtomicType") return numbered(AtomicType{}, as_int);
  if (head == "PipeType") return numbered(PipeType{}, as_int);
  if (head == "ReduceOp") return numbered(ReduceOp{}, as_int);
  if (head == "NotifyOp") return numbered(NotifyOp{}, as_int);
  if (head == "WaitCmp") return numbered(WaitCmp{}, as_int);
  known = false;
  return true;
}

bool Reader::read_value(AttrValue& value, std::string_view key) {
  const std::uint32_t begin = tok_.begin;
  if (at(Tok::String)) {
    std::string_view text_value;
    if (!read_string(text_value, "as a value")) return false;
    value = AttrValue::of_string(text_value);
    return true;
  }
  if (at(Tok::LBracket) || at(Tok::LParen)) {
    const Tok close = at(Tok::LBracket) ? Tok::RBracket : Tok::RParen;
    take();
    return read_value_list(value, key, close);
  }
  if (at(Tok::Name)) {
    const std::string_view word = text(tok_);
    if (word == "True" || word == "False") {
      if (peek2().kind == Tok::Comma || peek2().kind == Tok::RBrace || peek2().kind == Tok::RBracket) {
        take();
        value = AttrValue::of_bool(word == "True");
        return true;
      }
    } else if ((word == "inf" || word == "nan") && lookup(ctx_.name(word)) == nullptr) {
      const Expr* number = read_expr();
      if (number == nullptr) return false;
      value = AttrValue::of_float(static_cast<const ConstFloat*>(number)->value);
      return true;
    }
    AuthoringArg arg;
    if (!read_argument(arg)) return false;
    if (arg.none) {
      diags_.report<diag::none_attribute>(arg.span).help("leave the attribute out");
      return false;
    }
    if (arg.expr == nullptr) {
      value = arg.value;
      if (!arg.enum_type.empty() && arg.value.kind == AttrKind::String) {
        bool known = false;
        if (!enum_value(arg.enum_type, arg.value.text, arg.span, value, known)) return false;
        if (!known) {
          diags_.report<diag::not_a_value>(arg.span, file_.text().substr(begin, prev_end_ - begin))
              .help("attributes hold numbers, strings, dtypes, layouts, memory spaces, directions and names");
          return false;
        }
      }
      return true;
    }
    value = arg.expr->kind == ExprKind::Var ? AttrValue::of_var(static_cast<const Var*>(arg.expr))
                                            : AttrValue::of_expr(arg.expr);
    return true;
  }
  const Expr* e = read_expr();
  if (e == nullptr) return false;
  // A number written as such is a plain number, also a negative one; pl.const(...) is an expression.
  const char first = file_.text()[begin];
  const bool literal = first == '-' || first == '.' || (first >= '0' && first <= '9');
  if (const auto* i = dyn<ConstInt>(e); i != nullptr && literal && i->dtype == DType::INDEX) {
    value = AttrValue::of_int(i->value);
  } else if (const auto* f = dyn<ConstFloat>(e); f != nullptr && literal && f->dtype == DType::FP32) {
    value = AttrValue::of_float(f->value);
  } else {
    value = AttrValue::of_expr(e);
  }
  return true;
}

bool Reader::read_value_list(AttrValue& value, std::string_view key, Tok close) {
  const std::uint32_t begin = prev_end_ - 1;
  std::vector<AttrValue> items;
  std::vector<std::pair<AttrValue, AttrValue>> pairs;
  while (!at(close)) {
    if (at(Tok::LParen)) {
      take();
      AttrValue a;
      AttrValue b;
      if (!read_value(a, key) || !expect(Tok::Comma, "in the pair") || !read_value(b, key) ||
          !expect(Tok::RParen, "after the pair")) {
        return false;
      }
      pairs.emplace_back(a, b);
    } else {
      AttrValue item;
      if (!read_value(item, key)) return false;
      items.push_back(item);
    }
    if (!accept(Tok::Comma)) break;
  }
  if (!expect(close, "after the list")) return false;
  const auto all = [&](AttrKind kind) {
    return std::all_of(items.begin(), items.end(), [&](const AttrValue& v) { return v.kind == kind; });
  };
  value = AttrValue();
  if (!pairs.empty() && items.empty()) {
    const bool ints = std::all_of(pairs.begin(), pairs.end(), [](const auto& p) {
      return p.first.kind == AttrKind::Int && p.second.kind == AttrKind::Int;
    });
    const bool vars = std::all_of(pairs.begin(), pairs.end(), [](const auto& p) {
      return p.first.kind == AttrKind::Var && p.second.kind == AttrKind::Int;
    });
    if (ints) {
      std::vector<IntPair> list;
      for (const auto& p : pairs) list.push_back({p.first.integer, p.second.integer});
      value.kind = AttrKind::IntPairList;
      value.int_pairs = ctx_.list(list);
      return true;
    }
    if (vars) {
      std::vector<VarIntPair> list;
      for (const auto& p : pairs) list.push_back({p.first.var(), p.second.integer});
      value.kind = AttrKind::VarPairList;
      value.var_pairs = ctx_.list(list);
      return true;
    }
  } else if (pairs.empty()) {
    if (items.empty() && holds_vars(key)) {
      value.kind = AttrKind::VarList;
      return true;
    }
    if (items.empty() && key == "arg_directions") {
      value.kind = AttrKind::ArgDirectionList;
      return true;
    }
    if (all(AttrKind::Int)) {
      std::vector<std::int64_t> list;
      for (const AttrValue& v : items) list.push_back(v.integer);
      value = AttrValue::of_ints(ctx_.list(list));
      return true;
    }
    if (all(AttrKind::ArgDirection)) {
      std::vector<ArgDirection> list;
      for (const AttrValue& v : items) list.push_back(static_cast<ArgDirection>(v.integer));
      value = AttrValue::of_directions(ctx_.list(list));
      return true;
    }
    if (all(AttrKind::Var)) {
      std::vector<const Var*> list;
      for (const AttrValue& v : items) list.push_back(v.var());
      value = AttrValue::of_vars(ctx_.list(list));
      return true;
    }
  }
  diags_.report<diag::mixed_list>(span_from(begin), key)
      .help("a list holds only integers, only directions (pl.adir.input), only names, or only pairs");
  return false;
}

bool Reader::read_attr_dict(std::vector<Attr>& attrs, bool call_attrs) {
  if (!expect(Tok::LBrace, "before the attributes")) return false;
  while (!at(Tok::RBrace)) {
    const Token key_token = tok_;
    std::string_view key;
    if (!read_string(key, "naming the attribute") || !expect(Tok::Colon, "after the attribute's name"))
      return false;
    for (const Attr& earlier : attrs) {
      if (earlier.key.text() == key) {
        diags_.report<diag::duplicate_attribute>(span(key_token), key).help("give each attribute once");
        return false;
      }
    }
    AttrValue value;
    if (!read_value(value, key)) return false;
    if (call_attrs && key == "core_num" && value.kind == AttrKind::Int) {
      saw_legacy_ = true;  // the dump dialect writes the constant typed (G21)
      value = AttrValue::of_expr(ctx_.const_int(value.integer));
    }
    // A device is an expression whatever it looks like.
    const bool expression = key == "device" || (call_attrs && (key == "core_num" || key == "predicate"));
    if (expression && value.kind == AttrKind::Var) value = AttrValue::of_expr(value.expr);
    if (key == "device" && value.kind == AttrKind::Int) {
      value = AttrValue::of_expr(ctx_.const_int(value.integer));
    }
    attrs.push_back({ctx_.name(key), value});
    if (!accept(Tok::Comma)) break;
  }
  return expect(Tok::RBrace, "after the attributes");
}

// --- printing
// --------------------------------------------------------------------------------------------------

void Writer::attr_dict(Attrs attrs) {
  out_ += '{';
  bool comma = false;
  for (const Attr& attr : attrs) {
    if (comma) out_ += ", ";
    comma = true;
    quoted(attr.key.text());
    out_ += ": ";
    attr_value(attr.value);
  }
  out_ += '}';
}

void Writer::attr_value(const AttrValue& v) {
  const auto list = [&](auto items, auto one) {
    out_ += '[';
    bool comma = false;
    for (const auto& item : items) {
      if (comma) out_ += ", ";
      comma = true;
      one(item);
    }
    out_ += ']';
  };
  switch (v.kind) {
    case AttrKind::Int:
      integer(v.integer);
      return;
    case AttrKind::Bool:
      out_ += v.as_bool() ? "True" : "False";
      return;
    case AttrKind::String:
      quoted(v.text);
      return;
    case AttrKind::Float:
      floating(v.real);
      return;
    case AttrKind::DType:
      dtype(static_cast<DType>(v.integer));
      return;
    case AttrKind::MemSpace:
      enum_member("Mem", name_of(static_cast<MemSpace>(v.integer)));
      return;
    case AttrKind::TensorLayout:
      enum_member("TensorLayout", name_of(static_cast<TensorLayout>(v.integer)));
      return;
    case AttrKind::TileLayout:
      enum_member("TileLayout", name_of(static_cast<TileLayout>(v.integer)));
      return;
    case AttrKind::PadValue:
      enum_member("PadValue", name_of(static_cast<PadValue>(v.integer)));
      return;
    case AttrKind::ArgDirection:
      enum_member("adir", name_of(static_cast<ArgDirection>(v.integer)));
      return;
    case AttrKind::ArgDirectionList:
      list(v.directions, [&](ArgDirection d) { enum_member("adir", name_of(d)); });
      return;
    case AttrKind::IntList:
      list(v.ints, [&](std::int64_t i) { integer(i); });
      return;
    case AttrKind::VarList:
      list(v.vars, [&](const Var* var) { out_ += name(var); });
      return;
    case AttrKind::Var:
      out_ += name(v.var());
      return;
    case AttrKind::Expr:
      // A constant expression prints typed in the dump dialect, or it would read back as a plain number
      // (G21).
      if (const auto* constant_expr = dyn<ConstInt>(v.expr);
          constant_expr != nullptr && options_.dialect == Dialect::Dump) {
        const bool typed = typed_index_;
        typed_index_ = true;
        constant(constant_expr->value, constant_expr->dtype);
        typed_index_ = typed;
        return;
      }
      expr(v.expr);
      return;
    case AttrKind::IntPairList:
      list(v.int_pairs, [&](const IntPair& p) {
        out_ += '(';
        integer(p.first);
        out_ += ", ";
        integer(p.second);
        out_ += ')';
      });
      return;
    case AttrKind::VarPairList:
      list(v.var_pairs, [&](const VarIntPair& p) {
        out_ += '(';
        out_ += name(p.var);
        out_ += ", ";
        integer(p.value);
        out_ += ')';
      });
      return;
  }
}

}  // namespace pldc
