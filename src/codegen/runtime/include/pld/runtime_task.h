// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Execution of dispatches and kernel tasks: scopes, SPMD blocks, mixed cube and vector tasks, cross-core
// FIFOs. Included by runtime.cpp only.
#pragma once
#include <cstdlib>
#include <cstring>

#include "pld/runtime_state.h"

namespace pld {
namespace {

thread_local PldScope* innermost_scope = nullptr;
thread_local const ChipInfo* current_chip = nullptr;
thread_local uint64_t task_count = 0;

template <class T>
void put(T& place, T value) {
  __atomic_store_n(&place, value, __ATOMIC_RELAXED);
}

// A tensor of a scope: header and data in one allocation.
struct ScopeBlock {
  ScopeBlock* next;
  ChipTensor tensor;
};

// Where a thread is; restored when it leaves.
class Here {
 public:
  explicit Here(const char* kernel) : kernel_(sim::context.kernel), line_(sim::context.line) {
    put(sim::context.kernel, kernel);
  }
  ~Here() {
    put(sim::context.kernel, kernel_);
    put(sim::context.line, line_);
  }
  Here(const Here&) = delete;
  Here& operator=(const Here&) = delete;

 private:
  const char* kernel_;
  int32_t line_;
};

// One kernel instance of a launch.
struct Job {
  Machine* machine;
  const KernelInfo* kernel;
  const CoreTaskArgs* args;
  int32_t block;
  int32_t sub_block;
  sim::Pipes* pipes;
  struct Group* group;
  sim::Context origin;  // of the thread that launched it
};

struct Group {
  int remaining = 0;
  bool joining = false;
  std::condition_variable done;
};

void run_kernel(const Job& job) {
  int64_t args[kPldArgSlots] = {};
  for (int32_t i = 0; i < job.args->tensor_count(); ++i) {
    args[i] = static_cast<int64_t>(reinterpret_cast<intptr_t>(job.args->tensors() + i));
  }
  for (int32_t j = 0; j < job.args->scalar_count(); ++j) {
    args[job.args->tensor_count() + j] = static_cast<int64_t>(job.args->scalars()[j]);
  }
  LocalContext local{job.block, job.args->launch_spec.block_num, {}};
  GlobalContext global{job.sub_block, {}};
  args[kPldLocalContextSlot] = static_cast<int64_t>(reinterpret_cast<intptr_t>(&local));
  args[kPldGlobalContextSlot] = static_cast<int64_t>(reinterpret_cast<intptr_t>(&global));
  Here here(job.kernel->name);
  sim::Pipes* outer = sim::context.pipes;
  sim::context.pipes = job.pipes;
  job.kernel->fn(args);
  sim::context.pipes = outer;
}

// Runs f and turns what it throws into the machine's error.
template <class F>
void guarded(Machine& m, F f) {
  try {
    f();
  } catch (const Stop&) {
  } catch (const Error& e) {
    std::lock_guard lock(m.mutex);
    m.fail(e.what(), e.exit_code());
  } catch (const std::exception& e) {
    std::lock_guard lock(m.mutex);
    m.fail(e.what(), 1);
  }
}

// All jobs at once: the first on this thread, the others on helpers.
void run_together(Machine& m, std::vector<Job>& jobs) {
  Group group;
  group.remaining = static_cast<int>(jobs.size()) - 1;
  {
    std::lock_guard lock(m.mutex);
    if (m.stopping) throw Stop{};
    for (size_t i = 1; i < jobs.size(); ++i) {
      jobs[i].group = &group;
      jobs[i].origin = sim::context;
      Helper& h = m.helper();
      h.agent.device = sim::context.agent->device;
      h.run = [](void* p) {
        Job& job = *static_cast<Job*>(p);
        put(sim::context.chip, job.origin.chip);
        put(sim::context.line, job.origin.line);
        guarded(*job.machine, [&] { run_kernel(job); });
      };
      h.argument = &jobs[i];
      ++m.active;
      h.wake.notify_one();
    }
  }
  guarded(m, [&] { run_kernel(jobs[0]); });
  std::unique_lock lock(m.mutex);
  if (group.remaining > 0) {
    sim::Agent& self = *sim::context.agent;
    group.joining = true;
    self.wait = sim::Agent::Wait::join;
    m.now_inactive();
    group.done.wait(lock, [&] { return group.remaining == 0; });
    self.wait = sim::Agent::Wait::none;
  }
  if (m.stopping) throw Stop{};
}

}  // namespace

Helper& Machine::helper() {
  if (!free_helpers.empty()) {
    Helper* h = free_helpers.back();
    free_helpers.pop_back();
    return *h;
  }
  helpers.push_back(std::make_unique<Helper>());
  ++threads;
  Helper& h = *helpers.back();
  h.agent.machine = this;
  h.thread = std::thread([this, &h] { helper_loop(h); });
  return h;
}

void Machine::helper_loop(Helper& h) {
  sim::context.agent = &h.agent;
  std::unique_lock lock(mutex);
  h.agent.context = &sim::context;
  for (;;) {
    h.wake.wait(lock, [&] { return h.run != nullptr || h.quit; });
    if (h.run == nullptr) return;
    const auto run = h.run;
    Group* group = static_cast<Job*>(h.argument)->group;
    lock.unlock();
    run(h.argument);
    lock.lock();
    h.run = nullptr;
    free_helpers.push_back(&h);
    if (--group->remaining == 0) {
      if (group->joining) ++active;
      group->done.notify_one();
    }
    now_inactive();
  }
}

void Machine::worker_loop(Worker& w) {
  sim::context.agent = &w.agent;
  std::unique_lock lock(mutex);
  w.agent.context = &sim::context;
  for (;;) {
    w.wake.wait(lock, [&] { return !w.queue.empty() || quit; });
    if (w.queue.empty()) return;
    while (!w.queue.empty()) {
      std::unique_ptr<Task> task = std::move(w.queue.front());
      w.queue.pop_front();
      const bool skip = stopping;
      lock.unlock();
      if (!skip) {
        guarded(*this, [&] {
          put(sim::context.chip, task->chip->name);
          put(sim::context.line, task->place.line);
          current_chip = task->chip;
          for (Staging& s : task->staging) {
            Tensor packed = s.tensor;
            packed.data = s.packed.get();
            int64_t stride = 1;
            for (int i = packed.rank; i-- > 0;) packed.strides[i] = stride, stride *= packed.shape[i];
            packed.assign(s.tensor);
          }
          const ChipTaskArgs args{task->tensors.data(), task->scalars.data(),
                                  static_cast<int32_t>(task->tensors.size()),
                                  static_cast<int32_t>(task->scalars.size())};
          const int32_t wanted = task->chip->config(args).expected_arg_count;
          if (args.tensor_count + args.scalar_count < wanted) {
            sim::fail("chip orchestration %s takes %d arguments, the dispatch has %d", task->chip->name,
                      wanted, args.tensor_count + args.scalar_count);
          }
          {
            PldScope scope;
            task->chip->entry(args);
          }
          for (const Staging& s : task->staging) {
            if (!s.write_back) continue;
            Tensor packed = s.tensor;
            packed.data = s.packed.get();
            int64_t stride = 1;
            for (int i = packed.rank; i-- > 0;) packed.strides[i] = stride, stride *= packed.shape[i];
            s.tensor.assign(packed);
          }
        });
      }
      put(sim::context.chip, static_cast<const char*>(nullptr));
      task.reset();
      lock.lock();
    }
    w.busy = false;
    if (--busy_workers == 0) idle.notify_all();
    now_inactive();
  }
}

namespace sim {

Message* new_message(int64_t rows, int64_t cols, int32_t element_bytes) {
  auto* m = new Message{rows, cols, element_bytes, nullptr};
  m->data = new unsigned char[static_cast<size_t>(rows * cols * element_bytes) + 1];
  return m;
}

namespace {
void delete_message(Message* m) {
  if (m == nullptr) return;
  delete[] m->data;
  delete m;
}

Pipes::Fifo& fifo(Pipes& p, int direction, int id, int lane) {
  for (Pipes::Fifo& f : p.fifos) {
    if (f.direction == direction && f.id == id && f.lane == lane) return f;
  }
  p.fifos.push_back({direction, id, lane, {}});
  return p.fifos.back();
}

Pipes::Event& event(Pipes& p, int id) {
  for (Pipes::Event& e : p.events) {
    if (e.id == id) return e;
  }
  p.events.push_back({id, 0});
  return p.events.back();
}

Pipes& block_pipes() {
  if (context.pipes == nullptr) fail("a cross-core operation in a task that has one core only");
  return *context.pipes;
}

// A core by itself has nobody to hand data to.
Pipes& joined_pipes() {
  Pipes& p = block_pipes();
  if (p.lanes == 0) fail("a cross-core operation in a task that has one core only");
  return p;
}

void let_go_waiters(Machine& m, const void* object) {
  for (size_t i = 0; i < m.waiting.size();) {
    Agent* a = m.waiting[i];
    if ((a->wait == Agent::Wait::message || a->wait == Agent::Wait::event) && a->object == object) {
      m.let_go(*a);
    } else {
      ++i;
    }
  }
}

struct Kept {
  Message* message = nullptr;
  ~Kept() { delete_message(message); }
};
thread_local Kept kept;
}  // namespace

void push(int direction, int id, int lane, Message* message) {
  Pipes& p = joined_pipes();
  Machine& m = *context.agent->machine;
  std::lock_guard lock(m.mutex);
  Pipes::Fifo& f = fifo(p, direction, id, lane);
  f.messages.push_back(message);
  let_go_waiters(m, &f);
}

const Message& pop(int direction, int id, int lane) {
  Pipes& p = joined_pipes();
  Agent& a = *context.agent;
  Machine& m = *a.machine;
  Pipes::Fifo* f = nullptr;
  {
    std::lock_guard lock(m.mutex);
    f = &fifo(p, direction, id, lane);
    a.object = f;
    a.number = direction * 64 + id;
  }
  m.block(a, Agent::Wait::message, [&] { return !f->messages.empty(); });
  std::lock_guard lock(m.mutex);
  delete_message(kept.message);
  kept.message = f->messages.front();
  f->messages.pop_front();
  return *kept.message;
}

int lanes() { return joined_pipes().lanes; }

void set_event(int id) {
  Pipes& p = block_pipes();
  Machine& m = *context.agent->machine;
  std::lock_guard lock(m.mutex);
  Pipes::Event& e = event(p, id);
  ++e.count;
  let_go_waiters(m, &e);
}

void wait_event(int id) {
  Pipes& p = block_pipes();
  Agent& a = *context.agent;
  Machine& m = *a.machine;
  Pipes::Event* e = nullptr;
  {
    std::lock_guard lock(m.mutex);
    e = &event(p, id);
    a.object = e;
    a.number = id;
  }
  for (;;) {  // several may be let go by one set
    bool taken = false;
    m.block(a, Agent::Wait::event, [&] { return e->count > 0; });
    {
      std::lock_guard lock(m.mutex);
      if (e->count > 0) --e->count, taken = true;
    }
    if (taken) return;
  }
}

void sync_all() {
  if (context.pipes == nullptr || context.pipes->launch == nullptr) return;
  Launch& l = *context.pipes->launch;
  Agent& a = *context.agent;
  Machine& m = *a.machine;
  int generation = 0;
  {
    std::lock_guard lock(m.mutex);
    generation = l.generation;
    a.object = &l;
    a.number = -1;
    if (++l.arrived == l.parties) {
      l.arrived = 0;
      ++l.generation;
      let_go_waiters(m, &l);
      return;
    }
  }
  m.block(a, Agent::Wait::event, [&] { return l.generation != generation; });
}

}  // namespace sim
}  // namespace pld

