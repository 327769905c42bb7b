#include "storage/redis/sources.h"

#include <algorithm>
#include <random>

namespace easyretry::storage::redis {
namespace {

using server::ServerError;
using server::Trouble;

// However many calls fail, servers are asked so often at most.
constexpr std::chrono::milliseconds kLeastPause{100};
// An answer is small: whoever needs longer is not to be waited for while others could be asked.
constexpr std::chrono::seconds kPatience{2};

// In any order, so that instances do not all ask the same one.
void put_in_order(std::vector<Endpoint>& servers, const Endpoint& suspect) {
  std::ranges::sort(servers);
  servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
  std::ranges::shuffle(servers, std::mt19937{std::random_device{}()});
  std::stable_partition(servers.begin(), servers.end(), [&](const Endpoint& server) { return server != suspect; });
}

}  // namespace

void Sources::ask(std::vector<Endpoint> servers, const Endpoint& suspect, const Question& question) {
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

}  // namespace easyretry::storage::redis
