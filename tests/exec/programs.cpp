#include "exec/programs.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>
#include <stdexcept>

#include "support/catch.h"
#include "support/corpus.h"
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

void write_npy(const std::string& path, const Array& array) {
  std::string header =
      std::string("{'descr': '") + (array.half ? "<f2" : "<f4") + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : array.shape) header += std::to_string(extent) + ",";
  header += ")}";
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  out.write("\x93NUMPY\x01\x00", 8);
  out.put(static_cast<char>(header.size() & 0xFF)).put(static_cast<char>(header.size() >> 8));
  out << header;
  for (const float value : array.values) {
    if (array.half) {
      const std::uint16_t half = to_half(value);
      out.write(reinterpret_cast<const char*>(&half), sizeof half);
    } else {
      out.write(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
}

Array read_npy(const std::string& path) {
  const std::string file = corpus::read(path);
  REQUIRE(file.size() > 10);
  const std::size_t length = static_cast<unsigned char>(file[8]) + 256U * static_cast<unsigned char>(file[9]);
  const std::string header = file.substr(10, length);
  Array array;
  array.half = header.find("<f2") != std::string::npos;
  std::size_t at = header.find('(') + 1;
  while (header[at] != ')') {
    array.shape.push_back(std::stoll(header.substr(at)));
    at = header.find_first_of(",)", at);
    at = header.find_first_not_of(", ", at);
  }
  const std::size_t width = array.half ? 2 : 4;
  for (std::size_t i = 10 + length; i + width <= file.size(); i += width) {
    if (header.find("<i4") != std::string::npos) {
      std::int32_t value = 0;
      std::memcpy(&value, file.data() + i, sizeof value);
      array.values.push_back(static_cast<float>(value));
    } else if (array.half) {
      std::uint16_t half = 0;
      std::memcpy(&half, file.data() + i, sizeof half);
      array.values.push_back(from_half(half));
    } else {
      float value = 0;
      std::memcpy(&value, file.data() + i, sizeof value);
      array.values.push_back(value);
    }
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
    write_npy(dir.path(name + ".npy"), array);
    args.push_back("--in=" + name + "=" + dir.path(name + ".npy"));
  }
  for (const std::string& name : outputs)
    args.push_back("--out=" + name + "=" + dir.path("out_" + name + ".npy"));
  args.insert(args.end(), options.begin(), options.end());
  Run result{run_pldc(args, build_variables()), {}};
  if (result.outcome.code == 0) {
    for (const std::string& name : outputs) result.outputs[name] = read_npy(dir.path("out_" + name + ".npy"));
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
