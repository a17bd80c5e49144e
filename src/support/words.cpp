#include "support/words.h"

namespace pldc {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

}  // namespace

bool split_words(std::string_view text, std::vector<std::string>& words) {
  std::string word;
  bool in_word = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_space(c)) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == '\'' || c == '"') {
      const char quote = c;
      for (++i; i < text.size() && text[i] != quote; ++i) {
        const bool escape = quote == '"' && text[i] == '\\' && i + 1 < text.size() &&
                            (text[i + 1] == '"' || text[i + 1] == '\\');
        if (escape) ++i;
        word += text[i];
      }
      if (i == text.size()) return false;
    } else if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
    } else {
      word += c;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return true;
}

std::string quote_word(std::string_view word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./=,:+@%").find(c) != std::string_view::npos;
  };
  bool quote = word.empty();
  for (const char c : word) quote = quote || !plain(c);
  if (!quote) return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    std::string_view item = text.substr(0, end);
    text.remove_prefix(end == text.size() ? end : end + 1);
    while (!item.empty() && is_space(item.front())) item.remove_prefix(1);
    while (!item.empty() && is_space(item.back())) item.remove_suffix(1);
    if (!item.empty()) items.emplace_back(item);
  }
  return items;
}

}  // namespace pldc
