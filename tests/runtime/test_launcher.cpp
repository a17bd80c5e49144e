// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The command line of built programs: parameters, ranks, messages, exit codes.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "mini_program.h"
#include "pld/fill.h"
#include "pld/main.h"
#include "pld/npy.h"
#include "support/catch.h"

using Catch::Contains;

namespace {

// scale(xs: in FP32 [NR, 4], n: in INT32 [NR, M], k: scalar, ys: out FP32 [NR, 4], acc: inout FP32 [4]); ys =
// xs * k, acc += xs[0]; device loop over world_size().
void kernel(int64_t* args) {
  const float* x = pld_arg<float>(args, 0);
  float* y = pld_arg<float>(args, 1);
  for (int i = 0; i < 4; ++i) y[i] = x[i] * pld_scalar<float>(args, 2);
}
void adder(int64_t* args) {
  for (int i = 0; i < 4; ++i) pld_arg<float>(args, 1)[i] += pld_arg<float>(args, 0)[i];
}
void stuck(int64_t* args) {
  PLD_LOC(23);
  pto::comm::Signal s(pld_arg<int32_t>(args, 0));
  pto::comm::TWAIT(s, 1, pto::comm::WaitCmp::GE);
}

void scale(pld::Host& h, pld::Params& t) {
  for (int64_t r = 0; r < h.world_size(); ++r) {
    pld::Args a;
    a.in(t["xs"].slice(r));
    a.out(t["ys"].slice(r));
    a.scalar(t.scalar<float>("k"));
    h.submit(r, "kernel", a, {5, 1});
  }
  h.sync();
  pld::Args a;
  a.in(t["xs"].slice(0));
  a.inout(t["acc"]);
  h.submit(0, "adder", a, {6, 1});
  if (t.dim("NR") < h.world_size()) throw pld::Error("dims");
}
void block(pld::Host& h, pld::Params&) {
  pld::Domain d = h.domain("comm_d0", h.all(), {{"sig", 4}});
  for (int64_t r = 0; r < h.world_size(); ++r) {
    pld::Args a;
    a.inout(d.view(r, "sig", {1}, pld::i32));
    h.submit(r, "stuck", a, {7, 1});
  }
}
void nothing(pld::Host&, pld::Params&) {}

constexpr pld::KernelInfo kKernel[] = {{"kernel", pld::Core::aiv, kernel, {2, 1}}};
constexpr pld::KernelInfo kAdder[] = {{"adder", pld::Core::aiv, adder, {3, 1}}};
constexpr pld::KernelInfo kStuck[] = {{"stuck", pld::Core::aiv, stuck, {4, 1}}};
constexpr pld::ChipInfo kChips[] = {{"kernel", test::no_arguments, test::one_kernel, kKernel, {}},
                                    {"adder", test::no_arguments, test::one_kernel, kAdder, {}},
                                    {"stuck", test::no_arguments, test::one_kernel, kStuck, {}}};
constexpr pld::DimInfo kXs[] = {{-1, "NR", true}, {4}};
constexpr pld::DimInfo kN[] = {{-1, "NR", true}, {-1, "M"}};
constexpr pld::DimInfo kAcc[] = {{4}};
constexpr pld::ParamInfo kScale[] = {{"xs", pld::Dir::in, pld::f32, false, kXs, {10, 5}},
                                     {"n", pld::Dir::in, pld::i32, false, kN, {11, 5}},
                                     {"k", pld::Dir::in, pld::f32, true, {}, {12, 5}},
                                     {"ys", pld::Dir::out, pld::f32, false, kXs, {13, 5}},
                                     {"acc", pld::Dir::inout, pld::f32, false, kAcc, {14, 5}}};
// Extents that are expressions: a [NR, 4], b [2 * NR, 4], c [N // 4].
void expressions(pld::Host&, pld::Params& t) {
  if (t["b"].dim(0) != 2 * t.dim("NR") || t["c"].dim(0) != t.dim("N") / 4) throw pld::Error("extents");
}
constexpr pld::DimInfo kB[] = {{-1, "2 * NR", false}, {4}};
constexpr pld::DimInfo kC[] = {{-1, "N // 4", false}};
constexpr pld::DimInfo kN1[] = {{-1, "N - 1", false}};
constexpr pld::ParamInfo kExpressions[] = {{"b", pld::Dir::in, pld::f32, false, kB, {40, 5}},
                                           {"a", pld::Dir::out, pld::f32, false, kXs, {41, 5}},
                                           {"c", pld::Dir::out, pld::f32, false, kC, {42, 5}},
                                           {"n", pld::Dir::inout, pld::f32, false, kN1, {43, 5}}};
constexpr pld::DimInfo kFour[] = {{4, nullptr, true}, {2}};
constexpr pld::ParamInfo kFixed[] = {{"x", pld::Dir::in, pld::f32, false, kFour, {20, 5}}};
constexpr pld::DimInfo kVast[] = {{4611686018427387}, {8}};
constexpr pld::ParamInfo kVastParams[] = {{"x", pld::Dir::in, pld::f32, false, kAcc, {50, 5}},
                                          {"y", pld::Dir::out, pld::f32, false, kVast, {51, 5}}};
constexpr pld::DimInfo kUncountable[] = {{4611686018427387904}, {8}, {3}};
constexpr pld::ParamInfo kUncountableParams[] = {{"z", pld::Dir::in, pld::f32, false, kUncountable, {53, 5}}};
constexpr pld::DimInfo kNone[] = {{4611686018427387904}, {8}, {0}};
constexpr pld::ParamInfo kNoneParams[] = {{"z", pld::Dir::in, pld::f32, false, kNone, {54, 5}}};
constexpr pld::RankCheck kRing[] = {{"pld.tensor.allreduce mode=\"ring\"", 4, true, {22, 9}}};
constexpr pld::EntryInfo kEntries[] = {
    {.name = "scale", .run = scale, .params = kScale, .place = {9, 1}},
    {.name = "block", .run = block, .place = {30, 1}},
    {.name = "fixed", .run = nothing, .params = kFixed, .max_device = 2, .place = {19, 1}},
    {.name = "ring", .run = nothing, .params = kFixed, .rank_checks = kRing, .place = {19, 1}},
    {.name = "expressions", .run = expressions, .params = kExpressions, .place = {39, 1}},
    {.name = "vast", .run = nothing, .params = kVastParams, .place = {49, 1}},
    {.name = "uncountable", .run = nothing, .params = kUncountableParams, .place = {52, 1}},
    {.name = "none", .run = nothing, .params = kNoneParams, .place = {52, 1}},
    {.name = "single", .run = nothing, .single_rank = true, .place = {19, 1}},
};
constexpr pld::ProgramInfo kProgram = {"demo", "demo.pld", kEntries, kChips};

struct Result {
  int code;
  std::string out;
  std::string err;
};

class Shell {
 public:
  Shell() {
    char name[] = "/tmp/pldrunXXXXXX";
    dir_ = mkdtemp(name);
  }
  ~Shell() {
    if (std::system(("rm -rf " + dir_).c_str()) != 0) std::abort();
  }
  std::string file(const std::string& name) const { return dir_ + "/" + name; }

