#include "driver/dump.h"

#include <nlohmann/json.hpp>

#include "ir/same.h"
#include "support/diag/driver.h"
#include "support/file.h"
#include "support/pattern.h"
#include "support/text_diff.h"
#include "support/words.h"

namespace pldc {
namespace {

std::vector<std::string> words_of(const std::vector<std::string>& lists) {
  std::vector<std::string> words;
  for (const std::string& list : lists) {
    for (std::string& word : split_list(list)) words.push_back(std::move(word));
  }
  return words;
}

struct Wanted {
  const Glob glob;
  bool* met;
};

bool keep_function(const Function& function, const void* user) {
  const auto* wanted = static_cast<const Wanted*>(user);
  const bool keep = wanted->glob.matches(function.name.text());
  *wanted->met = *wanted->met || keep;
  return keep;
}

std::string file_name(const std::string& number, std::string_view what, std::string_view pass) {
  return fmt::format("{}_{}_{}.pld", number, what, pass);
}

}  // namespace

bool Dumper::check(Session& session, const DumpOptions& options, const PassPlan& plan) {
  DiagSink diags(session.diag_options());
  const auto check_words = [&](const std::vector<std::string>& lists, std::string_view option) {
    for (const std::string& word : words_of(lists)) {
      if (!find_passes(plan, word).empty()) continue;
      std::vector<std::string_view> names;
      bool known = false;
      for (const PipelineEntry& entry : default_pipeline()) {
        names.push_back(entry.name);
        known = known || entry.name == word || fmt::format("{:02}_{}", entry.number, entry.name) == word;
      }
      known = known || find_pass(word) != nullptr;
      if (known) {
        diags.report<diag::pass_not_in_run>(Span{}, word, option)
            .help("`pldc list passes` shows the default pipeline");
        continue;
      }
      const std::string_view guess = closest(word, names);
      auto report = diags.report<diag::unknown_pass>(Span{}, word);
      if (guess.empty()) {
        report.help("`pldc list passes` shows all");
      } else {
        report.help("did you mean '{}'?", guess);
      }
    }
  };
  check_words(options.after, "--dump-after");
  check_words(options.before, "--dump-before");
  const bool any = !options.after.empty() || !options.before.empty() || options.all || options.changed ||
                   !options.directory.empty();
  if (!options.function.empty() && !Glob(options.function).valid()) {
    diags.report<diag::bad_option>(Span{}, "--dump-func: '" + options.function + "' is no glob");
  } else if (!options.function.empty() && !any && !options.diff) {
    diags.report<diag::no_effect>(Span{}, "--dump-func", "no dump is asked for");
  }
  const bool good = !diags.has_errors();
  session.show(diags);
  return good;
}

Dumper::Dumper(Session& session, Input& input, const DumpOptions& options, const Pipeline& pipeline,
               bool has_output)
    : session_(session), input_(input), options_(options) {
  std::size_t requests = 0;
  bool globs = false;
  const auto add = [&](const std::vector<std::string>& lists, std::set<std::size_t>& to) {
    for (const std::string& word : words_of(lists)) {
      ++requests;
      globs = globs || Glob::is_glob(word);
      for (const std::size_t at : find_passes(pipeline.plan, word)) to.insert(at);
    }
  };
  add(options.after, after_);
  add(options.before, before_);
  const bool to_files = !options.directory.empty();
  every_ = options.all || (to_files && requests == 0 && !options.changed);
  const bool wants_dumps = requests > 0 || every_ || options.changed;
  single_ =
      requests == 1 && !globs && !every_ && !options.changed && !options.diff && !to_files && !has_output;
  owns_stdout_ = ((wants_dumps && !to_files) || options.diff) && !has_output;
}

PassCallbacks Dumper::callbacks() {
  return {[this](const PassStep& step) { return before(step); },
          [this](const PassStep& step) { return after(step); }};
}

std::string Dumper::text_of(const Program* program) {
  if (program == last_printed_) return last_text_;
  Module module = input_.module;
  module.program = program;
  PrintOptions print = session_.print_options_for(module, false);
  const Wanted wanted{Glob(options_.function), &met_};
  if (!options_.function.empty()) {
    print.keep = keep_function;
    print.keep_user = &wanted;
  }
  last_text_ = session_.print_text(input_, module, print);
  last_printed_ = program;
  return last_text_;
}

void Dumper::emit(const std::string& heading, const std::string& file, const std::string& text) {
  if (options_.directory.empty()) {
    // Alone, a dump is exactly the text.
    const bool headed = !single_ && (every_ || options_.changed || before_.size() + after_.size() > 1);
    failed_ = !session_.write_output("-", headed ? "# pldc: " + heading + "\n" + text : text) || failed_;
  } else if (!failed_) {  // once is enough
    failed_ = !session_.write_output(path_join(options_.directory, file), text);
  }
}

std::string Dumper::number_of(const PassStep& step) const {
  const int number = step.planned->number != 0 ? step.planned->number : static_cast<int>(step.index) + 1;
  return fmt::format("{:02}", number);
}

void Dumper::start() {
  const bool to_files = !options_.directory.empty();
  if (options_.diff) text_of(input_.module.program);
  if (!every_ && !to_files) return;
  const std::string file = "00_frontend.pld";
  emit("frontend", file, text_of(input_.module.program));
  index_.push_back({"frontend", file, true, 0, structural_hash(input_.module.program)});
}

bool Dumper::before(const PassStep& step) {
  if (before_.count(step.index) == 0) return true;
  const std::string name(step.planned->name);
  emit("before " + name, file_name(number_of(step), "before", name), text_of(step.before));
  return !single_;
}

bool Dumper::after(const PassStep& step) {
  const std::string name(step.planned->name);
  const bool asked = after_.count(step.index) != 0;
  if (options_.diff && step.changed) {
    const std::string old = text_of(step.before);
    const std::string diff = unified_diff(old, text_of(step.after), "before " + name, "after " + name);
    failed_ = !session_.write_output("-", diff) || failed_;
  }
  const bool wanted = asked || (!step.skipped && (every_ || (options_.changed && step.changed)));
  std::string file;
  if (wanted) {
    if (asked && step.skipped) {
      input_.diags.report<diag::no_effect>(
          Span{}, "--dump-after=" + name,
          "pldc does not have this pass, so the IR is that of the pass before it");
    }
    file = file_name(number_of(step), "after", name);
    emit("after " + name, file, text_of(step.after));
  }
  if (!options_.directory.empty() && !step.skipped) {
    index_.push_back({name, file, step.changed, step.milliseconds, structural_hash(step.after)});
  }
  return !(single_ && asked);
}

bool Dumper::finish() {
  if (!options_.function.empty() && last_printed_ != nullptr && !met_) {
    input_.diags.report<diag::no_effect>(Span{}, "--dump-func=" + options_.function,
                                         "no function that was dumped has such a name");
  }
  if (options_.directory.empty()) return !failed_;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::size_t files = 0;
  for (const Entry& entry : index_) {
    nlohmann::ordered_json row;
    row["pass"] = entry.pass;
    row["file"] = entry.file.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(entry.file);
    row["changed"] = entry.changed;
    row["milliseconds"] = entry.milliseconds;
    row["hash"] = fmt::format("{:016x}", entry.hash);
    list.push_back(std::move(row));
    files += !entry.file.empty();
  }
  failed_ =
      failed_ || !session_.write_output(path_join(options_.directory, "index.json"), list.dump(2) + "\n");
  if (!failed_) session_.say(fmt::format("wrote {} dumps to {}\n", files, options_.directory));
  return !failed_;
}

}  // namespace pldc
