// opcall = opname "(" [ args ] [ keywords ] [ "attrs={...}" ] ")"; special spellings of format.md 2.8.1
// below, each read and printed here.
#include <algorithm>
#include <cstring>

#include "frontend/reader.h"
#include "frontend/reader_enum.h"
#include "frontend/writer.h"
#include "ir/auto_name.h"
#include "ir/check_op.h"
#include "ir/rules.h"
#include "support/diag/parse.h"

namespace pldc {

namespace {

constexpr std::string_view kTailPadding = "tile._remote_load_with_physical_tail_padding";
constexpr std::string_view kPaddingKey = "allow_physical_tail_padding";

bool is_keyword_operand(const Operand& operand) { return operand.spelling != Spelling::Positional; }

}  // namespace

// NAME { "." NAME }; nothing is reported unless a dot has no name behind it.
bool Reader::read_path(Path& path) {
  const Token first = take();
  path.begin = first.begin;
  path.head = text(first);
  std::uint32_t rest_begin = 0;
  while (at(Tok::Dot)) {
    take();
    if (!at(Tok::Name)) {
      unexpected("a name after '.'");
      return false;
    }
    const Token part = take();
    if (rest_begin == 0) rest_begin = part.begin;
  }
  if (rest_begin != 0) path.rest = file_.text().substr(rest_begin, prev_end_ - rest_begin);
  // Line breaks inside a path (formatted text) are no part of the name.
  if (path.rest.find_first_of(" \n\t\r") != std::string_view::npos) {
    std::string joined;
    for (const char c : path.rest) {
      if (c != ' ' && c != '\n' && c != '\t' && c != '\r') joined += c;
    }
    path.rest = ctx_.text(joined);
  }
  path.span = span_from(first.begin);
  if (path.head == "pld") {
    saw_pld_ = true;
  } else if (path.rest.substr(0, 6) == "_dump." && path.head == style_.prefix) {
    saw_dump_ = true;
  }
  return true;
}

// One argument: a value that is no expression (string, dtype, enum member, None), or an expression.
bool Reader::read_argument(AuthoringArg& arg) {
  arg = AuthoringArg{};
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
          diags_.report<diag::not_a_value>(path.span, all.substr(path.begin, prev_end_ - path.begin))
              .help("dtypes are {}", join_names(EnumNames<DType>::names));
          return false;
        }
        const std::string_view type = path.rest.substr(0, dot);
        if (type == "KernelType" || type == "SyncAllMode" || type == "AccPhase" || type == "STPhase")
          saw_dump_ = true;
        arg = AuthoringArg(AttrValue::of_string(path.rest.substr(dot + 1)), path.span, type);
        return true;
      }
    }
    if (const auto found = dtype_constants_.find(ctx_.name(word)); found != dtype_constants_.end()) {
      take();
      arg = AuthoringArg(AttrValue::of_dtype(found->second), span_from(begin));
      return true;
    }
  }
  const Expr* e = read_expr();
  if (e == nullptr) return false;
  arg = AuthoringArg(e);
  return true;
}

// Behind "(": arguments up to and with ")".
bool Reader::read_arguments(std::vector<AuthoringArg>& args, std::vector<AuthoringKeyword>& keywords,
                            Attrs& attrs) {
  std::vector<Attr> attr_list;
  while (!at(Tok::RParen)) {
    AuthoringArg arg;
    if (at(Tok::Name) && peek2().kind == Tok::Assign) {
      const Token key = take();
      take();
      if (text(key) == "attrs" && at(Tok::LBrace)) {
        if (!read_attr_dict(attr_list, false)) return false;
      } else {
        if (!read_argument(arg)) return false;
        for (const AuthoringKeyword& k : keywords) {
          if (k.name == text(key)) {
            diags_.report<diag::duplicate_keyword>(span(key), text(key))
                .note(k.name_span, "the first one is here");
            return false;
          }
        }
        keywords.push_back({text(key), span(key), arg});
      }
    } else {
      const Token first = tok_;
      if (!read_argument(arg)) return false;
      if (!keywords.empty()) {
        diags_.report<diag::positional_after_keyword>(arg.span).help(
            "give it a name, or move it to the front");
        return false;
      }
      (void)first;
      args.push_back(arg);
    }
    if (!accept(Tok::Comma)) break;
  }
  attrs = ctx_.list(attr_list);
  return expect(Tok::RParen, "after the arguments");
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
  if (pld && rest == kTailPadding) return read_op_call(path, OpId::pld_tile_remote_load, false);
  OpId op = OpId::none_;
  if (rest.find('.') != std::string_view::npos) {
    op = pld ? find_op(file_.text().substr(path.begin, 4).substr(0, 4) == "pld." &&
                               rest.data() == file_.text().data() + path.begin + 4
                           ? file_.text().substr(path.begin, rest.size() + 4)
                           : std::string_view(ctx_.text("pld." + std::string(rest))))
             : find_op(rest);
  }
  return read_op_call(path, op, authoring_ || op == OpId::none_);
}