  // Runs the program; `@` in an argument is the directory.
  Result run(const std::string& arguments) {
    std::vector<std::string> words = {"demo"};
    std::istringstream stream(arguments);
    for (std::string w; stream >> w;) {
      for (size_t at; (at = w.find('@')) != std::string::npos;) w.replace(at, 1, dir_ + "/");
      words.push_back(w);
    }
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    Result r{};
    std::fflush(nullptr);
    const int saved[2] = {dup(1), dup(2)};
    FILE* files[2] = {std::fopen(file("stdout").c_str(), "w"), std::fopen(file("stderr").c_str(), "w")};
    dup2(fileno(files[0]), 1);
    dup2(fileno(files[1]), 2);
    r.code = pld_main(static_cast<int>(argv.size()), argv.data(), kProgram);
    std::fflush(nullptr);
    dup2(saved[0], 1);
    dup2(saved[1], 2);
    for (int i = 0; i < 2; ++i) {
      std::fclose(files[i]);
      close(saved[i]);
    }
    r.out = content("stdout");
    r.err = content("stderr");
    return r;
  }
  std::string content(const std::string& name) const {
    std::ifstream f(file(name), std::ios::binary);
    std::ostringstream s;
    s << f.rdbuf();
    return s.str();
  }
  template <class T>
  void write(const std::string& name, pld::DType type, const std::vector<int64_t>& shape,
             const std::vector<T>& data) {
    pld::npy::write(file(name), type, shape, data.data(), static_cast<int64_t>(data.size() * sizeof(T)));
  }

