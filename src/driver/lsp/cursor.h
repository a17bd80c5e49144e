// What stands around a place of a text, by its tokens alone: a text that is being typed rarely parses there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/lsp/document.h"

namespace pldc::lsp {

// The dotted path up to and with the word at `offset` ("pl.FunctionType" within pl.FunctionType.InCore), with blanks and
// line breaks in it left out; empty if there is no word. `begin` and `end` are those of the word.
struct PathAt {
  std::string path;
  std::size_t begin = 0;
  std::size_t end = 0;
};
PathAt path_at(std::string_view text, std::size_t offset);

// The path that ends right before `offset`, for what is being typed: "pl.tile." or "pl.tile.lo"; the last part may be
// empty.
std::string typed_path(std::string_view text, std::size_t offset);

// The brackets that are open at `offset` and belong to a call or a decorator: the innermost.
struct CallAt {
  std::string callee;              // "pl.tile.load", "self.kernel"; empty: there is none
  bool decorator = false;          // behind an '@'
  std::size_t argument = 0;        // commas before the place
  std::string keyword;             // "mode" behind `mode=`; empty: the argument has none (yet)
  std::vector<std::string> given;  // keywords that stand in the call so far
};
CallAt call_at(const Analysis& analysis, std::size_t offset);

const Comment* comment_at(const Analysis& analysis, std::size_t offset);
const Token* string_at(const Analysis& analysis, std::size_t offset);

}  // namespace pldc::lsp
