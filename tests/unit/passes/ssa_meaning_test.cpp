// ConvertToSSA and FlattenCallExpr keep the meaning of programs: random nests of assignments, ifs and loops
// on integers give the same results before and after, and what comes out is in SSA form.
#include <functional>
#include <map>
#include <optional>
#include <random>

#include "passes/verify/verifiers.h"
#include "support/catch.h"
#include "unit/passes/golden.h"

namespace pldc {
const Program* run_ConvertToSSA(PassEnv&, const Program*);
const Program* run_FlattenCallExpr(PassEnv&, const Program*);
}  // namespace pldc

namespace {

using pldc::dyn;

// Runs a function on integers, step by step, as its text reads.
class Evaluator {
 public:
  explicit Evaluator(const pldc::Function* f) : function_(f) {}

  std::optional<std::int64_t> run(const std::vector<std::int64_t>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) values_[function_->params[i].var] = arguments[i];
    return body(function_->body) == Flow::Return ? std::optional(result_) : std::nullopt;
  }

 private:
  enum class Flow { Next, Return, Yield };

  std::int64_t eval(const pldc::Expr* e) {
    if (const auto* var = dyn<pldc::Var>(e)) {
      const auto found = values_.find(var);
      if (found == values_.end()) throw std::runtime_error("read of " + std::string(var->name.text()));
      return found->second;
    }
    if (const auto* constant = dyn<pldc::ConstInt>(e)) return constant->value;
    const auto* binary = dyn<pldc::Binary>(e);
    if (binary == nullptr) throw std::runtime_error("unexpected expression");
    const auto a = static_cast<std::uint64_t>(eval(binary->lhs));
    const auto b = static_cast<std::uint64_t>(eval(binary->rhs));
    if (binary->op == pldc::BinaryOp::Add) return static_cast<std::int64_t>(a + b);
    if (binary->op == pldc::BinaryOp::Sub) return static_cast<std::int64_t>(a - b);
    if (binary->op == pldc::BinaryOp::Mul) return static_cast<std::int64_t>(a * b);
    if (binary->op == pldc::BinaryOp::Lt)
      return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) ? 1 : 0;
    throw std::runtime_error("unexpected operator");
  }

  Flow body(pldc::Body list) {
    for (const pldc::Stmt* s : list) {
      const Flow flow = stmt(s);
      if (flow != Flow::Next) return flow;
    }
    return Flow::Next;
  }

  void take_yield(pldc::List<const pldc::Var*> to) {
    const std::vector<std::int64_t> values = std::move(yielded_);
    yielded_.clear();
    for (std::size_t i = 0; i < to.size(); ++i) values_[to[i]] = values.at(i);
  }

  template <class Loop, class Continues>
  Flow loop(const Loop* s, Continues&& continues) {
    std::vector<const pldc::Var*> carries;
    std::vector<std::int64_t> current;
    for (const pldc::IterArg& arg : s->iter_args) {
      carries.push_back(arg.var);
      current.push_back(eval(arg.init));
    }
    for (;;) {
      for (std::size_t i = 0; i < carries.size(); ++i) values_[carries[i]] = current[i];
      if (!continues()) break;
      const Flow flow = body(s->body);
      if (flow == Flow::Return) return flow;
      if (!carries.empty()) current = std::move(yielded_);
      yielded_.clear();
    }
    for (std::size_t i = 0; i < carries.size(); ++i) values_[s->return_vars[i]] = current.at(i);
    return Flow::Next;
  }

  Flow stmt(const pldc::Stmt* s) {
    if (const auto* assign = dyn<pldc::AssignStmt>(s)) {
      values_[assign->var] = eval(assign->value);
    } else if (const auto* ret = dyn<pldc::ReturnStmt>(s)) {
      result_ = eval(ret->values[0]);
      return Flow::Return;
    } else if (const auto* yield = dyn<pldc::YieldStmt>(s)) {
      yielded_.clear();
      for (const pldc::Expr* value : yield->values) yielded_.push_back(eval(value));
      return Flow::Yield;
    } else if (const auto* branch = dyn<pldc::IfStmt>(s)) {
      const Flow flow = body(eval(branch->condition) != 0 ? branch->then_body : branch->else_body);
      if (flow == Flow::Return) return flow;
      take_yield(branch->return_vars);
    } else if (const auto* counted = dyn<pldc::ForStmt>(s)) {
      const std::int64_t stop = eval(counted->stop);
      std::int64_t next = eval(counted->start);
      return loop(counted, [&] {
        values_[counted->loop_var] = next;
        return next++ < stop;
      });
    } else if (const auto* loop_while = dyn<pldc::WhileStmt>(s)) {
      return loop(loop_while, [&] { return eval(loop_while->condition) != 0; });
    } else if (const auto* scope = dyn<pldc::ScopeStmt>(s)) {
      return body(scope->body);
    }
    return Flow::Next;
  }

  const pldc::Function* function_;
  std::map<const pldc::Var*, std::int64_t> values_;
  std::vector<std::int64_t> yielded_;
  std::int64_t result_ = 0;
};

