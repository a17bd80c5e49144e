// call = opcall | function call | the forms that are no op: pl.const, pl.cast, pl.min, pl.max, pl.no_dep, abs, ...
// (format.md 2.8, 2.9).
#include <cstring>

#include "frontend/reader.h"
#include "frontend/writer.h"
#include "support/diag/parse.h"

namespace pldc {

// NAME { "." NAME }; nothing is reported unless a dot has no name behind it.
bool Reader::read_path(Path& path) {
  path.begin = tok_.begin;
  path.head = text(tok_);
  if (!has_tok2_) tok_.end = lex_.take_path();  // nearly always the whole path
  std::uint32_t dots = 0;
  std::uint32_t length = tok_.end - tok_.begin;
  take();
  while (at(Tok::Dot)) {
    take();
    if (!at(Tok::Name)) {
      unexpected("a name after '.'");
      return false;
    }
    const Token part = take();
    ++dots;
    length += part.end - part.begin;
  }
  const std::string_view whole = file_.text().substr(path.begin, prev_end_ - path.begin);
  if (whole.size() > path.head.size()) path.rest = whole.substr(path.head.size() + 1);
  if (whole.size() != length + dots) {
    // Line breaks and blanks inside a path (formatted text) are no part of the name.
    std::string joined;
    for (const char c : whole.substr(whole.find('.') + 1)) {
      if (c != ' ' && c != '\n' && c != '\t' && c != '\r') joined += c;
    }
    path.rest = ctx_.text(joined);
  }
  path.span = span_from(path.begin);
  if (path.head == "pld") {
    saw_pld_ = true;
  } else if (path.rest.substr(0, 6) == "_dump." && path.head == style_.prefix) {
    saw_dump_ = true;
  }
  return true;
}

const Expr* Reader::read_call(const Path& path) {
  const bool pl = path.head == style_.prefix && !path.rest.empty();
  const bool pld = path.head == "pld" && !path.rest.empty();
  if (path.head == "self" && !path.rest.empty()) return read_function_call(path, ctx_.name(path.rest));
  if (!pl && !pld) {
    if (path.rest.empty()) {
      if (path.head == "abs") {
        take();
        const Expr* operand = read_expr();
        accept(Tok::Comma);
        if (operand == nullptr || !expect(Tok::RParen, "after the operand")) return nullptr;
        return ctx_.unary(UnaryOp::Abs, operand, span_from(path.begin));
      }
      if (!method_ || !authoring_) {
        // A function printed alone calls others by their bare names.
        if (program_name_.empty() && drafts_.size() == 1)
          return read_function_call(path, ctx_.name(path.head));
      }
    }
    // "tile.load(...)" without a prefix: an op whose name has no dot, or foreign code.
    auto d = diags_.report<diag::unknown_function>(path.span,
                                                   file_.text().substr(path.begin, prev_end_ - path.begin));
    if (path.rest.empty() && draft_by_name_.count(ctx_.name(path.head)) != 0) {
      d.help("functions of the program are called 'self.{}(...)'", path.head);
    } else {
      d.help("calls are '{0}.<op>(...)', 'pld.<op>(...)' or 'self.<function>(...)'", style_.prefix);
    }
    return nullptr;
  }
  const std::string_view rest = path.rest;
  if (pl) {
    switch (rest.front()) {
      case '_':
        if (rest == "_dump.call") return read_recorded_call(path);
        if (rest == "_dump.float64") return read_float_bits(path);
        if (rest == "_dump.logical_xor") {
          take();
          const Expr* a = read_expr();
          if (a == nullptr || !expect(Tok::Comma, "between the operands")) return nullptr;
          const Expr* b = read_expr();
          accept(Tok::Comma);
          if (b == nullptr || !expect(Tok::RParen, "after the operands")) return nullptr;
          return ctx_.binary(BinaryOp::Xor, a, b, span_from(path.begin));
        }
        if (rest == "_dump.alloc_window_buffer") {
          return read_op_call(path, OpId::pld_tensor_alloc_window_buffer, false);
        }
        break;
      case 'c':
        if (rest == "const") return read_const();
        if (rest == "cast") return read_cast(path);
        break;
      case 'm':
        if (rest == "min") return read_min_max(path, BinaryOp::Min);
        if (rest == "max") return read_min_max(path, BinaryOp::Max);
        break;
      case 's':
        if (rest == "submit" || rest == "spmd_submit") return read_submit(path, rest == "spmd_submit");
        if (rest == "system.task_dummy") return read_task_dummy(path);
        break;
      case 'n':
        if (rest == "no_dep") {
          take();
          const Expr* operand = read_expr();
          accept(Tok::Comma);
          if (operand == nullptr || !expect(Tok::RParen, "after the operand")) return nullptr;
          no_dep_ = operand;
          return operand;
        }
        break;
      default:
        break;
    }
    if (rest.size() > 9 && rest.substr(rest.size() - 9) == ".get_byte") {
      const auto dtype = parse_enum<DType>(rest.substr(0, rest.size() - 9));
      if (dtype) {
        take();
        if (!expect(Tok::RParen, "after 'get_byte('")) return nullptr;
        return ctx_.const_int(byte_width(*dtype), DType::INDEX, span_from(path.begin));
      }
    }
  }
  return read_named_op(path);
}

const Expr* Reader::read_task_dummy(const Path& path) {
  take();
  std::vector<const Var*> deps;
  std::vector<Attr> extra;
  while (!at(Tok::RParen)) {
    if (!at(Tok::Name) || peek2().kind != Tok::Assign) {
      unexpected("deps=[...]");
      return nullptr;
    }
    const Token key = take();
    take();
    if (text(key) == "deps") {
      if (!read_var_list(deps)) return nullptr;
    } else if (text(key) == "attrs") {
      if (!read_attr_dict(extra, false)) return nullptr;
    } else {
      diags_.report<diag::unknown_form_option>(span(key), text(key), "pl.system.task_dummy", "deps");
      return nullptr;
    }
    if (!accept(Tok::Comma)) break;
  }
  if (!expect(Tok::RParen, "after the dependencies")) return nullptr;
  std::vector<Attr> attrs{{ctx_.name("dummy_task"), AttrValue::of_bool(true)}};
  if (!deps.empty()) attrs.push_back({ctx_.name("manual_dep_edges"), AttrValue::of_vars(ctx_.list(deps))});
  attrs.insert(attrs.end(), extra.begin(), extra.end());
  return ctx_.call(OpId::system_task_dummy, {}, {}, ctx_.list(attrs), ctx_.scalar(DType::TASK_ID),
                   span_from(path.begin));
}

const Expr* Reader::read_float_bits(const Path& path) {
  take();
  const Token token = tok_;
  std::string_view hex;
  if (!read_string(hex, "of 16 hexadecimal digits")) return nullptr;
  accept(Tok::Comma);
  if (!expect(Tok::RParen, "after the bits")) return nullptr;
  std::uint64_t bits = 0;
  bool good = hex.size() == 16;
  for (const char c : hex) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    good = good && digit >= 0;
    bits = bits << 4 | static_cast<std::uint64_t>(digit & 15);
  }
  if (!good) {
    diags_.report<diag::float_bits>(span(token))
        .help("write the 16 digits of an IEEE 754 binary64, such as \"7ff0000000000000\"");
    return nullptr;
  }
  double value = 0;
  static_assert(sizeof value == sizeof bits);
  std::memcpy(&value, &bits, sizeof value);
  return ctx_.const_float(value, DType::FP32, span_from(path.begin));
}