PldScope::PldScope(PTO2ScopeMode) : outer_(pld::innermost_scope) { pld::innermost_scope = this; }

PldScope::~PldScope() {
  pld::innermost_scope = static_cast<PldScope*>(outer_);
  auto* b = static_cast<pld::ScopeBlock*>(blocks_);
  if (b != nullptr && pld::sim::observing) {
    pld::Machine& m = *pld::sim::context.agent->machine;
    std::lock_guard lock(m.mutex);
    for (auto* i = b; i != nullptr; i = i->next) {
      const char* base = reinterpret_cast<const char*>(i->tensor.buffer.addr);
      std::erase_if(m.regions, [&](const pld::Region& r) { return r.base == base; });
    }
  }
  while (b != nullptr) {
    auto* next = b->next;
    std::free(b);
    b = next;
  }
}

ChipTensor* pld_scope_tensor(const TensorCreateInfo& info) {
  if (pld::innermost_scope == nullptr) pld::sim::fail("a tensor is made outside of every scope");
  uint64_t count = 1;
  for (uint32_t i = 0; i < info.ndims; ++i) count *= info.shapes[i];
  const uint64_t bytes = count * static_cast<uint64_t>(pld::size_of(info.dtype));
  constexpr uint64_t kHeader = (sizeof(pld::ScopeBlock) + 63) / 64 * 64;
  void* p = nullptr;
  if (posix_memalign(&p, 64, kHeader + bytes + 32) != 0) {
    pld::sim::fail("no memory for a tensor of %llu bytes", static_cast<unsigned long long>(bytes));
  }
  std::memset(p, 0, kHeader + bytes + 32);
  auto* block = static_cast<pld::ScopeBlock*>(p);
  block->next = static_cast<pld::ScopeBlock*>(pld::innermost_scope->blocks_);
  pld::innermost_scope->blocks_ = block;
  ChipTensor& t = block->tensor;
  t.buffer.addr = reinterpret_cast<uint64_t>(static_cast<unsigned char*>(p) + kHeader);
  t.buffer.size = bytes;
  t.ndims = info.ndims;
  t.dtype = info.dtype;
  t.is_contiguous = 1;
  t.address_space = 1;
  t.extent = count;
  uint64_t stride = 1;
  for (uint32_t i = info.ndims; i-- > 0;) {
    t.shapes[i] = info.shapes[i];
    t.strides[i] = static_cast<uint32_t>(stride == 0 ? 1 : stride);
    stride *= info.shapes[i];
  }
  if (pld::sim::observing) {
    pld::Machine& m = *pld::sim::context.agent->machine;
    std::lock_guard lock(m.mutex);
    m.regions.push_back({reinterpret_cast<const char*>(t.buffer.addr), static_cast<int64_t>(bytes),
                         "an intermediate tensor", -1});
  }
  return &t;
}

