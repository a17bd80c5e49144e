// The kernel function as a whole, and its straight-line statements.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/device/body.h"
#include "ir/walk.h"
#include "support/check.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

bool is_word_character(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Whether the line reads the variable: comments and assignments to it do not count.
bool reads(std::string_view line, std::string_view name) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos || line.substr(begin, 2) == "//") return false;
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at > 0 && is_word_character(line[at - 1])) continue;
    if (end < line.size() && is_word_character(line[end])) continue;
    if (at == begin && line.substr(end, 3) == " = ") continue;
    if (end < line.size() && line[end] == '[') {  // a cell of an array
      const std::size_t close = line.find(']', end);
      if (close != std::string_view::npos && line.substr(close + 1, 3) == " = ") continue;
    }
    return true;
  }
  return false;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    out.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string direction_text(ParamDirection direction) {
  switch (direction) {
    case ParamDirection::In:
      return "in";
    case ParamDirection::Out:
      return "out";
    case ParamDirection::InOut:
      return "inout";
  }
  return {};
}

}  // namespace

KernelBody::KernelBody(const KernelEnv& kernel_env, const Function& function)
    : env(kernel_env),
      kernel(function),
      scalars(
          kernel_env.diags, [this](const Var* var) { return scalar_name(var); },
          [this](const Call* call) {
            bool reads_memory = false;
            return scalar_call(*this, OpCall{call, nullptr}, reads_memory);
          }) {
  for (std::size_t s = 0; s < std::size(kMemSpaceNames); ++s) {
    own_[s] = scratch_[s] = env.placement.used(static_cast<MemSpace>(s));
  }
  names_.reserve("args");
}

// ---- text -------------------------------------------------------------------------------------------------------

void KernelBody::operation(const Var* result, const Expr* value, Span span) {
  span_ = span;
  const auto* made = dyn<Call>(value);
  operation_ = made != nullptr && made->is_op() ? op_info(made->op).name : std::string_view("this value");
  due_comment_ = short_form(result, value);
  std::copy(std::begin(own_), std::end(own_), std::begin(scratch_));
}

void KernelBody::flush() {
  if (due_comment_.empty()) return;
  const std::string comment = std::move(due_comment_);
  due_comment_.clear();
  body_.line();
  body_.comment(comment);
  line_directive(span_);
}

void KernelBody::line_directive(Span span) {
  if (!env.options.line_map) return;
  const LineColumn at = env.places.at(span);
  if (at.line != 0) body_.raw(fmt::format("#line {} {}", at.line, cpp_string(env.places.file())));
}

void KernelBody::line(std::string_view text) {
  flush();
  at_barrier_ = false;
  body_.line(text);
}

void KernelBody::statement(const std::string& text) {
  flush();
  at_barrier_ = false;
  std::size_t room = kCppColumns - static_cast<std::size_t>(body_.depth()) * 2;
  std::string_view rest = text;
  std::string indent;
  while (rest.size() + indent.size() > room) {
    const std::size_t comma = rest.rfind(", ", room - indent.size() - 1);
    const std::size_t open = rest.rfind('(', room - indent.size() - 1);
    std::size_t cut = comma != std::string_view::npos ? comma + 1 : std::string_view::npos;
    if (cut == std::string_view::npos && open != std::string_view::npos && open > 0) cut = open + 1;
    if (cut == std::string_view::npos || cut < 8) break;
    body_.line(indent + std::string(rest.substr(0, cut)));
    rest.remove_prefix(cut);
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    indent = "    ";
  }
  body_.line(indent + std::string(rest));
}

void KernelBody::place(bool always) {
  flush();
  const LineColumn at = env.places.at(span_);
  if (at.line == 0 || (!always && at.line == line_)) return;
  line_ = at.line;
  body_.line(fmt::format("PLD_LOC({});", at.line));
}

void KernelBody::issue(Pipe pipe, const Touch& touch, const std::string& text) {
  place();
  check_path(pipe, touch);
  std::vector<Region> reads;
  std::vector<Region> writes;
  for (const TileRef& t : touch.reads) reads.push_back(region_of(t));
  for (const TileRef& t : touch.writes) writes.push_back(region_of(t));
  if (touch.reads_global) reads.emplace_back();
  if (touch.writes_global) writes.emplace_back();
  for (const std::string& flag : sync_.before(pipe, reads, writes)) body_.line(flag);
  statement(text);
}

