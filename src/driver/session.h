// One run of the command line: streams, sources, diagnostics, and the loop over input files.
#pragma once

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "driver/env.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "frontend/text.h"
#include "ir/context.h"
#include "support/diag.h"
#include "support/source.h"

namespace pldc {

// One input file and all that is made for it.
struct Input {
  explicit Input(std::string name, DiagOptions options) : path(std::move(name)), diags(std::move(options)) {}
  std::string path;
  const SourceFile* file = nullptr;
  Context context;
  DiagSink diags;
  Module module;
};

class Session {
 public:
  // `args`, the subcommand first, is what crash files record.
  Session(Env& env, const CommonOptions& options, std::vector<std::string> args);

  Env& env() { return env_; }
  // Whoever asks for a stream is about to write: a line of progress goes away before.
  std::ostream& out() {
    progress_.pause();
    return *env_.out;
  }
  // For what is no diagnostic use say().
  std::ostream& err() {
    progress_.pause();
    return *env_.err;
  }
  // What is being done now, shown on a terminal if it takes long: "foo.pld: Simplify".
  void progress(std::string_view what) { progress_.step(what); }
  const CommonOptions& options() const { return options_; }
  const std::vector<std::string>& args() const { return args_; }  // as they were given
  SourceManager& sources() { return sources_; }
  spdlog::logger& log() { return *log_; }
  DiagOptions diag_options() const { return diag_options_; }

  // False if -W names no warning; the error is shown.
  bool check_warning_names();

  // A diagnostic of the command line or a file as a whole, shown at once.
  template <const DiagInfo& D, class... Args>
  void report(std::string help, Args&&... args) {
    DiagSink sink(diag_options_);
    DiagBuilder builder = sink.report<D>(Span{}, std::forward<Args>(args)...);
    if (!help.empty()) builder.help("{}", help);
    show(sink);
  }
  // Shows what the sink has collected and empties it.
  void show(DiagSink& sink);
  // A wrong command line: shows the message and returns the exit code.
  int usage_error(const std::string& message, const std::string& help = {});

  // Calls `work` for each file, shows its diagnostics, turns exceptions into crash files. Returns the worst
  // code; an input that has errors counts as kBadInput whatever `work` returns.
  int each(const std::vector<std::string>& files, const std::function<int(Input&)>& work);

  // each() has more than one file, so what is said about one has to name it.
  bool several_files() const { return several_files_; }

  // Loads and parses; false (and diagnostics) on failure.
  bool load(Input& input);
  bool read(Input& input);

  // How output is printed: --dialect and --style if given, else `style` of the input (`keep`) or the default.
  PrintOptions print_options_for(const Module& module, bool keep) const;
  // Prints, with the final newline; reports what the legacy dialect loses.
  std::string print_text(Input& input, const Module& module, PrintOptions options);
  // Text to a file or, for "-" or "", to stdout. False and a diagnostic on failure.
  bool write_output(const std::string& path, std::string_view text);

  // A log line, a summary, a report on stderr: for a machine that reads diagnostics it is one of them, a note.
  void say(std::string_view text);
  // Whether a machine reads the diagnostics: then nothing else may stand on stderr.
  bool for_machines() const { return render_options().format != DiagFormat::Text; }
  // Shows what is shown at the very end (SARIF is one document).
  void finish();

 private:
  // `options`: what a crash file records before the file.
  int guarded(Input& input, std::vector<std::string> options, const std::function<int(Input&)>& work);
  RenderOptions render_options() const;

  Env& env_;
  CommonOptions options_;
  bool several_files_ = false;
  std::vector<std::string> args_;
  SourceManager sources_;
  DiagOptions diag_options_;
  std::vector<Diagnostic> sarif_;
  Progress progress_;
  std::shared_ptr<spdlog::logger> log_;
  bool legacy_warned_ = false;
};

}  // namespace pldc
