// The words of the language that are no ops: types, forms, enumerations and dtypes, each with what it means. Ops have
// their own table (ir/op.h). `list`, `explain`, the language server and the editors' files read these.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pldc {

struct Fact {
  std::string_view name;
  std::string_view text;
};

// "Tensor": what it is and how it is written.
std::span<const Fact> type_facts();
// "range": forms `pl.range(...)` that are no ops, and the directions of parameters. The first line of the text is a
// summary; the rest, behind an empty line, shows how it is written.
std::span<const Fact> form_facts();

struct EnumFact {
  std::string_view head;  // "pl" or "pld"
  std::string_view name;  // "FunctionType"
  std::string_view text;
  std::vector<std::string> members;  // as they are written
};
const std::vector<EnumFact>& enum_facts();
// By its name without the head; null if there is none.
const EnumFact* find_enum(std::string_view name);

std::vector<std::string_view> dtype_names();

}  // namespace pldc
