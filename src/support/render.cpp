// Diagnostics as text with the source line and a caret, as JSON lines, and as SARIF.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "support/diag.h"
#include "support/fix.h"
#include "support/version.h"

namespace pldc {

std::string_view word_of(Severity severity) {
  switch (severity) {
    case Severity::Note:
      return "note";
    case Severity::Warning:
      return "warning";
    case Severity::Error:
      return "error";
  }
  return "error";
}

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWindow = 120;  // widest piece of a source line that is shown
constexpr std::size_t kTab = 4;

// --- text
// ----------------------------------------------------------------------------------------------------

struct Colors {
  std::string_view bold, error, warning, note, caret, off;
};
constexpr Colors kPlain = {"", "", "", "", "", ""};
constexpr Colors kAnsi = {"\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[1;32m", "\033[0m"};

std::string_view color_of(Severity severity, const Colors& colors) {
  switch (severity) {
    case Severity::Note:
      return colors.note;
    case Severity::Warning:
      return colors.warning;
    case Severity::Error:
      return colors.error;
  }
  return colors.error;
}

// One character of a source line as it is shown: which bytes it stands for, and what is printed in how many
// columns.
struct Cell {
  std::size_t begin;  // byte offsets in the line
  std::size_t end;
  std::string shown;
  std::size_t width;
};

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  std::size_t length = 1;
  if (first >= 0xC2 && first < 0xE0) length = 2;
  if (first >= 0xE0 && first < 0xF0) length = 3;
  if (first >= 0xF0 && first < 0xF5) length = 4;
  if (at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues_character(text[at + i])) return 0;
  }
  return first < 0x80 || length > 1 ? length : 0;
}

// Characters that terminals show two columns wide, and those without a width of their own: the common blocks.
std::size_t width_of(std::string_view utf8) {
  if (utf8.size() < 2) return 1;
  std::uint32_t code = static_cast<unsigned char>(utf8[0]) & (0xFFU >> (utf8.size() + 1));
  for (std::size_t i = 1; i < utf8.size(); ++i)
    code = (code << 6) | (static_cast<unsigned char>(utf8[i]) & 0x3FU);
  if (code >= 0x300 && code < 0x370) return 0;
  const bool wide = (code >= 0x1100 && code < 0x1160) || (code >= 0x2E80 && code < 0xA4D0) ||
                    (code >= 0xAC00 && code < 0xD7A4) || (code >= 0xF900 && code < 0xFB00) ||
                    (code >= 0xFF00 && code < 0xFF61) || (code >= 0x1F300 && code < 0x1FB00);
  return wide ? 2 : 1;
}

std::vector<Cell> cells_of(std::string_view line) {
  std::vector<Cell> cells;
  std::size_t column = 0;
  for (std::size_t at = 0; at < line.size();) {
    Cell cell{at, at + 1, std::string(), 1};
    const auto byte = static_cast<unsigned char>(line[at]);
    const std::size_t length = utf8_length(line, at);
    if (byte == '\t') {
      cell.width = kTab - column % kTab;
      cell.shown.assign(cell.width, ' ');
    } else if (length == 0 || byte < 0x20 || byte == 0x7F) {
      // Never send control bytes or broken UTF-8 to a terminal.
      cell.shown = fmt::format("<{:02X}>", byte);
      cell.width = cell.shown.size();
    } else {
      cell.end = at + length;
      cell.shown = line.substr(at, length);
      cell.width = width_of(cell.shown);
    }
    column += cell.width;
    at = cell.end;
    cells.push_back(std::move(cell));
  }
  return cells;
}

