// What the text form costs: bench STEP FILE prints one JSON object for tools/bench. A run measures one step, so that its
// peak memory is that step's alone.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "frontend/text.h"
#include "ir/same.h"

namespace {

using namespace pldc;

// User time of this process in seconds: what another process on the machine does to it is not in it.
double user_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

// Largest resident size so far, in bytes. ru_maxrss would start with the size of the process that started this one.
std::size_t peak_bytes() {
  std::FILE* status = std::fopen("/proc/self/status", "r");
  if (status == nullptr) return 0;
  char line[256];
  unsigned long kilobytes = 0;
  while (std::fgets(line, sizeof line, status) != nullptr) {
    if (std::sscanf(line, "VmHWM: %lu kB", &kilobytes) == 1) break;
  }
  std::fclose(status);
  return std::size_t{kilobytes} << 10;
}

struct Reading {
  Context context;
  DiagSink diags;
  Module module;

  bool read(const SourceFile& file) {
    module = parse(file, context, diags);
    for (const Diagnostic& d : diags.take()) {
      if (d.severity == Severity::Error) {
        std::fprintf(stderr, "%s: offset %u: %s\n", file.name().c_str(), d.span.begin - file.base(),
                     d.message.c_str());
        return false;
      }
    }
    return module.program != nullptr;
  }
};

// Reads what was printed and compares it with the program that it was printed of.
bool survives(SourceManager& sources, const Module& module, std::string printed) {
  const SourceFile* file = sources.add("<printed>", std::move(printed));
  Reading again;
  if (file == nullptr || !again.read(*file)) return false;
  if (!same(module.program, again.module.program)) return false;
  return print(again.module, print_options(again.module.style)) == file->text();
}

int usage() {
  std::fputs("usage: bench read|print|hash|roundtrip FILE\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return usage();
  const std::string step = argv[1];
  SourceManager sources;
  std::string error;
  const SourceFile* file = sources.load(argv[2], error);
  if (file == nullptr) {
    std::fprintf(stderr, "%s: %s\n", argv[2], error.c_str());
    return 1;
  }
  Reading reading;
  double start = user_seconds();
  if (!reading.read(*file)) return 1;
  double seconds = user_seconds() - start;
  const Module& module = reading.module;
  if (step == "print" || step == "roundtrip") {
    if (step == "print") start = user_seconds();
    std::string printed = print(module, print_options(module.style));
    if (step == "roundtrip" && !survives(sources, module, std::move(printed))) {
      std::fprintf(stderr, "%s: the text does not survive being printed and read\n", argv[2]);
      return 1;
    }
    seconds = user_seconds() - start;
  } else if (step == "hash") {
    start = user_seconds();
    const std::uint64_t hash = structural_hash(module.program);
    seconds = user_seconds() - start;
    std::fprintf(stderr, "hash %016llx\n", static_cast<unsigned long long>(hash));
  } else if (step != "read") {
    return usage();
  }
  std::printf("{\"step\": \"%s\", \"bytes\": %zu, \"seconds\": %.6f, \"peak\": %zu}\n", step.c_str(),
              file->text().size(), seconds, peak_bytes());
  return 0;
}
