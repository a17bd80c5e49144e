// Numbers and strings in both directions (format.md 1.3 to 1.5).
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "frontend/reader.h"
#include "frontend/writer.h"
#include "support/diag/lex.h"
#include "support/diag/parse.h"

namespace pldc {

namespace {

// Digits without the underscores that Python allows between them.
std::string_view strip_underscores(std::string_view text, std::string& storage) {
  if (text.find('_') == std::string_view::npos) return text;
  storage.clear();
  for (const char c : text) {
    if (c != '_') storage += c;
  }
  return storage;
}

// The value of a text that is digits only and cannot overflow: nearly every integer.
std::optional<std::int64_t> short_decimal(std::string_view text) {
  if (text.size() > 18) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

const Expr* Reader::read_number(bool negative, std::uint32_t begin) {
  const Token token = take();
  if (const auto plain = token.kind == Tok::Int ? short_decimal(text(token)) : std::nullopt) {
    foldable_ = true;
    return ctx_.const_int(negative ? -*plain : *plain, DType::INDEX, lex_.span(begin, token.end));
  }
  std::string storage;
  std::string_view t = strip_underscores(text(token), storage);
  const Span where = lex_.span(begin, token.end);
  foldable_ = true;
  if (token.kind == Tok::Int) {
    std::uint64_t magnitude = 0;
    const bool hex = t.size() > 2 && t[0] == '0' && (t[1] == 'x' || t[1] == 'X');
    if (hex) t.remove_prefix(2);
    const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), magnitude, hex ? 16 : 10);
    const std::uint64_t limit = std::uint64_t{1} << 63;
    if (error != std::errc() || end != t.data() + t.size() || magnitude > limit ||
        (magnitude == limit && !negative)) {
      diags_.report<diag::integer_range>(where, text(token).substr(0, 40))
          .help("integers lie between -9223372036854775808 and 9223372036854775807");
      return nullptr;
    }
    const auto value = static_cast<std::int64_t>(negative ? std::uint64_t{0} - magnitude : magnitude);
    return ctx_.const_int(value, DType::INDEX, where);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), value);
  if (error == std::errc::result_out_of_range) {
    // As in Python: too large reads as infinity, too small as zero.
    value = std::strtod(std::string(t).c_str(), nullptr);
  } else if (error != std::errc() || end != t.data() + t.size()) {
    diags_.report<diag::bad_number>(where, t.substr(0, 40));
    return nullptr;
  }
  return ctx_.const_float(negative ? -value : value, DType::FP32, where);
}

bool Reader::read_int(std::int64_t& value, std::string_view where) {
  const std::uint32_t begin = tok_.begin;
  if (const auto plain = at(Tok::Int) ? short_decimal(text(tok_)) : std::nullopt) {
    take();
    value = *plain;
    return true;
  }
  const bool negative = at(Tok::Minus);
  if (negative) take();
  if (!at(Tok::Int)) {
    if (!negative && at(Tok::Name)) {
      if (const auto found = constants_.find(ctx_.name(text(tok_))); found != constants_.end()) {
        if (const auto constant = const_int(found->second)) {
          take();
          value = *constant;
          return true;
        }
      }
    }
    unexpected(fmt::format("an integer {}", where));
    return false;
  }
  const Expr* number = read_number(negative, begin);
  if (number == nullptr) return false;
  value = static_cast<const ConstInt*>(number)->value;
  return true;
}

bool Reader::read_bool(bool& value, std::string_view where) {
  if (accept_word("True")) {
    value = true;
    return true;
  }
  if (accept_word("False")) {
    value = false;
    return true;
  }
  unexpected(fmt::format("True or False {}", where));
  return false;
}

// Python's escapes; what is no escape stays as it is.
// A string that is printed without escapes: it cannot hold what would need one.
bool Reader::read_plain_string(std::string_view& value, std::string_view where) {
  const Token token = tok_;
  if (!read_string(value, where)) return false;
  return is_plain_string(value, span(token));
}

bool Reader::is_plain_string(std::string_view value, Span where) {
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f && c != '"' && c != '\'' && c != '\\') continue;
    diags_.report<diag::unprintable_string>(where).help(
        "use a string without quotes, backslashes and control characters");
    return false;
  }
  return true;
}

