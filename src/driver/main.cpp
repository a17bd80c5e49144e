#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "driver/crash.h"
#include "driver/env.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  pldc::install_crash_handlers();
  pldc::Env env{};
  env.out = &std::cout;
  env.err = &std::cerr;
  env.in_is_terminal = isatty(0) == 1;
  env.err_is_terminal = isatty(2) == 1;
  env.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  };
  const int code = pldc::run_main(std::vector<std::string>(argv + 1, argv + argc), env);
  // A full disk or a closed pipe shows only when the last bytes go out.
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "pldc: error: standard output cannot be written\n";
    return code == 0 ? 1 : code;
  }
  return code;
}
