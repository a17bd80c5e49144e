// Recursive-descent reader with two tokens of look-ahead. One class; the functions for one construct stand in
// syntax/<construct>.cpp beside their Writer counterparts.
//
// Conventions: a read_* function returns null (or false) if and only if it has reported an error. accept()
// takes a token if it is there; expect() reports if it is not. Printed text is read literally; in authoring
// text (decisions D25) names, operands and types are completed by ir/authoring.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontend/lexer.h"
#include "frontend/name_uses.h"
#include "frontend/text.h"
#include "ir/authoring.h"
#include "ir/context.h"
#include "support/hash.h"

namespace pldc {

class Reader {
 public:
  Reader(const SourceFile& file, Context& context, DiagSink& diags, const ReadOptions& options);
  Module read();
  // From now on the places of names are noted there.
  void note_names(NameUses& uses) { uses_ = &uses; }

 private:
  using Comments = List<std::string_view>;

  // --- cursor (reader.cpp)
  // -----------------------------------------------------------------------------------
  Token take();
  const Token& peek() const { return tok_; }
  const Token& peek2();
  // The kind of the token behind the name that is next; looks at its character instead of taking it where that is enough.
  Tok after_name();
  bool at(Tok kind) const { return tok_.kind == kind; }
  bool at_word(std::string_view word) const { return tok_.kind == Tok::Name && text(tok_) == word; }
  bool accept(Tok kind) {
    if (tok_.kind != kind) return false;
    take();
    return true;
  }
  bool accept_word(std::string_view word);
  bool expect(Tok kind, std::string_view where) { return accept(kind) || missing(kind, where); }
  bool missing(Tok kind, std::string_view where);  // reports it; false
  bool expect_word(std::string_view word, std::string_view where);
  std::string_view text(const Token& token) const { return lex_.text(token); }
  Span span(const Token& token) const { return lex_.span(token); }
  Span span_from(std::uint32_t begin) const { return lex_.span(begin, prev_end_); }
  std::string found() const;  // the current token as messages name it
  // `to_add`: what would mend it at the end of the token before; empty if that is not known.
  void unexpected(std::string_view wanted, std::string_view to_add = {});
  // Whether the tokens before end a line, and the next one begins another statement for certain.
  bool line_ended() const;
  void resync(std::uint32_t statement_column);
  struct DepthGuard {
    explicit DepthGuard(Reader& r) : DepthGuard(r.depth_) {}
    explicit DepthGuard(std::uint32_t& counter) : count(counter) { ++count; }
    ~DepthGuard() { --count; }
    DepthGuard(const DepthGuard&) = delete;
    DepthGuard& operator=(const DepthGuard&) = delete;
    std::uint32_t& count;
  };
  bool too_deep(Span where);
  bool too_many_links(Span where);
  bool too_many_scopes(Span where);
  // Sets a flag for as long as it lives.
  struct FlagGuard {
    explicit FlagGuard(bool& f) : flag(f), before(f) { flag = true; }
    ~FlagGuard() { flag = before; }
    FlagGuard(const FlagGuard&) = delete;
    FlagGuard& operator=(const FlagGuard&) = delete;
    bool& flag;
    bool before;
  };

  // --- names (reader.cpp)
  // ------------------------------------------------------------------------------------
  void bind(Name name, const Var* var);
  const Var* lookup(Name name) const { return name.id() < scope_.size() ? scope_[name.id()] : nullptr; }
  // Reports a word of Python, which is no name (G28).
  bool usable_name(const Token& token);
  void open_scope() { scope_marks_.push_back(bound_.size()); }
  void close_scope(bool keep_names);
  void reset_scope();
  const Var* dynamic(Name name) const;
  bool report_foreign_form(Name name, Span where);
  const Expr* undefined_name(Name name, Span where);
  // The variable for `name: type = ...`: the current binding if it may be reused, else a new one.
  const Var* assign_target(Name name, Span where, const Type* type);
  std::vector<std::string_view> names_in_scope() const;

  // --- places of names, for note_names() (name_uses.cpp)
  // -----------------------------------------------------
  void note_var(Span where, const Var* var, bool defines) {
    if (uses_ != nullptr) uses_->uses.push_back({NameUse::Kind::Variable, defines, where, var});
  }
  void note_name(NameUse::Kind kind, Span where, Name name, bool defines = false) {
    if (uses_ != nullptr) uses_->uses.push_back({kind, defines, where, nullptr, name});
  }
  void note_op(Span where, OpId op) {
    if (uses_ != nullptr) uses_->uses.push_back({NameUse::Kind::Op, false, where, nullptr, {}, op});
  }
  void note_binding(Name name, const Var* var);
  void note_buffer(std::uint32_t type_begin, std::string_view written, const Type* type);
  void note_functions();

