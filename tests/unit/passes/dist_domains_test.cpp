// MaterializeCommDomainScopes and its verifier: scenarios T22 to T53, decisions D8, D9, D10, D15, D22.
#include "ir/same.h"
#include "ir/walk.h"
#include "support/catch.h"
#include "unit/passes/dist_program.h"

using namespace dist;
using Catch::Matchers::Contains;

namespace {

std::string domains(std::string_view body, std::string_view params = "n: pl.Scalar[pl.INDEX]") {
  return after(host(body, params), {kDomains});
}
std::string both(std::string_view first, std::string_view second) {
  return std::string(first) + std::string(second);
}

// buf, data [256]; no dispatch.
constexpr std::string_view kData =
    "buf = pld.alloc_window_buffer([256], dtype=pl.FP32)\n"
    "data = pld.window(buf, [256], dtype=pl.FP32)\n";
// sbuf, sig [4]; no dispatch.
constexpr std::string_view kSignal =
    "sbuf = pld.alloc_window_buffer([4], dtype=pl.INT32)\n"
    "sig = pld.window(sbuf, [4], dtype=pl.INT32)\n";

std::string verified(std::string_view text, pldc::Property property) {
  pldc::SourceManager sources;
  pldc::Context context;
  pldc::DiagSink diags;
  const pldc::Module module = pldc::parse(*sources.add("t", std::string(text)), context, diags);
  if (module.program == nullptr) return "unreadable: " + (diags.all().empty() ? "" : diags.all()[0].message);
  pldc::verify(property, module.program, diags);
  std::string out;
  for (const pldc::Diagnostic& d : diags.take()) out += d.message + "\n";
  return out;
}

}  // namespace

TEST_CASE("T22 one allocation, one view, all devices") {
  const std::string text = domains(
      "buf = pld.alloc_window_buffer(n * 4)\n"
      "data = pld.window(buf, [256], dtype=pl.FP32)\n"
      "for r in pl.range(pld.world_size()):\n"
      "    self.chip(data, device=r)\n"
      "return 0\n");
  INFO(text);
  CHECK(count(text, "comm_domain(") == 1);
  CHECK_THAT(text, Contains("with pl._dump.comm_domain(name=\"comm_d0\", devices=[], "
                            "slots=[pl._dump.window_buffer(\"buf_window\", base=\"buf\", size="));
  CHECK_THAT(text, Contains("load_from_host=False, store_to_host=False)]):"));
  // The size of the slot is the allocation's, unchanged.
  const std::size_t size = text.find("size=") + 5;
  const std::string slot_size = text.substr(size, text.find(", load_from_host", size) - size);
  CHECK_THAT(text, Contains("alloc_window_buffer(" + slot_size + ", name='buf')"));
  CHECK_THAT(slot_size, Contains("*"));
}

TEST_CASE("T23 T24 T26 devices of constants and of constant loops") {
  CHECK_THAT(domains(both(kData, "self.chip(data, device=0)\nself.chip(data, device=1)\nreturn 0\n")),
             Contains("devices=[0, 1]"));
  CHECK_THAT(domains(both(kData, "for r in pl.range(2):\n    self.chip(data, device=r)\nreturn 0\n")),
             Contains("devices=[0, 1]"));
  CHECK_THAT(domains(both(kData, "m = 2\nfor r in pl.range(m):\n    self.chip(data, device=r)\nreturn 0\n")),
             Contains("devices=[0, 1]"));
  CHECK_THAT(domains(both(kData, "for r in pl.range(1, 4):\n    self.chip(data, device=r)\nreturn 0\n")),
             Contains("devices=[1, 2, 3]"));
}

TEST_CASE("T25 a variable that holds the world size means all devices") {
  CHECK_THAT(
      domains(both(kData,
                   "t = pld.world_size()\nfor r in pl.range(t):\n    self.chip(data, device=r)\nreturn 0\n")),
      Contains("devices=[]"));
}

