// The inputs that fuzzers once failed on, and all of the corpus, through every target.
#include "fuzz/targets.h"
#include "support/catch.h"
#include "support/corpus.h"

using namespace pldc;

namespace {

void replay(const std::string& file) {
  const std::string text = corpus::read(file);
  INFO(file);
  CHECK_NOTHROW(fuzz::lexer(text));
  CHECK_NOTHROW(fuzz::round_trip(text));
  CHECK_NOTHROW(fuzz::program(text));
  CHECK_NOTHROW(fuzz::passes(text));
}

std::string source_root() {
  const char* root = std::getenv("PLDC_SOURCE_ROOT");
  return root != nullptr ? root : ".";
}

}  // namespace

TEST_CASE("inputs that fuzzers found") {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_root() + "/tests/data/fuzz")) {
    replay(entry.path().string());
    ++count;
  }
  CHECK(count != 0);
}

TEST_CASE("texts of the corpus are good seeds: no target fails on them") {
  for (const std::string& file : corpus::texts("text")) replay(file);
  for (const std::string& name : corpus::programs()) replay(corpus::root() + "/" + name + "/00_frontend.pld");
}
