#include "support/name.h"

#include "support/hash.h"

namespace pldc {

NameTable::NameTable() : slots_(1024, nullptr) {}

Name NameTable::intern(std::string_view text) {
  const std::uint64_t hash = hash_bytes(text);
  std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (const NameEntry* entry = slots_[at]) {
    if (entry->hash == hash && entry->text == text) return Name(entry);
    at = (at + 1) & mask;
  }
  const auto* entry = arena_.make<NameEntry>(arena_.copy(text), hash, count_);
  slots_[at] = entry;
  ++count_;
  if (count_ * 2 > slots_.size()) rehash();
  return Name(entry);
}

void NameTable::rehash() {
  std::vector<const NameEntry*> old(slots_.size() * 2, nullptr);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const NameEntry* entry : old) {
    if (entry == nullptr) continue;
    std::size_t at = entry->hash & mask;
    while (slots_[at] != nullptr) at = (at + 1) & mask;
    slots_[at] = entry;
  }
}

}  // namespace pldc
