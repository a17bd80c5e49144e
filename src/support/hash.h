// 64-bit hashing for tables and structural hashes. Values are the same on every machine and run; they are still
// no file format and must not be stored.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace pldc {

inline std::uint64_t hash_bytes(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

// Finaliser of MurmurHash3 (public domain, Appleby): every input bit affects every output bit.
constexpr std::uint64_t hash_mix(std::uint64_t v) {
  v ^= v >> 33;
  v *= 0xff51afd7ed558ccdULL;
  v ^= v >> 33;
  v *= 0xc4ceb9fe1a85ec53ULL;
  v ^= v >> 33;
  return v;
}

constexpr std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t v) {
  return hash_mix(seed ^ (v + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2)));
}

}  // namespace pldc
