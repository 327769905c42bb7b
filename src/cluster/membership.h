#pragma once
// Where the list of members comes from, and what instances are called. members.h decides what a list means.

#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/cluster.h>

#include "base/result.h"

namespace easyretry::storage {
class Store;
}

namespace easyretry::cluster {

// An instance in the list that must not share our shards.
struct RefusedMember {
  std::string who;
  std::string why;  // with what to do about it

  friend auto operator<=>(const RefusedMember&, const RefusedMember&) = default;
};

// The answer of a source.
struct MemberList {
  std::vector<Member> members;
  std::vector<RefusedMember> refused{};
  bool handlers_left_out = false;  // the handlers of this instance did not fit into its announcement
};

// The information that an instance gives the others about itself.
struct Announcement {
  std::string says{};                                  // for display
  std::optional<std::vector<std::string>> handlers{};  // as in Member
};

class Membership {
 public:
  struct Traits {
    std::string source;      // for display: "store", "nacos"
    std::string self;        // the node of this instance in the list
    bool pushes = false;     // calls back when the list changes; otherwise it is polled
    Millis refresh{};        // how often refresh() must be called so that we stay in the list
    Millis death_timeout{};  // how long a dead member stays in the list
  };

  virtual ~Membership() = default;
  virtual const Traits& traits() const = 0;
  // Announces this instance and returns all members. May take as long as the network does.
  virtual Result<MemberList> refresh(const Announcement& announcement) = 0;
  // Removes this instance from the list. Best effort: a silent instance is considered dead before long.
  virtual void leave() = 0;
  // Calls `changed` from any thread until leave() has returned. Only if traits().pushes.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): implementations that call back keep it
  virtual void listen(std::function<void()> /*changed*/) {}
};

// Instances find each other in the store that they share. Each sends a heartbeat every few seconds, and the store's
// clock decides which are alive. Needs nothing but the store.
class StoreMembership final : public Membership {
 public:
  // The store must outlive it. An instance counts as dead after a third of `lease` without a heartbeat, 10 s at most.
  // Its tasks stay with it for the whole lease anyway.
  StoreMembership(storage::Store& store, std::string name_space, std::string node, Millis lease);

  const Traits& traits() const override { return traits_; }
  Result<MemberList> refresh(const Announcement& announcement) override;
  void leave() override;

 private:
  storage::Store& store_;
  const std::string namespace_;
  const std::string node_;
  const Traits traits_;
};

// The name of an instance: host, process id and a random part, so that a restarted process is not confused with its
// predecessor.
std::string make_node();

// True if it ran on the host of `self` and its process no longer exists. So an instance that was killed and restarted
// need not wait until its predecessor is considered dead. If two hosts have the same name this may be wrong, and costs
// some useless reads.
bool died_on_this_host(std::string_view node, std::string_view self);

}  // namespace easyretry::cluster
