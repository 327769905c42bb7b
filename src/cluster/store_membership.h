#pragma once
// Instances meet in the store that they share: each says every few seconds that it lives, and the store's clock judges
// who does. Needs nothing but the store.

#include "cluster/membership.h"
#include "storage/store.h"

namespace easyretry::cluster {

class StoreMembership final : public Membership {
 public:
  // The store must outlive it. Dead is who is silent for a third of `lease`, which its tasks stay with it anyway; 10 s
  // at most.
  StoreMembership(storage::Store& store, std::string space, std::string node, Millis lease);

  const Traits& traits() const override { return traits_; }
  Result<Roll> refresh(const Word& word) override;
  void leave() override;

 private:
  storage::Store& store_;
  const std::string space_;
  const std::string node_;
  const Traits traits_;
};

}  // namespace easyretry::cluster
