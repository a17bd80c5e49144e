#include "support/pattern.h"

#include <re2/re2.h>

#include <optional>

namespace pldc {
namespace {

std::optional<std::string> regex_of(std::string_view glob) {
  std::string out;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    const char c = glob[i];
    if (c == '*') {
      out += ".*";
    } else if (c == '?') {
      out += '.';
    } else if (c == '\\') {
      if (++i == glob.size()) return std::nullopt;
      out += re2::RE2::QuoteMeta(re2::StringPiece(&glob[i], 1));
    } else if (c == '[') {
      std::size_t at = i + 1;
      out += '[';
      if (at < glob.size() && (glob[at] == '!' || glob[at] == '^')) {
        out += '^';
        ++at;
      }
      const std::size_t first = at;
      // As in the shell, a `]` that comes first is a member of the set.
      while (at < glob.size() && (glob[at] != ']' || at == first)) {
        if (glob[at] != '-' || at == first) out += '\\';
        if (glob[at] == '-' && at != first) {
          out += '-';
        } else if ((glob[at] >= '0' && glob[at] <= '9') || (glob[at] >= 'a' && glob[at] <= 'z') ||
                   (glob[at] >= 'A' && glob[at] <= 'Z') || glob[at] == '_') {
          out.back() = glob[at];  // letters and digits must not be escaped: `\d` has a meaning
        } else {
          out += glob[at];
        }
        ++at;
      }
      if (at == glob.size()) return std::nullopt;
      out += ']';
      i = at;
    } else {
      out += re2::RE2::QuoteMeta(re2::StringPiece(&c, 1));
    }
  }
  return out;
}

re2::RE2::Options options() {
  re2::RE2::Options result;
  result.set_log_errors(false);
  result.set_dot_nl(true);
  result.set_encoding(re2::RE2::Options::EncodingLatin1);  // bytes: a name may be in any encoding
  return result;
}

}  // namespace

struct Glob::Compiled {
  explicit Compiled(const std::string& regex) : re(regex, options()) {}
  re2::RE2 re;
};

Glob::Glob(std::string_view pattern) : pattern_(pattern) {
  if (const auto regex = regex_of(pattern)) compiled_ = std::make_unique<Compiled>(*regex);
}
Glob::~Glob() = default;
Glob::Glob(Glob&&) noexcept = default;
Glob& Glob::operator=(Glob&&) noexcept = default;

bool Glob::valid() const { return compiled_ != nullptr && compiled_->re.ok(); }

bool Glob::matches(std::string_view text) const {
  return valid() && re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), compiled_->re);
}

bool Glob::is_glob(std::string_view text) { return text.find_first_of("*?[\\") != std::string_view::npos; }

}  // namespace pldc
