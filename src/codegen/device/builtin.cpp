#include "codegen/device/builtin.h"

#include <fmt/format.h>

#include "codegen/emit.h"

namespace pldc {
namespace {

// What the templates of pld/collectives.h need to know about an op.
struct BuiltinRow {
  OpId op;
  std::string_view kernel;  // name of the kernel and of the template
  std::string_view scheme;  // for comments
  std::string_view args;
  bool reduces;  // has op=
  bool typed;    // has an element type
  bool rooted;
};

constexpr BuiltinRow kBuiltins[] = {
    {OpId::builtin_tensor_all_to_all, "all_to_all", "all_to_all",
     "input (in), target (inout), signal (inout), domain size, context", false, true, false},
    {OpId::builtin_tensor_all_to_all_v, "all_to_all_v", "all_to_all_v",
     "input (in), target (inout), signal (inout), send_counts (in), recv_counts (inout), domain size, "
     "context",
     false, true, false},
    {OpId::builtin_tensor_allgather, "allgather", "allgather",
     "input (in), target (inout), signal (inout), domain size, context", false, true, false},
    {OpId::builtin_tensor_allreduce, "allreduce", "allreduce, mesh",
     "data (inout), signal (inout), domain size, context", true, true, false},
    {OpId::builtin_tensor_allreduce_ring, "allreduce_ring", "allreduce, ring",
     "data (inout), signal (inout), domain size, context", true, true, false},
    {OpId::builtin_tensor_barrier, "barrier", "barrier", "signal (inout), domain size, context", false, false,
     false},
    {OpId::builtin_tensor_broadcast, "broadcast", "broadcast",
     "target (inout), signal (inout), domain size, context", false, true, true},
    {OpId::builtin_tensor_reduce_scatter, "reduce_scatter", "reduce_scatter",
     "target (inout), signal (inout), domain size, context", true, true, false},
};

const BuiltinRow* row_of(OpId op) {
  for (const BuiltinRow& row : kBuiltins) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::optional<BuiltinVariant> builtin_variant(const Call* call) {
  const BuiltinRow* row = row_of(call->op);
  if (row == nullptr) return std::nullopt;
  BuiltinVariant out;
  out.op = call->op;
  if (const AttrValue* op = find_attr(call->kwargs, "op"); op != nullptr && row->reduces) {
    out.reduce = static_cast<ReduceOp>(op->integer);
  }
  if (const AttrValue* dtype = find_attr(call->kwargs, "dtype"); dtype != nullptr && row->typed) {
    out.dtype = static_cast<DType>(dtype->integer);
  }
  if (const AttrValue* root = find_attr(call->kwargs, "root"); root != nullptr && row->rooted) {
    out.root = root->integer;
  }
  return out;
}

std::string builtin_kernel_name(const BuiltinVariant& variant) {
  return std::string(row_of(variant.op)->kernel);
}

std::string builtin_chip_name(const BuiltinVariant& variant) {
  const BuiltinRow* row = row_of(variant.op);
  std::string name = fmt::format("builtin_tensor_{}__", row->kernel);
  if (row->reduces) name += lower(name_of(variant.reduce)) + "__";
  if (row->rooted) name += fmt::format("root{}__", variant.root);
  return name + lower(name_of(variant.dtype));
}

std::string builtin_title(const BuiltinVariant& variant) {
  const BuiltinRow* row = row_of(variant.op);
  std::string title(row->scheme);
  if (row->reduces) title += fmt::format(", {}", name_of(variant.reduce));
  if (row->rooted) title += fmt::format(", root {}", variant.root);
  if (row->typed) title += fmt::format(", {}", name_of(variant.dtype));
  return title;
}

std::string emit_builtin_kernel(const BuiltinVariant& variant) {
  const BuiltinRow* row = row_of(variant.op);
  std::string call = fmt::format("pld::collectives::{}", row->kernel);
  if (row->typed) {
    const std::string_view type = cpp_memory_type(variant.dtype);
    call += '<';
    if (row->reduces) call += fmt::format("pld::collectives::Op::{}, ", name_of(variant.reduce));
    call += fmt::format("{}, ", type);
    call +=
        variant.width > 0 ? std::to_string(variant.width) : fmt::format("pld::collectives::kWide<{}>", type);
    call += '>';
  }
  call += row->rooted ? fmt::format("(args, {});", variant.root) : "(args);";

  CppText text;
  text.comment(fmt::format("Host collective {}. AIV.", builtin_title(variant)));
  text.line("#include \"pld/collectives.h\"");
  text.line();
  text.comment(fmt::format("args: {}", row->args));
  text.open("extern \"C\" __aicore__ void kernel_entry(__gm__ int64_t* args)");
  text.line(call);
  text.close();
  return text.take();
}

}  // namespace pldc
