// Every op of the table in every form that its row allows: each number of operands with each set of optional keywords
// is built, printed in both dialects, read and compared.
#include <map>
#include <set>

#include "ir/check_rules.h"
#include "ir/same.h"
#include "unit/frontend/text_fixture.h"

using namespace texttest;

namespace {

using Args = std::vector<const Expr*>;

// Which dialect a program is for: legacy text shows less, so some values are chosen to be what it implies.
struct Forms {
  Context c;
  std::vector<const Var*> params;
  std::size_t turn = 0;  // rotates the values of keywords, so that all of them occur

  const Var* x = param("x", tensor(DType::FP32, {16, 64}));
  const Var* t = param("t", c.tile(DType::FP32, dims({16, 64}), nullptr, MemSpace::Vec));
  const Var* w = param("w", tensor(DType::FP32, {16, 64}, TypeKind::DistributedTensor));
  const Var* w2 = param("w2", tensor(DType::FP32, {16, 64}, TypeKind::DistributedTensor));
  const Var* half = param("half", tensor(DType::FP16, {16, 64}, TypeKind::DistributedTensor));
  const Var* sig = param("sig", tensor(DType::INT32, {16, 1}, TypeKind::DistributedTensor));
  const Var* counts = param("counts", tensor(DType::INT32, {16}));
  const Var* received = param("received", tensor(DType::INT32, {16, 1}, TypeKind::DistributedTensor));
  const Var* row = param("row", tensor(DType::FP32, {1, 64}));
  const Var* n = param("n", c.scalar(DType::INDEX));
  const Var* i32 = param("i", c.scalar(DType::INT32));
  const Var* array = param("arr", c.array(DType::INT32, 8));
  const Var* ptr = param("p", c.simple(TypeKind::Ptr));
  const Var* ctx = param("ctx", c.simple(TypeKind::CommCtx));
  const Var* prefetch = param("pc", c.simple(TypeKind::PrefetchAsyncContext));
  const Var* task = param("tid", c.scalar(DType::TASK_ID));

  List<const Expr*> dims(const std::vector<std::int64_t>& extents) {
    Args list;
    for (const std::int64_t e : extents) list.push_back(c.const_int(e));
    return c.list(list);
  }
  const Type* tensor(DType dtype, const std::vector<std::int64_t>& shape, TypeKind kind = TypeKind::Tensor) {
    return c.tensor(kind, dtype, dims(shape));
  }
  const Var* param(const char* name, const Type* type) {
    params.push_back(c.var(c.name(name), type));
    return params.back();
  }

  const Expr* operand(OpId op, const Operand& o, std::size_t index) {
    const OpInfo& info = op_info(op);
    const bool collective =
        op_category(info.name) == "pld.tensor" || op_category(info.name) == "builtin.tensor";
    if (o.name == "signal") return sig;
    if (collective && o.name == "target") return w2;
    if (o.name == "send_counts") return op_category(info.name) == "pld.tensor" ? counts : received;
    if (o.name == "recv_counts") return received;
    if (op == OpId::pld_tensor_allgather && o.name == "input") return row;
    if (op == OpId::pld_tile_remote_load && index == 0) return half;
    if (o.kind == ArgKind::Tuple && (op == OpId::pld_tile_put || op == OpId::pld_tile_get) &&
        o.name == "shape")
      return c.make_tuple(dims({16, 64}));
    if (info.syntax == Syntax::Alloc && index == 0) return c.const_int(static_cast<std::int64_t>(turn % 10));
    switch (o.kind) {
      case ArgKind::Tensor:
      case ArgKind::TensorLike:
        return collective && o.name == "dst" ? w : x;
      case ArgKind::Window:
        return w;
      case ArgKind::Tile:
        return t;
      case ArgKind::Scalar:
        return o.name == "peer" ? static_cast<const Expr*>(i32) : n;
      case ArgKind::ConstInt:
        return c.const_int(1);
      case ArgKind::Tuple:
        return c.make_tuple(o.name == "shape" || o.name == "shapes" ? dims({8, 64}) : dims({0, 0}));
      case ArgKind::Array:
        return array;
      case ArgKind::Ptr:
        return ptr;
      case ArgKind::Ctx:
        return ctx;
      case ArgKind::PrefetchCtx:
        return prefetch;
      case ArgKind::TensorOrScalar:
        if (op == OpId::tensor_add) return x;  // with a constant it prints as another op (G3)
        return turn % 2 == 0 ? static_cast<const Expr*>(x) : c.const_float(2.0);
      case ArgKind::TensorOrTile:
        return turn % 2 == 0 ? x : t;
      case ArgKind::Any:
        return x;
    }
    return x;
  }

