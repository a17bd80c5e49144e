// The verifiers: one finding each, and nothing in the reference corpus where the property holds.
#include <filesystem>

#include "passes/verify/verifiers.h"
#include "support/catch.h"
#include "unit/passes/golden.h"

using namespace golden;
using Catch::Matchers::Contains;

namespace {

std::string main_with(std::string_view body, std::string_view params =
                                                 "n: pl.Scalar[pl.INDEX], x: pl.Tensor[[16, 64], "
                                                 "pl.FP32], y: pl.Tensor[[32, 64], pl.FP32]") {
  std::string text = "    @pl.function\n    def main(self, ";
  text += params;
  text += "):\n";
  text += body;
  return program(text);
}

std::string found(std::string_view text, Verifier verifier) { return golden::verify(text, verifier).errors; }

}  // namespace

#define CHECK_FINDS(text, verifier, code) CHECK_THAT(found(text, pldc::verifier), Contains(code))
#define CHECK_CLEAN(text, verifier) CHECK(found(text, pldc::verifier) == "")

TEST_CASE("verify SSAForm: double definition, scope, yields") {
  CHECK_FINDS(main_with("        a: pl.Scalar[pl.INDEX] = n\n        a: pl.Scalar[pl.INDEX] = n + 1\n"),
              verify_SSAForm, "PLD0601 'a' is defined twice");
  CHECK_FINDS(main_with("        if n > 0:\n            a: pl.Scalar[pl.INDEX] = n\n"
                        "        b: pl.Scalar[pl.INDEX] = a + 1\n"),
              verify_SSAForm, "PLD0606 'a' is read outside the body that defines it");
  CHECK_FINDS(main_with("        with pl.at(level=pl.Level.CORE_GROUP):\n            pl.yield_(n)\n"),
              verify_SSAForm, "PLD0607");
  CHECK_CLEAN(main_with("        for i, (a,) in pl.range(4, init_values=(n,)):\n"
                        "            b: pl.Scalar[pl.INDEX] = pl.yield_(a + i)\n"
                        "        d: pl.Scalar[pl.INDEX] = b\n"),
              verify_SSAForm);
}

TEST_CASE("verify TypeChecked: what meets in loops and ifs") {
  CHECK_FINDS(main_with("        for i, (a,) in pl.range(4, init_values=(x,)):\n"
                        "            b: pl.Tensor[[16, 64], pl.FP32] = pl.yield_(i)\n"),
              verify_TypeChecked, "PLD0611");
  CHECK_FINDS(main_with("        for i, (a,) in pl.range(4, init_values=(x,)):\n"
                        "            b: pl.Tensor[[16, 64], pl.FP32] = pl.yield_(pl.tensor.cast(a, "
                        "target_type=pl.FP16, mode='round'))\n"),
              verify_TypeChecked, "PLD0612");
  CHECK_FINDS(main_with("        if n > 0:\n"
                        "            r: pl.Tensor[[16, 64], pl.FP32] = pl.yield_(x)\n"
                        "        else:\n"
                        "            r: pl.Tensor[[16, 64], pl.FP32] = pl.yield_(y)\n"),
              verify_TypeChecked, "PLD0614 if: dimension 0 of the result 'r' is 16");
  CHECK_FINDS(main_with("        while n:\n            pass\n"), verify_TypeChecked, "PLD0617");
  CHECK_FINDS(main_with("        for i in pl.range(x):\n            pass\n"), verify_TypeChecked, "PLD0618");
}