const Expr* Reader::read_op_call(const Path& path, OpId op, bool author) {
  take();  // (
  std::vector<AuthoringArg> args;
  std::vector<AuthoringKeyword> keywords;
  Attrs attrs;
  // Kept over the arguments: a call nested in them is not what is assigned.
  const Name assigned = assigned_name_;
  assigned_name_ = Name{};
  const bool good = read_arguments(args, keywords, attrs);
  assigned_name_ = assigned;
  if (!good) return nullptr;
  const Span whole = span_from(path.begin);
  const bool pld = path.head == "pld";
  if (!author) {
    // An operand given by its name is how people write, also in text that is otherwise printed.
    for (const AuthoringKeyword& k : keywords) {
      const OpInfo& info = op_info(op);
      for (const Operand& operand : info.operands) {
        if (!operand.name.empty() && operand.name == k.name && !is_keyword_operand(operand)) author = true;
      }
    }
    for (const AuthoringArg& arg : args) author = author || arg.expr == nullptr;
    if (op == OpId::tensor_alloc || op == OpId::tile_alloc) author = false;
  }
  if (!author) return literal_call(path, op, args, keywords, attrs, whole);

  AuthoringCall call;
  call.pld = pld;
  call.name = path.rest;
  call.name_span = path.span;
  call.span = whole;
  call.args = std::move(args);
  call.keywords = std::move(keywords);
  call.attrs = attrs;
  if (is_ergonomic_wrapper(call)) {
    const AuthoredWrapper wrapper = author_wrapper(ctx_, diags_, call, wrapper_counter_);
    if (wrapper.call == nullptr) return nullptr;
    hoisted_.insert(hoisted_.end(), wrapper.hoisted.begin(), wrapper.hoisted.end());
    return wrapper.call;
  }
  const std::string_view leaf = path.rest.substr(path.rest.rfind('.') + 1);
  if (leaf == "aiv_shard" || leaf == "aic_gather") stamp_split(OpId::tile_aiv_shard, call.keywords, whole);
  const Expr* result = author_expr(ctx_, diags_, call);
  const Call* made = dyn<Call>(result);
  if (made != nullptr && made->op == OpId::pld_tensor_alloc_window_buffer) {
    if (find_attr(made->kwargs, "name") == nullptr) {
      if (assigned.empty()) {
        diags_.report<diag::allocation_place>(whole).help("write 'buf = pld.alloc_window_buffer(...)'");
        return nullptr;
      }
      if (draft_ != nullptr && !(draft_->f.level == Level::HOST)) {
        diags_.report<diag::allocation_level>(whole, draft_->f.name.text())
            .help("allocate windows in a function with level=pl.Level.HOST and pass views of them on");
        return nullptr;
      }
      return name_allocation(ctx_, made, assigned.text());
    }
  }
  return result;
}

// Inside a split_aiv region the keyword split= of aiv_shard and aic_gather is not written: it follows the
// region.
void Reader::stamp_split(OpId op, std::vector<AuthoringKeyword>& keywords, Span where) {
  if (op == OpId::none_ || !split_region_ || op_info(op).syntax != Syntax::SplitHidden) return;
  for (const AuthoringKeyword& k : keywords) {
    if (k.name == "split") return;
  }
  AuthoringKeyword split{
      "split", where,
      AuthoringArg(ctx_.const_int(static_cast<std::int64_t>(*split_region_), DType::INDEX, where))};
  keywords.insert(keywords.begin(), split);
}