  // The lists of operands that a call may have.
  std::vector<Args> operands(OpId op) {
    const OpInfo& info = op_info(op);
    std::vector<Args> all;
    std::set<std::size_t> counts_allowed;
    for (std::size_t k = info.required_count(); k <= info.operand_count(); ++k) counts_allowed.insert(k);
    if (op == OpId::system_cacheinvalid) counts_allowed = {0, 3};
    if (op == OpId::pld_tensor_put || op == OpId::pld_tensor_get) counts_allowed = {3, 6};
    if (op == OpId::pld_tile_put || op == OpId::pld_tile_get) counts_allowed = {4, 5, 8};
    for (const std::size_t count : counts_allowed) {
      Args args;
      for (std::size_t k = 0; k < count; ++k) args.push_back(operand(op, info.operands[k], k));
      all.push_back(args);
    }
    if (op == OpId::pld_tile_put || op == OpId::pld_tile_get) {
      // One staging tile and a region.
      Args args = all.back();
      args.erase(args.begin() + 4);
      all.push_back(args);
    }
    if (op == OpId::tile_mgather) {
      Args args = all[0];  // a valid shape without scratch
      args.push_back(c.make_tuple(dims({8, 16})));
      all.push_back(args);
    }
    if (info.syntax == Syntax::Slice) {
      Args args = all.back();  // dropped axes without a valid shape
      args[3] = c.make_tuple({});
      all.push_back(args);
    }
    if (op == OpId::tile_store) {
      Args args = all.back();
      while (args.size() < 5) args.push_back(c.make_tuple(dims({16, 64})));
      all.push_back(args);
    }
    return all;
  }

  AttrValue value(OpId op, const Keyword& keyword) {
    const KeywordRange range = keyword_range(keyword.kind);
    const bool builtin = op_category(op_info(op).name) == "builtin.tensor";
    if (keyword.name == "core_num") return AttrValue::of_int(1);
    if (builtin && keyword.name == "dtype") return AttrValue::of_dtype(DType::FP32);
    const bool scatter = op == OpId::pld_tensor_reduce_scatter;
    if ((builtin || scatter) && keyword.name == "op") return AttrValue::of_int(0);
    if (keyword.kind == KwKind::CoreType) {
      const bool all = op == OpId::system_syncall;
      const std::string_view names[] = {all ? "aic_only" : "aic", all ? "aiv_only" : "aiv", "mix"};
      return AttrValue::of_string(names[turn % 3]);
    }
    if (keyword.kind == KwKind::String && keyword.name == "mode") return AttrValue::of_string("mesh");
    if (!range.names.empty()) {
      const std::size_t pick = turn % range.names.size();
      AttrValue v;
      v.kind = range.kind;
      if (range.kind == AttrKind::String) return AttrValue::of_string(range.names[pick]);
      v.integer = range.number(pick);
      return v;
    }
    if (range.kind == AttrKind::Bool) return AttrValue::of_bool(turn % 2 == 0);
    if (range.kind == AttrKind::String) return AttrValue::of_string("text");
    if (range.kind == AttrKind::Float) return AttrValue::of_float(turn % 2 == 0 ? 1.5 : -0.1);
    if (range.kind == AttrKind::DType)
      return AttrValue::of_dtype(static_cast<DType>(turn % std::size(EnumNames<DType>::names)));
    return AttrValue::of_int(static_cast<std::int64_t>(1 + turn % 4));
  }

