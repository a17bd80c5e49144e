// pldc build and pldc run, on the samples.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/cli.h"
#include "support/catch.h"
#include "support/npy.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string sample(const std::string& name) {
  const char* root = std::getenv("PLDC_SOURCE_ROOT");
  return std::string(root != nullptr ? root : ".") + "/samples/" + name + ".pld";
}

Outcome pldc_with_cache(const std::vector<std::string>& args) { return run_pldc(args, build_variables()); }

pldc::ProcessResult run(const std::vector<std::string>& args, const std::string& directory = "") {
  pldc::ProcessSpec spec;
  spec.args = args;
  spec.directory = directory;
  spec.capture = true;
  return pldc::run_process(spec);
}

}  // namespace

TEST_CASE("build: the tree, the program, nothing on stdout") {
  const TempDir dir;
  const std::string out = dir.path("out");
  const Outcome outcome = pldc_with_cache({"build", sample("allreduce"), "-o", out});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.empty());
  for (const char* name : {"manifest.json", "host/host_orch.cpp", "host/main.cpp", "host/allreduce.h",
                           "Makefile", "include/pld/kernel.h", "bin/allreduce", "bin/liballreduce.a"}) {
    CAPTURE(name);
    CHECK(fs::exists(out + "/" + name));
  }
  CHECK_FALSE(fs::is_empty(out + "/chips"));
  CHECK_FALSE(fs::is_empty(out + "/kernels"));
  const auto manifest = nlohmann::json::parse(content(out + "/manifest.json"));
  CHECK(manifest.is_object());

  SECTION("the program runs") {
    const auto result = run({out + "/bin/allreduce", "--ranks", "3", "--random=5", "--out", "ys=-"});
    CAPTURE(result.out, result.err);
    CHECK(result.exit_code == 0);
    CHECK_FALSE(result.out.empty());
  }
  SECTION("a second build touches nothing") {
    std::map<std::string, fs::file_time_type> times;
    for (const auto& entry : fs::recursive_directory_iterator(out)) {
      if (entry.is_regular_file()) times[entry.path().string()] = entry.last_write_time();
    }
    REQUIRE(pldc_with_cache({"build", sample("allreduce"), "-o", out}).code == 0);
    for (const auto& [path, time] : times) {
      CAPTURE(path);
      CHECK(fs::last_write_time(path) == time);
    }
  }
  SECTION("the Makefile has nothing to do, and its commands are those of pldc") {
    const auto nothing = run({"make", "-n"}, out);
    CAPTURE(nothing.out, nothing.err);
    CHECK(nothing.exit_code == 0);
    CHECK(contains(nothing.out, "Nothing to be done"));
    const auto all = run({"make", "-n", "-B"}, out);
    const Outcome verbose = pldc_with_cache({"build", "-v", sample("allreduce"), "-o", dir.path("again")});
    // The words of each command but for their order and the compiler's name.
    const auto flags = [](const std::string& text, const std::string& source) {
      std::vector<std::string> found;
      for (const std::string& line : lines_of(text)) {
        const std::size_t at = line.find(" " + source);
        if (at == std::string::npos || line.find(" -c ") == std::string::npos) continue;
        std::istringstream in(line);
        for (std::string word; in >> word;) {
          const bool wanted = word[0] == '-' && word != "-o" && word != "-c" && word != "-p";
          if (wanted && std::find(found.begin(), found.end(), word) == found.end()) found.push_back(word);
        }
      }
      std::sort(found.begin(), found.end());
      return found;
    };
    for (const std::string source : {"host/host_orch.cpp", "kernels/stage/copy_in.cpp", "chips/stage.cpp"}) {
      CAPTURE(source, all.out, verbose.err);
      CHECK_FALSE(flags(all.out, source).empty());
      CHECK(flags(all.out, source) == flags(verbose.err, source));
    }
  }
}

TEST_CASE("build: the same input gives the same bytes") {
  const TempDir dir;
  for (const std::string name : {"a", "b"}) {
    REQUIRE(pldc_with_cache({"build", "--emit-only", sample("neighbours"), "-o", dir.path(name)}).code == 0);
  }
  CHECK(run({"diff", "-r", dir.path("a"), dir.path("b")}).exit_code == 0);
  CHECK_FALSE(fs::exists(dir.path("a/bin")));
}

