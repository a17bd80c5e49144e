// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Waits, and what processes tell each other about the run: that nothing can move, that one has failed. Whoever waits polls:
// that lets peers get at the windows of this process and hears what they tell. Included by mpi.cpp only.
#pragma once
#include <sys/ioctl.h>

#include "pld/runtime_mpi.h"

namespace pld::remote {
namespace {

// A rank that has waited for a while lets rank 0 ask all others, twice, what they do. Nobody answers before it has looked at
// its cells. If all wait or have finished both times and none has moved between, then all waited at the moment the second
// question was asked, and what they had notified by then was seen before they answered: nothing can move (a snapshot in the
// manner of Mattern, "Algorithms for distributed termination detection", 1987).
enum class Kind : int32_t { question, answer, failed, left };

struct Head {
  Kind kind;
  int32_t number;   // of the question; the exit code
  int32_t stuck;    // no thread of the process can move by itself
  int32_t waiting;  // and some wait for others
  uint64_t moves;   // how often waits ended
};

struct Answer {
  bool here = false;
  Head head{};
  Text text;
};

constexpr int64_t kPatienceNs = 300000000;  // before rank 0 asks
constexpr int64_t kLeavingNs = 2000000000;  // for all to say that they are leaving
constexpr int64_t kReadingNs = 1000000000;  // for mpirun to take what a process has printed
constexpr int64_t kPrintingNs = 100000000;  // and to print it
constexpr char kRow = '\x1e', kCell = '\x1f';

// Below, with the mutex of the machine held or by the only thread that is left.
Machine* machine = nullptr;
int32_t question = 0;  // the number of the last one; rank 0 only, as what follows
bool asking = false;
uint64_t moves_seen = 0;
int64_t still_since = 0;
Array<Answer> answers, first;
int left = 0;                // who said that they have failed or are leaving
bool told = false;           // the failure came from another process
int first_failed = 1 << 30;  // the lowest rank that said it has

void send(int to, const Head& head, const Text& body) {
  Text message;
  message.append(reinterpret_cast<const char*>(&head), sizeof head);
  message += body;
  const Lock lock(calls);
  MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, to, 0, control);
}

bool receive(Head& head, Text& body, int& from) {
  const Lock lock(calls);
  int here = 0, size = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, 0, control, &here, &status);
  if (here == 0) return false;
  MPI_Get_count(&status, MPI_BYTE, &size);
  Text message(static_cast<size_t>(size), '\0');
  MPI_Recv(message.data(), size, MPI_BYTE, status.MPI_SOURCE, 0, control, MPI_STATUS_IGNORE);
  std::memcpy(&head, message.data(), sizeof head);
  body = message.substr(sizeof head);
  from = status.MPI_SOURCE;
  return true;
}

Machine* attached() { return __atomic_load_n(&machine, __ATOMIC_ACQUIRE); }

// What this process does, with the mutex held: it has looked at its cells before.
Answer own_answer(Machine& m, int32_t number) {
  m.wake_satisfied();
  Answer a;
  const bool stuck = m.active == 0 && !m.stopping;
  a.here = true;
  a.head = {Kind::answer, number, stuck ? 1 : 0, m.waiting.empty() ? 0 : 1, m.moves};
  if (!stuck) return a;
  Array<Text> cells;
  Text hints;
  m.rows(cells, hints);
  for (const Text& c : cells) {
    a.text += c;
    a.text += kCell;
  }
  a.text += kRow;
  a.text += hints;
  return a;
}

bool all_stuck(const Array<Answer>& all, bool& waiting) {
  waiting = false;
  for (const Answer& a : all) {
    if (a.head.stuck == 0) return false;
    waiting = waiting || a.head.waiting != 0;
  }
  return true;
}

// The table of all ranks.
Text whole_table(const Array<Answer>& all) {
  Array<Text> cells;
  Text hints, finished;
  for (size_t r = 0; r < all.size(); ++r) {
    const Text& t = all[r].text;
    const size_t end = t.find(kRow);
    if (end == Text::npos) continue;
    if (end == 0) finished += text(finished.empty() ? "%zu" : ", %zu", r);
    for (size_t at = 0; at < end;) {
      const size_t next = t.find(kCell, at);
      cells.push_back(t.substr(at, next - at));
      at = next + 1;
    }
    hints += t.substr(end + 1);
  }
  Text out = Machine::table_of(cells) + hints;
  if (!finished.empty()) out += text("\n  ranks that have finished their work: %s", finished.c_str());
  return out;
}

// With the mutex held: has rank 0 all answers, and what follows from them.
void judge(Machine& m, bool& ask) {
  for (const Answer& a : answers) {
    if (!a.here) return;
  }
  asking = false;
  bool waiting = false;
  if (!all_stuck(answers, waiting) || !waiting) {
    first.clear();
    still_since = now_ns();
    return;
  }
  bool same = !first.empty();
  for (size_t i = 0; same && i < answers.size(); ++i) same = first[i].head.moves == answers[i].head.moves;
  if (same) {
    m.fail(Text("deadlock: no rank can move") + whole_table(answers), 4);
    return;
  }
  first = answers;
  ask = true;
}

