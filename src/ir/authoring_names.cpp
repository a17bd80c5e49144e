// From a written name to the op it means (format.md 2.11, 4.2).
#include <algorithm>
#include <array>
#include <string>

#include "ir/authoring.h"

namespace pldc {

namespace {

enum class Shape : std::uint8_t { None, Tile, Tensor };

const AuthoringArg* find_keyword(const std::vector<AuthoringKeyword>& keywords, std::string_view name) {
  for (const AuthoringKeyword& k : keywords) {
    if (k.name == name && !k.arg.none) return &k.arg;
  }
  return nullptr;
}

bool is_tile(const AuthoringArg& arg) {
  return arg.expr != nullptr && dyn<TileType>(arg.expr->type) != nullptr;
}
bool is_tensor(const AuthoringArg& arg) {
  return arg.expr != nullptr && dyn<TensorType>(arg.expr->type) != nullptr;
}
bool is_scalar(const AuthoringArg& arg) {
  return arg.expr != nullptr && arg.expr->type->kind == TypeKind::Scalar;
}

// What the first operand is: by position, else the first tile or tensor given by name. Where a mistake left the first
// one without a type, the next ones tell: another family of ops would find fault with them.
Shape first_operand(const std::vector<AuthoringArg>& args, const std::vector<AuthoringKeyword>& keywords) {
  for (const AuthoringArg& arg : args) {
    if (is_tile(arg)) return Shape::Tile;
    if (is_tensor(arg)) return Shape::Tensor;
    if (arg.expr == nullptr || !is_unknown(arg.expr->type)) return Shape::None;
  }
  for (const AuthoringKeyword& k : keywords) {
    if (is_tile(k.arg)) return Shape::Tile;
    if (is_tensor(k.arg)) return Shape::Tensor;
  }
  return Shape::None;
}

OpId find(std::string_view category, std::string_view leaf) {
  std::string name(category);
  name += '.';
  name += leaf;
  return find_op(name);
}

constexpr std::string_view kPlCategories[] = {"tensor", "tile", "system", "array", "prefetch"};
constexpr std::string_view kPldCategories[] = {"pld.tensor", "pld.system", "pld.tile"};

// Names that stand for another leaf, given what else is written.
std::string_view alias(std::string_view leaf, const std::vector<AuthoringArg>& args,
                       const std::vector<AuthoringKeyword>& keywords) {
  if (leaf == "create_tensor" || leaf == "create_tile") return "create";
  if (leaf == "arange") return "ci";
  if (leaf == "mrgsort") {
    const bool runs =
        find_keyword(keywords, "block_len") != nullptr || (args.size() > 1 && is_scalar(args[1]));
    return runs ? "mrgsort_format1" : "mrgsort_format2";
  }
  if (leaf == "gather") {
    if (find_keyword(keywords, "mask_pattern") != nullptr) return "gather_mask";
    if (find_keyword(keywords, "cmp_mode") != nullptr || find_keyword(keywords, "kvalue") != nullptr) {
      return "gather_compare";
    }
  }
  if (leaf == "scatter" && find_keyword(keywords, "mask_pattern") != nullptr) return "scatter_mask";
  return leaf;
}

// The op with a scalar as second operand, if the second operand is one.
OpId scalar_form(OpId op, const std::vector<AuthoringArg>& args,
                 const std::vector<AuthoringKeyword>& keywords) {
  if (op == OpId::none_) return op;
  const OpInfo& info = op_info(op);
  if (info.operand_count() < 2) return op;
  const ArgKind wanted = info.operands[1].kind;
  if (wanted != ArgKind::Tile && wanted != ArgKind::Tensor && wanted != ArgKind::TensorOrScalar) return op;
  const AuthoringArg* second = args.size() > 1 ? &args[1] : find_keyword(keywords, info.operands[1].name);
  if (second == nullptr || !is_scalar(*second)) return op;
  std::string name(info.name);
  // addc, subc: the scalar's letter stands before the c.
  const bool carries = op == OpId::tile_addc || op == OpId::tile_subc;
  if (carries) name.pop_back();
  name += carries ? "sc" : "s";
  const OpId with_scalar = find_op(name);
  return with_scalar != OpId::none_ ? with_scalar : op;
}

OpId in_category(std::string_view category, std::string_view leaf, const std::vector<AuthoringArg>& args,
                 const std::vector<AuthoringKeyword>& keywords) {
  return scalar_form(find(category, leaf), args, keywords);
}

}  // namespace

OpId resolve_short_name(bool pld, std::string_view leaf, const std::vector<AuthoringArg>& args,
                        const std::vector<AuthoringKeyword>& keywords) {
  const std::size_t dot = leaf.rfind('.');
  if (dot != std::string_view::npos) {
    std::string category = pld ? "pld." : "";
    category += leaf.substr(0, dot);
    const OpId exact = find(category, leaf.substr(dot + 1));
    const std::string_view other = alias(leaf.substr(dot + 1), args, keywords);
    if (other == leaf.substr(dot + 1)) return scalar_form(exact, args, keywords);
    // A full name that is an op keeps its meaning unless the keywords say otherwise.
    return in_category(category, other, args, keywords);
  }
  const Shape shape = first_operand(args, keywords);
  if (pld) {
    if (shape == Shape::Tile) {
      const OpId op = in_category("pld.tile", leaf, args, keywords);
      if (op != OpId::none_) return op;
    }
    for (const std::string_view category : kPldCategories) {
      const OpId op = in_category(category, leaf, args, keywords);
      if (op != OpId::none_) return op;
    }
    return OpId::none_;
  }
  if (leaf == "create_tensor") return OpId::tensor_create;
  if (leaf == "create_tile") return OpId::tile_create;
  const std::string_view name = alias(leaf, args, keywords);
  if (shape != Shape::None) {
    const OpId op = in_category(shape == Shape::Tile ? "tile" : "tensor", name, args, keywords);
    if (op != OpId::none_) return op;
  }
  for (const std::string_view category : kPlCategories) {
    const OpId op = in_category(category, name, args, keywords);
    if (op != OpId::none_) return op;
  }
  return OpId::none_;
}

OpId resolve_short_name(bool pld, std::string_view leaf, List<const Expr*> args) {
  return resolve_short_name(pld, leaf, std::vector<AuthoringArg>(args.begin(), args.end()), {});
}

bool is_op_name(bool pld, std::string_view leaf) {
  if (resolve_short_name(pld, leaf, std::vector<AuthoringArg>{}, {}) != OpId::none_) return true;
  if (!pld) return false;
  constexpr std::string_view wrappers[] = {"all_reduce", "all_gather"};
  return std::find(std::begin(wrappers), std::end(wrappers), leaf) != std::end(wrappers);
}

bool is_ergonomic_wrapper(const AuthoringCall& call) {
  if (!call.pld) return false;
  if (call.name == "all_reduce" || call.name == "all_gather") return true;
  // These share their names with the ops that take the signal as an operand.
  if (find_keyword(call.keywords, "signal") != nullptr) return false;
  if (call.name == "reduce_scatter" || call.name == "broadcast") return call.args.size() <= 1;
  if (call.name == "all_to_all") return call.args.size() <= 2;
  if (call.name == "all_to_all_v") {
    if (find_keyword(call.keywords, "nranks") != nullptr || call.args.size() <= 4) return true;
    return call.args.size() == 5 && call.args[4].expr != nullptr && const_int(call.args[4].expr).has_value();
  }
  return false;
}

}  // namespace pldc
