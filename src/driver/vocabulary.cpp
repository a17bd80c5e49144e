#include "driver/vocabulary.h"

#include <cctype>

#include "ir/check_rules.h"
#include "ir/enums.h"

namespace pldc {
namespace {

constexpr Fact kTypes[] = {
    {"Scalar", "pl.Scalar[DTYPE]: one value of a dtype"},
    {"Tensor", "pl.Tensor[[SHAPE], DTYPE, ...]: memory of the host or the chip, with an optional view"},
    {"DistributedTensor", "pld.DistributedTensor[[SHAPE], DTYPE]: each rank's part of a window"},
    {"Tile", "pl.Tile[[SHAPE], DTYPE, ...]: on-chip memory, with space, layout and valid extents"},
    {"Array", "pl.Array[N, DTYPE]: N scalars"},
    {"Tuple", "pl.Tuple[...]: several values"},
    {"Ptr", "pl.Ptr: the start of a memory allocation"},
    {"MemRef", "pl.MemRef(BASE, OFFSET, SIZE): a piece of an allocation"},
    {"WindowBuffer", "an allocation that every rank of a communication domain has"},
    {"CommCtx", "pld.CommCtx: what a kernel needs to reach other ranks' windows"},
    {"PrefetchAsyncContext", "handle of an asynchronous prefetch"},
    {"AsyncEvent", "event of an asynchronous transfer"},
    {"AsyncSession", "session of asynchronous transfers"},
    {"Unknown", "the result of a call that returns nothing"},
};

constexpr Fact kForms[] = {
    {"program", "marks the class that holds the program's functions\n\n`@pl.program` above `class NAME:`"},
    {"function",
     "marks a function of the program\n\n`@pl.function(type=pl.FunctionType.InCore)` above `def NAME(...):`"},
    {"func_attr", "attributes of the function it stands first in\n\n`pl.func_attr({\"key\": value})`"},
    {"dynamic", "a symbol that stands for an extent\n\n`N = pl.dynamic(\"N\")`, before the class"},
    {"range",
     "a sequential loop\n\n`for i in pl.range([start,] stop [, step])`; with init_values=(...) it carries "
     "values"},
    {"parallel",
     "a loop whose iterations do not depend on each other\n\n`for i in pl.parallel([start,] stop [, step])`"},
    {"unroll", "a loop that the pass UnrollLoops writes out\n\n`for i in pl.unroll([start,] stop [, step])`"},
    {"pipeline",
     "a loop whose iterations overlap in stages\n\n`for i in pl.pipeline([start,] stop [, step], stage=2)`"},
    {"while_",
     "a loop that carries values and begins with its condition\n\n`for (w,) in pl.while_(init_values=(n,)):` "
     "with `pl.cond(...)` as its first statement"},
    {"cond", "the condition of a `pl.while_` loop: its first statement\n\n`pl.cond(w > 3)`"},
    {"yield_",
     "the values that a branch or one turn of a loop gives: its last statement\n\n`name = "
     "pl.yield_(value)`; the names are visible after the `if` or the loop"},
    {"at",
     "a scope that runs at a level of the machine\n\n`with pl.at(level=pl.Level.CORE_GROUP "
     "[, role=...] [, optimizations=[...]]) [as task_id]:`"},
    {"cluster", "a scope of kernels that share a cluster\n\n`with pl.cluster([name_hint=...]):`"},
    {"graph", "a scope that is recorded once and replayed\n\n`with pl.graph(\"name\"):`"},
    {"spmd",
     "a scope that runs as N blocks\n\n`with pl.spmd(N):`, or `for block in pl.spmd(N):` with the number of "
     "the block"},
    {"split_aiv",
     "a region that the two vector cores of a cluster share\n\n`for lane in pl.split_aiv(2, "
     "mode=pl.SplitMode.UP_DOWN):`"},
    {"scope", "a scope of tasks\n\n`with pl.scope([mode=pl.ScopeMode.MANUAL]):`"},
    {"submit",
     "launches a function as a task\n\n`result, task_id = pl.submit(self.kernel, x [, deps=[...]])`"},
    {"spmd_submit",
     "launches a function as a task of several blocks\n\n`result, task_id = pl.spmd_submit(self.kernel, x, "
     "core_num=8)`"},
    {"const", "a constant of a dtype\n\n`pl.const(4096, pl.INT64)`"},
    {"cast",
     "a value in another dtype\n\n`pl.cast(n, pl.INT32)`; of a tensor or tile it is the op with mode=..."},
    {"min", "the smaller of two scalars\n\n`pl.min(a, b)`; of tiles and tensors it is `pl.minimum`"},
    {"max", "the larger of two scalars\n\n`pl.max(a, b)`; of tiles and tensors it is `pl.maximum`"},
    {"MemRef", "a piece of an allocation\n\n`pl.MemRef(base, offset, size)` in a type"},
    {"TensorView",
     "how a tensor differs from a packed one that is all valid\n\n`pl.TensorView(valid_shape=[...], "
     "stride=[...], layout=..., pad=...)` in a type"},
    {"TileView",
     "how a tile differs from what its shape and memory imply\n\n`pl.TileView(valid_shape=[...], "
     "blayout=..., pad=...)` in a type"},
    {"split",
     "an optimization of a scope: both vector cores share "
     "it\n\n`optimizations=[pl.split(pl.SplitMode.UP_DOWN)]`"},
    {"cross_core_slot",
     "an optimization of a scope: slots of the pipe between "
     "cores\n\n`optimizations=[pl.cross_core_slot(slot_num=4)]`"},
    {"set_cache_policy", "how the scope it stands in caches a tensor\n\n`pl.set_cache_policy(x, \"...\")`"},
    {"no_dep", "an argument that makes no dependency between tasks\n\n`self.kernel(pl.no_dep(x))`"},
    {"In", "the direction of a parameter that a function reads\n\nIt is the default and not written."},
    {"Out", "the direction of a parameter that a function writes\n\n`y: pl.Out[pl.Tensor[[64], pl.FP32]]`"},
    {"InOut",
     "the direction of a parameter that a function reads and writes\n\n`y: pl.InOut[pl.Tensor[[64], "
     "pl.FP32]]`"},
};

template <class Names>
std::vector<std::string> members(const Names& names) {
  return {std::begin(names), std::end(names)};
}

std::vector<std::string> members(KwKind kind) { return members(keyword_range(kind).names); }

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// Stored in small letters, written in capitals; the two long words are other names of the first two.
std::vector<std::string> capitals(KwKind kind) {
  std::vector<std::string> out;
  for (const std::string_view name : keyword_range(kind).names) {
    if (name.find('_') == std::string_view::npos) out.push_back(upper(std::string(name)));
  }
  return out;
}

std::vector<EnumFact> make_enums() {
  return {
      {"pl", "FunctionType", "what a function is", members(EnumNames<FuncType>::names)},
      {"pl", "Level", "where in the machine something runs", members(EnumNames<Level>::names)},
      {"pl", "Role", "whether a function directs others or works", members(EnumNames<Role>::names)},
      {"pl", "Mem", "memories of a chip", members(EnumNames<MemSpace>::names)},
      {"pl", "TensorLayout", "orders of a tensor's elements in memory",
       members(EnumNames<TensorLayout>::names)},
      {"pl", "TileLayout", "orders of a tile's elements within and between its blocks",
       members(EnumNames<TileLayout>::names)},
      {"pl", "PadValue", "what stands outside of the valid extents", members(EnumNames<PadValue>::names)},
      {"pl", "CompactMode", "how a tile's valid part is packed", members(EnumNames<CompactMode>::names)},
      {"pl", "SplitMode", "how the two vector cores share a region", members(EnumNames<SplitMode>::names)},
      {"pl", "ScopeMode", "who orders the tasks of a scope", {"AUTO", "MANUAL"}},
      {"pl", "adir", "directions of a call's arguments", members(EnumNames<ArgDirection>::names)},
      {"pl", "PipeType", "pipes of a core", members(KwKind::PipeType)},
      {"pl", "AtomicType", "whether a store adds", members(KwKind::AtomicType)},
      {"pl", "KernelType", "kinds of cores", capitals(KwKind::CoreType)},
      {"pl", "SyncAllMode", "how a barrier over all cores is made", capitals(KwKind::SyncMode)},
      {"pl", "AccPhase", "parts of an accumulation", members(KwKind::AccPhase)},
      {"pl", "STPhase", "parts of a store", members(KwKind::StPhase)},
      {"pld", "ReduceOp", "what a reduction does", members(KwKind::ReduceOp)},
      {"pld", "NotifyOp", "how a notify changes a signal", members(KwKind::NotifyOp)},
      {"pld", "WaitCmp", "when a wait ends", members(KwKind::WaitCmp)},
  };
}

}  // namespace

std::span<const Fact> type_facts() { return kTypes; }
std::span<const Fact> form_facts() { return kForms; }

const std::vector<EnumFact>& enum_facts() {
  static const std::vector<EnumFact> enums = make_enums();
  return enums;
}

const EnumFact* find_enum(std::string_view name) {
  if (name == "MemorySpace") name = "Mem";
  for (const EnumFact& fact : enum_facts()) {
    if (fact.name == name) return &fact;
  }
  return nullptr;
}

std::vector<std::string_view> dtype_names() {
  return {std::begin(EnumNames<DType>::names), std::end(EnumNames<DType>::names)};
}

}  // namespace pldc