void KernelBody::barrier() {
  if (!at_barrier_) {
    flush();
    body_.line("pipe_barrier(PIPE_ALL);");
  }
  sync_.barrier();
  at_barrier_ = true;
}

void KernelBody::alone(const std::string& text) {
  barrier();
  statement(text);
  barrier();
}

void KernelBody::open(std::string_view head) {
  flush();
  at_barrier_ = false;
  body_.open(head);
  names_.push();
  ++block_depth_;
}

void KernelBody::close() {
  body_.close();
  names_.pop();
  --block_depth_;
  at_barrier_ = false;
}

// ---- scalars ----------------------------------------------------------------------------------------------------

std::string KernelBody::scalar_name(const Var* var) {
  const std::string& name = names_.of(var);
  if (!name.empty()) return name;
  // In types of printed texts a scalar of the body may stand as a symbol of the same name.
  const auto same = by_name_.find(var->name.text());
  if (same != by_name_.end()) return names_.of(same->second);
  fail();  // reported by ScalarText
  return {};
}

Extent KernelBody::index(const Expr* expr) {
  if (const auto value = fold(expr)) return Extent(*value);
  return Extent(scalars.index_operand(expr), known_divisor(expr));
}

std::optional<std::int64_t> KernelBody::fold(const Expr* expr) {
  if (const auto value = const_int(expr)) return value;
  if (const auto* cast = dyn<Cast>(expr)) return is_int(dtype_of(cast)) ? fold(cast->operand) : std::nullopt;
  const auto* binary = dyn<Binary>(expr);
  if (binary == nullptr) return std::nullopt;
  const auto a = fold(binary->lhs);
  const auto b = fold(binary->rhs);
  if (!a || !b) return std::nullopt;
  std::int64_t out = 0;
  if (binary->op == BinaryOp::Add && !__builtin_add_overflow(*a, *b, &out)) return out;
  if (binary->op == BinaryOp::Sub && !__builtin_sub_overflow(*a, *b, &out)) return out;
  if (binary->op == BinaryOp::Mul && !__builtin_mul_overflow(*a, *b, &out)) return out;
  if (binary->op == BinaryOp::Min) return std::min(*a, *b);
  if (binary->op == BinaryOp::Max) return std::max(*a, *b);
  return std::nullopt;
}

void KernelBody::define_scalar(const Var* result, const std::string& value) {
  if (result == nullptr) {
    statement(fmt::format("static_cast<void>({});", value));
    return;
  }
  const std::string_view type = cpp_scalar_type(scalar_dtype(result->type).value_or(DType::INDEX));
  if (type.empty()) {
    env.diags
        .report<diag::kernel_dtype>(result->span, plain_name(result->name.text()),
                                    name_of(scalar_dtype(result->type).value_or(DType::INDEX)))
        .help("cast it to FP32");
    fail();
    return;
  }
  const std::string name = names_.declare(result);
  by_name_[result->name.text()] = result;
  statement(fmt::format("{}const {} {} = {};", marked(name), type, name, value));
}

// Marked declarations of variables that nothing reads get an attribute, so that compilers are content.
std::string KernelBody::finish_text(const std::string& text) {
  const std::vector<std::string_view> lines = lines_of(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const std::size_t mark = line.find(kMark);
    if (mark == std::string_view::npos) {
      out += line;
      continue;
    }
    const std::size_t end = line.find(kMark, mark + 1);
    const std::string_view name = line.substr(mark + 1, end - mark - 1);
    bool used = false;
    for (std::size_t k = i + 1; k < lines.size() && !used; ++k) {  // to the end of the block
      const std::size_t indent = lines[k].find_first_not_of(' ');
      if (indent < mark && lines[k][indent] == '}') break;
      used = reads(lines[k], name);
    }
    out.append(line.substr(0, mark));
    if (!used) out += "[[maybe_unused]] ";
    out.append(line.substr(end + 1));
  }
  return out;
}

std::string KernelBody::marked(const std::string& name) { return kMark + name + kMark; }

// ---- the function -----------------------------------------------------------------------------------------------

