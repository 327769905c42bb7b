#pragma once
// Where the list of members comes from. What is made of it is decided elsewhere (members.h).

#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <easyretry/cluster.h>
#include <easyretry/error.h>

namespace easyretry::cluster {

// Somebody in the list who is not to share our shards.
struct Refused {
  std::string who;
  std::string why;  // and what to do about it

  friend auto operator<=>(const Refused&, const Refused&) = default;
};

// What a source says.
struct Roll {
  std::vector<Member> members;
  std::vector<Refused> refused{};
  bool handlers_left_out = false;  // of this instance: they were too many to be told
};

// What an instance tells the others of itself.
struct Word {
  std::string says{};                                  // for people
  std::optional<std::vector<std::string>> handlers{};  // as in Member
};

class Membership {
 public:
  struct Traits {
    std::string source;      // for people: "store", "nacos"
    std::string self;        // our node in the list
    bool tells = false;      // calls back when the list changes; otherwise it is asked now and then
    Millis refresh{};        // how often it must be asked, or it forgets us
    Millis notices_death{};  // how long a member that died stays in the list
  };

  virtual ~Membership() = default;
  virtual const Traits& traits() const = 0;
  // Tells the others that we are here, and gives all who are. May take as long as the network does.
  virtual Result<Roll> refresh(const Word& word) = 0;
  // We are gone. Best effort: whoever is not heard of is taken for dead before long.
  virtual void leave() = 0;
  // `changed` is called from any thread until leave() has returned. Only where it tells.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those that tell keep it
  virtual void listen(std::function<void()> /*changed*/) {}
};

}  // namespace easyretry::cluster