TEST_CASE("build: --list-outputs names every file and writes none") {
  const TempDir dir;
  const std::string out = dir.path("out");
  const Outcome list = pldc_with_cache({"build", "--list-outputs", sample("allreduce"), "-o", out});
  CHECK(list.code == 0);
  CHECK_FALSE(fs::exists(out));
  REQUIRE(pldc_with_cache({"build", sample("allreduce"), "-o", out}).code == 0);
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(out)) {
    const std::string path = entry.path().string();
    if (entry.is_regular_file() && !contains(path, "/build/")) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  CHECK(lines_of(list.out) == files);
}

TEST_CASE("build: files are named as the program is, unless make would take the name apart") {
  const TempDir dir;
  for (const auto& [file, name] : std::map<std::string, std::string>{{"my-prog", "my-prog"},
                                                                     {"1.0+x", "1.0+x"},
                                                                     {"int", "int"},
                                                                     {"\xc3\xa9", "\xc3\xa9"},
                                                                     {"a b$", "a_b"}}) {
    const std::string source = dir.write(file + ".pld", content(sample("scale_add")));
    const Outcome list = run_pldc({"build", "--list-outputs", source, "-o", "o"});
    CAPTURE(file, list.out, list.err);
    for (const std::string& path : {"o/bin/" + name, "o/bin/lib" + name + ".a", "o/host/" + name + ".h"})
      CHECK(contains("\n" + list.out, "\n" + path + "\n"));
    CHECK(
        contains(run_pldc({"build", "--emit=host", "-o", "-", source}).out, "#include \"" + name + ".h\"\n"));
  }
}

TEST_CASE("build: a size of names that use each other many times is looked at once") {
  std::string names = "        a0 = pld.world_size()\n";
  for (int i = 1; i < 8; ++i) {
    names += fmt::format("        a{} = a{} % 1000", i, i - 1);
    for (int k = 1; k < 40; ++k) names += fmt::format(" + a{} % {}", i - 1, 1000 + k);
    names += "\n";
  }
  std::string text = content(sample("allreduce"));
  const std::string line = "        data = pld.alloc_window_buffer(N * pl.FP32.get_byte())\n";
  const std::size_t at = text.find(line);
  REQUIRE(at != std::string::npos);
  text.replace(at, line.size(), names + "        data = pld.alloc_window_buffer(a7 * 4)\n");
  const TempDir dir;
  const Outcome outcome =
      run_pldc({"build", "--emit-only", "-o", dir.path("out"), dir.write("sizes.pld", text)});
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.err, Catch::Contains("compute the size from parameters and pld.world_size() only"));
}

TEST_CASE("build: for ascend the sources only, no Makefile that could not work") {
  const TempDir dir;
  const std::string out = dir.path("out");
  const Outcome outcome = run_pldc({"build", "--target=ascend", sample("allreduce"), "-o", out});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(fs::exists(out + "/kernels/stage/copy_in.cpp"));
  CHECK(fs::exists(out + "/chips/stage.cpp"));
  CHECK_FALSE(fs::exists(out + "/Makefile"));
  CHECK_FALSE(fs::exists(out + "/bin"));
  CHECK(contains(run_pldc({"build", "--help"}).out, "sources only"));
}

TEST_CASE("build: --emit with -o - prints one artefact") {
  for (const std::string what : {"ir", "host", "chips", "kernels", "manifest"}) {
    const Outcome outcome = pldc_with_cache({"build", "--emit=" + what, "-o", "-", sample("allreduce")});
    CAPTURE(what, outcome.err);
    CHECK(outcome.code == 0);
    CHECK_FALSE(outcome.out.empty());
    if (what == "ir") CHECK(outcome.out == run_pldc({sample("allreduce")}).out);
    if (what == "manifest") CHECK(nlohmann::json::parse(outcome.out).is_object());
    if (what == "kernels") CHECK(contains(outcome.out, "kernel_entry"));
  }
  const TempDir dir;
  REQUIRE(pldc_with_cache({"build", "--emit=manifest", "-o", dir.path("m"), sample("allreduce")}).code == 0);
  CHECK(dir.list("m") == std::vector<std::string>{"manifest.json"});
}

