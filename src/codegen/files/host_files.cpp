// host/<stem>.h, host/host_orch.cpp and host/main.cpp.
#include <fmt/format.h>

#include "codegen/program.h"

namespace pldc {
namespace {

constexpr std::string_view kDirections[] = {"in", "out", "inout"};

// The place of a function is its `def`.
std::string def_text(const Function* function, const Places& places) {
  LineColumn at = places.at(function != nullptr ? function->name_span : Span{});
  if (at.line == 0) return "{}";
  if (at.column > 4) at.column -= 4;
  return fmt::format("{{{}, {}}}", at.line, at.column);
}

std::string place_text(Span span, const Places& places) {
  const LineColumn at = places.at(span);
  return at.line == 0 ? "{}" : fmt::format("{{{}, {}}}", at.line, at.column);
}

// "two_hosts" -> "TwoHosts"
std::string camel(std::string_view text) {
  std::string out;
  bool up = true;
  for (const char c : cpp_identifier(text)) {
    if (c == '_') {
      up = true;
      continue;
    }
    out += up && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    up = false;
  }
  return out;
}

std::string dims_text(const HostParam& param) {
  std::string out;
  for (const HostDim& dim : param.dims) {
    out += out.empty() ? "" : ", ";
    out += dim.extent ? std::to_string(*dim.extent) : dim.symbol;
  }
  return "[" + out + "]";
}

std::string signature_line(const HostEntry& entry) {
  std::string list;
  for (const HostParam& p : entry.params) list += (list.empty() ? "" : ", ") + describe(p, true);
  return fmt::format("{}({})", entry.name, list);
}

// Tables of one entry; names are unique in the anonymous namespace.
void entry_tables(const HostEntry& entry, const Places& places, CppText& out, CppNames& names,
                  std::string& row) {
  const std::string prefix = "k" + camel(entry.name);
  std::string list, ranked;
  for (const HostParam& p : entry.params) {
    if (p.scalar) continue;
    list += (list.empty() ? "" : "; ") + describe(p, false);
    for (std::size_t axis = 0; axis < p.dims.size(); ++axis) {
      if (p.dims[axis].per_rank && ranked.empty())
        ranked = fmt::format("; axis {} is indexed by the rank", axis);
    }
  }
  if (!list.empty()) out.comment(list + ranked);
  std::vector<std::string> dims;
  for (const HostParam& p : entry.params) {
    if (p.scalar || p.dims.empty()) {
      dims.emplace_back("{}");
      continue;
    }
    dims.push_back(names.fresh(prefix + camel(p.name)));
    std::vector<std::string> items;
    for (const HostDim& d : p.dims) {
      if (d.extent && !d.per_rank) {
        items.push_back(fmt::format("{{{}}}", *d.extent));
      } else {
        items.push_back(fmt::format("{{{}, {}, {}}}", d.extent.value_or(-1),
                                    d.symbol.empty() ? "nullptr" : cpp_string(d.symbol),
                                    d.per_rank ? "true" : "false"));
      }
    }
    out.call(fmt::format("constexpr pld::DimInfo {}[] = {{", dims.back()), items, "};");
  }
  std::string params = "{}";
  if (!entry.params.empty()) {
    params = names.fresh(prefix + "Params");
    out.open(fmt::format("constexpr pld::ParamInfo {}[] =", params));
    for (std::size_t i = 0; i < entry.params.size(); ++i) {
      const HostParam& p = entry.params[i];
      out.line(fmt::format("  {{{}, pld::Dir::{}, {}, {}, {}, {}{}}},", cpp_string(p.name),
                           kDirections[static_cast<std::size_t>(p.direction)], host_dtype(p.dtype),
                           p.scalar ? "true" : "false", dims[i], place_text(p.place, places),
                           p.own_axis < 0 ? "" : fmt::format(", {}", p.own_axis)));
    }
    out.close(";");
  }
  std::string checks = "{}";
  if (!entry.limits.empty()) {
    checks = names.fresh(prefix + "Limits");
    out.open(fmt::format("constexpr pld::RankCheck {}[] =", checks));
    for (const RankLimit& limit : entry.limits) {
      out.line(fmt::format("  {{{}, {}, {}, {}}},", cpp_string(limit.collective), limit.count,
                           limit.exact ? "true" : "false", place_text(limit.place, places)));
    }
    out.close(";");
  }
  out.line();
  row = fmt::format(
      "  {{.name = {}, .run = {}, .params = {}, .max_device = {}, {}.rank_checks = {}, .place = {}}},",
      cpp_string(entry.name), entry.cpp_name, params, entry.max_device,
      entry.single_rank ? ".single_rank = true, " : "", checks, def_text(entry.function, places));
}

}  // namespace

std::string describe(const HostParam& param, bool with_direction) {
  std::string out = param.name + ": ";
  if (with_direction) out += fmt::format("{} ", kDirections[static_cast<std::size_t>(param.direction)]);
  out += name_of(param.dtype);
  return param.scalar ? out : out + " " + dims_text(param);
}

std::string host_header_text(const ProgramCode& program) {
  CppText out;
  out.comment(fmt::format("{}: {} as C++ functions.", program.name, program.file));
  out.raw("#pragma once");
  out.raw("#include \"pld/host.h\"");
  out.line();
  out.line(fmt::format("namespace {} {{", program.ident));
  out.line();
  for (const HostEntry& entry : program.entries) {
    out.comment(signature_line(entry));
    out.line(fmt::format("void {}(pld::Host& h, pld::Params& t);", entry.cpp_name));
    out.line();
  }
  out.line("const pld::ProgramInfo& program();");
  out.line();
  out.line(fmt::format("}}  // namespace {}", program.ident));
  out.line();
  out.comment(program.entries.size() == 1 ? "The only entry." : "The first entry.");
  out.line("void pld_host_orch(pld::Host& h, pld::Params& t);");
  return out.take();
}

std::string host_source_text(const ProgramCode& program, const Places& places) {
  CppText out;
  out.comment(fmt::format("Host orchestration of {} ({}).", program.name, program.file));
  out.raw(fmt::format("#include \"{}.h\"", program.file_stem));
  out.line();
  bool workers = false;
  for (const HostEntry& entry : program.entries) {
    for (const std::string& worker : entry.sub_workers) {
      if (!workers) out.comment("Sub-workers are yours to write in C++ and link.");
      workers = true;
      out.line(fmt::format("extern \"C\" __attribute__((weak)) void pld_sub_{}(const pld::Args&);", worker));
    }
  }
  if (workers) out.line();
  out.line(fmt::format("namespace {} {{", program.ident));
  out.line();
  for (const HostEntry& entry : program.entries) {
    out.raw(entry.text);
  }
  out.line(fmt::format("}}  // namespace {}", program.ident));
  out.line();
  out.line(fmt::format("void pld_host_orch(pld::Host& h, pld::Params& t) {{ {}::{}(h, t); }}", program.ident,
                       program.entries.front().cpp_name));
  out.line();
  out.line("// ---- tables for the launcher ----");
  out.line();
  for (const ChipCode& chip : program.chips) out.line(fmt::format("PLD_DECLARE_CHIP({});", chip.ref.name));
  for (const ChipCode& chip : program.chips) {
    for (const KernelCode& kernel : chip.kernels) {
      out.line(fmt::format("PLD_DECLARE_KERNEL({}, {});", chip.ref.name, kernel.name));
    }
  }
  out.line();
  out.line(fmt::format("namespace {} {{", program.ident));
  out.line("namespace {");
  out.line();
  for (std::size_t i = 0; i < program.chips.size(); ++i) {
    const ChipCode& chip = program.chips[i];
    if (chip.kernels.empty()) continue;
    std::vector<std::string> rows;
    for (const KernelCode& kernel : chip.kernels) {
      rows.push_back(fmt::format("{{{}, pld::Core::{}, PLD_KERNEL({}, {}), {}}}", cpp_string(kernel.title),
                                 kernel.cube ? "aic" : "aiv", chip.ref.name, kernel.name,
                                 def_text(kernel.function, places)));
    }
    out.call(fmt::format("constexpr pld::KernelInfo kKernels{}[] = {{", i), rows, "};");
  }
  out.line();
  if (!program.chips.empty()) {
    out.open("constexpr pld::ChipInfo kChips[] =");
    for (std::size_t i = 0; i < program.chips.size(); ++i) {
      const ChipCode& chip = program.chips[i];
      out.line(fmt::format("  {{{}, PLD_CHIP({}), {}, {}}},", cpp_string(chip.ref.name), chip.ref.name,
                           chip.kernels.empty() ? "{}" : fmt::format("kKernels{}", i),
                           def_text(chip.ref.function, places)));
    }
    out.close(";");
    out.line();
  }
  CppNames names;
  for (const std::string_view name : {"kChips", "kEntries", "kProgram"}) names.reserve(name);
  for (std::size_t i = 0; i < program.chips.size(); ++i) names.reserve(fmt::format("kKernels{}", i));
  std::vector<std::string> rows(program.entries.size());
  for (std::size_t i = 0; i < rows.size(); ++i) entry_tables(program.entries[i], places, out, names, rows[i]);
  out.open("constexpr pld::EntryInfo kEntries[] =");
  for (const std::string& row : rows) out.line(row);
  out.close(";");
  out.line();
  out.call("constexpr pld::ProgramInfo kProgram = {",
           {cpp_string(program.stem), cpp_string(program.file), "kEntries",
            program.chips.empty() ? "{}" : "kChips"},
           "};");
  out.line();
  out.line("}  // namespace");
  out.line();
  out.line("const pld::ProgramInfo& program() { return kProgram; }");
  out.line();
  out.line(fmt::format("}}  // namespace {}", program.ident));
  return out.take();
}

std::string host_main_text(const ProgramCode& program) {
  CppText out;
  out.comment(
      fmt::format("The executable: reads and writes the parameters of {} and runs it.", program.name));
  out.raw("#include \"pld/main.h\"");
  out.line();
  out.line(fmt::format("namespace {} {{", program.ident));
  out.line("const pld::ProgramInfo& program();  // host_orch.cpp");
  out.line("}");
  out.line();
  out.line(fmt::format("int main(int argc, char** argv) {{ return pld_main(argc, argv, {}::program()); }}",
                       program.ident));
  return out.take();
}

}  // namespace pldc
