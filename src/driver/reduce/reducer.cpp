#include "driver/reduce/reducer.h"

#include <algorithm>
#include <string_view>

#include "support/hash.h"

namespace pldc::reduce {

bool Reducer::attempt(Lines candidate) {
  if (hooks_.stop()) return false;
  const std::string text = join(candidate);
  const std::uint64_t key = hash_bytes(text);
  if (failed_.count(key) != 0) return false;
  if (!hooks_.test(text)) {
    failed_.insert(key);
    return false;
  }
  lines_ = std::move(candidate);
  hooks_.progress(lines_);
  return true;
}

bool Reducer::attempt_line(std::size_t at, std::string text) {
  Lines candidate = lines_;
  candidate[at].text = std::move(text);
  return attempt(std::move(candidate));
}

const Lines& Reducer::run() {
  // Lines first: all that follows then has less to try.
  for (bool changed = true; changed && !hooks_.stop();) {
    changed = delete_lines();
    changed = lift_bodies() || changed;
    changed = delete_parameters() || changed;
    changed = delete_results() || changed;
    changed = delete_items() || changed;
    changed = replace_calls() || changed;
  }
  return lines_;
}

bool Reducer::delete_lines() {
  bool changed = false;
  for (std::size_t depth = 0;; ++depth) {
    const auto all = depths(lines_);
    if (std::find(all.begin(), all.end(), depth) == all.end()) return changed;
    changed = delete_under(depth) || changed;
  }
}

// Takes out lines of one depth with all that stands under them: all, then halves, quarters and so on, from the end, where
// the uses of what stands before them are.
bool Reducer::delete_under(std::size_t depth) {
  bool changed = false;
  const auto at_depth = [&] {
    std::vector<std::size_t> out;
    const auto all = depths(lines_);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] == depth) out.push_back(i);
    }
    return out;
  };
  std::vector<std::size_t> heads = at_depth();
  std::size_t chunk = heads.size();
  while (chunk > 0 && !hooks_.stop()) {
    bool smaller = false;
    std::size_t end = heads.size();
    while (end > 0) {
      const std::size_t begin = end > chunk ? end - chunk : 0;
      Lines candidate;
      std::size_t copied = 0;
      for (std::size_t i = begin; i < end; ++i) {
        candidate.insert(candidate.end(), lines_.begin() + static_cast<std::ptrdiff_t>(copied),
                         lines_.begin() + static_cast<std::ptrdiff_t>(heads[i]));
        copied = end_of(lines_, heads[i]);
      }
      candidate.insert(candidate.end(), lines_.begin() + static_cast<std::ptrdiff_t>(copied), lines_.end());
      if (attempt(std::move(candidate))) {
        smaller = changed = true;
        heads = at_depth();
        end = std::min(begin, heads.size());
      } else {
        end = begin;
      }
    }
    if (chunk == 1 && !smaller) break;
    if (chunk > 1) chunk = std::min((chunk + 1) / 2, std::max<std::size_t>(heads.size(), 1));
  }
  return changed;
}

// A `for`, `if` or `with` gives way to its body.
bool Reducer::lift_bodies() {
  bool changed = false;
  for (std::size_t i = 0; i < lines_.size() && !hooks_.stop(); ++i) {
    const std::size_t end = end_of(lines_, i);
    if (end == i + 1) continue;
    Lines candidate = lines_;
    const std::size_t by = lines_[i + 1].indent - lines_[i].indent;
    for (std::size_t k = i + 1; k < end; ++k) candidate[k].indent -= std::min(candidate[k].indent, by);
    candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(i));
    if (attempt(std::move(candidate))) {
      changed = true;
      --i;
    }
  }
  return changed;
}

