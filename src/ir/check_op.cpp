#include "ir/check_op.h"

#include <fmt/ranges.h>

#include "ir/check_rules.h"
#include "ir/describe.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

bool is_tuple(const Expr* e) { return dyn<TupleType>(e->type) != nullptr; }

std::string_view kind_text(ArgKind kind) {
  switch (kind) {
    case ArgKind::Tensor:
    case ArgKind::TensorLike:
      return "a Tensor or DistributedTensor";
    case ArgKind::Window:
      return "a DistributedTensor";
    case ArgKind::Tile:
      return "a Tile";
    case ArgKind::Scalar:
      return "a scalar";
    case ArgKind::ConstInt:
      return "a constant integer";
    case ArgKind::Tuple:
      return "a tuple of scalars, such as [0, 0]";
    case ArgKind::Array:
      return "an Array";
    case ArgKind::Ptr:
      return "a Ptr";
    case ArgKind::Ctx:
      return "a CommCtx";
    case ArgKind::PrefetchCtx:
      return "a PrefetchAsyncContext";
    case ArgKind::TensorOrScalar:
      return "a Tensor or a scalar";
    case ArgKind::TensorOrTile:
      return "a Tensor or a Tile";
    case ArgKind::Any:
      return "a value";
  }
  return "a value";
}

// The counts that are allowed, where they are not a plain range.
std::string_view odd_counts(OpId op, std::size_t count, bool& fits) {
  if (op == OpId::system_cacheinvalid) {
    fits = count == 0 || count == 3;
    return "0 or 3";
  }
  if (op == OpId::pld_tensor_put || op == OpId::pld_tensor_get) {
    fits = count == 3 || count == 6;
    return "3 or 6";
  }
  if (op == OpId::pld_tile_put || op == OpId::pld_tile_get) {
    fits = count == 4 || count == 5 || count == 7 || count == 8;
    return "4, 5, 7 or 8";
  }
  return {};
}

bool check_count(DiagSink& diags, const Call* call) {
  const OpInfo& info = op_info(call->op);
  const std::size_t count = call->args.size();
  bool fits = true;
  const std::string_view odd = odd_counts(call->op, count, fits);
  if (!odd.empty()) {
    if (!fits) diags.report<diag::op_operand_count>(call->span, info.name, odd, count);
    return fits;
  }
  const std::size_t least = info.required_count();
  const std::size_t most = info.operand_count();
  if (count >= least && count <= most) return true;
  std::string wanted;
  if (most == 0) {
    wanted = "no positional";
  } else if (least == most) {
    wanted = fmt::format("exactly {}", most);
  } else {
    wanted = fmt::format("{} to {}", least, most);
  }
  auto report = diags.report<diag::op_operand_count>(call->span, info.name, wanted, count);
  if (count < least)
    report.help("missing: '{}' ({})", info.operands[count].name, kind_text(info.operands[count].kind));
  return false;
}

bool counts(const Type* type) {
  const auto dtype = scalar_dtype(type);
  return !dtype || is_int(*dtype) || *dtype == DType::TASK_ID;
}

// Lists are offsets, extents and indices, and what distributed and system ops take besides memory are ranks, counts and
// ids: integers all. Generated code would cut off what is behind the point.
bool check_integers(DiagSink& diags, const Call* call, const Operand* operand, const Expr* arg) {
  const std::string_view op = op_info(call->op).name;
  const auto refuse = [&](const Expr* place, std::string_view allowed, const Type* found) {
    diags.report<diag::op_operand_kind>(place->span.valid() ? place->span : call->span, operand->name, op,
                                        allowed, describe(found));
    return false;
  };
  if (operand->kind == ArgKind::Scalar) {
    const bool number = op.substr(0, 4) == "pld." || op.substr(0, 7) == "system.";
    return !number || counts(arg->type) || refuse(arg, "an integer scalar", arg->type);
  }
  const auto* type = operand->kind == ArgKind::Tuple ? dyn<TupleType>(arg->type) : nullptr;
  if (type == nullptr) return true;
  const auto* made = dyn<MakeTuple>(arg);
  for (std::size_t i = 0; i < type->elements.size(); ++i) {
    if (counts(type->elements[i])) continue;
    return refuse(made != nullptr ? made->elements[i] : arg, "a tuple of integer scalars, such as [0, 0]",
                  type->elements[i]);
  }
  return true;
}

