// Tokens of the text form (format.md 1.2).
#pragma once

#include <cstdint>
#include <string_view>

#include "support/source.h"

namespace pldc {

// X(kind, text shown in messages)
#define PLDC_TOKENS(X)                                                                                       \
  X(End, "end of file")                                                                                      \
  X(Newline, "end of line")                                                                                  \
  X(Indent, "deeper indentation")                                                                            \
  X(Dedent, "end of block")                                                                                  \
  X(Name, "name") X(Int, "integer") X(Float, "number") X(String, "string") X(LParen, "'('") X(RParen, "')'") \
      X(LBracket, "'['") X(RBracket, "']'") X(LBrace, "'{'") X(RBrace, "'}'") X(Comma, "','")                \
          X(Colon, "':'") X(Dot, "'.'") X(Assign, "'='") X(At, "'@'") X(Arrow, "'->'") X(Ellipsis, "'...'")  \
              X(Plus, "'+'") X(Minus, "'-'") X(Star, "'*'") X(Slash, "'/'") X(DSlash, "'//'")                \
                  X(Percent, "'%'") X(DStar, "'**'") X(Shl, "'<<'") X(Shr, "'>>'") X(Amp, "'&'")             \
                      X(Pipe, "'|'") X(Caret, "'^'") X(Tilde, "'~'") X(EqEq, "'=='") X(NotEq, "'!='")        \
                          X(Lt, "'<'") X(Le, "'<='") X(Gt, "'>'") X(Ge, "'>='")                              \
                              X(AugAssign, "augmented assignment") X(Semicolon, "';'")                       \
                                  X(Error, "unreadable text")

enum class Tok : std::uint32_t {  // as wide as the other fields of a Token: copies of one stay in registers
#define X(kind, text) kind,
  PLDC_TOKENS(X)
#undef X
};

inline constexpr std::string_view kTokenText[] = {
#define X(kind, text) text,
    PLDC_TOKENS(X)
#undef X
};
constexpr std::string_view describe(Tok kind) { return kTokenText[static_cast<std::size_t>(kind)]; }

struct Token {
  Tok kind = Tok::End;
  std::uint32_t begin = 0;  // local offsets in the file
  std::uint32_t end = 0;
};

struct Comment {
  std::uint32_t begin = 0;   // of the '#'
  std::uint32_t end = 0;     // end of the line, without its line end
  std::uint32_t column = 0;  // from 0
  bool verbatim = false;     // a line of a docstring: no '#' to drop
};

}  // namespace pldc