void KernelBody::prepare(Body body) {
  walk_stmts(body, [&](const Stmt* stmt) {
    for_each_def(stmt, [&](const Var* var) { definitions_[var] = stmt; });
    for_each_expr(stmt, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        if (const auto* var = dyn<Var>(e)) ++uses_[var];
      });
    });
    const auto* assign = dyn<AssignStmt>(stmt);
    const auto* get = assign != nullptr ? dyn<TupleGet>(assign->value) : nullptr;
    const auto* tuple = get != nullptr ? dyn<Var>(get->tuple) : nullptr;
    if (tuple != nullptr) tuple_parts_[tuple].emplace(static_cast<std::size_t>(get->index), assign->var);
  });
}

int KernelBody::use_count(const Var* var) const {
  const auto found = uses_.find(var);
  return found != uses_.end() ? found->second : 0;
}

const Var* KernelBody::tuple_part(const Var* var, std::size_t index) const {
  const auto found = tuple_parts_.find(var);
  if (found == tuple_parts_.end()) return nullptr;
  const auto part = found->second.find(index);
  return part != found->second.end() ? part->second : nullptr;
}

void KernelBody::prologue(CppText& out, std::string_view below) {
  std::string arguments;
  for (const AbiParam& param : env.signature.params) {
    if (!arguments.empty()) arguments += ", ";
    arguments += names_.of(param.param->var);
    if (param.kind == ParamKind::Tensor)
      arguments += fmt::format(" ({})", direction_text(param.param->direction));
  }
  const std::string core = kernel.func_type == FuncType::AIC   ? "AIC"
                           : kernel.func_type == FuncType::AIV ? "AIV"
                                                               : "InCore";
  out.comment(fmt::format("Kernel {} of chip {} ({}). {}.", env.kernel, env.chip,
                          env.places.describe(kernel.name_span), core));
  out.line("#include \"pld/kernel.h\"");
  out.line();
  out.line("using namespace pto;");
  out.line();
  out.comment(fmt::format("args: {}", arguments.empty() ? "none" : arguments));
  const std::vector<std::string_view> code = lines_of(below);
  const auto used = [&](const std::string& name) {
    return std::any_of(code.begin(), code.end(), [&](std::string_view text) { return reads(text, name); });
  };
  std::vector<std::string> lines;
  for (const AbiParam& param : env.signature.params) {
    const Var* var = param.param->var;
    const std::string& name = names_.of(var);
    if (!used(name)) continue;
    if (param.kind == ParamKind::Tensor) {
      const auto* type = static_cast<const TensorType*>(var->type);
      const std::string_view element = cpp_memory_type(type->dtype);
      lines.push_back(
          fmt::format("__gm__ {}* {} = pld_arg<{}>(args, {});", element, name, element, param.index));
    } else if (param.kind == ParamKind::Scalar) {
      const std::string_view type = cpp_scalar_type(*scalar_dtype(var->type));
      lines.push_back(fmt::format("const {} {} = pld_scalar<{}>(args, {});", type, name, type,
                                  env.signature.tensors + param.index));
    } else {
      lines.push_back(fmt::format("__gm__ CommContext* {} = pld_ctx(args, {});", name,
                                  env.signature.tensors + param.index));
    }
  }
  for (const SymbolSource& symbol : env.signature.symbols) {
    const std::string& name = names_.of(symbol.symbol);
    if (!used(name)) continue;
    lines.push_back(
        fmt::format("const int64_t {} = pld_dim(args, {}, {});", name, symbol.tensor, symbol.axis));
  }
  const bool idle = lines.empty() && !used("args");
  out.open(fmt::format("extern \"C\" __aicore__ void kernel_entry({}__gm__ int64_t* args)",
                       idle ? "[[maybe_unused]] " : ""));
  for (const std::string& text : lines) out.line(text);
  if (!lines.empty()) out.line();
}

