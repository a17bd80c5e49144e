#include "support/diag.h"

#include <nlohmann/json.hpp>
#include <set>

#include "support/catch.h"
#include "support/diag/driver.h"

using namespace pldc;

TEST_CASE("diagnostic table: ids and codes are unique and within the range of their file") {
  std::set<std::string_view> ids;
  std::set<unsigned> codes;
  for (const DiagInfo* kind : all_diags()) {
    const DiagInfo& info = *kind;
    CAPTURE(info.id, info.code);
    CHECK(ids.insert(info.id).second);
    CHECK(codes.insert(info.code).second);
    CHECK(info.code >= 100);
    CHECK(info.code <= 999);
    CHECK(!info.format.empty());
    CHECK(info.explanation.size() > 20);
  }
}

TEST_CASE("sink: sorts by place, keeps the order of equal places, drops duplicates") {
  DiagSink sink;
  sink.report<diag::bad_option>(Span{20, 21}, "late");
  sink.report<diag::bad_option>(Span{10, 11}, "first");
  sink.report<diag::bad_option>(Span{10, 11}, "second");
  sink.report<diag::bad_option>(Span{10, 11}, "first");
  const auto all = sink.take();
  REQUIRE(all.size() == 3);
  CHECK(all[0].message == "first");
  CHECK(all[1].message == "second");
  CHECK(all[2].message == "late");
  CHECK(sink.all().empty());
  CHECK(sink.has_errors());
}

TEST_CASE("sink: the limit of errors, and warnings past it") {
  DiagOptions options;
  options.max_errors = 2;
  DiagSink sink(options);
  for (int i = 0; i < 5; ++i)
    sink.report<diag::bad_option>(Span{}, fmt::format("error {}", i)).help("ignored");
  CHECK(sink.full());
  CHECK(sink.error_count() == 2);
  sink.report<diag::no_effect>(Span{}, "--x", "why");
  CHECK(sink.all().size() == 3);
}

TEST_CASE("sink: warnings can be switched off or made errors") {
  DiagOptions options;
  options.disabled.insert("no_effect");
  DiagSink off(options);
  off.report<diag::no_effect>(Span{}, "--x", "why").help("never seen").note(Span{}, "nor this");
  CHECK(off.all().empty());

  DiagOptions strict;
  strict.warnings_as_errors = true;
  DiagSink errors(strict);
  errors.report<diag::no_effect>(Span{}, "--x", "why");
  CHECK(errors.error_count() == 1);
  CHECK(errors.all().front().severity == Severity::Error);
}