 private:
  std::string dir_;
};

}  // namespace

TEST_CASE("help, unknown options") {
  Shell s;
  const Result help = s.run("--help");
  CHECK(help.code == 0);
  CHECK_THAT(help.out, Contains("xs") && Contains("FP32 [NR, 4]") && Contains("--expect"));
  for (const char* bad : {"--nothing", "file.npy", "--ranks", "--ranks 0", "--ranks two", "--ranks 1025",
                          "--out=", "--trace=", "--in x", "--in =f", "--repeat 0", "--check=all",
                          "--schedule=any", "--seed 1", "--schedules=2", "--rtol=-1"}) {
    const Result r = s.run(bad);
    CAPTURE(bad, r.err);
    CHECK(r.code == 2);
    CHECK_THAT(r.err, Contains("error: "));
  }
  CHECK_THAT(s.run("--seed=1").err, Contains("--schedule=seeded"));
}

TEST_CASE("entries") {
  Shell s;
  CHECK_THAT(s.run("--random").err, Contains("choose one with --entry: scale, block, fixed, ring, "
                                             "expressions, vast, uncountable, none, single"));
  CHECK_THAT(s.run("--entry=x --random").err, Contains("no host function x"));
  CHECK(s.run("--entry=single").code == 0);
  CHECK_THAT(s.run("--entry=single --ranks 2").err, Contains("runs on one rank"));
}

