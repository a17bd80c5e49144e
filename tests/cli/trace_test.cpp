// pldc trace: the report as a file. What it does in a browser is in tests/trace.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/cli.h"
#include "support/catch.h"
#include "support/temp_dir.h"

using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string sample(const std::string& name) {
  const char* root = std::getenv("PLDC_SOURCE_ROOT");
  return std::string(root != nullptr ? root : ".") + "/samples/" + name;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

Json data_of(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(open) + open.size();
  return Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

Outcome trace(std::vector<std::string> args) {
  args.insert(args.begin(), {"trace", "-o", "-"});
  return run_pldc(args);
}

// The text after a stage, put together as the page does it.
class Texts {
 public:
  explicit Texts(const Json& data) : data_(data) {}
  std::string next(const Json& stage) {
    if (stage.contains("head")) {
      text_ = piece(stage["head"]);
      for (std::size_t i = 0; i < stage["functions"].size(); i += 2)
        text_ += (i == 0 ? "" : "\n") + piece(stage["functions"][i + 1]);
      text_ += "\n";
    }
    return text_;
  }

 private:
  std::string piece(const Json& number) const {
    return data_["texts"][number.get<std::size_t>()].get<std::string>();
  }
  const Json& data_;
  std::string text_;
};

}  // namespace

TEST_CASE("trace: each text is what a dump after the pass prints") {
  for (const std::string name : {"reveal/builtin_ring.pld", "reveal/mesh.pld"}) {
    const Outcome outcome = trace({sample(name)});
    REQUIRE(outcome.code == 0);
    const Json data = data_of(outcome.out);
    Texts texts(data);
    std::size_t compared = 0;
    for (const Json& stage : data["stages"]) {
      const std::string text = texts.next(stage);
      if (stage["state"] == "missing") continue;
      std::vector<std::string> args = {"--passes=NONE", sample(name)};
      if (stage.contains("name")) {
        const int number = stage["number"].get<int>();
        args[0] = "--dump-after=" + std::string(number < 10 ? "0" : "") + std::to_string(number) + "_" +
                  stage["name"].get<std::string>();
      }
      CHECK(text == run_pldc(args).out);
      ++compared;
    }
    CHECK(compared > 20);
  }
}

TEST_CASE("trace: what changed, line by line, and what did not") {
  const Json data = data_of(trace({sample("reveal/builtin_ring.pld")}).out);
  std::set<std::string> states;
  const auto lines = [&](const Json& text) {
    const std::string t = text == -1 ? "" : data["texts"][text.get<std::size_t>()].get<std::string>();
    return t.empty() ? 0 : count(t, "\n") + (t.back() != '\n');
  };
  for (const Json& stage : data["stages"]) {
    states.insert(stage["state"].get<std::string>());
    CHECK((stage["state"] == "changed") == stage.contains("diffs"));
    if (!stage.contains("diffs")) continue;
    std::size_t added = 0, removed = 0;
    for (const Json& diff : stage["diffs"]) {
      std::size_t before = 0, after = 0;
      for (std::size_t i = 0; i < diff[3].size(); i += 3) {
        before += diff[3][i].get<std::size_t>() + diff[3][i + 1].get<std::size_t>();
        after += diff[3][i].get<std::size_t>() + diff[3][i + 2].get<std::size_t>();
        removed += diff[3][i + 1].get<std::size_t>();
        added += diff[3][i + 2].get<std::size_t>();
      }
      CHECK(before == lines(diff[1]));
      CHECK(after == lines(diff[2]));
    }
    CHECK(added == stage["added"].get<std::size_t>());
    CHECK(removed == stage["removed"].get<std::size_t>());
    CHECK(added + removed > 0);
  }
  CHECK(states.count("read") + states.count("changed") + states.count("same") == 3);
  // Every text is stored once.
  const auto texts = data["texts"].get<std::vector<std::string>>();
  CHECK(std::set<std::string>(texts.begin(), texts.end()).size() == texts.size());
}

TEST_CASE("trace: one file that connects to nothing, whatever the program says") {
  const std::string html = trace({sample("reveal/mesh.pld")}).out;
  CHECK_THAT(html, Contains("Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-"));
  for (const char* outside : {"src=", "href=", "@import", "http:", "https:", "url(", "fetch(", "XMLHttp"}) {
    // Namespaces and marks inside of the page are no addresses.
    std::string rest = html;
    for (const std::string harmless : {"http://www.w3.org/2000/svg", "url(#tip)"}) {
      for (std::size_t at = rest.find(harmless); at != std::string::npos; at = rest.find(harmless))
        rest.erase(at, harmless.size());
    }
    CAPTURE(outside);
    CHECK(count(rest, outside) == 0);
  }

  const TempDir dir;
  std::string text = kScale;
  const std::string hostile =
      "        # </script><script>alert(1)</script><!-- <b> & \" ' ]]> [[DATA]] \\u003c \xE2\x80\xA8\n";
  text.insert(text.find("        t: pl.Tile"), hostile);
  const Outcome outcome = trace({dir.write("<img src=x onerror=alert(1)>.pld", text)});
  REQUIRE(outcome.code == 0);
  CHECK(count(outcome.out, "</script>") == 2);
  CHECK(count(outcome.out, "<img") == 0);
  CHECK(count(outcome.out, "<!--") == 0);
  const Json data = data_of(outcome.out);
  CHECK(data["file"] == "<img src=x onerror=alert(1)>.pld");
  Texts texts(data);
  CHECK_THAT(texts.next(data["stages"][0]), Contains(hostile));
}

TEST_CASE("trace: the same bytes from every folder, into a file or to stdout") {
  const TempDir dir;
  const std::string a = dir.write("a/scale.pld", kScale);
  const std::string b = dir.write("b/scale.pld", kScale);
  const std::string html = trace({a}).out;
  CHECK(html == trace({b}).out);
  CHECK(html.find(dir.path("")) == std::string::npos);
  const Outcome written = run_pldc({"trace", b, "-o", dir.path("r.html")});
  CHECK(written.code == 0);
  CHECK(written.out.empty());
  CHECK(written.err.empty());
  CHECK(content(dir.path("r.html")) == html);
}

TEST_CASE("trace: pass options choose the stages") {
  const Json data = data_of(trace({"--passes=ConvertToSSA,Simplify", sample("reveal/mesh.pld")}).out);
  REQUIRE(data["stages"].size() == 3);
  CHECK(data["stages"][1]["name"] == "ConvertToSSA");
  const Json stopped = data_of(trace({"--stop-after=FlattenCallExpr", sample("reveal/mesh.pld")}).out);
  CHECK(stopped["stages"].back()["name"] == "FlattenCallExpr");
  CHECK(data_of(trace({"--passes=NONE", sample("reveal/mesh.pld")}).out)["stages"].size() == 1);
  CHECK(trace({"--passes=NoSuchPass", sample("reveal/mesh.pld")}).code == 2);
}

TEST_CASE("trace: after a failed pass there is a report that shows it") {
  const TempDir dir;
  const Outcome outcome = trace({sample("../tests/data/corpus/pass_synth_loop_rejected/source.pld")});
  CHECK(outcome.code == 1);
  const Json data = data_of(outcome.out);
  const Json* failed = nullptr;
  for (const Json& stage : data["stages"]) {
    if (failed != nullptr) CHECK(stage["state"] == "unreached");
    if (stage["state"] == "failed") failed = &stage;
  }
  REQUIRE(failed != nullptr);
  const Json& diag = (*failed)["diags"][0];
  CHECK(diag["severity"] == "error");
  CHECK((*failed)["name"] == "SynthesizeAllReduceSignals");
  CHECK(diag["file"] == "source.pld");
  CHECK_THAT(outcome.err, Contains(diag["message"].get<std::string>()));
  CHECK(diag["line"].get<int>() > 0);
  CHECK(diag["source"].size() == 3);

  // What is wrong before any pass.
  const Outcome early = trace({sample("../tests/data/errors/break_outside_loop.pld")});
  CHECK(early.code == 1);
  CHECK(data_of(early.out)["stages"][0]["state"] == "failed");

  // No program at all: no report.
  const Outcome unread = run_pldc({"trace", dir.write("bad.pld", "nothing\n"), "-o", dir.path("bad.html")});
  CHECK(unread.code == 1);
  CHECK_FALSE(std::filesystem::exists(dir.path("bad.html")));
}

TEST_CASE("trace: domains, dispatches and signals of the program") {
  const Json map = data_of(trace({sample("reveal/mesh.pld")}).out)["map"];
  REQUIRE(map["entries"].size() == 1);
  const Json& domains = map["manifest"]["entries"][0]["domains"];
  const Outcome manifest =
      run_pldc({"build", "--emit=manifest", "-o", "-", sample("reveal/mesh.pld")}, build_variables());
  CHECK(domains == Json::parse(manifest.out)["domains"]);
  const std::string all = map.dump();
  CHECK_THAT(all, Contains("\"kind\":\"dispatch\"") && Contains("\"kind\":\"domain\"") &&
                      Contains("\"device\":\"rank\""));
  CHECK_THAT(all, Contains("\"op\":\"notify\"") && Contains("\"op\":\"wait\""));

  const Json drawn =
      data_of(trace({"--ranks", "4", sample("reveal/builtin_ring.pld")}).out)["map"]["messages"];
  CHECK(drawn["ranks"] == 4);
  REQUIRE(drawn["hosts"].size() == 1);
  CHECK(drawn["hosts"][0]["whole"] == true);
  REQUIRE(drawn["hosts"][0]["events"].size() == 4);
  // In an all-reduce every rank tells every other one the same number of times.
  std::map<std::pair<int, int>, int> pairs;
  for (const Json& n : drawn["hosts"][0]["notifies"]) {
    if (n[0] != n[1]) pairs[{n[0], n[1]}] += n[3].get<int>();
  }
  CHECK(pairs.size() == 12);
  std::set<int> counts;
  for (const auto& [pair, n] : pairs) counts.insert(n);
  CHECK(counts.size() == 1);
  CHECK(run_pldc({"trace", "--ranks", "1025", sample("reveal/mesh.pld")}).code == 2);

  // Without a host function there is what runs alone, or nothing.
  const TempDir dir;
  const Json alone = data_of(trace({dir.write("f.pld", kScale)}).out)["map"];
  CHECK(alone["entries"][0]["name"] == "main");
  CHECK(alone["functions"]["main"]["calls"][0]["callee"] == "kernel");
  CHECK(trace({"--entry=nobody", sample("reveal/mesh.pld")}).code == 1);
}

TEST_CASE("trace: several programs") {
  const TempDir dir;
  const std::string a = dir.write("a/scale.pld", kScale);
  const std::string b = dir.write("b/scale.pld", kScale);
  CHECK_THAT(run_pldc({"trace", a, b}).err, Contains("would both be reported in 'scale.html'"));
  CHECK(run_pldc({"trace", a, b}).code == 2);
  CHECK_THAT(run_pldc({"trace", a, b, "-o", "x.html"}).err, Contains("-o takes a single FILE"));
  CHECK(run_pldc({"trace"}).code == 2);
  CHECK(run_pldc({"trace", a, "-o", dir.path("a") + "/"}).code == 1);
}
