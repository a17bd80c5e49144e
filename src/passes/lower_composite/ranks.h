// How the ranks of a domain meet: barriers on a signal whose cells are zero before and after every collective
// (passes.md 2.14, "shared pieces"). Each barrier adds 1 to a cell of every peer and waits until all peers have
// added as often as there were barriers; at the end each rank takes from its own cells what was added. A fast
// rank is at most one barrier ahead, so the cells never mix up two barriers, nor two collectives.
#pragma once

#include "passes/lower_composite/expansion.h"

namespace pldc::composite {

class Ranks {
 public:
  // Asks for the domain of the distributed tensor.
  Ranks(Expansion& out, const Expr* tensor);

  const Var* context;
  const Var* count;  // INDEX
  const Var* own;    // INT32: cells are addressed with it as it is

  const Expr* own_index() { return out_.cast(own, DType::INDEX); }
  const Expr* is_peer(const Expr* rank) { return out_.binary(BinaryOp::Ne, rank, own_index()); }
  // For every rank, the own one included.
  void each(std::string_view qualifier, const Expansion::LoopBody& body);
  void each_peer(std::string_view qualifier, const Expansion::LoopBody& body);

  // An accumulator, combined with what `receive` gets from every peer in ascending order.
  const Var* combine(OpId reduce, const Expr* initial,
                     const std::function<const Expr*(const Var* peer)>& receive);

 private:
  Expansion& out_;
};

class Barriers {
 public:
  Barriers(Expansion& out, Ranks& ranks, const Expr* signal) : out_(out), ranks_(ranks), signal_(signal) {}

  // The next barrier of a signal of one cell a rank, [ranks, 1].
  void meet();
  // The same where only the running program knows how many there were: cells must reach `expected`. `suffix`
  // goes into the names. `row`: of a signal of one row a round, [rounds, ranks]; null: [ranks, 1].
  void meet(std::string_view suffix, const Expr* expected, const Expr* row = nullptr);
  // Takes back what all `total` barriers have added; nothing but the result may follow. INT32.
  void reset(const Expr* total);
  void reset() { reset(out_.int32(met_)); }
  // The same for the cells of all `rows`.
  void reset_rows(const Expr* rows, const Expr* total);

 private:
  void notify(std::string_view qualifier, const Expr* rank, const Expr* cell, const Expr* value);
  void take_back(const Expr* row, const Expr* total);
  const Expr* cell(const Expr* row, const Expr* rank);

  Expansion& out_;
  Ranks& ranks_;
  const Expr* signal_;
  int met_ = 0;  // barriers so far
};

// Checks the signal of everything but the ring: [ranks, 1]. `operand`: its position.
bool check_mesh_signal(Expansion& out, std::size_t operand);

}  // namespace pldc::composite
