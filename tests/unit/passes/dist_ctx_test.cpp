// MaterializeDistTensorCtx and its verifier: scenarios T97 to T108 and T168.
#include "support/catch.h"
#include "unit/passes/dist_program.h"

using namespace dist;
using Catch::Matchers::Contains;

namespace {

const std::string kWindow = "pld.DistributedTensor[[256], pl.FP32]";
const std::string kInOut = "pl.InOut[" + kWindow + "]";

// A method with the given decorator arguments, parameters and body.
std::string method(std::string_view decorator, std::string_view signature, std::string_view body) {
  return "@pl.function(" + std::string(decorator) + ")\ndef " + std::string(signature) + ":\n" +
         indented(body, 4) + "\n";
}
const std::string kKernel = "type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker";
const std::string kChip =
    "type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator";
const std::string kHost = "level=pl.Level.HOST, role=pl.Role.Orchestrator";

std::string kern() { return method(kKernel, "kern(data: " + kInOut + ") -> " + kWindow, "return data\n"); }

std::string contexts(std::string_view functions) {
  const golden::Result result = golden::run(program(functions), {kContexts}, {}, pldc::Dialect::Dump);
  return result.ok ? result.text : result.errors;
}

}  // namespace

TEST_CASE("T97 a dispatch gets the contexts of its windows") {
  const std::string text = contexts(
      method(kChip,
             "chip(self, data: " + kInOut + ", signal: pl.InOut[pld.DistributedTensor[[4], pl.INT32]])",
             "return 0\n") +
      method(kHost, "host(self)",
             "a: pl.Ptr = pl._dump.alloc_window_buffer(1024, name='a')\n"
             "b: pl.Ptr = pl._dump.alloc_window_buffer(16, name='b')\n"
             "data: pld.DistributedTensor[[256], pl.FP32] = pld.tensor.window(a, [256], dtype=pl.FP32)\n"
             "signal: pld.DistributedTensor[[4], pl.INT32] = pld.tensor.window(b, [4], dtype=pl.INT32)\n"
             "for r in pl.range(pld.system.world_size()):\n"
             "    self.chip(data, signal, device=r, attrs={\"arg_directions\": [pl.adir.inout, "
             "pl.adir.inout]})\n"
             "return 0\n"));
  INFO(text);
  CHECK(in_order(
      text,
      {"def chip(self, data: ", ", data_ctx: pld.CommCtx, signal_ctx: pld.CommCtx)", "for r in",
       "data_ctx: pld.CommCtx = pld.system.get_comm_ctx(data)\n",
       "signal_ctx: pld.CommCtx = pld.system.get_comm_ctx(signal)\n",
       "self.chip(data, signal, data_ctx, signal_ctx, device=r, attrs={\"arg_directions\": [pl.adir.inout, "
       "pl.adir.inout, pl.adir.scalar, pl.adir.scalar]})"}));
}

TEST_CASE("T98 a wrapper hands the context on") {
  const std::string text =
      contexts(kern() +
               method("type=pl.FunctionType.Group, level=pl.Level.CORE_GROUP, role=pl.Role.SubWorker",
                      "group(data: " + kInOut + ") -> " + kWindow,
                      "r: " + kWindow + " = self.kern(data)\nreturn data\n") +
               method(kChip, "main(self, data: " + kInOut + ") -> " + kWindow,
                      "r: " + kWindow + " = self.group(data)\nreturn r\n"));
  INFO(text);
  CHECK(count(text, ", data_ctx: pld.CommCtx)") == 3);
  CHECK(count(text, "self.kern(data, data_ctx)") == 1);
  CHECK(count(text, "self.group(data, data_ctx)") == 1);
}

TEST_CASE("T99 names in use are kept free") {
  std::string text = contexts(method(
      kKernel, "kern(data_ctx: pl.Scalar[pl.INDEX], data: " + kInOut + ") -> " + kWindow, "return data\n"));
  INFO(text);
  CHECK_THAT(text, Contains("data_ctx_1: pld.CommCtx)"));
  text = contexts(
      kern() +
      method(kHost, "host(self)",
             "a: pl.Ptr = pl._dump.alloc_window_buffer(1024, name='a')\n"
             "data_ctx: pl.Scalar[pl.INDEX] = 3\n"
             "data: pld.DistributedTensor[[256], pl.FP32] = pld.tensor.window(a, [256], dtype=pl.FP32)\n"
             "self.kern(data)\nreturn 0\n"));
  INFO(text);
  CHECK(in_order(text,
                 {"data_ctx_1: pld.CommCtx = pld.system.get_comm_ctx(data)", "self.kern(data, data_ctx_1)"}));
}

