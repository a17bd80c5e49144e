#include "passes/statement.h"

namespace pldc {

namespace {

template <class T>
const Stmt* copy_with(Context& context, const Stmt* stmt, List<std::string_view> comments) {
  T n = *static_cast<const T*>(stmt);
  n.comments = comments;
  return context.make(n);
}

}  // namespace

const Stmt* with_comments(Context& context, const Stmt* stmt, List<std::string_view> comments) {
  switch (stmt->kind) {
    case StmtKind::Assign:
      return copy_with<AssignStmt>(context, stmt, comments);
    case StmtKind::Eval:
      return copy_with<EvalStmt>(context, stmt, comments);
    case StmtKind::Return:
      return copy_with<ReturnStmt>(context, stmt, comments);
    case StmtKind::Yield:
      return copy_with<YieldStmt>(context, stmt, comments);
    case StmtKind::Break:
      return copy_with<BreakStmt>(context, stmt, comments);
    case StmtKind::Continue:
      return copy_with<ContinueStmt>(context, stmt, comments);
    case StmtKind::If:
      return copy_with<IfStmt>(context, stmt, comments);
    case StmtKind::For:
      return copy_with<ForStmt>(context, stmt, comments);
    case StmtKind::While:
      return copy_with<WhileStmt>(context, stmt, comments);
    case StmtKind::Scope:
      return copy_with<ScopeStmt>(context, stmt, comments);
    case StmtKind::Inline:
      return copy_with<InlineStmt>(context, stmt, comments);
  }
  return stmt;
}

}  // namespace pldc
