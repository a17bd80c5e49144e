// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// A growing array, for object files that every program compiles: the standard one makes some thousand functions there.
#pragma once
#include <cstring>
#include <initializer_list>
#include <new>
#include <utility>

#include "pld/text.h"

namespace pld {

// Elements are moved by copying their bytes: T has no pointers into itself.
template <class T>
class Array {
 public:
  Array() = default;
  explicit Array(size_t n) { resize(n); }
  Array(std::initializer_list<T> list) : Array(list.begin(), list.size()) {}
  Array(const T* first, size_t n) {
    reserve(n);
    for (; size_ < n; ++size_) new (data_ + size_) T(first[size_]);
  }
  // n zeros that take no memory until they are changed.
  static Array zeros(size_t n) {
    static_assert(__is_trivially_constructible(T) && alignof(T) <= 16);
    Array a;
    a.data_ = static_cast<T*>(grow_zeros(n * sizeof(T)));
    a.size_ = a.capacity_ = n;
    return a;
  }
  // std::vector of whoever uses this as a library.
  template <class V, class = decltype(static_cast<const V*>(nullptr)->capacity())>
  Array(const V& v) : Array(v.data(), v.size()) {}  // NOLINT: implicit on purpose
  Array(const Array& other) : Array(other.data_, other.size_) {}
  Array(Array&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
    other.data_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  Array& operator=(Array other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() {
    clear();
    grow(data_, 0);
  }
  void swap(Array& other) noexcept {
    T* const data = data_;
    const size_t size = size_, room = capacity_;
    data_ = other.data_, size_ = other.size_, capacity_ = other.capacity_;
    other.data_ = data, other.size_ = size, other.capacity_ = room;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void reserve(size_t n) {
    if (n <= capacity_) return;
    if constexpr (alignof(T) > 16) {
      data_ = static_cast<T*>(
          grow_aligned(static_cast<void*>(data_), size_ * sizeof(T), n * sizeof(T), alignof(T)));
    } else {
      data_ = static_cast<T*>(grow(static_cast<void*>(data_), n * sizeof(T)));
    }
    capacity_ = n;
  }
  void push_back(const T& value) { push_back(T(value)); }
  void push_back(T&& value) {
    if (size_ == capacity_) reserve(capacity_ < 4 ? 4 : 2 * capacity_);
    new (data_ + size_) T(std::move(value));
    ++size_;
  }
  void pop_back() { data_[--size_].~T(); }
  void insert(size_t at, T&& value) {
    push_back(std::move(value));
    alignas(T) unsigned char last[sizeof(T)];
    std::memcpy(last, static_cast<void*>(data_ + size_ - 1), sizeof(T));
    std::memmove(static_cast<void*>(data_ + at + 1), static_cast<void*>(data_ + at),
                 (size_ - 1 - at) * sizeof(T));
    std::memcpy(static_cast<void*>(data_ + at), last, sizeof(T));
  }
  void erase(size_t first, size_t end) {
    for (size_t i = first; i < end; ++i) data_[i].~T();
    std::memmove(static_cast<void*>(data_ + first), static_cast<void*>(data_ + end),
                 (size_ - end) * sizeof(T));
    size_ -= end - first;
  }
  void clear() {
    while (size_ > 0) pop_back();
  }
  // New elements are T().
  void resize(size_t n) {
    while (size_ > n) pop_back();
    reserve(n);
    if constexpr (__is_trivially_constructible(T)) {
      if (n > size_) std::memset(static_cast<void*>(data_ + size_), 0, (n - size_) * sizeof(T));
      size_ = n;
    } else {
      for (; size_ < n; ++size_) new (data_ + size_) T();
    }
  }

  bool operator==(const Array& other) const {
    if (size_ != other.size_) return false;
    if constexpr (__is_trivially_constructible(T)) {  // numbers
      return size_ == 0 || std::memcmp(data_, other.data_, size_ * sizeof(T)) == 0;
    } else {
      for (size_t i = 0; i < size_; ++i) {
        if (!(data_[i] == other.data_[i])) return false;
      }
      return true;
    }
  }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// First in, first out.
template <class T>
class Queue {
 public:
  bool empty() const { return first_ == items_.size(); }
  size_t size() const { return items_.size() - first_; }
  T& operator[](size_t i) { return items_[first_ + i]; }
  const T& operator[](size_t i) const { return items_[first_ + i]; }
  T& front() { return items_[first_]; }
  T& back() { return items_.back(); }
  const T& back() const { return items_.back(); }
  void push_back(T&& value) { items_.push_back(std::move(value)); }
  T pop_front() {
    T value = std::move(items_[first_]);
    if (++first_ * 2 > items_.size()) {  // what has been taken is dropped now and then
      items_.erase(0, first_);
      first_ = 0;
    }
    return value;
  }
  const T* begin() const { return items_.begin() + first_; }
  const T* end() const { return items_.end(); }

 private:
  Array<T> items_;
  size_t first_ = 0;
};

// Values by key, in the order of the keys.
template <class K, class V>
class Sorted {
 public:
  struct Item {
    K key;
    V value;
  };
  // The place of the first key that is not less.
  size_t place(const K& key) const {
    size_t low = 0, high = items_.size();
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (items_[middle].key < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  const V* find(const K& key) const {  // null: not there
    const size_t at = place(key);
    return at < items_.size() && !(key < items_[at].key) ? &items_[at].value : nullptr;
  }
  V& operator[](const K& key) {  // V() if it was not there
    const size_t at = place(key);
    if (at == items_.size() || key < items_[at].key) items_.insert(at, Item{key, V()});
    return items_[at].value;
  }
  void clear() { items_.clear(); }
  const Item* begin() const { return items_.begin(); }
  const Item* end() const { return items_.end(); }

 private:
  Array<Item> items_;
};

// The only pointer to something; made with new unless FREE says how else it goes.
template <class T>
void delete_owned(T* p) {
  delete p;
}
template <class T, void (*FREE)(T*) = delete_owned<T>>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* p) : p_(p) {}
  Owned(Owned&& other) noexcept : p_(other.p_) { other.p_ = nullptr; }
  Owned& operator=(Owned&& other) noexcept {
    T* const p = other.p_;
    other.p_ = nullptr;
    reset(p);
    return *this;
  }
  ~Owned() { reset(); }
  void reset(T* p = nullptr) {
    T* const old = p_;
    p_ = p;
    if (old != nullptr) FREE(old);
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  bool operator==(std::nullptr_t) const { return p_ == nullptr; }

 private:
  T* p_ = nullptr;
};

}  // namespace pld
