// Running pldc's driver in process, as the shell would.
#pragma once

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "driver/env.h"

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

// Environment variables are only those given.
inline Outcome run_pldc(const std::vector<std::string>& args,
                        const std::map<std::string, std::string>& variables = {},
                        const std::string& crash_directory = ".") {
  std::ostringstream out, err;
  pldc::Env env{};
  env.out = &out;
  env.err = &err;
  env.variable = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found != variables.end() ? std::optional<std::string>(found->second) : std::nullopt;
  };
  env.capture_children = true;
  env.crash_directory = crash_directory;
  const int code = pldc::run_main(args, env);
  return {code, out.str(), err.str()};
}

// The environment for building programs: a cache in the build directory, so that the runtime is compiled once.
inline std::map<std::string, std::string> build_variables() {
  const char* build = std::getenv("PLDC_BUILD_ROOT");
  const char* path = std::getenv("PATH");
  return {{"XDG_CACHE_HOME", std::string(build != nullptr ? build : ".") + "/test-cache"},
          {"PATH", path != nullptr ? path : ""}};
}

// A small program in canonical form, ending without a newline as PyPTO's printer leaves it.
inline constexpr const char* kScale = R"(# pypto.program: Scale
import pypto.language as pl

@pl.program
class Scale:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def kernel(x: pl.Tensor[[1, 64], pl.FP32], k: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]) -> pl.Tensor[[1, 64], pl.FP32]:
        t: pl.Tile[[1, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [1, 64], [1, 64], target_memory=pl.Mem.Vec)
        u: pl.Tile[[1, 64], pl.FP32, pl.Mem.Vec] = pl.tile.muls(t, k)
        return pl.tile.store(u, [0, 0], y)
    @pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)
    def main(self, x: pl.Tensor[[1, 64], pl.FP32], k: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]) -> pl.Tensor[[1, 64], pl.FP32]:
        y: pl.Tensor[[1, 64], pl.FP32] = self.kernel(x, k, y)
        return y)";
