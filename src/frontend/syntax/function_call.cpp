// selfcall = "self." NAME "(" args [ "device=" expr ] [ "attrs={...}" ] ")"
// submit   = ("pl.submit(" | "pl.spmd_submit(") "self." NAME { "," expr } [ deps ] [ dumps ] [ core_num ] ...
// ")" recorded = "pl._dump.call(" ( STRING | "self." NAME ) ", [" exprs "], " type [ ", kwargs={...}" ] [ ",
// attrs={...}" ] ")"
#include <algorithm>

#include "frontend/reader.h"
#include "frontend/writer.h"
#include "ir/check_op.h"
#include "support/diag/parse.h"

namespace pldc {

namespace {
const AttrValue* device_of(const Call& c) {
  const AttrValue* device = find_attr(c.attrs, "device");
  return device != nullptr && (device->kind == AttrKind::Expr || device->kind == AttrKind::Var) ? device
                                                                                                : nullptr;
}
}  // namespace

// The argument positions that pl.no_dep(...) marks become an attribute.
bool Reader::read_call_operand(CallOperands& operands) {
  no_dep_ = nullptr;
  const std::uint32_t begin = tok_.begin;
  const Expr* e = read_expr();
  if (e == nullptr) return false;
  if (no_dep_ == e) operands.overrides.push_back(static_cast<std::int64_t>(operands.args.size()));
  no_dep_ = nullptr;
  operands.args.push_back(e);
  operands.places.push_back(span_from(begin));
  return true;
}

void Reader::check_operands(const Draft& callee, const CallOperands& operands) {
  for (std::size_t i = 0; i < operands.args.size() && i < callee.params.size(); ++i)
    check_argument(diags_, callee.f, callee.params[i], operands.args[i], operands.places[i]);
}

const Expr* Reader::read_function_call(const Path& path, Name function) {
  note_name(NameUse::Kind::Function, path.span, function);
  take();  // (
  CallOperands operands;
  const std::vector<const Expr*>& args = operands.args;
  std::vector<Attr> attrs;
  std::vector<Attr> written;
  Span device_span{};
  const Name assigned = assigned_name_;
  assigned_name_ = Name{};
  while (!at(Tok::RParen)) {
    if (at(Tok::Name) && peek2().kind == Tok::Assign) {
      const Token key = take();
      take();
      if (text(key) == "device") {
        device_span = span(key);
        const Expr* device = read_expr();
        if (device == nullptr) return nullptr;
        attrs.push_back({ctx_.name("device"), AttrValue::of_expr(device)});
      } else if (text(key) == "attrs") {
        if (!read_attr_dict(written, true)) return nullptr;
      } else {
        // Parameters by name, as in Python.
        const Draft* callee = callee_of(function);
        bool placed = false;
        for (std::size_t i = 0; callee != nullptr && i < callee->params.size(); ++i) {
          if (callee->params[i].var->name.text() == text(key) && i == args.size()) {
            if (!read_call_operand(operands)) return nullptr;
            placed = true;
            break;
          }
        }
        if (!placed) {
          diags_.report<diag::unknown_form_option>(
              span(key), text(key), std::string("the call of '") + std::string(function.text()) + "'",
              "device, attrs, or the next parameter's name");
          return nullptr;
        }
      }
    } else if (!read_call_operand(operands)) {
      return nullptr;
    }
    if (!accept(Tok::Comma)) break;
  }
  assigned_name_ = assigned;
  if (!expect(Tok::RParen, "after the arguments")) return nullptr;
  attrs.insert(attrs.end(), written.begin(), written.end());
  if (!operands.overrides.empty())
    attrs.push_back(
        {ctx_.name("arg_direction_overrides"), AttrValue::of_ints(ctx_.list(operands.overrides))});
  const Span whole = span_from(path.begin);
  const Draft* callee = callee_of(function);
  if (authoring_) {
    add_dump_vars(args, attrs);
    if (callee == nullptr && path.head == "self") {
      missing_callee(path.span, function);
      return nullptr;
    }
    if (callee != nullptr && args.size() != callee->params.size()) {
      diags_.report<diag::call_arity>(whole, function.text(), callee->params.size(), args.size())
          .note(callee->f.name_span, "the function is declared here")
          .help("pass one argument for each parameter");
      return nullptr;
    }
    if (callee != nullptr && device_span.valid() && callee->f.role != Role::Orchestrator) {
      diags_.report<diag::device_callee>(device_span, function.text())
          .note(callee->f.name_span, "the function is declared here")
          .help("dispatch a function of type Orchestration to a device, and call this one from it");
      return nullptr;
    }
    if (callee != nullptr) check_operands(*callee, operands);
  }
  const Type* type = callee != nullptr ? result_type(&callee->f) : ctx_.unknown();
  return ctx_.call(function, ctx_.list(args), {}, ctx_.list(attrs), type, whole);
}

void Reader::missing_callee(Span where, Name function) {
  if (refused_names_.count(function) != 0) return;  // its declaration was reported
  std::vector<std::string_view> names;
  for (const auto& [name, draft] : draft_by_name_) names.push_back(name.text());
  report_unknown_callee(diags_, where, function.text(), std::move(names));
}

const Reader::Draft* Reader::callee_of(Name function) const {
  const auto found = draft_by_name_.find(function);
  return found != draft_by_name_.end() ? found->second : nullptr;
}

// pl.dump_tag(x) marks x in later calls that pass it.
void Reader::add_dump_vars(const std::vector<const Expr*>& args, std::vector<Attr>& attrs) {
  if (dump_tags_.empty()) return;
  std::vector<const Var*> marked;
  for (const Var* tag : dump_tags_) {
    if (std::find(args.begin(), args.end(), static_cast<const Expr*>(tag)) != args.end())
      marked.push_back(tag);
  }
  if (!marked.empty())
    attrs.insert(attrs.begin(), {ctx_.name("dump_vars"), AttrValue::of_vars(ctx_.list(marked))});
}

const Expr* Reader::read_submit(const Path& path, bool spmd) {
  take();
  Path callee_path;
  if (!at(Tok::Name) || !read_path(callee_path)) {
    if (!at(Tok::Name)) unexpected("the function to launch, such as 'self.kernel'");
    return nullptr;
  }
  const bool self = callee_path.head == "self" && !callee_path.rest.empty();
  const Name function = ctx_.name(self ? callee_path.rest : callee_path.head);
  note_name(NameUse::Kind::Function, callee_path.span, function);
  Submit n{};
  n.kind = ExprKind::Submit;
  n.function = function;
  n.spmd = spmd;
  CallOperands operands;
  const std::vector<const Expr*>& args = operands.args;
  std::vector<const Expr*> deps;
  std::vector<const Var*> dumps;
  std::vector<Attr> attrs;
  while (accept(Tok::Comma) && !at(Tok::RParen)) {
    if (at(Tok::Name) && peek2().kind == Tok::Assign) {
      const Token key_token = take();
      const std::string_view key = text(key_token);
      take();
      bool good = true;
      if (key == "deps") {
        good = read_dep_list(deps);
      } else if (key == "dumps") {
        good = read_var_list(dumps);
      } else if (key == "core_num") {
        n.core_num = read_expr();
        good = n.core_num != nullptr;
      } else if (key == "sync_start") {
        good = read_bool(n.sync_start, "for sync_start");
      } else if (key == "allow_early_resolve") {
        good = read_bool(n.allow_early_resolve, "for allow_early_resolve");
      } else if (key == "predicate") {
        in_predicate_ = true;
        n.predicate = read_expr();
        in_predicate_ = false;
        good = n.predicate != nullptr;
      } else if (key == "attrs") {
        good = read_attr_dict(attrs, true);
      } else {
        diags_.report<diag::unknown_form_option>(
            span(key_token), key, "pl.submit",
            "deps, dumps, core_num, sync_start, allow_early_resolve, predicate, attrs");
        good = false;
      }
      if (!good) return nullptr;
    } else if (!read_call_operand(operands)) {
      return nullptr;
    }
  }
  if (!expect(Tok::RParen, "after the launch")) return nullptr;
  const Draft* callee = callee_of(function);
  if (authoring_) {
    add_dump_vars(args, attrs);
    if (callee == nullptr) {
      missing_callee(callee_path.span, function);
      return nullptr;
    }
    if (args.size() > callee->params.size()) {
      diags_
          .report<diag::call_arity>(span_from(path.begin), function.text(), callee->params.size(),
                                    args.size())
          .note(callee->f.name_span, "the function is declared here");
      return nullptr;
    }
    check_operands(*callee, operands);
  }
  if (n.sync_start && n.core_num == nullptr) {
    diags_.report<diag::sync_start_count>(span_from(path.begin)).help("give core_num= as well");
    return nullptr;
  }
  if (!operands.overrides.empty())
    attrs.push_back(
        {ctx_.name("arg_direction_overrides"), AttrValue::of_ints(ctx_.list(operands.overrides))});
  if (!dumps.empty()) attrs.push_back({ctx_.name("dump_vars"), AttrValue::of_vars(ctx_.list(dumps))});
  std::vector<const Type*> results;
  if (callee != nullptr) results.assign(callee->f.return_types.begin(), callee->f.return_types.end());
  results.push_back(ctx_.scalar(DType::TASK_ID));
  n.type = ctx_.tuple(ctx_.list(results));
  n.span = span_from(path.begin);
  n.args = ctx_.list(args);
  n.deps = ctx_.list(deps);
  n.attrs = ctx_.list(attrs);
  return ctx_.make(n);
}

// Printed text may have a number as a dependency (format.md 2.8.3).
void Reader::check_dependency(const Expr* e, Span where) {
  const Type* type = e->type;
  if (is_unknown(type) || scalar_dtype(type) == DType::TASK_ID) return;
  if (!authoring_ && e->kind == ExprKind::ConstInt) return;
  if (const auto* array = dyn<ArrayType>(type); array != nullptr && array->dtype == DType::TASK_ID) return;
  auto report = diags_.report<diag::dependency_type>(where, print_expr(e), print_type(type));
  const auto* tuple = dyn<TupleType>(type);
  if (tuple != nullptr && !tuple->elements.empty()) {
    report.help("the task id is the last element: write {}[{}]", print_expr(e), tuple->elements.size() - 1);
  } else {
    report.help("give the task id of the launch that made it: 'y, id = pl.submit(...)', then deps=[id]");
  }
}

bool Reader::read_dep_list(std::vector<const Expr*>& deps) {
  if (!expect(Tok::LBracket, "before the dependencies")) return false;
  while (!at(Tok::RBracket)) {
    if (at_word("None")) {
      take();
    } else {
      const Token first = tok_;
      const Expr* e = read_expr();
      if (e == nullptr) return false;
      check_dependency(e, span_from(first.begin));
      if (authoring_ && e->kind != ExprKind::Var) {
        // What is no name is first put into an array of one task id, which becomes the dependency.
        const Type* type = ctx_.array(DType::TASK_ID, 1);
        const Var* buffer = ctx_.var(ctx_.name("_submit_deps_buf"), type, e->span);
        const Expr* one = ctx_.const_int(1, DType::INDEX, e->span);
        const Expr* zero = ctx_.const_int(0, DType::INDEX, e->span);
        const Attrs kwargs = ctx_.list({Attr{ctx_.name("dtype"), AttrValue::of_dtype(DType::TASK_ID)}});
        hoisted_.push_back(ctx_.assign(
            buffer, ctx_.call(OpId::array_create, ctx_.list({one}), kwargs, {}, type, e->span), e->span));
        const Expr* update =
            ctx_.call(OpId::array_update_element, ctx_.list({static_cast<const Expr*>(buffer), zero, e}), {},
                      {}, type, e->span);
        hoisted_.push_back(ctx_.assign(buffer, update, e->span));
        e = buffer;
      }
      deps.push_back(e);
    }
    if (!accept(Tok::Comma)) break;
  }
  return expect(Tok::RBracket, "after the dependencies");
}

const Expr* Reader::read_recorded_call(const Path& path) {
  take();
  OpId op = OpId::none_;
  Name function;
  if (at(Tok::String)) {
    const Token token = tok_;
    std::string_view name;
    if (!read_string(name, "naming the op")) return nullptr;
    op = find_op(name);
    if (op == OpId::none_) {
      diags_.report<diag::unknown_recorded_op>(span(token), name).help("'pldc list ops' shows the ops");
      return nullptr;
    }
  } else {
    Path callee;
    if (!at(Tok::Name) || !read_path(callee)) {
      if (!at(Tok::Name)) unexpected("an op's name as a string, or 'self.<function>'");
      return nullptr;
    }
    function = ctx_.name(callee.head == "self" ? callee.rest : callee.head);
    note_name(NameUse::Kind::Function, callee.span, function);
  }
  if (!expect(Tok::Comma, "after the callee")) return nullptr;
  std::vector<const Expr*> args;
  if (!expect(Tok::LBracket, "before the arguments")) return nullptr;
  while (!at(Tok::RBracket)) {
    const Expr* e = read_expr();
    if (e == nullptr) return nullptr;
    args.push_back(e);
    if (!accept(Tok::Comma)) break;
  }
  if (!expect(Tok::RBracket, "after the arguments") || !expect(Tok::Comma, "before the result type"))
    return nullptr;
  const Type* type = read_type();
  if (type == nullptr) return nullptr;
  std::vector<Attr> kwargs;
  std::vector<Attr> attrs;
  while (accept(Tok::Comma) && !at(Tok::RParen)) {
    if (at_word("kwargs") || at_word("attrs")) {
      const bool is_kwargs = at_word("kwargs");
      take();
      if (!expect(Tok::Assign, "after the keyword")) return nullptr;
      if (!read_attr_dict(is_kwargs ? kwargs : attrs, !is_kwargs && op == OpId::none_)) return nullptr;
    } else {
      unexpected("kwargs={...} or attrs={...}");
      return nullptr;
    }
  }
  if (!expect(Tok::RParen, "after the recorded call")) return nullptr;
  const Span whole = span_from(path.begin);
  const Call* call =
      op != OpId::none_
          ? ctx_.call(op, ctx_.list(args), ctx_.list(kwargs), ctx_.list(attrs), type, whole)
          : ctx_.call(function, ctx_.list(args), ctx_.list(kwargs), ctx_.list(attrs), type, whole);
  if (op != OpId::none_ && !check_call(diags_, call, CallSource::Printed)) return nullptr;
  last_recorded_ = call;
  return call;
}

// --- printing
// --------------------------------------------------------------------------------------------------

void Writer::recorded_call(const Call& c) {
  prefix();
  out_ += "_dump.call(";
  if (c.is_op()) {
    quoted(op_info(c.op).name);
  } else {
    out_ += "self.";
    out_ += c.function.text();
  }
  out_ += ", [";
  exprs(c.args);
  out_ += "], ";
  type(c.type);
  if (!c.kwargs.empty()) {
    out_ += ", kwargs=";
    attr_dict(c.kwargs);
  }
  if (!c.attrs.empty()) {
    out_ += ", attrs=";
    attr_dict(c.attrs);
  }
  out_ += ')';
}

void Writer::marked_args(List<const Expr*> args, const AttrValue& marks) {
  out_ += '[';
  bool comma = false;
  for (const Expr* arg : args) {
    const auto* var = dyn<Var>(arg);
    if (var == nullptr || std::find(marks.vars.begin(), marks.vars.end(), var) == marks.vars.end()) continue;
    if (comma) out_ += ", ";
    comma = true;
    out_ += name(var);
  }
  out_ += ']';
}

void Writer::function_call(const Call& c) {
  if (bare_) {
    out_ += c.function.text();
    out_ += '(';
    exprs(c.args);
    call_attrs(c.attrs, !c.args.empty());
    out_ += ')';
    return;
  }
  out_ += "self.";
  out_ += c.function.text();
  out_ += '(';
  exprs(c.args);
  bool comma = !c.args.empty();
  if (const AttrValue* device = device_of(c)) {
    if (comma) out_ += ", ";
    comma = true;
    out_ += "device=";
    expr(device->expr);
  }
  bool open = false;
  const auto entry = [&](std::string_view key) {
    if (!open) out_ += comma ? ", attrs={" : "attrs={";
    if (open) out_ += ", ";
    open = true;
    quoted(key);
    out_ += ": ";
  };
  if (const AttrValue* dumps = find_attr(c.attrs, "dump_vars");
      dumps != nullptr && dumps->kind == AttrKind::VarList) {
    entry("dump_vars");
    marked_args(c.args, *dumps);
  }
  if (const AttrValue* directions = find_attr(c.attrs, "arg_directions");
      directions != nullptr && !directions->directions.empty()) {
    entry("arg_directions");
    attr_value(*directions);
  }
  for (const Attr& attr : c.attrs) {
    const std::string_view key = attr.key.text();
    if (key == "dump_vars" || key == "arg_directions" || key == "device") continue;
    entry(key);
    attr_value(attr.value);
  }
  if (open) out_ += '}';
  out_ += ')';
}

void Writer::submit(const Submit& s) {
  prefix();
  out_ += s.spmd ? "spmd_submit(" : "submit(";
  if (!bare_) out_ += "self.";
  out_ += s.function.text();
  for (const Expr* arg : s.args) {
    out_ += ", ";
    expr(arg);
  }
  if (!s.deps.empty()) {
    out_ += ", deps=[";
    exprs(s.deps);
    out_ += ']';
  }
  if (const AttrValue* dumps = find_attr(s.attrs, "dump_vars");
      dumps != nullptr && dumps->kind == AttrKind::VarList) {
    out_ += ", dumps=";
    marked_args(s.args, *dumps);
  }
  if (s.core_num != nullptr) {
    out_ += ", core_num=";
    expr(s.core_num);
    if (s.sync_start) out_ += ", sync_start=True";
  }
  if (s.allow_early_resolve) out_ += ", allow_early_resolve=True";
  if (s.predicate != nullptr) {
    out_ += ", predicate=(";
    expr(s.predicate);
    out_ += ')';
  }
  bool open = false;
  const auto entry = [&](const Attr& attr) {
    out_ += open ? ", " : ", attrs={";
    open = true;
    quoted(attr.key.text());
    out_ += ": ";
    attr_value(attr.value);
  };
  for (const Attr& attr : s.attrs) {
    if (attr.key.text() == "arg_directions" && !attr.value.directions.empty()) entry(attr);
  }
  for (const Attr& attr : s.attrs) {
    if (attr.key.text() != "arg_directions" && attr.key.text() != "dump_vars") entry(attr);
  }
  if (open) out_ += '}';
  out_ += ')';
}

}  // namespace pldc
