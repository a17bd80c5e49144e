// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Bodies of Text and of what makes it. Included by runtime.cpp only.
#pragma once
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include "pld/text.h"

namespace pld {

void* grow(void* memory, size_t bytes) {
  if (bytes == 0) {
    std::free(memory);
    return nullptr;
  }
  void* p = std::realloc(memory, bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

void* grow_zeros(size_t bytes) {
  if (bytes == 0) return nullptr;
  void* p = std::calloc(bytes, 1);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

void* grow_aligned(void* memory, size_t used, size_t bytes, size_t alignment) {
  void* p = nullptr;
  if (posix_memalign(&p, alignment, bytes) != 0) throw std::bad_alloc();
  if (used != 0) std::memcpy(p, memory, used);
  std::free(memory);
  return p;
}

void Text::reserve(size_t n) {
  if (n + 1 <= capacity_) return;
  const size_t wanted = n + 1 > 2 * capacity_ ? n + 1 : 2 * capacity_;
  data_ = static_cast<char*>(grow(data_, wanted));
  capacity_ = wanted;
}
void Text::resize(size_t n) {
  if (n == 0 && data_ == nullptr) return;
  reserve(n);
  if (n > size_) std::memset(data_ + size_, 0, n - size_);
  size_ = n;
  data_[n] = 0;
}

Text::Text(const char* s) : Text(s, std::strlen(s)) {}
Text::Text(const char* s, size_t n) { append(s, n); }
Text::Text(size_t n, char c) {
  resize(n);
  if (n != 0) std::memset(data_, c, n);
}
Text::Text(const Text& other) : Text(other.c_str(), other.size_) {}
Text::Text(Text&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
  other.data_ = nullptr;
  other.size_ = other.capacity_ = 0;
}
Text& Text::operator=(const Text& other) {
  if (this != &other) {
    resize(0);
    append(other.c_str(), other.size_);
  }
  return *this;
}
Text& Text::operator=(Text&& other) noexcept {
  if (this != &other) {
    std::free(data_);
    data_ = other.data_, size_ = other.size_, capacity_ = other.capacity_;
    other.data_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  return *this;
}
Text::~Text() { std::free(data_); }

Text& Text::append(const char* s, size_t n) {
  if (n == 0) return *this;
  if (data_ != nullptr && s >= data_ && s <= data_ + size_) {  // its own bytes, which may move
    const Text copy(s, n);
    return append(copy.c_str(), n);
  }
  reserve(size_ + n);
  std::memcpy(data_ + size_, s, n);
  size_ += n;
  data_[size_] = 0;
  return *this;
}
Text& Text::operator+=(const Text& t) { return append(t.c_str(), t.size_); }
Text& Text::operator+=(const char* s) { return append(s, std::strlen(s)); }
Text& Text::operator+=(char c) { return append(&c, 1); }

Text Text::substr(size_t begin, size_t n) const {
  if (begin >= size_) return {};
  return {data_ + begin, n < size_ - begin ? n : size_ - begin};
}
size_t Text::find(char c, size_t from) const {
  for (size_t i = from; i < size_; ++i) {
    if (data_[i] == c) return i;
  }
  return npos;
}
size_t Text::find_first_of(const char* set) const {
  for (size_t i = 0; i < size_; ++i) {
    if (data_[i] != 0 && std::strchr(set, data_[i]) != nullptr) return i;
  }
  return npos;
}
size_t Text::find_first_not_of(const char* set) const {
  for (size_t i = 0; i < size_; ++i) {
    if (data_[i] == 0 || std::strchr(set, data_[i]) == nullptr) return i;
  }
  return npos;
}
bool Text::has(size_t at, const char* s) const {
  const size_t n = std::strlen(s);
  return at <= size_ && n <= size_ - at && (n == 0 || std::memcmp(data_ + at, s, n) == 0);
}
bool Text::starts_with(const char* s) const { return has(0, s); }

Text operator+(const Text& a, const Text& b) {
  Text t = a;
  t += b;
  return t;
}
Text operator+(const Text& a, const char* b) {
  Text t = a;
  t += b;
  return t;
}
Text operator+(const char* a, const Text& b) {
  Text t = a;
  t += b;
  return t;
}
int compare(const Text& a, const Text& b) {
  const size_t n = a.size() < b.size() ? a.size() : b.size();
  const int c = n == 0 ? 0 : std::memcmp(a.c_str(), b.c_str(), n);
  if (c != 0 || a.size() == b.size()) return c;
  return a.size() < b.size() ? -1 : 1;
}
bool operator==(const Text& a, const Text& b) { return a.size() == b.size() && compare(a, b) == 0; }
bool operator==(const Text& a, const char* b) { return a.size() == std::strlen(b) && a.has(0, b); }

Text text(const char* format, ...) {
  va_list args;
  va_start(args, format);
  va_list again;
  va_copy(again, args);
  const int n = std::vsnprintf(nullptr, 0, format, args);
  va_end(args);
  Text s(static_cast<size_t>(n > 0 ? n : 0), ' ');
  if (n > 0) std::vsnprintf(s.data(), s.size() + 1, format, again);
  va_end(again);
  return s;
}
Text decimal_text(long long number) { return text("%lld", number); }

int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

}  // namespace pld
