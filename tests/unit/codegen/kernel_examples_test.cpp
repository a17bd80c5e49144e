// The worked examples of the operations (ops_examples.json of the specification): one kernel for each example of an
// operation on tiles, compiled together and run.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "ir/op.h"
#include "support/catch.h"
#include "support/corpus.h"
#include "unit/codegen/kernel_fixture.h"

namespace {

using namespace kerneltest;
using nlohmann::json;
using pldc::ArgKind;
using pldc::DType;

std::string examples_file() {
  namespace fs = std::filesystem;
  const char* source = std::getenv("PLDC_SOURCE_ROOT");
  const fs::path tree = source != nullptr ? fs::path(source) : fs::current_path();
  return (tree / "tests" / "data" / "spec" / "ops_examples.json").string();
}

// ---- operands ---------------------------------------------------------------------------------------------------

double number(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number()) return value.get<double>();
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (text == "inf") return INFINITY;
  if (text == "-inf") return -INFINITY;
  return NAN;
}

void flatten(const json& value, std::vector<json>& leaves) {
  if (!value.is_array()) {
    leaves.push_back(value);
    return;
  }
  for (const json& element : value) flatten(element, leaves);
}

std::vector<std::int64_t> shape_of(const json& value) {
  std::vector<std::int64_t> shape;
  for (const json* v = &value; v->is_array(); v = &v->front()) {
    shape.push_back(static_cast<std::int64_t>(v->size()));
    if (v->empty()) break;
  }
  return shape;
}

std::string list_text(const json& values) {
  std::string out;
  for (const json& v : values) out += (out.empty() ? "" : ", ") + v.dump();
  return "[" + out + "]";
}

std::string list_text(const std::vector<std::int64_t>& values) {
  std::string out;
  for (const std::int64_t v : values) out += (out.empty() ? "" : ", ") + std::to_string(v);
  return "[" + out + "]";
}

std::optional<DType> dtype_named(const std::string& name) { return pldc::parse_enum<DType>(name); }

std::string scalar_text(double value, DType dtype) {
  if (dtype == DType::BOOL) return value != 0 ? "True" : "False";
  const bool whole = !pldc::is_float(dtype);
  const std::string digits =
      whole ? fmt::format("{}", static_cast<std::int64_t>(value)) : fmt::format("{:#.17g}", value);
  if (dtype == DType::FP32 || dtype == DType::INDEX) return digits;
  return fmt::format("pl.const({}, pl.{})", digits, pldc::name_of(dtype));
}

// A kernel made of an example.
class Example {
 public:
  explicit Example(const json& entry) : entry_(entry), name_(entry["op"].get<std::string>()) {}

  // Why there is no kernel; empty: `text`, `arguments` and `outputs` are set.
  std::string make();

  std::string text;
  std::vector<Tensor> arguments;
  std::vector<std::pair<std::size_t, json>> outputs;  // argument and what it must hold

 private:
  struct Data {
    DType dtype;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> valid;
    Tensor values;
    bool fill = false;
  };

