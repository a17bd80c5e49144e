// Values of tensors as numpy files, for programs that tests build and run.
#pragma once

#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

template <class T>
struct Npy {
  std::vector<std::size_t> shape;
  std::vector<T> values;  // row-major

  explicit Npy(std::vector<std::size_t> dims = {}) : shape(std::move(dims)) {
    values.resize(std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()));
  }

  void write(const std::string& path) const {
    static_assert(sizeof(T) == 4);
    std::string dims;
    for (const std::size_t n : shape) dims += std::to_string(n) + ",";
    std::string header = std::string("{'descr': '") + (std::is_floating_point_v<T> ? "<f4" : "<i4") +
                         "', 'fortran_order': False, 'shape': (" + dims + "), }";
    while ((header.size() + 11) % 64 != 0) header += ' ';
    header += '\n';
    std::ofstream out(path, std::ios::binary);
    out << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(header.size() & 0xff)
        << static_cast<char>(header.size() >> 8) << header;
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(T)));
  }

  // Reads as many values as the shape holds.
  void read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const std::size_t size = values.size() * sizeof(T);
    if (bytes.size() < size + 10) throw std::runtime_error(path + " is too short");
    std::memcpy(values.data(), bytes.data() + (bytes.size() - size), size);
  }
};
