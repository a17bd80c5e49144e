// Which texts a person wrote, and what the canonical text does not keep of them.
#pragma once

#include <optional>
#include <string_view>

#include "support/source.h"

namespace pldc {

// Printed IR begins with the line "# pypto.program: NAME".
bool has_program_header(const SourceFile& file);

// Text without that line is taken for authoring text if it has an unannotated assignment in a function or a
// short op name; decided on the tokens alone, before anything is read (decisions D25).
bool is_authored(const SourceFile& file);

struct TextLoss {
  Span span;
  std::string_view what;  // "this comment"
};
// The first thing in a readable file that its canonical text `printed` does not have: a comment, a docstring,
// a module constant, or the short forms of authoring text. Linear in the sizes of both.
std::optional<TextLoss> first_loss(const SourceFile& file, std::string_view printed);

}  // namespace pldc
