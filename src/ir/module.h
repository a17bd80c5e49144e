// Functions, programs and modules (a program plus how its text was written).
#pragma once

#include <string>
#include <string_view>

#include "ir/stmt.h"

namespace pldc {

struct Param {
  const Var* var;
  ParamDirection direction;
  Span type_span;  // of the annotation
};

struct Function {
  Name name;
  Span span;       // decorator to end of body
  Span name_span;  // in the `def` line
  List<Param> params;
  List<const Type*> return_types;
  Body body;
  FuncType func_type;
  std::optional<Level> level;
  std::optional<Role> role;
  Attrs attrs;                    // auto_scope, external_source, split included, in stored order
  bool requires_runtime_binding;  // body `...`

  bool is_host_orchestrator() const {
    return level == Level::HOST && (func_type == FuncType::Orchestration || role == Role::Orchestrator);
  }
  bool is_chip_orchestrator() const {
    return level == Level::CHIP && func_type != FuncType::Graph &&
           (func_type == FuncType::Orchestration || role == Role::Orchestrator);
  }
  // InCore, AIC or AIV: a device kernel.
  bool is_kernel() const {
    return func_type == FuncType::InCore || func_type == FuncType::AIC || func_type == FuncType::AIV;
  }
  bool is_wrapper() const { return func_type == FuncType::Group || func_type == FuncType::Spmd; }
};

// What a FuncType implies for level and role (format.md 2.2); Opaque, Spmd and Inline imply nothing.
struct LevelRole {
  std::optional<Level> level;
  std::optional<Role> role;
};
constexpr LevelRole implied_level_role(FuncType type) {
  switch (type) {
    case FuncType::Orchestration:
    case FuncType::Graph:
      return {Level::CHIP, Role::Orchestrator};
    case FuncType::InCore:
      return {Level::CHIP_DIE, Role::SubWorker};
    case FuncType::AIC:
      return {Level::AIC, Role::SubWorker};
    case FuncType::AIV:
      return {Level::AIV, Role::SubWorker};
    case FuncType::Group:
      return {Level::CORE_GROUP, Role::SubWorker};
    case FuncType::Opaque:
    case FuncType::Spmd:
    case FuncType::Inline:
      return {};
  }
  return {};
}

struct Program {
  Name name;
  List<const Function*> functions;  // sorted bytewise by name; names are unique

  const Function* find(Name function) const {
    for (const Function* f : functions) {
      if (f->name == function) return f;
    }
    return nullptr;
  }
};

// How a text is written; kept from reading to printing so that `roundtrip` prints what it read.
struct TextStyle {
  Dialect dialect = Dialect::Dump;
  PrintStyle style = PrintStyle::Printed;
  std::string prefix = "pl";
};

struct Module {
  const Program* program = nullptr;
  // A text that holds only an @pl.function: `program` then has that one function and no class line is printed.
  bool bare_function = false;
  TextStyle style;
};

}  // namespace pldc
