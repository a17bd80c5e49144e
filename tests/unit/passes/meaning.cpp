#include "unit/passes/meaning.h"

#include <stdexcept>

#include "unit/passes/golden.h"

namespace meaning {

namespace {

using pldc::dyn;

class Evaluator {
 public:
  Evaluator(const pldc::Program* program, int& steps) : program_(program), steps_(steps) {}

  Value run(const pldc::Function* f, const std::vector<Value>& arguments) {
    for (std::size_t i = 0; i < f->params.size(); ++i) values_[f->params[i].var] = arguments.at(i);
    return body(f->body) == Flow::Return ? result_ : Value{};
  }

 private:
  enum class Flow { Next, Return, Yield, Break, Continue };

  std::int64_t number(const pldc::Expr* e) { return eval(e).at(0); }

  Value eval(const pldc::Expr* e) {
    if (++steps_ > 2'000'000) throw std::runtime_error("it does not end");
    if (const auto* var = dyn<pldc::Var>(e)) {
      const auto found = values_.find(var);
      if (found == values_.end()) throw std::runtime_error("read of " + std::string(var->name.text()));
      return found->second;
    }
    if (const auto* constant = dyn<pldc::ConstInt>(e)) return {constant->value};
    if (const auto* constant = dyn<pldc::ConstBool>(e)) return {constant->value ? 1 : 0};
    if (const auto* unary = dyn<pldc::Unary>(e)) {
      const std::int64_t value = number(unary->operand);
      if (unary->op == pldc::UnaryOp::Not) return {value == 0 ? 1 : 0};
      if (unary->op == pldc::UnaryOp::Neg) return {-value};
    }
    if (const auto* binary = dyn<pldc::Binary>(e))
      return {operation(binary->op, number(binary->lhs), number(binary->rhs))};
    if (const auto* get = dyn<pldc::TupleGet>(e))
      return {eval(get->tuple).at(static_cast<std::size_t>(get->index))};
    if (const auto* call = dyn<pldc::Call>(e); call != nullptr && !call->is_op()) {
      std::vector<Value> arguments;
      for (const pldc::Expr* arg : call->args) arguments.push_back(eval(arg));
      const pldc::Function* callee = program_->find(call->function);
      if (callee == nullptr) throw std::runtime_error("call of nothing");
      return Evaluator(program_, steps_).run(callee, arguments);
    }
    throw std::runtime_error("unexpected expression");
  }

  static std::int64_t operation(pldc::BinaryOp op, std::int64_t lhs, std::int64_t rhs) {
    const auto a = static_cast<std::uint64_t>(lhs);
    const auto b = static_cast<std::uint64_t>(rhs);
    if (op == pldc::BinaryOp::Add) return static_cast<std::int64_t>(a + b);
    if (op == pldc::BinaryOp::Sub) return static_cast<std::int64_t>(a - b);
    if (op == pldc::BinaryOp::Mul) return static_cast<std::int64_t>(a * b);
    if (op == pldc::BinaryOp::Lt) return lhs < rhs ? 1 : 0;
    if (op == pldc::BinaryOp::Gt) return lhs > rhs ? 1 : 0;
    if (op == pldc::BinaryOp::And) return lhs != 0 && rhs != 0 ? 1 : 0;
    if (op == pldc::BinaryOp::Or) return lhs != 0 || rhs != 0 ? 1 : 0;
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
    const std::vector<Value> values = std::move(yielded_);
    yielded_.clear();
    for (std::size_t i = 0; i < to.size(); ++i) values_[to[i]] = values.at(i);
  }

  // A loop that is left carries what the iteration before has yielded.
  template <class Loop, class Continues>
  Flow loop(const Loop* s, Continues&& continues) {
    std::vector<const pldc::Var*> carries;
    std::vector<Value> current;
    for (const pldc::IterArg& arg : s->iter_args) {
      carries.push_back(arg.var);
      current.push_back(eval(arg.init));
    }
    for (;;) {
      for (std::size_t i = 0; i < carries.size(); ++i) values_[carries[i]] = current[i];
      if (!continues()) break;
      yielded_.clear();
      const Flow flow = body(s->body);
      if (flow == Flow::Return) return flow;
      if (flow == Flow::Break) break;
      if (flow != Flow::Continue && !carries.empty()) current = std::move(yielded_);
      yielded_.clear();
    }
    for (std::size_t i = 0; i < carries.size(); ++i) values_[s->return_vars[i]] = current.at(i);
    return Flow::Next;
  }

