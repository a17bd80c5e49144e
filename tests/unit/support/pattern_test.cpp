#include "support/pattern.h"

#include "support/catch.h"

using pldc::Glob;

TEST_CASE("glob: the whole text must match") {
  CHECK(Glob("Simplify").matches("Simplify"));
  CHECK_FALSE(Glob("Simplify").matches("SimplifyMore"));
  CHECK_FALSE(Glob("Simplify").matches("simplify"));
  CHECK(Glob("Lower*").matches("LowerHostTensorCollectives"));
  CHECK(Glob("*Tensor*").matches("LowerHostTensorCollectives"));
  CHECK(Glob("*").matches(""));
  CHECK(Glob("a?c").matches("abc"));
  CHECK_FALSE(Glob("a?c").matches("ac"));
}

TEST_CASE("glob: sets") {
  CHECK(Glob("k[0-9]").matches("k7"));
  CHECK_FALSE(Glob("k[0-9]").matches("kx"));
  CHECK(Glob("k[!0-9]").matches("kx"));
  CHECK_FALSE(Glob("k[!0-9]").matches("k7"));
  CHECK(Glob("[]a]").matches("]"));
  CHECK(Glob("[a-]").matches("-"));
  CHECK(Glob("[d.w]").matches("d"));
  CHECK_FALSE(Glob("[d.w]").matches("5"));
}

TEST_CASE("glob: characters of regular expressions are plain") {
  CHECK(Glob("a.b").matches("a.b"));
  CHECK_FALSE(Glob("a.b").matches("axb"));
  CHECK(Glob("f(x)+|$^{}").matches("f(x)+|$^{}"));
  CHECK(Glob("\\*").matches("*"));
  CHECK_FALSE(Glob("\\*").matches("x"));
  CHECK(Glob("*").matches("two\nlines"));
}

TEST_CASE("glob: malformed patterns match nothing") {
  for (const char* bad : {"[abc", "x\\", "["}) {
    CAPTURE(bad);
    CHECK_FALSE(Glob(bad).valid());
    CHECK_FALSE(Glob(bad).matches(bad));
  }
  CHECK(Glob::is_glob("a*"));
  CHECK_FALSE(Glob::is_glob("tile.load"));
}

TEST_CASE("glob: linear on patterns made to be slow") {
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "a*";
  CHECK_FALSE(Glob(pattern + "b").matches(std::string(20000, 'a')));
}
