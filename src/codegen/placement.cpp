#include "codegen/placement.h"

#include <algorithm>
#include <map>

#include "codegen/coalesce.h"
#include "codegen/device/tile_form.h"
#include "codegen/emit.h"
#include "frontend/text.h"
#include "ir/check_op.h"
#include "ir/rules.h"
#include "ir/walk.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

bool packed(const PhysicalTile& t) { return t.column || t.rows == 1 || t.phys_cols == t.cols; }

// Where a tile goes whose type does not say it: accumulators to the matrix core, everything else to the vector buffer.
MemSpace default_space(const Expr* value) {
  const auto* call = dyn<Call>(value);
  if (call == nullptr || !call->is_op()) return MemSpace::Vec;
  const std::string_view name = op_info(call->op).name;
  const bool product =
      name.find("matmul") != std::string_view::npos || name.find("gemv") != std::string_view::npos;
  return product ? MemSpace::Acc : MemSpace::Vec;
}

std::uint64_t alignment(MemSpace space) { return space == MemSpace::Vec ? 32 : 512; }

// A byte offset as a constant and the rest of a sum.
struct Offset {
  std::int64_t constant = 0;
  const Expr* rest = nullptr;
};
Offset split_offset(const Expr* expr) {
  if (const auto value = const_int(expr)) return {*value, nullptr};
  const auto* sum = dyn<Binary>(expr);
  if (sum != nullptr && sum->op == BinaryOp::Add) {
    if (const auto value = const_int(sum->lhs)) return {*value, sum->rhs};
    if (const auto value = const_int(sum->rhs)) return {*value, sum->lhs};
  }
  return {0, expr};
}

}  // namespace

std::uint64_t space_bytes(MemSpace space) {
  constexpr std::uint64_t kKib = 1024;
  switch (space) {
    case MemSpace::Vec:
      return 192 * kKib;
    case MemSpace::Mat:
      return 512 * kKib;
    case MemSpace::Left:
    case MemSpace::Right:
      return 64 * kKib;
    case MemSpace::Acc:
      return 128 * kKib;
    case MemSpace::Bias:
    case MemSpace::LeftScale:
    case MemSpace::RightScale:
      return 4 * kKib;
    case MemSpace::DDR:
    case MemSpace::ScalarLocal:
      break;
  }
  return 0;
}

std::optional<PhysicalTile> physical_tile(const TileType* type) {
  PhysicalTile out;
  const auto rank = type->shape.size();
  for (std::size_t i = 0; i < rank; ++i) {
    const auto extent = const_int(type->shape[i]);
    if (!extent || *extent <= 0) return std::nullopt;
    if (i + 1 < rank) {
      out.rows *= *extent;
    } else {
      out.cols = *extent;
    }
  }
  const MemSpace space = type->space.value_or(MemSpace::Vec);
  const TileForm form = tile_form(space, type->dtype, out.rows, out.cols, effective_view(type));
  out.phys_rows = form.rows;
  out.phys_cols = form.cols;
  out.column = out.cols == 1 && out.rows > 1 && form.by_columns;
  out.by_columns = out.cols > 1 && out.rows > 1 && form.by_columns;
  out.bytes = form.bytes();
  return out;
}

const TilePlace* TilePlacement::find(const Var* var) const {
  const auto found = places_.find(var);
  return found != places_.end() ? &found->second : nullptr;
}

bool TilePlacement::is_large(MemSpace space) const { return used(space) > space_bytes(space); }

// Two walks in one: what the values and buffers are, and between which statements each buffer is alive.
class TilePlacer {
 public:
  TilePlacer(Context& context, DiagSink& diags, const Function* kernel, TilePlacement& out, bool simulated)
      : ir_(context), diags_(diags), kernel_(kernel), out_(out), simulated_(simulated) {}