bool check_operands(DiagSink& diags, const Call* call, CallSource source) {
  bool ok = true;
  for (std::size_t i = 0; i < call->args.size(); ++i) {
    const Operand* operand = operand_of(call, i);
    const Expr* arg = call->args[i];
    if (operand == nullptr) continue;
    if (kind_fits(operand->kind, arg)) {
      ok = check_integers(diags, call, operand, arg) && ok;
      continue;
    }
    // Passes leave tiles where an op takes tensors (G44); their text is read all the same.
    if (source == CallSource::Printed && operand->kind == ArgKind::Tensor &&
        arg->type->kind == TypeKind::Tile)
      continue;
    ok = false;
    // Two errors have a remedy of their own.
    if (!check_source_level(diags, call, i)) continue;
    auto report = diags.report<diag::op_operand_kind>(arg->span.valid() ? arg->span : call->span,
                                                      operand->name, op_info(call->op).name,
                                                      kind_text(operand->kind), describe(arg->type));
    if (operand->kind == ArgKind::Tile && arg->type->kind == TypeKind::Tensor) {
      const auto* made = dyn<Call>(arg);
      const bool empty = made != nullptr && made->op == OpId::tensor_create;
      report.help("{}",
                  empty ? "pl.tile.create makes a tile" : "pl.load copies a part of a tensor into a tile");
    }
  }
  return ok;
}

std::string_view attr_kind_text(AttrKind kind) {
  switch (kind) {
    case AttrKind::Int:
      return "an integer";
    case AttrKind::Bool:
      return "True or False";
    case AttrKind::String:
      return "a string";
    case AttrKind::Float:
      return "a floating-point number";
    case AttrKind::DType:
      return "a dtype";
    case AttrKind::MemSpace:
      return "a memory space";
    case AttrKind::TensorLayout:
      return "a tensor layout";
    case AttrKind::TileLayout:
      return "a tile layout";
    case AttrKind::PadValue:
      return "a pad value";
    case AttrKind::ArgDirection:
      return "a direction";
    case AttrKind::ArgDirectionList:
      return "a list of directions";
    case AttrKind::IntList:
    case AttrKind::IntPairList:
      return "a list of integers";
    case AttrKind::VarList:
    case AttrKind::VarPairList:
      return "a list of names";
    case AttrKind::Var:
    case AttrKind::Expr:
      return "an expression";
  }
  return "something else";
}

bool check_keyword(DiagSink& diags, const Call* call, const Attr& attr) {
  const OpInfo& info = op_info(call->op);
  const Keyword* keyword = info.keyword(attr.key.text());
  if (keyword == nullptr) {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < info.keyword_count(); ++i) names.push_back(info.keywords[i].name);
    auto report = diags.report<diag::op_keyword_unknown>(call->span, info.name, attr.key.text());
    const std::string_view guess = closest(attr.key.text(), names);
    if (!guess.empty()) {
      report.help("did you mean '{}='?", guess);
    } else if (names.empty()) {
      report.help("the operation takes no keywords (no kwargs)");
    } else {
      report.help("keywords: {}", fmt::join(names, ", "));
    }
    return false;
  }
  const KeywordRange range = keyword_range(keyword->kind);
  bool fits = attr.value.kind == range.kind;
  // Phases are stored as names in the older dialect, and a whole number may stand for a float.
  if (keyword->kind == KwKind::AccPhase || keyword->kind == KwKind::StPhase) {
    fits = fits || attr.value.kind == AttrKind::String;
  }
  if (keyword->kind == KwKind::Float) fits = fits || attr.value.kind == AttrKind::Int;
  if (!fits) {
    diags.report<diag::op_keyword_kind>(call->span, keyword->name, info.name, attr_kind_text(range.kind),
                                        attr_kind_text(attr.value.kind));
    return false;
  }
  if (attr.value.kind == AttrKind::Int && !range.names.empty() && range.name_of(attr.value.integer).empty()) {
    diags.report<diag::op_keyword_value>(call->span, attr.value.integer, keyword->name, info.name,
                                         range.allowed());
    return false;
  }
  return true;
}

