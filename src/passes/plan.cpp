#include <fmt/format.h>

#include <algorithm>

#include "passes/run.h"
#include "support/diag/driver.h"
#include "support/pattern.h"

namespace pldc {

namespace {

// "Simplify", "5_Simplify", "05_Simplify" or a glob over these.
bool selects(std::string_view selector, const PlannedPass& pass) {
  if (!Glob::is_glob(selector)) {
    return selector == pass.name || selector == pass.label() ||
           (pass.number != 0 && selector == fmt::format("{}_{}", pass.number, pass.name));
  }
  const Glob glob(selector);
  return glob.matches(pass.name) || glob.matches(pass.label());
}

// Everything that a list may name: the default pipeline, then passes that are not part of it.
PassPlan known_passes() {
  PassPlan known;
  for (const PipelineEntry& entry : default_pipeline()) {
    known.push_back({entry.number, entry.name, entry.pass});
  }
  for (const PassInfo& pass : all_passes()) {
    const bool listed =
        std::any_of(known.begin(), known.end(), [&](const PlannedPass& p) { return p.name == pass.name; });
    if (!listed) known.push_back({0, pass.name, &pass});
  }
  return known;
}

PassPlan default_plan() {
  PassPlan plan;
  for (const PlannedPass& pass : known_passes()) {
    if (pass.number != 0) plan.push_back(pass);
  }
  return plan;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

void report_unknown(std::string_view name, DiagSink& diags) {
  const PassPlan known = known_passes();
  std::vector<std::string_view> names;
  for (const PlannedPass& pass : known) names.push_back(pass.name);
  auto report = diags.report<diag::unknown_pass>(Span{}, name);
  if (Glob::is_glob(name)) return;
  const std::string_view guess = closest(name, names);
  if (!guess.empty()) {
    report.help("did you mean '{}'?", guess);
  } else {
    report.help("`pldc list passes` shows all");
  }
}

class ListReader {
 public:
  explicit ListReader(DiagSink& diags) : diags_(diags), known_(known_passes()) {}

  std::optional<PassPlan> read(std::string_view list) {
    const std::uint32_t errors = diags_.error_count();
    bool first = true;
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      const std::string_view item = trim(list.substr(0, comma));
      list.remove_prefix(std::min(comma + 1, list.size()));
      if (item.empty()) continue;
      // A list that only takes out means the default pipeline without these.
      if (first && item.front() == '!') plan_ = default_plan();
      first = false;
      add(item);
    }
    if (diags_.error_count() != errors) return std::nullopt;
    return plan_;
  }

 private:
  void add(std::string_view item) {
    if (item == "NONE") return;
    if (item.front() == '!') {
      const std::string_view what = item.substr(1);
      if (!check_known(what)) return;
      std::erase_if(plan_, [&](const PlannedPass& pass) { return selects(what, pass); });
      return;
    }
    if (!check_known(item)) return;
    if (Glob::is_glob(item)) {
      for (const PlannedPass& pass : known_) {
        if (selects(item, pass)) plan_.push_back(pass);
      }
      return;
    }
    // The next entry of that name, so that "Simplify,...,Simplify" names both entries of the pipeline.
    const auto occurs = [&](const PlannedPass& p) {
      return std::any_of(plan_.begin(), plan_.end(),
                         [&](const PlannedPass& q) { return q.number == p.number && q.name == p.name; });
    };
    const PlannedPass* chosen = nullptr;
    for (const PlannedPass& pass : known_) {
      if (!selects(item, pass)) continue;
      if (chosen == nullptr) chosen = &pass;
      if (occurs(pass)) continue;
      chosen = &pass;
      break;
    }
    if (chosen->pass == nullptr) {
      diags_.report<diag::pass_not_here>(Span{}, chosen->name)
          .help("leave it out: the passes behind it work without it, or say what they miss");
      return;
    }
    plan_.push_back(*chosen);
  }

  bool check_known(std::string_view selector) {
    if (std::any_of(known_.begin(), known_.end(), [&](const PlannedPass& p) { return selects(selector, p); }))
      return true;
    report_unknown(selector, diags_);
    return false;
  }

  DiagSink& diags_;
  PassPlan known_;
  PassPlan plan_;
};

// Position of the first selected pass of the plan, or its size after a report.
std::size_t find_in_plan(const PassPlan& plan, std::string_view selector, std::string_view option,
                         DiagSink& diags) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (selects(selector, plan[i])) return i;
  }
  const PassPlan known = known_passes();
  if (std::none_of(known.begin(), known.end(), [&](const PlannedPass& p) { return selects(selector, p); })) {
    report_unknown(selector, diags);
  } else {
    diags.report<diag::pass_not_in_run>(Span{}, selector, option)
        .help("`pldc list passes` shows the default pipeline");
  }
  return plan.size();
}

