// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Several stacks on one thread. Included by watch.cpp only.
#pragma once
#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PLD_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define PLD_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define PLD_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define PLD_TSAN 1
#endif
#ifdef PLD_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef PLD_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace pld {

// A stack, and what runs on it. Not movable: the machine context may point into itself.
class Fiber {
 public:
  // The stack that the thread has anyway.
  Fiber() {
#ifdef PLD_TSAN
    tsan_ = __tsan_get_current_fiber();
#endif
  }
  // `run` starts with the first switch to the fiber; it must end by a switch to another one with `last` set.
  Fiber(void (*run)(void*), void* argument) : run_(run), argument_(argument) {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    memory_ = mmap(nullptr, page_ + kStackBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(memory_, page_, PROT_NONE);  // overflow ends in a fault, not in other memory
    bottom_ = static_cast<unsigned char*>(memory_) + page_;
    size_ = kStackBytes;
    getcontext(&context_);
    context_.uc_stack.ss_sp = static_cast<unsigned char*>(memory_) + page_;
    context_.uc_stack.ss_size = kStackBytes;
    context_.uc_link = nullptr;
    // makecontext passes ints.
    const auto self = reinterpret_cast<uintptr_t>(this);
    makecontext(&context_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self & 0xffffffffU));
#ifdef PLD_TSAN
    tsan_ = __tsan_create_fiber(0);
#endif
  }
  ~Fiber() {
    if (memory_ == nullptr) return;
#ifdef PLD_TSAN
    __tsan_destroy_fiber(tsan_);
#endif
    munmap(memory_, page_ + kStackBytes);
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Leaves `from`, on which the caller runs, and goes on in `to`. `last`: `from` will not run again.
  static void change(Fiber& from, Fiber& to, [[maybe_unused]] bool last = false) {
    // The exceptions in flight belong to the stack.
    std::memcpy(from.exceptions_, abi::__cxa_get_globals(), sizeof from.exceptions_);
    std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), to.exceptions_, sizeof to.exceptions_);
#ifdef PLD_ASAN
    left_ = &from;
    __sanitizer_start_switch_fiber(last ? nullptr : &from.fake_stack_, to.bottom_, to.size_);
#endif
#ifdef PLD_TSAN
    __tsan_switch_to_fiber(to.tsan_, 0);
#endif
    swapcontext(&from.context_, &to.context_);
    from.arrived();
  }

 private:
  static constexpr size_t kStackBytes = size_t{1} << 20;

  static void enter(unsigned high, unsigned low) {
    auto* self = reinterpret_cast<Fiber*>((uintptr_t{high} << 32) | uintptr_t{low});
    self->arrived();
    self->run_(self->argument_);
  }
  void arrived() {
#ifdef PLD_ASAN
    __sanitizer_finish_switch_fiber(fake_stack_, &left_->bottom_, &left_->size_);
#endif
  }

  void (*run_)(void*) = nullptr;
  void* argument_ = nullptr;
  ucontext_t context_{};
  void* memory_ = nullptr;
  size_t page_ = 0;
  const void* bottom_ = nullptr;
  size_t size_ = 0;
  alignas(void*) unsigned char exceptions_[2 * sizeof(void*)] = {};  // __cxa_eh_globals
#ifdef PLD_ASAN
  void* fake_stack_ = nullptr;
  static inline Fiber* left_ = nullptr;
#endif
#ifdef PLD_TSAN
  void* tsan_ = nullptr;
#endif
};

}  // namespace pld
