// Files that are part of the binary, so that an installed or copied pldc needs nothing beside it.
#pragma once

#include <span>
#include <string_view>

namespace pldc {

struct EmbeddedFile {
  std::string_view path;  // as it is written below a build directory: "include/pld/kernel.h"
  std::string_view text;
};

// src/codegen/runtime/include: what the generated programs include.
std::span<const EmbeddedFile> runtime_files();

// "page.html": src/driver/trace/page as one page, with a mark where the data of a report goes.
std::span<const EmbeddedFile> report_page();

}  // namespace pldc
