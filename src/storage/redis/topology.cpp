#include "storage/redis/topology.h"

#include <algorithm>
#include <charconv>
#include <random>

#include "storage/redis/connection.h"

namespace easyretry::storage::redis {
namespace {

using server::ServerError;
using server::Trouble;

// CRC-16/XMODEM, as the cluster specification requires.
constexpr unsigned kPolynomial = 0x1021;

// Even if many calls fail, servers are not asked more often than this.
constexpr std::chrono::milliseconds kLeastPause{100};
// An answer is small. If a server needs longer and others can be asked, it is not waited for.
constexpr std::chrono::seconds kPatience{2};

bool is_in_the_middle(Slot slot, Slot from, Slot until) {
  const Slot margin = (until - from) / 4;
  return slot >= from + margin && slot < until - margin;
}

bool is_known(const Endpoint& endpoint) {
  return endpoint.port != 0;
}

// Puts the suspect last and the others in random order, so that instances do not all ask the same server.
void put_in_order(std::vector<Endpoint>& servers, const Endpoint& suspect) {
  std::ranges::sort(servers);
  servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
  std::ranges::shuffle(servers, std::mt19937{std::random_device{}()});
  std::stable_partition(servers.begin(), servers.end(), [&](const Endpoint& server) { return server != suspect; });
}

// A row of CLUSTER SLOTS: first slot, last slot, the primary (host, port, …), its replicas. A node that does not know
// its own address leaves the host out; the host is then that of the node that was asked.
void take_row(ReplyView row, const Endpoint& asked, std::vector<Endpoint>& places) {
  if (!row.has(2)) return;
  const ReplyView primary = row.part(2);
  const Slot first = static_cast<Slot>(std::max<std::int64_t>(row.integer(0), 0));
  const Slot last = static_cast<Slot>(std::min<std::int64_t>(row.integer(1), kSlots - 1));
  const std::string host{primary.text(0)};
  const bool unknown = host.empty() || host == "?";
  const Endpoint endpoint{unknown ? asked.host : host, static_cast<int>(primary.integer(1))};
  for (Slot slot = first; slot <= last; ++slot) places[static_cast<std::size_t>(slot)] = endpoint;
}

std::vector<Endpoint> places_by(Connection& node, const Endpoint& asked) {
  const Reply reply = node.run(Command::of("CLUSTER", "SLOTS"));
  std::vector<Endpoint> places(kSlots, Endpoint{"", 0});
  for (std::size_t i = 0; i < reply.size(); ++i) take_row(reply.part(i), asked, places);
  if (std::ranges::none_of(places, is_known)) {
    throw ServerError{Trouble::gone, to_string(asked) + " knows of no primary: it is not part of a cluster"};
  }
  return places;
}

Address without_password(Address address) {
  address.user.clear();
  address.password = {};
  address.database = 0;
  return address;
}

Endpoint primary_by(Connection& sentinel, const Endpoint& asked, const std::string& service) {
  const Reply reply = sentinel.run(Command::of("SENTINEL", "get-master-addr-by-name", std::string_view{service}));
  Endpoint primary{std::string{reply.text(0)}, 0};
  const std::string_view port = reply.text(1);
  std::from_chars(port.data(), port.data() + port.size(), primary.port);
  if (primary.port == 0) {
    throw ServerError{Trouble::refused, "the sentinel at " + to_string(asked) + " knows no service \"" + service +
                                            "\"; write redis+sentinel://host:26379/service"};
  }
  return primary;
}

}  // namespace

Slot slot_of(std::string_view tag) {
  unsigned crc = 0;
  for (const char byte : tag) {
    crc ^= static_cast<unsigned>(static_cast<unsigned char>(byte)) << 8U;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000U) != 0 ? crc << 1U ^ kPolynomial : crc << 1U;
    crc &= 0xffffU;
  }
  return static_cast<Slot>(crc % kSlots);
}