void check_options(const PassOptionValues& values, DiagSink& diags) {
  for (const auto& [name, value] : values) {
    const std::string_view text = name;
    const std::size_t dot = text.find('.');
    const std::string_view pass_name = text.substr(0, dot);
    const PassInfo* pass = find_pass(pass_name);
    if (pass == nullptr) {
      report_unknown(pass_name, diags);
      continue;
    }
    const std::string_view key = dot != std::string_view::npos ? text.substr(dot + 1) : std::string_view{};
    const auto option = std::find_if(pass->options.begin(), pass->options.end(),
                                     [&](const PassOption& o) { return o.key == key; });
    if (option == pass->options.end()) {
      std::vector<std::string_view> keys;
      for (const PassOption& o : pass->options) keys.push_back(o.key);
      auto report = diags.report<diag::unknown_pass_option>(Span{}, pass_name, key);
      if (keys.empty()) {
        report.help("the pass has no options");
      } else {
        report.help("it has: {}", fmt::join(keys, ", "));
      }
      continue;
    }
    bool allowed = false;
    if (option->values.find('|') != std::string_view::npos) {
      for (std::string_view rest = option->values; !allowed && !rest.empty();) {
        const std::size_t bar = std::min(rest.find('|'), rest.size());
        allowed = rest.substr(0, bar) == value;
        rest.remove_prefix(std::min(bar + 1, rest.size()));
      }
    } else {
      // Any other description of the values is a number.
      allowed = !value.empty() &&
                std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
    }
    if (!allowed) diags.report<diag::bad_pass_option_value>(Span{}, value, pass_name, key, option->values);
  }
}

}  // namespace

std::string PlannedPass::label() const {
  return number != 0 ? fmt::format("{:02}_{}", number, name) : std::string(name);
}

bool add_pass_option(std::string_view text, PassOptionValues& values, DiagSink& diags) {
  const std::size_t equals = text.find('=');
  const std::size_t dot = text.find('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos || dot > equals || dot == 0 ||
      equals == dot + 1) {
    diags.report<diag::bad_pass_option_form>(Span{}, text);
    return false;
  }
  values[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
  return true;
}

std::optional<PassPlan> plan_passes(const PipelineOptions& options, DiagSink& diags) {
  const std::uint32_t errors = diags.error_count();
  PassPlan plan;
  if (options.passes) {
    auto read = ListReader(diags).read(*options.passes);
    if (!read) return std::nullopt;
    plan = std::move(*read);
  } else {
    plan = default_plan();
  }
  check_options(options.pass_options, diags);
  std::size_t begin = 0;
  std::size_t end = plan.size();
  if (!options.start_after.empty())
    begin = find_in_plan(plan, options.start_after, "--start-after", diags) + 1;
  if (!options.stop_after.empty()) end = find_in_plan(plan, options.stop_after, "--stop-after", diags) + 1;
  if (diags.error_count() != errors) return std::nullopt;
  if (end < begin) {
    diags.report<diag::stop_before_start>(Span{}, options.stop_after, options.start_after);
    return std::nullopt;
  }
  PassPlan chosen(plan.begin() + static_cast<std::ptrdiff_t>(begin),
                  plan.begin() + static_cast<std::ptrdiff_t>(end));
  for (const std::string& name : options.disabled) {
    const auto before = chosen.size();
    std::erase_if(chosen, [&](const PlannedPass& pass) { return selects(name, pass); });
    if (before == chosen.size()) find_in_plan(chosen, name, "--disable-pass", diags);
  }
  if (diags.error_count() != errors) return std::nullopt;
  return chosen;
}

}  // namespace pldc
