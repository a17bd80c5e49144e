// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The life of a process among the others: how it joins, leaves, and dies. Included by mpi.cpp only.
#pragma once
#include <signal.h>  // NOLINT: sigaction
#include <unistd.h>

#include "pld/runtime_mpi.h"

// Of the generated files (pld/main.h); missing if the program has a main function of its own.
extern "C" __attribute__((weak)) const unsigned long long pld_program_hash;

namespace pld::remote {
namespace {

// Text for a signal handler, which may not call what allocates.
struct Line {
  char text[512];
  size_t size = 0;
  void add(const char* s) {
    while (s != nullptr && *s != 0 && size < sizeof text) text[size++] = *s++;
  }
  void add(int64_t n) {
    char digits[24];
    size_t k = sizeof digits;
    digits[--k] = 0;
    do {
      digits[--k] = static_cast<char>('0' + n % 10);
      n /= 10;
    } while (n != 0);
    add(digits + k);
  }
  void write() const {
    if (::write(2, text, size) < 0) return;
  }
};

void add_place(Line& line) {
  const Machine* m = attached();
  if (m == nullptr) {
    line.add("outside of a run");
    return;
  }
  const sim::Context& c = *m->workers[static_cast<size_t>(me)]->agent.context;
  const char* kernel = peek(c.kernel);
  const char* chip = peek(c.chip);
  if (kernel != nullptr || chip != nullptr) {
    line.add(kernel != nullptr ? "in kernel " : "in chip orchestration ");
    line.add(kernel != nullptr ? kernel : chip);
  } else {
    line.add("between dispatches");
  }
  if (peek(c.line) > 0) {
    line.add(", ");
    line.add(m->program.source);
    line.add(":");
    line.add(peek(c.line));
  }
}

void on_end(int) {
  if (leaving == 0) {
    Line line;
    line.add("error: rank ");
    line.add(me);
    line.add(": the run was ended from outside (another rank died, or mpirun was stopped), ");
    add_place(line);
    line.add("\n");
    line.write();
    const timespec t{0, 300000000};  // mpirun is ending, and takes the text of those that still are there
    nanosleep(&t, nullptr);
  }
  _exit(143);
}

void on_fault(int signal, siginfo_t* info, void*) {
  if (is_peer(info->si_addr)) {
    Line line;
    line.add("error: rank ");
    line.add(me);
    line.add(": memory of another rank is used as if it were this process's own, ");
    add_place(line);
    line.add("\n");
    line.write();
    _exit(1);
  }
  ::signal(signal, SIG_DFL);  // the instruction faults again
}

uint64_t mix(uint64_t hash, const void* data, size_t bytes) {  // FNV-1a
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ULL;
  return hash;
}

uint64_t hash_of(const ProgramInfo& program, int argc, char** argv) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  hash = mix(hash, program.name, std::strlen(program.name) + 1);
  for (int i = 1; i < argc; ++i) hash = mix(hash, argv[i], std::strlen(argv[i]) + 1);
  return hash;
}

// Ranks whose value is not that of rank 0.
Text others(uint64_t value) {
  Array<uint64_t> all(static_cast<size_t>(count));
  MPI_Allgather(&value, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, world);
  Text names;
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r] != all[0]) names += text(names.empty() ? "%zu" : ", %zu", r);
  }
  return names;
}

}  // namespace

void join(int& argc, char**& argv, const ProgramInfo& program) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_dup(MPI_COMM_WORLD, &control);
  MPI_Comm_rank(world, &me);
  MPI_Comm_size(world, &count);
  MPI_Comm here;
  int neighbours = 1;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_size(here, &neighbours);
  MPI_Comm_free(&here);
  crowded = neighbours > sysconf(_SC_NPROCESSORS_ONLN);

  struct sigaction end {};
  end.sa_handler = on_end;
  sigaction(SIGTERM, &end, nullptr);
  struct sigaction fault {};
  fault.sa_sigaction = on_fault;
  fault.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &fault, nullptr);

  const Text programs = others(&pld_program_hash != nullptr ? pld_program_hash : 0ULL);
  if (!programs.empty())
    throw Error(text("rank %s runs another program or version than rank 0: start the same file everywhere",
                     programs.c_str()));
  const Text options = others(hash_of(program, argc, argv));
  if (!options.empty())
    throw Error(text("rank %s was started with other options than rank 0", options.c_str()));
  if (agree(level < MPI_THREAD_SERIALIZED ? 1 : 0) != 0)
    throw Error("this MPI allows calls from one thread only (MPI_THREAD_SERIALIZED is needed)");
  if (agree(reserve() ? 0 : 1) != 0) throw Error("there are no addresses for the windows of other ranks");
}

int agree(int code) {
  const Lock lock(calls);
  int highest = 0;
  MPI_Allreduce(&code, &highest, 1, MPI_INT, MPI_MAX, world);
  return highest;
}

int leave(const Text& message, int code) {
  uint64_t own = message.empty() ? 0 : mix(1, message.data(), message.size());
  Array<uint64_t> all(static_cast<size_t>(count));
  MPI_Allgather(&own, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, world);
  bool says = !message.empty(), common = true;
  for (size_t r = 0; r < all.size(); ++r) {
    common = common && all[r] == own;
    if (r < static_cast<size_t>(me) && all[r] == own) says = false;
  }
  if (says)
    std::fprintf(stderr, "error: %s%s\n", common ? "" : text("rank %d: ", me).c_str(), message.c_str());
  std::fflush(nullptr);
  code = agree(code);
  const Lock lock(calls);
  for (Window* w : windows) {
    MPI_Win_unlock_all(w->win);
    MPI_Win_free(&w->win);
    MPI_Comm_free(&w->comm);
    delete w;
  }
  windows.clear();
  MPI_Comm_free(&control);
  MPI_Comm_free(&world);
  leaving = 1;
  MPI_Finalize();
  return code;
}

}  // namespace pld::remote