  bool run() {
    const std::uint32_t errors = diags_.error_count();
    for (const Param& param : kernel_->params) {
      if (dyn<TileType>(param.var->type) == nullptr) continue;
      diags_
          .report<diag::codegen_argument>(param.var->span, param.var->name.text(), kernel_->name.text(),
                                          "a tile lives in the memory of one core")
          .help("pass a tensor and load it in the kernel");
    }
    walk(kernel_->body);
    if (diags_.error_count() != errors) return false;
    merge_buffers();
    assign_addresses();
    for (const Value& value : values_) resolve(value);
    return check_sizes();
  }

 private:
  struct Buffer {
    MemSpace space = MemSpace::Vec;
    bool from_text = false;        // the text names it in MemRefs
    bool pinned = false;           // written by something else than the definition of its values
    std::int64_t lowest = -1;      // smallest offset of its MemRefs; -1: none seen
    std::uint64_t reserved = 0;    // bytes by its MemRefs
    std::uint64_t bytes = 0;       // bytes that its values need, from the lowest offset
    std::uint64_t slot_bytes = 0;  // of one slot
    std::uint32_t slots = 1;
    int first = 0, last = 0;  // statements between which it is alive
    std::uint64_t address = 0;
    const Var* example = nullptr;  // a value in it, for messages
  };
  struct Value {
    const Var* var = nullptr;
    PhysicalTile physical;
    std::uint32_t buffer = 0;
    Offset offset;               // by the MemRef, or from `base`
    const Expr* slot = nullptr;  // index of the slot
    const Var* base = nullptr;   // the value that this one shares the place of; null: stands by itself
    const Var* parent = nullptr;
    std::int64_t pitch = 0;
    bool turned = false;  // lies by columns: so does its type, or what it is a view or a part of
  };

  // --- what there is ---------------------------------------------------------------------------------------------

  void walk(Body body) {
    for (const Stmt* stmt : body) {
      ++position_;
      for_each_expr(stmt,
                    [&](const Expr* root) { walk_expr(root, [&](const Expr* e) { use(dyn<Var>(e)); }); });
      if (const auto* assign = dyn<AssignStmt>(stmt)) {
        define(assign->var, assign->value);
      } else if (const auto* loop = dyn<ForStmt>(stmt)) {
        walk_loop(loop->iter_args, loop->return_vars, loop->body);
      } else if (const auto* loop_while = dyn<WhileStmt>(stmt)) {
        walk_loop(loop_while->iter_args, loop_while->return_vars, loop_while->body);
      } else if (const auto* branch = dyn<IfStmt>(stmt)) {
        for (const Var* v : branch->return_vars) define(v, nullptr);
        walk(branch->then_body);
        walk(branch->else_body);
        ++position_;
        for (const Var* v : branch->return_vars) use(v);
      } else if (const auto* scope = dyn<ScopeStmt>(stmt)) {
        walk(scope->body);
      }
    }
  }

  void walk_loop(List<IterArg> args, List<const Var*> results, Body body) {
    const int begin = position_;
    for (std::size_t i = 0; i < args.size(); ++i) {
      define(args[i].var, nullptr);
      if (i < results.size()) define(results[i], args[i].var);
    }
    walk(body);
    ++position_;
    // What was there before the loop and is used in it is needed by every iteration.
    for (Buffer& b : buffers_) {
      if (b.first <= begin && b.last >= begin) b.last = position_;
    }
    for (const Var* v : results) use(v);
  }

  void use(const Var* var) {
    if (var == nullptr) return;
    if (const Value* value = find(var)) {
      Buffer& b = buffers_[value->buffer];
      b.last = std::max(b.last, position_);
    }
  }

  const Value* find(const Var* var) const {
    const auto found = index_.find(var);
    return found != index_.end() ? &values_[found->second] : nullptr;
  }

