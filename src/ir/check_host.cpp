// Where host-only ops may stand, and that window buffers have names of their own (passes.md 4.1).
#include <unordered_map>

#include "ir/check_op.h"
#include "ir/walk.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

class HostOps {
 public:
  explicit HostOps(DiagSink& diags) : diags_(diags) {}

  void function(const Function* f) {
    function_ = f;
    body(f->body, {});
  }
  bool ok() const { return ok_; }

 private:
  static std::string_view scope_text(ScopeKind kind) {
    switch (kind) {
      case ScopeKind::InCore:
        return "an InCore scope";
      case ScopeKind::Spmd:
        return "an Spmd scope";
      case ScopeKind::SplitAiv:
        return "a split_aiv region";
      case ScopeKind::Hierarchy:
      case ScopeKind::Cluster:
      case ScopeKind::Graph:
      case ScopeKind::Runtime:
      case ScopeKind::CommDomain:
        return {};
    }
    return {};
  }

  void body(Body statements, std::string_view device_scope) {
    for (const Stmt* s : statements) {
      for_each_expr(s, [&](const Expr* e) {
        walk_expr(e, [&](const Expr* x) {
          if (const auto* call = dyn<Call>(x)) check(call, device_scope);
        });
      });
      std::string_view inner = device_scope;
      if (const auto* scope = dyn<ScopeStmt>(s); scope != nullptr && inner.empty())
        inner = scope_text(scope->scope);
      for_each_body(s, [&](Body nested) { body(nested, inner); });
    }
  }

  void check(const Call* call, std::string_view device_scope) {
    const bool alloc = call->op == OpId::pld_tensor_alloc_window_buffer;
    if (!alloc && call->op != OpId::pld_system_world_size) return;
    if (function_->level != Level::HOST || !device_scope.empty()) {
      std::string where(device_scope);
      if (where.empty())
        where = function_->level ? fmt::format("of level {}", name_of(*function_->level)) : "not";
      auto report = diags_.report<diag::host_only>(
          call->span, op_info(call->op).name,
          device_scope.empty() ? function_->name.text() : std::string_view("this place"), where);
      report.help("{}", alloc
                            ? "allocate in the host function and pass windows of the buffer on"
                            : "pass the number as a scalar, or use pld.system.nranks of a window's context");
      ok_ = false;
    }
    if (!alloc) return;
    const AttrValue* name = find_attr(call->kwargs, "name");
    if (name == nullptr || name->text.empty()) return;
    const auto [first, fresh] = buffers_.emplace(name->text, call->span);
    if (fresh) return;
    diags_.report<diag::alloc_twice>(call->span, name->text)
        .note(first->second, "the first allocation of that name is here")
        .help("give the variable another name");
    ok_ = false;
  }

  DiagSink& diags_;
  const Function* function_ = nullptr;
  std::unordered_map<std::string_view, Span> buffers_;
  bool ok_ = true;
};

}  // namespace

bool check_host_ops(DiagSink& diags, const Program* program) {
  HostOps ops(diags);
  for (const Function* f : program->functions) ops.function(f);
  return ops.ok();
}

}  // namespace pldc
