// Programs made from bytes: every choice takes the next byte, and there is a program for every input.
#pragma once

#include <string_view>

#include "ir/context.h"

namespace pldc::fuzz {

const Program* generate(Context& context, std::string_view bytes);

}  // namespace pldc::fuzz
