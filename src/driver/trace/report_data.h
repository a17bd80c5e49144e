// What a report of `pldc trace` holds, as JSON: the text of the program after each pass, in pieces that are stored once, and how
// each pass changed them. docs: driver/trace/page/model.js reads it.
#pragma once

#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "driver/pipeline.h"

namespace pldc::trace {

using Json = nlohmann::ordered_json;

// Strings that are given out once each.
class StringTable {
 public:
  std::size_t add(std::string_view text);
  const std::deque<std::string>& all() const { return texts_; }

 private:
  std::deque<std::string> texts_;                              // they stay where they are
  std::unordered_map<std::string_view, std::size_t> numbers_;  // of those
};

// The printed text of a program: a head, and its functions in the order of the text. The text is the head, the functions
// with a line end between each two, and a line end.
struct StageText {
  std::size_t head = 0;
  std::vector<std::pair<std::size_t, std::size_t>> functions;  // name, text
  friend bool operator==(const StageText&, const StageText&) = default;
};

// Follows a run of the passes.
class Recorder {
 public:
  Recorder(Session& session, Input& input, const PassPlan& plan)
      : session_(session), input_(input), plan_(plan) {}

  // The program as it was read.
  void start();
  PassCallbacks callbacks();
  // Says which pass failed, if one did, and which were not reached.
  void finish(const RunResult& result);

  // The last program that there was.
  const Program* program() const { return program_; }
  // The program in front of LowerCompositeOps, which still has its collectives in kernels; null: no such pass ran.
  const Program* before_composites() const { return before_composites_; }

  // "texts", "names" and "stages".
  void write(Json& out) const;

 private:
  enum class State : std::uint8_t { Read, Changed, Same, Unprinted, Missing, Failed, Unreached };
  struct Stage {
    const PlannedPass* pass;  // null: no pass
    State state;
    StageText text;
    std::size_t first_diag;
    std::size_t end_diag;
  };

  StageText text_of(const Program* program);
  bool before(const PassStep& step);
  bool after(const PassStep& step);
  void add(const PlannedPass* pass, State state);
  Json stage_json(const Stage& stage, const Stage* earlier) const;
  void add_changes(const StageText& from, const StageText& to, Json& out) const;

  Session& session_;
  Input& input_;
  const PassPlan& plan_;
  const Program* program_ = nullptr;
  const Program* before_composites_ = nullptr;
  StringTable texts_;
  StringTable names_;
  StageText text_;  // of program_
  std::size_t diags_seen_ = 0;
  std::size_t reached_ = 0;  // passes of the plan
  std::vector<Stage> stages_;
};

// A finding with its line of source; paths are cut to their last component.
Json diagnostic_json(const Diagnostic& diagnostic, const SourceManager& sources);
// 0: no place.
std::uint32_t line_of(const SourceManager& sources, Span span);

}  // namespace pldc::trace
