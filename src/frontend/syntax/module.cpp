// module   = [ "# pypto.program: NAME" ] imports { NAME "=" "pl.dynamic(" STRING ")" | NAME "=" constant }
//            "@pl.program" "class" NAME ":" { function }
//          | imports { ... } function
#include <algorithm>

#include "frontend/authored.h"
#include "frontend/reader.h"
#include "frontend/writer.h"
#include "ir/check_op.h"
#include "support/diag/parse.h"

namespace pldc {

Module Reader::read() {
  Module module;
  const bool header = has_program_header(file_);
  authored_class_ = !header;
  authoring_ = is_authored(file_);
  tok_ = lex_.next();
  read_imports_and_declarations();
  bool bare = false;
  if (at(Tok::End)) {
    if (!diags_.has_errors()) {
      diags_.report<diag::no_program>(lex_.span(tok_.begin, tok_.begin + 1))
          .help("a file holds one class marked @pl.program, or one function marked @pl.function");
    }
  } else {
    bare = !read_class();
  }
  for (const auto& draft : drafts_) {
    const Function* f = read_body(*draft);
    if (f != nullptr) functions_.push_back(f);
    if (diags_.full()) break;
  }
  note_functions();
  check_window_labels();
  std::sort(functions_.begin(), functions_.end(),
            [](const Function* a, const Function* b) { return a->name < b->name; });
  if (saw_pld_ && !saw_pld_import_) saw_legacy_ = true;
  style_.dialect = saw_dump_ || !saw_legacy_ ? Dialect::Dump : Dialect::Legacy;
  if (header && saw_unannotated_ && !saw_annotated_) style_.style = PrintStyle::Concise;
  if (saw_explicit_) style_.style = PrintStyle::Explicit;
  module.style = style_;
  module.bare_function = bare;
  if (!diags_.has_errors()) {
    const Program* program = ctx_.make(Program{program_name_, ctx_.list(functions_)});
    const bool good = !authoring_ || (check_host_ops(diags_, program) && check_windows(diags_, program));
    if (good) module.program = program;
  }
  return module;
}

void Reader::read_imports_and_declarations() {
  for (;;) {
    if (at(Tok::Newline)) {
      take();
      continue;
    }
    if (at(Tok::String)) {  // a module's docstring says nothing about the program
      take();
      continue;
    }
    if (at_word("import") || at_word("from")) {
      const bool from = at_word("from");
      const Token first = take();
      std::string imported;
      const auto dotted = [&] {
        std::string path;
        while (at(Tok::Name) || at(Tok::Dot)) {
          if (at_word("import") || at_word("as")) break;
          path += text(take());
        }
        return path;
      };
      std::string module = dotted();
      if (from && accept_word("import")) module += "." + dotted();
      std::string_view alias;
      if (accept_word("as")) alias = at(Tok::Name) ? text(take()) : std::string_view{};
      if (module == "pypto.language" && !alias.empty()) {
        style_.prefix = std::string(alias);
        if (alias == "pld" || alias == "self") {
          diags_.report<diag::bad_prefix>(span_from(first.begin), alias);
          style_.prefix = "pl";
        }
      } else if (module == "pypto.language.distributed") {
        saw_pld_import_ = saw_dump_ = true;
        if (!authoring_ && alias != "pld") diags_.report<diag::bad_prefix>(span_from(first.begin), alias);
      } else if (module.substr(0, 5) != "pypto" && module != "__future__.annotations") {
        diags_.report<diag::foreign_import>(span_from(first.begin), module)
            .help(
                "a program uses 'import pypto.language as pl' and 'import pypto.language.distributed as pld' "
                "only");
      }
      if (!at(Tok::Newline) && !at(Tok::End)) {
        unexpected("end of line after the import");
        resync(0);
      }
      continue;
    }
    if (at(Tok::Name) && peek2().kind == Tok::Assign) {
      const Token name_token = tok_;
      const Name name = ctx_.name(text(name_token));
      take();
      take();
      if (!read_constant(name, span(name_token))) {
        refused_names_.insert(name);
        resync(0);
      } else if (!at(Tok::Newline) && !at(Tok::End)) {
        unexpected("end of line after the constant");
        resync(0);
      }
      continue;
    }
    if (at(Tok::At) || at(Tok::End)) return;
    const std::uint32_t begin = tok_.begin;
    if (at_word("class")) {
      diags_.report<diag::foreign_python>(span(tok_), "a class that is not marked")
          .help("add '@pl.program' above");
    } else if (!at(Tok::Error)) {
      diags_.report<diag::foreign_python>(lex_.span(begin, std::max(tok_.end, begin + 1)), found())
          .help(
              "a file holds imports, constants (NAME = 3), symbols (NAME = pl.dynamic(\"NAME\")) and one "
              "@pl.program "
              "class; other Python is not read");
    }
    take();
    resync(0);
  }
}

// NAME = pl.dynamic("s") | integer | float | list | pl.DTYPE
bool Reader::read_constant(Name name, Span where) {
  const std::uint32_t begin = tok_.begin;
  if (at(Tok::LParen) && peek2().kind == Tok::Name && text(peek2()) == style_.prefix) {
    take();  // formatted text may wrap the value
    return read_constant(name, where) && expect(Tok::RParen, "after the constant");
  }
  if (at(Tok::Name) && text(tok_) == style_.prefix && peek2().kind == Tok::Dot) {
    Path path;
    if (!read_path(path)) return false;
    if (path.rest == "dynamic") {
      std::string_view hint;
      if (!expect(Tok::LParen, "after 'pl.dynamic'") || !read_plain_string(hint, "naming the symbol") ||
          !expect(Tok::RParen, "after the symbol's name")) {
        return false;
      }
      if (name.id() >= dynamics_.size()) dynamics_.resize(name.id() + 16, nullptr);
      dynamics_[name.id()] = ctx_.var(ctx_.name(hint), ctx_.scalar(DType::INDEX), span_from(begin));
      note_var(where, dynamics_[name.id()], true);
      return true;
    }
    if (const auto dtype = parse_enum<DType>(path.rest)) {
      dtype_constants_[name] = *dtype;
      note_name(NameUse::Kind::Constant, where, name, true);
      return true;
    }
    diags_.report<diag::bad_constant>(path.span, name.text())
        .help("a module constant is a number, a list of numbers, a dtype or {}.dynamic(\"NAME\")",
              style_.prefix);
    return false;
  }
  const bool authoring = authoring_;
  authoring_ = true;  // constants fold
  const Expr* value = read_expr();
  authoring_ = authoring;
  if (value == nullptr) return false;
  const bool list_of_constants = value->kind == ExprKind::MakeTuple;
  if (value->kind != ExprKind::ConstInt && value->kind != ExprKind::ConstFloat &&
      value->kind != ExprKind::ConstBool && !list_of_constants) {
    diags_.report<diag::bad_constant>(value->span, name.text())
        .help("a module constant is a number, a list of numbers, a dtype or pl.dynamic(\"NAME\")");
    return false;
  }
  constants_[name] = value;
  note_name(NameUse::Kind::Constant, where, name, true);
  return true;
}

// False: the file holds a bare function.
bool Reader::read_class() {
  const Token at_sign = tok_;
  if (peek2().kind == Tok::Name && lex_.text(peek2()) == style_.prefix) {
    Path path;
    take();
    if (!read_path(path)) return true;
    if (path.rest == "function") {
      // Back to the '@': signatures begin with it.
      has_tok2_ = false;
      lex_.seek(at_sign.begin, 0);
      comment_head_ = 0;
      tok_ = lex_.next();
      while (at(Tok::At)) {
        if (!read_signature(0, false)) break;
        while (at(Tok::Newline)) take();
      }
      if (!at(Tok::End) && !diags_.has_errors()) unexpected("end of file after the function");
      if (drafts_.size() > 1) {
        diags_.report<diag::several_bare_functions>(drafts_[1]->f.name_span);
      }
      return false;
    }
    if (path.rest != "program") {
      diags_.report<diag::unknown_decorator>(path.span, path.rest);
    } else if (accept(Tok::LParen)) {
      while (!at(Tok::RParen) && !at(Tok::End) && !at(Tok::Newline)) take();
      expect(Tok::RParen, "after the program's options");
    }
  } else {
    take();
    unexpected("'pl.program' or 'pl.function' after '@'");
  }
  while (at(Tok::Newline)) take();
  if (!expect_word("class", "after @pl.program")) return true;
  Token class_name{};
  if (at(Tok::Name)) {
    class_name = take();
    if (!usable_name(class_name)) return true;
    program_name_ = ctx_.name(text(class_name));
    if (uses_ != nullptr) {
      uses_->program = program_name_;
      uses_->program_name = span(class_name);
      uses_->program_place = lex_.span(at_sign.begin, static_cast<std::uint32_t>(file_.text().size()));
    }
  } else {
    unexpected("the program's name");
    return true;
  }
  if (accept(Tok::LParen) && !accept(Tok::RParen)) {
    if (!at(Tok::Error))
      diags_.report<diag::foreign_python>(span(tok_), "a base class")
          .help("write 'class {}:'", text(class_name));
    while (!at(Tok::Colon) && !at(Tok::Newline) && !at(Tok::End)) take();
  }
  if (!expect(Tok::Colon, "after the class name")) return true;
  const auto too_many = [&] { return diags_.full(); };
  if (at(Tok::Newline)) take();
  if (!accept(Tok::Indent)) {
    // A program without functions prints as its class line alone (G9); a person has forgotten the body.
    if (!at(Tok::End)) {
      unexpected("an indented body of the class");
    } else if (authored_class_) {
      diags_.report<diag::empty_block>(span(class_name), "class")
          .help("write the program's functions below it, indented and marked @{}.function", style_.prefix);
    }
    return true;
  }
  while (!at(Tok::Dedent) && !at(Tok::End) && !too_many()) {
    if (at(Tok::Newline)) {
      take();
    } else if (at(Tok::String)) {
      take();  // docstring of the class
    } else if (at(Tok::At)) {
      const std::uint32_t column = lex_.column_of(tok_.begin);
      if (!read_signature(column, true)) {
        resync(column);
        if (at_word("def")) {  // its decorator was wrong: one error is enough
          take();
          if (at(Tok::Name)) refused_names_.insert(ctx_.name(text(tok_)));
          resync(column);
        }
      }
    } else if (at_word("pass") || at(Tok::Ellipsis)) {
      take();
    } else if (at(Tok::Indent)) {
      take();
    } else {
      if (!at(Tok::Error)) {
        diags_
            .report<diag::foreign_python>(lex_.span(tok_.begin, std::max(tok_.end, tok_.begin + 1)), found())
            .help("the class holds functions marked @pl.function only");
      }
      const std::uint32_t column = lex_.column_of(tok_.begin);
      take();
      resync(column);
    }
  }
  if (at(Tok::Dedent)) take();
  while (at(Tok::Newline)) take();
  if (!at(Tok::End) && !too_many()) {
    if (!at(Tok::Error)) {
      diags_.report<diag::foreign_python>(lex_.span(tok_.begin, std::max(tok_.end, tok_.begin + 1)), found())
          .help("nothing may follow the program class");
    }
  }
  return true;
}

// --- printing
// --------------------------------------------------------------------------------------------------

namespace {

// Functions in the order of their text: callees before callers, in name order; plain name order if there is a
// cycle.
std::vector<const Function*> print_order(const Program& program) {
  std::unordered_map<Name, std::size_t> index;
  for (std::size_t i = 0; i < program.functions.size(); ++i) index[program.functions[i]->name] = i;
  std::vector<std::vector<std::size_t>> callees(program.functions.size());
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    std::vector<std::size_t>& mine = callees[i];
    const auto add = [&](Name name) {
      if (const auto found = index.find(name); found != index.end()) mine.push_back(found->second);
    };
    walk_stmts(program.functions[i]->body, [&](const Stmt* s) {
      for_each_expr(s, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          if (const auto* call = dyn<Call>(e)) {
            if (!call->is_op()) add(call->function);
          } else if (const auto* submit = dyn<Submit>(e)) {
            add(submit->function);
          }
        });
      });
    });
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  }
  enum class State : std::uint8_t { New, Open, Done };
  std::vector<State> state(callees.size(), State::New);
  std::vector<const Function*> order;
  bool cycle = false;
  // An explicit stack: call chains may be long.
  std::vector<std::pair<std::size_t, std::size_t>> stack;
  for (std::size_t root = 0; root < callees.size() && !cycle; ++root) {
    if (state[root] != State::New) continue;
    state[root] = State::Open;
    stack.emplace_back(root, 0);
    while (!stack.empty() && !cycle) {
      auto& [at, position] = stack.back();
      if (position < callees[at].size()) {
        const std::size_t callee = callees[at][position++];
        if (state[callee] == State::Open) cycle = true;
        if (state[callee] == State::New) {
          state[callee] = State::Open;
          stack.emplace_back(callee, 0);
        }
      } else {
        state[at] = State::Done;
        order.push_back(program.functions[at]);
        stack.pop_back();
      }
    }
  }
  if (cycle) return {program.functions.begin(), program.functions.end()};
  return order;
}

}  // namespace