TEST_CASE("verify: jumps, yields, scopes, pipelines, arrays") {
  CHECK_FINDS(main_with("        break\n"), verify_BreakContinueValid, "PLD0642 'break'");
  CHECK_FINDS(main_with("        continue\n"), verify_BreakContinueValid, "PLD0642 'continue'");
  CHECK_CLEAN(main_with("        for i in pl.range(4):\n            if n > 0:\n                break\n"),
              verify_BreakContinueValid);
  CHECK_FINDS(main_with("        with pl.at(level=pl.Level.CORE_GROUP):\n"
                        "            with pl.at(level=pl.Level.CORE_GROUP):\n"
                        "                a: pl.Scalar[pl.INDEX] = n\n"),
              verify_NoNestedInCore, "PLD0646");
  CHECK_FINDS(main_with("        for i in pl.pipeline(4, stage=0):\n            pass\n"),
              verify_PipelineLoopValid, "PLD0647 this pl.pipeline loop has stage=0");
  CHECK_FINDS(main_with("        pass\n", "a: pl.Array[4, pl.INT32]"), verify_ArrayNotEscaped,
              "PLD0648 parameter 'a' of 'main'");
}

TEST_CASE("verify: scopes that are left over") {
  CHECK_FINDS(main_with("        with pl.at(level=pl.Level.HOST):\n            a: pl.Scalar[pl.INDEX] = n\n"),
              verify_HierarchyOutlined, "PLD0660");
  CHECK_FINDS(
      main_with("        with pl.at(level=pl.Level.CORE_GROUP):\n            a: pl.Scalar[pl.INDEX] = n\n"),
      verify_SplitIncoreOrch, "PLD0660");
  CHECK_FINDS(main_with("        with pl.cluster():\n            a: pl.Scalar[pl.INDEX] = n\n"),
              verify_ClusterOutlined, "PLD0660");
}

namespace {

const std::string kStep =
    "    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)\n"
    "    def step(x: pl.Tensor[[16, 64], pl.FP32], o: pl.InOut[pl.Tensor[[16, 64], pl.FP32]]) -> "
    "pl.Tensor[[16, 64], pl.FP32]:\n"
    "        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [16, 64], [16, 64], "
    "target_memory=pl.Mem.Vec)\n"
    "        r: pl.Tensor[[16, 64], pl.FP32] = pl.tile.store(t, [0, 0], o)\n"
    "        return r\n";

std::string chip(std::string_view body) {
  std::string text = kStep;
  text +=
      "    @pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)\n"
      "    def main(self, x: pl.Tensor[[16, 64], pl.FP32], o: pl.InOut[pl.Tensor[[16, 64], pl.FP32]]) -> "
      "pl.Tensor[[16, 64], pl.FP32]:\n";
  text += body;
  return program(text);
}

}  // namespace

TEST_CASE("verify InOutUseValid: reading what was handed over") {
  CHECK_FINDS(chip("        r: pl.Tensor[[16, 64], pl.FP32] = self.step(x, o)\n        return o\n"),
              verify_InOutUseValid, "PLD0644 'o' was handed over as InOut before and is read here again");
  CHECK_CLEAN(chip("        o: pl.Tensor[[16, 64], pl.FP32] = self.step(x, o)\n        return o\n"),
              verify_InOutUseValid);
  CHECK_FINDS(chip("        for i in pl.range(4):\n"
                   "            r: pl.Tensor[[16, 64], pl.FP32] = self.step(x, o)\n"
                   "        return x\n"),
              verify_InOutUseValid, "PLD0644 'o'");
  CHECK_CLEAN(chip("        for i in pl.range(4):\n"
                   "            o: pl.Tensor[[16, 64], pl.FP32] = self.step(x, o)\n"
                   "        return o\n"),
              verify_InOutUseValid);
  CHECK_FINDS(chip("        if True:\n"
                   "            r: pl.Tensor[[16, 64], pl.FP32] = self.step(x, o)\n"
                   "        return o\n"),
              verify_InOutUseValid, "PLD0644 'o'");
}

TEST_CASE("verify OutParamNotShadowed") {
  CHECK_FINDS(chip("        o: pl.Tensor[[16, 64], pl.FP32] = pl.tensor.create([16, 64], dtype=pl.FP32, "
                   "layout=pl.TensorLayout.ND)\n        return o\n"),
              verify_OutParamNotShadowed,
              "PLD0645 the InOut parameter 'o' is replaced by a new tensor of tensor.create");
  CHECK_CLEAN(chip("        o: pl.Tensor[[16, 64], pl.FP32] = self.step(x, o)\n        return o\n"),
              verify_OutParamNotShadowed);
}

