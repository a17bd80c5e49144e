// What is said about words of the language, as Markdown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/lsp/document.h"
#include "ir/op.h"

namespace pldc::lsp {

// "pl.tile.load", with the prefix of the text; ops called as Python's keywords get their underscore.
std::string written(const Analysis& analysis, const OpInfo& op);

// The op that a written path names with its category, else none_.
OpId op_of(const Analysis& analysis, std::string_view path);
// The ops that the path may mean: the one of that name, or all whose last part it is.
std::vector<const OpInfo*> ops_of(const Analysis& analysis, std::string_view path);
// All ops that may be written without their category, behind "pl." or "pld.".
std::vector<const OpInfo*> short_ops(bool pld);
// For a call in the text: what the reader took it for if it did, else the ops of its name.
std::vector<const OpInfo*> ops_called(const Analysis& analysis, std::string_view path, std::size_t offset);

std::string op_markdown(const OpInfo& op);
// About a keyword of an op: which values it takes.
std::string keyword_markdown(const OpInfo& op, const Keyword& keyword);
// About a path that begins with pl. or pld. and is no op: a type, a form, an enum or its member, a dtype; empty if it
// means nothing.
std::string word_markdown(const Analysis& analysis, std::string_view path);
// About a pass; empty if there is none of that name.
std::string pass_markdown(std::string_view name);

std::string code_block(std::string_view text);

}  // namespace pldc::lsp
