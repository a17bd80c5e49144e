// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Options of a built program. Included by launcher.cpp only.
#pragma once
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "pld/host.h"
#include "pld/text.h"

namespace pld {
namespace {

// A wrong command line: exit code 2.
struct UsageError {
  Text text;
};

struct NameFile {
  Text name;
  Text file;
};

struct Options {
  int64_t ranks = 0;  // 0: by the program and the inputs
  Array<NameFile> in;
  Array<NameFile> scalars;
  Array<NameFile> out;
  Array<NameFile> expect;
  double rtol = 1e-5;
  double atol = 1e-8;
  bool random = false;
  uint64_t seed = 0;
  int64_t repeat = 1;
  bool timing = false;
  double timeout = 60;
  bool check_signals = false;
  bool check_bounds = false;
  bool check_races = false;
  bool seeded = false;
  uint64_t order_seed = 0;
  int64_t schedules = 1;
  Text trace;       // a file
  Text invocation;  // the command to repeat in messages; empty: this program's own
  Text entry;
  bool help = false;
};

double parse_number(const Text& option, const Text& value, double low) {
  char* end = nullptr;
  errno = 0;
  const double x = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != 0 || !(x >= low) || x > 1e15) {
    throw UsageError{option + " takes a number of at least " + text("%g", low) + ", not '" + value + "'"};
  }
  return x;
}

bool is_integer(const Text& value, long long& x) {
  char* end = nullptr;
  errno = 0;
  x = std::strtoll(value.c_str(), &end, 10);
  return !value.empty() && *end == 0 && errno == 0;
}

int64_t parse_integer(const Text& option, const Text& value, int64_t low) {
  long long x = 0;
  if (!is_integer(value, x) || x < low) {
    throw UsageError{option + text(" takes an integer of at least %lld, not '", static_cast<long long>(low)) +
                     value + "'"};
  }
  return x;
}

// A thread each; a communication domain has at most 64 of them (abi.h), so more than a few hundred are a slip.
inline constexpr int kMaxRanks = 1024;

int64_t parse_ranks(const Text& option, const Text& value) {
  long long x = 0;
  if (!is_integer(value, x) || x < 1 || x > kMaxRanks) {
    throw UsageError{option + ": '" + value + text("' is no whole number from 1 to %d", kMaxRanks)};
  }
  return x;
}

NameFile parse_name_file(const Text& option, const Text& value, const char* form) {
  const size_t eq = value.find('=');
  if (eq == Text::npos || eq == 0 || eq + 1 == value.size()) {
    throw UsageError{option + " takes " + form + ", not '" + value + "'"};
  }
  return {value.substr(0, eq), value.substr(eq + 1)};
}

void parse_checks(const Text& value, Options& o) {
  size_t at = 0;
  for (;;) {
    const size_t end = value.find(',', at);
    const Text name = value.substr(at, end == Text::npos ? end : end - at);
    if (name == "signals") {
      o.check_signals = true;
    } else if (name == "bounds") {
      o.check_bounds = true;
    } else if (name == "races") {
      o.check_races = true;
    } else {
      throw UsageError{"--check takes races, signals and bounds, not '" + name + "'"};
    }
    if (end == Text::npos) return;
    at = end + 1;
  }
}

Options parse_options(int argc, char** argv) {
  Options o;
  const char* order = nullptr;
  for (int i = 1; i < argc; ++i) {
    Text option = argv[i];
    if (option == "--help" || option == "-h") {
      o.help = true;
      return o;
    }
    if (!option.starts_with("--")) throw UsageError{"unexpected argument '" + option + "'"};
    bool has_value = false;
    Text value;
    const size_t eq = option.find('=');
    if (eq != Text::npos) {
      has_value = true;
      value = option.substr(eq + 1);
      option.resize(eq);
    }
    const auto need = [&]() -> const Text& {
      if (!has_value) {
        if (i + 1 >= argc) throw UsageError{option + " takes a value"};
        value = argv[++i];
        has_value = true;
      }
      if (value.empty()) throw UsageError{option + " is given an empty value"};
      return value;
    };
    if (option == "--ranks") {
      o.ranks = parse_ranks(option, need());
    } else if (option == "--in") {
      o.in.push_back(parse_name_file(option, need(), "NAME=FILE.npy"));
    } else if (option == "--scalar") {
      o.scalars.push_back(parse_name_file(option, need(), "NAME=VALUE"));
    } else if (option == "--out") {
      o.out.push_back(parse_name_file(option, need(), "NAME=FILE.npy or NAME=-"));
    } else if (option == "--expect") {
      o.expect.push_back(parse_name_file(option, need(), "NAME=FILE.npy"));
    } else if (option == "--rtol") {
      o.rtol = parse_number(option, need(), 0);
    } else if (option == "--atol") {
      o.atol = parse_number(option, need(), 0);
    } else if (option == "--random") {
      o.random = true;
      if (has_value) o.seed = static_cast<uint64_t>(parse_integer(option, value, 0));
    } else if (option == "--repeat") {
      o.repeat = parse_integer(option, need(), 1);
      o.timing = true;
    } else if (option == "--timeout") {
      o.timeout = parse_number(option, need(), 0);
    } else if (option == "--check") {
      parse_checks(need(), o);
    } else if (option == "--entry") {
      o.entry = need();
    } else if (option == "--schedule") {
      if (need() != "threads" && value != "seeded")
        throw UsageError{"--schedule takes threads or seeded, not '" + value + "'"};
      o.seeded = value == "seeded";
    } else if (option == "--seed") {
      o.order_seed = static_cast<uint64_t>(parse_integer(option, need(), 0));
      order = "--seed";
    } else if (option == "--schedules") {
      o.schedules = parse_integer(option, need(), 1);
      order = "--schedules";
    } else if (option == "--trace") {
      o.trace = need();
      if (o.trace.empty()) throw UsageError{"--trace takes a file"};
    } else if (option == "--invocation") {
      o.invocation = need();
    } else {
      throw UsageError{"unknown option " + option};
    }
  }
  if (order != nullptr && !o.seeded) {
    throw UsageError{Text(order) +
                     " is about --schedule=seeded: threads run in the order that the machine gives"};
  }
  return o;
}

// `pldc run` says how it was called itself.
bool called_by_pldc(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (Text(argv[i]).starts_with("--invocation")) return true;
  }
  return false;
}