  // The dotted path after the prefix; tokens are consumed.
  struct Path {
    std::string_view head;  // "pl", "pld", "self" or the first name
    std::string_view rest;  // after the head's dot; may contain dots
    Span span;
    std::uint32_t begin = 0;
  };

  // --- module, functions (syntax/module.cpp, syntax/function.cpp)
  // --------------------------------------------
  void read_imports_and_declarations();
  bool read_constant(Name name, Span where);
  bool read_class();
  // Signatures are read first, bodies skipped; so a body may call any function of the program.
  struct Draft {
    Function f{};
    std::vector<Param> params;
    std::vector<Attr> attrs;
    std::uint32_t column = 0;      // of the decorator
    std::uint32_t body_begin = 0;  // local offset of the line after the `def` line
    bool python_body = false;      // a host sub-worker's foreign text
    std::unordered_map<std::string_view, const Var*> memref_bases;
  };
  bool read_signature(std::uint32_t column, bool method);
  const Function* read_body(Draft& draft);
  bool read_decorator(Draft& draft);
  bool read_params(Draft& draft, bool method);
  bool read_return_types(Function& f);
  bool read_func_attr(std::vector<Attr>& attrs);
  // A scalar parameter that stands later in the signature being read.
  const Var* signature_scalar(Name name);
  void find_signature_scalars();
  const Type* result_type(const Function* f);

  // --- statements (syntax/statement.cpp, assignment.cpp, control.cpp, scope.cpp, scope_option.cpp, spmd.cpp)
  // ---------------------------------------------
  struct YieldTarget {
    Name name;
    Span span;
    const Type* type;  // null: not annotated
  };
  struct Block {
    std::vector<const Stmt*> stmts;
    // What the trailing `... = pl.yield_(...)` binds; the enclosing if, for or while makes the variables.
    std::vector<YieldTarget> targets;
    List<const Expr*> yielded;
    bool has_yield = false;  // with or without targets
    std::uint32_t column = 0;
    bool of_else = false;     // an `if` in it is a link of a chain, as an `elif` is
    bool free_scope = false;  // a `with` in it does not count, for passes put one into each loop and branch
  };
  enum class IfEmpty : std::uint8_t { Error, Accept };
  bool read_block(Block& block, std::string_view where, IfEmpty if_empty = IfEmpty::Error);
  void read_statement(Block& block);
  void excuse_names(std::uint32_t begin, std::uint32_t end);
  bool read_simple(Block& block, const Token& first);
  // At the end of a simple statement: the line ends here; takes the comments up to it.
  bool end_line(Comments& comments);
  bool read_assignment(Block& block, const Token& first);
  bool read_unpacking(Block& block, const Token& first);
  bool read_expression_statement(Block& block, const Token& first);
  bool store_through(Block& block, const Token& first, const Expr* target);
  bool finish_assignment(Block& block, const Token& first, const Token& name, const Type* type);
  bool read_yield(Block& block, const Token& first, std::vector<YieldTarget> targets);
  bool at_call(std::string_view leaf);
  bool at_yield();
  bool wraps_whole_line();
  bool bind_symbol(Name name, Span where, const Expr* value);
  const Expr* retype_call(const Expr* value, const Type* type);
  const Type* without_memref(const Type* type);
  const Type* stripped_of_memref(const Type* type);
  Attrs shared_attrs(const std::vector<Attr>& attrs);
  // Statements that a wrapper call hoisted in front of the current one (decisions D4).
  void flush_hoisted(Block& block);
  bool read_return(Block& block, const Token& first);
  bool read_compile_time(const Token& first, std::string_view leaf);
  bool read_cache_policy(const Token& first);
  bool read_python_body(std::vector<const Stmt*>& body);
  bool read_if(Block& block, const Token& first);
  struct Branch;
  bool read_branch(Block& outer, Branch& branch, bool& more);
  void finish_branch(Block& outer, Branch& branch);
  bool read_for(Block& block, const Token& first);
  bool read_range(Block& block, const Token& first, const Token& name, const std::vector<Token>& carry_names,
                  ForKind kind);
  bool read_while(Block& block, const Token& first);
  bool read_while_carry(Block& block, const Token& first, const std::vector<Token>& names);
  bool read_iter_names(std::vector<Token>& names);
  struct LoopTarget {
    std::vector<Token> names;    // outside of the inner parentheses
    std::vector<Token> carries;  // inside them
    bool nested = false;         // there are inner parentheses
  };
  bool read_loop_target(LoopTarget& target);
  bool read_init_values(std::vector<const Expr*>& values);
  bool read_loop_attrs(std::vector<Attr>& attrs);
  List<IterArg> make_carries(const std::vector<Token>& names, const std::vector<const Expr*>& inits,
                             Span where);
  List<const Var*> make_results(const Block& body, List<IterArg> args, Span where);
  void propagate_yield(Block& outer, const Block& inner);
  bool read_with(Block& block, const Token& first);
  struct CachePolicy {
    const Var* tensor;
    std::string_view policy;
  };
  struct ScopeOptions {
    std::string_view name_hint;
    std::vector<const Var*> deps, no_dep, dumps;
    bool has_deps = false;
    const Expr* predicate = nullptr;
    bool allow_early_resolve = false, windowize = false, sync_start = false;
    std::optional<SplitMode> split;
    std::optional<std::int64_t> slot_num;
    std::optional<Level> level;
    std::optional<Role> role;
    const Expr* core_num = nullptr;
    const Var* task_id = nullptr;
    bool manual = false;
    bool has_optimizations = false;
    std::vector<CachePolicy> cache_policies;
  };
  bool read_scope_option(ScopeOptions& o, std::string_view callee);
  bool read_scope_call(ScopeOptions& o, std::string_view callee);
  bool read_optimizations(ScopeOptions& o);
  bool read_var_list(std::vector<const Var*>& vars, bool dependencies = false);
  List<Attr> scope_attrs(const ScopeOptions& o, bool with_slot_num);
  bool read_task_id(ScopeOptions& o, Block& block);
  bool read_spmd(Block& block, const Token& first, const Token* loop_name, const Path& path);
  bool read_split_aiv(Block& block, const Token& first, const Token& name, const Path& path);
  bool read_scope_body(ScopeOptions& o, Block& body);
  bool read_comm_domain(Block& block, const Token& first);
  const Stmt* make_scope(const ScopeStmt& scope);

