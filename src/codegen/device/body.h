// The emitter of one kernel: state and services that the files of codegen/device share. Statements are in statements.cpp
// and control.cpp, tiles in tiles.cpp, tensors in tensors.cpp, the operations in ops_*.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/device/kernel.h"
#include "codegen/device/sync.h"
#include "codegen/device/tile_form.h"

namespace pldc {

// A sum of C++ terms of type int64_t with the constant part kept apart.
class Sum {
 public:
  Sum() = default;
  void add(std::int64_t value) { constant_ += value; }
  void add(const Extent& term);
  void add_product(const Extent& a, const Extent& b);
  bool is_constant() const { return terms_.empty(); }
  bool is_zero() const { return terms_.empty() && constant_ == 0; }
  std::int64_t constant() const { return constant_; }
  std::string text() const;
  Extent extent() const;  // in parentheses if it is a sum
  std::int64_t unit() const;

 private:
  std::int64_t constant_ = 0;
  std::vector<std::string> terms_;
  std::int64_t unit_ = 0;  // of the terms
};

Extent product(const Extent& a, const Extent& b);

// A tensor in global memory.
struct TensorRef {
  const Var* root = nullptr;  // the parameter whose memory it is; null: one of several
  std::string pointer;        // C++ variable
  std::string base;           // for the names of GlobalTensors
  Sum offset;                 // elements from the pointer
  DType dtype = DType::FP32;
  std::vector<Extent> shape;
  std::vector<Extent> stride;  // elements
  bool known_strides = true;   // not read from the argument: a reshape may rely on them
};

// What a carried array or an array value is in C++.
struct ArrayRef {
  std::string name;
  std::int64_t extent = 0;
  DType dtype = DType::INT32;
  int depth = 0;  // loops around its definition
};

// The call that is emitted, with the variable that it defines (null: none).
struct OpCall {
  const Call* call;
  const Var* result;
  const Expr* arg(std::size_t i) const { return i < call->args.size() ? call->args[i] : nullptr; }
  std::size_t args() const { return call->args.size(); }
  const OpInfo& info() const { return op_info(call->op); }
  Span span() const { return call->span; }
};

// What an instruction touches.
struct Touch {
  std::vector<TileRef> reads = {};
  std::vector<TileRef> writes = {};
  bool reads_global = false;
  bool writes_global = false;
};

class KernelBody {
 public:
  KernelBody(const KernelEnv& env, const Function& kernel);
  bool run(KernelText& out);

  const KernelEnv& env;
  const Function& kernel;
  ScalarText scalars;

  // --- text ---------------------------------------------------------------------------------------------------
  CppText& text() { return body_; }
  void line(std::string_view text);
  // A long statement, broken after commas.
  void statement(const std::string& text);
  void operation(const Var* result, const Expr* value, Span span);
  // An instruction of a pipe: the flags that it needs, then its text.
  void issue(Pipe pipe, const Touch& touch, const std::string& text);
  void barrier();
  // A statement that is ordered with everything before and after it.
  void alone(const std::string& text);
  // PLD_LOC if the operation stands in another line than the last one; `always`: in any case.
  void place(bool always = false);
  std::string fresh(std::string_view like) { return names_.fresh(like); }
  void open(std::string_view head);
  void close();

  // --- scalars ------------------------------------------------------------------------------------------------
  // The C++ name of a scalar variable, symbol or context; empty and reported if it has none.
  std::string scalar_name(const Var* var);
  // An extent, offset or index: an operand of a product.
  Extent index(const Expr* expr);
  // The value of a constant expression.
  static std::optional<std::int64_t> fold(const Expr* expr);
  // Before a declaration: marks it for finish_text.
  static constexpr char kMark = '\x01';
  static std::string marked(const std::string& name);
  // Declares `result` with that value.
  void define_scalar(const Var* result, const std::string& value);
  std::string context(const Expr* expr);

