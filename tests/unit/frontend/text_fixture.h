// Texts read and printed by a test, and small programs to put statements into.
#pragma once

#include <string>
#include <utility>

#include "frontend/text.h"
#include "support/catch.h"

namespace texttest {

using namespace pldc;

// A text that was read, with everything that was reported about it.
struct Read {
  SourceManager sources;
  Context context;
  DiagSink diags;
  Module module;
  std::string errors;
  explicit Read(std::string text) {
    const SourceFile* file = sources.add("t.pld", std::move(text));
    module = parse(*file, context, diags);
    errors = render(diags.take(), sources, {});
  }
  bool good() const { return module.program != nullptr; }
  std::string printed() const { return print(module, print_options(module.style)); }
  std::string printed(Dialect dialect) const {
    PrintOptions options = print_options(module.style);
    options.dialect = dialect;
    return print(module, options);
  }
};

inline constexpr const char* kScalarParams = "n: pl.Scalar[pl.INDEX]";

inline std::string indented(const std::string& statements, const std::string& indent) {
  std::string text;
  std::size_t begin = 0;
  while (begin <= statements.size()) {
    std::size_t end = statements.find('\n', begin);
    if (end == std::string::npos) end = statements.size();
    text += begin == 0 ? "" : "\n";
    if (end > begin) text += indent + statements.substr(begin, end - begin);
    begin = end + 1;
  }
  return text;
}

inline std::string program(const std::string& functions) {
  return "# pypto.program: P\nimport pypto.language as pl\n\n@pl.program\nclass P:\n" +
         indented(functions, "    ");
}

inline std::string function(const std::string& head, const std::string& statements) {
  return head + ":\n" + indented(statements, "    ");
}

// A program of one Opaque function `main`, without a final newline as printed text has none.
inline std::string in_main(const std::string& statements, const std::string& params = kScalarParams) {
  return program(function("@pl.function\ndef main(self, " + params + ")", statements));
}

// The same in an InCore kernel.
inline std::string in_kernel(const std::string& statements, const std::string& params) {
  return program(
      function("@pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)\n"
               "def k(" +
                   params + ")",
               statements));
}

// Reads a whole text and prints it in its own dialect; the result must equal the text.
inline void text_unchanged(const std::string& text) {
  const Read r(text);
  INFO(text << "\n" << r.errors);
  REQUIRE(r.good());
  CHECK(r.printed() == text);
}

inline void unchanged(const std::string& statements, const std::string& params = kScalarParams) {
  text_unchanged(in_main(statements, params));
}

// What reading `statements` as a person's text prints, body only.
inline std::string body_of(const std::string& printed) {
  const std::size_t def = printed.find("def main(");
  const std::size_t begin = def == std::string::npos ? def : printed.find(":\n", def);
  return begin == std::string::npos ? printed : printed.substr(begin + 2);
}

inline std::string errors_of(const std::string& statements, const std::string& params = kScalarParams) {
  const Read r(in_main(statements, params));
  CHECK(!r.good());
  return r.errors;
}

// The text around the first difference, for a readable failure.
inline std::string first_difference(const std::string& want, const std::string& got) {
  std::size_t at = 0;
  while (at < want.size() && at < got.size() && want[at] == got[at]) ++at;
  const std::size_t begin = at > 60 ? at - 60 : 0;
  return "want: " + want.substr(begin, 120) + "\n got: " + got.substr(begin, 120);
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The only statement of the only function, of the kind T.
template <class T>
const T* statement(const Read& r, std::size_t index = 0) {
  REQUIRE(r.good());
  const Body body = r.module.program->functions[0]->body;
  REQUIRE(index < body.size());
  const T* s = dyn<T>(body[index]);
  REQUIRE(s != nullptr);
  return s;
}

}  // namespace texttest
