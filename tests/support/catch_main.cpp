// The main of every test program: runs the test cases and ends with the line `N passed, N failed`.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using ListenerBase = Catch::EventListenerBase;
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
using ListenerBase = Catch::TestEventListenerBase;
#endif

#include <cstdio>

namespace {

std::size_t passed = 0;
std::size_t failed = 0;

class Counter : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;
  void testRunEnded(const Catch::TestRunStats& stats) override {
    const Catch::Counts& cases = stats.totals.testCases;
    passed = static_cast<std::size_t>(cases.passed + cases.failedButOk);
    failed = static_cast<std::size_t>(cases.failed);
  }
};

}  // namespace

CATCH_REGISTER_LISTENER(Counter)

int main(int argc, char** argv) {
  Catch::Session session;
  const int code = session.run(argc, argv);
  std::printf("%zu passed, %zu failed\n", passed, failed);
  return code;
}
