#include "ir/authoring.h"

#include <algorithm>
#include <array>

#include "ir/check_op.h"
#include "ir/check_rules.h"
#include "ir/describe.h"
#include "ir/rules.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

using Dims = List<const Expr*>;

// --- re-typing of constants (format.md 4.2.1)
// ----------------------------------------------------------------------

bool is_bare_int(const Expr* e) {
  const auto* c = dyn<ConstInt>(e);
  return c != nullptr && c->dtype == DType::INDEX;
}

const Expr* retype(Context& ctx, const Expr* e, DType dtype) {
  const auto* c = dyn<ConstInt>(e);
  if (c == nullptr || c->dtype == dtype) return e;
  if (is_float(dtype)) return ctx.const_float(static_cast<double>(c->value), dtype, c->span);
  return ctx.const_int(c->value, dtype, c->span);
}

std::optional<DType> element_dtype(const Type* type) {
  if (const auto* tensor = dyn<TensorType>(type)) return tensor->dtype;
  if (const auto* tile = dyn<TileType>(type)) return tile->dtype;
  if (const auto* array = dyn<ArrayType>(type)) return array->dtype;
  return std::nullopt;
}

// The operand whose constants take the dtype of the elements of operand 0.
bool takes_element_dtype(OpId op, std::size_t operand) {
  static constexpr OpId second[] = {
      OpId::tile_adds,          OpId::tile_subs,      OpId::tile_muls,      OpId::tile_divs,
      OpId::tile_rems,          OpId::tile_fmods,     OpId::tile_shls,      OpId::tile_shrs,
      OpId::tile_ands,          OpId::tile_ors,       OpId::tile_xors,      OpId::tile_addsc,
      OpId::tile_subsc,         OpId::tile_cmps,      OpId::tile_expands,   OpId::tile_maximums,
      OpId::tile_minimums,      OpId::tensor_adds,    OpId::tensor_subs,    OpId::tensor_muls,
      OpId::tensor_divs,        OpId::tensor_fmods,   OpId::tensor_maximum, OpId::tensor_minimum,
      OpId::tensor_cmp,         OpId::tensor_expands, OpId::tensor_ands,    OpId::tensor_ors,
      OpId::tensor_xors,        OpId::tensor_shls,    OpId::tensor_shrs,    OpId::tensor_gather_compare,
      OpId::tile_gather_compare};
  return operand == 1 && std::find(std::begin(second), std::end(second), op) != std::end(second);
}

bool is_bitwise(OpId op) {
  return op == OpId::tensor_ands || op == OpId::tensor_ors || op == OpId::tensor_xors ||
         op == OpId::tensor_shls || op == OpId::tensor_shrs;
}

DType signed_twin(DType d) {
  if (d == DType::UINT8) return DType::INT8;
  if (d == DType::UINT16) return DType::INT16;
  return d == DType::UINT32 ? DType::INT32 : d;
}

// --- the call being completed
// ----------------------------------------------------------------------------------

class Author {
 public:
  Author(Context& context, DiagSink& diags, const AuthoringCall& call, OpId op)
      : ctx_(context), diags_(diags), call_(call), op_(op), info_(op_info(op)) {}

  const Call* build();

 private:
  const Operand& operand(std::size_t i) const { return info_.operands[i]; }
  bool place_positional();
  bool place_keywords();
  bool set_operand(std::size_t i, const AuthoringArg& arg, bool by_name);
  bool set_keyword(std::size_t i, const AuthoringArg& arg);
  std::optional<std::size_t> next_keyword(const AuthoringArg& arg) const;
  bool special_positional(std::vector<AuthoringArg>& args);
  bool unknown_keyword(const AuthoringKeyword& keyword);
  bool fill_operands();
  bool collect(std::vector<const Expr*>& args);
  bool retype_constants(std::vector<const Expr*>& args);
  bool collect_keywords(std::vector<Attr>& kwargs);
  const Call* allocation();

