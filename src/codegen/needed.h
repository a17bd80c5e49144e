// Which variables of a body have to be computed: those that something with an effect asks for, directly or through
// definitions without effects.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "ir/expr.h"
#include "ir/stmt.h"

namespace pldc {

// A single op whose result is only another look at its operand, or a value without effects.
bool is_pure(const Expr* value);

class Needed {
 public:
  // `results`: what the body returns is asked for. May be called for several bodies that see each other's variables.
  void add(Body body, bool results);
  // Everything that the body reads, as if all of it had an effect; after add() of what surrounds it.
  void add_reads(Body body);
  bool operator()(const Var* var) const { return needed_.count(var) != 0; }

 private:
  void need(const Expr* value);

  std::unordered_set<const Var*> needed_;
  std::unordered_map<const Var*, const Expr*> pure_;  // definitions without effects
};

}  // namespace pldc