TEST_CASE("build: a depfile that make reads") {
  const TempDir dir;
  const std::string file = dir.write("a $b.pld", content(sample("scale_add")));
  const Outcome outcome = pldc_with_cache(
      {"build", "--emit-only", "-MD", "-MF", dir.path("x.d"), "-MT", "all it", file, "-o", dir.path("o")});
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(content(dir.path("x.d")).rfind("all\\ it: " + dir.path("a\\ $$b.pld") + "\n", 0) == 0);
  REQUIRE(pldc_with_cache({"build", "--emit-only", "-MD", sample("scale_add"), "-o", dir.path("p")}).code ==
          0);
  const std::string all = content(dir.path("p/scale_add.d"));
  CHECK(contains(all, dir.path("p/manifest.json")));
  CHECK(run({"make", "-n", "-f", dir.path("p/scale_add.d")}).exit_code == 0);
}

TEST_CASE("build: a compiler that fails or is missing") {
  const TempDir dir;
  const Outcome missing =
      pldc_with_cache({"build", "--cxx=no-such-compiler", sample("scale_add"), "-o", dir.path("a")});
  CHECK(missing.code == 1);
  CHECK(contains(missing.err, "'no-such-compiler' cannot be started"));
  const Outcome failing =
      pldc_with_cache({"build", "--cxxflags=-fno-such-flag", sample("scale_add"), "-o", dir.path("b")});
  CHECK(failing.code == 1);
  CHECK(contains(failing.err, "could not be compiled"));
  CHECK_FALSE(fs::exists(dir.path("b/bin/scale_add")));
}

TEST_CASE("run: the cache cannot be written, or what is in it not compiled") {
  const TempDir dir;
  std::map<std::string, std::string> variables = build_variables();
  variables["XDG_CACHE_HOME"] = dir.write("file", "no folder");
  const Outcome unwritten = run_pldc({"run", sample("scale_add"), "--random"}, variables);
  CHECK(unwritten.code == 1);
  CHECK_THAT(unwritten.err, Catch::Contains("[PLD0901]") && Catch::Contains("--build-dir DIR") &&
                                Catch::Contains("XDG_CACHE_HOME"));
  variables["XDG_CACHE_HOME"] = dir.path("cache");
  for (int again = 0; again < 2; ++again) {
    const Outcome failed =
        run_pldc({"run", sample("scale_add"), "--random", "--cxxflags=-fno-such-flag"}, variables);
    CAPTURE(failed.err);
    CHECK(failed.code == 1);
    const std::string before = "the generated C++ in '";
    const std::size_t begin = failed.err.find(before);
    REQUIRE(begin != std::string::npos);
    const std::size_t end = failed.err.find('\'', begin + before.size());
    const std::string folder = failed.err.substr(begin + before.size(), end - begin - before.size());
    CHECK(fs::exists(folder + "/host/host_orch.cpp"));
    const fs::directory_iterator below(dir.path("cache/pldc"));
    CHECK(std::count_if(fs::begin(below), fs::end(below), [](const fs::directory_entry& entry) {
            return entry.path().filename().string().rfind("run-", 0) == 0;
          }) == 1);
  }
}

TEST_CASE("run: builds into the cache once, passes options on, gives the program's exit code") {
  const Outcome first =
      pldc_with_cache({"run", sample("scale_add"), "--random", "--scalar", "k=2", "--out", "out=-"});
  CAPTURE(first.err);
  REQUIRE(first.code == 0);
  CHECK_FALSE(first.out.empty());
  const Outcome second =
      pldc_with_cache({"run", "-v", sample("scale_add"), "--random", "--scalar", "k=2", "--out", "out=-"});
  CHECK(second.out == first.out);
  CHECK(contains(second.err, "using "));
  const Outcome missing = pldc_with_cache({"run", sample("scale_add")});
  CHECK(missing.code == 1);
  CHECK_FALSE(missing.err.empty());
  const TempDir dir;
  CHECK(pldc_with_cache(
            {"run", "--build-dir=" + dir.path("b"), sample("scale_add"), "--random", "--scalar=k=2"})
            .code == 0);
  CHECK(fs::exists(dir.path("b/bin/scale_add")));
}

