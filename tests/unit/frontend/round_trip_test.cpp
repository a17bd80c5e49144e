// Reading and printing the reference texts: bytes, structure and hash survive, in both dialects.
#include "ir/same.h"
#include "support/corpus.h"
#include "unit/frontend/text_fixture.h"

using namespace texttest;

namespace {

std::string without_final_newline(std::string text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

TEST_CASE("every reference text prints as it was read, and reads back equal") {
  std::size_t count = 0;
  for (const std::string& path : corpus::texts()) {
    const std::string text = corpus::read(path);
    Read first(text);
    INFO(path << "\n" << first.errors);
    REQUIRE(first.module.program != nullptr);
    const std::string printed = print(first.module, print_options(first.module.style));
    // A final newline that the text lacks or has is no difference (decisions D16).
    if (printed != text) {
      INFO(first_difference(text, printed));
      REQUIRE(without_final_newline(printed) == without_final_newline(text));
    }
    Read second(printed);
    REQUIRE(second.module.program != nullptr);
    if (!same(first.module.program, second.module.program)) {
      const auto found = differences(first.module.program, second.module.program, 1);
      FAIL(path << ": not equal at " << (found.empty() ? std::string("?") : found[0].path));
    }
    REQUIRE(structural_hash(first.module.program) == structural_hash(second.module.program));
    ++count;
  }
  INFO("texts read: " << count);
  CHECK(count >= 100);
}

TEST_CASE("a program printed in dump and read again prints the same legacy text, and nothing is lost") {
  for (const std::string& path : corpus::texts()) {
    Read first(corpus::read(path));
    INFO(path << "\n" << first.errors);
    REQUIRE(first.module.program != nullptr);
    PrintOptions dump;
    PrintOptions legacy;
    legacy.dialect = Dialect::Legacy;
    std::vector<std::string> lost;
    Read second(print(first.module, dump));
    INFO(second.errors);
    REQUIRE(second.module.program != nullptr);
    const std::string want = print(first.module, legacy);
    legacy.lost = &lost;
    const std::string got = print(second.module, legacy);
    if (want != got) FAIL(path << ": " << first_difference(want, got));
    if (!same(first.module.program, second.module.program))
      FAIL(path << ": not equal after the dump dialect");
    if (first.module.style.dialect == Dialect::Legacy && !lost.empty()) FAIL(path << ": lost " << lost[0]);
  }
}

TEST_CASE("every hand-written source reads as the reference's front end reads it") {
  std::size_t count = 0;
  for (const std::string& name : corpus::programs()) {
    const std::string golden = corpus::read(corpus::root() + "/" + name + "/00_frontend.pld");
    if (golden.empty()) continue;
    Read source(corpus::read(corpus::root() + "/" + name + "/source.pld"));
    INFO(name << "\n" << source.errors);
    REQUIRE(source.module.program != nullptr);
    PrintOptions legacy;
    legacy.dialect = Dialect::Legacy;
    const std::string printed = print(source.module, legacy);
    if (printed != golden) FAIL(name << ": " << first_difference(golden, printed));
    ++count;
  }
  CHECK(count >= 8);
}

TEST_CASE("printing is a fixed point: reading what was printed and printing it changes nothing") {
  for (const std::string& name : corpus::programs()) {
    Read source(corpus::read(corpus::root() + "/" + name + "/source.pld"));
    if (source.module.program == nullptr) continue;
    for (const Dialect dialect : {Dialect::Dump, Dialect::Legacy}) {
      PrintOptions options;
      options.dialect = dialect;
      const std::string once = print(source.module, options);
      Read again(once);
      INFO(name << "\n" << again.errors);
      REQUIRE(again.module.program != nullptr);
      const std::string twice = print(again.module, options);
      if (once != twice) FAIL(name << ": " << first_difference(once, twice));
    }
  }
}

TEST_CASE("the dialect of a text is told by its spellings") {
  const auto dialect_of = [](const std::string& text) {
    Read r(text);
    INFO(r.errors);
    REQUIRE(r.module.program != nullptr);
    return r.module.style.dialect;
  };
  const std::string head = "# pypto.program: P\nimport pypto.language as pl\n";
  const std::string body =
      "\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, "
      "role=pl.Role.SubWorker)\n    def k(w: pl.InOut[pld.DistributedTensor[[4], pl.FP32]]):\n        ";
  CHECK(dialect_of(head + body + "pass") == Dialect::Legacy);
  CHECK(dialect_of(head + "import pypto.language.distributed as pld\n" + body + "pass") == Dialect::Dump);
  for (const std::string& path : corpus::texts("dump")) {
    Read r(corpus::read(path));
    INFO(path << r.errors);
    REQUIRE(r.module.program != nullptr);
    CHECK(r.module.style.dialect == Dialect::Dump);
  }
}

TEST_CASE("final newlines, CRLF and a byte order mark do not matter") {
  const std::string text = corpus::read(corpus::root() + "/mesh_by_hand/00_frontend.pld");
  Read plain(text);
  std::string crlf;
  for (const char c : text) {
    if (c == '\n') crlf += '\r';
    crlf += c;
  }
  for (const std::string& variant : {text + "\n", "\xef\xbb\xbf" + text, crlf + "\r\n"}) {
    Read r(variant);
    INFO(r.errors);
    REQUIRE(r.module.program != nullptr);
    CHECK(same(plain.module.program, r.module.program));
    CHECK(print(r.module, print_options(r.module.style)) == text);
  }
}
