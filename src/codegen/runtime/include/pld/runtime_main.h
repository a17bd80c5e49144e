// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// pld_main: binds parameters, runs, writes and compares. Included by launcher.cpp only.
#pragma once

#include "pld/fill.h"
#include "pld/main.h"
#include "pld/npy.h"
#include "pld/runtime_bound.h"
#include "pld/runtime_dims.h"
#include "pld/runtime_files.h"
#include "pld/runtime_options.h"
#include "pld/runtime_ranks.h"

namespace pld {
namespace {

struct Symbol {
  Text name;
  int64_t value;
  Text source;  // where the value comes from
};

// An axis of an input file that the rank indexes.
struct RankedAxis {
  const DimInfo* dim;
  int64_t extent;
  Text source;
};

class Program {
 public:
  Program(const ProgramInfo& program, const Options& options) : program_(program), options_(options) {}

  int run() {
    entry_ = &choose_entry();
    check_names();
    load_inputs();
    choose_ranks();
    bind_shapes();
    bind_scalars();
    execute();
    return finish();
  }

 private:
  Text where(const ParamInfo& p) const { return place_text(program_, p.place) + ": parameter " + p.name; }

  const EntryInfo& choose_entry() const {
    Text names;
    for (const EntryInfo& e : program_.entries) {
      if (e.name == options_.entry || (options_.entry.empty() && program_.entries.count == 1)) return e;
      names += Text(names.empty() ? "" : ", ") + e.name;
    }
    if (options_.entry.empty())
      throw Error("the program has several host functions, choose one with --entry: " + names);
    throw Error("the program has no host function " + options_.entry + "; it has " + names);
  }

  const ParamInfo& param(const Text& option, const Text& name) const {
    Text names;
    for (const ParamInfo& p : entry_->params) {
      if (name == p.name) return p;
      names += Text(names.empty() ? "" : ", ") + p.name;
    }
    throw Error(option + " " + name + ": " + entry_->name + " has no such parameter; it has " +
                (names.empty() ? "none" : names));
  }

  void check_names() const {
    for (size_t i = 0; i < options_.in.size(); ++i) {
      const ParamInfo& p = param("--in", options_.in[i].name);
      if (p.scalar) throw Error(where(p) + " is a scalar; give --scalar " + p.name + "=VALUE");
      if (p.dir == Dir::out) throw Error(where(p) + " is an output and starts as zeros; it takes no --in");
      for (size_t k = 0; k < i; ++k) {
        if (options_.in[k].name == options_.in[i].name)
          throw UsageError{"--in " + options_.in[i].name + " is given twice"};
      }
    }
    for (const NameFile& s : options_.scalars) {
      const ParamInfo& p = param("--scalar", s.name);
      if (!p.scalar) throw Error(where(p) + " is a tensor; give --in " + p.name + "=FILE.npy");
    }
    check_files(options_);
    for (const auto* list : {&options_.out, &options_.expect}) {
      const char* option = list == &options_.out ? "--out" : "--expect";
      for (const NameFile& n : *list) {
        const ParamInfo& p = param(option, n.name);
        if (p.scalar || p.dir == Dir::in)
          throw Error(where(p) + " is an input; " + option + " takes an output");
      }
    }
  }

  [[noreturn]] void mismatch(const ParamInfo& p, const Text& file, const npy::Values& a,
                             const Text& why) const {
    throw Error(where(p) + " takes " + type_text(p) + ", but " + file + " has " + npy::describe(a.descr) +
                " " + extents(a.shape) + why);
  }

  void check_array(const ParamInfo& p, const Text& file, const npy::Values& a) const {
    if (!npy::fits(a.descr, p.dtype)) mismatch(p, file, a, "");
    if (static_cast<int64_t>(a.shape.size()) != p.dims.count) {
      mismatch(p, file, a,
               text(": %zu axes, not %lld", a.shape.size(), static_cast<long long>(p.dims.count)));
    }
    for (int64_t i = 0; i < p.dims.count; ++i) {
      const int64_t e = a.shape[static_cast<size_t>(i)];
      if (p.dims[i].extent >= 0 && p.dims[i].extent != e) {
        mismatch(p, file, a,
                 text(": axis %lld is %lld, not %lld", static_cast<long long>(i), static_cast<long long>(e),
                      static_cast<long long>(p.dims[i].extent)));
      }
    }
  }