  Context& ctx_;
  DiagSink& diags_;
  const AuthoringCall& call_;
  OpId op_;
  const OpInfo& info_;
  std::array<const Expr*, kMaxOperands> operands_{};
  std::array<bool, kMaxOperands> by_name_{};
  std::array<std::optional<AttrValue>, kMaxKeywords> keywords_{};
  std::array<bool, kMaxKeywords> keyword_seen_{};
  const Expr* trailing_tmp_ = nullptr;  // tmp= of a merge sort: always the last operand
};

bool Author::set_operand(std::size_t i, const AuthoringArg& arg, bool by_name) {
  if (arg.none && op_ == OpId::pld_tensor_allreduce) {
    diags_.report<diag::op_not_for_value>(arg.span, operand(i).name, info_.name, "None")
        .help("leave '{}' out: the compiler then makes a signal", operand(i).name);
    return false;
  }
  if (arg.none) return true;
  if (arg.expr == nullptr) {
    diags_.report<diag::op_not_for_value>(arg.span, operand(i).name, info_.name,
                                          arg.value.kind == AttrKind::DType ? "a dtype" : "a name or string");
    return false;
  }
  if (operands_[i] != nullptr) {
    diags_.report<diag::op_argument_twice>(arg.span, info_.name, operand(i).name);
    return false;
  }
  operands_[i] = arg.expr;
  by_name_[i] = by_name;
  return true;
}

bool Author::set_keyword(std::size_t i, const AuthoringArg& arg) {
  if (keyword_seen_[i]) {
    diags_.report<diag::op_argument_twice>(arg.span, info_.name, info_.keywords[i].name);
    return false;
  }
  keyword_seen_[i] = true;
  if (arg.none) return true;
  AttrValue value;
  if (!read_keyword(diags_, op_, info_.keywords[i], arg, value)) return false;
  keywords_[i] = value;
  return true;
}

// The keyword for a further argument by position: the first one that is still open and of its kind.
std::optional<std::size_t> Author::next_keyword(const AuthoringArg& arg) const {
  for (std::size_t i = 0; i < info_.keyword_count(); ++i) {
    if (keyword_seen_[i]) continue;
    if (arg.none || arg.expr != nullptr) return i;
    const KeywordRange range = keyword_range(info_.keywords[i].kind);
    if (arg.value.kind == range.kind || arg.value.kind == AttrKind::String) return i;
  }
  return std::nullopt;
}

// Wrappers whose positional order is not that of the operands.
bool Author::special_positional(std::vector<AuthoringArg>& args) {
  const bool dim_second = op_ == OpId::tensor_gather || op_ == OpId::tensor_scatter ||
                          op_ == OpId::tensor_scatter_update || op_ == OpId::tile_scatter_update;
  if (dim_second && args.size() > 1 && args[1].expr != nullptr && const_int(args[1].expr)) {
    for (std::size_t i = 0; i < info_.keyword_count(); ++i) {
      if (info_.keywords[i].name == "dim" && !set_keyword(i, args[1])) return false;
    }
    args.erase(args.begin() + 1);
  }
  // scatter(x, mask_pattern=m, dst=d): the first one is what is spread.
  if (op_ == OpId::tile_scatter_mask && args.size() == 1) {
    if (!set_operand(1, args[0], false)) return false;
    args.clear();
  }
  return true;
}

