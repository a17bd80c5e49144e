// Kernels of small programs: their text, and what they compute when they are compiled and run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/enums.h"

namespace kerneltest {

struct Emitted {
  std::map<std::string, std::string> kernels;  // by name
  std::string errors;                          // "PLD0750 message", one a line; empty: all is well
};
// Reads the program, brings it into the form of code generation and emits every kernel.
Emitted emit(std::string_view program);

// A program of these functions (methods at column 0, in one class). `globals`: lines before the class.
std::string program(std::string_view functions, std::string_view globals = "");
// An InCore kernel with these parameters (without self) and body (at column 0).
std::string kernel(std::string_view params, std::string_view body, std::string_view name = "k");

// ---- execution --------------------------------------------------------------------------------------------------

struct Tensor {
  pldc::DType dtype = pldc::DType::FP32;
  std::vector<std::int64_t> shape;
  std::vector<unsigned char> bytes;  // row-major

  std::int64_t size() const;
  // Values as doubles ("inf", "nan" as themselves); integers of 64 bits as far as a double holds them.
  static Tensor of(pldc::DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values);
  static Tensor zeros(pldc::DType dtype, std::vector<std::int64_t> shape);
  std::vector<double> values() const;
};

struct Run {
  std::string text;             // of the kernel
  std::vector<Tensor> tensors;  // arguments; after the run what the kernel left in them
  std::vector<std::uint64_t> scalars = {};
  int block = 0, blocks = 1, lane = 0;
  std::string error = {};  // what ended the kernel
};
// The bits of a scalar argument.
std::uint64_t scalar_bits(float value);
inline std::uint64_t scalar_bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// Compiles all kernels into one program and runs each with its arguments. Returns what the compiler said if it failed, else
// an empty string. The compiler is $CXX or g++.
std::string execute(std::vector<Run>& runs);

// Emits, executes and returns the arguments of the program's only kernel; a failure is a failed check.
std::vector<Tensor> run_kernel(std::string_view program, std::vector<Tensor> tensors,
                               std::vector<std::uint64_t> scalars = {});

}  // namespace kerneltest
