#pragma once
// Controls the separate Redis Cluster of a test: tests/support/redis_cluster_kind.py.

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace easyretry::test {

class RedisCluster {
 public:
  explicit RedisCluster(int first_port) : first_port_(first_port) {}

  struct Node {
    std::string id;
    int port = 0;
    bool primary = false;
    bool failed = false;  // or suspected
    std::vector<std::pair<int, int>> slots{};

    bool has(int slot) const;
  };

  // As one of the live nodes sees them.
  std::vector<Node> nodes() const;
  Node owner_of(int slot) const;
  std::vector<Node> primaries() const;
  // All nodes are alive, every slot has an owner, and every replica is up to date.
  bool whole() const;

  // On all live nodes.
  void order(const std::vector<std::string>& command) const;
  // With SIGKILL. It is started again when its replica has taken over.
  void kill(int port) const;
  // Stops the process during `meanwhile`.
  void freeze(int port, const std::function<void()>& meanwhile) const;
  // As redis-cli --cluster reshard does it: one key after the other, while clients ask for them.
  void move(int slot, const Node& to) const;
  // Its steps.
  struct Move {
    int slot = 0;
    Node from;
    Node to;
  };
  Move begin_move(int slot, const Node& to) const;
  bool move_a_key(const Move& move) const;  // false: no key is left
  void end_move(const Move& move) const;

 private:
  // As this node sees them; empty: it is dead.
  std::vector<Node> nodes_by(int port) const;

  std::vector<int> ports() const;

  const int first_port_;
};

}  // namespace easyretry::test