TEST_CASE("run: the cache keeps the programs of late and not too many bytes") {
  const TempDir dir;
  const fs::path cache = dir.path("pldc");
  fs::create_directories(cache);
  std::map<std::string, std::string> variables = build_variables();
  // The runtime is there already.
  REQUIRE(run_pldc({"run", sample("scale_add"), "--random"}, variables).code == 0);
  for (const auto& entry : fs::directory_iterator(variables["XDG_CACHE_HOME"] + "/pldc")) {
    if (entry.path().extension() == ".o") fs::copy_file(entry.path(), cache / entry.path().filename());
  }
  const auto now = fs::file_time_type::clock::now();
  const auto make = [&](const std::string& name, int minutes, std::uintmax_t bytes) {
    fs::create_directories(cache / name / "bin");
    std::ofstream(cache / name / "bin/x") << "x";
    fs::resize_file(cache / name / "bin/x", bytes);  // sparse
    fs::last_write_time(cache / name, now - std::chrono::minutes(minutes));
  };
  const auto kept = [&] {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(cache)) {
      const std::string name = entry.path().filename().string();
      if (name.rfind("run-", 0) == 0) names.insert(name);
    }
    return names;
  };
  for (int i = 1; i <= 70; ++i) make("run-" + std::to_string(i), i, 1000);
  for (int i = 1; i <= 40; ++i) {
    const fs::path object = cache / ("old-" + std::to_string(i) + ".o");
    std::ofstream(object.string()) << "o";
    fs::last_write_time(object, now - std::chrono::hours(i));
  }
  variables["XDG_CACHE_HOME"] = dir.path("");
  REQUIRE(run_pldc({"run", sample("scale_add"), "--random"}, variables).code == 0);
  std::set<std::string> names = kept();
  CHECK(names.size() == 64);  // with the new one
  CHECK(names.count("run-63") == 1);
  CHECK(names.count("run-64") == 0);
  std::size_t objects = 0;
  for (const auto& entry : fs::directory_iterator(cache)) objects += entry.path().extension() == ".o" ? 1 : 0;
  CHECK(objects == 32);
  CHECK(fs::exists(cache / "old-1.o"));
  CHECK_FALSE(fs::exists(cache / "old-40.o"));
  // Of large ones the older go. A program that is used is a late one, and a run that builds nothing removes nothing.
  make("run-large", 5, std::uintmax_t{600} << 20);
  REQUIRE(run_pldc({"run", sample("scale_add"), "--random"}, variables).code == 0);
  CHECK(kept().size() == 65);
  REQUIRE(run_pldc({"run", sample("neighbours"), "--random", "--ranks=2"}, variables).code == 0);
  names = kept();
  CHECK(names.count("run-4") == 1);
  CHECK(names.count("run-large") == 0);
  CHECK(names.count("run-6") == 0);
  CHECK(names.size() == 6);
}

TEST_CASE(
    "run: outputs do not overwrite each other, checks are known before the build, -v says that orders "
    "agree") {
  const TempDir dir;
  const std::vector<std::string> plain = {"run", sample("neighbours"), "--ranks=2", "--random"};
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.begin(), plain.begin(), plain.end());
    return pldc_with_cache(options);
  };
  fs::create_directory(dir.path("d"));
  const std::string file = dir.path("y.npy");
  const std::pair<std::vector<std::string>, std::string> refused[] = {
      {{"--out=ys=" + file, "--trace=" + dir.path("d/../y.npy")}, "--out ys and --trace write the same file"},
      {{"--out=ys=" + file, "--out=ys=" + file}, "--out ys and --out ys write the same file"},
      {{"--out=ys=-", "--trace=-"}, "--out ys and --trace write the same file"},
  };
  for (const auto& [options, message] : refused) {
    const Outcome outcome = with(options);
    CAPTURE(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, message));
    CHECK(contains(outcome.err, "See pldc run --help"));
    CHECK_FALSE(fs::exists(file));
  }
  const Outcome both = with({"--out=ys=-", "--out=ys=-"});
  CHECK(both.code == 0);
  const Outcome trace = with({"--trace=-"});
  CHECK(trace.code == 0);
  CHECK(trace.out.rfind("{", 0) == 0);
  CHECK(contains(trace.out, "traceEvents"));
  const Outcome check = with({"--check=race", "--cxx=no-such-compiler"});
  CHECK(check.code == 2);
  CHECK(contains(check.err, "'race' is none of races, signals, bounds"));
  CHECK(with({"--check=races,signals,bounds"}).code == 0);
  CHECK(contains(with({"-v", "--schedule=seeded", "--schedules=4"}).err, "4 schedules agree"));
  CHECK_FALSE(contains(with({"--schedule=seeded", "--schedules=4"}).err, "agree"));
}

