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
  // Of a loop around the place, or of another call of the host function at hand.
  bool earlier_iteration = false;
  Span span;             // of the dispatch
  bool unknown = false;  // the root is one of several tensors
};

// The axis along which the device uses its own index only, as in x[r] with device=r; -1: there is none.
int own_axis(const HostAccess& access);

class HostHazards {
 public:
  // Whether one of the accesses has to wait for a dispatch before.
  bool conflict(const std::vector<HostAccess>& accesses) const;
  // A dispatch that wrote what this access reads, and may have been another device's; null: there is none. Whether anybody
  // waited between makes no difference. What is known at run time only is left out. Valid until the next add().
  const HostAccess* written_elsewhere(const HostAccess& access) const;
  void add(const std::vector<HostAccess>& accesses);
  // After a sync nothing is under way.
  void clear();
  // The memory of a tensor that is made anew.
  void forget(const Var* root);
  // Loop variables and parameters have other values from here on.
  void end_of_names();

  // Around statements that may not be executed: what was under way before them may still be so behind them.
  void begin_optional();
  void end_optional();

 private:
  std::vector<HostAccess> pending_;
  std::vector<HostAccess> written_;  // since the begin of the function
  struct Before {
    std::vector<HostAccess> pending;
    int clears;
  };
  std::vector<Before> optional_;
  int clears_ = 0;
};

}  // namespace pldc
