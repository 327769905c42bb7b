#pragma once
// The way to the servers of a store: each command goes to the one that has its slot, those of several servers at the
// same time. Safe to use from any thread.

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "storage/redis/connection.h"
#include "storage/redis/topology.h"
#include "storage/server/connection_pool.h"

namespace easyretry::storage::redis {

enum class Lane {
  work,     // claims, settlements and inserts
  control,  // must not wait behind the work
};

// A command for whoever has the slot.
struct Request {
  Slot slot = 0;
  Command command{};
  const Script* script = nullptr;         // that it calls; given to a server that does not know it
  bool (*wrote)(const Reply&) = nullptr;  // whether there is anything for replicas to confirm; null: always
};

struct LinkOptions {
  Address address{};  // all servers are talked to like this one
  std::size_t connections = 4;
  std::vector<Slot> slots{0};  // that requests are for: who has none of them any more is forgotten
};

class Node;

class Link {
 public:
  Link(std::unique_ptr<Topology> topology, LinkOptions options);
  ~Link();

  // An answer for each. A request that a server had no part in fails with a ServerError: nothing was done.
  std::vector<Answer> run(Lane lane, std::span<const Request> requests, const Confirmation& confirmation);
  // Throws what went wrong, also errors of the server.
  Reply run(Lane lane, Slot slot, const Command& command);

 private:
  class Errand;
  using NodePtr = std::shared_ptr<Node>;

  NodePtr node(const Endpoint& endpoint);
  // Closes the connections with servers that have none of our slots any more. Others come and go for as long as this
  // process lives.
  void forget_strangers();

  const std::unique_ptr<Topology> topology_;
  const LinkOptions options_;
  std::mutex mutex_;  // guards what follows
  std::map<Endpoint, NodePtr> nodes_;
};

}  // namespace easyretry::storage::redis
