// Equality, hash and differences over the reference texts and changed copies of them (format.md section 7).
#include "ir/same.h"
#include "support/corpus.h"
#include "unit/frontend/text_fixture.h"

using namespace texttest;

namespace {

// Copies of a text with one small change each, repeatable. Some mean the same program, most do not; some are no
// program at all.
class Changes {
 public:
  explicit Changes(const std::string& text) : text_(text), state_(text.size() * 2654435761U + 1) {}

  // A digit becomes another one: an extent, an offset, a version in a name, ...
  std::string digit() {
    return at_any_of("0123456789", [](char c) { return static_cast<char>('0' + (c - '0' + 3) % 10); });
  }
  // An operator becomes another one.
  std::string sign() {
    return at_any_of("+*<", [](char c) { return c == '+' ? '-' : c == '*' ? '+' : '>'; });
  }
  // Every occurrence of a variable gets another name.
  std::string renamed() {
    std::string copy = text_;
    for (std::size_t at = copy.find("__ssa_v"); at != std::string::npos; at = copy.find("__ssa_v", at + 8))
      copy.insert(at + 7, "7");
    return copy;
  }
  // INT64 and INDEX constants are the same to equality.
  std::string index() { return everywhere(", pl.INT64)", ", pl.INDEX)"); }
  std::string commented() { return everywhere("        return", "        # a remark\n        return"); }
  std::string dtype() { return everywhere("pl.FP32", "pl.FP16"); }

 private:
  template <class F>
  std::string at_any_of(const char* characters, F&& change) {
    std::string copy = text_;
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    std::size_t at = copy.find_first_of(characters, (state_ >> 33) % copy.size());
    // Behind the head of the file, and not inside a comment's or a name's line of its own.
    if (at == std::string::npos || at < copy.find("class ")) at = copy.find_last_of(characters);
    if (at != std::string::npos) copy[at] = change(copy[at]);
    return copy;
  }
  std::string everywhere(const std::string& from, const std::string& to) {
    std::string copy = text_;
    for (std::size_t at = copy.find(from); at != std::string::npos; at = copy.find(from, at + to.size()))
      copy.replace(at, from.size(), to);
    return copy;
  }

  const std::string& text_;
  std::uint64_t state_;
};

}  // namespace

TEST_CASE(
    "equal programs have equal hashes, unequal ones a difference with a path: over changed copies of every "
    "text") {
  std::size_t equal = 0;
  std::size_t unequal = 0;
  for (const std::string& path : corpus::texts()) {
    const std::string text = corpus::read(path);
    const Read original(text);
    INFO(path);
    REQUIRE(original.good());
    const std::uint64_t hash = structural_hash(original.module.program);
    Changes changes(text);
    for (const std::string& copy : {changes.digit(), changes.digit(), changes.sign(), changes.renamed(),
                                    changes.index(), changes.commented(), changes.dtype()}) {
      if (copy == text) continue;
      const Read changed(copy);
      if (!changed.good()) continue;
      const bool is_same = same(original.module.program, changed.module.program);
      const auto found = differences(original.module.program, changed.module.program, 1);
      REQUIRE(is_same == found.empty());
      REQUIRE(is_same == same(changed.module.program, original.module.program));
      if (is_same) {
        REQUIRE(hash == structural_hash(changed.module.program));
        ++equal;
      } else {
        REQUIRE(!found[0].path.empty());
        REQUIRE(found[0].left != found[0].right);
        ++unequal;
      }
    }
  }
  CHECK(equal > 100);
  CHECK(unequal > 100);
}

TEST_CASE("the three print styles of one program, as the reference prints them") {
  std::size_t count = 0;
  for (const std::string& path : corpus::texts("styles")) {
    const std::string suffix = ".printed.pld";
    if (path.size() < suffix.size() || path.compare(path.size() - suffix.size(), suffix.size(), suffix) != 0)
      continue;
    const std::string stem = path.substr(0, path.size() - suffix.size());
    const Read r(corpus::read(path));
    INFO(path << r.errors);
    REQUIRE(r.good());
    const std::pair<const char*, PrintStyle> styles[] = {{"printed", PrintStyle::Printed},
                                                         {"concise", PrintStyle::Concise},
                                                         {"explicit", PrintStyle::Explicit}};
    for (const auto& [name, style] : styles) {
      PrintOptions options;
      options.dialect = Dialect::Legacy;
      options.style = style;
      const std::string want = corpus::read(stem + "." + name + ".pld");
      INFO(name);
      CHECK(print(r.module, options) == want);
      // The explicit style says the same program; the concise one leaves out what is deduced.
      const Read back(want);
      INFO(back.errors);
      REQUIRE(back.good());
      if (style == PrintStyle::Explicit) CHECK(same(r.module.program, back.module.program));
      CHECK(back.printed() == want);
    }
    ++count;
  }
  CHECK(count >= 5);
}