TEST_CASE("T27 T28 T29 equal devices share a domain, different ones nest in source order") {
  const auto alloc = [](const std::string& name) {
    return "buf_" + name + " = pld.alloc_window_buffer([256], dtype=pl.FP32)\n" + name +
           " = pld.window(buf_" + name + ", [256], dtype=pl.FP32)\n";
  };
  const auto on = [](const std::string& name, int device) {
    return "self.chip(" + name + ", device=" + std::to_string(device) + ")\n";
  };
  std::string text = domains(alloc("a") + alloc("b") + on("a", 0) + on("b", 0) + "return 0\n");
  INFO(text);
  CHECK(count(text, "comm_domain(") == 1);
  CHECK(in_order(text, {"base=\"buf_a\"", "base=\"buf_b\""}));

  text = domains(alloc("a") + alloc("b") + on("a", 0) + on("a", 1) + on("b", 2) + on("b", 3) + "return 0\n");
  INFO(text);
  CHECK(in_order(text, {"\"comm_d0\", devices=[0, 1]", "base=\"buf_a\"", "\n            with",
                        "\"comm_d1\", devices=[2, 3]", "base=\"buf_b\"", "\n                buf_a: pl.Ptr",
                        "\n                return 0"}));

  text = domains(alloc("a") + alloc("b") + alloc("c") + alloc("d") + on("a", 0) + on("b", 1) + on("c", 2) +
                 on("d", 2) + "return 0\n");
  INFO(text);
  CHECK(count(text, "comm_domain(") == 3);
  CHECK(in_order(text, {"comm_d0", "buf_a", "comm_d1", "buf_b", "comm_d2", "buf_c", "buf_d", "):\n"}));
}

TEST_CASE("T30 all devices and one device are all devices") {
  CHECK_THAT(domains(both(data_everywhere(), "self.chip(data, device=0)\nreturn 0\n")),
             Contains("devices=[]"));
}

TEST_CASE("T31 T32 T33 views of one allocation refer to one window, on both sides; parameters to none") {
  const std::string source =
      host(both(data_everywhere(),
                "view = pld.window(buf, [256], dtype=pl.FP32)\nself.chip(view, device=0)\nreturn 0\n"));
  pldc::SourceManager sources;
  pldc::Context context;
  pldc::DiagSink diags;
  const pldc::Module module = pldc::parse(*sources.add("t", source), context, diags);
  REQUIRE(module.program != nullptr);
  const pldc::PassOptionValues none;
  pldc::PassEnv env{context, diags, none};
  const pldc::Program* program = pldc::run_MaterializeCommDomainScopes(env, module.program);
  REQUIRE(program != nullptr);
  const pldc::Var* slot = nullptr;
  int views = 0;
  for (const pldc::Function* f : program->functions) {
    for (const pldc::Param& param : f->params) {
      const auto* type = pldc::dyn<pldc::TensorType>(param.var->type);
      CHECK((type == nullptr || type->window == nullptr));
    }
    pldc::walk_stmts(f->body, [&](const pldc::Stmt* stmt) {
      if (const auto* scope = pldc::dyn_scope(stmt, pldc::ScopeKind::CommDomain)) {
        REQUIRE(scope->slots.size() == 1);
        slot = scope->slots[0].base;
      }
      const auto* assign = pldc::dyn<pldc::AssignStmt>(stmt);
      if (assign == nullptr || pldc::op_call(assign->value, pldc::OpId::pld_tensor_window) == nullptr) return;
      ++views;
      CHECK(pldc::dyn<pldc::TensorType>(assign->var->type)->window == slot);
      CHECK(pldc::dyn<pldc::TensorType>(assign->value->type)->window == slot);
    });
  }
  CHECK(views == 2);
  CHECK(pldc::verify(pldc::Property::AssignTypeSymmetry, program, diags));
  CHECK(pldc::verify(pldc::Property::CommDomainScopesMaterialized, program, diags));
  // T45
  CHECK(pldc::run_MaterializeCommDomainScopes(env, program) == program);
}

