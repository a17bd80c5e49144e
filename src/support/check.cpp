#include "support/check.h"

#include <cstring>
#include <string>

namespace pldc {

void internal_error(const char* file, int line, std::string_view what) {
  // Only the last path component: messages must not depend on where the tree was built.
  const char* slash = std::strrchr(file, '/');
  throw InternalError(std::string(slash != nullptr ? slash + 1 : file) + ":" + std::to_string(line) + ": " +
                      std::string(what));
}

void failed_check(const char* file, int line, std::string_view condition, std::string_view what) {
  internal_error(file, line, std::string(condition) + ": " + std::string(what));
}

}  // namespace pldc