TEST_CASE("verify calls: nesting, callees, dependencies") {
  CHECK_FINDS(main_with("        a: pl.Tensor[[16, 64], pl.FP32] = pl.tensor.exp(pl.tensor.exp(x))\n"),
              verify_NoNestedCalls,
              "PLD0652 the call of 'tensor.exp' stands inside the arguments of another call");
  CHECK_FINDS(program("    @pl.function(type=pl.FunctionType.Inline)\n"
                      "    def f(self, n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:\n"
                      "        return n\n"
                      "    @pl.function\n"
                      "    def main(self, n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:\n"
                      "        return self.f(n)\n"),
              verify_InlineFunctionsEliminated, "PLD0655");
  CHECK_FINDS(program("    @pl.function(type=pl.FunctionType.Inline)\n"
                      "    def f(self, n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:\n"
                      "        return n\n"
                      "    @pl.function\n"
                      "    def main(self, n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:\n"
                      "        return self.f(n)\n"),
              verify_InlineFunctionsEliminated, "PLD0656");
}

TEST_CASE("verify ReturnParamsExplicit") {
  CHECK_FINDS(program(kStep), verify_ReturnParamsExplicit,
              "PLD0665 value 0 returned by 'step' is the memory of 'o', but is not that parameter itself");
}

namespace {

// Texts from the first wrong one of the reference on (defects.json of the corpus), and texts of error
// programs.
bool is_defective(const std::string& program, int number) {
  static const std::vector<std::pair<std::string, int>> kFrom = {
      {"control_flow", 5},
      {"pass_simplify_while_constant_init_defect", 5},
      {"tile_flatten_tile_nd_to_2d_store_twice", 14},
      {"tile_fuse_create_assemble_to_slice_late_target", 37},
      {"tile_infer_tile_memory_space_while", 5},
      {"core_lowerautovectorsplit_loop_carry", 21},
      // ExpandMixedKernel copies a definition into a loop beside the one before it: one variable, two
      // definitions.
      {"core_expandmixedkernel_outer_init", 22},
      {"core_expandmixedkernel_outer_yield", 22},
      {"core_expandmixedkernel_param_phi", 22},
      {"tile_convert_tensor_to_tile_ops_carry_transpose", 22},
  };
  for (const auto& [name, from] : kFrom) {
    if (name == program && number >= from) return true;
  }
  return false;
}

struct Rule {
  std::string_view name;
  Verifier verifier;
  int from;  // first and last pass after which the property holds in every text
  int to;
};

}  // namespace

