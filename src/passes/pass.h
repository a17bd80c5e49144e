// What a pass is, and the registry. A pass is a function from program to program plus a row in passes.def; it returns
// the very same pointer if it changed nothing. Passes walk functions in name order.
#pragma once

#include <bitset>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/context.h"
#include "support/diag.h"

namespace pldc {

// Properties of a program (passes.md section 3); each has at most one verifier, in verify/*.cpp.
enum class Property : std::uint8_t {
#define PLDC_PROPERTY(id, checked, doc) id,
#include "passes/properties.def"
#undef PLDC_PROPERTY
  count_
};
inline constexpr std::size_t kPropertyCount = static_cast<std::size_t>(Property::count_);
std::string_view name_of(Property property);
std::optional<Property> parse_property(std::string_view name);

class PropertySet {
 public:
  constexpr PropertySet() = default;
  constexpr PropertySet(std::initializer_list<Property> list) {
    for (const Property p : list) bits_ |= bit(p);
  }
  constexpr bool has(Property p) const { return (bits_ & bit(p)) != 0; }
  constexpr void add(PropertySet s) { bits_ |= s.bits_; }
  constexpr void remove(PropertySet s) { bits_ &= ~s.bits_; }
  constexpr bool empty() const { return bits_ == 0; }

 private:
  static constexpr std::uint64_t bit(Property p) { return std::uint64_t{1} << static_cast<unsigned>(p); }
  std::uint64_t bits_ = 0;
};

// "PassName.key" -> value, as given with --pass-option.
using PassOptionValues = std::map<std::string, std::string, std::less<>>;

struct PassEnv {
  Context& ir;
  DiagSink& diags;  // a pass that reported an error returns null
  const PassOptionValues& options;
  bool strict_signals = false;  // --strict-signals (decisions D6)

  std::string_view option(std::string_view pass_and_key, std::string_view otherwise) const {
    const auto found = options.find(pass_and_key);
    return found != options.end() ? std::string_view(found->second) : otherwise;
  }
};

using PassFunction = const Program* (*)(PassEnv& env, const Program* program);

struct PassOption {
  std::string_view key;
  std::string_view values;  // "call|lineage"
  std::string_view def;
  std::string_view doc;
};

struct PassInfo {
  std::string_view name;  // PyPTO's name
  std::string_view summary;
  PassFunction run;
  PropertySet required;
  PropertySet produced;
  PropertySet invalidated;
  std::vector<PassOption> options;
};

// All passes, in the order of passes.def.
const std::vector<PassInfo>& all_passes();
const PassInfo* find_pass(std::string_view name);

// One entry of the default pipeline (pipeline.def). A pass that the project does not have is listed with `pass` null: no
// program needs it. `needed_by` tells code generation whether a program needs the pass (decisions D14): it returns the
// place, or an invalid span.
struct PipelineEntry {
  int number;  // position in PyPTO's default pipeline, 1 to 49
  std::string_view name;
  std::string_view reason;  // why it stands here; for a missing pass: why it may be skipped for simulation
  const PassInfo* pass;     // null: not in this project yet
  Span (*needed_by)(const Program* program);
};
const std::vector<PipelineEntry>& default_pipeline();

// Verifier of one property. Reports findings to `diags`; true if there were none. A property without a verifier holds.
bool verify(Property property, const Program* program, DiagSink& diags);
// The properties whose verifiers find nothing wrong in the program (decisions D22).
PropertySet properties_of(const Program* program);
// The set that is verified on every input (passes.md section 3, level "basic").
bool verify_input(const Program* program, DiagSink& diags);
// The same, and what every text has that a person or a pass writes: it is asked of what is read, not of what passes leave
// behind in between.
bool verify_written(const Program* program, DiagSink& diags);
// Warns of writes into parameters that stay inputs through all passes. For a program that verify_written accepts, once:
// the passes do not ask.
void find_input_writes(const Program* program, DiagSink& diags);

}  // namespace pldc