TaskOutputTensors rt_submit_task(const MixedKernels& kernels, const CoreTaskArgs& args) {
  using namespace pld;
  const ChipInfo* chip = current_chip;
  if (chip == nullptr || sim::context.agent == nullptr)
    sim::fail("a task is submitted outside of a dispatch");
  Machine& m = *sim::context.agent->machine;
  struct Part {
    const KernelInfo* kernel;
    int32_t sub_block;
  };
  Part parts[3];
  int part_count = 0;
  const int32_t ids[3] = {kernels.aic, kernels.aiv0, kernels.aiv1};
  for (int i = 0; i < 3; ++i) {
    if (ids[i] == kInvalidKernel) continue;
    if (ids[i] < 0 || ids[i] >= chip->kernels.count)
      sim::fail("chip %s has no kernel %d", chip->name, ids[i]);
    parts[part_count++] = {&chip->kernels[ids[i]], i == 2 ? 1 : 0};
  }
  const int32_t blocks = args.launch_spec.block_num;
  if (blocks < 1) sim::fail("a task is launched on %d blocks", blocks);

  TaskOutputTensors out = args.made();
  out.set_id({++task_count});
  const bool together = args.launch_spec.require_sync_start && blocks > 1;
  if (part_count == 1 && !together) {
    for (int32_t b = 0; b < blocks; ++b) {
      // A core by itself still waits for the events that it sets.
      sim::Launch launch;
      launch.parties = 1;
      sim::Pipes pipes;
      pipes.lanes = 0;
      pipes.launch = &launch;
      run_kernel({&m, parts[0].kernel, &args, b, parts[0].sub_block, &pipes, nullptr, {}});
    }
    return out;
  }
  const int lanes = kernels.aiv1 != kInvalidKernel ? 2 : 1;
  for (int32_t first = 0; first < blocks; first += together ? blocks : 1) {
    const int32_t count = together ? blocks : 1;
    sim::Launch launch;
    launch.parties = count * part_count;
    std::vector<std::unique_ptr<sim::Pipes>> pipes;
    std::vector<Job> jobs;
    for (int32_t b = 0; b < count; ++b) {
      pipes.push_back(std::make_unique<sim::Pipes>());
      pipes.back()->lanes = lanes;
      pipes.back()->launch = &launch;
      for (int i = 0; i < part_count; ++i) {
        jobs.push_back(
            {&m, parts[i].kernel, &args, first + b, parts[i].sub_block, pipes.back().get(), nullptr, {}});
      }
    }
    run_together(m, jobs);
    for (const auto& p : pipes) {
      for (auto& f : p->fifos) {
        for (sim::Message* message : f.messages) sim::delete_message(message);
      }
    }
  }
  return out;
}

