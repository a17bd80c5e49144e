// The enumerations of the language with their printed spellings. Each list is written once (X-macro) and gives the
// enum, the spelling and the look-up. Numbers are ABI: some are stored as int keywords and never change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pldc {

// X(name, bits): storage width of one element. INDEX and TASK_ID are 64-bit scalars.
#define PLDC_DTYPES(X)                                                                                \
  X(BOOL, 8)                                                                                          \
  X(INT4, 4) X(INT8, 8) X(INT16, 16) X(INT32, 32) X(INT64, 64) X(INDEX, 64) X(UINT4, 4) X(UINT8, 8)   \
      X(UINT16, 16) X(UINT32, 32) X(UINT64, 64) X(FP4, 4) X(FP8E4M3FN, 8) X(FP8E5M2, 8) X(FP8E8M0, 8) \
          X(FP16, 16) X(FP32, 32) X(BF16, 16) X(HF4, 4) X(HF8, 8) X(TASK_ID, 64)

enum class DType : std::uint8_t {
#define X(name, bits) name,
  PLDC_DTYPES(X)
#undef X
};

// X(name, spelling), in the order of the stored numbers.
#define PLDC_MEM_SPACES(X)                                                                    \
  X(DDR, "DDR")                                                                               \
  X(Vec, "Vec") X(Mat, "Mat") X(Left, "Left") X(Right, "Right") X(Acc, "Acc") X(Bias, "Bias") \
      X(ScalarLocal, "ScalarLocal") X(LeftScale, "LeftScale") X(RightScale, "RightScale")
#define PLDC_TENSOR_LAYOUTS(X) X(ND, "ND") X(DN, "DN") X(NZ, "NZ") X(MX_A_ZZ, "MX_A_ZZ") X(MX_B_NN, "MX_B_NN")
#define PLDC_TILE_LAYOUTS(X) X(NoneBox, "none_box") X(RowMajor, "row_major") X(ColMajor, "col_major")
#define PLDC_PAD_VALUES(X) X(Null, "null") X(Zero, "zero") X(Max, "max") X(Min, "min")
#define PLDC_COMPACT_MODES(X) X(Null, "null") X(Normal, "normal")
#define PLDC_FUNC_TYPES(X)                                                                            \
  X(Opaque, "Opaque")                                                                                 \
  X(Orchestration, "Orchestration") X(InCore, "InCore") X(AIC, "AIC") X(AIV, "AIV") X(Group, "Group") \
      X(Spmd, "Spmd") X(Inline, "Inline") X(Graph, "Graph")
#define PLDC_LEVELS(X)                                                                              \
  X(AIV, "AIV")                                                                                     \
  X(AIC, "AIC") X(CORE_GROUP, "CORE_GROUP") X(CHIP_DIE, "CHIP_DIE") X(CHIP, "CHIP") X(HOST, "HOST") \
      X(CLUSTER_0, "CLUSTER_0") X(CLUSTER_1, "CLUSTER_1") X(CLUSTER_2, "CLUSTER_2") X(GLOBAL, "GLOBAL")
#define PLDC_ROLES(X) X(Orchestrator, "Orchestrator") X(SubWorker, "SubWorker")
#define PLDC_SPLIT_MODES(X) X(NONE, "NONE") X(UP_DOWN, "UP_DOWN") X(LEFT_RIGHT, "LEFT_RIGHT")
#define PLDC_ARG_DIRECTIONS(X)                                                                  \
  X(Input, "input")                                                                             \
  X(Output, "output") X(InOut, "inout") X(OutputExisting, "output_existing") X(NoDep, "no_dep") \
      X(Scalar, "scalar")
#define PLDC_PIPES(X) \
  X(MTE1, "MTE1") X(MTE2, "MTE2") X(MTE3, "MTE3") X(M, "M") X(V, "V") X(S, "S") X(FIX, "FIX") X(ALL, "ALL")
#define PLDC_ATOMICS(X) X(None, "None_") X(Add, "Add")
#define PLDC_CAST_MODES(X) \
  X(None, "none")          \
  X(Rint, "rint") X(Round, "round") X(Floor, "floor") X(Ceil, "ceil") X(Trunc, "trunc") X(Odd, "odd")
#define PLDC_REDUCE_OPS(X) X(Sum, "Sum") X(Max, "Max") X(Min, "Min") X(Prod, "Prod")
#define PLDC_NOTIFY_OPS(X) X(AtomicAdd, "AtomicAdd") X(Set, "Set")
#define PLDC_WAIT_CMPS(X) X(Eq, "Eq") X(Ge, "Ge")
#define PLDC_PARAM_DIRECTIONS(X) X(In, "In") X(Out, "Out") X(InOut, "InOut")
#define PLDC_FOR_KINDS(X) \
  X(Sequential, "range") X(Parallel, "parallel") X(Unroll, "unroll") X(Pipeline, "pipeline")
#define PLDC_DIALECTS(X) X(Dump, "dump") X(Legacy, "legacy")
#define PLDC_PRINT_STYLES(X) X(Printed, "printed") X(Concise, "concise") X(Explicit, "explicit")