  // --- tiles --------------------------------------------------------------------------------------------------
  TileRef tile(const Expr* expr);
  bool is_tile(const Expr* expr) const { return expr != nullptr && dyn<TileType>(expr->type) != nullptr; }
  // The place of a value that is about to be computed, its valid extents set.
  TileRef result(const Var* var);
  // The variable is this tile from now on.
  void bind(const Var* var, const TileRef& tile) { tiles_[var] = tile; }
  // A view of other memory: sets address and valid extents and binds.
  TileRef bind_view(const Var* var, const TileRef& parent, const TileForm& form, const Sum& byte_offset);
  // A tile variable over the memory of `like` (name, address) with another form.
  TileRef view(const TileRef& like, const TileForm& form, const Extent& valid_rows, const Extent& valid_cols,
               const Sum& byte_offset = {}, std::string_view suffix = {});
  // Memory that only the current operation uses.
  TileRef scratch(const TileForm& form, const Extent& valid_rows, const Extent& valid_cols);
  // The same with memory that nothing else will use.
  TileRef own_memory(std::string_view like, const TileForm& form, const Extent& valid_rows,
                     const Extent& valid_cols);
  // What the type says: the form, and the valid box as rows and columns.
  TileForm form_of(const TileType* type, MemSpace space) const;
  MemSpace space_of(const Var* var) const;
  struct Box {
    Extent rows, cols;
    bool rectangle = true;  // false: the valid box of a tile of rank 3 or more is no rectangle of its rows
  };
  Box valid_box(const TileType* type);
  // False after a report: the tile's valid box is no rectangle (null: known to be none).
  bool require_rectangle(const OpCall& op, const TileType* type);
  void set_valid(const TileRef& tile);
  bool same_place(const TileRef& a, const TileRef& b) const {
    return a.address == b.address && a.offset == b.offset;
  }
  // The C++ type of one element; reported and false if a kernel has no such elements.
  bool check_dtype(const OpCall& op, DType dtype);

  // The tile of a [R, 1] or [1, 1] value as a row of R elements; a copy if its elements do not follow each other.
  TileRef as_row(const TileRef& tile);
  TileRef as_column(const TileRef& tile);
  // The tile itself, or a copy with its rows one after the other where it lies by columns; one column stays what it is.
  TileRef by_rows(const TileRef& tile);
  // One row, element after element: the tile itself or a copy of it, or the memory of a column seen as a row.
  TileRef row_operand(const TileRef& tile);
  // The tile in another memory, with its elements converted, or repeated along axes of extent 1: copies into scratch as
  // needed. Not more than what the arguments ask.
  TileRef in_space(const TileRef& tile, MemSpace space);
  TileRef with_dtype(const TileRef& tile, DType dtype);
  TileRef like(const TileRef& tile, const TileRef& destination);
  TileRef repeated(const TileRef& tile, const TileRef& destination, bool rows, bool cols);
  // Copies; nothing if both are one place.
  void move(const TileRef& to, const TileRef& from);
  static Pipe move_pipe(const TileForm& to, const TileForm& from);

  // --- tensors ------------------------------------------------------------------------------------------------
  TensorRef tensor(const Expr* expr);
  void bind(const Var* var, const TensorRef& tensor) { tensors_[var] = tensor; }
  // Element offset of a list of indices.
  bool offset_of(const OpCall& op, const TensorRef& tensor, const Expr* indices, Sum& out);
  // "x + 64 * i"
  static std::string address(const TensorRef& tensor, const Sum& offset);
  // Declares a GlobalTensor over a box and returns its name; `column`: the tile is stored by columns.
  std::string global(const OpCall& op, const TensorRef& tensor, const std::string& pointer,
                     const std::vector<Extent>& box, bool column);
  // As global, for a box given as a matrix of rows and columns with their strides.
  std::string global_matrix(const TensorRef& tensor, const std::string& pointer, const Extent& rows,
                            const Extent& cols, const Extent& row_stride, const Extent& col_stride,
                            bool column);
  // A name for a signal cell of the window.
  std::string signal_name(const TensorRef& window) {
    return fresh(window.base + "_" + std::to_string(global_counts_[window.base]++));
  }
  // The pointer on the peer's side; empty after a report.
  std::string peer_address(const OpCall& op, const TensorRef& tensor, const std::string& pointer,
                           const Expr* peer);

