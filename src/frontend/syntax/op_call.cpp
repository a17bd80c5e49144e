// opcall = opname "(" [ args ] [ keywords ] [ "attrs={...}" ] ")"; special spellings of format.md 2.8.1
// below, each read and printed here.
#include <algorithm>

#include "frontend/reader.h"
#include "frontend/use_places.h"
#include "frontend/writer.h"
#include "ir/auto_name.h"
#include "ir/check_op.h"
#include "ir/rules.h"
#include "support/diag/parse.h"
#include "support/hash.h"

namespace pldc {

namespace {

constexpr std::string_view kTailPadding = "tile._remote_load_with_physical_tail_padding";
constexpr std::string_view kPaddingKey = "allow_physical_tail_padding";

bool is_keyword_operand(const Operand& operand) { return operand.spelling != Spelling::Positional; }

// What `make` gives, or null after its errors were reported: the second time, with the places of use.
template <class Make>
auto made_or_reported(Context& context, DiagSink& diags, const AuthoringCall& call, Make&& make) {
  DiagSink quiet;
  auto made = make(quiet, call);
  if (made == nullptr && make(diags, UsePlaces(context)(call)) != nullptr) make(diags, call);
  return made;
}

}  // namespace

// A call by the name of an op: with its category as printed text has it, or a short name.
const Expr* Reader::read_named_op(const Path& path) {
  const bool pld = path.head == "pld";
  const std::string_view rest = path.rest;
  if (pld && rest == kTailPadding) return read_op_call(path, OpId::pld_tile_remote_load, false);
  OpId op = OpId::none_;
  if (rest.find('.') != std::string_view::npos) {
    op = pld ? find_op(file_.text().substr(path.begin, 4).substr(0, 4) == "pld." &&
                               rest.data() == file_.text().data() + path.begin + 4
                           ? file_.text().substr(path.begin, rest.size() + 4)
                           : std::string_view(ctx_.text("pld." + std::string(rest))))
             : find_op(rest);
  }
  return read_op_call(path, op, authoring_ || op == OpId::none_);
}

const Expr* Reader::read_op_call(const Path& path, OpId op, bool author) {
  if (open_calls_ == call_lists_.size()) call_lists_.push_back(std::make_unique<CallLists>());
  CallLists& lists = *call_lists_[open_calls_++];
  lists.args.clear();
  lists.keywords.clear();
  const Expr* call = read_op_call(path, op, author, lists.args, lists.keywords);
  if (const auto* made = dyn<Call>(call); made != nullptr && made->is_op()) note_op(path.span, made->op);
  --open_calls_;
  return call;
}

const Expr* Reader::read_op_call(const Path& path, OpId op, bool author, std::vector<AuthoringArg>& args,
                                 std::vector<AuthoringKeyword>& keywords) {
  take();  // (
  Attrs attrs;
  // Kept over the arguments: a call nested in them is not what is assigned.
  const Name assigned = assigned_name_;
  assigned_name_ = Name{};
  const bool good = read_arguments(args, keywords, attrs);
  assigned_name_ = assigned;
  if (!good) return nullptr;
  const Span whole = span_from(path.begin);
  const bool pld = path.head == "pld";
  if (!author) {
    // An operand given by its name is how people write, also in text that is otherwise printed.
    for (const AuthoringKeyword& k : keywords) {
      const OpInfo& info = op_info(op);
      for (const Operand& operand : info.operands) {
        if (!operand.name.empty() && operand.name == k.name && !is_keyword_operand(operand)) author = true;
      }
    }
    for (const AuthoringArg& arg : args) author = author || arg.expr == nullptr;
    if (op == OpId::tensor_alloc || op == OpId::tile_alloc) author = false;
  }
  if (!author) return literal_call(path, op, args, keywords, attrs, whole);

  AuthoringCall call;
  call.pld = pld;
  call.name = path.rest;
  call.name_span = path.span;
  call.span = whole;
  call.args = std::move(args);
  call.keywords = std::move(keywords);
  call.attrs = attrs;
  if (is_ergonomic_wrapper(call)) {
    AuthoredWrapper wrapper;
    const Call* made =
        made_or_reported(ctx_, diags_, call, [&](DiagSink& diags, const AuthoringCall& written) {
          wrapper = author_wrapper(ctx_, diags, written, wrapper_counter_);
          return wrapper.call;
        });
    if (made == nullptr) return nullptr;
    hoisted_.insert(hoisted_.end(), wrapper.hoisted.begin(), wrapper.hoisted.end());
    return wrapper.call;
  }
  const std::string_view leaf = path.rest.substr(path.rest.rfind('.') + 1);
  if (leaf == "aiv_shard" || leaf == "aic_gather") stamp_split(OpId::tile_aiv_shard, call.keywords, whole);
  const Expr* result = made_or_reported(
      ctx_, diags_, call,
      [&](DiagSink& diags, const AuthoringCall& written) { return author_expr(ctx_, diags, written); });
  const Call* made = dyn<Call>(result);
  if (made != nullptr) {
    for (const Attr& kwarg : made->kwargs) {
      if (kwarg.value.kind == AttrKind::String && !is_plain_string(kwarg.value.text, whole)) return nullptr;
    }
  }
  if (made != nullptr && made->op == OpId::pld_tensor_alloc_window_buffer) {
    if (find_attr(made->kwargs, "name") == nullptr) {
      if (assigned.empty()) {
        diags_.report<diag::allocation_place>(whole).help("write 'buf = pld.alloc_window_buffer(...)'");
        return nullptr;
      }
      if (draft_ != nullptr && !(draft_->f.level == Level::HOST)) {
        diags_.report<diag::allocation_level>(whole, draft_->f.name.text())
            .help("allocate windows in a function with level=pl.Level.HOST and pass views of them on");
        return nullptr;
      }
      return name_allocation(ctx_, made, assigned.text());
    }
  }
  return result;
}

// Inside a split_aiv region the keyword split= of aiv_shard and aic_gather is not written: it follows the
// region.
void Reader::stamp_split(OpId op, std::vector<AuthoringKeyword>& keywords, Span where) {
  if (op == OpId::none_ || !split_region_ || op_info(op).syntax != Syntax::SplitHidden) return;
  for (const AuthoringKeyword& k : keywords) {
    if (k.name == "split") return;
  }
  AuthoringKeyword split{
      "split", where,
      AuthoringArg(ctx_.const_int(static_cast<std::int64_t>(*split_region_), DType::INDEX, where))};
  keywords.insert(keywords.begin(), split);
}

// Calls of a program have few different lists of keywords, and these are large: equal ones are stored once.
Attrs Reader::shared_attrs(const std::vector<Attr>& attrs) {
  std::uint64_t key = attrs.size();
  for (const Attr& attr : attrs) {
    const bool number = attr.value.kind <= AttrKind::ArgDirection && attr.value.kind != AttrKind::Float;
    if (!number) return ctx_.list(attrs);
    const std::uint64_t value = attr.value.kind == AttrKind::String
                                    ? hash_bytes(attr.value.text)
                                    : static_cast<std::uint64_t>(attr.value.integer);
    key = hash_combine(hash_combine(key, attr.key.id()),
                       hash_combine(static_cast<std::uint64_t>(attr.value.kind), value));
  }
  if (attrs.empty()) return {};
  Attrs& known = shared_attrs_[key];
  if (known.empty()) known = ctx_.list(attrs);
  const auto same = [](const Attr& a, const Attr& b) {
    return a.key == b.key && a.value.kind == b.value.kind &&
           (a.value.kind == AttrKind::String ? a.value.text == b.value.text
                                             : a.value.integer == b.value.integer);
  };
  return std::equal(attrs.begin(), attrs.end(), known.begin(), known.end(), same) ? known : ctx_.list(attrs);
}

// Printed text: operands and keywords as they stand.
const Expr* Reader::literal_call(const Path& path, OpId op, std::vector<AuthoringArg>& args,
                                 std::vector<AuthoringKeyword>& keywords, Attrs attrs, Span whole) {
  const OpInfo& info = op_info(op);
  std::vector<const Expr*>& operands = operands_;
  std::vector<Span>& places = operand_places_;
  operands.clear();
  places.clear();
  for (std::size_t i = 0; i < args.size(); ++i) {
    const AuthoringArg& arg = args[i];
    places.push_back(arg.span);
    if (arg.expr != nullptr) {
      operands.push_back(arg.expr);
      if (i < info.operands.size() && info.operands[i].spelling == Spelling::KeywordDump) saw_legacy_ = true;
    } else if (info.syntax == Syntax::Alloc && arg.value.kind == AttrKind::MemSpace) {
      operands.push_back(ctx_.const_int(arg.value.integer, DType::INDEX, arg.span));
    } else {
      diags_.report<diag::operand_value>(arg.span, info.name)
          .help("operands are expressions; dtypes and enum members are keywords");
      return nullptr;
    }
  }
  stamp_split(op, keywords, whole);
  std::vector<Attr>& kwargs = kwargs_;
  kwargs.clear();
  std::array<const Expr*, kMaxOperands> by_name{};
  std::array<Span, kMaxOperands> named_places{};
  bool any_by_name = false;
  const AuthoringKeyword* dtype_keyword = nullptr;
  for (const AuthoringKeyword& k : keywords) {
    bool is_operand = false;
    for (std::size_t i = 0; i < info.operand_count(); ++i) {
      const Operand& operand = info.operands[i];
      if (operand.name != k.name || !is_keyword_operand(operand)) continue;
      if (operand.spelling == Spelling::KeywordDump) saw_dump_ = true;
      if (k.arg.expr == nullptr) {
        diags_.report<diag::operand_value>(k.arg.span, info.name).help("'{}' takes an expression", k.name);
        return nullptr;
      }
      by_name[i] = k.arg.expr;
      named_places[i] = k.arg.span;
      any_by_name = is_operand = true;
    }
    if (is_operand) continue;
    const Keyword* row = info.keyword(k.name);
    AttrValue value;
    if (row != nullptr) {
      if (!read_keyword(diags_, op, *row, k.arg, value)) return nullptr;
      note_dialect(*row, k.arg);
      if (row->kind == KwKind::DType) dtype_keyword = &k;
    } else if (k.arg.expr != nullptr) {
      if (const auto* i = dyn<ConstInt>(k.arg.expr)) {
        value = AttrValue::of_int(i->value);
      } else if (const auto* b = dyn<ConstBool>(k.arg.expr)) {
        value = AttrValue::of_bool(b->value);
      } else if (const auto* f = dyn<ConstFloat>(k.arg.expr)) {
        value = AttrValue::of_float(f->value);
      } else {
        value = AttrValue::of_expr(k.arg.expr);
      }
    } else {
      value = k.arg.value;
    }
    kwargs.push_back({ctx_.name(k.name), value});
  }
  if (info.syntax == Syntax::Full && by_name[1] != nullptr) {
    // The bare value of the legacy dialect has lost its own dtype; the tile's takes its place (G10).
    const auto* dtype = find_attr(Attrs(kwargs), "dtype");
    const Expr*& value = by_name[1];
    const auto* i = dyn<ConstInt>(value);
    const auto* f = dyn<ConstFloat>(value);
    const bool bare = (i != nullptr && i->dtype == DType::INDEX) || (f != nullptr && f->dtype == DType::FP32);
    const bool typed_text = value->span.valid() && file_.text()[value->span.begin - file_.base()] == '(';
    if (op == OpId::tile_full && (i != nullptr || f != nullptr))
      (typed_text || !bare ? saw_dump_ : saw_legacy_) = true;
    if (bare && !typed_text && dtype != nullptr && dtype->kind == AttrKind::DType) {
      const auto to = static_cast<DType>(dtype->integer);
      if (i != nullptr) value = ctx_.const_int(i->value, to, i->span);
      if (f != nullptr) value = ctx_.const_float(f->value, to, f->span);
    }
  }
  (void)dtype_keyword;
  if (info.syntax == Syntax::SyncAll && by_name[0] != nullptr) {
    // "used_cores=0" stands for an absent count; the stored order is core_type, mode.
    if (by_name[1] != nullptr && const_int(by_name[1]) == std::int64_t{0}) by_name[1] = nullptr;
    std::stable_sort(kwargs.begin(), kwargs.end(),
                     [](const Attr& a, const Attr& b) { return a.key.text() < b.key.text(); });
  }
  if (any_by_name) {
    for (std::size_t i = 0; i < by_name.size(); ++i) {
      if (by_name[i] == nullptr) continue;
      operands.push_back(by_name[i]);
      places.push_back(named_places[i]);
    }
  }
  if (info.syntax == Syntax::RemoteLoad && path.rest == kTailPadding) {
    kwargs.push_back({ctx_.name(kPaddingKey), AttrValue::of_bool(true)});
  }
  if (info.syntax == Syntax::AllocWindow && find_attr(Attrs(kwargs), "name") == nullptr) {
    // Legacy text does not show the logical name; it is the base of the name that is assigned.
    saw_legacy_ = true;
    if (!assigned_name_.empty()) {
      const std::string_view base = parse_auto_name(assigned_name_.text()).base;
      kwargs.push_back({ctx_.name("name"), AttrValue::of_string(ctx_.text(base))});
    }
  }
  const Call* call = ctx_.call(op, ctx_.list(operands), shared_attrs(kwargs), attrs, ctx_.unknown(), whole);
  DiagSink found;
  if (!check_call(found, call, CallSource::Printed)) {
    UsePlaces place(ctx_);
    for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = place(operands[i], places[i]);
    Call located = *call;
    located.args = ctx_.list(operands);
    if (check_call(diags_, &located, CallSource::Printed)) check_call(diags_, call, CallSource::Printed);
    return nullptr;
  }
  for (const Attr& kwarg : kwargs) {
    // Printed in single quotes, without escapes.
    if (kwarg.value.kind == AttrKind::String && !is_plain_string(kwarg.value.text, whole)) return nullptr;
  }
  // The annotation of an assignment tells the type (format.md 2.10); elsewhere it is deduced, quietly: a pass
  // may have written what the rules would refuse (G44).
  if (path.begin == annotated_at_) return call;
  DiagSink quiet;
  const Type* type =
      check_call(quiet, call) ? deduce(ctx_, quiet, op, call->args, call->kwargs, whole) : nullptr;
  return type != nullptr ? ctx_.call_with_type(call, type) : call;
}

const Expr* Reader::typed(const Expr* e) {
  const auto* call = dyn<Call>(e);
  if (call == nullptr || !call->is_op() || call->type->kind != TypeKind::Unknown || annotated_at_ == 0)
    return e;
  DiagSink quiet;
  if (!check_call(quiet, call)) return e;
  const Type* type = deduce(ctx_, quiet, call->op, call->args, call->kwargs, call->span);
  return type != nullptr ? ctx_.call_with_type(call, type) : e;
}

// --- printing
// --------------------------------------------------------------------------------------------------

void Writer::op_name(const OpInfo& info) {
  if (info.name.substr(0, 4) != "pld.") prefix();
  out_ += info.name;
  if (op_needs_underscore(info.name)) out_ += '_';
}

void Writer::op_call(const Call& c) {
  const OpInfo& info = op_info(c.op);
  const bool dump = options_.dialect == Dialect::Dump;
  std::string_view hidden;  // a keyword that is not printed
  bool comma = false;
  const auto separate = [&] {
    if (comma) out_ += ", ";
    comma = true;
  };
  const auto keyword_operand = [&](std::string_view name, const Expr* e) {
    separate();
    out_ += name;
    out_ += '=';
    expr(e);
  };
  switch (info.syntax) {
    case Syntax::AllocWindow:
      if (dump) {
        prefix();
        out_ += "_dump.alloc_window_buffer";
      } else {
        op_name(info);
        hidden = "name";
      }
      break;
    case Syntax::RemoteLoad: {
      const AttrValue* padding = find_attr(c.kwargs, kPaddingKey);
      if (padding != nullptr && padding->as_bool()) {
        out_ += "pld.";
        out_ += kTailPadding;
        hidden = kPaddingKey;
      } else {
        op_name(info);
      }
      break;
    }
    case Syntax::TensorAdd:
      // An add of a constant prints as its scalar form (G3).
      if (c.args.size() == 2 &&
          (c.args[1]->kind == ExprKind::ConstInt || c.args[1]->kind == ExprKind::ConstFloat)) {
        op_name(op_info(OpId::tensor_adds));
      } else {
        op_name(info);
      }
      break;
    case Syntax::SplitHidden:
      op_name(info);
      if (in_split_region_) hidden = "split";
      break;
    case Syntax::TaskDummy: {
      op_name(info);
      out_ += "(deps=[";
      if (const AttrValue* deps = find_attr(c.attrs, "manual_dep_edges")) {
        for (std::size_t i = 0; i < deps->vars.size(); ++i) {
          if (i != 0) out_ += ", ";
          out_ += name(deps->vars[i]);
        }
      }
      out_ += ']';
      bool open = false;
      for (const Attr& attr : c.attrs) {
        if (attr.key.text() == "manual_dep_edges" || attr.key.text() == "dummy_task") continue;
        out_ += open ? ", " : ", attrs={";
        open = true;
        quoted(attr.key.text());
        out_ += ": ";
        attr_value(attr.value);
      }
      out_ += open ? "})" : ")";
      return;
    }
    case Syntax::Full: {
      op_name(info);
      out_ += '(';
      if (!c.args.empty()) expr(c.args[0]);
      if (const AttrValue* d = find_attr(c.kwargs, "dtype")) {
        out_ += ", dtype=";
        dtype(static_cast<DType>(d->integer));
      }
      if (c.args.size() > 1) {
        out_ += ", value=";
        full_value(c.args[1], dump && c.op == OpId::tile_full);
      }
      call_attrs(c.attrs, true);
      out_ += ')';
      return;
    }
    case Syntax::SyncAll: {
      const AttrValue* mode = find_attr(c.kwargs, "mode");
      op_name(info);
      if (c.args.empty() || mode == nullptr) break;
      out_ += "(mode=";
      const AttrValue* core = find_attr(c.kwargs, "core_type");
      sync_word("SyncAllMode", mode->text, dump);
      out_ += ", core_type=";
      sync_word("KernelType", core != nullptr ? core->text : std::string_view("mix"), dump);
      out_ += ", gm_workspace=";
      expr(c.args[0]);
      out_ += ", used_cores=";
      if (c.args.size() < 2) {
        out_ += '0';
      } else if (const auto constant = const_int(c.args[1])) {
        integer(*constant);
      } else {
        expr(c.args[1]);
      }
      call_attrs(c.attrs, true);
      out_ += ')';
      return;
    }
    case Syntax::Plain:
    case Syntax::ReinterpretView:
    case Syntax::GatherRow:
    case Syntax::MGather:
    case Syntax::Alloc:
    case Syntax::Slice:
      op_name(info);
      break;
  }
  out_ += '(';
  std::size_t positional = c.args.size();
  if (info.syntax == Syntax::MGather) {
    positional = std::min<std::size_t>(positional, 2);
  } else {
    for (std::size_t i = 0; i < c.args.size() && i < info.operands.size(); ++i) {
      const Spelling s = info.operands[i].spelling;
      if (s == Spelling::Keyword || (s == Spelling::KeywordDump && dump)) {
        positional = i;
        break;
      }
    }
  }
  for (std::size_t i = 0; i < positional; ++i) {
    separate();
    if (i == 0 && info.syntax == Syntax::Alloc) {
      if (const auto space = const_int(c.args[0])) {
        const bool known =
            *space >= 0 && *space < static_cast<std::int64_t>(std::size(EnumNames<MemSpace>::names));
        enum_member("Mem", known ? name_of(static_cast<MemSpace>(*space)) : std::string_view("Unknown"));
        continue;
      }
    }
    expr(c.args[i]);
  }
  if (info.syntax == Syntax::ReinterpretView) {
    if (const AttrValue* d = find_attr(c.kwargs, "dtype")) {
      separate();
      out_ += "dtype=";
      dtype(static_cast<DType>(d->integer));
      hidden = "dtype";
    }
  }
  if (info.syntax == Syntax::MGather) {
    const AttrValue* coalesce = find_attr(c.kwargs, "coalesce");
    const bool elements = coalesce != nullptr && coalesce->integer == 1;
    if (elements && c.args.size() > 2) keyword_operand("scratch", c.args[2]);
    if (!elements && c.args.size() == 3) keyword_operand("valid_shape", c.args[2]);
    if (elements && c.args.size() == 4) keyword_operand("valid_shape", c.args[3]);
  } else {
    for (std::size_t i = positional; i < c.args.size(); ++i) {
      keyword_operand(i < info.operands.size() ? info.operands[i].name : std::string_view("arg"), c.args[i]);
    }
  }
  for (const Attr& kwarg : c.kwargs) {
    if (!hidden.empty() && kwarg.key.text() == hidden) continue;
    separate();
    out_ += kwarg.key.text();
    out_ += '=';
    kwarg_value(info, kwarg);
  }
  call_attrs(c.attrs, comma);
  out_ += ')';
}

}  // namespace pldc
