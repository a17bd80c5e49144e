#include "driver/mpi.h"

#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "support/diag/driver.h"
#include "support/hash.h"
#include "support/process.h"
#include "support/words.h"

namespace pldc {
namespace {

constexpr const char* kRemedy =
    "install MPI (Debian: libopenmpi-dev and openmpi-bin), or use --target=sim, which needs none";

// What the command says about itself; false and a diagnostic if it cannot be started.
bool ask(Session& session, const std::string& name, const std::string& question, std::string& answer) {
  ProcessSpec spec;
  std::string error = "no such command";
  if (split_words(name, spec.args) && !spec.args.empty()) {
    spec.args.push_back(question);
    spec.capture = true;
    const ProcessResult result = run_process(spec);
    answer = result.out + result.err;
    if (result.error.empty()) return true;
    error = result.error;
  }
  session.report<diag::cannot_start>(kRemedy, name, error);
  return false;
}

}  // namespace

bool find_mpi_compiler(Session& session, Toolchain& tools) {
  const std::string name = session.env().variable("MPICXX").value_or("mpicxx");
  std::string version, flags;
  // Open MPI and MPICH show their flags with -show.
  if (!ask(session, name, "--version", version) || !ask(session, name, "-show", flags)) return false;
  tools.key = fmt::format("{:016x}", hash_combine(hash_bytes(tools.key), hash_bytes(name + version + flags)));
  return true;
}

bool mpi_launcher(Session& session, const std::string& ranks, std::vector<std::string>& words) {
  std::string version;
  if (!ask(session, "mpirun", "--version", version)) return false;
  words = {"mpirun", "-n", ranks};
  if (version.find("Open MPI") == std::string::npos && version.find("OpenRTE") == std::string::npos)
    return true;
  // It refuses both without being told to.
  if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  if (std::strtoull(ranks.c_str(), nullptr, 10) > std::thread::hardware_concurrency())
    words.emplace_back("--oversubscribe");
  return true;
}

}  // namespace pldc
