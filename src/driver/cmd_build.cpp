// pldc build: a program as C++, compiled.
#include <algorithm>
#include <optional>

#include "driver/command.h"
#include "driver/generate.h"
#include "driver/mpi.h"
#include "driver/session.h"
#include "support/diag/driver.h"
#include "support/file.h"
#include "support/interrupt.h"

namespace pldc {
namespace {

bool starts_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

// A name in a rule of make or ninja.
std::string escaped(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (c == ' ' || c == '#') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

class BuildCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"build",
            "FILE... [-o DIR]",
            "Generate C++ for a program and compile it",
            {"pldc build foo.pld && foo.pldc/bin/foo --ranks 4 --random --out y=-",
             "pldc build --emit=kernels -o - foo.pld", "pldc build foo.pld -o out -MD -MF foo.d"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable table(app);
    table.group("Output").value("-o,--output", output_, "DIR",
                                "where to (default: STEM.pldc); - with --emit prints");
    table.flag("--emit-only", emit_only_, "write the files, compile nothing");
    table.value("--emit", emit_, "WHAT", "only ir, host, chips, kernels or manifest")
        .one_of({"ir", "host", "chips", "kernels", "manifest"});
    table.flag("--list-outputs", list_outputs_,
               "print the paths of all files that would be written, and stop");
    table.flag("--MD", depfile_, "write a depfile for make and ninja");
    table.value("--MF", depfile_name_, "FILE", "its name (default: DIR/STEM.d)");
    table.value("--MT", depfile_target_, "NAME", "the target in it (default: the program)");
    add_generate_options(app, generate_, true);
    add_tool_options(app, tools_);
    add_pass_options(app, passes_);
    table.files(files_, "FILE", "programs; - is standard input");
  }

  int run(Session& session) override {
    if (files_.empty()) return session.usage_error("no FILE is given", "`-` is standard input");
    if (files_.size() > 1 && !output_.empty()) return session.usage_error("-o takes a single FILE");
    if (output_ == "-" && emit_.empty())
      return session.usage_error("-o - needs --emit: only one artefact can be printed");
    if (!depfile_ && !(depfile_name_.empty() && depfile_target_.empty())) {
      return session.usage_error("-MF and -MT need -MD");
    }
    if (depfile_ && output_ == "-") {
      session.report<diag::option_conflict>("", "-MD", "-o -");
      return kBadUsage;
    }
    Pipeline pipeline;
    if (!plan_pipeline(session, passes_, pipeline)) return kBadUsage;
    return session.each(files_, [&](Input& input) { return process(session, input, pipeline); });
  }

 private:
  int process(Session& session, Input& input, const Pipeline& pipeline) const {
    if (!session.read(input)) return kBadInput;
    const std::string stem = path_stem(input.path);
    Tree tree;
    tree.directory = output_.empty() ? stem + ".pldc" : output_;
    std::string ir;
    if (!generate_tree(session, input, pipeline, passes_, generate_, stem, tree, ir)) return kBadInput;
    const bool compiles = !emit_only_ && emit_.empty() && generate_.target != "ascend";
    const std::string name = tree.program_name(stem);
    if (!emit_.empty()) tree.files = emitted(tree.files, stem, ir);
    if (tree.files.empty()) {
      input.diags.report<diag::no_output>(Span{}, emit_);
      return kBadInput;
    }
    if (output_ == "-") return print(session, tree);
    if (list_outputs_) {
      for (const std::string& path : outputs_of(tree, name, compiles)) session.out() << path << '\n';
      return kFine;
    }
    // Before anything is written: without a compiler nothing is.
    Toolchain tools;
    std::optional<InterruptScope> interrupts;  // the compilers, too
    if (compiles) interrupts.emplace(InterruptScope::Then::End);
    const bool mpi = generate_.target == "mpi";
    if (compiles && !find_toolchain(session, tools_, tools)) return kBadInput;
    if (compiles && mpi && !find_mpi_compiler(session, tools)) return kBadInput;
    if (!write_tree(session, tree)) return kBadInput;
    if (compiles && !compile_tree(session, tree, tools, {"bin/" + name, "bin/lib" + name + ".a"}))
      return kBadInput;
    if (compiles && mpi)
      session.out() << "mpirun -n RANKS " << path_join(tree.directory, "bin/" + name) << '\n';
    return depfile_ ? write_depfile(session, input, tree, name, compiles) : kFine;
  }

  std::vector<TreeFile> emitted(const std::vector<TreeFile>& files, const std::string& stem,
                                const std::string& ir) const {
    if (emit_ == "ir") return {{stem + ".pld", ir}};
    std::vector<TreeFile> kept;
    for (const TreeFile& file : files) {
      if (starts_with(file.path, emit_ + "/") || (emit_ == "manifest" && file.path == "manifest.json"))
        kept.push_back(file);
    }
    return kept;
  }

  static int print(Session& session, const Tree& tree) {
    for (const TreeFile& file : tree.files) {
      // One file is its text alone; several are told apart by a comment, which C++ has.
      if (tree.files.size() > 1) session.out() << "// === " << file.path << '\n';
      session.out() << file.text;
    }
    return kFine;
  }

  static std::vector<std::string> outputs_of(const Tree& tree, const std::string& name, bool compiles) {
    std::vector<std::string> paths;
    for (const TreeFile& file : tree.files) paths.push_back(path_join(tree.directory, file.path));
    if (compiles) {
      paths.push_back(path_join(tree.directory, "bin/" + name));
      paths.push_back(path_join(tree.directory, "bin/lib" + name + ".a"));
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  int write_depfile(Session& session, const Input& input, const Tree& tree, const std::string& name,
                    bool compiles) const {
    std::vector<std::string> targets = {depfile_target_};
    if (depfile_target_.empty()) {
      // The program first: ninja looks at the first name only.
      targets = outputs_of(tree, name, compiles);
      const std::string program = path_join(tree.directory, "bin/" + name);
      std::stable_partition(targets.begin(), targets.end(),
                            [&](const std::string& path) { return path == program; });
    }
    std::string text;
    for (const std::string& target : targets) text += (text.empty() ? "" : " \\\n ") + escaped(target);
    text += ":";
    if (input.path != "-") text += " " + escaped(input.path) + "\n\n" + escaped(input.path) + ":";
    text += "\n";
    const std::string path = depfile_name_.empty() ? path_join(tree.directory, name + ".d") : depfile_name_;
    return session.write_output(path, text) ? kFine : kBadInput;
  }

  std::string output_;
  bool emit_only_ = false;
  std::string emit_;
  bool list_outputs_ = false;
  bool depfile_ = false;
  std::string depfile_name_;
  std::string depfile_target_;
  GenerateOptions generate_;
  ToolOptions tools_;
  PassOptions passes_;
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> make_build_command() { return std::make_unique<BuildCommand>(); }

}  // namespace pldc
