// Checks of the compiler's own invariants. A failed check is a bug in pldc, never a user error: it throws
// InternalError, which the driver turns into a crash file and exit code 3.
#pragma once

#include <stdexcept>
#include <string_view>

namespace pldc {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void internal_error(const char* file, int line, std::string_view what);
[[noreturn]] void failed_check(const char* file, int line, std::string_view condition, std::string_view what);

}  // namespace pldc

#define PLDC_CHECK(cond, what)                                          \
  do {                                                                  \
    if (!(cond)) ::pldc::failed_check(__FILE__, __LINE__, #cond, what); \
  } while (false)
#define PLDC_UNREACHABLE(what) ::pldc::failed_check(__FILE__, __LINE__, "unreachable", what)
