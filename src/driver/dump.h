// --dump-after and its relatives: the IR at chosen points of the pipeline, to stdout or into files.
#pragma once

#include <set>

#include "driver/pipeline.h"

namespace pldc {

class Dumper {
 public:
  Dumper(Session& session, Input& input, const DumpOptions& options, const Pipeline& pipeline,
         bool has_output);

  // What each word means, for the command line as a whole; false and diagnostics if a word means no pass of
  // the run.
  static bool check(Session& session, const DumpOptions& options, const PassPlan& plan);

  // The program as it was read.
  void start();
  PassCallbacks callbacks();
  // Writes index.json. False and a diagnostic if a file could not be written.
  bool finish();

  // Standard output has the dumps, so the final IR is not printed there.
  bool owns_stdout() const { return owns_stdout_; }

 private:
  struct Entry {
    std::string pass;
    std::string file;  // empty: nothing was written for it
    bool changed;
    double milliseconds;
    std::uint64_t hash;
  };

  std::string text_of(const Program* program);
  void emit(const std::string& heading, const std::string& file, const std::string& text);
  std::string number_of(const PassStep& step) const;
  bool after(const PassStep& step);
  bool before(const PassStep& step);

  Session& session_;
  Input& input_;
  const DumpOptions& options_;
  PrintOptions print_;
  std::set<std::size_t> before_;  // positions in the plan
  std::set<std::size_t> after_;
  bool every_ = false;
  bool single_ = false;  // one dump to stdout, and stop
  bool owns_stdout_ = false;
  bool failed_ = false;
  bool met_ = false;       // a function that --dump-func names
  std::string last_text_;  // for --diff
  const Program* last_printed_ = nullptr;
  std::vector<Entry> index_;
};

}  // namespace pldc
