#include "fuzz/targets.h"

#include "frontend/lexer.h"
#include "frontend/text.h"
#include "fuzz/generator.h"
#include "ir/same.h"
#include "passes/run.h"
#include "support/check.h"
#include "support/diag/driver.h"

namespace pldc::fuzz {

namespace {

struct Reading {
  SourceManager sources;
  Context context;
  DiagSink diags;
  Module module;
  explicit Reading(std::string text) {
    module = parse(*sources.add("input.pld", std::move(text)), context, diags);
  }

  std::string first_error() {
    for (const Diagnostic& d : diags.take()) {
      if (d.severity == Severity::Error) return d.message;
    }
    return "";
  }
};

void survives(const Module& module, const PrintOptions& options) {
  const std::string text = print(module, options);
  Reading again(text);
  PLDC_CHECK(again.module.program != nullptr,
             "printed text is refused: " + again.first_error() + "\n" + text);
  const auto found = differences(module.program, again.module.program, 1);
  PLDC_CHECK(found.empty(), found[0].path + ": " + found[0].left + ", " + found[0].right + "\n" + text);
  PLDC_CHECK(structural_hash(module.program) == structural_hash(again.module.program), text);
  PLDC_CHECK(print(again.module, options) == text, text);
}

}  // namespace

void lexer(std::string_view input) {
  SourceManager sources;
  const SourceFile* file = sources.add("input.pld", std::string(input));
  DiagSink diags;
  Lexer lex(*file, diags, 256);
  std::uint32_t end = 0;
  // A line ends once, opens one block at most and closes as many as were opened.
  for (std::size_t left = 4 * input.size() + 4;; --left) {
    PLDC_CHECK(left != 0, "the lexer does not end");
    const Token token = lex.next();
    PLDC_CHECK(token.begin <= token.end && token.end <= input.size(), "a token outside the text");
    PLDC_CHECK(token.begin >= end, "tokens that overlap");
    end = token.end;
    if (token.kind == Tok::End) return;
  }
}

void round_trip(std::string_view input) {
  Reading read{std::string(input)};
  if (read.module.program == nullptr) {
    PLDC_CHECK(!read.first_error().empty(), "refused without a diagnostic");
    return;
  }
  PrintOptions options = print_options(read.module.style);
  // A person's text has things that only the dump dialect can show.
  options.dialect = Dialect::Dump;
  survives(read.module, options);
}

void program(std::string_view input) {
  Context context;
  Module module;
  module.program = generate(context, input);
  survives(module, PrintOptions{});
}

void passes(std::string_view input) {
  Reading read{std::string(input)};
  if (read.module.program == nullptr) return;
  PipelineOptions options;
  options.verify = VerifyLevel::Each;
  const RunResult result = run_passes(options, read.context, read.diags, read.module.program);
  std::string findings;
  bool broken = false;
  for (const Diagnostic& d : read.diags.take()) {
    findings += d.message + "\n";
    broken = broken || (d.kind == &diag::verification_failed && d.message.find("verification after") == 0);
  }
  PLDC_CHECK(!broken, findings);
  PLDC_CHECK(result.program != nullptr || !findings.empty(), "refused without a diagnostic");
}

}  // namespace pldc::fuzz
