#include "passes/statement_writer.h"

#include "ir/rules.h"

namespace pldc {

const Expr* StatementWriter::op(OpId id, Args args, KeywordArgs keywords) {
  std::vector<Attr> attrs;
  for (const KeywordArg& keyword : keywords) attrs.push_back({ir().name(keyword.name), keyword.value});
  return op(id, ir().list(args), ir().list(attrs));
}

const Expr* StatementWriter::op(OpId id, List<const Expr*> args, Attrs keywords) {
  const Type* type = deduce(ir(), env.diags, id, args, keywords, span);
  return ir().call(id, args, keywords, {}, type != nullptr ? type : ir().unknown(), span);
}

Body StatementWriter::block(const std::function<void()>& body) {
  blocks_.emplace_back();
  body();
  const Body done = ir().list(blocks_.back());
  blocks_.pop_back();
  return done;
}

void StatementWriter::push_carry_loop(const Var* variable, const Expr* stop, IterArg carried,
                                      const Var* result, Body body) {
  ForStmt loop{};
  loop.kind = StmtKind::For;
  loop.span = span;
  loop.for_kind = ForKind::Sequential;
  loop.loop_var = variable;
  loop.start = index(0);
  loop.stop = stop;
  loop.step = index(1);
  loop.iter_args = ir().list({carried});
  loop.body = body;
  loop.return_vars = ir().list({result});
  push(ir().make(loop));
}

}  // namespace pldc