bool KernelBody::run(KernelText& out) {
  errors_ = env.diags.error_count();
  for (const AbiParam& param : env.signature.params) {
    const auto* type = dyn<TensorType>(param.param->var->type);
    const DType dtype =
        type != nullptr ? type->dtype : scalar_dtype(param.param->var->type).value_or(DType::INDEX);
    const std::string_view name = type != nullptr ? cpp_memory_type(dtype) : cpp_scalar_type(dtype);
    if (name.empty() || dtype == DType::TASK_ID) {
      env.diags
          .report<diag::kernel_dtype>(param.param->type_span, names_.of(param.param->var), name_of(dtype))
          .help("use a dtype that the tile library has: FP32, FP16, BF16, INT8 to UINT64, BOOL");
    }
  }
  bind_parameters();
  prepare(kernel.body);
  // The body first: what it uses decides what is unpacked and declared above it.
  CppText head;
  body_.open("");
  declarations_.open("");
  epilogue_.open("");
  statements(kernel.body);
  if (env.diags.error_count() != errors_) return false;
  PLDC_CHECK(!failed_, "the text of a kernel could not be completed, and nothing was reported");
  const auto inside = [](std::string text) {  // without the line that opened the block
    const std::size_t end = text.find('\n');
    return end == std::string::npos ? std::string() : text.substr(end + 1);
  };
  const std::string declarations = inside(declarations_.take());
  const std::string epilogue = inside(epilogue_.take());
  std::string below = declarations;
  if (!declarations.empty()) below += '\n';
  below += inside(body_.take()) + epilogue;
  if (!at_barrier_ || !epilogue.empty()) below += "  pipe_barrier(PIPE_ALL);\n";
  below += "}\n";
  below = finish_text(with_large_memories(below));
  prologue(head, below);
  out.cube = cube_.value_or(false);
  out.text = head.take();
  if (out.text.ends_with("\n\n") && below.starts_with('\n')) below.erase(0, 1);
  out.text += below;
  return true;
}

const std::string& KernelBody::deferred_waits() {
  if (!deferred_waits_.empty()) return deferred_waits_;
  deferred_waits_ = names_.fresh("deferred_waits");
  names_.reserve(deferred_waits_);
  declarations_.line(fmt::format("pld_deferred_waits {};", deferred_waits_));
  epilogue_.line();
  epilogue_.line("pipe_barrier(PIPE_ALL);");
  epilogue_.line(fmt::format("{}.wait();", deferred_waits_));
  return deferred_waits_;
}

// ---- statements -------------------------------------------------------------------------------------------------

void KernelBody::statements(Body body) {
  for (const Stmt* stmt : body) {
    if (env.diags.full()) return;
    statement(stmt);
  }
}

void KernelBody::statement(const Stmt* stmt) {
  switch (stmt->kind) {
    case StmtKind::Assign: {
      const auto* assign_stmt = static_cast<const AssignStmt*>(stmt);
      assign(assign_stmt->var, assign_stmt->value, stmt);
      return;
    }
    case StmtKind::Eval: {
      const Expr* value = static_cast<const EvalStmt*>(stmt)->value;
      if (const auto* c = dyn<Call>(value)) call(c, nullptr, stmt->span);
      return;
    }
    case StmtKind::Return:
      if (!at_top_level()) {
        barrier();
        line("return;");
      }
      return;
    case StmtKind::Yield:
      span_ = stmt->span;
      std::copy(std::begin(own_), std::end(own_), std::begin(scratch_));
      yield(static_cast<const YieldStmt*>(stmt)->values);
      return;
    case StmtKind::Break:
      leave("break;");
      return;
    case StmtKind::Continue:
      leave("continue;");
      return;
    case StmtKind::If:
      branch(static_cast<const IfStmt*>(stmt));
      return;
    case StmtKind::For:
      loop(static_cast<const ForStmt*>(stmt));
      return;
    case StmtKind::While:
      loop(static_cast<const WhileStmt*>(stmt));
      return;
    case StmtKind::Scope: {
      const auto* scope = static_cast<const ScopeStmt*>(stmt);
      if (scope->scope == ScopeKind::Runtime || scope->scope == ScopeKind::InCore) {
        statements(scope->body);
        return;
      }
      env.diags.report<diag::kernel_scope>(stmt->span, kernel.name.text())
          .help("run the passes up to ExpandMixedKernel first");
      return;
    }
    case StmtKind::Inline:
      env.diags.report<diag::kernel_scope>(stmt->span, kernel.name.text())
          .help("foreign text can only stand in a host sub-worker");
      return;
  }
}