void show_source(std::string& out, const SourceFile& file, Span span, const Colors& colors) {
  const LineColumn at = file.locate(span.begin);
  const std::string_view line = file.line_text(at.line);
  const std::size_t begin = std::min<std::size_t>(at.column - 1, line.size());
  const std::size_t length = std::max<std::size_t>(1, span.end - span.begin);
  const std::size_t end = std::min(begin + length, std::max(line.size(), begin + 1));

  // Cells far from the place are never shown, so a line of a million columns is cut before it is measured;
  // the cut must not fall inside a character.
  const auto inside_character = [&](std::size_t i) {
    return i < line.size() && continues_character(line[i]);
  };
  std::size_t from = begin > 4 * kWindow ? begin - 4 * kWindow : 0;
  while (from > 0 && inside_character(from)) --from;
  std::size_t to = std::min(line.size(), begin + 8 * kWindow);
  while (inside_character(to)) ++to;
  std::vector<Cell> cells = cells_of(line.substr(from, to - from));
  for (Cell& cell : cells) {
    cell.begin += from;
    cell.end += from;
  }
  std::size_t first = 0;
  std::size_t last = cells.size();
  std::size_t total = 0;
  for (const Cell& cell : cells) total += cell.width;
  if (total > kWindow || from > 0 || to < line.size()) {
    // Grow a window around the place: a third of it before, the rest behind.
    std::size_t center = 0;
    while (center < cells.size() && cells[center].end <= begin) ++center;
    first = center;
    std::size_t width = 0;
    while (first > 0 && width + cells[first - 1].width <= kWindow / 3) width += cells[--first].width;
    last = center;
    while (last < cells.size() && width + cells[last].width <= kWindow) width += cells[last++].width;
    while (first > 0 && width + cells[first - 1].width <= kWindow) width += cells[--first].width;
  }
  const bool cut_left = first > 0 || from > 0;
  const bool cut_right = last < cells.size() || to < line.size();
  std::string text = "    ";
  std::string marks = "    ";
  if (cut_left) {
    text += "...";
    marks += "   ";
  }
  bool marked = false;
  for (std::size_t i = first; i < last; ++i) {
    const Cell& cell = cells[i];
    text += cell.shown;
    const bool covered = cell.begin < end && cell.end > begin;
    for (std::size_t w = 0; w < cell.width; ++w) {
      marks += !covered ? ' ' : marked ? '~' : '^';
      marked = marked || covered;
    }
  }
  if (cut_right) text += "...";
  if (!marked) marks += '^';  // the place is the end of the line
  while (!text.empty() && text.back() == ' ') text.pop_back();
  while (!marks.empty() && marks.back() == ' ') marks.pop_back();
  const std::size_t caret = marks.find('^');
  out += text;
  out += '\n';
  out += marks.substr(0, caret);
  out += colors.caret;
  out += marks.substr(caret);
  out += colors.off;
  out += '\n';
}

// Messages may quote names from the input; control bytes must not reach the terminal.
std::string printable(std::string_view message) {
  std::string out;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const char c = message[i];
    if (c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F)) {
      out += c;
    } else if (c == '\t') {
      out += ' ';
    } else {
      out += fmt::format("<{:02X}>", static_cast<unsigned char>(c));
    }
  }
  return out;
}

void show_line(std::string& out, const SourceManager& sources, Span span, Severity severity,
               std::string_view message, std::string_view code, const Colors& colors) {
  const std::string place = sources.describe(span);
  out += fmt::format("{}{}:{} {}{}:{} ", colors.bold, place.empty() ? "pldc" : place, colors.off,
                     color_of(severity, colors), word_of(severity), colors.off);
  out += fmt::format("{}{}{}", colors.bold, printable(message), colors.off);
  if (!code.empty()) out += fmt::format(" [{}]", code);
  out += '\n';
  if (place.empty()) return;
  show_source(out, *sources.file_of(span.begin), span, colors);
}

std::string render_text(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources,
                        bool color) {
  const Colors& colors = color ? kAnsi : kPlain;
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    show_line(out, sources, d.span, d.severity, d.message, diag_code(*d.kind), colors);
    for (const std::string& help : d.help) {
      out += fmt::format("  {}help:{} {}\n", colors.note, colors.off, printable(help));
    }
    for (const RelatedPlace& note : d.notes) {
      show_line(out, sources, note.span, Severity::Note, note.message, "", colors);
    }
  }
  return out;
}

// --- JSON and SARIF
// --------------------------------------------------------------------------------------------

struct Range {
  const SourceFile* file;
  LineColumn begin;
  LineColumn end;
};

std::optional<Range> range_of(Span span, const SourceManager& sources) {
  if (!span.valid()) return std::nullopt;
  const SourceFile* file = sources.file_of(span.begin);
  if (file == nullptr) return std::nullopt;
  return Range{file, file->locate(span.begin), file->locate(std::max(span.begin, span.end))};
}