  void define(const Var* var, const Expr* value) {
    if (dyn<TupleType>(var->type) != nullptr) tuples_.emplace(var, position_);
    const auto* type = dyn<TileType>(var->type);
    if (type == nullptr) return;
    const auto physical = physical_tile(type);
    if (!physical) {
      diags_.report<diag::codegen_tile_extent>(var->span, plain_name(var->name.text()), print_type(type))
          .help("give the tile its largest extents, and say with a valid_shape how much of it holds data");
      return;
    }
    Value entry;
    entry.var = var;
    entry.physical = *physical;
    entry.pitch = physical->phys_cols;
    const MemRef* ref = type->memref;
    if (!share(entry, value, ref)) {
      entry.base = entry.parent = nullptr;
      entry.pitch = physical->phys_cols;
      entry.turned = physical->by_columns;
      own(entry, type->space.value_or(default_space(value)), ref);
    }
    Buffer& buffer = buffers_[entry.buffer];
    buffer.last = std::max(buffer.last, position_);
    // The call that makes a tuple of tiles writes its elements.
    if (const auto* get = dyn<TupleGet>(value)) {
      const auto made = tuples_.find(dyn<Var>(get->tuple));
      if (made != tuples_.end()) buffer.first = std::min(buffer.first, made->second);
      buffer.pinned = true;
    }
    index_.emplace(var, values_.size());
    values_.push_back(entry);
  }

  // Memory of its own, or that which the MemRef names.
  void own(Value& entry, MemSpace space, const MemRef* ref) {
    if (ref == nullptr) {
      entry.buffer = new_buffer(space, entry.var);
      buffers_[entry.buffer].bytes = entry.physical.bytes;
      return;
    }
    entry.buffer = buffer_of(*ref, space, entry.var);
    Buffer& b = buffers_[entry.buffer];
    b.slots = std::max(b.slots, ref->slot_count);
    b.slot_bytes = std::max<std::uint64_t>({b.slot_bytes, ref->size, entry.physical.bytes});
    if (ref->slot_count > 1) entry.slot = ref->slot_index != nullptr ? ref->slot_index : ir_.const_int(0);
    if (!ref->declared()) entry.offset = split_offset(ref->byte_offset);
    const std::int64_t at = entry.offset.constant;
    b.lowest = b.lowest < 0 ? at : std::min(b.lowest, at);
    b.reserved = std::max(b.reserved, ref->size * ref->slot_count);
  }

  // Whether the value lies where another one does; fills base, parent, buffer, offset and pitch.
  bool share(Value& entry, const Expr* value, const MemRef* ref) {
    const auto* call = dyn<Call>(value);
    const Expr* source = value;
    bool view = false;
    if (call != nullptr) {
      if (!call->is_op()) return false;
      const Effects& effects = op_info(call->op).effects;
      view = effects.result_view_of >= 0;
      const int operand = view ? effects.result_view_of : effects.result_aliases;
      if (operand < 0 || static_cast<std::size_t>(operand) >= call->args.size()) return false;
      source = call->args[static_cast<std::size_t>(operand)];
    }
    const auto* var = dyn<Var>(source);
    const Value* of = var != nullptr ? find(var) : nullptr;
    if (of == nullptr) return false;
    const auto* source_type = static_cast<const TileType*>(var->type);
    const MemRef* source_ref = source_type->memref;
    // Another buffer in the text: the value is copied there.
    if (ref != nullptr && source_ref != nullptr &&
        (ref->base != source_ref->base || ref->declared_name != source_ref->declared_name)) {
      return false;
    }
    const bool sliced = of->pitch != of->physical.phys_cols && of->physical.rows > 1 && !of->physical.column;
    const OpId op = call != nullptr ? call->op : OpId::none_;
    entry.base = var;
    entry.buffer = of->buffer;
    entry.pitch = of->pitch;
    entry.turned = of->turned != (op == OpId::tile_transpose_view);
    entry.parent = view ? var : nullptr;
    if (op == OpId::tile_slice) {
      if (!slice_offset(entry.offset, call, source_type, of->pitch, of->physical.column)) return false;
    } else if (op == OpId::tile_reshape || op == OpId::tile_reinterpret_view) {
      // The padding of rows is no part of the value, and columns are no rows: such a reshape is a copy.
      if (of->turned || entry.physical.by_columns) return false;
      if (!packed(of->physical) || !packed(entry.physical) || sliced) return false;
      entry.pitch = entry.physical.phys_cols;
    }
    // A slice lies inside of its parent, any other view may have a longer padded row than that.
    if (op != OpId::tile_slice) {
      Buffer& b = buffers_[entry.buffer];
      (b.from_text ? b.slot_bytes : b.bytes) =
          std::max(b.from_text ? b.slot_bytes : b.bytes, entry.physical.bytes);
    }
    return true;
  }

