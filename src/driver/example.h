// Programs that show diagnostics: golden tests, which are part of the binary for `pldc explain`.
#pragma once

#include <span>
#include <string_view>

namespace pldc {

struct DiagExample {
  unsigned code;
  std::string_view name;     // of the program, without .pld
  std::string_view command;  // arguments of pldc; %s is the program, %t a folder for what it writes
  std::string_view program;  // empty: the command alone shows it
  std::string_view output;   // of stderr, and the line "exit N"
};

// In the order of the codes; at most one for each. Made by tools/embed_examples.
std::span<const DiagExample> diag_examples();

}  // namespace pldc
