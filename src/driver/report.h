// --timing and --stats.
#pragma once

#include <string>
#include <vector>

#include "passes/run.h"

namespace pldc {

class Timing {
 public:
  void add(const PassStep& step, std::size_t arena_bytes);
  std::string text() const;
  std::string json(const std::string& file) const;

 private:
  struct Row {
    std::string pass;
    double milliseconds;
    bool changed;
    std::size_t arena_bytes;
  };
  std::vector<Row> rows_;
};

// What the program consists of, one count a line.
std::string statistics(const Program* program);

}  // namespace pldc
