// for   = "for" NAME [ "," "(" names ")" ] "in" "pl." kind "(" bounds [ "," "stage=" int ]
//         [ "," "init_values=(" exprs ")" ] [ "," "attrs={...}" ] ")" ":" body
// while = "while" expr ":" body
//       | "for" "(" names ")" "in" "pl.while_(init_values=(" exprs "))" ":" "pl.cond(" expr ")" body
#include "frontend/reader.h"
#include "frontend/writer.h"
#include "ir/auto_name.h"
#include "support/check.h"
#include "support/diag/parse.h"

namespace pldc {

void Reader::propagate_yield(Block& outer, const Block& inner) {
  if (!inner.has_yield) return;
  outer.targets = inner.targets;
  outer.yielded = inner.yielded;
  outer.has_yield = true;
}

bool Reader::read_iter_names(std::vector<Token>& names) {
  if (!expect(Tok::LParen, "before the names of the carries")) return false;
  while (at(Tok::Name)) {
    names.push_back(take());
    if (!usable_name(names.back())) return false;
    if (!accept(Tok::Comma)) break;
  }
  return expect(Tok::RParen, "after the names of the carries");
}

bool Reader::read_init_values(std::vector<const Expr*>& values) {
  const bool list = at(Tok::LBracket);
  if (!list && !at(Tok::LParen)) {
    unexpected("'(' before the initial values");
    return false;
  }
  take();
  const Tok close = list ? Tok::RBracket : Tok::RParen;
  while (!at(close)) {
    const Expr* value = read_expr();
    if (value == nullptr) return false;
    values.push_back(value);
    if (!accept(Tok::Comma)) break;
  }
  return expect(close, "after the initial values");
}

List<IterArg> Reader::make_carries(const std::vector<Token>& names, const std::vector<const Expr*>& inits,
                                   Span where) {
  std::vector<IterArg> args;
  if (names.size() != inits.size()) {
    diags_.report<diag::carry_count>(where, names.size(), inits.size())
        .help("give one initial value for each carried name");
  }
  for (std::size_t i = 0; i < names.size() && i < inits.size(); ++i) {
    const Var* var = ctx_.var(ctx_.name(text(names[i])), inits[i]->type, span(names[i]), true);
    bind(var->name, var);
    args.push_back({var, inits[i]});
  }
  return ctx_.list(args);
}

List<const Var*> Reader::make_results(const Block& body, List<IterArg> args, Span where) {
  std::vector<const Var*> results;
  if (body.has_yield && body.targets.empty() && !args.empty()) {
    if (authoring_) {
      diags_.report<diag::bare_yield>(where).help(
          "write 'name = pl.yield_(value)': the name is the loop's result");
      return {};
    }
    // A carry's yield inside a manual scope prints without the names of the results (passes.md 2.16): the
    // result of the carry b__iter_vN is b__rv_v(N+1), if anything uses it.
    for (const IterArg& arg : args) {
      const std::string_view carry = arg.var->name.text();
      const std::uint32_t version = parse_auto_name(carry).version.value_or(0) + 1;
      results.push_back(
          ctx_.var(ctx_.name(rename_auto_name(carry, NameRole::Rv, version)), arg.var->type, where));
    }
  } else if (body.targets.empty()) {
    for (const IterArg& arg : args) {
      results.push_back(
          ctx_.var(ctx_.name(std::string(arg.var->name.text()) + "_out"), arg.var->type, arg.var->span));
    }
  } else {
    for (std::size_t i = 0; i < body.targets.size(); ++i) {
      const YieldTarget& t = body.targets[i];
      const Type* type = t.type != nullptr ? t.type : i < args.size() ? args[i].var->type : ctx_.unknown();
      results.push_back(ctx_.var(t.name, type, t.span));
    }
    if (results.size() != args.size()) {
      diags_.report<diag::carry_yield_count>(where, args.size(), results.size())
          .help("yield one value for each carried name, in their order");
    }
  }
  return ctx_.list(results);
}

// NAME | NAME "," carries | carries, where carries = "(" NAME { "," NAME } ")". Formatted text may wrap the whole into
// parentheses, and writes the carries of a while loop without theirs.
bool Reader::read_loop_target(LoopTarget& target) {
  const bool wrapped = accept(Tok::LParen);
  bool comma = false;
  while (at(Tok::Name) || (at(Tok::LParen) && !target.names.empty())) {
    if (at(Tok::LParen)) {
      target.nested = true;
      if (!read_iter_names(target.carries)) return false;
    } else {
      target.names.push_back(take());
      if (!usable_name(target.names.back())) return false;
    }
    comma = accept(Tok::Comma);
    if (!comma) break;
  }
  if (target.names.empty()) {
    unexpected("the loop variable after 'for'");
    return false;
  }
  if (wrapped && !expect(Tok::RParen, "after the names of the loop")) return false;
  if (wrapped && !comma && target.names.size() == 1 && accept(Tok::Comma)) {  // for (i), (a,) in ...
    target.nested = true;
    if (!read_iter_names(target.carries)) return false;
  }
  return true;
}

bool Reader::read_for(Block& block, const Token& first) {
  take();  // for
  LoopTarget target;
  if (!read_loop_target(target)) return false;
  if (!expect_word("in", "after the loop variable")) return false;
  if (!at(Tok::Name)) {
    unexpected("'pl.range(...)' or another loop form");
    return false;
  }
  Path path;
  if (!read_path(path)) return false;
  const Token& name = target.names.front();
  const auto kind = parse_enum<ForKind>(path.rest);
  const bool ranged = path.rest == "spmd" || path.rest == "split_aiv" || kind;
  if (path.head == style_.prefix && (ranged || path.rest == "while_")) {
    if (ranged && target.names.size() > 1) {
      diags_.report<diag::unexpected_token>(span(target.names[1]), "'(' before the names of the carries",
                                            fmt::format("name '{}'", text(target.names[1])));
      return false;
    }
    if (path.rest == "while_" && target.nested) {
      diags_.report<diag::unexpected_token>(span(name), "'(' before the names of the carries",
                                            fmt::format("name '{}'", text(name)));
      return false;
    }
    if (path.rest == "while_") return read_while_carry(block, first, target.names);
    if (path.rest == "spmd") return read_spmd(block, first, &name, path);
    if (path.rest == "split_aiv") return read_split_aiv(block, first, name, path);
    return read_range(block, first, name, target.carries, *kind);
  }
  diags_.report<diag::unknown_loop>(path.span, file_.text().substr(path.begin, prev_end_ - path.begin))
      .help(
          "loops run over {0}.range, {0}.parallel, {0}.unroll, {0}.pipeline, {0}.while_, {0}.spmd or "
          "{0}.split_aiv",
          style_.prefix);
  return false;
}

bool Reader::read_loop_attrs(std::vector<Attr>& attrs) {
  const std::uint32_t begin = tok_.begin;
  if (!read_attr_dict(attrs, false)) return false;
  for (const Attr& attr : attrs) {
    const AttrKind kind = attr.value.kind;
    if (kind == AttrKind::Int || kind == AttrKind::Bool || kind == AttrKind::Float ||
        kind == AttrKind::String)
      continue;
    diags_.report<diag::loop_attr_kind>(span_from(begin), attr.key.text())
        .help("a loop attribute is a number, True, False or a string");
    return false;
  }
  return true;
}

bool Reader::read_range(Block& block, const Token& first, const Token& name,
                        const std::vector<Token>& carry_names, ForKind kind) {
  if (!expect(Tok::LParen, "after the loop form")) return false;
  ForStmt n{};
  n.kind = StmtKind::For;
  n.for_kind = kind;
  std::vector<const Expr*> bounds;
  std::vector<const Expr*> inits;
  std::vector<Attr> attrs;
  bool has_stage = false;
  const std::uint32_t bounds_begin = tok_.begin;
  while (!at(Tok::RParen)) {
    if (at(Tok::Name) && peek2().kind == Tok::Assign) {
      const Token key_token = take();
      const std::string_view key = text(key_token);
      take();
      if (key == "init_values") {
        if (!read_init_values(inits)) return false;
      } else if (key == "stage") {
        std::int64_t stages = 0;
        if (!read_int(stages, "for stage=")) return false;
        attrs.insert(attrs.begin(), {ctx_.name("pipeline_stages"), AttrValue::of_int(stages)});
        has_stage = true;
      } else if (key == "attrs") {
        if (!read_loop_attrs(attrs)) return false;
      } else {
        diags_.report<diag::unknown_form_option>(span(key_token), key, "the loop",
                                                 "stage, init_values, attrs");
        return false;
      }
    } else {
      const Expr* bound = read_expr();
      if (bound == nullptr) return false;
      bounds.push_back(bound);
    }
    if (!accept(Tok::Comma)) break;
  }
  if (!expect(Tok::RParen, "after the loop's bounds")) return false;
  if (bounds.empty() || bounds.size() > 3) {
    diags_.report<diag::bound_count>(span_from(bounds_begin), bounds.size())
        .help("write (stop), (start, stop) or (start, stop, step)");
    return false;
  }
  if (kind == ForKind::Pipeline && !has_stage) {
    diags_.report<diag::pipeline_stage>(span_from(first.begin)).help("write pl.pipeline(..., stage=2)");
  }
  if (kind == ForKind::Unroll && !inits.empty()) {
    diags_.report<diag::unroll_carry>(span_from(first.begin))
        .help("unrolled loops carry nothing: assign to a variable of the enclosing block, or use pl.range");
  }
  flush_hoisted(block);
  n.stop = bounds.size() == 1 ? bounds[0] : bounds[1];
  n.start = bounds.size() == 1 ? ctx_.const_int(0, DType::INDEX) : bounds[0];
  n.step = bounds.size() == 3 ? bounds[2] : ctx_.const_int(1, DType::INDEX);
  // INDEX, unless no written bound is INDEX and a constant one says otherwise (format.md 2.5).
  DType dtype = DType::INDEX;
  bool any_index = false;
  std::optional<DType> constant;
  for (const Expr* bound : bounds) {
    const auto bound_dtype = scalar_dtype(bound->type);
    if (bound_dtype == DType::INDEX) any_index = true;
    if (bound->kind == ExprKind::ConstInt && bound_dtype && *bound_dtype != DType::INDEX && !constant)
      constant = bound_dtype;
  }
  if (!any_index && constant) dtype = *constant;
  if (!expect(Tok::Colon, "after the loop's header")) return false;
  if (at(Tok::Newline)) take();
  n.comments = take_header_comments();
  open_scope();
  n.loop_var = ctx_.var(ctx_.name(text(name)), ctx_.scalar(dtype), span(name));
  bind(n.loop_var->name, n.loop_var);
  n.iter_args = make_carries(carry_names, inits, span_from(first.begin));
  Block body;
  body.free_scope = true;
  if (!read_block(body, "for")) return false;
  close_scope(!authoring_ || inits.empty());
  n.return_vars = make_results(body, n.iter_args, span_from(first.begin));
  for (const Var* v : n.return_vars) bind(v->name, v);
  n.body = ctx_.list(body.stmts);
  n.attrs = ctx_.list(attrs);
  n.span = span_from(first.begin);
  block.stmts.push_back(ctx_.make(n));
  return true;
}

bool Reader::read_while(Block& block, const Token& first) {
  take();
  const Expr* condition = read_expr();
  if (condition == nullptr || !expect(Tok::Colon, "after the condition")) return false;
  if (at(Tok::Newline)) take();
  WhileStmt n{};
  n.kind = StmtKind::While;
  n.comments = take_header_comments();
  n.condition = condition;
  flush_hoisted(block);
  Block body;
  body.free_scope = true;
  open_scope();
  if (!read_block(body, "while")) return false;
  close_scope(true);
  n.body = ctx_.list(body.stmts);
  n.span = span_from(first.begin);
  block.stmts.push_back(ctx_.make(n));
  return true;
}

bool Reader::read_while_carry(Block& block, const Token& first, const std::vector<Token>& names) {
  std::vector<const Expr*> inits;
  if (!expect(Tok::LParen, "after 'pl.while_'") || !expect_word("init_values", "in 'pl.while_'") ||
      !expect(Tok::Assign, "after 'init_values'") || !read_init_values(inits)) {
    return false;
  }
  accept(Tok::Comma);
  if (!expect(Tok::RParen, "after the initial values") || !expect(Tok::Colon, "after the loop's header"))
    return false;
  if (at(Tok::Newline)) take();
  WhileStmt n{};
  n.kind = StmtKind::While;
  n.comments = take_header_comments();
  flush_hoisted(block);
  open_scope();
  n.iter_args = make_carries(names, inits, span_from(first.begin));
  if (!at(Tok::Indent)) {
    unexpected("an indented body that begins with 'pl.cond(...)'");
    return false;
  }
  Block body;
  body.free_scope = true;
  body.column = lex_.column_of(tok_.begin);
  take();
  if (!at_call("cond")) {
    diags_.report<diag::missing_cond>(lex_.span(tok_.begin, std::max(tok_.end, tok_.begin + 1)))
        .help("the first statement of a 'pl.while_' loop is 'pl.cond(condition)'");
    return false;
  }
  take();
  take();
  take();
  if (!expect(Tok::LParen, "after 'pl.cond'")) return false;
  n.condition = read_expr();
  accept(Tok::Comma);
  if (n.condition == nullptr || !expect(Tok::RParen, "after the condition")) return false;
  Comments dropped;
  if (!end_line(dropped)) return false;
  while (!at(Tok::Dedent) && !at(Tok::End)) {
    if (diags_.full()) return false;
    read_statement(body);
  }
  drop_block_comments(body.column, tok_.begin);
  if (at(Tok::Dedent)) take();
  close_scope(!authoring_);
  n.return_vars = make_results(body, n.iter_args, span_from(first.begin));
  for (const Var* v : n.return_vars) bind(v->name, v);
  n.body = ctx_.list(body.stmts);
  n.span = span_from(first.begin);
  block.stmts.push_back(ctx_.make(n));
  return true;
}

// --- printing
// --------------------------------------------------------------------------------------------------

// The left side of the yield that ends a body with these results.
std::string Writer::yield_names(List<const Var*> results) {
  std::string names;
  if (results.size() == 1) {
    names = name(results[0]);
    if (options_.style != PrintStyle::Concise) {
      names += ": ";
      // Types are written to the output; a yield's left side is short enough to move.
      const std::size_t mark = out_.size();
      passing_ = true;
      type(results[0]->type);
      passing_ = false;
      names += out_.view().substr(mark);
      out_.shorten(mark);
    }
    return names;
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i != 0) names += ", ";
    names += name(results[i]);
  }
  return names;
}