// The command line without what a message about one order adds itself.
Text own_invocation(int argc, char** argv) {
  Text all = argv[0];
  for (int i = 1; i < argc; ++i) {
    const Text word = argv[i];
    const Text option = word.substr(0, word.find('='));
    if (option == "--schedule" || option == "--seed" || option == "--schedules") {
      if (option == word) ++i;
      continue;
    }
    all += " " + word;
  }
  return all;
}

Text place_text(const ProgramInfo& program, Place p) {
  return p.line > 0 ? text("%s:%d:%d", program.source, p.line, p.column) : Text(program.source);
}

Text type_text(const ParamInfo& p) {
  Text s = name_of(p.dtype);
  if (p.scalar) return s;
  s += " [";
  for (int64_t i = 0; i < p.dims.count; ++i) {
    if (i != 0) s += ", ";
    s += p.dims[i].extent < 0 ? Text(p.dims[i].symbol) : decimal(p.dims[i].extent);
  }
  return s + "]";
}

void print_help(const ProgramInfo& program) {
  std::printf("Usage: %s [options]\n\nRuns %s on simulated ranks, one thread each.\n\nParameters:\n",
              program.name, program.source);
  for (const EntryInfo& e : program.entries) {
    std::printf("  %s\n", e.name);
    for (const ParamInfo& p : e.params) {
      static const char* const kDirs[] = {"in", "out", "inout"};
      std::printf("    %-16s %-6s %s%s\n", p.name, kDirs[static_cast<int>(p.dir)], p.scalar ? "scalar " : "",
                  type_text(p).c_str());
    }
  }
  std::printf(
      "\nOptions:\n"
      "  --ranks N                  ranks; default: by the program and the inputs, else 2\n"
      "  --in NAME=FILE.npy         value of an in or inout tensor\n"
      "  --scalar NAME=VALUE        value of a scalar\n"
      "  --random[=SEED]            fill what is not given: floats multiples of 1/8 in [-2, 2], integers 0 "
      "to 7, BOOL 0 or 1,\n"
      "                             scalars at least 1; a free dynamic dim is the rank count or 16\n"
      "  --out NAME=FILE.npy        write an out or inout tensor; NAME=- prints it\n"
      "  --expect NAME=FILE.npy     compare an out or inout tensor: |got - want| <= atol + rtol * |want|\n"
      "                             {rank} in FILE: a file for each rank, of its part; - in --in, --expect: "
      "standard input\n"
      "  --rtol X, --atol X         tolerances for floats (1e-5, 1e-8); integers are compared exactly\n"
      "  --repeat N                 run N times, windows and outputs reset each time; times on stderr\n"
      "  --timeout SECONDS          end a run that takes longer (60; 0: never)\n"
      "  --check=WHAT               races: accesses to windows are ordered by signals; signals: those of "
      "collectives are zero at\n"
      "                             the end; bounds: accesses stay inside of tensors and windows (with "
      "commas)\n"
      "  --schedule=threads|seeded  a thread for each rank, or all on one thread in an order drawn from a "
      "seed\n"
      "  --seed S --schedules K     the seeds S (0) to S + K - 1 (1): all results must agree bit for bit\n"
      "  --trace FILE.json          what every rank did when, for Perfetto or about:tracing; - prints it\n"
      "  --entry=NAME               which host function\n"
      "  --help                     this text\n"
      "\nExit code: 0 fine, 1 wrong input, 2 wrong command line, 4 deadlock, timeout, failed check or "
      "difference.\n");
}

}  // namespace
}  // namespace pld