  // --- arrays -------------------------------------------------------------------------------------------------
  ArrayRef* array(const Expr* expr);
  ArrayRef& declare_array(const Var* var, const ArrayType* type);
  void bind(const Var* var, const ArrayRef& array) { arrays_[var] = array; }
  int use_count(const Var* var) const;
  int loop_depth() const { return loop_depth_; }

  // Memory for what an instruction needs besides its operands, like the tile; in simulation, where nothing is written to it,
  // the tile itself.
  TileRef scratch_like(const TileRef& tile);

  // --- what only the official toolchain asks for: official.cpp ---------------------------------------------------
  bool is_official() const { return env.options.target == Target::Ascend; }
  // Reports that the current operation cannot be generated for it.
  void refuse_official(std::string_view why, std::string_view help);
  // Tiles lie at multiples of 32 bytes.
  void check_address(const TileRef& tile);
  // A box of global memory is read along its last axis, or is one column whose elements follow each other.
  void check_box(const std::vector<Extent>& shape, const std::vector<Extent>& stride, bool column);

  // --- other --------------------------------------------------------------------------------------------------
  // The variable that takes element `index` of the tuple that `var` holds; null if none does.
  const Var* tuple_part(const Var* var, std::size_t index) const;
  // Lines for the end of the kernel, before the last barrier.
  CppText& epilogue() { return epilogue_; }
  // The variable with what loops and branches register to be waited for at the end.
  const std::string& deferred_waits();
  bool at_top_level() const { return block_depth_ == 0; }

  void fail() { failed_ = true; }

 private:
  // statements.cpp
  void prepare(Body body);
  void statements(Body body);
  void statement(const Stmt* stmt);
  void assign(const Var* var, const Expr* value, const Stmt* stmt);
  void assign_alias(const Var* var, const Var* source, Span span);
  void call(const Call* call, const Var* result, Span span);
  void prologue(CppText& out, std::string_view below);

  // control.cpp
  void branch(const IfStmt* stmt);
  void loop(const ForStmt* stmt);
  void loop(const WhileStmt* stmt);
  struct Carry {
    const Var* var;     // iter arg or phi
    const Var* result;  // of the loop; the same for a phi
    std::string name;   // of a scalar, pointer or array variable
  };
  void open_carries(List<IterArg> args, List<const Var*> results, std::vector<Carry>& carries);
  void enter_carries(const std::vector<Carry>& carries);
  void close_carries(const std::vector<Carry>& carries);
  void declare_carry(Carry& carry, const Expr* init);
  void yield(List<const Expr*> values);
  struct ScalarMove {
    std::string type, to, from;
  };
  void yield_scalars(std::vector<ScalarMove> moves);
  // official.cpp: a kernel runs on one kind of core, whose memories are connected by its pipes only.
  void check_core(const TileForm& form);
  void check_path(Pipe pipe, const Touch& touch);

  void yield_tiles(std::vector<std::pair<TileRef, TileRef>> moves);
  void leave(std::string_view keyword);

  // tiles.cpp
  std::string declare_tile(std::string_view like, const TileForm& form, const Extent& valid_rows,
                           const Extent& valid_cols, std::uint64_t address, const std::string& offset);
  std::string assign_text(const std::string& name, const TileForm& form, std::uint64_t address,
                          const std::string& offset = {});
  // The text of the function with the tiles moved that lie in a memory larger than a core's.
  std::string with_large_memories(const std::string& text) const;
  std::uint64_t reserve(MemSpace space, std::uint64_t bytes, std::uint64_t& from);