// Printed text: operands and keywords as they stand.
const Expr* Reader::literal_call(const Path& path, OpId op, std::vector<AuthoringArg>& args,
                                 std::vector<AuthoringKeyword>& keywords, Attrs attrs, Span whole) {
  const OpInfo& info = op_info(op);
  std::vector<const Expr*> operands;
  operands.reserve(args.size() + 2);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const AuthoringArg& arg = args[i];
    if (arg.expr != nullptr) {
      operands.push_back(arg.expr);
      if (i < info.operands.size() && info.operands[i].spelling == Spelling::KeywordDump) saw_legacy_ = true;
    } else if (info.syntax == Syntax::Alloc && arg.value.kind == AttrKind::MemSpace) {
      operands.push_back(ctx_.const_int(arg.value.integer, DType::INDEX, arg.span));
    } else {
      diags_.report<diag::operand_value>(arg.span, info.name)
          .help("operands are expressions; dtypes and enum members are keywords");
      return nullptr;
    }
  }
  stamp_split(op, keywords, whole);
  std::vector<Attr> kwargs;
  std::array<const Expr*, kMaxOperands> by_name{};
  bool any_by_name = false;
  const AuthoringKeyword* dtype_keyword = nullptr;
  for (const AuthoringKeyword& k : keywords) {
    bool is_operand = false;
    for (std::size_t i = 0; i < info.operand_count(); ++i) {
      const Operand& operand = info.operands[i];
      if (operand.name != k.name || !is_keyword_operand(operand)) continue;
      if (operand.spelling == Spelling::KeywordDump) saw_dump_ = true;
      if (k.arg.expr == nullptr) {
        diags_.report<diag::operand_value>(k.arg.span, info.name).help("'{}' takes an expression", k.name);
        return nullptr;
      }
      by_name[i] = k.arg.expr;
      any_by_name = is_operand = true;
    }
    if (is_operand) continue;
    const Keyword* row = info.keyword(k.name);
    AttrValue value;
    if (row != nullptr) {
      if (!read_keyword(diags_, op, *row, k.arg, value)) return nullptr;
      note_dialect(*row, k.arg);
      if (row->kind == KwKind::DType) dtype_keyword = &k;
    } else if (k.arg.expr != nullptr) {
      if (const auto* i = dyn<ConstInt>(k.arg.expr)) {
        value = AttrValue::of_int(i->value);
      } else if (const auto* b = dyn<ConstBool>(k.arg.expr)) {
        value = AttrValue::of_bool(b->value);
      } else if (const auto* f = dyn<ConstFloat>(k.arg.expr)) {
        value = AttrValue::of_float(f->value);
      } else {
        value = AttrValue::of_expr(k.arg.expr);
      }
    } else {
      value = k.arg.value;
    }
    kwargs.push_back({ctx_.name(k.name), value});
  }
  if (info.syntax == Syntax::Full && by_name[1] != nullptr) {
    // The bare value of the legacy dialect has lost its own dtype; the tile's takes its place (G10).
    const auto* dtype = find_attr(ctx_.list(kwargs), "dtype");
    const Expr*& value = by_name[1];
    const auto* i = dyn<ConstInt>(value);
    const auto* f = dyn<ConstFloat>(value);
    const bool bare = (i != nullptr && i->dtype == DType::INDEX) || (f != nullptr && f->dtype == DType::FP32);
    const bool typed_text = value->span.valid() && file_.text()[value->span.begin - file_.base()] == '(';
    if (op == OpId::tile_full && (i != nullptr || f != nullptr))
      (typed_text || !bare ? saw_dump_ : saw_legacy_) = true;
    if (bare && !typed_text && dtype != nullptr && dtype->kind == AttrKind::DType) {
      const auto to = static_cast<DType>(dtype->integer);
      if (i != nullptr) value = ctx_.const_int(i->value, to, i->span);
      if (f != nullptr) value = ctx_.const_float(f->value, to, f->span);
    }
  }
  (void)dtype_keyword;
  if (info.syntax == Syntax::SyncAll && by_name[0] != nullptr) {
    // "used_cores=0" stands for an absent count; the stored order is core_type, mode.
    if (by_name[1] != nullptr && const_int(by_name[1]) == std::int64_t{0}) by_name[1] = nullptr;
    std::stable_sort(kwargs.begin(), kwargs.end(),
                     [](const Attr& a, const Attr& b) { return a.key.text() < b.key.text(); });
  }
  if (any_by_name) {
    for (const Expr* e : by_name) {
      if (e != nullptr) operands.push_back(e);
    }
  }
  if (info.syntax == Syntax::RemoteLoad && path.rest == kTailPadding) {
    kwargs.push_back({ctx_.name(kPaddingKey), AttrValue::of_bool(true)});
  }
  if (info.syntax == Syntax::AllocWindow && find_attr(ctx_.list(kwargs), "name") == nullptr) {
    // Legacy text does not show the logical name; it is the base of the name that is assigned.
    saw_legacy_ = true;
    if (!assigned_name_.empty()) {
      const std::string_view base = parse_auto_name(assigned_name_.text()).base;
      kwargs.push_back({ctx_.name("name"), AttrValue::of_string(ctx_.text(base))});
    }
  }
  const Call* call = ctx_.call(op, ctx_.list(operands), ctx_.list(kwargs), attrs, ctx_.unknown(), whole);
  if (!check_call(diags_, call, CallSource::Printed)) return nullptr;
  // The annotation of an assignment tells the type (format.md 2.10); elsewhere it is deduced, quietly: a pass
  // may have written what the rules would refuse (G44).
  if (path.begin == annotated_at_) return call;
  DiagSink quiet;
  const Type* type =
      check_call(quiet, call) ? deduce(ctx_, quiet, op, call->args, call->kwargs, whole) : nullptr;
  return type != nullptr ? ctx_.call_with_type(call, type) : call;
}

