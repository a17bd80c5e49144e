// completion: what may stand at a place, by what is written before it.
#include <algorithm>
#include <set>

#include "driver/catalog.h"
#include "driver/lsp/cursor.h"
#include "driver/lsp/docs.h"
#include "driver/lsp/names.h"
#include "driver/lsp/requests.h"
#include "driver/vocabulary.h"
#include "frontend/lexer.h"
#include "ir/authoring.h"
#include "ir/check_rules.h"

namespace pldc::lsp {
namespace {

enum ItemKind : int {
  kMethod = 2,
  kFunctionItem = 3,
  kVariableItem = 6,
  kClassItem = 7,
  kModule = 9,
  kProperty = 10,
  kValue = 12,
  kEnum = 13,
  kKeywordItem = 14,
  kMember = 20,
  kConstantItem = 21,
  kStruct = 22,
};

// Collects items, each label once.
class Items {
 public:
  void add(const std::string& label, ItemKind kind, std::string_view detail = {},
           std::string_view about = {}) {
    if (!labels_.insert(label).second) return;
    Json item{{"label", label}, {"kind", kind}};
    if (!detail.empty()) item["detail"] = detail;
    if (!about.empty()) item["documentation"] = about;
    list_.push_back(std::move(item));
  }
  Json take() { return {{"isIncomplete", false}, {"items", std::move(list_)}}; }

