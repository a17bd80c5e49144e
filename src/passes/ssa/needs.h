// Which variables the rest of a statement list needs from outside: the question that decides whether a
// variable first assigned inside a loop must be carried out of it (passes.md 2.2, "Escaping").
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/module.h"

namespace pldc::ssa {

class Needs {
 public:
  // True if the statements after `list[index]` read `var` before they surely define it again.
  bool needed_after(Body list, std::size_t index, const Var* var);
  // True if the list reads `var` before it surely defines it.
  bool reads_from_outside(Body list, const Var* var);

 private:
  // What a statement or a list reads from outside, and what it has defined on every way through.
  struct Facts {
    std::vector<const Var*> exposed;
    std::vector<const Var*> defines;
  };
  struct Event {
    std::size_t index;
    bool read;  // else: defined
  };
  struct ListFacts {
    Facts whole;
    std::unordered_map<const Var*, std::vector<Event>> events;  // by rising index
    std::unordered_set<const Var*> exposed;                     // the same as in `whole`
  };

  const ListFacts& facts_of(Body list);
  Facts facts_of(const Stmt* stmt);

  std::unordered_map<const Stmt* const*, ListFacts> lists_;  // by the list's address
  ListFacts empty_;
};

}  // namespace pldc::ssa