  bool slice_offset(Offset& out, const Call* slice, const TileType* parent, std::int64_t pitch, bool column) {
    const auto* offsets = dyn<MakeTuple>(argument(slice, "offset"));
    if (offsets == nullptr || offsets->elements.size() != parent->shape.size()) return false;
    // Leading axes are multiplied into the rows.
    const Expr* row = ir_.const_int(0);
    for (std::size_t i = 0; i + 1 < parent->shape.size(); ++i) {
      row = dim_add(ir_, dim_mul(ir_, row, parent->shape[i]), offsets->elements[i]);
    }
    const Expr* element = offsets->elements.back();
    element = column ? row : dim_add(ir_, dim_mul(ir_, row, ir_.const_int(pitch)), element);
    out = split_offset(dim_mul(ir_, element, ir_.const_int(byte_width(parent->dtype))));
    return true;
  }

  std::uint32_t new_buffer(MemSpace space, const Var* example) {
    Buffer b;
    b.space = space;
    b.first = b.last = position_;
    b.example = example;
    buffers_.push_back(b);
    return static_cast<std::uint32_t>(buffers_.size() - 1);
  }
  std::uint32_t buffer_of(const MemRef& ref, MemSpace space, const Var* example) {
    const auto key = std::pair(ref.base, ref.declared_name.id());
    const auto found = named_.find(key);
    if (found != named_.end()) return found->second;
    const std::uint32_t buffer = new_buffer(space, example);
    buffers_[buffer].from_text = true;
    named_.emplace(key, buffer);
    return buffer;
  }

  // --- what need not be copied -----------------------------------------------------------------------------------

  // At the start of a buffer that pldc places, and laid out as the value is.
  bool movable(const Value& value) const {
    const Buffer& b = buffers_[value.buffer];
    if (b.from_text || b.pinned || value.slot != nullptr) return false;
    const Value* v = &value;
    while (true) {
      if (v->offset.constant != 0 || v->offset.rest != nullptr) return false;
      if (v->base == nullptr) return true;
      v = find(v->base);
    }
  }
  bool alike(const Var* a, const Var* b) const {
    const Value* x = find(a);
    const Value* y = find(b);
    if (x == nullptr || y == nullptr || !movable(*x) || !movable(*y)) return false;
    const auto dtype = [](const Var* v) { return static_cast<const TileType*>(v->type)->dtype; };
    const PhysicalTile& p = x->physical;
    const PhysicalTile& q = y->physical;
    return buffers_[x->buffer].space == buffers_[y->buffer].space && dtype(a) == dtype(b) &&
           p.phys_rows == q.phys_rows && p.phys_cols == q.phys_cols && p.rows == q.rows && p.cols == q.cols &&
           p.column == q.column && x->pitch == y->pitch;
  }

