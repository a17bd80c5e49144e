// Splitting text into command-line words, as for response files, PLDC_FLAGS and --cxxflags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pldc {

// Words are separated by white space; '...' and "..." quote, `\` takes the next character literally (inside
// "..." only before `"` and `\`). False if a quote is left open.
bool split_words(std::string_view text, std::vector<std::string>& words);
// The word so quoted that a POSIX shell, or split_words, reads it back.
std::string quote_word(std::string_view word);
// "a,b,,c" -> a b c; white space around the items goes.
std::vector<std::string> split_list(std::string_view text, char separator = ',');

}  // namespace pldc