void ask_all(Machine& m) {
  Head head{Kind::question, 0, 0, 0, 0};
  {
    const Lock lock(m.mutex);
    if (m.stopping) return;
    head.number = ++question;
    asking = true;
    answers.clear();
    answers.resize(static_cast<size_t>(count));
    answers[0] = own_answer(m, question);
  }
  for (int r = 1; r < count; ++r) send(r, head, {});
}

// Rank 0: whether it is time to ask.
void watch(Machine& m) {
  if (me != 0 || count == 1) return;
  {
    const Lock lock(m.mutex);
    const int64_t now = now_ns();
    if (m.moves != moves_seen || m.active != 0) {
      moves_seen = m.moves;
      still_since = now;
      first.clear();
    }
    if (asking || m.stopping || now - still_since < kPatienceNs) return;
    still_since = now;
  }
  ask_all(m);
}

void hear(const Head& head, const Text& body, int from) {
  Machine* m = attached();
  if (head.kind == Kind::question) {
    Answer a;
    a.head = {Kind::answer, head.number, 0, 0, 0};
    if (m != nullptr) {
      const Lock lock(m->mutex);
      a = own_answer(*m, head.number);
    }
    send(from, a.head, a.text);
    return;
  }
  if (head.kind == Kind::failed || head.kind == Kind::left) ++left;
  if (head.kind == Kind::failed && from < first_failed) first_failed = from;
  if (m == nullptr) return;
  bool ask = false;
  {
    const Lock lock(m->mutex);
    if (head.kind == Kind::failed && !m->stopping) {
      told = true;
      m->fail(m->describe(text("rank %d has ended the run: %s", from, body.c_str()).c_str()), head.number);
    }
    if (head.kind == Kind::answer && asking && head.number == question) {
      Answer& a = answers[static_cast<size_t>(from)];
      a.here = true;
      a.head = head;
      a.text = body;
      judge(*m, ask);
    }
  }
  if (ask) ask_all(*m);
}

// A moment for others: the processor if there are not enough, and none of it after a while.
void relax(int round) {
  if (!crowded && round < 2000) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  } else if (round < 4000) {
    sched_yield();
  } else {
    const timespec t{0, 50000};
    nanosleep(&t, nullptr);
  }
}

// mpirun drops what it has not read when a process aborts: waits until the pipes to it are empty.
void printed() {
  std::fflush(nullptr);
  const int64_t until = now_ns() + kReadingNs;
  for (const int stream : {1, 2}) {
    int unread = 0;
    while (ioctl(stream, FIONREAD, &unread) == 0 && unread > 0 && now_ns() < until) relax(4000);
  }
}

}  // namespace

void progress() {
  Head head{};
  Text body;
  int from = 0;
  while (receive(head, body, from)) hear(head, body, from);
}

int wait(Machine& m, sim::Agent& a) {
  for (int round = 0;; round += round < 1000000 ? 1 : 0) {
    const int how = __atomic_load_n(&a.go, __ATOMIC_ACQUIRE);
    if (how > 0) return how;
    progress();
    if (sim::holds(__atomic_load_n(a.cell, __ATOMIC_SEQ_CST), a.want, a.compare)) {
      const Lock lock(m.mutex);
      m.wake_satisfied();
    } else {
      if (round > 4000 || round % 256 == 255) watch(m);
      relax(round);
    }
  }
}

void meet(Machine& m) {
  MPI_Request request;
  {
    const Lock lock(m.mutex);
    if (m.stopping) throw Error(m.error, m.error_code);
    --m.active;
  }
  {
    const Lock lock(calls);
    drain();
    MPI_Ibarrier(world, &request);
  }
  for (int round = 0;; round += round < 1000000 ? 1 : 0) {
    int done = 0;
    {
      const Lock lock(calls);
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    if (done != 0) break;
    progress();
    {
      const Lock lock(m.mutex);
      if (m.stopping) throw Error(m.error, m.error_code);
    }
    if (round > 4000 || round % 256 == 255) watch(m);
    relax(round);
  }
  const Lock lock(m.mutex);
  ++m.active;
  ++m.moves;
}

void attach(Machine* m) { __atomic_store_n(&machine, m, __ATOMIC_RELEASE); }

void abandon(const Text& message, int code) {
  attach(nullptr);
  std::fprintf(stderr, "error: rank %d: %s\n", me, message.c_str());
  printed();
  leaving = 1;
  const Head head{told ? Kind::left : Kind::failed, code, 0, 0, 0};
  const Text line = message.substr(0, message.find('\n')).substr(0, 1000);
  for (int r = 0; r < count; ++r) {
    if (r != me) send(r, head, line);
  }
  const int64_t until = now_ns() + kLeavingNs;
  while (left < count - 1 && now_ns() < until) {
    progress();
    relax(4000);
  }
  const timespec moment{0, kPrintingNs};
  nanosleep(&moment, nullptr);
  // Of those that failed one ends us all, for mpirun is not made for several; if it cannot, we do.
  if (told || first_failed < me) {
    const timespec t{5, 0};
    nanosleep(&t, nullptr);
  }
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace pld::remote
