// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Bodies of Trace. Included by watch.cpp only.
#pragma once
#include "pld/runtime_watch.h"

namespace pld {
namespace {

struct Track {
  int64_t device = 0;
  int core = 0;
};
long long track(int64_t device, int core) {
  return device < 0 ? 0 : 1 + static_cast<long long>(device) * 4096 + core;
}

Text quoted(const Text& s) {
  Text out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += text("\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

Trace::Trace() : start_(now_ns()) {}

Trace::Id Trace::begin(int64_t device, int core, const char* category, Text name, Text arguments) {
  spans_.push_back({device, core, category, std::move(name), std::move(arguments), now_ns() - start_, -1});
  return spans_.size() - 1;
}
void Trace::end(Id id) { spans_[id].end = now_ns() - start_; }
void Trace::moved(int64_t device, bool sent, int64_t bytes) {
  Totals& t = totals_[device];
  (sent ? t.sent : t.received) += bytes;
  counts_.push_back({device, now_ns() - start_, t});
}

Text Trace::json(const Text& program) const {
  const int64_t now = now_ns() - start_;
  Text out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  out += "{\"ph\": \"M\", \"pid\": 0, \"name\": \"process_name\", \"args\": {\"name\": " + quoted(program) +
         "}}";
  Sorted<int64_t, Track> tracks;
  for (const Span& s : spans_) tracks[track(s.device, s.core)] = {s.device, s.core};
  for (const auto& [number, t] : tracks) {
    const int64_t device = t.device;
    const int core = t.core;
    const Text name = device < 0 ? "host"
                                 : text("rank %lld", static_cast<long long>(device)) +
                                       (core > 0 ? text(" core %d", core) : "");
    out += text(
        ",\n{\"ph\": \"M\", \"pid\": 0, \"tid\": %lld, \"name\": \"thread_name\", \"args\": {\"name\": "
        "%s}}",
        track(device, core), quoted(name).c_str());
    out += text(
        ",\n{\"ph\": \"M\", \"pid\": 0, \"tid\": %lld, \"name\": \"thread_sort_index\", \"args\": "
        "{\"sort_index\": %lld}}",
        track(device, core), track(device, core));
  }
  for (const Span& s : spans_) {
    const int64_t end = s.end < 0 ? now : s.end;
    out += text(
        ",\n{\"ph\": \"X\", \"pid\": 0, \"tid\": %lld, \"cat\": \"%s\", \"name\": %s, \"ts\": %.3f, "
        "\"dur\": "
        "%.3f, \"args\": {%s%s}}",
        track(s.device, s.core), s.category, quoted(s.name).c_str(), static_cast<double>(s.begin) / 1e3,
        static_cast<double>(end - s.begin) / 1e3, s.arguments.c_str(),
        s.end < 0 ? (s.arguments.empty() ? "\"unfinished\": true" : ", \"unfinished\": true") : "");
  }
  for (const Count& c : counts_) {
    out += text(
        ",\n{\"ph\": \"C\", \"pid\": 0, \"name\": \"bytes of rank %lld\", \"ts\": %.3f, \"args\": "
        "{\"sent\": "
        "%lld, \"received\": %lld}}",
        static_cast<long long>(c.device), static_cast<double>(c.at) / 1e3,
        static_cast<long long>(c.totals.sent), static_cast<long long>(c.totals.received));
  }
  return out + "\n]}\n";
}

}  // namespace pld
