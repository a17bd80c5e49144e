#include "driver/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "driver/example.h"
#include "driver/vocabulary.h"
#include "ir/authoring.h"
#include "ir/check_rules.h"
#include "support/diag.h"

namespace pldc {
namespace {

using Json = nlohmann::ordered_json;

constexpr Fact kTargets[] = {
    {"sim", "C++ that runs every rank as a thread of one process (default)"},
    {"mpi", "the same C++, every rank a process of MPI"},
    {"ascend",
     "sources only, for the vendor's compiler and runtime: no Makefile, no headers, nothing is compiled"},
};

Json json_of(PropertySet set) {
  Json list = Json::array();
  for (std::size_t i = 0; i < kPropertyCount; ++i) {
    if (set.has(static_cast<Property>(i))) list.push_back(name_of(static_cast<Property>(i)));
  }
  return list;
}

// Positions in the default pipeline, 1 to 49; a pass may stand there twice.
std::string positions(std::string_view pass) {
  std::string out;
  for (const PipelineEntry& entry : default_pipeline()) {
    if (entry.name == pass) out += (out.empty() ? "" : ", ") + std::to_string(entry.number);
  }
  return out;
}

std::string pass_details(const PassInfo& pass) {
  std::string out;
  const std::string at = positions(pass.name);
  out += fmt::format("  default pipeline: {}\n", at.empty() ? "not in it" : "position " + at);
  const auto line = [&](std::string_view label, PropertySet set) {
    if (!set.empty()) out += fmt::format("  {}: {}\n", label, names_of(set));
  };
  line("requires", pass.required);
  line("produces", pass.produced);
  line("invalidates", pass.invalidated);
  for (const PassOption& option : pass.options) {
    out += fmt::format("  option {}.{}={} (default {}): {}\n", pass.name, option.key, option.values,
                       option.def, option.doc);
  }
  return out;
}

std::string explain_pass(const PassInfo& pass) {
  std::string summary(pass.summary);
  summary[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(summary[0])));
  std::string out = fmt::format("{}: a pass\n\n{}.\n\n{}", pass.name, summary, pass_details(pass));
  for (const PipelineEntry& entry : default_pipeline()) {
    if (entry.name == pass.name)
      out += fmt::format("  stands at {} because: {}\n", entry.number, entry.reason);
  }
  return out +
         fmt::format("\nexample: pldc --dump-before={0} foo.pld; pldc --dump-after={0} foo.pld\n", pass.name);
}

std::string_view word_of(ArgKind kind) {
  switch (kind) {
    case ArgKind::Tensor:
      return "tensor";
    case ArgKind::TensorLike:
      return "tensor or distributed tensor";
    case ArgKind::Window:
      return "distributed tensor";
    case ArgKind::Tile:
      return "tile";
    case ArgKind::Scalar:
      return "scalar";
    case ArgKind::ConstInt:
      return "constant integer";
    case ArgKind::Tuple:
      return "list";
    case ArgKind::Array:
      return "array";
    case ArgKind::Ptr:
      return "pointer";
    case ArgKind::Ctx:
      return "communication context";
    case ArgKind::PrefetchCtx:
      return "prefetch context";
    case ArgKind::TensorOrScalar:
      return "tensor or scalar";
    case ArgKind::TensorOrTile:
      return "tensor or tile";
    case ArgKind::Any:
      return "any value";
  }
  return "";
}

std::string explain_op(const OpInfo& op) {
  std::string out = fmt::format("{}: an op\n\n{}\n\n", op.name, op.doc.text);
  for (std::size_t i = 0; i < op.operand_count(); ++i) {
    const Operand& operand = op.operands[i];
    out += fmt::format("  {}: {}{}\n", operand.name, word_of(operand.kind),
                       operand.optional ? ", optional" : "");
  }
  for (std::size_t i = 0; i < op.keyword_count(); ++i) {
    const Keyword& keyword = op.keywords[i];
    const std::string values = keyword_range(keyword.kind).allowed();
    out += fmt::format("  {}=: keyword{}{}\n", keyword.name,
                       keyword.when == KwWhen::Required ? "" : ", optional",
                       keyword_range(keyword.kind).names.empty() ? "" : ": " + values);
  }
  return out + fmt::format("\nexample: {}\n", signature(op));
}

const DiagExample* example_of(const DiagInfo& info) {
  for (const DiagExample& example : diag_examples()) {
    if (example.code == info.code) return &example;
  }
  return nullptr;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The command of an example as a person types it.
std::string command_of(const DiagExample& example) {
  const std::string file = std::string(example.name) + ".pld";
  return "pldc " + replaced(replaced(std::string(example.command), "%s", file), "%t", "out");
}

std::string indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end != 0) out += "    " + std::string(text.substr(0, end));
    out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string explain_diagnostic(const DiagInfo& info) {
  std::string out =
      fmt::format("{} ({}): {}\n\n{}\n", diag_code(info), info.id, word_of(info.severity), info.explanation);
  if (!info.example.empty()) out += fmt::format("\nexample:\n{}\n", info.example);
  if (const DiagExample* example = example_of(info)) {
    if (!example->program.empty())
      out +=
          fmt::format("\na program that shows it, {}.pld:\n\n{}", example->name, indented(example->program));
    out += fmt::format("\n{}:\n\n{}", command_of(*example),
                       indented(replaced(std::string(example->output), "%t", "out")));
  }
  return out;
}

// "904", "PLD904", "PLD0904", "pld0904"
unsigned code_in(std::string_view word) {
  if (word.size() > 3 && (word.substr(0, 3) == "PLD" || word.substr(0, 3) == "pld")) word.remove_prefix(3);
  if (word.empty() || word.size() > 6) return 0;
  unsigned code = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return 0;
    code = code * 10 + static_cast<unsigned>(c - '0');
  }
  return code;
}

}  // namespace

