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
#include <easyretry/error.h>

namespace easyretry::cluster {

// An instance in the list that must not share our shards.
struct Refused {
  std::string who;
  std::string why;  // with what to do about it

  friend auto operator<=>(const Refused&, const Refused&) = default;
};

// The answer of a source.
struct MemberList {
  std::vector<Member> members;
  std::vector<Refused> refused{};
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
    bool tells = false;      // calls back when the list changes; otherwise it is polled
    Millis refresh{};        // how often refresh() must be called so that we stay in the list
    Millis notices_death{};  // how long a dead member stays in the list
  };

  virtual ~Membership() = default;
  virtual const Traits& traits() const = 0;
  // Announces this instance and returns all members. May take as long as the network does.
  virtual Result<MemberList> refresh(const Announcement& announcement) = 0;
  // Removes this instance from the list. Best effort: a silent instance is considered dead before long.
  virtual void leave() = 0;
  // Calls `changed` from any thread until leave() has returned. Only if traits().tells.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): implementations that call back keep it
  virtual void listen(std::function<void()> /*changed*/) {}
};

// The name of an instance: host, process id and a random part, so that a restarted process is not confused with its
// predecessor.
std::string make_node();

// True if it ran on the host of `self` and its process no longer exists. So an instance that was killed and restarted
// need not wait until its predecessor is considered dead. If two hosts have the same name this may be wrong, and costs
// some useless reads.
bool died_here(std::string_view node, std::string_view self);

}  // namespace easyretry::cluster
