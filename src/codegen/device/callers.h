// What callers pass for the parameters of a kernel.
#pragma once

#include <memory>

#include "ir/module.h"

namespace pldc {

// An index over a program, made once for all its kernels: who calls a function with what, and which expressions give a
// variable its value. The program must outlive it.
class Callers {
 public:
  explicit Callers(const Program& program);
  ~Callers();
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  // Whether every caller passes a tensor without gaps for the parameter; `rows_only`: one whose elements along the last
  // axis follow each other.
  bool always_packed(const Function& function, std::size_t param, bool rows_only = false) const;

  struct Index;

 private:
  std::unique_ptr<const Index> index_;
};

}  // namespace pldc