 private:
  std::set<std::string> labels_;
  Json list_ = Json::array();
};

void add_op(Items& items, const OpInfo& op) {
  const std::string word = std::string(op_leaf(op.name)) + (op_needs_underscore(op.name) ? "_" : "");
  items.add(word, kFunctionItem, signature(op), op.doc.text);
}

// Ops and categories below `category` ("tile", "pld.tensor", "builtin"; empty: all of pl).
void add_ops_of(Items& items, std::string_view category) {
  const std::string begin = category.empty() ? std::string() : std::string(category) + ".";
  for (const OpInfo* op : all_ops()) {
    if (op->name.substr(0, begin.size()) != begin) continue;
    const std::string_view rest = op->name.substr(begin.size());
    const std::size_t dot = rest.find('.');
    if (dot == std::string_view::npos) {
      add_op(items, *op);
    } else if (rest.substr(0, dot) != "pld") {
      items.add(std::string(rest.substr(0, dot)), kModule, "ops");
    }
  }
}

void add_dtypes(Items& items, std::string_view before) {
  for (const std::string_view name : dtype_names())
    items.add(std::string(before) + std::string(name), kConstantItem, "dtype");
}

void add_members(Items& items, const EnumFact& e, std::string_view before) {
  for (const std::string& member : e.members)
    items.add(std::string(before) + member, kMember, std::string(e.head) + "." + std::string(e.name), e.text);
}

// Behind "pl." and "pld.".
void add_words_of(Items& items, bool pld) {
  add_ops_of(items, pld ? "pld" : "");
  for (const OpInfo* op : short_ops(pld)) add_op(items, *op);
  for (const Fact& type : type_facts()) {
    const bool distributed = type.text.substr(0, 4) == "pld.";
    const bool written = distributed || type.text.substr(0, 3) == "pl.";
    const bool handle = type.text.substr(0, 6) == "handle" || type.text.substr(0, 8) == "event of" ||
                        type.text.substr(0, 10) == "session of";
    if (distributed == pld && (written || (handle && !pld)))
      items.add(std::string(type.name), kClassItem, "type", type.text);
  }
  for (const EnumFact& e : enum_facts()) {
    if ((e.head == "pld") == pld) items.add(std::string(e.name), kEnum, "enumeration", e.text);
  }
  if (pld) return;
  add_dtypes(items, "");
  for (const Fact& form : form_facts()) items.add(std::string(form.name), kKeywordItem, "form", form.text);
}

// Behind a dot: `before` is the path without the last part and its dot.
void add_after_dot(Items& items, const Analysis& analysis, const std::string& before) {
  if (before == "self") {
    for (const Function& f : analysis.names.functions)
      items.add(std::string(f.name.text()), kMethod, signature_of(f).text, name_of(f.func_type));
    return;
  }
  const std::size_t dot = before.find('.');
  const std::string head = before.substr(0, dot);
  const bool pld = head == "pld";
  if (!pld && head != analysis.prefix) return;
  if (dot == std::string::npos) return add_words_of(items, pld);
  const std::string rest = before.substr(dot + 1);
  if (const EnumFact* e = find_enum(rest)) return add_members(items, *e, "");
  if (parse_enum<DType>(rest)) return items.add("get_byte", kMethod, "bytes of one element");
  add_ops_of(items, pld ? before : rest);
}

// Values of a keyword.
void add_values(Items& items, const Analysis& analysis, KwKind kind) {
  const KeywordRange range = keyword_range(kind);
  if (range.kind == AttrKind::DType) return add_dtypes(items, analysis.prefix + ".");
  if (range.kind == AttrKind::Bool) {
    items.add("True", kValue);
    items.add("False", kValue);
  } else if (const EnumFact* e = range.enum_type.empty() ? nullptr : find_enum(range.enum_type)) {
    const std::string head = e->head == "pld" ? "pld" : analysis.prefix;
    add_members(items, *e, head + "." + std::string(e->name) + ".");
  } else if (!range.enum_type.empty() || kind == KwKind::Coalesce || kind == KwKind::GatherOob) {
    for (std::size_t i = 0; i < range.names.size(); ++i)
      items.add(std::to_string(range.number(i)), kValue, range.names[i]);
  } else {
    for (const std::string_view name : range.names) items.add("'" + std::string(name) + "'", kValue);
  }
}

void add_decorator_options(Items& items, const Analysis& analysis, const CallAt& call) {
  struct Option {
    std::string_view name;
    std::string_view values;  // an enum's name; empty: none
  };
  constexpr Option kOptions[] = {{"type", "FunctionType"}, {"level", "Level"},      {"role", "Role"},
                                 {"auto_scope", ""},       {"external_source", ""}, {"attrs", ""}};
  for (const Option& option : kOptions) {
    if (call.keyword == option.name) {
      const EnumFact* e = find_enum(option.values);
      if (e != nullptr) add_members(items, *e, analysis.prefix + "." + std::string(e->name) + ".");
    } else if (call.keyword.empty() &&
               std::find(call.given.begin(), call.given.end(), option.name) == call.given.end()) {
      items.add(std::string(option.name) + "=", kProperty, "option of the function");
    }
  }
}

void add_keywords(Items& items, const Analysis& analysis, const CallAt& call) {
  const auto given = [&](std::string_view name) {
    return std::find(call.given.begin(), call.given.end(), name) != call.given.end();
  };
  if (call.callee.compare(0, 5, "self.") == 0) {
    if (call.keyword.empty() && !given("device"))
      items.add("device=", kProperty, "the rank that runs the function");
    return;
  }
  for (const OpInfo* op : ops_of(analysis, call.callee)) {
    if (!call.keyword.empty()) {
      if (const Keyword* keyword = op->keyword(call.keyword)) add_values(items, analysis, keyword->kind);
      continue;
    }
    for (std::size_t i = 0; i < op->keyword_count(); ++i) {
      const Keyword& keyword = op->keywords[i];
      if (!given(keyword.name))
        items.add(std::string(keyword.name) + "=", kProperty, keyword_range(keyword.kind).allowed(),
                  op->name);
    }
    for (std::size_t i = 0; i < op->operand_count(); ++i) {
      const Operand& operand = op->operands[i];
      if (!given(operand.name) && operand.spelling != Spelling::Positional)
        items.add(std::string(operand.name) + "=", kProperty, "operand", op->name);
    }
  }
}

// Names that are bound before the place, in its function or in the module.
void add_names(Items& items, const Analysis& analysis, std::size_t offset) {
  const Function* function = function_at(analysis, offset);
  const std::size_t begin = function != nullptr ? analysis.local(function->span.begin) : offset;
  std::size_t module_end = analysis.file->text().size();
  for (const Function& f : analysis.names.functions)
    module_end = std::min(module_end, analysis.local(f.span.begin));
  for (const NameUse& use : analysis.names.uses) {
    const std::size_t at = analysis.local(use.where.begin);
    if (at >= offset) break;
    if (!use.defines || (at < begin && at >= module_end)) continue;
    const std::string name(analysis.text(use.where));
    if (use.kind == NameUse::Kind::Constant) items.add(name, kConstantItem, "module constant");
    if (use.kind == NameUse::Kind::Variable) items.add(name, kVariableItem, type_text(use.var->type));
  }
}

void add_words(Items& items, const Analysis& analysis) {
  for (const char* word :
       {"for", "if", "elif", "else", "while", "with", "return", "pass", "break", "continue"})
    items.add(word, kKeywordItem);
  items.add(analysis.prefix, kModule, "pypto.language");
  items.add("pld", kModule, "pypto.language.distributed");
  items.add("self", kStruct, "the program");
}

bool behind_at(std::string_view text, std::size_t offset) {
  while (offset > 0 && (Lexer::is_name_char(text[offset - 1]))) --offset;
  return offset > 0 && text[offset - 1] == '@';
}

}  // namespace

Json completion(const Document& document, const Analysis& analysis, const Json& params) {
  const std::size_t offset = document.lines().offset(position_at(params, "position"));
  const std::string_view text = analysis.file->text();
  Items items;
  if (comment_at(analysis, offset) != nullptr || string_at(analysis, offset) != nullptr) return items.take();
  const std::string path = typed_path(text, offset);
  if (const std::size_t dot = path.rfind('.'); dot != std::string::npos) {
    add_after_dot(items, analysis, path.substr(0, dot));
    return items.take();
  }
  if (offset > 0 && text[offset - 1] == '.') return items.take();  // behind a number, or a bracket
  if (behind_at(text, offset)) {
    items.add(analysis.prefix + ".function", kKeywordItem, "marks a function of the program");
    items.add(analysis.prefix + ".program", kKeywordItem, "marks the class that holds the program");
    return items.take();
  }
  const CallAt call = call_at(analysis, offset);
  if (call.decorator) {
    add_decorator_options(items, analysis, call);
    return items.take();
  }
  if (!call.callee.empty()) add_keywords(items, analysis, call);
  add_names(items, analysis, offset);
  add_words(items, analysis);
  return items.take();
}

}  // namespace pldc::lsp
