// The text form in both directions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/context.h"
#include "support/diag.h"
#include "support/source.h"

namespace pldc {

struct ReadOptions {
  // Deepest nesting of brackets, blocks and operator chains; deeper input is refused with a diagnostic.
  std::uint32_t max_depth = 256;
  // An `elif`, or an `if` in the block of an `else`, does not count as a block. It counts here, with those around it: what
  // passes make of a long chain of elif nests once for each.
  std::uint32_t max_links = 500;
  // A scope that is the body of a block, which passes make of the block of each link, too. A program at all three limits
  // takes 1.5 MB of stack from reading to code generation (x86-64, -O2; 16 MB unoptimised with sanitizers).
  std::uint32_t max_scopes = 550;
};

// Reads a whole file. Errors go to `diags`, several in one run; the module's program is null if there was
// any. module.style tells the dialect and style that the text was written in (format.md 9).
Module parse(const SourceFile& file, Context& context, DiagSink& diags, const ReadOptions& options = {});

struct PrintOptions {
  Dialect dialect = Dialect::Dump;
  PrintStyle style = PrintStyle::Printed;
  std::string prefix = "pl";
  // Names of things the legacy dialect could not show, filled while printing (decisions D1, D18); may be
  // null.
  std::vector<std::string>* lost = nullptr;
  // Only the functions for which this returns true; null: all.
  bool (*keep)(const Function&, const void* user) = nullptr;
  const void* keep_user = nullptr;
  // Where in the output each function begins; one line end is between two functions. May be null.
  std::vector<std::size_t>* function_begins = nullptr;
};
PrintOptions print_options(const TextStyle& style);

// Appends the canonical text, without a final newline (decisions D16: writers of files add one).
void print(const Module& module, const PrintOptions& options, std::string& out);
std::string print(const Module& module, const PrintOptions& options);

// Fragments for messages, reports and code generation comments, in the dump dialect, with plain name hints.
std::string print_expr(const Expr* expr);
std::string print_type(const Type* type);

}  // namespace pldc