  std::optional<Data> data(const json& input) {
    Data out;
    const auto dtype =
        dtype_named(input.is_object() && input.contains("dtype") ? input["dtype"].get<std::string>()
                                                                 : entry_["dtype"].get<std::string>());
    if (!dtype) return std::nullopt;
    out.dtype = *dtype;
    std::vector<double> numbers;
    if (input.is_object() && input.contains("fill")) {
      out.shape = input["shape"].get<std::vector<std::int64_t>>();
      out.values = Tensor::zeros(out.dtype, out.shape);
      out.fill = number(input["fill"]) == 0;
      numbers.assign(static_cast<std::size_t>(out.values.size()), number(input["fill"]));
    } else if (input.is_object() && input.contains("pairs")) {
      const json& rows = input["pairs"];
      out.shape = shape_of(rows);
      out.dtype = DType::FP32;
      std::vector<json> leaves;
      flatten(rows, leaves);
      out.values = Tensor::zeros(DType::FP32, out.shape);
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        const Tensor one = Tensor::of(i % 2 == 0 ? DType::FP32 : DType::UINT32, {1}, {number(leaves[i])});
        std::copy(one.bytes.begin(), one.bytes.end(),
                  out.values.bytes.begin() + static_cast<std::ptrdiff_t>(i * 4));
      }
      out.valid = out.shape;
      return out;
    } else {
      const json& rows = input.is_object() ? input["data"] : input;
      out.shape = shape_of(rows);
      std::vector<json> leaves;
      flatten(rows, leaves);
      for (const json& leaf : leaves) numbers.push_back(leaf.is_null() ? 0 : number(leaf));
    }
    out.values = Tensor::of(out.dtype, out.shape, numbers);
    out.valid = out.shape;
    if (input.is_object() && input.contains("valid_shape"))
      out.valid = input["valid_shape"].get<std::vector<std::int64_t>>();
    return out;
  }

  std::string parameter(const Data& d, std::string_view direction) {
    const std::string name = fmt::format("a{}", arguments.size());
    const std::string type = fmt::format("pl.Tensor[{}, pl.{}]", list_text(d.shape), pldc::name_of(d.dtype));
    params_ += (params_.empty() ? "" : ", ") + name + ": " +
               (direction.empty() ? type : fmt::format("pl.{}[{}]", direction, type));
    arguments.push_back(d.values);
    return name;
  }

  std::string tile(const Data& d, std::string_view operand) {
    const std::string name = fmt::format("t{}", tiles_++);
    const bool scratch = operand.find("tmp") != std::string_view::npos || operand == "scratch";
    if (d.fill && scratch) {
      body_ += fmt::format("{} = pl.tile.create({}, dtype=pl.{}, target_memory=pl.Mem.Vec)\n", name,
                           list_text(d.shape), pldc::name_of(d.dtype));
      return name;
    }
    const bool product = name_.find("matmul") != std::string::npos || name_.find("gemv") != std::string::npos;
    std::string memory = "Vec";
    if (product && d.shape.size() == 2) {
      memory = operand == "lhs"         ? "Left"
               : operand == "rhs"       ? "Right"
               : operand == "bias"      ? "Bias"
               : operand == "lhs_scale" ? "LeftScale"
               : operand == "rhs_scale" ? "RightScale"
                                        : "Acc";
    }
    const std::string zeros = list_text(std::vector<std::int64_t>(d.shape.size(), 0));
    const std::string landing = memory == "Vec" ? name : name + "m";
    body_ +=
        fmt::format("{} = pl.tile.load({}, {}, {}, {}, target_memory=pl.Mem.{})\n", landing, parameter(d, ""),
                    zeros, list_text(d.shape), list_text(d.valid), memory == "Vec" ? "Vec" : "Mat");
    if (landing != name)
      body_ += fmt::format("{} = pl.tile.move({}, target_memory=pl.Mem.{})\n", name, landing, memory);
    return name;
  }

  std::optional<std::string> operand(const pldc::Operand& o, const json& input);
  std::string keyword(const pldc::Keyword& k, const json& value);
  void store(const std::string& value, const json& expected, DType dtype);

  const json& entry_;
  std::string name_;
  std::string params_;
  std::string body_;
  int tiles_ = 0;
  int target_ = -1;  // argument that the operation writes
};

