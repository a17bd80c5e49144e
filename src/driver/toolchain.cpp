#include "driver/toolchain.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <unistd.h>

#include "support/file.h"
#include "support/hash.h"
#include "support/process.h"
#include "support/version.h"
#include "support/words.h"

namespace pldc {
namespace {

// Part of the meaning of generated programs: floating point operations round as written, and memory is seen under
// several types. The generated Makefile says the same; tests/cli/build_test.cpp compares the two.
constexpr std::string_view kMeaning[] = {"-std=c++20",           "-pthread",        "-ffp-contract=off",
                                         "-fno-strict-aliasing", "-fno-math-errno", "-fno-trapping-math"};

struct Compiler {
  std::vector<std::string> command;  // may be several words: "ccache g++"
  std::vector<std::string> flags;
  std::vector<std::string> arch;  // for kernels
  std::vector<std::string> link_flags;
  std::string identity;  // what it calls itself, and the processor that -march=native means
};

// The line of /proc/cpuinfo that tells which instructions there are.
std::string processor() {
  std::string text, error;
  if (!read_file("/proc/cpuinfo", text, error)) return {};
  const std::size_t at = text.find("\nflags");
  return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at + 1) - at);
}

bool find_compiler(Session& session, const ToolOptions& options, Compiler& compiler) {
  const Env& env = session.env();
  std::string name = options.cxx.empty() ? env.variable("CXX").value_or("") : options.cxx;
  std::vector<std::string> candidates = {name};
  if (name.empty()) candidates = {"g++", "c++", "clang++"};
  std::string error;
  for (const std::string& candidate : candidates) {
    compiler.command.clear();
    if (!split_words(candidate, compiler.command) || compiler.command.empty()) continue;
    ProcessSpec version;
    version.args = compiler.command;
    version.args.emplace_back("--version");
    version.capture = true;
    const ProcessResult result = run_process(version);
    if (result.error.empty()) {
      compiler.identity = result.out + processor();
      const std::string flags =
          options.cxxflags.empty() ? env.variable("CXXFLAGS").value_or("") : options.cxxflags;
      const bool split = split_words(flags, compiler.flags) &&
                         split_words(env.variable("ARCH").value_or("-march=native"), compiler.arch) &&
                         split_words(env.variable("LDFLAGS").value_or(""), compiler.link_flags);
      if (!split) session.usage_error("--cxxflags, CXXFLAGS, ARCH or LDFLAGS has an open quote");
      return split;
    }
    error = result.error;
  }
  session.report<Diag::cannot_start>("install a C++ compiler (Debian: g++) or name one with --cxx",
                                     name.empty() ? "g++" : name, error.empty() ? "no such command" : error);
  return false;
}

struct Unit {
  std::string source;
  std::string object;  // both below the directory
  std::string level;   // optimisation: kernels are what takes time when a program runs, the rest when it is compiled
  std::vector<std::string> defines;
  bool kernel = false;
  bool runtime = false;  // does not depend on the program
};

std::string identifier(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += plain ? c : '_';
  }
  return out;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}
bool starts_with(std::string_view text, std::string_view begin) { return text.substr(0, begin.size()) == begin; }

// The same object names, levels and -D as in the generated Makefile: every chip and every kernel defines the official
// names.
Unit unit_of(const std::string& path) {
  const std::string base = path.substr(0, path.size() - 4);
  Unit unit{path, "build/" + base + ".o", "-O1", {}};
  if (starts_with(path, "include/pld/")) {
    unit.object = "build/" + base.substr(12) + ".o";
    unit.runtime = true;
    if (path == "include/pld/launcher.cpp") unit.level = "-O0";
  } else if (starts_with(path, "chips/")) {
    const std::string chip = identifier(base.substr(6));
    unit.defines = {"-Daicpu_orchestration_config=pldc_" + chip + "_config",
                    "-Daicpu_orchestration_entry=pldc_" + chip + "_entry"};
  } else if (starts_with(path, "kernels/")) {
    unit.level = "-O3";
    unit.defines = {"-Dkernel_entry=pldk_" + identifier(base.substr(8))};
    unit.kernel = true;
  }
  return unit;
}

std::vector<Unit> units_of(const Tree& tree) {
  std::vector<Unit> units;
  for (const TreeFile& file : tree.files) {
    if (ends_with(file.path, ".cpp")) units.push_back(unit_of(file.path));
  }
  // What takes longest to compile first.
  std::stable_partition(units.begin(), units.end(), [](const Unit& unit) { return unit.runtime; });
  return units;
}

