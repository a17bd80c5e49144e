#include "passes/run.h"

#include <fmt/format.h>

#include <chrono>

#include "frontend/text.h"
#include "ir/same.h"
#include "support/check.h"
#include "support/diag/driver.h"

namespace pldc {

namespace {

// Checked around every pass under --verify-each (passes.md section 3).
constexpr PropertySet kStructural = {Property::TypeChecked,         Property::BreakContinueValid,
                                     Property::NoRedundantBlocks,   Property::UseAfterDef,
                                     Property::OutParamNotShadowed, Property::NoNestedInCore,
                                     Property::InOutUseValid,       Property::PipelineLoopValid,
                                     Property::ArrayNotEscaped,     Property::ManualDepsOnSubmitOnly,
                                     Property::AtomicAddDtypeValid};

constexpr PropertySet kChecked = [] {
  PropertySet set;
#define PLDC_PROPERTY(id, checked, doc) \
  if (checked) set.add({Property::id});
#include "passes/properties.def"
#undef PLDC_PROPERTY
  return set;
}();

template <class F>
void for_each_property(PropertySet set, F&& f) {
  for (std::size_t i = 0; i < kPropertyCount; ++i) {
    if (set.has(static_cast<Property>(i))) f(static_cast<Property>(i));
  }
}

PropertySet both(PropertySet a, PropertySet b) {
  PropertySet out;
  for_each_property(a, [&](Property p) {
    if (b.has(p)) out.add({p});
  });
  return out;
}

// The first finding of the property's verifier, or nothing.
std::optional<Diagnostic> first_finding(Property property, const Program* program) {
  DiagSink scratch;
  if (verify(property, program, scratch)) return std::nullopt;
  for (Diagnostic& d : scratch.take()) {
    if (d.severity == Severity::Error) return d;
  }
  return std::nullopt;
}

bool is_disabled(const PipelineOptions& options, std::string_view name) {
  for (const std::string& pass : options.disabled) {
    if (name == pass || (name.size() < pass.size() && pass.ends_with(name))) return true;
  }
  return false;
}

// The pass left out that would have produced the property, or nothing.
const PassInfo* disabled_producer(const PipelineOptions& options, Property property) {
  if (options.disabled.empty()) return nullptr;
  for (const PassInfo& pass : all_passes()) {
    if (pass.produced.has(property) && is_disabled(options, pass.name)) return &pass;
  }
  return nullptr;
}

void report_missing_property(const PlannedPass& planned, Property property, const Diagnostic& finding,
                             const PipelineOptions& options, DiagSink& diags) {
  if (const PassInfo* left_out = disabled_producer(options, property)) {
    diags.report<diag::disabled_pass_needed>(finding.span, left_out->name, planned.name, name_of(property),
                                             finding.message);
    return;
  }
  auto report =
      diags.report<diag::property_missing>(finding.span, planned.name, name_of(property), finding.message);
  for (const PassInfo& pass : all_passes()) {
    if (!pass.produced.has(property) || pass.name == planned.name) continue;
    report.help("run {} before it", pass.name);
    break;
  }
}

class Runner {
 public:
  Runner(const PassPlan& plan, const PipelineOptions& options, Context& context, DiagSink& diags,
         const PassCallbacks& callbacks)
      : plan_(plan), options_(options), context_(context), diags_(diags), callbacks_(callbacks) {}

  RunResult run(const Program* program) {
    RunResult result;
    if (options_.verify != VerifyLevel::None && !verify_written(program, diags_)) return result;
    bool changed = false;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      PassStep step{i, &plan_[i], program, program, false, plan_[i].pass == nullptr, 0};
      if (callbacks_.before && !callbacks_.before(step)) return stopped(program);
      if (!execute(step)) return result;
      program = step.after;
      changed = changed || step.changed;
      if (callbacks_.after && !callbacks_.after(step)) return stopped(program);
    }
    if (changed && options_.verify != VerifyLevel::None && !verify_end(program)) return result;
    result.program = program;
    result.held = held_;
    return result;
  }

 private:
  RunResult stopped(const Program* program) const { return {program, held_, true}; }

  bool execute(PassStep& step) {
    if (step.planned->pass == nullptr) return true;
    const PassInfo& pass = *step.planned->pass;
    const bool each = options_.verify == VerifyLevel::Each || options_.verify == VerifyLevel::RoundTrip;
    if (each && !verify_all(pass.required, step.before, "before", pass.name)) return false;

    PassEnv env{context_, diags_, options_.pass_options, options_.strict_signals};
    const auto begin = std::chrono::steady_clock::now();
    const std::uint32_t errors = diags_.error_count();
    step.after = pass.run(env, step.before);
    step.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    if (step.after == nullptr) {
      PLDC_CHECK(diags_.error_count() != errors, fmt::format("{} failed without a report", pass.name));
      return false;
    }
    step.changed = step.after != step.before;

    held_.remove(pass.invalidated);
    verified_.remove(pass.invalidated);
    held_.add(pass.produced);
    return options_.verify == VerifyLevel::None || verify_after(pass, step, each);
  }