bool Author::place_positional() {
  std::vector<AuthoringArg> args = call_.args;
  if (!special_positional(args)) return false;
  std::size_t next = 0;
  for (std::size_t n = 0; n < args.size(); ++n) {
    const AuthoringArg& arg = args[n];
    // An operand's value as a memory space: the allocation ops.
    if (info_.syntax == Syntax::Alloc && next == 0 && arg.expr == nullptr &&
        arg.value.kind == AttrKind::MemSpace) {
      operands_[next++] = ctx_.const_int(arg.value.integer, DType::INDEX, arg.span);
      continue;
    }
    if (next < info_.operand_count() && (arg.expr != nullptr || arg.none)) {
      if (!set_operand(next++, arg, false)) return false;
      continue;
    }
    if (const auto keyword = next_keyword(arg)) {
      if (!set_keyword(*keyword, arg)) return false;
      continue;
    }
    // A dtype or name where only operands are left.
    if (next < info_.operand_count()) return set_operand(next, arg, false);
    diags_
        .report<diag::op_operand_count>(
            arg.span, info_.name, fmt::format("at most {}", info_.operand_count() + info_.keyword_count()),
            call_.args.size())
        .help("{} has {} operands and {} keywords", info_.name, info_.operand_count(), info_.keyword_count());
    return false;
  }
  return true;
}

bool Author::unknown_keyword(const AuthoringKeyword& keyword) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < info_.operand_count(); ++i) names.push_back(operand(i).name);
  for (std::size_t i = 0; i < info_.keyword_count(); ++i) names.push_back(info_.keywords[i].name);
  auto report = diags_.report<diag::op_keyword_unknown>(
      keyword.name_span.valid() ? keyword.name_span : call_.span, info_.name, keyword.name);
  const std::string_view guess = closest(keyword.name, names);
  if (!guess.empty()) {
    report.help("did you mean '{}='?", guess);
  } else if (names.empty()) {
    report.help("it takes neither operands nor keywords (no kwargs)");
  } else {
    std::string list;
    for (const std::string_view n : names) list += (list.empty() ? "" : ", ") + std::string(n);
    report.help("it knows {}", list);
  }
  return false;
}

bool Author::place_keywords() {
  for (const AuthoringKeyword& keyword : call_.keywords) {
    if (op_ == OpId::tile_mrgsort_format2 && keyword.name == "tmp") {
      if (keyword.arg.expr == nullptr) return keyword.arg.none || set_operand(4, keyword.arg, true);
      trailing_tmp_ = keyword.arg.expr;
      continue;
    }
    bool known = false;
    for (std::size_t i = 0; !known && i < info_.operand_count(); ++i) {
      if (operand(i).name != keyword.name) continue;
      known = true;
      if (!set_operand(i, keyword.arg, true)) return false;
    }
    for (std::size_t i = 0; !known && i < info_.keyword_count(); ++i) {
      if (info_.keywords[i].name != keyword.name) continue;
      known = true;
      if (!set_keyword(i, keyword.arg)) return false;
    }
    if (!known) return unknown_keyword(keyword);
  }
  return true;
}

bool Author::fill_operands() {
  if (op_ == OpId::tile_load && operands_[3] == nullptr) operands_[3] = operands_[2];
  if (op_ == OpId::system_aic_initialize_pipe || op_ == OpId::system_aiv_initialize_pipe) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (operands_[i] == nullptr) operands_[i] = ctx_.const_int(0, DType::INT32, call_.span);
    }
  }
  // drop_dims without a valid shape: an empty list stands between.
  if (info_.syntax == Syntax::Slice && operands_[4] != nullptr && operands_[3] == nullptr) {
    operands_[3] = ctx_.make_tuple({}, call_.span);
  }
  return true;
}

bool Author::collect(std::vector<const Expr*>& args) {
  for (std::size_t i = 0; i < info_.operand_count(); ++i) {
    if (operands_[i] != nullptr) {
      args.push_back(operands_[i]);
      continue;
    }
    if (operand(i).optional || (trailing_tmp_ != nullptr && i >= 2)) continue;
    auto report = diags_.report<diag::op_operand_missing>(call_.span, info_.name, operand(i).name);
    std::string names;
    std::size_t given = 0;
    const std::size_t all = info_.operand_count();
    for (std::size_t k = 0; k < all; ++k) {
      const std::string name(operand(k).name);
      names += (k == 0 ? "" : ", ") + (operand(k).optional ? "[" + name + "]" : name);
      given += operands_[k] != nullptr ? 1 : 0;
    }
    const std::size_t needed = info_.required_count();
    const std::string takes = needed == all ? std::to_string(all) : fmt::format("{} to {}", needed, all);
    report.help("{} takes {} argument{} ({}), found {}", info_.name, takes, all == 1 ? "" : "s", names,
                given);
    if (operand(i).kind == ArgKind::Tile && operand(i).name.substr(0, 3) == "tmp") {
      report.help("'{}' is memory to work in: a tile made by pl.tile.create(shape, dtype=...)",
                  operand(i).name);
    }
    return false;
  }
  if (trailing_tmp_ != nullptr) args.push_back(trailing_tmp_);
  return true;
}