TEST_CASE("T34 T35 operands of collectives live where the data lives") {
  std::string text =
      domains(both(kSignal, both(data_on_two(), "pld.tensor.allreduce(data, sig)\nreturn 0\n")));
  INFO(text);
  CHECK(count(text, "comm_domain(") == 1);
  CHECK(in_order(text, {"devices=[0, 1]", "base=\"sbuf\"", "base=\"buf\""}));

  text = after(program(R"(@pl.function(type=pl.FunctionType.Orchestration)
def put(self, w: pl.InOut[pld.DistributedTensor[[8, 32], pl.FP32]], v: pl.InOut[pld.DistributedTensor[[8, 32], pl.FP32]], c: pl.InOut[pld.DistributedTensor[[2, 1], pl.INT32]]) -> pld.DistributedTensor[[8, 32], pl.FP32]:
    return w

@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
def host(self):
    b1 = pld.alloc_window_buffer([8, 32], dtype=pl.FP32)
    b2 = pld.alloc_window_buffer([8, 32], dtype=pl.FP32)
    b3 = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
    b4 = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
    b5 = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
    src = pld.window(b1, [8, 32], dtype=pl.FP32)
    dst = pld.window(b2, [8, 32], dtype=pl.FP32)
    sig = pld.window(b3, [2, 1], dtype=pl.INT32)
    sends = pld.window(b4, [2, 1], dtype=pl.INT32)
    recvs = pld.window(b5, [2, 1], dtype=pl.INT32)
    for r in pl.range(2):
        self.put(src, dst, sends, device=r)
    pld.tensor.all_to_all_v(src, dst, sig, sends, recvs)
    return 0
)"),
               {kDomains});
  INFO(text);
  CHECK(count(text, "comm_domain(") == 1);
  CHECK(in_order(text, {"b1", "b2", "b3", "b4", "b5", "]):\n"}));
}

TEST_CASE("T36 D7 all_to_all_v in a host loop is refused") {
  const auto in_loop = [](std::string_view loop) {
    return after(program(R"(@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
def host(self, n: pl.Scalar[pl.INDEX]):
    b1 = pld.alloc_window_buffer([8, 32], dtype=pl.FP32)
    b3 = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
    src = pld.window(b1, [8, 32], dtype=pl.FP32)
    dst = pld.window(b1, [8, 32], dtype=pl.FP32)
    sig = pld.window(b3, [2, 1], dtype=pl.INT32)
)" + indented(loop, 4) + "        pld.tensor.all_to_all_v(src, dst, sig, sig, sig)\n    return 0\n"),
                 {kDomains});
  };
  for (const char* loop : {"for i in pl.range(3):", "while n > 0:"}) {
    CHECK_THAT(in_loop(loop), Contains("all_to_all_v is not supported inside a for/while loop"));
  }
}

TEST_CASE("T37 T38 T44 T46 D8 dead and undispatched allocations") {
  CHECK_THAT(domains("gone = pld.alloc_window_buffer([256], dtype=pl.FP32)\nreturn 0\n"),
             Contains("'gone' has no pld.tensor.window materialisation"));
  CHECK_THAT(domains(both(kData, "return 0\n")), Contains("'buf' is not consumed by any chip_orch dispatch"));
  CHECK_THAT(domains(both(kData, "self.chip(data)\nreturn 0\n")),
             Contains("'buf' is not consumed by any chip_orch dispatch"));
  const std::string text = host("return 0\n");
  CHECK(after(text, {kDomains}) == after(text, {}));
  // Every dead allocation is told, not only the first.
  const std::string two = domains(
      "one = pld.alloc_window_buffer([256], dtype=pl.FP32)\ntwo = pld.alloc_window_buffer([256], "
      "dtype=pl.FP32)\nreturn 0\n");
  CHECK_THAT(two, Contains("'one'") && Contains("'two'"));
}

