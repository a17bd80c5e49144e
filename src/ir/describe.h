// Short texts of types and dims for messages: "FP32 tensor [16, n]". The printer proper is in
// frontend/text.h.
#pragma once

#include <string>

#include "ir/type.h"

namespace pldc {

std::string describe(const Type* type);
// "[16, n * 2]"
std::string describe(List<const Expr*> dims);
std::string describe(const Expr* dim);

}  // namespace pldc
