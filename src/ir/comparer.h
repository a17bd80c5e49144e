// Internal to same*.cpp: the side-by-side walk behind same() and differences().
#pragma once

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/same.h"
#include "support/hash.h"

namespace pldc::same_detail {

struct PairHash {
  std::size_t operator()(const std::pair<const void*, const void*>& pair) const {
    return static_cast<std::size_t>(hash_combine(reinterpret_cast<std::uintptr_t>(pair.first),
                                                 reinterpret_cast<std::uintptr_t>(pair.second)));
  }
};
using PairSet = std::unordered_set<std::pair<const void*, const void*>, PairHash>;

// INT64 and INDEX count as one dtype where format.md 7.4 says so.
inline DType index_as_int64(DType dtype) { return dtype == DType::INDEX ? DType::INT64 : dtype; }

// Short phrases for reports.
std::string type_text(const Type* t);
std::string expr_text(const Expr* e);
std::string stmt_text(const Stmt* s);

// One side-by-side walk serves equality (stops at the first difference) and the list of differences (goes
// on).
class Comparer {
 public:
  enum class Mode { Equal, List, Identity };

  Comparer(Mode mode, std::size_t limit, std::vector<Difference>* out)
      : mode_(mode), limit_(limit), out_(out) {}

  bool program(const Program* a, const Program* b);
  bool type(const Type* a, const Type* b);

 private:
  struct Segment {
    std::string_view field;  // empty: only the index
    std::int64_t index = -1;
    std::string_view key = {};
  };
  // A path element for the life of the object.
  class At {
   public:
    At(Comparer& comparer, std::string_view field, std::int64_t index = -1, std::string_view key = {})
        : path_(comparer.path_) {
      path_.push_back({field, index, key});
    }
    ~At() { path_.pop_back(); }
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    std::vector<Segment>& path_;
  };
  class Place {
   public:
    Place(Comparer& comparer, Span left, Span right)
        : comparer_(comparer), old_{comparer.left_, comparer.right_} {
      if (left.valid()) comparer.left_ = left;
      if (right.valid()) comparer.right_ = right;
    }
    ~Place() {
      comparer_.left_ = old_.first;
      comparer_.right_ = old_.second;
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    Comparer& comparer_;
    std::pair<Span, Span> old_;
  };

  bool stop() const { return mode_ != Mode::List ? failed_ : limit_ != 0 && out_->size() >= limit_; }
  std::string path_text() const;
  // Always false, so that callers can `return differ(...)`. The texts are made only if somebody reads them.
  template <class Left, class Right>
  bool differ(Left&& left, Right&& right) {
    failed_ = true;
    if (mode_ == Mode::List && !stop()) out_->push_back({path_text(), left(), right(), left_, right_});
    return false;
  }
  bool differ_text(std::string_view left, std::string_view right) {
    return differ([&] { return std::string(left); }, [&] { return std::string(right); });
  }
  template <class T>
  bool value(std::string_view field, const T& a, const T& b) {
    if (a == b) return true;
    const At at(*this, field);
    return differ([&] { return fmt::format("{}", a); }, [&] { return fmt::format("{}", b); });
  }
  bool flag(std::string_view field, bool a, bool b) { return value(field, a, b); }
  template <class E>
  bool optional_enum(std::string_view field, std::optional<E> a, std::optional<E> b) {
    return value(field, a ? name_of(*a) : std::string_view("none"),
                 b ? name_of(*b) : std::string_view("none"));
  }

  bool var(const Var* a, const Var* b);
  bool define(const Var* a, const Var* b, bool is_loop_var = false);
  bool defines(std::string_view field, List<const Var*> a, List<const Var*> b);
  bool expr(const Expr* a, const Expr* b);
  bool expr_fields(const Expr* a, const Expr* b);
  bool child(std::string_view field, const Expr* a, const Expr* b);
  bool exprs(std::string_view field, List<const Expr*> a, List<const Expr*> b);
  bool attr_value(const AttrValue& a, const AttrValue& b);
  bool attrs(std::string_view field, Attrs a, Attrs b);
  bool type_fields(const Type* a, const Type* b);
  bool tensor_view(const TensorView* a, const TensorView* b);
  bool tile_view(const TileView* a, const TileView* b);
  bool window(const Var* a, const Var* b);
  bool iter_args(List<IterArg> a, List<IterArg> b);
  bool stmt(const Stmt* a, const Stmt* b);
  bool scope(const ScopeStmt* a, const ScopeStmt* b);
  bool scope_fields(const ScopeStmt* a, const ScopeStmt* b);
  bool body(std::string_view field, Body a, Body b);
  bool function(const Function* a, const Function* b);

  Mode mode_;
  std::size_t limit_;
  std::vector<Difference>* out_;
  bool failed_ = false;
  std::vector<Segment> path_;
  Span left_, right_;
  std::unordered_map<const Var*, const Var*> to_right_, to_left_;
  // Pairs found equal. The mapping only grows, so they stay equal; shared nodes then cost one look.
  PairSet equal_;
  // Slots of the function's communication domains by base, for the path of a size seen from a tensor's type.
  std::unordered_map<const Var*, const WindowSlot*> slots_left_, slots_right_;
  std::unordered_set<const Var*> windows_reported_;
};

}  // namespace pldc::same_detail
