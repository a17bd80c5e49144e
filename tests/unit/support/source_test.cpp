#include "support/source.h"

#include "support/arena.h"
#include "support/catch.h"
#include "support/check.h"
#include "support/name.h"
#include "support/temp_dir.h"

using namespace pldc;

TEST_CASE("sources: places of several files in one offset space") {
  SourceManager sources;
  const SourceFile* a = sources.add("a", "one\ntwo\r\n");
  const SourceFile* b = sources.add("b", "");
  const SourceFile* c = sources.add("c", "x");
  CHECK(a->base() == 1);
  CHECK(sources.file_of(a->end()) == a);
  CHECK(sources.file_of(b->base()) == b);
  CHECK(sources.file_of(c->base()) == c);
  CHECK(sources.file_of(0) == nullptr);
  CHECK(a->line_text(2) == "two");
  CHECK(a->line_text(3).empty());
  CHECK(sources.describe(Span{a->base() + 5, a->base() + 6}) == "a:2:2");
  CHECK(sources.describe(Span{}).empty());
}

TEST_CASE("sources: loading") {
  const TempDir dir;
  SourceManager sources;
  std::string error;
  const SourceFile* file = sources.load(dir.write("f.pld", "text\n"), error);
  REQUIRE(file != nullptr);
  CHECK(file->text() == "text\n");
  REQUIRE(sources.load(dir.write("empty.pld", ""), error) != nullptr);
  CHECK(sources.load(dir.path("none"), error) == nullptr);
  CHECK(error == "cannot be read: No such file or directory");
  CHECK(sources.load(dir.path(""), error) == nullptr);
  CHECK(error == "is a directory, not a file");
}

TEST_CASE("names: interned, compared by pointer, ordered by text") {
  NameTable names;
  const Name a = names.intern("alpha");
  CHECK(names.intern("alpha") == a);
  CHECK(names.intern("beta") != a);
  CHECK(a < names.intern("beta"));
  CHECK(Name().empty());
  for (int i = 0; i < 5000; ++i) names.intern("n" + std::to_string(i));
  CHECK(names.intern("alpha") == a);
  CHECK(names.size() == 5002);
}

TEST_CASE("arena: alignment and large blocks") {
  Arena arena;
  for (std::size_t align : {1U, 2U, 8U, 16U, 64U}) {
    arena.allocate(3, 1);
    CHECK(reinterpret_cast<std::uintptr_t>(arena.allocate(5, align)) % align == 0);
  }
  CHECK(arena.allocate(std::size_t{32} << 20, 8) != nullptr);
  CHECK(arena.copy(std::string_view("text")) == "text");
}

TEST_CASE("checks: a failed one names its place without the folder") {
  try {
    PLDC_CHECK(1 + 1 == 3, "arithmetic");
    FAIL("not thrown");
  } catch (const InternalError& e) {
    const std::string what = e.what();
    CHECK(what.find("source_test.cpp:") == 0);
    CHECK(what.find("arithmetic") != std::string::npos);
  }
}
