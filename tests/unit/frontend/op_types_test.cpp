// The result types of ops against the reference dumps, and the checks of ops on every reference text.
#include "frontend/text.h"
#include "ir/check_op.h"
#include "ir/rules.h"
#include "ir/walk.h"
#include "support/catch.h"
#include "support/corpus.h"

using namespace pldc;

namespace {

// The type without what no op decides: where the value lies.
const Type* bare(Context& context, const Type* type) {
  if (const auto* tensor = dyn<TensorType>(type)) {
    return context.tensor(tensor->kind, tensor->dtype, tensor->shape, tensor->view);
  }
  if (const auto* tile = dyn<TileType>(type)) {
    const TileView view = effective_view(tile);
    return context.tile(tile->dtype, tile->shape, nullptr, tile->space, &view);
  }
  return type;
}

template <class F>
void for_each_assigned_call(const Program* program, F&& f) {
  for (const Function* function : program->functions) {
    walk_stmts(function->body, [&](const Stmt* s) {
      const auto* assign = dyn<AssignStmt>(s);
      const auto* call = assign != nullptr ? dyn<Call>(assign->value) : nullptr;
      if (call != nullptr && call->is_op()) f(assign->var, call);
    });
  }
}

// Errors and differences of one text; `calls` counts what was compared.
std::string differences(const std::string& path, std::size_t& calls) {
  SourceManager sources;
  Context context;
  DiagSink diags;
  const Module module = parse(*sources.add(path, corpus::read(path)), context, diags);
  if (module.program == nullptr) return path + ": cannot be read\n" + render(diags.take(), sources, {});
  std::string out;
  for_each_assigned_call(module.program, [&](const Var* var, const Call* call) {
    // What a pop gives is what was pushed elsewhere: only the annotation tells.
    if (call->op == OpId::tile_tpop_from_aic || call->op == OpId::tile_tpop_from_aiv) return;
    ++calls;
    DiagSink found;
    const Type* type = check_call(found, call)
                           ? deduce(context, found, call->op, call->args, call->kwargs, call->span)
                           : nullptr;
    const std::string got = type != nullptr ? print_type(bare(context, type)) : "an error";
    const std::string want = print_type(bare(context, var->type));
    if (got != want) {
      out += path + ": " + print_expr(call) + "\n  want " + want + "\n  got  " + got + "\n" +
             render(found.take(), sources, {});
    }
  });
  return out;
}

}  // namespace

TEST_CASE("deduced types are those of the reference, for every call of every program as read") {
  std::size_t calls = 0;
  std::size_t files = 0;
  for (const std::string& path : corpus::texts()) {
    if (path.find("00_frontend.pld") == std::string::npos) continue;
    ++files;
    const std::string found = differences(path, calls);
    INFO(found);
    REQUIRE(found.empty());
  }
  REQUIRE(files >= 7);
  REQUIRE(calls > files);
}

TEST_CASE("deduced types are those of the reference, op by op") {
  std::size_t calls = 0;
  for (const std::string_view name : {"ir_ops_tensor.pld", "ir_ops_tile.pld", "ir_ops_other.pld"}) {
    for (const std::string& path : corpus::texts()) {
      if (path.size() < name.size() || path.substr(path.size() - name.size()) != name) continue;
      const std::string found = differences(path, calls);
      INFO(found);
      REQUIRE(found.empty());
    }
  }
}

TEST_CASE("no call in any reference text is refused") {
  for (const std::string& path : corpus::texts()) {
    SourceManager sources;
    Context context;
    DiagSink diags;
    const Module module = parse(*sources.add(path, corpus::read(path)), context, diags);
    INFO(path);
    REQUIRE(module.program != nullptr);
    DiagSink found;
    for (const Function* function : module.program->functions) {
      walk_stmts(function->body, [&](const Stmt* s) {
        for_each_expr(s, [&](const Expr* e) {
          walk_expr(e, [&](const Expr* x) {
            if (const auto* call = dyn<Call>(x)) check_call(found, call, CallSource::Printed);
          });
        });
      });
    }
    INFO(render(found.take(), sources, {}));
    REQUIRE_FALSE(found.has_errors());
  }
}