// What make_results finds again where the left side of the yield is not printed.
bool Writer::follow_from_carries(List<const Var*> results, List<IterArg> carries) const {
  if (results.size() != carries.size()) return false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string_view carry = name(carries[i].var);
    const std::uint32_t version = parse_auto_name(carry).version.value_or(0) + 1;
    if (name(results[i]) != rename_auto_name(carry, NameRole::Rv, version)) return false;
  }
  return true;
}

void Writer::body(Body list, List<const Var*> results, List<IterArg> carries) {
  const bool outer_follow = std::exchange(names_follow_, follow_from_carries(results, carries));
  ++indent_;
  if (list.empty()) {
    pad();
    out_ += "pass";
  } else if (list.size() == 1 && dyn_scope(list[0], ScopeKind::Runtime) != nullptr &&
             static_cast<const ScopeStmt*>(list[0])->body.empty() &&
             !static_cast<const ScopeStmt*>(list[0])->manual) {
    // An empty AUTO scope that is the whole body prints like an empty body below its header
    // (format.md 2.7.4).
    scope(*static_cast<const ScopeStmt*>(list[0]), {}, true);
  } else {
    statements(list, results.empty() ? std::string_view{} : std::string_view(yield_names(results)));
  }
  --indent_;
  names_follow_ = outer_follow;
}

