// The op table: one row an op, in ops/*.def. It is the single source for parser, printer, verifier, documentation and
// code generation. A row that lacks a column does not compile: the columns are types without a default.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/enums.h"

namespace pldc {

// What an operand must be (format.md 4.1).
enum class ArgKind : std::uint8_t {
  Tensor,      // Tensor; DistributedTensor is accepted too unless the op's rule says otherwise
  TensorLike,  // Tensor or DistributedTensor
  Window,      // DistributedTensor only
  Tile,
  Scalar,
  ConstInt,
  Tuple,
  Array,
  Ptr,
  Ctx,  // CommCtx
  PrefetchCtx,
  TensorOrScalar,
  TensorOrTile,
  Any,
};

// How the operand is written in the text; the others follow the table order positionally.
enum class Spelling : std::uint8_t {
  Positional,
  Keyword,      // name=<expr>, both dialects (full value=, reinterpret_view shape=, mgather scratch=)
  KeywordDump,  // name=<expr> in `dump`, positional in `legacy` (init_cond=, tmp=, core_num=)
};

struct Operand {
  std::string_view name;
  ArgKind kind = ArgKind::Any;
  bool optional = false;
  Spelling spelling = Spelling::Positional;
};

enum class KwKind : std::uint8_t {
  Int,
  Bool,
  String,
  Float,
  DType,
  MemSpace,
  TensorLayout,
  TileLayout,
  PadValue,
  // Stored as int; printed as the column says.
  CastMode,    // 'rint'
  AtomicType,  // pl.AtomicType.Add
  PipeType,    // pl.PipeType.V
  ReduceOp,    // 0 (pld.ReduceOp.Sum is read too)
  NotifyOp,    // 0
  WaitCmp,     // 1
  CmpType,     // 2 (the names eq ne lt le gt ge are read too)
  Coalesce,    // 0 (row elem are read too)
  GatherOob,   // 0 (undefined clamp wrap zero are read too)
  AccPhase,    // pl.AccPhase.Final in dump, 'final' in legacy
  StPhase,
  // Stored as string.
  CoreType,    // pl.KernelType.AIV in dump, 'aiv' in legacy
  SyncMode,    // pl.SyncAllMode.SOFT in dump, "soft" in legacy
  Saturation,  // 'off' 'on'; stored as int 0, 1
};

// When the front end stores the keyword on a call that a person wrote without it.
enum class KwWhen : std::uint8_t {
  Always,      // stored with its default
  NonDefault,  // stored only if it differs from the default
  Given,       // stored only if written
  Required,    // must be written
};

// Default of a keyword: an integer (enum kinds: the number; bool: 0/1), a string, or none.
struct KwDefault {
  bool present = false;
  std::int64_t integer = 0;
  std::string_view text = {};
  constexpr KwDefault() = default;
  constexpr KwDefault(int v) : present(true), integer(v) {}
  constexpr KwDefault(bool v) : present(true), integer(v ? 1 : 0) {}
  constexpr KwDefault(const char* v) : present(true), text(v) {}
  constexpr KwDefault(DType v) : present(true), integer(static_cast<std::int64_t>(v)) {}
  constexpr KwDefault(MemSpace v) : present(true), integer(static_cast<std::int64_t>(v)) {}
  constexpr KwDefault(TensorLayout v) : present(true), integer(static_cast<std::int64_t>(v)) {}
  constexpr KwDefault(PadValue v) : present(true), integer(static_cast<std::int64_t>(v)) {}
  constexpr KwDefault(CastMode v) : present(true), integer(static_cast<std::int64_t>(v)) {}
  constexpr KwDefault(AtomicType v) : present(true), integer(static_cast<std::int64_t>(v)) {}
  constexpr KwDefault(ReduceOp v) : present(true), integer(static_cast<std::int64_t>(v)) {}
};

struct Keyword {
  std::string_view name;
  KwKind kind = KwKind::Int;
  KwWhen when = KwWhen::Given;
  KwDefault def = {};
};

// Forms that the plain "operands, keywords, attrs" spelling does not cover (format.md 2.8.1); parse and print of each
// stand together in frontend/syntax/call.cpp. Their number may only fall.
enum class Syntax : std::uint8_t {
  Plain,
  Full,             // value= after dtype=
  ReinterpretView,  // dtype= before shape=
  SyncAll,          // soft form: gm_workspace=, used_cores=
  GatherRow,        // 6th operand as valid_shape=
  MGather,          // scratch=, valid_shape=
  Alloc,            // first operand as pl.Mem.X
  TaskDummy,        // deps=[...] from attr manual_dep_edges
  RemoteLoad,       // alternative name for the tail-padding form
  AllocWindow,      // name= hidden in legacy, pl._dump.alloc_window_buffer in dump
  SplitHidden,      // split= hidden inside a split_aiv region
  TensorAdd,        // tensor.add with a constant prints as tensor.adds
  Slice,            // empty 4th operand when only drop_dims is given
};

// Columns without a default: a row that leaves one out does not compile.
struct Doc {
  std::string_view text;
  constexpr Doc(const char* t) : text(t) {}
};
// Result-type rule: one function each in rules/*.cpp.
enum class Rule : std::uint16_t {
#define PLDC_RULE(id) id,
#include "ir/ops/rules.def"
#undef PLDC_RULE
};
struct RuleColumn {
  Rule rule;
  constexpr RuleColumn(Rule r) : rule(r) {}
};

// What the op does to each operand's memory; used by the verifier, passes and code generation.
// Read is the first, so that an empty list of accesses means "reads everything".
enum class Access : std::uint8_t { Read, None, Write, ReadWrite };
struct Effects {
  // Access of the operand with that index. Scalars and tuples count as Read. What a keyword changes (an atomic store
  // also reads) is answered by access_of() of check_op.h.
  std::array<Access, 8> access = {};
  bool side_effect = false;  // must not be removed or duplicated even if the result is unused
  std::int8_t result_aliases =
      -1;  // the result is the memory of this operand (store, assemble, in-place collectives)
  std::int8_t result_view_of = -1;  // the result is a view of this operand (view, slice, reshape)
};

// How code generation for kernels treats the op.
enum class Emit : std::uint8_t {
  None,        // refused in kernels, by name
  Unary,       // T<NAME>(dst, a)
  Binary,      // T<NAME>(dst, a, b)
  BinaryTmp,   // T<NAME>(dst, a, b, tmp)
  TileScalar,  // T<NAME>(dst, a, s)
  Reduce,      // T<NAME>(dst, src, tmp)
  ColReduce,   // T<NAME>(dst, src)
  Expand,      // T<NAME>(dst, src, vec)
  Special,     // a function of its own in codegen/device
  NoCode,      // nothing is emitted (markers, views by address)
  Host,        // only in host or chip orchestration
};
struct EmitColumn {
  Emit emit;
  std::string_view callee = {};  // official tile-library name, e.g. "TADD"
  constexpr EmitColumn(Emit e, std::string_view c = {}) : emit(e), callee(c) {}
};

inline constexpr std::size_t kMaxOperands = 8;
inline constexpr std::size_t kMaxKeywords = 7;

struct OpInfo {
  std::string_view name;  // internal name: "tile.load", "pld.tensor.put"
  std::array<Operand, kMaxOperands> operands;
  std::array<Keyword, kMaxKeywords> keywords;
  Syntax syntax;
  RuleColumn rule;
  Effects effects;
  EmitColumn emit;
  Doc doc;

