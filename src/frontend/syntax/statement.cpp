// statement = { "#" comment } ( NAME [ ":" type ] "=" expr | call | "return" [ exprs ] | yield | "pass" |
// "break"
//           | "continue" | compound )
// yield     = [ NAME [ ":" type ] "=" | NAME { "," NAME } "=" ] "pl.yield_(" [ exprs ] ")"
#include <algorithm>
#include <utility>

#include "frontend/reader.h"
#include "frontend/writer.h"
#include "ir/check_op.h"
#include "support/diag/parse.h"

namespace pldc {

namespace {

constexpr std::string_view kForeignStatements[] = {"def",    "class",  "import", "from",
                                                   "lambda", "try",    "raise",  "global",
                                                   "del",    "assert", "async",  "nonlocal"};

}  // namespace

bool Reader::read_block(Block& block, std::string_view where, IfEmpty if_empty) {
  if (at(Tok::Newline)) take();
  if (!at(Tok::Indent)) {
    if (prev_end_ < file_.text().size() && file_.text()[prev_end_ > 0 ? prev_end_ - 1 : 0] == ':' &&
        !at(Tok::Dedent) && !at(Tok::End) &&
        file_.text().substr(prev_end_, tok_.begin - prev_end_).find('\n') == std::string_view::npos) {
      // `for i in pl.range(4): statement`
      block.column = lex_.block_column();
      read_statement(block);
      return true;
    }
    if (if_empty == IfEmpty::Accept) {
      saw_legacy_ = true;  // the dump dialect writes 'pass'
      return true;
    }
    if (!at(Tok::Error)) {
      diags_.report<diag::empty_block>(lex_.span(tok_.begin, std::max(tok_.end, tok_.begin + 1)), where)
          .help("write 'pass' for an empty block");
    }
    return false;
  }
  block.column = lex_.column_of(tok_.begin);
  take();
  while (!at(Tok::Dedent) && !at(Tok::End)) {
    if (diags_.full()) return false;
    read_statement(block);
  }
  drop_block_comments(block.column, tok_.begin);
  if (at(Tok::Dedent)) take();
  return true;
}

bool Reader::at_call(std::string_view leaf) {
  if (tok_.kind != Tok::Name || text(tok_) != style_.prefix) return false;
  const std::string_view after = file_.text().substr(tok_.end);
  return after.size() > leaf.size() + 1 && after.front() == '.' && after[leaf.size() + 1] == '(' &&
         after.substr(1, leaf.size()) == leaf;
}

void Reader::read_statement(Block& block) {
  if (at(Tok::Newline)) {
    take();
    return;
  }
  const Token first = tok_;
  const std::uint32_t column = block.column;
  const std::size_t scopes = scope_marks_.size();
  const bool link = block.of_else && at_word("if");
  const bool scope = block.free_scope && at_word("with");
  const DepthGuard guard(link ? links_ : scope ? scopes_ : depth_);
  const std::uint32_t blocks = std::exchange(blocks_, depth_);
  bool good = link    ? !too_many_links(span(first))
              : scope ? !too_many_scopes(span(first))
                      : !too_deep(span(first));
  if (good) {
    if (first.kind == Tok::Name) {
      const std::string_view word = text(first);
      switch (word.front()) {
        case 'i':
          good = word == "if" ? read_if(block, first) : read_simple(block, first);
          break;
        case 'f':
          good = word == "for" ? read_for(block, first) : read_simple(block, first);
          break;
        case 'w':
          good = word == "while"  ? read_while(block, first)
                 : word == "with" ? read_with(block, first)
                                  : read_simple(block, first);
          break;
        default:
          good = read_simple(block, first);
          break;
      }
    } else if (first.kind == Tok::Indent) {
      diags_.report<diag::unexpected_indent>(lex_.span(first.begin, first.begin + 1))
          .help("indent it like the statement before it");
      good = false;
      prev_end_ = first.begin;
    } else {
      good = read_simple(block, first);
    }
  }
  if (!good) {
    while (scope_marks_.size() > scopes) close_scope(true);
    if (prev_end_ < first.end) prev_end_ = std::max(first.end, first.begin);
    resync(column);
    excuse_names(first.begin, tok_.begin);
  }
  blocks_ = blocks;
}

// Names in the text of a statement that was given up count as defined: it may be what would have defined them. Constants of
// the module keep their values, unless the first word is one.
void Reader::excuse_names(std::uint32_t begin, std::uint32_t end) {
  const std::string_view all = file_.text();
  const auto part = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  for (std::uint32_t i = begin; i < end && i < all.size();) {
    std::uint32_t after = i;
    while (after < end && part(all[after])) ++after;
    const std::string_view word = all.substr(i, after - i);
    if (!word.empty() && (word[0] < '0' || word[0] > '9')) {
      const Name name = ctx_.name(word);
      const bool constant = i != begin && constants_.find(name) != constants_.end();
      if (word != style_.prefix && !constant && lookup(name) == nullptr && dynamic(name) == nullptr)
        bind(name, ctx_.var(name, ctx_.unknown()));
    }
    i = std::max(after, i + 1);
  }
}

bool Reader::end_line(Comments& comments) {
  if (at(Tok::Semicolon)) {
    diags_.report<diag::semicolon>(span(tok_)).help("write one statement a line");
    return false;
  }
  if (!at(Tok::Newline) && !at(Tok::End)) {
    unexpected("end of line after the statement");
    return false;
  }
  comments = take_comments(tok_.begin + 1);
  if (at(Tok::Newline)) {
    const std::uint32_t end = prev_end_;
    take();
    prev_end_ = end;  // a statement ends with its last token, not with its line
  }
  return true;
}

bool Reader::read_simple(Block& block, const Token& first) {
  Comments comments;
  if (first.kind == Tok::String && (peek2().kind == Tok::Newline || peek2().kind == Tok::End)) {
    docstring(take());
    if (at(Tok::Newline)) take();
    return true;
  }
  if (first.kind == Tok::Ellipsis && draft_ != nullptr) {
    take();
    if (block.stmts.empty()) draft_->f.requires_runtime_binding = true;
    if (at(Tok::Newline)) take();
    return true;
  }
  if (first.kind == Tok::Name) {
    const std::string_view word = text(first);
    if (word == "pass" && peek2().kind != Tok::Dot) {
      take();
      if (at(Tok::Newline)) {
        take();
        return true;
      }
      return at(Tok::End) || (unexpected("end of line after 'pass'"), false);
    }
    if (word == "return") return read_return(block, first);
    if (word == "break" || word == "continue") {
      take();
      if (!end_line(comments)) return false;
      if (word == "break") {
        block.stmts.push_back(ctx_.make(BreakStmt{{StmtKind::Break, span(first), comments}}));
      } else {
        block.stmts.push_back(ctx_.make(ContinueStmt{{StmtKind::Continue, span(first), comments}}));
      }
      return true;
    }
    if (word == "elif" || word == "else") {
      diags_.report<diag::stray_else>(span(first), word).help("indent it like the 'if' that it belongs to");
      return false;
    }
    for (const std::string_view python : kForeignStatements) {
      if (word == python) {
        diags_.report<diag::foreign_python>(span(first), fmt::format("'{}'", word))
            .help(
                "only assignments, calls, if, for, while, with, return, break, continue and pass may stand "
                "in a function");
        return false;
      }
    }
    const Tok second = peek2().kind;
    if (second == Tok::Colon || second == Tok::Assign) return read_assignment(block, first);
    if (second == Tok::Comma) return read_unpacking(block, first);
    if (second == Tok::AugAssign) {
      take();
      diags_.report<diag::augmented_assignment>(span(tok_), text(tok_))
          .help("write '{} = {} {} ...'", word, word, text(tok_).substr(0, text(tok_).size() - 1));
      return false;
    }
  }
  if (first.kind == Tok::LParen && !at_yield()) return read_unpacking(block, first);
  return read_expression_statement(block, first);
}

bool Reader::read_expression_statement(Block& block, const Token& first) {
  if (at_yield()) return read_yield(block, first, {});
  for (const std::string_view leaf :
       {"static_print", "static_assert", "dump_tag", "func_attr", "cond", "set_cache_policy"}) {
    if (at_call(leaf)) return read_compile_time(first, leaf);
  }
  store_target_ = true;
  const Expr* value = read_expr();
  store_target_ = false;
  if (value == nullptr) return false;
  if (at(Tok::Assign)) return store_through(block, first, value);
  if (at(Tok::Colon) || at(Tok::AugAssign)) {
    unexpected("end of line, or '=' after a name");
    return false;
  }
  Comments comments;
  const Span whole = span_from(first.begin);
  if (!end_line(comments)) return false;
  flush_hoisted(block);
  if (value->kind != ExprKind::Call && value->kind != ExprKind::Submit) {
    diags_.report<diag::useless_statement>(whole).help(
        "only a call may stand alone; assign the value to a name");
    return true;
  }
  block.stmts.push_back(ctx_.eval(value, whole, comments));
  return true;
}

// Forms that make no statement: their comments move to the next one.
bool Reader::read_compile_time(const Token& first, std::string_view leaf) {
  take();
  take();
  take();
  if (leaf == "func_attr") {
    if (!read_func_attr(draft_->attrs)) return false;
  } else if (leaf == "cond") {
    diags_.report<diag::stray_cond>(span_from(first.begin))
        .help("pl.cond(...) is the first statement of 'for (...) in pl.while_(...)'");
    return false;
  } else if (leaf == "set_cache_policy") {
    if (!read_cache_policy(first)) return false;
  } else if (leaf == "dump_tag") {
    if (!expect(Tok::LParen, "after 'pl.dump_tag'")) return false;
    const Expr* tensor = read_expr();
    accept(Tok::Comma);
    if (tensor == nullptr || !expect(Tok::RParen, "after the tensor")) return false;
    const auto* var = dyn<Var>(tensor);
    if (var == nullptr) {
      diags_.report<diag::dump_tag_operand>(tensor->span).help("assign the value to a name first");
      return false;
    }
    dump_tags_.push_back(var);
  } else {
    // The arguments may be any Python expression: skipped by their brackets.
    if (!expect(Tok::LParen, "after the name")) return false;
    int open = 1;
    while (open != 0 && !at(Tok::End)) {
      if (at(Tok::LParen) || at(Tok::LBracket) || at(Tok::LBrace)) ++open;
      if (at(Tok::RParen) || at(Tok::RBracket) || at(Tok::RBrace)) --open;
      take();
    }
  }
  if (at(Tok::Newline)) {
    take();
    return true;
  }
  return at(Tok::End) || (unexpected("end of line"), false);
}

// pl.set_cache_policy(tensor, pl.CachePolicy.NAME): an attribute of the scope it stands in.
bool Reader::read_cache_policy(const Token& first) {
  saw_dump_ = true;
  if (!expect(Tok::LParen, "after 'pl.set_cache_policy'")) return false;
  const Expr* tensor = read_expr();
  if (tensor == nullptr || !expect(Tok::Comma, "after the tensor")) return false;
  Path path;
  if (at(Tok::Name)) {
    if (!read_path(path)) return false;
    accept(Tok::Comma);
    if (!expect(Tok::RParen, "after the policy")) return false;
  }
  constexpr std::string_view head = "CachePolicy.";
  if (tensor->kind != ExprKind::Var || path.rest.substr(0, head.size()) != head) {
    diags_.report<diag::cache_policy_form>(lex_.span(first.begin, prev_end_))
        .help("write pl.set_cache_policy(tensor, pl.CachePolicy.NAME)");
    return false;
  }
  if (scope_policies_.empty()) {
    diags_.report<diag::cache_policy_place>(lex_.span(first.begin, prev_end_))
        .help("put it into the scope's body");
    return false;
  }
  scope_policies_.back()->push_back({static_cast<const Var*>(tensor), path.rest.substr(head.size())});
  return true;
}

// At a yield; formatted text may wrap it into parentheses.
bool Reader::at_yield() {
  if (at_call("yield_")) return true;
  if (!at(Tok::LParen) || peek2().kind != Tok::Name || text(peek2()) != style_.prefix) return false;
  constexpr std::string_view rest = ".yield_(";
  return file_.text().substr(peek2().end, rest.size()) == rest;
}

bool Reader::read_yield(Block& block, const Token& first, std::vector<YieldTarget> targets) {
  const bool wrapped = accept(Tok::LParen);
  take();
  take();
  take();
  if (!expect(Tok::LParen, "after 'pl.yield_'")) return false;
  std::vector<const Expr*> values;
  while (!at(Tok::RParen)) {
    const Expr* value = read_expr();
    if (value == nullptr) return false;
    values.push_back(value);
    if (!accept(Tok::Comma)) break;
  }
  if (!expect(Tok::RParen, "after the yielded values")) return false;
  if (wrapped && !expect(Tok::RParen, "after the yield")) return false;
  Comments comments;
  const Span whole = span_from(first.begin);
  if (!end_line(comments)) return false;
  flush_hoisted(block);
  if (!targets.empty() && targets.size() != values.size()) {
    diags_.report<diag::yield_count>(whole, targets.size(), values.size())
        .help("name each yielded value once");
    return true;
  }
  if (!targets.empty() && targets[0].type != nullptr) saw_annotated_ = true;
  if (targets.size() == 1 && targets[0].type == nullptr) saw_unannotated_ = true;
  block.targets = std::move(targets);
  block.has_yield = true;
  block.yielded = ctx_.list(values);
  block.stmts.push_back(ctx_.yield(block.yielded, whole, comments));
  return true;
}

bool Reader::read_return(Block& block, const Token& first) {
  take();
  std::vector<const Expr*> values;
  std::vector<Span> places;
  if (!at(Tok::Newline) && !at(Tok::End)) {
    // Formatted text wraps a long list of results into parentheses.
    const bool wrapped = at(Tok::LParen) && wraps_whole_line();
    if (wrapped) take();
    while (!at(Tok::Newline) && !at(Tok::End) && !(wrapped && at(Tok::RParen))) {
      const std::uint32_t begin = tok_.begin;
      const Expr* value = read_expr();
      if (value == nullptr) return false;
      values.push_back(value);
      places.push_back(span_from(begin));
      if (!accept(Tok::Comma)) break;
    }
    if (wrapped && !expect(Tok::RParen, "after the results")) return false;
  }
  Comments comments;
  const Span whole = span_from(first.begin);
  if (!end_line(comments)) return false;
  flush_hoisted(block);
  if (authoring_) check_results(diags_, draft_->f, ctx_.list(values), places, whole);
  block.stmts.push_back(ctx_.ret(ctx_.list(values), whole, comments));
  return true;
}

// At '(': whether its ')' is the last token of the statement and a comma stands directly inside.
bool Reader::wraps_whole_line() {
  DiagSink quiet;
  Lexer scan(file_, quiet, 100000);
  scan.seek(tok_.begin, 0);
  int open = 0;
  bool comma = false;
  for (Token t = scan.next(); t.kind != Tok::End; t = scan.next()) {
    if (t.kind == Tok::Indent) continue;
    if (t.kind == Tok::LParen || t.kind == Tok::LBracket || t.kind == Tok::LBrace) ++open;
    if (t.kind == Tok::Comma && open == 1) comma = true;
    if (t.kind == Tok::RParen || t.kind == Tok::RBracket || t.kind == Tok::RBrace) {
      if (--open == 0) {
        const Tok after = scan.next().kind;
        return comma && (after == Tok::Newline || after == Tok::End);
      }
    }
  }
  return false;
}

// --- printing
// --------------------------------------------------------------------------------------------------

void Writer::statements(Body body, std::string_view yield_names) {
  const bool top = top_level_;
  top_level_ = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (i + 1 < body.size() && is_task_placeholder(body[i], body[i + 1])) continue;
    const bool last = i + 1 == body.size();
    top_level_ = top;
    statement(body[i], last ? yield_names : std::string_view{});
    if (!last) out_ += '\n';
  }
  top_level_ = false;
}

