#include "exec/programs.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>

#include "support/corpus.h"
#include "support/npy.h"
#include "support/temp_dir.h"

namespace exectest {
namespace {

// IEEE binary16 of a float that is exactly representable there (checked), apart from subnormals.
std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  if (value == 0) return sign;
  const int exponent = static_cast<int>((bits >> 23) & 0xFFU) - 127 + 15;
  if (exponent <= 0 || exponent >= 31 || (bits & 0x1FFFU) != 0) throw std::domain_error("no FP16 value");
  return static_cast<std::uint16_t>(sign | (static_cast<std::uint32_t>(exponent) << 10) |
                                    ((bits >> 13) & 0x3FFU));
}

float from_half(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const float mantissa = static_cast<float>(half & 0x3FF) / 1024.0F;
  const float size = exponent == 0    ? std::ldexp(mantissa, -14)
                     : exponent == 31 ? (mantissa == 0 ? INFINITY : NAN)
                                      : std::ldexp(1 + mantissa, exponent - 15);
  return (half & 0x8000) != 0 ? -size : size;
}

void write_array(const std::string& path, const Array& array) {
  NpyFile file{array.half ? "<f2" : "<f4", array.shape, {}};
  for (const float value : array.values) {
    const std::uint16_t half = array.half ? to_half(value) : std::uint16_t{0};
    const void* bytes = array.half ? static_cast<const void*>(&half) : &value;
    file.bytes.append(static_cast<const char*>(bytes), array.half ? 2 : 4);
  }
  write_npy(path, file);
}

Array read_array(const std::string& path) {
  const NpyFile file = read_npy(path);
  Array array{file.shape, {}, file.descr == "<f2"};
  const std::size_t width = array.half ? 2 : 4;
  for (std::size_t i = 0; i + width <= file.bytes.size(); i += width) {
    std::uint16_t half = 0;
    std::int32_t integer = 0;
    float value = 0;
    if (array.half) {
      std::memcpy(&half, file.bytes.data() + i, sizeof half);
      value = from_half(half);
    } else if (file.descr == "<i4") {
      std::memcpy(&integer, file.bytes.data() + i, sizeof integer);
      value = static_cast<float>(integer);
    } else {
      std::memcpy(&value, file.bytes.data() + i, sizeof value);
    }
    array.values.push_back(value);
  }
  return array;
}

template <class Make>
Array made(std::vector<std::int64_t> shape, std::uint32_t seed, bool half, Make make) {
  Array array{std::move(shape), {}, half};
  std::mt19937 random(seed);
  std::int64_t size = 1;
  for (const std::int64_t extent : array.shape) size *= extent;
  for (std::int64_t i = 0; i < size; ++i) array.values.push_back(make(random));
  return array;
}

}  // namespace

Array eighths(std::vector<std::int64_t> shape, std::uint32_t seed, bool half) {
  return made(std::move(shape), seed, half, [](std::mt19937& random) {
    return static_cast<float>(static_cast<int>(random() % 129) - 64) / 8;
  });
}

Array powers(std::vector<std::int64_t> shape, std::uint32_t seed, bool half) {
  return made(std::move(shape), seed, half, [](std::mt19937& random) {
    constexpr float kValues[] = {-2, -1, -0.5F, 0.5F, 1, 2};
    return kValues[random() % std::size(kValues)];
  });
}

Run run(const std::string& program, int ranks, const std::map<std::string, Array>& inputs,
        const std::vector<std::string>& outputs, const std::vector<std::string>& options) {
  const TempDir dir;
  std::vector<std::string> args = {"run", program, "--ranks=" + std::to_string(ranks)};
  for (const auto& [name, array] : inputs) {
    write_array(dir.path(name + ".npy"), array);
    args.push_back("--in=" + name + "=" + dir.path(name + ".npy"));
  }
  for (const std::string& name : outputs)
    args.push_back("--out=" + name + "=" + dir.path("out_" + name + ".npy"));
  args.insert(args.end(), options.begin(), options.end());
  Run result{run_pldc(args, build_variables()), {}};
  if (result.outcome.code == 0) {
    for (const std::string& name : outputs)
      result.outputs[name] = read_array(dir.path("out_" + name + ".npy"));
  }
  return result;
}

std::string source_of(const std::string& name) { return corpus::root() + "/" + name + "/source.pld"; }

std::vector<int> first(int ranks) {
  std::vector<int> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  return members;
}

}  // namespace exectest
