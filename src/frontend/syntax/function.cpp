// function = "@pl.function" [ "(" option { "," option } ")" ]
//            "def" NAME "(" [ "self" ] params ")" [ "->" types ] ":" [ "pl.func_attr({...})" ] body
#include "frontend/duplicate.h"
#include "frontend/reader.h"
#include "frontend/reader_enum.h"
#include "frontend/writer.h"
#include "support/diag/parse.h"

namespace pldc {

bool Reader::read_signature(std::uint32_t column, bool method) {
  auto draft = std::make_unique<Draft>();
  draft->column = column;
  draft_ = draft.get();
  reset_scope();
  early_scalars_.clear();
  scanned_signature_ = false;
  const std::uint32_t begin = tok_.begin;
  take();  // '@'
  if (!read_decorator(*draft)) return false;
  while (at(Tok::Newline)) take();
  if (!expect_word("def", "after the decorator")) return false;
  if (!at(Tok::Name)) {
    unexpected("the function's name");
    return false;
  }
  const Token name = take();
  if (!usable_name(name)) return false;
  Function& f = draft->f;
  f.name = ctx_.name(text(name));
  f.name_span = span(name);
  refused_names_.insert(f.name);  // until the whole signature is read
  if (!expect(Tok::LParen, "after the function's name")) return false;
  in_signature_ = true;
  const bool good = read_params(*draft, method) && read_return_types(f);
  in_signature_ = false;
  if (!good || !expect(Tok::Colon, "after the signature")) return false;
  refused_names_.erase(f.name);
  f.span = span_from(begin);
  const LevelRole implied = implied_level_role(f.func_type);
  if ((implied.level && f.level && *implied.level != *f.level) ||
      (implied.role && f.role && *implied.role != *f.role)) {
    diags_
        .report<diag::level_mismatch>(f.name_span, name_of(f.func_type), name_of(*implied.level),
                                      name_of(*implied.role))
        .help("leave level= and role= out: type= implies them");
  }
  if (implied.level) f.level = implied.level;
  if (implied.role) f.role = implied.role;
  if (const auto found = draft_by_name_.find(f.name); found != draft_by_name_.end()) {
    diags_.report<diag::duplicate_function>(f.name_span, f.name.text())
        .note(found->second->f.name_span, "the first one is here");
  } else {
    draft_by_name_[f.name] = draft.get();
  }
  if (at(Tok::Newline) && !has_tok2_) {
    // Skip the body by its indentation; it is read when all signatures are known.
    const std::uint32_t line_end = tok_.end;
    std::uint32_t at_line = line_end;
    const std::string_view all = file_.text();
    while (at_line < all.size() && all[at_line] != '\n') ++at_line;
    if (at_line < all.size()) ++at_line;
    draft->body_begin = at_line;
    lex_.take_block(column);
    comment_head_ = lex_.comments().size();
    tok_ = lex_.next();
  } else if (accept(Tok::Ellipsis) || accept_word("pass")) {
    // `def f(...): ...` on one line
    f.requires_runtime_binding = true;
    draft->body_begin = 0;
  } else {
    unexpected("a new line after ':'");
    return false;
  }
  drafts_.push_back(std::move(draft));
  draft_ = nullptr;
  return true;
}

bool Reader::read_decorator(Draft& draft) {
  Function& f = draft.f;
  Path path;
  if (!at(Tok::Name) || !read_path(path)) {
    if (!at(Tok::Name)) unexpected("'pl.function'");
    return false;
  }
  if (path.head != style_.prefix || path.rest != "function") {
    diags_.report<diag::unknown_decorator>(path.span, path.rest.empty() ? path.head : path.rest)
        .help("functions are marked @{}.function(...)", style_.prefix);
    return false;
  }
  if (!accept(Tok::LParen)) return true;
  while (!at(Tok::RParen)) {
    if (!at(Tok::Name)) {
      unexpected("an option of the decorator");
      return false;
    }
    const Token key_token = take();
    const std::string_view key = text(key_token);
    if (!expect(Tok::Assign, "after the option's name")) return false;
    if (key == "type") {
      if (!read_enum_member("FunctionType", f.func_type)) return false;
    } else if (key == "level") {
      Level level{};
      if (!read_enum_member("Level", level)) return false;
      f.level = level;
    } else if (key == "role") {
      Role role{};
      if (!read_enum_member("Role", role)) return false;
      f.role = role;
    } else if (key == "auto_scope") {
      bool value = true;
      if (!read_bool(value, "for auto_scope")) return false;
      if (!value) draft.attrs.push_back({ctx_.name("auto_scope"), AttrValue::of_bool(false)});
    } else if (key == "external_source") {
      std::string_view path_text;
      if (!read_string(path_text, "for external_source")) return false;
      draft.attrs.push_back({ctx_.name("external_source"), AttrValue::of_string(path_text)});
    } else if (key == "attrs") {
      if (!read_attr_dict(draft.attrs, false)) return false;
    } else if (key == "strict_ssa") {
      bool value = false;
      if (!read_bool(value, "for strict_ssa")) return false;
    } else {
      diags_.report<diag::unknown_form_option>(span(key_token), key, "pl.function",
                                               "type, level, role, auto_scope, external_source, attrs");
      return false;
    }
    if (!accept(Tok::Comma)) break;
  }
  return expect(Tok::RParen, "after the decorator's options");
}

// Before its turn, a scalar parameter may be named by the type of an earlier one (G47): at the first such name all
// scalar parameters of the signature are made.
const Var* Reader::signature_scalar(Name name) {
  if (!scanned_signature_) {
    scanned_signature_ = true;
    find_signature_scalars();
  }
  const auto found = early_scalars_.find(name);
  return found != early_scalars_.end() ? found->second : nullptr;
}

// Looks for `NAME: pl.Scalar[pl.DTYPE]` among the tokens from the signature's opening parenthesis on.
void Reader::find_signature_scalars() {
  DiagSink quiet;
  Lexer scan(file_, quiet, 100000);
  scan.seek(params_mark_.at, 0);
  const auto next = [&] {
    Token token = scan.next();
    while (token.kind == Tok::Newline || token.kind == Tok::Indent || token.kind == Tok::Dedent)
      token = scan.next();
    return token;
  };
  const std::string scalar = style_.prefix + ".Scalar[" + style_.prefix + ".";
  std::uint32_t depth = 1;
  Token before{};
  for (Token token = next(); token.kind != Tok::End && depth != 0; token = next()) {
    if (token.kind == Tok::LParen || token.kind == Tok::LBracket || token.kind == Tok::LBrace) ++depth;
    if (token.kind == Tok::RParen || token.kind == Tok::RBracket || token.kind == Tok::RBrace) --depth;
    if (depth == 1 && before.kind == Tok::Name && token.kind == Tok::Colon) {
      std::string type;
      while (type.size() < scalar.size()) {
        const Token part = next();
        if (part.kind == Tok::LBracket) ++depth;
        if (part.kind == Tok::RBracket || part.kind == Tok::RParen) --depth;
        if (part.kind == Tok::End || part.kind == Tok::RBracket || part.kind == Tok::RParen ||
            part.kind == Tok::Comma)
          break;
        type += scan.text(part);
      }
      if (type == scalar) {
        if (const auto dtype = parse_enum<DType>(scan.text(next()))) {
          const Name parameter = ctx_.name(scan.text(before));
          early_scalars_[parameter] = ctx_.var(parameter, ctx_.scalar(*dtype), span(before));
        }
      }
    }
    before = token;
  }
}

bool Reader::read_params(Draft& draft, bool method) {
  params_mark_ = lex_.mark();
  params_mark_.at = prev_end_;
  bool first = true;
  while (!at(Tok::RParen)) {
    if (!at(Tok::Name)) {
      unexpected("a parameter");
      return false;
    }
    const Token name_token = take();
    if (first && text(name_token) == "self" && method && !at(Tok::Colon)) {
      first = false;
      if (!accept(Tok::Comma)) break;
      continue;
    }
    first = false;
    if (!usable_name(name_token)) return false;
    if (!expect(Tok::Colon, "and the type of the parameter")) return false;
    const std::uint32_t type_begin = tok_.begin;
    ParamDirection direction = ParamDirection::In;
    bool wrapped = false;
    if (at(Tok::Name) && text(tok_) == style_.prefix && peek2().kind == Tok::Dot) {
      // `pl.Out[` and `pl.InOut[` wrap the type; look behind the dot on the text itself.
      const std::string_view after = file_.text().substr(peek2().end, 6);
      if (after.substr(0, 4) == "Out[" || after == "InOut[") {
        direction = after[0] == 'O' ? ParamDirection::Out : ParamDirection::InOut;
        wrapped = true;
        take();
        take();
        take();
        take();
      }
    }
    const Type* type = read_type();
    if (type == nullptr) return false;
    if (wrapped && !expect(Tok::RBracket, "after the parameter's type")) return false;
    const Name name = ctx_.name(text(name_token));
    if (direction == ParamDirection::InOut && type->kind == TypeKind::Scalar) {
      diags_.report<diag::inout_scalar>(span_from(type_begin), name.text())
          .help("return the new value instead, or pass a tensor of one element");
    }
    const Var* var = nullptr;
    if (const auto early = early_scalars_.find(name); early != early_scalars_.end()) {
      var = early->second;
      early_scalars_.erase(early);  // a second parameter of this name is another one
    } else {
      var = ctx_.var(name, type, span(name_token));
    }
    bind(name, var);
    draft.params.push_back({var, direction, span_from(type_begin)});
    if (!accept(Tok::Comma)) break;
  }
  const auto repeated = first_duplicate(draft.params, [](const Param& p) { return p.var->name.id(); });
  if (repeated) {
    const Var* var = draft.params[repeated->first].var;
    diags_.report<diag::duplicate_parameter>(var->span, var->name.text())
        .note(draft.params[repeated->second].var->span, "the first one is here");
    return false;
  }
  return expect(Tok::RParen, "after the parameters");
}

bool Reader::read_return_types(Function& f) {
  std::vector<const Type*> types;
  if (accept(Tok::Arrow)) {
    if (at_word("tuple")) {
      take();
      if (!expect(Tok::LBracket, "after 'tuple'")) return false;
      while (!at(Tok::RBracket)) {
        const Type* type = read_type();
        if (type == nullptr) return false;
        types.push_back(type);
        if (!accept(Tok::Comma)) break;
      }
      if (!expect(Tok::RBracket, "after the result types")) return false;
    } else if (at_word("None")) {
      diags_.report<diag::none_result>(span(tok_)).help("leave '-> None' out");
      take();
    } else {
      const Type* type = read_type();
      if (type == nullptr) return false;
      types.push_back(type);
    }
  }
  f.return_types = ctx_.list(types);
  return true;
}

bool Reader::read_func_attr(std::vector<Attr>& attrs) {
  if (!expect(Tok::LParen, "after 'pl.func_attr'")) return false;
  if (!read_attr_dict(attrs, false)) return false;
  accept(Tok::Comma);
  return expect(Tok::RParen, "after the attributes");
}

const Type* Reader::result_type(const Function* f) {
  if (f == nullptr || f->return_types.empty()) return ctx_.unknown();
  if (f->return_types.size() == 1) return f->return_types[0];
  return ctx_.tuple(f->return_types);
}

const Function* Reader::read_body(Draft& draft) {
  draft_ = &draft;
  reset_scope();
  split_region_.reset();
  dump_tags_.clear();
  Function& f = draft.f;
  for (const Param& param : draft.params) bind(param.var->name, param.var);
  std::vector<const Stmt*> body;
  if (draft.body_begin != 0) {
    has_tok2_ = false;
    lex_.seek(draft.body_begin, draft.column);
    comment_head_ = 0;
    if (f.level == Level::HOST && f.role == Role::SubWorker) {
      if (!read_python_body(body)) return nullptr;
    } else {
      tok_ = lex_.next();
      prev_end_ = draft.body_begin;
      Block block;
      block.free_scope = true;
      if (!at(Tok::Indent)) {
        if (!diags_.full()) {
          diags_.report<diag::empty_body>(f.name_span, f.name.text())
              .help("write '...' for a kernel that is defined elsewhere, 'pass' for nothing");
        }
        return nullptr;
      }
      const std::uint32_t errors = diags_.error_count();
      in_function_head_ = true;
      read_block(block, "function");
      if (diags_.error_count() != errors) return nullptr;
      body = std::move(block.stmts);
      f.span.end = file_.base() + prev_end_;
    }
  }
  f.params = ctx_.list(draft.params);
  f.attrs = ctx_.list(draft.attrs);
  draft.attrs = {};
  draft.memref_bases = {};
  if (f.is_host_orchestrator()) {
    f.body = restore_legacy_domains(body);
  } else {
    f.body = ctx_.list(body);
  }
  return ctx_.make(f);
}

// --- printing
// --------------------------------------------------------------------------------------------------

void Writer::function(const Function& f) {
  begin_function(f);
  const auto ind = [&] { pad(); };
  ind();
  out_ += '@';
  prefix();
  out_ += "function";
  bool open = false;
  const auto option = [&](std::string_view key) {
    out_ += open ? ", " : "(";
    open = true;
    out_ += key;
    out_ += '=';
  };
  if (f.func_type != FuncType::Opaque) {
    option("type");
    enum_member("FunctionType", name_of(f.func_type));
  }
  if (f.level) {
    option("level");
    enum_member("Level", name_of(*f.level));
  }
  if (f.role) {
    option("role");
    enum_member("Role", name_of(*f.role));
  }
  if (const AttrValue* scope = find_attr(f.attrs, "auto_scope");
      scope != nullptr && scope->kind == AttrKind::Bool && !scope->as_bool()) {
    option("auto_scope");
    out_ += "False";
  }
  if (const AttrValue* source = find_attr(f.attrs, "external_source");
      source != nullptr && !source->text.empty()) {
    option("external_source");
    quoted(source->text);
  }
  if (open) out_ += ')';
  out_ += '\n';
  ind();
  out_ += "def ";
  out_ += f.name.text();
  out_ += '(';
  in_signature_ = true;
  bool first = true;
  if (!bare_ && f.role != Role::SubWorker) {
    out_ += "self";
    first = false;
  }
  for (const Param& param : f.params) {
    if (!first) out_ += ", ";
    first = false;
    out_ += name(param.var);
    out_ += ": ";
    if (param.direction != ParamDirection::In) {
      prefix();
      out_ += name_of(param.direction);
      out_ += '[';
    }
    type(param.var->type);
    if (param.direction != ParamDirection::In) out_ += ']';
  }
  out_ += ')';
  if (!f.return_types.empty()) {
    out_ += " -> ";
    if (f.return_types.size() == 1) {
      type(f.return_types[0]);
    } else {
      out_ += "tuple[";
      for (std::size_t i = 0; i < f.return_types.size(); ++i) {
        if (i != 0) out_ += ", ";
        type(f.return_types[i]);
      }
      out_ += ']';
    }
  }
  out_ += ":\n";
  in_signature_ = false;
  ++indent_;
  bool has_attrs = false;
  for (const Attr& attr : f.attrs) {
    const std::string_view key = attr.key.text();
    if (key == "auto_scope" || key == "external_source") continue;
    if (key == "split" && attr.value.kind == AttrKind::Int && attr.value.integer == 0) continue;
    if (!has_attrs) {
      pad();
      prefix();
      out_ += "func_attr({";
    } else {
      out_ += ", ";
    }
    has_attrs = true;
    quoted(key);
    out_ += ": ";
    if (key == "split" && attr.value.kind == AttrKind::Int && attr.value.integer <= 2) {
      enum_member("SplitMode", name_of(static_cast<SplitMode>(attr.value.integer)));
    } else {
      attr_value(attr.value);
    }
  }
  if (has_attrs) out_ += "})\n";
  if (f.requires_runtime_binding) {
    pad();
    out_ += "...";
  } else if (f.body.empty()) {
    pad();
    out_ += "pass";
  } else {
    top_level_ = true;
    statements(f.body);
  }
  --indent_;
}

}  // namespace pldc
