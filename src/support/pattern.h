// Patterns that a user writes: globs over names of passes, functions and ops. Matching is linear in the text,
// however the pattern is made.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace pldc {

// `*` any characters, `?` one character, `[a-z]` and `[!a-z]` a set; `\` takes the next character literally.
// The whole text must match, and letter case counts.
class Glob {
 public:
  explicit Glob(std::string_view pattern);
  ~Glob();
  Glob(Glob&&) noexcept;
  Glob& operator=(Glob&&) noexcept;

  // False if the pattern is malformed (an open `[`, a `\` at the end); such a glob matches nothing.
  bool valid() const;
  bool matches(std::string_view text) const;
  const std::string& pattern() const { return pattern_; }

  // Whether the text has a character with a meaning in globs; if not it can be compared as it is.
  static bool is_glob(std::string_view text);

 private:
  struct Compiled;
  std::string pattern_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace pldc
