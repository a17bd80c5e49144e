#include "driver/generate.h"

#include "codegen/codegen.h"
#include "driver/embed.h"
#include "driver/session.h"
#include "support/diag/driver.h"

namespace pldc {

void add_generate_options(CLI::App& app, GenerateOptions& options, bool with_ascend) {
  OptionTable table(app);
  table.group("Code generation");
  if (with_ascend) {
    table
        .value("--target", options.target, "TARGET",
               "sim (default); mpi: a process a rank; ascend: sources only, no Makefile and no headers")
        .one_of({"sim", "mpi", "ascend"});
  } else {
    table.value("--target", options.target, "TARGET", "sim: ranks as threads (default); mpi: as processes")
        .one_of({"sim", "mpi"});
  }
  table.value("--entry", options.entry, "NAME", "which host function, if there are several");
  table.flag("-g", options.debug_lines, "map kernels back to the .pld with #line");
}

namespace {
constexpr struct {
  std::string_view name;
  Target target;
} kTargets[] = {{"sim", Target::Sim}, {"mpi", Target::Mpi}, {"ascend", Target::Ascend}};

Target target_of(const GenerateOptions& options) {
  for (const auto& t : kTargets) {
    if (t.name == options.target) return t.target;
  }
  return Target::Sim;
}

// Only programs whose ranks are processes compile what talks to MPI.
bool of_mpi(std::string_view path) {
  return path.find("/mpi.") != path.npos || path.find("_mpi") != path.npos;
}
}  // namespace

bool generate_tree(Session& session, Input& input, const Pipeline& pipeline, const PassOptions& passes,
                   const GenerateOptions& options, const std::string& stem, Tree& tree, std::string& ir) {
  BuildOptions build;
  // Kernels are functions by then, and still say what their signals are for.
  PassCallbacks callbacks;
  callbacks.before = [&](const PassStep& step) {
    if (step.planned->name == "LowerCompositeOps") build.as_read = step.before;
    return true;
  };
  const RunResult result = run_pipeline(session, input, pipeline, passes, callbacks);
  if (result.program == nullptr) return false;
  find_input_writes(input.module.program, input.diags);
  Module module = input.module;
  module.program = result.program;
  ir = session.print_text(input, module, session.print_options_for(module, false));
  build.stem = stem;
  build.program = {input.file->base(), input.file->base() + 1};
  build.source = input.file->name();
  build.entry = options.entry;
  build.target = target_of(options);
  build.line_map = options.debug_lines;
  std::vector<OutputFile> files;
  if (!generate(input.context, module, session.sources(), build, input.diags, files)) return false;
  for (OutputFile& file : files) tree.files.push_back({std::move(file.path), std::move(file.text)});
  if (build.target != Target::Ascend) {
    for (const EmbeddedFile& file : runtime_files()) {
      if (build.target == Target::Mpi || !of_mpi(file.path))
        tree.files.push_back({std::string(file.path), std::string(file.text)});
    }
  }
  return true;
}

}  // namespace pldc
