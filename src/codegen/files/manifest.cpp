// manifest.json: what a program is, for tools. Keys are in a fixed order.
#include <nlohmann/json.hpp>

#include "codegen/program.h"
#include "ir/op.h"

namespace pldc {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDirections[] = {"in", "out", "inout"};

Json place_json(Span span, const Places& places) {
  const LineColumn at = places.at(span);
  if (at.line == 0) return nullptr;
  return Json{{"line", at.line}, {"column", at.column}};
}

Json shape_json(const HostParam& param) {
  Json out = Json::array();
  for (const HostDim& dim : param.dims) {
    if (dim.extent) {
      out.push_back(*dim.extent);
    } else {
      out.push_back(dim.symbol);
    }
  }
  return out;
}

Json param_json(const HostParam& param, const Places& places) {
  Json out{{"name", param.name},
           {"kind", param.scalar ? "scalar" : "tensor"},
           {"direction", kDirections[static_cast<std::size_t>(param.direction)]},
           {"dtype", name_of(param.dtype)}};
  if (!param.scalar) {
    out["shape"] = shape_json(param);
    Json ranked = Json::array();
    for (std::size_t axis = 0; axis < param.dims.size(); ++axis) {
      if (param.dims[axis].per_rank) ranked.push_back(axis);
    }
    out["rank_axes"] = ranked;
  }
  out["place"] = place_json(param.place, places);
  return out;
}

// Offsets are known as long as the sizes before are constants.
Json domain_json(const HostDomain& domain) {
  Json out{{"name", domain.name}};
  if (domain.devices.empty()) {
    out["devices"] = "all";
  } else {
    out["devices"] = domain.devices;
  }
  Json slots = Json::array();
  std::int64_t offset = 0;  // -1: not known any more
  for (const HostSlot& slot : domain.slots) {
    Json s{{"name", slot.name}};
    if (slot.bytes) {
      s["bytes"] = *slot.bytes;
    } else {
      s["bytes"] = slot.size;
    }
    s["offset"] = offset >= 0 ? Json(offset) : Json(nullptr);
    s["use"] = slot.signal ? "signal" : "data";
    if (offset >= 0) offset = slot.bytes ? offset + (*slot.bytes + 31) / 32 * 32 : -1;
    slots.push_back(std::move(s));
  }
  out["bytes"] = offset >= 0 ? Json(offset) : Json(nullptr);
  out["slots"] = slots;
  return out;
}

Json type_json(const Type* type) {
  const auto* tensor = dyn<TensorType>(type);
  if (tensor == nullptr) return nullptr;
  Json shape = Json::array();
  for (const Expr* dim : tensor->shape) {
    if (const auto extent = const_int(dim)) {
      shape.push_back(*extent);
    } else if (const auto* symbol = dyn<Var>(dim)) {
      shape.push_back(symbol->name.text());
    } else {
      shape.push_back(nullptr);
    }
  }
  return shape;
}

Json params_json(const HostEntry& entry, const Places& places) {
  Json out = Json::array();
  for (const HostParam& p : entry.params) out.push_back(param_json(p, places));
  return out;
}

Json domains_json(const HostEntry& entry) {
  Json out = Json::array();
  for (const HostDomain& d : entry.domains) out.push_back(domain_json(d));
  return out;
}

Json kernel_json(const KernelCode& kernel, std::size_t id, const ChipCode& chip) {
  Json signature = Json::array();
  for (const AbiParam& p : kernel.signature.params) {
    Json s{{"name", plain_name(p.param->var->name.text())}};
    switch (p.kind) {
      case ParamKind::Tensor: {
        const auto* type = static_cast<const TensorType*>(p.param->var->type);
        s["kind"] = is_distributed(type) ? "window" : "tensor";
        s["direction"] = kDirections[static_cast<std::size_t>(p.param->direction)];
        s["dtype"] = name_of(type->dtype);
        s["shape"] = type_json(type);
        break;
      }
      case ParamKind::Scalar:
        s["kind"] = "scalar";
        s["dtype"] = name_of(*scalar_dtype(p.param->var->type));
        break;
      case ParamKind::Context:
        s["kind"] = "context";
        break;
    }
    s["arg"] = p.kind == ParamKind::Tensor ? p.index : kernel.signature.tensors + p.index;
    signature.push_back(std::move(s));
  }
  for (const std::string& arg : kernel.builtin_args) signature.push_back(arg);
  return Json{{"chip", chip.ref.name},  {"id", id},
              {"name", kernel.title},   {"core", kernel.cube ? "aic" : "aiv"},
              {"signature", signature}, {"file", "kernels/" + chip.ref.name + "/" + kernel.name + ".cpp"}};
}

}  // namespace

std::string manifest_text(const ProgramCode& program, const BuildOptions& options, const Places& places) {
  constexpr std::string_view kTargets[] = {"sim", "mpi", "ascend"};
  const HostEntry& first = program.entries.front();
  Json out{{"schema", 1},
           {"program", program.name},
           {"source", program.file},
           {"target", kTargets[static_cast<std::size_t>(options.target)]},
           {"entry", first.name},
           {"parameters", params_json(first, places)},
           {"domains", domains_json(first)}};
  Json chips = Json::array();
  Json kernels = Json::array();
  for (const ChipCode& chip : program.chips) {
    Json names = Json::array();
    for (std::size_t i = 0; i < chip.kernels.size(); ++i) {
      names.push_back(chip.kernels[i].title);
      kernels.push_back(kernel_json(chip.kernels[i], i, chip));
    }
    chips.push_back(Json{{"name", chip.ref.name},
                         {"builtin", chip.ref.builtin.has_value()},
                         {"args", chip.args},
                         {"kernels", names},
                         {"file", "chips/" + chip.ref.name + ".cpp"}});
  }
  out["chips"] = chips;
  out["kernels"] = kernels;
  Json entries = Json::array();
  for (const HostEntry& entry : program.entries) {
    Json limits = Json::array();
    for (const RankLimit& l : entry.limits) {
      limits.push_back(Json{{"collective", l.collective}, {"ranks", l.count}, {"exact", l.exact}});
    }
    entries.push_back(Json{{"name", entry.name},
                           {"function", program.ident + "::" + entry.cpp_name},
                           {"single_rank", entry.single_rank},
                           {"max_device", entry.max_device >= 0 ? Json(entry.max_device) : Json(nullptr)},
                           {"rank_limits", limits},
                           {"parameters", params_json(entry, places)},
                           {"domains", domains_json(entry)}});
  }
  out["entries"] = entries;
  return out.dump(2) + "\n";
}

}  // namespace pldc
