#include "codegen/signature.h"

#include "ir/walk.h"

namespace pldc {

const AbiParam* Signature::find(const Var* var) const {
  for (const AbiParam& p : params) {
    if (p.param->var == var) return &p;
  }
  return nullptr;
}

const SymbolSource* Signature::symbol(const Var* var) const {
  for (const SymbolSource& s : symbols) {
    if (s.symbol == var) return &s;
  }
  return nullptr;
}

Signature signature_of(const Function* function) {
  Signature out;
  for (std::size_t i = 0; i < function->params.size(); ++i) {
    const Param& param = function->params[i];
    const Type* type = param.var->type;
    if (dyn<TensorType>(type) != nullptr) {
      out.params.push_back({&param, i, ParamKind::Tensor, out.tensors++});
    } else if (dyn<ScalarType>(type) != nullptr) {
      out.params.push_back({&param, i, ParamKind::Scalar, out.scalars++});
    } else if (type->kind == TypeKind::CommCtx) {
      out.params.push_back({&param, i, ParamKind::Context, out.scalars++});
    }
  }
  const auto note = [&](List<const Expr*> dims, int tensor, bool valid) {
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const auto* symbol = dyn<Var>(dims[axis]);
      if (symbol == nullptr || out.find(symbol) != nullptr || out.symbol(symbol) != nullptr) continue;
      out.symbols.push_back({symbol, tensor, static_cast<int>(axis), valid});
    }
  };
  for (const bool valid : {false, true}) {
    for (const AbiParam& p : out.params) {
      if (p.kind != ParamKind::Tensor) continue;
      const auto* type = static_cast<const TensorType*>(p.param->var->type);
      if (!valid) note(type->shape, p.index, false);
      if (valid && type->view != nullptr) note(type->view->valid_shape, p.index, true);
    }
  }
  return out;
}

}  // namespace pldc
