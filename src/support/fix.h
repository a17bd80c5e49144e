// What the help of a diagnostic says, as a change of the text that a program can make.
#pragma once

#include <string>
#include <vector>

#include "support/diag.h"

namespace pldc {

struct Fix {
  Span span;          // what is replaced; empty: the text is put in before
  std::string text;   // by what
  std::string title;  // "Replace 'lod' by 'load'"
};

// Of the helps that name one word for another ("did you mean 'pl.load'?", "add an underscore: 'and_'") or say what to put
// in where they stand ("add ':' here", as notes do, too) or as a line of its own ("add '@pl.program' above"), in their order. A
// fix is what a reader of the help would most likely do; nobody has checked that the program is right afterwards.
std::vector<Fix> fixes_of(const Diagnostic& diagnostic, const SourceManager& sources);

}  // namespace pldc
