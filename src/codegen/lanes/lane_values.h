// Which values of a mixed kernel differ between the two vector lanes of a block.
//
// A value differs if it is made of the number of the lane or of a half that aiv_shard hands out. A tile that such a value is
// written into differs too, since each lane has a vector buffer of its own. What aic_gather joins is the same for both.
#pragma once

#include <unordered_set>

#include "ir/module.h"

namespace pldc {

bool is_lane_number(const Expr* e);
bool is_shard(const Expr* e);
bool is_gather(const Expr* e);

class LaneValues {
 public:
  explicit LaneValues(const Function* kernel);

  bool differs(const Var* var) const { return differs_.count(var) != 0; }
  // Whether the expression has another value in the other lane; a join of halves has not.
  bool differs(const Expr* e) const;
  bool type_differs(const Type* type) const;
  // Whether each lane goes its own way through the loop or branch.
  bool control_differs(const Stmt* stmt) const;
  // An aic_gather where the lanes go their own ways; null if there is none.
  const Expr* lost_gather() const { return lost_gather_; }

 private:
  void mark(const Var* var);
  // The tile is written in one lane's buffer, and so is what it is another name for.
  void own(const Expr* value);
  void scan(Body body, bool apart);
  void assign(const Var* var, const Expr* value, bool apart);
  // Carries, or results of a branch: what one of the sources says holds for all.
  void join(const Var* var, const Var* result, const Expr* init, const Expr* yielded);

  std::unordered_set<const Var*> differs_;
  std::unordered_set<const Var*> owned_;
  bool changed_ = false;
  const Expr* lost_gather_ = nullptr;
};

// The values that the body yields at its end; empty if it yields none.
List<const Expr*> yielded(Body body);

}  // namespace pldc
