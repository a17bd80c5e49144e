// What the fuzzers do with an input. Each returns if all is well and throws InternalError otherwise (or dies, which is
// what they look for); replay.cpp runs all of them on the kept inputs in the normal suite.
#pragma once

#include <string_view>

namespace pldc::fuzz {

// The lexer alone: it ends, and its tokens lie in the text, one behind the other.
void lexer(std::string_view input);
// Text that is read can be printed, and reads back equal and prints the same.
void round_trip(std::string_view input);
// A program built from the bytes, by the interfaces that passes use, can be printed and read back equal.
void program(std::string_view input);
// The default pipeline never fails otherwise than with a diagnostic, and what it makes of a good program is good.
void passes(std::string_view input);

}  // namespace pldc::fuzz
