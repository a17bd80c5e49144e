#include "codegen/host/hazards.h"

namespace pldc {
namespace {

// The factor k of offset == device * k; 0: the offset is something else.
std::int64_t factor(const Expr* offset, const Expr* device) {
  if (same_dim(offset, device)) return 1;
  const auto* product = dyn<Binary>(offset);
  if (product == nullptr || product->op != BinaryOp::Mul) return 0;
  if (same_dim(product->lhs, device)) return const_int(product->rhs).value_or(0);
  if (same_dim(product->rhs, device)) return const_int(product->lhs).value_or(0);
  return 0;
}

// Whether the boxes do not meet, given that the devices are different.
bool disjoint(const HostAccess& a, const HostAccess& b) {
  if (a.offsets.empty() || a.offsets.size() != b.offsets.size()) return false;
  for (std::size_t i = 0; i < a.offsets.size(); ++i) {
    const auto a_extent = const_int(a.extents[i]);
    const auto b_extent = const_int(b.extents[i]);
    if (!a_extent || !b_extent) continue;
    const auto a_offset = const_int(a.offsets[i]);
    const auto b_offset = const_int(b.offsets[i]);
    if (a_offset && b_offset && (*a_offset + *a_extent <= *b_offset || *b_offset + *b_extent <= *a_offset))
      return true;
    // Each device has a part of its own along this axis.
    const std::int64_t a_factor = factor(a.offsets[i], a.device);
    const std::int64_t b_factor = factor(b.offsets[i], b.device);
    if (a_factor > 0 && a_factor == b_factor && *a_extent <= a_factor && *b_extent <= a_factor) return true;
  }
  return false;
}

bool same_device(const HostAccess& a, const HostAccess& b) {
  if (const_int(a.device) && const_int(b.device)) return const_int(a.device) == const_int(b.device);
  return !a.earlier_iteration && same_dim(a.device, b.device);
}

}  // namespace

bool HostHazards::conflict(const std::vector<HostAccess>& accesses) const {
  for (const HostAccess& now : accesses) {
    for (const HostAccess& before : pending_) {
      if (before.root != now.root) continue;
      // Two devices that write the same place are left to the program: usually they write the same values, and the
      // dispatches may be waiting for each other.
      if (!(before.write && now.read) && !(before.read && now.write)) continue;
      if (same_device(before, now) || disjoint(before, now)) continue;
      return true;
    }
  }
  return false;
}

}  // namespace pldc