bool Writer::is_task_placeholder(const Stmt* stmt, const Stmt* next) const {
  const auto* assign = dyn<AssignStmt>(stmt);
  const auto* scope = dyn<ScopeStmt>(next);
  if (assign == nullptr || scope == nullptr ||
      pldc::op_call(assign->value, OpId::system_task_invalid) == nullptr)
    return false;
  if (!assign->comments.empty()) return false;
  const AttrValue* task = find_attr(scope->attrs, "task_id_var");
  return task != nullptr && task->kind == AttrKind::Var && task->var() == assign->var;
}

void Writer::statement(const Stmt* s, std::string_view yield_names) {
  const bool top = top_level_;
  if (const auto* scope = dyn<ScopeStmt>(s)) {
    this->scope(*scope, yield_names);
    return;
  }
  top_level_ = false;
  comments(s->comments);
  switch (s->kind) {
    case StmtKind::Assign: {
      const auto* assign = static_cast<const AssignStmt*>(s);
      pad();
      out_ += name(assign->var);
      if (options_.style != PrintStyle::Concise) {
        out_ += ": ";
        type(assign->var->type);
      }
      out_ += " = ";
      expr(assign->value);
      if (options_.lost != nullptr && options_.dialect == Dialect::Legacy) note_lost_allocation(*assign);
      break;
    }
    case StmtKind::Eval:
      pad();
      expr(static_cast<const EvalStmt*>(s)->value);
      break;
    case StmtKind::Return: {
      const auto* ret = static_cast<const ReturnStmt*>(s);
      pad();
      out_ += "return";
      if (!ret->values.empty()) out_ += ' ';
      exprs(ret->values);
      break;
    }
    case StmtKind::Yield: {
      const auto* yield = static_cast<const YieldStmt*>(s);
      pad();
      if (top) {
        // A yield at the top level of a function prints as a return (format.md 2.2).
        out_ += "return";
        if (!yield->values.empty()) out_ += ' ';
        exprs(yield->values);
        break;
      }
      if (!yield_names.empty() && !yield->values.empty()) {
        out_ += yield_names;
        out_ += " = ";
      }
      prefix();
      out_ += "yield_(";
      exprs(yield->values);
      out_ += ')';
      break;
    }
    case StmtKind::Break:
      pad();
      out_ += "break";
      break;
    case StmtKind::Continue:
      pad();
      out_ += "continue";
      break;
    case StmtKind::If:
      if_stmt(*static_cast<const IfStmt*>(s));
      break;
    case StmtKind::For:
      for_stmt(*static_cast<const ForStmt*>(s));
      break;
    case StmtKind::While:
      while_stmt(*static_cast<const WhileStmt*>(s));
      break;
    case StmtKind::Inline: {
      const std::string_view body = static_cast<const InlineStmt*>(s)->text;
      std::size_t begin = 0;
      while (begin <= body.size()) {
        std::size_t end = body.find('\n', begin);
        if (end == std::string_view::npos) end = body.size();
        const std::string_view line = body.substr(begin, end - begin);
        if (begin != 0) out_ += '\n';
        if (!line.empty()) pad();
        out_ += line;
        begin = end + 1;
      }
      break;
    }
    case StmtKind::Scope:
      break;
  }
}

}  // namespace pldc