TEST_CASE("T39 T40 D8 devices that cannot be known") {
  const auto loop = [](std::string_view header, std::string_view device) {
    return domains(both(kData, std::string(header) + "\n    self.chip(data, device=" + std::string(device) +
                                   ")\nreturn 0\n"));
  };
  CHECK_THAT(loop("for r in pl.range(0, 4, 2):", "r"),
             Contains("device=r over a non-unit-step loop is not supported (step=2)"));
  CHECK_THAT(loop("for r in pl.range(2):", "r + 1"),
             Contains("device= expression must be ConstInt or the induction var of pl.range"));
  CHECK_THAT(loop("for r in pl.range(2):", "n"),
             Contains("device=n is not the induction variable of any enclosing pl.range loop"));
  CHECK_THAT(loop("for r in pl.range(n):", "r"),
             Contains("device=r loop bound must be ConstInt or pld.system.world_size()"));
  CHECK_THAT(loop("for r in pl.range(n, 4):", "r"), Contains("start is not a constant"));
  CHECK_THAT(loop("for r in pl.range(2, 2):", "r"), Contains("reaches no device"));
  CHECK_THAT(loop("for r in pl.range(100):", "r"), Contains("at most 64"));
  CHECK_THAT(domains(both(kData, "self.chip(data, device=-1)\nreturn 0\n")), Contains("device"));
}

TEST_CASE("T41 T42 no coverage is an error, never all devices") {
  CHECK_THAT(domains(both(kSignal, "pld.tensor.barrier(sig)\nreturn 0\n")),
             Contains("pld.tensor.barrier signal buffer has no inferred comm-domain coverage"));
  CHECK_THAT(domains(both(kData, both(kSignal, "pld.tensor.allreduce(data, sig)\nreturn 0\n"))),
             Contains("no inferred comm-domain coverage to share with its signal buffer"));
  // A signal may serve a barrier before the collective that tells where it lives.
  CHECK_THAT(
      domains(both(kSignal, both(data_on_two(),
                                 "pld.tensor.barrier(sig)\npld.tensor.allreduce(data, sig)\nreturn 0\n"))),
      Contains("comm_domain("));
}

TEST_CASE("T43 a submit with device is a dispatch") {
  const std::string text = after(
      program(
          std::string(chips()) +
          "@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
          "def host(self):\n"
          "    buf: pl.Ptr = pl._dump.alloc_window_buffer(1024, name='buf')\n"
          "    data: pld.DistributedTensor[[256], pl.FP32] = pld.tensor.window(buf, [256], dtype=pl.FP32)\n"
          "    s: pl.Tuple[pld.DistributedTensor[[256], pl.FP32], pl.Scalar[pl.TASK_ID]] = "
          "pl.submit(self.chip, data, "
          "attrs={\"device\": pl.const(3, pl.INDEX)})\n"
          "    return 0\n"),
      {kDomains});
  INFO(text);
  CHECK_THAT(text, Contains("devices=[3]"));
}

TEST_CASE("T48 a Graph function is no chip orchestrator") {
  const std::string text = after(program("@pl.function(type=pl.FunctionType.Graph)\n"
                                         "def graph(self, w: pl.InOut[pld.DistributedTensor[[256], "
                                         "pl.FP32]]) -> pld.DistributedTensor[[256], pl.FP32]:\n"
                                         "    return w\n\n"
                                         "@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
                                         "def host(self):\n" +
                                         indented(both(kData, "self.graph(data, device=0)\nreturn 0\n"), 4)),
                                 {kDomains});
  CHECK_THAT(text, Contains("is not consumed by any chip_orch dispatch"));
}

