#include "frontend/reader.h"

#include <algorithm>

#include "support/check.h"
#include "support/diag/lex.h"
#include "support/diag/parse.h"

namespace pldc {

Reader::Reader(const SourceFile& file, Context& context, DiagSink& diags, const ReadOptions& options)
    : file_(file),
      ctx_(context),
      diags_(diags),
      options_(options),
      lex_(file, diags, options.max_depth, options.max_depth + options.max_links + options.max_scopes) {}

Token Reader::take() {
  const Token taken = tok_;
  prev_end_ = taken.end;
  if (has_tok2_) {
    tok_ = tok2_;
    has_tok2_ = false;
  } else {
    tok_ = lex_.next();
  }
  return taken;
}

const Token& Reader::peek2() {
  if (!has_tok2_) {
    tok2_ = lex_.next();
    has_tok2_ = true;
  }
  return tok2_;
}

Tok Reader::after_name() {
  if (!has_tok2_ && tok_.end + 1 < file_.text().size()) {
    const char* next = file_.text().data() + tok_.end;
    if (*next == '.' && Lexer::begins_name(next[1])) return Tok::Dot;
    if (*next == '(') return Tok::LParen;
    if (*next == ',') return Tok::Comma;
    if (*next == ')') return Tok::RParen;
    if (*next == ']') return Tok::RBracket;
  }
  return peek2().kind;
}

bool Reader::accept_word(std::string_view word) {
  if (!at_word(word)) return false;
  take();
  return true;
}

std::string Reader::found() const {
  const bool spelled = at(Tok::Name) || at(Tok::Int) || at(Tok::Float) || at(Tok::String);
  if (!spelled) return std::string(describe(tok_.kind));
  const std::string_view t = text(tok_);
  return std::string(describe(tok_.kind)) + " '" + std::string(t.substr(0, 40)) +
         (t.size() > 40 ? "...'" : "'");
}

bool Reader::line_ended() const {
  if (at(Tok::Newline) || at(Tok::End)) return true;
  const std::string_view all = file_.text();
  const std::size_t begin = tok_.begin - file_.base();
  const auto line_of = [&](std::size_t offset) {
    const std::size_t first = offset == 0 ? std::string_view::npos : all.rfind('\n', offset - 1);
    return first == std::string_view::npos ? 0 : first + 1;
  };
  const std::size_t here = line_of(begin);
  const std::size_t before = line_of(prev_end_ - file_.base());
  if (here == before) return false;
  const auto indent = [&](std::size_t line) { return all.find_first_not_of(" \t", line) - line; };
  if (begin - here > indent(before)) return false;
  // Within brackets it may as well be the next element.
  const std::string_view rest = all.substr(begin, all.find('\n', begin) - begin);
  const std::string_view word = text(tok_);
  return at(Tok::At) || word == "return" || word == "for" || word == "if" || word == "while" ||
         word == "with" || word == "def" || word == "class" || rest.find(" = ") != std::string_view::npos;
}

void Reader::unexpected(std::string_view wanted, std::string_view to_add) {
  if (tok_.kind == Tok::Error) return;  // the lexer has reported it
  const std::uint32_t begin = tok_.begin;
  const std::uint32_t end = tok_.end > begin ? tok_.end : begin + 1;
  auto report = diags_.report<diag::unexpected_token>(lex_.span(begin, end), wanted, found());
  if (!to_add.empty()) {
    if (prev_end_ == begin)
      report.help("add '{}' here", to_add);
    else
      report.note(lex_.span(prev_end_, prev_end_ + 1), "add '{}' here", to_add);
  }
  if (!at(Tok::At)) return;
  // What begins a line is a decorator.
  const std::string_view before = file_.text().substr(0, begin - file_.base());
  const std::size_t last = before.find_last_not_of(" \t");
  if (last != std::string_view::npos && before[last] != '\n')
    report.help("the product of two matrices is pl.matmul(a, b)");
}

bool Reader::missing(Tok kind, std::string_view where) {
  std::string_view to_add;
  if ((kind == Tok::Colon || kind == Tok::RParen || kind == Tok::RBracket) && line_ended()) {
    to_add = kind == Tok::Colon ? ":" : kind == Tok::RParen ? ")" : "]";
  }
  unexpected(fmt::format("{} {}", describe(kind), where), to_add);
  return false;
}

bool Reader::expect_word(std::string_view word, std::string_view where) {
  if (accept_word(word)) return true;
  unexpected(fmt::format("'{}' {}", word, where));
  return false;
}

bool Reader::too_deep(Span where) {
  if (depth_ <= options_.max_depth) return false;
  const bool blocks = blocks_ > options_.max_depth / 2;  // makes the most of it
  diags_.report<diag::too_deep>(where, blocks ? "blocks" : "expressions", options_.max_depth);
  return true;
}

bool Reader::too_many_links(Span where) {
  if (links_ <= options_.max_links) return false;
  diags_.report<diag::too_deep>(where, "branches", options_.max_links);
  return true;
}

bool Reader::too_many_scopes(Span where) {
  if (scopes_ <= options_.max_scopes) return false;
  diags_.report<diag::too_deep>(where, "scopes", options_.max_scopes);
  return true;
}

void Reader::resync(std::uint32_t statement_column) {
  has_tok2_ = false;
  lex_.resync(prev_end_, statement_column);
  if (comment_head_ > lex_.comments().size()) comment_head_ = lex_.comments().size();
  tok_ = lex_.next();
}

bool Reader::usable_name(const Token& token) {
  constexpr std::string_view kWords[] = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  const std::string_view word = text(token);
  // All of them have two to eight letters, and no digit or underscore at their end as most names do.
  if (word.size() < 2 || word.size() > 8 || word.back() < 'a') return true;
  if (std::find(std::begin(kWords), std::end(kWords), word) == std::end(kWords)) return true;
  diags_.report<diag::python_word>(span(token), word).help("add an underscore: '{}_'", word);
  return false;
}

void Reader::bind(Name name, const Var* var) {
  if (name.id() >= scope_.size()) scope_.resize(name.id() + 64 + scope_.size() / 2, nullptr);
  if (uses_ != nullptr) note_binding(name, var);
  bound_.emplace_back(name, scope_[name.id()]);
  scope_[name.id()] = var;
}

void Reader::close_scope(bool keep_names) {
  PLDC_CHECK(!scope_marks_.empty(), "scopes are balanced");
  const std::size_t mark = scope_marks_.back();
  scope_marks_.pop_back();
  if (keep_names) return;
  while (bound_.size() > mark) {
    scope_[bound_.back().first.id()] = bound_.back().second;
    bound_.pop_back();
  }
}

void Reader::reset_scope() {
  for (const auto& [name, before] : bound_) scope_[name.id()] = nullptr;
  bound_.clear();
  scope_marks_.clear();
}

const Var* Reader::dynamic(Name name) const {
  return name.id() < dynamics_.size() ? dynamics_[name.id()] : nullptr;
}

std::vector<std::string_view> Reader::names_in_scope() const {
  std::vector<std::string_view> names;
  for (const auto& [name, before] : bound_) {
    // Names of unknown type were undefined themselves, or excused.
    const Var* var = lookup(name);
    if (var != nullptr && !is_unknown(var->type)) names.push_back(name.text());
    if (names.size() > 2000) break;  // suggestions are a courtesy, not worth a quadratic search
  }
  for (const auto& [name, value] : constants_) names.push_back(name.text());
  return names;
}

// Forms of Python that first show as an undefined name: a comprehension, whose variable stands before its
// 'for', and a string with a prefix.
bool Reader::report_foreign_form(Name name, Span where) {
  const std::string_view all = file_.text();
  const std::size_t end = where.end - file_.base();
  const bool quoted = end < all.size() && (all[end] == '"' || all[end] == '\'');
  if (quoted && name.text().find_first_not_of("bBfFrRuU") == std::string_view::npos) {
    const bool formatted = name.text().find_first_of("fF") != std::string_view::npos;
    diags_.report<diag::foreign_python>(where, formatted ? "an f-string" : "a string with a prefix")
        .help("strings are written \"...\", and their text is not evaluated");
    return true;
  }
  std::optional<Span> keyword;
  if (at_word("for")) {
    keyword = span(tok_);
  } else if (has_tok2_ && tok2_.kind == Tok::Name && text(tok2_) == "for") {
    keyword = span(tok2_);
  } else if (const Lexer::Mark mark = lex_.mark(); mark.depth != 0) {
    // Within its brackets a 'for' is part of a comprehension.
    for (Token t = lex_.next(); t.kind != Tok::End && t.kind != Tok::Newline && t.kind != Tok::Error;
         t = lex_.next()) {
      if (t.kind == Tok::Name && text(t) == "for") keyword = span(t);
      if (keyword || lex_.mark().depth == 0) break;
    }
    lex_.rewind(mark);
  }
  if (!keyword) return false;
  diags_.report<diag::foreign_python>(*keyword, "a comprehension")
      .help("write the elements out, or use a loop: 'for {} in {}.range(...):'", name.text(), style_.prefix);
  return true;
}

const Expr* Reader::undefined_name(Name name, Span where) {
  // Marks a variable without a definition, made by a defective pass (format.md 1.7, G25): the printer adds
  // the suffix again, and the verifier reports the variable.
  constexpr std::string_view suffix = "__FREE_VAR";
  const std::string_view spelled = name.text();
  if (spelled.size() > suffix.size() && spelled.substr(spelled.size() - suffix.size()) == suffix) {
    const Name hint = ctx_.name(spelled.substr(0, spelled.size() - suffix.size()));
    const Var* var = ctx_.var(hint, ctx_.unknown(), where);
    bind(name, var);
    return var;
  }
  if (refused_names_.count(name) != 0) {
    // What is wrong with its declaration was reported there.
    bind(name, ctx_.var(name, ctx_.unknown()));
    return nullptr;
  }
  if (report_foreign_form(name, where)) return nullptr;
  auto d = diags_.report<diag::undefined_name>(where, spelled);
  const std::string_view guess = closest(spelled, names_in_scope());
  if (!guess.empty()) {
    d.help("did you mean '{}'?", guess);
  } else {
    d.help(
        "assign it before this use; a name that only one branch of an 'if' or a loop body defines is not "
        "visible after it");
  }
  // Bound, so that one slip is reported once; the place is no definition.
  const Var* var = ctx_.var(name, ctx_.unknown(), Span{});
  bind(name, var);
  return nullptr;
}

const Expr* Reader::resolve_name(Name name, Span where) {
  const Expr* e = meaning_of(name, where);
  if (const auto* var = dyn<Var>(e)) {
    note_var(where, var, false);
  } else if (e != nullptr) {
    note_name(NameUse::Kind::Constant, where, name);
  }
  return e;
}

const Expr* Reader::meaning_of(Name name, Span where) {
  if (in_type_) {
    // A declared symbol wins inside types (G36) unless a parameter re-points it.
    if (const Var* symbol = dynamic(name)) {
      if (draft_ != nullptr) {
        for (const Param& param : draft_->params) {
          if (param.var->name == name && dyn<ScalarType>(param.var->type) != nullptr) return param.var;
        }
      }
      return symbol;
    }
  }
  if (const Var* var = lookup(name)) return var;
  if (const Var* symbol = dynamic(name)) return symbol;
  if (const auto constant = constants_.find(name); constant != constants_.end()) {
    foldable_ =
        constant->second->kind == ExprKind::ConstInt || constant->second->kind == ExprKind::ConstFloat;
    // A copy with this place: every occurrence has its own span.
    if (const auto* i = dyn<ConstInt>(constant->second)) return ctx_.const_int(i->value, i->dtype, where);
    if (const auto* f = dyn<ConstFloat>(constant->second)) return ctx_.const_float(f->value, f->dtype, where);
    return constant->second;
  }
  if (in_signature_) {
    if (const Var* later = signature_scalar(name)) return later;
  }
  if (in_view_) {
    // A pass may leave a caller's variable in the view of a callee's tile; any other unknown name is a
    // symbol.
    for (const auto& draft : drafts_) {
      for (const Param& param : draft->params) {
        if (param.var->name == name) return param.var;
      }
    }
    if (name.id() >= dynamics_.size()) dynamics_.resize(name.id() + 16, nullptr);
    dynamics_[name.id()] = ctx_.var(name, ctx_.scalar(DType::INDEX), where);
    return dynamics_[name.id()];
  }
  if (in_domain_header_) return forward(name, ctx_.unknown(), where);
  return undefined_name(name, where);
}

const Var* Reader::forward(Name name, const Type* type, Span where) {
  const Var*& var = forward_[name];
  if (var == nullptr) var = ctx_.var(name, type, where);
  return var;
}

const Var* Reader::assign_target(Name name, Span where, const Type* type) {
  if (!forward_.empty()) {
    if (const auto found = forward_.find(name); found != forward_.end()) {
      // The domain's header has named this variable already.
      auto* var = const_cast<Var*>(found->second);  // still being read: nobody else relies on its type
      var->type = type;
      var->span = where;
      forward_.erase(found);
      bind(name, var);
      return var;
    }
  }
  const Var* bound = lookup(name);
  // Re-assigning a plain variable keeps the variable; a loop's carry is never assigned to (format.md 2.3).
  if (bound != nullptr && !bound->is_iter_arg) {
    note_var(where, bound, true);
    if (is_unknown(bound->type))
      const_cast<Var*>(bound)->type = type;  // still being read: nobody else has seen it
    return bound;
  }
  const Var* var = ctx_.var(name, type, where);
  bind(name, var);
  return var;
}

Module parse(const SourceFile& file, Context& context, DiagSink& diags, const ReadOptions& options) {
  return Reader(file, context, diags, options).read();
}

}  // namespace pldc
