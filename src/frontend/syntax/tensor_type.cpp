// tensor = ("pl.Tensor" | "pld.DistributedTensor") "[[" dims "], pl." DTYPE [ "," view ] [ "," memref ] [ "," window ] "]"
#include "frontend/reader.h"
#include "frontend/reader_enum.h"
#include "frontend/writer.h"
#include "support/diag/parse.h"
#include "support/diag/type.h"

namespace pldc {

const Type* Reader::read_tensor_type(TypeKind kind) {
  const std::uint32_t begin = prev_end_;
  if (!expect(Tok::LBracket, "after the tensor type")) return nullptr;
  std::vector<const Expr*> dims;
  DType dtype{};
  if (!read_dims(dims) || !expect(Tok::Comma, "between the dimensions and the dtype") || !read_dtype(dtype))
    return nullptr;
  const TensorView* view = nullptr;
  const MemRef* memref = nullptr;
  const Var* window = nullptr;
  while (accept(Tok::Comma) && !at(Tok::RBracket)) {
    if (at(Tok::String)) {
      take();  // the informational "window_buffer=name" of older texts says nothing
      saw_explicit_ = true;
      saw_legacy_ = true;
      continue;
    }
    Path path;
    if (!at(Tok::Name) || !read_path(path)) {
      if (!at(Tok::Name)) unexpected("a view, a MemRef or a window reference");
      return nullptr;
    }
    if (path.rest == "TensorView") {
      view = read_tensor_view();
      if (view == nullptr) return nullptr;
    } else if (path.rest == "MemRef") {
      memref = read_memref();
      if (memref == nullptr) return nullptr;
    } else if (path.rest == "_dump.window_ref" && kind == TypeKind::DistributedTensor) {
      saw_dump_ = true;
      const Token where = tok_;
      std::string_view label;
      if (!expect(Tok::LParen, "after 'pl._dump.window_ref'") || !read_label(label) ||
          !expect(Tok::RParen, "after the label")) {
        return nullptr;
      }
      window = window_by_label(label, lex_.span(where.begin, prev_end_));
    } else if (path.rest == "_dump.window_buffer" && kind == TypeKind::DistributedTensor) {
      saw_dump_ = true;
      WindowSlot slot{};
      if (!read_window_buffer(slot)) return nullptr;
      window = slot.base;
    } else {
      std::string_view layout = path.rest;
      if (layout.substr(0, 13) == "TensorLayout.") layout.remove_prefix(13);
      const auto known = parse_enum<TensorLayout>(layout);
      if (!known) {
        diags_
            .report<diag::type_part>(path.span, path.rest,
                                     kind == TypeKind::Tensor ? "pl.Tensor" : "pld.DistributedTensor")
            .help(
                "after the dtype may stand pl.TensorView(...), pl.MemRef(...) and, for distributed tensors, "
                "a window reference");
        return nullptr;
      }
      if (*known == TensorLayout::DN) {
        diags_.report<diag::bare_dn>(path.span).help(
            "write pl.TensorView(stride=[...], layout=pl.TensorLayout.DN)");
        return nullptr;
      }
      TensorView shorthand;
      shorthand.layout = *known;
      view = ctx_.make(shorthand);
    }
  }
  if (!expect(Tok::RBracket, "after the tensor type")) return nullptr;
  if (view != nullptr) {
    if (!view->valid_shape.empty() && view->valid_shape.size() != dims.size()) {
      diags_.report<diag::view_rank>(span_from(begin), "valid_shape", view->valid_shape.size(), dims.size())
          .help("give one extent for each dimension");
      return nullptr;
    }
    if (!view->stride.empty() && view->stride.size() != dims.size()) {
      diags_.report<diag::view_rank>(span_from(begin), "stride", view->stride.size(), dims.size())
          .help("give one stride for each dimension");
      return nullptr;
    }
  }
  return ctx_.tensor(kind, dtype, ctx_.list(dims), view, memref, window);
}

const TensorView* Reader::read_tensor_view() {
  TensorView view;
  const FlagGuard guard(in_view_);
  if (!expect(Tok::LParen, "after 'pl.TensorView'")) return nullptr;
  while (!at(Tok::RParen)) {
    const Token key_token = tok_;
    if (!at(Tok::Name) || peek2().kind != Tok::Assign) {
      unexpected("valid_shape=, stride=, layout= or pad=");
      return nullptr;
    }
    const std::string_view key = text(take());
    take();
    std::vector<const Expr*> dims;
    if (key == "valid_shape" || key == "stride") {
      if (!read_dims(dims)) return nullptr;
      (key == "stride" ? view.stride : view.valid_shape) = ctx_.list(dims);
    } else if (key == "layout") {
      if (!read_enum_member("TensorLayout", view.layout)) return nullptr;
    } else if (key == "pad") {
      if (!read_enum_member("PadValue", view.pad)) return nullptr;
    } else {
      diags_.report<diag::unknown_form_option>(span(key_token), key, "pl.TensorView",
                                               "valid_shape, stride, layout, pad");
      return nullptr;
    }
    if (!accept(Tok::Comma)) break;
  }
  if (!expect(Tok::RParen, "after the view")) return nullptr;
  return ctx_.make(view);
}

// --- printing
// --------------------------------------------------------------------------------------------------

void Writer::tensor_type(const TensorType& t) {
  if (t.kind == TypeKind::Tensor) {
    prefix();
    out_ += "Tensor[";
  } else {
    out_ += "pld.DistributedTensor[";
  }
  dims(t.shape);
  out_ += ", ";
  dtype(t.dtype);
  if (const TensorView* v = t.view) {
    out_ += ", ";
    prefix();
    out_ += "TensorView(";
    if (!v->valid_shape.empty()) {
      out_ += "valid_shape=";
      dims(v->valid_shape);
      out_ += ", ";
    }
    out_ += "stride=";
    dims(v->stride);
    out_ += ", layout=";
    enum_member("TensorLayout", name_of(v->layout));
    if (v->pad != PadValue::Null) {
      out_ += ", pad=";
      enum_member("PadValue", name_of(v->pad));
    }
    out_ += ')';
  }
  if (t.memref != nullptr) memref(*t.memref);
  if (t.window != nullptr) {
    if (options_.dialect == Dialect::Dump) {
      out_ += ", ";
      prefix();
      out_ += "_dump.window_ref(";
      quoted(window_label(t.window));
      out_ += ')';
    } else if (options_.style == PrintStyle::Explicit) {
      out_ += ", \"window_buffer=";
      out_ += t.window->name.text();
      out_ += '"';
    }
  }
  out_ += ']';
}

}  // namespace pldc
