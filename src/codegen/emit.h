// Writing C++: lines with indentation, names that are C++ identifiers, literals and comments into which no text of the
// program gets unescaped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/context.h"
#include "support/source.h"

namespace pldc {

// Totals of the simulated device (ops.md S1).
inline constexpr int kDeviceClusters = 24;
inline constexpr int kDeviceVectorCores = 48;

// A C++ text that grows line by line.
class CppText {
 public:
  explicit CppText(int depth = 0) : depth_(depth) {}
  // One line, indented; an empty text is a blank line, of which two never follow each other and none follows a line
  // that opens a block.
  void line(std::string_view text = {});
  // `head` + " {", and one level deeper; "if (..)" and "for (..)" lines too long for the column limit are not broken.
  void open(std::string_view head);
  // One level up and "}" + tail.
  void close(std::string_view tail = {});
  // "} else {"
  void middle(std::string_view text);
  // "// text", escaped, broken at the column limit.
  void comment(std::string_view text);
  // A call or declaration `head(args...)tail`, broken after commas at the column limit.
  void call(std::string_view head, const std::vector<std::string>& args, std::string_view tail = ");");
  // A line that goes before the next one of code, unless it stands there already: blocks forget what was before.
  void before_next(std::string text) { next_ = std::move(text); }
  // As it is, without indentation (preprocessor lines).
  void raw(std::string_view text);

  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }
  int depth() const { return depth_; }

 private:
  std::string text_;
  int depth_;
  bool blank_ = true;  // nothing but a blank or an opening line before
  void put(std::string_view text);
  std::string next_;
  std::string last_next_;
};

inline constexpr std::size_t kCppColumns = 110;

// The text as a C++ identifier: other characters become '_', a leading digit, a keyword, a name that begins with '_' or
// holds "__" is changed so that the result is a legal name of the user. Never empty.
std::string cpp_identifier(std::string_view text);
bool is_cpp_keyword(std::string_view text);
// The text as a part of symbols and file names: other characters become '_', keywords may stay. Never empty.
std::string cpp_name_part(std::string_view text);
// "text", quoted and escaped.
std::string cpp_string(std::string_view text);
// Text that may stand after `//`: control characters and a trailing backslash are replaced.
std::string cpp_comment(std::string_view text);
// The name without its SSA suffix: "acc__rv_v2" is "acc".
std::string_view plain_name(std::string_view name);
// What a float literal of the dtype looks like: "0.5f", "1e-05f", "pld_inf()".
std::string cpp_float(double value);
// The value as a literal of int64_t or of a narrower type.
std::string cpp_int(std::int64_t value);

// Element type as a scalar in registers ("bool", "int64_t" for INDEX, "half") and in memory ("uint8_t" for BOOL); empty if
// C++ has none.
std::string_view cpp_scalar_type(DType dtype);
// The last part of the head of a loop over `name`: `plain` if it cannot pass the end of the type, because the step is 1 or
// the constant stop is far enough from it, else a step that stays at the end.
std::string loop_step(std::string_view name, std::string plain, const std::string& step_text,
                      std::optional<std::int64_t> step, std::optional<std::int64_t> stop, DType dtype);
std::string_view cpp_memory_type(DType dtype);
// pld::f32 and DataType::FLOAT32; empty if the ABI has none.
std::string_view host_dtype(DType dtype);
std::string_view abi_dtype(DType dtype);

// The C++ names of one function. Blocks nest: a name is free again when its block ends, and no name hides another.
class CppNames {
 public:
  CppNames();
  void push() { blocks_.emplace_back(); }
  void pop();
  // Makes the name unusable in this function (names of the library, for example).
  void reserve(std::string_view name) { reserved_.emplace(name); }
  // A new name like the text (SSA suffix dropped), in the innermost block.
  std::string fresh(std::string_view like);
  // As fresh, and the variable has this name from now on.
  const std::string& declare(const Var* var);
  // The variable is another name for the C++ expression `text`.
  void alias(const Var* var, std::string text) { names_[var] = std::move(text); }
  // Empty if the variable has no name here.
  const std::string& of(const Var* var) const;

 private:
  bool taken(const std::string& name) const;
  struct Counted {
    std::string base;
    int number;
  };
  struct Block {
    std::unordered_set<std::string> names;
    std::vector<Counted> made;  // by fresh()
  };
  std::vector<Block> blocks_;
  std::unordered_map<std::string, int> next_;  // of a base: no lower number is free
  std::unordered_set<std::string> reserved_;
  std::unordered_map<const Var*, std::string> names_;
};

// Where in the .pld something stands.
class Places {
 public:
  Places(const SourceManager& sources, std::string file) : sources_(sources), file_(std::move(file)) {}
  // As it may be shown: never an absolute path.
  const std::string& file() const { return file_; }
  LineColumn at(Span span) const;  // {0, 0}: unknown
  // "file.pld:12"
  std::string describe(Span span) const;

 private:
  const SourceManager& sources_;
  std::string file_;
};

}  // namespace pldc
