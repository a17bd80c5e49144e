#include "codegen/chip/builtin.h"

#include <fmt/format.h>

#include "codegen/emit.h"
#include "ir/op.h"

namespace pldc {
namespace {

bool only_read(std::string_view role) { return role == "input" || role == "send_counts"; }

}  // namespace

int builtin_chip_args(const BuiltinVariant& variant) {
  const int tensors = static_cast<int>(op_info(variant.op).operand_count());
  return tensors + (variant.op == OpId::builtin_tensor_allreduce ? 3 : 2);
}

std::string builtin_chip_text(const BuiltinVariant& variant) {
  const OpInfo& info = op_info(variant.op);
  const bool blocks = variant.op == OpId::builtin_tensor_allreduce;
  CppText out;
  out.comment("Host collective " + builtin_title(variant) + ".");
  out.raw("#include \"pld/orch.h\"");
  out.line();
  out.open("PLD_API PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs&)");
  out.line(
      fmt::format("return PTO2OrchestrationConfig{{.expected_arg_count = {}}};", builtin_chip_args(variant)));
  out.close();
  out.line();
  std::string list;
  for (std::size_t i = 0; i < info.operand_count(); ++i) {
    const std::string_view role = info.operands[i].name;
    list += fmt::format("{}{} ({})", i == 0 ? "" : ", ", role == "src" ? "data" : role,
                        only_read(role) ? "in" : "inout");
  }
  out.comment(fmt::format("args: {}; domain size, context{}", list, blocks ? ", core_num" : ""));
  out.open("PLD_API void aicpu_orchestration_entry(const ChipTaskArgs& a)");
  out.open("PTO2_SCOPE()");
  out.line("CoreTaskArgs p0;");
  for (std::size_t i = 0; i < info.operand_count(); ++i) {
    out.line(fmt::format("p0.{}(a.tensor({}).ref());",
                         only_read(info.operands[i].name) ? "add_input" : "add_inout", i));
  }
  out.line("p0.add_scalar(a.scalar(0));");
  out.line("p0.add_scalar(a.scalar(1));");
  if (blocks) {
    out.line("p0.launch_spec.set_block_num(pld_from_u64<int32_t>(a.scalar(2)));");
    out.line("p0.launch_spec.set_require_sync_start(true);");
  }
  out.line("rt_submit_aiv_task(0, p0);");
  out.close();
  out.close();
  return out.take();
}

}  // namespace pldc
