#include "codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "ir/auto_name.h"

namespace pldc {
namespace {

constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// C++20 keywords, alternative tokens included.
constexpr std::string_view kKeywords[] = {"alignas",
                                          "alignof",
                                          "and",
                                          "and_eq",
                                          "asm",
                                          "auto",
                                          "bitand",
                                          "bitor",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "char16_t",
                                          "char32_t",
                                          "char8_t",
                                          "class",
                                          "co_await",
                                          "co_return",
                                          "co_yield",
                                          "compl",
                                          "concept",
                                          "const",
                                          "const_cast",
                                          "consteval",
                                          "constexpr",
                                          "constinit",
                                          "continue",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "do",
                                          "double",
                                          "dynamic_cast",
                                          "else",
                                          "enum",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "final",
                                          "float",
                                          "for",
                                          "friend",
                                          "goto",
                                          "if",
                                          "import",
                                          "inline",
                                          "int",
                                          "long",
                                          "module",
                                          "mutable",
                                          "namespace",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "not_eq",
                                          "nullptr",
                                          "operator",
                                          "or",
                                          "or_eq",
                                          "override",
                                          "private",
                                          "protected",
                                          "public",
                                          "register",
                                          "reinterpret_cast",
                                          "requires",
                                          "return",
                                          "short",
                                          "signed",
                                          "sizeof",
                                          "static",
                                          "static_assert",
                                          "static_cast",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "thread_local",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "union",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "wchar_t",
                                          "while",
                                          "xor",
                                          "xor_eq"};

// What the generated code itself uses, and macros of the C library; a local of that name would hide or break it.
constexpr std::string_view kLibraryNames[] = {"AICORE",
                                              "BLayout",
                                              "BUFSIZ",
                                              "CHAR_BIT",
                                              "ChipTaskArgs",
                                              "ChipTensor",
                                              "CommContext",
                                              "CoreTaskArgs",
                                              "DataType",
                                              "EOF",
                                              "GlobalTensor",
                                              "INFINITY",
                                              "LINE_MAX",
                                              "Layout",
                                              "MixedKernels",
                                              "NAN",
                                              "NULL",
                                              "PadValue",
                                              "RAND_MAX",
                                              "SLayout",
                                              "SaturationMode",
                                              "Shape",
                                              "Stride",
                                              "TaskOutputTensors",
                                              "TensorCreateInfo",
                                              "Tile",
                                              "TileAcc",
                                              "TileLeft",
                                              "TileRight",
                                              "TileType",
                                              "RoundMode",
                                              "AtomicType",
                                              "CmpMode",
                                              "PipeDir",
                                              "alloc_tensors",
                                              "assert",
                                              "bfloat16_t",
                                              "comm",
                                              "decltype",
                                              "errno",
                                              "float8_e4m3_t",
                                              "float8_e8m0_t",
                                              "get_block_idx",
                                              "get_block_num",
                                              "get_sub_block_id",
                                              "half",
                                              "int16_t",
                                              "int32_t",
                                              "int64_t",
                                              "int8_t",
                                              "kInvalidKernel",
                                              "kernel_entry",
                                              "linux",
                                              "main",
                                              "offsetof",
                                              "pipe_barrier",
                                              "pld",
                                              "pto",
                                              "set_flag",
                                              "signals",
                                              "size_t",
                                              "std",
                                              "stderr",
                                              "stdin",
                                              "stdout",
                                              "uint16_t",
                                              "uint32_t",
                                              "uint64_t",
                                              "uint8_t",
                                              "unix",
                                              "wait_flag"};

template <std::size_t N>
bool contains(const std::string_view (&list)[N], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool starts_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

// Families of names that belong to the libraries: tile instructions, macros.
bool is_library_name(std::string_view name) {
  if (contains(kLibraryNames, name)) return true;
  for (const std::string_view prefix :
       {"PIPE_", "EVENT_", "PLD_", "PTO2", "INT", "UINT", "SIZE_", "M_", "FP_", "E", "FLT_", "DBL_", "SIG",
        "WCHAR_", "pld_", "rt_", "aicpu_", "pldc_", "pldk_"}) {
    if (!starts_with(name, prefix)) continue;
    // A single capital E followed by capitals is an errno macro; "Edge" and "E" are names.
    if (prefix == "E" && !(name.size() > 2 && is_upper(name[1]) && is_upper(name[2]))) continue;
    return true;
  }
  if (name.size() < 4 || name[0] != 'T') return false;  // TADD, TLOAD, TROWEXPANDMUL
  return std::all_of(name.begin(), name.end(), [](char c) { return is_upper(c) || is_digit(c); });
}

// Where to break a comment or argument list: the last blank before the limit.
std::size_t break_at(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text.size();
  const std::size_t blank = text.rfind(' ', limit);
  return blank == std::string_view::npos || blank < limit / 2 ? limit : blank;
}

}  // namespace

// ---- CppText -------------------------------------------------------------------------------------------------------

void CppText::line(std::string_view text) {
  if (text.empty()) {
    if (!blank_) text_ += '\n';
    blank_ = true;
    return;
  }
  if (!next_.empty() && next_ != last_next_) {
    put(next_);
    last_next_ = next_;
  }
  next_.clear();
  put(text);
}

void CppText::put(std::string_view text) {
  text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
  text_ += text;
  text_ += '\n';
  blank_ = false;
}

void CppText::open(std::string_view head) {
  line(std::string(head) + " {");
  last_next_.clear();
  ++depth_;
  blank_ = true;
}

void CppText::close(std::string_view tail) {
  // No blank line before a closing brace.
  while (text_.size() >= 2 && text_[text_.size() - 1] == '\n' && text_[text_.size() - 2] == '\n')
    text_.pop_back();
  --depth_;
  next_.clear();
  last_next_.clear();
  put("}" + std::string(tail));
}

void CppText::middle(std::string_view text) {
  while (text_.size() >= 2 && text_[text_.size() - 1] == '\n' && text_[text_.size() - 2] == '\n')
    text_.pop_back();
  --depth_;
  next_.clear();
  last_next_.clear();
  put(text);
  ++depth_;
  blank_ = true;
}

void CppText::comment(std::string_view text) {
  const std::string safe = cpp_comment(text);
  const std::size_t width = kCppColumns - std::min<std::size_t>(60, static_cast<std::size_t>(depth_) * 2) - 3;
  std::string_view rest = safe;
  bool first = true;
  do {
    const std::size_t n = break_at(rest, first ? width : width - 4);
    // A piece that ends in a backslash would continue the comment on the next line.
    std::string piece(rest.substr(0, n));
    if (!piece.empty() && piece.back() == '\\') piece += '.';
    put((first ? "// " : "//     ") + piece);
    rest.remove_prefix(n);
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    first = false;
  } while (!rest.empty());
}

void CppText::call(std::string_view head, const std::vector<std::string>& args, std::string_view tail) {
  std::string now(head);
  const std::size_t room = kCppColumns - static_cast<std::size_t>(depth_) * 2;
  bool broken = false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    std::string piece = args[i] + (i + 1 < args.size() ? "," : std::string(tail));
    const bool glue = broken && now == "    ";
    const std::size_t blank = i == 0 ? 0 : 1;
    // A line that is too long is broken, unless a line of its own would not hold the piece either.
    if (!glue && now.size() + blank + piece.size() > room && (i != 0 || piece.size() + 4 <= room)) {
      line(now);
      now = "    ";
      broken = true;
    }
    if (blank != 0 && now != "    ") now += ' ';
    now += piece;
  }
  if (args.empty()) now += tail;
  line(now);
}

void CppText::raw(std::string_view text) {
  text_ += text;
  text_ += '\n';
  blank_ = false;
}

// ---- names and literals --------------------------------------------------------------------------------------------

bool is_cpp_keyword(std::string_view text) { return contains(kKeywords, text); }

std::string cpp_identifier(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = is_upper(c) || is_lower(c) || is_digit(c);
    if (!plain && (out.empty() || out.back() == '_')) continue;  // no leading '_', no "__"
    out += plain ? c : '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (out.empty()) out = "v";
  if (is_digit(out[0])) out.insert(0, "v");
  if (is_cpp_keyword(out) || is_library_name(out)) out += '_';
  // Longer names are legal, but neither readable nor usable in file names.
  if (out.size() > 100) out.resize(100);
  return out;
}

std::string cpp_name_part(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 100)) out += is_upper(c) || is_lower(c) || is_digit(c) ? c : '_';
  if (out.empty() || is_digit(out[0])) out.insert(0, "_");
  return out;
}

