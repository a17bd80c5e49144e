// Runs one pass on texts of the reference corpus and compares with the reference's text after it.
//
// Where the corpus is: support/corpus.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/text.h"
#include "passes/pass.h"

namespace golden {

// One line of a program's index.json.
struct Entry {
  int number;              // position in the pipeline; 0: what the front end gave
  std::string pass;        // empty for the front end
  std::string file;        // empty: the text did not change
  bool error = false;      // the reference failed here
  bool from_text = false;  // the golden is exact for a reader of text
  std::string from_text_file;
};

// A program at a pass: the text before it and the golden after it.
struct Case {
  std::string program;
  std::string before;
  std::string after;
  bool exact;  // else: compare modulo printer suffixes
  bool error;  // the reference failed: `after` is empty
};

// Empty if there is no corpus here.
std::string corpus();
std::vector<std::string> programs();
std::vector<Entry> index_of(const std::string& program);
std::string text_of(const std::string& program, const std::string& file);
// All programs that reach the pass. `occurrence` counts from 0: Simplify stands in the pipeline twice.
std::vector<Case> cases(std::string_view pass, int occurrence = 0);

struct Result {
  bool ok = false;
  std::string text;    // printed in the legacy dialect
  std::string errors;  // "PLD0500 the name ...", one a line, with help lines
  std::vector<pldc::Diagnostic> diagnostics;
};
// Reads `text`, runs the passes one after the other and prints what comes out.
Result run(std::string_view text, const std::vector<pldc::PassFunction>& passes,
           const pldc::PassOptionValues& options = {}, pldc::Dialect dialect = pldc::Dialect::Legacy);

using Verifier = void (*)(const pldc::Program*, pldc::DiagSink&);
// Reads `text` and reports what the verifier finds.
Result verify(std::string_view text, Verifier verifier);

// Takes the `_1`, `_2` endings off the names that the printer made unique.
std::string without_suffixes(std::string_view text);

// How a pass does on one program of the corpus. tests/data/conformance_exceptions.txt ("<pass> <program> <reason>")
// lists the programs whose text may differ.
enum class Verdict {
  Equal,
  Differs,        // and is not listed
  Listed,         // differs, as the list says
  Stale,          // equal, though listed: the list may only shrink
  NotApplicable,  // the reference failed here: no golden
};
struct Comparison {
  std::string program;
  Verdict verdict;
  std::string report;  // of a difference: the errors or a unified diff
};
// Runs the pass on all its cases: the one comparison that tests and tools/conformance share.
std::vector<Comparison> compare(std::string_view pass, pldc::PassFunction run, int occurrence = 0);

// The reports of all that are not as they should be; empty: none.
std::string compare_all(std::string_view pass, pldc::PassFunction run, int& compared, int occurrence = 0);

// How many programs the pass changes.
int changed(std::string_view pass, int occurrence = 0);

// "# pypto.program: P" with one class and the function given; indented text of methods.
std::string program(std::string_view functions);

}  // namespace golden
