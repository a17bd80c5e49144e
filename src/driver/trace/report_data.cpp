#include "driver/trace/report_data.h"

#include <algorithm>

#include "support/file.h"
#include "support/text_diff.h"

namespace pldc::trace {
namespace {

// Widest piece of a source line that is shown.
constexpr std::size_t kWidestLine = 160;

// The place as "file", "line" and "column", and the line of source with the bytes [begin, end) marked.
void add_place(Json& out, Span span, const SourceManager& sources) {
  const SourceFile* file = span.valid() ? sources.file_of(span.begin) : nullptr;
  if (file == nullptr) return;
  const LineColumn at = file->locate(span.begin);
  out["file"] = path_last(file->name());
  out["line"] = at.line;
  out["column"] = at.column;
  const std::string_view line = file->line_text(at.line);
  const std::size_t begin = std::min<std::size_t>(at.column - 1, line.size());
  const std::size_t end = std::min<std::size_t>(line.size(), begin + std::max(1U, span.end - span.begin));
  std::size_t first = begin > kWidestLine / 2 ? begin - kWidestLine / 2 : 0;
  while (first < begin && continues_character(line[first])) ++first;
  std::size_t last = std::min(line.size(), first + kWidestLine);
  while (last > begin && last < line.size() && continues_character(line[last])) --last;
  out["source"] = Json::array({std::string(line.substr(first, begin - first)),
                               std::string(line.substr(begin, std::min(end, last) - begin)),
                               std::string(line.substr(std::min(end, last), last - std::min(end, last)))});
  out["cut"] = Json::array({first > 0, last < line.size()});
}

std::size_t count_lines(std::string_view text) {
  if (text.empty()) return 0;
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + (text.back() != '\n');
}

}  // namespace

std::uint32_t line_of(const SourceManager& sources, Span span) {
  const SourceFile* file = span.valid() ? sources.file_of(span.begin) : nullptr;
  return file != nullptr ? file->locate(span.begin).line : 0;
}

Json diagnostic_json(const Diagnostic& diagnostic, const SourceManager& sources) {
  Json out{{"severity", word_of(diagnostic.severity)},
           {"code", diag_code(*diagnostic.kind)},
           {"message", diagnostic.message}};
  add_place(out, diagnostic.span, sources);
  Json notes = Json::array();
  for (const RelatedPlace& note : diagnostic.notes) {
    Json n{{"message", note.message}};
    add_place(n, note.span, sources);
    notes.push_back(std::move(n));
  }
  if (!notes.empty()) out["notes"] = std::move(notes);
  if (!diagnostic.help.empty()) out["help"] = diagnostic.help;
  return out;
}

std::size_t StringTable::add(std::string_view text) {
  if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
  const std::size_t number = texts_.size();
  numbers_.emplace(texts_.emplace_back(text), number);
  return number;
}

StageText Recorder::text_of(const Program* program) {
  Module module = input_.module;
  module.program = program;
  PrintOptions print = session_.print_options_for(module, false);
  std::vector<std::size_t> begins;
  print.function_begins = &begins;
  std::string text = session_.print_text(input_, module, print);
  text.pop_back();  // the final line end
  StageText out;
  const std::string_view all = text;
  out.head = texts_.add(all.substr(0, begins.empty() ? all.size() : begins.front()));
  // A printed program shows its functions in an order of its own; the `def` line has the name.
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] - 1 : all.size();
    const std::string_view function = all.substr(begins[i], end - begins[i]);
    const std::size_t def = function.find("def ", function.find('\n'));
    const std::size_t open = function.find('(', def);
    const std::string_view name = def == std::string_view::npos || open == std::string_view::npos
                                      ? std::string_view("?")
                                      : function.substr(def + 4, open - def - 4);
    out.functions.emplace_back(names_.add(name), texts_.add(function));
  }
  return out;
}

void Recorder::add(const PlannedPass* pass, State state) {
  const std::size_t diags = input_.diags.all().size();
  stages_.push_back({pass, state, text_, diags_seen_, diags});
  diags_seen_ = diags;
}

void Recorder::start() {
  program_ = input_.module.program;
  text_ = text_of(program_);
}

PassCallbacks Recorder::callbacks() {
  return {[this](const PassStep& step) { return before(step); },
          [this](const PassStep& step) { return after(step); }};
}

