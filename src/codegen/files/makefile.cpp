// The Makefile of a generated program.
#include <fmt/format.h>

#include "codegen/program.h"

namespace pldc {

std::string makefile_text(const ProgramCode& program) {
  // File names that make would take apart are replaced by the identifier.
  bool plain = !program.stem.empty() && program.stem[0] != '-';
  for (const char c : program.stem) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.' || c == '+';
    plain = plain && good;
  }
  const std::string name = plain ? program.stem : program.ident;
  std::string out = fmt::format(
      "# Rebuilds bin/{0} and bin/lib{0}.a with make and a C++20 compiler.\n"
      "NAME := {0}\n"
      "CXX ?= g++\n"
      "CXXFLAGS ?= -O2\n"
      "PLD_INCLUDE ?= include\n"
      "override CXXFLAGS += -std=c++20 -pthread -ffp-contract=off -fno-strict-aliasing -fwrapv "
      "-fno-math-errno "
      "-fno-trapping-math \\\n"
      "  -I$(PLD_INCLUDE) -Ihost\n"
      "\n"
      "OBJECTS := \\\n"
      "  build/host/host_orch.o \\\n",
      name);
  for (const ChipCode& chip : program.chips) out += fmt::format("  build/chips/{}.o \\\n", chip.ref.name);
  for (const ChipCode& chip : program.chips) {
    for (const KernelCode& kernel : chip.kernels) {
      out += fmt::format("  build/kernels/{}/{}.o \\\n", chip.ref.name, kernel.name);
    }
  }
  out +=
      "  build/runtime.o \\\n"
      "  build/launcher.o\n"
      "\n"
      "all: bin/$(NAME) bin/lib$(NAME).a\n"
      "\n"
      "bin/$(NAME): build/host/main.o $(OBJECTS)\n"
      "\t@mkdir -p $(@D)\n"
      "\t$(CXX) $(CXXFLAGS) $(LDFLAGS) -o $@ $^\n"
      "\n"
      "bin/lib$(NAME).a: $(OBJECTS)\n"
      "\t@mkdir -p $(@D)\n"
      "\trm -f $@\n"
      "\t$(AR) rcs $@ $^\n"
      "\n"
      "# The runtime does not depend on the program; -O1 compiles it in half the time and its speed does not "
      "matter.\n"
      "build/%.o: $(PLD_INCLUDE)/pld/%.cpp\n"
      "\t@mkdir -p $(@D)\n"
      "\t$(CXX) $(CXXFLAGS) -O1 -MMD -MP -c -o $@ $<\n"
      "\n"
      "build/host/%.o: host/%.cpp\n"
      "\t@mkdir -p $(@D)\n"
      "\t$(CXX) $(CXXFLAGS) -MMD -MP -c -o $@ $<\n"
      "\n"
      "# Every chip defines the same two names and every kernel the same one: tell them apart by the path.\n"
      "build/chips/%.o: chips/%.cpp\n"
      "\t@mkdir -p $(@D)\n"
      "\t$(CXX) $(CXXFLAGS) -Daicpu_orchestration_config=pldc_$*_config "
      "-Daicpu_orchestration_entry=pldc_$*_entry \\\n"
      "\t  -MMD -MP -c -o $@ $<\n"
      "\n"
      "build/kernels/%.o: kernels/%.cpp\n"
      "\t@mkdir -p $(@D)\n"
      "\t$(CXX) $(CXXFLAGS) -Dkernel_entry=pldk_$(subst /,_,$*) -MMD -MP -c -o $@ $<\n"
      "\n"
      "clean:\n"
      "\trm -rf build bin\n"
      "\n"
      "-include $(wildcard build/*.d build/*/*.d build/*/*/*.d)\n"
      "\n"
      ".PHONY: all clean\n";
  return out;
}

}  // namespace pldc
