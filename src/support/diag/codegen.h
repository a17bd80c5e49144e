// The diagnostics of diag/codegen.def.
#pragma once

#include "support/diag.h"

namespace pldc::diag {
#define PLDC_DIAG PLDC_DECLARE_DIAG
#include "support/diag/codegen.def"
#undef PLDC_DIAG
}  // namespace pldc::diag
