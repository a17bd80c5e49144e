#include "driver/lsp/docs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "driver/catalog.h"
#include "driver/lsp/names.h"
#include "driver/vocabulary.h"
#include "ir/authoring.h"
#include "ir/check_rules.h"

namespace pldc::lsp {
namespace {

// What `pldc explain` says, as Markdown: its indented lines become a list.
std::string markdown_of(std::string_view text) {
  std::string out;
  bool in_list = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool item = line.substr(0, 2) == "  ";
    if (item) line.remove_prefix(2);
    if (item != in_list && !line.empty()) out += '\n';
    in_list = item;
    out += item ? "- " : "";
    out += line;
    out += '\n';
  }
  return out;
}

std::string explained(std::string_view name) {
  std::string guess;
  return explain(name, guess);
}

// Without the prefix that the text uses; false if the path is of something else.
bool split_head(const Analysis& analysis, std::string_view path, bool& pld, std::string_view& rest) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view head = path.substr(0, dot);
  pld = head == "pld";
  rest = path.substr(dot + 1);
  return pld || head == analysis.prefix;
}

}  // namespace

std::string code_block(std::string_view text) { return fmt::format("```pld\n{}\n```\n", text); }

std::string written(const Analysis& analysis, const OpInfo& op) {
  return (op.name.substr(0, 4) == "pld." ? "" : analysis.prefix + ".") + std::string(op.name) +
         (op_needs_underscore(op.name) ? "_" : "");
}

OpId op_of(const Analysis& analysis, std::string_view path) {
  bool pld = false;
  std::string_view rest;
  if (!split_head(analysis, path, pld, rest)) return OpId::none_;
  return pld ? find_op(path) : rest.find('.') == std::string_view::npos ? OpId::none_ : find_op(rest);
}

std::vector<const OpInfo*> short_ops(bool pld) {
  std::vector<const OpInfo*> found;
  for (const OpInfo* op : all_ops()) {
    const bool distributed = op->name.substr(0, 4) == "pld.";
    if (distributed == pld && is_op_name(pld, op_leaf(op->name)) && op->name.substr(0, 5) != "test.")
      found.push_back(op);
  }
  return found;
}

std::vector<const OpInfo*> ops_of(const Analysis& analysis, std::string_view path) {
  std::vector<const OpInfo*> found;
  bool pld = false;
  std::string_view rest;
  if (!split_head(analysis, path, pld, rest)) return found;
  if (const OpId op = op_of(analysis, path); op != OpId::none_) return {&op_info(op)};
  if (rest.find('.') != std::string_view::npos || !is_op_name(pld, rest)) return found;
  for (const OpInfo* op : short_ops(pld)) {
    if (op_leaf(op->name) == rest) found.push_back(op);
  }
  // A name that only people write.
  if (found.empty()) {
    const OpId op = resolve_short_name(pld, rest, List<const Expr*>{});
    if (op != OpId::none_) found.push_back(&op_info(op));
  }
  return found;
}

std::vector<const OpInfo*> ops_called(const Analysis& analysis, std::string_view path, std::size_t offset) {
  const NameUse* use = use_at(analysis, offset);
  if (use != nullptr && use->kind == NameUse::Kind::Op) return {&op_info(use->op)};
  return ops_of(analysis, path);
}

std::string op_markdown(const OpInfo& op) {
  const std::string text = explained(op.name);
  // The signature stands first, so not again as the example.
  return code_block(signature(op)) + markdown_of(std::string_view(text).substr(
                                         text.find('\n') + 1, text.find("\nexample:") - text.find('\n')));
}

std::string keyword_markdown(const OpInfo& op, const Keyword& keyword) {
  const KeywordRange range = keyword_range(keyword.kind);
  std::string out = fmt::format("`{}=`: a keyword of `{}`{}\n", keyword.name, op.name,
                                keyword.when == KwWhen::Required ? "" : ", optional");
  if (!range.names.empty()) out += fmt::format("\nvalues: {}\n", range.allowed());
  if (range.kind == AttrKind::DType) out += fmt::format("\nvalues: {}\n", fmt::join(dtype_names(), ", "));
  return out;
}

std::string word_markdown(const Analysis& analysis, std::string_view path) {
  bool pld = false;
  std::string_view rest;
  if (!split_head(analysis, path, pld, rest)) return {};
  const std::size_t dot = rest.find('.');
  const std::string_view first = rest.substr(0, dot);
  if (const EnumFact* e = find_enum(first)) {
    std::string out =
        fmt::format("`{}.{}`: {}\n\nmembers: {}\n", e->head, e->name, e->text, fmt::join(e->members, ", "));
    if (dot == std::string_view::npos) return out;
    const std::string_view member = rest.substr(dot + 1);
    const bool known = std::find(e->members.begin(), e->members.end(), member) != e->members.end();
    return known ? fmt::format("`{}.{}.{}`: a member\n\n", e->head, e->name, member) + out : std::string();
  }
  if (const auto dtype = parse_enum<DType>(first))
    return fmt::format("`{}`: a dtype of {} bits\n", first, bit_width(*dtype));
  if (dot != std::string_view::npos) return {};
  for (const Fact& form : form_facts()) {
    if (form.name == first && !pld) return fmt::format("`pl.{}`: {}\n", form.name, form.text);
  }
  for (const Fact& type : type_facts()) {
    if (type.name == first) return fmt::format("`{}`: a type\n\n{}\n", type.name, type.text);
  }
  return {};
}

std::string pass_markdown(std::string_view name) {
  if (find_pass(name) == nullptr) return {};
  return markdown_of(explained(name));
}

}  // namespace pldc::lsp