std::uint64_t hash_headers(const Tree& tree) {
  std::uint64_t hash = 0;
  for (const TreeFile& file : tree.files) {
    if (ends_with(file.path, ".h")) hash = hash_combine(hash, hash_combine(hash_bytes(file.path), hash_bytes(file.text)));
  }
  return hash;
}

const TreeFile* file_of(const Tree& tree, std::string_view path) {
  for (const TreeFile& file : tree.files) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

std::vector<std::string> compile_command(const Compiler& compiler, const Unit& unit) {
  std::vector<std::string> args = compiler.command;
  args.push_back(unit.level);
  if (unit.kernel) args.insert(args.end(), compiler.arch.begin(), compiler.arch.end());
  args.insert(args.end(), compiler.flags.begin(), compiler.flags.end());
  args.insert(args.end(), std::begin(kMeaning), std::end(kMeaning));
  args.emplace_back("-Iinclude");
  args.emplace_back("-Ihost");
  args.insert(args.end(), unit.defines.begin(), unit.defines.end());
  for (const char* word : {"-MMD", "-MP", "-c", "-o"}) args.emplace_back(word);
  args.push_back(unit.object);
  args.push_back(unit.source);
  return args;
}

std::string key_text(const std::vector<std::string>& command, const Compiler& compiler, std::uint64_t inputs) {
  std::uint64_t hash = hash_combine(inputs, hash_bytes(compiler.identity));
  for (const std::string& word : command) hash = hash_combine(hash, hash_bytes(word));
  return fmt::format("{:016x}\n", hash);
}

bool same_content(const std::string& path, const std::string& text) {
  std::string old, error;
  return read_file(path, old, error) && old == text;
}

std::string shown(const std::vector<std::string>& args) {
  std::string out;
  for (const std::string& arg : args) out += (out.empty() ? "" : " ") + quote_word(arg);
  return out;
}

bool report_results(Session& session, const std::vector<ProcessSpec>& commands, const std::vector<ProcessResult>& results,
                    const std::vector<std::string>& subjects) {
  bool good = true;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ProcessResult& result = results[i];
    if (result.ok()) {
      session.err() << result.out << result.err;  // the compiler's warnings
      continue;
    }
    if (result.error == "not started") continue;
    good = false;
    session.err() << result.out << result.err;
    if (!result.error.empty()) {
      session.report<Diag::cannot_start>("", commands[i].args.front(), result.error);
    } else {
      session.report<Diag::compile_failed>("the command was: " + shown(commands[i].args), result.exit_code, subjects[i]);
    }
  }
  return good;
}


void copy_file(const std::string& from, const std::string& to) {
  std::error_code ignored;
  const std::string temporary = to + "." + std::to_string(getpid());
  if (!std::filesystem::copy_file(from, temporary, std::filesystem::copy_options::overwrite_existing, ignored)) return;
  std::filesystem::rename(temporary, to, ignored);
  if (ignored) std::filesystem::remove(temporary, ignored);
}

}  // namespace

void add_tool_options(CLI::App& app, ToolOptions& options) {
  OptionTable table(app);
  table.group("C++ compiler").value("--cxx", options.cxx, "CMD", "the compiler (default: $CXX, else g++)");
  table.value("--cxxflags", options.cxxflags, "FLAGS", "more flags for it (default: $CXXFLAGS)");
  table.number("-j,--jobs", options.jobs, "N", "compile N files at a time (default: one per processor)");
}

std::string cache_directory(const Env& env) {
  if (const auto xdg = env.variable("XDG_CACHE_HOME"); xdg && !xdg->empty()) return path_join(*xdg, "pldc");
  if (const auto home = env.variable("HOME"); home && !home->empty()) return path_join(*home, ".cache/pldc");
  return {};
}

std::string build_key(Session& session, const Tree& tree, const ToolOptions& options) {
  Compiler compiler;
  if (!find_compiler(session, options, compiler)) return {};
  std::uint64_t hash = hash_bytes(kVersion);
  for (const TreeFile& file : tree.files) {
    hash = hash_combine(hash, hash_combine(hash_bytes(file.path), hash_bytes(file.text)));
  }
  hash = hash_combine(hash, hash_bytes(compiler.identity));
  Unit kernel;
  kernel.kernel = true;
  hash = hash_combine(hash, hash_bytes(shown(compile_command(compiler, kernel))));
  hash = hash_combine(hash, hash_bytes(shown(compiler.link_flags)));
  return fmt::format("{:016x}", hash);
}

