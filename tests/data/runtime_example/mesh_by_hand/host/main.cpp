// The executable: reads and writes the parameters of MeshByHand and runs it.
#include "pld/main.h"

#include "mesh_by_hand.h"

int main(int argc, char** argv) { return pld_main(argc, argv, mesh_by_hand::program()); }
