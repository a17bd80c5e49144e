// The chips of host collectives.
#pragma once

#include <string>

#include "codegen/device/builtin.h"

namespace pldc {

// The text of chips/<chip>.cpp. The kernel is number 0.
std::string builtin_chip_text(const BuiltinVariant& variant);
// Tensors and scalars that the chip takes.
int builtin_chip_args(const BuiltinVariant& variant);

}  // namespace pldc