  // --- communication domains in both dialects (syntax/comm_domain.cpp)
  // ---------------------------------------- A window's label; the variable that its allocation binds is made
  // when the label is first met, and gets its name when the descriptor is.
  struct WindowDecl {
    const Var* var = nullptr;
    std::string_view descriptor;  // text; empty: not defined yet
    Span span;                    // of the descriptor, or of the first reference
  };
  bool read_label(std::string_view& label);
  const Var* window_by_label(std::string_view label, Span where);
  bool read_window_buffer(WindowSlot& slot);
  void check_window_labels();
  const Expr* retyped(const Expr* e);
  // A name that a domain's header uses before the body defines it.
  const Var* forward(Name name, const Type* type, Span where);
  Body restore_legacy_domains(const std::vector<const Stmt*>& body);
  void restore_window_references(Body body, const std::vector<ScopeStmt>& scopes);

  // --- comments (syntax/comment.cpp)
  // ---------------------------------------------------------------------------
  Comments take_comments(std::uint32_t before);
  // Of a compound statement, called behind its header: those before and in the header, and those between it
  // and the first statement of the body that stand left of that statement.
  Comments take_header_comments();
  void drop_block_comments(std::uint32_t column, std::uint32_t before);
  std::string_view comment_text(const Comment& c) const;
  void docstring(const Token& token);

  // --- types (syntax/type.cpp, tensor_type.cpp, tile_type.cpp, memref.cpp)
  // ---------------------------------------------------------------------------------
  const Type* read_type();
  // A type that was read before, by its text.
  struct KnownType {
    const Type* type = nullptr;
    const Type* bare = nullptr;  // the same without its buffer; made when first wanted
    Name base = {};              // of its buffer; empty: it has none
    bool quoted = false;         // how the buffer is written
  };
  std::string_view type_text() const;
  void remember_type(std::string_view written, const Type* type);
  const Type* in_buffer(KnownType& known);
  const Type* read_type_body();
  const Type* read_tensor_type(TypeKind kind);
  const Type* read_tile_type();
  const TensorView* read_tensor_view();
  struct TileViewText;
  bool read_tile_view(TileViewText& view);
  const MemRef* read_memref();
  const Var* memref_base(std::string_view name);
  bool read_dims(std::vector<const Expr*>& dims);
  const Expr* read_dim();
  bool read_dtype(DType& dtype);
  template <class E>
  bool read_enum_member(std::string_view type, E& out);
  template <std::size_t N>
  void unknown_member(Span where, std::string_view member, std::string_view type,
                      const std::string_view (&names)[N]);
  const Expr* read_view_offset();
  template <class E>
  bool enum_from_text(std::string_view type, std::string_view member, Span where, E& out);

