// A C++ program of one's own that calls the one in scale.pld: multiplies 0 to 63 by 3 and prints the last product.
#include <bit>
#include <cstdint>
#include <cstdio>

#include "scale.h"

int main() {
  float a[64], out[64];
  for (int i = 0; i < 64; ++i) a[i] = static_cast<float>(i);

  pld::Params params;
  params.bind("a", pld::Tensor::packed(a, pld::f32, {1, 64}));
  params.bind("out", pld::Tensor::packed(out, pld::f32, {1, 64}));
  params.bind_bits("k", std::bit_cast<std::uint32_t>(3.0f));
  pld::RunOptions options;
  options.ranks = 1;
  try {
    pld::run(scale::program(), scale::program().entries[0], params, options);
  } catch (const pld::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return error.exit_code();
  }
  std::printf("%g\n", static_cast<double>(out[63]));
}
