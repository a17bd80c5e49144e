#include "driver/session.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>

#include <new>
#include <unordered_set>

#include "driver/crash.h"
#include "driver/round_trip.h"
#include "support/check.h"
#include "support/diag/driver.h"
#include "support/file.h"

namespace pldc {
namespace {

DiagOptions diag_options_of(const CommonOptions& options) {
  DiagOptions result;
  result.max_errors = options.max_errors;
  for (const std::string& word : options.warnings) {
    if (word == "error") {
      result.warnings_as_errors = true;
    } else if (word == "no-error") {
      result.warnings_as_errors = false;
    } else if (word.rfind("no-", 0) == 0) {
      result.disabled.insert(word.substr(3));
    } else {
      result.disabled.erase(word);
    }
  }
  return result;
}

int rank_of(int code) {
  switch (code) {
    case kFine:
      return 0;
    case kCheckFailed:
      return 1;
    case kBadInput:
      return 2;
    case kBadUsage:
      return 3;
    case kInternalError:
      return 5;
    default:
      return 4;  // of a program that pldc started
  }
}

int overflow_stack(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : overflow_stack(depth + 1) + frame[0];
}

// --crash: one of each kind of failure.
void crash_on_purpose(const std::string& how) {
  if (how == "check") throw InternalError("on purpose");
  if (how == "memory") throw std::bad_alloc();
  if (how == "signal") std::abort();
  if (how == "stack" && overflow_stack(0) != 0) std::abort();
}

// A message without the program's name and without the end of its last line.
std::string_view bare(std::string_view text) {
  constexpr std::string_view kName = "pldc: ";
  if (text.starts_with(kName)) text.remove_prefix(kName.size());
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

class LogSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit LogSink(Session& session) : session_(session) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    session_.say(std::string_view(text.data(), text.size()));
  }
  void flush_() override {}

  Session& session_;
};

}  // namespace

int worse(int a, int b) { return rank_of(b) > rank_of(a) ? b : a; }

Session::Session(Env& env, const CommonOptions& options, std::vector<std::string> args)
    : env_(env),
      options_(options),
      args_(std::move(args)),
      diag_options_(diag_options_of(options)),
      progress_(env.err_is_terminal && options.diag_format == "text") {
  log_ = std::make_shared<spdlog::logger>("pldc", std::make_shared<LogSink>(*this));
  log_->set_pattern("pldc: %v");
  log_->set_level(options.verbose == 0   ? spdlog::level::warn
                  : options.verbose == 1 ? spdlog::level::info
                  : options.verbose == 2 ? spdlog::level::debug
                                         : spdlog::level::trace);
}

bool Session::check_warning_names() {
  std::vector<std::string_view> names;
  for (const DiagInfo* info : all_diags()) {
    if (info->severity == Severity::Warning) names.push_back(info->id);
  }
  for (const std::string& word : options_.warnings) {
    std::string_view name = word;
    if (name.substr(0, 3) == "no-") name.remove_prefix(3);
    if (name == "error") continue;
    bool known = false;
    for (const std::string_view n : names) known = known || n == name;
    if (known) continue;
    const std::string_view guess = closest(name, names);
    report<diag::unknown_warning>(
        guess.empty() ? "`pldc list diagnostics` shows them" : fmt::format("did you mean '{}'?", guess),
        name);
    return false;
  }
  return true;
}

RenderOptions Session::render_options() const {
  RenderOptions result;
  if (options_.diag_format == "json") result.format = DiagFormat::Json;
  if (options_.diag_format == "sarif") result.format = DiagFormat::Sarif;
  const auto no_color = env_.variable("NO_COLOR");
  result.color = options_.color == "always" ||
                 (options_.color == "auto" && env_.err_is_terminal && (!no_color || no_color->empty()));
  return result;
}

void Session::show(DiagSink& sink) {
  const bool full = sink.full();
  std::vector<Diagnostic> diagnostics = sink.take();
  if (full && !diagnostics.empty()) {
    DiagSink last;
    last.report<diag::too_many_errors>(Span{}, sink.error_count());
    for (Diagnostic& d : last.take()) diagnostics.push_back(std::move(d));
  }
  const RenderOptions how = render_options();
  if (how.format == DiagFormat::Sarif) {
    for (Diagnostic& d : diagnostics) sarif_.push_back(std::move(d));
    return;
  }
  out().flush();  // the order of the two streams on a terminal
  err() << render(diagnostics, sources_, how);
  err().flush();
}