// Text of a random nest. The variables a to d are set at the start; x and y get values here and there only.
class Nest {
 public:
  explicit Nest(unsigned seed) : random_(seed) {}

  std::string text() {
    out_ = golden::program(
        "    @pl.function\n    def main(self, n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:\n");
    for (const char* v : {"a", "b", "c", "d"}) assign(2, v, "n + " + std::to_string(pick(5)));
    body(2, 3);
    line(2, "return a + b * 3 + c * 5 + d * 7");
    return out_;
  }

 private:
  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }
  std::string variable() { return std::string(1, static_cast<char>('a' + pick(4))); }
  std::string operand() {
    if (!loops_.empty() && pick(4) == 0) return loops_[pick(static_cast<unsigned>(loops_.size()))];
    return pick(4) == 0 ? std::to_string(pick(9)) : variable();
  }
  void line(unsigned indent, const std::string& text) { out_ += std::string(indent * 4, ' ') + text + "\n"; }
  void assign(unsigned indent, const std::string& target, const std::string& value) {
    line(indent, target + ": pl.Scalar[pl.INDEX] = " + value);
  }

  void body(unsigned indent, unsigned depth) {
    const unsigned count = 1 + pick(3);
    for (unsigned i = 0; i < count; ++i) statement(indent, depth);
  }

  void statement(unsigned indent, unsigned depth) {
    const unsigned kind = depth == 0 ? 0 : pick(7);
    if (kind < 3) {
      const char* ops[] = {" + ", " - ", " * "};
      assign(indent, variable(), variable() + ops[pick(3)] + operand());
    } else if (kind < 5) {
      line(indent, "if " + variable() + " < " + operand() + ":");
      body(indent + 1, depth - 1);
      if (pick(2) == 0) {
        line(indent, "else:");
        body(indent + 1, depth - 1);
      }
    } else if (kind == 5) {
      const std::string var = "i" + std::to_string(counter_++);
      line(indent, "for " + var + " in pl.range(" + std::to_string(pick(4)) + "):");
      loops_.push_back(var);
      body(indent + 1, depth - 1);
      loops_.pop_back();
    } else if (pick(2) == 0) {
      line(indent, "with pl.at(level=pl.Level.CORE_GROUP):");
      body(indent + 1, depth - 1);
    } else {
      const std::string var = "w" + std::to_string(counter_++);
      assign(indent, var, "0");
      line(indent, "while " + var + " < " + std::to_string(pick(3)) + ":");
      body(indent + 1, depth - 1);
      assign(indent + 1, var, var + " + 1");
    }
  }

  std::mt19937 random_;
  std::string out_;
  std::vector<std::string> loops_;
  int counter_ = 0;
};

}  // namespace

TEST_CASE("SSA and flatten keep the meaning of random nests") {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const std::string text = Nest(seed).text();
    pldc::SourceManager sources;
    pldc::Context context;
    pldc::DiagSink diags;
    const pldc::Module module = pldc::parse(*sources.add("nest.pld", text), context, diags);
    const pldc::PassOptionValues options;
    pldc::PassEnv env{context, diags, options};
    const pldc::Program* ssa =
        module.program != nullptr ? pldc::run_ConvertToSSA(env, module.program) : nullptr;
    const pldc::Program* flat = ssa != nullptr ? pldc::run_FlattenCallExpr(env, ssa) : nullptr;
    if (flat != nullptr) {
      for (const golden::Verifier verifier :
           {pldc::verify_SSAForm, pldc::verify_UseAfterDef, pldc::verify_TypeChecked}) {
        verifier(flat, diags);
      }
    }
    INFO(text);
    INFO(pldc::render(diags.all(), sources, {}));
    REQUIRE(flat != nullptr);
    REQUIRE_FALSE(diags.has_errors());
    for (const std::int64_t n : {0, 3, -4}) {
      const auto before = Evaluator(module.program->functions[0]).run({n});
      const auto after = Evaluator(flat->functions[0]).run({n});
      REQUIRE(before == after);
    }
  }
}
