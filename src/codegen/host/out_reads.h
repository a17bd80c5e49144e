// Which functions use what their outputs held before.
#pragma once

#include <unordered_map>
#include <vector>

#include "codegen/aliases.h"

namespace pldc {

class OutReads {
 public:
  // Both must outlive this.
  OutReads(const Program& program, ReturnedParams& calls) : program_(program), calls_(calls) {}
  // Whether parameter number `param`, declared as an output, is read before anything has been written to it. In textual order,
  // whole tensors: a part of it that is written counts as all.
  bool operator()(const Function* function, std::size_t param);

 private:
  const std::vector<bool>& of(const Function* function);

  const Program& program_;
  ReturnedParams& calls_;
  std::unordered_map<const Function*, std::vector<bool>> known_;
};

}  // namespace pldc
