// Checks of the compiler's own invariants. A failed check is a bug in pldc, never a user error: it throws
// InternalError, which the driver turns into a crash file and exit code 3.
#pragma once

#include <stdexcept>
#include <string>

namespace pldc {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void internal_error(const char* file, int line, const std::string& what);

}  // namespace pldc

#define PLDC_CHECK(cond, what)                                                                 \
  do {                                                                                         \
    if (!(cond)) ::pldc::internal_error(__FILE__, __LINE__, std::string(#cond ": ") + (what)); \
  } while (false)
#define PLDC_UNREACHABLE(what) \
  ::pldc::internal_error(__FILE__, __LINE__, std::string("unreachable: ") + (what))
