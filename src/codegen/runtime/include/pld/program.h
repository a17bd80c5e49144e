// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// What the launcher knows about a program. Generated code fills these tables with constants; nothing is
// owned.
#pragma once
#include "pld/tensor.h"

struct ChipTaskArgs;

namespace pld {

class Host;
class Params;

// A constant array.
template <class T>
struct List {
  const T* first = nullptr;
  int64_t count = 0;
  constexpr List() = default;
  template <int64_t N>
  constexpr List(const T (&array)[N]) : first(array), count(N) {}  // NOLINT: implicit on purpose
  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }
  constexpr const T& operator[](int64_t i) const { return first[i]; }
};

// A place in the .pld source; line 0 = unknown.
struct Place {
  int32_t line = 0;
  int32_t column = 0;
};

enum class Dir : uint8_t { in, out, inout };
enum class Core : uint8_t { aiv, aic };
enum class SlotUse : uint8_t { data, signal };  // signal: cells of a collective, zero when a run ends

using KernelFn = void (*)(int64_t* args);

struct KernelInfo {
  const char* name;
  Core core;
  KernelFn fn;
  Place place;
};

struct ChipInfo {
  const char* name;
  PTO2OrchestrationConfig (*config)(const ChipTaskArgs&);
  void (*entry)(const ChipTaskArgs&);
  List<KernelInfo> kernels;  // index = func_id
  Place place;
};

// One axis of a host parameter.
struct DimInfo {
  int64_t extent;                // -1: dynamic
  const char* symbol = nullptr;  // name of the dynamic dim
  bool per_rank = false;         // indexed by the variable of a loop over all ranks
};

struct ParamInfo {
  const char* name;
  Dir dir;
  DType dtype;
  bool scalar;
  List<DimInfo> dims;
  Place place;
  int own_axis = -1;  // every rank uses only its own index along this axis (--target=mpi); -1: more
};

// A collective whose signal serves a fixed number of ranks.
struct RankCheck {
  const char* collective;  // as written, e.g. "pld.tensor.allreduce"
  int64_t count;
  bool exact;  // otherwise at most `count` ranks
  Place place;
};

struct EntryInfo {
  const char* name;
  void (*run)(Host&, Params&);
  List<ParamInfo> params = {};
  int64_t max_device = -1;   // largest constant device, -1: none
  bool single_rank = false;  // made for a program without a host function: one rank only
  List<RankCheck> rank_checks = {};
  Place place = {};
};

struct ProgramInfo {
  const char* name;    // file stem, also the default name of the executable
  const char* source;  // path of the .pld as given to the compiler
  List<EntryInfo> entries;
  List<ChipInfo> chips;
};

}  // namespace pld

// Names that the Makefile gives to the entry points of chips and kernels (-D of the official names).
#define PLD_DECLARE_KERNEL(chip, kernel) extern "C" void pldk_##chip##_##kernel(int64_t* args)
#define PLD_KERNEL(chip, kernel) pldk_##chip##_##kernel
#define PLD_DECLARE_CHIP(chip)                                                  \
  extern "C" PTO2OrchestrationConfig pldc_##chip##_config(const ChipTaskArgs&); \
  extern "C" void pldc_##chip##_entry(const ChipTaskArgs&)
#define PLD_CHIP(chip) pldc_##chip##_config, pldc_##chip##_entry
