// Extreme inputs: each ends with success or with a diagnostic that has a place, soon, and with bounded memory.
#include "frontend/text.h"
#include "support/catch.h"

using namespace pldc;

namespace {

const std::string kHead =
    "# pypto.program: P\nimport pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function\n    def "
    "main(self";
const std::string kBody = kHead + ", n: pl.Scalar[pl.INDEX]):\n";
const std::string kAssign = kBody + "        v: pl.Scalar[pl.INDEX] = ";

std::string times(std::size_t count, std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

// The first error as "message at LINE:COLUMN"; empty if the text was read.
std::string first_error(std::string text) {
  SourceManager sources;
  Context context;
  DiagSink diags;
  const SourceFile* file = sources.add("t.pld", std::move(text));
  const Module module = parse(*file, context, diags);
  for (const Diagnostic& d : diags.take()) {
    if (d.severity != Severity::Error) continue;
    REQUIRE(d.span.valid());
    REQUIRE(d.span.begin >= file->base());
    REQUIRE(d.span.end <= file->end() + 1);
    const LineColumn at = file->locate(d.span.begin);
    CHECK(module.program == nullptr);
    return d.message.substr(0, 60) + " at " + std::to_string(at.line) + ":" + std::to_string(at.column);
  }
  CHECK(module.program != nullptr);
  return "";
}

bool deep(const std::string& error) { return error.find(" are nested deeper than ") != std::string::npos; }

}  // namespace

TEST_CASE("no text, one byte, one line") {
  CHECK(first_error("") == "there is no program in this file at 1:1");
  for (int c = 0; c < 256; ++c) {
    CHECK(!first_error(std::string(1, static_cast<char>(c))).empty());
    CHECK(first_error(kAssign + static_cast<char>(c)).empty() == ((c >= '0' && c <= '9') || c == 'n'));
  }
  CHECK(!first_error(std::string(3'000'000, 'x')).empty());
  CHECK(!first_error(std::string(3'000'000, '\n')).empty());
  CHECK(deep(first_error(kAssign + times(500'000, "n + ") + "n")));
}

TEST_CASE("bytes that are no text") {
  CHECK(first_error(std::string(1'000'000, '\0')) == "byte 0x00 cannot stand here at 1:1");
  CHECK(first_error(kAssign + std::string("n\0 + 1", 6)) == "byte 0x00 cannot stand here at 8:35");
  CHECK(first_error(std::string(1'000'000, '\xff')) == "byte 0xff is no valid UTF-8 at 1:1");
  CHECK(first_error(times(100'000, "\xc3 ")) == "byte 0xc3 is no valid UTF-8 at 1:1");
  CHECK(first_error(kBody + "        # \xe2\x82\n        return\n") == "byte 0xe2 is no valid UTF-8 at 8:11");
  CHECK(first_error(kBody + "        # \xe2\x82\xac\n        return\n").empty());
}

TEST_CASE("line ends and tabs") {
  const std::string text = kBody + times(100, "        v: pl.Scalar[pl.INDEX] = n\n");
  std::string crlf;
  std::string tabs;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') crlf += '\r';
    crlf += text[i];
    if (text.compare(i, 4, "    ") == 0) {
      tabs += '\t';
      i += 3;
    } else {
      tabs += text[i];
    }
  }
  CHECK(first_error(crlf).empty());
  CHECK(first_error(tabs).empty());
  CHECK(!first_error("if x:\n" + times(6, "      x\n     x\n    x\n   x\n  x\n")).empty());
}

namespace {

// All that is counted by itself, one in the other: loops, scopes in some of them, a chain of branches with a scope in each.
std::string nested(int loops, int scoped, int links) {
  std::string out = kBody;
  std::size_t margin = 8;
  const auto open = [&](const char* line) { out += std::string(margin++, ' ') + line + "\n"; };
  constexpr const char* kScope = "with pl.at(level=pl.Level.CORE_GROUP):";
  for (int i = 0; i < loops; ++i) {
    open("for i in pl.range(4):");
    if (i < scoped) open(kScope);
  }
  for (int i = 0; i <= links; ++i) {
    open("if n < 1:");
    out += std::string(margin--, ' ') + "x: pl.Scalar[pl.INDEX] = n + 1\n";
    if (i == links) break;
    open("else:");
    open(kScope);
  }
  return out;
}

}  // namespace

TEST_CASE("deep nesting of every form is refused where it becomes too deep") {
  for (const char* open :
       {"(", "[", "-", "not ", "n ** ", "pl.min(", "pl.min(n, ", "pl.cast(", "(n, ", "self.f(", "n[", "~"}) {
    INFO(open);
    const std::string error = first_error(kAssign + times(1'000'000 / std::string_view(open).size(), open));
    CHECK(deep(error));
    CHECK(error.find(" at 8:") != std::string::npos);
  }
  CHECK(deep(first_error(kHead + ", t: " + times(100'000, "pl.Tuple["))));
  CHECK(!first_error(kAssign + "n" + times(300'000, "[0]")).empty());
  CHECK(!first_error(kAssign + "n" + times(300'000, ".a")).empty());
  CHECK(deep(first_error(kBody + "        if n < 1:\n            return\n" +
                         times(100'000, "        elif n < 2:\n            return\n"))));
  CHECK(first_error(kBody + "        if n < 1:\n            return\n" +
                    times(500, "        elif n < 2:\n            return\n"))
            .empty());
  std::string blocks = kBody;
  for (std::size_t i = 0; i < 2000; ++i) blocks += std::string(8 + i, ' ') + "if n < 1:\n";
  CHECK(first_error(blocks).rfind("blocks are nested deeper than 256 levels at ", 0) == 0);
  std::string branches = kBody;
  for (std::size_t i = 0; i < 2000; ++i) {
    const std::string pad(8 + i, ' ');
    branches += pad + "if n < 1:\n" + pad + " return\n" + pad + "else:\n";
  }
  CHECK(first_error(branches) == "branches are nested deeper than 500 levels at 1511:510");
  CHECK(!first_error(times(100'000, "@pl.function\n")).empty());
#ifdef PLDC_SANITIZED  // frames are ten times as large: this takes 16 MB of stack
  CHECK(first_error(nested(20, 20, 100)).empty());
#else
  CHECK(first_error(nested(250, 50, 500)).empty());
  CHECK(first_error(nested(250, 51, 500)).rfind("scopes are nested deeper than 550 levels at ", 0) == 0);
  CHECK(first_error(nested(250, 40, 501)).rfind("branches are nested deeper than 500 levels at ", 0) == 0);
#endif
}

TEST_CASE("many statements, parameters, arguments, keywords, dimensions, functions") {
  std::string statements = kBody;
  for (int i = 0; i < 100'000; ++i)
    statements += "        v" + std::to_string(i) + ": pl.Scalar[pl.INDEX] = n + 1\n";
  CHECK(first_error(statements).empty());
  CHECK(first_error(kBody + times(100'000, "        # c\n") + "        return\n").empty());
  std::string params = kHead;
  std::string keywords = kAssign + "pl.tensor.add(n";
  for (int i = 0; i < 100'000; ++i) {
    params += ", p" + std::to_string(i) + ": pl.Scalar[pl.INDEX]";
    keywords += ", k" + std::to_string(i) + "=n";
  }
  CHECK(first_error(params + "):\n        return\n").empty());
  CHECK(first_error(params + ", p7: pl.Scalar[pl.INDEX]):\n        return\n").find("p7") !=
        std::string::npos);
  CHECK(!first_error(keywords + ")\n").empty());
  CHECK(first_error(keywords + ", k5=n)\n").find("k5") != std::string::npos);
  CHECK(!first_error(kAssign + "pl.tensor.add(" + times(100'000, "n, ") + "n)\n").empty());
  CHECK(first_error(kHead + ", t: pl.Tensor[[" + times(100'000, "4, ") + "4], pl.FP32]):\n        return\n")
            .empty());
  std::string functions = "# pypto.program: P\nimport pypto.language as pl\n\n@pl.program\nclass P:\n";
  for (int i = 0; i < 20'000; ++i)
    functions += "    @pl.function\n    def f" + std::to_string(i) + "(self):\n        return\n";
  CHECK(first_error(functions).empty());
  CHECK(!first_error(kBody + times(30'000, "        v: pl.Scalar[pl.INDEX] = q + 1\n")).empty());
}

TEST_CASE("huge numbers and strings") {
  CHECK(first_error(kAssign + std::string(1'000'000, '9')).find(" at 8:34") != std::string::npos);
  CHECK(!first_error(kAssign + "0x" + std::string(1'000'000, 'f')).empty());
  CHECK(!first_error(kAssign + "-9223372036854775809").empty());
  CHECK(first_error(kAssign + "-9223372036854775808\n").empty());
  CHECK(
      first_error(kBody + "        v: pl.Scalar[pl.FP32] = 1." + std::string(1'000'000, '9') + "e999999999\n")
          .empty());
  CHECK(first_error(kAssign + "1e999999999999999999999999").empty());  // infinity, as in Python
  CHECK(!first_error(kAssign + "\"" + std::string(1'000'000, 'x')).empty());
  CHECK(!first_error(kBody + "        \"\"\"" + times(100'000, "x\n")).empty());
  CHECK(!first_error(times(100'000, "\"\n")).empty());
}