bool check_keywords(DiagSink& diags, const Call* call) {
  const OpInfo& info = op_info(call->op);
  bool ok = true;
  for (std::size_t i = 0; i < call->kwargs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (call->kwargs[i].key != call->kwargs[j].key) continue;
      diags.report<diag::op_argument_twice>(call->span, info.name, call->kwargs[i].key.text());
      ok = false;
    }
    if (!check_keyword(diags, call, call->kwargs[i])) ok = false;
  }
  for (std::size_t i = 0; i < info.keyword_count(); ++i) {
    const Keyword& keyword = info.keywords[i];
    if (keyword.when != KwWhen::Required || find_attr(call->kwargs, keyword.name) != nullptr) continue;
    auto report = diags.report<diag::op_keyword_missing>(call->span, info.name, keyword.name);
    const KeywordRange range = keyword_range(keyword.kind);
    if (range.names.empty()) {
      report.help("add {}=..., which is {}", keyword.name, attr_kind_text(range.kind));
    } else {
      report.help("add {}=..., one of {}", keyword.name, range.allowed());
    }
    ok = false;
  }
  return ok;
}

}  // namespace

bool kind_fits(ArgKind kind, const Expr* e) {
  const TypeKind type = e->type->kind;
  if (type == TypeKind::Unknown) return true;
  const bool tensor = type == TypeKind::Tensor || type == TypeKind::DistributedTensor;
  switch (kind) {
    case ArgKind::Tensor:
    case ArgKind::TensorLike:
      return tensor;
    case ArgKind::Window:
      return type == TypeKind::DistributedTensor;
    case ArgKind::Tile:
      return type == TypeKind::Tile;
    case ArgKind::Scalar:
      return type == TypeKind::Scalar;
    case ArgKind::ConstInt:
      return e->kind == ExprKind::ConstInt;
    case ArgKind::Tuple:
      return type == TypeKind::Tuple;
    case ArgKind::Array:
      return type == TypeKind::Array;
    case ArgKind::Ptr:
      return type == TypeKind::Ptr;
    case ArgKind::Ctx:
      return type == TypeKind::CommCtx;
    case ArgKind::PrefetchCtx:
      return type == TypeKind::PrefetchAsyncContext;
    case ArgKind::TensorOrScalar:
      return tensor || type == TypeKind::Scalar;
    case ArgKind::TensorOrTile:
      return tensor || type == TypeKind::Tile;
    case ArgKind::Any:
      return true;
  }
  return true;
}

const Operand* operand_of(const Call* call, std::size_t argument) {
  if (!call->is_op()) return nullptr;
  const OpInfo& info = op_info(call->op);
  std::size_t i = argument;
  if (call->op == OpId::tile_mgather && argument == 2 && is_tuple(call->args[2])) i = 3;
  if ((call->op == OpId::pld_tile_put || call->op == OpId::pld_tile_get) && argument >= 4 &&
      call->args.size() > 4 && is_tuple(call->args[4])) {
    i = argument + 1;
  }
  return i < info.operand_count() ? &info.operands[i] : nullptr;
}

const Expr* argument(const Call* call, std::string_view operand) {
  for (std::size_t i = 0; i < call->args.size(); ++i) {
    const Operand* o = operand_of(call, i);
    if (o != nullptr && o->name == operand) return call->args[i];
  }
  return nullptr;
}

Access access_of(const Call* call, std::size_t argument) {
  const OpInfo& info = op_info(call->op);
  const Operand* operand = operand_of(call, argument);
  if (operand == nullptr) return Access::Read;
  const auto index = static_cast<std::size_t>(operand - info.operands.data());
  const Access access = info.effects.access[index];
  if (access != Access::Write) return access;
  // Adding reads what is there: atomic stores and transfers, and signals that are counted up.
  const AttrValue* atomic = find_attr(call->kwargs, "atomic");
  if (atomic != nullptr && atomic->integer == static_cast<std::int64_t>(AtomicType::Add))
    return Access::ReadWrite;
  if (call->op == OpId::pld_system_notify) {
    const AttrValue* op = find_attr(call->kwargs, "op");
    if (op != nullptr && op->integer == static_cast<std::int64_t>(NotifyOp::AtomicAdd))
      return Access::ReadWrite;
  }
  return access;
}

bool is_ring(const Call* call) {
  const AttrValue* mode = find_attr(call->kwargs, "mode");
  return mode != nullptr && mode->kind == AttrKind::String && mode->text == "ring";
}

bool check_call(DiagSink& diags, const Call* call, CallSource source) {
  if (!call->is_op()) return true;
  if (!check_count(diags, call)) return false;
  const bool operands = check_operands(diags, call, source);
  const bool keywords = check_keywords(diags, call);
  return operands && keywords && check_distributed_op(diags, call);
}

}  // namespace pldc
