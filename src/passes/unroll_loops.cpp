// UnrollLoops (2): replaces each pl.unroll loop by copies of its body, one for each value of the loop variable. Runs
// before SSA, so the copies assign the same variables again and need no carries.
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/control_flow/jumps.h"
#include "passes/pass.h"
#include "passes/statement.h"
#include "support/check.h"
#include "support/diag/pass.h"

namespace pldc {

namespace {

constexpr std::int64_t kMaxTrips = 1024;
// Loops in loops multiply; a program of this many statements is no longer one that somebody meant to write.
constexpr std::int64_t kMaxStatements = 200'000;

const ForStmt* as_unroll(const Stmt* s) {
  const auto* loop = dyn<ForStmt>(s);
  return loop != nullptr && loop->for_kind == ForKind::Unroll ? loop : nullptr;
}

std::optional<std::int64_t> constant(const Expr* e) {
  if (const auto* negative = dyn<Unary>(e); negative != nullptr && negative->op == UnaryOp::Neg) {
    const auto value = const_int(negative->operand);
    return value && *value != INT64_MIN ? std::optional(-*value) : std::nullopt;
  }
  return const_int(e);
}

// ceil((stop - start) / step), in numbers that cannot overflow; 0 if the range is empty.
std::uint64_t trip_count(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const auto distance = step > 0 ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
                                 : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
  const auto stride =
      step > 0 ? static_cast<std::uint64_t>(step) : std::uint64_t{0} - static_cast<std::uint64_t>(step);
  return (distance - 1) / stride + 1;
}

class Unroller : public Rewriter {
 public:
  explicit Unroller(PassEnv& env) : Rewriter(env.ir), diags_(env.diags) {}

  const Function* function(const Function* f) override {
    if (!fits(f)) return f;
    return Rewriter::function(f);
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const ForStmt* loop = as_unroll(s);
    if (loop == nullptr) {
      Rewriter::stmt(s, out);
      return;
    }
    const std::size_t first = out.size();
    const Trips trips = *trips_of(loop, nullptr);
    ++copies_;
    for (std::uint64_t i = 0; i < trips.count; ++i) {
      // Modulo 2^64, in which the sums on the way to a value in range may pass the range.
      const auto value = static_cast<std::int64_t>(static_cast<std::uint64_t>(trips.start) +
                                                   i * static_cast<std::uint64_t>(trips.step));
      substitute(loop->loop_var, ctx().const_int(value, DType::INDEX, loop->loop_var->span));
      for (const Stmt* inner : loop->body) stmt(inner, out);
    }
    --copies_;
    forget(loop->loop_var);
    if (!loop->comments.empty() && out.size() > first) out[first] = commented(loop->comments, out[first]);
  }

  // Each copy of a loop needs carries of its own: a carry belongs to one loop.
  const Var* define(const Var* v) override {
    if (copies_ == 0 || !v->is_iter_arg) return Rewriter::define(v);
    const Var* fresh = ctx().var_like(v, type(v->type));
    substitute(v, fresh);
    return fresh;
  }

 private:
  struct Trips {
    std::int64_t start;
    std::int64_t step;
    std::uint64_t count;
  };

  // Null if the loop cannot be unrolled; why is reported to `diags` unless that is null.
  std::optional<Trips> trips_of(const ForStmt* loop, DiagSink* diags) {
    const auto place = [&](const Expr* e) {
      return e->span.valid() && dyn<Var>(e) == nullptr ? e->span : loop->span;
    };
    Trips trips{};
    const auto read = [&](const Expr* e, std::string_view which, std::int64_t& value) {
      if (const auto number = constant(e)) {
        value = *number;
        return true;
      }
      if (diags != nullptr) {
        diags->report<diag::unroll_not_constant>(place(e), which)
            .help("write a number, or use pl.range, whose bounds may be computed");
      }
      return false;
    };
    std::int64_t stop = 0;
    const bool start_known = read(loop->start, "start", trips.start);
    const bool stop_known = read(loop->stop, "stop", stop);
    const bool step_known = read(loop->step, "step", trips.step);
    if (!start_known || !stop_known || !step_known) return std::nullopt;
    if (trips.step == 0) {
      if (diags != nullptr) diags->report<diag::loop_step_zero>(place(loop->step));
      return std::nullopt;
    }
    trips.count = trip_count(trips.start, stop, trips.step);
    if (trips.count <= kMaxTrips) return trips;
    if (diags != nullptr) {
      diags->report<diag::unroll_too_long>(loop->span, trips.count, kMaxTrips)
          .help("reduce the range, or use pl.range");
    }
    return std::nullopt;
  }

  bool fits(const Function* f) {
    const std::uint32_t errors = diags_.error_count();
    reported_ = false;
    size_of(f->body);
    return diags_.error_count() == errors;
  }

  // The number of statements that the body becomes.
  std::int64_t size_of(Body body) {
    std::int64_t size = 0;
    for (const Stmt* s : body) {
      std::int64_t inner = 1;
      for_each_body(s, [&](Body b) { inner += size_of(b); });
      if (const ForStmt* loop = as_unroll(s)) inner = size_of_unrolled(loop, inner);
      size += inner;
      if (size > kMaxStatements && !reported_) {
        diags_.report<diag::unroll_too_large>(s->span, kMaxStatements)
            .help("use pl.range for the inner or the outer loops");
        reported_ = true;
      }
      if (size > kMaxStatements) size = kMaxStatements + 1;
    }
    return size;
  }
  std::int64_t size_of_unrolled(const ForStmt* loop, std::int64_t body) {
    const auto trips = trips_of(loop, &diags_);
    PLDC_CHECK(loop->iter_args.empty(), "the reader refuses unrolled loops that carry values");
    if (has_jump(loop->body)) {
      diags_.report<diag::unroll_with_jump>(loop->span)
          .help("use pl.range, or put the rest of the body into an if");
    }
    return trips ? static_cast<std::int64_t>(trips->count) * body : body;
  }

  const Stmt* commented(List<std::string_view> comments, const Stmt* s) {
    std::vector<std::string_view> all(comments.begin(), comments.end());
    all.insert(all.end(), s->comments.begin(), s->comments.end());
    return with_comments(ctx(), s, ctx().list(all));
  }

  DiagSink& diags_;
  int copies_ = 0;  // unrolled loops around the statement at hand
  bool reported_ = false;
};

}  // namespace

const Program* run_UnrollLoops(PassEnv& env, const Program* program) {
  const std::uint32_t errors = env.diags.error_count();
  const Program* out = Unroller(env).program(program);
  return env.diags.error_count() == errors ? out : nullptr;
}

}  // namespace pldc