TEST_CASE("verify: nothing is found in the reference corpus where the properties hold") {
  if (corpus().empty()) return;
  constexpr int kLast = 49;
  const std::vector<Rule> rules = {
      {"SSAForm", pldc::verify_SSAForm, 4, kLast},
      {"TypeChecked", pldc::verify_TypeChecked, 0, kLast},
      {"BreakContinueValid", pldc::verify_BreakContinueValid, 0, kLast},
      {"NoRedundantBlocks", pldc::verify_NoRedundantBlocks, 0, kLast},
      {"NormalizedStmtStructure", pldc::verify_NormalizedStmtStructure, 0, kLast},
      {"InOutUseValid", pldc::verify_InOutUseValid, 0, kLast},
      {"ManualDepsOnSubmitOnly", pldc::verify_ManualDepsOnSubmitOnly, 0, kLast},
      {"UseAfterDef", pldc::verify_UseAfterDef, 0, kLast},
      {"OutParamNotShadowed", pldc::verify_OutParamNotShadowed, 0, kLast},
      {"NoNestedInCore", pldc::verify_NoNestedInCore, 0, kLast},
      {"PipelineLoopValid", pldc::verify_PipelineLoopValid, 0, kLast},
      {"ArrayNotEscaped", pldc::verify_ArrayNotEscaped, 0, kLast},
      {"InlineFunctionsEliminated", pldc::verify_InlineFunctionsEliminated, 1, kLast},
      {"NoNestedCalls", pldc::verify_NoNestedCalls, 7, 41},
      {"HierarchyOutlined", pldc::verify_HierarchyOutlined, 8, kLast},
      {"SplitIncoreOrch", pldc::verify_SplitIncoreOrch, 9, kLast},
      {"ClusterOutlined", pldc::verify_ClusterOutlined, 10, kLast},
      {"OrchestrationReferencesResolved", pldc::verify_OrchestrationReferencesResolved, 9, kLast},
      {"ReturnParamsExplicit", pldc::verify_ReturnParamsExplicit, 26, kLast},
  };
  std::string report;
  int checked = 0;
  for (const std::string& program : programs()) {
    const bool rejected = program.size() > 9 && program.substr(program.size() - 9) == "_rejected" &&
                          program != "pass_ctrlflow_break_toplevel_rejected";
    if (rejected) continue;
    std::vector<std::pair<int, std::string>> files;
    for (const Entry& entry : index_of(program)) {
      if (!entry.file.empty()) files.emplace_back(entry.number, program + "/" + entry.file);
    }
    const std::string dump = corpus() + "/dump/" + program;
    if (std::filesystem::is_directory(dump)) {
      for (const auto& file : std::filesystem::directory_iterator(dump)) {
        const std::string name = file.path().filename().string();
        files.emplace_back(std::stoi(name), "dump/" + program + "/" + name);
      }
    }
    for (const auto& [number, file] : files) {
      if (is_defective(program, number)) continue;
      const std::string text = text_of(".", file);
      pldc::SourceManager sources;
      pldc::Context context;
      pldc::DiagSink reading;
      const pldc::Module module = pldc::parse(*sources.add(file, text), context, reading);
      if (module.program == nullptr) {
        report += file + ": not read\n";
        continue;
      }
      for (const Rule& rule : rules) {
        if (number < rule.from || number > rule.to) continue;
        pldc::DiagSink diags;
        rule.verifier(module.program, diags);
        ++checked;
        for (const pldc::Diagnostic& d : diags.take()) {
          report += std::string(rule.name) + " " + sources.describe(d.span) + ": " + d.message + "\n";
        }
      }
    }
  }
  CHECK(report == "");
  CHECK(checked > 0);
}

TEST_CASE("verify InOutUseValid: what is no read, or leaves nothing else to read") {
  const std::string tensor = "pl.Tensor[[16, 64], pl.FP32]";
  const std::string header =
      "    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)\n";
  const std::string load =
      "        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [16, 64], "
      "[16, 64], target_memory=pl.Mem.Vec)\n";
  const std::string kernels = header + "    def mute(x: " + tensor + ", o: pl.Out[" + tensor + "]):\n" +
                              load + "        pl.tile.store(t, [0, 0], o)\n" + header +
                              "    def put(x: " + tensor + ", o: pl.Out[" + tensor + "]) -> " + tensor +
                              ":\n" + load + "        return pl.tile.store(t, [0, 0], o)\n";
  const std::string chip_header =
      "    @pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)\n"
      "    def main(self, x: " +
      tensor + ", o: pl.Out[" + tensor + "]) -> " + tensor + ":\n";
  // The callee returns nothing, so `o` stays the name of the memory.
  CHECK_CLEAN(program(kernels + chip_header + "        self.mute(x, o)\n        return o\n"),
              verify_InOutUseValid);
  // An Out argument is written, not read.
  CHECK_CLEAN(program(kernels + chip_header + "        a: " + tensor +
                      " = self.put(x, o)\n        b: " + tensor + " = self.put(a, o)\n        return b\n"),
              verify_InOutUseValid);
  // Dead in one branch only, then bound anew in both.
  CHECK_CLEAN(
      program(kernels + chip_header + "        if True:\n            o: " + tensor +
              " = self.put(x, o)\n        else:\n            a: " + tensor +
              " = self.put(x, o)\n            o: " + tensor + " = self.put(a, x)\n        return o\n"),
      verify_InOutUseValid);
}