bool Reader::read_string(std::string_view& value, std::string_view where) {
  if (!at(Tok::String)) {
    unexpected(fmt::format("a string {}", where));
    return false;
  }
  const Token token = take();
  std::string_view t = text(token);
  const std::size_t quotes = t.size() >= 6 && t[0] == t[1] && t[1] == t[2] ? 3 : 1;
  t = t.substr(quotes, t.size() - 2 * quotes);
  if (t.find('\\') == std::string_view::npos) {
    value = ctx_.text(t);
    return true;
  }
  std::string out;
  out.reserve(t.size());
  const auto utf8 = [&](std::uint32_t code) {
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | (code >> 6));
      out += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      out += static_cast<char>(0xe0 | (code >> 12));
      out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
      out += static_cast<char>(0x80 | (code & 0x3f));
    }
  };
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i] != '\\' || i + 1 == t.size()) {
      out += t[i];
      continue;
    }
    const char c = t[++i];
    const auto hex = [&](std::size_t digits) {
      std::uint32_t code = 0;
      if (i + digits >= t.size()) return false;
      const auto [end, error] = std::from_chars(t.data() + i + 1, t.data() + i + 1 + digits, code, 16);
      if (error != std::errc() || end != t.data() + i + 1 + digits) return false;
      i += digits;
      utf8(code);
      return true;
    };
    switch (c) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'x':
        if (!hex(2)) out += "\\x";
        break;
      case 'u':
        if (!hex(4)) out += "\\u";
        break;
      case '\n':
        break;  // a continued line
      case '\\':
      case '\'':
      case '"':
        out += c;
        break;
      default:
        out += '\\';
        out += c;
        break;
    }
  }
  if (out.find('\0') != std::string::npos) {
    diags_.report<diag::nul_in_string>(span(token));
    return false;
  }
  value = ctx_.text(out);
  return true;
}

// pl.const( [ "-" ] number | pl._dump.float64(...) "," pl.DTYPE ")"
const Expr* Reader::read_const() {
  const std::uint32_t begin = tok_.begin;
  if (!expect(Tok::LParen, "after 'pl.const'")) return nullptr;
  const bool negative = at(Tok::Minus);
  const std::uint32_t number_begin = tok_.begin;
  if (negative) take();
  const Expr* value = nullptr;
  if (at(Tok::Int) || at(Tok::Float)) {
    value = read_number(negative, number_begin);
  } else if (at_word("inf") || at_word("nan")) {
    saw_legacy_ = true;
    const double magnitude = text(take()) == "inf" ? std::numeric_limits<double>::infinity() : std::nan("");
    value = ctx_.const_float(negative ? -magnitude : magnitude, DType::FP32);
  } else if (!negative && (at_word("True") || at_word("False"))) {
    const bool is_true = text(take()) == "True";
    value = ctx_.const_int(is_true ? 1 : 0, DType::BOOL);
  } else if (!negative && at(Tok::Name)) {
    value = read_expr();
    if (value != nullptr && value->kind != ExprKind::ConstInt && value->kind != ExprKind::ConstFloat) {
      diags_.report<diag::const_operand>(span_from(number_begin)).help("pl.const takes a number and a dtype");
      return nullptr;
    }
  } else {
    unexpected("a number");
    return nullptr;
  }
  DType dtype{};
  if (value == nullptr || !expect(Tok::Comma, "after the number") || !read_dtype(dtype)) return nullptr;
  accept(Tok::Comma);
  if (!expect(Tok::RParen, "after the dtype")) return nullptr;
  const Span where = span_from(begin);
  if (const auto* i = dyn<ConstInt>(value)) return ctx_.const_int(i->value, dtype, where);
  return ctx_.const_float(static_cast<const ConstFloat*>(value)->value, dtype, where);
}

// --- printing
// --------------------------------------------------------------------------------------------------

void Writer::integer(std::int64_t value) {
  char buffer[24];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  out_.append(buffer, static_cast<std::size_t>(end - buffer));
}

// 17 significant digits as printf's %.17g, with ".0" added to what would read as an integer (format.md 1.4).
void Writer::floating(double value) {
  if (std::isnan(value)) {
    out_ += std::signbit(value) ? "-nan" : "nan";
    return;
  }
  if (std::isinf(value)) {
    out_ += value < 0 ? "-inf" : "inf";
    return;
  }
  char buffer[40];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 17);
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  out_ += text;
  if (text.find_first_of(".e") == std::string_view::npos) out_ += ".0";
}

// pl._dump.float64("<16 hex digits>"): the bits of a value that has no decimal form.
void Writer::float_bits(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  char buffer[20];
  std::snprintf(buffer, sizeof buffer, "%016llx", static_cast<unsigned long long>(bits));
  prefix();
  out_ += "_dump.float64(\"";
  out_ += std::string_view(buffer);
  out_ += "\")";
}

void Writer::quoted(std::string_view text) {
  out_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out_ += '\\';
    out_ += c;
  }
  out_ += '"';
}

void Writer::escaped_hint(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr char digits[] = "0123456789abcdef";
      out_ += "\\x";
      out_ += digits[byte >> 4];
      out_ += digits[byte & 15];
    } else {
      out_ += c;
    }
  }
}

}  // namespace pldc
