// A signal while pldc run compiles: nothing half made stays in the cache, no compiler goes on, and the process ends by it.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/cli.h"
#include "support/catch.h"
#include "support/temp_dir.h"

namespace {

namespace fs = std::filesystem;

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("run: a signal while it compiles ends the compilers and clears the cache") {
  const TempDir dir;
  const std::string program = dir.write("scale.pld", kScale);
  const std::string started = dir.path("started");
  // A compiler that takes its time.
  const std::string cxx =
      dir.write("cxx", "#!/bin/sh\n[ \"$1\" = --version ] && exec echo cxx 1\necho $$ >'" + started +
                           ".new'\nmv '" + started + ".new' '" + started + "'\nexec sleep 20\n");
  fs::permissions(cxx, fs::perms::owner_all);
  std::map<std::string, std::string> variables = build_variables();
  variables["XDG_CACHE_HOME"] = dir.path("cache");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    signal(SIGTERM, SIG_DFL);
    run_pldc({"run", program, "--random", "--cxx=" + cxx, "-j", "1"}, variables);
    _exit(0);  // it did not end by the signal
  }
  CHECK(eventually([&] { return fs::exists(started); }));
  CHECK(dir.list("cache/pldc").size() == 1);  // run-KEY.PID
  const auto begin = std::chrono::steady_clock::now();
  kill(child, SIGTERM);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
  CHECK(dir.list("cache/pldc").empty());
  pid_t compiler = 0;
  std::ifstream(started) >> compiler;
  REQUIRE(compiler > 0);
  CHECK(eventually([&] { return kill(compiler, 0) != 0; }));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(15));
}
