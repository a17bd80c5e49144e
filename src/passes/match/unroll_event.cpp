// Notifies, waits and collectives as events of a device.
#include <limits>

#include "ir/check_op.h"
#include "passes/match/ops.h"
#include "passes/match/unroll.h"
#include "support/diag/verify.h"

namespace pldc::match {
namespace {

std::int64_t keyword(const Call* call, std::string_view name) {
  const AttrValue* value = find_attr(call->kwargs, name);
  return value != nullptr && value->kind == AttrKind::Int ? value->integer : 0;
}

// Of a notify or wait. Cells are 32 bits wide: what does not fit counts as not known.
std::optional<std::int64_t> cell_value(const Value& value) {
  const auto number = value.integer();
  const bool fits = number && *number >= std::numeric_limits<std::int32_t>::min() &&
                    *number <= std::numeric_limits<std::int32_t>::max();
  return fits ? number : std::nullopt;
}

std::string index_text(const std::vector<std::optional<std::int64_t>>& index) {
  std::string text = "[";
  for (const auto& i : index) {
    if (text.size() > 1) text += ", ";
    text += i ? std::to_string(*i) : "?";
  }
  return text + "]";
}

// The collective with all that the ranks must agree on.
std::string agreement(const Call* call, const JoinInfo& info) {
  std::string text(info.name);
  if (is_ring(call)) text += " ring";
  if (const AttrValue* op = find_attr(call->kwargs, "op"); op != nullptr && op->kind == AttrKind::Int) {
    const auto number = static_cast<std::size_t>(op->integer);
    if (op->integer >= 0 && number < std::size(kReduceOpNames))
      text += fmt::format(" of {}", kReduceOpNames[number]);
  }
  if (const AttrValue* root = find_attr(call->kwargs, "root"))
    text += fmt::format(" from root {}", root->integer);
  return text;
}

}  // namespace

std::optional<std::int64_t> Unroller::peer_device(Frame& f, const OpCall& op, const Value& window) {
  const auto peer = op["peer"].integer();
  if (!peer) return std::nullopt;
  const Allocation& allocation = trace_->allocations[window.view->allocation];
  const std::vector<std::int64_t>& devices = trace_->domains[allocation.domain].devices;
  if (*peer >= 0 && *peer < static_cast<std::int64_t>(devices.size()))
    return devices[static_cast<std::size_t>(*peer)];
  if (!uncertain() && f.device >= 0) {
    const Expr* place = argument(op.call, "peer");
    findings_.add<diag::match_peer>(
        place_of(place->span.valid() ? place : op.call),
        trace_->domains[allocation.domain].rank_of(f.device).value_or(0),
        {std::to_string(*peer), allocation.name, std::to_string(devices.size())},
        "ranks are counted within the domain, from 0; `(me + 1) % pld.nranks(ctx)` stays inside");
  }
  return std::nullopt;
}

std::optional<Event> Unroller::cell_event(Frame& f, const OpCall& op, const Value& window) {
  const Extents index = op.extents("offsets");
  const View& view = *window.view;
  const Allocation& allocation = trace_->allocations[view.allocation];
  bool inside = true;
  for (std::size_t i = 0; i < index.size() && i < view.shape.size(); ++i) {
    if (index[i] && (*index[i] < 0 || (view.shape[i] && *index[i] >= *view.shape[i]))) inside = false;
  }
  if (!inside && !uncertain() && f.device >= 0) {
    const Expr* place = argument(op.call, "offsets");
    findings_.add<diag::match_cell>(place_of(place->span.valid() ? place : op.call),
                                    trace_->domains[allocation.domain].rank_of(f.device).value_or(0),
                                    {index_text(index), allocation.name, index_text(view.shape)});
  }
  const auto byte = byte_of(view, index);
  if (!inside || !byte) {
    // What was reported needs no note.
    if (inside || uncertain()) doubt(window, place_of(op.call));
    trace_->allocations[view.allocation].uncertain = true;
    return std::nullopt;
  }
  Event event;
  event.place = place_of(op.call);
  event.cell = {view.allocation, f.device, *byte};
  event.shown = index_text(index);
  return event;
}

void Unroller::notify(Frame& f, const OpCall& op) {
  const Value window = op["target"];
  if (window.kind != ValueKind::Window) return doubt(window, place_of(op.call));
  std::optional<Event> event = cell_event(f, op, window);
  if (!event) return;
  const std::optional<std::int64_t> peer = peer_device(f, op, window);
  const std::optional<std::int64_t> value = cell_value(op["value"]);
  if (!peer || !value) {
    const bool outside = op["peer"].integer() && !peer && !uncertain();
    if (!outside) return doubt(window, place_of(op.call));
    trace_->allocations[window.view->allocation].uncertain = true;  // reported as it is
    return;
  }
  event->kind = EventKind::Notify;
  event->cell.device = *peer;
  event->value = *value;
  event->op = static_cast<NotifyOp>(keyword(op.call, "op"));
  emit(f.device, std::move(*event));
}

void Unroller::wait(Frame& f, const OpCall& op) {
  const Value window = op["signal"];
  if (window.kind != ValueKind::Window) return doubt(window, place_of(op.call));
  std::optional<Event> event = cell_event(f, op, window);
  const std::optional<std::int64_t> value = cell_value(op["expected"]);
  if (!event) return;
  if (!value) return doubt(window, place_of(op.call));
  event->kind = EventKind::Wait;
  event->value = *value;
  event->cmp = static_cast<WaitCmp>(keyword(op.call, "cmp"));
  if (op.call->op == OpId::pld_system_defer_wait) {
    f.deferred.push_back(std::move(*event));
  } else {
    emit(f.device, std::move(*event));
  }
}

void Unroller::collective(Frame& f, const OpCall& op) {
  const JoinInfo info = *join_info(op.call->op);
  // What it does to its data is no matter of signals; the memory of its other windows is no longer what it was.
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    if (i == info.signal || op.args[i].kind != ValueKind::Window) continue;
    Allocation& allocation = trace_->allocations[op.args[i].view->allocation];
    allocation.read = true;
    if (access_of(op.call, i) != Access::Read) allocation.uncertain = true;
  }
  if (info.signal >= op.args.size())
    return;  // made by SynthesizeAllReduceSignals: its own, and all ranks join
  const Value& signal = op.args[info.signal];
  if (signal.kind != ValueKind::Window) return doubt(signal, place_of(op.call));
  const Domain& domain = trace_->domains[trace_->allocations[signal.view->allocation].domain];
  Event event;
  event.kind = EventKind::Collective;
  event.place = place_of(op.call);
  event.cell = {signal.view->allocation, f.device, signal.view->offset.value_or(0)};
  event.collective = agreement(op.call, info);
  if (!signal.view->offset) return doubt(signal, event.place);

