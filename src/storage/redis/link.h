#pragma once
// The connections to the servers of a store. Each command goes to the server that has its slot; several servers are
// asked at the same time. Safe to use from any thread.

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/pause_clock.h"
#include "storage/redis/connection.h"
#include "storage/redis/topology.h"
#include "storage/server/connection_pool.h"

namespace easyretry::storage::redis {

enum class Lane {
  work,     // claims, settlements and inserts
  control,  // must not queue behind the work
};

// A command for the server that has the slot.
struct Request {
  Slot slot = 0;
  Command command{};
  const Script* script = nullptr;         // the script it calls, for a server that does not know it
  bool (*wrote)(const Reply&) = nullptr;  // whether replicas have anything to confirm; null: always
};

struct LinkOptions {
  Address address{};  // how to connect to all servers
  std::size_t connections = 4;
  std::vector<Slot> slots{0};  // of all requests; connections to servers with none of them are closed
  const base::PauseClock* pauses = &base::system_pauses();
};

class Node;

class Link {
 public:
  Link(std::unique_ptr<Topology> topology, LinkOptions options);
  ~Link();

  // Returns an answer for each. A request fails with a ServerError if no server has executed it, and with a LostReply
  // if one may have.
  std::vector<Answer> run(Lane lane, std::span<const Request> requests, const Confirmation& confirmation);
  // Throws what went wrong, including errors that the server answers with.
  Reply run(Lane lane, Slot slot, const Command& command);

  // Of the server that has the slot, as far as is known. Throws ServerError.
  Address address_of(Slot slot) const { return options_.address.at(topology_->of(slot)); }
  // Call it when that server did not answer.
  void look_again(const Address& suspect) { topology_->look_again(suspect.endpoint()); }

 private:
  class Exchange;
  using NodePtr = std::shared_ptr<Node>;

  NodePtr node(const Endpoint& endpoint);
  // Closes the connections to servers that no longer have any of our slots: a cluster may replace its servers many
  // times while this process runs.
  void forget_strangers();

  const std::unique_ptr<Topology> topology_;
  const LinkOptions options_;
  std::mutex mutex_;  // guards the next
  std::map<Endpoint, NodePtr> nodes_;
};

}  // namespace easyretry::storage::redis
