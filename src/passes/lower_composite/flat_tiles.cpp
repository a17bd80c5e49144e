#include "passes/lower_composite/flat_tiles.h"

#include "ir/rules.h"
#include "passes/simplify/analyzer.h"
#include "support/diag/pass.h"

namespace pldc::composite {

namespace {

// A remote load of FP16 moves whole blocks of 32 bytes.
constexpr std::int64_t kTail = 16;

const Expr* rounded_up(Expansion& out, const Expr* valid) {
  return out.mul(out.div(out.add(valid, out.index(kTail - 1)), out.index(kTail)), out.index(kTail));
}

}  // namespace

const Expr* product_of(Expansion& out, List<const Expr*> dims) {
  const Expr* product = out.index(1);
  for (const Expr* dim : dims) {
    const auto a = const_int(product);
    const auto b = const_int(dim);
    std::int64_t ignored = 0;
    if (a && b && __builtin_mul_overflow(*a, *b, &ignored)) {
      out.error<diag::kernel_collective_elements>(0).help("use several smaller windows");
      return nullptr;
    }
    product = dim_mul(out.ir(), product, dim);
  }
  return product;
}

std::int64_t FlatTiles::width_for(const Expr* elements) const {
  const auto count = const_int(elements);
  if (!count || *count <= 0 || *count >= most()) return most();
  return (*count + unit() - 1) / unit() * unit();
}

const Expr* FlatTiles::fill(const Expr* tile) {
  return out_.op(OpId::tile_fillpad_inplace, {tile}, {{"pad_value", AttrValue::of_pad(PadValue::Zero)}});
}

const Var* FlatTiles::load(std::string_view loaded, std::string_view padded, const Expr* offset,
                           const Expr* valid) {
  const Var* tile =
      out_.bind(loaded, OpId::tile_load,
                {row_, out_.tuple({out_.index(0), offset}), out_.tuple({out_.index(1), out_.index(width_)}),
                 out_.tuple({out_.index(1), valid})},
                {{"target_memory", AttrValue::of_mem(MemSpace::Vec)}});
  return out_.bind(padded, fill(tile));
}

const Expr* FlatTiles::remote_load(const Expr* peer, const Expr* offset, const Expr* valid) {
  const Expr* start = out_.tuple({out_.index(0), offset});
  const Expr* shape = out_.tuple({out_.index(1), out_.index(width_)});
  const auto load = [&](const Expr* extent, KeywordArgs keywords) {
    return out_.op(OpId::pld_tile_remote_load,
                   {row_, peer, start, shape, out_.tuple({out_.index(1), extent})}, keywords);
  };
  if (dtype_ != DType::FP16) return load(valid, {});
  const KeywordArgs padding = {{"allow_physical_tail_padding", AttrValue::of_bool(true)}};
  const Expr* extent = rounded_up(out_, valid);
  const auto* call = static_cast<const Call*>(load(extent, padding));
  // The type shows the extent in its simplest form, the operand as it is.
  const Expr* simple = simplify::Analyzer(out_.ir()).simplify(extent);
  return out_.ir().call_with_type(call, load(simple, padding)->type);
}

const Var* FlatTiles::receive(std::string_view qualifier, const Expr* peer, const Expr* offset,
                              const Expr* valid) {
  const std::string name(qualifier);
  const Var* tile = out_.bind(name + "_loaded", remote_load(peer, offset, valid));
  // The blocks brought elements along that may be anything.
  if (dtype_ == DType::FP16)
    tile = out_.bind(name + "_tail", OpId::tile_set_validshape, {tile, out_.index(1), valid});
  return out_.bind(name, fill(tile));
}

void FlatTiles::store(std::string_view stored_value, std::string_view result, const Expr* tile,
                      const Expr* offset, const Expr* valid) {
  const Var* value = out_.bind(stored_value, OpId::tile_set_validshape, {tile, out_.index(1), valid});
  out_.bind(result, OpId::tile_store, {value, out_.tuple({out_.index(0), offset}), row_});
}

}  // namespace pldc::composite
