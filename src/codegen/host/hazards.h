// Which dispatches of different devices meet in host memory. Dispatches of one device run in order; those of different
// devices at the same time, so one that reads what another device's dispatch may still be writing has to wait.
#pragma once

#include <vector>

#include "ir/context.h"

namespace pldc {

struct HostAccess {
  const Var* root;                   // the tensor whose memory it is
  const Expr* device;                // resolved through other names
  std::vector<const Expr*> offsets;  // the box in the root, resolved; empty: all of it
  std::vector<const Expr*> extents;
  bool read = false;
  bool write = false;
  bool earlier_iteration = false;  // of a loop around the place
};

class HostHazards {
 public:
  // Whether one of the accesses has to wait for a dispatch before.
  bool conflict(const std::vector<HostAccess>& accesses) const;
  void add(const std::vector<HostAccess>& accesses) {
    pending_.insert(pending_.end(), accesses.begin(), accesses.end());
  }
  // After a sync nothing is under way.
  void clear() { pending_.clear(); }
  bool empty() const { return pending_.empty(); }
  const std::vector<HostAccess>& pending() const { return pending_; }
  void replace(std::vector<HostAccess> pending) { pending_ = std::move(pending); }

 private:
  std::vector<HostAccess> pending_;
};

}  // namespace pldc
