// Bump allocation. IR nodes live in an arena, are never destroyed one by one, and are freed all at once with it;
// so only trivially destructible types may be put in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pldc {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Uninitialised storage. The pointer stays valid for the life of the arena.
  void* allocate(std::size_t size, std::size_t align) {
    const std::uintptr_t at = (cursor_ + align - 1) & ~(static_cast<std::uintptr_t>(align) - 1);
    if (at + size > limit_) return grow(size, align);
    cursor_ = at + size;
    return reinterpret_cast<void*>(at);
  }

  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "the arena runs no destructors");
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  template <class T>
  std::span<const T> copy(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>, "copied as bytes");
    if (items.empty()) return {};
    T* to = static_cast<T*>(allocate(items.size() * sizeof(T), alignof(T)));
    std::memcpy(static_cast<void*>(to), items.data(), items.size() * sizeof(T));
    return {to, items.size()};
  }
  template <class T>
  std::span<const T> copy(const std::vector<T>& items) {
    return copy(std::span<const T>(items));
  }

  std::string_view copy(std::string_view text) {
    if (text.empty()) return {};
    char* to = static_cast<char*>(allocate(text.size(), 1));
    std::memcpy(to, text.data(), text.size());
    return {to, text.size()};
  }

  std::size_t bytes_reserved() const { return reserved_; }

 private:
  static constexpr std::size_t kFirstChunk = std::size_t{64} << 10;
  static constexpr std::size_t kLargestChunk = std::size_t{8} << 20;

  void* grow(std::size_t size, std::size_t align) {
    // Chunks double up to a bound: small programs stay small, and a large one wastes at most one chunk.
    std::size_t chunk = chunks_.empty() ? kFirstChunk : next_chunk_;
    next_chunk_ = chunk * 2 < kLargestChunk ? chunk * 2 : kLargestChunk;
    if (chunk < size + align) chunk = size + align;
    chunks_.push_back(std::unique_ptr<std::byte[]>(new std::byte[chunk]));
    reserved_ += chunk;
    cursor_ = reinterpret_cast<std::uintptr_t>(chunks_.back().get());
    limit_ = cursor_ + chunk;
    return allocate(size, align);
  }

  std::uintptr_t cursor_ = 0;
  std::uintptr_t limit_ = 0;
  std::size_t next_chunk_ = kFirstChunk;
  std::size_t reserved_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

}  // namespace pldc
