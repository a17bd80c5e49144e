#include "codegen/codegen.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "codegen/chip/builtin.h"
#include "codegen/device/kernel.h"
#include "codegen/entry.h"
#include "codegen/host/signals.h"
#include "codegen/normalize.h"
#include "codegen/placement.h"
#include "codegen/program.h"
#include "ir/op.h"
#include "support/diag/codegen.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/version.h"

namespace pldc {
namespace {

// Functions of the C library that a namespace of that name would collide with.
constexpr std::string_view kLibraryFunctions[] = {
    "abort",  "abs",      "access", "alarm",  "basename", "bind",   "calloc", "ceil",   "clock",
    "clone",  "close",    "cos",    "daemon", "difftime", "div",    "dup",    "exit",   "exp",
    "fdim",   "floor",    "fork",   "free",   "gamma",    "getenv", "index",  "j0",     "j1",
    "jn",     "kill",     "labs",   "link",   "log",      "logb",   "malloc", "nice",   "open",
    "pause",  "pipe",     "pow",    "printf", "puts",     "qsort",  "rand",   "random", "read",
    "remove", "rename",   "rindex", "round",  "scalb",    "select", "send",   "signal", "sin",
    "sleep",  "sqrt",     "stat",   "strlen", "sync",     "system", "tan",    "time",   "times",
    "trunc",  "truncate", "unlink", "wait",   "write",    "y0",     "y1",     "yn"};

std::string namespace_name(std::string_view stem) {
  std::string name = cpp_identifier(stem);
  if (std::find(std::begin(kLibraryFunctions), std::end(kLibraryFunctions), name) !=
      std::end(kLibraryFunctions))
    name += '_';
  return name;
}

// Names that make, or a directive of the preprocessor, reads as they stand.
bool is_plain_file_name(std::string_view stem) {
  return !stem.empty() && stem[0] != '-' && std::all_of(stem.begin(), stem.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '+' || static_cast<unsigned char>(c) >= 0x80;
  });
}

std::string shown_source(const BuildOptions& options) {
  const std::string& source = options.source;
  if (source.empty()) return options.stem + ".pld";
  if (source[0] != '/') return source;
  return path_last(source);
}

class Generator {
 public:
  Generator(Context& context, const Program* program, const SourceManager& sources,
            const BuildOptions& options, DiagSink& diags)
      : program_(program),
        options_(options),
        diags_(diags),
        places_(sources, shown_source(options)),
        callers_(*program),
        calls_(program),
        env_{context, diags,
             places_, *program,
             calls_,  options.target == Target::Ascend,
             &cube_,  options.target == Target::Mpi} {}

  bool run() {
    code_.name = std::string(program_->name.text());
    code_.stem = options_.stem;
    code_.ident = namespace_name(options_.stem);
    code_.file_stem = is_plain_file_name(options_.stem) ? options_.stem : code_.ident;
    code_.file = places_.file();
    if (code_.name.empty()) code_.name = code_.ident;
    const std::uint32_t errors = diags_.error_count();
    emit_entries();
    if (diags_.error_count() == errors) emit_chips();
    return diags_.error_count() == errors;
  }

  void write(std::vector<OutputFile>& out) const {
    out.push_back({"manifest.json", manifest_text(code_, options_, places_)});
    out.push_back({"host/host_orch.cpp", host_source_text(code_, places_)});
    out.push_back({"host/main.cpp", host_main_text(code_)});
    out.push_back({"host/" + code_.file_stem + ".h", host_header_text(code_)});
    for (const ChipCode& chip : code_.chips) out.push_back({"chips/" + chip.ref.name + ".cpp", chip.text});
    for (const ChipCode& chip : code_.chips) {
      for (const KernelCode& kernel : chip.kernels) {
        out.push_back({"kernels/" + chip.ref.name + "/" + kernel.name + ".cpp", kernel.text});
      }
    }
    // The vendor's own build compiles the sources for the device; ours needs the runtime headers of sim.
    if (options_.target == Target::Ascend) return;
    std::uint64_t hash = hash_bytes(kVersion);
    bool deep_blocks = false;
    for (const OutputFile& file : out) {
      hash = hash_combine(hash, hash_combine(hash_bytes(file.path), hash_bytes(file.text)));
      deep_blocks = deep_blocks || has_deep_blocks(file.text);
    }
    out.push_back({"Makefile", makefile_text(code_, options_.target == Target::Mpi, deep_blocks, hash)});
  }

 private:
  void emit_entries() {
    const std::optional<EntryChoice> choice =
        choose_entries(*program_, options_.entry, diags_, options_.program);
    if (!choice) return;
    CppNames names;
    for (const std::string_view name : {"program", "kChips", "kEntries", "kProgram"}) names.reserve(name);
    for (const Function* function : choice->functions) {
      HostEntry entry;
      entry.name = std::string(function->name.text());
      entry.cpp_name = names.fresh(cpp_identifier(function->name.text()));
      if (options_.as_read != nullptr) describe_signals(*options_.as_read, function->name, entry);
      const bool good = choice->single_rank ? emit_single_rank(env_, function, chips_, entry)
                                            : emit_host(env_, function, chips_, entry);
      if (good) code_.entries.push_back(std::move(entry));
    }
  }

