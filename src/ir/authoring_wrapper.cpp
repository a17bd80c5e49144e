// The collectives that make their own signal (passes.md 4.5): each becomes the host collective with a fresh
// window.
#include <string>

#include "ir/authoring.h"
#include "ir/describe.h"
#include "ir/rules.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

class Wrapper {
 public:
  Wrapper(Context& context, DiagSink& diags, const AuthoringCall& call, int& counter)
      : ctx_(context), diags_(diags), call_(call), counter_(counter) {}

  AuthoredWrapper build();

 private:
  bool bind(std::initializer_list<std::string_view> operands,
            std::initializer_list<std::string_view> options);
  const AuthoringArg* given(std::string_view name) const {
    for (const AuthoringKeyword& k : bound_) {
      if (k.name == name) return &k.arg;
    }
    return nullptr;
  }
  bool fail(Span where, const std::string& what) {
    diags_.report<diag::op_wrapper>(where, call_.name, what);
    return false;
  }
  std::optional<std::int64_t> ranks(bool required);
  std::optional<std::int64_t> reduce_op();
  const Expr* signal(const std::vector<const Expr*>& dims);
  const Expr* world_size();
  const Expr* number(std::int64_t value) { return ctx_.const_int(value, DType::INDEX, call_.span); }
  // The host collective with these arguments, the options as keywords.
  const Call* collective(std::string_view op, std::vector<const Expr*> args,
                         std::vector<AuthoringKeyword> keywords);

  Context& ctx_;
  DiagSink& diags_;
  const AuthoringCall& call_;
  int& counter_;
  std::vector<AuthoringKeyword> bound_;
  std::vector<const Stmt*> hoisted_;
};

// Arguments by position are the operands in order; everything else is by name.
bool Wrapper::bind(std::initializer_list<std::string_view> operands,
                   std::initializer_list<std::string_view> options) {
  if (call_.args.size() > operands.size()) {
    return fail(call_.args[operands.size()].span,
                fmt::format("takes {} operands by position, found {}", operands.size(), call_.args.size()));
  }
  for (std::size_t i = 0; i < call_.args.size(); ++i) {
    bound_.push_back({*(operands.begin() + i), call_.args[i].span, call_.args[i]});
  }
  std::vector<std::string_view> names(operands);
  names.insert(names.end(), options);
  for (const AuthoringKeyword& k : call_.keywords) {
    bool known = false;
    for (const std::string_view name : names) known = known || name == k.name;
    if (!known) {
      auto report = diags_.report<diag::op_keyword_unknown>(k.name_span.valid() ? k.name_span : call_.span,
                                                            "pld." + std::string(call_.name), k.name);
      const std::string_view guess = closest(k.name, names);
      if (!guess.empty()) report.help("did you mean '{}='?", guess);
      return false;
    }
    if (given(k.name) != nullptr) {
      diags_.report<diag::op_argument_twice>(k.name_span, "pld." + std::string(call_.name), k.name);
      return false;
    }
    bound_.push_back(k);
  }
  for (const std::string_view name : operands) {
    const AuthoringArg* arg = given(name);
    if (arg != nullptr && arg->expr != nullptr) continue;
    diags_.report<diag::op_operand_missing>(call_.span, "pld." + std::string(call_.name), name);
    return false;
  }
  return true;
}

