// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The command line of a built program.
#pragma once

namespace pld {
struct ProgramInfo;
}

// Runs the program as `bin/<stem> --help` describes. Returns the exit code: 0 fine, 1 wrong input, 2 wrong
// command line, 4 a deadlock, a timeout, a failed check or a difference from --expect.
int pld_main(int argc, char** argv, const pld::ProgramInfo& program);

#ifdef PLD_PROGRAM_HASH
// What processes that run together have in common (--target=mpi).
extern "C" {
extern const unsigned long long pld_program_hash;
const unsigned long long pld_program_hash = PLD_PROGRAM_HASH;
}
#endif
