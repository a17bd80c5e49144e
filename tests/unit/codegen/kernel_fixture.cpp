#include "unit/codegen/kernel_fixture.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "codegen/device/kernel.h"
#include "codegen/normalize.h"
#include "codegen/runtime/include/pld/half.h"
#include "frontend/text.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace kerneltest {

using namespace pldc;

// ---- emission ---------------------------------------------------------------------------------------------------

namespace {

std::string listed(DiagSink& diags) {
  std::string out;
  for (const Diagnostic& d : diags.take()) out += diag_code(*d.kind) + " " + d.message + "\n";
  return out;
}

std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    out += line.empty() ? "\n" : std::string(indent) + line + "\n";
  }
  return out;
}

}  // namespace

Emitted emit(std::string_view text) {
  Emitted out;
  SourceManager sources;
  Context context;
  DiagSink diags;
  const SourceFile* file = sources.add("test.pld", std::string(text));
  const Module module = parse(*file, context, diags);
  const Program* program = module.program;
  if (program != nullptr) program = normalize_for_codegen(context, program, diags);
  if (program == nullptr) {
    out.errors = listed(diags);
    return out;
  }
  const Places places(sources, "test.pld");
  const BuildOptions options;
  const Callers callers(*program);
  for (const Function* function : program->functions) {
    if (!function->is_kernel()) continue;
    TilePlacement placement;
    if (!place_tiles(context, diags, function, placement)) continue;
    const Signature signature = signature_of(function);
    const KernelEnv env{context,   diags,     places, options, *program, "chip", function->name.text(),
                        signature, placement, callers};
    KernelText kernel_text;
    if (emit_kernel(env, *function, kernel_text))
      out.kernels.emplace(function->name.text(), kernel_text.text);
  }
  out.errors = listed(diags);
  return out;
}

std::string program(std::string_view functions, std::string_view globals) {
  return fmt::format(
      "import pypto.language as pl\nimport pypto.language.distributed as pld\n{}\n@pl.program\nclass P:\n{}",
      globals, indented(functions, "    "));
}

std::string kernel(std::string_view params, std::string_view body, std::string_view name) {
  return fmt::format("@pl.function(type=pl.FunctionType.InCore)\ndef {}(self, {}):\n{}", name, params,
                     indented(body, "    "));
}

// ---- values -----------------------------------------------------------------------------------------------------