std::string cpp_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?') {  // '?': no trigraphs
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\{:03o}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string cpp_comment(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : byte > 0x7f ? '?' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  if (!out.empty() && (out.back() == '\\' || (out.size() >= 3 && out.substr(out.size() - 3) == "\?\?/")))
    out += '.';
  return out;
}

std::string_view plain_name(std::string_view name) {
  AutoName parts = parse_auto_name(name);
  if (parts.role == NameRole::None && !parts.version) {
    // "r__idx_v0_1": the printer's suffix, which keeps equal names of different variables apart.
    std::size_t end = name.size();
    while (end > 0 && is_digit(name[end - 1])) --end;
    if (end == name.size() || end < 2 || name[end - 1] != '_') return name;
    parts = parse_auto_name(name.substr(0, end - 1));
    if (!parts.version) return name;
  }
  // "data__peer_acc_tmp_v13": the qualifier says more than the base.
  return parts.qualifier.empty() ? parts.base : parts.qualifier;
}

std::string cpp_float(double value) {
  const auto single = static_cast<float>(value);
  if (std::isnan(single)) return "__builtin_nanf(\"\")";
  if (std::isinf(single)) return single < 0 ? "-__builtin_inff()" : "__builtin_inff()";
  std::string out;
  for (int digits = 1; digits <= 9; ++digits) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, static_cast<double>(single));
    out = buffer;
    if (std::strtof(buffer, nullptr) == single) break;
  }
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out + 'f';
}

std::string cpp_int(std::int64_t value) {
  if (value == INT64_MIN) return "(-9223372036854775807 - 1)";
  return std::to_string(value);
}