  Flow stmt(const pldc::Stmt* s) {
    if (const auto* assign = dyn<pldc::AssignStmt>(s)) {
      values_[assign->var] = eval(assign->value);
    } else if (const auto* eval_stmt = dyn<pldc::EvalStmt>(s)) {
      eval(eval_stmt->value);
    } else if (const auto* ret = dyn<pldc::ReturnStmt>(s)) {
      result_.clear();
      for (const pldc::Expr* value : ret->values) {
        const Value part = eval(value);
        result_.insert(result_.end(), part.begin(), part.end());
      }
      return Flow::Return;
    } else if (const auto* yield = dyn<pldc::YieldStmt>(s)) {
      std::vector<Value> values;
      for (const pldc::Expr* value : yield->values) values.push_back(eval(value));
      yielded_ = std::move(values);
      return Flow::Yield;
    } else if (s->kind == pldc::StmtKind::Break) {
      return Flow::Break;
    } else if (s->kind == pldc::StmtKind::Continue) {
      return Flow::Continue;
    } else if (const auto* branch = dyn<pldc::IfStmt>(s)) {
      const Flow flow = body(number(branch->condition) != 0 ? branch->then_body : branch->else_body);
      if (flow != Flow::Next && flow != Flow::Yield) return flow;
      take_yield(branch->return_vars);
    } else if (const auto* counted = dyn<pldc::ForStmt>(s)) {
      const std::int64_t stop = number(counted->stop);
      const std::int64_t step = number(counted->step);
      std::int64_t next = number(counted->start);
      return loop(counted, [&] {
        values_[counted->loop_var] = {next};
        const bool more = step > 0 ? next < stop : next > stop;
        next += step;
        return more;
      });
    } else if (const auto* loop_while = dyn<pldc::WhileStmt>(s)) {
      return loop(loop_while, [&] { return number(loop_while->condition) != 0; });
    } else if (const auto* scope = dyn<pldc::ScopeStmt>(s)) {
      return body(scope->body);
    }
    return Flow::Next;
  }

  const pldc::Program* program_;
  int& steps_;
  std::map<const pldc::Var*, Value> values_;
  std::vector<Value> yielded_;
  Value result_;
};

class Nest {
 public:
  Nest(unsigned seed, const NestOptions& options) : random_(seed), options_(options) {}

  std::string text() {
    std::string functions;
    for (int h = options_.helpers ? 2 : -1; h >= 0; --h) {
      helper_ = h;
      function("    @pl.function(type=pl.FunctionType.Inline)\n    def h" + std::to_string(h) +
               "(self, n: pl.Scalar[pl.INDEX], m: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:\n");
      functions += out_;
      out_.clear();
    }
    helper_ = options_.helpers ? -1 : 3;
    function(options_.kernel
                 ? "    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, "
                   "role=pl.Role.SubWorker)\n    def main(n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:\n"
                 : "    @pl.function\n    def main(self, n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:\n");
    return golden::program(functions + out_);
  }

 private:
  void function(const std::string& head) {
    out_ = head;
    for (const char* v : {"a", "b", "c", "d"}) assign(2, v, "n + " + std::to_string(pick(5)));
    body(2, helper_ >= 0 && helper_ < 3 ? 1 : 3);
    line(2, "return a + b * 3 + c * 5 + d * 7");
  }

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

  void plain(unsigned indent) {
    const char* ops[] = {" + ", " - ", " * "};
    if (helper_ < 2 && pick(3) == 0) {
      // Inline functions assign their parameters and change nothing here.
      const int callee = helper_ + 1 + static_cast<int>(pick(static_cast<unsigned>(2 - helper_)));
      assign(indent, variable(),
             "self.h" + std::to_string(callee) + "(" + operand() + ", " + operand() + ")");
    } else if (helper_ >= 0 && helper_ < 3 && pick(4) == 0) {
      assign(indent, pick(2) == 0 ? "m" : "n", variable() + ops[pick(3)] + "m");
    } else {
      assign(indent, variable(), variable() + ops[pick(3)] + operand());
    }
  }

