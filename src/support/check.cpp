#include "support/check.h"

#include <cstring>

namespace pldc {

void internal_error(const char* file, int line, const std::string& what) {
  // Only the last path component: messages must not depend on where the tree was built.
  const char* slash = std::strrchr(file, '/');
  throw InternalError(std::string(slash != nullptr ? slash + 1 : file) + ":" + std::to_string(line) + ": " +
                      what);
}

}  // namespace pldc
