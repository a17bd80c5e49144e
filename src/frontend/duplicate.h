// Finding a name that is given twice, in time that hostile lists cannot make quadratic.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace pldc {

// Positions of the first repeated key and of the item that it repeats. `key` gives something ordered.
template <class T, class Key>
std::optional<std::pair<std::size_t, std::size_t>> first_duplicate(const std::vector<T>& items, Key key) {
  constexpr std::size_t kFew = 16;  // a plain scan is faster up to here
  if (items.size() <= kFew) {
    for (std::size_t i = 1; i < items.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (key(items[k]) == key(items[i])) return std::pair(i, k);
      }
    }
    return std::nullopt;
  }
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(items[a]) < key(items[b]); });
  std::optional<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const bool repeats = key(items[order[i - 1]]) == key(items[order[i]]);
    if (repeats && (!found || order[i] < found->first)) found = std::pair(order[i], order[i - 1]);
  }
  return found;
}

}  // namespace pldc
