// Three instances on one database share its shards. When one leaves, the others share them again. Here they are engines
// of one program; processes on many machines do the same.
//
//   cluster HOST PORT USER PASSWORD DATABASE      of a MariaDB or MySQL

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include <easyretry/easyretry.h>

using namespace easyretry;
using namespace std::chrono_literals;

using Engines = std::vector<std::unique_ptr<Engine>>;

std::unique_ptr<Engine> start_instance(const std::string& store) {
  EngineOptions options;
  options.name_space = "examples.cluster";
  options.lease = 3s;  // short, for a quick example: an instance that is silent for a third of it counts as dead
  auto engine = std::make_unique<Engine>(store, options);
  engine->retryable("payment.pay", [](int) { return done(); });
  engine->start();
  return engine;
}

// Each instance has its own view. In the end they are the same.
void wait_until_all_agree(const Engines& engines) {
  const auto agrees = [&](const auto& engine) {
    const ClusterView view = engine->cluster();
    return view.trusted && view.members.size() == engines.size();
  };
  while (!std::ranges::all_of(engines, agrees)) std::this_thread::sleep_for(50ms);
}

// All instances see the members in the same order, so each finds its shards by its place.
void print(const Engines& engines) {
  std::map<std::string, std::vector<ShardId>> shards;  // by node, which is the order of places
  for (const auto& engine : engines) shards[engine->cluster().self] = engine->cluster().shards;
  for (int place = 1; const auto& [node, own] : shards) {
    std::cout << "member " << place++ << " of " << shards.size() << " has " << own.size() << " shards:";
    for (std::size_t i = 0; i < 4; ++i) std::cout << " " << static_cast<int>(own[i]);
    std::cout << " …\n";
  }
}

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: cluster HOST PORT USER PASSWORD DATABASE\n";
    return 2;
  }
  const std::vector<std::string> at{argv + 1, argv + argc};
  const std::string store = "mysql://" + at[2] + ":" + at[3] + "@" + at[0] + ":" + at[1] + "/" + at[4];

  Engines engines;
  for (int i = 0; i < 3; ++i) engines.push_back(start_instance(store));
  wait_until_all_agree(engines);
  print(engines);

  engines.front()->stop();  // it leaves the list first, and releases tasks that it does not finish in time
  engines.erase(engines.begin());
  wait_until_all_agree(engines);
  print(engines);
}

// Prints:
// member 1 of 3 has 22 shards: 0 3 6 9 …
// member 2 of 3 has 21 shards: 1 4 7 10 …
// member 3 of 3 has 21 shards: 2 5 8 11 …
// member 1 of 2 has 32 shards: 0 2 4 6 …
// member 2 of 2 has 32 shards: 1 3 5 7 …
