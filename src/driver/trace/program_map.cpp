// What a program is made of: domains and windows as code generation lays them out, what each host function starts where,
// and what the functions tell other ranks.
#include <algorithm>
#include <map>
#include <set>

#include "codegen/codegen.h"
#include "codegen/entry.h"
#include "driver/trace/report.h"
#include "driver/trace/short_text.h"
#include "ir/check_op.h"
#include "passes/function_call.h"
#include "passes/lineage.h"
#include "passes/match/ops.h"
#include "support/file.h"

namespace pldc::trace {
namespace {

std::string kind_of(const Function* f) {
  if (f->is_host_orchestrator()) return "Host";
  if (f->level == Level::HOST && f->role == Role::SubWorker) return "Host worker";
  return std::string(name_of(f->func_type));
}

class Mapper {
 public:
  Mapper(Session& session, Input& input, const Program* program)
      : sources_(session.sources()), context_(input.context), program_(program), tracer_(program) {}

  // The host function, or the one that runs alone.
  Json entry(const Function* function) {
    enter(function);
    Json out{{"name", function->name.text()}, {"line", line(function->name_span)}};
    Json body = Json::array();
    if (function->is_host_orchestrator()) {
      add_body(function->body, body);
    } else {
      Json args = Json::array();
      for (const Param& p : function->params) args.push_back(Json{{"param", ShortText::name(p.var)}});
      body.push_back(Json{{"kind", "dispatch"},
                          {"line", line(function->name_span)},
                          {"callee", function->name.text()},
                          {"device", "0"},
                          {"args", std::move(args)}});
      reach(function);
    }
    out["body"] = std::move(body);
    return out;
  }

  // Everything that the entries lead to, by name.
  Json functions() {
    Json out = Json::object();
    for (std::size_t i = 0; i < reached_.size(); ++i)  // grows
      out[std::string(reached_[i]->name.text())] = function_json(reached_[i]);
    return out;
  }

 private:
  std::uint32_t line(Span span) const { return line_of(sources_, span); }

  void enter(const Function* function) {
    function_ = function;
    text_.emplace(context_, function);
    lineage_.emplace(tracer_, function->body);
    slots_.clear();
    domains_ = 0;
  }

  void reach(const Function* function) {
    if (function != nullptr && seen_.insert(function).second) reached_.push_back(function);
  }

  // [domain, slot] of the window that the value stands for, counted in the order of the text; null: none.
  Json window(const Expr* value) const {
    const auto slot = slots_.find(lineage_->base(value));
    return slot != slots_.end() ? slot->second : Json(nullptr);
  }

  void add_body(Body body, Json& out) {
    for (const Stmt* stmt : body) add_stmt(stmt, out);
  }

  void add_block(Json head, Body body, Json& out) {
    Json inner = Json::array();
    add_body(body, inner);
    if (inner.empty()) return;  // nothing is started there
    head["body"] = std::move(inner);
    out.push_back(std::move(head));
  }

