// Printer of the raw text form. One class; the functions for one construct stand in syntax/<construct>.cpp
// beside their Reader counterparts. Appends to a string; never wraps a line.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/output.h"
#include "frontend/text.h"
#include "ir/walk.h"

namespace pldc {

class Writer {
 public:
  Writer(const PrintOptions& options, std::string& out) : options_(options), out_(out) {}

  void module(const Module& module);
  // Fragments: names print as their hints.
  void fragment(const Expr* e) { expr(e); }
  void fragment(const Type* t) { type(t); }

 private:
  // --- names (names.cpp)
  // ---------------------------------------------------------------------------------------
  void collect_dynamics(const Program& program);
  // Decides the printed name of every variable of the function (format.md 1.7).
  void begin_function(const Function& f);
  std::string_view name(const Var* v) const;
  std::string_view plain_name(const Var* v) const;
  bool assigned_here(const Var* v) const;

  // --- small pieces (writer.cpp, syntax/literal.cpp)
  // --------------------------------------------------------------
  void pad() { out_.append(static_cast<std::size_t>(indent_) * 4, ' '); }
  void prefix() {
    out_ += options_.prefix;
    out_ += '.';
  }
  void dtype(DType d) {
    prefix();
    out_ += name_of(d);
  }
  void enum_member(std::string_view type, std::string_view member) {
    prefix();
    out_ += type;
    out_ += '.';
    out_ += member;
  }
  void integer(std::int64_t value);
  void floating(double value);
  void float_bits(double value);
  void quoted(std::string_view text);
  void escaped_hint(std::string_view text);
  void constant(std::int64_t value, DType d);

  // --- constructs
  // -------------------------------------------------------------------------------------------------
  void marked_function(const Function& f);
  void function(const Function& f);
  void comments(List<std::string_view> list);
  void statements(Body body, std::string_view yield_names = {});
  void statement(const Stmt* s, std::string_view yield_names);
  bool is_task_placeholder(const Stmt* stmt, const Stmt* next) const;
  std::string yield_names(List<const Var*> results);
  void body(Body list, List<const Var*> results, List<IterArg> carries = {});
  bool follow_from_carries(List<const Var*> results, List<IterArg> carries) const;
  void if_stmt(const IfStmt& s);
  void for_stmt(const ForStmt& s);
  void while_stmt(const WhileStmt& s);
  void init_values(List<IterArg> args);
  void iter_names(List<IterArg> args);
  void scope(const ScopeStmt& s, std::string_view yield_names, bool pass_if_empty = false);
  void scope_body(Body list, Attrs attrs, std::string_view yield_names, bool pass_if_empty);
  void scope_vars(Attrs attrs, std::string_view key, std::string_view keyword, bool& comma);
  void scope_optimizations(const ScopeStmt& c);
  void name_hint(std::string_view hint);
  void early_and_predicate(Attrs attrs, bool predicate);
  void task_id(Attrs attrs);
  bool cache_policies(Attrs attrs);
  void spmd(const ScopeStmt& s, std::string_view yield_names);
  void split_aiv(const ScopeStmt& s, std::string_view yield_names);
  void comm_domain(const ScopeStmt& s, std::string_view yield_names, bool top);
  void note_lost_domain(const ScopeStmt& s, bool at_head);
  void note_lost_allocation(const AssignStmt& s);
  std::string_view window_label(const Var* base);
  void type(const Type* t);
  void new_type(const Type* t);
  void tensor_type(const TensorType& t);
  void tile_type(const TileType& t);
  void memref(const MemRef& m);
  void dim(const Expr* e);
  void dims(List<const Expr*> list);
  void expr(const Expr* e);
  void exprs(List<const Expr*> list);
  void child(const Expr* e, int parent, bool tie_needs_parens);
  void binary(const Binary& b);
  void call(const Call& c);
  void op_name(const OpInfo& info);
  void op_call(const Call& c);
  void full_value(const Expr* e, bool typed);
  void call_attrs(Attrs attrs, bool comma);
  void sync_word(std::string_view type, std::string_view stored, bool dump);
  void kwarg_value(const OpInfo& info, const Attr& kwarg);
  void recorded_call(const Call& c);
  void function_call(const Call& c);
  void marked_args(List<const Expr*> args, const AttrValue& marks);
  void submit(const Submit& s);
  void attr_value(const AttrValue& v);
  void attr_dict(Attrs attrs);

  const PrintOptions& options_;
  Output out_;
  int indent_ = 0;
  bool bare_ = false;  // the root is a function
  bool in_signature_ = false;
  // The results of the innermost body have names that a reader knows from its carries.
  bool names_follow_ = false;
  bool top_level_ = false;    // the list being printed is a function's top level
  bool typed_index_ = false;  // INDEX constants print as pl.const(v, pl.INDEX)
  bool plain_names_ = false;  // inside a composite dim: no local renaming
  bool in_split_region_ = false;
  int domain_depth_ = 0;

  // Names. All tables are indexed by Var::id or Name::id; an entry counts only if its stamp is the current
  // function's.
  std::vector<std::pair<const Var*, std::string>> dynamics_;  // program-wide symbols, sorted by printed name
  std::unordered_map<const Var*, std::string_view> dynamic_names_;
  struct Local {
    const Var* var;
    bool assigned;  // by an assignment of this body
    bool defined;   // parameter or any definition of this function
    std::string_view printed = {};
  };
  std::vector<Local> locals_;  // of the current function
  struct VarEntry {
    std::uint32_t stamp = 0;
    std::uint32_t local = 0;
  };
  std::vector<VarEntry> vars_;
  const Local* local(const Var* v) const {
    const bool known = v->id < vars_.size() && vars_[v->id].stamp == stamp_ && stamp_ != 0;
    return known ? &locals_[vars_[v->id].local] : nullptr;
  }
  struct NameEntryState {
    std::uint32_t stamp = 0;
    std::uint32_t count = 0;
    std::uint32_t next_suffix = 0;
  };
  std::vector<NameEntryState> hints_;
  std::uint32_t stamp_ = 0;
  Arena storage_;  // of names that are not hints

  // Where a type was printed last: by address, the last of those that share an entry.
  struct PrintedType {
    const Type* type = nullptr;
    std::size_t begin = 0;  // in out_
    std::uint32_t length = 0;
    std::uint32_t stamp = 0;  // of the function whose names are in it; 0: there are none
    bool in_signature = false;
  };
  static constexpr std::size_t kPrintedTypes = 4096;
  std::vector<PrintedType> printed_types_;
  bool passing_ = false;  // what is being printed does not stay where it is

  // Window labels: one per allocation, numbered per stem over the whole text.
  std::unordered_map<const Var*, std::string> labels_;
  std::unordered_map<std::string, int> label_counts_;
};

}  // namespace pldc
