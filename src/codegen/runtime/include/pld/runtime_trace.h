// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// --trace: what every rank did when, in the JSON that Perfetto and Chrome's about:tracing read. Included by runtime.cpp
// only.
#pragma once
#include "pld/runtime_state.h"

namespace pld {

// A span of time on one track; the spans of a track nest. Everything belongs to the machine's mutex.
class Trace {
 public:
  using Id = size_t;

  Trace() : start_(now_ns()) {}

  // `arguments`: members of a JSON object, without the braces.
  Id begin(int64_t device, int core, const char* category, std::string name, std::string arguments) {
    spans_.push_back({device, core, category, std::move(name), std::move(arguments), now_ns() - start_, -1});
    return spans_.size() - 1;
  }
  void end(Id id) { spans_[id].end = now_ns() - start_; }
  // Bytes between a rank and the windows of others.
  void moved(int64_t device, bool sent, int64_t bytes) {
    Totals& t = totals_[device];
    (sent ? t.sent : t.received) += bytes;
    counts_.push_back({device, now_ns() - start_, t});
  }

  static std::string quoted(const std::string& s) {
    std::string out = "\"";
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

  std::string json(const std::string& program) const {
    const int64_t now = now_ns() - start_;
    std::string out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
    out += "{\"ph\": \"M\", \"pid\": 0, \"name\": \"process_name\", \"args\": {\"name\": " + quoted(program) +
           "}}";
    std::set<std::pair<int64_t, int>> tracks;
    for (const Span& s : spans_) tracks.insert({s.device, s.core});
    for (const auto& [device, core] : tracks) {
      const std::string name = device < 0 ? "host"
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

 private:
  struct Span {
    int64_t device;
    int core;
    const char* category;
    std::string name;
    std::string arguments;
    int64_t begin, end;  // ns; end -1: not over
  };
  struct Totals {
    int64_t sent = 0, received = 0;
  };
  struct Count {
    int64_t device;
    int64_t at;
    Totals totals;
  };

  static long long track(int64_t device, int core) {
    return device < 0 ? 0 : 1 + static_cast<long long>(device) * 4096 + core;
  }

  int64_t start_;
  std::vector<Span> spans_;
  std::vector<Count> counts_;
  std::map<int64_t, Totals> totals_;
};

// A span that ends with its block; does nothing without --trace. Not with the mutex held.
class Spanned {
 public:
  template <class Name, class Arguments>
  Spanned(Machine& m, int64_t device, int core, const char* category, Name name, Arguments arguments)
      : machine_(m.trace != nullptr ? &m : nullptr) {
    if (machine_ == nullptr) return;
    std::lock_guard lock(m.mutex);
    id_ = m.trace->begin(device, core, category, name(), arguments());
  }
  ~Spanned() {
    if (machine_ == nullptr) return;
    std::lock_guard lock(machine_->mutex);
    machine_->trace->end(id_);
  }
  Spanned(const Spanned&) = delete;
  Spanned& operator=(const Spanned&) = delete;

 private:
  Machine* machine_;
  Trace::Id id_ = 0;
};

}  // namespace pld
