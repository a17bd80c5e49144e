// What the static match knows about who tells whom.
#include <map>
#include <tuple>

#include "driver/trace/report.h"
#include "passes/match/match.h"

namespace pldc::trace {
namespace {

using match::Event;
using match::EventKind;
using match::Events;
using match::Trace;

// More events than these are only counted: nobody could read a drawing of them.
constexpr std::size_t kDrawnEvents = 800;

Json events_json(const Events& events, const SourceManager& sources) {
  Json out = Json::array();
  for (const Event& e : events) {
    Json row;
    switch (e.kind) {
      case EventKind::Notify:
        row = Json{{"kind", "notify"}, {"to", e.cell.device}, {"value", e.value}};
        if (e.op == NotifyOp::Set) row["set"] = true;
        break;
      case EventKind::Wait:
        row = Json{{"kind", "wait"}, {"value", e.value}};
        if (e.cmp == WaitCmp::Eq) row["equal"] = true;
        break;
      case EventKind::Collective:
        row = Json{{"kind", "collective"}, {"name", e.collective}};
        break;
      case EventKind::Fork: {
        row = Json{{"kind", "fork"}};
        Json branches = Json::array();
        for (const Events& branch : e.branches) branches.push_back(events_json(branch, sources));
        row["branches"] = std::move(branches);
        out.push_back(std::move(row));
        continue;
      }
    }
    row["window"] = e.cell.allocation;
    row["byte"] = e.cell.byte;
    row["cell"] = e.shown;
    row["line"] = line_of(sources, e.place);
    out.push_back(std::move(row));
  }
  return out;
}

Json host_json(const MatchedHost& host, const SourceManager& sources) {
  const Trace& trace = host.trace;
  Json out{{"host", host.host.text()}, {"whole", host.whole}};
  Json domains = Json::array();
  for (const match::Domain& d : trace.domains)
    domains.push_back(Json{{"name", d.name}, {"devices", d.devices}});
  out["domains"] = std::move(domains);
  Json windows = Json::array();
  for (const match::Allocation& a : trace.allocations)
    windows.push_back(Json{{"name", a.name}, {"domain", a.domain}, {"uncertain", a.uncertain}});
  out["windows"] = std::move(windows);

  std::size_t total = 0;
  // From, to, window: how many notifies. Line, window, what is called: how many ranks' calls.
  std::map<std::tuple<std::int64_t, std::int64_t, std::size_t>, std::size_t> notifies;
  std::map<std::tuple<std::uint32_t, std::size_t, std::string>, std::size_t> collectives;
  for_each_event(trace, [&](const Event& e, std::int64_t device) {
    ++total;
    if (e.kind == EventKind::Notify) ++notifies[{device, e.cell.device, e.cell.allocation}];
    if (e.kind == EventKind::Collective)
      ++collectives[{line_of(sources, e.place), e.cell.allocation, e.collective}];
  });
  out["total"] = total;
  Json pairs = Json::array();
  for (const auto& [key, count] : notifies)
    pairs.push_back(Json::array({std::get<0>(key), std::get<1>(key), std::get<2>(key), count}));
  out["notifies"] = std::move(pairs);
  Json meetings = Json::array();
  for (const auto& [key, count] : collectives) {
    meetings.push_back(Json{{"line", std::get<0>(key)},
                            {"window", std::get<1>(key)},
                            {"name", std::get<2>(key)},
                            {"calls", count}});
  }
  out["collectives"] = std::move(meetings);
  if (total <= kDrawnEvents) {
    Json devices = Json::array();
    for (const Events& events : trace.devices) devices.push_back(events_json(events, sources));
    out["events"] = std::move(devices);
  }
  return out;
}

}  // namespace

Json message_map(Session& session, Input& input, const Program* program, unsigned ranks) {
  MatchOptions options;
  options.ranks = ranks;
  DiagSink findings;
  std::vector<MatchedHost> matched;
  match_ranks(input.context, program, options, findings, &matched);
  Json out{{"ranks", ranks}};
  Json hosts = Json::array();
  for (const MatchedHost& host : matched) hosts.push_back(host_json(host, session.sources()));
  out["hosts"] = std::move(hosts);
  Json diags = Json::array();
  for (const Diagnostic& d : findings.take()) diags.push_back(diagnostic_json(d, session.sources()));
  if (!diags.empty()) out["diags"] = std::move(diags);
  return out;
}

}  // namespace pldc::trace