std::vector<const OpInfo*> all_ops() {
  std::vector<const OpInfo*> ops;
  for (std::size_t i = 0; i < kOpCount; ++i) ops.push_back(&op_info(static_cast<OpId>(i)));
  std::sort(ops.begin(), ops.end(), [](const OpInfo* a, const OpInfo* b) { return a->name < b->name; });
  return ops;
}

std::string names_of(PropertySet set) {
  std::string out;
  for (std::size_t i = 0; i < kPropertyCount; ++i) {
    const auto property = static_cast<Property>(i);
    if (set.has(property)) out += (out.empty() ? "" : ", ") + std::string(name_of(property));
  }
  return out;
}

std::string signature(const OpInfo& op) {
  std::string out = (op.name.substr(0, 4) == "pld." ? "" : "pl.") + std::string(op.name) +
                    (op_needs_underscore(op.name) ? "_(" : "(");
  const std::size_t start = out.size();
  const auto add = [&](const std::string& text) { out += (out.size() == start ? "" : ", ") + text; };
  for (std::size_t i = 0; i < op.operand_count(); ++i) {
    const Operand& operand = op.operands[i];
    const std::string name(operand.name);
    const std::string text = operand.spelling == Spelling::Positional ? name : name + "=...";
    add(operand.optional ? "[" + text + "]" : text);
  }
  for (std::size_t i = 0; i < op.keyword_count(); ++i) {
    const std::string text = std::string(op.keywords[i].name) + "=...";
    add(op.keywords[i].when == KwWhen::Required ? text : "[" + text + "]");
  }
  return out + ")";
}

std::string list_text(std::string_view what) {
  std::string out;
  if (what == "passes") {
    for (const PassInfo& pass : all_passes())
      out += fmt::format("{}: {}\n{}", pass.name, pass.summary, pass_details(pass));
  } else if (what == "ops") {
    for (const OpInfo* op : all_ops()) out += fmt::format("{}\n    {}\n", signature(*op), op->doc.text);
  } else if (what == "types") {
    for (const Fact& type : type_facts()) out += fmt::format("{}: {}\n", type.name, type.text);
    out += "dtypes:";
    for (const std::string_view name : dtype_names()) out += fmt::format(" {}", name);
    out += '\n';
  } else if (what == "enums") {
    for (const EnumFact& e : enum_facts())
      out += fmt::format("{}.{}: {}\n    {}\n", e.head, e.name, e.text, fmt::join(e.members, " "));
  } else if (what == "forms") {
    for (const Fact& form : form_facts())
      out += fmt::format("pl.{}: {}\n", form.name, form.text.substr(0, form.text.find('\n')));
  } else if (what == "diagnostics") {
    for (const DiagInfo* kind : all_diags()) {
      const DiagInfo& info = *kind;
      out += fmt::format("{} {:<7} {}: {}\n", diag_code(info), word_of(info.severity), info.id, info.format);
    }
  } else if (what == "targets") {
    for (const Fact& target : kTargets) out += fmt::format("{}: {}\n", target.name, target.text);
  }
  return out;
}

