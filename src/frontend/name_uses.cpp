#include "frontend/name_uses.h"

#include <algorithm>

#include "frontend/reader.h"

namespace pldc {

void Reader::note_binding(Name name, const Var* var) {
  // Variables that stand for several places, or that no place names, have another text there or none.
  if (!var->span.valid() || var->span.end - var->span.begin != name.text().size()) return;
  const std::uint32_t begin = var->span.begin - file_.base();
  if (file_.text().substr(begin, name.text().size()) == name.text()) note_var(var->span, var, true);
}

// A type whose text was met before is not read again, but the buffer it names stands there all the same.
void Reader::note_buffer(std::uint32_t type_begin, std::string_view written, const Type* type) {
  constexpr std::string_view kHead = "MemRef(";
  const std::size_t head = written.find(kHead);
  if (uses_ == nullptr || head == std::string_view::npos) return;
  const auto* tile = dyn<TileType>(type);
  const auto* tensor = dyn<TensorType>(type);
  const MemRef* memref = tile != nullptr ? tile->memref : tensor != nullptr ? tensor->memref : nullptr;
  if (memref == nullptr || memref->base == nullptr) return;
  const std::size_t name = head + kHead.size();
  if (!Lexer::begins_name(written[name])) return;  // quoted
  std::size_t end = name;
  while (end < written.size() && Lexer::is_name_char(written[end])) ++end;
  note_var(
      lex_.span(type_begin + static_cast<std::uint32_t>(name), type_begin + static_cast<std::uint32_t>(end)),
      memref->base, false);
}

void Reader::note_functions() {
  if (uses_ == nullptr) return;
  for (const auto& draft : drafts_) {
    Function f = draft->f;
    f.params = ctx_.list(draft->params);
    f.body = {};
    uses_->functions.push_back(f);
  }
  // Signatures may be looked at twice, and a call may be read again in another way: what was noted last counts.
  std::vector<NameUse>& uses = uses_->uses;
  std::stable_sort(uses.begin(), uses.end(),
                   [](const NameUse& a, const NameUse& b) { return a.where.begin < b.where.begin; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (kept != 0 && uses[kept - 1].where.begin == uses[i].where.begin) {
      const bool defines = uses[i].defines || uses[kept - 1].defines;
      uses[kept - 1] = uses[i];
      uses[kept - 1].defines = defines;
    } else {
      uses[kept++] = uses[i];
    }
  }
  uses.resize(kept);
}

Module parse_noting_names(const SourceFile& file, Context& context, DiagSink& diags, NameUses& uses,
                          const ReadOptions& options) {
  Reader reader(file, context, diags, options);
  reader.note_names(uses);
  return reader.read();
}

}  // namespace pldc
