// The executable: reads and writes the parameters of HostAllReduceExplicit and runs it.
#include "pld/main.h"

#include "host_allreduce_explicit.h"

int main(int argc, char** argv) { return pld_main(argc, argv, host_allreduce_explicit::program()); }
