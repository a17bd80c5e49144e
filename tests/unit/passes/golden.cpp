#include "unit/passes/golden.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "support/corpus.h"
#include "support/file.h"
#include "support/text_diff.h"

namespace golden {

namespace fs = std::filesystem;

namespace {

std::string source_root() {
  const char* root = std::getenv("PLDC_SOURCE_ROOT");
  return root != nullptr ? root : ".";
}

// The value of `key` in one line of an index: the text between the quotes, or the bare word; empty if absent
// or null.
std::string value_of(std::string_view line, std::string_view key) {
  const std::string pattern = "\"" + std::string(key) + "\":";
  auto at = line.find(pattern);
  if (at == std::string_view::npos) return {};
  at = line.find_first_not_of(' ', at + pattern.size());
  if (line[at] == '"') return std::string(line.substr(at + 1, line.find('"', at + 1) - at - 1));
  const std::string word(line.substr(at, line.find_first_of(",}", at) - at));
  return word == "null" ? std::string() : word;
}

std::set<std::string> exceptions(std::string_view pass) {
  std::string text;
  std::string error;
  std::set<std::string> out;
  if (!pldc::read_file(source_root() + "/tests/data/conformance_exceptions.txt", text, error)) return out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const auto first = line.find(' ');
    if (first == std::string::npos || line[0] == '#' || line.substr(0, first) != pass) continue;
    out.insert(line.substr(first + 1, line.find(' ', first + 1) - first - 1));
  }
  return out;
}

// How the list names a pass: a later entry of the same pass by its place in the pipeline, "45_Simplify".
std::string listed_name(std::string_view pass, int occurrence) {
  if (occurrence == 0) return std::string(pass);
  int seen = 0;
  for (const pldc::PipelineEntry& entry : pldc::default_pipeline()) {
    if (entry.name == pass && seen++ == occurrence) return std::to_string(entry.number) + "_" + std::string(pass);
  }
  return {};
}

Result finish(pldc::DiagSink& diags) {
  Result result;
  result.diagnostics = diags.take();
  for (const pldc::Diagnostic& d : result.diagnostics) {
    result.errors += pldc::diag_code(*d.kind) + " " + d.message + "\n";
    for (const std::string& help : d.help) result.errors += "  help: " + help + "\n";
  }
  return result;
}

}  // namespace

std::string corpus() {
  const std::string root = ::corpus::root();
  return fs::is_directory(root) ? root : std::string();
}