  void add_stmt(const Stmt* stmt, Json& out) {
    if (const auto* scope = dyn<ScopeStmt>(stmt)) {
      if (scope->scope != ScopeKind::CommDomain) return add_body(scope->body, out);
      for (std::size_t i = 0; i < scope->slots.size(); ++i)
        slots_[scope->slots[i].base] = Json::array({domains_, i});
      Json head{{"kind", "domain"}, {"line", line(scope->span)}, {"domain", domains_++}};
      return add_block(std::move(head), scope->body, out);
    }
    if (const auto* loop = dyn<ForStmt>(stmt)) {
      Json head{{"kind", "for"}, {"line", line(stmt->span)}, {"text", loop_text(loop)}};
      return add_block(std::move(head), loop->body, out);
    }
    if (const auto* loop = dyn<WhileStmt>(stmt)) {
      Json head{
          {"kind", "while"}, {"line", line(stmt->span)}, {"text", "while " + text_->of(loop->condition)}};
      return add_block(std::move(head), loop->body, out);
    }
    if (const auto* branch = dyn<IfStmt>(stmt)) {
      const std::string condition = text_->of(branch->condition);
      add_block(Json{{"kind", "if"}, {"line", line(stmt->span)}, {"text", "if " + condition}},
                branch->then_body, out);
      return add_block(Json{{"kind", "if"}, {"line", line(stmt->span)}, {"text", "unless " + condition}},
                       branch->else_body, out);
    }
    for_each_expr(stmt, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) { add_call(e, line(e->span.valid() ? e->span : stmt->span), out); });
    });
  }

  std::string loop_text(const ForStmt* loop) {
    const std::string name = ShortText::name(loop->loop_var);
    const std::string stop = text_->of(loop->stop);
    const bool from_zero = const_int(loop->start) == 0;
    const bool by_one = const_int(loop->step) == 1;
    std::string range = stop;
    if (!from_zero || !by_one) range = text_->of(loop->start) + ", " + range;
    if (!by_one) range += ", " + text_->of(loop->step);
    return fmt::format("for {} in {}({})", name, loop->for_kind == ForKind::Parallel ? "parallel" : "range",
                       range);
  }

  void add_call(const Expr* e, std::uint32_t at, Json& out) {
    if (const auto call = function_call(e)) {
      const Function* callee = program_->find(call->callee);
      Json row{{"kind", "dispatch"}, {"line", at}, {"callee", call->callee.text()}};
      if (callee == nullptr || !callee->is_host_orchestrator()) row["device"] = device(call->attrs);
      Json args = Json::array();
      for (std::size_t i = 0; i < call->args.size(); ++i) {
        const Param* param = callee != nullptr ? param_for(callee, *call, i) : nullptr;
        if (call->args[i]->type->kind == TypeKind::CommCtx) continue;
        Json arg{{"text", text_->argument(call->args[i])}, {"window", window(call->args[i])}};
        if (param != nullptr) {
          arg["param"] = ShortText::name(param->var);
          arg["direction"] = param->direction == ParamDirection::In    ? "in"
                             : param->direction == ParamDirection::Out ? "out"
                                                                       : "inout";
        }
        args.push_back(std::move(arg));
      }
      row["args"] = std::move(args);
      out.push_back(std::move(row));
      reach(callee);
      return;
    }
    const auto* call = dyn<Call>(e);
    const auto info = call != nullptr ? match::join_info(call->op) : std::nullopt;
    if (!info) return;
    Json row{{"kind", "collective"}, {"line", at}, {"callee", collective_text(call, *info)}};
    if (find_attr(call->attrs, "device") != nullptr) row["device"] = device(call->attrs);
    Json args = Json::array();
    const OpInfo& op = op_info(call->op);
    for (std::size_t i = 0; i < call->args.size() && i < op.operand_count(); ++i) {
      args.push_back(Json{{"text", text_->of(call->args[i])},
                          {"window", window(call->args[i])},
                          {"param", op.operands[i].name}});
    }
    row["args"] = std::move(args);
    out.push_back(std::move(row));
  }

  static std::string collective_text(const Call* call, const match::JoinInfo& info) {
    std::string text(info.name);
    if (const AttrValue* op = find_attr(call->kwargs, "op"); op != nullptr && op->kind == AttrKind::Int) {
      const auto number = static_cast<std::size_t>(op->integer);
      if (op->integer >= 0 && number < std::size(kReduceOpNames))
        text += fmt::format(" {}", kReduceOpNames[number]);
    }
    if (const AttrValue* mode = find_attr(call->kwargs, "mode"); mode != nullptr && !mode->text.empty())
      text += fmt::format(" {}", mode->text);
    return text;
  }

  std::string device(Attrs attrs) {
    const AttrValue* device = find_attr(attrs, "device");
    if (device == nullptr) return "0";
    if (device->kind == AttrKind::Int) return std::to_string(device->integer);
    const bool has_expr = device->kind == AttrKind::Expr || device->kind == AttrKind::Var;
    return has_expr ? text_->of(device->expr) : "0";
  }

  // ---- functions that are started

  Json function_json(const Function* function) {
    enter(function);
    Json out{{"kind", kind_of(function)}, {"line", line(function->name_span)}};
    Json calls = Json::array();
    for_each_function_call(function->body, [&](const FunctionCall& call, const Expr*, const Stmt*) {
      const Function* callee = program_->find(call.callee);
      reach(callee);
      Json row{{"callee", call.callee.text()}};
      Json passed = Json::object();  // parameter of the callee: parameter of this function
      for (std::size_t i = 0; callee != nullptr && i < call.args.size(); ++i) {
        const Param* param = param_for(callee, call, i);
        const int from = tracer_.param_of(function, call.args[i]);
        if (param == nullptr || from == ParamTracer::kNone) continue;
        passed[ShortText::name(param->var)] =
            ShortText::name(function->params[static_cast<std::size_t>(from)].var);
      }
      row["passed"] = std::move(passed);
      if (std::find(calls.begin(), calls.end(), row) == calls.end()) calls.push_back(std::move(row));
    });
    out["calls"] = std::move(calls);
    Json tells = Json::array();
    add_telling(function->body, Json::array(), tells);
    out["tells"] = std::move(tells);
    return out;
  }

  void add_telling(Body body, const Json& around, Json& out) {
    for (const Stmt* stmt : body) {
      for_each_expr(stmt, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          const auto* call = dyn<Call>(e);
          if (call != nullptr && call->is_op() && match::is_telling(call->op)) {
            out.push_back(telling(call, line(e->span.valid() ? e->span : stmt->span), around));
          }
        });
      });
      const auto inside = [&](Body inner, std::string head) {
        Json more = around;
        if (!head.empty()) more.push_back(std::move(head));
        add_telling(inner, more, out);
      };
      if (const auto* loop = dyn<ForStmt>(stmt)) {
        inside(loop->body, loop_text(loop));
      } else if (const auto* loop_while = dyn<WhileStmt>(stmt)) {
        inside(loop_while->body, "while " + text_->of(loop_while->condition));
      } else if (const auto* branch = dyn<IfStmt>(stmt)) {
        inside(branch->then_body, "if " + text_->of(branch->condition));
        inside(branch->else_body, "unless " + text_->of(branch->condition));
      } else {
        for_each_body(stmt, [&](Body inner) { inside(inner, {}); });
      }
    }
  }

  Json telling(const Call* call, std::uint32_t at, const Json& around) {
    const std::string_view full = op_info(call->op).name;
    Json out{{"op", op_leaf(full)}, {"line", at}, {"around", around}};
    const auto text = [&](std::string_view operand, const char* key) {
      if (const Expr* e = argument(call, operand)) out[key] = text_->of(e);
    };
    const Expr* place = nullptr;
    for (const std::string_view operand : {"target", "signal", "src", "data"}) {
      const Expr* e = argument(call, operand);
      if (place == nullptr && e != nullptr && is_distributed(e->type)) place = e;
    }
    for (const Expr* arg : call->args) {
      if (place == nullptr && is_distributed(arg->type)) place = arg;
    }
    if (const auto info = match::join_info(call->op)) {
      out["op"] = collective_text(call, *info);
      if (info->signal < call->args.size()) place = call->args[info->signal];
    }
    if (place != nullptr) {
      const int param = tracer_.param_of(function_, place);
      out["window"] = param != ParamTracer::kNone
                          ? ShortText::name(function_->params[static_cast<std::size_t>(param)].var)
                          : text_->of(place);
    }
    text("offsets", "cell");
    text("peer", "peer");
    text("value", "value");
    text("expected", "expected");
    const auto word = [&](std::string_view key, auto names, const char* to) {
      const AttrValue* value = find_attr(call->kwargs, key);
      if (value == nullptr || value->kind != AttrKind::Int || value->integer < 0) return;
      if (static_cast<std::size_t>(value->integer) < std::size(names))
        out[to] = names[static_cast<std::size_t>(value->integer)];
    };
    if (call->op == OpId::pld_system_notify) word("op", std::to_array(kNotifyOpNames), "how");
    if (call->op == OpId::pld_system_wait || call->op == OpId::pld_system_defer_wait)
      word("cmp", std::to_array(kWaitCmpNames), "how");
    return out;
  }

  const SourceManager& sources_;
  Context& context_;
  const Program* program_;
  ParamTracer tracer_;
  // Of the function that is being looked at:
  const Function* function_ = nullptr;
  std::optional<ShortText> text_;
  std::optional<WindowLineage> lineage_;
  std::map<const Var*, Json> slots_;
  std::size_t domains_ = 0;

  std::vector<const Function*> reached_;
  std::set<const Function*> seen_;
};