std::int64_t Tensor::size() const {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

namespace {

template <class T>
void put(unsigned char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}
template <class T>
T get(const unsigned char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void encode(DType dtype, double value, unsigned char* to) {
  if (dtype == DType::FP32) return put(to, static_cast<float>(value));
  if (dtype == DType::FP16) return put(to, ::pld::to_half_bits(static_cast<float>(value)));
  if (dtype == DType::BF16) return put(to, ::pld::to_bf16_bits(static_cast<float>(value)));
  if (dtype == DType::FP8E4M3FN) return put(to, ::pld::to_e4m3_bits(static_cast<float>(value)));
  const bool negative = value < 0;
  const auto magnitude = static_cast<std::uint64_t>(std::fabs(value));
  const std::uint64_t bits = negative ? ~magnitude + 1 : magnitude;
  std::memcpy(to, &bits, byte_width(dtype));
}

double decode(DType dtype, const unsigned char* from) {
  if (dtype == DType::FP32) return static_cast<double>(get<float>(from));
  if (dtype == DType::FP16) return static_cast<double>(::pld::from_half_bits(get<std::uint16_t>(from)));
  if (dtype == DType::BF16) return static_cast<double>(::pld::from_bf16_bits(get<std::uint16_t>(from)));
  if (dtype == DType::FP8E4M3FN) return static_cast<double>(::pld::from_e4m3_bits(from[0]));
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, byte_width(dtype));
  const unsigned width = bit_width(dtype);
  if (is_signed_int(dtype)) {
    const unsigned unused = 64 - width;
    return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  return static_cast<double>(bits);
}

}  // namespace

Tensor Tensor::zeros(DType dtype, std::vector<std::int64_t> shape) {
  Tensor out{dtype, std::move(shape), {}};
  out.bytes.assign(static_cast<std::size_t>(out.size()) * byte_width(dtype), 0);
  return out;
}

Tensor Tensor::of(DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  Tensor out = zeros(dtype, std::move(shape));
  for (std::size_t i = 0; i < values.size() && i < static_cast<std::size_t>(out.size()); ++i) {
    encode(dtype, values[i], &out.bytes[i * byte_width(dtype)]);
  }
  return out;
}

std::vector<double> Tensor::values() const {
  std::vector<double> out;
  for (std::size_t i = 0; i < bytes.size(); i += byte_width(dtype)) out.push_back(decode(dtype, &bytes[i]));
  return out;
}

std::uint64_t scalar_bits(float value) { return std::bit_cast<std::uint32_t>(value); }

// ---- execution --------------------------------------------------------------------------------------------------

namespace {

// Reads "name block blocks lane, tensors (dtype rank dims hex), scalars", runs the kernel of that name and prints what
// is in the tensors.
constexpr std::string_view kDriver = R"(
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>
#include "pld/abi.h"
struct Kernel { const char* name; void (*run)(int64_t*); };
extern const Kernel kKernels[];
extern const int kKernelCount;
int main() {
  std::string name;
  while (std::cin >> name) {
    LocalContext local{}; GlobalContext global{};
    size_t tensors = 0, scalars = 0;
    std::cin >> local.block_idx >> local.block_num >> global.sub_block_id >> tensors >> scalars;
    std::vector<ChipTensor> args(tensors);
    std::vector<std::vector<unsigned char>> memory(tensors);
    std::vector<int64_t> slots(kPldArgSlots);
    for (size_t i = 0; i < tensors; ++i) {
      ChipTensor& t = args[i];
      t = ChipTensor{};
      int dtype = 0; std::string hex;
      std::cin >> dtype >> t.ndims;
      for (uint32_t k = 0; k < t.ndims; ++k) std::cin >> t.shapes[k];
      std::cin >> hex;
      uint32_t step = 1;
      for (uint32_t k = t.ndims; k-- > 0;) { t.strides[k] = step ? step : 1; step *= t.shapes[k]; }
      for (size_t k = 1; k + 1 < hex.size(); k += 2) {
        memory[i].push_back(static_cast<unsigned char>(std::stoi(hex.substr(k, 2), nullptr, 16)));
      }
      t.dtype = static_cast<DataType>(dtype);
      t.buffer = {reinterpret_cast<uint64_t>(memory[i].data()), memory[i].size()};
      t.extent = step;
      slots[i] = reinterpret_cast<int64_t>(&t);
    }
    for (size_t i = 0; i < scalars; ++i) std::cin >> slots[tensors + i];
    slots[kPldLocalContextSlot] = reinterpret_cast<int64_t>(&local);
    slots[kPldGlobalContextSlot] = reinterpret_cast<int64_t>(&global);
    std::string error = "ok";
    for (int k = 0; k < kKernelCount; ++k) {
      if (name != kKernels[k].name) continue;
      try { kKernels[k].run(slots.data()); } catch (const std::exception& e) { error = e.what(); }
    }
    for (char& c : error) if (c == '\n') c = ' ';
    std::printf("%s\n", error.c_str());
    for (const auto& m : memory) {
      std::putchar('x');
      for (const unsigned char b : m) std::printf("%02x", b);
      std::putchar('\n');
    }
  }
}
)";

std::string hex(const std::vector<unsigned char>& bytes) {
  std::string out = "x";
  for (const unsigned char b : bytes) out += fmt::format("{:02x}", b);
  return out + ".";  // never empty, and of odd length
}

std::vector<unsigned char> from_hex(const std::string& text) {
  std::vector<unsigned char> out;
  for (std::size_t i = 1; i + 1 < text.size(); i += 2) {
    out.push_back(static_cast<unsigned char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return out;
}

std::string compiler() {
  const char* given = std::getenv("CXX");
  return given != nullptr && *given != '\0' ? given : "g++";
}

}  // namespace

std::string execute(std::vector<Run>& runs) {
  const char* root = std::getenv("PLDC_SOURCE_ROOT");
  const std::string include = std::string(root != nullptr ? root : ".") + "/src/codegen/runtime/include";
  TempDir dir;
  constexpr std::size_t kPerUnit =
      60;  // kernels of one translation unit: the headers cost more than the kernels
  std::string table = "#include <cstdint>\nstruct Kernel { const char* name; void (*run)(int64_t*); };\n";
  std::string rows;
  std::string input;
  std::vector<std::string> units;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i % kPerUnit == 0) units.emplace_back();
    const std::string file = dir.write(fmt::format("k{}.cpp", i), runs[i].text);
    units.back() +=
        fmt::format("#define kernel_entry k{0}\n#include \"{1}\"\n#undef kernel_entry\n", i, file);
    table += fmt::format("extern \"C\" void k{}(int64_t*);\n", i);
    rows += fmt::format("{{\"k{0}\", k{0}}}, ", i);
    input += fmt::format("k{} {} {} {} {} {}\n", i, runs[i].block, runs[i].blocks, runs[i].lane,
                         runs[i].tensors.size(), runs[i].scalars.size());
    for (const Tensor& t : runs[i].tensors) {
      input += fmt::format("0 {}", t.shape.size());
      for (const std::int64_t extent : t.shape) input += fmt::format(" {}", extent);
      input += " " + hex(t.bytes) + "\n";
    }
    for (const std::uint64_t s : runs[i].scalars) input += fmt::format("{}\n", static_cast<std::int64_t>(s));
  }
  table += fmt::format("extern const Kernel kKernels[] = {{{}}};\nextern const int kKernelCount = {};\n",
                       rows, runs.size());
  std::vector<std::string> sources = {dir.write("driver.cpp", kDriver), dir.write("table.cpp", table),
                                      include + "/pld/runtime.cpp", include + "/pld/watch.cpp"};
  for (std::size_t i = 0; i < units.size(); ++i) {
    sources.push_back(dir.write(fmt::format("unit{}.cpp", i), units[i]));
  }
  std::vector<ProcessSpec> commands;
  std::vector<std::string> link = {compiler(), "-pthread", "-o", dir.path("run")};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string object = dir.path(fmt::format("o{}.o", i));
    // Generated kernels promise to be free of warnings.
    ProcessSpec compile;
    compile.args = {compiler(),
                    "-std=c++20",
                    "-O0",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-ffp-contract=off",
                    "-fno-strict-aliasing",
                    "-fno-math-errno",
                    "-fno-trapping-math",
                    "-I" + include,
                    "-c",
                    sources[i],
                    "-o",
                    object};
    compile.capture = true;
    commands.push_back(std::move(compile));
    link.push_back(object);
  }
  for (const ProcessResult& result : run_processes(commands, 2)) {
    if (!result.ok() && result.error != "not started") return result.error + result.err;
  }
  ProcessSpec linker;
  linker.args = link;
  linker.capture = true;
  const ProcessResult linked = run_process(linker);
  if (!linked.ok()) return linked.error + linked.err;

  const std::string input_file = dir.write("input.txt", input);
  ProcessSpec program;
  program.args = {"/bin/sh", "-c", "exec \"$0\" < \"$1\"", dir.path("run"), input_file};
  program.capture = true;
  const ProcessResult ran = run_process(program);
  std::istringstream lines(ran.out);
  for (Run& run : runs) {
    if (!std::getline(lines, run.error)) {
      run.error = fmt::format("the program ended with code {}: {}", ran.exit_code, ran.err);
      continue;
    }
    if (run.error == "ok") run.error.clear();
    for (Tensor& t : run.tensors) {
      std::string line;
      if (std::getline(lines, line)) t.bytes = from_hex(line);
    }
  }
  return {};
}

std::vector<Tensor> run_kernel(std::string_view text, std::vector<Tensor> tensors,
                               std::vector<std::uint64_t> scalars) {
  const Emitted emitted = emit(text);
  INFO(emitted.errors);
  REQUIRE(emitted.kernels.size() == 1);
  std::vector<Run> runs = {{emitted.kernels.begin()->second, std::move(tensors), std::move(scalars)}};
  INFO(runs[0].text);
  const std::string said = execute(runs);
  INFO(said);
  REQUIRE(said.empty());
  INFO(runs[0].error);
  REQUIRE(runs[0].error.empty());
  return runs[0].tensors;
}

}  // namespace kerneltest