std::string list_json(std::string_view what) {
  Json list = Json::array();
  if (what == "passes") {
    for (const PassInfo& pass : all_passes()) {
      Json entry{{"name", pass.name},
                 {"summary", pass.summary},
                 {"required", json_of(pass.required)},
                 {"produced", json_of(pass.produced)},
                 {"invalidated", json_of(pass.invalidated)}};
      entry["options"] = Json::array();
      for (const PassOption& o : pass.options) {
        entry["options"].push_back(
            {{"key", o.key}, {"values", o.values}, {"default", o.def}, {"doc", o.doc}});
      }
      entry["positions"] = Json::array();
      for (const PipelineEntry& position : default_pipeline()) {
        if (position.name == pass.name) entry["positions"].push_back(position.number);
      }
      list.push_back(std::move(entry));
    }
  } else if (what == "ops") {
    for (const OpInfo* op : all_ops()) {
      Json entry{{"name", op->name},
                 {"category", op_category(op->name)},
                 {"signature", signature(*op)},
                 {"doc", op->doc.text}};
      entry["operands"] = Json::array();
      for (std::size_t i = 0; i < op->operand_count(); ++i) {
        const Operand& o = op->operands[i];
        entry["operands"].push_back({{"name", o.name}, {"kind", word_of(o.kind)}, {"optional", o.optional}});
      }
      entry["keywords"] = Json::array();
      for (std::size_t i = 0; i < op->keyword_count(); ++i) {
        entry["keywords"].push_back(
            {{"name", op->keywords[i].name}, {"required", op->keywords[i].when == KwWhen::Required}});
      }
      list.push_back(std::move(entry));
    }
  } else if (what == "types") {
    for (const Fact& type : type_facts())
      list.push_back({{"name", type.name}, {"kind", "type"}, {"doc", type.text}});
    for (std::size_t i = 0; i < std::size(EnumNames<DType>::names); ++i) {
      list.push_back({{"name", EnumNames<DType>::names[i]},
                      {"kind", "dtype"},
                      {"bits", bit_width(static_cast<DType>(i))}});
    }
  } else if (what == "enums") {
    for (const EnumFact& e : enum_facts())
      list.push_back({{"name", e.name}, {"prefix", e.head}, {"doc", e.text}, {"members", e.members}});
  } else if (what == "forms") {
    for (const Fact& form : form_facts()) list.push_back({{"name", form.name}, {"doc", form.text}});
  } else if (what == "diagnostics") {
    for (const DiagInfo* kind : all_diags()) {
      const DiagInfo& info = *kind;
      const DiagExample* example = example_of(info);
      list.push_back({{"code", diag_code(info)},
                      {"id", info.id},
                      {"severity", word_of(info.severity)},
                      {"format", info.format},
                      {"explanation", info.explanation},
                      {"example", info.example},
                      {"program", example != nullptr ? example->program : ""},
                      {"program_name", example != nullptr ? std::string(example->name) + ".pld" : ""},
                      {"command", example != nullptr ? command_of(*example) : ""}});
    }
  } else if (what == "targets") {
    for (const Fact& target : kTargets) list.push_back({{"name", target.name}, {"doc", target.text}});
  }
  return list.dump(2) + "\n";
}

