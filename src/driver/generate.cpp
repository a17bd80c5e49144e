#include "driver/generate.h"

#include "driver/embed.h"
#include "support/file.h"

#if __has_include("codegen/codegen.h")
#include "codegen/codegen.h"
#define PLDC_HAS_CODEGEN 1
#endif

namespace pldc {

void add_generate_options(CLI::App& app, GenerateOptions& options, bool with_ascend) {
  OptionTable table(app);
  table.group("Code generation");
  if (with_ascend) {
    table.value("--target", options.target, "TARGET", "sim, mpi or ascend: where the program will run (default sim)")
        ->check(one_of({"sim", "mpi", "ascend"}));
  } else {
    table.value("--target", options.target, "TARGET", "sim or mpi: ranks as threads or as MPI processes (default sim)")
        ->check(one_of({"sim", "mpi"}));
  }
  table.value("--entry", options.entry, "NAME", "which host function, if there are several");
  table.flag("-g", options.debug_lines, "map kernels back to the .pld with #line");
}

bool generate_tree(Session& session, Input& input, const Pipeline& pipeline, const PassOptions& passes,
                   const GenerateOptions& options, Tree& tree, std::string& ir) {
  const RunResult result = run_pipeline(session, input, pipeline, passes);
  if (result.program == nullptr) return false;
  Module module = input.module;
  module.program = result.program;
  ir = session.print_text(input, module, session.print_options_for(module, false));
#ifdef PLDC_HAS_CODEGEN
  (void)options;
#else
  input.diags.report<Diag::not_supported>(Span{}, "code generation for " + options.target);
  (void)tree;
  return false;
#endif
}

}  // namespace pldc