TEST_CASE("T100 T107 other names and returned tensors keep their context") {
  const std::string text =
      contexts(kern() + method(kChip, "chip(self, a: " + kInOut + ", b: " + kInOut + ") -> " + kWindow,
                               "d2: " + kWindow + " = b\nd3: " + kWindow + " = self.kern(d2)\n" +
                                   "d4: " + kWindow + " = self.kern(d3)\nreturn self.kern(d4)\n"));
  INFO(text);
  CHECK(in_order(text, {"self.kern(d2, b_ctx)", "self.kern(d3, b_ctx)", "return self.kern(d4, b_ctx)"}));
}

TEST_CASE("T101 results of tuples go with the parameter they are") {
  const std::string text = contexts(
      kern() +
      method(kKernel,
             "swap(first: " + kInOut + ", second: " + kInOut +
                 ", n: pl.Scalar[pl.INDEX]) -> tuple[pl.Scalar[pl.INDEX], " + kWindow + ", " + kWindow + "]",
             "return n, second, first\n") +
      method(kChip, "chip(self, a: " + kInOut + ", b: " + kInOut + ", n: pl.Scalar[pl.INDEX])",
             "t: pl.Tuple[pl.Scalar[pl.INDEX], " + kWindow + ", " + kWindow + "] = self.swap(a, b, n)\n" +
                 "x: " + kWindow + " = t[1]\ny: " + kWindow +
                 " = t[2]\nself.kern(x)\nself.kern(y)\nreturn 0\n"));
  INFO(text);
  CHECK(in_order(text, {"self.swap(a, b, n, a_ctx, b_ctx)", "self.kern(x, b_ctx)", "self.kern(y, a_ctx)"}));
}

TEST_CASE("T102 carries and views keep the context of their tensor") {
  const std::string text = contexts(
      kern() +
      method(kKernel,
             "swap(first: " + kInOut + ", second: " + kInOut + ") -> tuple[" + kWindow + ", " + kWindow + "]",
             "return first, second\n") +
      method(kChip, "chip(self, a: " + kInOut + ", b: " + kInOut + ") -> " + kWindow,
             "for i, (p, q) in pl.range(3, init_values=(a, b)):\n"
             "    t: pl.Tuple[" +
                 kWindow + ", " + kWindow + "] = self.swap(q, p)\n" + "    q2: " + kWindow +
                 " = t[0]\n    p2: " + kWindow + " = t[1]\n" +
                 "    p3, q3 = pl.yield_(p2, q2)\n"
                 "self.kern(q3)\n"
                 "return p3\n"));
  INFO(text);
  CHECK(in_order(text, {"self.swap(q, p, b_ctx, a_ctx)", "self.kern(q3, b_ctx)"}));

  const std::string view = contexts(method(kKernel,
                                           "kern2(data: pl.InOut[pld.DistributedTensor[[16, 16], pl.FP32]]) "
                                           "-> pld.DistributedTensor[[16, 16], pl.FP32]",
                                           "return data\n") +
                                    method(kChip, "chip(self, a: " + kInOut + ")",
                                           "v: pld.DistributedTensor[[16, 16], pl.FP32] = "
                                           "pl.tensor.reshape(a, [16, 16])\nself.kern2(v)\nreturn 0\n"));
  INFO(view);
  CHECK_THAT(view, Contains("self.kern2(v, a_ctx)"));
}

TEST_CASE("T103 a context cannot change") {
  CHECK_THAT(
      contexts(method(kChip, "chip(self, a: " + kInOut + ", b: " + kInOut + ") -> " + kWindow,
                      "for i, (d,) in pl.range(3, init_values=(a,)):\n    e = pl.yield_(b)\nreturn e\n")),
      Contains("Rebinding loop-carried DistributedTensor 'd'"));
  CHECK_THAT(
      contexts(method(
          kChip, "chip(self, a: " + kInOut + ", b: " + kInOut + ", n: pl.Scalar[pl.INDEX]) -> " + kWindow,
          "if n > 0:\n    d: " + kWindow + " = pl.yield_(a)\nelse:\n    d: " + kWindow +
              " = pl.yield_(b)\nreturn d\n")),
      Contains("Assigning a different DistributedTensor in each branch of an `if`"));
}

TEST_CASE("T104 queries in kernels become the parameter") {
  const std::string text =
      contexts(method(kKernel, "kern(data: " + kInOut + ", n: pl.Scalar[pl.INDEX]) -> " + kWindow,
                      "ctx: pld.CommCtx = pld.system.get_comm_ctx(data)\n"
                      "me: pl.Scalar[pl.INT32] = pld.system.rank(ctx)\n"
                      "if n > 0:\n    d: " +
                          kWindow + " = pl.yield_(data)\nelse:\n    d: " + kWindow +
                          " = pl.yield_(data)\n"
                          "other: pld.CommCtx = pld.system.get_comm_ctx(d)\n"
                          "return data\n"));
  INFO(text);
  CHECK(in_order(
      text, {"ctx: pld.CommCtx = data_ctx\n", "pld.system.rank(ctx)", "other: pld.CommCtx = data_ctx\n"}));
  CHECK(count(text, "get_comm_ctx") == 0);
}

