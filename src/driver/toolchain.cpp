#include "driver/toolchain.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "support/diag/driver.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/interrupt.h"
#include "support/process.h"
#include "support/version.h"
#include "support/words.h"

namespace pldc {
namespace {

namespace fs = std::filesystem;

// Objects of the runtime do not depend on the program, so they are kept in the cache under what they depend on.
constexpr std::string_view kRuntime = "include/pld/";

bool starts_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}
bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Which instructions there are: the meaning of -march=native.
std::string processor() {
  std::string text, error;
  if (!read_file("/proc/cpuinfo", text, error)) return {};
  const std::size_t at = text.find("\nflags");
  return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at + 1) - at);
}

std::string hex(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::uint64_t hash_files(const std::vector<TreeFile>& files, std::string_view below) {
  std::uint64_t hash = hash_bytes(kVersion);
  for (const TreeFile& file : files) {
    if (!starts_with(file.path, below)) continue;
    hash = hash_combine(hash, hash_combine(hash_bytes(file.path), hash_bytes(file.text)));
  }
  return hash;
}

// By way of another name, so that nobody sees half a file. A failure costs time only.
void copy_object(const std::string& from, const std::string& to) {
  std::error_code failed;
  const std::string temporary = to + "." + std::to_string(getpid());
  fs::copy_file(from, temporary, fs::copy_options::overwrite_existing, failed);
  if (!failed) fs::rename(temporary, to, failed);
  if (failed) fs::remove(temporary, failed);
}

struct CachedObject {
  std::string object;  // in the build directory
  std::string cached;
};

std::vector<CachedObject> cached_objects(const Tree& tree, const Toolchain& tools, const std::string& cache) {
  std::vector<CachedObject> objects;
  if (cache.empty()) return objects;
  // The Makefile has the flags. It also has the program's name, which at worst makes one object more.
  const TreeFile* makefile = tree.file("Makefile");
  std::uint64_t key = hash_combine(hash_files(tree.files, kRuntime), hash_bytes(tools.key));
  if (makefile != nullptr) {
    const std::size_t rules = makefile->text.find("\nall:");
    key = hash_combine(
        key, hash_bytes(std::string_view(makefile->text).substr(rules == std::string::npos ? 0 : rules)));
  }
  for (const TreeFile& file : tree.files) {
    if (!starts_with(file.path, kRuntime) || !ends_with(file.path, ".cpp")) continue;
    const std::string name = file.path.substr(kRuntime.size(), file.path.size() - kRuntime.size() - 4);
    objects.push_back({path_join(tree.directory, "build/" + name + ".o"),
                       path_join(cache, name + "-" + hex(hash_combine(key, hash_bytes(name))) + ".o")});
  }
  return objects;
}

}  // namespace

void add_tool_options(CLI::App& app, ToolOptions& options) {
  OptionTable table(app);
  table.group("C++ compiler").value("--cxx", options.cxx, "CMD", "the compiler (default: $CXX, else g++)");
  table.value("--cxxflags", options.cxxflags, "FLAGS", "more flags for it (default: $CXXFLAGS)");
  table.number("-j,--jobs", options.jobs, "N", "compile N files at a time (default: one per processor)");
}

const TreeFile* Tree::file(std::string_view path) const {
  for (const TreeFile& f : files) {
    if (f.path == path) return &f;
  }
  return nullptr;
}

std::string Tree::program_name(const std::string& otherwise) const {
  constexpr std::string_view kLine = "\nNAME := ";
  const TreeFile* makefile = file("Makefile");
  if (makefile == nullptr) return otherwise;
  const std::size_t at = makefile->text.find(kLine);
  if (at == std::string::npos) return otherwise;
  const std::size_t begin = at + kLine.size();
  return makefile->text.substr(begin, makefile->text.find('\n', begin) - begin);
}

std::string cache_directory(const Env& env) {
  if (const auto xdg = env.variable("XDG_CACHE_HOME"); xdg && !xdg->empty()) return path_join(*xdg, "pldc");
  if (const auto home = env.variable("HOME"); home && !home->empty()) return path_join(*home, ".cache/pldc");
  return {};
}

