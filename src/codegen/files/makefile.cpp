// The Makefile of a generated program.
#include <fmt/format.h>

#include "codegen/program.h"

namespace pldc {
namespace {

// Optimization is spent where programs spend their time: g++ 12 vectorizes loops of unknown length from -O3 on; the
// orchestration runs once a dispatch, the launcher once a run.
constexpr std::string_view kText =
    R"make(# Rebuilds bin/{name} and bin/lib{name}.a with make and a C++20 compiler.
#   make ARCH=                  for machines other than this one
#   make V=1                    to see the commands
#   make CXXFLAGS="-g -fsanitize=address" LDFLAGS=-fsanitize=address
NAME := {name}
CXX ?= g++
ARCH ?= -march=native
{mpi_names}PLD_INCLUDE ?= include

# Flags that are part of the meaning: floating point operations round as written, integers wrap, tiles of several types
# share memory.
PLD_FLAGS := -std=c++20 -pthread -ffp-contract=off -fno-strict-aliasing -fwrapv -fno-math-errno -fno-trapping-math \
  -I$(PLD_INCLUDE) -Ihost{mpi_flags}
{deep_flags}QUIET := $(if $(V),,@)
SAY := $(if $(V),:,echo)
COMPILE = $(QUIET)mkdir -p $(@D) && $(SAY) "  CXX $<" && $(CXX) $(1) $(CXXFLAGS) $(PLD_FLAGS) $(2) -MMD -MP -c -o $@ $<

OBJECTS := \
{objects}
all: bin/$(NAME) bin/lib$(NAME).a

bin/$(NAME): build/host/main.o bin/lib$(NAME).a
	$(QUIET)mkdir -p $(@D) && $(SAY) "  LINK $@" && {link} $(CXXFLAGS) $(PLD_FLAGS) $(LDFLAGS) -o $@ $^

bin/lib$(NAME).a: $(OBJECTS)
	$(QUIET)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

# The runtime does not depend on the program.
build/runtime.o build/watch.o: build/%.o: $(PLD_INCLUDE)/pld/%.cpp
	$(call COMPILE,-O1)

build/launcher.o: $(PLD_INCLUDE)/pld/launcher.cpp
	$(call COMPILE,-O0)

{mpi_rule}build/host/%.o: host/%.cpp
	$(call COMPILE,-O1{mpi_hash})

# Every chip defines the same two names and every kernel the same one: the path tells them apart.
build/chips/%.o: chips/%.cpp
	$(call COMPILE,-O1,-Daicpu_orchestration_config=pldc_$*_config -Daicpu_orchestration_entry=pldc_$*_entry)

build/kernels/%.o: kernels/%.cpp
	$(call COMPILE,-O3 $(ARCH),-Dkernel_entry=pldk_$(subst /,_,$*))

clean:
	rm -rf build bin

-include $(wildcard build/*.d build/*/*.d build/*/*/*.d)

.PHONY: all clean
)make";

// clang gives up at 256 brackets in each other. Far below that: macros and expressions have some, too.
constexpr std::size_t kManyBlocks = 100;
constexpr std::string_view kDeepFlags =
    R"make(# Blocks stand in more blocks than clang takes without being told to; only clang knows the flag.
PLD_FLAGS += $(if $(findstring clang,$(shell $(CXX) --version)),-fbracket-depth=4096)
)make";

// The compiler that finds MPI, around ours (Open MPI and MPICH name that differently).
constexpr std::string_view kMpiCompiler = R"make(OMPI_CXX="$(CXX)" MPICH_CXX="$(CXX)" $(MPICXX))make";
constexpr std::string_view kMpiRule = R"make(# The only object that sees MPI.
build/mpi.o: $(PLD_INCLUDE)/pld/mpi.cpp
	$(call COMPILE,-O1)
build/mpi.o: override CXX := OMPI_CXX="$(CXX)" MPICH_CXX="$(CXX)" $(MPICXX)

)make";

}  // namespace

bool has_deep_blocks(std::string_view text) {
  static const std::string kMargin = "\n" + std::string(2 * kManyBlocks, ' ');
  return text.find(kMargin) != std::string_view::npos;
}

std::string makefile_text(const ProgramCode& program, bool mpi, bool deep_blocks, std::uint64_t hash) {
  std::string objects = mpi ? "  build/mpi.o \\\n" : "";
  objects +=
      "  build/runtime.o \\\n  build/watch.o \\\n  build/launcher.o \\\n";  // the longest compilations first
  for (const ChipCode& chip : program.chips) {
    for (const KernelCode& kernel : chip.kernels) {
      objects += fmt::format("  build/kernels/{}/{}.o \\\n", chip.ref.name, kernel.name);
    }
  }
  for (const ChipCode& chip : program.chips) objects += fmt::format("  build/chips/{}.o \\\n", chip.ref.name);
  objects += "  build/host/host_orch.o\n";
  const auto only_mpi = [mpi](std::string text) { return mpi ? text : std::string(); };
  return fmt::format(
      kText, fmt::arg("name", program.file_stem), fmt::arg("objects", objects),
      fmt::arg("deep_flags", deep_blocks ? kDeepFlags : std::string_view()),
      fmt::arg("mpi_names", only_mpi(fmt::format("MPICXX ?= mpicxx\nPLD_PROGRAM_HASH := {:#018x}\n", hash))),
      fmt::arg("mpi_flags", only_mpi(" -DPLD_TARGET_MPI")),
      fmt::arg("mpi_hash", only_mpi(",-DPLD_PROGRAM_HASH=$(PLD_PROGRAM_HASH)ULL")),
      fmt::arg("mpi_rule", only_mpi(std::string(kMpiRule))),
      fmt::arg("link", mpi ? kMpiCompiler : std::string_view("$(CXX)")));
}

}  // namespace pldc