  void merge_buffers() {
    TileBuffers tiles;
    tiles.of = [this](const Var* var) {
      const Value* value = find(var);
      return value != nullptr ? static_cast<int>(value->buffer) : -1;
    };
    tiles.owns = [this](const Var* var) { return find(var)->base == nullptr; };
    tiles.alike = [this](const Var* a, const Var* b) { return alike(a, b); };
    for (const auto& [into, from] : coalesce(kernel_->body, tiles)) {
      Buffer& a = buffers_[static_cast<std::size_t>(into)];
      Buffer& b = buffers_[static_cast<std::size_t>(from)];
      a.first = std::min(a.first, b.first);
      a.last = std::max(a.last, b.last);
      a.bytes = std::max(a.bytes, b.bytes);
      b.bytes = 0;
      for (Value& value : values_) {
        if (value.buffer == static_cast<std::uint32_t>(from)) value.buffer = static_cast<std::uint32_t>(into);
      }
    }
  }

  // --- where it goes ---------------------------------------------------------------------------------------------

  static bool alive_together(const Buffer& a, const Buffer& b) {
    return a.first <= b.last && b.first <= a.last;
  }
  static bool overlap(std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b, std::uint64_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
  }

  // The offsets in the text are addresses if, read as such, no two buffers are in each other's way. Before
  // AllocateMemoryAddr all buffers start at 0; after it rows may still be too short for their padding.
  bool has_addresses() const {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const Buffer& a = buffers_[i];
      if (!a.from_text) continue;
      if (a.lowest < 0) return false;
      for (std::size_t k = i + 1; k < buffers_.size(); ++k) {
        const Buffer& b = buffers_[k];
        if (!b.from_text || a.space != b.space || b.lowest < 0 || !alive_together(a, b)) continue;
        if (overlap(static_cast<std::uint64_t>(a.lowest), a.bytes, static_cast<std::uint64_t>(b.lowest),
                    b.bytes)) {
          return false;
        }
      }
    }
    for (const Value& value : values_) {  // declared buffers have no address in the text
      const auto* type = static_cast<const TileType*>(value.var->type);
      if (type->memref != nullptr && type->memref->declared()) return false;
      // One slot must not run into the next.
      if (value.slot != nullptr && value.physical.bytes > type->memref->size) return false;
    }
    return true;
  }

  void assign_addresses() {
    for (const Value& value : values_) {
      Buffer& b = buffers_[value.buffer];
      if (!b.from_text || value.base != nullptr) continue;
      const std::uint64_t from =
          value.slot != nullptr ? 0 : static_cast<std::uint64_t>(value.offset.constant - b.lowest);
      const std::uint64_t bytes =
          value.slot != nullptr ? b.slot_bytes * b.slots : std::max(b.slot_bytes, value.physical.bytes);
      b.bytes = std::max(b.bytes,
                         from + (value.offset.rest != nullptr && value.slot == nullptr ? b.reserved : bytes));
    }
    absolute_ = has_addresses();
    std::vector<std::uint32_t> open;
    std::uint64_t floor[16] = {};  // above the buffers that the text has placed
    for (std::uint32_t i = 0; i < buffers_.size(); ++i) {
      Buffer& b = buffers_[i];
      if (b.from_text && absolute_) {
        b.address = static_cast<std::uint64_t>(b.lowest);
        std::uint64_t& top = floor[static_cast<std::size_t>(b.space)];
        top = std::max(top, b.address + b.bytes);
      } else {
        open.push_back(i);
      }
    }
    std::stable_sort(open.begin(), open.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(buffers_[a].space, buffers_[a].first) <
             std::pair(buffers_[b].space, buffers_[b].first);
    });
    for (std::size_t i = 0; i < open.size(); ++i) {
      Buffer& b = buffers_[open[i]];
      const std::uint64_t unit = alignment(b.space);
      std::uint64_t at = (floor[static_cast<std::size_t>(b.space)] + unit - 1) / unit * unit;
      for (bool moved = true; moved;) {  // the lowest gap
        moved = false;
        for (std::size_t k = 0; k < i; ++k) {
          const Buffer& other = buffers_[open[k]];
          if (other.space != b.space || !alive_together(b, other)) continue;
          if (!overlap(at, b.bytes, other.address, other.bytes)) continue;
          at = (other.address + other.bytes + unit - 1) / unit * unit;
          moved = true;
        }
      }
      b.address = at;
    }
  }

  void resolve(const Value& value) {
    const Buffer& b = buffers_[value.buffer];
    TilePlace place;
    place.space = b.space;
    place.buffer = value.buffer;
    place.parent = value.parent;
    place.pitch = value.pitch;
    const Expr* varying = value.offset.rest;
    std::int64_t constant = value.offset.constant;
    if (value.base != nullptr) {
      const TilePlace& of = out_.places_.at(value.base);
      place.address = of.address;
      if (of.offset != nullptr) varying = varying == nullptr ? of.offset : dim_add(ir_, of.offset, varying);
    } else if (b.from_text) {
      place.address = b.address;
      constant -= b.lowest;
      if (value.slot != nullptr && !absolute_) {
        varying = dim_mul(ir_, value.slot, ir_.const_int(static_cast<std::int64_t>(b.slot_bytes)));
        constant = 0;
        if (const auto known = const_int(varying)) {
          constant = *known;
          varying = nullptr;
        }
      }
    } else {
      place.address = b.address;
    }
    place.address += static_cast<std::uint64_t>(constant);
    place.offset = varying;
    out_.places_[value.var] = place;
    std::uint64_t& used = out_.used_[static_cast<std::size_t>(b.space)];
    used = std::max(used, b.address + b.bytes);
  }

  bool has_products() const {
    return std::any_of(buffers_.begin(), buffers_.end(),
                       [](const Buffer& b) { return b.space == MemSpace::Acc; });
  }

  bool check_sizes() {
    bool good = true;
    for (std::size_t s = 0; s < std::size(kMemSpaceNames); ++s) {
      const auto space = static_cast<MemSpace>(s);
      const bool given = absolute_ && std::any_of(buffers_.begin(), buffers_.end(), [&](const Buffer& b) {
                           return b.from_text && b.space == space;
                         });
      const bool l0 = space == MemSpace::Left || space == MemSpace::Right || space == MemSpace::Acc;
      // What the pipeline cuts into pieces: products, their operands, and what is made of them.
      const bool cut = l0 || (has_products() && (space == MemSpace::Mat || space == MemSpace::Vec));
      out_.may_be_large_[s] = simulated_ && cut && !given;
      if (!out_.is_large(space)) continue;
      if (out_.may_be_large(space)) {
        diags_
            .report<diag::codegen_large_memory>(kernel_->name_span, kernel_->name.text(), out_.used(space),
                                                name_of(space), space_bytes(space))
            .help("process the data in smaller tiles before this runs on a device");
        continue;
      }
      good = false;
      auto report = diags_.report<diag::codegen_memory_full>(
          kernel_->name_span, kernel_->name.text(), out_.used(space), name_of(space), space_bytes(space));
      const Buffer* largest = nullptr;
      for (const Buffer& b : buffers_) {
        if (b.space == space && (largest == nullptr || b.bytes > largest->bytes)) largest = &b;
      }
      if (largest == nullptr) continue;
      report.note(largest->example->span, "'{}' is the largest tile: {} bytes",
                  plain_name(largest->example->name.text()), largest->bytes);
      report.help("process the data in smaller tiles");
    }
    return good;
  }

  Context& ir_;
  DiagSink& diags_;
  const Function* kernel_;
  TilePlacement& out_;
  bool simulated_;
  int position_ = 0;
  bool absolute_ = false;
  std::vector<Buffer> buffers_;
  std::vector<Value> values_;  // in order of definition
  std::unordered_map<const Var*, std::size_t> index_;
  std::map<std::pair<const Var*, std::uint32_t>, std::uint32_t> named_;
  std::unordered_map<const Var*, int> tuples_;  // where each tuple of tiles is made
};

bool place_tiles(Context& context, DiagSink& diags, const Function* kernel, TilePlacement& placement,
                 bool simulated) {
  return TilePlacer(context, diags, kernel, placement, simulated).run();
}

}  // namespace pldc
