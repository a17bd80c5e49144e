#include <fmt/ranges.h>

#include "ir/check_rules.h"

namespace pldc {

namespace {

constexpr std::string_view kCmpNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
constexpr std::string_view kCoalesceNames[] = {"row", "elem"};
constexpr std::string_view kOobNames[] = {"undefined", "clamp", "wrap", "zero"};
constexpr std::string_view kAccPhaseNames[] = {"Unspecified", "Partial", "Final"};
constexpr std::int64_t kAccPhaseNumbers[] = {0, 2, 3};
constexpr std::string_view kStPhaseNames[] = {"Unspecified", "Final"};
constexpr std::int64_t kStPhaseNumbers[] = {0, 3};
constexpr std::string_view kCoreNames[] = {"aic", "aiv", "mix", "aic_only", "aiv_only"};
constexpr std::string_view kSyncNames[] = {"hard", "soft"};
constexpr std::string_view kSaturationNames[] = {"off", "on"};

}  // namespace

std::string_view KeywordRange::name_of(std::int64_t value) const {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (number(i) == value) return names[i];
  }
  return {};
}

std::string KeywordRange::allowed() const { return fmt::format("{}", fmt::join(names, ", ")); }

KeywordRange keyword_range(KwKind kind) {
  switch (kind) {
    case KwKind::Int:
      return {AttrKind::Int, {}, {}, {}};
    case KwKind::Bool:
      return {AttrKind::Bool, {}, {}, {}};
    case KwKind::String:
      return {AttrKind::String, {}, {}, {}};
    case KwKind::Float:
      return {AttrKind::Float, {}, {}, {}};
    case KwKind::DType:
      return {AttrKind::DType, {}, {}, {}};
    case KwKind::MemSpace:
      return {AttrKind::MemSpace, kMemSpaceNames, {}, "Mem"};
    case KwKind::TensorLayout:
      return {AttrKind::TensorLayout, kTensorLayoutNames, {}, "TensorLayout"};
    case KwKind::TileLayout:
      return {AttrKind::TileLayout, kTileLayoutNames, {}, "TileLayout"};
    case KwKind::PadValue:
      return {AttrKind::PadValue, kPadValueNames, {}, "PadValue"};
    case KwKind::CastMode:
      return {AttrKind::Int, kCastModeNames, {}, {}};
    case KwKind::AtomicType:
      return {AttrKind::Int, kAtomicTypeNames, {}, "AtomicType"};
    case KwKind::PipeType:
      return {AttrKind::Int, kPipeTypeNames, {}, "PipeType"};
    case KwKind::ReduceOp:
      return {AttrKind::Int, kReduceOpNames, {}, "ReduceOp"};
    case KwKind::NotifyOp:
      return {AttrKind::Int, kNotifyOpNames, {}, "NotifyOp"};
    case KwKind::WaitCmp:
      return {AttrKind::Int, kWaitCmpNames, {}, "WaitCmp"};
    case KwKind::CmpType:
      return {AttrKind::Int, kCmpNames, {}, "CmpMode"};
    case KwKind::Coalesce:
      return {AttrKind::Int, kCoalesceNames, {}, {}};
    case KwKind::GatherOob:
      return {AttrKind::Int, kOobNames, {}, {}};
    case KwKind::AccPhase:
      return {AttrKind::Int, kAccPhaseNames, kAccPhaseNumbers, "AccPhase"};
    case KwKind::StPhase:
      return {AttrKind::Int, kStPhaseNames, kStPhaseNumbers, "STPhase"};
    case KwKind::CoreType:
      return {AttrKind::String, kCoreNames, {}, "KernelType"};
    case KwKind::SyncMode:
      return {AttrKind::String, kSyncNames, {}, "SyncAllMode"};
    case KwKind::Saturation:
      return {AttrKind::Int, kSaturationNames, {}, {}};
  }
  return {};
}

}  // namespace pldc
