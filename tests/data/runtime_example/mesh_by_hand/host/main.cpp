// The executable: reads and writes the parameters of MeshByHand and runs it.
#include "pld/main.h"

namespace mesh_by_hand {
const pld::ProgramInfo& program();  // host_orch.cpp
}

int main(int argc, char** argv) { return pld_main(argc, argv, mesh_by_hand::program()); }