TEST_CASE("T105 only the host may make windows and pass them on") {
  const std::string text = contexts(
      kern() +
      method(kChip, "chip(self, p: pl.Ptr)",
             "w: " + kWindow + " = pld.tensor.window(p, [256], dtype=pl.FP32)\nself.kern(w)\nreturn 0\n"));
  CHECK_THAT(
      text,
      Contains("Cannot determine the communication context of DistributedTensor 'w' passed from 'chip'") &&
          Contains("take the tensor as a parameter"));
  CHECK_THAT(contexts(method(kKernel, "kern(a: " + kInOut + ", p: pl.Ptr) -> " + kWindow,
                             "w: " + kWindow +
                                 " = pld.tensor.window(p, [256], dtype=pl.FP32)\n"
                                 "c: pld.CommCtx = pld.system.get_comm_ctx(w)\nreturn a\n")),
             Contains("Cannot resolve pld.system.get_comm_ctx('w') in 'kern'"));
}

TEST_CASE("T106 contexts of a submit follow the arguments that are passed") {
  const std::string text =
      contexts(method(kKernel,
                      "kern(data: " + kInOut + ", scratch: pl.Out[pl.Tensor[[256], pl.FP32]]) -> tuple[" +
                          kWindow + ", pl.Tensor[[256], pl.FP32]]",
                      "return data, scratch\n") +
               kern().replace(kern().find("kern"), 4, "last") +
               method(kChip, "chip(self, a: " + kInOut + ")",
                      "s: pl.Tuple[" + kWindow +
                          ", pl.Tensor[[256], pl.FP32], pl.Scalar[pl.TASK_ID]] = pl.submit(self.kern, a, "
                          "attrs={\"arg_directions\": [pl.adir.input]})\n" +
                          "x: " + kWindow + " = s[0]\nself.last(x)\nreturn 0\n"));
  INFO(text);
  CHECK(in_order(
      text, {"scratch: pl.Out[pl.Tensor[[256], pl.FP32]], data_ctx: pld.CommCtx)",
             "pl.submit(self.kern, a, a_ctx, attrs={\"arg_directions\": [pl.adir.input, pl.adir.scalar]})",
             "self.last(x, a_ctx)"}));
}

TEST_CASE("T108 verifier: who may query") {
  const auto found = [](std::string_view decorator) {
    return golden::verify(program(method(decorator, "f(self, data: " + kInOut + ")",
                                         "c: pld.CommCtx = pld.system.get_comm_ctx(data)\nreturn 0\n")),
                          [](const pldc::Program* p, pldc::DiagSink& d) {
                            pldc::verify(pldc::Property::DistTensorCtxMaterialized, p, d);
                          })
        .errors;
  };
  CHECK_THAT(found(kKernel), Contains("'f' still calls"));
  CHECK_THAT(found(kChip), Contains("'f' still calls"));
  CHECK(found(kHost).empty());
}

TEST_CASE("T168 each dispatch asks for itself; exchanged results are followed") {
  std::string text = contexts(
      kern() +
      method(kHost, "host(self)",
             "a: pl.Ptr = pl._dump.alloc_window_buffer(1024, name='a')\n"
             "w: pld.DistributedTensor[[256], pl.FP32] = pld.tensor.window(a, [256], dtype=pl.FP32)\n"
             "self.kern(w)\nself.kern(w)\nreturn 0\n"));
  INFO(text);
  CHECK(in_order(text, {"w_ctx: pld.CommCtx = ", "self.kern(w, w_ctx)",
                        "w_ctx_1: pld.CommCtx = ", "self.kern(w, w_ctx_1)"}));
  // One query for each distinct argument of a call.
  text = contexts(
      method(kKernel, "kern(a: " + kInOut + ", b: " + kInOut + ")", "return a\n") +
      method(kHost, "host(self)",
             "a: pl.Ptr = pl._dump.alloc_window_buffer(1024, name='a')\n"
             "w: pld.DistributedTensor[[256], pl.FP32] = pld.tensor.window(a, [256], dtype=pl.FP32)\n"
             "self.kern(w, w)\nreturn 0\n"));
  INFO(text);
  CHECK(count(text, "get_comm_ctx") == 1);
  CHECK_THAT(text, Contains("self.kern(w, w, w_ctx, w_ctx)"));
}

TEST_CASE("a program without distributed parameters stays the same object") {
  pldc::SourceManager sources;
  pldc::Context context;
  pldc::DiagSink diags;
  const pldc::Module module =
      pldc::parse(*sources.add("t", program(method(kChip, "f(self, n: pl.Scalar[pl.INDEX])", "return n\n"))),
                  context, diags);
  REQUIRE(module.program != nullptr);
  const pldc::PassOptionValues none;
  pldc::PassEnv env{context, diags, none};
  CHECK(pldc::run_MaterializeDistTensorCtx(env, module.program) == module.program);
}