bool Author::retype_constants(std::vector<const Expr*>& args) {
  const auto restamp = [&](std::size_t i, DType dtype) {
    if (i < args.size() && is_bare_int(args[i])) args[i] = retype(ctx_, args[i], dtype);
  };
  std::optional<DType> element;
  if (!args.empty()) element = element_dtype(args[0]->type);
  if (element && args.size() > 1 && takes_element_dtype(op_, 1)) {
    DType dtype = *element;
    if (!is_int(dtype) && !is_float(dtype)) {
      const bool tensor_arithmetic = dyn<TensorType>(args[0]->type) != nullptr && !is_bitwise(op_);
      dtype = tensor_arithmetic ? DType::FP32 : DType::INT32;
    }
    restamp(1, dtype);
    if (scalar_dtype(args[1]->type) == DType::INDEX && *element != DType::INDEX) {
      diags_
          .report<diag::op_index_scalar>(args[1]->span.valid() ? args[1]->span : call_.span, operand(1).name,
                                         info_.name, name_of(*element))
          .help("write pl.cast(..., pl.{})", name_of(*element));
      return false;
    }
  }
  if (op_ == OpId::tile_lrelu) {
    if (const auto* c = dyn<ConstInt>(args[1])) {
      args[1] = ctx_.const_float(static_cast<double>(c->value), DType::FP32, c->span);
    } else if (const auto* f = dyn<ConstFloat>(args[1])) {
      args[1] = ctx_.const_float(f->value, DType::FP32, f->span);
    }
  }
  if (op_ == OpId::tensor_full && keywords_[0] && keywords_[0]->kind == AttrKind::DType) {
    // Printed bare in either dialect, and read back as a value of the tensor's dtype (G10).
    const auto dtype = static_cast<DType>(keywords_[0]->integer);
    if (const auto* i = dyn<ConstInt>(args[1])) args[1] = ctx_.const_int(i->value, dtype, i->span);
    if (const auto* f = dyn<ConstFloat>(args[1])) args[1] = ctx_.const_float(f->value, dtype, f->span);
  }
  if (op_ == OpId::tile_sels && args.size() > 3) {
    if (const auto dtype = element_dtype(args[1]->type)) {
      const DType wanted = signed_twin(*dtype);
      if (const auto* c = dyn<ConstInt>(args[3])) {
        args[3] =
            is_float(wanted)
                ? static_cast<const Expr*>(ctx_.const_float(static_cast<double>(c->value), wanted, c->span))
                : ctx_.const_int(c->value, wanted, c->span);
      } else if (const auto* f = dyn<ConstFloat>(args[3]); f != nullptr && is_float(wanted)) {
        args[3] = ctx_.const_float(f->value, wanted, f->span);
      }
    }
  }
  if (op_ == OpId::tile_random || op_ == OpId::tensor_random) {
    for (std::size_t i = 0; i < 6; ++i) restamp(i, DType::INT32);
  }
  if (op_ == OpId::tile_tri) restamp(0, DType::INT32);
  if (op_ == OpId::tile_mrgsort_format1 || op_ == OpId::tensor_mrgsort_format1) restamp(1, DType::INT32);
  if (op_ == OpId::tile_ci || op_ == OpId::tensor_ci) {
    const DType dtype = keywords_[0] ? static_cast<DType>(keywords_[0]->integer) : DType::INT32;
    restamp(0, dtype);
  }
  if ((op_ == OpId::tensor_write || op_ == OpId::tile_write) && element) restamp(2, *element);
  if (op_ == OpId::array_update_element && element) restamp(2, *element);
  // Numbers given by name to the distributed ops and the pipes are 32-bit; by position they stay what they
  // are.
  if (info_.name.substr(0, 4) == "pld." || op_ == OpId::system_aic_initialize_pipe ||
      op_ == OpId::system_aiv_initialize_pipe) {
    for (std::size_t i = 0, at = 0; i < info_.operand_count(); ++i) {
      if (operands_[i] == nullptr) continue;
      if (by_name_[i] && operand(i).kind == ArgKind::Scalar) restamp(at, DType::INT32);
      ++at;
    }
  }
  return true;
}