  // tensors.cpp
  void bind_parameters();
  // Fills in the shape and strides of a parameter when it is first used.
  void complete(const Var* var, TensorRef& ref);

 public:
  // Views of tensors and aliases; used by ops_tensor.cpp.
  const Var* origin(const Var* var);
  // The strides that the type says, or those of a tensor without gaps.
  void strides_of(const TensorType* type, std::vector<Extent>& out);

 private:
  void flush();
  void line_directive(Span span);
  static std::string finish_text(const std::string& text);

  CppNames names_;
  CppText body_;
  CppText declarations_;
  CppText epilogue_;
  std::string deferred_waits_;  // empty: none
  Sync sync_;
  bool failed_ = false;
  std::string_view operation_;       // the op that is emitted
  std::optional<bool> cube_;         // the core, once a tile has told
  std::set<std::uint32_t> refused_;  // places of operations that have been refused
  std::uint32_t errors_ = 0;         // reported before this kernel
  bool at_barrier_ = false;          // the last line is a barrier
  std::string due_comment_;          // to be written before the first line of the operation
  Span span_;                        // of the operation
  std::uint32_t line_ = 0;           // of the last PLD_LOC; 0: depends on the path
  int block_depth_ = 0;
  int loop_depth_ = 0;

  std::unordered_map<const Var*, TileRef> tiles_;
  std::unordered_map<const Var*, TensorRef> tensors_;
  struct ShapeDue {
    const TensorType* type;
    bool packed;
    bool packed_rows;
  };
  std::unordered_map<const Var*, ShapeDue> shapes_due_;
  std::unordered_map<const Var*, ArrayRef> arrays_;
  std::unordered_map<const Var*, const Stmt*> definitions_;
  std::unordered_map<std::string_view, const Var*> by_name_;  // scalars of the body that are defined so far
  std::unordered_map<const Var*, int> uses_;
  std::unordered_map<const Var*, std::map<std::size_t, const Var*>> tuple_parts_;
  std::unordered_map<const Var*, List<const Expr*>> tuples_;
  std::unordered_map<const Var*, const Var*> origins_;
  std::unordered_set<const Var*> mixed_;
  std::unordered_map<const Var*, const Var*> contexts_;  // window parameter to context parameter
  struct YieldTarget {
    std::vector<Carry> carries;
    bool is_loop;
  };
  std::vector<YieldTarget> targets_;               // of yields
  std::map<std::string, std::string> tile_names_;  // type and address to variable
  std::map<std::string, int> global_counts_;
  std::uint64_t own_[16] = {};  // first free byte after the placement and the memory given out by own_memory
  std::uint64_t scratch_[16] = {};  // of the current operation
  std::set<std::string> memory_reported_;
  std::map<std::string, MemSpace> movable_tiles_;  // variables in memories that may be large
  std::uint64_t reserved_[16] = {};                // the most that reserve() has given out
};

// What emits an operation; false after an error was reported.
using EmitOp = bool (*)(KernelBody& body, const OpCall& op);
// Null: the op table's emit column tells what happens.
EmitOp special_emitter(OpId op);
// Whether the text that is emitted compiles against the official tile library.
bool has_official_form(OpId op);
// The value of a call that gives a scalar, as a C++ expression; empty: the op gives none. `reads_memory`: it must be
// ordered with the instructions around it.
std::string scalar_call(KernelBody& body, const OpCall& op, bool& reads_memory);
// Unary, Binary, BinaryTmp, TileScalar, Reduce, ColReduce and Expand of the op table.
bool emit_table_op(KernelBody& body, const OpCall& op);

// "t = tile.load(x, [0, 0], [16, 64])": what stands in the comment before an operation.
std::string short_form(const Var* result, const Expr* value);

}  // namespace pldc
