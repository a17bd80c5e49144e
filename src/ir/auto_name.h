// Generated names (passes.md 2.0): base "__" [qualifier "_"] [role "_"] "v" N, e.g. `x__ssa_v1`, `t__tmp_v0`,
// `data__peer_acc_tmp_v13`. The one place that takes such names apart and builds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "ir/module.h"

namespace pldc {

// X(member, spelling)
#define PLDC_NAME_ROLES(X) \
  X(None, "")              \
  X(Ssa, "ssa")            \
  X(Iter, "iter")          \
  X(Rv, "rv") X(Phi, "phi") X(Idx, "idx") X(Tmp, "tmp") X(Tile, "tile") X(Out, "out") X(Store, "store")
PLDC_ENUM(NameRole, PLDC_NAME_ROLES)

struct AutoName {
  std::string_view base;
  std::string_view qualifier;  // empty: none
  NameRole role = NameRole::None;
  std::optional<std::uint32_t> version;
};

// Takes a name apart: cut at the first "__"; from the rest strip a final `v<digits>`, then a final role; what
// is left is the qualifier. If the rest has neither version nor role, the whole name is the base. The parts
// point into `name`.
AutoName parse_auto_name(std::string_view name);

// A base that holds the delimiter "__" cannot be versioned. `__auto_<op>_<n>`, the name of the buffers that
// the ergonomic wrappers make (passes.md 4.5), and those of signals that SynthesizeAllReduceSignals makes are exceptions.
bool is_versionable_base(std::string_view base);

std::string build_auto_name(std::string_view base, std::string_view qualifier, NameRole role,
                            std::optional<std::uint32_t> version);
// The name's base and qualifier with another role and version: ("y__l0_tmp_v2", Ssa, 0) is "y__l0_ssa_v0".
std::string rename_auto_name(std::string_view name, NameRole role, std::uint32_t version);

// What LowerCompositeOps and MaterializeDistTensorCtx take as the base of a name: everything before the first
// "__".
std::string_view auto_name_stem(std::string_view name);

// Names in use, for making new ones.
class NamePool {
 public:
  NamePool() = default;
  // The names of all parameters and definitions of the function.
  explicit NamePool(const Function* function);

  void add(std::string_view name) { used_.emplace(name); }
  bool has(std::string_view name) const { return used_.count(std::string(name)) != 0; }
  // "Fresh name like N": base and qualifier of `like`, its role or ssa, its version (or -1) + 1, counted up
  // until the name is unused. The name is added to the pool.
  std::string fresh_like(std::string_view like);

 private:
  struct Tried {
    std::uint32_t first;
    std::uint32_t end;
  };
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, Tried> tried_;  // without version -> versions in use, one after the other
};

}  // namespace pldc