bool same_value(const AttrValue& a, const AttrValue& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == AttrKind::String) return a.text == b.text;
  if (a.kind == AttrKind::Float) return !(a.real < b.real) && !(b.real < a.real);
  return a.integer == b.integer;
}

bool Author::collect_keywords(std::vector<Attr>& kwargs) {
  for (std::size_t i = 0; i < info_.keyword_count(); ++i) {
    const Keyword& keyword = info_.keywords[i];
    const Name key = ctx_.name(keyword.name);
    if (keywords_[i]) {
      // A keyword that prints only when it matters is not stored with its default.
      if (keyword.when == KwWhen::NonDefault && same_value(*keywords_[i], keyword_default(keyword))) continue;
      kwargs.push_back({key, *keywords_[i]});
    } else if (keyword.when == KwWhen::Always) {
      kwargs.push_back({key, keyword_default(keyword)});
    }
  }
  return true;
}

// alloc_window_buffer(bytes) or alloc_window_buffer([d0, d1], dtype=T).
const Call* Author::allocation() {
  const AuthoringArg* size = call_.args.empty() ? nullptr : &call_.args[0];
  const AuthoringArg* dtype = nullptr;
  for (const AuthoringKeyword& k : call_.keywords) {
    if (k.name == "size" || k.name == "shape") {
      size = &k.arg;
    } else if (k.name == "dtype") {
      dtype = &k.arg;
    } else if (k.name == "name") {
      diags_.report<diag::alloc_name>(k.name_span.valid() ? k.name_span : call_.span)
          .help("write 'my_name = pld.alloc_window_buffer(...)'");
      return nullptr;
    } else {
      diags_
          .report<diag::op_keyword_unknown>(k.name_span.valid() ? k.name_span : call_.span, info_.name,
                                            k.name)
          .help("it knows size and, with a shape, dtype");
      return nullptr;
    }
  }
  if (call_.args.size() > 1 && dtype == nullptr) dtype = &call_.args[1];
  if (call_.args.size() > 2) {
    diags_.report<diag::op_operand_count>(call_.span, info_.name, "exactly 1", call_.args.size());
    return nullptr;
  }
  if (size == nullptr || size->expr == nullptr) {
    diags_.report<diag::op_operand_missing>(call_.span, info_.name, "size");
    return nullptr;
  }
  const auto* shape = dyn<MakeTuple>(size->expr);
  const Expr* bytes = size->expr;
  if (shape == nullptr) {
    if (dtype != nullptr) {
      diags_.report<diag::alloc_dtype_extra>(dtype->span);
      return nullptr;
    }
    if (!is_unknown(bytes->type) && bytes->type->kind != TypeKind::Scalar) {
      diags_.report<diag::op_operand_kind>(size->span, "size", info_.name, "a number of bytes or a shape",
                                           describe(bytes->type));
      return nullptr;
    }
  } else {
    if (dtype == nullptr) {
      diags_.report<diag::alloc_dtype_missing>(call_.span)
          .help("add dtype=pl.FP32, or give the size in bytes");
      return nullptr;
    }
    if (dtype->expr != nullptr || dtype->value.kind != AttrKind::DType) {
      diags_.report<diag::op_keyword_kind>(dtype->span, "dtype", info_.name, "a dtype, such as pl.FP32",
                                           "another value");
      return nullptr;
    }
    if (shape->elements.empty()) {
      diags_.report<diag::alloc_shape>(size->span, "shape must be non-empty");
      return nullptr;
    }
    const std::int64_t width = byte_width(static_cast<DType>(dtype->value.integer));
    std::int64_t total = width;
    bool constant = true;
    for (const Expr* dim : shape->elements) {
      const auto extent = const_int(dim);
      if (extent && *extent <= 0) {
        diags_.report<diag::alloc_shape>(dim->span.valid() ? dim->span : size->span,
                                         fmt::format("all dimensions must be positive, found {}", *extent));
        return nullptr;
      }
      constant = constant && extent;
      if (extent && __builtin_mul_overflow(total, *extent, &total)) {
        diags_.report<diag::alloc_shape>(size->span, "the size does not fit in 64 bits");
        return nullptr;
      }
    }
    if (constant) {
      bytes = ctx_.const_int(total, DType::INT64, size->span);
    } else {
      const Type* wide = ctx_.scalar(DType::INT64);
      const auto factor = [&](const Expr* e) { return is_bare_int(e) ? retype(ctx_, e, DType::INT64) : e; };
      bytes = factor(shape->elements[0]);
      for (const Expr* dim : shape->elements.subspan(1)) {
        bytes = ctx_.binary_of_type(BinaryOp::Mul, bytes, factor(dim), wide, size->span);
      }
      bytes = ctx_.binary_of_type(BinaryOp::Mul, bytes, ctx_.const_int(width, DType::INT64, size->span), wide,
                                  size->span);
    }
  }
  return ctx_.call(op_, ctx_.list({bytes}), {}, call_.attrs, ctx_.simple(TypeKind::Ptr), call_.span);
}