  Symbol* symbol(const Text& name) {
    for (Symbol& s : symbols_) {
      if (s.name == name) return &s;
    }
    return nullptr;
  }

  // Whether some axis of this very extent is indexed by the rank.
  bool is_ranked(const DimInfo& dim) const {
    for (const ParamInfo& p : entry_->params) {
      for (const DimInfo& d : p.dims) {
        if (d.per_rank && d.extent < 0 && std::strcmp(d.symbol, dim.symbol) == 0) return true;
      }
    }
    return false;
  }

  // The extents of the input files: first the symbols that stand alone, then the expressions, which have to agree.
  void bind_extents() {
    for (const bool alone : {true, false}) {
      for (const Bound& b : bound_) {
        for (int64_t i = 0; !b.file.empty() && i < b.info->dims.count; ++i) {
          const DimInfo& d = b.info->dims[i];
          if (d.extent >= 0) continue;
          const DimText dim(d.symbol);
          if ((dim.op == 0) != alone) continue;
          bind_extent(d, dim, b.shape[static_cast<size_t>(i)],
                      text("%s (%s)", b.file.c_str(), where(*b.info).c_str()));
        }
      }
    }
  }

  void bind_extent(const DimInfo& d, const DimText& dim, int64_t extent, const Text& source) {
    if (is_ranked(d)) ranked_.push_back({&d, extent, source});
    const long long e = static_cast<long long>(extent);
    const Symbol* known = symbol(dim.symbol);
    if (known == nullptr) {
      const int64_t value = dim.value(extent);
      if (value < 0)
        throw Error(
            text("dim %s is %lld in %s, which no %s gives", d.symbol, e, source.c_str(), dim.symbol.c_str()));
      symbols_.push_back({dim.symbol, value, source});
    } else if (dim.extent(known->value) != extent) {
      throw Error(text("dim %s is %lld in %s, but %s is %lld in %s", d.symbol, e, source.c_str(),
                       dim.symbol.c_str(), static_cast<long long>(known->value), known->source.c_str()));
    }
  }

  void load_inputs() {
    for (const ParamInfo& p : entry_->params) {
      if (p.scalar) continue;
      Bound b{&p, {}, {}, {}, {}};
      for (const NameFile& n : options_.in) {
        if (n.name != p.name) continue;
        npy::Values a = read_input(p, n.file, where(p), options_.ranks);
        check_array(p, n.file, a);
        b.file = n.file;
        b.shape = a.shape;
        b.initial = std::move(a.data);
      }
      bound_.push_back(std::move(b));
    }
    bind_extents();
    for (const Bound& b : bound_) {
      const ParamInfo& p = *b.info;
      if (!b.file.empty() || p.dir == Dir::out || options_.random) continue;
      throw Error(text("%s (%s) has no value; give --in %s=FILE.npy or --random", where(p).c_str(),
                       type_text(p).c_str(), p.name));
    }
  }

