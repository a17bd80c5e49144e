#include "ir/op.h"

#include <algorithm>

namespace pldc {

namespace {

#define PLDC_OP(id, ...) OpInfo{__VA_ARGS__},
constexpr OpInfo kOps[] = {
#include "ir/ops/all.def"
};

// Names of one file each, for the order check.
constexpr std::string_view kArrayNames[] = {
#undef PLDC_OP
#define PLDC_OP(id, ...) (OpInfo{__VA_ARGS__}).name,
#include "ir/ops/array.def"
};
constexpr std::string_view kTensorNames[] = {
#include "ir/ops/tensor.def"
};
constexpr std::string_view kTileNames[] = {
#include "ir/ops/tile.def"
};
constexpr std::string_view kSystemNames[] = {
#include "ir/ops/system.def"
};
constexpr std::string_view kDistNames[] = {
#include "ir/ops/dist.def"
};
constexpr std::string_view kBuiltinNames[] = {
#include "ir/ops/builtin.def"
};
#undef PLDC_OP
static_assert(std::size(kOps) == kOpCount);

// --- sanity of the table
// ---------------------------------------------------------------------------------------

template <std::size_t N>
constexpr bool strictly_sorted(const std::string_view (&names)[N]) {
  for (std::size_t i = 1; i < N; ++i) {
    if (!(names[i - 1] < names[i])) return false;
  }
  return true;
}
static_assert(strictly_sorted(kArrayNames) && strictly_sorted(kTensorNames) && strictly_sorted(kTileNames) &&
                  strictly_sorted(kSystemNames) && strictly_sorted(kDistNames) &&
                  strictly_sorted(kBuiltinNames),
              "the rows of a file are sorted by name, without repetition");

// An optional operand may be followed by a required one only in front of optional tails that are told apart
// by kind: no op needs that, so optional operands are simply last.
constexpr bool operands_in_order(const OpInfo& op) {
  bool optional = false;
  bool ended = false;
  for (const Operand& operand : op.operands) {
    if (operand.name.empty()) {
      ended = true;
      continue;
    }
    if (ended || (optional && !operand.optional)) return false;
    optional = operand.optional;
  }
  return true;
}

constexpr bool unique_names(const OpInfo& op) {
  const std::size_t operands = op.operand_count();
  const std::size_t keywords = op.keyword_count();
  for (std::size_t i = 0; i < operands + keywords; ++i) {
    const std::string_view a = i < operands ? op.operands[i].name : op.keywords[i - operands].name;
    for (std::size_t j = 0; j < i; ++j) {
      const std::string_view b = j < operands ? op.operands[j].name : op.keywords[j - operands].name;
      if (a == b) return false;
    }
  }
  return true;
}

constexpr bool keywords_sane(const OpInfo& op) {
  bool ended = false;
  for (const Keyword& keyword : op.keywords) {
    if (keyword.name.empty()) {
      ended = true;
      continue;
    }
    // A default stands exactly where the front end may have to store or to compare with it.
    const bool needs_default = keyword.when == KwWhen::Always || keyword.when == KwWhen::NonDefault;
    if (ended || needs_default != keyword.def.present) return false;
  }
  return true;
}

constexpr bool effects_sane(const OpInfo& op) {
  const auto count = static_cast<int>(op.operand_count());
  const Effects& e = op.effects;
  if (e.result_aliases >= count || e.result_view_of >= count) return false;
  for (std::size_t i = op.operand_count(); i < e.access.size(); ++i) {
    if (e.access[i] != Access::Read) return false;
  }
  return true;
}

constexpr bool table_sane() {
  for (const OpInfo& op : kOps) {
    if (op.doc.text.empty() || op.doc.text.back() != '.' || op.name.find('.') == std::string_view::npos)
      return false;
    if (!operands_in_order(op) || !unique_names(op) || !keywords_sane(op) || !effects_sane(op)) return false;
  }
  return true;
}
static_assert(table_sane(), "a row of ir/ops/*.def is malformed");

// --- look-up
// ---------------------------------------------------------------------------------------------------

constexpr auto make_index() {
  std::array<std::uint16_t, kOpCount> index{};
  for (std::size_t i = 0; i < kOpCount; ++i) index[i] = static_cast<std::uint16_t>(i);
  std::sort(index.begin(), index.end(),
            [](std::uint16_t a, std::uint16_t b) { return kOps[a].name < kOps[b].name; });
  return index;
}
constexpr auto kByName = make_index();

constexpr bool names_unique() {
  for (std::size_t i = 1; i < kOpCount; ++i) {
    if (kOps[kByName[i - 1]].name == kOps[kByName[i]].name) return false;
  }
  return true;
}
static_assert(names_unique(), "an op is listed twice");

// Reading text looks up every call's name, so names are hashed (FNV-1a) into an open table, mostly empty.
constexpr std::size_t kSlots = 2048;
static_assert(kOpCount * 4 <= kSlots);
constexpr std::uint16_t kNoOp = 0xffff;

constexpr std::size_t slot_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return (hash ^ (hash >> 16)) % kSlots;
}

constexpr auto make_slots() {
  std::array<std::uint16_t, kSlots> slots{};
  slots.fill(kNoOp);
  for (std::size_t i = 0; i < kOpCount; ++i) {
    std::size_t at = slot_of(kOps[i].name);
    while (slots[at] != kNoOp) at = (at + 1) % kSlots;
    slots[at] = static_cast<std::uint16_t>(i);
  }
  return slots;
}
constexpr auto kByHash = make_slots();

OpId lookup(std::string_view name) {
  for (std::size_t at = slot_of(name); kByHash[at] != kNoOp; at = (at + 1) % kSlots) {
    if (kOps[kByHash[at]].name == name) return static_cast<OpId>(kByHash[at]);
  }
  return OpId::none_;
}

}  // namespace

const OpInfo& op_info(OpId op) { return kOps[static_cast<std::size_t>(op)]; }

OpId find_op(std::string_view name) {
  if (!name.empty() && name.back() == '_') name.remove_suffix(1);
  return lookup(name);
}

std::string_view op_category(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
}

std::string_view op_leaf(std::string_view name) { return name.substr(name.rfind('.') + 1); }

bool op_needs_underscore(std::string_view name) {
  const std::string_view leaf = op_leaf(name);
  return leaf == "and" || leaf == "or" || leaf == "not";
}

}  // namespace pldc
