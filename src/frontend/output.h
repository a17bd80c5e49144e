// Where a Writer appends: a string that is filled through a pointer. Most of a text is pieces of a few characters, and a
// std::string takes longer to append one than to copy it.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace pldc {

class Output {
 public:
  // Appends to `text`, which is complete when the Output is gone and must not be touched before.
  explicit Output(std::string& text) : text_(text), used_(text.size()), room_(text.size()) {
    data_ = text_.data();
  }
  ~Output() { text_.resize(used_); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  std::size_t size() const { return used_; }
  std::string_view view() const { return {data_, used_}; }

  Output& operator+=(char c) {
    if (used_ == room_) grow(1);
    data_[used_++] = c;
    return *this;
  }
  Output& operator+=(std::string_view piece) {
    append(piece.data(), piece.size());
    return *this;
  }
  template <std::size_t N>
  Output& operator+=(const char (&literal)[N]) {
    append(literal, N - 1);
    return *this;
  }
  // `from` may point into what was appended before.
  [[gnu::always_inline]] void append(const char* from, std::size_t count) {
    if (room_ - used_ < count) {
      append_growing(from, count);
      return;
    }
    if (count == 0) return;  // `from` may be null then
    std::memcpy(data_ + used_, from, count);
    used_ += count;
  }
  void append(std::size_t count, char c) {
    if (room_ - used_ < count) grow(count);
    std::memset(data_ + used_, c, count);
    used_ += count;
  }
  // Forgets what is behind `size`.
  void shorten(std::size_t size) { used_ = size; }
  void insert(std::size_t at, std::string_view piece) {
    append(piece.data(), piece.size());
    std::memmove(data_ + at + piece.size(), data_ + at, used_ - piece.size() - at);
    std::memcpy(data_ + at, piece.data(), piece.size());
  }

 private:
  [[gnu::noinline]] void append_growing(const char* from, std::size_t count) {
    const bool inside = from >= data_ && from < data_ + used_;
    const std::size_t offset = inside ? static_cast<std::size_t>(from - data_) : 0;
    grow(count);
    std::memcpy(data_ + used_, inside ? data_ + offset : from, count);
    used_ += count;
  }
  // The room that the string has reserved is taken in steps: taking it clears it, which should not touch memory that is
  // not needed soon.
  [[gnu::noinline]] void grow(std::size_t count) {
    constexpr std::size_t kStep = std::size_t{1} << 16;
    const std::size_t least = used_ + count;
    std::size_t wanted = least + std::clamp<std::size_t>(used_, 128, kStep);
    if (least <= text_.capacity()) {
      wanted = std::min(wanted, text_.capacity());
    } else {
      wanted = std::max(wanted, used_ + used_ / 2);
    }
    text_.resize(wanted);
    data_ = text_.data();
    room_ = wanted;
  }

  std::string& text_;
  char* data_;
  std::size_t used_;
  std::size_t room_;
};

}  // namespace pldc