void Writer::init_values(List<IterArg> args) {
  out_ += "init_values=(";
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i != 0) out_ += ", ";
    expr(args[i].init);
  }
  out_ += args.size() == 1 ? ",)" : ")";
}

void Writer::iter_names(List<IterArg> args) {
  out_ += '(';
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i != 0) out_ += ", ";
    out_ += name(args[i].var);
  }
  out_ += args.size() == 1 ? ",)" : ")";
}

void Writer::for_stmt(const ForStmt& s) {
  pad();
  out_ += "for ";
  out_ += name(s.loop_var);
  PLDC_CHECK(s.iter_args.empty() || s.for_kind != ForKind::Unroll, "unrolled loops carry no values (G17)");
  if (!s.iter_args.empty()) {
    out_ += ", ";
    iter_names(s.iter_args);
  }
  out_ += " in ";
  prefix();
  out_ += name_of(s.for_kind);
  out_ += '(';
  const auto is_index = [](const Expr* e, std::int64_t value) {
    const auto* c = dyn<ConstInt>(e);
    return c != nullptr && c->value == value && c->dtype == DType::INDEX;
  };
  const bool unit_step = is_index(s.step, 1);
  if (!(is_index(s.start, 0) && unit_step)) {
    expr(s.start);
    out_ += ", ";
  }
  expr(s.stop);
  if (!unit_step) {
    out_ += ", ";
    expr(s.step);
  }
  const AttrValue* stages = s.for_kind == ForKind::Pipeline ? find_attr(s.attrs, "pipeline_stages") : nullptr;
  if (stages != nullptr) {
    out_ += ", stage=";
    integer(stages->integer);
  }
  if (!s.iter_args.empty()) {
    out_ += ", ";
    init_values(s.iter_args);
  }
  bool open = false;
  for (const Attr& attr : s.attrs) {
    if (&attr.value == stages) continue;
    out_ += open ? ", " : ", attrs={";
    open = true;
    quoted(attr.key.text());
    out_ += ": ";
    attr_value(attr.value);
  }
  if (open) out_ += '}';
  out_ += "):\n";
  body(s.body, s.return_vars, s.iter_args);
}

void Writer::while_stmt(const WhileStmt& s) {
  pad();
  if (s.iter_args.empty()) {
    out_ += "while ";
    expr(s.condition);
    out_ += ":\n";
    body(s.body, s.return_vars);
    return;
  }
  out_ += "for ";
  iter_names(s.iter_args);
  out_ += " in ";
  prefix();
  out_ += "while_(";
  init_values(s.iter_args);
  out_ += "):\n";
  ++indent_;
  pad();
  prefix();
  out_ += "cond(";
  expr(s.condition);
  out_ += ")\n";
  --indent_;
  body(s.body, s.return_vars, s.iter_args);
}

}  // namespace pldc
