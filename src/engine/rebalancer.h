#pragma once
// Keeps this instance among the members, and gives it the shards that are its own. Runs on a thread of its own: a
// registry that takes its time holds up nothing else.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "cluster/members.h"
#include "cluster/membership.h"
#include "engine/bell.h"
#include "engine/context.h"
#include "engine/ownership.h"
#include "engine/step.h"

namespace easyretry::engine {

class Rebalancer {
 public:
  using Own = std::function<void(Ownership)>;

  // Without a membership this instance is alone, and has all shards for ever.
  Rebalancer(Context& context, std::unique_ptr<cluster::Membership> membership, int total_shards, Own own);

  bool wanted() const { return membership_ != nullptr; }
  // Before the first step: what is owned until there is a list of members.
  void begin();
  Step step();
  // Handlers have come, or go: the others are told with the next step. From any thread.
  void handlers_changed();
  // The others need not wait until we are taken for dead. After the last step.
  void leave();

  ClusterView view() const;  // from any thread

  Bell bell;

 private:
  // What the last division was made of.
  struct Basis {
    std::vector<Member> counting;
    std::vector<Member> waiting;
    std::vector<std::string> handlers;
    friend bool operator==(const Basis&, const Basis&) = default;
  };
  // Shares of before, which are not forgotten at once: whoever has them now may not have heard yet.
  struct Former {
    cluster::Shares shares;
    Instant until{};
  };

  void refresh(Instant now);
  void say_once_that_handlers_do_not_fit(bool left_out);
  // Under the mutex. What is owned from now on, where it has changed.
  std::optional<Ownership> divide(Instant now, bool first);
  cluster::Shares shares_in(std::vector<Member> list, const std::vector<std::string>& handlers) const;
  void tell_refused(std::vector<cluster::Refused> refused);
  void tell_changes(const std::vector<Member>& before);
  void tell(EventKind kind, const std::string& message);

  Context& context_;
  const std::unique_ptr<cluster::Membership> membership_;
  const int total_shards_;
  const Own own_;
  const Instant::duration handover_;

  mutable std::mutex mutex_;  // guards what follows
  cluster::Members members_;
  cluster::Shares shares_;
  Basis basis_;
  std::vector<Former> former_;

  std::atomic<bool> next_refresh_now_ = false;  // the list has changed, says the membership
  // Of the stepping thread
  Instant next_refresh_ = Instant::min();
  bool complained_ = false;
  bool left_out_ = false;                  // our handlers, of what the others are told
  std::vector<cluster::Refused> refused_;  // by the last list, in order
};

}  // namespace easyretry::engine
