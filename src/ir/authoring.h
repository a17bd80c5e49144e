// The authoring layer (decisions D3, D25): from an op call as a person writes it to the Call that printed
// text shows. Short names, aliases, operands by keyword, keywords by position, enum members by name,
// defaults, filled operands, re-typed constants and deduced types (format.md 2.11, 4.2). Printed text goes
// through read_keyword alone.
#pragma once

#include <string_view>
#include <vector>

#include "ir/context.h"
#include "support/diag.h"

namespace pldc {

// One argument: an expression, or a value that is no expression (a dtype, an enum member, a string, None,
// ...).
struct AuthoringArg {
  const Expr* expr = nullptr;  // null: `value` counts
  AttrValue value;
  // The enum's name if the argument was written as `pl.<enum>.<member>`: `value` is then the member's name
  // (String) or its number; empty otherwise.
  std::string_view enum_type;
  bool none = false;  // written as None
  Span span;

  AuthoringArg() = default;
  AuthoringArg(const Expr* e) : expr(e), span(e->span) {}  // NOLINT: made to be implicit
  AuthoringArg(AttrValue v, Span s, std::string_view type = {}) : value(v), enum_type(type), span(s) {}
};

struct AuthoringKeyword {
  std::string_view name;
  Span name_span;
  AuthoringArg arg;
};

struct AuthoringCall {
  bool pld = false;  // written after `pld.` rather than `pl.`
  std::string_view
      name;  // what follows the prefix: "load", "tile.load", "tensor.and_", "builtin.tensor.barrier"
  Span name_span;
  Span span;
  std::vector<AuthoringArg> args;
  std::vector<AuthoringKeyword> keywords;
  Attrs attrs = {};  // stored on the call as they are
};

// The op that a written name means, or none_. `pld`: written after `pld.`. `leaf`: what follows the prefix,
// with a category ("tile.load") or without ("load"); the category of a short name comes from the kinds of the
// operands, and a scalar second operand picks the `...s` op where there is one (format.md 4.2.1). Keywords
// count where the name alone does not tell (gather with mask_pattern=). Reports nothing.
OpId resolve_short_name(bool pld, std::string_view leaf, const std::vector<AuthoringArg>& args,
                        const std::vector<AuthoringKeyword>& keywords = {});
// The same with positional operands only.
OpId resolve_short_name(bool pld, std::string_view leaf, List<const Expr*> args);

// Whether `leaf` after the prefix means an op for some operands: tells an op call from other things in `pl.`.
bool is_op_name(bool pld, std::string_view leaf);

// Whether the call is one of the seven collectives of passes.md 4.5 (pld.all_reduce, all_gather,
// reduce_scatter, broadcast, all_to_all, all_to_all_v, barrier under its short name with wrapper semantics).
bool is_ergonomic_wrapper(const AuthoringCall& call);

// The completed call, or null after an error was reported. Also the operators on scalars that share a name
// with an op (pl.add(n, 1)) give their expression, so the result is not always a Call.
const Expr* author_expr(Context& context, DiagSink& diags, const AuthoringCall& call);
// As author_expr, for names that mean ops; null (and a report) for anything else.
const Call* author_call(Context& context, DiagSink& diags, const AuthoringCall& call);

// What an ergonomic wrapper becomes: statements that go directly before the one it stands in, then the call.
struct AuthoredWrapper {
  std::vector<const Stmt*> hoisted;  // allocation and window of the signal
  const Call* call = nullptr;        // null: an error was reported
};
// `counter`: the number for the next generated name `__auto_<op>_<n>`; advanced if one is made. One a
// program.
AuthoredWrapper author_wrapper(Context& context, DiagSink& diags, const AuthoringCall& call, int& counter);

// The name of the allocation that `name = pld.alloc_window_buffer(...)` makes: `call` with the keyword
// `name`.
const Call* name_allocation(Context& context, const Call* call, std::string_view name);

// The value to store for a written keyword, of the kind that the op's table says. Reports a value of another
// kind or an unknown enum member, with the allowed ones, and returns false. `op` names the op in messages.
bool read_keyword(DiagSink& diags, OpId op, const Keyword& keyword, const AuthoringArg& arg, AttrValue& out);

// The default of a keyword as a stored value; the keyword must have one.
AttrValue keyword_default(const Keyword& keyword);

// x[i], x[i, a:b] on a tensor, arr[i] on an array (format.md 2.11).
struct AuthoringIndex {
  const Expr* start = nullptr;  // null: from the beginning (slices only)
  const Expr* stop = nullptr;   // null: to the end (slices only)
  bool slice = false;           // false: `start` is the index
  Span span;
};
const Expr* author_subscript(Context& context, DiagSink& diags, const Expr* base,
                             const std::vector<AuthoringIndex>& indices, Span span);
// The value to bind to `base` for `base[indices] = value`.
const Expr* author_store_subscript(Context& context, DiagSink& diags, const Expr* base,
                                   const std::vector<AuthoringIndex>& indices, const Expr* value, Span span);

// Binary operators as a person writes them: both operands of one category, a Cast around the narrower one
// (format.md 2.9.3). Null after a report.
const Expr* author_binary(Context& context, DiagSink& diags, BinaryOp op, const Expr* lhs, const Expr* rhs,
                          Span span);

}  // namespace pldc
