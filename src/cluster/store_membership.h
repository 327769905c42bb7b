#pragma once
// Instances find each other in the store that they share. Each sends a heartbeat every few seconds, and the store's
// clock decides which are alive. Needs nothing but the store.

#include "cluster/membership.h"
#include "storage/store.h"

namespace easyretry::cluster {

class StoreMembership final : public Membership {
 public:
  // The store must outlive it. An instance counts as dead after a third of `lease` without a heartbeat, 10 s at most.
  // Its tasks stay with it for the whole lease anyway.
  StoreMembership(storage::Store& store, std::string space, std::string node, Millis lease);

  const Traits& traits() const override { return traits_; }
  Result<MemberList> refresh(const Announcement& announcement) override;
  void leave() override;

 private:
  storage::Store& store_;
  const std::string space_;
  const std::string node_;
  const Traits traits_;
};

}  // namespace easyretry::cluster