std::optional<std::string> Example::operand(const pldc::Operand& o, const json& input) {
  if (input.is_object() && input.contains("tuple")) return list_text(input["tuple"]);
  if (input.is_object() && input.contains("scalar")) {
    const auto dtype = dtype_named(input["dtype"].get<std::string>());
    return dtype ? std::optional(scalar_text(number(input["scalar"]), *dtype)) : std::nullopt;
  }
  if (input.is_number_integer()) return input.dump();
  if (input.is_number() && o.kind == ArgKind::Scalar) return scalar_text(number(input), DType::FP32);
  if (!input.is_array() && !input.is_object()) return std::nullopt;
  const auto d = data(input);
  if (!d) return std::nullopt;
  switch (o.kind) {
    case ArgKind::Tile:
    case ArgKind::TensorOrTile:
      return tile(*d, o.name);
    case ArgKind::Tensor:
    case ArgKind::TensorLike: {
      const bool written = o.name == "output_tensor";
      if (written) target_ = static_cast<int>(arguments.size());
      return parameter(*d, written ? "InOut" : "");
    }
    case ArgKind::Window:
    case ArgKind::Scalar:
    case ArgKind::ConstInt:
    case ArgKind::Tuple:
    case ArgKind::Array:
    case ArgKind::Ptr:
    case ArgKind::Ctx:
    case ArgKind::PrefetchCtx:
    case ArgKind::TensorOrScalar:
    case ArgKind::Any:
      break;
  }
  return std::nullopt;
}

std::string Example::keyword(const pldc::Keyword& k, const json& value) {
  const std::string word = value.is_string()    ? value.get<std::string>()
                           : value.is_boolean() ? (value.get<bool>() ? "True" : "False")
                                                : value.dump();
  if (k.kind == pldc::KwKind::DType) return "pl." + word;
  if (k.kind == pldc::KwKind::PadValue) return "pl.PadValue." + word;
  if (k.kind == pldc::KwKind::MemSpace) return "pl.Mem." + word;
  if (k.kind == pldc::KwKind::AtomicType)
    return value == 1 || word == "add" ? "pl.AtomicType.Add" : "pl.AtomicType.None_";
  constexpr std::string_view kCompare[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  if (k.kind == pldc::KwKind::CmpType && value.is_string()) {
    for (std::size_t i = 0; i < 6; ++i) {
      if (kCompare[i] == word) return std::to_string(i);
    }
  }
  return value.is_string() ? "'" + word + "'" : word;
}

void Example::store(const std::string& value, const json& expected, DType dtype) {
  Data out;
  out.dtype = dtype;
  out.shape = shape_of(expected);
  const bool scalar = out.shape.empty();
  if (scalar) out.shape = {1, 1};
  out.values = Tensor::zeros(dtype, out.shape);
  outputs.emplace_back(arguments.size(), expected);
  const std::string name = parameter(out, "Out");
  const std::string zeros = list_text(std::vector<std::int64_t>(out.shape.size(), 0));
  if (scalar) {
    body_ += fmt::format("pl.tensor.write({}, {}, {})\n", name, zeros, value);
  } else {
    body_ += fmt::format("pl.tile.store({}, {}, {})\n", value, zeros, name);
  }
}

std::string Example::make() {
  const pldc::OpId op = pldc::find_op(name_);
  if (op == pldc::OpId::none_) return "no such op";
  const pldc::OpInfo& info = pldc::op_info(op);
  if (entry_.contains("context") || entry_["inputs"].size() > info.operand_count())
    return "needs surroundings";
  std::string args;
  for (std::size_t i = 0; i < entry_["inputs"].size(); ++i) {
    const auto text_of = operand(info.operands[i], entry_["inputs"][i]);
    if (!text_of) return fmt::format("operand {} of kind {}", i, static_cast<int>(info.operands[i].kind));
    const bool named = info.operands[i].spelling == pldc::Spelling::Keyword;
    args += (args.empty() ? "" : ", ") + (named ? std::string(info.operands[i].name) + "=" : "") + *text_of;
  }
  for (const auto& [key, value] : entry_["kwargs"].items()) {
    const pldc::Keyword* k = info.keyword(key);
    if (k == nullptr) return "keyword " + key;
    args += fmt::format("{}{}={}", args.empty() ? "" : ", ", key, keyword(*k, value));
  }
  const auto dtype = dtype_named(entry_.value("expected_dtype", entry_["dtype"].get<std::string>()));
  if (!dtype) return "dtype of the result";
  const json& expected = entry_["expected"];
  body_ += fmt::format("r = pl.{}({})\n", name_, args);
  if (target_ >= 0) {
    outputs.emplace_back(static_cast<std::size_t>(target_), expected);
  } else if (expected.is_object() && expected.size() == 2 && name_ == "tile.gather_compare") {
    std::size_t i = 0;
    for (const std::string key : {"indices", "counts"}) {
      if (!expected.contains(key)) return "results " + expected.dump().substr(0, 60);
      body_ += fmt::format("r{0} = r[{0}]\n", i);
      store(fmt::format("r{}", i++), expected[key], DType::INT32);
    }
  } else if (expected.is_array() || expected.is_number()) {
    store("r", expected, *dtype);
  } else {
    return "result " + expected.dump().substr(0, 40);
  }
  text = program(kernel(params_, body_));
  return {};
}

// ---- comparison -------------------------------------------------------------------------------------------------

std::string compare(const json& entry, const Tensor& got, const json& expected) {
  std::vector<json> leaves;
  flatten(expected, leaves);
  std::vector<double> values = got.values();
  const bool pairs = entry.value("lanes", "").find("index_bits") != std::string::npos;
  const double tolerance = entry.value("tol", 0.0);
  if (leaves.size() != values.size())
    return fmt::format("{} cells, expected {}", values.size(), leaves.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].is_null()) continue;
    double have = values[i];
    if (pairs && i % 2 == 1) {
      std::uint32_t bits = 0;
      for (std::size_t b = 0; b < 4; ++b) bits |= static_cast<std::uint32_t>(got.bytes[i * 4 + b]) << (8 * b);
      have = bits;
    }
    const double want = number(leaves[i]);
    const bool same = have == want || (std::isnan(have) && std::isnan(want)) ||
                      std::fabs(have - want) <= tolerance * std::fmax(1, std::fabs(want));
    if (!same) return fmt::format("cell {} is {}, expected {}", i, have, want);
  }
  return {};
}

}  // namespace