  std::vector<std::int64_t> devices = {f.device};
  if (f.host()) {
    const AttrValue* device = find_attr(op.call->attrs, "device");
    if (device == nullptr) {
      devices = domain.devices;  // not lowered yet: one call for all ranks
    } else if (device->kind == AttrKind::Int) {
      devices = {device->integer};
    } else {
      const auto number = device->kind == AttrKind::Expr || device->kind == AttrKind::Var
                              ? integer(f, device->expr)
                              : std::nullopt;
      if (!number) return doubt(signal, event.place);
      devices = {*number};
    }
  } else {
    // Which ranks a signal has room for is fixed by its type; `pldc run` refuses others before it starts.
    const bool ring = event.collective.find(" ring") != std::string::npos;
    const auto* type = dyn<TensorType>(op.call->args[info.signal]->type);
    const std::size_t axis = ring ? 1 : 0;
    const auto room =
        type != nullptr && axis < type->shape.size() ? const_int(type->shape[axis]) : std::nullopt;
    const auto ranks = static_cast<std::int64_t>(domain.devices.size());
    if (room && (ring ? *room != ranks : *room < ranks)) {
      throw GivenUp{GivenUp::Why::Ranks, event.place, fmt::format("its signal is made for {} ranks", *room)};
    }
  }
  for (const std::int64_t device : devices) {
    Event own = event;
    own.cell.device = device;
    emit(device, std::move(own));
  }
}

}  // namespace pldc::match
