// Questions about the names of a text.
#pragma once

#include <vector>

#include "driver/lsp/document.h"

namespace pldc::lsp {

// The place of a name that `offset` is in or directly behind; null if there is none.
const NameUse* use_at(const Analysis& analysis, std::size_t offset);
// All places of what the name means, in the order of the text. Of an op only the place itself.
std::vector<const NameUse*> places_of(const Analysis& analysis, const NameUse& use);

// The function in which `offset` is: the last one that begins before it.
const Function* function_at(const Analysis& analysis, std::size_t offset);
// Local offset at which the function ends: that of its body, or where the next one begins if the body was not read.
std::size_t end_of(const Analysis& analysis, const Function& function);
const Function* find_function(const Analysis& analysis, std::string_view name);
// The parameter that the variable is; null if it is none.
const Param* parameter_of(const Analysis& analysis, const Var* var);

// "kernel(self, x: pl.Tensor[[64], pl.FP32]) -> ...", and how each parameter is written in it.
struct Signature {
  std::string text;
  std::vector<std::string> parameters;
};
Signature signature_of(const Function& function);
std::string type_text(const Type* type);
// With its direction, as the signature has it.
std::string type_text(const Param& param);

}  // namespace pldc::lsp