  // The sets of keywords: the required ones with each subset of the others.
  std::vector<std::vector<Attr>> keywords(OpId op) {
    const OpInfo& info = op_info(op);
    std::vector<std::size_t> optional;
    for (std::size_t k = 0; k < info.keyword_count(); ++k) {
      if (info.keywords[k].when != KwWhen::Required) optional.push_back(k);
    }
    std::vector<std::vector<Attr>> all;
    for (std::size_t subset = 0; subset < std::size_t{1} << optional.size(); ++subset) {
      std::vector<Attr> list;
      ++turn;
      for (std::size_t k = 0; k < info.keyword_count(); ++k) {
        bool in = info.keywords[k].when == KwWhen::Required;
        for (std::size_t bit = 0; bit < optional.size(); ++bit) {
          if (optional[bit] == k) in = (subset >> bit & 1) != 0;
        }
        // An allocation always has its name; how it is written is the syntax's matter.
        if (info.syntax == Syntax::AllocWindow) in = true;
        if (in) list.push_back({c.name(info.keywords[k].name), value(op, info.keywords[k])});
      }
      all.push_back(list);
    }
    return all;
  }

  // Pairs that no call has: the text has no form for them.
  bool exists(OpId op, const Args& args, const std::vector<Attr>& kwargs) {
    const Attrs list = c.list(kwargs);
    if (op == OpId::system_syncall) {
      const AttrValue* mode = find_attr(list, "mode");
      const bool soft = mode != nullptr && mode->text == "soft";
      return soft == !args.empty() && (!soft || find_attr(list, "core_type") != nullptr);
    }
    if (op == OpId::tile_mgather) {
      const AttrValue* coalesce = find_attr(list, "coalesce");
      const bool elements = coalesce != nullptr && coalesce->integer == 1;
      const bool scratch = args.size() > 2 && dyn<MakeTuple>(args[2]) == nullptr;
      return args.size() == 2 || scratch == elements;
    }
    // A transfer says whether it adds; a pipelined one says both sizes of its chunks.
    if ((op == OpId::pld_tensor_put || op == OpId::pld_tile_put) && find_attr(list, "atomic") == nullptr)
      return false;
    const AttrValue* pipeline = find_attr(list, "pipeline");
    if (pipeline != nullptr && pipeline->as_bool() &&
        (find_attr(list, "chunk_rows") == nullptr || find_attr(list, "chunk_cols") == nullptr))
      return false;
    const AttrValue* padding = find_attr(list, "allow_physical_tail_padding");
    if (padding != nullptr && padding->as_bool()) return args.size() == 5;
    return true;
  }

  std::vector<const Call*> calls(OpId op, const Type* result) {
    const OpInfo& info = op_info(op);
    std::vector<const Call*> all;
    for (const std::vector<Attr>& kwargs : keywords(op)) {
      for (Args args : operands(op)) {
        ++turn;
        if (!exists(op, args, kwargs)) continue;
        if (info.syntax == Syntax::Full) {
          // The bare value of the legacy dialect takes the result's dtype.
          const auto dtype = static_cast<DType>(find_attr(c.list(kwargs), "dtype")->integer);
          args[1] =
              turn % 2 == 0 ? static_cast<const Expr*>(c.const_int(3, dtype)) : c.const_float(1.5, dtype);
        }
        std::vector<Attr> attrs;
        if (info.syntax == Syntax::TaskDummy) {
          attrs.push_back({c.name("dummy_task"), AttrValue::of_bool(true)});
          if (turn % 2 == 0)
            attrs.push_back({c.name("manual_dep_edges"), AttrValue::of_vars(c.list({task}))});
        }
        if (turn % 3 == 0) attrs.push_back({c.name("mark"), AttrValue::of_int(-1)});
        all.push_back(c.call(op, c.list(args), c.list(kwargs), c.list(attrs), result));
      }
    }
    return all;
  }

  const Type* result_type(OpId op, bool distributed) {
    const Syntax syntax = op_info(op).syntax;
    if (syntax == Syntax::AllocWindow || syntax == Syntax::Alloc) return c.simple(TypeKind::Ptr);
    if (syntax == Syntax::TaskDummy) return c.scalar(DType::TASK_ID);
    return distributed ? tensor(DType::FP32, {16, 64}, TypeKind::DistributedTensor)
                       : tensor(DType::FP32, {16, 64});
  }

