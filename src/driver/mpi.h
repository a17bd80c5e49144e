// What --target=mpi needs of the machine: the compiler of MPI, and the command that starts one process for each rank.
#pragma once

#include <string>
#include <vector>

#include "driver/session.h"
#include "driver/toolchain.h"

namespace pldc {

// Looks for $MPICXX or mpicxx and adds what it is to the toolchain's key. False and a diagnostic if there is none.
bool find_mpi_compiler(Session& session, Toolchain& tools);

// The words before the program, "mpirun -n 4". False and a diagnostic if there is no mpirun.
bool mpi_launcher(Session& session, const std::string& ranks, std::vector<std::string>& words);

}  // namespace pldc