const Expr* Reader::typed(const Expr* e) {
  const auto* call = dyn<Call>(e);
  if (call == nullptr || !call->is_op() || call->type->kind != TypeKind::Unknown || annotated_at_ == 0)
    return e;
  DiagSink quiet;
  if (!check_call(quiet, call)) return e;
  const Type* type = deduce(ctx_, quiet, call->op, call->args, call->kwargs, call->span);
  return type != nullptr ? ctx_.call_with_type(call, type) : e;
}

// Which dialect a keyword's spelling belongs to (format.md 9).
void Reader::note_dialect(const Keyword& row, const AuthoringArg& arg) {
  const bool differs = row.kind == KwKind::AccPhase || row.kind == KwKind::StPhase ||
                       row.kind == KwKind::CoreType || row.kind == KwKind::SyncMode;
  if (differs) (arg.enum_type.empty() ? saw_legacy_ : saw_dump_) = true;
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
  if (!read_string(hex, "of 16 hexadecimal digits") || !expect(Tok::RParen, "after the bits")) return nullptr;
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

void Writer::op_name(const OpInfo& info) {
  if (info.name.substr(0, 4) != "pld.") prefix();
  out_ += info.name;
  const std::size_t dot = info.name.rfind('.');
  const std::string_view leaf = info.name.substr(dot + 1);
  for (const std::string_view keyword : {"and", "or", "not"}) {
    if (leaf == keyword) out_ += '_';
  }
}

void Writer::op_call(const Call& c) {
  const OpInfo& info = op_info(c.op);
  const bool dump = options_.dialect == Dialect::Dump;
  std::string_view hidden;  // a keyword that is not printed
  bool comma = false;
  const auto separate = [&] {
    if (comma) out_ += ", ";
    comma = true;
  };
  const auto keyword_operand = [&](std::string_view name, const Expr* e) {
    separate();
    out_ += name;
    out_ += '=';
    expr(e);
  };
  switch (info.syntax) {
    case Syntax::AllocWindow:
      if (dump) {
        prefix();
        out_ += "_dump.alloc_window_buffer";
      } else {
        op_name(info);
        hidden = "name";
      }
      break;
    case Syntax::RemoteLoad: {
      const AttrValue* padding = find_attr(c.kwargs, kPaddingKey);
      if (padding != nullptr && padding->as_bool()) {
        out_ += "pld.";
        out_ += kTailPadding;
        hidden = kPaddingKey;
      } else {
        op_name(info);
      }
      break;
    }
    case Syntax::TensorAdd:
      // An add of a constant prints as its scalar form (G3).
      if (c.args.size() == 2 &&
          (c.args[1]->kind == ExprKind::ConstInt || c.args[1]->kind == ExprKind::ConstFloat)) {
        op_name(op_info(OpId::tensor_adds));
      } else {
        op_name(info);
      }
      break;
    case Syntax::SplitHidden:
      op_name(info);
      if (in_split_region_) hidden = "split";
      break;
    case Syntax::TaskDummy: {
      op_name(info);
      out_ += "(deps=[";
      if (const AttrValue* deps = find_attr(c.attrs, "manual_dep_edges")) {
        for (std::size_t i = 0; i < deps->vars.size(); ++i) {
          if (i != 0) out_ += ", ";
          out_ += name(deps->vars[i]);
        }
      }
      out_ += ']';
      bool open = false;
      for (const Attr& attr : c.attrs) {
        if (attr.key.text() == "manual_dep_edges" || attr.key.text() == "dummy_task") continue;
        out_ += open ? ", " : ", attrs={";
        open = true;
        quoted(attr.key.text());
        out_ += ": ";
        attr_value(attr.value);
      }
      out_ += open ? "})" : ")";
      return;
    }
    case Syntax::Full: {
      op_name(info);
      out_ += '(';
      if (!c.args.empty()) expr(c.args[0]);
      if (const AttrValue* d = find_attr(c.kwargs, "dtype")) {
        out_ += ", dtype=";
        dtype(static_cast<DType>(d->integer));
      }
      if (c.args.size() > 1) {
        out_ += ", value=";
        full_value(c.args[1], dump && c.op == OpId::tile_full);
      }
      call_attrs(c.attrs, true);
      out_ += ')';
      return;
    }
    case Syntax::SyncAll: {
      const AttrValue* mode = find_attr(c.kwargs, "mode");
      op_name(info);
      if (c.args.empty() || mode == nullptr) break;
      out_ += "(mode=";
      const AttrValue* core = find_attr(c.kwargs, "core_type");
      sync_word("SyncAllMode", mode->text, dump);
      out_ += ", core_type=";
      sync_word("KernelType", core != nullptr ? core->text : std::string_view("mix"), dump);
      out_ += ", gm_workspace=";
      expr(c.args[0]);
      out_ += ", used_cores=";
      if (c.args.size() < 2) {
        out_ += '0';
      } else if (const auto constant = const_int(c.args[1])) {
        integer(*constant);
      } else {
        expr(c.args[1]);
      }
      call_attrs(c.attrs, true);
      out_ += ')';
      return;
    }
    case Syntax::Plain:
    case Syntax::ReinterpretView:
    case Syntax::GatherRow:
    case Syntax::MGather:
    case Syntax::Alloc:
    case Syntax::Slice:
      op_name(info);
      break;
  }
  out_ += '(';
  std::size_t positional = c.args.size();
  if (info.syntax == Syntax::MGather) {
    positional = std::min<std::size_t>(positional, 2);
  } else {
    for (std::size_t i = 0; i < c.args.size() && i < info.operands.size(); ++i) {
      const Spelling s = info.operands[i].spelling;
      if (s == Spelling::Keyword || (s == Spelling::KeywordDump && dump)) {
        positional = i;
        break;
      }
    }
  }
  for (std::size_t i = 0; i < positional; ++i) {
    separate();
    if (i == 0 && info.syntax == Syntax::Alloc) {
      if (const auto space = const_int(c.args[0])) {
        const bool known =
            *space >= 0 && *space < static_cast<std::int64_t>(std::size(EnumNames<MemSpace>::names));
        enum_member("Mem", known ? name_of(static_cast<MemSpace>(*space)) : std::string_view("Unknown"));
        continue;
      }
    }
    expr(c.args[i]);
  }
  if (info.syntax == Syntax::ReinterpretView) {
    if (const AttrValue* d = find_attr(c.kwargs, "dtype")) {
      separate();
      out_ += "dtype=";
      dtype(static_cast<DType>(d->integer));
      hidden = "dtype";
    }
  }
  if (info.syntax == Syntax::MGather) {
    const AttrValue* coalesce = find_attr(c.kwargs, "coalesce");
    const bool elements = coalesce != nullptr && coalesce->integer == 1;
    if (elements && c.args.size() > 2) keyword_operand("scratch", c.args[2]);
    if (!elements && c.args.size() == 3) keyword_operand("valid_shape", c.args[2]);
    if (elements && c.args.size() == 4) keyword_operand("valid_shape", c.args[3]);
  } else {
    for (std::size_t i = positional; i < c.args.size(); ++i) {
      keyword_operand(i < info.operands.size() ? info.operands[i].name : std::string_view("arg"), c.args[i]);
    }
  }
  for (const Attr& kwarg : c.kwargs) {
    if (!hidden.empty() && kwarg.key.text() == hidden) continue;
    separate();
    out_ += kwarg.key.text();
    out_ += '=';
    kwarg_value(info, kwarg);
  }
  call_attrs(c.attrs, comma);
  out_ += ')';
}

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