// ---- element types -------------------------------------------------------------------------------------------------

namespace {

struct DTypeRow {
  std::string_view scalar, memory, host, abi;
};

DTypeRow row_of(DType dtype) {
  switch (dtype) {
    case DType::BOOL:
      return {"bool", "uint8_t", "pld::b8", "DataType::BOOL"};
    case DType::INT8:
      return {"int8_t", "int8_t", "pld::i8", "DataType::INT8"};
    case DType::INT16:
      return {"int16_t", "int16_t", "pld::i16", "DataType::INT16"};
    case DType::INT32:
      return {"int32_t", "int32_t", "pld::i32", "DataType::INT32"};
    case DType::INT64:
    case DType::INDEX:
      return {"int64_t", "int64_t", "pld::i64", "DataType::INT64"};
    case DType::UINT8:
      return {"uint8_t", "uint8_t", "pld::u8", "DataType::UINT8"};
    case DType::UINT16:
      return {"uint16_t", "uint16_t", "pld::u16", "DataType::UINT16"};
    case DType::UINT32:
      return {"uint32_t", "uint32_t", "pld::u32", "DataType::UINT32"};
    case DType::UINT64:
      return {"uint64_t", "uint64_t", "pld::u64", "DataType::UINT64"};
    case DType::FP16:
      return {"half", "half", "pld::f16", "DataType::FLOAT16"};
    case DType::FP32:
      return {"float", "float", "pld::f32", "DataType::FLOAT32"};
    case DType::BF16:
      return {"bfloat16_t", "bfloat16_t", "pld::bf16", "DataType::BFLOAT16"};
    case DType::FP8E4M3FN:
      return {{}, "float8_e4m3_t", "pld::fp8e4m3", "DataType::FP8E4M3FN"};
    case DType::FP8E8M0:
      return {{}, "float8_e8m0_t", "pld::fp8e8m0", "DataType::FP8E8M0"};
    case DType::TASK_ID:
      return {"PTO2TaskId", {}, {}, {}};
    case DType::INT4:
    case DType::UINT4:
    case DType::FP4:
    case DType::FP8E5M2:
    case DType::HF4:
    case DType::HF8:
      return {};
  }
  return {};
}

}  // namespace

std::string loop_step(std::string_view name, std::string plain, const std::string& step_text,
                      std::optional<std::int64_t> step, std::optional<std::int64_t> stop, DType dtype) {
  const unsigned bits = bit_width(dtype) - (is_unsigned_int(dtype) ? 0U : 1U);
  const std::int64_t most = bits >= 63 ? INT64_MAX : (std::int64_t{1} << bits) - 1;
  const std::int64_t least = is_unsigned_int(dtype) ? 0 : -most - 1;
  bool safe = step == 1 || step == -1;
  if (step && stop && *step > 0) safe = safe || *stop <= most - *step;
  if (step && stop && *step < 0) safe = safe || *stop >= least - *step;
  return safe ? plain : fmt::format("{0} = pld_next({0}, {1})", name, step_text);
}

std::string_view cpp_scalar_type(DType dtype) { return row_of(dtype).scalar; }
std::string_view cpp_memory_type(DType dtype) { return row_of(dtype).memory; }
std::string_view host_dtype(DType dtype) { return row_of(dtype).host; }
std::string_view abi_dtype(DType dtype) { return row_of(dtype).abi; }

// ---- CppNames ------------------------------------------------------------------------------------------------------

CppNames::CppNames() { push(); }

void CppNames::pop() {
  for (const Counted& name : blocks_.back().made) {
    int& next = next_[name.base];
    next = std::min(next, name.number);
  }
  blocks_.pop_back();
}

bool CppNames::taken(const std::string& name) const {
  if (reserved_.count(name) != 0) return true;
  return std::any_of(blocks_.begin(), blocks_.end(),
                     [&](const Block& block) { return block.names.count(name) != 0; });
}

std::string CppNames::fresh(std::string_view like) {
  const std::string base = cpp_identifier(plain_name(like));
  int& next = next_[base];
  const auto spelled = [&](int n) {
    return n == 0 ? base : fmt::format("{}{}{}", base, base.back() == '_' ? "" : "_", n);
  };
  std::string name = spelled(next);
  while (taken(name)) name = spelled(++next);
  blocks_.back().names.insert(name);
  blocks_.back().made.push_back({base, next});
  ++next;
  return name;
}

const std::string& CppNames::declare(const Var* var) { return names_[var] = fresh(var->name.text()); }

const std::string& CppNames::of(const Var* var) const {
  static const std::string none;
  const auto found = names_.find(var);
  return found != names_.end() ? found->second : none;
}

// ---- Places --------------------------------------------------------------------------------------------------------

LineColumn Places::at(Span span) const {
  const SourceFile* file = span.valid() ? sources_.file_of(span.begin) : nullptr;
  return file != nullptr ? file->locate(span.begin) : LineColumn{};
}

std::string Places::describe(Span span) const {
  const LineColumn place = at(span);
  return place.line == 0 ? file_ : fmt::format("{}:{}", file_, place.line);
}

}  // namespace pldc
