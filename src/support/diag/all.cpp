// The tables of diagnostics as one list.
#include "support/diag/codegen.h"
#include "support/diag/driver.h"
#include "support/diag/lex.h"
#include "support/diag/op.h"
#include "support/diag/parse.h"
#include "support/diag/pass.h"
#include "support/diag/type.h"
#include "support/diag/verify.h"

namespace pldc {
namespace {

constexpr const DiagInfo* kAll[] = {
#define PLDC_DIAG(id, code, severity, format, explanation, example) &diag::id,
#include "support/diag/all.def"
#undef PLDC_DIAG
};

}  // namespace

std::span<const DiagInfo* const> all_diags() { return kAll; }

}  // namespace pldc