  // A function whose body assigns each form of the op to a variable of its own.
  const Program* program(OpId op, bool in_domain) {
    std::vector<const Stmt*> body;
    int number = 0;
    for (const Call* call : calls(op, result_type(op, in_domain))) {
      const Name name = c.name("v" + std::to_string(number++));
      if (op == OpId::pld_tensor_alloc_window_buffer) {
        Call named = *call;
        named.kwargs = c.list({Attr{c.name("name"), AttrValue::of_string(name.text())}});
        call = c.make(named);
      }
      body.push_back(c.assign(c.var(name, call->type), call));
    }
    if (in_domain) {
      ScopeStmt domain{};
      domain.kind = StmtKind::Scope;
      domain.scope = ScopeKind::CommDomain;
      domain.name_hint = "comm_d0";
      domain.slots = c.list({WindowSlot{ptr, c.const_int(64), false, false}});
      domain.body = c.list(body);
      body = {c.make(domain)};
    }
    Function f{};
    f.name = c.name("f");
    std::vector<Param> list;
    for (const Var* v : params) list.push_back({v, ParamDirection::In, {}});
    f.params = c.list(list);
    f.body = c.list(body);
    Program p{};
    p.name = c.name("P");
    p.functions = c.list({c.make(f)});
    return c.make(p);
  }
};

std::string line_with_difference(const std::string& a, const std::string& b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  const std::size_t begin = a.rfind('\n', at == 0 ? 0 : at - 1) + 1;
  return a.substr(begin, a.find('\n', at) - begin) + "\nand\n" + b.substr(begin, b.find('\n', at) - begin);
}

// What is wrong with the text of a program; empty if it is read back to the same.
std::string fault(const Program* program, Dialect dialect) {
  Module module;
  module.program = program;
  PrintOptions options;
  options.dialect = dialect;
  const std::string text = print(module, options);
  const Read r(text);
  if (!r.good()) return r.errors.substr(0, 1000);
  const std::string again = r.printed(dialect);
  if (again != text) return "reprinted otherwise:\n" + line_with_difference(text, again);
  for (const Difference& d : differences(program, r.module.program, 1)) {
    return d.path + ": " + d.left + " / " + d.right;
  }
  if (!same(program, r.module.program)) return "not the same";
  return structural_hash(program) == structural_hash(r.module.program) ? "" : "another hash";
}

}  // namespace

TEST_CASE("every op in every form is printed and read back, in both dialects") {
  std::size_t count = 0;
  for (std::size_t k = 0; k < kOpCount; ++k) {
    const auto op = static_cast<OpId>(k);
    for (const Dialect dialect : {Dialect::Dump, Dialect::Legacy}) {
      Forms forms;
      const Program* program = forms.program(op, false);
      REQUIRE(!program->functions[0]->body.empty());
      INFO(op_info(op).name);
      CHECK(fault(program, dialect) == "");
      count += program->functions[0]->body.size();
    }
  }
  CHECK(count > 2 * kOpCount);
}

TEST_CASE("every op with a distributed result inside a domain prints with its recorded type") {
  for (std::size_t k = 0; k < kOpCount; ++k) {
    const auto op = static_cast<OpId>(k);
    if (op == OpId::system_task_dummy) continue;  // its attributes have no place in a recorded call
    Forms forms;
    INFO(op_info(op).name);
    CHECK(fault(forms.program(op, true), Dialect::Dump) == "");
  }
}

TEST_CASE("calls without a result are statements; their text survives") {
  for (std::size_t k = 0; k < kOpCount; ++k) {
    const auto op = static_cast<OpId>(k);
    if (op_info(op).syntax == Syntax::AllocWindow) continue;  // has a name to be assigned to
    Forms forms;
    std::vector<const Stmt*> body;
    for (const Call* call : forms.calls(op, forms.c.unknown())) body.push_back(forms.c.eval(call));
    Function f{};
    f.name = forms.c.name("f");
    std::vector<Param> list;
    for (const Var* v : forms.params) list.push_back({v, ParamDirection::In, {}});
    f.params = forms.c.list(list);
    f.body = forms.c.list(body);
    Program p{};
    p.functions = forms.c.list({forms.c.make(f)});
    Module module;
    module.program = forms.c.make(p);
    for (const Dialect dialect : {Dialect::Dump, Dialect::Legacy}) {
      PrintOptions options;
      options.dialect = dialect;
      const std::string text = print(module, options);
      const Read r(text);
      INFO(op_info(op).name << r.errors.substr(0, 1000));
      CHECK(r.good());
      if (!r.good()) continue;
      const std::string again = r.printed(dialect);
      if (again != text) FAIL_CHECK("reprinted otherwise:\n" << line_with_difference(text, again));
    }
  }
}