  constexpr std::size_t operand_count() const {
    std::size_t n = 0;
    while (n < operands.size() && !operands[n].name.empty()) ++n;
    return n;
  }
  constexpr std::size_t required_count() const {
    std::size_t n = 0;
    while (n < operands.size() && !operands[n].name.empty() && !operands[n].optional) ++n;
    return n;
  }
  constexpr std::size_t keyword_count() const {
    std::size_t n = 0;
    while (n < keywords.size() && !keywords[n].name.empty()) ++n;
    return n;
  }
  constexpr const Keyword* keyword(std::string_view key) const {
    for (const Keyword& k : keywords) {
      if (!k.name.empty() && k.name == key) return &k;
    }
    return nullptr;
  }
};

enum class OpId : std::uint16_t {
#define PLDC_OP(id, ...) id,
#include "ir/ops/all.def"
#undef PLDC_OP
  count_,
  none_ = 0xffff
};
inline constexpr std::size_t kOpCount = static_cast<std::size_t>(OpId::count_);

const OpInfo& op_info(OpId op);
// Internal name ("tile.and") to op; none_ if there is no such op. The text's trailing `_` of keyword-named ops
// ("and_") is accepted.
OpId find_op(std::string_view name);
// The category of an op: what stands before the last dot ("tile", "pld.tensor", "builtin.tensor").
std::string_view op_category(std::string_view name);
// What stands behind it ("load", "allreduce").
std::string_view op_leaf(std::string_view name);
// Whether Python has that part as a word of its own, so that it is written with an underscore ("and_").
bool op_needs_underscore(std::string_view name);

}  // namespace pldc
