// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The object file that --target=mpi adds to the three: the only one that sees <mpi.h>. Every rank is a process, windows are
// windows of MPI-3 (Hoefler et al., "Remote Memory Access Programming in MPI-3", 2015).
#include "pld/runtime_mpi.h"
#include "pld/runtime_mpi_access.h"
#include "pld/runtime_mpi_control.h"
#include "pld/runtime_mpi_process.h"