std::optional<std::int64_t> Wrapper::ranks(bool required) {
  const AuthoringArg* arg = given("nranks");
  if (arg == nullptr || arg->none) {
    if (required) fail(call_.span, "needs nranks=, the number of ranks as a positive integer");
    return std::nullopt;
  }
  const auto value = arg->expr != nullptr ? const_int(arg->expr) : std::nullopt;
  if (!value || *value <= 0) {
    fail(arg->span,
         fmt::format("nranks must be a positive integer known when the program is written, found {}",
                     arg->expr != nullptr ? describe(arg->expr) : std::string("another value")));
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> Wrapper::reduce_op() {
  const AuthoringArg* arg = given("op");
  if (arg == nullptr || arg->none) return 0;
  AttrValue value;
  const Keyword* keyword = op_info(OpId::pld_tensor_allreduce).keyword("op");
  if (!read_keyword(diags_, OpId::pld_tensor_allreduce, *keyword, *arg, value)) return std::nullopt;
  return value.integer;
}

const Expr* Wrapper::world_size() {
  return ctx_.call(OpId::pld_system_world_size, {}, {}, {}, ctx_.scalar(DType::INT64), call_.span);
}

// A fresh window of INT32 cells: its allocation is hoisted, the view of it stands in the call.
const Expr* Wrapper::signal(const std::vector<const Expr*>& dims) {
  const std::string name = fmt::format("__auto_{}_{}", call_.name, counter_++);
  AuthoringCall allocate;
  allocate.pld = true;
  allocate.name = "alloc_window_buffer";
  allocate.span = allocate.name_span = call_.span;
  allocate.args.emplace_back(ctx_.make_tuple(ctx_.list(dims), call_.span));
  allocate.keywords.push_back(
      {"dtype", call_.span, AuthoringArg(AttrValue::of_dtype(DType::INT32), call_.span)});
  const Call* alloc = author_call(ctx_, diags_, allocate);
  if (alloc == nullptr) return nullptr;
  alloc = name_allocation(ctx_, alloc, name);
  const Var* buffer = ctx_.var(ctx_.name(name), alloc->type, call_.span);
  hoisted_.push_back(ctx_.assign(buffer, alloc, call_.span));
  const std::vector<Attr> kwargs{{ctx_.name("dtype"), AttrValue::of_dtype(DType::INT32)}};
  // Nodes are not shared between the two places: they may be changed apart.
  std::vector<const Expr*> extents;
  for (const Expr* dim : dims) extents.push_back(dim->kind == ExprKind::Call ? world_size() : dim);
  const Type* type = ctx_.tensor(TypeKind::DistributedTensor, DType::INT32, ctx_.list(extents));
  const std::vector<const Expr*> args{buffer, ctx_.make_tuple(ctx_.list(extents), call_.span)};
  return ctx_.call(OpId::pld_tensor_window, ctx_.list(args), ctx_.list(kwargs), {}, type, call_.span);
}

const Call* Wrapper::collective(std::string_view op, std::vector<const Expr*> args,
                                std::vector<AuthoringKeyword> keywords) {
  for (const Expr* arg : args) {
    if (arg == nullptr) return nullptr;
  }
  AuthoringCall call;
  call.pld = true;
  call.name = op;
  call.name_span = call_.name_span;
  call.span = call_.span;
  call.args.assign(args.begin(), args.end());
  call.keywords = std::move(keywords);
  call.attrs = call_.attrs;
  return author_call(ctx_, diags_, call);
}

AuthoredWrapper Wrapper::build() {
  const auto done = [&](const Call* call) {
    return call != nullptr ? AuthoredWrapper{hoisted_, call} : AuthoredWrapper{};
  };
  const auto keyword = [&](std::string_view name, AttrValue value) {
    return AuthoringKeyword{name, call_.span, AuthoringArg(value, call_.span)};
  };
  const auto operand = [&](std::string_view name) { return given(name)->expr; };
  if (call_.name == "all_reduce") {
    if (!bind({"target"}, {"op", "mode", "nranks"})) return {};
    const auto op = reduce_op();
    if (!op) return {};
    std::string_view mode = "mesh";
    if (const AuthoringArg* arg = given("mode"); arg != nullptr && !arg->none) {
      const bool text = arg->expr == nullptr && arg->value.kind == AttrKind::String;
      if (!text || (arg->value.text != "mesh" && arg->value.text != "ring")) {
        fail(arg->span,
             fmt::format("mode must be 'mesh' or 'ring', found {}",
                         text ? "'" + std::string(arg->value.text) + "'" : std::string("another value")));
        return {};
      }
      mode = arg->value.text;
    }
    std::vector<const Expr*> args{operand("target")};
    if (mode == "mesh") {
      if (const AuthoringArg* extra = given("nranks"); extra != nullptr && !extra->none) {
        fail(extra->span, "mode='mesh' takes no nranks: it works for any number of ranks");
        return {};
      }
    } else {
      const auto n = ranks(true);
      if (!n) return {};
      const auto* type = dyn<TensorType>(args[0]->type);
      if (*op != 0 || (type != nullptr && type->dtype != DType::FP32)) {
        fail(call_.span,
             fmt::format("mode='ring' on the host needs Sum and FP32, found {} and {}",
                         name_of(static_cast<ReduceOp>(*op)),
                         type != nullptr ? name_of(type->dtype) : std::string_view("an unknown dtype")));
        return {};
      }
      args.push_back(signal({number(2 * (*n - 1) + 1), number(*n)}));
    }
    return done(
        collective("tensor.allreduce", args,
                   {keyword("op", AttrValue::of_int(*op)), keyword("mode", AttrValue::of_string(mode))}));
  }
  if (call_.name == "all_gather") {
    if (!bind({"local", "target"}, {})) return {};
    return done(collective("tensor.allgather",
                           {operand("local"), operand("target"), signal({world_size(), number(1)})}, {}));
  }
  if (call_.name == "reduce_scatter") {
    if (!bind({"target"}, {"op"})) return {};
    const auto op = reduce_op();
    if (!op) return {};
    return done(collective("tensor.reduce_scatter", {operand("target"), signal({world_size()})},
                           {keyword("op", AttrValue::of_int(*op))}));
  }
  if (call_.name == "broadcast") {
    if (!bind({"target"}, {"root"})) return {};
    const AuthoringArg* root = given("root");
    if (root == nullptr) {
      diags_.report<diag::op_keyword_missing>(call_.span, "pld.broadcast", "root").help("add root=0");
      return {};
    }
    return done(collective("tensor.broadcast", {operand("target"), signal({world_size()})},
                           {AuthoringKeyword{"root", root->span, *root}}));
  }
  if (call_.name == "all_to_all") {
    if (!bind({"input", "target"}, {})) return {};
    return done(collective("tensor.all_to_all",
                           {operand("input"), operand("target"), signal({world_size(), number(1)})}, {}));
  }
  if (!bind({"input", "target", "send_counts", "recv_counts", "nranks"}, {})) return {};
  const auto n = ranks(true);
  if (!n) return {};
  return done(collective("tensor.all_to_all_v",
                         {operand("input"), operand("target"), signal({number(*n), number(1)}),
                          operand("send_counts"), operand("recv_counts")},
                         {}));
}

}  // namespace

AuthoredWrapper author_wrapper(Context& context, DiagSink& diags, const AuthoringCall& call, int& counter) {
  return Wrapper(context, diags, call, counter).build();
}

}  // namespace pldc
