// Statements. Immutable, arena-owned. A body is a flat list: nested sequences, which the text cannot show, cannot be
// represented, so NormalizedStmtStructure holds by construction.
#pragma once

#include <optional>
#include <string_view>

#include "ir/expr.h"

namespace pldc {

enum class StmtKind : std::uint8_t {
  Assign,
  Eval,
  Return,
  Yield,
  Break,
  Continue,
  If,
  For,
  While,
  Scope,
  Inline
};

struct Stmt {
  StmtKind kind;
  Span span;                        // header and body; without comments
  List<std::string_view> comments;  // leading comments, without the `# `
};
using Body = List<const Stmt*>;

struct AssignStmt : Stmt {
  const Var* var;
  const Expr* value;
};
struct EvalStmt : Stmt {
  const Expr* value;
};
struct ReturnStmt : Stmt {
  List<const Expr*> values;
};
struct YieldStmt : Stmt {
  List<const Expr*> values;
};
struct BreakStmt : Stmt {};
struct ContinueStmt : Stmt {};

struct IfStmt : Stmt {
  const Expr* condition;
  Body then_body;
  Body else_body;
  bool has_else;  // an empty else is kept (G37)
  List<const Var*> return_vars;
};

struct IterArg {
  const Var* var;  // var->is_iter_arg
  const Expr* init;
};

struct ForStmt : Stmt {
  ForKind for_kind;
  const Var* loop_var;
  const Expr* start;
  const Expr* stop;
  const Expr* step;
  List<IterArg> iter_args;
  List<const Var*> return_vars;  // as many as iter_args
  Body body;
  Attrs attrs;  // int, bool, float, string only; pipeline_stages of a Pipeline loop included
};

struct WhileStmt : Stmt {
  const Expr* condition;
  List<IterArg> iter_args;
  List<const Var*> return_vars;
  Body body;
};

enum class ScopeKind : std::uint8_t {
  InCore,
  Hierarchy,
  Cluster,
  Graph,
  Spmd,
  SplitAiv,
  Runtime,
  CommDomain
};

// One slot of a communication domain. `base` (the variable that the allocation binds) is the window's identity.
struct WindowSlot {
  const Var* base;
  const Expr* size;  // bytes per rank
  bool load_from_host;
  bool store_to_host;
};

// Any `with` scope. Which of the later fields count depends on the kind.
struct ScopeStmt : Stmt {
  ScopeKind scope;
  std::string_view name_hint;
  Attrs attrs;
  Body body;
  std::optional<Level> level;      // Hierarchy
  std::optional<Role> role;        // Hierarchy
  std::optional<SplitMode> split;  // InCore; always set for SplitAiv
  const Expr* core_num;            // Spmd
  bool sync_start;                 // Spmd
  bool manual;                     // Runtime
  List<std::int64_t> devices;      // CommDomain: ascending; empty: all devices
  List<WindowSlot> slots;          // CommDomain
};

// Foreign (Python) text of a host sub-worker's body, one string, lines separated by \n, without the indentation.
struct InlineStmt : Stmt {
  std::string_view text;
};

template <class T>
constexpr bool holds(StmtKind kind);
#define PLDC_STMT_KIND(T, K)               \
  template <>                              \
  constexpr bool holds<T>(StmtKind kind) { \
    return kind == StmtKind::K;            \
  }
PLDC_STMT_KIND(AssignStmt, Assign)
PLDC_STMT_KIND(EvalStmt, Eval)
PLDC_STMT_KIND(ReturnStmt, Return)
PLDC_STMT_KIND(YieldStmt, Yield)
PLDC_STMT_KIND(BreakStmt, Break)
PLDC_STMT_KIND(ContinueStmt, Continue)
PLDC_STMT_KIND(IfStmt, If)
PLDC_STMT_KIND(ForStmt, For)
PLDC_STMT_KIND(WhileStmt, While)
PLDC_STMT_KIND(ScopeStmt, Scope)
PLDC_STMT_KIND(InlineStmt, Inline)
#undef PLDC_STMT_KIND

template <class T>
const T* dyn(const Stmt* stmt) {
  return stmt != nullptr && holds<T>(stmt->kind) ? static_cast<const T*>(stmt) : nullptr;
}

inline const ScopeStmt* dyn_scope(const Stmt* stmt, ScopeKind kind) {
  const auto* scope = dyn<ScopeStmt>(stmt);
  return scope != nullptr && scope->scope == kind ? scope : nullptr;
}

}  // namespace pldc
