// A program's text as lines under lines, the way a reducer cuts it. Works on any text: what is to be reduced often does not
// parse, or crashes the parser.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pldc::reduce {

// One line, or several that brackets or a triple-quoted string hold together. No newline at the end.
struct Line {
  std::size_t indent = 0;  // columns
  std::string text;        // without the indentation of its first line
  bool operator==(const Line&) const = default;
};
using Lines = std::vector<Line>;

Lines split(std::string_view text);
// With exactly one newline at the end; the empty text for no lines.
std::string join(const Lines& lines);

// Behind the last line that stands under lines[at], by indentation.
std::size_t end_of(const Lines& lines, std::size_t at);
// How many lines stand above each line.
std::vector<std::size_t> depths(const Lines& lines);

// What stands between commas inside a pair of brackets.
struct Group {
  std::size_t open, close;  // positions of the brackets in the text of the line
  std::size_t head;         // where the name before the opening bracket begins; `open` if there is none
  std::vector<std::size_t>
      items;  // where each begins; an item ends at the comma before the next, or at `close`
};
// Outer groups before those inside them. Brackets that are not closed make no group.
std::vector<Group> groups_of(std::string_view text);

// The line without the item, and without the comma that parted it from the others.
std::string without_item(const std::string& text, const Group& group, std::size_t item);
// The text of an item without blanks around it.
std::string_view item_text(std::string_view text, const Group& group, std::size_t item);

}  // namespace pldc::reduce