const Call* Author::build() {
  if (info_.name.substr(0, 8) == "builtin.") {
    std::string origin = "pld." + std::string(info_.name.substr(8));
    if (op_ == OpId::builtin_tensor_allreduce_ring) origin = "pld.tensor.allreduce with mode='ring'";
    diags_
        .report<diag::op_internal_only>(call_.name_span.valid() ? call_.name_span : call_.span, info_.name,
                                        origin)
        .help("write {} in a host function", origin);
    return nullptr;
  }
  if (op_ == OpId::pld_tensor_alloc_window_buffer) return allocation();
  std::vector<const Expr*> args;
  std::vector<Attr> kwargs;
  if (!place_positional() || !place_keywords() || !fill_operands() || !collect(args)) return nullptr;
  // Kinds first: the constants of an operand of the wrong kind must not be looked at.
  if (!collect_keywords(kwargs)) return nullptr;
  const Call* draft =
      ctx_.call(op_, ctx_.list(args), ctx_.list(kwargs), call_.attrs, ctx_.unknown(), call_.span);
  if (!check_call(diags_, draft) || !retype_constants(args)) return nullptr;
  const Call* call = ctx_.call(op_, ctx_.list(args), draft->kwargs, call_.attrs, ctx_.unknown(), call_.span);
  const Type* type = deduce(ctx_, diags_, op_, call->args, call->kwargs, call_.span);
  return type != nullptr ? ctx_.call_with_type(call, type) : nullptr;
}

// --- names that are no op
// --------------------------------------------------------------------------------------------

