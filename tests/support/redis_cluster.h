#pragma once
// What a test does to a Redis Cluster of its own: tests/support/redis_cluster_kind.py.

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
    bool failed = false;  // or about to be called so
    std::vector<std::pair<int, int>> slots{};

    bool has(int slot) const;
  };

  // As one of those that live sees it.
  std::vector<Node> nodes() const;
  Node owner_of(int slot) const;
  std::vector<Node> primaries() const;
  // All nodes live, every slot is somebody's, and every replica has what its primary has.
  bool whole() const;

  // On all that live.
  void order(const std::vector<std::string>& command) const;
  // With SIGKILL. It is started again when its replica has taken over.
  void kill(int port) const;
  // It lives and does nothing while that is done.
  void freeze(int port, const std::function<void()>& meanwhile) const;
  // As redis-cli --cluster reshard does it: one key after the other, while clients ask for them.
  void move(int slot, const Node& to) const;
  // The steps of it.
  struct Move {
    int slot = 0;
    Node from;
    Node to;
  };
  Move begin_move(int slot, const Node& to) const;
  bool move_a_key(const Move& move) const;  // false: there is none left
  void end_move(const Move& move) const;

 private:
  // As this one sees them; none: it is dead.
  std::vector<Node> nodes_by(int port) const;

  std::vector<int> ports() const;

  const int first_port_;
};

}  // namespace easyretry::test
