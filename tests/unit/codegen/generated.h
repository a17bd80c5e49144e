// Programs generated in memory: what the files hold, and what was reported.
#pragma once

#include <cstdlib>
#include <map>

#include "codegen/codegen.h"
#include "frontend/text.h"
#include "support/catch.h"
#include "support/diag/codegen.h"
#include "support/file.h"

namespace codegentest {

using namespace pldc;

inline std::string source_root() {
  const char* root = std::getenv("PLDC_SOURCE_ROOT");
  return root != nullptr ? root : ".";
}

struct Generated {
  explicit Generated(const std::string& text, const std::string& name = "p.pld",
                     const std::string& entry = {}, Target target = Target::Sim) {
    SourceManager sources;
    const SourceFile* file = sources.add(name, text);
    Context ir;
    const Module module = parse(*file, ir, diags);
    BuildOptions options;
    options.stem = path_stem(name);
    options.source = name;
    options.entry = entry;
    options.target = target;
    std::vector<OutputFile> out;
    good = module.program != nullptr && generate(ir, module, sources, options, diags, out);
    for (const OutputFile& f : out) {
      order.push_back(f.path);
      files[f.path] = f.text;
    }
    rendered = render(diags.all(), sources, {});
  }
  const std::string& operator[](const std::string& path) {
    INFO(rendered);
    REQUIRE(files.count(path) == 1);
    return files[path];
  }
  bool has(const DiagInfo& kind) const {
    for (const Diagnostic& d : diags.all()) {
      if (d.kind == &kind)
        return d.span.valid() || &kind == &diag::codegen_unknown_entry || &kind == &diag::codegen_no_entry;
    }
    return false;
  }
  DiagSink diags;
  bool good = false;
  std::vector<std::string> order;
  std::map<std::string, std::string> files;
  std::string rendered;
};

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

inline std::string read(const std::string& path) {
  std::string text, error;
  if (!read_file(path, text, error)) FAIL(path << " " << error);
  return text;
}

inline std::string example(const std::string& name, const std::string& path) {
  return read(source_root() + "/tests/data/runtime_example/" + name + "/" + path);
}

// A program of chip `chip(x, y)` over one kernel, and a host function with the given body (indented by 8) over windows and
// tensors of 64 floats a rank.
inline std::string with_host(
    const std::string& body,
    const std::string& params = "xs: pl.Tensor[[NR, 64], pl.FP32], ys: pl.Out[pl.Tensor[[NR, 64], pl.FP32]]",
    const std::string& result = "pl.Tensor[[NR, 64], pl.FP32]") {
  return "import pypto.language as pl\nimport pypto.language.distributed as pld\n\nNR = "
         "pl.dynamic(\"NR\")\n\n"
         "@pl.program\nclass P:\n"
         "    @pl.function(type=pl.FunctionType.InCore)\n"
         "    def k(self, x: pl.Tensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]) -> "
         "pl.Tensor[[1, 64], pl.FP32]:\n"
         "        return pl.store(pl.load(x, [0, 0], [1, 64]), [0, 0], y)\n\n"
         "    @pl.function(type=pl.FunctionType.Orchestration)\n"
         "    def chip(self, x: pl.Tensor[[1, 64], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]) -> "
         "pl.Tensor[[1, 64], pl.FP32]:\n"
         "        return self.k(x, y)\n\n"
         "    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
         "    def host(self, " +
         params + ") -> " + result + ":\n" + body;
}

// A program of one kernel `k(x, y)` and an orchestration with the given body.
inline std::string with_chip(
    const std::string& body,
    const std::string& params = "x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]",
    const std::string& result = "pl.Tensor[[64, 64], pl.FP32]") {
  return "import pypto.language as pl\n\n@pl.program\nclass P:\n"
         "    @pl.function(type=pl.FunctionType.InCore)\n"
         "    def k(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> "
         "pl.Tensor[[64, 64], pl.FP32]:\n"
         "        return pl.store(pl.load(x, [0, 0], [64, 64]), [0, 0], y)\n\n"
         "    @pl.function(type=pl.FunctionType.Orchestration)\n"
         "    def main(self, " +
         params + ") -> " + result + ":\n" + body;
}

}  // namespace codegentest
