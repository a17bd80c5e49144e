// Which texts a person wrote, and what the canonical text does not keep of them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "support/source.h"

namespace pldc {

// Printed IR begins with the line "# pypto.program: NAME".
bool has_program_header(const SourceFile& file);

// The names X of the forms `pl.X(...)` that are no ops and that printed text has: "range", "yield_", ...
std::span<const std::string_view> printed_forms();

// Whether the text has an unannotated assignment in a function or a short op name; decided on the tokens alone.
bool has_short_forms(const SourceFile& file);

// A program class without the header line is authoring text (decisions D25). A function alone is printed without that
// line, so it is taken for authoring text if it has short forms. Decided before anything is read.
bool is_authored(const SourceFile& file);

struct TextLoss {
  Span span;
  std::string_view what;  // "this comment"
};
// The first thing in a readable file that its canonical text `printed` does not have: a comment, a docstring,
// a module constant, or the short forms of authoring text. Linear in the sizes of both.
std::optional<TextLoss> first_loss(const SourceFile& file, std::string_view printed);

}  // namespace pldc
