// if = "if" expr ":" body { "elif" expr ":" body } [ "else" ":" body ]
#include <deque>

#include "frontend/reader.h"
#include "frontend/writer.h"
#include "support/diag/lex.h"

namespace pldc {

namespace {

// Deeper than any reader of Python takes, an if that is a whole else is printed as elif.
constexpr int kMaxIndent = 100;

}  // namespace

// One if, or one elif of a chain.
struct Reader::Branch {
  Token first;
  IfStmt n{};
  Block then_block;
  Block else_block;

  Branch() {
    then_block.free_scope = else_block.free_scope = true;
    else_block.of_else = true;
  }
};

bool Reader::read_if(Block& block, const Token& first) {
  // Each elif is an if in the else of the one before; a long chain is read without going down.
  std::deque<Branch> chain;
  const struct LinksGuard {
    ~LinksGuard() { links = before; }
    std::uint32_t& links;
    std::uint32_t before;
  } guard{links_, links_};
  Token head = first;
  bool more = true;
  bool too_long = false;
  while (more) {
    if (!chain.empty() && !too_long) {
      ++links_;
      too_long = too_many_links(span(tok_));
    }
    if (too_long) chain.pop_back();  // read to its end, so that one message says it
    Block& outer = chain.empty() ? block : chain.back().else_block;
    Branch& branch = chain.emplace_back();
    branch.first = head;
    if (!read_branch(outer, branch, more)) return false;
    head = tok_;
    if (more) open_scope();
  }
  if (too_long) return false;
  while (!chain.empty()) {
    Branch branch = std::move(chain.back());
    chain.pop_back();
    finish_branch(chain.empty() ? block : chain.back().else_block, branch);
    // The nested if is the whole else branch; what it yields, the outer if yields.
    if (!chain.empty()) close_scope(true);
  }
  return true;
}

// Up to the elif that follows, then `more` is set, or with the else.
bool Reader::read_branch(Block& outer, Branch& branch, bool& more) {
  IfStmt& n = branch.n;
  more = false;
  take();  // if, elif
  const Expr* condition = read_expr();
  if (condition == nullptr || !expect(Tok::Colon, "after the condition")) return false;
  if (at(Tok::Newline)) take();
  n.kind = StmtKind::If;
  n.condition = condition;
  n.comments = take_header_comments();
  flush_hoisted(outer);
  open_scope();
  if (!read_block(branch.then_block, "if")) return false;
  // Names of a branch that ends in a yield are not visible outside (format.md 2.3).
  close_scope(!authoring_ || !branch.then_block.has_yield);
  while (at(Tok::Newline)) take();
  if (at_word("elif")) {
    n.has_else = true;
    branch.else_block.column = outer.column;
    more = true;
  } else if (at_word("else")) {
    n.has_else = true;
    take();
    if (!expect(Tok::Colon, "after 'else'")) return false;
    open_scope();
    if (!read_block(branch.else_block, "else")) return false;
    close_scope(!authoring_ || !branch.else_block.has_yield);
  }
  return true;
}

void Reader::finish_branch(Block& outer, Branch& branch) {
  IfStmt& n = branch.n;
  // Results: the targets of the then branch, then those only the else branch has; typed by the annotation if
  // there is one, else by the yielded value.
  std::vector<const Var*> results;
  const auto add = [&](const Block& b) {
    for (std::size_t i = 0; i < b.targets.size(); ++i) {
      const YieldTarget& t = b.targets[i];
      bool known = false;
      for (const Var* v : results) {
        if (v->name != t.name) continue;
        known = true;
        note_var(t.span, v, true);
      }
      if (known) continue;
      const Type* type = t.type != nullptr      ? t.type
                         : i < b.yielded.size() ? b.yielded[i]->type
                                                : ctx_.unknown();
      results.push_back(ctx_.var(t.name, type, t.span));
    }
  };
  add(branch.then_block);
  add(branch.else_block);
  n.then_body = ctx_.list(branch.then_block.stmts);
  n.else_body = ctx_.list(branch.else_block.stmts);
  n.return_vars = ctx_.list(results);
  n.span = span_from(branch.first.begin);
  for (const Var* v : results) bind(v->name, v);
  outer.stmts.push_back(ctx_.make(n));
}

// --- printing

void Writer::if_stmt(const IfStmt& s) {
  const IfStmt* n = &s;
  for (std::string_view word = "if ";; word = "elif ") {
    pad();
    out_ += word;
    expr(n->condition);
    out_ += ":\n";
    body(n->then_body, n->return_vars);
    if (!n->has_else) return;
    out_ += '\n';
    const auto* inner = n->else_body.size() == 1 ? dyn<IfStmt>(n->else_body[0]) : nullptr;
    if (inner == nullptr || indent_ < kMaxIndent || !inner->comments.empty()) break;
    n = inner;
  }
  pad();
  out_ += "else:\n";
  body(n->else_body, n->return_vars);
}

}  // namespace pldc
