// Programs for the tests of the passes that work on orchestrations: three kernels and a function `main` that calls them.
#pragma once

#include <string>
#include <string_view>

#include "unit/passes/golden.h"

namespace pldc {
const Program* run_FuseCreateAssembleToSlice(PassEnv&, const Program*);
const Program* run_DeriveCallDirections(PassEnv&, const Program*);
const Program* run_ExpandManualPhaseFence(PassEnv&, const Program*);
const Program* run_MaterializeRuntimeScopes(PassEnv&, const Program*);
const Program* run_ClassifyIterArgCarry(PassEnv&, const Program*);
const Program* run_MaterializeValidShapeSymbols(PassEnv&, const Program*);
}  // namespace pldc

namespace orchestration {

inline const std::string kTensor = "pl.Tensor[[64, 64], pl.FP32]";

// Lines of `body`, each with eight columns in front.
inline std::string block(std::string_view body, int columns = 8) {
  std::string out;
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size());
    out += std::string(static_cast<std::size_t>(columns), ' ') + std::string(body.substr(0, end)) + "\n";
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  return out;
}

// put(x, k, o: Out), mod(x, o: InOut) and get(x), each of which returns o or nothing.
inline std::string kernels() {
  const std::string head =
      "    @pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)\n    def ";
  const std::string load =
      "        t: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [64, 64], [64, 64], "
      "target_memory=pl.Mem.Vec)\n";
  const std::string store = "        r: " + kTensor + " = pl.tile.store(t, [0, 0], o)\n        return o\n";
  return head + "put(x: " + kTensor + ", k: pl.Scalar[pl.INDEX], o: pl.Out[" + kTensor + "]) -> " + kTensor +
         ":\n" + load + store + head + "mod(x: " + kTensor + ", o: pl.InOut[" + kTensor + "]) -> " + kTensor +
         ":\n" + load + store + head + "get(x: " + kTensor + "):\n" + load;
}

inline std::string function(std::string_view decorator, std::string_view params, std::string_view body,
                            std::string_view name = "main") {
  return "    @pl.function" + std::string(decorator) + "\n    def " + std::string(name) + "(self, " +
         std::string(params) + "):\n" + block(body);
}

inline constexpr std::string_view kOrchestration =
    "(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)";
inline const std::string kParams = "n: pl.Scalar[pl.INDEX], x: " + kTensor + ", o: pl.Out[" + kTensor + "]";

// `body` uses `T` for the tensor type.
inline std::string with_types(std::string_view body) {
  std::string out;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const bool type = body.substr(i, 4) == ": T " && i + 4 < body.size();
    out += type ? ": " + kTensor : std::string(1, body[i]);
    if (type) i += 2;
  }
  return out;
}

inline std::string main_with(std::string_view body, std::string_view params = kParams) {
  return golden::program(kernels() + function(kOrchestration, params, with_types(body)));
}

// The text of `main` after the pass, or the errors.
inline std::string main_after(const std::string& text, pldc::PassFunction pass) {
  const golden::Result result = golden::run(text, {pass});
  if (!result.ok) return result.errors;
  return result.text.substr(result.text.find("def main("));
}

// Whether the pass, given what it made, returns the very same program.
inline bool idempotent(const std::string& text, pldc::PassFunction pass) {
  return golden::run(text, {pass}).text == golden::run(text, {pass, pass}).text;
}

}  // namespace orchestration
