// Pieces of the driver that the command-line tests reach only from outside.
#include <nlohmann/json.hpp>

#include "driver/args.h"
#include "driver/catalog.h"
#include "driver/embed.h"
#include "driver/env.h"
#include "driver/pipeline.h"
#include "driver/report.h"
#include "support/catch.h"
#include "support/temp_dir.h"

using namespace pldc;

TEST_CASE("exit codes: which is worse") {
  CHECK(worse(kFine, kCheckFailed) == kCheckFailed);
  CHECK(worse(kCheckFailed, kBadInput) == kBadInput);
  CHECK(worse(kBadInput, kCheckFailed) == kBadInput);
  CHECK(worse(kInternalError, kBadInput) == kInternalError);
  CHECK(worse(kBadInput, kInternalError) == kInternalError);
  CHECK(worse(kFine, kFine) == kFine);
}

TEST_CASE("passes: names, numbered names, globs") {
  PassPlan plan;
  plan.push_back({5, "Simplify", nullptr});
  plan.push_back({42, "MaterializeCommDomainScopes", nullptr});
  plan.push_back({45, "Simplify", nullptr});
  using Found = std::vector<std::size_t>;
  CHECK(find_passes(plan, "Simplify") == Found{0});
  CHECK(find_passes(plan, "05_Simplify") == Found{0});
  CHECK(find_passes(plan, "45_Simplify") == Found{2});
  CHECK(find_passes(plan, "Sim*") == Found{0, 2});
  CHECK(find_passes(plan, "4?_*") == Found{1, 2});
  CHECK(find_passes(plan, "simplify").empty());
}

TEST_CASE("spellings: -MD and its relatives are words") {
  std::vector<std::string> args = {"build", "-MD", "-MF", "x", "-MT", "y", "--", "-MD"};
  normalize_spellings(args);
  CHECK(args == std::vector<std::string>{"build", "--MD", "--MF", "x", "--MT", "y", "--", "-MD"});
  CHECK(spelled("--MF") == "-MF");
  CHECK(spelled("--dump-dir") == "--dump-dir");
}

TEST_CASE("response files: nesting and errors") {
  const TempDir dir;
  std::string file, error;
  std::vector<std::string> args = {"a", "@" + dir.write("x", "b @" + dir.write("y", "'c d'\n")), "@", "e@f"};
  REQUIRE(expand_response_files(args, file, error));
  CHECK(args == std::vector<std::string>{"a", "b", "c d", "@", "e@f"});
  args = {"@" + dir.path("none")};
  CHECK_FALSE(expand_response_files(args, file, error));
  CHECK(error == "cannot be read: No such file or directory");
}

TEST_CASE("embedded files: the runtime is whole") {
  bool kernel = false;
  bool runtime = false;
  std::string_view last;
  for (const EmbeddedFile& file : runtime_files()) {
    CHECK(last < file.path);
    last = file.path;
    CHECK(file.path.substr(0, 12) == "include/pld/");
    CHECK_FALSE(file.text.empty());
    const char* root = std::getenv("PLDC_SOURCE_ROOT");
    if (root != nullptr) {
      std::ifstream in(std::string(root) + "/src/codegen/runtime/" + std::string(file.path),
                       std::ios::binary);
      CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == file.text);
    }
    kernel = kernel || file.path == "include/pld/kernel.h";
    runtime = runtime || file.path == "include/pld/runtime.cpp";
  }
  CHECK(kernel);
  CHECK(runtime);
}

TEST_CASE("signatures show optional operands and keywords") {
  const OpId load = find_op("tile.load");
  REQUIRE(load != OpId::none_);
  const std::string text = signature(op_info(load));
  CHECK(text.rfind("pl.tile.load(", 0) == 0);
  CHECK(text.back() == ')');
  const OpId put = find_op("pld.tensor.put");
  REQUIRE(put != OpId::none_);
  CHECK(signature(op_info(put)).rfind("pld.tensor.put(", 0) == 0);
}

TEST_CASE("timing: one row a pass, JSON is one line") {
  Timing timing;
  const PlannedPass pass{4, "ConvertToSSA", nullptr};
  timing.add(PassStep{0, &pass, nullptr, nullptr, true, false, 1.5}, 1000000);
  const std::string json = timing.json("f.pld");
  CHECK(json.find('\n') == json.size() - 1);
  const auto value = nlohmann::json::parse(json);
  CHECK(value["file"] == "f.pld");
  CHECK(value["passes"][0]["pass"] == "04_ConvertToSSA");
  CHECK(value["passes"][0]["changed"] == true);
  CHECK(timing.text().find("04_ConvertToSSA") != std::string::npos);
}