std::string explain(std::string_view name, std::string& guess) {
  if (const PassInfo* pass = find_pass(name)) return explain_pass(*pass);
  for (const PipelineEntry& entry : default_pipeline()) {
    // PyPTO has it, this project does not yet; a text made after it can still be read and run.
    if (entry.name == name) {
      return fmt::format(
          "{}: a pass that pldc does not have yet\n\nIt is number {} of PyPTO's default pipeline: {}.\n\n"
          "example: pldc --start-after={} foo.pld, with the text that PyPTO printed after it\n",
          name, entry.number, entry.reason, name);
    }
  }
  const std::string_view spelled = name;
  const bool pl = spelled.substr(0, 3) == "pl.";
  const bool pld = spelled.substr(0, 4) == "pld.";
  const std::string_view leaf = spelled.substr(pl ? 3 : pld ? 4 : 0);
  for (const Fact& type : type_facts()) {
    if (type.name == leaf) return fmt::format("{}: a type\n\n{}\n", type.name, type.text);
  }
  for (std::size_t i = 0; !pld && i < std::size(EnumNames<DType>::names); ++i) {
    if (EnumNames<DType>::names[i] != leaf) continue;
    return fmt::format("{}: a dtype, what one element is\n\n{} bits.\n\nexample: pl.Tensor[[8, 64], pl.{}]\n",
                       leaf, bit_width(static_cast<DType>(i)), leaf);
  }
  for (const Fact& target : kTargets) {
    if (target.name == name) return fmt::format("{}: a target of code generation\n\n{}\n", name, target.text);
  }
  std::string_view op_name = name;
  if (op_name.substr(0, 3) == "pl.") op_name.remove_prefix(3);
  if (const OpId op = find_op(op_name); op != OpId::none_) return explain_op(op_info(op));
  const unsigned code = code_in(name);
  for (const DiagInfo* kind : all_diags()) {
    if (kind->id == name || kind->code == code) return explain_diagnostic(*kind);
  }
  if (const EnumFact* e = find_enum(leaf); e != nullptr) {
    return fmt::format("{}.{}: {}\n\nmembers: {}\n\nexample: {}.{}.{}\n", e->head, e->name, e->text,
                       fmt::join(e->members, ", "), e->head, e->name, e->members.back());
  }
  if (const auto property = parse_property(name)) {
    std::string out = fmt::format("{}: a property of programs\n", name);
    for (const PassInfo& pass : all_passes()) {
      if (pass.required.has(*property)) out += fmt::format("  required by {}\n", pass.name);
      if (pass.produced.has(*property)) out += fmt::format("  produced by {}\n", pass.name);
      if (pass.invalidated.has(*property)) out += fmt::format("  invalidated by {}\n", pass.name);
    }
    return out;
  }
  // An op may be named without its category, as authoring text does: load, pl.load, pld.notify.
  std::string several;
  name = leaf;
  for (const Fact& form : form_facts()) {
    if (!pld && form.name == name) return fmt::format("pl.{}: {}\n", name, form.text);
  }
  for (const OpInfo* op : all_ops()) {
    const bool distributed = op->name.substr(0, 4) == "pld.";
    if ((pl && distributed) || (pld && !distributed)) continue;
    if (op->name.size() > name.size() && op->name.substr(op->name.size() - name.size()) == name &&
        op->name[op->name.size() - name.size() - 1] == '.') {
      several += (several.empty() ? "" : "\n") + explain_op(*op);
    }
  }
  if (!several.empty()) return several;
  // Names that only authoring text has.
  if (const OpId op = resolve_short_name(pld, name, List<const Expr*>{}); op != OpId::none_)
    return explain_op(op_info(op));
  std::vector<std::string_view> names;
  for (const PassInfo& pass : all_passes()) names.push_back(pass.name);
  for (const OpInfo* op : all_ops()) names.push_back(op->name);
  for (const DiagInfo* kind : all_diags()) names.push_back(kind->id);
  for (const Fact& type : type_facts()) names.push_back(type.name);
  for (const EnumFact& e : enum_facts()) names.push_back(e.name);
  for (const Fact& form : form_facts()) names.push_back(form.name);
  guess = closest(spelled, names);
  if (guess.empty()) guess = closest(name, names);
  return {};
}

}  // namespace pldc
