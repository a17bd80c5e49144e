// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Threads, without <thread>, <mutex> and <condition_variable>, which cost a second of every cold build.
#pragma once
#include <pthread.h>

#include <cstdint>

namespace pld {

class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  friend class Condition;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

// A lock until the end of the block, or until unlock().
class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() {
    if (held_) mutex_.unlock();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  void lock() {
    mutex_.lock();
    held_ = true;
  }
  void unlock() {
    held_ = false;
    mutex_.unlock();
  }

 private:
  friend class Condition;
  Mutex& mutex_;
  bool held_ = true;
};

class Condition {
 public:
  Condition() {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition_, &attributes);
    pthread_condattr_destroy(&attributes);
  }
  ~Condition() { pthread_cond_destroy(&condition_); }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  void wait(Lock& lock) { pthread_cond_wait(&condition_, &lock.mutex_.mutex_); }
  // Until the steady clock shows that time; it may come back earlier.
  void wait_until(Lock& lock, int64_t ns) {
    timespec t{};
    t.tv_sec = static_cast<time_t>(ns / 1000000000);
    t.tv_nsec = static_cast<long>(ns % 1000000000);
    pthread_cond_timedwait(&condition_, &lock.mutex_.mutex_, &t);
  }
  void notify_one() { pthread_cond_signal(&condition_); }
  void notify_all() { pthread_cond_broadcast(&condition_); }

 private:
  pthread_cond_t condition_;
};

class Thread {
 public:
  Thread() = default;
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  void start(void* (*run)(void*), void* argument);  // throws Error, with the system's reason
  void join() {
    if (started_) pthread_join(thread_, nullptr);
    started_ = false;
  }

 private:
  pthread_t thread_{};
  bool started_ = false;
};

}  // namespace pld