bool Recorder::before(const PassStep& step) {
  // What was said so far was said of the program as it was read.
  if (stages_.empty()) add(nullptr, State::Read);
  if (step.planned->name == "LowerCompositeOps") before_composites_ = step.before;
  return true;
}

bool Recorder::after(const PassStep& step) {
  ++reached_;
  State state = step.skipped ? State::Missing : State::Same;
  if (step.changed) {
    program_ = step.after;
    StageText text = text_of(program_);
    state = text == text_ ? State::Unprinted : State::Changed;
    text_ = std::move(text);
  }
  add(step.planned, state);
  return true;
}

void Recorder::finish(const RunResult& result) {
  const bool began = !stages_.empty();
  if (!began) add(nullptr, result.program != nullptr ? State::Read : State::Failed);
  if (result.program != nullptr) return;
  if (began) {
    // After the last pass only the verification of the end is left.
    add(reached_ < plan_.size() ? &plan_[reached_] : nullptr, State::Failed);
    ++reached_;
  }
  for (; reached_ < plan_.size(); ++reached_) add(&plan_[reached_], State::Unreached);
}

void Recorder::add_changes(const StageText& from, const StageText& to, Json& out) const {
  constexpr int kNone = -1;
  std::size_t added = 0;
  std::size_t removed = 0;
  Json diffs = Json::array();
  const auto change = [&](Json name, Json before, Json after, std::string_view a, std::string_view b) {
    Json runs = Json::array();
    for (const LineRun& run : line_runs(a, b)) {
      for (const std::size_t n : {run.same, run.removed, run.added}) runs.push_back(n);
      added += run.added;
      removed += run.removed;
    }
    diffs.push_back(Json::array({std::move(name), std::move(before), std::move(after), std::move(runs)}));
  };
  const auto text = [&](std::size_t number) -> std::string_view { return texts_.all()[number]; };
  if (from.head != to.head) change(kNone, from.head, to.head, text(from.head), text(to.head));
  std::unordered_map<std::size_t, std::size_t> old(from.functions.begin(), from.functions.end());
  for (const auto& [name, number] : to.functions) {
    const auto found = old.find(name);
    if (found == old.end()) {
      change(name, kNone, number, {}, text(number));
    } else {
      if (found->second != number) change(name, found->second, number, text(found->second), text(number));
      old.erase(found);
    }
  }
  for (const auto& [name, number] : from.functions) {
    if (old.count(name) != 0) change(name, number, kNone, text(number), {});
  }
  out["added"] = added;
  out["removed"] = removed;
  out["diffs"] = std::move(diffs);
}

Json Recorder::stage_json(const Stage& stage, const Stage* earlier) const {
  constexpr std::string_view kStates[] = {"read",    "changed", "same",     "unprinted",
                                          "missing", "failed",  "unreached"};
  Json out{{"state", kStates[static_cast<std::size_t>(stage.state)]}};
  if (stage.pass != nullptr) {
    out["number"] = stage.pass->number;
    out["name"] = stage.pass->name;
    if (stage.pass->pass != nullptr) out["about"] = stage.pass->pass->summary;
  }
  if (earlier == nullptr || earlier->text != stage.text) {
    out["head"] = stage.text.head;
    Json functions = Json::array();
    std::size_t lines = count_lines(texts_.all()[stage.text.head]);
    for (const auto& [name, text] : stage.text.functions) {
      functions.push_back(name);
      functions.push_back(text);
      lines += count_lines(texts_.all()[text]);
    }
    out["functions"] = std::move(functions);
    out["lines"] = lines;
    if (earlier != nullptr) add_changes(earlier->text, stage.text, out);
  }
  if (stage.first_diag != stage.end_diag) {
    Json diags = Json::array();
    for (std::size_t i = stage.first_diag; i < stage.end_diag; ++i)
      diags.push_back(diagnostic_json(input_.diags.all()[i], session_.sources()));
    out["diags"] = std::move(diags);
  }
  return out;
}

void Recorder::write(Json& out) const {
  Json stages = Json::array();
  for (std::size_t i = 0; i < stages_.size(); ++i)
    stages.push_back(stage_json(stages_[i], i == 0 ? nullptr : &stages_[i - 1]));
  out["stages"] = std::move(stages);
  out["names"] = names_.all();
  out["texts"] = texts_.all();
}

}  // namespace pldc::trace
