// Makes a program smaller while a test holds: hierarchical delta debugging (Misherghi and Su, ICSE 2006) over lines and what
// stands under them, then over what stands between brackets.
#pragma once

#include <functional>
#include <unordered_set>

#include "driver/reduce/lines.h"

namespace pldc::reduce {

class Reducer {
 public:
  // `test` says whether a text still shows what is looked for; it is called once a text. `stop` is asked between tests: true
  // ends the reduction with what has been reached. `progress` is called after each smaller text that passed.
  struct Hooks {
    std::function<bool(const std::string&)> test;
    std::function<bool()> stop;
    std::function<void(const Lines&)> progress;
  };
  Reducer(Lines lines, Hooks hooks) : lines_(std::move(lines)), hooks_(std::move(hooks)) {}

  // Until nothing that is tried makes it smaller. The lines that it began with must pass the test.
  const Lines& run();

 private:
  bool attempt(Lines candidate);
  bool attempt_line(std::size_t at, std::string text);

  bool delete_lines();
  bool delete_under(std::size_t depth);
  bool lift_bodies();
  bool delete_parameters();
  bool delete_results();
  bool delete_items();
  bool replace_calls();

  Lines lines_;
  Hooks hooks_;
  std::unordered_set<std::uint64_t> failed_;  // hashes of texts
};

}  // namespace pldc::reduce