TEST_CASE("every tile operation computes its worked examples", "[kernel][exec]") {
  std::ifstream file(examples_file());
  REQUIRE(file.good());
  const json entries = json::parse(file);
  std::vector<Run> runs;
  std::vector<std::pair<const json*, Example>> cases;
  std::set<std::string> covered;
  std::ostringstream skipped;
  std::string refused;
  for (const json& entry : entries) {
    const std::string op = entry["op"];
    if (op.rfind("tile.", 0) != 0 || entry.contains("expected_error")) continue;
    Example example(entry);
    const std::string why = example.make();
    if (!why.empty()) {
      skipped << op << ": " << why << "\n";
      continue;
    }
    const Emitted emitted = emit(example.text);
    if (emitted.kernels.size() != 1) {
      refused += op + ": " + emitted.errors + example.text + "\n";
      continue;
    }
    runs.push_back({emitted.kernels.begin()->second, example.arguments});
    cases.emplace_back(&entry, std::move(example));
  }
  const std::string said = execute(runs);
  INFO(said.substr(0, 4000));
  REQUIRE(said.empty());
  std::string wrong;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const json& entry = *cases[i].first;
    std::string fault = runs[i].error;
    for (const auto& [argument, expected] : cases[i].second.outputs) {
      if (fault.empty()) fault = compare(entry, runs[i].tensors[argument], expected);
    }
    if (fault.empty()) {
      covered.insert(entry["op"].get<std::string>());
    } else if (!entry.value("disputed", false)) {
      wrong += fmt::format("{}: {}\n{}\n{}\n", entry["op"].get<std::string>(), fault, cases[i].second.text,
                           runs[i].text);
    }
  }
  // `PLDC_VERBOSE=1` lists what the examples do not reach.
  if (std::getenv("PLDC_VERBOSE") != nullptr) {
    std::printf("%zu examples of %zu operations run\n--- skipped\n%s--- refused\n%s\n", runs.size(),
                covered.size(), skipped.str().c_str(), refused.c_str());
  }
  CHECK(refused == "");
  CHECK(wrong == "");
  CHECK(covered.size() >= 100);
}