  // Rules of the command line for --ranks.
  void choose_ranks() {
    const ParamInfo* axis_param = nullptr;
    int64_t axis = -1;
    for (const ParamInfo& p : entry_->params) {
      for (const DimInfo& d : p.dims) {
        if (d.per_rank && d.extent >= 0 && (axis < 0 || d.extent < axis)) axis = d.extent, axis_param = &p;
      }
    }
    const RankedAxis* bound = nullptr;
    for (const RankedAxis& r : ranked_) {
      if (bound == nullptr || r.extent < bound->extent) bound = &r;
    }
    if (entry_->single_rank) {
      if (options_.ranks > 1)
        throw Error(Text(entry_->name) + " is not a host function: it runs on one rank");
      ranks_ = 1;
    } else if (options_.ranks > 0) {
      ranks_ = options_.ranks;
    } else if (entry_->max_device >= 0) {
      ranks_ = entry_->max_device + 1;
    } else if (axis > 0) {
      ranks_ = axis;
    } else if (bound != nullptr && bound->extent > 0) {
      ranks_ = bound->extent;
    }
    const Text at = place_text(program_, entry_->place) + ": " + entry_->name;
    if (ranks_ > kMaxRanks) {
      throw Error(at + text(" asks for %lld ranks, but at most %d can run", static_cast<long long>(ranks_),
                            kMaxRanks));
    }
    const Text have = text(" %lld rank%s", static_cast<long long>(ranks_), ranks_ == 1 ? "" : "s");
    if (entry_->max_device >= ranks_) {
      throw Error(at + text(" dispatches to device %lld, which", static_cast<long long>(entry_->max_device)) +
                  have + (ranks_ == 1 ? " does" : " do") + " not have; " +
                  (remote::enabled ? "start it with mpirun -n " : "give --ranks ") +
                  decimal(entry_->max_device + 1));
    }
    if (axis >= 0 && !entry_->single_rank) {
      const Text text_ = where(*axis_param) + " has an axis of " + decimal(axis) + " that the rank indexes;";
      if (ranks_ > axis) throw Error(text_ + have + " are too many");
      if (ranks_ < axis) warn(text_ + have + " use only a part of it");
    }
    if (bound != nullptr) {
      const Text text_ = text("dim %s is %lld in %s and is indexed by the rank;", bound->dim->symbol,
                              static_cast<long long>(bound->extent), bound->source.c_str());
      if (ranks_ > bound->extent) throw Error(text_ + have + " are too many");
      if (ranks_ < bound->extent) warn(text_ + have + " use only a part of it");
    }
    for (const RankCheck& c : entry_->rank_checks) {
      if (c.exact ? ranks_ == c.count : ranks_ <= c.count) continue;
      throw Error(place_text(program_, c.place) + ": the signal of " + c.collective + " serves " +
                  (c.exact ? "" : "at most ") + decimal(c.count) + " ranks, the run has" + have);
    }
  }

  void warn(const Text& message) const {
    if (speaks()) std::fprintf(stderr, "warning: %s\n", message.c_str());
  }

  void bind_shapes() {
    for (const bool ranked : {true, false}) {  // dims that no file gives
      for (const ParamInfo& p : entry_->params) {
        for (const DimInfo& d : p.dims) {
          if (d.extent >= 0 || is_ranked(d) != ranked) continue;
          const DimText dim(d.symbol);
          if (symbol(dim.symbol) != nullptr) continue;
          if (!ranked && !options_.random) {
            throw Error(text("%s: dim %s is given by no input; give an input that has it, or --random",
                             where(p).c_str(), d.symbol));
          }
          int64_t value = ranked ? ranks_ : 16;
          if (ranked) {  // the first value whose extent is enough
            value = dim.value(ranks_);
            if (value < 0) value = 0;
            for (int i = 0; i < kMaxRanks && dim.extent(value) < ranks_; ++i) ++value;
          }
          symbols_.push_back({dim.symbol, value, ranked ? "the rank count" : "--random"});
        }
      }
    }
    for (Bound& b : bound_) {
      const ParamInfo& p = *b.info;
      if (b.file.empty()) {
        for (const DimInfo& d : p.dims) {
          const DimText dim(d.extent >= 0 ? "" : d.symbol);
          const int64_t extent = d.extent >= 0 ? d.extent : dim.extent(symbol(dim.symbol)->value);
          if (extent < 0) throw Error(text("%s: dim %s is negative", where(p).c_str(), d.symbol));
          b.shape.push_back(extent);
        }
      }
      take_memory(where(p), b, [&](size_t bytes) {
        b.data = Array<unsigned char>::zeros(bytes);
        if (b.file.empty() && p.dir != Dir::out) fill_random(b);
      });
      Tensor t;
      t.data = b.data.data();
      t.dtype = p.dtype;
      t.name = p.name;
      if (b.shape.size() > 8) throw Error(where(p) + " has more than 8 axes");
      t.rank = static_cast<int>(b.shape.size());
      int64_t stride = 1;
      for (int i = t.rank; i-- > 0;) {
        t.shape[i] = b.shape[static_cast<size_t>(i)];
        t.strides[i] = stride;
        stride *= t.shape[i];
      }
      params_.bind(p.name, t);
    }
    for (const Symbol& s : symbols_) params_.bind_dim(s.name.c_str(), s.value);
  }