// pl.cast(scalar, pl.DTYPE); of a tensor or tile it is the op.
const Expr* Reader::read_cast(const Path& path) {
  const Lexer::Mark mark = lex_.mark();
  const Token open = tok_;
  const bool had_second = has_tok2_;
  const Token second = tok2_;
  take();
  const Expr* operand = read_expr();
  if (operand == nullptr) return nullptr;
  if (operand->type->kind != TypeKind::Scalar && operand->type->kind != TypeKind::Unknown) {
    // Read again as an op call: its arguments are more than an expression and a dtype.
    lex_.rewind(mark);
    tok_ = open;
    has_tok2_ = had_second;
    tok2_ = second;
    return read_op_call(path, OpId::none_, true);
  }
  DType dtype{};
  if (!expect(Tok::Comma, "after the operand") || !read_dtype(dtype)) return nullptr;
  accept(Tok::Comma);
  if (!expect(Tok::RParen, "after the dtype")) return nullptr;
  return ctx_.cast(operand, dtype, span_from(path.begin));
}

const Expr* Reader::read_min_max(const Path& path, BinaryOp op) {
  take();
  const Expr* a = read_expr();
  if (a == nullptr || !expect(Tok::Comma, "between the operands")) return nullptr;
  const Expr* b = read_expr();
  if (b == nullptr) return nullptr;
  accept(Tok::Comma);
  if (!expect(Tok::RParen, "after the operands")) return nullptr;
  if (authoring_ && (a->type->kind != TypeKind::Scalar || b->type->kind != TypeKind::Scalar)) {
    diags_.report<diag::min_max_operand>(span_from(path.begin), op == BinaryOp::Min ? "min" : "max")
        .help("use {}.{} on tiles and tensors", style_.prefix, op == BinaryOp::Min ? "minimum" : "maximum");
    return nullptr;
  }
  if (authoring_) return author_binary(ctx_, diags_, op, a, b, span_from(path.begin));
  return ctx_.binary(op, a, b, span_from(path.begin));
}

void Reader::flush_hoisted(Block& block) {
  for (const Stmt* s : hoisted_) {
    block.stmts.push_back(s);
    if (const auto* assign = dyn<AssignStmt>(s)) bind(assign->var->name, assign->var);
  }
  hoisted_.clear();
}

// --- printing
// --------------------------------------------------------------------------------------------------

void Writer::call(const Call& c) {
  const bool distributed = is_distributed(c.type);
  const bool recorded = options_.dialect == Dialect::Dump && distributed &&
                        (domain_depth_ != 0 || static_cast<const TensorType*>(c.type)->window != nullptr);
  if (recorded) {
    recorded_call(c);
  } else if (c.is_op()) {
    op_call(c);
  } else {
    function_call(c);
  }
}

}  // namespace pldc
