// Interned identifiers: equal texts are one entry, so names compare by pointer. The entries belong to the
// NameTable and live as long as it does.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "support/arena.h"

namespace pldc {

struct NameEntry {
  std::string_view text;
  std::uint64_t hash;
  std::uint32_t id;  // dense, in order of first appearance
};

class Name {
 public:
  constexpr Name() = default;
  constexpr explicit Name(const NameEntry* entry) : entry_(entry) {}
  std::string_view text() const { return entry_ != nullptr ? entry_->text : std::string_view{}; }
  bool empty() const { return entry_ == nullptr || entry_->text.empty(); }
  std::uint32_t id() const { return entry_ != nullptr ? entry_->id : 0; }
  std::uint64_t hash() const { return entry_ != nullptr ? entry_->hash : 0; }
  friend bool operator==(Name, Name) = default;
  // Bytewise order of the texts: the order in which functions and symbols print.
  friend bool operator<(Name a, Name b) { return a.text() < b.text(); }

 private:
  const NameEntry* entry_ = nullptr;
};

class NameTable {
 public:
  NameTable();
  Name intern(std::string_view text);
  std::uint32_t size() const { return count_; }

 private:
  void rehash();

  Arena arena_;
  std::vector<const NameEntry*> slots_;  // open addressing, power of two
  std::uint32_t count_ = 0;
};

}  // namespace pldc

template <>
struct std::hash<pldc::Name> {
  std::size_t operator()(pldc::Name name) const noexcept { return static_cast<std::size_t>(name.hash()); }
};