  void fill_random(Bound& b) const {
    const DType d = b.info->dtype;
    const Part part = part_here(*b.info, b.shape);
    b.initial.resize(part.bytes());
    const uint64_t stream = fill::stream(options_.seed, b.info->name);
    const size_t step = static_cast<size_t>(size_of(d)), row = part.inner / step;
    for (size_t i = 0; i * step < b.initial.size(); ++i) {
      const size_t at = (part.first + i / row * part.step) / step + i % row;
      fill::store(d, fill::value(d, stream, at), &b.initial[i * step]);
    }
  }

  // What the parameters hold when a run begins.
  void reset() {
    for (Bound& b : bound_) {
      const Part part = part_here(*b.info, b.shape);
      if (b.initial.empty()) {
        part.clear(b.data.data());
      } else {
        part.give(b.initial.data(), b.data.data());
      }
    }
  }

  void bind_scalars() {
    for (const ParamInfo& p : entry_->params) {
      if (!p.scalar) continue;
      bool given = false;
      for (const NameFile& n : options_.scalars) {
        if (n.name != p.name) continue;
        if (given) throw UsageError{"--scalar " + n.name + " is given twice"};
        given = true;
        params_.bind_bits(p.name, parse_scalar(p, n.file, where(p)));
      }
      if (given) continue;
      if (!options_.random) {
        throw Error(where(p) + " (" + type_text(p) + ") has no value; give --scalar " + p.name +
                    "=VALUE or --random");
      }
      uint64_t bits = 0;
      fill::store(p.dtype, fill::value(p.dtype, fill::stream(options_.seed, p.name), 0, true), &bits);
      params_.bind_bits(p.name, bits);
    }
  }

