// One tensor op of a kernel being replaced by tile ops: its operands as tiles or in memory, and the writer of the
// statements that stand for it.
#pragma once

#include <string>

#include "passes/statement_writer.h"

namespace pldc::tiling {

struct Conversion;

// What the operands of the kernel have become so far.
class Values {
 public:
  virtual ~Values() = default;
  // The expression with everything replaced.
  virtual const Expr* current(const Expr* e) = 0;
  // The tile of a parameter that was loaded at the start; null for all other values.
  virtual const Expr* loaded(const Expr* e) = 0;
};

// The name of what a value becomes: `x__ssa_v1` is `x__tile`. Equal names are told apart by the printer.
std::string tile_name(std::string_view name);

class Lowering : public StatementWriter {
 public:
  // `op`: null for loads and stores that no op of the program stands for.
  Lowering(PassEnv& environment, Values& values, const Conversion& conversion, const Call* op, Span place,
           bool only_for_matmul, std::optional<DType> only_assembled_as = {})
      : StatementWriter(environment, place),
        call(op),
        row(conversion),
        feeds_matmul(only_for_matmul),
        assembled_as(only_assembled_as),
        values_(values) {}

  const Call* const call;
  const Conversion& row;
  const bool feeds_matmul;  // nothing but matrix products reads the result
  const std::optional<DType>
      assembled_as;  // nothing but assembling it into tensors of this dtype reads the result

  std::string_view name() const {
    return call != nullptr ? op_info(call->op).name : std::string_view("tile.load");
  }
  std::size_t count() const { return call->args.size(); }
  // --- operands ----------------------------------------------------------------------------------------------
  // As it is now: a tile, a tensor in memory, a scalar, a tuple.
  const Expr* arg(std::size_t i) { return values_.current(call->args[i]); }
  bool is_tensor(std::size_t i) const { return dyn<TensorType>(call->args[i]->type) != nullptr; }
  // The call itself, operands replaced.
  const Expr* unconverted() { return values_.current(call); }
  // The type before the conversion.
  const TensorType* tensor(std::size_t i) const { return dyn<TensorType>(call->args[i]->type); }
  // The type of the result before the conversion; null if that is no tensor.
  const TensorType* result() const { return dyn<TensorType>(call->type); }
  bool on_chip(std::size_t i) { return dyn<TileType>(chip_value(i)->type) != nullptr; }
  // As a tile. What is in memory is loaded whole; null after a report.
  const Expr* tile(std::size_t i) { return tile(i, tile_name(operand_name(i))); }
  const Expr* tile(std::size_t i, std::string_view loaded_name);
  // As a tile that is loaded here, under the name of the operand with `_vec`.
  const Expr* vector(std::size_t i);
  // In global memory; null after a report.
  const Expr* memory(std::size_t i,
                     std::string_view remedy = "assemble the value into an Out parameter and use that here");
  // The name of a variable; empty for other expressions.
  std::string_view operand_name(std::size_t i);
  std::int64_t integer(std::string_view keyword, std::int64_t otherwise) const;
  bool flag(std::string_view keyword) const { return integer(keyword, 0) != 0; }

  // --- statements --------------------------------------------------------------------------------------------
  const Var* bind(std::string_view name, const Expr* value);
  const Var* bind(std::string_view name, OpId id, Args args, KeywordArgs keywords = {}) {
    return bind(name, op(id, args, keywords));
  }
  void eval(const Expr* value) { push(ir().eval(value, span)); }
  // Returns the result of the loop.
  struct CarryNames {
    std::string_view variable, carried, result;
  };
  const Var* carry_loop(const CarryNames& names, const Expr* stop, const Expr* initial,
                        const std::function<const Expr*(const Var* variable, const Var* carried)>& body);

  // --- tiles -------------------------------------------------------------------------------------------------
  // A call of tile.load; null after a report if an extent is no constant.
  const Expr* load(const Expr* from, List<const Expr*> offsets, List<const Expr*> shape,
                   List<const Expr*> valid, MemSpace space = MemSpace::Vec);
  const Expr* load_whole(const Expr* from, MemSpace space = MemSpace::Vec);
  const Expr* create(List<const Expr*> shape, DType dtype, MemSpace space = MemSpace::Vec);
  const Expr* full(List<const Expr*> shape, DType dtype, double value);
  const Expr* cast_tile(const Expr* tile, DType dtype, std::string_view mode);
  const Expr* reshape(const Expr* tile, List<const Expr*> shape);
  // Converts the tile, under this name, if it has another dtype.
  const Expr* as_dtype(const Expr* tile, DType dtype, std::string_view name);
  const Expr* store(const Expr* tile, const Expr* offsets, const Expr* target, Attrs keywords = {});

  List<const Expr*> dims(std::initializer_list<std::int64_t> extents);
  List<const Expr*> zeros(std::size_t rank);
  List<const Expr*> shape_of(const Expr* value);

  // Reports that the op has no tile form here; returns null.
  const Expr* no_form(std::string_view found, std::string_view allowed, std::string_view remedy);

 private:
  const Expr* chip_value(std::size_t i);

  Values& values_;
};

}  // namespace pldc::tiling
