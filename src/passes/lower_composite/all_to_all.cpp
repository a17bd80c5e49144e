#include "passes/lower_composite/collectives.h"

namespace pldc::composite {

const Expr* expand_all_to_all(Expansion& out) {
  if (!check_plain_tensor(out, 0, "input", "[NR, SIZE]")) return nullptr;
  return push_rows(out, {"aa_stage", "dest", "aa_put"}, [](const Var* receiver) { return receiver; });
}

}  // namespace pldc::composite