TEST_CASE("run: every stage is executable and gives the same values") {
  // In front of LowerCompositeOps code generation takes the collectives of kernels apart itself.
  const std::pair<std::string, std::vector<std::string>> stages[] = {
      {"neighbours", {"ConvertToSSA", "MaterializeCommDomainScopes"}},
      {"reveal/builtin_ring", {"FlattenCallExpr", "LowerCompositeOps", "InsertCommFence"}}};
  for (const auto& [name, passes] : stages) {
    const std::vector<std::string> rest = {"--ranks=3", "--random=9", "--out=ys=-"};
    std::vector<std::string> args = {"run", sample(name)};
    args.insert(args.end(), rest.begin(), rest.end());
    const Outcome whole = pldc_with_cache(args);
    CAPTURE(name, whole.err);
    REQUIRE(whole.code == 0);
    for (const std::string& pass : passes) {
      std::vector<std::string> stage = args;
      stage.push_back("--after=" + pass);
      const Outcome outcome = pldc_with_cache(stage);
      CAPTURE(pass, outcome.err);
      CHECK(outcome.code == 0);
      CHECK(outcome.out == whole.out);
      // The dump run as a file gives the same.
      const TempDir dir;
      const std::string dump = dir.write("stage.pld", run_pldc({"--dump-after=" + pass, sample(name)}).out);
      std::vector<std::string> text = {"run", "--passes=NONE", dump};
      text.insert(text.end(), rest.begin(), rest.end());
      const Outcome from_text = pldc_with_cache(text);
      CAPTURE(from_text.err);
      CHECK(from_text.out == whole.out);
    }
  }
}

TEST_CASE("samples: all of them check, survive a round trip and run") {
  const std::map<std::string, std::vector<std::string>> options = {{"scale_add", {"--scalar=k=3"}},
                                                                   {"make/scale", {"--scalar=k=3"}}};
  const char* root = std::getenv("PLDC_SOURCE_ROOT");
  const fs::path samples = fs::path(root != nullptr ? root : ".") / "samples";
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(samples)) {
    if (entry.path().extension() != ".pld") continue;
    ++count;
    const std::string path = entry.path().string();
    CAPTURE(path);
    CHECK(run_pldc({"roundtrip", "--semantic", "--each", path}).code == 0);
    CHECK(content(path).rfind("# ", 0) == 0);  // says what it shows
    std::vector<std::string> args = {"run", path, "--random"};
    const std::string name = fs::relative(entry.path(), samples).replace_extension().string();
    if (const auto found = options.find(name); found != options.end()) {
      args.insert(args.end(), found->second.begin(), found->second.end());
    }
    const Outcome outcome = pldc_with_cache(args);
    CAPTURE(outcome.err);
    CHECK(outcome.code == (name == "tutorial/2_hang" ? 4 : 0));  // this one shows a deadlock
  }
  CHECK(count >= 4);
}