// As many ranks as the text asks for; 0: it leaves that open.
std::int64_t ranks_of(const Json& manifest) {
  std::int64_t ranks = 0;
  const auto at_least = [&](const Json& number) {
    if (number.is_number_integer()) ranks = std::max(ranks, number.get<std::int64_t>());
  };
  for (const Json& entry : manifest["entries"]) {
    if (entry["max_device"].is_number_integer())
      ranks = std::max(ranks, entry["max_device"].get<std::int64_t>() + 1);
    for (const Json& limit : entry["rank_limits"]) at_least(limit["ranks"]);
    for (const Json& param : entry["parameters"]) {
      if (!param.contains("rank_axes")) continue;
      for (const Json& axis : param["rank_axes"]) at_least(param["shape"][axis.get<std::size_t>()]);
    }
  }
  return ranks;
}

}  // namespace

Json program_map(Session& session, Input& input, const Recorder& recorder, const ReportOptions& options) {
  const Program* program = recorder.program();
  DiagSink quiet;
  const std::optional<EntryChoice> choice = choose_entries(*program, options.entry, quiet);
  if (!choice) return nullptr;
  Json out = Json::object();
  Mapper mapper(session, input, program);
  Json entries = Json::array();
  bool hosts = false;
  for (const Function* function : choice->functions) {
    entries.push_back(mapper.entry(function));
    hosts = hosts || function->is_host_orchestrator();
  }
  out["entries"] = std::move(entries);
  out["functions"] = mapper.functions();

  BuildOptions build;
  build.stem = options.stem;
  build.source = path_last(input.file->name());
  build.entry = options.entry;
  build.as_read = recorder.before_composites();
  Module module = input.module;
  module.program = program;
  std::vector<OutputFile> files;
  DiagSink findings;
  std::int64_t ranks = options.ranks;
  if (generate(input.context, module, session.sources(), build, findings, files)) {
    Json manifest = Json::parse(files.front().text);
    if (ranks == 0) ranks = std::min<std::int64_t>(ranks_of(manifest), kMaxRanks);
    out["manifest"] = Json{{"entries", manifest["entries"]}, {"kernels", manifest["kernels"]}};
  } else {
    Json diags = Json::array();
    for (const Diagnostic& d : findings.take()) diags.push_back(diagnostic_json(d, session.sources()));
    out["refused"] = std::move(diags);
  }
  if (hosts && ranks > 0)
    out["messages"] = message_map(session, input, program, static_cast<unsigned>(ranks));
  return out;
}

}  // namespace pldc::trace