  void statement(unsigned indent, unsigned depth) {
    const unsigned kind = depth == 0 ? 0 : pick(7);
    if (jumps_ > 0 && pick(4) == 0) {
      line(indent, "if " + variable() + " < " + operand() + ":");
      if (pick(2) == 0) plain(indent + 1);
      if (depth > 1 && pick(3) == 0) {
        line(indent + 1, "if " + variable() + " < " + operand() + ":");
        line(indent + 2, pick(2) == 0 ? "break" : "continue");
        plain(indent + 1);
      } else {
        line(indent + 1, pick(2) == 0 ? "break" : "continue");
      }
      if (pick(3) == 0) {
        line(indent, "else:");
        plain(indent + 1);
        if (pick(3) == 0) line(indent + 1, pick(2) == 0 ? "break" : "continue");
      }
    } else if (kind < 3) {
      plain(indent);
    } else if (kind < 5) {
      line(indent, "if " + variable() + " < " + operand() + ":");
      body(indent + 1, depth - 1);
      if (pick(2) == 0) {
        line(indent, "else:");
        body(indent + 1, depth - 1);
      }
    } else if (kind == 5) {
      counted(indent, depth);
    } else if (options_.levels && pick(2) == 0) {
      const char* levels[] = {"HOST", "CHIP, role=pl.Role.Orchestrator", "GLOBAL"};
      line(indent, std::string("with pl.at(level=pl.Level.") + levels[pick(3)] + "):");
      scope(indent + 1, depth - 1);
    } else if (options_.scopes && pick(2) == 0) {
      line(indent, "with pl.at(level=pl.Level.CORE_GROUP):");
      scope(indent + 1, depth - 1);
    } else {
      const std::string var = "w" + std::to_string(counter_++);
      assign(indent, var, "0");
      line(indent, "while " + var + " < " + std::to_string(pick(3)) + ":");
      assign(indent + 1, var, var + " + 1");
      loop(indent + 1, depth - 1, options_.jumps);
    }
  }

  void counted(unsigned indent, unsigned depth) {
    const std::string var = "i" + std::to_string(counter_++);
    const bool unroll = options_.unroll && pick(2) == 0;
    std::string range = std::to_string(pick(4));
    if (options_.unroll || options_.jumps) {
      const char* ranges[] = {"3", "1, 4", "0, 7, 3", "3, -1, -1", "5, 0, -2", "4, 4", "2, 5, -1"};
      range = ranges[pick(7)];
    }
    // The bound is read once, whatever the body does with the variable.
    if (options_.jumps && pick(4) == 0) range = variable();
    if (options_.jumps && range.size() == 1 && range[0] >= 'a') {
      assign(indent, range, "3");
    }
    line(indent, "for " + var + " in pl." + (unroll ? "unroll(" : "range(") +
                     (unroll && range[0] >= 'a' ? "3" : range) + "):");
    loops_.push_back(var);
    loop(indent + 1, depth - 1, options_.jumps && !unroll);
    loops_.pop_back();
  }
  void loop(unsigned indent, unsigned depth, bool jumps) {
    const int outer = jumps_;
    jumps_ = jumps ? 1 : 0;
    body(indent, depth);
    jumps_ = outer;
  }
  void scope(unsigned indent, unsigned depth) {
    const int outer = jumps_;
    jumps_ = 0;  // a scope that becomes a function is not left
    body(indent, depth);
    jumps_ = outer;
  }

  std::mt19937 random_;
  const NestOptions options_;
  std::string out_;
  std::vector<std::string> loops_;
  int counter_ = 0;
  int jumps_ = 0;   // whether a jump may stand here
  int helper_ = 3;  // which Inline function is written; -1: main with helpers, 3: main without
};

}  // namespace

Value evaluate(const pldc::Program* program, std::string_view function, const std::vector<Value>& arguments) {
  int steps = 0;
  for (const pldc::Function* f : program->functions) {
    if (f->name.text() == function) return Evaluator(program, steps).run(f, arguments);
  }
  throw std::runtime_error("no function of this name");
}

std::string random_program(unsigned seed, const NestOptions& options) { return Nest(seed, options).text(); }

}  // namespace meaning
