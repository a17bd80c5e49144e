// What the calls of an authored program may pass, and what its functions may return.
#include <array>
#include <utility>

#include "unit/frontend/text_fixture.h"

using namespace texttest;

namespace {

// `main` with one call of `kernel`, which declares one parameter of that type.
std::string passing(const std::string& parameter, const std::string& given, const std::string& params) {
  return "import pypto.language as pl\nimport pypto.language.distributed as pld\nN = pl.dynamic(\"N\")\n"
         "@pl.program\nclass P:\n"
         "    @pl.function(type=pl.FunctionType.InCore)\n    def kernel(self, a: " +
         parameter +
         "):\n        pass\n\n    @pl.function(type=pl.FunctionType.Orchestration)\n    def main(self" +
         params + "):\n        self.kernel(" + given + ")\n        t = pl.submit(self.kernel, " + given +
         ")\n";
}

void passes(const std::string& parameter, const std::string& given, const std::string& type) {
  const Read r(passing(parameter, given, ", x: " + type));
  INFO(parameter << " from " << given << " of " << type << "\n" << r.errors);
  CHECK(r.errors.empty());
  CHECK(r.good());
}

// The call and the launch are both reported, at the argument.
void refuses(const std::string& parameter, const std::string& type, const std::string& what) {
  const Read r(passing(parameter, "x", ", x: " + type));
  INFO(parameter << " from " << type << "\n" << r.errors);
  CHECK(!r.good());
  CHECK(r.errors.find("t.pld:12:21: error: 'a' of 'kernel' takes ") != std::string::npos);
  CHECK(r.errors.find("t.pld:13:36: error: 'a' of 'kernel' takes ") != std::string::npos);
  CHECK(r.errors.find(": the " + what + " differ [PLD0460]") != std::string::npos);
}

std::string returning(const std::string& results, const std::string& statement) {
  return "import pypto.language as pl\n@pl.program\nclass P:\n"
         "    @pl.function\n    def two(self, x: pl.Tensor[[4], pl.FP32]) -> tuple[pl.Tensor[[4], pl.FP32], "
         "pl.Tensor[[4], pl.FP32]]:\n        return x, x\n\n"
         "    @pl.function\n    def main(self, x: pl.Tensor[[4], pl.FP32], n: pl.Scalar[pl.INT32])" +
         results + ":\n        y = pl.exp(x)\n        " + statement + "\n";
}

}  // namespace

TEST_CASE("arguments of the declared type") {
  passes("pl.Tensor[[4, 64], pl.FP32]", "x", "pl.Tensor[[4, 64], pl.FP32]");
  passes("pld.DistributedTensor[[4, 64], pl.FP32]", "x", "pld.DistributedTensor[[4, 64], pl.FP32]");
  passes("pl.Tensor[[4, 64], pl.FP32]", "x", "pld.DistributedTensor[[4, 64], pl.FP32]");
  passes("pl.Array[4, pl.INT32]", "x", "pl.Array[4, pl.INT32]");
}

TEST_CASE("extents that are no constants agree with any") {
  passes("pl.Tensor[[N, 64], pl.FP32]", "x", "pl.Tensor[[4, 64], pl.FP32]");
  passes("pl.Tensor[[4, 64], pl.FP32]", "x", "pl.Tensor[[N, 64], pl.FP32]");
  passes("pl.Tensor[[N * 2, 64], pl.FP32]", "x", "pl.Tensor[[4, 64], pl.FP32]");
}

TEST_CASE("an index drops its axis, a slice keeps it, and ranks agree") {
  passes("pl.Tensor[[4, 64], pl.FP32]", "x[1]", "pl.Tensor[[2, 4, 64], pl.FP32]");
  passes("pl.Tensor[[1, 4, 64], pl.FP32]", "x[1:2]", "pl.Tensor[[2, 4, 64], pl.FP32]");
  refuses("pl.Tensor[[64], pl.FP32]", "pl.Tensor[[1, 64], pl.FP32]", "ranks");
  refuses("pl.Tensor[[1, 64], pl.FP32]", "pl.Tensor[[64], pl.FP32]", "ranks");
}

TEST_CASE("scalars of any integer dtype, and numbers") {
  for (const char* dtype : {"INDEX", "INT32", "INT64"}) {
    const std::string declared = "pl.Scalar[pl." + std::string(dtype) + "]";
    passes(declared, "x", "pl.Scalar[pl.INT32]");
    passes(declared, "x + 1", "pl.Scalar[pl.INDEX]");
    passes(declared, "3", "pl.Scalar[pl.INDEX]");
  }
  passes("pl.Scalar[pl.FP32]", "2.5", "pl.Scalar[pl.INDEX]");
  passes("pl.Scalar[pl.BF16]", "2.5", "pl.Scalar[pl.INDEX]");
}

