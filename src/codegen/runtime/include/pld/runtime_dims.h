// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Dynamic dims of parameters: a symbol, or a symbol with one constant (`NR * 2`, `1 + M`, `N // 4`), whose value an extent
// gives back. Any other text is taken as a symbol of its own. Included by launcher.cpp only.
#pragma once
#include <cstdlib>

namespace pld {
namespace {

struct DimText {
  Text symbol;
  char op = 0;  // + - * /, 0: the symbol alone
  int64_t constant = 0;

  explicit DimText(const char* text) : symbol(text) {
    const size_t first = symbol.find(' ');
    const size_t second = first == Text::npos ? first : symbol.find(' ', first + 1);
    if (second == Text::npos || symbol.find(' ', second + 1) != Text::npos) return;
    const Text left = symbol.substr(0, first), middle = symbol.substr(first + 1, second - first - 1),
               right = symbol.substr(second + 1);
    const bool commutes = middle == "+" || middle == "*";
    if (!commutes && middle != "-" && middle != "//") return;
    const bool constant_first = commutes && is_number(left);
    const Text& name = constant_first ? right : left;
    const Text& number = constant_first ? left : right;
    if (!is_number(number) || is_number(name) || name.find_first_of("()") != Text::npos) return;
    constant = std::strtoll(number.c_str(), nullptr, 10);
    if ((middle == "*" || middle == "//") && constant <= 0) return;
    op = middle[0];
    symbol = Text(name);
  }

  // The largest number where the extent would be larger: no memory holds that.
  int64_t extent(int64_t value) const {
    int64_t result = value;
    bool overflow = false;
    switch (op) {
      case '+':
        overflow = __builtin_add_overflow(value, constant, &result);
        break;
      case '-':
        result = value < 0 ? -1 : value - constant;
        break;
      case '*':
        overflow = __builtin_mul_overflow(value, constant, &result);
        break;
      case '/':
        result = value >= 0 ? value / constant : -1;
        break;
      default:
        break;
    }
    if (!overflow) return result;
    return value < 0 ? -1 : INT64_MAX;
  }

  // A value that gives the extent (the smallest for //), -1 if there is none.
  int64_t value(int64_t extent) const {
    switch (op) {
      case '+':
        return extent - constant;
      case '-':
        return __builtin_add_overflow(extent, constant, &extent) ? -1 : extent;
      case '*':
        return extent % constant == 0 ? extent / constant : -1;
      case '/':
        return __builtin_mul_overflow(extent, constant, &extent) ? -1 : extent;
      default:
        return extent;
    }
  }

 private:
  static bool is_number(const Text& s) {
    return !s.empty() && s.find_first_not_of("0123456789") == Text::npos;
  }
};

}  // namespace
}  // namespace pld
