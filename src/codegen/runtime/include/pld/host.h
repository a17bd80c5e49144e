// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// What host orchestration code uses: ranks, communication domains, dispatches, host parameters.
// The implementation is pld/runtime.cpp and pld/watch.cpp, object files of every program.
#pragma once
#include "pld/array.h"
#include "pld/half.h"
#include "pld/program.h"
#include "pld/scalar.h"

namespace pld {

struct Slot {
  const char* name;
  int64_t bytes;  // per rank; rounded up to 32 in the window; negative or too large is an error
  SlotUse use = SlotUse::data;
  int32_t line = 0;  // of the .pld, for errors about the size; 0: the line of the host function
};

struct DomainState;

// Handle of a communication domain: one zero-initialised window per participating device, the slots at the
// same offsets in each. Devices are named by device index; the domain rank is the position in the device
// list.
class Domain {
 public:
  explicit Domain(DomainState* state) : state_(state) {}
  int64_t size() const;                // ranks of the domain
  uint64_t ctx(int64_t device) const;  // address of that device's CommContext, as a chip scalar
  // View of a slot on a device. Error if the device is not in the domain or the view is larger than the slot.
  Tensor view(int64_t device, const char* slot, Extents shape, DType dtype) const;
  // Error if the domain has more than `limit` ranks.
  void require_at_most(int64_t limit, const char* collective) const;

 private:
  DomainState* state_;
};

// Arguments of one dispatch in ABI order: all tensors, then all scalars.
class Args {
 public:
  struct Item {
    Tensor tensor;
    Dir dir;
  };
  void in(const Tensor& t) { add(t, Dir::in); }
  void out(const Tensor& t) { add(t, Dir::out); }
  void inout(const Tensor& t) { add(t, Dir::inout); }
  void u64(uint64_t bits) { scalars_.push_back(bits); }
  // A scalar of any IR type, in the low bytes of its slot.
  template <class T>
  void scalar(T value) {
    union {
      uint64_t bits;
      T value;
    } u;
    u.bits = 0;
    u.value = value;
    scalars_.push_back(u.bits);
  }
  const Array<Item>& tensors() const { return tensors_; }
  const Array<uint64_t>& scalars() const { return scalars_; }

 private:
  void add(const Tensor& t, Dir dir);
  Array<Item> tensors_;
  Array<uint64_t> scalars_;
};

// The machine that a host function drives. submit() is asynchronous; the dispatches of one device run in
// order, those of different devices concurrently.
class Host {
 public:
  virtual ~Host() = default;
  virtual int64_t world_size() const = 0;
  Array<int64_t> all() const;  // {0, 1, ..., world_size() - 1}
  // Opens a domain over the devices (at most 64). The windows live until the run ends.
  virtual Domain domain(const char* name, const Array<int64_t>& devices,
                        std::initializer_list<Slot> slots) = 0;
  // Dispatches chip orchestration `chip` to a device. The args are copied; memory they view must stay.
  virtual void submit(int64_t device, const char* chip, const Args& args, Place place) = 0;
  // Waits for all dispatches. Throws the error of a dispatch that failed.
  virtual void sync() = 0;
  // A zero-filled host tensor that lives until the run ends.
  virtual Tensor tensor(Extents shape, DType dtype) = 0;
  // Runs a host sub-worker after all dispatches; fn is null if the program was linked without it.
  void sub_worker(const char* name, void (*fn)(const Args&), const Args& args, Place place);
  // Where the host function is, for its errors: the line of the .pld, and the device whose dispatch it prepares there.
  void at(int32_t line, int64_t device = -1) {
    line_ = line;
    device_ = device;
  }

 protected:
  int32_t line_ = 0;
  int64_t device_ = -1;
};

// The host parameters of one entry: tensors, scalars, and the values of the dynamic dims.
class Params {
 public:
  Params() = default;
  Params(const Params&) = delete;
  Params& operator=(const Params&) = delete;

  const Tensor& operator[](const char* name) const;
  int64_t dim(const char* symbol) const;  // value of a dynamic dim
  uint64_t bits(const char* name) const;  // scalar parameter, raw
  template <class T>
  T scalar(const char* name) const {
    union {
      uint64_t bits;
      T value;
    } u;
    u.bits = bits(name);
    return u.value;
  }

  // Filling, before the run. The memory of a bound tensor belongs to the caller.
  void bind(const char* name, const Tensor& tensor);
  void bind_bits(const char* name, uint64_t bits);
  void bind_dim(const char* symbol, int64_t value);

 private:
  struct TensorSlot {
    Text name;
    Tensor tensor;
  };
  struct Number {
    Text name;
    uint64_t bits;
  };
  Array<TensorSlot> tensors_;
  Array<Number> scalars_;
  Array<Number> dims_;
};

class Machine;

struct RunOptions {
  int64_t ranks = 2;
  double timeout_seconds = 60;  // 0: none
  bool check_signals = false;   // collective signals must be zero at the end
  bool check_bounds = false;    // every access of a kernel must lie inside one allocation
  bool check_races = false;     // accesses to windows are ordered by signals
  bool trace = false;           // what ThreadHost::trace() tells
  bool seeded = false;  // host, ranks and cores are fibers of the calling thread, in an order drawn from seed
  uint64_t seed = 0;
  // With a process per rank: rank 0 gets the results of all in parameters of which every rank has its own part.
  bool gather = true;
};

// Ranks as threads of this process.
class ThreadHost final : public Host {
 public:
  ThreadHost(const ProgramInfo& program, const RunOptions& options);
  ~ThreadHost() override;
  ThreadHost(const ThreadHost&) = delete;
  ThreadHost& operator=(const ThreadHost&) = delete;

  // One run of an entry; all windows are zero when it starts. Throws pld::Error (exit_code 4 for a deadlock,
  // a timeout or a failed check). May be called again, also after an error unless abandoned().
  void run(const EntryInfo& entry, Params& params);
  // A kernel of a failed run did not stop: it still uses the memory of the parameters.
  bool abandoned() const;
  // What happened so far, as a trace in JSON; empty without RunOptions::trace. Not while a run is going on.
  Text trace() const;

  int64_t world_size() const override;
  Domain domain(const char* name, const Array<int64_t>& devices, std::initializer_list<Slot> slots) override;
  void submit(int64_t device, const char* chip, const Args& args, Place place) override;
  void sync() override;
  Tensor tensor(Extents shape, DType dtype) override;

 private:
  Machine* machine_;
};

// Runs an entry once on a ThreadHost.
void run(const ProgramInfo& program, const EntryInfo& entry, Params& params, const RunOptions& options);

}  // namespace pld