  void execute() {
    RunOptions o;
    o.ranks = ranks_;
    o.timeout_seconds = options_.timeout;
    o.check_signals = options_.check_signals;
    o.check_bounds = options_.check_bounds;
    o.check_races = options_.check_races;
    o.trace = !options_.trace.empty();
    o.seeded = options_.seeded;
    o.gather = false;
    for (const auto* list : {&options_.out, &options_.expect}) {
      for (const NameFile& n : *list) o.gather = o.gather || !names_rank(n.file);
    }
    Array<double> times;
    Owned<ThreadHost> host;
    for (int64_t i = 0; i < options_.repeat * options_.schedules; ++i) {
      o.seed = options_.order_seed + static_cast<uint64_t>(i % options_.schedules);
      // An order must not depend on the runs before.
      if (host == nullptr || options_.seeded) host.reset(new ThreadHost(program_, o));
      reset();
      const int64_t start = now_ns();
      try {
        host->run(*entry_, params_);
      } catch (const Error& e) {
        if constexpr (remote::enabled) {
          if (!host->abandoned()) {
            write_trace(*host);
            remote::abandon(e.what(), e.exit_code());
          }
        }
        const Text message = e.what() + (options_.seeded ? repeat_text(o.seed) : Text());
        if (!host->abandoned()) {
          write_trace(*host);
          throw Error(message, e.exit_code());
        }
        // A kernel still runs and uses memory that must not go away: say why and leave at once.
        std::fprintf(stderr, "error: %s%s\n", rank_text().c_str(), message.c_str());
        std::fflush(nullptr);
        std::_Exit(e.exit_code());
      }
      times.push_back(static_cast<double>(now_ns() - start) / 1e6);
      if (options_.schedules > 1) compare_orders(i, o.seed);
    }
    write_trace(*host);
    if (options_.timing && speaks()) {
      std::qsort(times.data(), times.size(), sizeof(double), [](const void* a, const void* b) {
        const double x = *static_cast<const double*>(a), y = *static_cast<const double*>(b);
        return x < y ? -1 : (x > y ? 1 : 0);
      });
      std::fprintf(stderr, "time of %zu runs: min %.3f ms, median %.3f ms, max %.3f ms\n", times.size(),
                   times.front(), (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2,
                   times.back());
    }
  }

  void write_trace(const ThreadHost& host) const {
    if (options_.trace.empty()) return;
    const Text trace = host.trace();
    if (options_.trace == "-") {
      std::fwrite(trace.c_str(), 1, trace.size(), stdout);
    } else {
      npy::write_file(own_file(options_.trace), trace);
    }
  }

  Text repeat_text(uint64_t seed) const {
    return text("\n  to see this order again: %s --schedule=seeded --seed=%llu", options_.invocation.c_str(),
                static_cast<unsigned long long>(seed));
  }

  // The results of all orders are those of the first one, to the bit.
  void compare_orders(int64_t number, uint64_t seed) {
    if (number == 0) {
      for (const Bound& b : bound_) {
        take_memory("a copy of " + Text(b.info->name), b, [&](size_t) { first_.push_back(b.data); });
      }
      return;
    }
    for (size_t k = 0; k < bound_.size(); ++k) {
      const Bound& b = bound_[k];
      if (b.info->dir == Dir::in || b.data == first_[k]) continue;
      const size_t step = static_cast<size_t>(size_of(b.info->dtype));
      size_t differences = 0, first = 0;
      for (size_t i = 0; i * step < b.data.size(); ++i) {
        if (std::memcmp(&b.data[i * step], &first_[k][i * step], step) == 0) continue;
        if (differences++ == 0) first = i;
      }
      throw Error(
          text("%s depends on the order of the ranks: %zu of %zu elements differ; first at [%s]: %s with "
               "seed %llu, %s with seed %llu\n  the other order: %s --schedule=seeded --seed=%llu",
               b.info->name, differences, b.data.size() / step, index_text(b, first).c_str(),
               value_text(b.info->dtype, &first_[k][first * step]).c_str(),
               static_cast<unsigned long long>(options_.order_seed),
               value_text(b.info->dtype, &b.data[first * step]).c_str(),
               static_cast<unsigned long long>(seed), options_.invocation.c_str(),
               static_cast<unsigned long long>(options_.order_seed)) +
              repeat_text(seed),
          4);
    }
  }

  const Bound& output(const Text& name) const {
    for (const Bound& b : bound_) {
      if (name == b.info->name) return b;
    }
    throw Error("no parameter " + name);
  }

  // Calls `use` for each file that this process writes or compares, with what goes there: all of the parameter, which is
  // up to the first process, or the part of one rank.
  template <class Use>
  void each_file(const NameFile& n, const Use& use) const {
    const Bound& all = output(n.name);
    if (!names_rank(n.file)) {
      if (speaks()) use(all, n.file);
      return;
    }
    for (int64_t r = first_own(); r < behind_own(ranks_); ++r)
      use(part_of(all, r, where(*all.info), n.file), file_of_rank(n.file, r));
  }

  // Returns whether the values agree; the first difference and the number of differences go to stderr.
  bool compare(const Bound& b, const Text& file, bool whole) const {
    const ParamInfo& p = *b.info;
    npy::Values want = npy::read(file);
    if (whole) {
      check_array(p, file, want);
    } else {
      check_part(p, rank_axis(p, where(p), file), where(p), file, want, nullptr);
    }
    if (!npy::fits(want.descr, p.dtype) || want.shape != b.shape)
      mismatch(p, file, want, "; the run gave " + extents(b.shape));
    const size_t step = static_cast<size_t>(size_of(p.dtype));
    size_t differences = 0, first = 0;
    double worst = 0;
    for (size_t i = 0; i * step < b.data.size(); ++i) {
      const void* x = &b.data[i * step];
      const void* y = &want.data[i * step];
      if (std::memcmp(x, y, step) == 0) continue;
      if (fill::is_float(p.dtype)) {
        const double g = fill::load(p.dtype, x), w = fill::load(p.dtype, y);
        if (g == w || (__builtin_isnan(g) && __builtin_isnan(w))) continue;
        const double difference = __builtin_fabs(g - w);
        if (__builtin_isfinite(g) && __builtin_isfinite(w) &&
            difference <= options_.atol + options_.rtol * __builtin_fabs(w))
          continue;
        const double off = __builtin_isnan(difference) ? __builtin_inf() : difference;
        if (off > worst) worst = off;
      }
      if (differences++ == 0) first = i;
    }
    if (differences == 0) return true;
    std::fprintf(stderr,
                 "error: %s differs from %s in %zu of %zu elements; first at [%s]: got %.9g, want %.9g",
                 p.name, file.c_str(), differences, b.data.size() / step, index_text(b, first).c_str(),
                 fill::load(p.dtype, &b.data[first * step]), fill::load(p.dtype, &want.data[first * step]));
    if (worst > 0) std::fprintf(stderr, "; largest difference %.3g", worst);
    std::fputc('\n', stderr);
    return false;
  }

  int finish() const {
    bool same = true;
    for (const NameFile& n : options_.expect) {
      each_file(
          n, [&](const Bound& b, const Text& file) { same = compare(b, file, !names_rank(n.file)) && same; });
    }
    for (const NameFile& n : options_.out) {
      each_file(n, [&](const Bound& b, const Text& file) {
        if (file == "-") return print(b);
        npy::write(file, b.info->dtype, b.shape, b.data.data(), static_cast<int64_t>(b.data.size()));
      });
    }
    if (std::fflush(stdout) != 0) throw Error("standard output cannot be written");
    return same ? 0 : 4;
  }

  const ProgramInfo& program_;
  const Options& options_;
  const EntryInfo* entry_ = nullptr;
  int64_t ranks_ = 2;
  Array<Bound> bound_;
  Array<Symbol> symbols_;
  Array<RankedAxis> ranked_;
  Array<Array<unsigned char>> first_;  // of every parameter after the first order
  Params params_;
};

}  // namespace
}  // namespace pld

int pld_main(int argc, char** argv, const pld::ProgramInfo& program) {
  pld::Text message;
  int code = 0;
  const auto failed = [&](const char* what, int exit_code) {
    message = what;
    code = exit_code;
  };
  try {
    if constexpr (pld::remote::enabled) pld::remote::join(argc, argv, program);
    pld::Options options = pld::parse_options(argc, argv);
    if (options.invocation.empty()) options.invocation = pld::own_invocation(argc, argv);
#ifdef PLD_TARGET_MPI
    pld::use_processes(options);
#endif
    if (options.help) {
      if (pld::speaks()) pld::print_help(program);
    } else {
      code = pld::Program(program, options).run();
    }
  } catch (const pld::UsageError& e) {
    failed((e.text + "\nSee " + (pld::called_by_pldc(argc, argv) ? "pldc run" : program.name) + " --help.")
               .c_str(),
           2);
  } catch (const pld::Error& e) {
    failed(e.what(), e.exit_code());
  } catch (const std::bad_alloc&) {
    failed("no memory", 1);
  }
  if constexpr (pld::remote::enabled) return pld::remote::leave(message, code);
  if (!message.empty()) std::fprintf(stderr, "error: %s\n", message.c_str());
  return code;
}
