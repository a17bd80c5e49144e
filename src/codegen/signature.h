// How the parameters of kernels and chip orchestrations lie in the ABI: all tensors in parameter order, then all scalars
// in parameter order; communication contexts are scalars.
#pragma once

#include <vector>

#include "ir/context.h"

namespace pldc {

enum class ParamKind : std::uint8_t { Tensor, Scalar, Context };

struct AbiParam {
  const Param* param;
  std::size_t position;  // in the parameter list
  ParamKind kind;
  int index;  // among the tensors, or among the scalars and contexts
};

// A dynamic dim whose value an argument tells: the first tensor parameter (of any kind) whose shape has it bare; if none
// has, the first whose valid_shape has: tensors that are passed hold data in their whole shape.
struct SymbolSource {
  const Var* symbol;
  int tensor;  // its index among the tensors
  int axis;
  bool valid;  // stands in the valid_shape only
};

struct Signature {
  std::vector<AbiParam> params;  // in parameter order
  int tensors = 0;
  int scalars = 0;
  std::vector<SymbolSource> symbols;  // in order of appearance

  const AbiParam* find(const Var* var) const;
  const SymbolSource* symbol(const Var* var) const;
};

// Parameters of other types (Ptr, tiles) are left out: the caller refuses them.
Signature signature_of(const Function* function);

}  // namespace pldc