TEST_CASE("a run with files") {
  Shell s;
  s.write<float>("x.npy", pld::f32, {3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  s.write<int32_t>("n.npy", pld::i32, {3, 1}, {1, 2, 3});
  s.write<float>("acc.npy", pld::f32, {4}, {100, 100, 100, 100});
  const std::string all = "--entry=scale --in xs=@x.npy --in n=@n.npy --scalar k=0.5 --in acc=@acc.npy ";
  Result r = s.run(all + "--out ys=@y.npy --out acc=- --repeat 3");
  CAPTURE(r.err);
  CHECK(r.code == 0);
  CHECK(r.out == "acc FP32 [4]\n101 102 103 104\n");  // each run starts from the input again
  CHECK_THAT(r.err, Contains("time of 3 runs: min") && Contains("median") && Contains("max"));
  const pld::npy::Values y = pld::npy::read(s.file("y.npy"));
  CHECK(y.shape == std::vector<int64_t>{3, 4});
  float last;
  std::memcpy(&last, &y.data[44], 4);
  CHECK(last == 6.0f);

  s.write<float>("want.npy", pld::f32, {3, 4}, {0.5f, 1, 1.5f, 2, 2.5f, 3, 3.5f, 4, 4.5f, 5, 5.5f, 6.00001f});
  CHECK(s.run(all + "--expect ys=@want.npy").code == 0);
  r = s.run(all + "--expect ys=@want.npy --rtol 0 --atol=1e-7");
  CHECK(r.code == 4);
  CHECK_THAT(r.err, Contains("ys differs from") &&
                        Contains("in 1 of 12 elements; first at [2, 3]: got 6, want 6.00001"));
  r = s.run(all + "--ranks 2");  // only a part is used: a warning
  CHECK(r.code == 0);
  CHECK_THAT(r.err, Contains("warning: dim NR is 3 in ") && Contains("2 ranks use only a part"));
  r = s.run(all + "--ranks 4");
  CHECK(r.code == 1);
  CHECK_THAT(r.err, Contains("4 ranks are too many"));
}

TEST_CASE("wrong parameters") {
  Shell s;
  s.write<float>("x.npy", pld::f32, {3, 4}, std::vector<float>(12, 1));
  s.write<float>("x2.npy", pld::f32, {2, 4}, std::vector<float>(8, 1));
  s.write<float>("x5.npy", pld::f32, {3, 5}, std::vector<float>(15, 1));
  s.write<double>("x64.npy", pld::i64, {3, 4}, std::vector<double>(12, 1));
  s.write<int32_t>("n.npy", pld::i32, {3, 1}, {1, 2, 3});
  const auto check = [&](const std::string& arguments, const std::string& a, const std::string& b) {
    const Result r = s.run("--entry=scale " + arguments);
    CAPTURE(arguments, r.err);
    CHECK(r.code == 1);
    CHECK_THAT(r.err, Contains("error: ") && Contains(a) && Contains(b));
  };
  check("", "demo.pld:10:5: parameter xs (FP32 [NR, 4]) has no value", "give --in xs=FILE.npy or --random");
  check("--random --in q=@x.npy", "--in q: scale has no such parameter", "xs, n, k, ys, acc");
  check("--random --in k=@x.npy", "demo.pld:12:5: parameter k is a scalar", "--scalar k=VALUE");
  check("--random --in ys=@x.npy", "parameter ys is an output", "no --in");
  check("--random --scalar xs=1", "parameter xs is a tensor", "--in");
  check("--random --out xs=-", "parameter xs is an input", "--out takes an output");
  check("--random --in xs=@none.npy", "none.npy: cannot be read", "No such file");
  check("--random --in xs=@x5.npy", "parameter xs takes FP32 [NR, 4], but",
        "has FP32 [3, 5]: axis 1 is 5, not 4");
  check("--random --in xs=@x64.npy", "parameter xs takes FP32 [NR, 4], but", "has INT64 [3, 4]");
  check("--random --in xs=@n.npy", "takes FP32 [NR, 4], but", "has INT32 [3, 1]");
  check("--random --in acc=@x.npy", "parameter acc takes FP32 [4]", "2 axes, not 1");
  check("--in xs=@x2.npy --in n=@n.npy", "dim NR is 3 in", "but NR is 2 in");
  check("--random --scalar k=abc", "parameter k takes FP32, not 'abc'", "demo.pld:12:5");
  for (const char* large : {"1e39", "-1e400"})
    check(std::string("--random --scalar k=") + large, "parameter k takes FP32, not '", "': it is too large");
  for (const char* good : {"inf", "-inf", "nan", "3.4e38", "1e-400"})
    CHECK(s.run(std::string("--entry=scale --random --scalar k=") + good).code == 0);
  check("--in xs=@x.npy --in n=@n.npy --scalar k=1", "parameter acc (FP32 [4]) has no value",
        "demo.pld:14:5");
  check("--random --expect ys=@x5.npy", "parameter ys takes FP32 [NR, 4]", "axis 1 is 5");
  CHECK(s.run("--entry=scale --random --in xs=@x.npy --in xs=@x.npy").code == 2);
}

TEST_CASE("{rank} in the name of a file stands for each rank") {
  Shell s;
  const std::string with = "--entry=scale --random --scalar k=1 ";
  const Result made = s.run(with + "--ranks 3 --out ys=@all.npy --out ys=@y-{rank}.npy");
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  const pld::npy::Values all = pld::npy::read(s.file("all.npy").c_str());
  for (int64_t r = 0; r < 3; ++r) {
    const pld::npy::Values part = pld::npy::read(s.file("y-" + std::to_string(r) + ".npy").c_str());
    CHECK(part.shape == std::vector<int64_t>{1, 4});
    CHECK(std::memcmp(part.data.data(), &all.data[static_cast<size_t>(r) * 16], 16) == 0);
  }
  // k is 1, so the results are the inputs.
  const Result again =
      s.run(with + "--ranks 3 --in xs=@y-{rank}.npy --expect ys=@all.npy --expect ys=@y-{rank}.npy");
  CAPTURE(again.err);
  CHECK(again.code == 0);
  const Result other = s.run(with + "--ranks 2 --in xs=@x-{rank}.npy");
  CHECK(other.code == 1);
  CHECK_THAT(other.err, Contains("x-0.npy: cannot be read"));
  const Result differs =
      s.run("--entry=scale --random --scalar k=2 --ranks 3 --in xs=@y-{rank}.npy --expect ys=@y-{rank}.npy");
  CHECK(differs.code == 4);
  CHECK_THAT(differs.err, Contains("y-2.npy in ") && Contains("of 4 elements"));
  const Result unknown = s.run(with + "--in xs=@y-{rank}.npy");
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, Contains("give --ranks N"));
  const Result whole = s.run(with + "--ranks 3 --in xs=@all.npy --out acc=@acc-{rank}.npy");
  CHECK(whole.code == 1);
  CHECK_THAT(whole.err, Contains("no axis that the rank indexes"));
  REQUIRE(s.run(with + "--ranks 3 --out acc=@y-1.npy").code == 0);  // [4], a part without its axis
  CHECK(s.run(with + "--ranks 3 --in xs=@y-{rank}.npy").code == 0);
  REQUIRE(s.run(with + "--ranks 3 --out ys=@y-1.npy").code == 0);  // of three ranks
  const Result wrong = s.run(with + "--ranks 3 --in xs=@y-{rank}.npy");
  CHECK(wrong.code == 1);
  CHECK_THAT(wrong.err, Contains("y-1.npy does not have the part of one rank"));
}

TEST_CASE("random values repeat, follow the documented ranges and are exact") {
  Shell s;
  CHECK(s.run("--entry=scale --random --ranks 2 --out ys=@a.npy").code == 0);
  CHECK(s.run("--entry=scale --random=0 --ranks 2 --out ys=@b.npy").code == 0);
  CHECK(s.run("--entry=scale --random=1 --ranks 2 --out ys=@c.npy").code == 0);
  CHECK(s.content("a.npy") == s.content("b.npy"));
  CHECK(s.content("a.npy") != s.content("c.npy"));
  for (pld::DType type : {pld::f32, pld::f16, pld::bf16, pld::i8, pld::u64, pld::b8}) {
    double low = 100, high = -100;
    for (uint64_t i = 0; i < 10000; ++i) {
      const double v = pld::fill::value(type, pld::fill::stream(7, "x"), i);
      low = std::min(low, v);
      high = std::max(high, v);
      if (v * 8 != static_cast<double>(static_cast<int>(v * 8))) FAIL(v);
      if (pld::fill::value(type, pld::fill::stream(7, "x"), i, true) < 1) FAIL("scalar");
      unsigned char bytes[8] = {};
      pld::fill::store(type, v, bytes);
      if (pld::fill::load(type, bytes) != v) FAIL(v);
    }
    const bool is_float = pld::fill::is_float(type);
    CHECK(low == (is_float ? -2 : 0));
    CHECK(high == (is_float ? 2 : (type == pld::b8 ? 1 : 7)));
  }
}

TEST_CASE("ranks") {
  Shell s;
  s.write<float>("x.npy", pld::f32, {4, 2}, std::vector<float>(8, 1));
  Result r = s.run("--entry=fixed --in x=@x.npy");  // 1 + the largest constant device
  CHECK(r.code == 0);
  CHECK_THAT(r.err, Contains("warning: demo.pld:20:5: parameter x has an axis of 4") &&
                        Contains("3 ranks use only a part"));
  r = s.run("--entry=fixed --in x=@x.npy --ranks 2");
  CHECK(r.code == 1);
  CHECK_THAT(r.err, Contains("demo.pld:19:1: fixed dispatches to device 2") && Contains("--ranks 3"));
  r = s.run("--entry=fixed --in x=@x.npy --ranks 5");
  CHECK(r.code == 1);
  CHECK_THAT(r.err, Contains("an axis of 4 that the rank indexes; 5 ranks are too many"));
  CHECK(s.run("--entry=ring --in x=@x.npy").code == 0);
  r = s.run("--entry=ring --in x=@x.npy --ranks 3");
  CHECK(r.code == 1);
  CHECK_THAT(r.err, Contains("demo.pld:22:9: the signal of pld.tensor.allreduce mode=\"ring\" serves 4 "
                             "ranks, the run has 3 ranks"));
}

TEST_CASE("a deadlock ends the program with code 4 and a table") {
  Shell s;
  const Result r = s.run("--entry=block --ranks 3");
  CHECK(r.code == 4);
  CHECK(r.out.empty());
  CHECK_THAT(r.err, Contains("error: deadlock: no rank can move") && Contains("demo.pld:23") &&
                        Contains("comm_d0.sig[0]"));
}

TEST_CASE("unwritable outputs") {
  Shell s;
  CHECK(s.run("--entry=scale --random --out ys=@none/within/y.npy").code == 0);  // folders are made
  const Result r = s.run("--entry=scale --random --out ys=@none/within/y.npy/z.npy");
  CHECK(r.code == 1);
  CHECK_THAT(r.err, Contains("y.npy/z.npy: cannot be written"));
}

TEST_CASE("a parameter for which there is no memory is named") {
  Shell s;
  Result r = s.run("--entry=vast --random");
  CHECK(r.code == 1);
  CHECK_THAT(  // AddressSanitizer warns before
      r.err,
      Catch::EndsWith(
          "error: demo.pld:51:5: parameter y is FP32 [4611686018427387, 8]: there is no memory for its "
          "147573952589676384 bytes\n"));
  r = s.run("--entry=uncountable --random");
  CHECK(r.code == 1);
  CHECK_THAT(
      r.err,
      Contains("demo.pld:53:5: parameter z is FP32 [4611686018427387904, 8, 3]: there is no memory for "
               "its more than 2^64 bytes"));
  CHECK(s.run("--entry=none --random").code == 0);
}

TEST_CASE("extents that are expressions") {
  Shell s;
  s.write<float>("b.npy", pld::f32, {6, 4}, std::vector<float>(24, 1));
  s.write<float>("odd.npy", pld::f32, {5, 4}, std::vector<float>(20, 1));
  s.write<float>("n.npy", pld::f32, {9}, std::vector<float>(9, 1));
  Result r = s.run("--entry=expressions --in b=@b.npy --in n=@n.npy --out a=@a.npy --out c=@c.npy");
  CAPTURE(r.err);
  CHECK(r.code == 0);
  CHECK(pld::npy::read(s.file("a.npy")).shape == std::vector<int64_t>{3, 4});
  CHECK(pld::npy::read(s.file("c.npy")).shape == std::vector<int64_t>{2});
  r = s.run("--entry=expressions --in b=@odd.npy --in n=@n.npy");
  CHECK(r.code == 1);
  CHECK_THAT(r.err, Contains("dim 2 * NR is 5 in") && Contains("which no NR gives"));
  CHECK(s.run("--entry=expressions --random --ranks 3 --out a=@a.npy").code == 0);
  CHECK(pld::npy::read(s.file("a.npy")).shape == std::vector<int64_t>{3, 4});
  CHECK(s.run("--entry=expressions --random --out n=@n2.npy").code == 0);
  CHECK(pld::npy::read(s.file("n2.npy")).shape == std::vector<int64_t>{15});
}