// A parameter goes together with the argument of each call.
bool Reducer::delete_parameters() {
  bool changed = false;
  for (std::size_t i = 0; i < lines_.size() && !hooks_.stop(); ++i) {
    if (!lines_[i].text.starts_with("def ")) continue;
    for (std::size_t p = 0;;) {
      const std::string def = lines_[i].text;
      const std::vector<Group> groups = groups_of(def);
      if (groups.empty() || p >= groups[0].items.size()) break;
      const std::string name = def.substr(groups[0].head, groups[0].open - groups[0].head);
      const bool method = item_text(def, groups[0], 0) == "self";
      if (method && p == 0) {
        ++p;
        continue;
      }
      Lines candidate = lines_;
      candidate[i].text = without_item(def, groups[0], p);
      const std::size_t position = p - (method ? 1 : 0);
      for (Line& line : candidate) {
        // Innermost first, so that positions of the groups around stay right.
        const std::vector<Group> calls = groups_of(line.text);
        for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
          const std::string_view head =
              std::string_view(line.text).substr(call->head, call->open - call->head);
          // self.f(x), or pl.submit(self.f, x)
          const bool direct = head == "self." + name;
          const bool handed = !call->items.empty() && item_text(line.text, *call, 0) == "self." + name;
          const std::size_t argument = position + (handed ? 1 : 0);
          if ((direct || handed) && argument < call->items.size())
            line.text = without_item(line.text, *call, argument);
        }
      }
      if (attempt(std::move(candidate))) {
        changed = true;
      } else {
        ++p;
      }
    }
  }
  return changed;
}

// A function's results go together with its returns, and with what its calls are assigned to. Callers usually stand below.
bool Reducer::delete_results() {
  bool changed = false;
  for (std::size_t i = lines_.size(); i-- > 0 && !hooks_.stop();) {
    const std::string& def = lines_[i].text;
    if (!def.starts_with("def ") || def.find("->") == std::string::npos) continue;
    const std::vector<Group> groups = groups_of(def);
    if (groups.empty()) continue;
    const std::string call =
        std::string("self.").append(def, groups[0].head, groups[0].open - groups[0].head).append("(");
    const std::size_t end = end_of(lines_, i);
    Lines candidate;
    for (std::size_t k = 0; k < lines_.size(); ++k) {
      Line line = lines_[k];
      const bool inside = k > i && k < end;
      if (k == i) line.text = def.substr(0, groups[0].close + 1) + ":";
      if (inside && line.text.starts_with("return")) {
        // A call that is returned is made nevertheless.
        const bool calls = line.text.find("self.") != std::string::npos;
        line.text = calls ? line.text.substr(line.text.find("self.")) : "pass";
      }
      const std::size_t at = line.text.find(call);
      if (at != std::string::npos && (line.text.starts_with("return ") || line.text.find(" = ") < at))
        line.text.erase(0, at);
      candidate.push_back(std::move(line));
    }
    changed = attempt(std::move(candidate)) || changed;
  }
  return changed;
}

bool Reducer::delete_items() {
  bool changed = false;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    for (std::size_t g = 0; !hooks_.stop(); ++g) {
      std::vector<Group> groups = groups_of(lines_[i].text);
      if (g >= groups.size()) break;
      for (std::size_t item = groups[g].items.size(); item > 0; --item) {
        if (!attempt_line(i, without_item(lines_[i].text, groups[g], item - 1))) continue;
        changed = true;
        groups = groups_of(lines_[i].text);
        if (g >= groups.size()) break;
        item = std::min(item, groups[g].items.size() + 1);
      }
    }
  }
  return changed;
}

// `f(a, b)` gives way to a, or to b.
bool Reducer::replace_calls() {
  bool changed = false;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    for (std::size_t g = 0; !hooks_.stop(); ++g) {
      const std::string text = lines_[i].text;
      const std::vector<Group> groups = groups_of(text);
      if (g >= groups.size()) break;
      const Group& group = groups[g];
      for (std::size_t item = 0; item < group.items.size(); ++item) {
        std::string shorter = text.substr(0, group.head);
        shorter += item_text(text, group, item);
        shorter += text.substr(group.close + 1);
        if (!attempt_line(i, std::move(shorter))) continue;
        changed = true;
        --g;  // the group is gone; what was inside it stands here now
        break;
      }
    }
  }
  return changed;
}

}  // namespace pldc::reduce
