// The diagnostics of diag/lex.def.
#pragma once

#include "support/diag.h"

namespace pldc::diag {
#define PLDC_DIAG PLDC_DECLARE_DIAG
#include "support/diag/lex.def"
#undef PLDC_DIAG
}  // namespace pldc::diag
