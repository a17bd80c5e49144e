#include "passes/convert_tensor_to_tile_ops/conversions.h"

#include <array>

namespace pldc::tiling {

namespace {

constexpr Conversion kConversions[] = {
#define PLDC_CONVERSION(op, takes, convert, tile) {OpId::op, Takes::takes, convert, OpId::tile},
#include "passes/convert_tensor_to_tile_ops/conversions.def"
#undef PLDC_CONVERSION
};

constexpr std::array<const Conversion*, kOpCount> by_op() {
  std::array<const Conversion*, kOpCount> table{};
  for (const Conversion& conversion : kConversions)
    table[static_cast<std::size_t>(conversion.op)] = &conversion;
  return table;
}

}  // namespace

const Conversion* conversion_of(OpId op) {
  static constexpr auto kTable = by_op();
  const auto at = static_cast<std::size_t>(op);
  return at < kTable.size() ? kTable[at] : nullptr;
}

}  // namespace pldc::tiling
