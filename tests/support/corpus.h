// The reference dumps: $PLDC_CORPUS if set, else the whole corpus beside the source tree, else the part of it
// that is kept in tests/data/corpus.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace corpus {

inline std::string root() {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv("PLDC_CORPUS")) return given;
  const char* source = std::getenv("PLDC_SOURCE_ROOT");
  const fs::path tree = source != nullptr ? fs::path(source) : fs::current_path();
  const fs::path whole = tree / ".." / "shared" / "corpus";
  std::error_code ignored;
  if (fs::is_directory(whole, ignored)) return whole.lexically_normal().string();
  return (tree / "tests" / "data" / "corpus").string();
}

inline std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// All .pld files below a folder of the corpus, sorted; sources (which are no printed text) left out. Sanitizers slow these
// loops down by ten and more: there every second one of many is enough.
inline std::vector<std::string> texts(const std::string& folder = "") {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root() + "/" + folder)) {
    const auto& path = entry.path();
    if (path.extension() == ".pld" && path.filename() != "source.pld") files.push_back(path.string());
  }
  std::sort(files.begin(), files.end());
#ifdef PLDC_SANITIZED
  if (files.size() > 100) {
    size_t kept = 0;
    for (size_t i = 0; i < files.size(); i += 2) std::swap(files[kept++], files[i]);
    files.resize(kept);
  }
#endif
  return files;
}

// Names of the programs that have a hand-written source.
inline std::vector<std::string> programs() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(root())) {
    if (std::filesystem::exists(entry.path() / "source.pld"))
      names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace corpus