void report_unknown(DiagSink& diags, const AuthoringCall& call) {
  std::vector<std::string> texts;
  std::vector<std::string_view> names;
  const bool full = call.name.find('.') != std::string_view::npos;
  for (std::size_t i = 0; i < kOpCount; ++i) {
    std::string_view name = op_info(static_cast<OpId>(i)).name;
    const bool distributed = name.substr(0, 4) == "pld.";
    if (distributed != call.pld) continue;
    if (distributed) name.remove_prefix(4);
    if (!full) name = op_leaf(name);
    names.push_back(name);
  }
  if (!full) {
    if (call.pld) {
      names.insert(names.end(), {"all_reduce", "all_gather"});
    } else {
      names.insert(names.end(), {"create_tensor", "create_tile", "arange", "mrgsort"});
    }
  }
  const std::string_view prefix = call.pld ? "pld." : "pl.";
  auto report = diags.report<diag::op_unknown>(call.name_span.valid() ? call.name_span : call.span,
                                               std::string(prefix) + std::string(call.name));
  if (is_op_name(!call.pld, call.name)) {
    report.help("did you mean '{}{}'?", call.pld ? "pl." : "pld.", call.name);
  } else if (const std::string_view guess = closest(call.name, names); !guess.empty()) {
    report.help("did you mean '{}{}'?", prefix, guess);
  } else {
    report.help("`pldc list ops` shows the operations of each category");
  }
}

bool scalar_arg(const AuthoringArg& arg) {
  return arg.expr != nullptr && arg.expr->type->kind == TypeKind::Scalar;
}

// pl.add(n, 1) and the like on scalars.
const Expr* scalar_operator(Context& context, DiagSink& diags, const AuthoringCall& call, bool& applies) {
  applies = false;
  if (call.pld || call.args.empty() || !call.keywords.empty()) return nullptr;
  for (const AuthoringArg& arg : call.args) {
    if (!scalar_arg(arg)) return nullptr;
  }
  struct Entry {
    std::string_view name;
    BinaryOp op;
  };
  static constexpr Entry operators[] = {
      {"add", BinaryOp::Add},      {"sub", BinaryOp::Sub},       {"mul", BinaryOp::Mul},
      {"div", BinaryOp::FloatDiv}, {"min", BinaryOp::Min},       {"minimum", BinaryOp::Min},
      {"max", BinaryOp::Max},      {"maximum", BinaryOp::Max},   {"and_", BinaryOp::BitAnd},
      {"or_", BinaryOp::BitOr},    {"xor", BinaryOp::BitXor},    {"shl", BinaryOp::Shl},
      {"shr", BinaryOp::Shr},      {"fmod", BinaryOp::FloorMod}, {"rem", BinaryOp::FloorMod}};
  if (call.args.size() == 2) {
    for (const Entry& entry : operators) {
      if (entry.name != call.name) continue;
      applies = true;
      return author_binary(context, diags, entry.op, call.args[0].expr, call.args[1].expr, call.span);
    }
  }
  if (call.args.size() == 1 && (call.name == "neg" || call.name == "abs")) {
    applies = true;
    return context.unary(call.name == "neg" ? UnaryOp::Neg : UnaryOp::Abs, call.args[0].expr, call.span);
  }
  return nullptr;
}

}  // namespace

const Call* author_call(Context& context, DiagSink& diags, const AuthoringCall& call) {
  const OpId op = resolve_short_name(call.pld, call.name, call.args, call.keywords);
  if (op == OpId::none_) {
    report_unknown(diags, call);
    return nullptr;
  }
  return Author(context, diags, call, op).build();
}

const Expr* author_expr(Context& context, DiagSink& diags, const AuthoringCall& call) {
  bool applies = false;
  const Expr* result = scalar_operator(context, diags, call, applies);
  return applies ? result : author_call(context, diags, call);
}

const Call* name_allocation(Context& context, const Call* call, std::string_view name) {
  Call named = *call;
  std::vector<Attr> kwargs(call->kwargs.begin(), call->kwargs.end());
  kwargs.push_back({context.name("name"), AttrValue::of_string(context.text(name))});
  named.kwargs = context.list(kwargs);
  return context.make(named);
}

}  // namespace pldc
