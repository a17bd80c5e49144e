// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Domains, and the host that runs ranks as threads. Included by runtime.cpp only.
#pragma once
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "pld/runtime_state.h"
#include "pld/runtime_tensor.h"
#include "pld/runtime_watch.h"

namespace pld {

// ---- domains ----

int64_t Domain::size() const { return static_cast<int64_t>(state_->devices.size()); }

namespace {
// More than any machine has, and far from the end of the numbers.
constexpr int64_t kMaxWindowBytes = int64_t{1} << 46;

int64_t member(const DomainState& d, int64_t device) {
  const int64_t r = d.rank_of(device);
  if (r < 0)
    throw Error(text("device %lld is not in domain %s", static_cast<long long>(device), d.name.c_str()));
  return r;
}
}  // namespace

uint64_t Domain::ctx(int64_t device) const {
  return reinterpret_cast<uint64_t>(&state_->contexts[static_cast<size_t>(member(*state_, device))]);
}

Tensor Domain::view(int64_t device, const char* slot, Extents shape, DType dtype) const {
  const size_t r = static_cast<size_t>(member(*state_, device));
  for (const auto& s : state_->slots) {
    if (s.name != slot) continue;
    Tensor t = Tensor::packed(state_->windows[r].get() + s.offset, dtype, shape, s.name.c_str());
    t.window = true;
    if (t.size() * size_of(dtype) > s.bytes) {
      throw Error(text("window %s takes %lld bytes, its buffer has %lld", tensor_text(t).c_str(),
                       static_cast<long long>(t.size() * size_of(dtype)), static_cast<long long>(s.bytes)));
    }
    return t;
  }
  throw Error(text("domain %s has no buffer %s", state_->name.c_str(), slot));
}

void Domain::require_at_most(int64_t limit, const char* collective) const {
  if (size() <= limit) return;
  throw Error(text("%s serves at most %lld ranks, domain %s has %lld", collective,
                   static_cast<long long>(limit), state_->name.c_str(), static_cast<long long>(size())));
}

// ---- hosts ----

Array<int64_t> Host::all() const {
  Array<int64_t> devices(static_cast<size_t>(world_size()));
  for (size_t i = 0; i < devices.size(); ++i) devices[i] = static_cast<int64_t>(i);
  return devices;
}

void Host::sub_worker(const char* name, void (*fn)(const Args&), const Args& args, Place place) {
  at(place.line);
  if (fn == nullptr) {
    throw Error(
        text("sub-worker %s is Python text; link a C++ function pld_sub_%s(const pld::Args&)", name, name));
  }
  sync();
  fn(args);
}

Machine::Machine(const ProgramInfo& p, const RunOptions& o) : program(p), options(o) {
  sim::observing = o.check_bounds || o.check_races || o.trace || o.seeded;
  if (o.check_races) races.reset(new Races(*this));
  if (o.trace) trace.reset(new Trace);
  threads = static_cast<size_t>(o.ranks);
  for (int64_t r = 0; r < o.ranks; ++r) {
    workers.push_back(Owned<Worker>(new Worker));
    workers.back()->agent.machine = this;
    workers.back()->agent.device = r;
    workers.back()->agent.clock = Races::worker(r);
  }
  if (races != nullptr) races->clear();
  try {
    if (o.seeded) order.reset(new Order(*this, o.seed));
    const auto run = [](void* argument) -> void* {
      Worker& worker = *static_cast<Worker*>(argument);
      worker.agent.machine->worker_loop(worker);
      return nullptr;
    };
    for (auto& w : workers) {
      if (!runs(w->agent.device)) continue;
      if (order != nullptr) {
        order->start(run, w.get());
      } else {
        w->thread.start(run, w.get());
      }
    }
    if constexpr (remote::enabled) remote::attach(this);
    watchdog.start(
        [](void* machine) -> void* {
          static_cast<Machine*>(machine)->watchdog_loop();
          return nullptr;
        },
        this);
  } catch (const std::exception& e) {  // the system's limit of threads or memory
    end_threads();
    throw Error(text("%lld ranks cannot be started, each is a thread: %s", static_cast<long long>(o.ranks),
                     e.what()));
  }
}

Machine::~Machine() { end_threads(); }

void Machine::end_threads() {
  if constexpr (remote::enabled) remote::attach(nullptr);
  {
    Lock lock(mutex);
    quit = true;
    for (auto& w : workers) w->wake.notify_one();
    for (auto& h : helpers) {
      h->quit = true;
      h->wake.notify_one();
    }
    watchdog_wake.notify_one();
    if (order != nullptr) order->finish(lock);
  }
  for (auto& w : workers) {
    w->thread.join();
  }
  for (auto& h : helpers) {
    h->thread.join();
  }
  watchdog.join();
}

void Machine::begin_run() {
  const Lock lock(mutex);
  stopping = false;
  error.clear();
  error_code = 0;
  active = 1;
  next_domain = 0;
  host_tensors.clear();
  history.clear();
  regions.clear();
  if (races != nullptr) races->clear();
  for (const auto& d : domains) {
    for (size_t r = 0; r < d->windows.size(); ++r) {
      if (runs(d->devices[r])) std::memset(d->windows[r].get(), 0, static_cast<size_t>(d->window_bytes));
      for (const auto& s : d->slots) {
        add_region({reinterpret_cast<const char*>(d->windows[r].get()) + s.offset, s.bytes,
                    text("%s.%s", d->name.c_str(), s.name.c_str()), static_cast<int64_t>(r), d->devices[r]});
      }
    }
  }
  deadline_ns =
      options.timeout_seconds > 0 ? now_ns() + static_cast<int64_t>(options.timeout_seconds * 1e9) : 0;
  watchdog_wake.notify_one();
}

void Machine::sync() {
  Lock lock(mutex);
  if (busy_workers > 0 && !stopping) {
    now_inactive();
    pause(lock, idle, [this] { return busy_workers == 0 || stopping; });
    ++active;
  }
  if (!stopping) {
    for (size_t i = 0; races != nullptr && i < workers.size(); ++i)
      races->order(Races::worker(static_cast<int64_t>(i)), Races::kHost);
    return;
  }
  // Kernels notice the end of the run in their waits; one that computes for ever does not.
  if (order != nullptr) {
    order->wait(lock, [this] { return busy_workers == 0; });
  } else {
    const int64_t until = now_ns() + kGraceNs;
    while (busy_workers != 0 && now_ns() < until) idle.wait_until(lock, until);
    if (busy_workers != 0) abandoned = true;
  }
  const Text raced = races != nullptr ? races->report() : Text();
  throw Error(raced.empty() ? error : error + "\n" + raced, error_code);
}

void Machine::check_signals() const {
  constexpr int kShown = 8;
  Text wrong;
  int count = 0;
  for (const auto& d : domains) {
    for (const auto& s : d->slots) {
      if (s.use != SlotUse::signal) continue;
      for (size_t r = 0; r < d->windows.size(); ++r) {
        for (int64_t i = 0; i < (runs(d->devices[r]) ? s.bytes / 4 : 0); ++i) {
          int32_t v = 0;
          std::memcpy(&v, d->windows[r].get() + s.offset + i * 4, 4);
          if (v == 0 || count++ >= kShown) continue;
          wrong += text("%ssignal %s.%s: cell %lld on rank %zu is %d at the end of the run, not 0",
                        wrong.empty() ? "" : "\n", d->name.c_str(), s.name.c_str(), static_cast<long long>(i),
                        r, v);
        }
      }
    }
  }
  if (count > kShown) wrong += text("\n%d more cells are not 0", count - kShown);
  if (count > 0) throw Error(wrong, 4);
}

namespace {
// Large windows on large pages: a tile on 4 KiB pages spends a quarter of its time on their addresses.
[[maybe_unused]] void* window_memory(size_t bytes, const char* domain) {
  constexpr size_t kLargePage = size_t{1} << 21;
  void* p = nullptr;
  if (posix_memalign(&p, bytes >= kLargePage ? kLargePage : 512, bytes) != 0)
    throw Error(text("there is no memory for a window of %zu bytes of domain %s", bytes, domain));
#ifdef MADV_HUGEPAGE
  if (bytes >= kLargePage) madvise(p, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);  // may refuse
#endif
  return p;
}
}  // namespace

constexpr int64_t kMostGuard = 1 << 20;  // bytes behind a buffer, with --check=bounds

ThreadHost::ThreadHost(const ProgramInfo& program, const RunOptions& options) {
  if (options.ranks < 1) throw Error(text("%lld ranks", static_cast<long long>(options.ranks)));
  machine_ = new Machine(program, options);
}

ThreadHost::~ThreadHost() {
  if (!machine_->abandoned) delete machine_;
}

int64_t ThreadHost::world_size() const { return machine_->options.ranks; }
bool ThreadHost::abandoned() const { return machine_->abandoned; }

Domain ThreadHost::domain(const char* name, const Array<int64_t>& devices,
                          std::initializer_list<Slot> slots) {
  if (static_cast<int64_t>(devices.size()) > kPldMaxDomainRanks) {
    throw Error(text("domain %s has %zu ranks; a communication domain has at most %d", name, devices.size(),
                     kPldMaxDomainRanks));
  }
  auto d = Owned<DomainState>(new DomainState());
  d->name = name;
  d->devices = devices;
  int64_t offset = 0;
  for (const Slot& s : slots) {
    if (s.bytes < 0) {
      if (s.line > 0) at(s.line);
      throw Error(text("buffer %s of domain %s has %lld bytes; a size is 0 or more", s.name, name,
                       static_cast<long long>(s.bytes)));
    }
    if (s.bytes > kMaxWindowBytes - offset) {
      if (s.line > 0) at(s.line);
      throw Error(text("buffer %s of domain %s has %lld bytes; the window of a rank has at most %lld", s.name,
                       name, static_cast<long long>(s.bytes), static_cast<long long>(kMaxWindowBytes)));
    }
    d->slots.push_back({s.name, s.bytes, offset, s.use});
    const int64_t whole = (s.bytes + 31) / 32 * 32;
    offset += whole;
    // What leaves a buffer must not land in the next one, where nothing would be wrong with it.
    if (machine_->options.check_bounds) offset += whole < kMostGuard ? whole + 32 : kMostGuard;
  }
  d->window_bytes = offset + 32;
  for (int64_t device : devices) {
    if (device < 0 || device >= world_size()) {
      throw Error(text("domain %s names device %lld, there are %lld ranks", name,
                       static_cast<long long>(device), static_cast<long long>(world_size())));
    }
  }
  Machine& m = *machine_;
  Lock lock(m.mutex);
  if (m.next_domain < m.domains.size()) {
    DomainState& old = *m.domains[m.next_domain];
    bool same = old.name == d->name && old.devices == d->devices && old.slots.size() == d->slots.size();
    for (size_t i = 0; same && i < d->slots.size(); ++i) {
      same = old.slots[i].name == d->slots[i].name && old.slots[i].bytes == d->slots[i].bytes;
    }
    if (same) {  // zeroed when this run began
      ++m.next_domain;
      return Domain(&old);
    }
    for (size_t i = m.next_domain; i < m.domains.size(); ++i) {
      for (const auto& window : m.domains[i]->windows) {
        const char* base = reinterpret_cast<const char*>(window.get());
        m.remove_regions(base, base + m.domains[i]->window_bytes);
      }
    }
    m.domains.resize(m.next_domain);  // this run goes another way than the one before
  }
  d->contexts.resize(devices.size());
  if constexpr (remote::enabled) {
    lock.unlock();
    remote::meet(m);
    remote::open(*d);
    lock.lock();
  }
  for (size_t r = 0; r < devices.size(); ++r) {
    if constexpr (!remote::enabled) {
      void* p = window_memory(static_cast<size_t>(d->window_bytes), name);
      std::memset(p, 0, static_cast<size_t>(d->window_bytes));
      d->windows.push_back(Owned<unsigned char, free_window>(static_cast<unsigned char*>(p)));
    }
    for (const auto& s : d->slots) {
      m.add_region({reinterpret_cast<const char*>(d->windows[r].get()) + s.offset, s.bytes,
                    text("%s.%s", d->name.c_str(), s.name.c_str()), static_cast<int64_t>(r), devices[r]});
    }
  }
  for (size_t r = 0; r < devices.size(); ++r) {
    CommContext& c = d->contexts[r];
    c = {};
    c.rankId = static_cast<uint32_t>(r);
    c.rankNum = static_cast<uint32_t>(devices.size());
    c.winSize = static_cast<uint64_t>(d->window_bytes);
    for (size_t i = 0; i < devices.size(); ++i) {
      c.windowsIn[i] = c.windowsOut[i] = reinterpret_cast<uint64_t>(d->windows[i].get());
    }
  }
  m.domains.push_back(std::move(d));
  ++m.next_domain;
  return Domain(m.domains.back().get());
}

void ThreadHost::submit(int64_t device, const char* chip, const Args& args, Place place) {
  Machine& m = *machine_;
  at(place.line, device);
  if (device < 0 || device >= world_size()) {
    throw Error(text("dispatch of %s to device %lld, there are %lld ranks", chip,
                     static_cast<long long>(device), static_cast<long long>(world_size())));
  }
  auto task = Owned<Task>(new Task());
  task->chip = nullptr;
  for (const ChipInfo& c : m.program.chips) {
    if (std::strcmp(c.name, chip) == 0) task->chip = &c;
  }
  if (task->chip == nullptr) throw Error(text("the program has no chip orchestration %s", chip));
  if constexpr (remote::enabled) m.record(device, args, place);
  if (!m.runs(device)) return;
  task->scalars = args.scalars();
  task->place = place;
  task->tensors.reserve(args.tensors().size());
  for (const Args::Item& item : args.tensors()) {
    const Tensor& t = item.tensor;
    ChipTensor c{};
    c.buffer.addr = reinterpret_cast<uint64_t>(t.data);
    c.buffer.size = static_cast<uint64_t>(t.size() * size_of(t.dtype));
    const bool stage = !t.window && !t.contiguous();
    if (stage) {
      task->staging.push_back({t, Array<unsigned char>(), item.dir != Dir::in});
      task->staging.back().packed.resize(c.buffer.size + 32);
      c.buffer.addr = reinterpret_cast<uint64_t>(task->staging.back().packed.data());
    }
    c.ndims = static_cast<uint32_t>(t.rank == 0 ? 1 : t.rank);
    c.dtype = t.dtype;
    c.address_space = t.window ? 1 : 0;
    c.is_contiguous = stage || t.contiguous() ? 1 : 0;
    c.shapes[0] = c.strides[0] = 1;
    c.extent = t.size() == 0 ? 0 : 1;
    int64_t stride = 1;
    for (int i = t.rank; i-- > 0;) {
      const int64_t s = stage || t.shape[i] == 1 ? stride : t.strides[i];
      if (t.shape[i] > 0xffffffffLL || s > 0xffffffffLL)
        throw Error(text("a tensor of a chip has 32-bit extents: %s", tensor_text(t).c_str()));
      c.shapes[i] = static_cast<uint32_t>(t.shape[i]);
      c.strides[i] = static_cast<uint32_t>(s > 0 ? s : 1);
      if (t.size() != 0) c.extent += static_cast<uint64_t>(t.shape[i] - 1) * c.strides[i];
      stride *= t.shape[i];
    }
    task->tensors.push_back(c);
  }
  Lock lock(m.mutex);
  if (m.stopping) throw Error(m.error, m.error_code);
  if (m.races != nullptr) m.races->release(Races::kHost, task->submitted);
  if (sim::observing) {
    for (const Args::Item& item : args.tensors()) {  // memory of a caller that binds no parameters
      const Tensor& t = item.tensor;
      if (t.window || !t.contiguous() || m.region_of(t.data) != nullptr) continue;
      m.add_region({static_cast<const char*>(t.data), t.size() * size_of(t.dtype),
                    text("parameter %s", t.name != nullptr ? t.name : "?"), -1});
    }
    for (const Staging& s : task->staging) {
      m.add_region({reinterpret_cast<const char*>(s.packed.data()), s.tensor.size() * size_of(s.tensor.dtype),
                    text("parameter %s", s.tensor.name != nullptr ? s.tensor.name : "?"), -1});
    }
  }
  Worker& w = *m.workers[static_cast<size_t>(device)];
  w.queue.push_back(std::move(task));
  if (!w.busy) {
    w.busy = true;
    ++m.busy_workers;
    ++m.active;
    w.wake.notify_one();
  }
  lock.unlock();
  if (m.order != nullptr) m.order->step();
}

void ThreadHost::sync() {
  machine_->sync();
  if constexpr (remote::enabled) machine_->share();
}

Tensor ThreadHost::tensor(Extents shape, DType dtype) {
  Tensor t = Tensor::packed(nullptr, dtype, shape, "host tensor");
  const size_t bytes = static_cast<size_t>(t.size() * size_of(dtype));
  Array<unsigned char> memory;
  try {
    memory.resize(bytes + 32);  // zeroed
  } catch (const std::bad_alloc&) {
    throw Error(text("there is no memory for the %zu bytes of %s", bytes, tensor_text(t).c_str()));
  }
  t.data = memory.data();
  const Lock lock(machine_->mutex);
  machine_->add_region(
      {reinterpret_cast<const char*>(t.data), static_cast<int64_t>(bytes), "a host tensor", -1});
  machine_->host_tensors.push_back(std::move(memory));
  return t;
}

// Lets the ranks stop before the memory of the host function goes away. Whether the error is its own: a failed dispatch comes
// up in the next call of the host.
bool Machine::host_failed() {
  bool own = false;
  {
    const Lock lock(mutex);
    own = !stopping;
    fail("the host function failed", 1);
  }
  try {
    sync();
  } catch (const Error&) {  // the error of the host function is the one to tell
  }
  return own;
}

namespace {
Text located(const Machine& m, const char* entry, int32_t line, int64_t device, const char* what) {
  const Text rank = device < 0 ? Text() : text(", rank %lld", static_cast<long long>(device));
  const Text at = line > 0 ? text(":%d", line) : Text();
  return text("%s%s: %s (host function %s%s)", m.program.source, at.c_str(), what, entry, rank.c_str());
}
}  // namespace

void ThreadHost::run(const EntryInfo& entry, Params& params) {
  Machine& m = *machine_;
  m.begin_run();
  if constexpr (remote::enabled) remote::meet(m);  // all windows are zero
  if (sim::observing) {
    const Lock lock(m.mutex);
    for (const ParamInfo& p : entry.params) {
      if (p.scalar) continue;
      const Tensor& t = params[p.name];
      int64_t span = t.size() == 0 ? 0 : 1;
      for (int i = 0; i < t.rank && span != 0; ++i) span += (t.shape[i] - 1) * t.strides[i];
      m.add_region(
          {static_cast<const char*>(t.data), span * size_of(t.dtype), text("parameter %s", p.name), -1});
    }
  }
  if constexpr (remote::enabled) m.note_parted(entry, params);
  at(0);
  try {
    entry.run(*this, params);
  } catch (const Error& e) {
    if (!m.host_failed() || line_ == 0) throw;
    throw Error(located(m, entry.name, line_, device_, e.what()), e.exit_code());
  } catch (const std::bad_alloc&) {
    if (!m.host_failed()) throw;
    throw Error(located(m, entry.name, line_, device_, "no memory"));
  } catch (...) {
    m.host_failed();
    throw;
  }
  sync();
  if constexpr (remote::enabled) {
    remote::meet(m);  // before anybody resets a window
    if (m.options.gather) m.gather();
  }
  {
    const Lock lock(m.mutex);
    m.deadline_ns = 0;
    m.active = 0;
  }
  if constexpr (remote::enabled) {
    m.check_signals_everywhere();
  } else if (m.options.check_signals) {
    m.check_signals();
  }
  if (m.races == nullptr) return;
  const Text raced = m.races->report();
  if (!raced.empty()) throw Error(raced, 4);
}

Text ThreadHost::trace() const {
  return machine_->trace != nullptr ? machine_->trace->json(machine_->program.name) : Text();
}

void run(const ProgramInfo& program, const EntryInfo& entry, Params& params, const RunOptions& options) {
  ThreadHost host(program, options);
  host.run(entry, params);
}

}  // namespace pld