namespace {

std::string show(std::string text, std::size_t begin, std::size_t end, DiagFormat format = DiagFormat::Text,
                 bool color = false) {
  SourceManager sources;
  const SourceFile* file = sources.add("f.pld", std::move(text));
  DiagSink sink;
  const auto at = [&](std::size_t offset) { return static_cast<std::uint32_t>(file->base() + offset); };
  sink.report<diag::bad_option>(Span{at(begin), at(end)}, "wrong")
      .help("right")
      .note(Span{at(0), at(1)}, "here");
  return render(sink.take(), sources, {format, color});
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == '\n') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("text: place, message, code, source line, caret, help, notes") {
  CHECK(show("ab = 1\n  v = pl.lod(x)\n", 13, 19) ==
        "f.pld:2:7: error: wrong [PLD0904]\n"
        "      v = pl.lod(x)\n"
        "          ^~~~~~\n"
        "  help: right\n"
        "f.pld:1:1: note: here\n"
        "    ab = 1\n"
        "    ^\n");
}

TEST_CASE("text: tabs and wide characters keep the caret in place") {
  const auto tab = lines(show("\tx = y\n", 5, 6));
  CHECK(tab[1] == "        x = y");
  CHECK(tab[2] == "            ^");
  // U+00E9 is one column in two bytes, U+4E2D two columns in three.
  const auto wide = lines(show("\xC3\xA9 \xE4\xB8\xAD = y\n", 9, 10));
  CHECK(wide[1] == "    \xC3\xA9 \xE4\xB8\xAD = y");
  CHECK(wide[2] == "           ^");
}

TEST_CASE("text: control bytes and broken UTF-8 are shown, not sent") {
  const auto out = lines(show("a\033b\xFF = y\n", 3, 4));
  CHECK(out[1] == "    a<1B>b<FF> = y");
  CHECK(out[2] == "          ^~~~");
}

TEST_CASE("text: a place at the end of a line or of the file") {
  const auto end = lines(show("abc\ndef", 7, 7));
  CHECK(end[0] == "f.pld:2:4: error: wrong [PLD0904]");
  CHECK(end[2] == "       ^");
  const auto empty = lines(show("", 0, 1));
  CHECK(empty[0] == "f.pld:1:1: error: wrong [PLD0904]");
  CHECK(empty[2] == "    ^");
}

TEST_CASE("text: a place over several lines is marked on the first") {
  const auto out = lines(show("call(a,\n     b)\n", 0, 15));
  CHECK(out[1] == "    call(a,");
  CHECK(out[2] == "    ^~~~~~~");
}

TEST_CASE("text: a window of a very long line") {
  std::string text(200000, 'x');
  text.replace(100000, 3, "BAD");
  const auto out = lines(show(text, 100000, 100003));
  CHECK(out[1].size() <= 4 + 3 + 120 + 3);
  CHECK(out[1].find("...x") == 4);
  CHECK(out[1].substr(out[1].size() - 4) == "x...");
  CHECK(out[2].find('^') == out[1].find("BAD"));
  CHECK(out[2].size() == out[1].find("BAD") + 3);
}

TEST_CASE("text: a place longer than the window") {
  const auto out = lines(show(std::string(5000, 'x'), 10, 4000));
  CHECK(out[1].size() <= 4 + 3 + 120 + 3);
  CHECK(out[2].find('^') == 14);
}

TEST_CASE("text: colours are asked for, and reset") {
  const std::string plain = show("abc\n", 0, 3);
  const std::string color = show("abc\n", 0, 3, DiagFormat::Text, true);
  CHECK(plain.find('\033') == std::string::npos);
  CHECK(color.find("\033[1;31merror:\033[0m") != std::string::npos);
}

TEST_CASE("json: one object a line") {
  const std::string out = show("ab = 1\n  v = \"q\xFF\"\n", 13, 16, DiagFormat::Json);
  REQUIRE(out.back() == '\n');
  CHECK(out.find('\n') == out.size() - 1);
  const auto json = nlohmann::json::parse(out);
  CHECK(json["severity"] == "error");
  CHECK(json["code"] == "PLD0904");
  CHECK(json["id"] == "bad_option");
  CHECK(json["file"] == "f.pld");
  CHECK(json["line"] == 2);
  CHECK(json["column"] == 7);
  CHECK(json["end_column"] == 10);
  CHECK(json["help"][0] == "right");
  CHECK(json["notes"][0]["line"] == 1);
}

TEST_CASE("sarif: version, rules, results with regions in characters") {
  const auto json = nlohmann::json::parse(show("\xC3\xA9 = y\n", 5, 6, DiagFormat::Sarif));
  CHECK(json["version"] == "2.1.0");
  const auto& run = json["runs"][0];
  CHECK(run["tool"]["driver"]["name"] == "pldc");
  CHECK(run["tool"]["driver"]["rules"][0]["id"] == "PLD0904");
  const auto& result = run["results"][0];
  CHECK(result["ruleId"] == "PLD0904");
  CHECK(result["ruleIndex"] == 0);
  CHECK(result["level"] == "error");
  const auto& region = result["locations"][0]["physicalLocation"]["region"];
  CHECK(region["startLine"] == 1);
  CHECK(region["startColumn"] == 5);
  CHECK(result["relatedLocations"][0]["message"]["text"] == "here");

  SourceManager sources;
  const auto empty = nlohmann::json::parse(render({}, sources, {DiagFormat::Sarif, false}));
  CHECK(empty["runs"][0]["results"].empty());
}

TEST_CASE("a diagnostic without a place names the tool") {
  SourceManager sources;
  DiagSink sink;
  sink.report<diag::unknown_option>(Span{}, "--bad");
  CHECK(render(sink.take(), sources, {}) == "pldc: error: unknown option '--bad' [PLD0902]\n");
}

TEST_CASE("closest: likely slips only") {
  const std::vector<std::string_view> names = {"tile.load", "tile.store", "tile.add", "tile.adds",
                                               "tensor.add"};
  CHECK(closest("tile.lod", names) == "tile.load");
  CHECK(closest("tile.laod", names) == "tile.load");
  CHECK(closest("TILE.LOAD", names) == "tile.load");
  CHECK(closest("tile.addd", names) == "tile.add");
  CHECK(closest("matmul", names).empty());
  CHECK(closest("", names).empty());
  CHECK(closest("x", {"y"}).empty());
  CHECK(closest("ab", {"ba", "xy"}) == "ba");
  // A dropped or doubled letter is likelier than a replaced one.
  CHECK(closest("lod", {"log", "load"}) == "load");
  CHECK(closest("mull", {"full", "mul"}) == "mul");
  CHECK(closest("gul", {"mul", "xul"}) == "mul");
}