  // --- expressions (syntax/expr.cpp, fold.cpp, atom.cpp)
  // ---------------------------------------------------------------------------
  const Expr* read_expr(int level = 0);
  const Expr* read_unary();
  const Expr* read_postfix();
  const Expr* read_atom();
  const Expr* read_name_atom();
  const Expr* read_number(bool negative, std::uint32_t begin);
  const Expr* read_const();
  const Expr* read_list(Tok close, Span open);
  const Expr* make_binary(BinaryOp op, const Expr* lhs, const Expr* rhs, bool foldable, Span where);
  bool is_all_constant(const Expr* e) const;
  const Expr* unfold_negative(const Expr* e);
  const Expr* negated(const Expr* constant, Span where);
  const Expr* fold(BinaryOp op, const Expr* lhs, const Expr* rhs, Span where);
  const Expr* resolve_name(Name name, Span where);
  const Expr* meaning_of(Name name, Span where);
  const Expr* read_subscript(const Expr* base, std::uint32_t begin);
  bool read_int(std::int64_t& value, std::string_view where);
  bool read_string(std::string_view& value, std::string_view where);
  bool read_plain_string(std::string_view& value, std::string_view where);
  bool is_plain_string(std::string_view value, Span where);
  bool read_bool(bool& value, std::string_view where);

  // --- calls (syntax/call.cpp, op_call.cpp, argument.cpp, function_call.cpp)
  // ---------------------------------------------------------------
  bool read_path(Path& path);
  const Expr* read_call(const Path& path);
  const Expr* read_named_op(const Path& path);
  bool read_argument(AuthoringArg& arg);
  bool read_arguments(std::vector<AuthoringArg>& args, std::vector<AuthoringKeyword>& keywords, Attrs& attrs);
  // `op`: none_ for a short name. `author`: completed by the authoring layer, else taken literally.
  const Expr* read_op_call(const Path& path, OpId op, bool author);
  const Expr* read_op_call(const Path& path, OpId op, bool author, std::vector<AuthoringArg>& args,
                           std::vector<AuthoringKeyword>& keywords);
  const Expr* literal_call(const Path& path, OpId op, std::vector<AuthoringArg>& args,
                           std::vector<AuthoringKeyword>& keywords, Attrs attrs, Span whole);
  void stamp_split(OpId op, std::vector<AuthoringKeyword>& keywords, Span where);
  void note_dialect(const Keyword& row, const AuthoringArg& arg);
  // Calls whose type was left to an annotation get it deduced when they turn out to be operands.
  const Expr* typed(const Expr* e);
  const Expr* read_function_call(const Path& path, Name function);
  struct CallOperands {
    std::vector<const Expr*> args;
    std::vector<Span> places;
    std::vector<std::int64_t> overrides;
  };
  bool read_call_operand(CallOperands& operands);
  void check_operands(const Draft& callee, const CallOperands& operands);
  void add_dump_vars(const std::vector<const Expr*>& args, std::vector<Attr>& attrs);
  const Draft* callee_of(Name function) const;
  void missing_callee(Span where, Name function);
  const Expr* read_submit(const Path& path, bool spmd);
  bool read_dep_list(std::vector<const Expr*>& deps);
  void check_dependency(const Expr* e, Span where);
  const Expr* read_recorded_call(const Path& path);
  const Expr* read_task_dummy(const Path& path);
  const Expr* read_float_bits(const Path& path);
  const Expr* read_cast(const Path& path);
  const Expr* read_min_max(const Path& path, BinaryOp op);

  // --- attribute values (syntax/attr.cpp)
  // -------------------------------------------------------------------------
  bool read_value(AttrValue& value, std::string_view key);
  bool read_value_list(AttrValue& value, std::string_view key, Tok close);
  bool read_attr_dict(std::vector<Attr>& attrs, bool call_attrs);
  bool enum_value(std::string_view head, std::string_view member, Span where, AttrValue& value, bool& known);

  const SourceFile& file_;
  Context& ctx_;
  DiagSink& diags_;
  ReadOptions options_;
  Lexer lex_;
  Token tok_, tok2_;
  bool has_tok2_ = false;
  std::uint32_t prev_end_ = 0;
  std::uint32_t depth_ = 0;
  std::uint32_t blocks_ = 0;  // those of depth_ that are blocks
  std::uint32_t links_ = 0;   // ReadOptions::max_links
  std::uint32_t scopes_ = 0;  // ReadOptions::max_scopes
  std::size_t comment_head_ = 0;

