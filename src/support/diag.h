// Diagnostics. Each kind is declared once, in diag/*.def, with its code, severity, format, explanation and an
// example; a call site names the kind and passes the arguments, whose number and types are checked at compile time.
// A table is seen only through its own header (diag/parse.h, ...), so that a new kind rebuilds its users alone.
//
//   diags.report<diag::unknown_op>(span, name).help("did you mean '{}'?", guess).note(where, "...");
//
// A message says what was found and what is allowed; help() gives the remedy.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/source.h"

namespace pldc {

enum class Severity : std::uint8_t { Note, Warning, Error };
// "note", "warning", "error"
std::string_view word_of(Severity severity);

// One kind of diagnostic. Kinds are compared by address; each exists once in the program.
struct DiagInfo {
  std::string_view id;  // snake_case: the name in `-W NAME`
  std::uint16_t code;   // printed as PLD%04d
  Severity severity;
  std::string_view format;       // fmt syntax
  std::string_view explanation;  // a paragraph for `pldc explain`
  std::string_view example;      // program text or command that triggers it
};

#define PLDC_DECLARE_DIAG(id, code, severity, format, explanation, example) \
  inline constexpr DiagInfo id{#id, code, Severity::severity, format, explanation, example};

// Every kind of every table, in the order of the codes' ranges.
std::span<const DiagInfo* const> all_diags();
// "PLD0123"
std::string diag_code(const DiagInfo& kind);

struct RelatedPlace {
  Span span;
  std::string message;
};

struct Diagnostic {
  const DiagInfo* kind;
  Severity severity;
  Span span;
  std::string message;
  std::vector<RelatedPlace> notes;
  std::vector<std::string> help;
};

class DiagBuilder {
 public:
  explicit DiagBuilder(Diagnostic* diagnostic) : diagnostic_(diagnostic) {}
  template <class... Args>
  DiagBuilder& help(fmt::format_string<Args...> text, Args&&... args) {
    if (diagnostic_ != nullptr) diagnostic_->help.push_back(fmt::format(text, std::forward<Args>(args)...));
    return *this;
  }
  template <class... Args>
  DiagBuilder& note(Span span, fmt::format_string<Args...> text, Args&&... args) {
    if (diagnostic_ != nullptr) {
      diagnostic_->notes.push_back({span, fmt::format(text, std::forward<Args>(args)...)});
    }
    return *this;
  }

 private:
  Diagnostic* diagnostic_;  // null: suppressed
};

struct DiagOptions {
  std::uint32_t max_errors = 20;  // 0: no limit
  bool warnings_as_errors = false;
  std::set<std::string, std::less<>> disabled;  // ids of warnings
};

// Collects diagnostics. Owner: the driver, one per input file or command.
class DiagSink {
 public:
  explicit DiagSink(DiagOptions options = {}) : options_(std::move(options)) {}

  template <const DiagInfo& D, class... Args>
  DiagBuilder report(Span span, Args&&... args) {
    static constexpr std::string_view text = D.format;
    return add(D, span, fmt::format(fmt::format_string<Args...>(text), std::forward<Args>(args)...));
  }

  std::uint32_t error_count() const { return errors_; }
  bool has_errors() const { return errors_ != 0; }
  // True once max_errors is reached: producers should stop.
  bool full() const { return options_.max_errors != 0 && errors_ >= options_.max_errors; }
  const DiagOptions& options() const { return options_; }

  // Sorted by place (emission order for equal places), duplicates dropped.
  std::vector<Diagnostic> take();
  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  DiagBuilder add(const DiagInfo& kind, Span span, std::string message);

  DiagOptions options_;
  std::vector<Diagnostic> all_;
  std::uint32_t errors_ = 0;
};

enum class DiagFormat : std::uint8_t { Text, Json, Sarif };

struct RenderOptions {
  DiagFormat format = DiagFormat::Text;
  bool color = false;
};

// The text for stderr. Text form of one diagnostic:
//   file.pld:3:9: error: message [PLD0123]
//       v = pl.lod(x)
//           ^~~~~~
//   help: did you mean 'pl.load'?
// A source line longer than 120 columns is cut to a window around the place.
std::string render(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources,
                   const RenderOptions& options);

// The candidate closest to `word` by edit distance, if it is close enough to be a likely slip; else empty.
std::string_view closest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace pldc
