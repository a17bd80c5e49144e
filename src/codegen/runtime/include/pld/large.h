// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// More memory of a kind than a core has, for programs that have not been cut into pieces yet. No device has it.
#pragma once
#include <cstdlib>
#include <new>

#include "pld/pto_types.h"

// One kind of memory of one run of a kernel, zeroed.
class pld_large_memory {
 public:
  explicit pld_large_memory(uint64_t bytes)
      : bytes_(bytes), data_(static_cast<unsigned char*>(std::calloc(bytes, 1))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  ~pld_large_memory() { std::free(data_); }
  pld_large_memory(const pld_large_memory&) = delete;
  pld_large_memory& operator=(const pld_large_memory&) = delete;

  unsigned char* at(uint64_t address, uint64_t bytes) const {
    if (address > bytes_ || bytes > bytes_ - address) {
      ::pld::sim::fail("a tile of %llu bytes at address 0x%llx does not fit %llu bytes",
                       static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address),
                       static_cast<unsigned long long>(bytes_));
    }
    return data_ + address;
  }

 private:
  uint64_t bytes_;
  unsigned char* data_;
};

// TASSIGN into it.
template <class TileT>
inline void pld_assign(TileT& tile, const pld_large_memory& memory, uint64_t address) {
  using T = typename TileT::DType;
  constexpr uint64_t bytes = static_cast<uint64_t>(TileT::Rows) * TileT::Cols * sizeof(T);
  tile.assign(reinterpret_cast<T*>(memory.at(address, bytes)));
}
