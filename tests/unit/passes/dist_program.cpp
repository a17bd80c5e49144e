#include "unit/passes/dist_program.h"

namespace dist {

std::string indented(std::string_view body, int indent) {
  std::string out;
  std::size_t begin = 0;
  while (begin < body.size()) {
    const std::size_t end = std::min(body.find('\n', begin), body.size());
    if (end > begin) out += std::string(static_cast<std::size_t>(indent), ' ');
    out += body.substr(begin, end - begin);
    out += '\n';
    begin = end + 1;
  }
  return out;
}

std::string program(std::string_view functions) {
  return "import pypto.language as pl\nimport pypto.language.distributed as pld\n\n@pl.program\nclass P:\n" +
         indented(functions, 4);
}

std::string_view chips() {
  return R"(@pl.function(type=pl.FunctionType.Orchestration)
def chip(self, w: pl.InOut[pld.DistributedTensor[[256], pl.FP32]]) -> pld.DistributedTensor[[256], pl.FP32]:
    return w

@pl.function(type=pl.FunctionType.Orchestration)
def chip_rows(self, w: pl.InOut[pld.DistributedTensor[[4, 64], pl.FP32]]) -> pld.DistributedTensor[[4, 64], pl.FP32]:
    return w

@pl.function(type=pl.FunctionType.Orchestration)
def chip_sig(self, s: pl.InOut[pld.DistributedTensor[[4], pl.INT32]]) -> pld.DistributedTensor[[4], pl.INT32]:
    return s

)";
}

std::string host(std::string_view body, std::string_view params) {
  std::string functions(chips());
  functions += "@pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\ndef host(self";
  if (!params.empty()) functions += ", ";
  functions += params;
  functions += "):\n";
  functions += indented(body, 4);
  return program(functions);
}

std::string_view data_everywhere() {
  return "buf = pld.alloc_window_buffer([256], dtype=pl.FP32)\n"
         "data = pld.window(buf, [256], dtype=pl.FP32)\n"
         "for r in pl.range(pld.world_size()):\n"
         "    self.chip(data, device=r)\n";
}

std::string_view data_on_two() {
  return "buf = pld.alloc_window_buffer([256], dtype=pl.FP32)\n"
         "data = pld.window(buf, [256], dtype=pl.FP32)\n"
         "for r in pl.range(2):\n"
         "    self.chip(data, device=r)\n";
}

std::string after(std::string_view text, const std::vector<pldc::PassFunction>& passes,
                  const pldc::PassOptionValues& options) {
  const golden::Result result = golden::run(text, passes, options, pldc::Dialect::Dump);
  if (!result.ok) return result.errors;
  const std::size_t at = result.text.find("def host(");
  return at != std::string::npos ? result.text.substr(at) : result.text;
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size()))
    ++n;
  return n;
}

bool in_order(std::string_view text, std::initializer_list<std::string_view> parts) {
  std::size_t at = 0;
  for (const std::string_view part : parts) {
    at = text.find(part, at);
    if (at == std::string_view::npos) return false;
    at += part.size();
  }
  return true;
}

}  // namespace dist
