// Where the names of a text stand and what they mean, noted while the text is read: what an editor asks for.
#pragma once

#include <vector>

#include "frontend/text.h"

namespace pldc {

// One place of a name. Places of a text that does not parse are noted as far as it was understood.
struct NameUse {
  enum class Kind : std::uint8_t {
    Variable,  // `var`; symbols (pl.dynamic) too
    Constant,  // of the module, called `name`
    Function,  // of the program, called `name`; where it is called. `where` has the `self.` too
    Op,        // where it is called; `where` has the prefix too
  };
  Kind kind;
  bool defines;  // the place binds the name
  Span where;
  const Var* var = nullptr;
  Name name = {};
  OpId op = OpId::none_;
};

struct NameUses {
  std::vector<NameUse> uses;  // by place, each place once
  // Everything but the body of each function whose signature was read, in the order of the text. The span ends
  // with the signature if the body was not read.
  std::vector<Function> functions;
  Name program = {};        // empty: no class was read
  Span program_name = {};   // in the `class` line
  Span program_place = {};  // from its decorator on to the end of the file
};

// As parse(), but with `uses` filled. The variables belong to `context`.
Module parse_noting_names(const SourceFile& file, Context& context, DiagSink& diags, NameUses& uses,
                          const ReadOptions& options = {});

}  // namespace pldc