  TextStyle style_;
  bool authoring_ = false;
  bool authored_class_ = false;  // without the header line of printed text
  bool saw_dump_ = false, saw_legacy_ = false, saw_pld_ = false, saw_pld_import_ = false;
  bool saw_unannotated_ = false, saw_annotated_ = false, saw_explicit_ = false;
  bool in_function_head_ = false;

  std::vector<const Var*> scope_;                   // by name id
  std::vector<std::pair<Name, const Var*>> bound_;  // undo log: name and what it meant before
  std::vector<std::size_t> scope_marks_;
  std::vector<const Var*> dynamics_;  // by name id
  std::unordered_map<Name, const Expr*> constants_;
  std::unordered_map<Name, DType> dtype_constants_;

  Name program_name_;
  std::vector<std::unique_ptr<Draft>> drafts_;
  std::vector<const Function*> functions_;
  std::unordered_map<Name, const Draft*> draft_by_name_;
  // Functions and module constants whose declaration was refused: nothing is said about their uses.
  std::unordered_set<Name> refused_names_;

  // State of the function being read.
  Draft* draft_ = nullptr;
  bool in_signature_ = false;
  Lexer::Mark params_mark_{};  // behind the opening parenthesis of the signature
  bool scanned_signature_ = false;
  std::unordered_map<Name, const Var*>
      early_scalars_;  // parameters made before their turn, by signature_scalar
  std::vector<const Var*> dump_tags_;
  std::optional<SplitMode> split_region_;
  bool in_type_ = false;
  bool in_view_ = false;   // inside the fields of a view: unknown names are symbols
  bool foldable_ = false;  // the expression read last is a tree of literals and module constants
  std::vector<const ConstInt*> small_dims_;
  std::vector<const Expr*> elements_;  // of the lists being read, the innermost last
  // Storage of calls being read, the innermost last: a call has several lists, and allocating them took a tenth of the time.
  struct CallLists {
    std::vector<AuthoringArg> args;
    std::vector<AuthoringKeyword> keywords;
  };
  std::vector<std::unique_ptr<CallLists>> call_lists_;
  std::size_t open_calls_ = 0;
  // Of literal_call, which is done before another begins.
  std::vector<const Expr*> operands_;
  std::vector<Span> operand_places_;
  std::vector<Attr> kwargs_;
  struct TextHash {
    std::size_t operator()(std::string_view text) const noexcept {
      return static_cast<std::size_t>(hash_bytes(text));
    }
  };
  std::unordered_map<std::string_view, KnownType, TextHash> known_types_;  // by text, see remember_type()
  KnownType* last_known_ = nullptr;                                        // the last one that was met again
  std::pair<std::string_view, DType> last_dtype_;                          // runs of one dtype are common
  std::unordered_map<std::uint64_t, const TileType*> plain_tiles_;         // by hash, see without_memref()
  std::unordered_map<std::uint64_t, Attrs> shared_attrs_;                  // by hash, see shared_attrs()
  // Of lists of INDEX values, by their length: most tuples are such.
  std::vector<const Type*> index_tuples_;
  std::unordered_map<std::string, WindowDecl> windows_;  // by label
  std::uint32_t submit_temps_ = 0;
  const Expr* last_recorded_ = nullptr;  // the call read last had a recorded type
  // Where the value of the annotated assignment being read begins: a call there has the annotated type.
  std::uint32_t annotated_at_ = 0;
  const Expr* no_dep_ = nullptr;               // what pl.no_dep(...) just wrapped
  bool method_ = false;                        // the file has a program class
  Name assigned_name_;                         // the name that the value being read is assigned to
  bool store_target_ = false;                  // reading what may turn out to be the left side of t[...] = e
  std::vector<AuthoringIndex> store_indices_;  // of that left side
  std::vector<const Stmt*> hoisted_;
  int wrapper_counter_ = 0;
  std::unordered_map<Name, const Var*> forward_;  // by name, until defined
  bool in_domain_header_ = false;
  int domain_depth_ = 0;
  bool in_core_ = false;  // inside an InCore scope, or an spmd or split_aiv body
  std::vector<std::vector<CachePolicy>*>
      scope_policies_;  // where pl.set_cache_policy of the scope being read goes
  bool in_predicate_ = false;
  NameUses* uses_ = nullptr;
};

}  // namespace pldc
