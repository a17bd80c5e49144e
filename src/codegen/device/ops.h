// What the files of operations share. Each exports its operations as a table of op and emitter.
#pragma once

#include <span>

#include "codegen/device/body.h"

namespace pldc {

struct OpEmitter {
  OpId op;
  EmitOp emit;
};

std::span<const OpEmitter> matrix_ops();
std::span<const OpEmitter> memory_ops();
std::span<const OpEmitter> comm_ops();
std::span<const OpEmitter> shape_ops();
std::span<const OpEmitter> vector_ops();
std::span<const OpEmitter> index_ops();
std::span<const OpEmitter> system_ops();

// The operand as a tile of the vector buffer.
TileRef vector_operand(KernelBody& body, const OpCall& op, std::size_t argument);
// False after a report: the tile has more than two dimensions.
bool require_rank_2(KernelBody& body, const OpCall& op, const Expr* tile);
// False after a report: there is no arithmetic on the dtype.
bool has_scalar_form(KernelBody& body, const OpCall& op, DType dtype);
// callee(destination, tiles..., after...): the tiles are brought to the shape, layout and dtype of the destination.
bool elementwise(KernelBody& body, std::string_view callee, const TileRef& destination,
                 const std::vector<TileRef>& tiles, const std::vector<std::string>& after = {});
// TCOLSUM and its like; a reduction of a column is one of a row.
bool column_reduce(KernelBody& body, std::string_view callee, const TileRef& destination,
                   const TileRef& source, const std::string& tmp);

// Where the element with this number, in row-major order of the IR's shape, lies in the tile's memory.
std::string element_place(const TileRef& tile, const std::string& number);
// Copies element by element in row-major order, which no instruction does when rows are padded.
void copy_flat(KernelBody& body, const TileRef& to, const TileRef& from);
// The tile itself, or a copy of it in scratch memory as one row without padding.
TileRef without_padding(KernelBody& body, const TileRef& tile);

// Integer, bool and dtype keywords of a call.
inline std::int64_t keyword_int(const OpCall& op, std::string_view key, std::int64_t otherwise) {
  const AttrValue* value = find_attr(op.call->kwargs, key);
  return value != nullptr ? value->integer : otherwise;
}
// "CmpMode::LT" of a cmp_type keyword.
std::string compare_mode(std::int64_t number);

}  // namespace pldc
