// The executable: reads and writes the parameters of HostAllReduceExplicit and runs it.
#include "pld/main.h"

namespace host_allreduce_explicit {
const pld::ProgramInfo& program();  // host_orch.cpp
}

int main(int argc, char** argv) { return pld_main(argc, argv, host_allreduce_explicit::program()); }