// Replaces what is not UTF-8, which JSON cannot hold.
std::string dump(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void add_range(Json& to, const std::optional<Range>& range) {
  if (!range) return;
  to["file"] = range->file->name();
  to["line"] = range->begin.line;
  to["column"] = range->begin.column;
  to["end_line"] = range->end.line;
  to["end_column"] = range->end.column;
}

std::string render_json(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    Json line;
    line["severity"] = word_of(d.severity);
    line["code"] = diag_code(*d.kind);
    line["id"] = d.kind->id;
    line["message"] = d.message;
    add_range(line, range_of(d.span, sources));
    line["help"] = d.help;
    line["notes"] = Json::array();
    for (const RelatedPlace& note : d.notes) {
      Json entry;
      entry["message"] = note.message;
      add_range(entry, range_of(note.span, sources));
      line["notes"].push_back(std::move(entry));
    }
    line["fixes"] = Json::array();
    for (const Fix& fix : fixes_of(d, sources)) {
      Json entry;
      entry["title"] = fix.title;
      add_range(entry, range_of(fix.span, sources));
      entry["text"] = fix.text;
      line["fixes"].push_back(std::move(entry));
    }
    out += dump(line) + "\n";
  }
  return out;
}

std::string uri_of(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// The column counted in characters: SARIF has no word for bytes.
std::size_t characters(const SourceFile& file, LineColumn at) {
  std::size_t column = 1;
  for (const char c : file.line_text(at.line).substr(0, at.column - 1)) {
    if (!continues_character(c)) ++column;
  }
  return column;
}

Json sarif_region(const Range& range) {
  return {{"startLine", range.begin.line},
          {"startColumn", characters(*range.file, range.begin)},
          {"endLine", range.end.line},
          {"endColumn", characters(*range.file, range.end)}};
}

Json sarif_location(const Range& range) {
  Json physical;
  physical["artifactLocation"]["uri"] = uri_of(range.file->name());
  physical["region"] = sarif_region(range);
  Json location;
  location["physicalLocation"] = std::move(physical);
  return location;
}

std::string render_sarif(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources) {
  Json results = Json::array();
  std::vector<const DiagInfo*> rules;
  for (const Diagnostic& d : diagnostics) {
    auto rule = std::find(rules.begin(), rules.end(), d.kind);
    if (rule == rules.end()) rule = rules.insert(rules.end(), d.kind);
    std::string message = d.message;
    for (const std::string& help : d.help) message += "\nhelp: " + help;
    Json result;
    result["ruleId"] = diag_code(*d.kind);
    result["ruleIndex"] = rule - rules.begin();
    result["level"] = word_of(d.severity);
    result["message"]["text"] = message;
    result["locations"] = Json::array();
    if (const auto range = range_of(d.span, sources)) result["locations"].push_back(sarif_location(*range));
    for (const RelatedPlace& note : d.notes) {
      const auto range = range_of(note.span, sources);
      Json location = range ? sarif_location(*range) : Json::object();
      location["message"]["text"] = note.message;
      result["relatedLocations"].push_back(std::move(location));
    }
    for (const Fix& fix : fixes_of(d, sources)) {
      const auto range = range_of(fix.span, sources);
      if (!range) continue;
      Json replacement{{"deletedRegion", sarif_region(*range)}, {"insertedContent", {{"text", fix.text}}}};
      Json change;
      change["artifactLocation"]["uri"] = uri_of(range->file->name());
      change["replacements"] = Json::array({std::move(replacement)});
      Json entry;
      entry["description"]["text"] = fix.title;
      entry["artifactChanges"] = Json::array({std::move(change)});
      result["fixes"].push_back(std::move(entry));
    }
    results.push_back(std::move(result));
  }
  Json driver;
  driver["name"] = "pldc";
  driver["version"] = kVersion;
  driver["rules"] = Json::array();
  for (const DiagInfo* kind : rules) {
    Json rule;
    rule["id"] = diag_code(*kind);
    rule["name"] = kind->id;
    rule["shortDescription"]["text"] = kind->explanation;
    driver["rules"].push_back(std::move(rule));
  }
  Json run;
  run["tool"]["driver"] = std::move(driver);
  run["columnKind"] = "unicodeCodePoints";
  run["results"] = std::move(results);
  Json log;
  log["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  log["version"] = "2.1.0";
  log["runs"] = Json::array({std::move(run)});
  return dump(log, 2) + "\n";
}

}  // namespace

std::string render(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources,
                   const RenderOptions& options) {
  switch (options.format) {
    case DiagFormat::Text:
      return render_text(diagnostics, sources, options.color);
    case DiagFormat::Json:
      return render_json(diagnostics, sources);
    case DiagFormat::Sarif:
      return render_sarif(diagnostics, sources);
  }
  return {};
}

}  // namespace pldc