std::vector<std::string> programs() {
  std::vector<std::string> out;
  if (corpus().empty()) return out;
  for (const auto& entry : fs::directory_iterator(corpus())) {
    if (fs::exists(entry.path() / "index.json")) out.push_back(entry.path().filename().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string text_of(const std::string& program, const std::string& file) {
  std::string text;
  std::string error;
  if (!pldc::read_file(corpus() + "/" + program + "/" + file, text, error)) return {};
  return text;
}

std::vector<Entry> index_of(const std::string& program) {
  const std::string text = text_of(program, "index.json");
  std::vector<Entry> out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (line.find("\"pass\":") == std::string_view::npos) continue;
    Entry entry;
    entry.number = static_cast<int>(out.size());
    entry.pass = value_of(line, "pass");
    entry.file = value_of(line, "file");
    entry.error = value_of(line, "error") == "true";
    const std::string from_text = value_of(line, "from_text");
    entry.from_text = !from_text.empty() && from_text != "false";
    if (entry.from_text && from_text != "true") entry.from_text_file = from_text;
    out.push_back(std::move(entry));
  }
  return out;
}

std::vector<Case> cases(std::string_view pass, int occurrence) {
  std::vector<Case> out;
  for (const std::string& program : programs()) {
    std::string before_file;
    int seen = 0;
    for (const Entry& entry : index_of(program)) {
      if (entry.pass == pass && seen++ == occurrence) {
        Case c{program, text_of(program, before_file), {}, entry.from_text, entry.error};
        if (!entry.from_text_file.empty()) {
          c.after = text_of(program, entry.from_text_file);
        } else if (!entry.file.empty()) {
          c.after = text_of(program, entry.file);
        } else if (!entry.error) {
          c.after = c.before;
        }
        out.push_back(std::move(c));
      }
      if (!entry.file.empty()) before_file = entry.file;
    }
  }
  return out;
}

Result run(std::string_view text, const std::vector<pldc::PassFunction>& passes,
           const pldc::PassOptionValues& options, pldc::Dialect dialect) {
  pldc::SourceManager sources;
  pldc::Context context;
  pldc::DiagSink diags;
  pldc::Module module = pldc::parse(*sources.add("test.pld", std::string(text)), context, diags);
  pldc::PassEnv env{context, diags, options};
  for (const pldc::PassFunction pass : passes) {
    if (module.program != nullptr) module.program = pass(env, module.program);
  }
  Result result = finish(diags);
  result.ok = module.program != nullptr && result.errors.empty();
  if (module.program != nullptr) {
    pldc::PrintOptions print = pldc::print_options(module.style);
    print.dialect = dialect;
    result.text = pldc::print(module, print);
  }
  return result;
}

Result verify(std::string_view text, Verifier verifier) {
  pldc::SourceManager sources;
  pldc::Context context;
  pldc::DiagSink diags;
  const pldc::Module module = pldc::parse(*sources.add("test.pld", std::string(text)), context, diags);
  const bool read = module.program != nullptr && !diags.has_errors();
  if (read) verifier(module.program, diags);
  Result result = finish(diags);
  result.ok = read && result.errors.empty();
  return result;
}

std::string without_suffixes(std::string_view text) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    if (!is_word(text[i])) {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    std::string word(text.substr(i, end - i));
    i = end;
    // `r_1__idx_v0` and `r__idx_v0_1` both become `r__idx_v0`.
    for (const std::size_t stop : {word.size(), word.find("__")}) {
      if (stop == std::string::npos || stop == 0) continue;
      std::size_t begin = stop;
      while (begin > 0 && word[begin - 1] >= '0' && word[begin - 1] <= '9') --begin;
      if (begin < stop && begin > 1 && word[begin - 1] == '_' && word[begin - 2] != '_') {
        word.erase(begin - 1, stop - begin + 1);
      }
    }
    out += word;
  }
  return out;
}

std::vector<Comparison> compare(std::string_view pass, pldc::PassFunction function, int occurrence) {
  const std::set<std::string> listed = exceptions(listed_name(pass, occurrence));
  std::vector<Comparison> out;
  for (const Case& c : cases(pass, occurrence)) {
    if (c.error) {
      out.push_back({c.program, Verdict::NotApplicable, {}});
      continue;
    }
    const Result result = run(c.before, {function});
    const std::string expected = c.exact ? c.after : without_suffixes(c.after);
    const std::string found = c.exact ? result.text : without_suffixes(result.text);
    const bool may_differ = listed.count(c.program) != 0;
    if (result.ok && expected == found) {
      out.push_back({c.program, may_differ ? Verdict::Stale : Verdict::Equal,
                     may_differ ? c.program + ": equal, take it off conformance_exceptions.txt\n" : ""});
      continue;
    }
    out.push_back({c.program, may_differ ? Verdict::Listed : Verdict::Differs,
                   result.ok ? pldc::unified_diff(expected, found, c.program + " (golden)", c.program)
                             : c.program + ": rejected\n" + result.errors});
  }
  return out;
}

std::string compare_all(std::string_view pass, pldc::PassFunction function, int& compared, int occurrence) {
  std::string report;
  compared = 0;
  for (const Comparison& c : compare(pass, function, occurrence)) {
    if (c.verdict == Verdict::Equal) ++compared;
    if (c.verdict == Verdict::Differs || c.verdict == Verdict::Stale) report += c.report;
  }
  return report;
}

int changed(std::string_view pass, int occurrence) {
  const std::vector<Case> all = cases(pass, occurrence);
  return static_cast<int>(
      std::count_if(all.begin(), all.end(), [](const Case& c) { return !c.error && c.before != c.after; }));
}

std::string program(std::string_view functions) {
  std::string out = "# pypto.program: P\nimport pypto.language as pl\n\n@pl.program\nclass P:\n";
  out += functions;
  return out;
}

}  // namespace golden