  bool verify_after(const PassInfo& pass, const PassStep& step, bool each) {
    PropertySet due = both(pass.produced, kChecked);
    due.remove(verified_);
    verified_.add(due);
    // Slots and tensors must not come apart, whatever a pass rebuilds (decisions D15).
    if (step.changed && held_.has(Property::CommDomainScopesMaterialized)) {
      due.add({Property::CommDomainScopesMaterialized});
    }
    if (each) {
      due.add(pass.produced);
      if (step.changed) {
        due.add(kStructural);
        due.add(both(held_, kChecked));
      }
    }
    if (!verify_all(due, step.after, "after", pass.name)) return false;
    return options_.verify != VerifyLevel::RoundTrip || !step.changed || round_trips(step.after, pass.name);
  }

  bool verify_all(PropertySet set, const Program* program, std::string_view when, std::string_view pass) {
    bool fine = true;
    for_each_property(set, [&](Property property) {
      if (verify(property, program, diags_)) return;
      diags_.report<diag::verification_failed>(Span{}, when, pass, name_of(property));
      fine = false;
    });
    return fine;
  }

  bool verify_end(const Program* program) {
    bool fine = verify_input(program, diags_);
    for_each_property(both(held_, kChecked), [&](Property property) {
      if (verify(property, program, diags_)) return;
      diags_.report<diag::verification_failed>(Span{}, "after", "the last pass", name_of(property));
      fine = false;
    });
    return fine;
  }

  bool round_trips(const Program* program, std::string_view pass) {
    Module module;
    module.program = program;
    const std::string text = print(module, print_options(module.style)) + "\n";
    SourceManager sources;
    Context fresh;
    DiagSink findings;
    const SourceFile* file = sources.add(fmt::format("<after {}>", pass), text);
    const Module again = parse(*file, fresh, findings);
    if (again.program == nullptr) {
      const std::vector<Diagnostic> all = findings.take();
      diags_.report<diag::roundtrip_structure>(
          Span{}, all.empty() ? fmt::format("after {} it is refused", pass)
                              : fmt::format("after {} it is refused: {} (at {})", pass, all.front().message,
                                            sources.describe(all.front().span)));
      return false;
    }
    const std::vector<Difference> found = differences(program, again.program, 1);
    if (found.empty()) return true;
    const Difference& first = found.front();
    diags_.report<diag::roundtrip_structure>(
        first.left_span,
        fmt::format("after {} at {}: expected {}, found {}", pass, first.path, first.left, first.right));
    return false;
  }

  const PassPlan& plan_;
  const PipelineOptions& options_;
  Context& context_;
  DiagSink& diags_;
  const PassCallbacks& callbacks_;
  PropertySet held_;
  PropertySet verified_;
};

}  // namespace

bool check_plan(const PassPlan& plan, const PipelineOptions& options, const Program* program,
                DiagSink& diags) {
  const std::uint32_t errors = diags.error_count();
  PropertySet produced;
  PropertySet on_input;  // asked for and held
  std::vector<std::pair<Property, std::string_view>> destroyed;
  for (const PlannedPass& planned : plan) {
    if (planned.pass == nullptr) continue;
    for_each_property(planned.pass->required, [&](Property property) {
      if (produced.has(property)) return;
      for (const auto& [gone, by] : destroyed) {
        if (gone != property) continue;
        if (const PassInfo* left_out = disabled_producer(options, property)) {
          diags.report<diag::disabled_pass_needed>(Span{}, left_out->name, planned.name, name_of(property),
                                                   fmt::format("{} may destroy it", by));
        } else {
          diags.report<diag::property_destroyed>(Span{}, planned.name, name_of(property), by);
        }
        return;
      }
      if (on_input.has(property)) return;
      const auto finding = first_finding(property, program);
      if (finding) report_missing_property(planned, property, *finding, options, diags);
      on_input.add({property});
    });
    produced.add(planned.pass->produced);
    for_each_property(planned.pass->produced, [&](Property property) {
      std::erase_if(destroyed, [&](const auto& entry) { return entry.first == property; });
    });
    produced.remove(planned.pass->invalidated);
    for_each_property(planned.pass->invalidated,
                      [&](Property property) { destroyed.emplace_back(property, planned.name); });
  }
  return diags.error_count() == errors;
}

RunResult run_plan(const PassPlan& plan, const PipelineOptions& options, Context& context, DiagSink& diags,
                   const Program* program, const PassCallbacks& callbacks) {
  return Runner(plan, options, context, diags, callbacks).run(program);
}

RunResult run_passes(const PipelineOptions& options, Context& context, DiagSink& diags,
                     const Program* program, const PassCallbacks& callbacks) {
  const auto plan = plan_passes(options, diags);
  if (!plan || !check_plan(*plan, options, program, diags)) return {};
  return run_plan(*plan, options, context, diags, program, callbacks);
}

}  // namespace pldc
