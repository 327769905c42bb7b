#include "support/redis_cluster.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <sys/types.h>

#include "support/eventually.h"
#include "support/plain_redis.h"
#include "support/plain_sql.h"

namespace easyretry::test {
namespace {

constexpr int kNodes = 6;
constexpr int kSlots = 16'384;

// 0-5460, 5461, or what is on its way: [5461->-id].
void add_slots(const std::string& word, RedisCluster::Node& node) {
  if (word.starts_with('[')) return;
  const auto dash = word.find('-');
  const int first = std::stoi(word.substr(0, dash));
  node.slots.emplace_back(first, dash == std::string::npos ? first : std::stoi(word.substr(dash + 1)));
}

// id host:port@bus flags primary ping pong epoch state slots…
RedisCluster::Node node_of(const std::string& line) {
  std::istringstream words{line};
  RedisCluster::Node node;
  std::string address;
  std::string flags;
  std::string skipped;
  words >> node.id >> address >> flags;
  node.port = std::stoi(address.substr(address.find(':') + 1));
  node.primary = flags.find("master") != std::string::npos;
  node.failed = flags.find("fail") != std::string::npos;
  for (int i = 0; i < 5; ++i) words >> skipped;
  for (std::string word; words >> word;) add_slots(word, node);
  return node;
}

bool says(int port, const std::vector<std::string>& command, const std::string& line) {
  return PlainRedis{port}.run(command).find(line) != std::string::npos;
}

bool is_ready(int port) {
  return says(port, {"CLUSTER", "INFO"}, "cluster_slots_ok:" + std::to_string(kSlots)) &&
         (says(port, {"INFO", "replication"}, "role:master") ||
          says(port, {"INFO", "replication"}, "master_link_status:up"));
}

pid_t process_of(int port) {
  const std::string info = PlainRedis{port}.run({"INFO", "server"});
  const std::string field = "process_id:";
  return static_cast<pid_t>(std::stol(info.substr(info.find(field) + field.size())));
}

}  // namespace

bool RedisCluster::Node::has(int slot) const {
  return std::ranges::any_of(slots, [&](const auto& range) { return range.first <= slot && slot <= range.second; });
}

std::vector<int> RedisCluster::ports() const {
  std::vector<int> all;
  for (int i = 0; i < kNodes; ++i) all.push_back(first_port_ + i);
  return all;
}

std::vector<RedisCluster::Node> RedisCluster::nodes() const {
  for (const int port : ports()) {
    auto all = nodes_by(port);
    if (!all.empty()) return all;
  }
  throw std::runtime_error("no node of the cluster lives");
}

std::vector<RedisCluster::Node> RedisCluster::nodes_by(int port) const {
  try {
    std::istringstream lines{PlainRedis{port}.run({"CLUSTER", "NODES"})};
    std::vector<Node> all;
    for (std::string line; std::getline(lines, line) && !line.empty();) all.push_back(node_of(line));
    return all;
  } catch (const SqlError&) {
    return {};
  }
}

// Not all nodes know of a slot that has just moved: asks until they agree.
RedisCluster::Node RedisCluster::owner_of(int slot) const {
  std::vector<Node> owners;
  const bool agreed = eventually([&] {
    owners.clear();
    std::size_t alive = 0;
    for (const int port : ports()) {
      const auto all = nodes_by(port);
      if (!all.empty()) ++alive;
      std::ranges::copy_if(all, std::back_inserter(owners), [&](const Node& n) { return n.primary && n.has(slot); });
    }
    return owners.size() == alive && alive > 0 &&
           std::ranges::all_of(owners, [&](const Node& n) { return n.id == owners.front().id; });
  });
  if (!agreed) throw std::runtime_error("the nodes do not agree whose slot " + std::to_string(slot) + " is");
  return owners.front();
}

std::vector<RedisCluster::Node> RedisCluster::primaries() const {
  std::vector<Node> all = nodes();
  std::erase_if(all, [](const Node& node) { return !node.primary || node.failed || node.slots.empty(); });
  return all;
}

bool RedisCluster::whole() const {
  try {
    const auto everybody = ports();
    return std::ranges::all_of(everybody, is_ready) &&
           std::ranges::none_of(nodes(), [](const Node& node) { return node.failed; });
  } catch (const SqlError&) {
    return false;
  }
}

void RedisCluster::order(const std::vector<std::string>& command) const {
  for (const int port : ports()) {
    try {
      PlainRedis{port}.run(command);
    } catch (const SqlError&) {
      continue;  // dead
    }
  }
}

void RedisCluster::freeze(int port, const std::function<void()>& meanwhile) const {
  const pid_t process = process_of(port);
  ::kill(process, SIGSTOP);
  try {
    meanwhile();
  } catch (...) {
    ::kill(process, SIGCONT);
    throw;
  }
  ::kill(process, SIGCONT);
}

void RedisCluster::kill(int port) const {
  ::kill(process_of(port), SIGKILL);
  const bool gone = eventually([&] {
    try {
      PlainRedis{port}.run({"PING"});
      return false;
    } catch (const SqlError&) {
      return true;
    }
  });
  if (!gone) throw std::runtime_error("a node survives SIGKILL");
}

void RedisCluster::move(int slot, const Node& to) const {
  if (owner_of(slot).id == to.id) return;
  const Move move = begin_move(slot, to);
  while (move_a_key(move)) {
  }
  end_move(move);
}

RedisCluster::Move RedisCluster::begin_move(int slot, const Node& to) const {
  Move move{slot, owner_of(slot), to};
  PlainRedis{to.port}.run({"CLUSTER", "SETSLOT", std::to_string(slot), "IMPORTING", move.from.id});
  PlainRedis{move.from.port}.run({"CLUSTER", "SETSLOT", std::to_string(slot), "MIGRATING", to.id});
  return move;
}

bool RedisCluster::move_a_key(const Move& move) const {
  PlainRedis source{move.from.port};
  const std::string key = source.run({"CLUSTER", "GETKEYSINSLOT", std::to_string(move.slot), "1"});
  if (!key.empty()) source.run({"MIGRATE", "127.0.0.1", std::to_string(move.to.port), key, "0", "5000"});
  return !key.empty();
}

// The new owner first, so that the slot always has one.
void RedisCluster::end_move(const Move& move) const {
  for (const int port : {move.to.port, move.from.port}) {
    PlainRedis{port}.run({"CLUSTER", "SETSLOT", std::to_string(move.slot), "NODE", move.to.id});
  }
}

}  // namespace easyretry::test