void KernelBody::assign(const Var* var, const Expr* value, const Stmt* stmt) {
  if (const auto* get = dyn<TupleGet>(value)) {
    const auto* tuple = dyn<Var>(get->tuple);
    const auto known = tuple != nullptr ? tuples_.find(tuple) : tuples_.end();
    if (known != tuples_.end() && static_cast<std::size_t>(get->index) < known->second.size()) {
      value = known->second[static_cast<std::size_t>(get->index)];
    } else if (tiles_.count(var) != 0) {
      return;  // bound where the tuple was made
    }
  }
  if (const auto* tuple = dyn<MakeTuple>(value)) {
    tuples_[var] = tuple->elements;
    return;
  }
  if (const auto* c = dyn<Call>(value)) {
    call(c, var, stmt->span);
    return;
  }
  if (dyn<ScalarType>(var->type) != nullptr) {
    line_directive(stmt->span);
    define_scalar(var, scalars.as(value, scalar_dtype(var->type).value_or(DType::INDEX)));
    return;
  }
  if (const auto* source = dyn<Var>(value)) {
    operation(var, value, stmt->span);
    assign_alias(var, source, stmt->span);
    due_comment_.clear();
    return;
  }
  env.diags.report<diag::kernel_op>(value->span, "this value");
}

void KernelBody::assign_alias(const Var* var, const Var* source, Span span) {
  if (const auto* type = dyn<TileType>(var->type)) {
    const TileRef from = tile(source);
    const TilePlace* place_of = env.placement.find(var);
    const TilePlace* from_place = env.placement.find(source);
    const bool same = place_of == nullptr || from_place == nullptr ||
                      (place_of->space == from_place->space && place_of->address == from_place->address &&
                       place_of->offset == from_place->offset);
    // What lies inside of a wider tile keeps the distance between its rows under every name.
    TileForm form = form_of(type, from.form.space);
    form.rows = from.form.rows;
    form.cols = from.form.cols;
    form.pad = from.form.pad;
    if (same && form == from.form) {
      bind(var, from);
    } else {
      move(result(var), from);
    }
  } else if (dyn<TensorType>(var->type) != nullptr) {
    bind(var, tensor(source));
  } else if (dyn<ArrayType>(var->type) != nullptr) {
    if (ArrayRef* from = array(source)) bind(var, ArrayRef(*from));
  } else if (dyn<TupleType>(var->type) != nullptr) {
    const auto known = tuples_.find(source);
    if (known != tuples_.end()) tuples_[var] = known->second;
  } else if (var->type->kind == TypeKind::CommCtx) {
    names_.alias(var, scalar_name(source));
  } else if (var->type->kind != TypeKind::Unknown && var->type->kind != TypeKind::Ptr) {
    env.diags.report<diag::kernel_op>(span, "this value");
  }
}

void KernelBody::call(const Call* c, const Var* result_var, Span span) {
  if (!c->is_op()) {
    env.diags.report<diag::kernel_call>(c->span, kernel.name.text(), c->function.text())
        .help("copy the body of '{}' into the kernel, or call it from the orchestration", c->function.text());
    return;
  }
  const OpCall op{c, result_var};
  operation(result_var, c, span);
  const auto* tile_type = result_var != nullptr ? dyn<TileType>(result_var->type) : nullptr;
  if (tile_type != nullptr && !require_rectangle(op, tile_type)) return;
  if (is_official() && !has_official_form(c->op)) {
    env.diags
        .report<diag::kernel_target>(c->span, op.info().name,
                                     "the official tile library has no such instruction")
        .help("build it for --target=sim");
    return;
  }
  const EmitOp special = special_emitter(c->op);
  if (special != nullptr) {
    special(*this, op);
  } else {
    switch (op.info().emit.emit) {
      case Emit::Unary:
      case Emit::Binary:
      case Emit::BinaryTmp:
      case Emit::TileScalar:
      case Emit::Reduce:
      case Emit::ColReduce:
      case Emit::Expand:
        emit_table_op(*this, op);
        break;
      case Emit::NoCode:
        break;
      case Emit::Host:
        env.diags.report<diag::kernel_host_op>(c->span, op.info().name, kernel.name.text())
            .help("compute it in the orchestration and pass the result");
        break;
      case Emit::None:
      case Emit::Special:
        env.diags.report<diag::kernel_op>(c->span, op.info().name);
        break;
    }
  }
  due_comment_.clear();
}

bool emit_kernel(const KernelEnv& env, const Function& kernel, KernelText& out) {
  return KernelBody(env, kernel).run(out);
}

}  // namespace pldc