// A prefix cannot contain ~, so no other store can have the same tag.
std::vector<std::string> spread_tags(std::string_view prefix, int count) {
  std::vector<std::string> tags;
  for (int i = 0; i < count; ++i) {
    const std::string numbered = std::string{prefix} + "." + std::to_string(i) + "~";
    const Slot from = i * kSlots / count;
    const Slot until = (i + 1) * kSlots / count;
    int salt = 0;
    while (!is_in_the_middle(slot_of(numbered + std::to_string(salt)), from, until)) ++salt;
    tags.push_back(numbered + std::to_string(salt));
  }
  return tags;
}

void Discovery::ask(std::vector<Endpoint> servers, const Endpoint& suspect, const Question& question) {
  const std::lock_guard lock{mutex_};
  if (Steady::now() - asked_at_ < kLeastPause) return;
  put_in_order(servers, suspect);
  Trouble trouble = Trouble::gone;
  std::string last;
  for (const Endpoint& server : servers) {
    try {
      Address address = like_.at(server);
      address.connect_timeout = kPatience;
      address.patience = kPatience;
      Connection connection{address};
      question(connection, server);
      asked_at_ = Steady::now();
      return;
    } catch (const ServerError& error) {
      if (last.empty() || trouble != Trouble::refused) {
        trouble = error.trouble();
        last = error.what();
      }
    }
  }
  asked_at_ = Steady::now();
  throw ServerError{trouble, "the primary cannot be found: " + last};
}

ClusterMap::ClusterMap(std::vector<Endpoint> seeds, Address like)
    : seeds_(std::move(seeds)), discovery_(std::move(like)), places_(kSlots, Endpoint{"", 0}) {}

Endpoint ClusterMap::of(Slot slot) {
  for (const bool asked : {false, true}) {
    {
      const std::lock_guard lock{mutex_};
      const Endpoint& place = places_[static_cast<std::size_t>(slot)];
      if (is_known(place)) return place;
    }
    if (!asked) refresh({});
  }
  throw server_error("CLUSTERDOWN slot " + std::to_string(slot) + " is not served");
}

// If no node answers, the map stays as it is, and the next call that needs the slot fails.
void ClusterMap::look_again(const Endpoint& suspect) {
  try {
    refresh(suspect);
  } catch (const ServerError&) {
    return;
  }
}

bool ClusterMap::moved(Slot slot, const Endpoint& to) {
  if (!is_known(to)) return false;
  const std::lock_guard lock{mutex_};
  places_[static_cast<std::size_t>(slot)] = to;
  return true;
}

void ClusterMap::refresh(const Endpoint& suspect) {
  std::vector<Endpoint> nodes = seeds_;
  {
    const std::lock_guard lock{mutex_};
    std::ranges::copy_if(places_, std::back_inserter(nodes), is_known);
  }
  discovery_.ask(std::move(nodes), suspect, [this](Connection& node, const Endpoint& asked) {
    std::vector<Endpoint> places = places_by(node, asked);
    const std::lock_guard lock{mutex_};
    places_ = std::move(places);
  });
}

Sentinels::Sentinels(std::vector<Endpoint> sentinels, std::string service, const Address& like)
    : sentinels_(std::move(sentinels)), service_(std::move(service)), discovery_(without_password(like)) {}

Endpoint Sentinels::of(Slot) {
  for (const bool asked : {false, true}) {
    {
      const std::lock_guard lock{mutex_};
      if (primary_.port != 0) return primary_;
    }
    if (!asked) refresh();
  }
  throw ServerError{Trouble::gone, "no sentinel has answered recently"};
}

// If no sentinel answers, the primary stays the one that was known.
void Sentinels::look_again(const Endpoint&) {
  try {
    refresh();
  } catch (const ServerError&) {
    return;
  }
}

void Sentinels::refresh() {
  discovery_.ask(sentinels_, {}, [this](Connection& sentinel, const Endpoint& asked) {
    const Endpoint primary = primary_by(sentinel, asked, service_);
    const std::lock_guard lock{mutex_};
    primary_ = primary;
  });
}

}  // namespace easyretry::storage::redis