bool find_toolchain(Session& session, const ToolOptions& options, Toolchain& tools) {
  const Env& env = session.env();
  const std::string name = options.cxx.empty() ? env.variable("CXX").value_or("") : options.cxx;
  std::vector<std::string> candidates = {name};
  if (name.empty()) candidates = {"g++", "c++", "clang++"};
  std::string error = "no such command";
  for (const std::string& candidate : candidates) {
    ProcessSpec version;  // the name may be several words: "ccache g++"
    if (!split_words(candidate, version.args) || version.args.empty()) continue;
    version.args.emplace_back("--version");
    version.capture = true;
    const ProcessResult result = run_process(version);
    if (!result.error.empty()) {
      error = result.error;
      continue;
    }
    tools.cxx = candidate;
    tools.cxxflags = options.cxxflags.empty() ? env.variable("CXXFLAGS").value_or("") : options.cxxflags;
    tools.jobs = options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
    std::uint64_t key = hash_bytes(result.out + processor());
    for (const std::string& text : {tools.cxx, tools.cxxflags, env.variable("LDFLAGS").value_or(""),
                                    env.variable("ARCH").value_or("")}) {
      key = hash_combine(key, hash_bytes(text));
    }
    tools.key = hex(key);
    return true;
  }
  session.report<diag::cannot_start>("install a C++ compiler (Debian: g++) or name one with --cxx",
                                     name.empty() ? "g++" : name, error);
  return false;
}

std::string build_key(const Tree& tree, const Toolchain& tools) {
  return hex(hash_combine(hash_files(tree.files, ""), hash_bytes(tools.key)));
}

bool write_tree(Session& session, const Tree& tree) {
  for (const TreeFile& file : tree.files) {
    const std::string path = path_join(tree.directory, file.path);
    std::string error;
    const WriteResult result = write_if_changed(path, file.text, error);
    if (result == WriteResult::Failed) {
      session.report<diag::cannot_write>(tree.help, path, error);
      return false;
    }
    session.log().debug("{} {}", result == WriteResult::Written ? "wrote" : "unchanged", path);
  }
  return true;
}

// Where the files are for the user to look at.
static std::string keep_failed(const Tree& tree) {
  if (tree.kept_when_failed.empty()) return tree.directory;
  std::error_code error;
  fs::remove_all(tree.kept_when_failed, error);
  fs::rename(tree.directory, tree.kept_when_failed, error);
  // Another run of the same program may have put the same files there in between.
  return error && !fs::exists(tree.kept_when_failed, error) ? tree.directory : tree.kept_when_failed;
}

bool compile_tree(Session& session, const Tree& tree, const Toolchain& tools,
                  const std::vector<std::string>& targets) {
  const std::string cache = cache_directory(session.env());
  const std::vector<CachedObject> objects = cached_objects(tree, tools, cache);
  // make looks at times only, and objects from the cache come without a list of headers: whether flags and runtime are
  // those of the last time is kept beside the objects.
  const std::string key_path = path_join(tree.directory, "build/toolchain");
  std::string wanted = tools.key + "\n";
  for (const CachedObject& object : objects) wanted += fs::path(object.cached).filename().string() + "\n";
  std::string key, error;
  const bool all = read_file(key_path, key, error) && key != wanted;
  if (all) {
    std::error_code ignored;
    fs::remove_all(path_join(tree.directory, "build"), ignored);
    fs::remove_all(path_join(tree.directory, "bin"), ignored);
  }
  if (write_if_changed(key_path, wanted, error) == WriteResult::Failed) {
    session.report<diag::cannot_write>(tree.help, key_path, error);
    return false;
  }
  for (const CachedObject& object : objects) {
    if (!file_exists(object.object) && file_exists(object.cached)) copy_object(object.cached, object.object);
  }

  ProcessSpec make;
  make.args = {"make", "--no-print-directory", "-j" + std::to_string(tools.jobs), "CXX=" + tools.cxx};
  if (!tools.cxxflags.empty()) make.args.push_back("CXXFLAGS=" + tools.cxxflags);
  if (session.log().should_log(spdlog::level::info)) make.args.emplace_back("V=1");
  make.args.insert(make.args.end(), targets.begin(), targets.end());
  make.directory = tree.directory;
  make.capture = true;
  make.group = true;
  // Called from a Makefile: its job server is not ours.
  make.unset = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CXXFLAGS"};
  session.log().info("{}: make", tree.directory);
  session.progress("compiling");
  const ProcessResult result = run_process(make);
  if (interrupted()) return false;
  if (!result.error.empty()) {
    session.report<diag::cannot_start>("install make", "make", result.error);
    return false;
  }
  if (!result.ok()) {
    session.say(result.out + result.err);
    session.report<diag::compile_failed>("", keep_failed(tree));
    return false;
  }
  session.say(result.err);  // the compiler's warnings
  if (!result.out.empty()) session.log().info("{}", result.out);
  for (const CachedObject& object : objects) {
    if (file_exists(object.object) && !file_exists(object.cached) && make_dirs(cache, error)) {
      copy_object(object.object, object.cached);
    }
  }
  return true;
}

}  // namespace pldc
