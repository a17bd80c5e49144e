// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Execution of dispatches and kernel tasks: scopes, SPMD blocks, mixed cube and vector tasks, cross-core
// FIFOs. Included by runtime.cpp only.
#pragma once
#include <cstdlib>
#include <cstring>

#include "pld/runtime_pipes.h"
#include "pld/runtime_watch.h"

namespace pld {
namespace {

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
  int32_t core;  // of the launch
  sim::Pipes* pipes;
  struct Group* group;
  sim::Context origin;  // of the thread that launched it
};

struct Group {
  int remaining = 0;
  bool joining = false;
  Condition done;
  Clock ended;  // of the jobs on helpers, with --check=races
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
  Machine& m = *job.machine;
  const sim::Agent* agent = sim::context.agent;
  const Spanned span(
      m, agent->device, agent->core, "kernel", [&] { return Text(job.kernel->name); },
      [&] { return text("\"block\": %d, \"line\": %d", job.block, job.kernel->place.line); });
  sim::Pipes* outer = sim::context.pipes;
  sim::context.pipes = job.pipes;
  job.kernel->fn(args);
  if (job.pipes != nullptr) sim::check_taken(*job.pipes);
  sim::context.pipes = outer;
}

// Runs f and turns what it throws into the machine's error.
template <class F>
void guarded(Machine& m, F f) {
  try {
    f();
  } catch (const Stop&) {
  } catch (const Error& e) {
    const Lock lock(m.mutex);
    m.fail(e.what(), e.exit_code());
  } catch (const std::bad_alloc&) {
    const Lock lock(m.mutex);
    m.fail(text("%s: no memory (rank %lld)", m.program.source,
                static_cast<long long>(sim::context.agent->device)),
           1);
  } catch (const std::exception& e) {
    const Lock lock(m.mutex);
    m.fail(e.what(), 1);
  }
}

// All jobs at once: the first on this thread, the others on helpers.
void run_together(Machine& m, Array<Job>& jobs) {
  Group group;
  group.remaining = static_cast<int>(jobs.size()) - 1;
  sim::Agent& self = *sim::context.agent;
  {
    const Lock lock(m.mutex);
    if (m.stopping) throw Stop{};
    Array<Helper*> crew;
    try {
      while (crew.size() + 1 < jobs.size()) crew.push_back(&m.helper());
    } catch (const std::exception& e) {  // the system's limit of threads or memory
      for (Helper* h : crew) m.free_helpers.push_back(h);
      sim::fail("a launch that runs on %zu cores at once needs as many threads: %s", jobs.size(), e.what());
    }
    Clock launch;
    if (m.races != nullptr) m.races->release(self.clock, launch);
    for (size_t i = 1; i < jobs.size(); ++i) {
      jobs[i].group = &group;
      jobs[i].origin = sim::context;
      Helper& h = *crew[i - 1];
      h.agent.device = self.device;
      h.agent.core = jobs[i].core;
      if (m.races != nullptr) {
        h.agent.clock = m.races->core(self.device, jobs[i].core);
        m.races->acquire(h.agent.clock, launch);
      }
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
  Lock lock(m.mutex);
  if (group.remaining > 0) {
    group.joining = true;
    self.wait = sim::Agent::Wait::join;
    m.now_inactive();
    m.pause(lock, group.done, [&] { return group.remaining == 0; });
    self.wait = sim::Agent::Wait::none;
  }
  if (m.races != nullptr) m.races->acquire(self.clock, group.ended);
  if (m.stopping) throw Stop{};
}

// A core by itself still waits for the events that it sets.
void run_alone(Machine& m, const KernelInfo& kernel, int32_t sub_block, const CoreTaskArgs& args,
               int32_t block) {
  sim::Launch launch;
  launch.parties = 1;
  sim::Pipes pipes;
  pipes.lanes = 0;
  pipes.launch = &launch;
  run_kernel({&m, &kernel, &args, block, sub_block, block, &pipes, nullptr, {}});
}

// One block after the other on this thread. They run at the same time on a device, so with --check=races each has a
// clock of its own; a seeded schedule runs them in any order.
void run_blocks(Machine& m, const KernelInfo& kernel, int32_t sub_block, const CoreTaskArgs& args,
                int32_t blocks) {
  sim::Agent& self = *sim::context.agent;
  if (blocks == 1) {
    run_alone(m, kernel, sub_block, args, 0);
    return;
  }
  struct Restore {
    sim::Agent& agent;
    int core, clock;
    ~Restore() { agent.core = core, agent.clock = clock; }
  };
  Clock launch, ended;
  {
    const Restore restore{self, self.core, self.clock};
    if (m.races != nullptr) {
      const Lock lock(m.mutex);
      m.races->release(self.clock, launch);
    }
    Array<int32_t> order(static_cast<size_t>(blocks));
    for (size_t i = 0; i < order.size(); ++i) {
      order[i] = static_cast<int32_t>(i);
      if (m.order != nullptr) std::swap(order[i], order[m.order->draw() % (i + 1)]);
    }
    for (const int32_t b : order) {
      self.core = b;
      if (m.races != nullptr) {
        const Lock lock(m.mutex);
        self.clock = m.races->core(self.device, b);
        if (self.clock != restore.clock) m.races->acquire(self.clock, launch);
      }
      run_alone(m, kernel, sub_block, args, b);
      if (m.races != nullptr) {
        const Lock lock(m.mutex);
        m.races->release(self.clock, ended);
      }
    }
  }
  if (m.races == nullptr) return;
  const Lock lock(m.mutex);
  m.races->acquire(self.clock, ended);
}

}  // namespace

Helper& Machine::helper() {
  if (!free_helpers.empty()) {
    Helper* h = free_helpers.back();
    free_helpers.pop_back();
    return *h;
  }
  auto made = Owned<Helper>(new Helper());
  Helper& h = *made;
  h.agent.machine = this;
  const auto run = [](void* p) -> void* {
    Helper& helper = *static_cast<Helper*>(p);
    helper.agent.machine->helper_loop(helper);
    return nullptr;
  };
  if (order != nullptr) {
    order->start(run, &h);
  } else {
    h.thread.start(run, &h);
  }
  helpers.push_back(std::move(made));
  __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
  return h;
}

void Machine::helper_loop(Helper& h) {
  sim::context.agent = &h.agent;
  Lock lock(mutex);
  h.agent.context = &sim::context;
  for (;;) {
    pause(lock, h.wake, [&] { return h.run != nullptr || h.quit; });
    if (h.run == nullptr) return;
    const auto run = h.run;
    Group* group = static_cast<Job*>(h.argument)->group;
    lock.unlock();
    run(h.argument);
    lock.lock();
    h.run = nullptr;
    free_helpers.push_back(&h);
    if (races != nullptr) races->release(h.agent.clock, group->ended);
    if (--group->remaining == 0) {
      if (group->joining) ++active;
      group->done.notify_one();
    }
    now_inactive();
  }
}

void Machine::worker_loop(Worker& w) {
  sim::context.agent = &w.agent;
  Lock lock(mutex);
  w.agent.context = &sim::context;
  for (;;) {
    pause(lock, w.wake, [&] { return !w.queue.empty() || quit; });
    if (w.queue.empty()) return;
    while (!w.queue.empty()) {
      Owned<Task> task = w.queue.pop_front();
      const bool skip = stopping;
      if (races != nullptr) races->acquire(w.agent.clock, task->submitted);
      lock.unlock();
      if (!skip) {
        guarded(*this, [&] {
          put(sim::context.chip, task->chip->name);
          put(sim::context.line, task->place.line);
          running.chip = task->chip;
          const Spanned span(
              *this, w.agent.device, 0, "dispatch", [&] { return Text(task->chip->name); },
              [&] { return text("\"line\": %d", task->place.line); });
          if (order != nullptr) order->step();
          for (Staging& s : task->staging) {
            Tensor packed = s.tensor;
            packed.data = s.packed.data();
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
          for (Staging& s : task->staging) {
            if (!s.write_back) continue;
            Tensor packed = s.tensor;
            packed.data = s.packed.data();
            int64_t stride = 1;
            for (int i = packed.rank; i-- > 0;) packed.strides[i] = stride, stride *= packed.shape[i];
            s.tensor.assign(packed);
            if constexpr (remote::enabled) note_atomics(s);
          }
        });
      }
      put(sim::context.chip, static_cast<const char*>(nullptr));
      lock.lock();
      if (sim::observing) {
        for (const Staging& s : task->staging) remove_regions(s.packed.data(), s.packed.data() + 1);
      }
      lock.unlock();
      task.reset();
      lock.lock();
    }
    w.busy = false;
    if (--busy_workers == 0) idle.notify_all();
    now_inactive();
  }
}

}  // namespace pld

PldScope::PldScope(PTO2ScopeMode) : outer_(pld::running.scope) { pld::running.scope = this; }

PldScope::~PldScope() {
  pld::running.scope = static_cast<PldScope*>(outer_);
  auto* b = static_cast<pld::ScopeBlock*>(blocks_);
  if (b != nullptr && pld::sim::observing) {
    pld::Machine& m = *pld::sim::context.agent->machine;
    const pld::Lock lock(m.mutex);
    for (auto* i = b; i != nullptr; i = i->next)
      m.remove_regions(reinterpret_cast<const char*>(i->tensor.buffer.addr),
                       reinterpret_cast<const char*>(i->tensor.buffer.addr) + 1);
  }
  while (b != nullptr) {
    auto* next = b->next;
    std::free(b);
    b = next;
  }
}

namespace pld {
namespace {
// Elements of a tensor whose bytes can be counted, and whose strides a descriptor holds.
uint64_t count_of(const TensorCreateInfo& info) {
  bool empty = false;
  for (uint32_t i = 0; i < info.ndims; ++i) empty = empty || info.shapes[i] == 0;
  if (empty) return 0;
  constexpr uint64_t kMaxStride = 0xffffffff;
  uint64_t count = 1;
  for (uint32_t i = info.ndims; i-- > 0;) {
    if (info.shapes[i] > 1 && count > kMaxStride) {
      sim::fail("axis %u of a tensor that is made here has a stride of %llu elements; the limit is %llu", i,
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(kMaxStride));
    }
    count *= info.shapes[i];  // of 32 bits each: 64 hold it
  }
  constexpr uint64_t kMaxBytes = uint64_t{1} << 60;
  if (count > kMaxBytes / static_cast<uint64_t>(size_of(info.dtype))) {
    sim::fail("a tensor of %llu elements of %s is made here; the limit is %llu bytes",
              static_cast<unsigned long long>(count), name_of(info.dtype),
              static_cast<unsigned long long>(kMaxBytes));
  }
  return count;
}
}  // namespace
}  // namespace pld

ChipTensor* pld_scope_tensor(const TensorCreateInfo& info) {
  if (pld::running.scope == nullptr) pld::sim::fail("a tensor is made outside of every scope");
  const uint64_t count = pld::count_of(info);
  const uint64_t bytes = count * static_cast<uint64_t>(pld::size_of(info.dtype));
  constexpr uint64_t kHeader = (sizeof(pld::ScopeBlock) + 63) / 64 * 64;
  void* p = nullptr;
  if (posix_memalign(&p, 64, kHeader + bytes + 32) != 0) {
    pld::sim::fail("there is no memory for a tensor of %llu bytes", static_cast<unsigned long long>(bytes));
  }
  std::memset(p, 0, kHeader + bytes + 32);
  auto* block = static_cast<pld::ScopeBlock*>(p);
  block->next = static_cast<pld::ScopeBlock*>(pld::running.scope->blocks_);
  pld::running.scope->blocks_ = block;
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
    const pld::Lock lock(m.mutex);
    m.add_region({reinterpret_cast<const char*>(t.buffer.addr), static_cast<int64_t>(bytes),
                  "an intermediate tensor", -1});
  }
  return &t;
}

TaskOutputTensors rt_submit_task(const MixedKernels& kernels, const CoreTaskArgs& args) {
  using namespace pld;
  const ChipInfo* chip = running.chip;
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
  out.set_id({++running.tasks});
  const bool together = args.launch_spec.require_sync_start && blocks > 1;
  visible(m);
  if (part_count == 1 && !together) {
    run_blocks(m, *parts[0].kernel, parts[0].sub_block, args, blocks);
    return out;
  }
  const int lanes = kernels.aiv1 != kInvalidKernel ? 2 : 1;
  for (int32_t first = 0; first < blocks; first += together ? blocks : 1) {
    const int32_t count = together ? blocks : 1;
    sim::Launch launch;
    launch.parties = count * part_count;
    Array<Owned<sim::Pipes>> pipes;
    Array<Job> jobs;
    for (int32_t b = 0; b < count; ++b) {
      pipes.push_back(Owned<sim::Pipes>(new sim::Pipes));
      pipes.back()->lanes = lanes;
      pipes.back()->launch = &launch;
      for (int i = 0; i < part_count; ++i) {
        const int32_t core = (first + b) * part_count + i;
        jobs.push_back({&m,
                        parts[i].kernel,
                        &args,
                        first + b,
                        parts[i].sub_block,
                        core,
                        pipes.back().get(),
                        nullptr,
                        {}});
      }
    }
    run_together(m, jobs);
  }
  return out;
}

PTO2TaskId rt_submit_dummy_task() { return {++pld::running.tasks}; }

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
  const auto read = pld_observe(part, sim::AccessKind::read);
  const auto written = pld_observe(to, sim::AccessKind::write);
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
