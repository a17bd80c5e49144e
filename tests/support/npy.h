// Values of tensors as numpy files (.npy, version 1), for programs that tests build and run.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

// What a file holds: row-major bytes of elements of the type `descr` ("<f4").
struct NpyFile {
  std::string descr;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

inline void write_npy(const std::string& path, const NpyFile& file) {
  std::string header = "{'descr': '" + file.descr + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : file.shape) header += std::to_string(extent) + ",";
  header += "), }";
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  out.write("\x93NUMPY\x01\x00", 8);
  out.put(static_cast<char>(header.size() & 0xff)).put(static_cast<char>(header.size() >> 8));
  out << header << file.bytes;
}

inline NpyFile read_npy(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  if (bytes.size() < 10) throw std::runtime_error(path + " is no .npy file");
  const std::size_t length =
      static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(10, length);
  NpyFile file;
  const std::size_t descr = header.find('\'', header.find(':')) + 1;
  file.descr = header.substr(descr, header.find('\'', descr) - descr);
  std::size_t at = header.find('(') + 1;
  while (header.at(at) != ')') {
    file.shape.push_back(std::stoll(header.substr(at)));
    at = header.find_first_of(",)", at);
    at = header.find_first_not_of(", ", at);
  }
  file.bytes = bytes.substr(10 + length);
  return file;
}

// An array of 4-byte elements.
template <class T>
struct Npy {
  std::vector<std::size_t> shape;
  std::vector<T> values;  // row-major

  explicit Npy(std::vector<std::size_t> dims = {}) : shape(std::move(dims)) {
    values.resize(std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()));
  }

  void write(const std::string& path) const {
    static_assert(sizeof(T) == 4);
    write_npy(path, {std::is_floating_point_v<T> ? "<f4" : "<i4",
                     {shape.begin(), shape.end()},
                     std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))});
  }

  // Reads as many values as the shape holds.
  void read(const std::string& path) {
    const NpyFile file = read_npy(path);
    const std::size_t size = values.size() * sizeof(T);
    if (file.bytes.size() != size) throw std::runtime_error(path + " holds another number of values");
    std::memcpy(values.data(), file.bytes.data(), size);
  }
};
