// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The containers that the runtime has instead of the standard ones.
#include <string>
#include <vector>

#include "pld/array.h"
#include "support/catch.h"

namespace {

// Counts how many there are.
struct Counted {
  static inline int alive = 0;
  int value;
  explicit Counted(int v = 0) : value(v) { ++alive; }
  Counted(const Counted& other) : value(other.value) { ++alive; }
  Counted(Counted&& other) noexcept : value(other.value) { ++alive; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }
};

struct alignas(64) Wide {
  int64_t value;
};

std::string str(const pld::Text& t) { return {t.c_str(), t.size()}; }

}  // namespace

TEST_CASE("a text keeps its bytes") {
  pld::Text t;
  CHECK(t.empty());
  CHECK(str(t).empty());
  t += "ab";
  t += 'c';
  t += t;  // out of its own memory, which moves
  CHECK(str(t) == "abcabc");
  t.append(t.c_str() + 1, 2);
  CHECK(str(t) == "abcabcbc");
  const pld::Text copy = t;
  t.resize(2);
  CHECK(str(t + "-" + copy) == "ab-abcabcbc");
  pld::Text& same = t;  // by another name, as a compiler warns of the obvious
  t = std::move(same);
  CHECK(str("<" + t) == "<ab");
  t.clear();
  CHECK(str(t).empty());
  CHECK(str(copy.substr(6)) == "bc");
  CHECK(str(copy.substr(2, 3)) == "cab");
  CHECK(copy.substr(8).empty());
  CHECK(copy.find('c', 3) == 5);
  CHECK(copy.find('x') == pld::Text::npos);
  CHECK(copy.find_first_of("xc") == 2);
  CHECK(copy.find_first_not_of("ab") == 2);
  CHECK(copy.starts_with("abc"));
  CHECK_FALSE(copy.has(7, "bc"));
  CHECK(copy.has(8, ""));
  CHECK(pld::Text("ab") < pld::Text("abc"));
  CHECK_FALSE(pld::Text("b") < pld::Text("abc"));
  CHECK(pld::Text(std::string("a\0b", 3)).size() == 3);
  CHECK_FALSE(pld::Text("a\0b", 3) == "a");
  CHECK(str(pld::text("%s %d", std::string(5000, 'x').c_str(), 7)) == std::string(5000, 'x') + " 7");
  CHECK(str(pld::decimal(-12)) == "-12");
}

TEST_CASE("arrays make and end each element once") {
  {
    pld::Array<Counted> a;
    for (int i = 0; i < 100; ++i) a.push_back(Counted(i));
    a.push_back(a[3]);  // moves while it is read
    CHECK(a.back().value == 3);
    a.insert(0, Counted(-1));
    a.insert(50, Counted(-2));
    CHECK(Counted::alive == 103);
    CHECK(a[0].value == -1);
    CHECK(a[50].value == -2);
    CHECK(a[51].value == 49);
    a.erase(1, 51);
    CHECK(Counted::alive == 53);
    CHECK(a[1].value == 49);
    const pld::Array<Counted> copy = a;
    CHECK(Counted::alive == 106);
    a = copy;
    a.resize(60);
    CHECK(a[59].value == 0);
    CHECK(copy[52].value == 3);
  }
  CHECK(Counted::alive == 0);
  pld::Array<Wide> wide;
  for (int64_t i = 0; i < 20; ++i) {
    wide.push_back({i});
    CHECK(reinterpret_cast<uintptr_t>(wide.data()) % 64 == 0);
  }
  CHECK(wide[0].value + wide[19].value == 19);
  CHECK(pld::Array<int64_t>(3) == std::vector<int64_t>(3, 0));
  CHECK_FALSE(pld::Array<int64_t>{3} == pld::Array<int64_t>{4});
}

TEST_CASE("queues give what came first") {
  pld::Queue<pld::Text> q;
  int next = 0;
  for (int i = 0; i < 1000; ++i) {
    q.push_back(pld::decimal(i));
    if (i % 3 == 0) CHECK(str(q.pop_front()) == std::to_string(next++));
    CHECK(q.size() == static_cast<size_t>(i + 1 - next));
  }
  while (!q.empty()) CHECK(str(q.pop_front()) == std::to_string(next++));
  CHECK(next == 1000);
}

TEST_CASE("sorted values are found by their keys") {
  pld::Sorted<int, pld::Text> s;
  for (int i = 0; i < 200; ++i) s[i * 37 % 200] = pld::decimal(i);
  for (int i = 0; i < 200; ++i) CHECK(str(*s.find(i * 37 % 200)) == std::to_string(i));
  CHECK(s.find(200) == nullptr);
  CHECK(s.find(-1) == nullptr);
  int last = -1;
  for (const auto& item : s) CHECK(item.key == ++last);
}
