// Boxes of global memory as operands of transfers; shared by local and remote operations.
#pragma once

#include "codegen/device/body.h"

namespace pldc {

// Whether the operation adds (keyword atomic). False after a report: the dtype has no atomic add.
bool is_atomic_add(KernelBody& body, const OpCall& op, DType dtype, bool& atomic);
// The box that a transfer of the tile's valid part covers. `dims`: its extents as the operation names them, one for each
// axis of the tensor; empty: the last axes. `exact`: these are the extents that hold data; otherwise those of the whole
// tile. `shaped` is the tensor with the strides that belong to the box. False after a report.
bool transfer_box(KernelBody& body, const OpCall& op, const TensorRef& tensor, const TileType* type,
                  List<const Expr*> dims, bool exact, TensorRef& shaped, std::vector<Extent>& box);
void emit_load(KernelBody& body, const OpCall& op, const TensorRef& tensor, const std::string& pointer,
               const std::vector<Extent>& box, const TileRef& to);
void emit_store(KernelBody& body, const OpCall& op, const TensorRef& tensor, const std::string& pointer,
                const std::vector<Extent>& box, const TileRef& tile, bool atomic);
// tensor.assemble of two tensors in memory.
bool copy_tensor(KernelBody& body, const OpCall& op);
// The result of an operation that writes into its operand: the operand's contents are in the result's place. Without a
// result the operand itself.
TileRef in_place(KernelBody& body, const OpCall& op, std::size_t argument);

}  // namespace pldc
