// Structural equality, hash and differences (format.md section 7, decisions D23).
#include "ir/same.h"

#include "frontend/text.h"
#include "ir/op.h"
#include "support/catch.h"

using namespace pldc;

namespace {

struct Text {
  SourceManager sources;
  Context context;
  DiagSink diags;
  Module module;
  explicit Text(std::string text) {
    module = parse(*sources.add("t", std::move(text)), context, diags);
    for (const Diagnostic& d : diags.all()) UNSCOPED_INFO(d.message);
    REQUIRE(module.program != nullptr);
  }
  const Program* program() const { return module.program; }
};

std::string program(std::string_view body, std::string_view name = "P", std::string_view decorator = "") {
  std::string out =
      "# pypto.program: " + std::string(name) +
      "\nimport pypto.language as pl\nimport pypto.language.distributed as pld\n\n@pl.program\nclass " +
      std::string(name) + ":\n    @pl.function" + std::string(decorator) +
      "\n    def f(self, x: pl.Tensor[[64], pl.FP32], n: " + "pl.Scalar[pl.INDEX]):\n";
  std::size_t begin = 0;
  while (begin < body.size()) {
    const std::size_t end = std::min(body.find('\n', begin), body.size());
    out += "        " + std::string(body.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return out;
}

void equal(const std::string& left, const std::string& right) {
  const Text a(left);
  const Text b(right);
  for (const Difference& d : differences(a.program(), b.program())) {
    UNSCOPED_INFO(d.path << ": " << d.left << " / " << d.right);
  }
  CHECK(same(a.program(), b.program()));
  CHECK(structural_hash(a.program()) == structural_hash(b.program()));
  CHECK(differences(a.program(), b.program()).empty());
}

// The first difference as "path: left / right".
std::string differs(const std::string& left, const std::string& right) {
  const Text a(left);
  const Text b(right);
  CHECK(!same(a.program(), b.program()));
  const auto found = differences(a.program(), b.program());
  REQUIRE(!found.empty());
  return found[0].path + ": " + found[0].left + " / " + found[0].right;
}

constexpr std::string_view kDomain =
    "import pypto.language as pl\nimport pypto.language.distributed as pld\n\n@pl.program\nclass Pair:\n"
    "    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
    "    def host(self):\n"
    "        with pl._dump.comm_domain(name=\"comm_d0\", devices=[0, 1], "
    "slots=[pl._dump.window_buffer(\"halo_window\", base=\"halo\", "
    "size=64, load_from_host=False, store_to_host=False)]):\n"
    "            halo: pl.Ptr = pl._dump.alloc_window_buffer(64, name='halo')\n"
    "            v: pld.DistributedTensor[[16], pl.FP32, pl._dump.window_ref(\"halo_window\")] = "
    "pl._dump.call(\"pld.tensor.window\", [halo, [16]], pld.DistributedTensor[[16], pl.FP32, "
    "pl._dump.window_ref(\"halo_window\")], "
    "kwargs={\"dtype\": pl.FP32})\n"
    "            return 0\n";

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const std::size_t at = out.find(from);
  REQUIRE(at != std::string::npos);
  return out.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("names, comments, places and the program's name do not count") {
  equal(program("m: pl.Scalar[pl.INDEX] = n + 1\nreturn m\n"),
        program("# a comment\nother: pl.Scalar[pl.INDEX] =    n + 1\nreturn other\n", "Q"));
}

TEST_CASE("MemRefs inside types do not count") {
  equal(program("y: pl.Tensor[[64], pl.FP32] = x\nreturn y\n"),
        program("y: pl.Tensor[[64], pl.FP32, pl.MemRef(\"mem_ddr_0\", pl.const(0, pl.INT64), 256)] = "
                "x\nreturn y\n"));
}

TEST_CASE("INT64 and INDEX constants are equal") {
  equal(program("m: pl.Scalar[pl.INDEX] = n + 1\nreturn m\n"),
        program("m: pl.Scalar[pl.INDEX] = n + pl.const(1, pl.INT64)\nreturn m\n"));
  CHECK(differs(program("m: pl.Scalar[pl.INDEX] = n + 1\nreturn m\n"),
                program("m: pl.Scalar[pl.INDEX] = n + pl.const(1, pl.INT32)\nreturn m\n"))
            .starts_with("f.body[0].value.rhs: "));
}

TEST_CASE("variables are compared through their definitions") {
  CHECK(differs(program("a: pl.Scalar[pl.INDEX] = n + 1\nb: pl.Scalar[pl.INDEX] = n + 2\nreturn a\n"),
                program("a: pl.Scalar[pl.INDEX] = n + 1\nb: pl.Scalar[pl.INDEX] = n + 2\nreturn b\n"))
            .starts_with("f.body[2].values[0]: variable 'a' / variable 'b'"));
  equal(program("a: pl.Scalar[pl.INDEX] = n + 1\nb: pl.Scalar[pl.INDEX] = n + 2\nreturn a\n"),
        program("b: pl.Scalar[pl.INDEX] = n + 1\na: pl.Scalar[pl.INDEX] = n + 2\nreturn b\n"));
}

TEST_CASE("paths of differences") {
  const std::string base =
      "y: pl.Tensor[[64], pl.FP32] = pl.tensor.exp(x)\nfor i in pl.range(4):\n    m: pl.Scalar[pl.INDEX] = "
      "i\nreturn y\n";
  const auto path = [&](std::string_view from, std::string_view to) {
    return differs(program(base), program(replaced(base, from, to)));
  };
  CHECK(path("[[64], pl.FP32]", "[[32], pl.FP32]")
            .starts_with("f.body[0].type.shape[0]: 64 (INDEX) / 32 (INDEX)"));
  CHECK(path("pl.FP32]", "pl.FP16]").starts_with("f.body[0].type.dtype: FP32 / FP16"));
  CHECK(path("tensor.exp", "tensor.neg").starts_with("f.body[0].value.op: tensor.exp / tensor.neg"));
  CHECK(path("pl.range(4)", "pl.range(5)").starts_with("f.body[1].stop: "));
  CHECK(path("pl.range(4)", "pl.parallel(4)").starts_with("f.body[1].kind: range / parallel"));
  CHECK(path("= i\n", "= n\n").starts_with("f.body[1].body[0].value: variable 'i' / variable 'n'"));
  CHECK(differs(program(base), program(base, "P", "(type=pl.FunctionType.InCore)"))
            .starts_with("f.func_type: "));
  CHECK(differs(program("return n\n"), program("m: pl.Scalar[pl.INDEX] = n\nreturn n\n"))
            .starts_with("f.body[0]: return / assignment of 'm'"));
  CHECK(differs(program("m: pl.Scalar[pl.INDEX] = n\n"), program("m: pl.Scalar[pl.INDEX] = n\nreturn n\n"))
            .starts_with("f.body[1]: the end / return"));
  const std::string two = program("return n\n") + "    @pl.function\n    def g(self):\n        return 0\n";
  CHECK(differs(program("return n\n"), two).starts_with("g: nothing / a function"));
  const Text a(program(base));
  const Text b(program("return n\n"));
  CHECK(differences(a.program(), b.program(), 1).size() == 1);
}

TEST_CASE("domains: slots, windows, and paths through them") {
  equal(std::string(kDomain), replaced(std::string(kDomain), "class Pair", "class Other"));
  // The slot's size is seen from the tensor's type and at the slot.
  const Text a{std::string(kDomain)};
  const Text b{replaced(kDomain, "size=64", "size=128")};
  CHECK(!same(a.program(), b.program()));
  const auto found = differences(a.program(), b.program());
  REQUIRE(found.size() == 2);
  CHECK(found[0].path == "host.body[1].type.window_buffer.size");
  CHECK(found[0].left == "64 (INDEX)");
  CHECK(found[1].path == "host.comm_domain[0].slots[0].size");
  CHECK(differs(std::string(kDomain), replaced(kDomain, "devices=[0, 1]", "devices=[0, 2]")) ==
        "host.comm_domain[0].devices: [0, 1] / [0, 2]");
  CHECK(differs(std::string(kDomain), replaced(kDomain, "comm_d0", "comm_d7")) ==
        "host.comm_domain[0].name: comm_d0 / comm_d7");
  CHECK(differs(std::string(kDomain), replaced(kDomain, ", pl._dump.window_ref(\"halo_window\")] = ", "] = "))
            .starts_with("host.body[1].type.window_buffer: "));
}

TEST_CASE("attributes are maps") {
  const auto call = [](std::string_view attrs) {
    return program("self.f(x, n, attrs={" + std::string(attrs) + "})\nreturn n\n");
  };
  equal(call("\"core_placement\": \"aiv\", \"deferred_completion_waiter\": True"),
        call("\"deferred_completion_waiter\": True, \"core_placement\": \"aiv\""));
  CHECK(differs(call("\"k\": 1"), call("\"k\": True")) == "f.body[0].value.attrs[\"k\"]: int / bool");
  CHECK(differs(call("\"k\": 1"), call("\"j\": 1")) == "f.body[0].value.attrs[\"k\"]: int / nothing");
}

TEST_CASE("constants: signs of zero, NaN") {
  Context c;
  const auto one = [&](double value) {
    const Var* v = c.var(c.name("v"), c.scalar(DType::FP32));
    Function f{};
    f.name = c.name("f");
    f.body = c.list({static_cast<const Stmt*>(c.assign(v, c.const_float(value)))});
    Program p{};
    p.functions = c.list({c.make(f)});
    return c.make(p);
  };
  CHECK(same(one(0.0), one(-0.0)));
  CHECK(structural_hash(one(0.0)) == structural_hash(one(-0.0)));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(same(one(nan), one(nan)));
  CHECK(structural_hash(one(nan)) == structural_hash(one(nan)));
  CHECK(!same(one(1.0), one(2.0)));
}

TEST_CASE("shared nodes cost one look") {
  // Each sum uses the one before twice: 2^60 paths, 60 nodes.
  Context c;
  const auto tower = [&] {
    const Var* n = c.var(c.name("n"), c.scalar(DType::INDEX));
    const Expr* e = n;
    for (int i = 0; i < 60; ++i) e = c.binary(BinaryOp::Add, e, e);
    const Var* v = c.var(c.name("v"), c.tensor(TypeKind::Tensor, DType::FP32, c.list({e})));
    Function f{};
    f.name = c.name("f");
    f.params = c.list({Param{n, ParamDirection::In, {}}});
    f.body = c.list({static_cast<const Stmt*>(c.assign(v, e))});
    Program p{};
    p.functions = c.list({c.make(f)});
    return c.make(p);
  };
  const Program* a = tower();
  const Program* b = tower();
  CHECK(same(a, b));
  CHECK(structural_hash(a) == structural_hash(b));
}

TEST_CASE("types of one program") {
  Context c;
  const Var* n = c.var(c.name("n"), c.scalar(DType::INDEX));
  const Var* m = c.var(c.name("n"), c.scalar(DType::INDEX));
  const auto tensor = [&](const Expr* dim) { return c.tensor(TypeKind::Tensor, DType::FP32, c.list({dim})); };
  CHECK(same_type(tensor(n), tensor(n)));
  CHECK(!same_type(tensor(n), tensor(m)));
  CHECK(same_type(tensor(c.const_int(3)), tensor(c.const_int(3, DType::INT64))));
  CHECK(!same_type(tensor(n), c.scalar(DType::FP32)));
}
