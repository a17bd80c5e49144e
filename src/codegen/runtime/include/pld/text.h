// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Text of the runtime's own object files. <string> costs each of them a quarter of a second to compile, and every program
// compiles them; this costs nothing. Bodies are in runtime_text.h.
#pragma once
#include <cstddef>
#include <cstdint>

namespace pld {

// Bytes with a 0 behind them. May be moved by copying its own bytes (Array does).
class Text {
 public:
  static constexpr size_t npos = ~size_t{0};

  Text() = default;
  Text(const char* s);  // NOLINT: implicit on purpose, as the others
  Text(const char* s, size_t n);
  Text(size_t n, char c);
  // std::string and std::string_view of whoever uses this as a library.
  template <class S, class = decltype(static_cast<const S*>(nullptr)->length())>
  Text(const S& s) : Text(s.data(), s.length()) {}
  Text(const Text& other);
  Text(Text&& other) noexcept;
  Text& operator=(const Text& other);
  Text& operator=(Text&& other) noexcept;
  ~Text();

  const char* c_str() const { return data_ != nullptr ? data_ : ""; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  char operator[](size_t i) const { return data_[i]; }
  const char* data() const { return c_str(); }
  char* data() { return data_; }  // null if nothing was ever put here
  const char* begin() const { return data_; }
  const char* end() const { return data_ + size_; }
  char* begin() { return data_; }
  char* end() { return data_ + size_; }
  char& operator[](size_t i) { return data_[i]; }

  Text& append(const char* s, size_t n);
  Text& operator+=(const Text& t);
  Text& operator+=(const char* s);
  Text& operator+=(char c);
  void resize(size_t n);  // new bytes are 0
  void clear() { resize(0); }

  Text substr(size_t begin, size_t n = npos) const;
  size_t find(char c, size_t from = 0) const;       // npos: not there
  size_t find_first_of(const char* set) const;      // npos: none
  size_t find_first_not_of(const char* set) const;  // npos: none
  bool starts_with(const char* s) const;
  bool has(size_t at, const char* s) const;  // whether s stands at `at`

 private:
  void reserve(size_t n);
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

Text operator+(const Text& a, const Text& b);
Text operator+(const Text& a, const char* b);
Text operator+(const char* a, const Text& b);
int compare(const Text& a, const Text& b);  // as memcmp
bool operator==(const Text& a, const Text& b);
bool operator==(const Text& a, const char* b);
inline bool operator<(const Text& a, const Text& b) { return compare(a, b) < 0; }

Text text(const char* format, ...) __attribute__((format(printf, 1, 2)));
Text decimal_text(long long number);
template <class T>
Text decimal(T number) {
  return decimal_text(static_cast<long long>(number));
}

// Memory that grows: realloc, but throws std::bad_alloc. 0 bytes frees it.
void* grow(void* memory, size_t bytes);
void* grow_zeros(size_t bytes);                                                 // calloc
void* grow_aligned(void* memory, size_t used, size_t bytes, size_t alignment);  // `used` bytes are kept

int64_t now_ns();  // steady clock

}  // namespace pld