TEST_CASE("samples/make: rebuilds exactly when the .pld changes") {
  const char* root = std::getenv("PLDC_SOURCE_ROOT");
  const char* build = std::getenv("PLDC_BUILD_ROOT");
  if (root == nullptr || build == nullptr) return;
  const TempDir dir;
  fs::copy(std::string(root) + "/samples/make", dir.path("m"));
  const std::string cache = build_variables().at("XDG_CACHE_HOME");
  const auto make = [&](const std::vector<std::string>& words) {
    std::vector<std::string> args = {"env", "XDG_CACHE_HOME=" + cache, "make",
                                     std::string("PLDC=") + build + "/src/driver/pldc"};
    args.insert(args.end(), words.begin(), words.end());
    return run(args, dir.path("m"));
  };
  const auto first = make({});
  CAPTURE(first.out, first.err);
  REQUIRE(first.exit_code == 0);
  CHECK(fs::exists(dir.path("m/scale.pldc/bin/scale")));
  const auto second = make({});
  CHECK(contains(second.out, "Nothing to be done"));
  const auto time = fs::last_write_time(dir.path("m/scale.pldc/bin/scale"));
  // A change that changes the program.
  std::string text = content(dir.path("m/scale.pld"));
  text.replace(text.find("N = 64"), 6, "N = 32");
  dir.write("m/scale.pld", text);
  fs::last_write_time(dir.path("m/scale.pld"), fs::file_time_type::clock::now() + std::chrono::seconds(2));
  const auto third = make({});
  CAPTURE(third.out, third.err);
  CHECK(third.exit_code == 0);
  CHECK(contains(third.out, " build "));
  CHECK(fs::last_write_time(dir.path("m/scale.pldc/bin/scale")) != time);
  fs::last_write_time(dir.path("m/scale.pld"), fs::file_time_type::clock::now() - std::chrono::seconds(60));
  // What somebody removed comes back.
  fs::remove(dir.path("m/scale.pldc/bin/scale"));
  CHECK(make({}).exit_code == 0);
  CHECK(fs::exists(dir.path("m/scale.pldc/bin/scale")));
  CHECK(contains(make({}).out, "Nothing to be done"));
  make({"clean"});
  CHECK_FALSE(fs::exists(dir.path("m/scale.pldc")));
}

TEST_CASE("samples/reveal: one sum, by hand and by the builtin") {
  // The rows are small whole numbers, so every order of additions gives the same sum.
  constexpr std::size_t kColumns = 1000;
  std::map<std::size_t, TempDir> data;
  for (const std::size_t ranks : {1U, 2U, 3U, 4U, 8U}) {
    Npy<float> x({ranks, 1, kColumns});
    for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] = static_cast<float>((i * 31) % 97);
    x.write(data[ranks].path("x.npy"));
    Npy<float> sums({ranks, 1, kColumns});
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      for (std::size_t r = 0; r < ranks; ++r) sums.values[r * kColumns + i % kColumns] += x.values[i];
    }
    sums.write(data[ranks].path("sums.npy"));
  }
  for (const std::string name : {"mesh", "two_phase", "ring", "builtin_mesh", "builtin_ring"}) {
    for (const auto& [ranks, dir] : data) {
      const Outcome outcome =
          pldc_with_cache({"run", sample("reveal/" + name), "--ranks=" + std::to_string(ranks),
                           "--in=xs=" + dir.path("x.npy"), "--expect=ys=" + dir.path("sums.npy")});
      CAPTURE(name, ranks, outcome.err);
      CHECK(outcome.code == 0);
    }
  }
}

TEST_CASE("samples/reveal: the page quotes what --diff shows") {
  const std::string page_path = sample("reveal/README");
  const std::string page = content(page_path.substr(0, page_path.size() - 4) + ".md");
  std::vector<std::string> shown;
  for (const std::string mode : {"mesh", "ring"}) {
    const std::vector<std::string> lines =
        lines_of(run_pldc({"--diff", "--passes=LowerCompositeOps", "--style=concise",
                           sample("reveal/builtin_" + mode)})
                     .out);
    shown.insert(shown.end(), lines.begin(), lines.end());
  }
  std::size_t quoted = 0;
  bool in_diff = false;
  auto at = shown.begin();
  for (const std::string& line : lines_of(page)) {
    if (line.rfind("```", 0) == 0) {
      in_diff = line.rfind("```diff", 0) == 0;
    } else if (in_diff) {
      CAPTURE(line);
      at = std::find(at, shown.end(), line);
      REQUIRE(at != shown.end());
      ++quoted;
    }
  }
  CHECK(quoted > 20);
}
