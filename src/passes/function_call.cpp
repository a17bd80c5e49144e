#include "passes/function_call.h"

namespace pldc {

namespace {

int strength(ParamDirection d) {
  switch (d) {
    case ParamDirection::In:
      return 0;
    case ParamDirection::Out:
      return 1;
    case ParamDirection::InOut:
      return 2;
  }
  return 0;
}

// How many contexts stand at the end of a submit that leaves out outputs.
std::size_t trailing_contexts(const Function* callee, const FunctionCall& call) {
  const std::size_t count = call.args.size();
  std::size_t contexts = 0;
  if (!call.is_submit || count >= callee->params.size()) return 0;
  while (contexts < count && call.args[count - 1 - contexts]->type->kind == TypeKind::CommCtx) ++contexts;
  return contexts;
}

}  // namespace

bool asks_more(ParamDirection wanted, ParamDirection current) { return strength(wanted) > strength(current); }

const Param* param_for(const Function* callee, const FunctionCall& call, std::size_t index) {
  const std::size_t count = call.args.size();
  const std::size_t params = callee->params.size();
  if (index < count && index >= count - trailing_contexts(callee, call)) {
    return &callee->params[params - (count - index)];
  }
  return index < params ? &callee->params[index] : nullptr;
}

const Expr* argument_for(const Function* callee, const FunctionCall& call, std::size_t param) {
  const std::size_t contexts = trailing_contexts(callee, call);
  const std::size_t from_end = callee->params.size() - param;
  if (from_end <= contexts) return call.args[call.args.size() - from_end];
  return param < call.args.size() - contexts ? call.args[param] : nullptr;
}

std::unordered_map<const Function*, std::vector<ParamDirection>> wrapper_directions(const Program* program) {
  struct Slot {
    const Function* function;
    std::size_t param;
  };
  std::unordered_map<Name, const Function*> functions;
  for (const Function* f : program->functions) functions.emplace(f->name, f);

  std::unordered_map<const Function*, std::vector<ParamDirection>> directions;
  // Which wrapper parameters are handed to a parameter; what it needs, they need.
  std::unordered_map<const Param*, std::vector<Slot>> forwarded;
  std::vector<std::pair<Slot, ParamDirection>> work;
  for (const Function* f : program->functions) {
    if (!f->is_wrapper()) continue;
    std::unordered_map<const Expr*, std::size_t> params;
    for (std::size_t i = 0; i < f->params.size(); ++i) {
      params.emplace(f->params[i].var, i);
      directions[f].push_back(f->params[i].direction);
    }
    for_each_function_call(f->body, [&](const FunctionCall& call, const Expr*, const Stmt*) {
      const auto callee = functions.find(call.callee);
      if (callee == functions.end()) return;
      for (std::size_t i = 0; i < call.args.size(); ++i) {
        const auto own = params.find(call.args[i]);
        const Param* inner = own != params.end() ? param_for(callee->second, call, i) : nullptr;
        if (inner == nullptr) continue;
        work.push_back({{f, own->second}, inner->direction});
        if (callee->second->is_wrapper()) forwarded[inner].push_back({f, own->second});
      }
    });
  }
  // A direction rises at most twice, so each edge is followed at most twice.
  while (!work.empty()) {
    const auto [slot, wanted] = work.back();
    work.pop_back();
    ParamDirection& current = directions[slot.function][slot.param];
    if (!asks_more(wanted, current)) continue;
    current = wanted;
    const auto users = forwarded.find(&slot.function->params[slot.param]);
    if (users == forwarded.end()) continue;
    for (const Slot& user : users->second) work.push_back({user, wanted});
  }
  return directions;
}

}  // namespace pldc
