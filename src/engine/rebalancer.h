#pragma once
// Keeps this instance among the members, and gives it the shards that are its own. Runs on a thread of its own: a
// registry that takes its time holds up nothing else.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "cluster/members.h"
#include "cluster/membership.h"
#include "engine/bell.h"
#include "engine/context.h"
#include "engine/step.h"

namespace easyretry::engine {

class Rebalancer {
 public:
  using Own = std::function<void(std::vector<ShardId>)>;

  // Without a membership this instance is alone, and has all shards for ever.
  Rebalancer(Context& context, std::unique_ptr<cluster::Membership> membership, int total_shards, Own own);

  bool wanted() const { return membership_ != nullptr; }
  // Before the first step: what is owned until there is a list of members.
  void begin();
  Step step();
  // The others need not wait until we are taken for dead. After the last step.
  void leave();

  ClusterView view() const;  // from any thread

  Bell bell;

 private:
  void refresh(Instant now);
  std::vector<ShardId> shards_now() const;  // by the list that counts; under the mutex
  void tell_refused(std::vector<cluster::Refused> refused);
  void tell_changes(const std::vector<Member>& before);
  void tell(EventKind kind, const std::string& message);

  Context& context_;
  const std::unique_ptr<cluster::Membership> membership_;
  const int total_shards_;
  const Own own_;

  mutable std::mutex mutex_;  // guards what follows
  cluster::Members members_;
  std::vector<ShardId> shards_;

  std::atomic<bool> next_refresh_now_ = false;  // the list has changed, says the membership
  // Of the stepping thread
  Instant next_refresh_ = Instant::min();
  bool complained_ = false;
  std::vector<cluster::Refused> refused_;  // by the last list, in order
};

}  // namespace easyretry::engine
