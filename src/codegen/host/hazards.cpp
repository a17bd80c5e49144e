#include "codegen/host/hazards.h"

#include <algorithm>
#include <iterator>

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

bool apart(const HostAccess& a, const HostAccess& b) {
  if (a.unknown || b.unknown) return same_device(a, b);
  return a.root != b.root || same_device(a, b) || disjoint(a, b);
}

}  // namespace

int own_axis(const HostAccess& access) {
  for (std::size_t i = 0; i < access.offsets.size() && !access.unknown; ++i) {
    const bool own = factor(access.offsets[i], access.device) == 1 ||
                     (const_int(access.device) && const_int(access.offsets[i]) == const_int(access.device));
    if (own && const_int(access.extents[i]) == 1) return static_cast<int>(i);
  }
  return -1;
}

bool HostHazards::conflict(const std::vector<HostAccess>& accesses) const {
  for (const HostAccess& now : accesses) {
    for (const HostAccess& before : pending_) {
      // Two devices that write the same place are left to the program: usually they write the same values, and the
      // dispatches may be waiting for each other.
      if (!(before.write && now.read) && !(before.read && now.write)) continue;
      if (!apart(before, now)) return true;
    }
  }
  return false;
}

const HostAccess* HostHazards::written_elsewhere(const HostAccess& access) const {
  const auto found = std::find_if(written_.begin(), written_.end(), [&](const HostAccess& before) {
    return access.read && !access.unknown && !before.unknown && !apart(before, access);
  });
  return found != written_.end() ? &*found : nullptr;
}

void HostHazards::add(const std::vector<HostAccess>& accesses) {
  pending_.insert(pending_.end(), accesses.begin(), accesses.end());
  std::copy_if(accesses.begin(), accesses.end(), std::back_inserter(written_),
               [](const HostAccess& a) { return a.write; });
}

void HostHazards::clear() {
  pending_.clear();
  ++clears_;
}

void HostHazards::forget(const Var* root) {
  const auto of_root = [&](const HostAccess& a) { return a.root == root; };
  std::erase_if(pending_, of_root);
  std::erase_if(written_, of_root);
}

void HostHazards::end_of_names() {
  for (HostAccess& a : pending_) a.earlier_iteration = true;
  for (HostAccess& a : written_) a.earlier_iteration = true;
}

void HostHazards::begin_optional() { optional_.push_back({pending_, clears_}); }

void HostHazards::end_optional() {
  const Before before = std::move(optional_.back());
  optional_.pop_back();
  if (before.clears != clears_) pending_.insert(pending_.end(), before.pending.begin(), before.pending.end());
}

}  // namespace pldc