  void emit_chips() {
    std::unordered_set<std::string> symbols;
    for (const ChipRef& ref : chips_.all()) {
      ChipCode chip;
      chip.ref = ref;
      if (ref.builtin) {
        emit_builtin(*ref.builtin, chip, symbols);
      } else {
        emit_function_chip(ref, chip, symbols);
      }
      code_.chips.push_back(std::move(chip));
    }
  }

  // The symbols of all chips and kernels must differ: "pldk_a_b_c" may be kernel b_c of chip a or c of a_b.
  static std::string kernel_name(const ChipCode& chip, const std::string& base,
                                 std::unordered_set<std::string>& symbols) {
    std::string name = base;
    for (int n = 1; !symbols.insert(chip.ref.name + "_" + name).second; ++n)
      name = fmt::format("{}_{}", base, n);
    return name;
  }

  void emit_builtin(BuiltinVariant variant, ChipCode& chip, std::unordered_set<std::string>& symbols) {
    if (options_.target == Target::Ascend) variant.width = 256;
    chip.args = builtin_chip_args(variant);
    chip.text = builtin_chip_text(variant);
    KernelCode kernel;
    kernel.title = builtin_kernel_name(variant);
    kernel.name = kernel_name(chip, kernel.title, symbols);
    kernel.text = emit_builtin_kernel(variant);
    const OpInfo& info = op_info(variant.op);
    for (std::size_t i = 0; i < info.operand_count(); ++i)
      kernel.builtin_args.emplace_back(info.operands[i].name);
    kernel.builtin_args.emplace_back("domain size");
    kernel.builtin_args.emplace_back("context");
    chip.kernels.push_back(std::move(kernel));
  }

  // codegen.md 2.3.
  void check_chip_limits(const Function& chip, const Signature& signature, std::size_t kernels) {
    const auto at_most = [&](std::size_t count, std::string_view what, std::size_t most) {
      if (count > most)
        diags_.report<diag::codegen_chip_limits>(chip.name_span, chip.name.text(), count, what, most);
    };
    at_most(static_cast<std::size_t>(signature.tensors), "tensors", 256);
    at_most(static_cast<std::size_t>(signature.scalars), "scalars", 128);
    at_most(kernels, "kernels", 64);
  }

  void emit_function_chip(const ChipRef& ref, ChipCode& chip, std::unordered_set<std::string>& symbols) {
    ChipText text;
    if (!emit_chip(env_, ref.function, ref.name, text)) return;
    const Signature signature = signature_of(ref.function);
    chip.args = signature.tensors + signature.scalars;
    chip.text = std::move(text.text);
    if (options_.target == Target::Ascend) check_chip_limits(*ref.function, signature, text.kernels.size());
    for (ChipKernel& used : text.kernels) {
      KernelCode kernel;
      kernel.function = used.function;
      kernel.title = std::string(used.function->name.text());
      kernel.name = kernel_name(chip, cpp_name_part(kernel.title), symbols);
      kernel.signature = std::move(used.signature);
      kernel.cube = used.function->func_type == FuncType::AIC;
      emit_kernel_text(chip, kernel);
      chip.kernels.push_back(std::move(kernel));
    }
    // Which core a kernel is for shows in its text, and the orchestration submits it for that core.
    const bool moved = std::any_of(chip.kernels.begin(), chip.kernels.end(), [](const KernelCode& kernel) {
      return kernel.cube && kernel.function->func_type != FuncType::AIC;
    });
    ChipText again;
    if (moved && emit_chip(env_, ref.function, ref.name, again)) chip.text = std::move(again.text);
  }

  void emit_kernel_text(const ChipCode& chip, KernelCode& kernel) {
    auto [place, fresh] = placements_.try_emplace(kernel.function);
    const bool simulated = options_.target != Target::Ascend;
    if (fresh && !place_tiles(env_.ir, diags_, kernel.function, place->second, simulated))
      failed_.insert(kernel.function);
    if (failed_.count(kernel.function) != 0) return;
    const KernelEnv env{env_.ir,       diags_,      places_,          options_,      *program_,
                        chip.ref.name, kernel.name, kernel.signature, place->second, callers_};
    KernelText text;
    if (emit_kernel(env, *kernel.function, text)) {
      kernel.text = std::move(text.text);
      if (!simulated && text.cube) {
        kernel.cube = true;
        cube_.insert(kernel.function);
      }
    } else {
      failed_.insert(kernel.function);  // reported once
    }
  }

  const Program* program_;
  const BuildOptions& options_;
  DiagSink& diags_;
  Places places_;
  Callers callers_;
  ReturnedParams calls_;
  EmitEnv env_;
  std::unordered_set<const Function*> cube_;
  ChipTable chips_;
  ProgramCode code_;
  std::unordered_map<const Function*, TilePlacement> placements_;
  std::unordered_set<const Function*> failed_;
};

}  // namespace

bool generate(Context& context, const Module& module, const SourceManager& sources,
              const BuildOptions& options, DiagSink& diags, std::vector<OutputFile>& out) {
  if (module.program == nullptr) return false;
  const Program* program = normalize_for_codegen(context, module.program, diags);
  if (program == nullptr) return false;
  BuildOptions build = options;
  if (build.as_read == nullptr) build.as_read = module.program;
  Generator generator(context, program, sources, build, diags);
  if (!generator.run()) return false;
  generator.write(out);
  return true;
}

}  // namespace pldc