void Session::say(std::string_view text) {
  if (!for_machines()) {
    err() << text << std::flush;
    return;
  }
  text = bare(text);
  if (!text.empty()) report<diag::said>("", text);
}

void Session::finish() {
  if (options_.diag_format == "sarif") err() << render(sarif_, sources_, render_options());
  out().flush();
  err().flush();
}

int Session::usage_error(const std::string& message, const std::string& help) {
  report<diag::bad_option>(help, message);
  return kBadUsage;
}

int Session::guarded(Input& input, std::vector<std::string> options, const std::function<int(Input&)>& work) {
  options.push_back(input.path);
  const CrashScope scope(env_.crash_directory, options, env_.variable("PLDC_VERIFY").value_or(""), input.path,
                         input.file != nullptr ? input.file->text() : std::string_view{});
  std::string what;
  try {
    crash_on_purpose(options_.crash);
    return work(input);
  } catch (const std::bad_alloc&) {
    what = "out of memory";
  } catch (const std::exception& e) {
    what = e.what();
  }
  show(input.diags);
  const std::string line = scope.write(what);
  if (for_machines()) {
    report<diag::crashed>("", bare(line));
  } else {
    err() << line;
  }
  return kInternalError;
}

int Session::each(const std::vector<std::string>& files, const std::function<int(Input&)>& work) {
  int code = kFine;
  several_files_ = files.size() > 1;
  // What a crash file records is one file of the command line.
  std::vector<std::string> options = args_;
  const std::unordered_set<std::string_view> names(files.begin(), files.end());
  std::erase_if(options, [&](const std::string& arg) { return names.count(arg) != 0; });
  for (const std::string& path : files) {
    Input input(path, diag_options_);
    int result = kBadInput;
    if (load(input)) {
      log_->info("reading {}", input.file->name());
      progress(input.file->name());
      result = guarded(input, options, work);
    }
    if (input.diags.has_errors() && rank_of(result) < rank_of(kCheckFailed)) result = kBadInput;
    show(input.diags);
    code = worse(code, result);
  }
  return code;
}

bool Session::load(Input& input) {
  std::string error;
  const auto overlaid = env_.overlay.find(input.path);
  input.file = overlaid != env_.overlay.end()
                   ? sources_.add(input.path == "-" ? "<stdin>" : input.path, overlaid->second)
                   : sources_.load(input.path, error);
  if (input.file == nullptr) input.diags.report<diag::cannot_read>(Span{}, input.path, error);
  return input.file != nullptr;
}

bool Session::read(Input& input) {
  input.module = parse(*input.file, input.context, input.diags);
  if (input.module.program == nullptr || input.diags.has_errors()) return false;
  if (env_.variable("PLDC_VERIFY").value_or("") != "roundtrip") return true;
  return survives_round_trip(input.module, {sources_, input.diags, print_options_for(input.module, true),
                                            nullptr, "<print of " + input.file->name() + ">"});
}

PrintOptions Session::print_options_for(const Module& module, bool keep) const {
  PrintOptions result;
  result.prefix = module.style.prefix;
  if (keep) result = print_options(module.style);
  if (!options_.dialect.empty())
    result.dialect = options_.dialect == "legacy" ? Dialect::Legacy : Dialect::Dump;
  if (options_.style == "printed") result.style = PrintStyle::Printed;
  if (options_.style == "concise") result.style = PrintStyle::Concise;
  if (options_.style == "explicit") result.style = PrintStyle::Explicit;
  return result;
}

std::string Session::print_text(Input& input, const Module& module, PrintOptions options) {
  std::vector<std::string> lost;
  options.lost = &lost;
  std::string text = print(module, options);
  if (!lost.empty() && !legacy_warned_) {
    legacy_warned_ = true;
    std::string names;
    for (const std::string& name : lost) names += (names.empty() ? "" : ", ") + name;
    input.diags.report<diag::legacy_loses>(Span{}, names);
  }
  if (text.empty() || text.back() != '\n') text += '\n';
  return text;
}

bool Session::write_output(const std::string& path, std::string_view text) {
  if (path.empty() || path == "-") {
    out().write(text.data(), static_cast<std::streamsize>(text.size()));
    out().flush();
    return out().good();
  }
  std::string error;
  if (write_if_changed(path, text, error) != WriteResult::Failed) return true;
  report<diag::cannot_write>("", path, error);
  return false;
}

}  // namespace pldc