PTO2TaskId rt_submit_dummy_task() { return {++pld::task_count}; }

void pld_assemble(const ChipTensor& t, const ChipTensor& part, std::initializer_list<int64_t> offsets) {
  using namespace pld;
  if (part.ndims > t.ndims || offsets.size() != t.ndims || t.dtype != part.dtype) {
    sim::fail("assemble: a tensor of %u axes takes a part of %u axes at %u offsets", t.ndims, part.ndims,
              static_cast<unsigned>(offsets.size()));
  }
  // A part with fewer axes is one element thick in those in front.
  const uint32_t front = t.ndims - part.ndims;
  uint32_t shapes[kPldMaxRank] = {};
  uint32_t offs[kPldMaxRank] = {};
  uint32_t i = 0;
  uint64_t count = 1;
  for (int64_t o : offsets) {
    shapes[i] = i < front ? 1 : part.shapes[i - front];
    if (o < 0 || o + shapes[i] > t.shapes[i]) {
      sim::fail("assemble: writes past the end of dimension %u: offset %lld, extent %u, size %u", i,
                static_cast<long long>(o), shapes[i], t.shapes[i]);
    }
    offs[i] = static_cast<uint32_t>(o);
    count *= shapes[i++];
  }
  const ChipTensor to = t.view(shapes, offs);
  const uint64_t bytes = static_cast<uint64_t>(size_of(t.dtype));
  for (uint64_t n = 0; n < count; ++n) {
    uint64_t rest = n, a = to.start_offset, b = part.start_offset;
    for (uint32_t k = t.ndims; k-- > 0;) {
      const uint64_t at = rest % shapes[k];
      rest /= shapes[k];
      a += at * to.strides[k];
      if (k >= front) b += at * part.strides[k - front];
    }
    std::memmove(reinterpret_cast<void*>(to.buffer.addr + a * bytes),
                 reinterpret_cast<const void*>(part.buffer.addr + b * bytes), bytes);
  }
}