void Writer::marked_function(const Function& f) {
  if (options_.function_begins != nullptr) options_.function_begins->push_back(out_.size());
  function(f);
}

void Writer::module(const Module& module) {
  const Program& program = *module.program;
  collect_dynamics(program);
  if (module.bare_function) {
    for (const Function* f : program.functions) marked_function(*f);
    return;
  }
  const std::string_view name = program.name.empty() ? std::string_view("Program") : program.name.text();
  out_ += "# pypto.program: ";
  out_ += name;
  if (options_.prefix == "pl") {
    out_ += "\nimport pypto.language as pl\n";
  } else {
    out_ += "\nfrom pypto import language as ";
    out_ += options_.prefix;
    out_ += '\n';
  }
  const std::size_t imports_at = out_.size();
  out_ += '\n';
  const std::size_t body_at = out_.size();
  for (const auto& [symbol, printed] : dynamics_) {
    out_ += printed;
    out_ += " = ";
    prefix();
    out_ += "dynamic(\"";
    out_ += printed;
    out_ += "\")\n";
  }
  if (!dynamics_.empty()) out_ += '\n';
  out_ += '@';
  prefix();
  out_ += "program\nclass ";
  out_ += name;
  out_ += ":\n";
  indent_ = 1;
  bool first = true;
  for (const Function* f : print_order(program)) {
    if (options_.keep != nullptr && !options_.keep(*f, options_.keep_user)) continue;
    if (!first) out_ += '\n';
    first = false;
    marked_function(*f);
  }
  if (options_.dialect == Dialect::Dump) {
    // A plain substring test on what was printed, as the reference has it.
    if (out_.view().find("pld.", body_at) != std::string::npos) {
      constexpr std::string_view kImport = "import pypto.language.distributed as pld\n";
      out_.insert(imports_at, kImport);
      if (options_.function_begins != nullptr) {
        for (std::size_t& begin : *options_.function_begins) begin += kImport.size();
      }
    }
  }
}

}  // namespace pldc
