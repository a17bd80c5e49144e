// Where the tensors of a kernel live after the conversion: parameters, and what is written through them, stay tensors in
// global memory; everything that is computed becomes a tile. Carries and results of branches follow their values.
// Reports nothing; refers to the function it was made for.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "ir/module.h"

namespace pldc::tiling {

class Homes {
 public:
  explicit Homes(const Function* kernel);

  // A tensor variable that becomes a tile.
  bool on_chip(const Var* var) const { return tiles_.contains(var); }
  // A parameter that is needed as a whole tile: it is loaded once, at the start of the kernel.
  bool loaded(const Var* param) const { return loaded_.contains(param); }
  // A tensor made in the kernel whose memory is the result with the returned number; nothing if it is none.
  std::optional<std::size_t> result_of(const Var* created) const;
  // A slice that only matrix products read.
  bool only_for_matmul(const Var* slice) const;
  // The dtype of all tensors that a value is assembled into; nothing if anything else reads it or they differ.
  std::optional<DType> only_assembled_as(const Var* value) const;

 private:
  // The values that one carry or branch result hands over.
  struct Group {
    const Var* carried;  // null: of a branch
    const Var* result;   // may be null
    const Expr* values[2];
  };
  struct Use {
    std::size_t matmul = 0;
    std::size_t elements = 0;  // read or written one by one
    std::size_t other = 0;     // all other reads, assembling it included
    std::size_t assembled = 0;
    DType assembled_as = DType::FP32;  // if it is
  };

  void collect(Body body);
  void collect_carries(List<IterArg> args, List<const Var*> results, Body body);
  void collect_call(const Call* call);
  void want_memory(const Expr* value);
  void spread_wants();
  void find_results(const Function* kernel);
  const Var* created_root(const Expr* value, bool& in_loop, int depth) const;
  bool overwritten(const Var* created) const;
  void spread_tiles();
  void plan_loads();
  bool is_chip_value(const Expr* value) const;

  std::unordered_map<const Var*, const Expr*> values_;  // what is assigned
  std::unordered_map<const Var*, const Group*> groups_of_;
  std::vector<Group> groups_;
  std::vector<const AssignStmt*> assigns_;
  std::vector<const ForStmt*> loops_;
  std::vector<const Var*> wanted_as_tiles_;
  std::unordered_set<const Var*> wanted_in_memory_;
  std::unordered_map<const Var*, Use> uses_;
  std::unordered_set<const Var*> params_;
  std::unordered_set<const Var*> tiles_;
  std::unordered_set<const Var*> loaded_;
  std::unordered_map<const Var*, std::size_t> results_;
};

}  // namespace pldc::tiling
