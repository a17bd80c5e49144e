// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// What the runtime needs when every rank is a process of its own (--target=mpi). With ranks as threads nothing calls these.
// Defined in pld/mpi.cpp. Functions that communicate are called by the host thread of every process in the same order.
#pragma once
#include <cstddef>
#include <cstdint>

#include "pld/remote.h"
#include "pld/text.h"

namespace pld {

class Machine;
struct DomainState;
struct Tensor;
struct ProgramInfo;
namespace sim {
struct Agent;
}

namespace remote {

int64_t rank();   // of this process
int64_t ranks();  // processes

// Joins the others; throws Error if they run another program or other options, or if MPI cannot serve the program.
void join(int& argc, char**& argv, const ProgramInfo& program);
// The highest of all processes' codes. At the end: leaves the others.
int agree(int code);
// Before or after a run: leaves the others and returns the highest code. A message that several ranks have is printed once.
int leave(const Text& message, int code);
// From within a run: prints the message with the rank, tells the others, ends the run everywhere.
[[noreturn]] void abandon(const Text& message, int code);

// The machine whose waits and failures are told to the others; null: none.
void attach(Machine* machine);
// Returns when all processes are here; peers get at this one meanwhile. Throws Error when the run is being ended.
void meet(Machine& machine);
// Makes the windows of the domain (zeroed), sets its `windows`: real memory for this process, reserved addresses for others.
void open(DomainState& domain);
void broadcast(void* data, size_t bytes, int64_t from);
void transfer(void* data, size_t bytes, int64_t from, int64_t to);  // others do nothing
// Blocks an agent that waits for a cell of a window of this process, until somebody lets it go; returns Agent::go.
int wait(Machine& machine, sim::Agent& agent);
// Whether indivisible steps were made in this memory since the last clear.
bool had_atomics(const void* begin, const void* end);
void clear_atomics();

}  // namespace remote
}  // namespace pld
