// Findings of the verifiers that no text can show, because the reader refuses it: programs built node by
// node.
#include "ir/context.h"
#include "passes/verify/verifiers.h"
#include "support/catch.h"

using namespace pldc;
using Catch::Matchers::Contains;

namespace pldc {
const Program* run_ConvertToSSA(PassEnv&, const Program*);
}

namespace {

// One function `main` of one program.
struct Build {
  Context ctx;
  std::vector<Param> params;
  std::vector<const Stmt*> body;
  FuncType type = FuncType::Opaque;
  List<const Type*> returns;

  const Type* index() { return ctx.scalar(DType::INDEX); }
  const Type* tensor(std::int64_t rows, DType dtype = DType::FP32) {
    return ctx.tensor(TypeKind::Tensor, dtype,
                      ctx.list<const Expr*>({ctx.const_int(rows), ctx.const_int(64)}));
  }
  const Var* var(std::string_view name, const Type* t, bool carry = false) {
    return ctx.var(ctx.name(name), t, {1, 2}, carry);
  }
  const Var* param(std::string_view name, const Type* t, ParamDirection direction = ParamDirection::In) {
    params.push_back({var(name, t), direction, {1, 2}});
    return params.back().var;
  }
  Body list(std::vector<const Stmt*> stmts) { return ctx.list(stmts); }
  List<const Expr*> exprs(std::vector<const Expr*> values) { return ctx.list(values); }

  const ForStmt* loop(std::vector<IterArg> carries, std::vector<const Var*> results, Body inner) {
    ForStmt s{};
    s.kind = StmtKind::For;
    s.span = {1, 2};
    s.loop_var = var("i", index());
    s.start = ctx.const_int(0);
    s.stop = ctx.const_int(4);
    s.step = ctx.const_int(1);
    s.iter_args = ctx.list(carries);
    s.return_vars = ctx.list(results);
    s.body = inner;
    return ctx.make(s);
  }

  const Program* program() {
    Function f{};
    f.name = ctx.name("main");
    f.span = f.name_span = {1, 2};
    f.params = ctx.list(params);
    f.return_types = returns;
    f.body = ctx.list(body);
    f.func_type = type;
    Program p{};
    p.name = ctx.name("P");
    p.functions = ctx.list<const Function*>({ctx.make(f)});
    return ctx.make(p);
  }

  std::string errors(void (*verifier)(const Program*, DiagSink&)) {
    DiagSink diags;
    verifier(program(), diags);
    std::string out;
    for (const Diagnostic& d : diags.take()) out += diag_code(*d.kind) + " " + d.message + "\n";
    return out;
  }
  std::string conversion_errors() {
    DiagSink diags;
    const PassOptionValues options;
    PassEnv env{ctx, diags, options};
    const Program* out = run_ConvertToSSA(env, program());
    std::string text = out == nullptr ? "" : "accepted\n";
    for (const Diagnostic& d : diags.take()) text += diag_code(*d.kind) + " " + d.message + "\n";
    return text;
  }
};

}  // namespace

TEST_CASE("verify SSAForm: loops that shadow, lose or miscount values") {
  Build b;
  const Var* n = b.param("n", b.index());
  const Var* a = b.var("a", b.index(), true);
  const Var* r = b.var("r", b.index());
  const Var* r2 = b.var("r2", b.index());

  b.body = {b.loop({{a, n}}, {r}, b.list({}))};
  CHECK_THAT(b.errors(verify_SSAForm),
             Contains("PLD0603 the loop has 1 results, but its body does not end with"));
  b.body = {b.loop({{a, n}}, {r, r2}, b.list({b.ctx.yield(b.exprs({a, a}), {1, 2})}))};
  CHECK_THAT(b.errors(verify_SSAForm), Contains("PLD0619 loop: 1 values meet 2 results"));
  b.body = {b.loop({{a, n}}, {r}, b.list({b.ctx.yield(b.exprs({a, a}), {1, 2})}))};
  CHECK_THAT(b.errors(verify_SSAForm),
             Contains("PLD0605 pl.yield_ gives 2 values, but the loop has 1 results"));
  b.body = {b.loop({{n, n}}, {r}, b.list({b.ctx.yield(b.exprs({n}), {1, 2})}))};
  CHECK_THAT(b.errors(verify_SSAForm), Contains("PLD0601 'n' is defined twice"));
}

TEST_CASE("verify TypeChecked: counts, ranks, valid extents, pads and windows") {
  Build b;
  const Var* x = b.param("x", b.tensor(16));
  const Var* a = b.var("a", b.tensor(16), true);
  const Var* r = b.var("r", b.tensor(16));
  b.body = {b.loop({{a, x}}, {}, b.list({b.ctx.yield(b.exprs({a}), {1, 2})}))};
  CHECK_THAT(b.errors(verify_TypeChecked), Contains("PLD0619 loop: 1 values meet 0 results"));

  const auto yields = [&](const Type* t) {
    const Var* y = b.param("y", t);
    b.body = {b.loop({{a, x}}, {r}, b.list({b.ctx.yield(b.exprs({y}), {1, 2})}))};
    return b.errors(verify_TypeChecked);
  };
  CHECK_THAT(yields(b.ctx.tensor(TypeKind::Tensor, DType::FP32, b.exprs({b.ctx.const_int(64)}))),
             Contains("PLD0613 loop: the carry 'a' has 2 dimensions, but the yielded value 'y' has 1"));
  TensorView view;
  const auto* plain = static_cast<const TensorType*>(b.tensor(16));
  view.valid_shape = b.exprs({b.ctx.const_int(8), b.ctx.const_int(64)});
  CHECK_THAT(yields(b.ctx.tensor(TypeKind::Tensor, DType::FP32, plain->shape, &view)), Contains("PLD0615"));
  view.valid_shape = {};
  view.pad = PadValue::Zero;
  CHECK_THAT(yields(b.ctx.tensor(TypeKind::Tensor, DType::FP32, plain->shape, &view)), Contains("PLD0616"));

  const auto window = [&](std::string_view name) {
    const Var* base = b.var(name, b.ctx.simple(TypeKind::Ptr));
    return b.ctx.tensor(TypeKind::DistributedTensor, DType::FP32, plain->shape, nullptr, nullptr, base);
  };
  const Var* w = b.param("w", window("one"));
  const Var* carry = b.var("c", w->type, true);
  const Var* result = b.var("d", w->type);
  const Var* other = b.param("v", window("two"));
  b.body = {b.loop({{carry, w}}, {result}, b.list({b.ctx.yield(b.exprs({other}), {1, 2})}))};
  CHECK_THAT(b.errors(verify_TypeChecked),
             Contains("PLD0620") && Contains("refer to different window buffers"));
}

