#pragma once
// Slots of keys, and which server has which slot: one server, a Redis Cluster, or the primary that sentinels name. Safe
// to use from any thread.

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "storage/redis/address.h"

namespace easyretry::storage::redis {

class Connection;

// One of a cluster's 16,384 slots. A key belongs to the slot of its hash tag, the text between its first braces.
using Slot = int;
inline constexpr Slot kSlots = 16'384;

Slot slot_of(std::string_view tag);

// Hash tags that are spread evenly: each is in the middle of one of `count` equal ranges of slots, so that primaries
// with equal numbers of slots have equal numbers of tags. Stored data depends on the result: it must not change.
std::vector<std::string> spread_tags(std::string_view prefix, int count);

class Topology {
 public:
  virtual ~Topology() = default;

  // The server of the slot, as far as is known. Throws ServerError if no server can be asked.
  virtual Endpoint of(Slot slot) = 0;
  // Call it when this server did not answer, or does not have the expected role. Asks the other servers where
  // all slots are, unless that was done a moment ago. Afterwards of() may return another server.
  virtual void look_again(const Endpoint& suspect) = 0;
  // A server said where a slot is. False: slots do not move here.
  virtual bool moved(Slot slot, const Endpoint& to) = 0;
};

// All slots are on one server, always.
class OneServer final : public Topology {
 public:
  explicit OneServer(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
  Endpoint of(Slot) override { return endpoint_; }
  void look_again(const Endpoint&) override {}
  bool moved(Slot, const Endpoint&) override { return false; }

 private:
  const Endpoint endpoint_;
};

// Asks one of several servers where the slots are: any node of a cluster, or any sentinel.
class Discovery {
 public:
  explicit Discovery(Address like) : like_(std::move(like)) {}

  // Asks the servers one after the other until one answers, unless that was done a moment ago. The suspect comes last.
  // Throws ServerError if none answers. If `question` throws ServerError, the next server is asked.
  using Question = std::function<void(Connection& connection, const Endpoint& asked)>;
  void ask(std::vector<Endpoint> servers, const Endpoint& suspect, const Question& question);

 private:
  using Steady = std::chrono::steady_clock;

  const Address like_;
  std::mutex mutex_;  // one question at a time; guards the next
  Steady::time_point asked_at_{};
};

// Asks the nodes of a Redis Cluster which primary has which slot.
class ClusterMap final : public Topology {
 public:
  // Some nodes of the cluster, and how to connect to all of them.
  ClusterMap(std::vector<Endpoint> seeds, Address like);

  Endpoint of(Slot slot) override;
  void look_again(const Endpoint& suspect) override;
  bool moved(Slot slot, const Endpoint& to) override;

 private:
  void refresh(const Endpoint& suspect);

  const std::vector<Endpoint> seeds_;
  Discovery discovery_;
  std::mutex mutex_;              // guards the next
  std::vector<Endpoint> places_;  // by slot; without a port: not served
};

// Asks sentinels which server is the primary.
class Sentinels final : public Topology {
 public:
  // Sentinels are connected to like the servers, but without a password.
  Sentinels(std::vector<Endpoint> sentinels, std::string service, const Address& like);

  Endpoint of(Slot slot) override;
  void look_again(const Endpoint& suspect) override;
  bool moved(Slot, const Endpoint&) override { return false; }

 private:
  void refresh();

  const std::vector<Endpoint> sentinels_;
  const std::string service_;
  Discovery discovery_;
  std::mutex mutex_;  // guards the next
  Endpoint primary_{"", 0};
};

}  // namespace easyretry::storage::redis