TEST_CASE("T49 T50 D22 verifier of the domains") {
  const auto property = pldc::Property::CommDomainScopesMaterialized;
  const golden::Result good =
      golden::run(host(both(data_on_two(), "return 0\n")), {kDomains}, {}, pldc::Dialect::Dump);
  REQUIRE(good.ok);
  CHECK(verified(good.text, property).empty());

  // A second function whose scope names the first one's window.
  std::string reuse = good.text;
  reuse +=
      "\n    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n    def other(self):\n"
      "        with pl._dump.comm_domain(name=\"again\", devices=[0], "
      "slots=[pl._dump.window_buffer(\"buf_window\", "
      "base=\"buf\", size=";
  const std::size_t size = good.text.find("size=") + 5;
  reuse += good.text.substr(size, good.text.find(", load_from_host", size) - size);
  reuse += ", load_from_host=False, store_to_host=False)]):\n            return 0\n";
  const std::string twice = verified(reuse, property);
  INFO(reuse);
  CHECK(count(twice, "\n") == 1);
  CHECK_THAT(twice, Contains("appears in multiple CommDomainScopeStmts"));

  const std::string none = program(
      "@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
      "def host(self):\n"
      "    with pl._dump.comm_domain(name=\"comm_d0\", devices=[], slots=[]):\n"
      "        return 0\n");
  CHECK_THAT(verified(none, property), Contains("the communication domain 'comm_d0' has no slots"));

  const std::string before = host(both(data_on_two(), "return 0\n"));
  CHECK_THAT(verified(before, property), Contains("'buf' lies in no communication domain"));
}

TEST_CASE("D15 a slot and its tensors are one window for the verifier") {
  const golden::Result good =
      golden::run(host(both(data_on_two(), "return 0\n")), {kDomains}, {}, pldc::Dialect::Dump);
  REQUIRE(good.ok);
  std::string parted = good.text;
  // The view's type loses its reference on both sides.
  for (std::size_t at = parted.find(", pl._dump.window_ref("); at != std::string::npos;
       at = parted.find(", pl._dump.window_ref(")) {
    parted.erase(at, parted.find(')', at) + 1 - at);
  }
  CHECK_THAT(verified(parted, pldc::Property::CommDomainScopesMaterialized),
             Contains("'data' is made from the window 'buf'"));
}

TEST_CASE("T51 the materialised program survives printing and reading") {
  const std::string source = host(both(kSignal, both(data_everywhere(),
                                                     "view = pld.window(buf, [16, 16], dtype=pl.FP32)\n"
                                                     "data = pld.tensor.allreduce(data, sig)\nreturn 0\n")));
  const std::vector<pldc::PassFunction> stages[] = {
      {kDomains}, {kDomains, kCollectives}, {kDomains, kCollectives, kContexts}};
  for (const auto& passes : stages) {
    pldc::SourceManager sources;
    pldc::Context context;
    pldc::DiagSink diags;
    pldc::Module module = pldc::parse(*sources.add("t", source), context, diags);
    REQUIRE(module.program != nullptr);
    const pldc::PassOptionValues none;
    pldc::PassEnv env{context, diags, none};
    for (const pldc::PassFunction pass : passes) {
      module.program = pass(env, module.program);
      REQUIRE(module.program != nullptr);
    }
    const std::string text = pldc::print(module, {});
    pldc::Context fresh;
    const pldc::Module again = pldc::parse(*sources.add("u", text), fresh, diags);
    INFO(text);
    REQUIRE(again.program != nullptr);
    for (const pldc::Difference& d : pldc::differences(module.program, again.program)) {
      UNSCOPED_INFO(d.path << ": " << d.left << " / " << d.right);
    }
    CHECK(pldc::same(module.program, again.program));
    CHECK(pldc::structural_hash(module.program) == pldc::structural_hash(again.program));
    CHECK(pldc::print(again, {}) == text);
  }
}

TEST_CASE("T52 a loop over one device") {
  CHECK_THAT(domains(both(kData, "for r in pl.range(1):\n    self.chip(data, device=r)\nreturn 0\n")),
             Contains("devices=[0]"));
}