TEST_CASE("verify: uses without definition, yields in the middle") {
  Build b;
  const Var* n = b.param("n", b.index());
  const Var* lost = b.var("lost", b.ctx.unknown());
  const Var* later = b.var("later", b.index());
  const Var* a = b.var("a", b.index());
  b.body = {b.ctx.assign(a, b.ctx.binary(BinaryOp::Add, lost, n), {1, 2})};
  CHECK_THAT(b.errors(verify_UseAfterDef), Contains("PLD0641 'lost' is read, but nothing before"));
  b.body = {b.ctx.assign(a, later, {1, 2}), b.ctx.assign(later, n, {3, 4})};
  CHECK_THAT(b.errors(verify_UseAfterDef), Contains("PLD0641 'later'"));
  const Stmt* yield = b.ctx.yield(b.exprs({n}), {1, 2});
  b.body = {b.loop({}, {}, b.list({yield, b.ctx.assign(a, n, {3, 4})}))};
  CHECK_THAT(b.errors(verify_NoRedundantBlocks), Contains("PLD0643"));
  CHECK_THAT(b.errors(verify_NormalizedStmtStructure), Contains("PLD0643"));
}

TEST_CASE("verify: manual dependencies, missing callees, missing returns") {
  Build b;
  const Var* t = b.param("t", b.ctx.scalar(DType::TASK_ID));
  const Attr deps{b.ctx.name("manual_dep_edges"), AttrValue::of_vars(b.ctx.list<const Var*>({t}))};
  const Name callee = b.ctx.name("gone");
  const Call* call = b.ctx.call(callee, {}, {}, b.ctx.list<Attr>({deps}), b.ctx.unknown(), {1, 2});
  b.body = {b.ctx.eval(call, {1, 2})};
  CHECK_THAT(b.errors(verify_ManualDepsOnSubmitOnly), Contains("PLD0650 the call of 'gone'"));
  CHECK_THAT(b.errors(verify_InlineFunctionsEliminated), Contains("PLD0657 this calls 'gone'"));
  b.type = FuncType::Orchestration;
  CHECK_THAT(b.errors(verify_OrchestrationReferencesResolved),
             Contains("PLD0658 the orchestration 'main' calls 'gone'"));

  Submit submit{};
  submit.kind = ExprKind::Submit;
  submit.span = {1, 2};
  submit.type = b.ctx.unknown();
  submit.function = callee;
  submit.attrs = b.ctx.list<Attr>({deps});
  b.body = {b.ctx.eval(b.ctx.make(submit), {1, 2})};
  CHECK_THAT(b.errors(verify_ManualDepsOnSubmitOnly), Contains("PLD0651 the submit of 'gone'"));

  b.type = FuncType::InCore;
  b.returns = b.ctx.list<const Type*>({b.tensor(16)});
  b.body = {};
  CHECK_THAT(b.errors(verify_ReturnParamsExplicit), Contains("PLD0666 'main' declares a result"));
}

TEST_CASE("SSA: yields that stand wrongly, give other numbers of values or are missing") {
  Build b;
  const Var* n = b.param("n", b.index());
  const Var* a = b.var("a", b.index(), true);
  const Var* r = b.var("r", b.index());
  const Var* k = b.var("k", b.index());
  const Stmt* yield = b.ctx.yield(b.exprs({a}), {1, 2});
  b.body = {b.loop({{a, n}}, {r}, b.list({yield, b.ctx.assign(k, n, {3, 4})}))};
  CHECK_THAT(b.conversion_errors(), Contains("PLD0503 pl.yield_ must be the last statement"));
  b.body = {b.loop({{a, n}}, {r}, b.list({b.ctx.yield(b.exprs({a, n}), {1, 2})}))};
  CHECK_THAT(b.conversion_errors(),
             Contains("PLD0504 this loop has 1 results, but this pl.yield_ gives 2 values"));
  b.body = {b.loop({{a, n}}, {r}, b.list({}))};
  CHECK_THAT(b.conversion_errors(),
             Contains("PLD0505 this loop has 1 results, but its body does not end with"));
}

TEST_CASE("SSA: a variable that a text marks as undefined is refused") {
  Build b;
  const Var* n = b.param("n", b.index());
  const Var* lost = b.var("lost", b.ctx.unknown());
  b.body = {b.ctx.assign(b.var("a", b.index()), b.ctx.binary(BinaryOp::Add, lost, n), {1, 2})};
  CHECK_THAT(b.conversion_errors(), Contains("PLD0501 'lost' has no value here"));
}
