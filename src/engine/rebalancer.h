#pragma once
// Keeps this instance registered as a member, and decides which shards it owns. Has its own thread: a slow registry
// holds up nothing else.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "cluster/members.h"
#include "cluster/membership.h"
#include "cluster/shares.h"
#include "engine/context.h"
#include "engine/ownership.h"

namespace easyretry::engine {

class Rebalancer {
 public:
  using Own = std::function<void(Ownership)>;

  // Without a membership this instance is alone and always owns all shards.
  Rebalancer(Context& context, std::unique_ptr<cluster::Membership> membership, int total_shards, Own own);

  bool wanted() const { return membership_ != nullptr; }
  // Before the first step: decides what is owned until there is a list of members.
  void begin();
  Step step();
  // Handlers were added, or their workers came or left: the other members learn it with the next step. From any thread.
  void handlers_changed();
  // Unregisters, so that the others need not wait until this instance is considered dead. After the last step.
  void leave();

  ClusterView view() const;  // from any thread

  Wakeup wakeup;

 private:
  // The input of the last division.
  struct Basis {
    std::vector<Member> counting;
    std::vector<Member> waiting;
    std::vector<std::string> handlers;
    friend bool operator==(const Basis&, const Basis&) = default;
  };
  // Earlier shares, which are not forgotten at once: their new owner may not know of it yet.
  struct Former {
    cluster::Shares shares;
    Instant until{};
  };

  void refresh(Instant now);
  void say_once_that_handlers_do_not_fit(bool left_out);
  // Call it under the mutex. The new ownership; nullopt: it has not changed.
  std::optional<Ownership> divide(Instant now, bool first);
  cluster::Shares shares_in(std::vector<Member> list, const std::vector<std::string>& handlers) const;
  void tell_refused(std::vector<cluster::RefusedMember> refused);
  void tell_changes(const std::vector<Member>& before);
  void tell(EventKind kind, const std::string& message);

  Context& context_;
  const std::unique_ptr<cluster::Membership> membership_;
  const cluster::Division division_;
  const Own own_;
  const Instant::duration handover_;

  mutable std::mutex mutex_;  // guards what follows
  cluster::Members members_;
  cluster::Shares shares_;
  Basis basis_;
  std::vector<Former> former_;

  std::atomic<bool> next_refresh_now_ = false;  // the membership says that the list has changed
  // Used only by the stepping thread
  Instant next_refresh_ = Instant::min();
  bool complained_ = false;
  bool left_out_ = false;                        // our handlers are missing from our announcement to the others
  std::vector<cluster::RefusedMember> refused_;  // by the last list, in order
};

}  // namespace easyretry::engine
