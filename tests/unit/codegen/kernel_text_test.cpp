// The text of kernels: what the examples of the contract show, and the rules that no execution on a CPU can tell.
#include <algorithm>

#include "support/catch.h"
#include "unit/codegen/kernel_fixture.h"

namespace {

using namespace kerneltest;

std::string text_of(const std::string& functions, const std::string& name = "k") {
  const Emitted emitted = emit(program(functions));
  INFO(emitted.errors);
  REQUIRE(emitted.errors.empty());
  REQUIRE(emitted.kernels.count(name) == 1);
  return emitted.kernels.at(name);
}

// Whether the lines stand in the text in this order, with others in between or not.
bool in_order(const std::string& text, const std::vector<std::string>& lines) {
  std::size_t at = 0;
  for (const std::string& line : lines) {
    at = text.find(line, at);
    if (at == std::string::npos) {
      UNSCOPED_INFO("not found: " << line);
      return false;
    }
    at += line.size();
  }
  return true;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

constexpr const char* kInOut = "x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]";

}  // namespace

TEST_CASE("a kernel in full", "[kernel][text]") {
  const std::string text =
      text_of(kernel("a: pl.Tensor[[16, 64], pl.FP32], k: pl.Scalar[pl.FP32], unused: pl.Scalar[pl.INT32],\n"
                     "      out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]",
                     "t = pl.load(a, [0, 0], [16, 64])\n"
                     "s = pl.mul(t, k)\n"
                     "pl.store(s, [0, 0], out)\n"));
  CHECK(text ==
        "// Kernel k of chip chip (test.pld:7). InCore.\n"
        "#include \"pld/kernel.h\"\n"
        "\n"
        "using namespace pto;\n"
        "\n"
        "// args: a (in), k, unused, out (out)\n"
        "extern \"C\" __aicore__ void kernel_entry(__gm__ int64_t* args) {\n"
        "  __gm__ float* a = pld_arg<float>(args, 0);\n"
        "  const float k = pld_scalar<float>(args, 2);\n"
        "  __gm__ float* out = pld_arg<float>(args, 1);\n"
        "\n"
        "  Tile<TileType::Vec, float, 16, 64> t;\n"
        "  TASSIGN(t, 0x0);\n"
        "  Tile<TileType::Vec, float, 16, 64> s;\n"
        "  TASSIGN(s, 0x1000);\n"
        "\n"
        "  // t = tile.load(a, [0, 0], [16, 64], [16, 64])\n"
        "  PLD_LOC(9);\n"
        "  GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>, Layout::ND> a_0(a);\n"
        "  TLOAD(t, a_0);\n"
        "\n"
        "  // s = tile.muls(t, k)\n"
        "  PLD_LOC(10);\n"
        "  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);\n"
        "  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);\n"
        "  TMULS(s, t, k);\n"
        "\n"
        "  // tile.store(s, [0, 0], out)\n"
        "  PLD_LOC(11);\n"
        "  GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>, Layout::ND> "
        "out_0(out);\n"
        "  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);\n"
        "  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);\n"
        "  TSTORE(out_0, s);\n"
        "  pipe_barrier(PIPE_ALL);\n"
        "}\n");
}

TEST_CASE("columns are column-major, stored through DN and computed as rows", "[kernel][text]") {
  const std::string text =
      text_of(kernel("x: pl.Tensor[[20, 64], pl.FP32], y: pl.Out[pl.Tensor[[20, 1], pl.FP32]]",
                     "t = pl.load(x, [0, 0], [20, 64])\n"
                     "tmp = pl.tile.create([20, 64], dtype=pl.FP32)\n"
                     "m = pl.tile.row_max(t, tmp)\n"
                     "n = pl.tile.adds(m, 1.0)\n"
                     "pl.store(n, [0, 0], y)\n"));
  CHECK(has(text, "Tile<TileType::Vec, float, 24, 1, BLayout::ColMajor, 20, 1> m;"));
  CHECK(has(text, "Tile<TileType::Vec, float, 1, 24, BLayout::RowMajor, 1, 20> m_row;"));
  CHECK(in_order(
      text, {"TROWMAX(m, t, tmp);", "TADDS(n_row, m_row, 1.0f);",
             "Shape<1, 1, 1, 20, 1>, Stride<20, 20, 20, 1, 20>, Layout::DN> y_0(y);", "TSTORE(y_0, n);"}));
}

TEST_CASE("short rows are padded and keep their extent as the valid one", "[kernel][text]") {
  const std::string text =
      text_of(kernel("x: pl.Tensor[[4, 10], pl.FP16], y: pl.Out[pl.Tensor[[4, 10], pl.FP16]]",
                     "t = pl.load(x, [0, 0], [4, 10])\n"
                     "pl.store(t, [0, 0], y)\n"));
  CHECK(has(text, "Tile<TileType::Vec, half, 4, 16, BLayout::RowMajor, 4, 10> t;"));
  CHECK(has(text, "Shape<1, 1, 1, 4, 10>, Stride<40, 40, 40, 10, 1>, Layout::ND> x_0(x);"));
}

TEST_CASE("valid extents that vary are set where the tile is defined", "[kernel][text]") {
  const std::string text = text_of(kernel(
      "x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]",
      "t = pl.load(x, [n * 2, 0], [16, 64], [n, 64])\n"
      "u = pl.exp(t)\n"
      "pl.store(u, [n, 0], y)\n"));
  CHECK(has(text, "Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, -1, 64> t(16);"));
  CHECK(in_order(text,
                 {"t.SetValidShape(n, 64);", "Shape<1, 1, 1, -1, 64>", "x + ", "Shape<1, 1, 1, -1, 64>(n)",
                  "TLOAD(t, x_0);", "u.SetValidShape(n, 64);", "TEXP(u, t);", "TSTORE(y_0, u);"}));
}

TEST_CASE("a dimension that varies comes from the argument", "[kernel][text]") {
  const Emitted emitted = emit(program(
      kernel("x: pl.Tensor[[M, 64], pl.FP32], i: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[M, N], pl.FP32]]",
             "t = pl.load(x, [0, 0], [16, 64])\n"
             "pl.store(t, [i, M - 1], y)\n"),
      "M = pl.dynamic(\"M\")\nN = pl.dynamic(\"N\")\n"));
  REQUIRE(emitted.errors.empty());
  const std::string& text = emitted.kernels.at("k");
  CHECK(has(text, "const int64_t M = pld_dim(args, 0, 0);"));
  CHECK(has(text, "const int64_t N = pld_dim(args, 1, 1);"));
  CHECK(has(text, "Stride<1, 1, 1, -1, 1>(N)"));
  CHECK(has(text, "y + (i * N + (M - 1))"));
}

TEST_CASE("a stride that no template argument holds is given to the constructor", "[kernel][text]") {
  const Emitted emitted =
      emit(program(kernel("x: pl.Tensor[[2, 4294967296], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]",
                          "t = pl.load(x, [0, 0], [2, 8])\n"
                          "pl.store(t, [0, 0], y)\n")));
  REQUIRE(emitted.errors.empty());
  CHECK(has(emitted.kernels.at("k"),
            "Stride<-1, -1, -1, -1, 1>(8589934592, 8589934592, 8589934592, 4294967296)"));
}

TEST_CASE("signals: names, not numbers, and a line before every wait", "[kernel][text]") {
  const std::string text =
      text_of(kernel("w: pl.InOut[pld.DistributedTensor[[1, 64], pl.FP32]], sig: "
                     "pl.InOut[pld.DistributedTensor[[4, 1], pl.INT32]]",
                     "ctx = pld.get_comm_ctx(sig)\n"
                     "me = pld.rank(ctx)\n"
                     "pld.system.notify(sig, peer=1, offsets=[me, 0], value=1, op=pld.NotifyOp.AtomicAdd)\n"
                     "pld.system.notify(sig, peer=1, offsets=[0, 0], value=3, op=pld.NotifyOp.Set)\n"
                     "pld.system.wait(sig, offsets=[2, 0], expected=1, cmp=pld.WaitCmp.Ge)\n"
                     "pld.system.wait(sig, offsets=[3, 0], expected=7, cmp=pld.WaitCmp.Eq)\n"
                     "t = pld.tile.remote_load(w, peer=me, offsets=[0, 0], shape=[1, 64])\n"
                     "pld.tile.remote_store(t, w, 2, [0, 0], atomic=pl.AtomicType.Add)\n"));
  CHECK(has(text, "__gm__ CommContext* w_ctx = pld_ctx(args, 2);"));
  CHECK(has(text, "__gm__ CommContext* sig_ctx = pld_ctx(args, 3);"));
  CHECK(in_order(
      text,
      {"const int32_t me = pld_rank(sig_ctx);", "PLD_LOC(10);", "pipe_barrier(PIPE_ALL);",
       "comm::Signal sig_0(pld_peer(sig_ctx, sig + static_cast<int64_t>(me), 1));",
       "comm::TNOTIFY(sig_0, 1, comm::NotifyOp::AtomicAdd);", "comm::TNOTIFY(sig_1, 3, comm::NotifyOp::Set);",
       "PLD_LOC(12);", "comm::Signal sig_2(sig + 2);", "comm::TWAIT(sig_2, 1, comm::WaitCmp::GE);",
       "pld_cacheinvalid();", "PLD_LOC(13);", "comm::TWAIT(sig_3, 7, comm::WaitCmp::EQ);",
       "pld_peer(w_ctx, w, static_cast<int64_t>(me))", "TLOAD(t, w_0);", "pld_peer(w_ctx, w, 2)",
       "TSTORE<decltype(t), decltype(w_1), AtomicType::AtomicAdd>(w_1, t);"}));
}

TEST_CASE("loops and branches: carries are variables, values that nobody else needs move without copies",
          "[kernel][text]") {
  const std::string text = text_of(kernel(kInOut,
                                          "a = pl.load(x, [0, 0], [16, 64])\n"
                                          "n = 0\n"
                                          "for i in pl.range(4):\n"
                                          "    a = pl.exp(a)\n"
                                          "    n = n + i\n"
                                          "if n > 3:\n"
                                          "    b = pl.neg(a)\n"
                                          "else:\n"
                                          "    b = pl.abs(a)\n"
                                          "pl.store(b, [n, 0], y)\n"));
  INFO(text);
  CHECK(in_order(text, {"int64_t n_1 = n;", "for (int64_t i = 0; i < 4; i += 1) {", "TEXP(a, a);",
                        "n_1 = n_2;", "pipe_barrier(PIPE_ALL);", "}", "if (n_1 > 3) {", "TNEG(b, a);",
                        "} else {", "TABS(b, a);", "}", "TSTORE("}));
  INFO(text);
  CHECK(text.find("TMOV") == std::string::npos);
}

TEST_CASE("loops and branches: values that are needed later are copied", "[kernel][text]") {
  const std::string text = text_of(kernel(kInOut,
                                          "a = pl.load(x, [0, 0], [16, 64])\n"
                                          "s = a\n"
                                          "n = 0\n"
                                          "for i in pl.range(4):\n"
                                          "    s = pl.add(s, a)\n"
                                          "    n = n + i\n"
                                          "t = pl.exp(s)\n"
                                          "if n > 3:\n"
                                          "    b = t\n"
                                          "else:\n"
                                          "    b = s\n"
                                          "y = pl.store(b, [0, 0], y)\n"
                                          "pl.store(s, [0, 0], y)\n"));
  INFO(text);
  CHECK(in_order(text, {"TLOAD(a, ", "TMOV(s, a);", "for (", "TADD(s, s, a);", "}", "TEXP(a, s);", "if (",
                        "} else {", "TMOV(a, s);", "}", "TSTORE(", "TSTORE("}));
}

TEST_CASE("carries that change places wait in scratch memory and temporaries", "[kernel][text]") {
  const std::string text = text_of(
      kernel("x: pl.Tensor[[16, 64], pl.FP32], z: pl.Tensor[[16, 64], pl.FP32], n: pl.Scalar[pl.INDEX], "
             "y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]",
             "a = pl.load(x, [0, 0], [16, 64])\n"
             "b = pl.load(z, [0, 0], [16, 64])\n"
             "for i, (u, v, s, t) in pl.range(3, init_values=(a, b, n, 0)):\n"
             "    u2, v2, s2, t2 = pl.yield_(v, u, t, s)\n"
             "pl.store(u2, [s2, t2], y)\n"));
  CHECK(in_order(text, {"int64_t s = n;", "int64_t t = 0;", "const int64_t s_next = t;",
                        "const int64_t t_next = s;", "s = s_next;", "t = t_next;", "TMOV(scratch, b);",
                        "TMOV(b, a);", "TMOV(a, scratch);", "TSTORE(y_0, a);"}));
}

TEST_CASE("flags stand once for each pair of pipes", "[kernel][text]") {
  const std::string text = text_of(kernel(kInOut,
                                          "a = pl.load(x, [0, 0], [16, 64])\n"
                                          "b = pl.exp(a)\n"
                                          "c = pl.exp(b)\n"
                                          "pl.store(c, [0, 0], y)\n"
                                          "pl.store(b, [0, 0], y)\n"));
  CHECK(count(text, "set_flag(") == 2);
  CHECK(count(text, "set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);") == 1);
  CHECK(count(text, "set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);") == 1);
}

TEST_CASE("names of the program are identifiers of C++", "[kernel][text]") {
  const std::string text =
      text_of(kernel("float: pl.Tensor[[16, 64], pl.FP32], args: pl.Out[pl.Tensor[[16, 64], pl.FP32]]",
                     "TADD = pl.load(float, [0, 0], [16, 64])\n"
                     "template = pl.exp(TADD)\n"
                     "pl.store(template, [0, 0], args)\n"));
  CHECK(has(text, "float_ = pld_arg<float>(args, 0);"));
  CHECK(has(text, "args_1 = pld_arg<float>(args, 1);"));
  CHECK(in_order(text, {"TLOAD(TADD_, float_", "TEXP(template_, TADD_);"}));
}

TEST_CASE("a parameter that callers give parts of has the strides of the argument", "[kernel][text]") {
  const std::string kernel_text = kernel(kInOut,
                                         "t = pl.load(x, [0, 0], [16, 64])\n"
                                         "pl.store(t, [0, 0], y)\n");
  const std::string chip =
      "@pl.function(type=pl.FunctionType.Orchestration)\n"
      "def main(self, x: pl.Tensor[[16, 128], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):\n"
      "    self.k(pl.tensor.slice(x, [16, 64], [0, 64]), y)\n";
  const std::string text = text_of(kernel_text + chip);
  CHECK(has(text, "pld_stride(args, 0, 0)"));
  CHECK(has(text, "Stride<1024, 1024, 1024, 64, 1>, Layout::ND> y_0(y);"));
}

TEST_CASE("deferred waits of a loop are registered, and waited for at the end", "[kernel][text]") {
  const std::string text =
      text_of(kernel("s: pl.InOut[pld.DistributedTensor[[4, 1], pl.INT32]]",
                     "for i in pl.range(4):\n    pld.system.defer_wait(s, [i, 0], 1, cmp=pld.WaitCmp.Ge)\n"));
  CHECK(has(text, "deferred_waits.add(s + i, 1, comm::WaitCmp::GE, "));
  CHECK(has(text, "deferred_waits.wait();"));
}

// ---- errors -----------------------------------------------------------------------------------------------------

namespace {

std::string errors_of(const std::string& params, const std::string& body) {
  return emit(program(kernel(params, body))).errors;
}

}  // namespace

TEST_CASE("what a kernel cannot do is refused by name", "[kernel][errors]") {
  CHECK(has(errors_of("x: pl.Tensor[[16, 20], pl.FP32], y: pl.Out[pl.Tensor[[16, 40], pl.INT16]]",
                      "t = pl.load(x, [0, 0], [16, 20], target_memory=pl.Mem.Mat)\n"
                      "l = pl.move(t, target_memory=pl.Mem.Left)\n"
                      "pl.store(pl.tile.reinterpret_view(l, dtype=pl.INT16), [0, 0], y)\n"),
            "PLD0765 tile.reinterpret_view"));
  CHECK(has(errors_of("x: pl.Tensor[[2, 8, 16], pl.FP32], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[2, 8, "
                      "16], pl.FP32]]",
                      "t = pl.load(x, [0, 0, 0], [2, 8, 16], [2, n, 16])\n"
                      "pl.store(t, [0, 0, 0], y)\n"),
            "PLD0759 tile.load"));
  CHECK(has(errors_of("x: pl.Tensor[[16, 64], pl.FP4], y: pl.Out[pl.Tensor[[16, 64], pl.FP4]]",
                      "t = pl.load(x, [0, 0], [16, 64])\npl.store(t, [0, 0], y)\n"),
            "PLD0754"));
  CHECK(has(errors_of("x: pl.Tensor[[256, 160], pl.FP32], r: pl.Tensor[[1, 160], pl.FP32], y: "
                      "pl.Out[pl.Tensor[[256, 160], pl.FP32]]",
                      "t = pl.load(x, [0, 0], [256, 160])\n"
                      "u = pl.load(r, [0, 0], [1, 160])\n"
                      "pl.store(pl.tile.add(t, u), [0, 0], y)\n"),
            "bytes of Vec memory"));
}