TEST_CASE("arguments of another type") {
  refuses("pl.Tensor[[4, 64], pl.FP32]", "pl.Tensor[[4, 64], pl.INT32]", "dtypes");
  refuses("pld.DistributedTensor[[4, 64], pl.FP32]", "pld.DistributedTensor[[4, 64], pl.INT32]", "dtypes");
  refuses("pld.DistributedTensor[[4, 64], pl.FP32]", "pl.Tensor[[4, 64], pl.FP32]", "kinds");
  refuses("pl.Tensor[[4, 64], pl.FP32]", "pl.Tensor[[4, 32], pl.FP32]", "extents");
  refuses("pl.Tensor[[N, 64], pl.FP32]", "pl.Tensor[[N, 32], pl.FP32]", "extents");
  refuses("pl.Tensor[[4, 64], pl.FP32]", "pl.Tensor[[64], pl.FP32]", "ranks");
  refuses("pl.Tensor[[64], pl.FP32]", "pl.Tensor[[1, 32], pl.FP32]", "ranks");
  refuses("pl.Tensor[[4], pl.FP32]", "pl.Scalar[pl.FP32]", "kinds");
  refuses("pl.Scalar[pl.FP32]", "pl.Scalar[pl.INT32]", "dtypes");
  refuses("pl.Scalar[pl.INT32]", "pl.Scalar[pl.BOOL]", "dtypes");
  refuses("pl.Scalar[pl.FP32]", "pl.Scalar[pl.FP16]", "dtypes");
  refuses("pl.Array[4, pl.INT32]", "pl.Array[8, pl.INT32]", "extents");
}

TEST_CASE("results agree with the declared ones") {
  const std::string two = " -> tuple[pl.Tensor[[4], pl.FP32], pl.Tensor[[4], pl.FP32]]";
  for (const auto& [results, statement] : {std::pair<std::string, std::string>{"", "return y"},
                                           {" -> pl.Tensor[[4], pl.FP32]", "return y"},
                                           {" -> pl.Scalar[pl.INDEX]", "return n"},
                                           {two, "return y, x"},
                                           {two, "return self.two(y)"}}) {
    const Read r(returning(results, statement));
    INFO(results << " " << statement << "\n" << r.errors);
    CHECK(r.errors.empty());
    CHECK(r.good());
  }
  for (const auto& [results, statement, code] :
       {std::array<std::string, 3>{" -> pl.Tensor[[4], pl.INT32]", "return y", "PLD0462"},
        {" -> pl.Tensor[[8], pl.FP32]", "return y", "PLD0462"},
        {" -> pl.Tensor[[4], pl.FP32]", "return self.two(y)", "PLD0462"},
        {" -> pl.Tensor[[4], pl.FP32]", "return y, x", "PLD0461"},
        {two, "return y", "PLD0461"}}) {
    const Read r(returning(results, statement));
    INFO(results << " " << statement << "\n" << r.errors);
    CHECK(!r.good());
    CHECK(r.errors.find(code) != std::string::npos);
  }
}

TEST_CASE("windows that their buffers hold") {
  const auto windows = [](const std::string& size, const std::string& view) {
    return "import pypto.language as pl\nimport pypto.language.distributed as pld\n@pl.program\nclass P:\n"
           "    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n    def main(self, n: "
           "pl.Scalar[pl.INDEX]):\n        buf = pld.alloc_window_buffer(" +
           size + ")\n        w = pld.window(buf, " + view + ")\n";
  };
  for (const auto& [size, view] : {std::pair<const char*, const char*>{"64", "[16], dtype=pl.FP32"},
                                   {"64", "[2, 4], dtype=pl.FP32"},
                                   {"64", "[n], dtype=pl.FP32"},
                                   {"n", "[1024], dtype=pl.FP32"},
                                   {"[16], dtype=pl.FP32", "[32], dtype=pl.FP16"}}) {
    const Read r(windows(size, view));
    INFO(size << " " << view << "\n" << r.errors);
    CHECK(r.good());
  }
  for (const auto& [size, view] : {std::pair<const char*, const char*>{"64", "[17], dtype=pl.FP32"},
                                   {"64", "[2, 16], dtype=pl.FP32"},
                                   {"[16], dtype=pl.FP16", "[16], dtype=pl.FP32"}}) {
    const Read r(windows(size, view));
    INFO(size << " " << view << "\n" << r.errors);
    CHECK(!r.good());
    CHECK(r.errors.find("PLD0463") != std::string::npos);
  }
}