bool write_tree(Session& session, const Tree& tree) {
  for (const TreeFile& file : tree.files) {
    const std::string path = path_join(tree.directory, file.path);
    std::string error;
    const WriteResult result = write_if_changed(path, file.text, error);
    if (result == WriteResult::Failed) {
      session.report<Diag::cannot_write>("", path, error);
      return false;
    }
    session.log().debug("{} {}", result == WriteResult::Written ? "wrote" : "unchanged", path);
  }
  return true;
}

bool compile_tree(Session& session, const Tree& tree, const ToolOptions& options, bool library) {
  Compiler compiler;
  if (!find_compiler(session, options, compiler)) return false;
  const std::uint64_t headers = hash_headers(tree);
  std::vector<Unit> units = units_of(tree);
  std::vector<ProcessSpec> commands;
  std::vector<std::string> subjects, keys, key_paths, cache_paths;
  const std::string cache = cache_directory(session.env());
  std::string error;
  for (const Unit& unit : units) {
    const std::string object = path_join(tree.directory, unit.object);
    if (!make_dirs(path_parent(object), error)) {
      session.report<Diag::cannot_write>("", object, error);
      return false;
    }
    ProcessSpec command;
    command.args = compile_command(compiler, unit);
    command.directory = tree.directory;
    const std::string key =
        key_text(command.args, compiler, hash_combine(headers, hash_bytes(file_of(tree, unit.source)->text)));
    // Beside the object: what it was made from. Comparing that is safer than comparing times.
    const std::string key_path = object + ".key";
    if (file_exists(object) && same_content(key_path, key)) continue;
    std::string cached;
    if (unit.runtime && !cache.empty()) {
      cached = path_join(cache, "object-" + key.substr(0, 16) + ".o");
      if (file_exists(cached)) {
        copy_file(cached, object);
        write_if_changed(key_path, key, error);
        if (file_exists(object)) continue;
      }
    }
    session.log().info("{}", shown(command.args));
    commands.push_back(std::move(command));
    subjects.push_back(unit.source);
    keys.push_back(key);
    key_paths.push_back(key_path);
    cache_paths.push_back(cached);
  }
  const auto results = run_processes(commands, options.jobs);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].ok()) continue;
    write_if_changed(key_paths[i], keys[i], error);
    if (!cache_paths[i].empty() && make_dirs(cache, error)) {
      copy_file(key_paths[i].substr(0, key_paths[i].size() - 4), cache_paths[i]);
    }
  }
  if (!report_results(session, commands, results, subjects)) return false;

  if (!make_dirs(path_join(tree.directory, "bin"), error)) {
    session.report<Diag::cannot_write>("", path_join(tree.directory, "bin"), error);
    return false;
  }
  const std::string program = "bin/" + tree.name;
  const std::string archive = "bin/lib" + tree.name + ".a";
  const bool have_program = file_exists(path_join(tree.directory, program));
  const bool have_archive = !library || file_exists(path_join(tree.directory, archive));
  std::uint64_t objects = 0;
  for (const Unit& unit : units) {
    std::string key;
    if (!read_file(path_join(tree.directory, unit.object + ".key"), key, error)) key.clear();
    objects = hash_combine(objects, hash_combine(hash_bytes(unit.object), hash_bytes(key)));
  }
  ProcessSpec link;
  link.args = compiler.command;
  link.args.insert(link.args.end(), compiler.flags.begin(), compiler.flags.end());
  link.args.emplace_back("-pthread");
  link.args.emplace_back("-o");
  link.args.push_back(program);
  ProcessSpec collect;
  const std::string ar = session.env().variable("AR").value_or("ar");
  collect.args = {ar, "rcsD", archive};
  for (const Unit& unit : units) {
    link.args.push_back(unit.object);
    if (unit.source != "host/main.cpp") collect.args.push_back(unit.object);
  }
  link.args.insert(link.args.end(), compiler.link_flags.begin(), compiler.link_flags.end());
  const std::string link_key = key_text(link.args, compiler, objects);
  const std::string link_key_path = path_join(tree.directory, "build/program.key");
  if (commands.empty() && have_program && have_archive && same_content(link_key_path, link_key)) return true;
  link.directory = collect.directory = tree.directory;
  std::vector<ProcessSpec> last = {link};
  std::vector<std::string> made = {program};
  if (library) {
    std::remove(path_join(tree.directory, archive).c_str());  // `ar` would keep members that are gone
    last.push_back(collect);
    made.push_back(archive);
  }
  for (const ProcessSpec& command : last) session.log().info("{}", shown(command.args));
  if (!report_results(session, last, run_processes(last, options.jobs), made)) return false;
  write_if_changed(link_key_path, link_key, error);
  return true;
}

}  // namespace pldc