TEST_CASE("T53 D9 lineage through collectives, other names, loops, branches and dispatches") {
  // Each body re-binds `data` and dispatches the result to device 5: the buffer must live there too.
  const char* rebinds[] = {
      "data = pld.tensor.broadcast(data, sig, root=0)\n",
      "data = pld.tensor.allreduce(data, sig)\n",
      "other = data\ndata = other\n",
      "for i in pl.range(3):\n    data = pld.tensor.allreduce(data, sig)\n",
      "while n > 0:\n    data = pld.tensor.broadcast(data, sig, root=0)\n",
      "if n > 0:\n    data = pld.tensor.allreduce(data, sig)\n",
      "data = self.chip(data, device=0)\n",
      "for i in pl.range(3):\n    data = self.chip(data, device=0)\n",
  };
  for (const char* rebind : rebinds) {
    const std::string body =
        both(kSignal,
             both(data_on_two(), std::string(rebind) +
                                     "self.chip_sig(sig, device=0)\nself.chip(data, device=5)\nreturn 0\n"));
    INFO(rebind);
    // As written, and after SSA with its carries and merges.
    const std::string plain = after(host(body), {kDomains});
    INFO(plain);
    CHECK_THAT(plain, Contains("devices=[0, 1, 5]"));
    const std::string ssa = after(host(body), {pldc::run_ConvertToSSA, pldc::run_FlattenCallExpr, kDomains});
    INFO(ssa);
    CHECK_THAT(ssa, Contains("devices=[0, 1, 5]"));
  }
}

TEST_CASE("D9 a window that is one of two is an error of the collective, and dispatched it counts for both") {
  const std::string two = both(kSignal, both(data_on_two(),
                                             "buf2 = pld.alloc_window_buffer([256], dtype=pl.FP32)\n"
                                             "other = pld.window(buf2, [256], dtype=pl.FP32)\n"
                                             "self.chip(other, device=0)\n"
                                             "if n > 0:\n    either = data\nelse:\n    either = other\n"));
  CHECK_THAT(
      after(host(two + "pld.tensor.allreduce(either, sig)\nreturn 0\n"), {pldc::run_ConvertToSSA, kDomains}),
      Contains("may be a view of"));
  const std::string text = after(host(both(data_on_two(),
                                           "buf2 = pld.alloc_window_buffer([256], dtype=pl.FP32)\n"
                                           "other = pld.window(buf2, [256], dtype=pl.FP32)\n"
                                           "self.chip(other, device=0)\n"
                                           "if n > 0:\n    either = data\nelse:\n    either = other\n"
                                           "self.chip(either, device=7)\nreturn 0\n")),
                                 {pldc::run_ConvertToSSA, kDomains});
  CHECK(in_order(text, {"devices=[0, 1, 7]", "devices=[0, 7]"}));
}

TEST_CASE("duplicate and empty allocation names") {
  const auto named = [](std::string_view second) {
    return after(
        program(std::string(chips()) +
                "@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n"
                "def host(self):\n"
                "    a: pl.Ptr = pl._dump.alloc_window_buffer(1024, name='x')\n"
                "    b: pl.Ptr = pl._dump.alloc_window_buffer(1024, name='" +
                std::string(second) +
                "')\n"
                "    v: pld.DistributedTensor[[256], pl.FP32] = pld.tensor.window(a, [256], dtype=pl.FP32)\n"
                "    w: pld.DistributedTensor[[256], pl.FP32] = pld.tensor.window(b, [256], dtype=pl.FP32)\n"
                "    self.chip(v, device=0)\n"
                "    self.chip(w, device=0)\n"
                "    return 0\n"),
        {kDomains});
  };
  CHECK_THAT(named("x"), Contains("duplicate allocation name 'x'") || Contains("already"));
  CHECK_THAT(named(""), Contains("non-empty"));
}