#define PLDC_ENUM(Enum, LIST)                                                                                \
  enum class Enum : std::uint8_t { LIST(PLDC_ENUM_MEMBER) };                                                 \
  inline constexpr std::string_view k##Enum##Names[] = {LIST(PLDC_ENUM_NAME)};                               \
  constexpr std::string_view name_of(Enum value) { return k##Enum##Names[static_cast<std::size_t>(value)]; } \
  template <>                                                                                                \
  struct EnumNames<Enum> {                                                                                   \
    static constexpr auto& names = k##Enum##Names;                                                           \
  };
#define PLDC_ENUM_MEMBER(name, spelling) name,
#define PLDC_ENUM_NAME(name, spelling) spelling,

template <class E>
struct EnumNames;

PLDC_ENUM(MemSpace, PLDC_MEM_SPACES)
PLDC_ENUM(TensorLayout, PLDC_TENSOR_LAYOUTS)
PLDC_ENUM(TileLayout, PLDC_TILE_LAYOUTS)
PLDC_ENUM(PadValue, PLDC_PAD_VALUES)
PLDC_ENUM(CompactMode, PLDC_COMPACT_MODES)
PLDC_ENUM(FuncType, PLDC_FUNC_TYPES)
PLDC_ENUM(Level, PLDC_LEVELS)
PLDC_ENUM(Role, PLDC_ROLES)
PLDC_ENUM(SplitMode, PLDC_SPLIT_MODES)
PLDC_ENUM(ArgDirection, PLDC_ARG_DIRECTIONS)
PLDC_ENUM(PipeType, PLDC_PIPES)
PLDC_ENUM(AtomicType, PLDC_ATOMICS)
PLDC_ENUM(CastMode, PLDC_CAST_MODES)
PLDC_ENUM(ReduceOp, PLDC_REDUCE_OPS)
PLDC_ENUM(NotifyOp, PLDC_NOTIFY_OPS)
PLDC_ENUM(WaitCmp, PLDC_WAIT_CMPS)
PLDC_ENUM(ParamDirection, PLDC_PARAM_DIRECTIONS)
PLDC_ENUM(ForKind, PLDC_FOR_KINDS)
PLDC_ENUM(Dialect, PLDC_DIALECTS)
PLDC_ENUM(PrintStyle, PLDC_PRINT_STYLES)

template <>
struct EnumNames<DType> {
  static constexpr std::string_view names[] = {
#define X(name, bits) #name,
      PLDC_DTYPES(X)
#undef X
  };
};
constexpr std::string_view name_of(DType value) {
  return EnumNames<DType>::names[static_cast<std::size_t>(value)];
}

// The member spelled `text`, or nothing.
template <class E>
constexpr std::optional<E> parse_enum(std::string_view text) {
  for (std::size_t i = 0; i < std::size(EnumNames<E>::names); ++i) {
    if (EnumNames<E>::names[i] == text) return static_cast<E>(i);
  }
  return std::nullopt;
}

// Level names that are read but never printed (format.md 5.2).
constexpr std::optional<Level> parse_level(std::string_view text) {
  if (auto level = parse_enum<Level>(text)) return level;
  if (text == "L2CACHE") return Level::CHIP_DIE;
  if (text == "PROCESSOR" || text == "UMA") return Level::CHIP;
  if (text == "NODE") return Level::HOST;
  if (text == "POD") return Level::CLUSTER_0;
  if (text == "CLOS1") return Level::CLUSTER_1;
  if (text == "CLOS2") return Level::CLUSTER_2;
  return std::nullopt;
}

constexpr unsigned bit_width(DType dtype) {
  constexpr unsigned widths[] = {
#define X(name, bits) bits,
      PLDC_DTYPES(X)
#undef X
  };
  return widths[static_cast<std::size_t>(dtype)];
}
// Bytes of one element in memory; sub-byte dtypes occupy one byte when stored alone.
constexpr unsigned byte_width(DType dtype) { return (bit_width(dtype) + 7) / 8; }

constexpr bool is_float(DType d) {
  return d == DType::FP4 || d == DType::FP8E4M3FN || d == DType::FP8E5M2 || d == DType::FP8E8M0 ||
         d == DType::FP16 || d == DType::FP32 || d == DType::BF16 || d == DType::HF4 || d == DType::HF8;
}
constexpr bool is_unsigned_int(DType d) {
  return d == DType::UINT4 || d == DType::UINT8 || d == DType::UINT16 || d == DType::UINT32 ||
         d == DType::UINT64;
}
constexpr bool is_signed_int(DType d) {
  return d == DType::INT4 || d == DType::INT8 || d == DType::INT16 || d == DType::INT32 ||
         d == DType::INT64 || d == DType::INDEX;
}
// Integers, INDEX included; not BOOL and not TASK_ID.
constexpr bool is_int(DType d) { return is_signed_int(d) || is_unsigned_int(d); }

}  // namespace pldc
