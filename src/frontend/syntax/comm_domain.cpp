// domain = "with" "pl._dump.comm_domain(name=" STRING ", devices=[" ints "], slots=[" wbuf { "," wbuf } "]"
//          [ ", attrs={...}" ] "):" body
// wbuf   = "pl._dump.window_buffer(" STRING ", base=" STRING ", size=" expr ", load_from_host=" bool
//          ", store_to_host=" bool ")"
// In the legacy dialect a domain is the comment line `# pld.comm_domain: devices=..., slots=[...]` (decisions
// D18).
#include <algorithm>
#include <charconv>

#include "frontend/reader.h"
#include "frontend/writer.h"
#include "ir/auto_name.h"
#include "support/diag/parse.h"

namespace pldc {

namespace {

constexpr std::string_view kLegacyLine = "pld.comm_domain:";

const Call* op_call_of(const Expr* value) { return op_call(value, OpId::pld_tensor_alloc_window_buffer); }

}  // namespace

bool Reader::read_label(std::string_view& label) {
  // Older texts have numbers for labels.
  if (at(Tok::Int)) {
    label = text(take());
    return true;
  }
  if (!read_string(label, "labelling the window")) return false;
  if (label.empty()) {
    diags_.report<diag::empty_label>(span_from(prev_end_ - 2)).help("name the window, e.g. \"buf_window\"");
    return false;
  }
  return true;
}

const Var* Reader::window_by_label(std::string_view label, Span where) {
  WindowDecl& decl = windows_[std::string(label)];
  if (decl.var == nullptr) {
    decl.var = ctx_.var(ctx_.name(label), ctx_.simple(TypeKind::Ptr), where);
    decl.span = where;
  }
  return decl.var;
}

void Reader::check_window_labels() {
  std::vector<std::pair<Span, std::string_view>> missing;
  for (const auto& [label, decl] : windows_) {
    if (decl.descriptor.empty()) missing.emplace_back(decl.span, label);
  }
  std::sort(missing.begin(), missing.end(),
            [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
  for (const auto& [where, label] : missing) {
    diags_.report<diag::undefined_window>(where, label)
        .help(
            "a slot of a communication domain defines it: pl._dump.window_buffer(\"{}\", base=..., size=...)",
            label);
  }
}

// Behind "pl._dump.window_buffer".
bool Reader::read_window_buffer(WindowSlot& slot) {
  const std::uint32_t begin = tok_.begin;
  slot = WindowSlot{};
  if (!expect(Tok::LParen, "after 'pl._dump.window_buffer'")) return false;
  std::string_view label;
  std::string_view base;
  Span base_span{};
  int position = 0;
  while (!at(Tok::RParen)) {
    std::string_view key;
    if (at(Tok::Name) && peek2().kind == Tok::Assign) {
      key = text(take());
      take();
    } else if (position < 3) {
      constexpr std::string_view names[] = {"key", "base", "size"};
      key = names[position];
    }
    ++position;
    bool good = true;
    if (key == "key") {
      good = read_label(label);
    } else if (key == "base") {
      base_span = span(tok_);
      good = read_string(base, "naming the allocation");
    } else if (key == "size") {
      in_domain_header_ = true;
      slot.size = read_expr();
      in_domain_header_ = false;
      good = slot.size != nullptr;
    } else if (key == "load_from_host") {
      good = read_bool(slot.load_from_host, "for load_from_host");
    } else if (key == "store_to_host") {
      good = read_bool(slot.store_to_host, "for store_to_host");
    } else {
      unexpected("key, base, size, load_from_host or store_to_host");
      good = false;
    }
    if (!good) return false;
    if (!accept(Tok::Comma)) break;
  }
  if (!expect(Tok::RParen, "after the window's description")) return false;
  if (label.empty() || base.empty() || slot.size == nullptr) {
    diags_.report<diag::window_fields>(span_from(begin)).help("give a label, base= and size=");
    return false;
  }
  const std::string_view descriptor = file_.text().substr(begin, prev_end_ - begin);
  WindowDecl& decl = windows_[std::string(label)];
  if (!decl.descriptor.empty()) {
    if (decl.descriptor != descriptor) {
      diags_.report<diag::window_conflict>(span_from(begin), label)
          .note(decl.span, "the other description is here")
          .help("two descriptions of one window must be equal");
      return false;
    }
  } else {
    const Name name = ctx_.name(base);
    if (decl.var == nullptr) {
      decl.var = forward(name, ctx_.simple(TypeKind::Ptr), base_span);
    } else {
      // Mentioned before it was described: only now its name is known.
      const_cast<Var*>(decl.var)->name = name;
      if (lookup(name) == nullptr) forward_[name] = decl.var;
    }
    if (const Var* bound = lookup(name); bound != nullptr && bound->type->kind == TypeKind::Ptr)
      decl.var = bound;
    decl.descriptor = descriptor;
    decl.span = span_from(begin);
  }
  slot.base = decl.var;
  return true;
}

bool Reader::read_comm_domain(Block& block, const Token& first) {
  saw_dump_ = true;
  ScopeStmt n{};
  n.kind = StmtKind::Scope;
  n.scope = ScopeKind::CommDomain;
  std::vector<std::int64_t> devices;
  std::vector<WindowSlot> slots;
  std::vector<Attr> attrs;
  bool has_name = false;
  bool has_devices = false;
  bool has_slots = false;
  const std::uint32_t header = tok_.begin;
  if (!expect(Tok::LParen, "after 'pl._dump.comm_domain'")) return false;
  while (!at(Tok::RParen)) {
    const Token key_token = tok_;
    if (!at(Tok::Name) || peek2().kind != Tok::Assign) {
      unexpected("name=, devices=, slots= or attrs=");
      return false;
    }
    const std::string_view key = text(take());
    take();
    if (key == "name") {
      has_name = true;
      if (!read_string(n.name_hint, "naming the domain")) return false;
    } else if (key == "devices") {
      has_devices = true;
      if (!expect(Tok::LBracket, "before the devices")) return false;
      while (!at(Tok::RBracket)) {
        const Token device_token = tok_;
        std::int64_t device = 0;
        if (!read_int(device, "as a device number")) return false;
        if (device < 0) {
          diags_.report<diag::negative_device>(span(device_token), device)
              .help("devices are numbered from 0");
          return false;
        }
        devices.push_back(device);
        if (!accept(Tok::Comma)) break;
      }
      if (!expect(Tok::RBracket, "after the devices")) return false;
    } else if (key == "slots") {
      has_slots = true;
      if (!expect(Tok::LBracket, "before the slots")) return false;
      while (!at(Tok::RBracket)) {
        Path path;
        if (!at(Tok::Name) || !read_path(path)) {
          if (!at(Tok::Name)) unexpected("'pl._dump.window_buffer(...)'");
          return false;
        }
        if (path.rest != "_dump.window_buffer") {
          diags_.report<diag::slot_form>(path.span).help(
              "a slot is written pl._dump.window_buffer(\"label\", base=..., size=...)");
          return false;
        }
        WindowSlot slot{};
        if (!read_window_buffer(slot)) return false;
        slots.push_back(slot);
        if (!accept(Tok::Comma)) break;
      }
      if (!expect(Tok::RBracket, "after the slots")) return false;
    } else if (key == "attrs") {
      if (!read_attr_dict(attrs, false)) return false;
    } else {
      diags_.report<diag::unknown_form_option>(span(key_token), key, "pl._dump.comm_domain",
                                               "name, devices, slots, attrs");
      return false;
    }
    if (!accept(Tok::Comma)) break;
  }
  if (!expect(Tok::RParen, "after the domain's arguments") ||
      !expect(Tok::Colon, "after the domain's header"))
    return false;
  if (!has_name || !has_devices || !has_slots) {
    diags_.report<diag::domain_fields>(lex_.span(header, prev_end_)).help("give name=, devices= and slots=");
    return false;
  }
  if (at(Tok::Newline)) take();
  n.comments = take_header_comments();
  n.devices = ctx_.list(devices);
  n.slots = ctx_.list(slots);
  n.attrs = ctx_.list(attrs);
  Block body;
  ++domain_depth_;
  const bool good = read_block(body, "with", IfEmpty::Accept);
  --domain_depth_;
  if (!good) return false;
  // Whatever the header named must be defined by now; the outermost domain answers for all.
  if (domain_depth_ == 0 && !forward_.empty()) {
    std::vector<const Var*> left;
    for (const auto& [name, var] : forward_) left.push_back(var);
    std::sort(left.begin(), left.end(),
              [](const Var* a, const Var* b) { return a->span.begin < b->span.begin; });
    for (const Var* var : left) {
      if (var->type->kind == TypeKind::Ptr) continue;  // an allocation in another function or a fragment
      diags_.report<diag::undefined_name>(var->span, var->name.text())
          .help("the domain's body must assign it");
    }
    forward_.clear();
  }
  // The variables of the sizes have their types only now.
  for (WindowSlot& slot : slots) slot.size = retyped(slot.size);
  n.slots = ctx_.list(slots);
  n.body = ctx_.list(body.stmts);
  n.span = span_from(first.begin);
  propagate_yield(block, body);
  block.stmts.push_back(make_scope(n));
  return true;
}

// Arithmetic rebuilt over operands whose types have become known.
const Expr* Reader::retyped(const Expr* e) {
  const auto* b = dyn<Binary>(e);
  return b == nullptr ? e : ctx_.binary(b->op, retyped(b->lhs), retyped(b->rhs), b->span);
}

namespace {

struct LegacyLine {
  bool good = false;
  std::vector<std::int64_t> devices;
  std::vector<std::string_view> slots;
};

// "devices=all, slots=[a, b]" or "devices=[0, 1], slots=[a]"
LegacyLine parse_legacy_line(std::string_view line) {
  LegacyLine result;
  const auto skip = [&](std::string_view word) {
    if (line.substr(0, word.size()) != word) return false;
    line.remove_prefix(word.size());
    return true;
  };
  const auto items = [&](std::vector<std::string_view>& out) {
    const std::size_t end = line.find(']');
    if (end == std::string_view::npos) return false;
    std::string_view list = line.substr(0, end);
    line.remove_prefix(end + 1);
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      std::string_view item = list.substr(0, comma);
      while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
      while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
      out.push_back(item);
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return true;
  };
  if (!skip(kLegacyLine) || !skip(" devices=")) return result;
  if (!skip("all")) {
    std::vector<std::string_view> numbers;
    if (!skip("[") || !items(numbers)) return result;
    for (const std::string_view number : numbers) {
      std::int64_t device = 0;
      const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), device);
      if (error != std::errc() || end != number.data() + number.size()) return result;
      result.devices.push_back(device);
    }
  }
  if (!skip(", slots=[") || !items(result.slots) || !line.empty()) return result;
  result.good = !result.slots.empty();
  return result;
}

}  // namespace

// Turns the structured comment lines at the head of a host body back into scopes, first line outermost: slots
// are the named allocations, and what is a view of one gets its reference again.
Body Reader::restore_legacy_domains(const std::vector<const Stmt*>& body) {
  if (body.empty() || body[0]->comments.empty()) return ctx_.list(body);
  std::vector<std::string_view> before;
  std::vector<std::string_view> after;
  std::vector<ScopeStmt> scopes;
  std::unordered_map<std::string_view, const AssignStmt*> allocations;
  for (const std::string_view comment : body[0]->comments) {
    if (comment.substr(0, kLegacyLine.size()) != kLegacyLine) {
      (scopes.empty() ? before : after).push_back(comment);
      continue;
    }
    saw_legacy_ = true;
    if (allocations.empty()) {
      walk_stmts(ctx_.list(body), [&](const Stmt* s) {
        const auto* assign = dyn<AssignStmt>(s);
        if (assign != nullptr && op_call(assign->value, OpId::pld_tensor_alloc_window_buffer) != nullptr) {
          allocations.emplace(assign->var->name.text(), assign);
        }
      });
    }
    const LegacyLine line = parse_legacy_line(comment);
    ScopeStmt n{};
    n.kind = StmtKind::Scope;
    n.scope = ScopeKind::CommDomain;
    n.span = body[0]->span;
    n.name_hint = ctx_.text("comm_d" + std::to_string(scopes.size()));
    n.devices = ctx_.list(line.devices);
    std::vector<WindowSlot> slots;
    bool good = line.good;
    for (const std::string_view slot : line.slots) {
      const auto found = allocations.find(slot);
      if (found == allocations.end()) {
        good = false;
        break;
      }
      const auto* call = static_cast<const Call*>(found->second->value);
      slots.push_back(
          {found->second->var, call->args.empty() ? ctx_.const_int(0) : call->args[0], false, false});
    }
    if (!good) {
      diags_.report<diag::legacy_domain>(body[0]->span)
          .help(
              "each slot names a variable that pld.tensor.alloc_window_buffer is assigned to in this "
              "function");
      (scopes.empty() ? before : after).push_back(comment);
      continue;
    }
    n.slots = ctx_.list(slots);
    scopes.push_back(n);
  }
  if (scopes.empty()) return ctx_.list(body);
  // The statement that carried the lines keeps the other comments that stood behind them.
  const_cast<Stmt*>(body[0])->comments = ctx_.list(after);  // just read, not published yet
  scopes[0].comments = ctx_.list(before);
  restore_window_references(ctx_.list(body), scopes);
  Body inner = ctx_.list(body);
  for (std::size_t i = scopes.size(); i-- > 0;) {
    scopes[i].body = inner;
    inner = ctx_.list({make_scope(scopes[i])});
  }
  return inner;
}

// Window bindings, aliases of windows, and builtin collectives on them: the places where a program in memory
// has the reference at this stage (decisions D10). The nodes were just read and belong to nobody else yet.
void Reader::restore_window_references(Body body, const std::vector<ScopeStmt>& scopes) {
  const auto is_slot = [&](const Var* v) {
    for (const ScopeStmt& scope : scopes) {
      for (const WindowSlot& slot : scope.slots) {
        if (slot.base == v) return true;
      }
    }
    return false;
  };
  const auto window_of = [](const Expr* e) -> const Var* {
    const auto* tensor = e != nullptr ? dyn<TensorType>(e->type) : nullptr;
    return tensor != nullptr ? tensor->window : nullptr;
  };
  const auto retype = [&](const Expr* e, const Var* window) {
    if (const auto* tensor = dyn<TensorType>(e->type); tensor != nullptr && is_distributed(tensor)) {
      const_cast<Expr*>(e)->type = ctx_.with_window(tensor, window);
    }
  };
  walk_stmts(body, [&](const Stmt* s) {
    const auto* assign = dyn<AssignStmt>(s);
    const Expr* value = assign != nullptr ? assign->value : nullptr;
    if (const auto* eval = dyn<EvalStmt>(s)) value = eval->value;
    if (value == nullptr) return;
    if (const auto* call = dyn<Call>(value); call != nullptr && call->is_op()) {
      if (call->op == OpId::pld_tensor_window && !call->args.empty()) {
        const auto* base = dyn<Var>(call->args[0]);
        if (base == nullptr || !is_slot(base)) return;
        retype(call, base);
        if (assign != nullptr) retype(assign->var, base);
      } else if (op_info(call->op).name.substr(0, 8) == "builtin.") {
        const std::int8_t alias = op_info(call->op).effects.result_aliases;
        if (alias < 0 || static_cast<std::size_t>(alias) >= call->args.size()) return;
        const Expr* operand = call->args[static_cast<std::size_t>(alias)];
        if (window_of(operand) == nullptr) return;
        if (is_unknown(call->type)) {
          const_cast<Expr*>(value)->type = operand->type;
        } else {
          retype(call, window_of(operand));
        }
      }
    } else if (assign != nullptr && value->kind == ExprKind::Var && window_of(value) != nullptr) {
      retype(assign->var, window_of(value));
    }
  });
}

// --- printing
// --------------------------------------------------------------------------------------------------

std::string_view Writer::window_label(const Var* base) {
  auto& label = labels_[base];
  if (label.empty()) {
    const std::string stem = std::string(name(base)) + "_window";
    const int count = label_counts_[stem]++;
    label = count == 0 ? stem : stem + "_" + std::to_string(count);
  }
  return label;
}

void Writer::comm_domain(const ScopeStmt& s, std::string_view yield_names, bool top) {
  if (options_.dialect == Dialect::Legacy) {
    pad();
    out_ += "# pld.comm_domain: devices=";
    if (s.devices.empty()) {
      out_ += "all";
    } else {
      out_ += '[';
      for (std::size_t i = 0; i < s.devices.size(); ++i) {
        if (i != 0) out_ += ", ";
        integer(s.devices[i]);
      }
      out_ += ']';
    }
    out_ += ", slots=[";
    for (std::size_t i = 0; i < s.slots.size(); ++i) {
      if (i != 0) out_ += ", ";
      out_ += name(s.slots[i].base);
    }
    out_ += "]\n";
    note_lost_domain(s, top);
    top_level_ = top;
    ++domain_depth_;
    statements(s.body, yield_names);
    --domain_depth_;
    return;
  }
  pad();
  out_ += "with ";
  prefix();
  out_ += "_dump.comm_domain(name=";
  quoted(s.name_hint);
  out_ += ", devices=[";
  for (std::size_t i = 0; i < s.devices.size(); ++i) {
    if (i != 0) out_ += ", ";
    integer(s.devices[i]);
  }
  out_ += "], slots=[";
  for (std::size_t i = 0; i < s.slots.size(); ++i) {
    const WindowSlot& slot = s.slots[i];
    if (i != 0) out_ += ", ";
    prefix();
    out_ += "_dump.window_buffer(";
    quoted(window_label(slot.base));
    out_ += ", base=";
    quoted(name(slot.base));
    out_ += ", size=";
    expr(slot.size);
    out_ += slot.load_from_host ? ", load_from_host=True" : ", load_from_host=False";
    out_ += slot.store_to_host ? ", store_to_host=True)" : ", store_to_host=False)";
  }
  out_ += ']';
  if (!s.attrs.empty()) {
    out_ += ", attrs=";
    attr_dict(s.attrs);
  }
  out_ += "):\n";
  ++domain_depth_;
  ++indent_;
  if (s.body.empty()) {
    pad();
    out_ += "pass";
  } else {
    statements(s.body, yield_names);
  }
  --indent_;
  --domain_depth_;
}

// What the comment line cannot carry (decisions D1, D18).
void Writer::note_lost_domain(const ScopeStmt& s, bool at_head) {
  if (options_.lost == nullptr) return;
  const auto lose = [&](std::string what) { options_.lost->push_back(std::move(what)); };
  const std::string domain = "domain '" + std::string(s.name_hint) + "'";
  if (!s.attrs.empty()) lose("the attributes of " + domain);
  if (!at_head) lose("the place of " + domain + ", which is not at the head of the host function");
  for (const WindowSlot& slot : s.slots) {
    const std::string window = "window '" + std::string(slot.base->name.text()) + "'";
    if (slot.load_from_host || slot.store_to_host) lose("the staging flags of " + window);
    const AssignStmt* allocation = nullptr;
    walk_stmts(s.body, [&](const Stmt* inner) {
      const auto* assign = dyn<AssignStmt>(inner);
      if (assign != nullptr && assign->var == slot.base) allocation = assign;
    });
    const Call* call = allocation != nullptr ? op_call_of(allocation->value) : nullptr;
    if (call == nullptr || call->args.empty() || !same_dim(call->args[0], slot.size)) {
      lose("the slot size of " + window + ", which differs from its allocation");
    }
  }
}

// The logical name of an allocation is restored from the name it is assigned to.
void Writer::note_lost_allocation(const AssignStmt& s) {
  const Call* call = op_call_of(s.value);
  if (options_.lost == nullptr || call == nullptr) return;
  const AttrValue* logical = find_attr(call->kwargs, "name");
  if (logical != nullptr && logical->text != parse_auto_name(name(s.var)).base) {
    options_.lost->push_back("the logical name '" + std::string(logical->text) + "' of window '" +
                             std::string(name(s.var)) + "'");
  }
}

}  // namespace pldc
